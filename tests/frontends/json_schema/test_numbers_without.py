"""What is left of numbers when others are excluded, against exact arithmetic."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constrain.frontends.json_schema.numbers import NumberConstraint, contains
from constrain.frontends.json_schema.numbers_without import MAX_POINTS, language_without, left_out
from constrain.grammar.recognizer import DEAD, Recognizer
from constrain.grammar.terms import GrammarSpec, Lexeme

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


@pytest.mark.parametrize("spelling", ["canonical", "any"])
@pytest.mark.parametrize(
    ("step", "excluded"),
    [
        (None, ("2", "6.5", "5", "7", "11", "37")),
        (None, ("1E+30", "7E+25")),
        ("1", ("2", "3", "5", "7", "11", "13")),
        ("3", ("2", "5", "7", "11", "13")),
        ("33", ("8", "6", "7")),
    ],
)
def test_what_is_left_can_be_walked(step: str | None, excluded: tuple[str, ...], spelling) -> None:
    steps = () if step is None else (Decimal(step),)
    without = [NumberConstraint(multiple_of=(Decimal(one),)) for one in excluded]
    language = language_without(NumberConstraint(Decimal(0), Decimal(10**9), multiple_of=steps), without, spelling)
    recognizer = Recognizer(GrammarSpec({"start": Lexeme(language)}))
    for text in ("0", "12.50", "123456789", "999999999", "999999990", "1000000000"):
        state = recognizer.start
        for byte in text.encode():
            before = recognizer.stats()["terms"]
            recognizer.legal_bytes(state)
            state = recognizer.step(state, byte)
            assert recognizer.stats()["terms"] - before < 1000
            if state == DEAD:
                break


def test_exclusions_from_a_long_step_leave_its_first_multiples_and_say_so() -> None:
    steps = [NumberConstraint(multiple_of=(Decimal(one),)) for one in (7, 11, 13, 17)]
    free = NumberConstraint(multiple_of=(Decimal(4999),))
    language = language_without(free, steps, "canonical")
    for count in (1, 6, 7, 77, 1999, 2003):
        allowed = all(count % one for one in (7, 11, 13, 17)) and count <= 2000
        assert denotes(language, str(4999 * count)) == allowed
    assert "first 2,000" in str(left_out(free, steps, "canonical"))


def test_what_is_left_out_of_any_spelling_is_said() -> None:
    odd = [NumberConstraint(multiple_of=(Decimal(2),))]
    assert left_out(NumberConstraint(integer=True), odd, "canonical") is None
    assert "exponent" in str(left_out(NumberConstraint(integer=True), odd, "any"))
    assert left_out(NumberConstraint(integer=True), [NumberConstraint(Decimal(2), Decimal(2))], "any") is None


def test_few_multiples_are_exact() -> None:
    steps = [NumberConstraint(multiple_of=(Decimal(one),)) for one in (7, 11, 13, 17)]
    few = NumberConstraint(Decimal(0), Decimal(10**6), multiple_of=(Decimal(4999),))
    assert denotes(language_without(few, steps, "canonical"), "4999")
