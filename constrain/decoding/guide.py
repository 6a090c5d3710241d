"""What leads a generation besides the model: a grammar's matcher, or nothing.

`GrammarGuide` keeps one promise for the decoder: after every call, `completion` finishes the text within the tokens
that remain. A token or a jump after which that would no longer hold is taken back (`Step.BUDGET`), and the decoder
writes `completion` instead. So a budget never cuts a text in half.

Source of jumping ahead: the text that a grammar forces needs no model (SGLang's jump-forward decoding, Zheng et al.
2024).
"""

from __future__ import annotations

import enum
from typing import Any, Literal, Protocol

import numpy as np

from constrain.errors import BudgetTooSmall, VocabularyError

__all__ = ["ForcedMode", "FreeGuide", "GrammarGuide", "Guide", "Step"]

ForcedMode = Literal["canonical", "single", "off"]


class Step(enum.Enum):
    """What became of a token: written; the end; or dropped, because the budget could not hold what it calls for."""

    WRITTEN = enum.auto()
    END = enum.auto()
    BUDGET = enum.auto()


class Guide(Protocol):
    """How the decoder is led. `remaining` counts the tokens that may still be written, the end token not among them."""

    def jump(self, remaining: int) -> tuple[Step, list[int]]:
        """Tokens that must come next, now accepted ([] if there is a choice)."""
        ...

    def mask(self) -> tuple[np.ndarray | None, int]:
        """The packed mask row (None: all allowed) and how many tokens it forbids."""
        ...

    @property
    def must_end(self) -> bool:
        """Nothing but the end can follow; asked after `mask`."""
        ...

    def accept(self, token: int, remaining: int) -> Step: ...

    def completion(self) -> list[int]:
        """The shortest way to a complete text."""
        ...


class FreeGuide:
    """No constraint: every token goes, an end id ends."""

    must_end = False

    def __init__(self, end_ids: tuple[int, ...]):
        self._end_ids = frozenset(end_ids)

    def jump(self, remaining: int) -> tuple[Step, list[int]]:
        return Step.WRITTEN, []

    def mask(self) -> tuple[None, int]:
        return None, 0

    def accept(self, token: int, remaining: int) -> Step:
        return Step.END if token in self._end_ids else Step.WRITTEN

    def completion(self) -> list[int]:
        return []


class GrammarGuide:
    """Led by a `Matcher` (owned from now on).

    Args:    budget: tokens that the whole text may take, without the end token.
    Raises:  BudgetTooSmall: if the shortest text takes more.
    """

    def __init__(self, matcher: Any, vocabulary: Any, budget: int, mode: ForcedMode):
        self._matcher = matcher
        self._size: int = vocabulary.size
        self._end_ids: tuple[int, ...] = vocabulary.end_ids
        self._mode: ForcedMode = mode
        self._row = np.zeros(-(-self._size // 32), dtype=np.int32)
        self._allowed = self._size
        self._completion: Any = self._matcher.shortest_completion()
        if not _fits(self._completion, budget):
            raise BudgetTooSmall(needed=len(self._completion.token_ids), budget=budget)

    def jump(self, remaining: int) -> tuple[Step, list[int]]:
        forced = list(self._matcher.forced_tokens(self._mode)) if self._mode != "off" else []
        if not forced:
            return Step.WRITTEN, []
        taken = self._matcher.try_advance(forced)
        rest = self._matcher.shortest_completion()
        if not _fits(rest, remaining - taken):
            self._matcher.rollback(taken)
            return Step.BUDGET, []
        self._completion = rest
        return Step.WRITTEN, forced[:taken]

    def mask(self) -> tuple[np.ndarray, int]:
        self._matcher.fill_mask(self._row)
        self._allowed = int(np.unpackbits(self._row.view(np.uint8)).sum())
        if self._allowed == 0 and not self._matcher.is_complete:
            raise VocabularyError(
                f"no token can follow {bytes(self._matcher.text)[-40:]!r}",
                help="please report this with the specification: a mask should never be empty before the end",
            )
        return self._row, self._size - self._allowed

    @property
    def must_end(self) -> bool:
        bits = sum(int(self._row[end >> 5]) >> (end & 31) & 1 for end in self._end_ids)
        return bits == self._allowed and self._matcher.is_complete

    def accept(self, token: int, remaining: int) -> Step:
        self._matcher.advance(token)
        if token in self._end_ids:
            return Step.END
        rest = self._matcher.shortest_completion()
        if not _fits(rest, remaining - 1):
            self._matcher.rollback(1)
            return Step.BUDGET
        self._completion = rest
        return Step.WRITTEN

    def completion(self) -> list[int]:
        return list(self._completion.token_ids)


def _fits(completion: Any, room: int) -> bool:
    """Whether `completion` (bytes with `token_ids`) takes at most `room` tokens; its length alone often says so."""
    return len(completion) <= room or len(completion.token_ids) <= room
