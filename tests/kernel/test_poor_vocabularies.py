"""Vocabularies that cannot spell every byte: a token may come next iff some tokens complete the text behind it.

Here the alphabet of single bytes says too little: `yes` may be a token where `y` is none, and a character may come only
whole. The judge is a search over the twin's states, token by token.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from constrain.errors import EmptyLanguage, VocabularyError
from constrain.grammar import terms
from constrain.matching.compiler import Compiler
from constrain.matching.vocabulary import Vocabulary
from tests.kernel.subjects import mask_ids, twin_of
from tests.reference.grammar import Recognizer, State
from tests.reference.regular import TwinLimit
from tests.strategies import examples, grammars, small_counted_items, small_counted_members, small_members

MOST_STATES = 300
PIECES = (
    "a",
    "b",
    "ab",
    '"',
    '":',
    ":",
    "1",
    "2",
    "0",
    "{",
    "}",
    '{"',
    ",",
    ", ",
    '","',
    "[",
    "]",
    "é",
    "aé",
    "true",
    "(",
    "-",
    "x",
)


class TooFar(Exception):
    """The search for a completion was given up."""


def can_complete(twin: Recognizer, state: State, tokens: list[bytes], known: dict[State, bool]) -> bool:
    """Whether some tokens lead from `state` to a complete text."""
    seen, open_states = {state}, [state]
    while open_states:
        current = open_states.pop()
        if twin.is_complete(current) or known.get(current):
            known[state] = True
            return True
        for token in tokens:
            successor = twin.advance(current, token)
            if successor and successor not in seen and known.get(successor) is not False:
                seen.add(successor)
                open_states.append(successor)
        if len(seen) > MOST_STATES:
            raise TooFar
    known.update(dict.fromkeys(seen, False))
    return False


def judge(spec: terms.GrammarSpec, tokens: list[bytes], seed: int) -> None:
    twin = twin_of(spec)
    known: dict[State, bool] = {}
    end = len(tokens)
    vocabulary = Vocabulary([*tokens, b""], end_ids=[end])
    state = twin.start()
    possible = bool(state) and can_complete(twin, state, tokens, known)
    try:
        matcher = Compiler(vocabulary).compile_grammar(spec).matcher()
    except (EmptyLanguage, VocabularyError):
        assert not possible
        return
    assert possible
    chance = random.Random(seed)
    for _ in range(8):
        after = {i: twin.advance(state, token) for i, token in enumerate(tokens)}
        expected = {i for i, s in after.items() if s and can_complete(twin, s, tokens, known)}
        assert mask_ids(matcher) == expected | ({end} if twin.is_complete(state) else set()), matcher.text
        finished = matcher.fork()
        completion = matcher.shortest_completion().token_ids
        assert finished.try_advance(completion) == len(completion)
        assert finished.is_complete
        if not expected:
            break
        token = chance.choice(sorted(expected))
        matcher.advance(token)
        state = after[token]


TOKENS = st.sets(st.sampled_from(PIECES), max_size=8).map(lambda lost: [piece for piece in PIECES if piece not in lost])


CONTAINERS = st.one_of(
    small_members(st.just("json")), small_counted_members(st.just("json")), small_counted_items()
).map(lambda term: terms.GrammarSpec({"start": term}))


@examples(40)
@given(st.one_of(grammars(depth=1), CONTAINERS), TOKENS)
def test_a_token_may_come_iff_tokens_can_complete_the_text(spec: terms.GrammarSpec, tokens: list[str]):
    try:
        judge(spec, [token.encode() for token in tokens], seed=len(tokens))
    except (TooFar, TwinLimit):
        assume(False)


@pytest.mark.parametrize("tokens", [("yes", "no"), ("ye", "s", "n"), ("y", "es", "no", "e"), ("é", "y", "e", "s")])
def test_words_of_a_vocabulary_without_letters(tokens: tuple[str, ...]):
    words = terms.Lexeme(terms.LiteralSet(("yes", "no", "yés", "never")))
    judge(terms.GrammarSpec({"start": words}), [token.encode() for token in tokens], seed=1)
