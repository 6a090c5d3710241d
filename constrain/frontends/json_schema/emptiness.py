"""Whether any value satisfies a child: the least fixed point over named shapes.

Each record becomes a *clause*: it is inhabited if all the children that it cannot do without are, and enough of its
optional ones. A child is inhabited if one of its clauses holds. That is a system of monotone implications; its least
solution is found by propagation from the clauses that need nothing (Dowling and Gallier 1984, "Linear-time algorithms
for testing the satisfiability of propositional Horn formulae"), so recursion without an end counts as empty, with no
assumption to take back. Only what is needed is explored: optional members are not, unless a count asks for them.
"""

from __future__ import annotations

from collections.abc import Sequence

from constrain.errors import LimitExceeded
from constrain.frontends.json_schema import numbers
from constrain.frontends.json_schema.build import Builder
from constrain.frontends.json_schema.evaluate import const_is_allowed
from constrain.frontends.json_schema.intersect import child_of
from constrain.frontends.json_schema.number_witness import some_number
from constrain.frontends.json_schema.shapes import (
    ANYTHING,
    NOTHING,
    ArrayRecord,
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

Clause = tuple[tuple[Child, ...], int, tuple[tuple[Child, int], ...]]
"""Children that are all needed; how many more members are; optional children, each with how many it may stand for."""

ALWAYS: Clause = ((), 0, ())
_ALWAYS: Sequence[Clause] = (ALWAYS,)


class Emptiness:
    """Answers for one `Builder`, remembered."""

    def __init__(self, builder: Builder):
        self._builder = builder
        self._known: dict[Child, bool] = {ANYTHING: True, NOTHING: False}
        self._numbers: dict[NumberShape, bool] = {}
        self._strings: dict[tuple[tuple[int, ...], int, int | None], bool] = {}
        self._kept: list[StringShape] = []
        self._clauses: dict[ArrayRecord | ObjectRecord, Clause | None] = {}

    def is_empty(self, child: Child) -> bool:
        """True if no value satisfies `child`."""
        return not self.inhabited(child)

    def inhabited(self, child: Child) -> bool:
        """True if some value satisfies `child`."""
        known = self._known
        if child in known:
            return known[child]
        if ALWAYS in self._clauses_at(child):
            known[child] = True
            return True
        waiting: set[Child] = set()
        dependents: dict[Child, list[tuple[Child, Clause]]] = {}
        stack = [child]
        while stack and child not in known:
            current = stack.pop()
            if current in known or current in waiting:
                continue
            clauses = self._clauses_at(current)
            waiting.add(current)
            if any(self._holds(clause) for clause in clauses):
                self._settle(current, dependents)
                continue
            for clause in clauses:
                for other in (*clause[0], *(option for option, _ in clause[2])):
                    if other not in known:
                        dependents.setdefault(other, []).append((current, clause))
                        stack.append(other)
        if child not in known:
            known.update(dict.fromkeys((c for c in waiting if c not in known), False))
        return known[child]

    def _settle(self, child: Child, dependents: dict[Child, list[tuple[Child, Clause]]]) -> None:
        """`child` is inhabited: tell those that waited for it."""
        stack = [child]
        while stack:
            current = stack.pop()
            if self._known.get(current):
                continue
            self._known[current] = True
            for other, clause in dependents.get(current, ()):
                if other not in self._known and self._holds(clause):
                    stack.append(other)

    def _holds(self, clause: Clause) -> bool:
        needs, least, options = clause
        known = self._known
        if not all(known.get(need, False) for need in needs):
            return False
        return least <= 0 or sum(weight for option, weight in options if known.get(option, False)) >= least

    def shape_is_inhabited(self, shape: Shape) -> bool:
        """True if `shape`, which need not be any child's, holds some value."""
        clauses = self._clauses_of(shape)
        for needs, _, options in clauses:
            for other in (*needs, *(option for option, _ in options)):
                self.inhabited(other)
        return any(self._holds(clause) for clause in clauses)

    def record_is_inhabited(self, record: ArrayRecord | ObjectRecord) -> bool:
        """True if some array or object satisfies `record`."""
        clause = self._clause_of(record)
        if clause is None:
            return False
        needs, _, options = clause
        for other in (*needs, *(option for option, _ in options)):
            self.inhabited(other)
        return self._holds(clause)

    # ------------------------------------------------------------ clauses

    def _clauses_at(self, child: Child) -> Sequence[Clause]:
        shape = self._builder.shape_of(child)
        try:
            return self._clauses_of(shape)
        except LimitExceeded as error:
            error.at = error.at or self._builder.path_of(child)
            raise

    def _clauses_of(self, shape: Shape) -> Sequence[Clause]:
        if shape.null or shape.booleans:
            return _ALWAYS
        if any(self.has_string(record) for record in shape.strings):
            return _ALWAYS
        if any(self.has_number(record) for record in shape.numbers):
            return _ALWAYS
        clauses = dict.fromkeys([self._clause_of(record) for record in (*shape.arrays, *shape.objects)])
        return [clause for clause in clauses if clause is not None]

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

    def _clause_of(self, record: ArrayRecord | ObjectRecord) -> Clause | None:
        """The clause of `record`, or None if it is empty whatever its children are."""
        if record not in self._clauses:
            if isinstance(record, ConstShape):
                clause = ALWAYS if const_is_allowed(record, self._builder.shape_of) else None
            elif isinstance(record, ObjectShape):
                clause = self._object_clause(record)
            else:
                needs = list(record.prefix[: record.min])
                if record.min > len(record.prefix):
                    needs.append(record.rest)
                clause = (tuple(dict.fromkeys(needs)), 0, ())
                if record.unique is not None and record.min > 1 and not record.prefix:
                    clause = clause if self.has_distinct(record.rest, record.min) else None
            self._clauses[record] = clause
        return self._clauses[record]

    def _object_clause(self, record: ObjectShape) -> Clause | None:
        if any(has_surrogate(name) for name in record.required):
            return None
        needs = tuple(dict.fromkeys(child_of(record, name) for name in record.required))
        missing = record.min - len(record.required)
        if missing <= 0:
            return (needs, 0, ())
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
        return (needs, missing, tuple(options))

    # ------------------------------------------------------------ counting

    def has_distinct(self, child: Child, count: int) -> bool:
        """True if at least `count` different values satisfy `child`; containers count as enough."""
        shape = self._builder.shape_of(child)
        if shape.has_containers:
            return True
        found = int(shape.null) + len(shape.booleans)
        if found >= count:
            return True
        terms: list[Regular] = [record.term() for record in shape.strings]
        if terms:
            found += _at_most(alternation(*terms), count)
        if found >= count or not shape.numbers:
            return found >= count
        # a whole number also has a text that ends in `.0` where it need not be an integer: count only the other
        spelled = alternation(*[number_term(record, "canonical") for record in shape.numbers])
        return found + _at_most(intersection(spelled, _NOT_POINT_ZERO), count - found) >= count


_NOT_POINT_ZERO = Not(concat(ANY_TEXT, Literal(".0")))


def _at_most(term: Regular, limit: int) -> int:
    """How many strings `term` holds, or `limit` if that is less."""
    size = regular.cardinality(term, limit)
    return limit if size is None else min(size, limit)
