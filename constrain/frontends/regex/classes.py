"""Sets of code points as sorted ranges, and what `\\d \\w \\s .` mean in each dialect.

`Ranges` is a sorted tuple of disjoint, inclusive, non-adjacent pairs. Unlike `CharClass` it may hold surrogates,
because a complement is taken while parsing; `terms.char_class` cuts them out at the end.
"""

from __future__ import annotations

from collections.abc import Iterable

from constrain.frontends.regex.unicode_tables import property_ranges, python_class
from constrain.grammar.terms import MAX_CODE_POINT

Ranges = tuple[tuple[int, int], ...]

EVERYTHING: Ranges = ((0, MAX_CODE_POINT),)
NEWLINE: Ranges = ((10, 10),)
DIGITS: Ranges = ((48, 57),)
ASCII_WORD: Ranges = ((48, 57), (65, 90), (95, 95), (97, 122))
ASCII_SPACE: Ranges = ((9, 13), (32, 32))
ECMA_LINE_TERMINATORS: Ranges = ((10, 10), (13, 13), (0x2028, 0x2029))


def merge(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """`ranges` in any order, sorted and merged."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return tuple(merged)


def complement(ranges: Ranges) -> Ranges:
    """Every code point that is not in `ranges`."""
    gaps: list[tuple[int, int]] = []
    start = 0
    for low, high in ranges:
        if start < low:
            gaps.append((start, low - 1))
        start = high + 1
    if start <= MAX_CODE_POINT:
        gaps.append((start, MAX_CODE_POINT))
    return tuple(gaps)


def common(left: Ranges, right: Ranges) -> Ranges:
    """What `left` and `right` share; linear in both."""
    shared: list[tuple[int, int]] = []
    i = j = 0
    while i < len(left) and j < len(right):
        low = max(left[i][0], right[j][0])
        high = min(left[i][1], right[j][1])
        if low <= high:
            shared.append((low, high))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return tuple(shared)


def python_escape_class(letter: str, ascii_only: bool) -> Ranges:
    """What `\\d`, `\\w` or `\\s` (lower case `letter`) stands for in Python, for str patterns."""
    if ascii_only:
        return {"d": DIGITS, "w": ASCII_WORD, "s": ASCII_SPACE}[letter]
    return python_class(letter)


def ecma_escape_class(letter: str) -> Ranges:
    """What `\\d`, `\\w` or `\\s` stands for in ECMA-262 without the flag `i`."""
    if letter == "s":
        return merge((*ASCII_SPACE, *ECMA_LINE_TERMINATORS, (0xFEFF, 0xFEFF), *property_ranges("gc=Zs")))
    return {"d": DIGITS, "w": ASCII_WORD}[letter]
