"""A few words of ABNF (RFC 5234), to write the grammars of the RFCs as terms."""

from __future__ import annotations

from ...grammar.terms import Literal, Regular, Repeat, alternation, char_class, concat


def one_of(*parts: str) -> Regular:
    """One character: each part is a range of two characters written `a-z`, or a set of single ones.

    So a hyphen among three characters must be a part of its own.
    """
    ranges: list[tuple[int, int]] = []
    for part in parts:
        if len(part) == 3 and part[1] == "-":
            ranges.append((ord(part[0]), ord(part[2])))
        else:
            ranges += [(ord(character), ord(character)) for character in part]
    return char_class(ranges)


def in_order(*parts: Regular | str) -> Regular:
    """The parts one after the other; a string stands for itself."""
    return concat(*(Literal(part) if isinstance(part, str) else part for part in parts))


def any_of(*parts: Regular | str) -> Regular:
    """One of the parts; a string stands for itself."""
    return alternation(*(Literal(part) if isinstance(part, str) else part for part in parts))


def many(part: Regular, least: int = 0, most: int | None = None) -> Regular:
    """`part`, `least` times or more, at most `most`."""
    return Repeat(part, least, most)


DIGIT = one_of("0-9")
ALPHA = one_of("a-z", "A-Z")
ALPHANUMERIC = one_of("a-z", "A-Z", "0-9")
HEX = one_of("0-9", "a-f", "A-F")
