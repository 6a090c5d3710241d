"""Rules about the branches of `anyOf` and `oneOf`: can each be the one, or is it excluded by its siblings or covered?

A branch is covered if it and the complement of another have nothing in common. That is asked for at most 12 branches
of a place and 1,500 pairs of a schema, and only where types and constants do not already tell the branches apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

from constrain.errors import shorten
from constrain.frontends.json_schema.questions import Questions
from constrain.frontends.json_schema.shapes import ANYTHING, Child
from constrain.linting.finding import Finding
from constrain.linting.places import Place
from constrain.linting.rules import found

MAX_BRANCHES = 12
MAX_PAIRS = 1_500


class Branches:
    """The rules about branches, for one schema; keeps account of the pairs that it compares."""

    def __init__(self, questions: Questions):
        self._questions = questions
        self._pairs_left = MAX_PAIRS

    def findings(self, place: Place) -> Iterator[Finding]:
        """What is found in the `anyOf` and `oneOf` of `place`."""
        for keyword in ("anyOf", "oneOf"):
            branches = place.keywords.get(keyword)
            if isinstance(branches, list) and len(branches) > 1 and isinstance(place.schema, Mapping):
                yield from self._of(place, keyword, branches)

    def _of(self, place: Place, keyword: str, branches: list[object]) -> Iterator[Finding]:
        questions = self._questions
        children = [questions.child(branch, place.at(keyword, i), place.scope) for i, branch in enumerate(branches)]
        beside = questions.child(questions.without(place.keywords, keyword), place.path, place.scope)
        live: dict[int, Child] = {}
        dead: list[int] = []
        for i, child in enumerate(children):
            if child is None or questions.is_empty(child):
                continue  # said where the branch itself is looked at, or not known
            if beside is not None and beside != ANYTHING and questions.is_disjoint(beside, child):
                dead.append(i)
            else:
                live[i] = child
        if live:  # else the place as a whole is empty, which is said there
            for i in dead:
                yield found("dead-branch", place.at(keyword, i), f"what stands beside {keyword!r} excludes this branch",
                            help="remove the branch, or correct what stands beside")  # fmt: skip
        if len(live) <= MAX_BRANCHES:
            yield from self._covered(place, keyword, live, ANYTHING if beside is None else beside)

    def _covered(self, place: Place, keyword: str, live: Mapping[int, Child], beside: Child) -> Iterator[Finding]:
        said: set[int] = set()
        for i, inner in live.items():
            for j, outer in live.items():
                if i == j or i in said or (keyword == "anyOf" and j in said):
                    continue
                if not self._is_covered(inner, outer) or (
                    j > i and self._is_covered(outer, inner) and keyword == "anyOf"
                ):
                    continue
                said.add(i)
                if keyword == "anyOf":
                    yield found("redundant-branch", place.at(keyword, i),
                                f"every value of this branch satisfies branch {j} too", help="remove it")  # fmt: skip
                else:
                    yield found(
                        "dead-branch", place.at(keyword, i),
                        f"every value of this branch satisfies branch {j} too, and 'oneOf' refuses what satisfies two",
                        help="use 'anyOf', or make the branches exclude each other",
                    )  # fmt: skip
        if keyword == "oneOf" and not said:
            yield from self._overlapping(place, live, beside)

    def _is_covered(self, inner: Child, outer: Child) -> bool:
        if self._pairs_left <= 0 or self._questions.is_seen_disjoint(inner, outer):
            return False
        self._pairs_left -= 1
        return outer == ANYTHING or self._questions.is_within(inner, outer)

    def _overlapping(self, place: Place, live: Mapping[int, Child], beside: Child) -> Iterator[Finding]:
        """Scalars that two branches share; objects and arrays that do are often meant to be refused."""
        for i, j in combinations(live, 2):
            shared = (
                None if self._questions.is_seen_disjoint(live[i], live[j]) else self._shared(live[i], live[j], beside)
            )
            if shared is None:
                continue
            yield found(
                "overlapping-branches", place.path,
                f"branches {i} and {j} share values, such as {shorten(shared)}, which 'oneOf' refuses",
                keyword="oneOf", help="use 'anyOf', or tell the branches apart by a required 'const'",
            )  # fmt: skip
            return

    def _shared(self, left: Child, right: Child, beside: Child) -> str | None:
        self._pairs_left -= 1
        return self._questions.shared_scalar(left, right, beside) if self._pairs_left > 0 else None
