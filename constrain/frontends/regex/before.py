"""What can be known of the text before a position: a small deterministic automaton, read from the text's start.

Built from the languages P that a pattern's conditions ask of the text before: two texts lead to one state iff no P
and no continuation tells them apart. `^` alone gives two states (at the start, beyond it), `\\b` two (after a word
character, or not). Most are *definite*: the state follows from the last character alone, which lets terms be split by
structure.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from constrain.frontends.regex.classes import Ranges, merge
from constrain.frontends.regex.derivatives import Derivatives, atoms
from constrain.frontends.regex.simplify import edge, join, meet, negate, nullable, repeat, reverse, single, unite
from constrain.grammar.terms import ANY_TEXT, EMPTY, EPSILON, Regular

MAX_STATES = 24

State = TypeVar("State", bound=Hashable)


class TooEntangled(Exception):
    """Conditions whose exact translation would outgrow its limits; the translator turns it into a `PatternError`."""


class Before:
    """States 0 (the start) to `size` - 1; `targets[s]` lists (state, the characters that lead there from s)."""

    def __init__(self, languages: Sequence[Regular], derivatives: Derivatives):
        self._languages = {language: index for index, language in enumerate(dict.fromkeys(languages))}
        self.parts = atoms(self._languages)
        numbered = sorted((low, number) for number, part in enumerate(self.parts) for low, _ in part)
        self._starts = [low for low, _ in numbered]
        self._part_from = [number for _, number in numbered]
        residuals, rows = self._explore(derivatives)
        accepted = [tuple(nullable(language) for language in state) for state in residuals]
        merged = _minimise(rows, accepted)
        self.size = max(merged) + 1
        self._accepted = [accepted[merged.index(state)] for state in range(self.size)]
        self._residuals = [residuals[merged.index(state)] for state in range(self.size)]
        self._rows = [[merged[to] for to in rows[merged.index(state)]] for state in range(self.size)]
        self.targets = [self._by_target(row) for row in self._rows]
        self.definite = all(row == self._rows[0] for row in self._rows)

    def _explore(self, derivatives: Derivatives) -> tuple[list[tuple[Regular, ...]], list[list[int]]]:
        numbers: dict[tuple[Regular, ...], int] = {tuple(self._languages): 0}
        rows: list[list[int]] = []
        queue = list(numbers)
        for state in queue:
            row = []
            for part in self.parts:
                following = tuple(derivatives.derive(language, part[0][0]) for language in state)
                if following not in numbers:
                    numbers[following] = len(numbers)
                    queue.append(following)
                    if len(numbers) > 4 * MAX_STATES:
                        raise TooEntangled
                row.append(numbers[following])
            rows.append(row)
        return queue, rows

    def _by_target(self, row: list[int]) -> list[tuple[int, Ranges]]:
        gathered: dict[int, list[tuple[int, int]]] = {}
        for part, to in zip(self.parts, row, strict=True):
            gathered.setdefault(to, []).extend(part)
        return [(to, merge(ranges)) for to, ranges in gathered.items()]

    def step(self, state: int, code_point: int) -> int:
        return self._rows[state][self._part_from[bisect_right(self._starts, code_point) - 1]]

    def holds(self, state: int, language: Regular) -> bool:
        """Are the texts that lead to `state` in `language`, one of those given?"""
        return self._accepted[state][self._languages[language]]

    def reachable(self, state: int) -> list[int]:
        """The states that some text, or none, leads to from `state`."""
        found = [state]
        for one in found:
            found.extend(to for to, _ in self.targets[one] if to not in found)
        return found

    def texts_between(self, state: int, states: Sequence[int]) -> Regular | None:
        """The texts that lead from `state` to one of `states`, written with what is left of the languages at `state`.

        None if the languages do not tell the end states from others.
        """
        wanted = {self._accepted[one] for one in states}
        others = {self._accepted[one] for one in self.reachable(state) if one not in states}
        if wanted & others:
            return None
        for index, language in enumerate(self._residuals[state]):
            held = {accepted[index] for accepted in wanted}
            if len(held) == 1 and not any(accepted[index] in held for accepted in others):
                return language if held == {True} else negate(language)
        return unite(*(self._texts_accepted_as(state, accepted) for accepted in sorted(wanted)))

    def _texts_accepted_as(self, state: int, accepted: tuple[bool, ...]) -> Regular:
        texts: Regular = ANY_TEXT
        for language, held in zip(self._residuals[state], accepted, strict=True):
            texts = meet(texts, language if held else negate(language))
        return texts

    def language(self, state: int) -> Regular:
        """All texts that lead to `state`."""
        if self.definite:
            ranges = next((ranges for to, ranges in self.targets[0] if to == state), ())
            return reverse(edge(state == 0, ranges))

        def step(source: int) -> dict[int, Regular]:
            return {to: single(ranges) for to, ranges in self.targets[source]}

        return paths(step, 0).get(state, EMPTY)


def _minimise(rows: list[list[int]], accepted: list[tuple[bool, ...]]) -> list[int]:
    """For each state the number of its class, numbered by first appearance (Moore's refinement)."""
    classes = _numbered(accepted)
    while True:
        refined = _numbered([(classes[state], *(classes[to] for to in row)) for state, row in enumerate(rows)])
        if max(refined) == max(classes):
            return refined
        classes = refined


def _numbered(keys: Sequence[Hashable]) -> list[int]:
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def paths(
    step: Callable[[State], dict[State, Regular]], start: State, sized: Callable[[Regular], Regular] = lambda term: term
) -> dict[State, Regular]:
    """For each state that `step` leads to from `start`: the texts of all walks there (the empty walk included).

    Solves X[q] = ε[q = start] ∪ ⋃ X[p]·step(p)[q] by elimination (Arden's lemma); `sized` raises if a
    term grows too big.
    Raises:  TooEntangled: beyond `MAX_STATES` states.
    """
    edges: dict[State, dict[State, Regular]] = {}
    queue = [start]
    for state in queue:
        edges[state] = dict(step(state))
        for to in edges[state]:
            if to not in edges and to not in queue:
                queue.append(to)
        if len(queue) > MAX_STATES:
            raise TooEntangled
    return _solve(edges, start, sized)


def _solve(
    edges: dict[State, dict[State, Regular]], start: State, sized: Callable[[Regular], Regular]
) -> dict[State, Regular]:
    constant: dict[State, Regular] = {start: EPSILON}
    remaining = set(edges)
    order: list[State] = []
    incoming: dict[State, dict[State, Regular]] = {}
    while remaining:
        state = min(
            (one for one in edges if one in remaining), key=lambda one: (one == start, _degree(edges, remaining, one))
        )
        remaining.discard(state)
        order.append(state)
        loop = repeat(edges[state].pop(state, EMPTY), 0, None)
        sources = {one: edges[one].pop(state) for one in remaining if state in edges[one]}
        incoming[state] = {one: sized(join(term, loop)) for one, term in sources.items()}
        own = sized(join(constant.pop(state, EMPTY), loop))
        constant[state] = own
        for to, term in list(edges[state].items()):
            if to not in remaining:
                continue
            constant[to] = sized(unite(constant.get(to, EMPTY), join(own, term)))
            for one, through in incoming[state].items():
                edges[one][to] = sized(unite(edges[one].get(to, EMPTY), join(through, term)))
    solved: dict[State, Regular] = {}
    for state in reversed(order):
        terms = [constant[state], *(join(solved[one], term) for one, term in incoming[state].items())]
        solved[state] = sized(unite(*terms))
    return solved


def _degree(edges: dict[State, dict[State, Regular]], remaining: set[State], state: State) -> int:
    outgoing = sum(1 for to in edges[state] if to in remaining and to != state)
    return outgoing * sum(1 for one in remaining if one != state and state in edges[one])
