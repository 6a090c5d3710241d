"""What a shape leaves out: `complement` is exact or raises `NoComplement`.

Numbers and strings are closed under complement; of a format of which not every string is known, only what is certainly
no such string is left. The complement of an array or object record is never expanded: it is
the free record with that one as an *obligation* (`outside`), unless a single plain record says the same. So n negated
records stay one record with n obligations, whatever they hold; `obligations.py` says how they are kept while decoding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from constrain.errors import LimitExceeded
from constrain.frontends.json_schema import numbers
from constrain.frontends.json_schema.formats import is_narrower, wider
from constrain.frontends.json_schema.intersect import meet_arrays, meet_numbers, meet_objects, meet_strings, product
from constrain.frontends.json_schema.shapes import (
    ANY_ARRAY,
    ANY_NUMBER,
    ANY_OBJECT,
    ANY_STRING,
    ANYTHING,
    NOTHING,
    ArrayRecord,
    ArrayShape,
    Child,
    ConstShape,
    NumberShape,
    ObjectRecord,
    ObjectShape,
    Shape,
    StringShape,
)
from constrain.frontends.json_schema.values import JsonValue, ObjectValue
from constrain.grammar.terms import Not

MAX_EXPANDED = 512
"""Records of one type that negations of negations may make; more are refused rather than multiplied on."""


class Atoms(Protocol):
    """What is asked of the table of atoms."""

    def negate(self, child: Child) -> Child: ...

    def constant(self, value: JsonValue, path: str) -> Child: ...

    def is_dead(self, child: Child) -> bool: ...


class NoComplement(Exception):
    """The complement is not a union of records; the message says what stands in the way."""


def complement(shape: Shape, atoms: Atoms, at: str) -> Shape:
    """The values that are not in `shape`.

    Raises:  NoComplement: if `shape` is wider than its schema, or nests too many negations.
    """
    try:
        outside = _complement(shape, atoms, at)
    except LimitExceeded:
        raise NoComplement("has too many alternatives") from None
    check_expansion(outside)
    return outside


def check_expansion(shape: Shape) -> None:
    """Raises:  NoComplement: if expanding negations made more than 512 records of one type."""
    if max(len(shape.arrays), len(shape.objects)) > MAX_EXPANDED:
        raise NoComplement("has too many alternatives")


def children_of(shape: Shape) -> Iterator[Child]:
    """The children whose negations may be asked for when `shape` is excluded."""
    for record in (*shape.objects, *shape.arrays):
        if isinstance(record, ObjectShape):
            yield from record.members.values()
            yield from [child for _, child in record.patterns]
            yield record.extra
        elif isinstance(record, ArrayShape):
            yield from record.prefix
            yield record.rest
            yield from [contained.child for contained in record.contains]


def _complement(shape: Shape, atoms: Atoms, at: str) -> Shape:
    if not shape.exact:
        raise NoComplement("holds what is not enforced exactly")
    strings: tuple[StringShape, ...] = (ANY_STRING,)
    for record in shape.strings:
        strings = product(strings, _outside_string(record), meet_strings, at)
    arrays: tuple[ArrayRecord, ...] = (ANY_ARRAY,)
    for record in shape.arrays:
        arrays = product(arrays, _outside_array(record, atoms, at), lambda a, b: meet_arrays(a, b, atoms.is_dead), at)
    objects: tuple[ObjectRecord, ...] = (ANY_OBJECT,)
    for record in shape.objects:
        around = _outside_object(record, atoms, at)
        objects = product(objects, around, lambda a, b: meet_objects(a, b, atoms.is_dead, at), at)
    return Shape(
        null=not shape.null,
        booleans=tuple([b for b in (False, True) if b not in shape.booleans]),
        numbers=_outside_numbers(shape.numbers, at),
        strings=strings,
        arrays=arrays,
        objects=objects,
    )


def _outside_string(record: StringShape) -> tuple[StringShape, ...]:
    """Lengths alone leave out shorter and longer ones: to search a language of 32,768 characters for that is slow."""
    if record.finite is not None or record.parts:
        return (StringShape((Not(wider(record.term())),)),)
    shorter = (StringShape(max=record.min - 1),) if record.min else ()
    return shorter if record.max is None else (*shorter, StringShape(min=record.max + 1))


def is_approximate(shape: Shape) -> bool:
    """True if what `shape` leaves out is known in part only: it holds a format of which not every string is known."""
    return any(is_narrower(part) for record in shape.strings for part in record.parts)


def _outside_numbers(records: tuple[NumberShape, ...], at: str) -> tuple[NumberShape, ...]:
    outside: tuple[NumberShape, ...] = (ANY_NUMBER,)
    for record in records:
        if record is ANY_NUMBER:
            return ()
        if record.finite is not None:
            points = tuple([numbers.NumberConstraint(value, value) for value in record.finite])
            negated: tuple[NumberShape, ...] = (NumberShape(without=points),)
        else:
            negated = (NumberShape(without=(record.constraint,)), *[NumberShape(c) for c in record.without])
        if record.plain or record.pointed:
            negated = (*negated, NumberShape(plain=record.pointed, pointed=record.plain))
        outside = product(outside, negated, meet_numbers, at)
    return outside


# ---------------------------------------------------------------- arrays


def _outside_array(record: ArrayRecord, atoms: Atoms, at: str) -> tuple[ArrayRecord, ...]:
    if record is ANY_ARRAY:
        return ()
    if isinstance(record, ConstShape):
        assert isinstance(record.value, tuple)
        items = tuple([atoms.constant(item, at) for item in record.value])
        just = ArrayShape(items, NOTHING, len(items), len(items))
        return (*_outside_array(just, atoms, at), *_unmet(record, lambda r: _outside_array(r, atoms, at)))
    if record.outside:
        plain = ArrayShape(record.prefix, record.rest, record.min, record.max, record.unique, record.contains)
        return (*_outside_array(plain, atoms, at), *record.outside)
    return (_only_way_out_of_array(record, atoms) or ArrayShape(outside=(record,)),)


def _only_way_out_of_array(record: ArrayShape, atoms: Atoms) -> ArrayShape | None:
    """The complement of `record`, if one plain record says it."""
    ways: list[ArrayShape] = [ArrayShape(max=record.min - 1)] if record.min > 0 else []
    is_closed = record.rest == NOTHING
    if record.max is not None and not (is_closed and record.max >= len(record.prefix)):
        ways.append(ArrayShape(min=record.max + 1))
    for i, child in enumerate(record.prefix):
        if child:
            ways.append(ArrayShape((ANYTHING,) * i + (atoms.negate(child),), min=i + 1))
    if is_closed:
        ways.append(ArrayShape(min=len(record.prefix) + 1))
    if len(ways) != 1 or record.contains or record.unique is not None or record.rest not in (ANYTHING, NOTHING):
        return None
    return ways[0]


# ---------------------------------------------------------------- objects


def _outside_object(record: ObjectRecord, atoms: Atoms, at: str) -> tuple[ObjectRecord, ...]:
    if record is ANY_OBJECT:
        return ()
    if isinstance(record, ConstShape):
        assert isinstance(record.value, ObjectValue)
        members = {name: atoms.constant(item, at) for name, item in record.value.members}
        just = ObjectShape(members, extra=NOTHING, required=dict.fromkeys(members))
        return (*_outside_object(just, atoms, at), *_unmet(record, lambda r: _outside_object(r, atoms, at)))
    if record.outside:
        plain = ObjectShape(record.members, record.patterns, record.extra, record.required, record.min, record.max)
        return (*_outside_object(plain, atoms, at), *record.outside)
    return (_only_way_out_of_object(record, atoms) or ObjectShape(outside=(record,)),)


def _only_way_out_of_object(record: ObjectShape, atoms: Atoms) -> ObjectShape | None:
    """The complement of `record`, if one plain record says it."""
    ways: list[ObjectShape] = [ObjectShape({name: NOTHING}) for name in record.required]
    for name, child in record.members.items():
        if child:
            ways.append(ObjectShape({name: atoms.negate(child)}, required={name: None}))
    if record.extra == NOTHING and not record.patterns and not record.members:
        ways.append(ObjectShape(min=1))
    elif record.extra or any(child for _, child in record.patterns):
        return None
    ways += [ObjectShape(max=record.min - 1)] if record.min > 0 else []
    ways += [ObjectShape(min=record.max + 1)] if record.max is not None else []
    return ways[0] if len(ways) == 1 else None


def _unmet(record: ConstShape, outside: Callable[[Any], Sequence[ArrayRecord | ObjectRecord]]) -> list[ConstShape]:
    """The constant, for each way in which one of its conditions may not hold."""
    ways = [way for condition in record.conditions for way in outside(condition)]
    return [ConstShape(record.value, record.key, (way,)) for way in ways if not isinstance(way, ConstShape)]
