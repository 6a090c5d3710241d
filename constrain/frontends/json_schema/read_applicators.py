"""Readers of the keywords that apply schemas in place: references, combinations, conditions, dependencies.

Each adds shapes to `Reading.applied`; they are intersected in document order. Where a complement is needed and cannot
be said in records, the keyword is refused and what is compiled lets more through.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from constrain.errors import InvalidSpecification, LimitExceeded
from constrain.frontends.json_schema import evaluated
from constrain.frontends.json_schema.complement import NoComplement, check_expansion
from constrain.frontends.json_schema.expect import fail, members, names, schemas
from constrain.frontends.json_schema.implications import Implication, with_obligations
from constrain.frontends.json_schema.intersect import union
from constrain.frontends.json_schema.overlaps import Branches
from constrain.frontends.json_schema.references import follow
from constrain.frontends.json_schema.shapes import ANY, ANYTHING, NOTHING, Child, ObjectShape, Shape
from constrain.frontends.json_schema.values import escape

if TYPE_CHECKING:
    from constrain.frontends.json_schema.atoms import Place
    from constrain.frontends.json_schema.build import Builder
    from constrain.frontends.json_schema.overlaps import Overlaps
    from constrain.frontends.json_schema.reading import Reading

REWRITE = "rewrite it without negation, or split it into branches told apart by a 'const'"
OTHER_TYPES = Shape(True, (False, True), ANY.numbers, ANY.strings, ANY.arrays)


def ref(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    """`$ref`, `$dynamicRef`, `$recursiveRef`: the schema that it leads to, beside its siblings."""
    if not isinstance(value, str):
        fail(place, keyword, value, "a reference")
    if keyword == "$recursiveRef" and value != "#":
        fail(place, keyword, value, "'#'")
    builder.findings.enforced(place.path, keyword)
    target = follow(builder, place, keyword)
    if target is not None:
        reading.applied.append(builder.shape_of(builder.child(*target, place.tracked)))
        builder.passed(())


def all_of(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    builder.findings.enforced(place.path, keyword)
    for i, schema in enumerate(schemas(place, keyword, value)):
        reading.applied.append(builder.shape_of(builder.in_place(place, schema, f"{keyword}/{i}")))


def _branches(builder: Builder, place: Place, keyword: str, value: Any) -> list[Child]:
    found = schemas(place, keyword, value)
    return [builder.in_place(place, schema, f"{keyword}/{i}") for i, schema in enumerate(found)]


def any_of(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    builder.findings.enforced(place.path, keyword)
    shapes = [builder.shape_of(branch) for branch in _branches(builder, place, keyword, value)]
    if place.tracked:
        try:
            reading.applied.append(evaluated.any_of(shapes, builder.is_dead, place.path))
            return
        except LimitExceeded as error:
            reason = f"cannot be enforced beside what asks for what is evaluated: {error.message}"
            _refuse(builder, place, reading, keyword, reason, "let fewer branches hold together, or use 'oneOf'")
    reading.applied.append(union(shapes))


def one_of(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    """`oneOf`: a plain union where branches are disjoint, else ⋃ᵢ (Aᵢ ∩ ⋂ⱼ ¬Aⱼ) over the j that overlap i."""
    builder.findings.enforced(place.path, keyword)
    shapes = [builder.shape_of(branch) for branch in _branches(builder, place, keyword, value)]

    def exclusive(base: Shape) -> Shape:
        overlaps = builder.overlaps_of(Branches(place, base, shapes))
        if not overlaps:
            return union(shapes)
        try:
            joined = union(_exclusive(builder, place, value, shapes, overlaps))
            check_expansion(joined)
            return joined
        except (NoComplement, LimitExceeded) as error:
            reason = error if isinstance(error, NoComplement) else "has too many alternatives"
            i, others = min(overlaps.items())
            _refuse(
                builder, place, reading, keyword,
                f"has branches {i} and {min(others)} that may overlap, and to exclude one from the other {reason}",
                "tell the branches apart by a required 'const' or by 'type', or use 'anyOf'",
            )  # fmt: skip
            return union(shapes)

    reading.applied.append(exclusive if len(shapes) > 1 else union(shapes))


def _exclusive(builder: Builder, place: Place, value: Any, shapes: list[Shape], overlaps: Overlaps) -> list[Shape]:
    """Each branch without what it shares with others."""
    outside: dict[int, Shape] = {}
    exclusive: list[Shape] = []
    for i, shape in enumerate(shapes):
        for j in sorted(overlaps.get(i, ())):
            if j not in outside:
                branch = builder.shape_of(builder.below(place, value[j], f"oneOf/{j}"))
                outside[j] = builder.complement(branch, place.path, "oneOf")
            shape = builder.intersect(shape, outside[j], place)
        exclusive.append(shape)
    return exclusive


def negation(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    child = builder.below(place, value, keyword)
    builder.findings.enforced(place.path, keyword)
    if child == ANYTHING:
        builder.contradiction(place, "'not' excludes every value")
    try:
        shape = builder.complement(builder.shape_of(child), place.path, keyword)
        reading.applied.append(shape)
    except NoComplement as reason:
        _refuse(builder, place, reading, keyword, f"cannot be enforced: it {reason}", REWRITE)


def condition(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    """`if` with `then` and `else`: (I ∩ T) ∪ (¬I ∩ E); without `then` that is I ∪ E, which needs no complement.

    Where it matters what is evaluated, I ∪ E will do only if E evaluates nothing, and `if` alone says something too.
    """
    schema = place.schema
    then = builder.in_place(place, schema.get("then", True), "then")
    otherwise = builder.in_place(place, schema.get("else", True), "else")
    builder.findings.enforced(place.path, keyword)
    if then == ANYTHING and otherwise == ANYTHING and not place.tracked:
        return
    test = builder.in_place(place, value, keyword)
    if test in (ANYTHING, NOTHING):
        reading.applied.append(builder.shape_of(then if test == ANYTHING else otherwise))
        return
    holds, first, second = builder.shape_of(test), builder.shape_of(then), builder.shape_of(otherwise)
    if then == ANYTHING and not second.has_evaluated:
        reading.applied.append(union([holds, second]))
        return
    try:
        fails = builder.complement(builder.shape_of(builder.below(place, value, keyword)), place.path, keyword)
    except NoComplement as reason:
        reading.applied.append(union([first, second]))
        _refuse(builder, place, reading, keyword, f"cannot be enforced: it {reason}", REWRITE)
        return
    joined = union([builder.intersect(holds, first, place), builder.intersect(fails, second, place)])
    reading.applied.append(_implied(builder, place, joined, [(holds, first), (fails, second)]))


def consequence(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    """`then` and `else` are read by `if`."""
    if "if" in place.schema:
        builder.findings.enforced(place.path, keyword)
    else:
        builder.findings.annotation(place.path, keyword, "says nothing without 'if'")


# ---------------------------------------------------------------- dependencies


def dependent_required(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    builder.findings.enforced(place.path, keyword)
    for name, others in members(place, keyword, value).items():
        _depend_on_names(builder, place, reading, keyword, name, others)


def dependent_schemas(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    builder.findings.enforced(place.path, keyword)
    for name, schema in members(place, keyword, value).items():
        _depend_on_schema(builder, place, reading, keyword, name, schema)


def dependencies(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    """`dependencies`: names or a schema for each name."""
    builder.findings.enforced(place.path, keyword)
    for name, dependency in members(place, keyword, value).items():
        if isinstance(dependency, (list, tuple)):
            _depend_on_names(builder, place, reading, keyword, name, dependency)
        elif isinstance(dependency, str):
            _depend_on_names(builder, place, reading, keyword, name, [dependency])
        else:
            _depend_on_schema(builder, place, reading, keyword, name, dependency)


def dependencies_mixed(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    dependencies(builder, place, reading, keyword, value)
    builder.findings.note(place.path, keyword, "as before 2019-09")


def _depend_on_names(builder: Builder, place: Place, reading: Reading, keyword: str, name: str, others: Any) -> None:
    try:
        needed = names(place, keyword, others)
    except InvalidSpecification as error:  # the other names are read all the same
        builder.findings.fault(error, place.path, keyword)
        reading.exact = False
        return
    needed.pop(name, None)
    if needed:
        present = Shape(objects=(ObjectShape(required={name: None}),))
        then = Shape(objects=(ObjectShape(required={name: None, **needed}),))
        reading.applied.append(_implied(builder, place, union([_without(name), then]), [(present, then)]))


def _depend_on_schema(builder: Builder, place: Place, reading: Reading, keyword: str, name: str, schema: Any) -> None:
    child = builder.in_place(place, schema, f"{keyword}/{escape(name)}")
    if child != ANYTHING:
        present = Shape(objects=(ObjectShape(required={name: None}),))
        consequence = builder.shape_of(child)
        joined = union([_without(name), builder.intersect(present, consequence, place)])
        reading.applied.append(_implied(builder, place, joined, [(present, consequence)]))


def _implied(builder: Builder, place: Place, joined: Shape, implications: Sequence[Implication]) -> Shape:
    """`joined`, which may be taken as obligations unless it matters what is evaluated."""
    if place.tracked or len(joined.objects) < 2:
        return joined
    return with_obligations(joined, implications, builder, place.path)


def _without(name: str) -> Shape:
    """Every value but an object that has a member called `name`."""
    return Shape(
        OTHER_TYPES.null, OTHER_TYPES.booleans, OTHER_TYPES.numbers, OTHER_TYPES.strings, OTHER_TYPES.arrays,
        (ObjectShape({name: NOTHING}),),
    )  # fmt: skip


# ---------------------------------------------------------------- what was not evaluated


def unevaluated(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    """`unevaluatedProperties`, `unevaluatedItems`: enforced when all else at the place is read (`Reading.finish`)."""
    reading.unevaluated[keyword] = builder.below(place, value, keyword)
    builder.findings.enforced(place.path, keyword)


def _refuse(builder: Builder, place: Place, reading: Reading, keyword: str, reason: str, help: str) -> None:
    reading.exact = False
    builder.findings.refuse(place.path, keyword, reason, help)
