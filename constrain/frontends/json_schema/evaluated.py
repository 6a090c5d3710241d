"""`unevaluatedProperties` and `unevaluatedItems`: which members and items the schemas of one place have evaluated.

A place with such a keyword reads its subschemas *tracked*: their records carry an `Evaluated`, through `$ref`, `allOf`,
`anyOf`, `oneOf`, `if` and `dependentSchemas`, and a meet of two records has evaluated what either has. The keyword then
closes record by record: what a record has not evaluated must satisfy the keyword's schema. Other places track nothing.

Invariant of a tracked shape: a record that holds a value has evaluated no more of it than the schema annotates, and
some record that holds it has evaluated all that. So a record may be left out where another holds the same values and
has evaluated as much, and `anyOf`, where the branches that hold together add up, needs their meets beside the branches
(`any_of`) but no negation: a record that has evaluated less only allows less. `oneOf` and `if` take the complements
that they need anyway; a complement evaluates nothing, as a schema that fails annotates nothing.

A schema that is not enforced exactly counts as having evaluated everything: what is compiled then lets more through.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from constrain.errors import LimitExceeded, Problem
from constrain.frontends.json_schema.intersect import Dead, meet_arrays, meet_objects, union
from constrain.frontends.json_schema.shapes import (
    ANY_ARRAY,
    ANY_OBJECT,
    ANYTHING,
    ArrayRecord,
    ArrayShape,
    Child,
    ConstShape,
    Evaluated,
    ObjectRecord,
    ObjectShape,
    Shape,
)
from constrain.grammar.terms import alternation

if TYPE_CHECKING:
    from constrain.frontends.json_schema.atoms import Place
    from constrain.frontends.json_schema.build import Builder
    from constrain.frontends.json_schema.reading import Reading

TYPE_OF = {"unevaluatedProperties": "object", "unevaluatedItems": "array"}
EVERYTHING = Evaluated(everything=True)
NOTHING_YET = Evaluated()

MAX_COMBINED = 4_096
"""Records of one type in an `anyOf` whose branches may hold together and evaluate different names or items."""

_Record = TypeVar("_Record", ArrayRecord, ObjectRecord)


def tracked_at(place: Place, readers: Container[str]) -> frozenset[str]:
    """The types for which subschemas of `place` must say what they evaluate: those asked for, and its own keywords'."""
    tracked, schema = place.tracked, place.schema
    for keyword, name in TYPE_OF.items():
        if keyword in schema and keyword in readers and schema[keyword] is not True and schema[keyword] != {}:
            tracked = tracked if name in tracked else tracked | {name}
    return tracked


# ---------------------------------------------------------------- what a schema evaluates itself


def annotate(shape: Shape, builder: Builder, place: Place, reading: Reading) -> Shape:
    """`shape`, made of the keywords of one schema without its applicators in place, with what they evaluate."""
    arrays, objects = shape.arrays, shape.objects
    if "array" in place.tracked:
        evaluated = _items_of(builder, place, reading) if reading.exact else EVERYTHING
        arrays = tuple([_with(record, evaluated) for record in arrays])
    if "object" in place.tracked:
        evaluated = _members_of(place, reading) if reading.exact else EVERYTHING
        objects = tuple([_with(record, evaluated) for record in objects])
    return replace(shape, arrays=arrays, objects=objects)


def _members_of(place: Place, reading: Reading) -> Evaluated | None:
    if _has(place, "additionalProperties"):
        return EVERYTHING
    if not reading.members and not reading.patterns:
        return None
    return Evaluated(names=frozenset(reading.members), patterns=tuple(dict.fromkeys([p for p, _ in reading.patterns])))


def _items_of(builder: Builder, place: Place, reading: Reading) -> Evaluated | None:
    if _has(place, "additionalItems" if reading.items_are_tuple else "items"):
        return EVERYTHING
    contained: tuple[Child, ...] = ()
    if place.scope.dialect.contains_evaluates and _has(place, "contains"):
        contained = (builder.below(place, place.schema["contains"], "contains"),)
    return Evaluated(length=len(reading.prefix), contained=contained) if reading.prefix or contained else None


def _has(place: Place, keyword: str) -> bool:
    return keyword in place.schema and keyword in place.scope.dialect.readers


def _with(record: _Record, evaluated: Evaluated | None) -> _Record:
    return record if record.evaluated == evaluated else replace(record, evaluated=evaluated)


# ---------------------------------------------------------------- branches that hold together


def any_of(shapes: Sequence[Shape], dead: Dead, at: str) -> Shape:
    """The union of tracked `shapes`: each, and the meets of those that together have evaluated more than each alone.

    Raises:  LimitExceeded: more than 4,096 records of one type.
    """
    joined = shapes[0]
    for shape in shapes[1:]:
        arrays = _together(joined.arrays, shape.arrays, lambda a, b: meet_arrays(a, b, dead))
        objects = _together(joined.objects, shape.objects, lambda a, b: meet_objects(a, b, dead, at))
        joined = union([joined, Shape(arrays=arrays, objects=objects), shape])
        if max(len(joined.arrays), len(joined.objects)) > MAX_COMBINED:
            raise LimitExceeded(
                f"the branches of 'anyOf' evaluate different names or items in more than {MAX_COMBINED} combinations",
                limit="evaluated_combinations",
                at=at,
            )
    return joined


def _together(
    left: tuple[_Record, ...], right: tuple[_Record, ...], meet: Callable[[_Record, _Record], _Record | None]
) -> tuple[_Record, ...]:
    met: list[_Record] = []
    for one in left:
        for other in right:
            if one.evaluated is None or other.evaluated is None or one is other:
                continue
            if not _covers(one.evaluated, other.evaluated) and not _covers(other.evaluated, one.evaluated):
                record = meet(one, other)
                met += [record] if record is not None else []
        if len(met) > MAX_COMBINED:
            break  # the caller counts, and says so
    return tuple(met)


def _covers(more: Evaluated, less: Evaluated) -> bool:
    if more.everything or less.everything:
        return more.everything
    return (
        less.names <= more.names
        and less.length <= more.length
        and all(pattern in more.patterns for pattern in less.patterns)
        and all(child in more.contained for child in less.contained)
    )


# ---------------------------------------------------------------- the keywords


def close(shape: Shape, builder: Builder, place: Place, reading: Reading) -> Shape:
    """`shape`, of all other keywords of `place`, where what is not evaluated satisfies the keywords' schemas.

    What remains says what it has evaluated only where the schema above `place` has asked for it.
    """
    arrays, objects = shape.arrays, shape.objects
    for keyword, child in reading.unevaluated.items():
        if child == ANYTHING:
            continue
        if not shape.exact:
            _refuse(builder, place, keyword)
        if TYPE_OF[keyword] == "array":
            closed = [_closed_array(record, child, builder) for record in arrays]
            arrays = tuple([record for record in closed if record is not None])
        else:
            closed = [_closed_object(record, child, builder.is_dead, place.path) for record in objects]
            objects = tuple([record for record in closed if record is not None])
    arrays = _marked(arrays, "array", place, reading, ANY_ARRAY)
    objects = _marked(objects, "object", place, reading, ANY_OBJECT)
    whole = replace(shape, arrays=arrays, objects=objects)
    if whole.is_blank and not shape.is_blank:
        builder.contradiction(place, "what it requires is not evaluated, and what is not evaluated may not be")
    return whole


def _closed_object(record: ObjectRecord, child: Child, dead: Dead, at: str) -> ObjectRecord | None:
    evaluated = record.evaluated or NOTHING_YET
    if evaluated.everything:
        return record
    known = evaluated.patterns
    own = [pattern for pattern, _ in record.patterns] if isinstance(record, ObjectShape) else []
    if len(own) != len(known) or any(pattern not in known for pattern in own):
        own = [alternation(*known)] if known else []  # patterns of a record are disjoint, and these may overlap
    free = {name: ANYTHING for name in evaluated.names}
    return meet_objects(record, ObjectShape(free, tuple([(pattern, ANYTHING) for pattern in own]), child), dead, at)


def _closed_array(record: ArrayRecord, child: Child, builder: Builder) -> ArrayRecord | None:
    evaluated = record.evaluated or NOTHING_YET
    if evaluated.everything:
        return record
    rest = builder.either((child, *evaluated.contained))
    return meet_arrays(record, ArrayShape((ANYTHING,) * evaluated.length, rest), builder.is_dead)


def _marked(
    records: tuple[_Record, ...], name: str, place: Place, reading: Reading, free: _Record
) -> tuple[_Record, ...]:
    """The records with what they say to the schema above: all is evaluated here, or nothing was asked."""
    is_closed = any(TYPE_OF[keyword] == name for keyword in reading.unevaluated)
    if name not in place.tracked or (name in reading.annotates and not is_closed):
        return records
    evaluated = EVERYTHING if name in reading.annotates else None
    marked = tuple([free if evaluated is None and _is_free(r) else _with(r, evaluated) for r in records])
    return (free,) if free in marked else marked


def _is_free(record: ArrayRecord | ObjectRecord) -> bool:
    if isinstance(record, ConstShape) or record.min or record.max is not None:
        return False
    if isinstance(record, ArrayShape):
        return not (record.prefix or record.rest or record.unique or record.counts)
    if any(record.members.values()) or record.patterns or record.extra:
        return False
    return not (record.required or record.outside)


def _refuse(builder: Builder, place: Place, keyword: str) -> None:
    problems = [problem for problem in builder.findings.problems.values() if problem.keyword not in TYPE_OF]
    below = [problem for problem in problems if problem.path.startswith(place.path)]
    cause = (below or problems or [Problem(place.path, "not", "", "")])[-1]
    builder.findings.refuse(
        place.path,
        keyword,
        f"cannot be enforced: what is evaluated hangs on {cause.keyword!r} at {cause.path}, which is refused",
        "rewrite that, or list what is allowed in one place and close it with 'additionalProperties' or 'items'",
    )
