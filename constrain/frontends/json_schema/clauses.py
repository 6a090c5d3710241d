"""The least solution of monotone implications between children: which of them are inhabited.

A child is inhabited if one of its *clauses* holds; a clause holds if the children that it needs are inhabited. The
least solution is found by propagation from the clauses that need nothing (Dowling and Gallier 1984, "Linear-time
algorithms for testing the satisfiability of propositional Horn formulae"): each clause counts what it still lacks, so
each need is looked at once when the clause is made and once when it becomes known. Recursion without an end counts as
empty, with no assumption to take back.

A clause that is a search (`CountedClause`) is asked again when as many of its children have become known as were
before, and when nothing else is left to explore: a logarithm of times, not once for each child.

A question may be asked while another is answered (making a clause may ask): each explores for itself, and what one has
settled the other takes over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from constrain.frontends.json_schema.closing import Known
from constrain.frontends.json_schema.shapes import ANYTHING, NOTHING, Child


@dataclass(frozen=True, slots=True)
class Clause:
    """Children that are all needed; how many more members are; optional ones, each with how many it may stand for."""

    needs: tuple[Child, ...] = ()
    least: int = 0
    options: tuple[tuple[Child, int], ...] = ()

    @property
    def children(self) -> Sequence[Child]:
        """What the answer depends on."""
        return (*self.needs, *(option for option, _ in self.options)) if self.options else self.needs


@dataclass(frozen=True, slots=True, eq=False)
class CountedClause:
    """The clause of a record that counts: a search over the parts of its slots."""

    children: tuple[Child, ...]
    holds: Callable[[Known], bool]


AnyClause = Clause | CountedClause
ALWAYS = Clause()


class _Waiting:
    """A clause of `child` that does not hold yet: how many needs and how many more members it lacks."""

    __slots__ = ("child", "lacking", "missing")

    def __init__(self, child: Child, missing: int, lacking: int):
        self.child = child
        self.missing = missing
        self.lacking = lacking

    def hears(self, weight: int) -> bool:
        """A need (weight 0) or an option has become known; True if that makes the clause hold."""
        if weight:
            self.lacking -= weight
        else:
            self.missing -= 1
        return self.missing == 0 and self.lacking <= 0


class _Searching:
    """A counted clause of `child` that does not hold yet: how many children became known, and when to ask again."""

    __slots__ = ("child", "clause", "due", "heard", "is_fresh", "solution")

    def __init__(self, child: Child, clause: CountedClause, solution: Solution):
        self.child = child
        self.clause = clause
        self.solution = solution
        self.heard = 0
        self.due = 1
        self.is_fresh = False

    def hears(self, weight: int) -> bool:
        """A child has become known; True if the clause is asked, and holds."""
        self.heard += 1
        self.is_fresh = True
        return self.heard >= self.due and self.holds()

    def holds(self) -> bool:
        """Ask the clause."""
        self.due = 2 * self.heard
        self.is_fresh = False
        return self.solution.holds_now(self.clause)


class Solution:
    """What is known of children, and how more becomes known: `clauses_at(child)` gives the clauses of a child.

    `evaluations` counts how often a counted clause was asked, `looks` how often a need of another was looked at.
    """

    def __init__(self, clauses_at: Callable[[Child], Iterable[AnyClause]]):
        self.known: dict[Child, bool] = {ANYTHING: True, NOTHING: False}
        self.evaluations = 0
        self.looks = 0
        self._clauses_at = clauses_at

    def inhabited(self, child: Child) -> bool:
        """True if some value satisfies `child`."""
        known = self.known.get(child)
        if known is None:
            _Exploration(self, self._clauses_at).reach(child)
            known = self.known[child]
        return known

    def decide(self, clause: AnyClause) -> bool:
        """True if `clause` holds."""
        if isinstance(clause, CountedClause):
            if self.holds_now(clause):
                return True
            return any([self.inhabited(child) for child in clause.children]) and self.holds_now(clause)
        if not all(self.inhabited(need) for need in clause.needs):
            return False
        lacking = clause.least
        for option, weight in clause.options:
            if lacking <= 0:
                break
            lacking -= weight if self.inhabited(option) else 0
        return lacking <= 0

    def holds_now(self, clause: CountedClause) -> bool:
        """True if `clause` holds with the children that are known to be inhabited."""
        self.evaluations += 1
        known = self.known
        return clause.holds(lambda child: known.get(child, False))


class _Exploration:
    """One question: the clauses met on the way, and who waits for whom."""

    def __init__(self, solution: Solution, clauses_at: Callable[[Child], Iterable[AnyClause]]):
        self._solution = solution
        self._known = solution.known
        self._clauses_at = clauses_at
        self._explored: set[Child] = set()
        self._dependents: dict[Child, list[tuple[_Waiting | _Searching, int]]] = {}
        self._searching: list[_Searching] = []
        self._stack: list[Child] = []

    def reach(self, child: Child) -> None:
        """Make `child` known."""
        known = self._known
        self._stack = [child]
        while child not in known:
            if not self._stack and not self._ask_again():
                known.update(dict.fromkeys((c for c in self._explored if c not in known), False))
                return
            if self._stack:
                current = self._stack.pop()
                if known.get(current):
                    self._settle(current)
                elif current not in known and current not in self._explored:
                    self._explore(current)

    def _explore(self, child: Child) -> None:
        self._explored.add(child)
        waiting: list[AnyClause] = []
        for clause in self._clauses_at(child):
            if isinstance(clause, CountedClause):
                holds = self._solution.holds_now(clause)
            else:
                self._solution.looks += len(clause.needs)
                holds = not clause.least and all([self._known.get(need, False) for need in clause.needs])
            if holds:
                self._settle(child)
                return
            waiting.append(clause)
        for clause in waiting:
            self._wait(child, clause)

    def _wait(self, child: Child, clause: AnyClause) -> None:
        known = self._known
        if isinstance(clause, CountedClause):
            searching = _Searching(child, clause, self._solution)
            self._searching.append(searching)
            for other in clause.children:
                if other not in known:
                    self._register(searching, other, 0)
            return
        missing = [need for need in clause.needs if not known.get(need)]
        if any([need in known for need in missing]):
            return
        lacking = clause.least - sum([weight for option, weight in clause.options if known.get(option)])
        waiting = _Waiting(child, len(missing), lacking)
        if not missing and lacking <= 0:
            self._settle(child)
            return
        for need in missing:
            self._register(waiting, need, 0)
        for option, weight in clause.options if lacking > 0 else ():
            if weight and option not in known:
                self._register(waiting, option, weight)

    def _register(self, waiting: _Waiting | _Searching, child: Child, weight: int) -> None:
        self._dependents.setdefault(child, []).append((waiting, weight))
        self._stack.append(child)

    def _settle(self, child: Child) -> None:
        """`child` is inhabited: tell those that wait for it."""
        stack = [child]
        while stack:
            current = stack.pop()
            self._known[current] = True
            for waiting, weight in self._dependents.pop(current, ()):
                self._solution.looks += 1
                if waiting.hears(weight):
                    stack.append(waiting.child)

    def _ask_again(self) -> bool:
        """When nothing is left to explore: tell what another question has settled, ask searches again.

        True if that made something known.
        """
        told = [child for child in self._dependents if self._known.get(child)]
        for child in told:
            self._settle(child)
        found = [s.child for s in self._searching if s.is_fresh and s.child not in self._known and s.holds()]
        for child in found:
            self._settle(child)
        return bool(told or found)
