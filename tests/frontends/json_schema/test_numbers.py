"""Number languages against exact arithmetic: hypothesis draws constraints and texts, `Fraction` judges."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constrain.errors import InvalidSpecification, LimitExceeded
from constrain.frontends.json_schema.numbers import (
    NumberConstraint,
    contains,
    finite_language,
    intersect,
    is_empty_constraint,
    number_language,
)
from constrain.grammar.recognizer import DEAD, Recognizer
from constrain.grammar.sample import sample
from constrain.grammar.terms import EMPTY, GrammarSpec, Lexeme, Not, Repeat

from .term_oracle import denotes

NUMBER = re.compile(r"-?(0|[1-9]\d{0,39})(\.\d{1,40})?([eE][+-]?0{0,3}(\d|[1-9]\d{1,2}))?", re.ASCII)
CANONICAL = re.compile(r"(0|-?[1-9]\d{0,39}|-?0(?=\.\d*[1-9]))(\.(0|\d{0,39}[1-9]))?", re.ASCII)


def javascript_of(value: float) -> str:
    """What `JSON.stringify` writes: Python's digits, an exponent only from 1e21 on and under 1e-6."""
    digits = format(Decimal(repr(value)), "f").removesuffix(".0")
    if value == 0 or 1e-6 <= abs(value) < 1e21:
        return digits.removeprefix("-") if value == 0 else digits
    mantissa, exponent = f"{Decimal(repr(value)).normalize():e}".split("e")
    return f"{mantissa}e{exponent}"


def truth(constraint: NumberConstraint, text: str, spelling: str) -> bool:
    """What the language should say of `text`, of at most 40.40 digits."""
    if spelling == "canonical":
        if not CANONICAL.fullmatch(text) or (text.startswith("-0.0") and not text.strip("-0.")):
            return False
        if constraint.integer and "." in text:
            return False
    elif not NUMBER.fullmatch(text) or abs(int([*re.split("[eE]", text), "0"][1])) > 400:
        return False
    value = Fraction(text)
    low, high = constraint.minimum, constraint.maximum
    if low is not None and (value < Fraction(low) or (constraint.exclusive_minimum and value == Fraction(low))):
        return False
    if high is not None and (value > Fraction(high) or (constraint.exclusive_maximum and value == Fraction(high))):
        return False
    steps = [Fraction(one) for one in constraint.multiple_of] + [Fraction(1)] * constraint.integer
    return all((value / step).denominator == 1 for step in steps)


EDGES = ("0", "0.1", "1", "100", "99.99", "1E-7", "1E+21", "-1E+30", "-0.5", "1.5E+300")
STEP_TEXTS = ("1", "2", "3", "5", "7", "10", "12", "15", "25", "64", "100", "1000", "256", "1024",
              "0.1", "0.01", "0.5", "0.25", "0.3", "1.5", "2.5", "1E-7")  # fmt: skip
BOUNDS = st.one_of(
    st.none(),
    st.integers(-12, 12).map(Decimal),
    st.integers(-(10**20), 10**20).map(Decimal),
    st.decimals(-20, 20, places=2),
    st.decimals(-2, 2, places=5),
    st.sampled_from([Decimal(one) for one in EDGES]),
)
STEPS = st.sampled_from([Decimal(one) for one in STEP_TEXTS])
CONSTRAINTS = st.builds(
    NumberConstraint,
    BOUNDS,
    BOUNDS,
    st.booleans(),
    st.booleans(),
    st.one_of(st.just(()), st.tuples(STEPS), st.tuples(STEPS, STEPS)),
    st.booleans(),
)


def spellings(value: Fraction, draw) -> str:
    """Some text of a decimal value: a point moved, zeros added, an exponent to match."""
    digits, exponent = abs(value.numerator), 0
    rest = value.denominator
    while rest != 1:
        digits, exponent = digits * 10, exponent - 1
        shared = Fraction(digits, rest)
        digits, rest = shared.numerator, shared.denominator
    zeros = draw(st.sampled_from([0, 0, 0, 1, 2, 5]))
    text, exponent = str(digits) + "0" * zeros, exponent - zeros
    style = draw(st.sampled_from(["plain", "plain", "exponent"]))
    places = draw(st.integers(-3, len(text) + 3)) if style == "exponent" else -exponent
    if places < 0:
        places = 0
        text += "0" * exponent if style == "plain" else ""
        exponent = 0 if style == "plain" else exponent
    text = text.rjust(places + 1, "0")
    whole, fraction = text[: len(text) - places].lstrip("0") or "0", text[len(text) - places :]
    exponent += places
    sign = "-" if value < 0 or (value == 0 and draw(st.booleans())) else ""
    suffix = (
        draw(st.sampled_from(["e", "E"]))
        + ("-" if exponent < 0 else draw(st.sampled_from(["", "+"])))
        + (draw(st.sampled_from(["", "0", "00"])) + str(abs(exponent)))
        if exponent or draw(st.integers(0, 4)) == 0
        else ""
    )
    return sign + whole + ("." + fraction if fraction else "") + suffix


@st.composite
def cases(draw) -> tuple[NumberConstraint, str]:
    constraint = draw(CONSTRAINTS)
    edges = [Fraction(b) for b in (constraint.minimum, constraint.maximum) if b is not None] or [Fraction(0)]
    steps = [Fraction(s) for s in constraint.multiple_of] or [Fraction(1)]
    near = draw(st.sampled_from(edges))
    kind = draw(st.integers(0, 3))
    if kind == 0:
        value = near + draw(st.integers(-2, 2)) * Fraction(1, 10 ** draw(st.integers(0, 8)))
    elif kind == 1:
        value = (near // steps[0] + draw(st.integers(-3, 3))) * steps[0]
    elif kind == 2:
        value = Fraction(draw(st.integers(-2000, 2000)), 10 ** draw(st.integers(0, 4)))
    else:
        value = Fraction(draw(st.integers(-99, 99))) * Fraction(10) ** draw(st.integers(-30, 30)) * steps[0]
    return constraint, spellings(value, draw)


NORMAL = re.compile(r"-?[1-9](\.\d{0,19}[1-9])?[eE].*")


def steps_of(constraint: NumberConstraint) -> list[Fraction]:
    return [Fraction(one) for one in constraint.multiple_of] + [Fraction(1)] * constraint.integer


def is_promised(constraint: NumberConstraint, text: str) -> bool:
    """Whether the module says that `text`, if its value is admitted, is one of its texts under "any"."""
    if is_cut(constraint):
        return False
    value = Fraction(text)
    if value == 0 or not re.search("[eE]", text):
        return True
    bound = constraint.maximum if value > 0 else constraint.minimum
    other = constraint.minimum if value > 0 else constraint.maximum
    steps = steps_of(constraint)
    if not steps and bound is None and (other is None or Fraction(other) == 0 or (other < 0) == (value > 0)):
        return True  # nothing is asked on this side of zero
    if not NORMAL.fullmatch(text):
        return False
    if not steps:
        return True
    powers = [power for power in range(-40, 40) if all(Fraction(10) ** power % step == 0 for step in steps)]
    return bool(powers) and value % Fraction(10) ** powers[0] == 0


def is_cut(constraint: NumberConstraint) -> bool:
    """Whether the step is so long that only the first multiples have texts."""
    steps = steps_of(constraint)
    if not steps:
        return False
    scale = math.lcm(*(step.denominator for step in steps))
    return math.lcm(*(int(step * scale) for step in steps)) > 5000


@settings(max_examples=1000, deadline=None)
@given(cases())
def test_any_spelling_admits_texts_of_the_values_and_all_it_promises(case: tuple[NumberConstraint, str]) -> None:
    constraint, text = case
    if not NUMBER.fullmatch(text):
        return
    got, true = denotes(number_language(constraint, "any"), text), truth(constraint, text, "any")
    assert true or not got
    assert got or not true or not is_promised(constraint, text)


@settings(max_examples=500, deadline=None)
@given(CONSTRAINTS, st.floats(allow_nan=False, allow_infinity=False))
def test_what_python_and_javascript_write_is_admitted(constraint: NumberConstraint, value: float) -> None:
    constraint = replace(constraint, multiple_of=())
    for text in (repr(value), javascript_of(value)):
        if NUMBER.fullmatch(text) and not (constraint.integer and re.search(r"\.\d*0e", text)):
            assert denotes(number_language(constraint, "any"), text) == truth(constraint, text, "any"), text


@settings(max_examples=700, deadline=None)
@given(cases())
def test_canonical_spelling_admits_exactly_the_canonical_texts(case: tuple[NumberConstraint, str]) -> None:
    constraint, text = case
    if NUMBER.fullmatch(text):
        got, true = denotes(number_language(constraint, "canonical"), text), truth(constraint, text, "canonical")
        assert got == true or (is_cut(constraint) and not got)


@settings(max_examples=300, deadline=None)
@given(CONSTRAINTS, st.text("0123456789.-+eE", max_size=7), st.sampled_from(["canonical", "any"]))
def test_what_is_not_a_number_is_never_admitted(constraint: NumberConstraint, text: str, spelling) -> None:
    expected = truth(constraint, text, spelling)
    got = denotes(number_language(constraint, spelling), text)
    assert expected or not got
    if expected and (spelling == "canonical" or is_promised(constraint, text)):
        assert got or is_cut(constraint)


@pytest.mark.parametrize("spelling", ["canonical", "any"])
@pytest.mark.parametrize("integer", [False, True])
def test_every_short_text_is_judged_right(spelling, integer: bool) -> None:
    wholes, fractions = ("0", "00", "1", "9", "10", "12"), ("", ".", ".0", ".5", ".50", ".05")
    exponents = ("", "e0", "e1", "E-1", "e+01", "e-0")
    grid = ["".join(parts) for parts in itertools.product(("", "-"), wholes, fractions, exponents)]
    for low, high in ((None, None), ("-1.05", "12"), ("0", None), (None, "0"), ("0.5", "1"), ("-10", "-1")):
        for is_open in (False, True):
            minimum, maximum = (None if one is None else Decimal(one) for one in (low, high))
            constraint = NumberConstraint(minimum, maximum, is_open, is_open, (), integer)
            language = number_language(constraint, spelling)
            for text in grid:
                true = truth(constraint, text, spelling)
                if not true or spelling == "canonical" or is_promised(constraint, text):
                    assert denotes(language, text) == true, (constraint, text)


@settings(max_examples=300, deadline=None)
@given(CONSTRAINTS, CONSTRAINTS, st.decimals(-30, 30, places=2))
def test_intersection_holds_what_both_hold(first: NumberConstraint, second: NumberConstraint, value: Decimal) -> None:
    both = intersect(first, second)
    assert contains(both, value) == (contains(first, value) and contains(second, value))
    if is_empty_constraint(both):
        assert not contains(both, value)
        assert number_language(both, "any") == EMPTY


@pytest.mark.parametrize(
    ("constraint", "empty"),
    [
        (NumberConstraint(Decimal(7), Decimal(3)), True),
        (NumberConstraint(Decimal(3), Decimal(3)), False),
        (NumberConstraint(Decimal(3), Decimal(3), True), True),
        (NumberConstraint(Decimal("0.1"), Decimal("0.9"), integer=True), True),
        (NumberConstraint(Decimal("0.1"), Decimal("1"), integer=True), False),
        (NumberConstraint(Decimal("0"), Decimal("1"), True, True, (Decimal("0.5"),)), False),
        (NumberConstraint(Decimal("0"), Decimal("1"), True, True, (Decimal("0.5"), Decimal("0.3"))), True),
        (NumberConstraint(Decimal(2**53), Decimal(2**53 + 2), True, True, (), True), False),
        (NumberConstraint(Decimal("1E+300"), Decimal("1E+300")), False),
        (NumberConstraint(None, Decimal(0), multiple_of=(Decimal("1E+30"),)), False),
    ],
)
def test_emptiness_is_exact(constraint: NumberConstraint, empty: bool) -> None:
    assert is_empty_constraint(constraint) == empty
    assert (number_language(constraint, "canonical") == EMPTY) == empty
    assert (number_language(constraint, "any") == EMPTY) == empty


@pytest.mark.parametrize("spelling", ["canonical", "any"])
@pytest.mark.parametrize("text", ["1" + "0" * 300, "0." + "0" * 300 + "1", "123.456", "-7", "9007199254740993"])
def test_a_single_value_of_any_size_has_a_text(text: str, spelling) -> None:
    value = Decimal(text)
    language = number_language(NumberConstraint(value, value), spelling)
    assert denotes(language, text)
    assert not denotes(language, text[:-1] + ("3" if text[-1] != "3" else "4"))


def test_values_in_exponent_form_as_others_write_them() -> None:
    at_least_one = number_language(NumberConstraint(minimum=Decimal(1)), "any")
    for text, expected in {
        "1e308": True, "1E400": True, "1e401": False, "1e-1": False, "0.01e1": False, "2.50e1": True,
        "1.7976931348623157e+308": True, "1e00000": False, "1e000": True, "0e5": False, "-1e5": False,
    }.items():  # fmt: skip
        assert denotes(at_least_one, text) == expected, text


def test_a_plain_integer_has_neither_point_nor_exponent() -> None:
    language = number_language(NumberConstraint(maximum=Decimal(20), integer=True, plain=True), "any")
    for text, expected in {
        "0": True,
        "-0": True,
        "-17": True,
        "20": True,
        "21": False,
        "1.0": False,
        "1e1": False,
    }.items():
        assert denotes(language, text) == expected


def test_a_huge_integer_is_a_multiple_of_one_half() -> None:
    language = number_language(NumberConstraint(multiple_of=(Decimal("0.5"),), integer=True), "any")
    assert denotes(language, "1e308")
    assert denotes(language, "2.5e1")
    assert not denotes(language, "2.55e1")


def test_a_far_bound_does_not_invite_more_digits() -> None:
    language = number_language(NumberConstraint(maximum=Decimal("1.7976931348623157E+308")), "canonical")
    assert denotes(language, "9" * 40)
    assert not denotes(language, "9" * 41)


@pytest.mark.parametrize(
    "constraint",
    [
        NumberConstraint(minimum=Decimal("1E+400")),
        NumberConstraint(maximum=Decimal("1E-401")),
        NumberConstraint(multiple_of=(Decimal(2**64 + 1),)),
        NumberConstraint(multiple_of=(Decimal(2**61 - 1), Decimal(2**31 - 1))),
    ],
)
def test_what_is_too_large_is_a_limit(constraint: NumberConstraint) -> None:
    with pytest.raises(LimitExceeded):
        number_language(constraint, "canonical")


@pytest.mark.parametrize("step", ["0", "-1"])
def test_a_step_that_is_not_positive_is_refused(step: str) -> None:
    with pytest.raises(InvalidSpecification):
        number_language(NumberConstraint(multiple_of=(Decimal(step),)), "any")


def test_terms_stay_small_and_shallow() -> None:
    plain = number_language(NumberConstraint(Decimal(-(10**18)), Decimal(10**18), integer=True), "canonical")
    assert _size(plain) < 200
    long = number_language(NumberConstraint(Decimal("1." + "7" * 400), Decimal("9" * 400)), "any")
    assert _size(long) < 20_000
    hash(long)  # no deeper than the interpreter's recursion limit


def _size(term, seen: set[int] | None = None) -> int:
    seen = set() if seen is None else seen
    if id(term) in seen:
        return 0
    seen.add(id(term))
    children = getattr(term, "items", ()) or ((term.item,) if isinstance(term, Repeat | Not) else ())
    return 1 + sum(_size(child, seen) for child in children)


def test_many_multiples_are_counted_and_few_are_listed() -> None:
    step = (Decimal(7),)
    many = number_language(NumberConstraint(Decimal(0), Decimal(10**9), multiple_of=step, integer=True), "canonical")
    assert "DecimalMultiple" in repr(many)
    few = number_language(NumberConstraint(Decimal(0), Decimal(700), multiple_of=step, integer=True), "canonical")
    assert "DecimalMultiple" not in repr(few)


GUARDED = {
    "integer": NumberConstraint(integer=True),
    "port": NumberConstraint(Decimal(0), Decimal(65535), integer=True),
    "64 bits": NumberConstraint(Decimal(-(2**63)), Decimal(2**63 - 1), integer=True),
    "latitude": NumberConstraint(Decimal(-90), Decimal(90)),
    "above": NumberConstraint(Decimal("1.5"), None, True),
    "cents": NumberConstraint(Decimal(0), multiple_of=(Decimal("0.01"),)),
    "nickels": NumberConstraint(multiple_of=(Decimal("0.05"),)),
    "multiples of 4 up to 40": NumberConstraint(None, Decimal(40), multiple_of=(Decimal(4),), integer=True),
    "sevens": NumberConstraint(Decimal(0), Decimal(10**9), multiple_of=(Decimal(7),)),
    "kibibytes": NumberConstraint(multiple_of=(Decimal(1024),), integer=True),
    "a long step": NumberConstraint(multiple_of=(Decimal("0.123456789"),)),
    "days": NumberConstraint(multiple_of=(Decimal(86400),), integer=True),
    "the longest step counted": NumberConstraint(multiple_of=(Decimal(4999),)),
}
WALKED = (
    "0 -0 9 40 65536 -90.0001 9223372036854775808 123456789012345678901 1.5e300 1e-05 9e0 1.2e1 99.99 0.123456789 "
    "4999000 864001 172800 999999998 0.3 1.25"
)


@pytest.mark.parametrize("spelling", ["canonical", "any"])
@pytest.mark.parametrize("name", GUARDED)
def test_no_question_about_a_prefix_takes_many_terms(name: str, spelling) -> None:
    language = number_language(GUARDED[name], spelling)
    recognizer = Recognizer(GrammarSpec({"start": Lexeme(language)}))
    assert recognizer.stats()["terms"] < 1000
    for text in WALKED.split():
        state = recognizer.start
        for byte in text.encode():
            before = recognizer.stats()["terms"]
            recognizer.legal_bytes(state)
            state = recognizer.step(state, byte)
            assert recognizer.stats()["terms"] - before < 3000, text
            if state == DEAD:
                break


@pytest.mark.parametrize("spelling", ["canonical", "any"])
def test_a_long_step_has_its_first_multiples(spelling) -> None:
    language = number_language(NumberConstraint(multiple_of=(Decimal("0.123456789"),)), spelling)
    assert denotes(language, "246.913578")
    assert not denotes(language, "246.913579")
    assert not denotes(language, "24691357.8")


SEEDS = st.integers(0, 1000)
VALUES = st.lists(st.decimals(-(10**6), 10**6, places=3) | st.integers(-50, 50).map(Decimal), min_size=1, max_size=12)


@settings(max_examples=150, deadline=None)
@given(VALUES, st.sampled_from(["canonical", "any"]), st.data())
def test_a_list_of_numbers_is_written_as_each_of_them_is(values, spelling, data) -> None:
    whole = Recognizer(GrammarSpec({"start": Lexeme(finite_language(values, spelling))}))
    for value in values:
        one = NumberConstraint(value, value, integer=value == value.to_integral_value())
        text = sample(Recognizer(GrammarSpec({"start": Lexeme(number_language(one, spelling))})), data.draw(SEEDS))
        assert whole.accepts(text.encode())
        assert Decimal(sample(whole, data.draw(SEEDS))) in values


@pytest.mark.parametrize("spelling", ["canonical", "any"])
def test_ten_thousand_numbers_are_one_set(spelling) -> None:
    values = [Decimal(n * n) / 8 for n in range(-5_000, 5_000)]
    recognizer = Recognizer(GrammarSpec({"start": Lexeme(finite_language(values, spelling))}))
    assert recognizer.accepts(b"0.125")
    assert recognizer.accepts(b"3123750.125")
    assert not recognizer.accepts(b"0.25")
    assert recognizer.accepts(b"1.125e0") == (spelling == "any")
