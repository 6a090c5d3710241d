"""`if` and `dependencies`: what follows from what, as a union and, where many multiply, as obligations.

I → T is ¬I ∪ (I ∩ T), two object records. k of them beside each other would be up to 2^k records; but I → T is also
¬(I ∩ ¬T), and where ¬T is a union of plain records, each is one obligation of one record, so k implications stay one
record. `Shape.folded` says so when it is asked (`meet_all`), which is only where the unions do multiply.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from constrain.frontends.json_schema.intersect import meet_objects
from constrain.frontends.json_schema.shapes import ANY_OBJECT, NOTHING, ObjectShape, Shape

if TYPE_CHECKING:
    from constrain.frontends.json_schema.build import Builder

FOLDED_BEYOND = 512
"""Object records that shapes beside each other may make before implications are taken as obligations."""

Implication = tuple[Shape, Shape]
"""If a value is of the first, it is of the second."""


def with_obligations(shape: Shape, implications: Sequence[Implication], builder: Builder, at: str) -> Shape:
    """`shape`, which says the same of objects as `implications`, and can be asked for that as obligations."""

    def folded() -> Shape | None:
        outside: list[ObjectShape] = []
        for condition, consequence in implications:
            found = _outside(condition, consequence, builder, at)
            if found is None:
                return None
            outside += found
        objects = (ObjectShape(outside=tuple(outside)),) if outside else (ANY_OBJECT,)
        return replace(shape, objects=objects, folded=None)

    return replace(shape, folded=folded)


def meet_all(own: Shape, applied: Sequence[Shape], meet: Callable[[Shape, Shape], Shape]) -> Shape:
    """What `own` and all of `applied` have in common; where their unions multiply, implications as obligations."""
    shape = own
    for each in applied:
        shape = meet(shape, each)
        if len(shape.objects) > FOLDED_BEYOND and any([other.folded is not None for other in applied]):
            break
    else:
        return shape
    for each in applied:
        own = meet(own, (each.folded() if each.folded is not None else None) or each)
    return own


def _outside(condition: Shape, consequence: Shape, builder: Builder, at: str) -> list[ObjectShape] | None:
    """The objects of `condition` that are none of `consequence`, as plain records; None if there is no saying so."""
    ways = ways_out(consequence, builder)
    if ways is None or not condition.exact:
        return None
    if not ways:
        return []
    found: list[ObjectShape] = []
    for record in condition.objects:
        if not _is_plain(record):
            return None
        for way in ways:
            met = meet_objects(record, way, builder.is_dead, at)
            if isinstance(met, ObjectShape):
                found.append(met)
    return found


def ways_out(shape: Shape, builder: Builder) -> list[ObjectShape] | None:
    """The objects that are not in `shape`, as plain records; None if there is no saying so."""
    if not shape.objects:
        return [ANY_OBJECT]
    record = shape.objects[0]
    if len(shape.objects) > 1 or not shape.exact or not isinstance(record, ObjectShape) or not _is_plain(record):
        return None
    if record.extra or any(child for _, child in record.patterns):
        return None
    ways = [ObjectShape({name: NOTHING}) for name in record.required]
    ways += [ObjectShape(max=record.min - 1)] if record.min > 0 else []
    ways += [ObjectShape(min=record.max + 1)] if record.max is not None else []
    for name, child in record.members.items():
        if child:
            ways.append(ObjectShape({name: builder.negate(child)}, required={name: None}))
    return ways


def _is_plain(record: object) -> bool:
    return isinstance(record, ObjectShape) and not record.outside and record.evaluated is None
