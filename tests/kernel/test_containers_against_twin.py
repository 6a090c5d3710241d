"""Small objects and arrays, every state: what may follow, what is complete, and that nothing leads to a dead end."""

from __future__ import annotations

from itertools import chain, product
from typing import Literal as OneOf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constrain.grammar import terms
from constrain.grammar.recognizer import Recognizer as KernelRecognizer
from tests.kernel.subjects import pair_of, twin_of
from tests.strategies import (
    ARRAY,
    OBJECT,
    ONE,
    examples,
    small_counted_items,
    small_counted_members,
    small_members,
    small_unique_items,
)


def assert_same_everywhere(term: terms.Grammar, most_states: int = 250) -> None:
    """Follow every byte that both allow, from every state reached so far, shortest texts first."""
    spec = terms.GrammarSpec({"start": term})
    twin, kernel = twin_of(spec), KernelRecognizer(spec)
    assert kernel.is_empty == (not twin.start())
    if kernel.is_empty:
        return
    seen = {twin.start()}
    open_states = [(twin.start(), kernel.start, b"")]
    while open_states and len(seen) < most_states:
        state, kernel_state, text = open_states.pop(0)
        assert set(kernel.legal_bytes(kernel_state)) == twin.legal_bytes(state), text
        assert kernel.is_complete(kernel_state) == twin.is_complete(state), text
        completed = text + kernel.completion(kernel_state)
        assert twin.accepts(completed), f"{text!r} is not completed by {completed!r}"
        for byte in sorted(twin.legal_bytes(state)):
            successor = twin.step(state, byte)
            if successor not in seen:
                seen.add(successor)
                open_states.append((successor, kernel.step(kernel_state, byte), text + bytes((byte,))))


def assert_same_masks_everywhere(term: terms.Grammar, most_states: int = 40) -> None:
    """The same for masks, with tokens that end one name or value and begin the next."""
    pair = pair_of("pieces", terms.GrammarSpec({"start": term}))
    if pair is None:
        return
    seen = {pair.state}
    open_pairs = [pair]
    while open_pairs and len(seen) < most_states:
        pair = open_pairs.pop(0)
        pair.assert_same_mask()
        for token in sorted(pair.expected_mask() - set(pair.matcher.grammar.vocabulary.end_ids)):
            successor = pair.fork()
            successor.advance(token)
            if successor.state not in seen:
                seen.add(successor.state)
                open_pairs.append(successor)


@examples(30)
@given(small_members(st.sampled_from(("json", "json_any"))))
def test_every_mask_of_a_small_object(term: terms.Members):
    assert_same_masks_everywhere(term)


@examples(30)
@given(small_unique_items())
def test_every_mask_of_a_small_array_of_different_items(term: terms.Items):
    assert_same_masks_everywhere(term)


@examples(60)
@given(small_counted_members(st.sampled_from(("json", "json_any"))))
def test_every_mask_of_a_small_object_with_conditions(term: terms.Members):
    assert_same_masks_everywhere(term)


@examples(60)
@given(small_counted_items())
def test_every_mask_of_a_small_array_with_conditions(term: terms.Items):
    assert_same_masks_everywhere(term)


@examples(60)
@given(small_counted_members(st.sampled_from(("json", "json_any"))))
def test_every_state_of_a_small_object_with_conditions(term: terms.Members):
    assert_same_everywhere(term)


@examples(60)
@given(small_counted_items())
def test_every_state_of_a_small_array_with_conditions(term: terms.Items):
    assert_same_everywhere(term)


@pytest.mark.parametrize("least", [0, 1, 2])
@pytest.mark.parametrize("values", [("1", '"a"'), ('"a"',), ("0", "-0"), ("1", "0", '"a"', '"\\u0061"')])
def test_no_separator_behind_the_last_value_there_is(values: tuple[str, ...], least: int):
    rest = terms.Lexeme(terms.LiteralSet(values))
    items = terms.Items((), rest, ARRAY, least, None, unique=True, encoding="json_any", numbers="any")
    assert_same_masks_everywhere(items, most_states=100)


@pytest.mark.parametrize("order", ["declared", "any"])
@pytest.mark.parametrize("declared", [(), ("a",), ("b",)])
def test_no_separator_behind_the_last_name_there_is(order: OneOf["declared", "any"], declared: tuple[str, ...]):
    members = tuple(terms.Member(name, ONE, False) for name in declared)
    classes = (terms.NameClass(terms.LiteralSet(("a",)), ONE), terms.NameClass(terms.Literal("x"), ONE))
    for encoding, least in product(("json", "json_any"), (0, 2)):
        assert_same_masks_everywhere(terms.Members(members, classes, OBJECT, order, least, None, encoding))


@pytest.mark.parametrize("order", ["declared", "any"])
@pytest.mark.parametrize("encoding", ["json", "json_any"])
@pytest.mark.parametrize("names", [("x",), ("a", "x", "é")])
def test_every_state_where_counts_decide(
    order: OneOf["declared", "any"], encoding: terms.Encoding, names: tuple[str, ...]
):
    classes = (terms.NameClass(terms.LiteralSet(names), ONE),)
    for required, least, most in product(((False, False), (False, True)), (0, 2, 3), (None, 2)):
        members = tuple(terms.Member(name, ONE, must) for name, must in zip("ab", required, strict=True))
        assert_same_everywhere(terms.Members(members, classes, OBJECT, order, least, most, encoding), most_states=80)


@examples(30)
@given(small_members(st.sampled_from(("json", "json_any"))))
def test_every_state_of_a_small_object(term: terms.Members):
    assert_same_everywhere(term)


@examples(30)
@given(small_unique_items())
def test_every_state_of_a_small_array_of_different_items(term: terms.Items):
    assert_same_everywhere(term)


SPELLINGS = ('"a"', '"\\u0061"', '"b"', '"\\u0062"', '"c"')


@pytest.mark.parametrize("order", ["declared", "any"])
@pytest.mark.parametrize("declared", [(), ("a",), ("b", "a")])
def test_a_name_is_the_same_however_it_is_spelled(order: OneOf["declared", "any"], declared: tuple[str, ...]):
    members = tuple(terms.Member(name, ONE, False) for name in declared)
    classes = (terms.NameClass(terms.LiteralSet(("a", "b", "c")), ONE),)
    spec = terms.GrammarSpec({"start": terms.Members(members, classes, OBJECT, order, encoding="json_any")})
    twin, kernel = twin_of(spec), KernelRecognizer(spec)
    for names in chain.from_iterable(product(SPELLINGS, repeat=n) for n in range(4)):
        text = ("{" + ",".join(f"{name}:1" for name in names) + "}").encode()
        assert kernel.accepts(text) == twin.accepts(text), text


@pytest.mark.parametrize("most", [None, 2])
def test_a_value_is_the_same_however_it_is_spelled(most: int | None):
    pool = ("0", "-0", "0.0", "1", "1.00", "10", "-1", '"1"', '"\\u0031"', "true")
    rest = terms.Lexeme(terms.LiteralSet(pool))
    items = terms.Items((), rest, ARRAY, 0, most, unique=True, encoding="json_any", numbers="any")
    spec = terms.GrammarSpec({"start": items})
    twin, kernel = twin_of(spec), KernelRecognizer(spec)
    for values in chain.from_iterable(product(pool, repeat=n) for n in range(4)):
        text = f"[{','.join(values)}]".encode()
        assert kernel.accepts(text) == twin.accepts(text), text
