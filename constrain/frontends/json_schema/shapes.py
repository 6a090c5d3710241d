"""The values that schemas denote: a shape is a union, by JSON type, of constraint records.

`Shape` holds, for each type, a tuple of records: a value of that type belongs to the shape iff it satisfies one of
them. Null and the two booleans are finite and need no record. What an array's items or an object's members must be is
not a shape but a `Child`: a conjunction of *atoms* (schema places, constants, negations), resolved to a shape only
when asked for. That is what makes recursion finite and compilation lazy.

Invariants: records are immutable and compare by identity; a record that is trivially empty is never stored; in an
`ObjectShape` the `patterns` are pairwise disjoint languages of decoded names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from constrain.frontends.json_schema.numbers import NumberConstraint
from constrain.frontends.json_schema.values import JsonValue
from constrain.grammar.terms import ANY_CHAR, ANY_TEXT, And, LiteralSet, Regular, Repeat

Child = tuple[int, ...]
"""A conjunction of atoms, in order of first appearance. `()` is anything, `NOTHING` (the atom 0) no value at all."""

ANYTHING: Child = ()
NOTHING: Child = (0,)


NOT_TRACKED: frozenset[str] = frozenset()
"""The types of which a place says what its records have evaluated, where nothing asks for it (see `evaluated.py`)."""


def conjoin(left: Child, right: Child) -> Child:
    """Both: the values that `left` and `right` have in common."""
    if not right or left == right:
        return left
    if not left:
        return right
    if left == NOTHING or right == NOTHING:
        return NOTHING
    return tuple(dict.fromkeys(left + right))


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What a record's schemas have evaluated, for `unevaluated*` (see `evaluated.py`).

    Of an object: the members in `names` or with a name in one of `patterns`. Of an array: the first `length` items, and
    those that one of the children `contained` allows. Or `everything`.
    """

    everything: bool = False
    names: frozenset[str] = frozenset()
    patterns: tuple[Regular, ...] = ()
    length: int = 0
    contained: tuple[Child, ...] = ()


def evaluated_by_both(left: Evaluated | None, right: Evaluated | None) -> Evaluated | None:
    """What one or the other has evaluated: annotations of schemas that hold together add up."""
    if right is None or left == right:
        return left
    if left is None:
        return right
    if left.everything or right.everything:
        return left if left.everything else right
    return Evaluated(
        names=left.names | right.names,
        patterns=tuple(dict.fromkeys(left.patterns + right.patterns)),
        length=max(left.length, right.length),
        contained=tuple(dict.fromkeys(left.contained + right.contained)),
    )


FREE_NUMBER = NumberConstraint(None, None, False, False)
INTEGER = NumberConstraint(None, None, False, False, (), True)


@dataclass(frozen=True, slots=True, eq=False)
class NumberShape:
    """Numbers of `constraint` and of none of `without`; or, if `finite` is given, just those values.

    `plain` allows only texts without a point or an exponent: in draft 4, `1.0` is no integer. `pointed` allows only the
    others.
    """

    constraint: NumberConstraint = FREE_NUMBER
    without: tuple[NumberConstraint, ...] = ()
    finite: tuple[Decimal, ...] | None = None
    plain: bool = False
    pointed: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class StringShape:
    """Strings (decoded) in all of `parts`, of min…max code points; or, if `finite` is given, just those."""

    parts: tuple[Regular, ...] = ()
    min: int = 0
    max: int | None = None
    finite: tuple[str, ...] | None = None

    def term(self) -> Regular:
        """The regular language of decoded strings."""
        if self.finite is not None:
            return LiteralSet(self.finite)
        parts = self.parts
        if self.min or self.max is not None:
            parts = (*parts, Repeat(ANY_CHAR, self.min, self.max))
        # not `intersection`: it hashes whole terms, and parts are already distinct
        return parts[0] if len(parts) == 1 else And(parts) if parts else ANY_TEXT


@dataclass(frozen=True, slots=True, eq=False)
class Containment:
    """How many items of an array satisfy `child`: min…max (None: no bound). `path` is the place that demands it."""

    child: Child
    min: int
    max: int | None
    path: str


@dataclass(frozen=True, slots=True, eq=False)
class ArrayShape:
    """Arrays: item i is of `prefix[i]`, later ones of `rest`. `unique` is the place that demands distinct items.

    `outside` are its obligations: arrays that it may not be, each a record without obligations of its own.
    """

    prefix: tuple[Child, ...] = ()
    rest: Child = ANYTHING
    min: int = 0
    max: int | None = None
    unique: str | None = None
    contains: tuple[Containment, ...] = ()
    outside: tuple[ArrayShape, ...] = ()
    evaluated: Evaluated | None = None

    @property
    def counts(self) -> bool:
        """True if what its items are must be counted (see `obligations.py`)."""
        return bool(self.contains or self.outside)

    def item(self, index: int) -> Child:
        """What the item at `index` must be."""
        return self.prefix[index] if index < len(self.prefix) else self.rest


@dataclass(frozen=True, slots=True, eq=False)
class ObjectShape:
    """Objects: each member by its name, else by the pattern that its name is in, else `extra`.

    `outside` are its obligations: objects that it may not be, each a record without obligations of its own.
    """

    members: Mapping[str, Child] = field(default_factory=dict)
    patterns: tuple[tuple[Regular, Child], ...] = ()
    extra: Child = ANYTHING
    required: Mapping[str, None] = field(default_factory=dict)
    min: int = 0
    max: int | None = None
    outside: tuple[ObjectShape, ...] = ()
    evaluated: Evaluated | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ConstShape:
    """One array or object, if it satisfies all `conditions` (evaluated late, when every place has been read)."""

    value: JsonValue
    key: object
    conditions: tuple[ArrayShape | ObjectShape, ...] = ()
    evaluated: Evaluated | None = None


ArrayRecord = ArrayShape | ConstShape
ObjectRecord = ObjectShape | ConstShape


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """A set of JSON values. `exact` is False if it is wider than the schema it was read from.

    `folded` gives the same values as one object record with obligations, or None (see `implications.py`).
    """

    null: bool = False
    booleans: tuple[bool, ...] = ()
    numbers: tuple[NumberShape, ...] = ()
    strings: tuple[StringShape, ...] = ()
    arrays: tuple[ArrayRecord, ...] = ()
    objects: tuple[ObjectRecord, ...] = ()
    exact: bool = True
    folded: Callable[[], Shape | None] | None = None

    @property
    def has_scalars(self) -> bool:
        """True if some scalar may belong to it."""
        return self.null or bool(self.booleans or self.numbers or self.strings)

    @property
    def has_containers(self) -> bool:
        """True if it has array or object records (which may still be empty)."""
        return bool(self.arrays or self.objects)

    @property
    def has_evaluated(self) -> bool:
        """True if some record says that it has evaluated something."""
        return any(record.evaluated is not None for record in (*self.arrays, *self.objects))

    @property
    def is_blank(self) -> bool:
        """True if there is no record at all."""
        return not (self.has_scalars or self.has_containers)


ANY_NUMBER = NumberShape()
ANY_INTEGER = NumberShape(INTEGER)
PLAIN_INTEGER = NumberShape(INTEGER, plain=True)
ANY_STRING = StringShape()
ANY_ARRAY = ArrayShape()
ANY_OBJECT = ObjectShape()
BOTH = (False, True)

ANY = Shape(True, BOTH, (ANY_NUMBER,), (ANY_STRING,), (ANY_ARRAY,), (ANY_OBJECT,))
NONE = Shape()
