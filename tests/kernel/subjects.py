"""What is judged: the kernel through its public interface, next to the twin for the same grammar and vocabulary."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
from hypothesis import assume

from constrain.errors import EmptyLanguage
from constrain.grammar import terms
from constrain.matching.compiler import Compiler
from constrain.matching.vocabulary import Vocabulary
from tests.reference.grammar import Recognizer, State
from tests.reference.masks import TokenTrie, brute_force_mask, single_bytes
from tests.reference.regular import TwinLimit
from tests.reference.vocabularies import VOCABULARIES, ByteTokens

CACHE_BYTES = 64 << 20


def lexeme(regular: terms.Regular) -> terms.GrammarSpec:
    """The grammar of one lexeme."""
    return terms.GrammarSpec({"start": terms.Lexeme(regular)})


@cache
def byte_tokens(name: str) -> ByteTokens:
    return VOCABULARIES[name]()


@cache
def vocabulary(name: str) -> Vocabulary:
    tokens = byte_tokens(name)
    return Vocabulary(tokens.tokens, end_ids=tokens.end_ids, special_ids=tokens.special_ids)


@cache
def token_trie(name: str) -> TokenTrie:
    return TokenTrie(byte_tokens(name).tokens, byte_tokens(name).unspelled)


@cache
def alphabet(name: str) -> frozenset[int]:
    return single_bytes(byte_tokens(name).tokens, byte_tokens(name).unspelled)


def compile_grammar(name: str, spec: terms.GrammarSpec, cache_limit_bytes: int = CACHE_BYTES):
    """The kernel's grammar over a vocabulary, by the vocabulary's name."""
    return Compiler(vocabulary(name), cache_limit_bytes=cache_limit_bytes).compile_grammar(spec)


def twin_of(spec: terms.GrammarSpec, bytes_allowed: frozenset[int] | None = None) -> Recognizer:
    """The twin; cases that are too large for it are not judged."""
    try:
        return Recognizer(spec) if bytes_allowed is None else Recognizer(spec, bytes_allowed)
    except TwinLimit:
        assume(False)
        raise


@dataclass
class Pair:
    """A matcher of the kernel and the twin in the same state, stepped together. `states[-1]` is where the twin stands."""

    name: str
    matcher: object
    twin: Recognizer
    states: list[State]

    @property
    def state(self) -> State:
        return self.states[-1]

    def fork(self) -> Pair:
        return Pair(self.name, self.matcher.fork(), self.twin, list(self.states))  # pyright: ignore

    def expected_mask(self) -> set[int]:
        """Brute force; the end tokens where the text is complete."""
        ends = byte_tokens(self.name).end_ids if self.twin.is_complete(self.state) else ()
        return brute_force_mask(self.twin, self.state, token_trie(self.name)) | set(ends)

    def assert_same_mask(self) -> None:
        actual, expected = mask_ids(self.matcher), self.expected_mask()
        tokens = byte_tokens(self.name).tokens
        wrong = sorted(actual ^ expected)
        assert not wrong, (
            f"behind {self.matcher.text!r}: "  # pyright: ignore
            f"wrongly allowed {[tokens[i] for i in wrong if i in actual][:10]}, "
            f"wrongly forbidden {[tokens[i] for i in wrong if i in expected][:10]}"
        )

    def may_follow(self, token_id: int) -> bool:
        """The twin's word on one token."""
        if token_id in byte_tokens(self.name).end_ids:
            return self.twin.is_complete(self.state)
        token = b"" if token_id in byte_tokens(self.name).unspelled else byte_tokens(self.name).tokens[token_id]
        return bool(token) and self.twin.is_alive(self.twin.advance(self.state, token))

    def advance(self, token_id: int) -> None:
        self.matcher.advance(token_id)  # pyright: ignore
        self.states.append(self.twin.advance(self.state, byte_tokens(self.name).tokens[token_id]))


def pair_of(name: str, spec: terms.GrammarSpec, **options: int) -> Pair | None:
    """Kernel and twin for one grammar; None where both find its language empty."""
    twin = twin_of(spec, alphabet(name))
    if not twin.is_alive(twin.start()):
        try:
            compile_grammar(name, spec, **options)
        except EmptyLanguage:
            return None
        raise AssertionError("the kernel compiled an empty language")
    return Pair(name, compile_grammar(name, spec, **options).matcher(), twin, [twin.start()])


def mask_ids(matcher: object) -> set[int]:
    """The tokens of a matcher's mask, filled into a row that held garbage."""
    row = np.full(np.asarray(matcher.mask()).shape, -1, dtype=np.int32)  # pyright: ignore
    matcher.fill_mask(row)  # pyright: ignore
    bits = np.unpackbits(row.view(np.uint8), bitorder="little")
    return set(np.flatnonzero(bits).tolist())


def segment(name: str, text: bytes, chance: random.Random) -> Iterable[int]:
    """Tokens that spell a beginning of `text`: at each place a random one of those that fit."""
    index = 0
    while index < len(text):
        fitting: list[int] = []
        node = token_trie(name)
        for byte in text[index:]:
            if byte not in node.children:
                break
            node = node.children[byte]
            fitting += node.token_ids
        if not fitting:
            return
        token_id = chance.choice(fitting)
        yield token_id
        index += len(byte_tokens(name).tokens[token_id])
