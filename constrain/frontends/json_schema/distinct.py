"""Whether an array with `uniqueItems` can get enough different items: its places are matched with values.

Main class: `Distinct`. Values of a child are listed, containers too, until there are as many as the array has places to
fill; a place with that many never stands in the way (Hall's theorem). The others are matched with their values, one
place after the other along augmenting paths (Kuhn 1955, "The Hungarian method", for its unweighted case).

What cannot be listed within the limits counts as many: `most` claims too few only where that is proved, and leaves the
rest to the kernel, which decides by the texts. So recursion counts as many too.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction

from constrain.errors import LimitExceeded
from constrain.frontends.json_schema.build import Builder
from constrain.frontends.json_schema.evaluate import array_in, const_is_allowed, object_in
from constrain.frontends.json_schema.intersect import child_of, number_in
from constrain.frontends.json_schema.numbers import step_of
from constrain.frontends.json_schema.shapes import (
    NOTHING,
    ArrayRecord,
    ArrayShape,
    Child,
    ConstShape,
    NumberShape,
    ObjectRecord,
    Shape,
    StringShape,
)
from constrain.frontends.json_schema.values import JsonValue, ObjectValue, has_surrogate, value_key
from constrain.grammar import regular
from constrain.grammar.terms import LiteralSet, Not, intersection

MAX_PLACES = 256
"""Arrays that ask for more items are left to the kernel, unless their items are scalars."""

MAX_TEXTS = 32
"""Strings of a pattern are listed up to so many."""

MAX_TRIED = 20_000
"""Values looked at for one array."""

MAX_DEPTH = 32


class Many(Exception):
    """There are as many values as asked for, or it cannot be told."""


class Distinct:
    """Lists values and matches them with places, for one `Builder`."""

    def __init__(self, builder: Builder):
        self._builder = builder
        self._tried = 0
        self._open: list[Child] = []

    def most(self, record: ArrayShape) -> int | None:
        """The most items that an array of `record` can have if that is less than it must have; else None."""
        if record.min > MAX_PLACES:
            return None
        self._tried = 0
        places = [self._keys(record.item(i), record.min) for i in range(min(record.min, len(record.prefix)))]
        if record.min > len(places):
            places += [self._keys(record.rest, record.min)] * (record.min - len(places))
        found = _matched([place for place in places if place is not None])
        missing = sum(place is not None for place in places) - found
        return record.min - missing if missing else None

    def _keys(self, child: Child, limit: int) -> frozenset[Hashable] | None:
        """The keys of all values of `child`, or None if they are `limit` or more."""
        try:
            keys = frozenset(value_key(value) for value in self._values(child, limit))
        except (Many, LimitExceeded):
            return None
        return keys if len(keys) < limit else None

    def _values(self, child: Child, limit: int) -> list[JsonValue]:
        """All values of `child`, each once. Raises: Many: `limit` or more."""
        if child == NOTHING:
            return []
        if child in self._open or len(self._open) >= MAX_DEPTH:
            raise Many
        self._open.append(child)
        try:
            found: dict[Hashable, JsonValue] = {}
            for value in self._of_shape(self._builder.shape_of(child), limit):
                self._tried += 1
                found[value_key(value)] = value
                if len(found) >= limit or self._tried > MAX_TRIED:
                    raise Many
            return list(found.values())
        finally:
            self._open.pop()

    def _of_shape(self, shape: Shape, limit: int) -> Iterator[JsonValue]:
        if shape.null:
            yield None
        yield from shape.booleans
        for strings in shape.strings:
            yield from _texts(strings, limit)
        for numbers in shape.numbers:
            yield from _numbers(numbers, limit)
        for array in shape.arrays:
            yield from self._arrays(array, limit)
        for record in shape.objects:
            yield from self._objects(record, limit)

    def _arrays(self, record: ArrayRecord, limit: int) -> Iterator[JsonValue]:
        if isinstance(record, ConstShape):
            if const_is_allowed(record, self._builder.shape_of):
                yield record.value
            return
        prefix: list[list[JsonValue]] = []
        for child in record.prefix if record.max is None else record.prefix[: record.max]:
            values = self._values(child, limit)
            if not values:
                break
            prefix.append(values)
        rest: list[JsonValue] = []
        if len(prefix) == len(record.prefix) and (record.max is None or record.max > len(prefix)):
            rest = self._values(record.rest, limit)
        last = len(prefix) if not rest else record.max
        if last is None:
            if record.unique is None:
                raise Many
            last = len(prefix) + len(rest)
        for length in range(record.min, last + 1):
            choices = [prefix[i] if i < len(prefix) else rest for i in range(length)]
            for items in self._product(choices):
                if array_in(record, items, self._builder.shape_of):
                    yield items

    def _objects(self, record: ObjectRecord, limit: int) -> Iterator[JsonValue]:
        if isinstance(record, ConstShape):
            if const_is_allowed(record, self._builder.shape_of):
                yield record.value
            return
        if record.max == 0:
            names: list[str] = []
        elif any(self._values(child, 1) for child in (record.extra, *(child for _, child in record.patterns))):
            raise Many
        else:
            names = [name for name in dict.fromkeys((*record.required, *record.members)) if not has_surrogate(name)]
        absent = object()
        choices: list[list[object]] = []
        for name in names:
            values: list[object] = [*self._values(child_of(record, name), limit)]
            choices.append(values if name in record.required else [*values, absent])
        for chosen in self._product(choices):
            members = [(name, value) for name, value in zip(names, chosen, strict=True) if value is not absent]
            value = ObjectValue(tuple(members))  # pyright: ignore[reportArgumentType]
            if object_in(record, value, self._builder.shape_of):
                yield value

    def _product(self, choices: Sequence[Sequence[object]]) -> Iterator[tuple]:
        """As `itertools.product`, counted; without its copies of long arguments."""
        if not all(choices):
            return
        indices = [0] * len(choices)
        while True:
            self._tried += 1
            if self._tried > MAX_TRIED:
                raise Many
            yield tuple([values[i] for values, i in zip(choices, indices, strict=True)])
            for at in reversed(range(len(choices))):
                indices[at] += 1
                if indices[at] < len(choices[at]):
                    break
                indices[at] = 0
            else:
                return


def _texts(record: StringShape, limit: int) -> Iterator[str]:
    if record.finite is not None:
        yield from record.finite
        return
    term = record.term()
    size = regular.cardinality(term, min(limit, MAX_TEXTS))
    if size is None:
        raise Many
    found: list[str] = []
    for _ in range(size):
        text = regular.witness(intersection(term, Not(LiteralSet(tuple(found)))) if found else term)
        assert text is not None
        found.append(text)
    yield from found


def _numbers(record: NumberShape, limit: int) -> Iterator[Decimal]:
    if record.pointed:  # how its values are written is part of it
        raise Many
    if record.finite is not None:
        yield from [_decimal(Fraction(value)) for value in record.finite]
        return
    constraint = record.constraint
    low, high, step = constraint.minimum, constraint.maximum, step_of(constraint)
    if low is None or high is None or (step is None and low != high):
        raise Many
    step = step or Fraction(1)
    first, last = math.ceil(Fraction(low) / step), math.floor(Fraction(high) / step)
    if last - first > limit + 2 + MAX_TEXTS * bool(record.without):
        raise Many
    values = [_decimal(Fraction(low))] if low == high else [_decimal(t * step) for t in range(first, last + 1)]
    yield from [value for value in values if number_in(record, value)]


def _decimal(value: Fraction) -> Decimal:
    """`value`, a decimal fraction, exactly."""
    places = 0
    while value.denominator != 1:
        value, places = value * 10, places + 1
    return Decimal(value.numerator).scaleb(-places) if places else Decimal(value.numerator)


def _matched(places: Iterable[frozenset[Hashable]]) -> int:
    """How many of `places` get a value of their own at best."""
    owners: dict[Hashable, int] = {}
    wanted = list(places)

    def settle(place: int, seen: set[Hashable]) -> bool:
        for key in wanted[place]:
            if key not in seen:
                seen.add(key)
                if key not in owners or settle(owners[key], seen):
                    owners[key] = place
                    return True
        return False

    return sum(settle(place, set()) for place in range(len(wanted)))
