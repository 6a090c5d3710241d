"""Items of any kind that must all differ: their values as parsed JSON, and whether enough are left.

By definition and slowly: values are listed by reading every text, shortest first; whether places can be filled with
different values is tried.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count

from tests.reference.captured import Value, value_of
from tests.reference.frames import Grammar, Reader
from tests.reference.regular import TwinLimit
from tests.reference.stacks import END, Stack
from tests.reference.utf8 import first_code_points, spelled_ranges

MOST_BEGINNINGS = 4_000


def json_value(text: str) -> Value:
    """The value of a whole JSON text, as a key that compares by value."""
    return _key(json.loads(text, parse_int=_Number, parse_float=_Number))


class _Number(str):
    """A number as it was written."""


def _key(value: object) -> Value:
    match value:
        case _Number():
            return value_of(value)
        case str():
            return "string", value
        case list():
            return "array", tuple(map(_key, value))
        case dict():
            return "object", frozenset((name, _key(one)) for name, one in value.items())
    return "literal", json.dumps(value)


def stretches_of(stacks: frozenset[Stack]) -> set[tuple[int, int]]:
    return {stretch for stack in stacks if isinstance(stack.frame, Reader) for stretch in stack.frame.stretches()}


def item_values(grammar: Grammar, stacks: frozenset[Stack], text: str, used: frozenset[Value]) -> Iterator[Value]:
    """Distinct values, none of `used`, of `text` finished by `stacks` in the grammar's alphabet; shortest texts first.

    Of the characters that one reader takes alike only the first few are tried, more with each value used or found.
    """
    ranges = spelled_ranges(grammar.alphabet)
    found = set(used)
    beginnings = count()
    open_texts = [(stacks, text)]
    while open_texts:
        longer: list[tuple[frozenset[Stack], str]] = []
        for stacks, text in open_texts:
            if next(beginnings) > MOST_BEGINNINGS:
                raise TwinLimit(f"more than {MOST_BEGINNINGS} beginnings of items")
            if END in stacks and (value := json_value(text)) not in found:
                found.add(value)
                yield value
            characters = {
                c for low, high in stretches_of(stacks) for c in first_code_points(ranges, low, high, len(found) + 3)
            }
            successors = ((grammar.machine.read_all(stacks, c), text + chr(c)) for c in sorted(characters))
            longer += [one for one in successors if one[0]]
        open_texts = longer


def can_be_filled(places: list[set[Value]], enough: int) -> bool:
    """True if every place can get a value of its own; one with `enough` values always can."""
    scarce = sorted((values for values in places if len(values) < enough), key=len)

    def fill(index: int, taken: frozenset[Value]) -> bool:
        if index == len(scarce):
            return True
        return any(fill(index + 1, taken | {value}) for value in scarce[index] - taken)

    return fill(0, frozenset())
