"""Whatever is passed to vocabularies, compilers and matchers: a typed error that says what is wrong, no change."""

from __future__ import annotations

import numpy as np
import pytest

import constrain
from constrain import Compiler, ConstrainError, InvalidSpecification, TokenRejected, Vocabulary, VocabularyError
from constrain.matching.compiler import CompiledGrammar

END = 256
TOKENS = [bytes([value]) for value in range(256)] + [b""]


@pytest.fixture(scope="module")
def grammar() -> CompiledGrammar:
    vocabulary = Vocabulary.from_tokens(TOKENS, end_ids=[END])
    return Compiler(vocabulary).compile(constrain.json_schema({"type": "boolean"}))


def rows_that_do_not_fit(words: int) -> dict[str, object]:
    read_only = np.zeros(words, np.int32)
    read_only.flags.writeable = False
    return {
        "every other word": np.zeros(2 * words, np.int32)[::2],
        "backwards": np.zeros(words, np.int32)[::-1],
        "one word for all": np.broadcast_to(np.int32(0), (words,)),
        "read-only": read_only,
        "short": np.zeros(words - 1, np.int32),
        "long": np.zeros(words + 1, np.int32),
        "two dimensions": np.zeros((1, words), np.int32),
        "floats": np.zeros(words, np.float32),
        "64 bits": np.zeros(words, np.int64),
        "the other byte order": np.zeros(words, ">i4" if np.little_endian else "<i4"),
        "a list": [0] * words,
        "nothing": None,
    }


@pytest.mark.parametrize("name", rows_that_do_not_fit(9))
def test_a_row_that_cannot_be_filled_in_place_is_refused_not_left_as_it_was(grammar: CompiledGrammar, name: str):
    """A mask written into a copy would leave the caller with the mask of the step before."""
    row = rows_that_do_not_fit(grammar.words)[name]
    with pytest.raises(InvalidSpecification, match="the mask row does not fit"):
        grammar.matcher().fill_mask(row)


@pytest.mark.parametrize("kind", [np.int32, np.uint32])
def test_a_row_that_fits_is_filled_in_place(grammar: CompiledGrammar, kind: type):
    rows = np.full((3, grammar.words), 7, kind)
    grammar.matcher().fill_mask(rows[1])
    assert rows[1].view(np.int32).tolist() == grammar.matcher().mask().tolist()
    assert (rows[[0, 2]] == 7).all()


@pytest.mark.parametrize(
    "token", [None, "116", b"116", 116.0, 116.4, float("nan"), float("inf"), [], True, -1, 2**32 + 116, 2**70, object()]
)
def test_what_is_no_token_id_is_rejected_and_changes_nothing(grammar: CompiledGrammar, token: object):
    matcher = grammar.matcher()
    with pytest.raises(TokenRejected):
        matcher.advance(token)  # pyright: ignore[reportArgumentType]
    assert matcher.try_advance([token]) == 0  # pyright: ignore[reportArgumentType]
    assert matcher.text == b"" and matcher.token_count == 0


def test_integers_of_other_libraries_are_token_ids(grammar: CompiledGrammar):
    matcher = grammar.matcher()
    matcher.advance(np.int64(ord("t")))  # pyright: ignore[reportArgumentType]
    assert matcher.try_advance(np.array([ord("r"), ord("u"), ord("e"), END])) == 4
    assert matcher.is_terminated


@pytest.mark.parametrize("ids", [None, 5, 1.5])
def test_what_is_no_series_of_ids_is_refused(grammar: CompiledGrammar, ids: object):
    with pytest.raises(InvalidSpecification):
        grammar.matcher().try_advance(ids)  # pyright: ignore[reportArgumentType]
    with pytest.raises(VocabularyError):
        grammar.vocabulary.decode(ids)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("seconds", ["1", True, float("nan"), [], 1j])
def test_a_deadline_is_a_number_of_seconds(grammar: CompiledGrammar, seconds: object):
    with pytest.raises(InvalidSpecification, match="deadline_s"):
        Compiler(grammar.vocabulary).compile({"type": "null"}, deadline_s=seconds)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("seconds", [float("inf"), 1e300, 10**400])
def test_a_deadline_without_end_is_none(grammar: CompiledGrammar, seconds: float):
    assert Compiler(grammar.vocabulary).compile({"type": "null"}, deadline_s=seconds).matcher().mask().any()


@pytest.mark.parametrize("size", [0, 1, 1000, 2**63, 2**64, 2**200])
def test_any_cache_limit_gives_the_same_masks(grammar: CompiledGrammar, size: int):
    compiled = Compiler(grammar.vocabulary, cache_limit_bytes=size).compile({"type": "boolean"})
    assert compiled.matcher().mask().tolist() == grammar.matcher().mask().tolist()


def test_a_token_as_long_as_a_book_is_refused():
    with pytest.raises(VocabularyError, match="too long") as raised:
        Vocabulary.from_tokens([b"a", b"a" * 1_000_000, b""], end_ids=[2])
    assert raised.value.at == "tokens[1]"


def test_a_special_token_may_be_long_since_no_text_spells_it():
    vocabulary = Vocabulary.from_tokens([b"a", b"a" * 1_000_000, b""], end_ids=[2], special_ids=[1])
    assert Compiler(vocabulary).compile(constrain.regex("a+")).matcher().mask().tolist() == [1]


def test_tokens_of_the_longest_length_make_masks():
    vocabulary = Vocabulary.from_tokens([b"a", b"a" * 4096, b""], end_ids=[2])
    matcher = Compiler(vocabulary).compile(constrain.regex("a{4000,5000}")).matcher()
    matcher.advance(1)
    assert matcher.mask().tolist() == [0b101]


@pytest.mark.parametrize("path", [None, 5, 1.5, []])
def test_what_is_no_path_names_no_file(path: object):
    for read in (Vocabulary.from_file, Vocabulary.from_gguf):
        with pytest.raises(VocabularyError, match="path"):
            read(path)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("size", ["300", 300.0, True, None, 300])
def test_apply_mask_takes_a_whole_number_as_the_size(grammar: CompiledGrammar, size: object):
    logits = np.zeros(300, np.float32)
    try:
        constrain.apply_mask(logits, grammar.matcher().mask(), vocabulary_size=size)  # pyright: ignore[reportArgumentType]
    except ConstrainError:
        assert not logits.any()
