"""Containers with conditions, by hand: what JSON Schema's `contains`, `not` and counts of members come to.

Each case says which texts are whole; that no state is a dead end, and that every state agrees with the twin, is judged
everywhere.
"""

from __future__ import annotations

import time
from typing import Literal as OneOf

import pytest

from constrain.errors import LimitExceeded
from constrain.grammar import terms
from constrain.grammar.recognizer import Recognizer
from constrain.grammar.terms import Bound, Counted, Items, Member, Members, NameClass, Way
from tests.kernel.test_containers_against_twin import assert_same_everywhere, assert_same_masks_everywhere
from tests.strategies import ARRAY, OBJECT

ORDERS = pytest.mark.parametrize("order", ["declared", "any"])
Order = OneOf["declared", "any"]


def text(*texts: str) -> terms.Lexeme:
    return terms.Lexeme(terms.LiteralSet(texts))


def split(special: str, others: tuple[str, ...], *, on: int = 0) -> Counted:
    """`special` advances counter `on`, the others none."""
    return Counted(text(special, *others), (Way(text(special), (on,)), Way(text(*others))))


def assert_holds(term: terms.Grammar, good: tuple[str, ...], bad: tuple[str, ...]) -> None:
    recognizer = Recognizer(terms.GrammarSpec({"start": term}))
    for one in good:
        assert recognizer.accepts(one.encode()), one
    for one in bad:
        assert not recognizer.accepts(one.encode()), one
    assert_same_everywhere(term)
    assert_same_masks_everywhere(term)


def test_an_array_contains_two_or_three_of_a_kind():
    item = split("1", ("0", "2"))
    contains = ((Bound(0, 2),), (Bound(0, 4, reached=False),))
    assert_holds(
        Items((), item, ARRAY, conditions=contains),
        good=("[1,1]", "[0,1,2,1,0]", "[1,1,1]", "[1,1,1,0,0,0]"),
        bad=("[]", "[1]", "[1,0,0]", "[1,1,1,1]", "[1,0,1,0,1,0,1]"),
    )
    assert_holds(
        Items((text("0"),), item, ARRAY, max_count=3, conditions=contains), good=("[0,1,1]",), bad=("[0,1,0]", "[0,1]")
    )


def test_the_last_items_there_are_must_be_of_the_kind_that_is_missing():
    item = split("1", ("0",))
    recognizer = Recognizer(
        terms.GrammarSpec({"start": Items((), item, ARRAY, max_count=3, conditions=((Bound(0, 2),),))})
    )
    state, _ = recognizer.feed(recognizer.start, b"[0,")
    assert recognizer.legal_bytes(state) == b"1"


@ORDERS
def test_an_object_that_is_not_all_of_what_was_refuted(order: Order):
    """Not all of: `a` is 1, `b` is 2, `c` is absent."""
    members = (
        Member("a", split("0", ("1",)), False),
        Member("b", split("0", ("2",)), False),
        Member("c", Counted(text("0"), (Way(text("0"), (0,)),)), False),
    )
    refuted = ((Bound(0, 1),),)
    assert_holds(
        Members(members, (), OBJECT, order, conditions=refuted),
        good=('{"a":0}', '{"a":1,"b":0}', '{"c":0}', '{"a":1,"b":2,"c":0}', '{"a":0,"b":0,"c":0}'),
        bad=("{}", '{"a":1}', '{"a":1,"b":2}', '{"b":2}'),
    )


@ORDERS
def test_a_condition_that_only_a_later_member_can_meet(order: Order):
    members = (Member("a", text("0"), False), Member("b", split("1", ("0",)), False), Member("c", text("0"), False))
    term = Members(members, (), OBJECT, order, conditions=((Bound(0, 1),),))
    assert_holds(term, good=('{"b":1}', '{"a":0,"b":1,"c":0}'), bad=("{}", '{"a":0}', '{"b":0}', '{"a":0,"c":0}'))
    recognizer = Recognizer(terms.GrammarSpec({"start": term}))
    state, _ = recognizer.feed(recognizer.start, b'{"b":')
    assert recognizer.legal_bytes(state) == b"1"


def test_a_member_behind_which_the_condition_cannot_be_met_is_not_begun():
    members = (Member("a", split("1", ("0",)), False), Member("b", text("0"), False))
    term = Members(members, (), OBJECT, "declared", conditions=((Bound(0, 1),),))
    assert_holds(term, good=('{"a":1}', '{"a":1,"b":0}'), bad=('{"b":0}',))


@ORDERS
def test_conditions_on_how_many_members_there_are(order: Order):
    """At most one, or at least three."""
    members = tuple(Member(name, text("0"), False) for name in "abcd")
    assert_holds(
        Members(members, (), OBJECT, order, conditions=((Bound(None, 2, reached=False), Bound(None, 3)),)),
        good=("{}", '{"b":0}', '{"a":0,"b":0,"d":0}', '{"a":0,"b":0,"c":0,"d":0}'),
        bad=('{"a":0,"d":0}', '{"a":0,"b":0}'),
    )


def test_conditions_on_how_many_items_there_are():
    not_two = ((Bound(None, 2, reached=False), Bound(None, 3)),)
    assert_holds(
        Items((), text("0", "1"), ARRAY, conditions=not_two), good=("[]", "[0]", "[0,1,0]", "[0,0,0,0]"), bad=("[0,0]",)
    )
    assert_holds(Items((), text("0"), ARRAY, max_count=2, conditions=not_two), good=("[]", "[0]"), bad=("[0,0]",))


@ORDERS
@pytest.mark.parametrize("names", [("x",), ("x", "y"), ("a", "b", "x")])
def test_a_condition_that_only_another_name_can_meet(order: Order, names: tuple[str, ...]):
    members = (Member("a", text("0"), False), Member("b", text("0"), False))
    extra = NameClass(terms.LiteralSet(names), split("1", ("0",)))
    assert_holds(
        Members(members, (extra,), OBJECT, order, conditions=((Bound(0, 1),),)),
        good=('{"x":1}', '{"a":0,"b":0,"x":1}'),
        bad=("{}", '{"x":0}', '{"a":0,"b":0}'),
    )


@ORDERS
def test_the_last_name_of_a_class_is_kept_for_what_is_missing(order: Order):
    classes = (
        NameClass(terms.LiteralSet(("x", "y")), split("1", ("0",))),
        NameClass(terms.LiteralSet(("é",)), split("1", ("0",), on=1)),
    )
    assert_holds(
        Members((), classes, OBJECT, order, conditions=((Bound(0, 2), Bound(1, 1)),)),
        good=('{"x":1,"y":1}', '{"x":0,"y":0,"é":1}', '{"é":1}'),
        bad=('{"x":1}', '{"x":0,"y":1,"é":0}', '{"é":0,"x":1,"y":0}'),
    )


def test_names_without_end_meet_any_count():
    extra = NameClass(terms.ANY_TEXT, split("1", ("0",)))
    recognizer = Recognizer(
        terms.GrammarSpec({"start": Members((), (extra,), OBJECT, conditions=((Bound(0, 40), Bound(None, 900)),))})
    )
    whole = recognizer.completion(recognizer.start)
    assert recognizer.accepts(whole)
    assert whole.count(b":1") == 40


@ORDERS
@pytest.mark.parametrize(
    "conditions",
    [
        ((),),
        ((Bound(0, 3),),),
        ((Bound(0, 2),), (Bound(None, 2, reached=False),)),
        ((Bound(0, 1),), (Bound(0, 1, reached=False),)),
        ((Bound(7, 1),),),
    ],
)
def test_conditions_that_nothing_meets_make_a_container_dead(order: Order, conditions: tuple[terms.Condition, ...]):
    members = (Member("a", split("1", ("0",)), False), Member("b", split("1", ("0",)), True))
    assert Recognizer(terms.GrammarSpec({"start": Members(members, (), OBJECT, order, conditions=conditions)})).is_empty
    items = (members[0].value, members[1].value)
    assert Recognizer(terms.GrammarSpec({"start": Items(items, None, ARRAY, conditions=conditions)})).is_empty


def test_a_text_of_several_ways_counts_as_any_of_them():
    item = Counted(text("0", "1"), (Way(text("0", "1"), (0,)), Way(text("1"), (1,))))
    assert_holds(
        Items((), item, ARRAY, max_count=2, conditions=((Bound(0, 1),), (Bound(1, 1),))),
        good=("[1,1]", "[0,1]", "[1,0]"),
        bad=("[1]", "[0,0]"),
    )


def test_recursion_through_a_condition():
    """An array that contains an array like itself, or is empty."""
    item = Counted(
        terms.Choice((text("0"), terms.RuleRef("start"))), (Way(text("0")), Way(terms.RuleRef("start"), (0,)))
    )
    array = Items((), item, ARRAY, conditions=((Bound(0, 1), Bound(None, 1, reached=False)),))
    assert_holds(array, good=("[]", "[[]]", "[0,[],0]", "[[0,[]],0]"), bad=("[0]", "[[0]]", "[0,0]"))


@pytest.mark.parametrize("order", ["declared", "any"])
def test_hundreds_of_counted_members_are_planned_in_time(order: Order):
    """Each condition is about three members next to each other; one is about all."""
    members = tuple(
        Member(f"name{i}", Counted(text("0", "1"), (Way(text("0")), Way(text("1"), (i // 3, 100)))), i % 5 == 0)
        for i in range(300)
    )
    wanted = (*((Bound(i, 1),) for i in range(100)), (Bound(100, 110),) if order == "declared" else (Bound(100, 10),))
    started = time.perf_counter()
    recognizer = Recognizer(terms.GrammarSpec({"start": Members(members, (), OBJECT, order, conditions=wanted)}))
    whole = recognizer.completion(recognizer.start)
    assert recognizer.accepts(whole)
    assert whole.count(b":1") == (110 if order == "declared" else 100)
    assert time.perf_counter() - started < 10


def test_conditions_that_take_too_long_to_plan_are_a_limit():
    """Thirty conditions, each met by two members that are far from each other: all must be kept in mind."""
    members = tuple(Member(f"name{i}", split("1", ("0",), on=i % 30), False) for i in range(60))
    wanted = (*((Bound(i, 1),) for i in range(30)), (Bound(None, 30, reached=False),))
    with pytest.raises(LimitExceeded):
        Recognizer(terms.GrammarSpec({"start": Members(members, (), OBJECT, conditions=wanted)}))
