"""The kernel as the twin judges it: which texts it accepts, and every mask on the way of sampled texts.

Random terms and grammars, three vocabularies. Texts are near the language: walks of the twin, finished, and mutated.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from constrain.grammar import terms
from constrain.grammar.recognizer import Recognizer as KernelRecognizer
from tests.kernel.subjects import Pair, lexeme, pair_of, segment, twin_of
from tests.reference.regular import TwinLimit
from tests.strategies import examples, grammars, regulars, texts_near, wide_lexemes

SEEDS = st.integers(0, 2**32)


def near(twin, seed: int, count: int, steps: int = 30) -> list[bytes]:
    try:
        return texts_near(twin, seed, count, steps)
    except TwinLimit:
        assume(False)
        raise


def assert_same_language(spec: terms.GrammarSpec, seed: int) -> None:
    twin, kernel = twin_of(spec), KernelRecognizer(spec)
    for text in near(twin, seed, 12):
        assert kernel.accepts(text) == twin.accepts(text), text


@examples(30)
@given(regulars(), SEEDS)
def test_the_kernel_accepts_the_terms_that_the_twin_accepts(term: terms.Regular, seed: int):
    assert_same_language(lexeme(term), seed)


@examples(20)
@given(grammars(), SEEDS)
def test_the_kernel_accepts_the_grammars_that_the_twin_accepts(spec: terms.GrammarSpec, seed: int):
    assert_same_language(spec, seed)


def assert_same_masks(pair: Pair, text: bytes, chance: random.Random, masks: int) -> None:
    """Walk along `text` by random tokens as far as they may follow, and compare up to `masks` masks on the way."""
    tokens = list(segment(pair.name, text, chance))
    compared = set(chance.sample(range(len(tokens) + 1), min(masks, len(tokens) + 1)))
    for place, token_id in enumerate([*tokens, None]):
        if place in compared:
            pair.assert_same_mask()
        assert pair.matcher.is_complete == pair.twin.is_complete(pair.state)
        if token_id is None or not pair.may_follow(token_id):
            break
        pair.advance(token_id)


@pytest.mark.parametrize("name", ["bytes", "bpe"])
@examples(30)
@given(regulars(), SEEDS)
def test_masks_of_terms_equal_brute_force(name: str, term: terms.Regular, seed: int):
    judge_masks(name, lexeme(term), seed, texts=3, masks=6)


@pytest.mark.parametrize("name", ["bytes", "bpe"])
@examples(30)
@given(grammars(), SEEDS)
def test_masks_of_grammars_equal_brute_force(name: str, spec: terms.GrammarSpec, seed: int):
    judge_masks(name, spec, seed, texts=3, masks=6)


@pytest.mark.parametrize("name", ["bytes", "bpe"])
@examples(20)
@given(wide_lexemes(), st.booleans(), SEEDS)
def test_masks_of_wide_lexemes_equal_brute_force(name: str, term: terms.Regular, alone: bool, seed: int):
    behind = terms.Lexeme(terms.LiteralSet((", ", "}", "é")))
    spec = lexeme(term) if alone else terms.GrammarSpec({"start": terms.Sequence((terms.Lexeme(term), behind))})
    judge_masks(name, spec, seed, texts=3, masks=6)


@examples(6)
@given(wide_lexemes(), SEEDS)
def test_masks_of_wide_lexemes_over_a_real_vocabulary_equal_brute_force(term: terms.Regular, seed: int):
    judge_masks("smollm2", lexeme(term), seed, texts=1, masks=3)


@examples(6)
@given(grammars(depth=1), SEEDS)
def test_masks_over_a_real_vocabulary_equal_brute_force(spec: terms.GrammarSpec, seed: int):
    judge_masks("smollm2", spec, seed, texts=1, masks=3)


def judge_masks(name: str, spec: terms.GrammarSpec, seed: int, texts: int, masks: int) -> None:
    pair = pair_of(name, spec)
    if pair is None:
        return
    chance = random.Random(seed)
    try:
        for text in near(pair.twin, seed, texts):
            assert_same_masks(pair.fork(), text, chance, masks)
    except TwinLimit:
        assume(False)
