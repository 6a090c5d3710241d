"""URIs and their references (RFC 3986), IRIs (RFC 3987), URI templates (RFC 6570).

The rules for paths are merged where that denotes the same: `*( "/" segment )` is nothing, or `/` and then any mix of
path characters and slashes.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...grammar.terms import EPSILON, Regular, char_class, optional
from .formats_abnf import ALPHA, ALPHANUMERIC, DIGIT, HEX, any_of, in_order, many, one_of
from .formats_net import ipv6

UNRESERVED = ("a-z", "A-Z", "0-9", "-._~")
SUB_DELIMITERS = ("!$&'()*+,;=",)
PERCENT = in_order("%", HEX, HEX)

BMP_LETTERS = ((0xA0, 0xD7FF), (0xF900, 0xFDCF), (0xFDF0, 0xFFEF))
UCSCHAR = (*BMP_LETTERS, *((plane << 16, (plane << 16) + 0xFFFD) for plane in range(1, 14)), (0xE1000, 0xEFFFD))
PRIVATE = ((0xE000, 0xF8FF), (0xF0000, 0xFFFFD), (0x100000, 0x10FFFD))


@dataclass(frozen=True)
class _Letters:
    """What an IRI admits beyond a URI: anywhere, and in queries."""

    anywhere: Regular | None = None
    in_query: Regular | None = None


_ASCII = _Letters()
_UNICODE = _Letters(char_class(UCSCHAR), char_class(PRIVATE))


def uri() -> Regular:
    """URI: with a scheme."""
    return _absolute(_ASCII)


def uri_reference() -> Regular:
    """URI-reference: with a scheme or relative."""
    return any_of(_absolute(_ASCII), _relative(_ASCII))


def iri() -> Regular:
    """IRI: with a scheme."""
    return _absolute(_UNICODE)


def iri_reference() -> Regular:
    """IRI-reference: with a scheme or relative."""
    return any_of(_absolute(_UNICODE), _relative(_UNICODE))


def _absolute(letters: _Letters) -> Regular:
    scheme = in_order(ALPHA, many(any_of(ALPHANUMERIC, one_of("+", "-", "."))))
    first = _characters(letters, ":@")
    return in_order(scheme, ":", _hierarchy(letters, first), _query_and_fragment(letters))


def _relative(letters: _Letters) -> Regular:
    """relative-ref: the first segment of a relative path has no colon."""
    name = many(_characters(letters, "@"), 1)
    path = in_order(name, _path_after_segment(letters))
    return in_order(any_of(_with_slash(letters), path, EPSILON), _query_and_fragment(letters))


def _hierarchy(letters: _Letters, first: Regular) -> Regular:
    rootless = in_order(first, many(_characters(letters, ":@/")))
    return any_of(_with_slash(letters), rootless, EPSILON)


def _with_slash(letters: _Letters) -> Regular:
    """`//authority path` or an absolute path, whose first segment is not empty."""
    absolute = in_order("/", optional(in_order(_characters(letters, ":@"), many(_characters(letters, ":@/")))))
    return any_of(in_order("//", _authority(letters), _path_after_segment(letters)), absolute)


def _path_after_segment(letters: _Letters) -> Regular:
    return optional(in_order("/", many(_characters(letters, ":@/"))))


def _authority(letters: _Letters) -> Regular:
    user = optional(in_order(many(_characters(letters, ":")), "@"))
    future = in_order(one_of("vV"), many(HEX, 1), ".", many(one_of(*UNRESERVED, *SUB_DELIMITERS, ":"), 1))
    host = any_of(in_order("[", any_of(ipv6(), future), "]"), many(_characters(letters, "")))
    return in_order(user, host, optional(in_order(":", many(DIGIT))))


def _query_and_fragment(letters: _Letters) -> Regular:
    fragment = many(_characters(letters, ":@/?"))
    query = fragment if letters.in_query is None else many(any_of(_characters(letters, ":@/?"), letters.in_query))
    return in_order(optional(in_order("?", query)), optional(in_order("#", fragment)))


def _characters(letters: _Letters, more: str) -> Regular:
    """unreserved, sub-delims, percent-encoded, and `more`."""
    plain = one_of(*UNRESERVED, *SUB_DELIMITERS, *more)
    return any_of(plain, PERCENT) if letters.anywhere is None else any_of(plain, letters.anywhere, PERCENT)


def uri_template() -> Regular:
    """URI-Template, with the apostrophe in literals that erratum 6937 admits."""
    name_character = any_of(ALPHANUMERIC, "_", PERCENT)
    name = in_order(name_character, many(in_order(optional(one_of(".")), name_character)))
    prefix = in_order(":", one_of("1-9"), many(DIGIT, 0, 3))
    variable = in_order(name, optional(any_of(prefix, "*")))
    operator = optional(one_of("+#./;?&=,!@|"))
    expression = in_order("{", operator, variable, many(in_order(",", variable)), "}")
    literal = any_of(one_of("!", "#$&", "'-;", "=", "?-[", "]", "_", "a-z", "~"), char_class([*UCSCHAR, *PRIVATE]))
    return many(any_of(literal, PERCENT, expression))
