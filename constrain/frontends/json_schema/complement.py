"""What a shape leaves out: `complement` is exact or raises `NoComplement`.

Numbers and strings are closed under complement. Of arrays and objects it expands only what one record can say ("a
required name is missing", "this member is there and violates its schema"). That some item or extra member violates a
schema is an obligation, which no record holds yet.
"""

from __future__ import annotations

from collections.abc import Callable

from constrain.errors import LimitExceeded
from constrain.frontends.json_schema import numbers
from constrain.frontends.json_schema.formats import is_narrower
from constrain.frontends.json_schema.intersect import Dead, meet_arrays, meet_numbers, meet_objects, product
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
from constrain.grammar.terms import Not

MAX_EXPANDED = 512
"""Records of one type that expanding negations may make; more are refused rather than multiplied on."""


class NoComplement(Exception):
    """The complement is not a union of records; the message says what stands in the way."""


def complement(shape: Shape, negate: Callable[[Child], Child], dead: Dead, at: str) -> Shape:
    """The values that are not in `shape`.

    Raises:  NoComplement: if that would need an obligation or too many records, or `shape` is wider than its schema.
    """
    try:
        outside = _complement(shape, negate, dead, at)
    except LimitExceeded:
        raise NoComplement("has too many alternatives") from None
    check_expansion(outside)
    return outside


def check_expansion(shape: Shape) -> None:
    """Raises:  NoComplement: if expanding negations made more than 512 records of one type."""
    if max(len(shape.arrays), len(shape.objects)) > MAX_EXPANDED:
        raise NoComplement("has too many alternatives")


def _complement(shape: Shape, negate: Callable[[Child], Child], dead: Dead, at: str) -> Shape:
    if not shape.exact:
        raise NoComplement("is negated, and what it negates is not enforced exactly")
    if any(is_narrower(part) for record in shape.strings for part in record.parts):
        raise NoComplement("is negated, and holds a format of which not every string is known")
    strings = [ANY_STRING]
    if shape.strings:
        languages = tuple([Not(record.term()) for record in shape.strings])
        strings = [] if ANY_STRING in shape.strings else [StringShape(languages)]
    arrays: tuple[ArrayRecord, ...] = (ANY_ARRAY,)
    for record in shape.arrays:
        outside = _outside_array(record, negate)
        arrays = product(arrays, outside, lambda a, b: meet_arrays(a, b, dead), at)
    objects: tuple[ObjectRecord, ...] = (ANY_OBJECT,)
    for record in shape.objects:
        outside = _outside_object(record, negate)
        objects = product(objects, outside, lambda a, b: meet_objects(a, b, dead, at), at)
    return Shape(
        null=not shape.null,
        booleans=tuple([b for b in (False, True) if b not in shape.booleans]),
        numbers=_outside_numbers(shape.numbers, at),
        strings=tuple(strings),
        arrays=arrays,
        objects=objects,
    )


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
        outside = product(outside, negated, meet_numbers, at)
    return outside


def _outside_array(record: ArrayRecord, negate: Callable[[Child], Child]) -> tuple[ArrayRecord, ...]:
    if record is ANY_ARRAY:
        return ()
    if isinstance(record, ConstShape):
        raise NoComplement("excludes an array by its value")
    if record.unique is not None:
        raise NoComplement("demands items that are not unique")
    outside: list[ArrayRecord] = [ArrayShape(max=record.min - 1)] if record.min > 0 else []
    outside += [ArrayShape(min=record.max + 1)] if record.max is not None else []
    for i, child in enumerate(record.prefix):
        if child:
            outside.append(ArrayShape((ANYTHING,) * i + (negate(child),), min=i + 1))
    length = len(record.prefix)
    if record.rest == NOTHING:
        outside.append(ArrayShape(min=length + 1))
    elif record.rest:
        if record.max is None or record.max > length + 8:
            raise NoComplement("demands some item that violates a schema")
        for i in range(length, record.max):
            outside.append(ArrayShape((ANYTHING,) * i + (negate(record.rest),), min=i + 1))
    return tuple(outside)


def _outside_object(record: ObjectRecord, negate: Callable[[Child], Child]) -> tuple[ObjectRecord, ...]:
    if record is ANY_OBJECT:
        return ()
    if isinstance(record, ConstShape):
        raise NoComplement("excludes an object by its value")
    if any(child for _, child in record.patterns) or (record.extra and (record.members or record.extra != NOTHING)):
        raise NoComplement("demands some member that violates a schema")
    outside: list[ObjectRecord] = [ObjectShape({name: NOTHING}) for name in record.required]
    for name, child in record.members.items():
        if child:
            outside.append(ObjectShape({name: negate(child)}, required={name: None}))
    if record.extra == NOTHING and not record.patterns:
        outside.append(ObjectShape(min=1))
    elif record.extra:
        raise NoComplement("demands some member that violates a schema")
    outside += [ObjectShape(max=record.min - 1)] if record.min > 0 else []
    outside += [ObjectShape(min=record.max + 1)] if record.max is not None else []
    return tuple(outside)
