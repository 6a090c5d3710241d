"""What is left of numbers when others are excluded, against exact arithmetic."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constrain.errors import LimitExceeded
from constrain.frontends.json_schema.numbers import NumberConstraint, contains
from constrain.frontends.json_schema.numbers_without import MAX_POINTS, language_without

from .term_oracle import denotes

BOUNDS = st.none() | st.integers(-12, 12).map(Decimal) | st.decimals(-3, 3, places=1)
STEPS = st.sampled_from([Decimal(one) for one in ("1", "2", "3", "4", "6", "10", "0.5", "0.3", "100")])
CONSTRAINTS = st.builds(
    NumberConstraint,
    BOUNDS,
    BOUNDS,
    st.booleans(),
    st.booleans(),
    st.just(()) | st.tuples(STEPS),
    st.booleans(),
)
VALUES = st.integers(-40, 40).map(Decimal) | st.decimals(-13, 13, places=1) | st.sampled_from([Decimal("1E+3")])


@settings(max_examples=600, deadline=None)
@given(CONSTRAINTS, st.lists(CONSTRAINTS, max_size=3), VALUES, st.sampled_from(["canonical", "any"]))
def test_plain_decimals_are_judged_exactly(constraint, without, value, spelling) -> None:
    language = language_without(constraint, without, spelling)
    text = f"{value.normalize() + 0:f}"
    true = contains(constraint, value) and not any(contains(one, value) for one in without)
    assert denotes(language, text) == true


@settings(max_examples=300, deadline=None)
@given(CONSTRAINTS, st.lists(CONSTRAINTS, max_size=2), st.integers(-99, 99), st.integers(-2, 3))
def test_no_text_of_an_excluded_number_is_left(constraint, without, mantissa, exponent) -> None:
    text = f"{mantissa / 10}e{exponent}"
    value = Decimal(text)
    if denotes(language_without(constraint, without, "any"), text):
        assert contains(constraint, value) and not any(contains(one, value) for one in without)


@pytest.mark.parametrize("count", [3, MAX_POINTS + 4])
@pytest.mark.parametrize("spelling", ["canonical", "any"])
def test_single_numbers_leave_their_neighbours(count: int, spelling) -> None:
    points = [NumberConstraint(Decimal(i), Decimal(i)) for i in range(count)]
    language = language_without(NumberConstraint(), points, spelling)
    for text in ("0", "1", "2.0", "-0", "2e0"):
        assert not denotes(language, text)
    for text in ("-1", "0.5", "1.5", str(count)):
        assert denotes(language, text)


def test_too_many_remainders_are_refused_by_name() -> None:
    steps = [NumberConstraint(multiple_of=(Decimal(one),)) for one in (7, 11, 13, 17)]
    with pytest.raises(LimitExceeded, match="remainders"):
        language_without(NumberConstraint(), steps, "canonical")
