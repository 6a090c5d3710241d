"""Excerpts: the caret stands under the place, and nothing in a stranger's file reaches the terminal unshown."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from constrain.cli.excerpt import CONTROLS, excerpt, visible


def test_the_caret_stands_under_the_column():
    assert excerpt("ab\ncdef\n", 2, 3) == "    2 | cdef\n          ^"


def test_wide_characters_take_two_columns_and_combining_ones_none():
    assert excerpt("日本x", 1, 3).splitlines()[1].index("^") == len("    1 | ") + 4
    assert excerpt("e\u0301x", 1, 3).splitlines()[1].index("^") == len("    1 | ") + 1


def test_a_long_line_is_cut_around_the_caret():
    line, caret = excerpt("a" * 500 + "!" + "b" * 500, 1, 501).splitlines()
    assert len(line) < 120
    assert line[caret.index("^")] == "!"


def test_a_place_after_the_end_of_a_line_is_shown():
    assert excerpt("abc", 1, 4).endswith("       " + "    ^")


def test_a_place_outside_the_text_shows_nothing():
    assert excerpt("abc", 2, 1) == "" == excerpt("abc", 0, 1)


@given(st.text(st.characters(exclude_categories=[]), max_size=50), st.integers(1, 5), st.integers(1, 60))
def test_no_control_character_and_no_surrogate_gets_through(text: str, line: int, column: int):
    shown = excerpt(text, line, column)
    assert not CONTROLS.search(shown.replace("\n", ""))
    shown.encode()


def test_kept_characters_stay():
    assert visible("a\n\x1b[31m", keep="\n") == "a\n␛[31m"
