"""A grammar that is a finite set of texts, behind the interface of compiled grammar and matcher.

Slow and obvious: a mask is found by trying every token on every text. It lets the decoding side be tested without the
kernel, and against something that cannot be wrong in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from constrain.errors import TokenRejected
from constrain.matching.vocabulary import Vocabulary
from constrain.report import Report


def small_vocabulary() -> Vocabulary:
    """Every byte, some longer tokens, two special tokens, one unused id; not a multiple of 32 long."""
    longer = [
        b'"a',
        b'a"',
        b'":',
        b'{"',
        b'"}',
        b"ab",
        b"abc",
        b"bc",
        b'","',
        b"true",
        b"tr",
        b"ue",
        "é".encode(),
        b"12",
    ]
    tokens = [*(bytes([byte]) for byte in range(256)), *longer, b"<|im_start|>", b"<|im_end|>", b""]
    start = 256 + len(longer)
    return Vocabulary.from_tokens(tokens, end_ids=[start + 1], special_ids=[start])


class Completion(bytes):
    token_ids: tuple[int, ...]


class FiniteGrammar:
    """Compiled grammar, specification and compiler's result in one."""

    kind = "finite"
    report = Report()

    def __init__(self, texts: Iterable[bytes], vocabulary: Vocabulary):
        self.texts = frozenset(texts)
        self.vocabulary = vocabulary

    def matcher(self) -> FiniteMatcher:
        return FiniteMatcher(self)

    def validate(self, text: str) -> None:
        assert text.encode() in self.texts

    def parse(self, text: str) -> Any:
        return ("parsed", text)


class FiniteMatcher:
    def __init__(self, grammar: FiniteGrammar):
        self._grammar = grammar
        self._ids: list[int] = []

    def fork(self) -> FiniteMatcher:
        other = FiniteMatcher(self._grammar)
        other._ids = list(self._ids)
        return other

    @property
    def text(self) -> bytes:
        return self._grammar.vocabulary.decode(self._ids)

    @property
    def token_count(self) -> int:
        return len(self._ids)

    @property
    def is_terminated(self) -> bool:
        return bool(self._ids) and self._ids[-1] in self._grammar.vocabulary.end_ids

    @property
    def is_complete(self) -> bool:
        return self.text in self._grammar.texts

    def _rests(self) -> list[bytes]:
        text = self.text
        return sorted(one[len(text) :] for one in self._grammar.texts if one.startswith(text))

    def allowed(self) -> list[int]:
        if self.is_terminated:
            return []
        rests = self._rests()
        spelled = self._grammar.vocabulary.spelled_tokens()
        ids = [i for i, token in enumerate(spelled) if token and any(rest.startswith(token) for rest in rests)]
        return ids + (list(self._grammar.vocabulary.end_ids) if b"" in rests else [])

    def fill_mask(self, row: np.ndarray) -> None:
        bits = np.zeros(32 * len(row), dtype=np.uint8)
        bits[self.allowed()] = 1
        row[:] = np.packbits(bits, bitorder="little").view("<i4")

    def advance(self, token_id: int) -> None:
        if token_id not in self.allowed():
            raise TokenRejected("not allowed here", token_id=token_id)
        self._ids.append(token_id)

    def try_advance(self, token_ids: Sequence[int]) -> int:
        for count, token in enumerate(token_ids):
            if token not in self.allowed():
                return count
            self._ids.append(token)
        return len(token_ids)

    def rollback(self, count: int) -> None:
        assert 0 <= count <= len(self._ids)
        del self._ids[len(self._ids) - count :]

    def shortest_completion(self) -> Completion:
        paths = [(self._fewest(rest), rest) for rest in self._rests()]
        ids, rest = min(paths, key=lambda path: (len(path[0]), path[1]))
        completion = Completion(rest)
        completion.token_ids = tuple(ids)
        return completion

    def _fewest(self, rest: bytes) -> list[int]:
        best: list[list[int] | None] = [[]] + [None] * len(rest)
        for at in range(len(rest)):
            path = best[at]
            for token_id, token in enumerate(self._grammar.vocabulary.spelled_tokens()):
                if path is not None and token and rest.startswith(token, at):
                    known = best[at + len(token)]
                    if known is None or len(path) + 1 < len(known):
                        best[at + len(token)] = [*path, token_id]
        found = best[len(rest)]
        assert found is not None
        return found

    def forced_tokens(self, mode: str) -> list[int]:
        if mode == "single":
            probe, forced = self.fork(), []
            while len(only := probe.allowed()) == 1 and only[0] not in self._grammar.vocabulary.end_ids:
                probe.advance(only[0])
                forced += only
            return forced
        rests = self._rests()
        if mode == "off" or self.is_terminated or self.is_complete:
            return []
        common = rests[0]
        while not all(rest.startswith(common) for rest in rests):
            common = common[:-1]
        forced = self._grammar.vocabulary.encode(common)
        return forced if len(rests) == 1 else forced[:-1]


class FiniteCompiler:
    """What `Compiler(vocabulary)` would be; remembers how often it was asked."""

    def __init__(self) -> None:
        self.compiled = 0

    def compile(self, spec: FiniteGrammar, deadline_s: float | None = None) -> FiniteGrammar:
        self.compiled += 1
        return spec
