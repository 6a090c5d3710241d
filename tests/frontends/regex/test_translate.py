"""Anchors, boundaries and lookarounds: right in both modes, wherever they stand, in the shapes the kernel likes."""

from __future__ import annotations

import itertools
import re
import time

import pytest
import regress

from constrain.errors import LimitExceeded, PatternError
from constrain.frontends.regex import parse
from constrain.frontends.regex.simplify import reverse
from constrain.grammar.terms import (
    ANY_TEXT,
    Alternation,
    CharClass,
    Concat,
    Literal,
    LiteralSet,
    Regular,
    Repeat,
    alternation,
)
from tests.frontends.regex.oracle import accepts


def all_texts(alphabet: str, longest: int):
    for length in range(longest + 1):
        yield from map("".join, itertools.product(alphabet, repeat=length))


ANCHORED = [
    "^a$|^bb$",
    "^(ab)|ba$",
    "(^|b)a",
    "a|^b",
    "(?:^|b)a+(?:$|b)",
    "^",
    "$",
    "^$",
    "a^b",
    "a$b",
    "(?:^a|b)*$",
    "(a$|b)+",
    "(?:a|$)(?:b|^)",
    r"\ba\b",
    r"\Ba",
    r"a\B",
    r"(?:\ba|-b)+",
    r"\b",
    r"\B",
    r"^\B$",
    r"(?:a\b-?)*b",
    r"(\b|a)-(\b|b)",
]


@pytest.mark.parametrize("pattern", ANCHORED)
def test_anchors_hold_anywhere_in_both_dialects(pattern):
    search, full = re.compile(pattern), regress.Regex(f"^(?:{pattern})$", "u")
    found = parse(pattern, dialect="python", mode="search")
    whole = parse(pattern, dialect="ecma", mode="fullmatch")
    for text in all_texts("ab-", 4):
        assert accepts(found, text) == bool(search.search(text)), text
        assert accepts(whole, text) == (full.find(text) is not None), text


LOOKAROUNDS = [
    "(?!aab)[ab]+",
    r"^(?!.*bb)(?!b)[ab]+$",
    "(?=.*b)(?=.*a).{3,}",
    "^((?!ab).)*$",
    "(?:(?!ab).)*b",
    "(?:(?!ab).)*a",
    "(?:a(?!b)|b(?=a))*",
    "(?<=a)b",
    "(?<!a)b",
    "(?<!ab)(?<!b)a",
    "^(?!b)[ab]{1,3}(?<!b)$",
    "(?:(?!b)[ab]{1,3}(?<!b)-)+",
    "(?=a(?!b(?=a)))[ab]+",
    r"(?<=\ba)b",
    r"(?<=a(?=b)).",
    r"(?<!^a)b",
    "(?=a|(?=b-))..",
    "(?!(?!a)).-",
    "(?:(?=ab)a|b)+$",
    "(?:.(?!a))*",
    "(?:(?!-)[ab-]){0,3}",
    "(?:(?!ab)[ab-]){2,3}$",
    "(?=.{3}$)a*-*b*",
    "a(?=b$)|b(?<=^b)",
    r"(?:-(?=\b)|a)*",
    "(?:(?:(?!bb)[ab])+-)*",
    "(?:(?=a)){3}a",
    "(?:(?=a))*b",
    "(?=(?:a(?=b)|b)*-)[ab]+",
]


@pytest.mark.parametrize("pattern", LOOKAROUNDS)
@pytest.mark.parametrize("mode", ["search", "fullmatch"])
def test_lookarounds_hold_anywhere(pattern, mode):
    term = parse(pattern, dialect="ecma", mode=mode)
    judge = regress.Regex(pattern if mode == "search" else f"^(?:{pattern})$", "u")
    for text in all_texts("ab-", 4):
        assert accepts(term, text) == (judge.find(text) is not None), text


def test_python_dollar_holds_before_a_final_newline():
    assert accepts(parse(r"a$\n", dialect="python", mode="fullmatch"), "a\n")
    assert not accepts(parse("a$", dialect="python", mode="fullmatch"), "a\n")
    assert accepts(parse("a$", dialect="python", mode="search"), "a\n")
    assert not accepts(parse("a$", dialect="ecma", mode="search"), "a\n")
    assert not accepts(parse(r"a\Z", dialect="python", mode="search"), "a\n")


def test_search_leaves_out_the_free_side_where_anchored():
    assert parse("^abc$", dialect="ecma", mode="search") == Literal("abc")
    assert parse("^abc", dialect="ecma", mode="search") == Concat((Literal("abc"), ANY_TEXT))
    assert parse("abc$", dialect="ecma", mode="search") == Concat((ANY_TEXT, Literal("abc")))
    assert parse(".*abc.*", dialect="ecma", mode="search") == Concat((ANY_TEXT, Literal("abc"), ANY_TEXT))
    assert parse("^a$|^bb$", dialect="ecma", mode="search") == alternation(Literal("a"), Literal("bb"))


def test_words_become_a_set_and_characters_a_class():
    words = parse("one|two|three|four|five", dialect="python", mode="fullmatch")
    assert words == LiteralSet(("one", "two", "three", "four", "five"))
    assert parse("a|b|[x-z]", dialect="python", mode="fullmatch") == CharClass(((97, 98), (120, 122)))


def test_counts_stay_symbolic():
    letters = CharClass(((97, 122),))
    assert parse("[a-z]{3,60000}", dialect="python", mode="fullmatch") == Repeat(letters, 3, 60000)
    assert parse("(?:(?!x)[w-z]){2,50000}", dialect="python", mode="fullmatch") == Repeat(
        CharClass(((119, 119), (121, 122))), 2, 50000
    )


@pytest.mark.parametrize(
    ("pattern", "position"),
    [(r"(a|b)x\1", 6), (r"(?P<n>a)(?P=n)", 8), ("a(?>b)", 1), ("ab*+", 2), ("(a)(?(1)b|c)", 3)],
)
def test_what_is_not_regular_is_refused_with_position_and_help(pattern, position):
    with pytest.raises(PatternError) as caught:
        parse(pattern, dialect="python", mode="fullmatch")
    assert caught.value.position == position and caught.value.help
    assert "cannot be enforced" in caught.value.message


def test_conditions_that_would_explode_are_refused_with_position():
    with pytest.raises(PatternError) as caught:
        parse("x(?<=a.{500})b", dialect="ecma", mode="search")
    assert caught.value.position == 1 and caught.value.help


@pytest.mark.parametrize(
    ("pattern", "limit"),
    [
        ("a" * 100_001, "pattern_length"),
        ("(" * 201 + ")" * 201, "pattern_nesting"),
        ("(" * 90_000, "pattern_nesting"),
        ("a{100001}", "pattern_repeat"),
        ("(a{1000}){1000}", "pattern_repeat"),
        ("a{" + "9" * 6000 + "}", "pattern_repeat"),
        (r"a\b" * 301, "pattern_conditions"),
    ],
)
@pytest.mark.parametrize("dialect", ["python", "ecma"])
def test_limits_are_named(pattern, limit, dialect):
    with pytest.raises(LimitExceeded) as caught:
        parse(pattern, dialect=dialect, mode="search")
    assert caught.value.limit == limit


@pytest.mark.parametrize("unit", ["(a|b", "(?=a|b", "(?<=a|b", r"(a|\bb", "(?:(?!a)b", "(a?"])
def test_deep_nesting_is_read_or_refused_but_never_a_recursion_error(unit):
    for depth in (50, 190):
        for close in (")", ")*"):
            try:
                parse(unit * depth + "c" + close * depth, dialect="ecma", mode="search")
            except (PatternError, LimitExceeded):
                continue


def test_a_pattern_of_a_hundred_thousand_characters_is_read():
    term = parse("ab|" * 33_000 + "c", dialect="ecma", mode="fullmatch")
    assert accepts(term, "ab") and accepts(term, "c") and not accepts(term, "abc")


ENTANGLED = [
    r" \b(?<=a(?!\W[^-]{2}(bK|)|(?<!b{0,}sa*)_[^1_]|a)A|(\s?b(?!bbb*\W))?|)a",
    r".{2}é\d+(?<=(?!\d|(..)[^\w_]|ı+s))|é?",
    r"b?(?<=[\D]+?(?=\n.aa*?)||\d.?(?=.I1b|a|.b?ſ ))A",
]


@pytest.mark.parametrize("pattern", ENTANGLED)
def test_lookaheads_inside_lookbehinds_are_translated_or_refused_in_no_time(pattern: str):
    started = time.process_time()
    term = parse(pattern, dialect="ecma", mode="fullmatch")
    assert time.process_time() - started < 5
    judge = regress.Regex(f"^(?:{pattern})$", "u")
    for text in ("", "A", "bA", "é", "abé1", " a", "bé1", "aaé12", "b", "AA"):
        assert accepts(term, text) == (judge.find(text) is not None), text


def test_what_is_shared_stays_shared_when_read_backwards():
    term: Regular = Literal("ab")
    for _ in range(200):
        term = Alternation((Concat((term, term)), term))
    turned = reverse(term)
    assert isinstance(turned, Alternation) and isinstance(turned.items[0], Concat)
    assert turned.items[0].items[0] is turned.items[0].items[1] is turned.items[1]
