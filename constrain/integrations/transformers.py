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
from constrain.matching.logits_mask import apply_mask

from constrain.errors import MissingExtra, VocabularyError

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
    Note:    may be used for one `generate` after another. With `prompt_length=None` a new one is recognised by its
             width or its prompts; `reset` says so explicitly. Not for two at once.
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
        """Forget the generation so far."""
        self._prompt_length = self._fixed_length
        self._prompts: set[tuple[int, ...]] | None = None
        self._longest = 0
        self._rows: dict[tuple[int, ...], _Row] = {}

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        """Masked scores, a new tensor. Args: input_ids int64 [B, T], scores float [B, V'], V' ≥ V."""
        generated = self._generated(input_ids)
        rows: dict[tuple[int, ...], _Row] = {}
        masks = np.empty((len(generated), self._words), dtype=np.int32)
        for index, tokens in enumerate(generated):
            row = rows.get(tokens)
            if row is None:
                row = rows[tokens] = self._follow(tokens)
            if row.is_open:
                row.matcher.fill_mask(masks[index])
            else:
                masks[index] = self._closing
        self._rows = rows
        masked: Any = apply_mask(scores.clone(), masks)
        return masked

    def _generated(self, input_ids: torch.LongTensor) -> list[tuple[int, ...]]:
        """The part of each row that `generate` wrote, after noticing whether a new generation began."""
        width = input_ids.shape[1]
        table: list[list[int]] = input_ids.tolist()
        if self._fixed_length is None and self._is_new(table, width):
            self.reset()
            self._prompt_length = width
            self._prompts = {tuple(row) for row in table}
        length = self._prompt_length or 0
        if width < length:
            raise VocabularyError(
                f"rows of {width} tokens are shorter than the prompt_length of {length}",
                help="prompt_length counts the columns of input_ids that were given to generate",
            )
        self._longest = max(self._longest, width)
        return [tuple(row[length:]) for row in table]

    def _is_new(self, table: list[list[int]], width: int) -> bool:
        # Within one generation rows grow by one token beyond the longest so far, and keep their prompts.
        length = self._prompt_length
        if length is None or self._prompts is None or width < length or width > self._longest + 1:
            return True
        return any(tuple(row[:length]) not in self._prompts for row in table)

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
