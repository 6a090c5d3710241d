"""Unicode facts, each computed when first asked for and kept: classes of `re`, `\\p{…}`, and case variants.

No table is shipped. Python's classes are read off `re` itself, so that they fit the running interpreter; ECMA
properties are read off `regress`, which knows every name that ECMA-262 allows, by running it once over all code
points (10 to 50 ms). A range may span the surrogates where both its ends belong; nothing well-formed is in between.
Case variants follow the rule of `re`: two characters match each other if their simple lower cases are equal, or if
those have the same upper case (`s` and `ſ`).
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from functools import cache, lru_cache

import regress

BLOCK = 0x400
PLANE = 0x10000
CHARACTER_PLANES = (0, 1, 2, 3, 14)
"""The planes with characters; 4 to 13 are empty, 15 and 16 for private use: no letter, digit or blank there."""


def _code_points(planes: Iterable[int]) -> array[int]:
    points = array("I")
    for plane in planes:
        if plane == 0:
            points.extend(range(0xD800))
            points.extend(range(0xE000, PLANE))
        else:
            points.extend(range(plane * PLANE, (plane + 1) * PLANE))
    return points


def _text_of(points: array[int]) -> str:
    return "".join(map(chr, points)) if points.itemsize != 4 else points.tobytes().decode("utf-32", "strict")


@cache
def python_class(letter: str) -> tuple[tuple[int, int], ...]:
    """The code points that `re` matches by `\\d`, `\\w` or `\\s` (`letter`) in a str pattern."""
    points = _code_points(CHARACTER_PLANES)
    found = re.finditer(rf"\{letter}+", _text_of(points))
    return tuple((points[match.start()], points[match.end() - 1]) for match in found)


@lru_cache(maxsize=256)
def property_ranges(expression: str) -> tuple[tuple[int, int], ...]:
    """The code points of `\\p{expression}` in ECMA-262.

    Raises:  ValueError: if there is no such property or value.
    """
    if not re.fullmatch(r"\w+(?:=\w+)?", expression, re.ASCII):
        raise ValueError(expression)
    try:
        pattern = regress.Regex(rf"\p{{{expression}}}+", "u")
    except regress.RegressError as error:
        raise ValueError(expression) from error
    spans = [match.range() for match in pattern.find_iter(_text_of(_code_points(range(17)))) or ()]
    return tuple((_code_point_at(span.start), _code_point_at(span.stop - 1)) for span in spans)


def _code_point_at(offset: int) -> int:
    """The code point at byte `offset` of all code points in order, as UTF-8 (`regress` counts bytes)."""
    if offset < 0x80:
        return offset
    if (offset := offset - 0x80) < 2 * 0x780:
        return 0x80 + offset // 2
    if (offset := offset - 2 * 0x780) < 3 * 0xF000:
        point = 0x800 + offset // 3
        return point if point < 0xD800 else point + 0x800
    return PLANE + (offset - 3 * 0xF000) // 4


def simple_lower(code_point: int) -> int:
    """The one-character lower case that `re` compares by; only `İ` has a longer one, of which the first counts."""
    return ord(chr(code_point).lower()[0])


@lru_cache(maxsize=1)
def case_variants() -> tuple[tuple[int, ...], ...]:
    """Each set of two or more characters that match one another under `(?i)`."""
    by_lower: dict[int, set[int]] = {}
    for start in range(0, 2 * PLANE, BLOCK):
        text = "".join(map(chr, range(start, start + BLOCK)))
        if text.lower() == text and text.upper() == text:
            continue
        for character in text:
            if character.lower() != character or character.upper() != character:
                by_lower.setdefault(simple_lower(ord(character)), set()).add(ord(character))
    by_upper: dict[str, set[int]] = {}
    for lower, variants in by_lower.items():
        by_upper.setdefault(chr(lower).upper(), set()).update(variants, (lower,))
    return tuple(tuple(sorted(variants)) for variants in by_upper.values() if len(variants) > 1)


@lru_cache(maxsize=1)
def _folded_alike() -> tuple[tuple[int, ...], ...]:
    """Each set of two or more characters with one simple case folding (`CaseFolding.txt`, status C and S).

    Characters have one simple folding exactly if they have one full folding, which is what Python knows.
    """
    by_folding: dict[str, list[int]] = {}
    for cased in (one for start in range(0, 2 * PLANE, BLOCK) for one in _cased(start)):
        by_folding.setdefault(chr(cased).casefold(), []).append(cased)
    return tuple(tuple(alike) for alike in by_folding.values() if len(alike) > 1)


def _cased(start: int) -> Iterable[int]:
    text = "".join(map(chr, range(start, start + BLOCK)))
    if text.casefold() == text and text.upper() == text:
        return ()
    return [ord(c) for c in text if c.casefold() != c or c.upper() != c or c.lower() != c]


@lru_cache(maxsize=1024)
def with_same_folding(ranges: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """`ranges` (sorted) and whatever folds as one of them does: what ECMA-262 matches under the flags `iu`."""
    held = [alike for alike in _folded_alike() if any(_holds(ranges, one) for one in alike)]
    merged: list[tuple[int, int]] = []
    for low, high in sorted([*ranges, *((one, one) for alike in held for one in alike)]):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return tuple(merged)


@lru_cache(maxsize=1024)
def with_case_variants(ranges: tuple[tuple[int, int], ...], ascii_only: bool) -> tuple[tuple[int, int], ...]:
    """`ranges` (sorted) with all case variants of it, unsorted. `ascii_only`: variants within ASCII alone."""
    extra: list[tuple[int, int]] = []
    for variants in _ascii_variants() if ascii_only else case_variants():
        held = [variant for variant in variants if _holds(ranges, variant)]
        if held and len(held) < len(variants):
            extra.extend((variant, variant) for variant in variants)
    return (*ranges, *extra)


def _ascii_variants() -> Iterable[tuple[int, ...]]:
    return ((upper, upper + 32) for upper in range(65, 91))


def _holds(ranges: tuple[tuple[int, int], ...], code_point: int) -> bool:
    first, last = 0, len(ranges)
    while first < last:
        middle = (first + last) // 2
        if ranges[middle][1] < code_point:
            first = middle + 1
        else:
            last = middle
    return first < len(ranges) and ranges[first][0] <= code_point
