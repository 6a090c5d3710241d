"""A matcher's whole life beside the twin: advance, reject, try, roll back, fork, end, finish.

After every operation everything that can be seen of the matcher is compared, so that an operation that damages the
state, or a cache that survives a rollback, is seen at the next step.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from constrain.errors import TokenRejected
from constrain.grammar import terms
from tests.kernel.subjects import Pair, byte_tokens, mask_ids, pair_of
from tests.reference.regular import TwinLimit
from tests.strategies import examples, finish, grammars

SEEDS = st.integers(0, 2**32)
NAMES = pytest.mark.parametrize("name", ["bytes", "bpe"])


class Life:
    """One matcher and its twin, with the tokens accepted so far; `ended` once an end token was."""

    def __init__(self, pair: Pair, chance: random.Random, tokens: tuple[int, ...] = ()):
        self.pair = pair
        self.chance = chance
        self.tokens = list(tokens)
        self.ended = False

    def check(self) -> None:
        matcher, spelled = self.pair.matcher, byte_tokens(self.pair.name)
        written = [token for token in self.tokens if token not in spelled.end_ids]
        assert matcher.text == b"".join(spelled.tokens[token] for token in written)
        assert matcher.token_count == len(self.tokens)
        assert matcher.is_terminated == self.ended
        if self.ended:
            assert mask_ids(matcher) == set()
            return
        assert matcher.is_complete == self.pair.twin.is_complete(self.pair.state)
        self.pair.assert_same_mask()
        assert mask_ids(matcher), "a mask is never empty before the end"

    def accept(self, token: int) -> None:
        if token in byte_tokens(self.pair.name).end_ids:
            self.ended = True
            self.pair.states.append(self.pair.state)
        else:
            self.pair.states.append(self.pair.twin.advance(self.pair.state, byte_tokens(self.pair.name).tokens[token]))
        self.tokens.append(token)

    def allowed(self) -> list[int]:
        return [] if self.ended else sorted(self.pair.expected_mask())

    def forbidden(self) -> list[int]:
        return sorted(set(range(len(byte_tokens(self.pair.name).tokens))) - set(self.allowed()))

    # ------------------------------------------------------------ operations

    def advance(self) -> None:
        if allowed := self.allowed():
            token = self.chance.choice(allowed)
            self.pair.matcher.advance(token)
            self.accept(token)

    def reject(self) -> None:
        for token in self.chance.sample(self.forbidden(), 3):
            with pytest.raises(TokenRejected):
                self.pair.matcher.advance(token)

    def try_several(self) -> None:
        before, tokens = len(self.tokens), []
        for _ in range(self.chance.randint(0, 4)):
            if allowed := self.allowed():
                tokens.append(self.chance.choice(allowed))
                self.accept(tokens[-1])
        wrong = [self.chance.choice(self.forbidden()), *self.chance.choices(range(256), k=2)]
        assert self.pair.matcher.try_advance([*tokens, *wrong]) == len(tokens) == len(self.tokens) - before

    def roll_back(self) -> None:
        count = self.chance.randint(0, len(self.tokens))
        self.pair.matcher.rollback(count)
        if count:
            self.ended = False
            del self.tokens[-count:], self.pair.states[-count:]

    def fork(self) -> None:
        """Go on with a copy; whatever the other one does must not be seen."""
        copy = Life(self.pair.fork(), self.chance, tuple(self.tokens))
        copy.ended = self.ended
        copy.advance()
        copy.roll_back()
        copy.check()

    def finish(self) -> None:
        if self.ended:
            return
        completion = self.pair.matcher.shortest_completion()
        state = self.pair.twin.advance(self.pair.state, completion)
        assert self.pair.twin.is_complete(state), completion
        assert b"".join(byte_tokens(self.pair.name).tokens[token] for token in completion.token_ids) == completion
        copy = self.pair.matcher.fork()
        assert copy.try_advance(completion.token_ids) == len(completion.token_ids)
        assert copy.is_complete


@NAMES
@examples(30)
@given(grammars(depth=1), SEEDS)
def test_whatever_is_done_to_a_matcher_it_stays_with_the_twin(name: str, spec: terms.GrammarSpec, seed: int):
    pair = pair_of(name, spec)
    if pair is None:
        return
    life = Life(pair, random.Random(seed))
    operations = [life.advance] * 4 + [life.reject, life.try_several, life.roll_back, life.fork, life.finish]
    try:
        for _ in range(12):
            life.chance.choice(operations)()
            life.check()
    except TwinLimit:
        assume(False)


@examples(30)
@given(grammars(), SEEDS)
def test_the_shortest_completion_is_no_longer_than_one_that_the_twin_finds(spec: terms.GrammarSpec, seed: int):
    pair = pair_of("bytes", spec)
    if pair is None:
        return
    life = Life(pair, random.Random(seed))
    try:
        for _ in range(life.chance.randint(0, 12)):
            life.advance()
        if life.ended:
            return
        text = pair.matcher.text
        found = finish(pair.twin, text)
        if found is not None:
            assert len(pair.matcher.shortest_completion()) <= len(found) - len(text), found
    except TwinLimit:
        assume(False)


@NAMES
@examples(20)
@given(grammars(), SEEDS)
def test_what_is_forced_is_what_the_twin_allows_alone(name: str, spec: terms.GrammarSpec, seed: int):
    pair = pair_of(name, spec)
    if pair is None:
        return
    life = Life(pair, random.Random(seed))
    try:
        for _ in range(life.chance.randint(0, 8)):
            life.advance()
        if life.ended:
            return
        state = pair.state
        for token in pair.matcher.forced_tokens("canonical"):
            for byte in byte_tokens(name).tokens[token]:
                assert not pair.twin.is_complete(state)
                assert pair.twin.legal_bytes(state) & pair.twin.alphabet == {byte}
                state = pair.twin.step(state, byte)
        for token in pair.matcher.forced_tokens("single"):
            assert life.allowed() == [token]
            pair.matcher.advance(token)
            life.accept(token)
    except TwinLimit:
        assume(False)
