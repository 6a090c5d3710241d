"""Whether any value satisfies a child: the least fixed point over named shapes.

Each record becomes a *clause*: it is inhabited if all the children that it cannot do without are, and enough of its
optional ones; one that counts is a search over the parts of its slots (`closing.py`). `clauses.py` solves them. Only
what is needed is explored: optional members are not, unless a count asks for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from constrain.errors import LimitExceeded
from constrain.frontends.json_schema import numbers
from constrain.frontends.json_schema.build import Builder
from constrain.frontends.json_schema.clauses import ALWAYS, AnyClause, Clause, CountedClause, Solution
from constrain.frontends.json_schema.closing import can_close_array, can_close_object
from constrain.frontends.json_schema.complement import NoComplement
from constrain.frontends.json_schema.distinct import Distinct
from constrain.frontends.json_schema.evaluate import const_is_allowed
from constrain.frontends.json_schema.intersect import child_of
from constrain.frontends.json_schema.number_witness import some_number
from constrain.frontends.json_schema.obligations import (
    ArrayPlan,
    ObjectPlan,
    Slot,
    class_names,
    plan_array,
    plan_object,
    without_counting,
)
from constrain.frontends.json_schema.shapes import (
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
from constrain.frontends.json_schema.spelling import number_term
from constrain.frontends.json_schema.values import has_surrogate
from constrain.grammar import regular
from constrain.grammar.terms import ANY_TEXT, Literal, LiteralSet, Not, Regular, alternation, concat, intersection

_Record = TypeVar("_Record", ArrayShape, ObjectShape)
_Plan = TypeVar("_Plan")

_ALWAYS: Sequence[AnyClause] = (ALWAYS,)


class Emptiness:
    """Answers for one `Builder`, remembered."""

    def __init__(self, builder: Builder):
        self._builder = builder
        self.solution = Solution(self._clauses_at)
        self._numbers: dict[NumberShape, bool] = {}
        self._strings: dict[tuple[tuple[int, ...], int, int | None], bool] = {}
        self._kept: list[StringShape] = []
        self._clauses: dict[ArrayRecord | ObjectRecord, AnyClause | None] = {}
        self._object_plans: dict[ObjectShape, ObjectPlan | None] = {}
        self._array_plans: dict[ArrayShape, ArrayPlan | None] = {}
        self._differing = Distinct(builder)
        self._at = "#"

    def is_empty(self, child: Child) -> bool:
        """True if no value satisfies `child`."""
        return not self.solution.inhabited(child)

    def inhabited(self, child: Child) -> bool:
        """True if some value satisfies `child`."""
        known = self.solution.known.get(child)
        if known is None:
            if self._has_scalars(self._builder.shape_of(child)):  # most children: nothing to explore
                self.solution.known[child] = True
                return True
            known = self.solution.inhabited(child)
        return known

    def shape_is_inhabited(self, shape: Shape, at: str) -> bool:
        """True if `shape`, which need not be any child's, holds some value; `at` is the place that asks."""
        before, self._at = self._at, at
        try:
            return any(self.solution.decide(clause) for clause in self._clauses_of(shape))
        finally:
            self._at = before

    def record_is_inhabited(self, record: ArrayRecord | ObjectRecord) -> bool:
        """True if some array or object satisfies `record`."""
        clause = self._clause_of(record)
        return clause is not None and self.solution.decide(clause)

    def object_plan(self, record: ObjectShape) -> ObjectPlan | None:
        """How `record`, which has obligations, is counted; None if it is empty on its face."""
        if record not in self._object_plans:
            self._object_plans[record] = self._plan(plan_object, record)
        return self._object_plans[record]

    def array_plan(self, record: ArrayShape) -> ArrayPlan | None:
        """How `record`, which counts, is counted; None if it is empty on its face."""
        if record not in self._array_plans:
            self._array_plans[record] = self._plan(plan_array, record)
        return self._array_plans[record]

    def _plan(self, planner: Callable[[Builder, _Record, str], _Plan | None], record: _Record) -> _Plan | None:
        try:
            return planner(self._builder, record, self._at)
        except NoComplement as reason:
            help = "negate or count fewer things in one place, or tell them apart by a required 'const'"
            self._builder.findings.refuse(
                self._at, "not", f"(what must not hold here) cannot be enforced: it {reason}", help
            )
            return planner(self._builder, without_counting(record), self._at)

    # ------------------------------------------------------------ clauses

    def _clauses_at(self, child: Child) -> Iterable[AnyClause]:
        shape = self._builder.shape_of(child)
        self._at = self._builder.path_of(child)
        try:
            yield from self._clauses_of(shape)
        except LimitExceeded as error:
            error.at = error.at or self._builder.path_of(child)
            raise

    def _clauses_of(self, shape: Shape) -> Iterable[AnyClause]:
        """The clauses of `shape`, one by one: the first that holds is enough."""
        if self._has_scalars(shape):
            return _ALWAYS
        clauses = (self._clause_of(record) for records in (shape.arrays, shape.objects) for record in records)
        return (clause for clause in clauses if clause is not None)

    def _has_scalars(self, shape: Shape) -> bool:
        if shape.null or shape.booleans:
            return True
        return any([self.has_string(record) for record in shape.strings]) or any(
            [self.has_number(record) for record in shape.numbers]
        )

    def has_number(self, record: NumberShape) -> bool:
        """True if some number that can be written is in `record`."""
        if record.finite is not None:
            return bool(record.finite)
        if not record.without:
            return not numbers.is_empty_constraint(record.constraint)
        if record not in self._numbers:
            found = some_number(record)
            if found is None:
                found = not regular.is_empty(number_term(record, "canonical"))
            self._numbers[record] = found
        return self._numbers[record]

    def has_string(self, record: StringShape) -> bool:
        """True if some string is in `record`."""
        if record.finite is not None:
            return bool(record.finite)
        if not record.parts:
            return True
        key = (tuple(map(id, record.parts)), record.min, record.max)
        if key not in self._strings:
            self._kept.append(record)
            self._strings[key] = not regular.is_empty(record.term())
        return self._strings[key]

    def _clause_of(self, record: ArrayRecord | ObjectRecord) -> AnyClause | None:
        """The clause of `record`, or None if it is empty whatever its children are."""
        if record not in self._clauses:
            if isinstance(record, ConstShape):
                clause = ALWAYS if const_is_allowed(record, self._builder.shape_of) else None
            elif isinstance(record, ObjectShape):
                clause = self._object_clause(record)
            else:
                clause = self._array_clause(record)
            self._clauses[record] = clause
        return self._clauses[record]

    def _array_clause(self, record: ArrayShape) -> AnyClause | None:
        if record.unique is not None and record.min > 1 and self._lacks_items(record):
            return None
        if record.counts:
            plan = self.array_plan(record)
            if plan is None:
                return None
            return CountedClause(_children_of(plan), lambda known: can_close_array(plan, known))
        needs = list(record.prefix[: record.min])
        if record.min > len(record.prefix):
            needs.append(record.rest)
        return Clause(tuple(dict.fromkeys(needs)))

    def _object_clause(self, record: ObjectShape) -> AnyClause | None:
        if any(has_surrogate(name) for name in record.required):
            return None
        if record.outside:
            plan = self.object_plan(record)
            if plan is None:
                return None

            def names_in(k: int, limit: int) -> int:
                return _at_most(class_names(plan, k), limit)

            return CountedClause(_children_of(plan), lambda known: can_close_object(plan, known, names_in))
        needs = tuple(dict.fromkeys(child_of(record, name) for name in record.required))
        missing = record.min - len(record.required)
        if missing <= 0:
            return Clause(needs)
        declared = {*record.members, *record.required}
        options = [
            (child, 1)
            for name, child in record.members.items()
            if name not in record.required and not has_surrogate(name)
        ]
        taken = LiteralSet(tuple([name for name in declared if not has_surrogate(name)]))
        for pattern, child in record.patterns:
            options.append((child, _at_most(intersection(pattern, Not(taken)), missing)))
        if record.patterns:
            others = Not(alternation(taken, *[pattern for pattern, _ in record.patterns]))
            options.append((record.extra, _at_most(others, missing)))
        else:
            options.append((record.extra, missing))
        return Clause(needs, missing, tuple(options))

    # ------------------------------------------------------------ counting

    def _lacks_items(self, record: ArrayShape) -> bool:
        """True if there are surely too few different items; a word about it is noted for the place."""
        most = None
        if not record.prefix and not self._builder.shape_of(record.rest).has_containers:
            found = self._count_scalars(self._builder.shape_of(record.rest), record.min)
            most = found if found < record.min else None
        else:
            most = self._differing.most(record)
        if most is None:
            return False
        if record.prefix:
            said = f"of the first {record.min} items at most {most} can differ"
        else:
            said = f"at most {most} different item{'s exist' if most > 1 else ' exists'}" if most else "no item exists"
        message = f"minItems {record.min} with uniqueItems, but {said}"
        self._builder.contradictions.setdefault(self._at, message)
        return True

    def has_distinct(self, child: Child, count: int) -> bool:
        """True if at least `count` different values satisfy `child`; containers count as enough."""
        shape = self._builder.shape_of(child)
        return shape.has_containers or self._count_scalars(shape, count) >= count

    def _count_scalars(self, shape: Shape, count: int) -> int:
        """How many scalars are in `shape`, or `count` or more."""
        found = int(shape.null) + len(shape.booleans)
        terms: list[Regular] = [record.term() for record in shape.strings]
        if terms and found < count:
            found += _at_most(alternation(*terms), count)
        if found >= count or not shape.numbers:
            return found
        # a whole number also has a text that ends in `.0` where it need not be an integer: count only the other
        spelled = alternation(*[number_term(record, "canonical") for record in shape.numbers])
        return found + _at_most(intersection(spelled, _NOT_POINT_ZERO), count - found)

    def always_differ(self, plan: ArrayPlan, slots: Sequence[Slot]) -> bool:
        """True if every part of every slot has more values than an array ever needs of it to close."""
        bounds = [bound.least for condition in plan.conditions for bound in condition]
        enough = plan.record.min + len(plan.prefix) + sum(bounds) + 1
        children = [child for slot in slots for child in _parts_of(slot) if self.inhabited(child)]
        return all(self._is_rich(child, enough, 0) for child in children)

    def _is_rich(self, child: Child, count: int, depth: int) -> bool:
        """True if `child` surely has `count` values, which an array or object has that may grow."""
        shape = self._builder.shape_of(child)
        if not shape.has_containers:
            return self.has_distinct(child, count)
        if depth > 4:
            return False
        scalars = replace(shape, arrays=(), objects=())
        if scalars.has_scalars and self._count_scalars(scalars, count) >= count:
            return True
        for record in shape.arrays:
            if isinstance(record, ArrayShape) and not record.counts and self.record_is_inhabited(record):
                grows = record.max is None and record.unique is None and self.inhabited(record.rest)
                if grows or any(self._is_rich(item, count, depth + 1) for item in record.prefix[: record.min]):
                    return True
        for record in shape.objects:
            if isinstance(record, ObjectShape) and self.record_is_inhabited(record):
                plan = self.object_plan(record) if record.outside else None
                grows = record.max is None and not record.patterns and plan is None and self.inhabited(record.extra)
                free = [  # whatever their values are, no condition sees it
                    child_of(record, name)
                    for name in record.required
                    if plan is None or len({part.counters for part in plan.members[name].parts}) <= 1
                ]
                if grows or any(self._is_rich(member, count, depth + 1) for member in free):
                    return True
        return False


_NOT_POINT_ZERO = Not(concat(ANY_TEXT, Literal(".0")))


def _children_of(plan: ObjectPlan | ArrayPlan) -> tuple[Child, ...]:
    children: dict[Child, None] = {}
    for slot in plan.slots:
        children.update(dict.fromkeys(_parts_of(slot)))
    return tuple(children)


def _parts_of(slot: Slot) -> list[Child]:
    return [part.child for part in slot.parts] if slot.parts else [slot.child]


def _at_most(term: Regular, limit: int) -> int:
    """How many strings `term` holds, or `limit` if that is less."""
    size = regular.cardinality(term, limit)
    return limit if size is None else min(size, limit)
