"""A matcher: one text in the making, and which tokens may come next.

Small and copyable, one per sequence; the compiled grammar behind it is shared. The hot calls go straight to the kernel.

Invariants: a rejected token changes nothing; a mask is never empty before the text has ended; every text that a mask
allows can be finished (`shortest_completion`). `is_terminated` only after an end token was accepted.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from constrain import _kernel
from constrain.errors import InvalidSpecification, TokenRejected, shorten, shown
from constrain.grammar.lower import kernel_limits

if TYPE_CHECKING:
    from constrain.matching.compiler import CompiledGrammar
    from constrain.matching.vocabulary import Vocabulary

ForcedMode = Literal["canonical", "single", "off"]
FORCED_LIMIT_BYTES = 1 << 16
MAX_TOKEN_ID = 2**32 - 1


def _index(token_id: object) -> int | None:
    """`token_id` as an int (Python's, NumPy's, a tensor of one); None if it is something else: 1.7 is not token 1."""
    if isinstance(token_id, bool):
        return None
    try:
        return operator.index(token_id)  # pyright: ignore[reportArgumentType]
    except TypeError:
        return None


class Completion(bytes):
    """A text that completes another; `token_ids` spells it in the vocabulary's own cut (found when first asked for)."""

    _vocabulary: Vocabulary
    _token_ids: tuple[int, ...] | None

    def __new__(cls, text: bytes, vocabulary: Vocabulary, token_ids: tuple[int, ...] | None = None) -> Completion:
        made = super().__new__(cls, text)
        made._vocabulary = vocabulary
        made._token_ids = token_ids
        return made

    @property
    def token_ids(self) -> tuple[int, ...]:
        if self._token_ids is None:
            self._token_ids = tuple(self._vocabulary.encode(bytes(self))) if self else ()
        return self._token_ids


class Matcher:
    """Follows one text through a compiled grammar. Not for several threads at once; `fork` for each."""

    __slots__ = ("_kernel", "grammar")

    def __init__(self, grammar: CompiledGrammar, *, _kernel_matcher: _kernel.Matcher | None = None):
        self.grammar = grammar
        self._kernel = _kernel_matcher if _kernel_matcher is not None else _kernel.Matcher(grammar.kernel)

    # ---- masks

    def fill_mask(self, row: Any) -> None:
        """Fill `row` with the tokens allowed next; after the end, none.

        Args:    row: int32 [ceil(vocabulary size / 32)], CPU, contiguous (NumPy or torch); bit i of word w is token
                 32·w + i.
        Raises:  InvalidSpecification: another shape or dtype. LimitExceeded: a limit met while computing it.
        Cost:    a copy for a state seen before; else O(trie nodes visited).
        """
        try:
            self._kernel.fill(row)
        except (TypeError, ValueError) as error:
            raise InvalidSpecification(
                f"the mask row does not fit: {getattr(row, 'dtype', type(row).__name__)} {getattr(row, 'shape', '')}",
                expected=f"int32 [{self.grammar.words}], contiguous, on the CPU",
                help="numpy.empty(grammar.words, numpy.int32)",
            ) from error
        except _kernel.LimitError:
            with kernel_limits(self.text):
                raise

    def mask(self) -> np.ndarray:
        """The mask as a read-only array of its own: int32 [ceil(vocabulary size / 32)]."""
        row = np.empty(self.grammar.words, np.int32)
        self.fill_mask(row)
        row.flags.writeable = False
        return row

    # ---- moving

    def advance(self, token_id: int) -> None:
        """Accept `token_id`. Raises: TokenRejected: it may not come next; nothing has changed."""
        if not self._accept(token_id):
            number = _index(token_id)
            raise TokenRejected(
                self._why_rejected(token_id), token_id=-1 if number is None else number, help="take a token of the mask"
            )

    def try_advance(self, token_ids: Iterable[int]) -> int:
        """Accept as many of `token_ids`, in order, as may come next; returns how many.

        Raises:  InvalidSpecification: not a series of ids at all.
        """
        if not isinstance(token_ids, Iterable):
            raise InvalidSpecification(
                f"token ids are a list, not {shorten(shown(token_ids))}", help="advance(token_id) takes a single one"
            )
        count = 0
        for token_id in token_ids:
            if not self._accept(token_id):
                break
            count += 1
        return count

    def _accept(self, token_id: int) -> bool:
        number = token_id if type(token_id) is int else _index(token_id)
        if number is None or not 0 <= number <= MAX_TOKEN_ID:
            return False
        try:
            return self._kernel.advance(number)
        except _kernel.LimitError:
            with kernel_limits(self.text):
                raise

    def _why_rejected(self, token_id: int) -> str:
        vocabulary = self.grammar.vocabulary
        number = _index(token_id)
        if number is None:
            return f"a token id is an integer, not {shorten(shown(token_id))}"
        token_id = number
        if not 0 <= token_id < vocabulary.size:
            return f"token {token_id} is not in the vocabulary of {vocabulary.size}"
        if self.is_terminated:
            return f"token {token_id} comes after the end"
        if token_id in vocabulary.end_ids:
            return f"the end (token {token_id}) may not come yet: the text is not complete"
        return f"token {token_id} ({shorten(shown(vocabulary.token_bytes(token_id)))}) may not come next"

    def rollback(self, count: int) -> None:
        """Take back the last `count` tokens, the end included.

        Raises:  InvalidSpecification: fewer were accepted.
        """
        if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= self.token_count:
            raise InvalidSpecification(
                f"cannot take back {shorten(shown(count))} tokens", expected=f"0 to {self.token_count}"
            )
        self._kernel.rollback(count)

    def fork(self) -> Matcher:
        """A copy that goes its own way. Cost: O(tokens written)."""
        return Matcher(self.grammar, _kernel_matcher=self._kernel.fork())

    # ---- what is known of the text

    @property
    def is_complete(self) -> bool:
        """The text so far is a whole text (more may still be allowed)."""
        return self._kernel.is_complete

    @property
    def is_terminated(self) -> bool:
        """An end token was accepted."""
        return self._kernel.is_terminated

    @property
    def text(self) -> bytes:
        """What was written so far."""
        return self._kernel.text

    @property
    def token_count(self) -> int:
        """How many tokens were accepted, the end included."""
        return self._kernel.tokens

    def shortest_completion(self) -> Completion:
        """A shortest text (in bytes) that completes what was written; empty if complete.

        Its `token_ids` are the vocabulary's own cut of it: accepted one after the other by this matcher.
        """
        vocabulary = self.grammar.vocabulary
        if self.is_terminated:
            return Completion(b"", vocabulary, ())
        with kernel_limits(self.text):
            text, token_ids = self._kernel.completion()
        return Completion(text, vocabulary, tuple(token_ids) or None)

    def forced_tokens(self, mode: ForcedMode = "canonical") -> list[int]:
        """Tokens that must come next whatever is chosen; [] if there is a choice. Nothing is accepted.

        Args:    mode: "canonical" takes the tokenizer's own cut of the only way on, and holds back last tokens that a
                 longer token may still replace; "single" takes only masks with one token, which keeps the masked
                 distribution exactly; "off" gives [].
        """
        if mode == "off" or self.is_terminated:
            return []
        if mode == "single" or (mode == "canonical" and self.grammar.vocabulary.kernel.whole_tokens):
            return self._single_tokens()
        if mode != "canonical":
            raise InvalidSpecification(f"mode={shorten(shown(mode))}", expected="'canonical', 'single' or 'off'")
        with kernel_limits(self.text):
            text = self._kernel.forced(FORCED_LIMIT_BYTES)
        if not text:
            return []
        tokens = list(self.grammar.vocabulary.encode(text))
        probe = self._kernel.fork()
        accepted = 0
        while accepted < len(tokens) and probe.advance(tokens[accepted]):
            accepted += 1
        if accepted < len(tokens) or probe.legal():  # else nothing but the end can follow
            tokens = tokens[:accepted]
            self._hold_back(tokens)
        return tokens

    def _hold_back(self, tokens: list[int]) -> None:
        """Drop last tokens as long as their text is the beginning of a longer token."""
        vocabulary = self.grammar.vocabulary
        vocab = vocabulary.kernel
        tail, keep = b"", len(tokens)
        for index in range(len(tokens) - 1, -1, -1):
            tail = vocabulary.token_bytes(tokens[index]) + tail
            if vocab.has_longer(tail):
                keep = index
            elif len(tail) > 128:
                break
        del tokens[keep:]

    def _single_tokens(self) -> list[int]:
        probe = self.fork()
        tokens: list[int] = []
        row = np.empty(self.grammar.words, np.int32)
        while len(tokens) < FORCED_LIMIT_BYTES and not probe.is_complete:
            probe.fill_mask(row)
            (words,) = np.nonzero(row)
            if len(words) != 1:
                break
            word = int(row[words[0]]) & 0xFFFFFFFF
            if word & (word - 1):
                break
            token = 32 * int(words[0]) + word.bit_length() - 1
            probe.advance(token)
            tokens.append(token)
        return tokens
