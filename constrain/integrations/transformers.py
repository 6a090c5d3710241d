"""Masks inside `transformers`: `model.generate(..., logits_processor=[LogitsProcessor(grammar)])`.

`generate` hands a processor whole rows, prompt included, and nothing else: no request ids, and no promise about order.
Beams reorder rows, several sequences may come from one prompt, assisted generation calls with longer and then with
shorter rows. So a row's matcher is found by what the row holds: of the matchers of the call before, the one with the
longest common beginning is forked, rolled back to it, and fed the rest. As all rows share one grammar, it does not
matter whose matcher it was.

Invariants: for a row that can still become a text of the grammar, exactly the tokens that keep it so stay finite. A row
that has ended, or that cannot become one (a beam of probability 0, a draft about to be refused), is left the end and
padding ids only, so that no softmax sees a row without a finite score.

Not here: a budget. `generate` cuts at `max_new_tokens`, wherever the text is then; `Decoder` completes it instead. Nor
can a search with more beams than there are texts fill all of them: what is left over comes back with the score -inf.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from constrain.errors import MissingExtra, VocabularyError
from constrain.matching.logits_mask import apply_mask

try:
    import torch
    from transformers import LogitsProcessor as _Base
except ImportError as error:
    raise MissingExtra("transformers", "transformers") from error

__all__ = ["LogitsProcessor"]


@dataclass(slots=True)
class _Row:
    """A matcher and the generated tokens it stands for, of which it took the first `taken` (the rest it cannot
    take)."""

    tokens: tuple[int, ...]
    matcher: Any
    taken: int

    @property
    def is_open(self) -> bool:
        return self.taken == len(self.tokens) and not self.matcher.is_terminated


class LogitsProcessor(_Base):
    """Forbids, at every step and in every row, the tokens that `grammar` does not allow.

    Args:    grammar: a compiled grammar, from a `Compiler` for the vocabulary of this model's tokenizer.
             prompt_length: columns that are prompt (left padding included); None takes the width of the first call.
             pad_token_id: allowed, beside the end ids, in rows that have ended.
    Raises:  VocabularyError: when called, if the scores are narrower than the vocabulary.
    Cost:    per row and call one fork, one `advance` and one mask.
    Note:    may be used for one `generate` after another, not for two at once. With `prompt_length=None` a new one is
             recognised by rows that do not continue those of the call before. Rows that do (a prompt that is an earlier
             prompt and its answer) are taken for the same text; `reset` says that they are not.
    """

    def __init__(self, grammar: Any, *, prompt_length: int | None = None, pad_token_id: int | None = None):
        self._grammar = grammar
        self._root = grammar.matcher()
        vocabulary = grammar.vocabulary
        self._words = -(-vocabulary.size // 32)
        self._closing = _row_of((*vocabulary.end_ids, *(() if pad_token_id is None else (pad_token_id,))), self._words)
        self._fixed_length = prompt_length
        self.reset()

    def reset(self) -> None:
        """Forget the generation so far: the next call begins a new one."""
        self._prompt_length = self._fixed_length
        self._prompts: set[tuple[int, ...]] = set()
        self._rows: dict[tuple[int, ...], _Row] = {}

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Masked scores, a new tensor. Args: input_ids int64 [B, T], scores float [B, V'], V' ≥ V."""
        table = [tuple(row) for row in input_ids.tolist()]
        rows = None if self._fixed_length is None and self._is_new(table) else self._followed(table)
        if rows is None or (self._fixed_length is None and self._is_lost(rows)):
            self.reset()
            if self._fixed_length is None:
                self._prompt_length = len(table[0])
                self._prompts = set(table)
            rows = self._followed(table)
        self._rows = {row.tokens: row for row in rows}
        masks = np.empty((len(rows), self._words), dtype=np.int32)
        for index, row in enumerate(rows):
            if row.is_open:
                row.matcher.fill_mask(masks[index])
            else:
                masks[index] = self._closing
        return apply_mask(scores.clone(), masks)

    def _is_new(self, table: list[tuple[int, ...]]) -> bool:
        """Whether these rows cannot belong to the generation so far, in which a row has an old prompt and grows by one
        token beyond some beginning of a row of the call before."""
        length = self._prompt_length
        if length is None or len(table[0]) < length or not self._prompts.issuperset(row[:length] for row in table):
            return True
        known = self._rows.values()
        for row in table:
            tokens = row[length:-1] if len(row) > length else ()
            if tokens not in self._rows and not any(old.tokens[: len(tokens)] == tokens for old in known):
                return True
        return False

    def _is_lost(self, rows: list[_Row]) -> bool:
        """Whether rows became shorter and none can become a text: then what looks generated is a new prompt's end."""
        longest = max(map(len, self._rows), default=0)
        return all(len(row.tokens) < longest and not row.is_open and not row.matcher.is_terminated for row in rows)

    def _followed(self, table: list[tuple[int, ...]]) -> list[_Row]:
        """The rows of this call; equal ones are one."""
        length = self._prompt_length or 0
        if len(table[0]) < length:
            raise VocabularyError(
                f"rows of {len(table[0])} tokens are shorter than the prompt_length of {length}",
                help="prompt_length counts the columns of input_ids that were given to generate",
            )
        found = {tokens: self._follow(tokens) for tokens in {row[length:] for row in table}}
        return [found[row[length:]] for row in table]

    def _follow(self, tokens: tuple[int, ...]) -> _Row:
        """A row for `tokens`, from the row of the last call that it has most in common with."""
        parent = self._rows.get(tokens) or self._rows.get(tokens[:-1])
        shared = min(len(parent.tokens), len(tokens)) if parent else 0
        if parent is None:
            for row in self._rows.values():
                common = _common_length(row.tokens, tokens)
                if common > shared:
                    parent, shared = row, common
        if parent is None:
            return self._advanced(self._root.fork(), tokens, 0)
        matcher = parent.matcher.fork()
        kept = min(shared, parent.taken)
        if kept < parent.taken:
            matcher.rollback(parent.taken - kept)
        return self._advanced(matcher, tokens, kept)

    def _advanced(self, matcher: Any, tokens: tuple[int, ...], kept: int) -> _Row:
        rest = list(tokens[kept:])
        return _Row(tokens, matcher, kept + (matcher.try_advance(rest) if rest else 0))


def _common_length(left: Sequence[int], right: Sequence[int]) -> int:
    for index, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            return index
    return min(len(left), len(right))


def _row_of(token_ids: Sequence[int], words: int) -> np.ndarray:
    row = np.zeros(words, dtype=np.uint32)
    for token in token_ids:
        if 0 <= token < 32 * words:
            row[token >> 5] |= np.uint32(1 << (token & 31))
    return row.view(np.int32)
