"""Many spellings of constrained numbers: trailing zeros, `-0`, and exponents on a mantissa `d.ddd`.

A magnitude is written plainly, compared digit by digit with the bounds (`_Loose`), or as d.ddd · 10^E with d from 1 to
9, where the bounds ask little: E strictly between those of the bounds | E = low's and d.ddd ≥ low's | E = high's and
d.ddd ≤ high's. So every language is an alternation of comparisons with one string of digits, and whether anything can
follow a prefix is read off the term. (An intersection of "all mantissas and exponents" with a comparison and with a
multiple is exact for more texts, and takes the kernel 470,000 derivatives to see that 9 is no beginning of a multiple
of 4 up to 40.)

Multiples, with few texts on purpose:

- at most 2,000 within the bounds: each by its digits, with trailing zeros or an exponent;
- of a power of ten: the mantissa's digits after the point are bounded by E, counted;
- of other steps: plain decimals, intersected with `DecimalMultiple`; exponents only where the value is a multiple of
  the next power of ten (2 or 0.5, but not 6).

Numbers without any constraint on their side of zero have every spelling: any mantissa, any exponent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache

from ...grammar.terms import (
    EMPTY,
    EPSILON,
    Alternation,
    CharClass,
    Concat,
    Literal,
    Regular,
    alternation,
    concat,
    optional,
)
from .numbers_canonical import Plain, literal, multiples_of, one_of, stepped, without_multiples
from .numbers_side import DIGIT, MAX_DIGITS, NONZERO, Bound, Side, Step, bound, times

MAX_EXPONENT = 400
MAX_EXPONENT_ZEROS = 3
MANTISSA_DIGITS = 20
"""Digits after a mantissa's point, where a bound does not need more; a double needs 16."""

POINT = Literal(".")
ZERO = CharClass(((0x30, 0x30),))
E = CharClass(((0x45, 0x45), (0x65, 0x65)))
PLUS = CharClass(((0x2B, 0x2B),))
ONE = Bound("1", "", False)


def any_language(
    positive: Side | None, negative: Side | None, has_zero: bool, step: Step | None, excluded: tuple[Step, ...]
) -> Regular:
    """The texts of zero and of both sides without multiples of `excluded`; an integer may have a point or exponent."""
    above = EMPTY if positive is None else _magnitudes(positive, step, excluded)
    zero = _zero() if has_zero else EMPTY
    minus = Literal("-")
    if positive == negative:
        return concat(optional(minus), alternation(zero, above))
    below = EMPTY if negative is None else _magnitudes(negative, step, excluded)
    return alternation(concat(optional(minus), zero), above, concat(minus, below))


def any_of_values(values: Iterable[Fraction]) -> Regular:
    """The texts of some numbers, decimal fractions: all of one sign share their tails."""
    above: list[Bound] = []
    below: list[Bound] = []
    parts: list[Regular] = []
    for value in values:
        if value:
            (above if value > 0 else below).append(bound(abs(value), False))
        else:
            parts = [concat(optional(Literal("-")), _zero())]
    parts += [_listed(above)] if above else []
    parts += [concat(Literal("-"), _listed(below))] if below else []
    return alternation(*parts)


@lru_cache(maxsize=1)
def _zero() -> Regular:
    return concat(ZERO, optional(concat(POINT, times(ZERO, 1, MAX_DIGITS))), _tail(-MAX_EXPONENT, MAX_EXPONENT))


@lru_cache(maxsize=512)
def _magnitudes(side: Side, step: Step | None, excluded: tuple[Step, ...]) -> Regular:
    if step is None:
        if side.is_free and not excluded:
            return _free(side.whole_digits, side.fraction_digits)
        plain = _Loose(side.whole_digits, side.fraction_digits, 0).between(side.low, side.high)
        if excluded:
            return without_multiples(plain, excluded)
        return alternation(plain, _scientific(side, None))
    listed = multiples_of(side, step, excluded)
    if listed is not None:
        return _listed(listed)
    plain = stepped(side, step, lambda whole, fraction: _Loose(whole, fraction, MAX_DIGITS))
    if excluded:
        return without_multiples(plain, excluded)
    power = _power_of_ten(step)
    rounder = None if power is None else _rounder(side, power)
    return plain if rounder is None else alternation(plain, _scientific(rounder, power))


def _free(whole_digits: int, fraction_digits: int) -> Regular:
    """Every mantissa other than 0 with every exponent."""
    fraction = concat(POINT, times(DIGIT, 1, fraction_digits))
    small = concat(Literal("0."), times(ZERO, 0, fraction_digits - 1), NONZERO, times(DIGIT, 0, fraction_digits - 1))
    whole = concat(NONZERO, times(DIGIT, 0, whole_digits - 1), optional(fraction))
    return concat(alternation(whole, small), _tail(-MAX_EXPONENT, MAX_EXPONENT))


# ---------------------------------------------------------------- exponents


@lru_cache(maxsize=4096)
def _tail(low: int, high: int) -> Regular:
    """What may follow a mantissa so that the exponent lies in low…high: an exponent part, or nothing for 0."""
    exponent = _exponent(low, high)
    return optional(exponent) if low <= 0 <= high else exponent


@lru_cache(maxsize=4096)
def _exponent(low: int, high: int) -> Regular:
    """An exponent part in low…high; `EMPTY` if that holds none up to ±400."""
    low, high = max(low, -MAX_EXPONENT), min(high, MAX_EXPONENT)
    if low > high:
        return EMPTY
    written = alternation(
        concat(optional(PLUS), _integers(max(low, 0), high)) if high >= 0 else EMPTY,
        concat(Literal("-"), _integers(max(-high, 0), -low)) if low <= 0 else EMPTY,
    )
    return concat(E, written)


def _integers(low: int, high: int) -> Regular:
    """The integers low…high, 0 ≤ low ≤ high, with leading zeros."""
    bounds = (bound(Fraction(one), False) for one in (low, high))
    return concat(times(ZERO, 0, MAX_EXPONENT_ZEROS), Plain(3, 0, True).between(*bounds))


def _scientific(side: Side, power: int | None) -> Regular:
    """d.ddd · 10^E within the bounds of `side`, a multiple of 10^power."""
    low, high = side.low, side.high
    first = -MAX_EXPONENT if not low.significant else low.magnitude
    last = MAX_EXPONENT if high is None else high.magnitude
    room = max(MANTISSA_DIGITS, len(low.significant), len(high.significant) if high else 0)
    from_ = None if low.significant in ("", "1") and not (low.significant and low.is_open) else _mantissa(low)
    to = None if high is None else _mantissa(high)

    def at(exponent: int, least: Bound | None, most: Bound | None) -> Regular:
        places = room if power is None else min(room, exponent - power)
        return concat(_Loose(1, places, 0).between(least or ONE, most), _exponent(exponent, exponent))

    if from_ is not None and first == last:
        return at(first, from_, to)
    parts = [EMPTY if from_ is None else at(first, from_, None), EMPTY if to is None else at(last, None, to)]
    first += from_ is not None
    last -= to is not None
    return alternation(*parts, _between_exponents(first, last, power, room))


def _mantissa(one: Bound) -> Bound:
    return Bound(one.significant[0], one.significant[1:], one.is_open)


def _between_exponents(first: int, last: int, power: int | None, room: int) -> Regular:
    """d.ddd · 10^E with E in first…last, the digits after the point no more than E - power."""
    if power is None:
        return concat(NONZERO, optional(concat(POINT, times(DIGIT, 1, room))), _exponent(first, last))
    ends = [_exponent(max(first, power + places), last) for places in range(room + 1)]
    rest: Regular = EMPTY
    for end in reversed([end for end in ends[1:] if end != EMPTY]):
        # not `alternation`, which would compare and hash the whole rest at each level
        rest = Concat((DIGIT, end if rest is EMPTY else Alternation((end, rest))))
    return concat(NONZERO, alternation(ends[0], EMPTY if rest is EMPTY else concat(POINT, rest)))


# ---------------------------------------------------------------- multiples


def _listed(multiples: list[Bound]) -> Regular:
    """Each of a few values: its digits and trailing zeros, or a mantissa with its one exponent."""
    wholes = [one.whole for one in multiples if not one.fraction]
    fractions = [f"{one.whole}.{one.fraction}" for one in multiples if one.fraction]
    zeros = times(ZERO, 0, MAX_DIGITS)
    parts = [concat(one_of(wholes), optional(concat(POINT, ZERO, zeros))), concat(one_of(fractions), zeros)]
    mantissas: dict[int, list[str]] = {}
    for one in multiples:
        mantissas.setdefault(one.magnitude, []).append(one.significant)
    for exponent, digits in mantissas.items():
        short = [one for one in digits if len(one) == 1]
        long = [f"{one[0]}.{one[1:]}" for one in digits if len(one) > 1]
        mantissa = alternation(concat(one_of(short), optional(concat(POINT, ZERO, zeros))), concat(one_of(long), zeros))
        parts.append(concat(mantissa, _exponent(exponent, exponent)))
    return alternation(*parts)


def _power_of_ten(step: Step) -> int | None:
    """The exponent of the least power of ten that `step` divides, if there is one."""
    for prime in (2, 5):
        coefficient, power = step.coefficient, 0
        while coefficient % prime == 0:
            coefficient, power = coefficient // prime, power + 1
        if coefficient == 1:
            return step.exponent + power
    return None


def _rounder(side: Side, power: int) -> Side | None:
    """The multiples of 10^power in `side`, or None if there are none."""
    unit = Fraction(10) ** power
    low = math.ceil(side.low.value / unit) * unit
    high = None if side.high is None else math.floor(side.high.value / unit) * unit
    return None if high is not None and high < low else Side.of(low, False, high, False, unit)


# ---------------------------------------------------------------- plain decimals


class _Loose(Plain):
    """Plain decimals with trailing zeros: up to `fraction` free digits after the point, then up to `zeros` zeros."""

    def __init__(self, whole: int, fraction: int, zeros: int):
        super().__init__(whole, fraction, False)
        self.zeros = zeros

    def no_fraction(self) -> Regular:
        return self._pointed(self._at_most("", False, self.fraction, 1), True)

    def _any_fraction(self) -> Regular:
        return self._pointed(self._digits(1, self.fraction), True)

    def _fraction_from(self, low: Bound) -> Regular:
        ends = not low.fraction and not low.is_open
        return self._pointed(self._at_least(low.fraction, low.is_open, self.fraction, 1), ends)

    def _fraction_up_to(self, high: Bound) -> Regular:
        ends = bool(high.fraction) or not high.is_open
        return self._pointed(self._at_most(high.fraction, high.is_open, self.fraction, 1), ends)

    def _fraction_between(self, low: Bound, high: Bound) -> Regular:
        """Both bounds have the same whole part."""
        ends = not low.fraction and not low.is_open and (bool(high.fraction) or not high.is_open)
        return self._pointed(self._within(low, high), ends)

    def _pointed(self, digits_: Regular, ends: bool) -> Regular:
        """A point and `digits_`; or nothing, if `ends`."""
        some = EMPTY if digits_ == EMPTY else concat(POINT, digits_)
        return EPSILON if ends and some == EMPTY else optional(some) if ends else some

    # -- digits after the point, at least `least` (0 or 1) of them; what is not written is 0

    def _digits(self, least: int, room: int) -> Regular:
        """Any digits, then zeros."""
        if room <= 0 or not self.zeros:
            return times(DIGIT, least, max(room, 0)) if room > 0 else times(ZERO, least, self.zeros)
        return concat(times(DIGIT, least, room), times(ZERO, 0, self.zeros))

    def _at_least(self, fraction: str, is_open: bool, room: int, least: int) -> Regular:
        if not fraction:
            if not is_open:
                return self._digits(least, room)
            return concat(times(ZERO, 0, room - 1), NONZERO, self._digits(0, room - 1)) if room > 0 else EMPTY
        parts = [
            concat(literal(fraction[:i]), _digit(int(digit) + 1, 9), self._digits(0, room - i - 1))
            for i, digit in enumerate(fraction)
        ]
        rest = self._at_least("", is_open, room - len(fraction), 0)
        return alternation(*parts, concat(literal(fraction), rest))

    def _at_most(self, fraction: str, is_open: bool, room: int, least: int) -> Regular:
        if not fraction:
            return EMPTY if is_open else times(ZERO, least, max(room, 0) + self.zeros)
        parts: list[Regular] = []
        for i, digit in enumerate(fraction):
            less = concat(_digit(0, int(digit) - 1), self._digits(0, room - i - 1))
            parts.append(concat(literal(fraction[:i]), alternation(EPSILON if i >= least else EMPTY, less)))
        rest = self._at_most("", is_open, room - len(fraction), 0)
        return alternation(*parts, concat(literal(fraction), rest))

    def _within(self, low: Bound, high: Bound) -> Regular:
        """At least one digit."""
        if low.fraction == high.fraction:
            rest = self._at_most("", False, self.fraction - len(low.fraction), 0 if low.fraction else 1)
            return EMPTY if low.is_open or high.is_open else concat(literal(low.fraction), rest)
        padded = low.fraction.ljust(len(high.fraction), "0")
        at = next((i for i, (a, b) in enumerate(zip(padded, high.fraction, strict=False)) if a != b))
        left, right, rest = int(padded[at]), int(high.fraction[at]), self.fraction - at - 1
        ends: Regular = EMPTY  # what ends before that place is low itself
        if len(low.fraction) <= at and not low.is_open:
            ends = concat(literal(low.fraction), times(ZERO, 0 if low.fraction else 1, at - len(low.fraction)))
        decided = alternation(
            concat(_digit(left, left), self._at_least(low.fraction[at + 1 :], low.is_open, rest, 0)),
            concat(_digit(left + 1, right - 1), self._digits(0, rest)),
            concat(_digit(right, right), self._at_most(high.fraction[at + 1 :], high.is_open, rest, 0)),
        )
        return alternation(ends, concat(literal(padded[:at]), decided))


def _digit(low: int, high: int) -> Regular:
    return CharClass(((0x30 + low, 0x30 + high),)) if low <= high else EMPTY
