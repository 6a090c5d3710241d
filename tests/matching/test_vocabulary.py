"""Claims about the vocabulary itself: what it holds, refuses, encodes and decodes."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constrain.errors import VocabularyError
from constrain.matching.vocabulary import Vocabulary

BYTES = [bytes([i]) for i in range(256)]
BYTE_VOCABULARY = Vocabulary([*BYTES, b"", b"<end>"], end_ids=(257,))


def test_a_special_token_has_its_literal_text_but_is_never_spelled() -> None:
    vocabulary = Vocabulary([b"a", b"<s>", b"</s>"], end_ids=[2], special_ids=[1])
    assert vocabulary.token_bytes(1) == b"<s>"
    assert vocabulary.spelled_tokens() == (b"a", b"", b"")
    assert vocabulary.special_ids == {1, 2}
    assert vocabulary.end_ids == (2,)
    with pytest.raises(VocabularyError, match="no tokens"):
        vocabulary.encode("<s>")


def test_end_ids_are_sorted_and_special() -> None:
    vocabulary = Vocabulary.from_tokens([b"a", b"x", b"y"], end_ids=(2, 1))
    assert vocabulary.end_ids == (1, 2)
    assert vocabulary.special_ids == {1, 2}


def test_no_end_id_is_allowed_when_asked_for() -> None:
    assert Vocabulary.from_tokens([b"a"], end_ids=()).end_ids == ()


def test_unproducible_bytes_ignore_special_tokens() -> None:
    vocabulary = Vocabulary([*BYTES[:255], b"\xff"], end_ids=(255,))
    assert vocabulary.unproducible_bytes == {255}


def test_several_ids_may_spell_the_same_bytes() -> None:
    vocabulary = Vocabulary([b"a", b"a", b"$"], end_ids=[2])
    assert vocabulary.encode("aa") == [0, 0]
    assert vocabulary.decode([1, 0]) == b"aa"


def test_the_fingerprint_tells_apart_what_masks_would() -> None:
    base = ([b"ab", b"c", b"$"], (2,), ())
    variants = [
        base,
        ([b"a", b"bc", b"$"], (2,), ()),
        ([b"ab", b"c", b"$"], (1,), ()),
        ([b"ab", b"c", b"$"], (1, 2), ()),
        ([b"ab", b"c", b"$"], (2,), (1,)),
        ([b"ab", b"c", b"$", b""], (2,), ()),
    ]
    prints = {Vocabulary(t, end_ids=e, special_ids=s).fingerprint for t, e, s in variants}
    assert len(prints) == len(variants)
    again = Vocabulary(base[0], end_ids=base[1], name="another name")
    assert again.fingerprint == Vocabulary(base[0], end_ids=base[1]).fingerprint
    assert again == Vocabulary(base[0], end_ids=base[1])


@pytest.mark.parametrize(
    ("tokens", "ends", "specials", "message"),
    [
        (["a"], (), (), r"a token is bytes, not str"),
        ([b"a", None], (), (), r"tokens\[1\]"),
        (b"abc", (), (), "sequence of bytes"),
        (7, (), (), "sequence of bytes"),
        ([], (), (), "at least one token"),
        ([b"a"], (1,), (), "out of range"),
        ([b"a"], (-1,), (), "out of range"),
        ([b"a", b"b"], (1, 1), (), "given twice"),
        ([b"a"], ("0",), (), "is an integer"),
        ([b"a", b"b"], (True,), (), "is an integer"),
        ([b"a"], 0, (), r"end_ids=\(2,\)"),
        ([b"a"], None, (), "end_ids is a collection"),
        ([b"a"], (), (9,), r"special_ids\[0\]"),
    ],
)
def test_wrong_input_is_a_typed_error_with_its_place(tokens, ends, specials, message) -> None:
    with pytest.raises(VocabularyError, match=message):
        Vocabulary(tokens, end_ids=ends, special_ids=specials)


@pytest.mark.parametrize("token_id", [-1, 258, 10**30, "a", None, 1.5])
def test_token_bytes_refuses_what_is_no_id(token_id) -> None:
    with pytest.raises(VocabularyError):
        BYTE_VOCABULARY.token_bytes(token_id)
    with pytest.raises(VocabularyError):
        BYTE_VOCABULARY.decode([token_id])


@given(st.binary(max_size=40))
def test_bytes_that_are_no_text_round_trip(data: bytes) -> None:
    assert BYTE_VOCABULARY.decode(BYTE_VOCABULARY.encode(data)) == data


@given(st.lists(st.binary(min_size=1, max_size=4), min_size=1, max_size=8), st.data())
def test_whatever_some_row_of_tokens_spells_is_encoded(tokens: list[bytes], data: st.DataObject) -> None:
    vocabulary = Vocabulary([*tokens, b"$$"], end_ids=[len(tokens)])
    text = b"".join(data.draw(st.lists(st.sampled_from(tokens), max_size=8)))
    assert vocabulary.decode(vocabulary.encode(text)) == text


def test_a_dead_end_of_longest_match_is_escaped() -> None:
    vocabulary = Vocabulary([b"ab", b"abc", b"cd", b"$"], end_ids=[3])
    assert vocabulary.encode("abcd") == [0, 2]


def test_what_no_tokens_spell_is_an_error_that_names_the_byte() -> None:
    vocabulary = Vocabulary([b"a", b"b", b"$"], end_ids=[2])
    with pytest.raises(VocabularyError, match=r"byte 2 \(value 99\)"):
        vocabulary.encode("abca")


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(VocabularyError, match="surrogate"):
        BYTE_VOCABULARY.encode("a\ud800")


def test_an_encoder_that_loses_text_or_writes_special_ids_is_overruled() -> None:
    lossy = Vocabulary([*BYTES, b"<end>"], end_ids=[256], encode=lambda text: list(text.strip().encode()))
    assert lossy.decode(lossy.encode(" a ")) == b" a "
    special = Vocabulary([*BYTES, b"<end>"], end_ids=[256], encode=lambda text: [256])
    assert special.encode("<end>") == list(b"<end>")


def test_the_encoder_is_asked_for_the_valid_part_of_a_broken_text() -> None:
    asked: list[str] = []

    def encode(text: str) -> list[int]:
        asked.append(text)
        return list(text.encode())

    vocabulary = Vocabulary([*BYTES, b"$"], end_ids=[256], encode=encode)
    assert vocabulary.decode(vocabulary.encode(b"ab\xe2\x82")) == b"ab\xe2\x82"
    assert asked == ["ab"]


def test_a_prompt_may_hold_special_tokens_but_a_text_may_not() -> None:
    vocabulary = Vocabulary([*BYTES, b"<|im|>", b"<|im|>x"], end_ids=[256], special_ids=[257])
    assert vocabulary.encode_prompt("a<|im|>b<|im|>x") == [97, 256, 98, 257]
    assert vocabulary.encode("a<|im|>") == list(b"a<|im|>")
    assert BYTE_VOCABULARY.encode_prompt("") == []


def test_special_ids_write_nothing() -> None:
    assert BYTE_VOCABULARY.decode([97, 257, 98, 256]) == b"ab"


def test_a_vocabulary_survives_pickling() -> None:
    copy = pickle.loads(pickle.dumps(BYTE_VOCABULARY))
    assert copy == BYTE_VOCABULARY
    assert copy.encode("ab") == [97, 98]
