"""Arrays whose items must all differ, by value: objects, arrays, several schemas behind each other."""

from __future__ import annotations

import random
from itertools import chain, product
from typing import Literal as OneOf

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from constrain.grammar import terms
from constrain.grammar.recognizer import Recognizer as KernelRecognizer
from tests.kernel.subjects import pair_of, twin_of
from tests.kernel.test_containers_against_twin import assert_same_everywhere, assert_same_masks_everywhere
from tests.kernel.test_matcher_against_twin import Life
from tests.reference.regular import TwinLimit
from tests.strategies import ARRAY, OBJECT, different_items, examples, texts_near

SEEDS = st.integers(0, 2**32)


def one_of(*texts: str) -> terms.Lexeme:
    return terms.Lexeme(terms.LiteralSet(texts))


def different(*prefix: terms.Grammar, rest: terms.Grammar | None = None, least: int = 0, most: int | None = None):
    return terms.Items(prefix, rest, ARRAY, least, most, unique=True, encoding="json_any", numbers="any")


def record(order: OneOf["declared", "any"] = "any", **values: terms.Grammar) -> terms.Members:
    """An object; a name that ends in `_` is required."""
    members = tuple(terms.Member(name.rstrip("_"), value, name.endswith("_")) for name, value in values.items())
    return terms.Members(members, (), OBJECT, order=order, encoding="json_any")


# ---------------------------------------------------------------- everything there is


@examples(60)
@given(different_items())
def test_every_state_of_an_array_of_different_items(term: terms.Items):
    try:
        assert_same_everywhere(term, most_states=60)
    except TwinLimit:
        assume(False)


@examples(40)
@given(different_items())
def test_every_mask_of_an_array_of_different_items(term: terms.Items):
    try:
        assert_same_masks_everywhere(term, most_states=25)
    except TwinLimit:
        assume(False)


@examples(30)
@given(different_items(), SEEDS)
def test_texts_near_the_language(term: terms.Items, seed: int):
    spec = terms.GrammarSpec({"start": term})
    try:
        twin, kernel = twin_of(spec), KernelRecognizer(spec)
        for text in texts_near(twin, seed, count=12):
            assert kernel.accepts(text) == twin.accepts(text), text
    except TwinLimit:
        assume(False)


@pytest.mark.parametrize("name", ["bytes", "bpe", "pieces"])
@examples(15)
@given(different_items(), SEEDS)
def test_whatever_is_done_to_a_matcher_it_stays_with_the_twin(name: str, term: terms.Items, seed: int):
    try:
        pair = pair_of(name, terms.GrammarSpec({"start": term}))
        if pair is None:
            return
        life = Life(pair, random.Random(seed))
        operations = [life.advance] * 4 + [life.reject, life.try_several, life.roll_back, life.fork, life.finish]
        for _ in range(10):
            life.chance.choice(operations)()
            life.check()
    except TwinLimit:
        assume(False)


# ---------------------------------------------------------------- what must hold in particular


@pytest.mark.parametrize("order", ["declared", "any"])
def test_objects_are_equal_whatever_the_order_of_their_names(order: OneOf["declared", "any"]):
    items = different(rest=record(order, a=one_of("1", "1.0"), b=one_of("true")))
    spec = terms.GrammarSpec({"start": items})
    twin, kernel = twin_of(spec), KernelRecognizer(spec)
    pool = ("{}", '{"a":1}', '{"a":1.0}', '{"a":1,"b":true}', '{"b":true,"a":1}', '{"b":true,"\\u0061":1.0}')
    for values in chain.from_iterable(product(pool, repeat=n) for n in range(4)):
        text = f"[{','.join(values)}]".encode()
        assert kernel.accepts(text) == twin.accepts(text), text
    assert not kernel.accepts(b'[{"a":1,"b":true},{"b":true,"a":1}]')


@pytest.mark.parametrize("least", range(5))
def test_no_value_is_used_up_that_a_later_place_needs(least: int):
    assert_same_masks_everywhere(different(one_of("1", "2"), one_of("1"), least=min(least, 2)), most_states=100)
    assert_same_masks_everywhere(
        different(one_of("1", "2", "3"), one_of("1", "2"), rest=one_of("1", "3", "4"), least=least), most_states=100
    )


def test_a_value_that_a_later_place_needs_is_not_written():
    kernel = KernelRecognizer(terms.GrammarSpec({"start": different(one_of("1", "2"), one_of("1"), least=2)}))
    assert kernel.completion(kernel.start) == b"[2,1]"
    assert not kernel.accepts(b"[1]")
    assert kernel.legal_bytes(kernel.feed(kernel.start, b"[")[0]) == b"2"


@pytest.mark.parametrize(("least", "empty"), [(4, False), (5, True)])
def test_arrays_that_need_more_values_than_there_are_do_not_exist(least: int, empty: bool):
    pairs = terms.Items((one_of("0", "1"), one_of("0", "1", "1.0")), None, ARRAY, 2, 2)
    kernel = KernelRecognizer(terms.GrammarSpec({"start": different(rest=pairs, least=least)}))
    assert kernel.is_empty == empty


def test_an_array_inside_of_itself():
    start = different(rest=terms.Choice((terms.RuleRef("start"), one_of("1", "true"))))
    spec = terms.GrammarSpec({"start": start})
    kernel = KernelRecognizer(spec)
    assert kernel.accepts(b"[[],1,[1],[[]],[[1,true],1]]")
    for text in (b"[[],[]]", b"[[[],1],[[],1]]", b"[[[]],[[]]]", b"[1,[],1.0]"):
        assert not kernel.accepts(text), text


def test_what_must_hold_several_of_itself_is_found_alive_or_dead():
    def pairs_of(*scalars: str) -> terms.GrammarSpec:
        tree = different(rest=terms.RuleRef("start"), least=2)
        return terms.GrammarSpec({"start": terms.Choice((tree, one_of(*scalars)))})

    kernel = KernelRecognizer(pairs_of("1", "2"))
    assert kernel.accepts(b"[[1,2],[2,1]]")
    assert not kernel.accepts(b"[[1,2],[1,2]]")
    kernel = KernelRecognizer(pairs_of("1"))
    state, _ = kernel.feed(kernel.start, b"1")
    assert kernel.is_complete(state)
    assert kernel.legal_bytes(kernel.start) == b"1"


@pytest.mark.parametrize("blank", ["\n", "\n  ", " ", "\t", "\r\n"])
def test_scalars_are_equal_whatever_blanks_stand_before_them(blank: str):
    scalars = terms.Lexeme(terms.concat(terms.Literal(blank), terms.LiteralSet(("true", '"a"', "1"))))
    for items in (different(rest=scalars), different(scalars, rest=terms.Choice((scalars, record())))):
        kernel = KernelRecognizer(terms.GrammarSpec({"start": items}))
        assert kernel.accepts(f'[{blank}true,{blank}1,{blank}"a"]'.encode())
        assert not kernel.accepts(f"[{blank}true,{blank}1,{blank}true]".encode())


def test_empty_containers_may_be_lexemes():
    items = different(rest=terms.Choice((one_of("{}", "[]", "1"), record(a_=one_of("1")))))
    kernel = KernelRecognizer(terms.GrammarSpec({"start": items}))
    assert kernel.accepts(b'[{},[],1,{"a":1}]')
    assert not kernel.accepts(b"[{},1,{}]")
    assert_same_masks_everywhere(items, most_states=60)


# ---------------------------------------------------------------- with conditions

PAIRS = terms.Items((one_of("0", "1", "2"), one_of("0", "1")), None, ARRAY, 1, 2)
COUNTED = terms.Counted(
    terms.Choice((PAIRS, one_of('"a"', '"b"', '"c"', '"d"', '"e"'))),
    (terms.Way(PAIRS, (0,)), terms.Way(one_of('"a"', '"b"', '"c"', '"d"', '"e"'))),
)


@pytest.mark.parametrize("prefix", [(), (COUNTED,)])
@pytest.mark.parametrize(
    "conditions",
    [
        ((terms.Bound(0, 1),),),
        ((terms.Bound(0, 2),), (terms.Bound(None, 4, False),)),
        ((terms.Bound(0, 2, False),),),
        ((terms.Bound(0, 1), terms.Bound(None, 3)),),
    ],
)
def test_items_that_must_differ_and_are_counted(prefix: tuple[terms.Counted, ...], conditions: tuple[terms.Condition]):
    items = terms.Items(prefix, COUNTED, ARRAY, unique=True, encoding="json_any", numbers="any", conditions=conditions)
    assert_same_everywhere(items, most_states=60)
    assert_same_masks_everywhere(items, most_states=20)
