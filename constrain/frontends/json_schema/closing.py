"""Whether a container that counts can be closed at all, when it is known which children are inhabited.

A depth-first search over *stages*: one for each member or position in order, one for each class of names, one for the
rest of the items. A search state holds the counters that some open condition still speaks of; a condition is settled as
soon as one of its bounds holds for good (what is reached stays reached; what no later stage advances stays below), and
a state is given up as soon as a condition can hold no more. So n names that each settle one condition cost n steps, not
2^n. The answer is monotone in the children known, as the least fixed point of `emptiness.py` needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from constrain.errors import LimitExceeded
from constrain.frontends.json_schema.obligations import ArrayPlan, ObjectPlan, Slot
from constrain.frontends.json_schema.shapes import Child
from constrain.frontends.json_schema.values import has_surrogate
from constrain.grammar.terms import Bound, Condition

MAX_STATES = 50_000
"""Search states that deciding one record looks at."""

Known = Callable[[Child], bool]
State = tuple[int, tuple[int, ...]]
"""Which conditions are settled (bits), and the counters, the last one being the number of members or items."""

TOTAL = -1


def can_close_array(plan: ArrayPlan, known: Known) -> bool:
    """True if some array of `plan` exists whose items are of inhabited (`known`) children.

    Raises:  LimitExceeded: after 50,000 states.
    """
    stages = [_Stage(_moves(slot, known), 1, False) for slot in plan.prefix]
    stages.append(_Stage(_moves(plan.rest, known), None, False))
    return _Search(stages, plan.conditions, plan.record.min, plan.record.max, stops=True).ends()


def can_close_object(plan: ObjectPlan, known: Known, names_in: Callable[[int, int], int]) -> bool:
    """True if some object of `plan` exists whose members are of inhabited (`known`) children.

    `names_in(k, limit)`: how many names class k has, or `limit` if that is less.

    Raises:  LimitExceeded: after 50,000 states.
    """
    record = plan.record
    simplest = _closes_with_required(plan, known)
    if simplest is not None:
        return simplest
    stages: list[_Stage] = []
    for name, slot in plan.members.items():
        moves = () if has_surrogate(name) else _moves(slot, known)
        if moves or name in record.required:
            stages.append(_Stage(moves, 1, name not in record.required))
    enough = sum(b.least for condition in plan.conditions for b in condition) + record.min + 1
    for k, (_, slot) in enumerate(plan.classes):
        moves = _moves(slot, known)
        if moves:
            stages.append(_Stage(moves, names_in(k, enough), True))
    return _Search(stages, plan.conditions, record.min, record.max, stops=False).ends()


def _closes_with_required(plan: ObjectPlan, known: Known) -> bool | None:
    """True if just the required members are enough, False if one of them cannot be; None if that does not tell."""
    record, counts = plan.record, dict[int | None, int]()
    for name in record.required:
        moves = () if has_surrogate(name) else _moves(plan.members[name], known)
        if not moves:
            return False
        for counter in max(moves, key=len):
            counts[counter] = counts.get(counter, 0) + 1
    counts[None] = len(record.required)
    if counts[None] < record.min or (record.max is not None and counts[None] > record.max):
        return None
    holds = all(
        [any([(counts.get(b.counter, 0) >= b.least) == b.reached for b in condition]) for condition in plan.conditions]
    )
    return True if holds else None


def _moves(slot: Slot, known: Known) -> tuple[tuple[int, ...], ...]:
    if not slot.parts:
        return ((),) if known(slot.child) else ()
    return tuple(dict.fromkeys([part.counters for part in slot.parts if known(part.child)]))


@dataclass(frozen=True, slots=True)
class _Stage:
    """Up to `times` (None: any number) members or items, each one of `moves`: what it advances."""

    moves: tuple[tuple[int, ...], ...]
    times: int | None
    may_skip: bool


class _Search:
    def __init__(
        self, stages: Sequence[_Stage], conditions: Iterable[Condition], least: int, most: int | None, stops: bool
    ):
        """`stops`: the container may be closed before the last stage."""
        self.stages = stages
        self.stops = stops
        self.conditions = [*conditions]
        if least > 0:
            self.conditions.append((Bound(None, least),))
        if most is not None:
            self.conditions.append((Bound(None, most + 1, reached=False),))
        size = 1 + max((b.counter for c in self.conditions for b in c if b.counter is not None), default=-1)
        self.caps = [0] * (size + 1)
        for condition in self.conditions:
            for bound in condition:
                counter = TOTAL if bound.counter is None else bound.counter
                self.caps[counter] = max(self.caps[counter], bound.least)
        self.last = [-1] * (size + 1)
        for i, stage in enumerate(stages):
            for counter in (c for move in stage.moves for c in (*move, TOTAL)):
                if counter < size:
                    self.last[counter] = i

    def ends(self) -> bool:
        """True if some way through the stages settles every condition."""
        start = self._settled(0, (0, (0,) * len(self.caps)))
        if start is None:
            return False
        seen: set[tuple[int, int, State]] = set()
        stack = [(0, self._times(0), start)]
        while stack:
            i, left, state = stack.pop()
            if (i == len(self.stages) or self.stops) and self._holds(state):
                return True
            if i == len(self.stages) or (i, left, state) in seen:
                continue
            seen.add((i, left, state))
            if len(seen) > MAX_STATES:
                raise LimitExceeded(
                    "the negations and counts of this place combine in too many ways",
                    limit="obligations",
                    help="negate or count fewer things in one place",
                )
            stack += sorted(self._next(i, left, state), key=lambda entry: entry[2][0].bit_count())
        return False

    def _times(self, i: int) -> int:
        """How often stage i may still be used; -1: any number."""
        if i == len(self.stages):
            return 0
        times = self.stages[i].times
        return -1 if times is None else times

    def _next(self, i: int, left: int, state: State) -> Iterable[tuple[int, int, State]]:
        stage = self.stages[i]
        if stage.may_skip:
            skipped = self._settled(i + 1, state)
            if skipped is not None:
                yield i + 1, self._times(i + 1), skipped
        if left == 0:
            return
        for move in stage.moves:
            counters = list(state[1])
            for counter in (*move, TOTAL):
                if counter < len(counters) - 1:
                    counters[counter] = min(counters[counter] + 1, self.caps[counter])
            again = stage.times is None or left > 1
            moved = self._settled(i if again else i + 1, (state[0], tuple(counters)))
            if moved is not None:
                yield (
                    (i, left if stage.times is None else left - 1, moved)
                    if again
                    else (
                        i + 1,
                        self._times(i + 1),
                        moved,
                    )
                )

    def _settled(self, i: int, state: State) -> State | None:
        """`state` before stage i, with what holds for good settled; None if some condition can hold no more."""
        settled, counters = state
        open_counters: set[int] = set()
        for k, condition in enumerate(self.conditions):
            if settled >> k & 1:
                continue
            possible = False
            for bound in condition:
                counter = TOTAL if bound.counter is None else bound.counter
                reached, moves = counters[counter] >= bound.least, self.last[counter] >= i
                if reached == bound.reached and (reached or not moves):
                    settled |= 1 << k
                    break
                possible |= not reached and (moves or not bound.reached)
            else:
                if not possible:
                    return None
                open_counters.update(TOTAL if b.counter is None else b.counter for b in condition)
        size = len(counters)
        kept = {counter % size for counter in open_counters}
        return settled, tuple([value if c in kept else 0 for c, value in enumerate(counters)])

    def _holds(self, state: State) -> bool:
        settled, counters = state
        return all(
            settled >> k & 1
            or any(
                (counters[TOTAL if bound.counter is None else bound.counter] >= bound.least) == bound.reached
                for bound in condition
            )
            for k, condition in enumerate(self.conditions)
        )
