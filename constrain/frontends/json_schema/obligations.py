"""Records that count: how obligations and containment are kept while a text is written.

A record `P ∧ ¬N₁ ∧ … ∧ ¬Nₖ` and `contains` are no property of one item or member but of all together. A *plan* says
what to count: the values of a member (of a name class, of an item) are split into *parts*, each with the counters that
it advances; when the container closes, every condition must hold, a condition being a list of bounds of which one is
enough. For Nᵢ: some member violates its schema there, or a required name is missing, or the count is out of range, or
what it contains is. Parts are told apart by sign: `P.x ∧ c` and `P.x ∧ ¬c` for each schema c that matters at x, so no
value belongs to two of them; where on its face one side is empty (another type, another constant) there is no split.

Main functions: `plan_object`, `plan_array` (None: the record is empty on its face). Whether any container can be closed
under a plan: `closing.py`. Cost: in each place 2^(schemas that matter there), bounded by 64.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from constrain.errors import LimitExceeded
from constrain.frontends.json_schema.complement import NoComplement
from constrain.frontends.json_schema.intersect import MAX_NAME_CLASSES, child_of, meet_arrays, meet_objects
from constrain.frontends.json_schema.shapes import ANYTHING, NOTHING, ArrayShape, Child, ObjectShape, conjoin
from constrain.frontends.json_schema.values import has_surrogate
from constrain.grammar import regular
from constrain.grammar.terms import Bound, Condition, LiteralSet, Not, Regular, alternation, intersection

if TYPE_CHECKING:
    from constrain.frontends.json_schema.build import Builder

REPEATING = "arrays that are allowed only because an item comes twice are left out"
"""Why a negation of distinct items is narrower: which values have come is not counted."""

MAX_PARTS = 64
"""Parts of one member's or item's values."""

_Record = TypeVar("_Record", ArrayShape, ObjectShape)


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the values of a slot; each advances `counters` by one."""

    child: Child
    counters: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Slot:
    """What a member or an item may be: all of `child`, which is all `parts` together. No parts: it counts nothing."""

    child: Child
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class ObjectPlan:
    """An object record: `members` by name, `classes` of other names (disjoint, without those of `members`)."""

    record: ObjectShape
    members: Mapping[str, Slot]
    classes: tuple[tuple[Regular | None, Slot], ...]
    conditions: tuple[Condition, ...]

    @property
    def slots(self) -> Iterable[Slot]:
        return (*self.members.values(), *(slot for _, slot in self.classes))

    def slot_of(self, name: str, child: Child) -> Slot:
        """What the member called `name`, which the record says is `child`, counts."""
        slot = self.members.get(name)
        if slot is None:
            slot = next((s for names, s in self.classes if names is None or regular.matches(names, name)), Slot(child))
        return slot


@dataclass(frozen=True, slots=True)
class ArrayPlan:
    """An array record: item i is `prefix[i]`, later ones `rest`."""

    record: ArrayShape
    prefix: tuple[Slot, ...]
    rest: Slot
    conditions: tuple[Condition, ...]

    @property
    def slots(self) -> Iterable[Slot]:
        return (*self.prefix, self.rest)


@dataclass(frozen=True, slots=True)
class _Test:
    """A schema that matters at a slot: counters that advance where it holds, and where it does not."""

    child: Child
    holds: tuple[int, ...]
    fails: tuple[int, ...]


def without_counting(record: _Record) -> _Record:
    """`record` with what it counts left out: wider."""
    if isinstance(record, ObjectShape):
        return replace(record, outside=())
    return replace(record, contains=(), outside=())


# ---------------------------------------------------------------- parts


def _split(builder: Builder, child: Child, tests: Iterable[_Test], always: tuple[int, ...]) -> Slot:
    """`child`, split by `tests`.

    Raises:  NoComplement: if there would be more than 64 parts.
    """
    parts: list[tuple[Child, tuple[int, ...]]] = [(child, always)]
    for test in tests:
        made: list[tuple[Child, tuple[int, ...]]] = []
        for part, counters in parts:
            if _includes(test.child, part):
                made.append((part, counters + test.holds))
                continue
            inside = conjoin(part, test.child)
            if builder.is_blank(inside):
                made.append((part, counters + test.fails))
                continue
            if not test.fails and not builder.is_negatable(test.child):  # counted from below: parts may overlap
                made += [(part, counters), (inside, counters + test.holds)]
                continue
            beyond = conjoin(part, builder.negate(test.child))
            if builder.is_blank(beyond):
                made.append((part, counters + test.holds))
            else:
                made += [(inside, counters + test.holds), (beyond, counters + test.fails)]
        if len(made) > MAX_PARTS:
            raise NoComplement(f"tells more than {MAX_PARTS} kinds of values apart in one place")
        parts = made
    if not any(counters for _, counters in parts):
        return Slot(child)
    return Slot(child, tuple([Part(part, tuple(sorted(set(counters)))) for part, counters in parts]))


def _includes(wide: Child, narrow: Child) -> bool:
    """True if `narrow` is seen to be part of `wide`."""
    return not wide or narrow == NOTHING or all(atom in narrow for atom in wide)


def _merged(tests: Iterable[_Test]) -> list[_Test]:
    """One test for each schema."""
    found: dict[Child, _Test] = {}
    for test in tests:
        known = found.get(test.child)
        found[test.child] = (
            test if known is None else _Test(test.child, known.holds + test.holds, known.fails + test.fails)
        )
    return list(found.values())


def _counters_of(slots: Iterable[Slot]) -> frozenset[int]:
    """All that some part of `slots` advances."""
    return frozenset([counter for slot in slots for part in slot.parts for counter in part.counters])


# ---------------------------------------------------------------- objects


def plan_object(builder: Builder, record: ObjectShape, at: str) -> ObjectPlan | None:
    """How `record`, which has obligations, is counted.

    Raises:  NoComplement: if a place would have to tell too many kinds of values apart.
             LimitExceeded: too many classes of names.
    """
    plain = ObjectShape(record.members, record.patterns, record.extra, record.required, record.min, record.max)
    outside = [
        other
        for other in record.outside
        if meet_objects(plain, other, builder.is_dead, at) is not None
        and not any(child_of(plain, name) == NOTHING or has_surrogate(name) for name in other.required)
    ]
    names = dict.fromkeys((*record.members, *record.required))
    for other in outside:
        names.update(dict.fromkeys((*other.members, *other.required)))
    optional = dict.fromkeys(n for other in outside for n in other.required if n not in record.required)
    present = {name: i for i, name in enumerate(optional)}
    violated = {other: len(present) + i for i, other in enumerate(outside)}
    speaking: dict[str, list[ObjectShape]] = {name: [] for name in names}
    for other in outside:
        for name in names if other.patterns or other.extra else other.members:
            speaking[name].append(other)

    def slot(child: Child, tests: Iterable[tuple[ObjectShape, Child]], always: tuple[int, ...]) -> Slot:
        merged = _merged([_Test(test, (), (violated[other],)) for other, test in tests if test != ANYTHING])
        return _split(builder, child, merged, always)

    def member(name: str) -> Slot:
        child = child_of(record, name)
        if child == NOTHING:  # it never is, so nothing of it counts
            return Slot(child)
        tests = [(other, child_of(other, name)) for other in speaking[name]]
        return slot(child, tests, (present[name],) if name in present else ())

    members = {name: member(name) for name in names}
    classes = tuple(
        [
            (language, slot(child, zip(outside, others, strict=True), ()))
            for language, child, others in _classes(plain, outside, at)
            if child != NOTHING
        ]
    )
    advanced = _counters_of((*members.values(), *(slot for _, slot in classes)))
    conditions: list[Condition] = []
    for other in outside:
        bounds = [Bound(present[name], 1, reached=False) for name in other.required if name in present]
        bounds += _count_bounds(max(record.min, len(record.required)), record.max, other.min, other.max)
        if violated[other] in advanced:
            bounds.append(Bound(violated[other], 1))
        if not bounds:
            return None
        conditions.append(tuple(bounds))
    return ObjectPlan(record, members, classes, tuple(conditions))


def _count_bounds(least: int, most: int | None, other_least: int, other_most: int | None) -> list[Bound]:
    """How the number of items of a record with least…most may leave the range of another."""
    bounds = [Bound(None, other_least, reached=False)] if other_least > least else []
    if other_most is not None and (most is None or most > other_most):
        bounds.append(Bound(None, other_most + 1))
    return bounds


def _classes(
    record: ObjectShape, outside: Sequence[ObjectShape], at: str
) -> list[tuple[Regular | None, Child, list[Child]]]:
    """Classes of names that all records treat alike: the language (None: all names), and what each record says."""
    every = (record, *outside)
    patterns = list(dict.fromkeys(pattern for each in every for pattern, _ in each.patterns))
    classes: list[tuple[list[Regular], list[Regular]]] = [([], [])]
    for pattern in patterns:
        split: list[tuple[list[Regular], list[Regular]]] = []
        for inside, beyond in classes:
            if inside and regular.is_empty(_language([*inside, pattern], beyond)):
                split.append((inside, [*beyond, pattern]))
                continue
            split.append(([*inside, pattern], beyond))
            if not regular.is_empty(_language(inside, [*beyond, pattern])):
                split.append((inside, [*beyond, pattern]))
        classes = split
        if len(classes) > MAX_NAME_CLASSES:
            raise LimitExceeded(
                f"overlapping name patterns make more than {MAX_NAME_CLASSES} classes of names",
                limit="name_classes",
                at=at,
                help="make the patterns disjoint",
            )

    def said(each: ObjectShape, inside: list[Regular]) -> Child:
        return next((child for pattern, child in each.patterns if pattern in inside), each.extra)

    return [
        (
            _language(inside, beyond) if inside or beyond else None,
            said(record, inside),
            [said(other, inside) for other in outside],
        )
        for inside, beyond in classes
    ]


def _language(inside: list[Regular], beyond: list[Regular]) -> Regular:
    parts = [*inside, Not(alternation(*beyond))] if beyond else inside
    return intersection(*parts)


def class_names(plan: ObjectPlan, k: int) -> Regular:
    """The names of class k: those of `members` are not in it."""
    language = plan.classes[k][0]
    taken = LiteralSet(tuple([name for name in plan.members if not has_surrogate(name)]))
    return Not(taken) if language is None else intersection(language, Not(taken))


# ---------------------------------------------------------------- arrays


def plan_array(builder: Builder, record: ArrayShape, at: str) -> ArrayPlan | None:
    """How `record`, which has obligations or must contain something, is counted.

    Raises:  NoComplement: if a place would have to tell too many kinds of values apart, or only an item that comes
             twice would refute an obligation.
    """
    plain = ArrayShape(record.prefix, record.rest, record.min, record.max)
    outside = [other for other in record.outside if meet_arrays(plain, other, builder.is_dead) is not None]
    contained = (*record.contains, *(c for other in outside for c in other.contains))
    counters = {child: i for i, child in enumerate(dict.fromkeys(c.child for c in contained))}
    violated = {other: len(counters) + i for i, other in enumerate(outside)}
    bounded = {c.child for c in record.contains if c.max is not None} | {c.child for o in outside for c in o.contains}

    def slot(index: int) -> Slot:
        tests = [
            _Test(child, (counter,), ((_UNUSED,) if child in bounded else ())) for child, counter in counters.items()
        ]
        for other in outside:
            if (child := other.item(index)) != ANYTHING:
                tests.append(_Test(child, (), (violated[other],)))
        found = _split(builder, record.item(index), _merged(tests), ())
        parts = [Part(p.child, tuple([c for c in p.counters if c != _UNUSED])) for p in found.parts]
        return Slot(found.child, tuple(parts)) if any(part.counters for part in parts) else Slot(found.child)

    length = max([len(record.prefix), *(len(other.prefix) for other in outside)])
    prefix = tuple([slot(i) for i in range(length if record.max is None else min(length, record.max))])
    rest = slot(length)
    advanced = _counters_of((*prefix, rest))
    conditions: list[Condition] = []
    for c in record.contains:
        conditions += [(Bound(counters[c.child], c.min),)] if c.min > 0 else []
        conditions += [(Bound(counters[c.child], c.max + 1, reached=False),)] if c.max is not None else []
    for other in outside:
        bounds = _count_bounds(record.min, record.max, other.min, other.max)
        for c in other.contains:
            bounds += [Bound(counters[c.child], c.min, reached=False)] if c.min > 0 else []
            bounds += [Bound(counters[c.child], c.max + 1)] if c.max is not None else []
        if violated[other] in advanced:
            bounds.append(Bound(violated[other], 1))
        if other.unique is not None and not bounds:
            raise NoComplement("allows just arrays in which an item comes twice")
        if other.unique is not None:
            builder.leave_out(at, REPEATING)
        if not bounds:
            return None
        conditions.append(tuple(bounds))
    return ArrayPlan(record, prefix, rest, tuple(conditions))


_UNUSED = 1 << 30
"""Marks that a test must be decided both ways, though only its holding is counted."""


def all_hold_at_once(conditions: Sequence[Condition]) -> bool:
    """True if an empty container satisfies `conditions`."""
    return all(any((bound.least <= 0) == bound.reached for bound in condition) for condition in conditions)
