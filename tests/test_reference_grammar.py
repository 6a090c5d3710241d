"""The twin's grammars, judged exhaustively: small universes of texts, a plain Python check of what `json` reads.

Where the language lies within the universe, liveness is judged too: a beginning is alive iff some text goes on from it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constrain.grammar import terms
from tests.reference.grammar import Recognizer
from tests.reference.masks import TokenTrie, brute_force_mask
from tests.reference.utf8 import ALL_BYTES
from tests.strategies import (
    ARRAY,
    DEAD,
    OBJECT,
    ONE,
    SMALL_NAMES,
    examples,
    finish,
    grammars,
    random_walk,
    small_members,
    texts_near,
)


def spec(term: terms.Grammar, **rules: terms.Grammar) -> terms.GrammarSpec:
    return terms.GrammarSpec({"start": term, **rules})


def assert_language(term: terms.Grammar, universe: Sequence[str], is_right: Callable[[str], bool]) -> None:
    """The language of `term`, all within `universe`, is what `is_right` says, and so are its beginnings."""
    recognizer = Recognizer(spec(term))
    language = [text.encode() for text in universe if is_right(text)]
    beginnings = {text[:i] for text in language for i in range(len(text) + 1)}
    for text in universe:
        data = text.encode()
        assert recognizer.accepts(data) == (data in language), text
        state = recognizer.start()
        for i in range(len(data) + 1):
            assert recognizer.is_alive(state) == (data[:i] in beginnings), data[:i]
            if data[:i] in beginnings and i < len(data):
                following = {text[i] for text in beginnings if len(text) == i + 1 and text.startswith(data[:i])}
                assert recognizer.legal_bytes(state) == following, data[:i]
            state = recognizer.advance(state, data[i : i + 1])


# ---------------------------------------------------------------- objects


def object_texts(longest: int, spellings: Sequence[str]) -> list[str]:
    sequences = (names for n in range(longest + 1) for names in product(spellings, repeat=n))
    return ["{" + ",".join(f"{name}:1" for name in names) + "}" for names in sequences]


def names_in(text: str) -> list[str]:
    return json.loads(text, object_pairs_hook=lambda pairs: [name for name, _ in pairs])


def obeys(term: terms.Members, names: list[str]) -> bool:
    """What the docstring of `Members` says, of the decoded names in order."""
    declared = {member.name: member for member in term.members}
    order = [list(declared).index(name) if name in declared else len(declared) for name in names]

    def value_of(name: str) -> terms.Grammar:
        if name in declared:
            return declared[name].value
        of_class = [one.value for one in term.classes if name in one.names.texts]  # pyright: ignore
        return of_class[0] if of_class else DEAD

    return (
        len(set(names)) == len(names)
        and all(value_of(name) is not DEAD for name in names)
        and all(member.name in names for member in term.members if member.required)
        and term.min_count <= len(names) <= (len(names) if term.max_count is None else term.max_count)
        and (term.order == "any" or order == sorted(order))
    )


@examples(30)
@given(small_members(st.just("json")))
def test_members_are_what_the_definition_says(term: terms.Members):
    universe = object_texts(4, [f'"{name}"' for name in SMALL_NAMES])
    assert_language(term, universe, lambda text: obeys(term, names_in(text)))


@pytest.mark.parametrize("order", ["declared", "any"])
@pytest.mark.parametrize("declared", [(), ("a",), ("b", "a")])
def test_a_name_spelt_differently_is_still_that_name(order, declared: tuple[str, ...]):
    term = terms.Members(
        tuple(terms.Member(name, ONE, False) for name in declared),
        (terms.NameClass(terms.LiteralSet(("a", "b")), ONE),),
        OBJECT,
        order=order,
        encoding="json_any",
    )
    assert_language(term, object_texts(2, ['"a"', '"\\u0061"', '"b"', '"\\u0062"']), lambda t: obeys(term, names_in(t)))


def test_the_value_follows_the_decoded_name_even_if_it_is_dead():
    two = terms.Lexeme(terms.Literal("2"))
    members = (terms.Member("a", two, False), terms.Member("b", DEAD, False))
    term = terms.Members(members, (terms.NameClass(terms.ANY_TEXT, ONE),), OBJECT, encoding="json_any")
    recognizer = Recognizer(spec(term))
    assert recognizer.accepts(b'{"\\u0061":2,"c":1}')
    for text in (b'{"\\u0061":1}', b'{"a":1}', b'{"b":1}', b'{"\\u0062":1}', b'{"c":2}'):
        assert not recognizer.accepts(text), text


# ---------------------------------------------------------------- arrays

POOL = ("0", "-0", "1", "1.0", "10e-1", '"a"', '"\\u0061"', '"1"', "true")


def array_texts(longest: int, pool: Sequence[str]) -> list[str]:
    return ["[" + ",".join(items) + "]" for n in range(longest + 1) for items in product(pool, repeat=n)]


def distinct(text: str) -> bool:
    values = json.loads(text, parse_float=Decimal, parse_int=Decimal)
    return len({(type(value), value) for value in values}) == len(values)


@examples(25)
@given(
    st.lists(st.sampled_from(POOL), min_size=1, max_size=5, unique=True),
    st.integers(0, 3),
    st.sampled_from((None, 1, 2, 3)),
)
def test_unique_items_differ_by_value(pool: list[str], least: int, most: int | None):
    rest = terms.Lexeme(terms.LiteralSet(tuple(pool)))
    term = terms.Items((), rest, ARRAY, least, most, unique=True, encoding="json_any", numbers="any")
    universe = array_texts(min(len(pool), 4), pool)

    def is_right(text: str) -> bool:
        count = len(json.loads(text))
        return distinct(text) and least <= count <= (count if most is None else most)

    longest = len({str(Decimal(one) + 0) if one[0] not in '"t' else json.loads(one) for one in pool})
    if longest <= 4:
        assert_language(term, universe, is_right)


LETTERS = tuple(terms.Lexeme(terms.Literal(letter)) for letter in "xyz")


@pytest.mark.parametrize("dead_at", [None, 0, 1, 2])
@pytest.mark.parametrize("rest", [None, ONE, DEAD])
@pytest.mark.parametrize(("least", "most"), [(0, None), (0, 2), (1, 3), (3, 3), (4, 4), (2, 1)])
def test_items_follow_the_prefix_and_then_the_rest(dead_at: int | None, rest, least: int, most: int | None):
    prefix = tuple(DEAD if i == dead_at else letter for i, letter in enumerate(LETTERS))
    term = terms.Items(prefix, rest, ARRAY, least, 4 if most is None else most)

    def is_right(text: str) -> bool:
        found = [] if text == "[]" else text[1:-1].split(",")
        expected = [*("xyz"[i] if i != dead_at else None for i in range(3)), *(["1"] if rest is ONE else [None])]
        return least <= len(found) <= (4 if most is None else most) and found == expected[: len(found)]

    assert_language(term, array_texts(4, "xyz1"), is_right)


@pytest.mark.parametrize("separator", [None, ","])
@pytest.mark.parametrize(("least", "most"), [(0, 0), (0, 2), (1, 3), (2, 2), (3, 2)])
def test_repetition_counts_and_separates(separator: str | None, least: int, most: int):
    between = None if separator is None else terms.Lexeme(terms.Literal(separator))
    term = terms.Sequence((terms.Repetition(ONE, between, least, most), terms.Lexeme(terms.Literal("."))))
    universe = ["".join(t) for n in range(7) for t in product("1,.", repeat=n)]
    language = [(separator or "").join("1" * n) + "." for n in range(least, most + 1)]
    assert_language(term, universe, language.__contains__)


# ---------------------------------------------------------------- recursion, alphabets


def test_a_rule_that_never_ends_is_dead_and_one_that_may_end_is_not():
    endless = terms.Sequence((terms.Lexeme(terms.Literal("[")), terms.RuleRef("endless")))
    nested = terms.Items((), terms.RuleRef("nested"), ARRAY, max_count=1)
    start = terms.Choice((terms.RuleRef("endless"), terms.RuleRef("nested")))
    recognizer = Recognizer(spec(start, endless=endless, nested=nested))
    assert recognizer.accepts(b"[[[]]]")
    assert not Recognizer(spec(terms.RuleRef("endless"), endless=endless)).start()
    assert recognizer.legal_bytes(recognizer.advance(recognizer.start(), b"[[]")) == {ord("]")}


def test_an_optional_member_whose_value_never_ends_is_forbidden():
    body = terms.Members((terms.Member("self", RULE, True), terms.Member("a", ONE, False)), (), OBJECT)
    outer = terms.Members(
        (terms.Member("self", terms.RuleRef("body"), False), terms.Member("a", ONE, False)), (), OBJECT
    )
    recognizer = Recognizer(spec(outer, body=body))
    assert recognizer.accepts(b'{"a":1}')
    assert recognizer.legal_bytes(recognizer.advance(recognizer.start(), b'{"')) == {ord("a")}


RULE = terms.RuleRef("body")


def test_what_the_alphabet_cannot_finish_is_forbidden():
    term = terms.Choice((terms.Lexeme(terms.Literal("aé")), terms.Lexeme(terms.Literal("ab"))))
    recognizer = Recognizer(spec(term), ALL_BYTES - {0xA9})
    state = recognizer.advance(recognizer.start(), b"a")
    assert recognizer.legal_bytes(state) == {ord("b")}
    tokens = [b"b", b"\xc3", "é".encode()]
    assert brute_force_mask(recognizer, state, tokens) == {0, 2}, "a longer token may write what single bytes cannot"


def test_a_name_beyond_the_alphabet_leaves_the_others_for_the_minimum():
    classes = (terms.NameClass(terms.LiteralSet(("x", "é")), ONE),)
    term = terms.Members((terms.Member("a", ONE, False),), classes, OBJECT, min_count=2)
    recognizer = Recognizer(spec(term), ALL_BYTES - {0xC3})
    assert recognizer.accepts('{"é":1,"x":1}'.encode())
    assert recognizer.is_alive(recognizer.start()), "by a and x"
    behind_x, behind_e = (recognizer.advance(recognizer.start(), f'{{"{name}"'.encode()) for name in "xé")
    assert not recognizer.is_alive(behind_x)
    assert recognizer.is_alive(behind_e)


@examples(20)
@given(grammars(), st.integers(0, 2**32))
def test_every_live_state_can_be_finished_byte_by_byte(grammar: terms.GrammarSpec, seed: int):
    recognizer = Recognizer(grammar)
    for text in texts_near(recognizer, seed, 4, steps=15):
        state = recognizer.start()
        for byte in text:
            assert recognizer.is_complete(state) or not state or recognizer.legal_bytes(state), "a dead end"
            state = recognizer.step(state, byte)
        assert not recognizer.accepts(text) or finish(recognizer, text) == text


@examples(20)
@given(grammars(), st.integers(0, 2**32))
def test_a_mask_by_trie_is_the_mask_token_by_token(grammar: terms.GrammarSpec, seed: int):
    recognizer = Recognizer(grammar)
    tokens = [
        b"",
        b"a",
        b"ab",
        b'"',
        b'":',
        b'{"',
        b'{"a":',
        b"1",
        b"10",
        b",",
        b"}",
        b"]",
        b"\xc3",
        "é".encode(),
        b"[[",
        b"(",
    ]
    text = random_walk(recognizer, random.Random(seed), 10)
    state = recognizer.advance(recognizer.start(), text)
    expected = {i for i, token in enumerate(tokens) if token and recognizer.is_alive(recognizer.advance(state, token))}
    assert brute_force_mask(recognizer, state, TokenTrie(tokens)) == expected
