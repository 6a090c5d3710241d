"""tiktoken encodings, made by hand: nothing is fetched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constrain.errors import VocabularyError
from constrain.matching.vocabulary import Vocabulary

tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is not a dependency")

RANKS = {bytes([i]): i for i in range(256)} | {b"th": 256, b"the": 257, b" the": 258}
ENCODING = tiktoken.Encoding(
    name="small",
    pat_str=r" ?\p{L}+|\s|[^\s\p{L}]+",
    mergeable_ranks=RANKS,
    special_tokens={"<|endoftext|>": 300, "<|fim|>": 302},
)
VOCABULARY = Vocabulary.from_tiktoken(ENCODING)


def test_tokens_are_the_ranks_and_holes_spell_nothing() -> None:
    assert VOCABULARY.size == 303
    assert VOCABULARY.token_bytes(258) == b" the"
    assert VOCABULARY.token_bytes(301) == b""
    assert VOCABULARY.end_ids == (300,)
    assert VOCABULARY.special_ids == {300, 302}
    assert not VOCABULARY.unproducible_bytes


@given(st.one_of(st.text(max_size=20), st.just("the <|endoftext|> the")))
def test_encode_is_the_encodings_own(text: str) -> None:
    ids = VOCABULARY.encode(text)
    assert ids == ENCODING.encode_ordinary(text)
    assert VOCABULARY.decode(ids) == text.encode()


def test_end_ids_can_be_given_and_must_be_somewhere() -> None:
    bare = tiktoken.Encoding(name="bare", pat_str=r".", mergeable_ranks=RANKS, special_tokens={})
    with pytest.raises(VocabularyError, match="no end token"):
        Vocabulary.from_tiktoken(bare)
    assert Vocabulary.from_tiktoken(bare, end_ids=()).end_ids == ()


@pytest.mark.parametrize("thing", [None, "cl100k_base", 3])
def test_what_is_no_encoding_is_refused(thing: object) -> None:
    with pytest.raises(VocabularyError, match="no tiktoken encoding"):
        Vocabulary.from_tiktoken(thing)
