"""Streams of text: whole characters, stop strings across tokens, nothing taken back."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constrain.decoding.text_stream import TextStream
from constrain.errors import InvalidSpecification


@given(text=st.text(), cuts=st.lists(st.integers(0, 200)))
def test_characters_are_never_given_out_by_halves(text: str, cuts: list[int]) -> None:
    data = text.encode("utf-8")
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    stream = TextStream()
    shown = [stream.push(data[start:end]) for start, end in itertools.pairwise(places)]
    assert "�" not in "".join(shown) or "�" in text
    assert "".join(shown) + stream.finish() == stream.text == text


@given(
    text=st.text("ab€", max_size=30),
    stop=st.lists(st.text("ab€", min_size=1, max_size=4), min_size=1, max_size=3),
    size=st.integers(1, 5),
    keep=st.booleans(),
)
def test_a_stop_string_is_found_wherever_tokens_end(text: str, stop: list[str], size: int, keep: bool) -> None:
    data = text.encode()
    stream = TextStream(stop, keep_stop=keep)
    shown: list[str] = []
    for at in range(0, len(data), size):
        shown.append(stream.push(data[at : at + size]))
        if stream.is_stopped:
            break
    shown.append(stream.finish())
    assert stream.is_stopped == any(one in text for one in stop)
    if not keep and stream.is_stopped:
        assert all(one not in "".join(shown) for one in stop)
        assert text.startswith("".join(shown))
    elif not stream.is_stopped:
        assert "".join(shown) == text
    else:
        assert any(one in "".join(shown) for one in stop)


def test_bytes_that_are_no_utf8_are_shown_as_replacement() -> None:
    stream = TextStream()
    assert stream.push(b"a\xff") + stream.push(b"\xc3") + stream.finish() == "a��"


@pytest.mark.parametrize("stop", ["abc", [""], [3]])
def test_stop_must_be_a_list_of_strings(stop: object) -> None:
    with pytest.raises(InvalidSpecification, match="stop"):
        TextStream(stop)  # type: ignore[arg-type]
