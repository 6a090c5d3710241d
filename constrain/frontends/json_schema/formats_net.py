"""Addresses: IPv4 and IPv6 (RFC 3986 section 3.2.2), host names (RFC 1123), mailboxes (RFC 5321, 6531).

A host name is at most 253 characters, its labels 63; a mailbox's name at most 64 octets.
"""

from __future__ import annotations

import unicodedata

from ...grammar.terms import ANY_CHAR, ANY_TEXT, EPSILON, Not, Regular, char_class, intersection, optional
from .formats_abnf import ALPHANUMERIC, DIGIT, HEX, any_of, in_order, many, one_of

MAX_HOST = 253
MAX_LABEL = 63
MAX_LOCAL_OCTETS = 64

BEYOND_ASCII = (0x80, 0x10FFFF)
ATOM_TEXT = ("a-z", "A-Z", "0-9", "!#$%&'*+-/=?^_`{|}~")


def ipv4() -> Regular:
    """Four decimal octets, without leading zeros."""
    octet = any_of(
        DIGIT,
        in_order(one_of("1-9"), DIGIT),
        in_order("1", DIGIT, DIGIT),
        in_order("2", one_of("0-4"), DIGIT),
        in_order("25", one_of("0-5")),
    )
    return in_order(octet, many(in_order(".", octet), 3, 3))


def ipv6() -> Regular:
    """Eight groups, the last two perhaps as IPv4; or fewer, with `::` once for the rest. No zone."""
    group = many(HEX, 1, 4)
    left, right, last = in_order(group, ":"), in_order(":", group), ipv4()
    full = in_order(many(left, 6, 6), any_of(in_order(left, group), last))
    compressed = []
    for before in range(8):
        head = EPSILON if before == 0 else in_order(group, many(right, before - 1, before - 1))
        room = 7 - before
        after = [in_order(many(left, 0, room - 1), group)] if room > 0 else []
        after += [in_order(many(left, 0, room - 2), last)] if room > 1 else []
        compressed.append(in_order(head, "::", optional(any_of(*after)) if after else EPSILON))
    return any_of(full, *compressed)


def hostname() -> Regular:
    """Labels of letters, digits and inner hyphens, none with `--` in third place (see `formats.NARROWER`)."""
    return _domain(ALPHANUMERIC, ALPHANUMERIC)


def _domain(first: Regular, later: Regular) -> Regular:
    """Labels, at most 253 characters in all, none of them reserved (RFC 5890: `--` in third place)."""
    reserved = in_order(many(ANY_CHAR, 2, 2), "--", ANY_TEXT)
    return intersection(_labels(first, later, Not(reserved)), many(ANY_CHAR, 1, MAX_HOST))


def _labels(first: Regular, later: Regular, *rules: Regular) -> Regular:
    """Labels that begin with `first` and go on with `later` and inner hyphens, each of them as `rules` say.

    A label's length is a window beside its form, not a count inside it: the derivatives stay deterministic.
    """
    form = in_order(first, many(in_order(many(one_of("-")), later)))
    label = intersection(form, many(ANY_CHAR, 1, MAX_LABEL), *rules)
    return in_order(label, many(in_order(".", label)))


def plain_hostname() -> Regular:
    """RFC 1123 alone, as drafts 4 and 6 have it: any labels of letters, digits and inner hyphens."""
    return intersection(_labels(ALPHANUMERIC, ALPHANUMERIC), many(ANY_CHAR, 1, MAX_HOST))


def something() -> Regular:
    """Any text that is not empty: every name is one."""
    return many(ANY_CHAR, 1)


def something_at_something() -> Regular:
    """Any text with an `@` between other characters: every mailbox is one."""
    return in_order(ANY_TEXT, ANY_CHAR, "@", ANY_CHAR, ANY_TEXT)


def email() -> Regular:
    """Mailbox: a dot-string or quoted string, `@`, a domain or an address literal."""
    local = _local(one_of(*ATOM_TEXT), one_of(" -!", "#-[", "]-~"))
    name = intersection(local, many(ANY_CHAR, 1, MAX_LOCAL_OCTETS))
    return in_order(name, "@", any_of(hostname(), _address_literal()))


def idn_email() -> Regular:
    """Mailbox with characters beyond ASCII in its name and in the labels of its domain."""
    beyond = char_class([BEYOND_ASCII])
    local = _local(any_of(one_of(*ATOM_TEXT), beyond), any_of(one_of(" -!", "#-[", "]-~"), beyond))
    within = [many(char_class([(0, last)]), 1, MAX_LOCAL_OCTETS // octets) for last, octets in _WIDTHS]
    return in_order(intersection(local, any_of(*within)), "@", any_of(_international_domain(), _address_literal()))


_WIDTHS = ((0x7F, 1), (0x7FF, 2), (0xFFFF, 3), (0x10FFFF, 4))
"""The last code point that UTF-8 writes in so many octets."""


def _international_domain() -> Regular:
    """Labels of letters, digits, hyphens, and letters beyond ASCII that no judge of names refuses.

    RFC 5892 asks for letters that case folding and NFKC leave alone; right-to-left ones bind their neighbours (RFC
    5893) and are left out. Combining accents may follow, composed or not: RFC 6531 does not ask for NFC.
    """
    letters = char_class((code, code) for code in range(0xDF, 0x30000) if _is_stable_letter(chr(code)))
    return _domain(any_of(ALPHANUMERIC, letters), any_of(ALPHANUMERIC, letters, char_class([(0x300, 0x36F)])))


def _is_stable_letter(letter: str) -> bool:
    plain = unicodedata.category(letter) in ("Ll", "Lo", "Lm") and unicodedata.bidirectional(letter) == "L"
    return plain and unicodedata.normalize("NFKC", letter.casefold()) == letter


def _local(atom_text: Regular, quoted_text: Regular) -> Regular:
    """A dot-string or a quoted string; no backslash before a blank, which common parsers do not know."""
    atom = many(atom_text, 1)
    quoted_pair = in_order("\\", one_of("!-~"))
    return any_of(in_order(atom, many(in_order(".", atom))), in_order('"', many(any_of(quoted_text, quoted_pair)), '"'))


def _address_literal() -> Regular:
    return in_order("[", any_of(ipv4(), in_order(one_of("Ii"), one_of("Pp"), one_of("Vv"), "6:", ipv6())), "]")
