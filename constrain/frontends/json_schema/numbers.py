"""Constraints on JSON numbers, decided on exact decimals, and the regular language of the texts that satisfy them.

Main type: `NumberConstraint`. Questions: `contains`, `is_empty_constraint`, `intersect`. Language: `number_language`.

Invariant: a text is in `number_language(c, …)` only if its exact value satisfies `c`; the language is empty exactly
when `is_empty_constraint(c)`. No float is involved anywhere.

**Digits.** Nothing is ever unbounded. On each side of zero a text has at most I digits before the point and F after it:

    I = max(40, 1 + the integer digits of the smallest admissible magnitude and of the step)
    F = max(40, 1 + the fraction digits of both bounds, those of the step)

so that a constraint that some number satisfies has a text, and a bound such as 1e308 does not invite 308 digits.

**Canonical spelling** (`numbers_canonical`): integers `0` or `-?[1-9]\\d*`; a number that need not be an integer
also as `int.frac`, where `frac` is `0` or does not end in 0. So `2`, `2.0`, `0.25`; never `2.50`, `-0`, `-0.0`, `2e3`.

**Any spelling** (`numbers_any`): also trailing zeros, `-0`, and exponents up to ±400 with at most three leading zeros:
`2.50`, `1E+03`. Zero, and numbers on a side of zero on which nothing is asked, have any mantissa (`10e-1`); others have
one digit before its point, as Python and JavaScript write (`1.5e+300`). Multiples of steps other than powers of ten
have exponents only where they are few or round; `numbers_any` says which.

**Long steps.** A step whose coefficient, without its factors of ten, is over 5,000 is not counted by remainders: on
each side of zero its first 2,000 multiples have texts.

The step of several `multipleOf` (and of `integer`, which is 1) is their least common multiple, an exact decimal.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Literal as OneOf

from ...errors import InvalidSpecification, LimitExceeded, shorten
from ...grammar.terms import EMPTY, Literal, LiteralSet, Regular, alternation
from .numbers_any import any_language, any_of_values
from .numbers_canonical import canonical_language
from .numbers_side import LIMIT_COEFFICIENT, Side, Step

__all__ = [
    "NumberConstraint",
    "Spelling",
    "contains",
    "finite_language",
    "intersect",
    "is_empty_constraint",
    "number_language",
]

Spelling = OneOf["canonical", "any"]

LIMIT_DIGITS = 400
"""Digits before or after the point of a bound or a step, written out."""


@dataclass(frozen=True, slots=True)
class NumberConstraint:
    """The numbers between two bounds that are multiples of all of `multiple_of`; `None` is no bound.

    `plain` (beside `integer`) admits only texts without point and exponent: what draft 4 calls an integer.
    """

    minimum: Decimal | None = None
    maximum: Decimal | None = None
    exclusive_minimum: bool = False
    exclusive_maximum: bool = False
    multiple_of: tuple[Decimal, ...] = ()
    integer: bool = False
    plain: bool = False


def contains(constraint: NumberConstraint, value: Decimal) -> bool:
    """True if `value` satisfies `constraint`, exactly."""
    low, high = constraint.minimum, constraint.maximum
    if low is not None and (value < low or (value == low and constraint.exclusive_minimum)):
        return False
    if high is not None and (value > high or (value == high and constraint.exclusive_maximum)):
        return False
    step = step_of(constraint)
    return step is None or (_exact(value) / step).denominator == 1


def spans(outer: NumberConstraint, inner: NumberConstraint) -> bool:
    """True if every number between the bounds of `inner` lies between those of `outer`."""
    if outer.minimum is not None:
        if inner.minimum is None or inner.minimum < outer.minimum:
            return False
        if inner.minimum == outer.minimum and outer.exclusive_minimum and not inner.exclusive_minimum:
            return False
    if outer.maximum is not None:
        if inner.maximum is None or inner.maximum > outer.maximum:
            return False
        if inner.maximum == outer.maximum and outer.exclusive_maximum and not inner.exclusive_maximum:
            return False
    return True


def intersect(first: NumberConstraint, second: NumberConstraint) -> NumberConstraint:
    """What satisfies both: the tighter bounds, all multiples."""
    low, low_open = _tighter(
        first.minimum, first.exclusive_minimum, second.minimum, second.exclusive_minimum, upwards=True
    )
    high, high_open = _tighter(
        first.maximum, first.exclusive_maximum, second.maximum, second.exclusive_maximum, upwards=False
    )
    multiples = tuple(dict.fromkeys(first.multiple_of + second.multiple_of))
    integer, plain = first.integer or second.integer, first.plain or second.plain
    return NumberConstraint(low, high, low_open, high_open, multiples, integer, plain)


def is_empty_constraint(constraint: NumberConstraint) -> bool:
    """True if no number at all satisfies `constraint`; exact, whatever the size."""
    low, high = constraint.minimum, constraint.maximum
    if low is None or high is None:
        return False
    step = step_of(constraint)
    if step is None:
        return low > high or (low == high and (constraint.exclusive_minimum or constraint.exclusive_maximum))
    return _first_multiple(constraint, step) > _last_multiple(constraint, step)


def number_language(constraint: NumberConstraint, spelling: Spelling, excluded: tuple[Step, ...] = ()) -> Regular:
    """The JSON texts (ASCII) of the numbers that satisfy `constraint`, spelt as the module says.

    Args:    excluded: steps whose multiples are left out (zero too); then all other texts are plain decimals.
    Raises:  LimitExceeded: a bound or step of more than 400 digits, or a step whose coefficient needs over 63 bits.
             InvalidSpecification: a `multipleOf` that is not positive.
    Cost:    canonical: O(digits of the bounds) nodes; any: some 50 to 400 nodes; up to 2,000 texts where listed. Kept.
    """
    _check_sizes(constraint)
    return _language(replace(constraint, multiple_of=tuple(sorted(set(constraint.multiple_of)))), spelling, excluded)


def finite_language(values: Iterable[Decimal], spelling: Spelling, *, plain: bool = False) -> Regular:
    """The texts of just `values`, as `number_language` writes each; linear in their digits.

    Raises:  LimitExceeded: a value of more than 400 digits before or after the point.
    """
    values = list(values)
    for value in values:
        _check_size(value)
    if spelling == "any" and not plain:
        return any_of_values([Fraction(value) for value in values])
    texts = {format(value.normalize(_EXACTLY), "f") if value else "0": None for value in values}
    if plain and spelling == "any" and "0" in texts:
        texts["-0"] = None
    return LiteralSet(tuple(texts)) if texts else EMPTY


_EXACTLY = Context(prec=10_000)
"""`normalize` rounds to the precision of its context."""


@lru_cache(maxsize=4096)
def _language(constraint: NumberConstraint, spelling: Spelling, excluded: tuple[Step, ...]) -> Regular:
    if is_empty_constraint(constraint):
        return EMPTY
    step = step_of(constraint)
    exact_step = None if step is None else decimal_step(step)
    positive, negative, has_zero = _sides(constraint, step)
    has_zero = has_zero and not excluded
    if spelling == "canonical":
        return canonical_language(positive, negative, has_zero, exact_step, constraint.integer, excluded)
    if constraint.plain and constraint.integer:
        written = canonical_language(positive, negative, has_zero, exact_step, True, excluded)
        return alternation(written, Literal("-0")) if has_zero else written
    return any_language(positive, negative, has_zero, exact_step, excluded)


# ---------------------------------------------------------------- exact arithmetic


def _exact(value: Decimal) -> Fraction:
    return Fraction(value)


def step_of(constraint: NumberConstraint) -> Fraction | None:
    """The least common multiple of all steps, or None where every number will do."""
    steps = [_exact(multiple) for multiple in constraint.multiple_of]
    steps += [Fraction(1)] if constraint.integer else []
    if steps and min(steps) <= 0:
        worst = min(constraint.multiple_of)
        raise InvalidSpecification(f"'multipleOf' must be greater than 0, not {worst}", expected="a positive number")
    return common_multiple(steps) if steps else None


def common_multiple(steps: list[Fraction]) -> Fraction:
    """The least common multiple."""
    common = math.lcm(*(step.denominator for step in steps))
    return Fraction(math.lcm(*(int(step * common) for step in steps)), common)


def decimal_step(step: Fraction) -> Step:
    """`step` as coefficient · 10^exponent, the coefficient not a multiple of ten."""
    exponent = 0
    while step.denominator != 1:
        step, exponent = step * 10, exponent - 1
    coefficient = step.numerator
    while coefficient % 10 == 0:
        coefficient, exponent = coefficient // 10, exponent + 1
    if coefficient > LIMIT_COEFFICIENT:
        raise LimitExceeded(
            f"multiples of {shorten(str(coefficient))} · 10^{exponent} cannot be counted in 63 bits",
            limit="multipleOf coefficient",
            help="use a coarser multipleOf, or fewer of them at one place",
        )
    return Step(coefficient, exponent)


def _first_multiple(constraint: NumberConstraint, step: Fraction) -> int:
    assert constraint.minimum is not None
    quotient = _exact(constraint.minimum) / step
    first = math.ceil(quotient)
    return first + 1 if constraint.exclusive_minimum and first == quotient else first


def _last_multiple(constraint: NumberConstraint, step: Fraction) -> int:
    assert constraint.maximum is not None
    quotient = _exact(constraint.maximum) / step
    last = math.floor(quotient)
    return last - 1 if constraint.exclusive_maximum and last == quotient else last


def _tighter(
    first: Decimal | None, first_open: bool, second: Decimal | None, second_open: bool, *, upwards: bool
) -> tuple[Decimal | None, bool]:
    if first is None or second is None:
        return (second, second_open) if first is None else (first, first_open)
    if first == second:
        return first, first_open or second_open
    return (first, first_open) if (first > second) == upwards else (second, second_open)


# ---------------------------------------------------------------- sides of zero


def _sides(constraint: NumberConstraint, step: Fraction | None) -> tuple[Side | None, Side | None, bool]:
    """The positive magnitudes, the negative magnitudes (both without zero), and whether zero is admitted."""
    low: Fraction | None = None if constraint.minimum is None else _exact(constraint.minimum)
    high: Fraction | None = None if constraint.maximum is None else _exact(constraint.maximum)
    low_open, high_open = constraint.exclusive_minimum, constraint.exclusive_maximum
    if step is not None:  # bounds become multiples themselves, and closed
        low = None if low is None else _first_multiple(constraint, step) * step
        high = None if high is None else _last_multiple(constraint, step) * step
        low_open = high_open = False
    has_zero = not (low is not None and (low > 0 or (low == 0 and low_open)))
    has_zero = has_zero and not (high is not None and (high < 0 or (high == 0 and high_open)))
    positive = _side(low, low_open, high, high_open, step)
    negative = _side(None if high is None else -high, high_open, None if low is None else -low, low_open, step)
    return positive, negative, has_zero


def _side(
    low: Fraction | None, low_open: bool, high: Fraction | None, high_open: bool, step: Fraction | None
) -> Side | None:
    if low is None or low <= 0:
        low, low_open = (Fraction(0), True) if step is None else (step, False)
    if high is not None and (high < low or (high == low and (low_open or high_open))):
        return None
    return Side.of(low, low_open, high, high_open, step)


def _check_sizes(constraint: NumberConstraint) -> None:
    """Refuse what has too many digits before any of it is written out."""
    for value in (constraint.minimum, constraint.maximum, *constraint.multiple_of):
        if value is not None:
            _check_size(value)


def _check_size(value: Decimal) -> None:
    if not value.is_finite():
        raise InvalidSpecification(f"a bound or step must be a finite number, not {value}")
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    if value and (value.adjusted() >= LIMIT_DIGITS or -exponent > LIMIT_DIGITS):
        raise LimitExceeded(
            f"the number {shorten(str(value))} has more than {LIMIT_DIGITS} digits before or after the point",
            limit="number digits",
            help="use a bound nearer to zero or with fewer digits, or leave it out",
        )
