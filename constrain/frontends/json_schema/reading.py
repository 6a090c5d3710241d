"""One schema while it is read: what its keywords have said so far, and the shape that they make together.

A *reader* is a function that takes one keyword's value and enters what it says into a `Reading`. Keywords that depend
on each other (`minimum` and the boolean `exclusiveMinimum`; `properties` and `additionalProperties`) meet in
`Reading.finish`, whatever their order in the document. In-place applicators add whole shapes to `applied`, and `finish`
intersects them in document order. `unevaluated*` comes last, since it asks what all others have evaluated.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from constrain.frontends.json_schema import numbers
from constrain.frontends.json_schema.evaluated import annotate, close
from constrain.frontends.json_schema.implications import meet_all
from constrain.frontends.json_schema.intersect import ObjectShape, meet_objects, string_in
from constrain.frontends.json_schema.shapes import (
    ANY,
    ANY_ARRAY,
    ANY_INTEGER,
    ANY_NUMBER,
    ANY_OBJECT,
    ANY_STRING,
    ANYTHING,
    BOTH,
    NONE,
    NOT_TRACKED,
    NOTHING,
    PLAIN_INTEGER,
    ArrayShape,
    Child,
    Containment,
    NumberShape,
    Shape,
    StringShape,
    conjoin,
)
from constrain.frontends.json_schema.values import has_surrogate
from constrain.grammar import regular
from constrain.grammar.terms import Literal, LiteralSet, Not, Regular, alternation, intersection

if TYPE_CHECKING:
    from constrain.frontends.json_schema.atoms import Place
    from constrain.frontends.json_schema.build import Builder

Reader = Callable[["Builder", "Place", "Reading", str, Any], None]

_BY_TYPE: dict[frozenset[str], Shape] = {}


class Reading:
    """Mutable; lives only while one schema is read."""

    # Class attributes are what a schema without the keyword says: an instance holds only what was read.
    types: frozenset[str] | None = None
    integer = plain = False
    exact = True
    minimum: Decimal | None = None
    maximum: Decimal | None = None
    minimum_is_open = maximum_is_open = False
    exclusive_minimum: Decimal | None = None
    exclusive_maximum: Decimal | None = None
    multiples: tuple[Decimal, ...] = ()
    number_format: numbers.NumberConstraint | None = None
    min_length = 0
    max_length: int | None = None
    parts: tuple[Regular, ...] = ()
    prefix: tuple[Child, ...] = ()
    items: Child = ANYTHING
    items_are_tuple = False
    additional_items: Child = ANYTHING
    min_items = 0
    max_items: int | None = None
    unique: str | None = None
    additional: Child = ANYTHING
    min_members = 0
    max_members: int | None = None
    names: Regular | None = None
    is_open = False

    def __init__(self, annotates: frozenset[str] = NOT_TRACKED) -> None:
        self.annotates = annotates
        """The types of which the schema above asks what is evaluated here."""
        self.unevaluated: dict[str, Child] = {}
        self.values: list[Shape] = []
        self.applied: list[Shape | Callable[[Shape], Shape]] = []
        """What applies in place; a function is given the shape of the schema's own keywords first."""
        self.touched: set[str] = set()
        self.members: dict[str, Child] = {}
        self.patterns: list[tuple[Regular, Child]] = []
        self.required: dict[str, None] = {}
        self.contains: list[Containment] = []

    def finish(self, builder: Builder, place: Place) -> Shape:
        """The shape of everything read at `place`."""
        shape = self._own(builder, place)
        applied_shapes = self._applied(shape, builder, place)
        if place.tracked:
            shape = annotate(shape, builder, place, self)
        for values in self.values:
            shape = builder.intersect(shape, values, place)
        if not self.exact:
            shape = Shape(
                shape.null, shape.booleans, shape.numbers, shape.strings, shape.arrays, shape.objects, exact=False
            )
        shape = meet_all(shape, applied_shapes, lambda left, right: builder.intersect(left, right, place))
        return close(shape, builder, place, self) if place.tracked else shape

    def _applied(self, own: Shape, builder: Builder, place: Place) -> list[Shape]:
        """The shapes that apply in place, where `own` is what the other keywords but constants say."""
        known = [applied for applied in self.applied if isinstance(applied, Shape)]
        if len(known) == len(self.applied):
            return known
        for values in self.values:
            own = builder.intersect(own, values, place)
        return [applied if isinstance(applied, Shape) else applied(own) for applied in self.applied]

    def _own(self, builder: Builder, place: Place) -> Shape:
        types = self.types
        if not self.touched:
            return _of_types(types, self.integer, self.plain)

        def allowed(name: str) -> bool:
            return types is None or name in types

        touched = self.touched
        numbers_ = (self._number(),) if allowed("number") else ()
        if numbers_ and "number" in touched:
            numbers_ = self._numbers(builder, place)
        strings = (ANY_STRING,) if allowed("string") else ()
        if strings and "string" in touched:
            strings = self._strings(builder, place)
        arrays = (ANY_ARRAY,) if allowed("array") else ()
        if arrays and "array" in touched:
            arrays = self._arrays(builder, place)
        objects = (ANY_OBJECT,) if allowed("object") else ()
        if objects and "object" in touched:
            objects = self._objects(builder, place)
        return Shape(allowed("null"), BOTH if allowed("boolean") else (), numbers_, strings, arrays, objects)

    def _number(self) -> NumberShape:
        return ANY_NUMBER if not self.integer else PLAIN_INTEGER if self.plain else ANY_INTEGER

    def _numbers(self, builder: Builder, place: Place) -> tuple[NumberShape, ...]:
        low = numbers.NumberConstraint(
            self.minimum,
            self.maximum,
            self.minimum_is_open and self.minimum is not None,
            self.maximum_is_open and self.maximum is not None,
            self.multiples,
            self.integer,
        )
        if self.exclusive_minimum is not None or self.exclusive_maximum is not None:
            high = numbers.NumberConstraint(
                self.exclusive_minimum,
                self.exclusive_maximum,
                self.exclusive_minimum is not None,
                self.exclusive_maximum is not None,
            )
            low = numbers.intersect(low, high)
        if self.number_format is not None:
            low = numbers.intersect(low, self.number_format)
        if numbers.is_empty_constraint(low):
            builder.contradiction(place, _crossed(low) + (" (of the format)" if self.number_format else ""))
            return ()
        return (NumberShape(low, plain=self.plain and self.integer),)

    def _strings(self, builder: Builder, place: Place) -> tuple[StringShape, ...]:
        if self.max_length is not None and self.min_length > self.max_length:
            builder.contradiction(place, f"minLength {self.min_length} > maxLength {self.max_length}")
            return ()
        return _strings_of(self.parts, self.min_length, self.max_length)

    def _arrays(self, builder: Builder, place: Place) -> tuple[ArrayShape, ...]:
        rest = self.items
        if self.items_are_tuple:
            rest = conjoin(rest, self.additional_items)
        if self.max_items is not None and self.min_items > self.max_items:
            builder.contradiction(place, f"minItems {self.min_items} > maxItems {max(self.max_items, 0)}")
            return ()
        if rest == NOTHING and self.min_items > len(self.prefix):
            builder.contradiction(place, f"minItems {self.min_items}, but only {len(self.prefix)} items are allowed")
            return ()
        unique = self.unique if self.max_items is None or self.max_items > 1 else None
        contains = tuple(self.contains)
        return (ArrayShape(self.prefix, rest, self.min_items, self.max_items, unique, contains),)

    def _objects(self, builder: Builder, place: Place) -> tuple[ObjectShape, ...]:
        if self.max_members is not None and self.min_members > self.max_members:
            builder.contradiction(place, f"minProperties {self.min_members} > maxProperties {self.max_members}")
            return ()
        members, patterns = self.members, ()
        extra = ANYTHING if self.is_open else self.additional
        if self.patterns:
            members, patterns = self._with_patterns(builder, place)
        if self.names is not None:
            members, patterns, extra = _within(self.names, members, patterns, extra)
        for name in self.required:
            if members.get(name, extra if not patterns else ANYTHING) == NOTHING:
                builder.contradiction(place, f"{name!r} is required, and no member may have that name")
                return ()
        if self.max_members is not None and len(self.required) > self.max_members:
            builder.contradiction(place, f"{len(self.required)} names are required, and maxProperties is less")
            return ()
        return (ObjectShape(members, patterns, extra, self.required, self.min_members, self.max_members),)

    def _with_patterns(
        self, builder: Builder, place: Place
    ) -> tuple[dict[str, Child], tuple[tuple[Regular, Child], ...]]:
        """Members that a pattern matches take both schemas; patterns are made disjoint by intersection."""
        members = dict(self.members)
        joined = ObjectShape()
        for pattern, child in self.patterns:
            for name in members:
                if not has_surrogate(name) and regular.matches(pattern, name):
                    members[name] = conjoin(members[name], child)
            met = meet_objects(joined, ObjectShape(patterns=((pattern, child),)), builder.is_dead, place.path)
            assert isinstance(met, ObjectShape)
            joined = met
        return members, joined.patterns


def _strings_of(parts: tuple[Regular, ...], least: int, most: int | None) -> tuple[StringShape, ...]:
    """The strings of all `parts` with these lengths; where one part is a few texts, those of them that fit."""
    for part in parts:
        if isinstance(part, (Literal, LiteralSet)):
            others = StringShape(tuple([other for other in parts if other is not part]), least, most)
            texts = (part.text,) if isinstance(part, Literal) else part.texts
            fitting = tuple([text for text in texts if string_in(others, text)])
            return (StringShape(finite=fitting),) if fitting else ()
    return (StringShape(parts, least, most),)


def _within(
    names: Regular, members: dict[str, Child], patterns: tuple[tuple[Regular, Child], ...], extra: Child
) -> tuple[dict[str, Child], tuple[tuple[Regular, Child], ...], Child]:
    """The same members, where only a name in `names` is allowed."""
    members = {
        name: child if not has_surrogate(name) and regular.matches(names, name) else NOTHING
        for name, child in members.items()
    }
    kept = [(intersection(pattern, names), child) for pattern, child in patterns]
    other = intersection(names, Not(alternation(*[pattern for pattern, _ in patterns]))) if patterns else names
    if extra != NOTHING:
        kept.append((other, extra))
    return members, tuple(kept), NOTHING


def _of_types(types: frozenset[str] | None, integer: bool, plain: bool) -> Shape:
    if types is None:
        return ANY
    key = types | {"plain" if plain else "integer"} if integer else types
    number = ANY_NUMBER if not integer else PLAIN_INTEGER if plain else ANY_INTEGER
    shape = _BY_TYPE.get(key)
    if shape is None:
        shape = _BY_TYPE[key] = Shape(
            null="null" in types,
            booleans=BOTH if "boolean" in types else (),
            numbers=(number,) if "number" in types else (),
            strings=(ANY_STRING,) if "string" in types else (),
            arrays=(ANY_ARRAY,) if "array" in types else (),
            objects=(ANY_OBJECT,) if "object" in types else (),
        )
        if len(types) == 6 and not integer:
            shape = _BY_TYPE[key] = ANY
        if not types:
            shape = _BY_TYPE[key] = NONE
    return shape


def _crossed(constraint: numbers.NumberConstraint) -> str:
    low, high = constraint.minimum, constraint.maximum
    least = ("exclusiveMinimum" if constraint.exclusive_minimum else "minimum") + f" {low}"
    most = ("exclusiveMaximum" if constraint.exclusive_maximum else "maximum") + f" {high}"
    if low is not None and high is not None and low > high:
        return f"{least} > {most}"
    kind = "integer" if constraint.integer else "number"
    steps = "".join(f", multipleOf {step}" for step in constraint.multiple_of)
    return f"no {kind} satisfies {least}, {most}{steps}"
