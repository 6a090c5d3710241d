"""Where texts lead: a *place* is a state of `Before` and the demand on the text that follows.

Both change deterministically with each character (the demand by derivatives), so the texts of a plain term can be
split by the place that they lead to, and what is done in a loop is a finite graph of places. `Reached` is the result
either way: places, each with the texts that lead there.

Invariant: the texts of a split are disjoint and their union is the term (less the texts whose demand died).
"""

from __future__ import annotations

from collections.abc import Callable

from constrain.frontends.regex.before import Before, TooEntangled, paths
from constrain.frontends.regex.classes import Ranges, common
from constrain.frontends.regex.derivatives import Derivatives, atoms
from constrain.frontends.regex.simplify import (
    edge_test,
    ending_with,
    join,
    nullable,
    repeat,
    single,
    starting_with,
    unite,
)
from constrain.grammar.terms import (
    ANY_TEXT,
    EMPTY,
    EPSILON,
    Alternation,
    And,
    CharClass,
    Concat,
    Empty,
    Epsilon,
    Literal,
    LiteralSet,
    Not,
    Regular,
    Repeat,
    intersection,
)

Place = tuple[int, Regular]
Reached = dict[Place, Regular]

MAX_UNROLLED = 64
"""So many times a counted loop is written out, where one more round does not lead back to the place it started from."""


class Budget:
    """Counts the nodes of terms, shared ones each time, and raises `TooEntangled` beyond the limit."""

    def __init__(self, limit: int):
        self._limit = limit
        self._sizes: dict[int, int] = {}
        self._kept: list[Regular] = []
        self.position: int | None = None

    def check(self, term: Regular) -> Regular:
        if self._size(term) > self._limit:
            raise TooEntangled
        return term

    def _size(self, term: Regular) -> int:
        known = self._sizes.get(id(term))
        if known is None:
            known = 1
            if isinstance(term, Concat | Alternation | And):
                known += sum(map(self._size, term.items))
            elif isinstance(term, Repeat | Not):
                known += self._size(term.item)
            elif isinstance(term, LiteralSet):
                known += len(term.texts)
            self._sizes[id(term)] = known
            self._kept.append(term)
        return known


class Places:
    """The operations on places for one automaton of the text before."""

    def __init__(self, before: Before, derivatives: Derivatives, budget: Budget):
        self.before = before
        self.derivatives = derivatives
        self.budget = budget

    def repeated(self, step: Callable[[Place], Reached], least: int, most: int | None, place: Place) -> Reached:
        """`step`, `least` to `most` times. A step that only leads back to its own place keeps the count symbolic."""
        if most is None:
            reached = self.repeated(step, least, least, place) if least else {place: EPSILON}
            loops = [self.scaled(text, paths(step, at, self.budget.check)) for at, text in reached.items()]
            return self.merged(loops)
        layers: list[Reached] = []
        current: Reached = {place: EPSILON}
        for count in range(most + 1):
            if count >= least:
                layers.append(current)
            if count == most or not current:
                break
            if len(current) == 1:
                ((only, text),) = current.items()
                once = step(only)
                if set(once) == {only}:
                    again = repeat(once[only], max(least - count, 0), most - count)
                    return self.merged([*layers, {only: join(text, again)}])
            if count > MAX_UNROLLED:
                raise TooEntangled
            current = self.fold([step], current)
        return self.merged(layers)

    def scaled(self, text: Regular, reached: Reached) -> Reached:
        return {at: self.budget.check(join(text, following)) for at, following in reached.items()}

    def fold(self, steps: list[Callable[[Place], Reached]], start: Place | Reached) -> Reached:
        current: Reached = start if isinstance(start, dict) else {start: EPSILON}
        for step in steps:
            current = self.merged([self.scaled(text, step(at)) for at, text in current.items()])
        return current

    def merged(self, several: list[Reached]) -> Reached:
        gathered: dict[Place, list[Regular]] = {}
        for reached in several:
            for place, text in reached.items():
                gathered.setdefault(place, []).append(text)
        united = {place: self.budget.check(unite(*texts)) for place, texts in gathered.items()}
        return {place: text for place, text in united.items() if not isinstance(text, Empty)}

    # ------------------------------------------------------------ plain terms, split by where they lead

    def split(self, term: Regular, place: Place) -> Reached:
        """The texts of `term`, by the place that they lead to from `place`; deterministic in the text."""
        if self.before.size == 1 and place[1] == ANY_TEXT:
            return {place: term} if not isinstance(term, Empty) else {}
        if isinstance(term, Empty):
            return {}
        if isinstance(term, Epsilon):
            return {place: EPSILON}
        if isinstance(term, Literal):
            return self._split_word(term.text, place)
        if isinstance(term, LiteralSet):
            return self.merged([self._split_word(text, place) for text in term.texts])
        if isinstance(term, CharClass):
            return self._split_class(term, place)
        if isinstance(term, Alternation):
            return self.merged([self.split(item, place) for item in term.items])
        if self.before.definite and (test := edge_test(place[1])) is not None:
            return self._split_by_edges(term, place, *test)
        if isinstance(term, Concat):
            return self.fold([lambda at, item=item: self.split(item, at) for item in term.items], place)
        if isinstance(term, Repeat):
            return self._split_repeat(term, place)
        raise TooEntangled

    def _split_word(self, word: str, place: Place) -> Reached:
        state, demand = place
        for character in word:
            state, demand = self.before.step(state, ord(character)), self.derivatives.derive(demand, ord(character))
            if isinstance(demand, Empty):
                return {}
        return {(state, demand): Literal(word) if word else EPSILON}

    def _split_class(self, term: CharClass, place: Place) -> Reached:
        state, demand = place
        gathered: dict[Place, list[tuple[int, int]]] = {}
        for part in [term.ranges] if demand == ANY_TEXT else atoms([demand]):
            inside = common(part, term.ranges)
            following = self.derivatives.derive(demand, inside[0][0]) if inside else EMPTY
            if isinstance(following, Empty):
                continue
            for to, ranges in self.before.targets[state]:
                gathered.setdefault((to, following), []).extend(common(inside, ranges))
        split = {at: single(tuple(sorted(ranges))) for at, ranges in gathered.items()}
        return {at: text for at, text in split.items() if not isinstance(text, Empty)}

    def _split_by_edges(self, term: Regular, place: Place, may_end: bool, first: Ranges) -> Reached:
        """First character from the demand, last one from the state: no path through `term` need be followed."""
        reached: list[Reached] = [{place: EPSILON}] if nullable(term) else []
        body = starting_with(term, first)
        for to, ranges in self.before.targets[place[0]]:
            reached.append({(to, ANY_TEXT): ending_with(body, ranges)})
        return self.merged(reached)

    def _split_repeat(self, term: Repeat, place: Place) -> Reached:
        """A text of a bounded repeat leads where it leads in the unbounded one: the count is an intersection."""

        def step(at: Place) -> Reached:
            return self.split(term.item, at)

        if term.max is None and term.min <= 1:
            return self.repeated(step, term.min, None, place)
        if (term.min, term.max) == (0, 1):
            return self.merged([{place: EPSILON}, step(place)])
        reached = paths(step, place, self.budget.check)
        return self.merged([{at: intersection(term, text)} for at, text in reached.items()])
