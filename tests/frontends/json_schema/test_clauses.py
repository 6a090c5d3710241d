"""Clauses: the solution found is the least one, each need is looked at a bounded number of times."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from constrain.frontends.json_schema.clauses import ALWAYS, AnyClause, Clause, CountedClause, Solution
from constrain.frontends.json_schema.compile import settle
from constrain.frontends.json_schema.options import SchemaOptions
from constrain.frontends.json_schema.shapes import Child

CHILDREN: list[Child] = [(n,) for n in range(1, 7)]
children = st.sampled_from(CHILDREN)
plain = st.builds(
    Clause,
    needs=st.lists(children, max_size=3, unique=True).map(tuple),
    least=st.integers(0, 3),
    options=st.lists(st.tuples(children, st.integers(0, 2)), max_size=3, unique_by=lambda pair: pair[0]).map(tuple),
)


def _some_of(several: list[Child], least: int) -> CountedClause:
    return CountedClause(tuple(several), lambda known: sum(map(known, several)) >= least)


counted = st.builds(_some_of, st.lists(children, max_size=4, unique=True), st.integers(0, 4))
systems = st.fixed_dictionaries(
    {child: st.lists(st.one_of(plain, counted, st.just(ALWAYS)), max_size=2) for child in CHILDREN}
)


def _holds(clause: AnyClause, known: set[Child]) -> bool:
    if isinstance(clause, CountedClause):
        return clause.holds(known.__contains__)
    members = sum(weight for option, weight in clause.options if option in known)
    return known.issuperset(clause.needs) and members >= clause.least


def _least(system: dict[Child, list[AnyClause]]) -> set[Child]:
    """The least solution, by applying all clauses until nothing changes."""
    known: set[Child] = set()
    while True:
        more = {child for child, clauses in system.items() if any(_holds(clause, known) for clause in clauses)}
        if more <= known:
            return known
        known |= more


@given(systems, st.permutations(CHILDREN))
def test_what_is_found_is_the_least_solution(system: dict[Child, list[AnyClause]], asked: list[Child]) -> None:
    solution, expected = Solution(system.__getitem__), _least(system)
    assert [solution.inhabited(child) for child in asked] == [child in expected for child in asked]


@given(systems, st.lists(st.tuples(children, children), max_size=6))
def test_questions_asked_while_another_is_answered_change_nothing(
    system: dict[Child, list[AnyClause]], asides: list[tuple[Child, Child]]
) -> None:
    def clauses_at(child: Child) -> Iterable[AnyClause]:
        while child in [at for at, _ in asides]:  # each once: a question that asks itself has no end
            number = [at for at, _ in asides].index(child)
            solution.inhabited(asides.pop(number)[1])
        return system[child]

    solution, expected = Solution(clauses_at), _least(system)
    assert {child for child in CHILDREN if solution.inhabited(child)} == expected


@given(systems, st.one_of(plain, counted))
def test_a_clause_of_no_child_is_decided_alike(system: dict[Child, list[AnyClause]], clause: AnyClause) -> None:
    assert Solution(system.__getitem__).decide(clause) == _holds(clause, _least(system))


def _object(count: int) -> dict[str, Any]:
    inner = {"type": "object", "properties": {"a": {"type": "object"}}, "required": ["a"]}
    names = [f"p{i}" for i in range(count)]
    return {"type": "object", "properties": {name: dict(inner) for name in names}, "required": names}


def test_a_need_is_looked_at_a_bounded_number_of_times() -> None:
    settled = settle(_object(500), SchemaOptions())
    assert settled.grammar is not None
    assert settled.emptiness.solution.looks <= 4 * 1_001


def test_a_search_is_asked_again_a_logarithm_of_times() -> None:
    several = [(n,) for n in range(1, 501)]
    system: dict[Child, list[AnyClause]] = {child: [ALWAYS] for child in several}
    system[(0, 1)] = [_some_of(several, 500)]
    solution = Solution(system.__getitem__)
    assert solution.inhabited((0, 1))
    assert solution.evaluations <= 12
