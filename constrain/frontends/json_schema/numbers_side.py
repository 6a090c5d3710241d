"""What the two spellings of number languages share: one side of zero, a decimal step, and digit terms.

Main types: `Side` (an interval of positive magnitudes with its digit limits) and `Step` (coefficient · 10^exponent).
Invariant: a `Side` holds a number; with a step, its bounds are multiples of the step and closed.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ...grammar.terms import EMPTY, EPSILON, CharClass, Regular, Repeat

MAX_DIGITS = 40
"""Digits before the point, and after it, where the constraint itself does not need more."""

LIMIT_COEFFICIENT = 2**63 - 1
"""What the kernel counts multiples with."""

DIGIT = CharClass(((0x30, 0x39),))
NONZERO = CharClass(((0x31, 0x39),))


@dataclass(frozen=True, slots=True)
class Step:
    """coefficient · 10^exponent; the coefficient is positive and not a multiple of ten."""

    coefficient: int
    exponent: int

    @property
    def value(self) -> Fraction:
        return self.coefficient * Fraction(10) ** self.exponent

    def times(self, count: int) -> Bound:
        """The multiple `count` · step, written out."""
        digits, places = str(self.coefficient * count), -self.exponent
        if places <= 0:
            return Bound(digits + "0" * -places, "", False)
        digits = digits.rjust(places + 1, "0")
        return Bound(digits[:-places], digits[-places:].rstrip("0"), False)


@dataclass(frozen=True, slots=True)
class Bound:
    """A positive decimal, written out: `whole` without leading zeros ("0" if none), `fraction` without trailing."""

    whole: str
    fraction: str
    is_open: bool

    @property
    def value(self) -> Fraction:
        return Fraction(int(self.whole + self.fraction), 10 ** len(self.fraction))

    def without_zeros(self, count: int) -> Bound:
        """The bound of a number that ends in `count` zeros, divided by 10^count."""
        return Bound(self.whole[:-count], "", self.is_open)

    @property
    def significant(self) -> str:
        """The digits from the first to the last that is not 0; empty for zero."""
        return (self.whole + self.fraction).strip("0")

    @property
    def magnitude(self) -> int:
        """E in d.ddd · 10^E."""
        if self.whole != "0":
            return len(self.whole) - 1
        return len(self.fraction.lstrip("0")) - len(self.fraction) - 1


@dataclass(frozen=True, slots=True)
class Side:
    """Magnitudes from `low` to `high` (None: no bound), more than 0; at most `whole_digits.fraction_digits` digits."""

    low: Bound
    high: Bound | None
    whole_digits: int
    fraction_digits: int

    @property
    def is_free(self) -> bool:
        """True if it holds every positive number."""
        return self.high is None and not self.low.significant

    @classmethod
    def of(cls, low: Fraction, low_open: bool, high: Fraction | None, high_open: bool, step: Fraction | None) -> Side:
        """The side from `low` to `high`, exact decimals, with the digit limits of `numbers`."""
        bottom = bound(low, low_open)
        top = None if high is None else bound(high, high_open)
        stride = None if step is None else bound(step, False)
        whole = max(MAX_DIGITS, len(bottom.whole) + 1, len(stride.whole) + 1 if stride else 0)
        fraction = max(MAX_DIGITS, *(1 + len(one.fraction) for one in (bottom, top, stride) if one is not None))
        return cls(bottom, top, whole, fraction)


def bound(value: Fraction, is_open: bool) -> Bound:
    """`value`, a decimal fraction ≥ 0, written out."""
    whole, rest = divmod(value.numerator, value.denominator)
    digits = ""
    if rest:
        scale = decimal_scale(value.denominator)
        digits = str(rest * 10**scale // value.denominator).rjust(scale, "0")
    return Bound(str(whole), digits, is_open)


def decimal_scale(denominator: int) -> int:
    """The least s such that `denominator` divides 10^s; `denominator` has no prime factor but 2 and 5."""
    twos = (denominator & -denominator).bit_length() - 1
    fives, rest = 0, denominator >> twos
    while rest > 1:
        rest, fives = rest // 5, fives + 1
    return max(twos, fives)


def digits(low: int, high: int) -> Regular:
    """One digit from `low` to `high`; `EMPTY` if there is none."""
    return CharClass(((0x30 + low, 0x30 + high),)) if low <= high else EMPTY


def times(item: Regular, low: int, high: int | None) -> Regular:
    """`item` from `low` to `high` times; `EMPTY` where that asks for a negative number."""
    if high is not None and (high < low or high < 0):
        return EMPTY
    return EPSILON if high == 0 else item if low == high == 1 else Repeat(item, low, high)
