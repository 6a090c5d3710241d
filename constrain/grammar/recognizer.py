"""A grammar without a vocabulary: reads bytes, says what may follow, finishes a text.

What `accepts`, `explain` and `sample` stand on. States are integers; 0 is the dead state. Safe for many threads.
"""

from __future__ import annotations

from constrain.grammar.lower import compile_kernel, kernel_limits
from constrain.grammar.terms import GrammarSpec

DEAD = 0


class Recognizer:
    """The automaton of `spec` over all bytes. `is_empty` if nothing satisfies it."""

    def __init__(self, spec: GrammarSpec, *, deadline_s: float | None = None):
        self._kernel, alive = compile_kernel(spec, deadline_s=deadline_s)
        self.is_empty = not alive
        self.start: int = self._kernel.start

    def accepts(self, text: bytes) -> bool:
        """Whether `text` is a whole text of the grammar. Cost: O(len(text)) once the states have been seen."""
        state, read = self.feed(self.start, text)
        return read == len(text) and self.is_complete(state)

    def feed(self, state: int, text: bytes) -> tuple[int, int]:
        """Read as much of `text` as is allowed: (state after it, bytes read)."""
        if state == DEAD:
            return state, 0
        with kernel_limits(text):
            return self._kernel.feed(state, text)

    def step(self, state: int, byte: int) -> int:
        with kernel_limits():
            return self._kernel.step(state, byte)

    def is_complete(self, state: int) -> bool:
        return self._kernel.accepts(state)

    def legal_bytes(self, state: int) -> bytes:
        """The bytes that may come next, ascending."""
        with kernel_limits():
            return self._kernel.legal(state)

    def completion(self, state: int) -> bytes:
        """A shortest text that completes `state`."""
        with kernel_limits():
            return self._kernel.completion(state)

    def stats(self) -> dict[str, int]:
        """Counts of terms, states and bytes, to guard algorithms with."""
        return self._kernel.stats()
