"""The twin's regular terms, judged by the definition read aloud, by `re`, by `json.loads` and by `Fraction`."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from functools import cache
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constrain.grammar import terms
from tests.reference.regular import byte_state, derivative, is_alive, is_nullable, matches
from tests.reference.utf8 import ALL_BYTES
from tests.strategies import ALPHABETS, CHARACTERS, examples, regulars, texts


@cache
def holds(term: terms.Regular, text: str) -> bool:
    """The definition of each term, by trying every way to split `text`."""
    match term:
        case terms.Empty():
            return False
        case terms.Epsilon():
            return text == ""
        case terms.CharClass(ranges):
            return len(text) == 1 and any(low <= ord(text) <= high for low, high in ranges)
        case terms.Literal(expected):
            return text == expected
        case terms.LiteralSet(several):
            return text in several
        case terms.Concat(()):
            return text == ""
        case terms.Concat((first, *rest)):
            tail = terms.Concat(tuple(rest))
            return any(holds(first, text[:i]) and holds(tail, text[i:]) for i in range(len(text) + 1))
        case terms.Alternation(several):
            return any(holds(one, text) for one in several)
        case terms.Repeat(item, least, most):
            return any(least <= count and (most is None or count <= most) for count in counts(item, text, least))
        case terms.And(several):
            return all(holds(one, text) for one in several)
        case terms.Not(item):
            return not holds(item, text)
        case terms.Encoded(item, encoding):
            decoded = decode(text, encoding)
            return decoded is not None and holds(item, decoded)
        case terms.DecimalMultiple(coefficient, scale):
            if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", text):
                return False
            return (Fraction(text) * 10**scale / coefficient).denominator == 1
    raise AssertionError(term)


@cache
def counts(item: terms.Regular, text: str, least: int) -> frozenset[int]:
    """In how many pieces of `item` the text can be cut; empty pieces fill up to `least` where they are allowed."""
    found = {0} if text == "" else set()
    if holds(item, ""):
        found |= {n + extra for n in found for extra in range(least + 1)}
    for i in range(1, len(text) + 1):
        if holds(item, text[:i]):
            behind = {n + 1 for n in counts(item, text[i:], 0)}
            found |= {n + extra for n in behind for extra in range(least + 1 if holds(item, "") else 1)}
    return frozenset(found)


def decode(text: str, encoding: terms.Encoding) -> str | None:
    try:
        decoded = json.loads(f'"{text}"')
    except json.JSONDecodeError:
        return None
    if any(0xD800 <= ord(c) <= 0xDFFF for c in decoded):
        return None
    return decoded if encoding == "json_any" or json.dumps(decoded, ensure_ascii=False)[1:-1] == text else None


def pattern(term: terms.Regular) -> str:
    """`term`, free of And, Not, Encoded and numbers, as a Python pattern."""
    match term:
        case terms.Empty():
            return "(?!)"
        case terms.Epsilon():
            return ""
        case terms.CharClass(ranges):
            return "[" + "".join(f"{re.escape(chr(low))}-{re.escape(chr(high))}" for low, high in ranges) + "]"
        case terms.Literal(text):
            return re.escape(text)
        case terms.LiteralSet(several):
            return "(?:" + "|".join(map(re.escape, several)) + ")" if several else "(?!)"
        case terms.Concat(items):
            return "".join(f"(?:{pattern(item)})" for item in items)
        case terms.Alternation(items):
            return "(?:" + "|".join(map(pattern, items)) + ")"
        case terms.Repeat(item, least, most):
            return f"(?:{pattern(item)}){{{least},{'' if most is None else most}}}"
    raise AssertionError(term)


ESCAPES = (
    "\\n",
    "\\u0061",
    "\\u000A",
    "\\u0001",
    "\\u00e9",
    "\\uD83d\\uDE00",
    "\\ud83d",
    "\\/",
    "\\\\",
    '\\"',
    "\\u002f",
)


def candidate_texts(alphabet: str) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from((*alphabet, *CHARACTERS, *ESCAPES)), max_size=6).map("".join)


@examples(60)
@given(
    st.sampled_from(ALPHABETS).flatmap(
        lambda one: st.tuples(regulars(one), st.lists(candidate_texts(one), max_size=12))
    )
)
def test_the_twin_matches_what_the_definition_says(case: tuple[terms.Regular, list[str]]):
    term, candidates = case
    for text in ["", *candidates]:
        assert matches(term, text.encode()) == holds(term, text), text


@examples(40)
@given(
    st.sampled_from(ALPHABETS).flatmap(
        lambda one: st.tuples(regulars(one, encoded=False, complements=False), st.just(one))
    )
)
def test_the_twin_matches_what_re_matches(case: tuple[terms.Regular, str]):
    term, alphabet = case
    compiled = re.compile(pattern(term), re.DOTALL)
    for length in range(4):
        for letters in product(alphabet[:4], repeat=length):
            text = "".join(letters)
            assert matches(term, text.encode()) == (compiled.fullmatch(text) is not None), text


@examples(60)
@given(regulars("ab", max_leaves=5), st.sampled_from((ALL_BYTES, frozenset(b"ab"), frozenset(b'a"\\u006e'))))
def test_a_term_is_alive_iff_some_short_text_of_its_alphabet_finishes_it(term: terms.Regular, alphabet: frozenset[int]):
    alive = is_alive(term, alphabet)
    short = ("".join(t).encode() for n in range(5) for t in product('ab"\\n0\U00010000', repeat=n))
    if any(matches(term, text) and alphabet.issuperset(text) for text in short):
        assert alive
    elif alive:  # then a text must be found by following live bytes
        state = byte_state(term)
        for _ in range(40):
            if is_nullable(state):
                break
            state = next(s for s in (derivative(state, b) for b in sorted(alphabet)) if is_alive(s, alphabet))


@examples(60)
@given(regulars(), texts(max_size=6))
def test_a_beginning_of_a_match_is_alive_at_every_byte(term: terms.Regular, text: str):
    states = [byte_state(term)]
    for byte in text.encode():
        states.append(derivative(states[-1], byte))
    if is_nullable(states[-1]):
        assert all(map(is_alive, states))


@pytest.mark.parametrize("data", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80", b"a\x80"])
def test_bytes_that_are_not_utf8_match_nothing(data: bytes):
    assert not matches(terms.ANY_TEXT, data)
    assert not matches(terms.Not(terms.Literal("a")), data)


@pytest.mark.parametrize("data", [b"\xc0", b"\xf5", b"\xed\xa0", b"\xf4\x90", b"\xe0\x80", b"\xff"])
def test_bytes_that_cannot_become_utf8_are_dead_at_once(data: bytes):
    state = byte_state(terms.ANY_TEXT)
    for byte in data:
        state = derivative(state, byte)
    assert not is_alive(state)


@pytest.mark.parametrize("encoding", ["json", "json_any"])
def test_every_escape_of_four_digits_decodes_as_json_does(encoding: terms.Encoding):
    for unit in range(0, 0x10000, 37):
        for text in (f"\\u{unit:04x}", f"\\u{unit:04X}", f"\\ud83d\\u{unit:04x}"):
            decoded = decode(text, encoding)
            expected = terms.Encoded(terms.ANY_TEXT if decoded is None else terms.Literal(decoded), encoding)
            assert matches(expected, text.encode()) == (decoded is not None), text


def test_an_unfinished_character_is_alive_only_if_the_alphabet_can_finish_it():
    term = terms.LiteralSet(("é", "x"))
    begun = derivative(term, 0xC3)
    assert is_alive(begun)
    assert not is_alive(begun, frozenset(b"x\xc3"))
    assert is_alive(begun, frozenset(b"\xa9"))
