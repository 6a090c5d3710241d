"""What two shapes have in common, and their union (what a shape leaves out: `complement.py`).

`intersect` works type by type, record by record: a union of m records meets one of n in at most m·n, pruned where two
records contradict each other on their face (bounds that cross, a required name that may not be, constants that
differ). It never looks into a child: whether a conjunction of children is empty is asked later (`emptiness.py`), but
`dead` may say so at once for children that are told apart by a constant or a type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from constrain.errors import LimitExceeded
from constrain.frontends.json_schema import numbers
from constrain.frontends.json_schema.shapes import (
    ANY,
    ANY_ARRAY,
    ANY_NUMBER,
    ANY_OBJECT,
    ANY_STRING,
    NONE,
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
    conjoin,
    evaluated_by_both,
)
from constrain.frontends.json_schema.values import has_surrogate
from constrain.grammar import regular
from constrain.grammar.terms import Not, Regular, alternation, intersection

MAX_RECORDS = 4_096
"""Records of one type in one shape: `allOf` of many `anyOf`s multiplies."""

MAX_NAME_CLASSES = 64
"""Classes of names in one object, which overlapping patterns multiply."""

Dead = Callable[[Child], bool]
_Record = TypeVar("_Record")


def union(shapes: Sequence[Shape]) -> Shape:
    """The values of any of `shapes`; finite sets of one type are merged, a free record absorbs the others."""
    kept = [shape for shape in shapes if shape is not NONE]
    if len(kept) <= 1:
        return kept[0] if kept else NONE
    if any(shape is ANY for shape in kept) and not any(shape.has_evaluated for shape in kept):
        return ANY
    return Shape(
        null=any(shape.null for shape in kept),
        booleans=tuple([b for b in (False, True) if any(b in shape.booleans for shape in kept)]),
        numbers=_merge_numbers([record for shape in kept for record in shape.numbers]),
        strings=_merge_strings([record for shape in kept for record in shape.strings]),
        arrays=_merge_containers([record for shape in kept for record in shape.arrays], ANY_ARRAY),
        objects=_merge_containers([record for shape in kept for record in shape.objects], ANY_OBJECT),
        exact=all(shape.exact for shape in kept),
    )


def _merge(records: list[_Record], free: _Record) -> tuple[_Record, ...]:
    return (free,) if free in records else tuple(dict.fromkeys(records))


_Container = TypeVar("_Container", ArrayRecord, ObjectRecord)


def _merge_containers(records: list[_Container], free: _Container) -> tuple[_Container, ...]:
    """A free record absorbs the others, save those that have evaluated something: they leave less unevaluated."""
    merged = tuple(dict.fromkeys(records))
    return (free, *[r for r in merged if r.evaluated is not None]) if free in merged else merged


def _merge_numbers(records: list[NumberShape]) -> tuple[NumberShape, ...]:
    finite = [record for record in records if record.finite is not None]
    if len(finite) <= 1 or ANY_NUMBER in records:
        return _merge(records, ANY_NUMBER)
    merged: list[NumberShape] = []
    for plain, pointed in ((False, False), (True, False), (False, True)):
        alike = [record for record in finite if (record.plain, record.pointed) == (plain, pointed)]
        values = tuple(dict.fromkeys(value for record in alike for value in record.finite or ()))
        merged += [NumberShape(finite=values, plain=plain, pointed=pointed)] if values else []
    return (*dict.fromkeys([r for r in records if r.finite is None]), *merged)


def _merge_strings(records: list[StringShape]) -> tuple[StringShape, ...]:
    finite = [record for record in records if record.finite is not None]
    if len(finite) <= 1 or ANY_STRING in records:
        return _merge(records, ANY_STRING)
    texts = tuple(dict.fromkeys(text for record in finite for text in record.finite or ()))
    return (*dict.fromkeys([r for r in records if r.finite is None]), StringShape(finite=texts))


# ---------------------------------------------------------------- intersection


def intersect(left: Shape, right: Shape, dead: Dead, at: str) -> Shape:
    """The values of both.

    Raises:  LimitExceeded: more than 4,096 records of one type; `at` names the place.
    """
    if left is ANY or left is right:
        return right
    if right is ANY:
        return left
    if left is NONE or right is NONE:
        return NONE
    return Shape(
        null=left.null and right.null,
        booleans=tuple([b for b in left.booleans if b in right.booleans]),
        numbers=product(left.numbers, right.numbers, meet_numbers, at),
        strings=product(left.strings, right.strings, meet_strings, at),
        arrays=product(left.arrays, right.arrays, lambda a, b: meet_arrays(a, b, dead), at),
        objects=product(left.objects, right.objects, lambda a, b: meet_objects(a, b, dead, at), at),
        exact=left.exact and right.exact,
    )


def product(
    left: tuple[_Record, ...], right: tuple[_Record, ...], meet: Callable[[_Record, _Record], _Record | None], at: str
) -> tuple[_Record, ...]:
    """The records that any of `left` and any of `right` have in common."""
    if not left or not right:
        return ()
    among = right if len(right) < 8 else frozenset(right)
    common = [record for record in left if record in among]
    if common and any([getattr(record, "evaluated", None) for record in (*left, *right)]):
        common = []  # what both have in common may have evaluated less than their meets
    met: dict[_Record, None] = dict.fromkeys(common)
    if common:  # (r ∪ A) ∩ (r ∪ B) is r ∪ (A ∩ B)
        left = tuple([record for record in left if record not in met])
        right = tuple([record for record in right if record not in met])
    for one in left:
        for other in right:
            record = one if one is other else meet(one, other)
            if record is not None:
                met[record] = None
        if len(met) > MAX_RECORDS:
            raise LimitExceeded(
                f"the alternatives of this place multiply beyond {MAX_RECORDS}",
                limit="shape_records",
                at=at,
                help="merge the 'anyOf' or 'oneOf' branches that stand beside each other",
            )
    return tuple(met)


def meet_numbers(left: NumberShape, right: NumberShape) -> NumberShape | None:
    """Numbers of both, or None where there is none on the face of it."""
    if left is ANY_NUMBER:
        return right
    if right is ANY_NUMBER:
        return left
    plain, pointed = left.plain or right.plain, left.pointed or right.pointed
    if plain and pointed:
        return None
    if right.finite is not None:
        left, right = right, left
    if left.finite is not None:
        spelled = replace(right, plain=False, pointed=False) if right.plain or right.pointed else right
        values = tuple([value for value in left.finite if number_in(spelled, value)])
        return NumberShape(finite=values, plain=plain, pointed=pointed) if values else None
    constraint = numbers.intersect(left.constraint, right.constraint)
    if numbers.is_empty_constraint(constraint):
        return None
    without = tuple(dict.fromkeys(left.without + right.without))
    if any([_covers(excluded, constraint) for excluded in without]):
        return None
    return NumberShape(constraint, without, plain=plain, pointed=pointed)


def _covers(wide: numbers.NumberConstraint, narrow: numbers.NumberConstraint) -> bool:
    """True if `wide` is an interval that holds all of `narrow`'s."""
    if (wide.integer and not narrow.integer) or (wide.plain and not narrow.plain):
        return False
    return all(step in narrow.multiple_of for step in wide.multiple_of) and numbers.spans(wide, narrow)


def number_in(record: NumberShape, value: numbers.Decimal) -> bool:
    """True if `value` belongs to `record`; the exponent of a Decimal tells how it was written."""
    has_point = value.as_tuple().exponent != 0
    if has_point if record.plain else record.pointed and not has_point:
        return False
    if record.finite is not None:
        return value in record.finite
    return numbers.contains(record.constraint, value) and not any(
        numbers.contains(constraint, value) for constraint in record.without
    )


def meet_strings(left: StringShape, right: StringShape) -> StringShape | None:
    """Strings of both, or None where there is none on the face of it."""
    if left is ANY_STRING:
        return right
    if right is ANY_STRING:
        return left
    if right.finite is not None and (left.finite is None or len(right.finite) < len(left.finite)):
        left, right = right, left
    if left.finite is not None:
        if right.finite is not None and len(left.finite) > 8:
            allowed = frozenset(right.finite)
            texts = tuple([text for text in left.finite if text in allowed])
        else:
            texts = tuple([text for text in left.finite if string_in(right, text)])
        return StringShape(finite=texts) if texts else None
    least = max(left.min, right.min)
    most = right.max if left.max is None else left.max if right.max is None else min(left.max, right.max)
    if most is not None and least > most:
        return None
    return StringShape(tuple(dict.fromkeys(left.parts + right.parts)), least, most)


def string_in(record: StringShape, text: str) -> bool:
    """True if `text` belongs to `record`."""
    if record.finite is not None:
        return text in record.finite
    if len(text) < record.min or (record.max is not None and len(text) > record.max):
        return False
    if not record.parts:
        return True
    return not has_surrogate(text) and all(regular.matches(part, text) for part in record.parts)


def meet_arrays(left: ArrayRecord, right: ArrayRecord, dead: Dead) -> ArrayRecord | None:
    """Arrays of both, or None where there is none on the face of it."""
    if left is ANY_ARRAY:
        return right
    if right is ANY_ARRAY:
        return left
    if isinstance(right, ConstShape):
        left, right = right, left
    if isinstance(left, ConstShape):
        return _meet_const(left, right)
    assert isinstance(right, ArrayShape)
    length = max(len(left.prefix), len(right.prefix))
    prefix = tuple([conjoin(left.item(i), right.item(i)) for i in range(length)])
    rest = conjoin(left.rest, right.rest)
    least = max(left.min, right.min)
    most = right.max if left.max is None else left.max if right.max is None else min(left.max, right.max)
    if most is not None and least > most:
        return None
    if any(dead(child) for child in prefix[:least]) or (least > length and dead(rest)):
        return None
    contains = tuple(dict.fromkeys(left.contains + right.contains))
    outside = tuple(dict.fromkeys(left.outside + right.outside))
    evaluated = evaluated_by_both(left.evaluated, right.evaluated)
    return ArrayShape(prefix, rest, least, most, left.unique or right.unique, contains, outside, evaluated)


def _meet_const(const: ConstShape, other: ArrayRecord | ObjectRecord) -> ConstShape | None:
    evaluated = evaluated_by_both(const.evaluated, other.evaluated)
    if isinstance(other, ConstShape):
        if const.key != other.key:
            return None
        return ConstShape(const.value, const.key, const.conditions + other.conditions, evaluated)
    return ConstShape(const.value, const.key, (*const.conditions, other), evaluated)


def meet_objects(left: ObjectRecord, right: ObjectRecord, dead: Dead, at: str) -> ObjectRecord | None:
    """Objects of both, or None where there is none on the face of it."""
    if left is ANY_OBJECT:
        return right
    if right is ANY_OBJECT:
        return left
    if isinstance(right, ConstShape):
        left, right = right, left
    if isinstance(left, ConstShape):
        return _meet_const(left, right)
    assert isinstance(right, ObjectShape)
    required = {**left.required, **right.required}
    most = right.max if left.max is None else left.max if right.max is None else min(left.max, right.max)
    least = max(left.min, right.min)
    if most is not None and max(least, len(required)) > most:
        return None
    if _told_apart(left, right, required, dead):
        return None
    members = dict(left.members)
    for name, child in left.members.items():
        if name in right.members:
            members[name] = conjoin(child, right.members[name])
        elif right.patterns or right.extra:
            members[name] = conjoin(child, child_of(right, name))
    for name, child in right.members.items():
        if name not in members:
            members[name] = conjoin(child_of(left, name), child)
    patterns, extra = _meet_classes(left, right, at)
    outside = tuple(dict.fromkeys(left.outside + right.outside))
    evaluated = evaluated_by_both(left.evaluated, right.evaluated)
    record = ObjectShape(members, patterns, extra, required, least, most, outside, evaluated)
    closed = extra == NOTHING
    for name in required:
        child = members.get(name)
        if child is None:
            if closed and (not patterns or child_of(record, name) == NOTHING):
                return None
        elif child and dead(child):
            return None
    return record


def _told_apart(left: ObjectShape, right: ObjectShape, required: Iterable[str], dead: Dead) -> bool:
    """True if a required member that both declare is dead: seen before anything is made."""
    for name in required:
        one, other = left.members.get(name), right.members.get(name)
        if one and other and dead(conjoin(one, other)):
            return True
    return False


def child_of(record: ObjectShape, name: str) -> Child:
    """What the member called `name` must be."""
    child = record.members.get(name)
    if child is not None:
        return child
    if record.patterns and not has_surrogate(name):
        for pattern, value in record.patterns:
            if regular.matches(pattern, name):
                return value
    return record.extra


def _meet_classes(left: ObjectShape, right: ObjectShape, at: str) -> tuple[tuple[tuple[Regular, Child], ...], Child]:
    extra = conjoin(left.extra, right.extra)
    if not left.patterns and not right.patterns:
        return (), extra
    classes: list[tuple[Regular, Child]] = []
    if [p for p, _ in left.patterns] == [p for p, _ in right.patterns]:
        pairs = zip(left.patterns, right.patterns, strict=True)
        return tuple([(p, conjoin(a, b)) for (p, a), (_, b) in pairs]), extra
    for pattern, child in left.patterns:
        for other, value in right.patterns:
            if pattern == other:
                classes.append((pattern, conjoin(child, value)))
            elif not regular.are_disjoint(pattern, other):
                classes.append((intersection(pattern, other), conjoin(child, value)))
    classes += _only(left, right)
    classes += _only(right, left)
    if len(classes) > MAX_NAME_CLASSES:
        raise LimitExceeded(
            f"overlapping name patterns make more than {MAX_NAME_CLASSES} classes of names",
            limit="name_classes",
            at=at,
            help="make the patterns disjoint",
        )
    return tuple(classes), extra


def _only(record: ObjectShape, other: ObjectShape) -> list[tuple[Regular, Child]]:
    """The name classes of `record` without the names that `other` has patterns for: there `other.extra` counts."""
    found: list[tuple[Regular, Child]] = []
    for pattern, child in record.patterns:
        overlapping = [q for q, _ in other.patterns if q == pattern or not regular.are_disjoint(pattern, q)]
        if pattern in overlapping:
            continue
        rest = intersection(pattern, Not(alternation(*overlapping))) if overlapping else pattern
        if not overlapping or not regular.is_empty(rest):
            found.append((rest, conjoin(child, other.extra)))
    return found
