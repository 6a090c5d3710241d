"""The twin of counters and conditions: counts as they are, and what may still come by listing it.

A *tally* is how many members or items there are and how far each counter is. Counts are capped where the definition
stops looking, so that there are finitely many; nothing else is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from constrain.grammar import terms
from tests.reference.frames import Grammar, Term

Tally = tuple[int, tuple[int, ...]]
"""How many there are, and each counter of `Counting.counters`."""


@dataclass(frozen=True, slots=True)
class CountedWay:
    """A value, and the counters that it advances."""

    value: Term
    counters: frozenset[int]


Values = tuple[CountedWay, ...]
"""All ways of one member's value or of one item."""


@dataclass(frozen=True, slots=True)
class Counting:
    """What `Members` and `Items` say of counts."""

    min_count: int
    max_count: int | None
    conditions: tuple[terms.Condition, ...]
    places: int = 0
    """So many items have each a place of its own."""

    @property
    def counters(self) -> tuple[int, ...]:
        return tuple(sorted({b.counter for condition in self.conditions for b in condition if b.counter is not None}))

    def start(self) -> Tally:
        return 0, (0,) * len(self.counters)

    def cap(self, counter: int | None) -> int:
        """The highest bound on a counter, or (None) on how many there are."""
        return max((b.least for condition in self.conditions for b in condition if b.counter == counter), default=0)

    @property
    def count_cap(self) -> int:
        """From here on more members or items change no answer, if there is no maximum."""
        return max(self.min_count, self.cap(None), self.places, 1)

    @property
    def most_needed(self) -> int:
        """So many more can matter at most."""
        return self.count_cap + sum(self.cap(counter) for counter in self.counters)

    def room(self, tally: Tally) -> bool:
        return self.max_count is None or tally[0] < self.max_count

    def advance(self, tally: Tally, way: CountedWay) -> Tally:
        count, counts = tally
        more = (
            min(n + (counter in way.counters), self.cap(counter))
            for counter, n in zip(self.counters, counts, strict=True)
        )
        return count + 1, tuple(more)

    def capped(self, tally: Tally) -> Tally:
        return (min(tally[0], self.count_cap) if self.max_count is None else tally[0]), tally[1]

    def may_close(self, tally: Tally) -> bool:
        count, counts = tally
        if count < self.min_count or (self.max_count is not None and count > self.max_count):
            return False
        reached = dict(zip(self.counters, counts, strict=True))

        def holds(bound: terms.Bound) -> bool:
            n = count if bound.counter is None else reached[bound.counter]
            return (n >= bound.least) == bound.reached

        return all(any(map(holds, condition)) for condition in self.conditions)

    def one_more(self, tallies: Iterable[Tally], values: Values, grammar: Grammar) -> set[Tally]:
        """What `tallies` become by one more member or item, in any way that can be written."""
        return {
            self.capped(self.advance(tally, way))
            for tally in tallies
            for way in values
            if self.room(tally) and grammar.can_finish(way.value)
        }
