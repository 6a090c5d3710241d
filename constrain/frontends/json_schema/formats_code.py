"""Short codes: UUID (RFC 9562), JSON Pointer (RFC 6901) and its relative form, base64 (`byte`, RFC 4648), `char`."""

from __future__ import annotations

from ...grammar.terms import ANY_CHAR, Regular, char_class, optional
from .formats_abnf import DIGIT, HEX, any_of, in_order, many, one_of


def uuid() -> Regular:
    """Five groups of hexadecimal digits, any version and variant."""
    four = in_order("-", many(HEX, 4, 4))
    return in_order(many(HEX, 8, 8), four, four, four, "-", many(HEX, 12, 12))


def uuid_of_version(version: int) -> Regular:
    """A UUID of the variant of RFC 9562 and of one version: `uuid4` and so on, as Pydantic names them."""
    three = many(HEX, 3, 3)
    marks = in_order("-", str(version), three, "-", one_of("89abAB"), three)
    return in_order(many(HEX, 8, 8), "-", many(HEX, 4, 4), marks, "-", many(HEX, 12, 12))


def json_pointer() -> Regular:
    """Reference tokens, each after a slash; `~` only as `~0` or `~1`."""
    plain = char_class([(0, 0x2E), (0x30, 0x7D), (0x7F, 0x10FFFF)])
    character = any_of(plain, in_order("~", one_of("01")))
    return many(in_order("/", many(character)))


def relative_json_pointer() -> Regular:
    """A number of levels up, then `#` or a JSON Pointer."""
    levels = any_of("0", in_order(one_of("1-9"), many(DIGIT)))
    return in_order(levels, any_of("#", json_pointer()))


def byte() -> Regular:
    """base64 with its padding and without line breaks; bits that encode nothing are not checked."""
    letter = one_of("a-z", "A-Z", "0-9", "+/")
    padded = any_of(in_order(letter, letter, "=="), in_order(letter, letter, letter, "="))
    return in_order(many(many(letter, 4, 4)), optional(padded))


def base64url() -> Regular:
    """base64 of the alphabet for URLs, with its padding or without."""
    letter = one_of("a-z", "A-Z", "0-9", "-", "_")
    two, three = in_order(letter, letter), in_order(letter, letter, letter)
    last = any_of(in_order(two, optional(in_order("=="))), in_order(three, optional(in_order("="))))
    return in_order(many(many(letter, 4, 4)), optional(last))


def char() -> Regular:
    """One character."""
    return ANY_CHAR
