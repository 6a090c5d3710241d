"""What arithmetic says of excluded multiples is what going through the numbers says, and what the automata say."""

from dataclasses import replace
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from constrain.frontends.json_schema.number_witness import some_number
from constrain.frontends.json_schema.numbers import NumberConstraint, contains
from constrain.frontends.json_schema.shapes import NumberShape
from constrain.frontends.json_schema.spelling import number_term
from constrain.grammar import regular

WHOLE = st.integers(-30, 30).map(Decimal)
BOUND = st.none() | WHOLE | st.integers(-300, 300).map(lambda i: Decimal(i) / 10)
STEP = st.sampled_from([Decimal(text) for text in ("1", "2", "3", "4", "5", "6", "10", "0.5", "2.5", "1.5")])


@st.composite
def constraints(draw: st.DrawFn, *, stepped: bool = False) -> NumberConstraint:
    low, high = draw(BOUND), draw(BOUND)
    if low is not None and high is not None and low > high:
        low, high = high, low
    steps = draw(st.lists(STEP, min_size=int(stepped), max_size=2, unique=True))
    return NumberConstraint(low, high, draw(st.booleans()), draw(st.booleans()), tuple(steps), draw(st.booleans()))


@settings(deadline=None)
@given(constraints(stepped=True), st.lists(constraints(), max_size=4))
def test_within_bounds_it_is_what_going_through_the_multiples_finds(
    constraint: NumberConstraint, without: list[NumberConstraint]
):
    low, high = constraint.minimum or Decimal(-30), constraint.maximum or Decimal(30)
    bounded = replace(constraint, minimum=min(low, high), maximum=max(low, high))
    values = [Decimal(i) / 10 for i in range(-301, 302)]
    found = any(contains(bounded, v) and not any(contains(one, v) for one in without) for v in values)
    assert some_number(NumberShape(bounded, tuple(without))) == found


@settings(max_examples=60, deadline=None)
@given(constraints(), st.lists(constraints(), min_size=1, max_size=2))
def test_it_agrees_with_the_automata_where_it_decides(constraint: NumberConstraint, without: list[NumberConstraint]):
    record = NumberShape(constraint, tuple(without))
    found = some_number(record)
    if found is not None:
        assert found == (not regular.is_empty(number_term(record, "canonical")))


def test_a_multiple_of_nothing_else_is_found_beyond_the_first_few():
    record = NumberShape(
        NumberConstraint(Decimal(1), None, False, False, (Decimal(15), Decimal(8), Decimal(11))),
        (NumberConstraint(multiple_of=(Decimal(7),)), NumberConstraint(multiple_of=(Decimal(16),))),
    )
    assert some_number(record) is True


def test_multiples_of_fifteen_that_are_none_of_five_are_none():
    record = NumberShape(NumberConstraint(multiple_of=(Decimal(15),)), (NumberConstraint(multiple_of=(Decimal(5),)),))
    assert some_number(record) is False
