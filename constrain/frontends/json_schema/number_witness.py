"""Whether any number is left where multiples, points and intervals are taken out: by arithmetic, not by automata.

Main function: `some_number`. With a step S every candidate is t·S for a whole t, and what is excluded is excluded by a
remainder of t: t·S is a multiple of m exactly if the denominator of S/m divides t. So an exclusion that covers the
whole interval with the divisor 1 leaves nothing, a short interval is gone through, and in a long one a candidate turns
up soon. What that does not settle is answered with None: the caller asks the automata.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from constrain.frontends.json_schema.numbers import NumberConstraint, spans, step_of
from constrain.frontends.json_schema.shapes import NumberShape

LIMIT_CANDIDATES = 4096
"""How many multiples are tried."""

LIMIT_TRIALS = 200_000
"""How many times a multiple is held against an exclusion."""


@dataclass(frozen=True, slots=True)
class _Exclusion:
    """Every t from `low` to `high` (None: without end) that `divisor` divides."""

    low: int | None
    high: int | None
    divisor: int

    def holds(self, t: int) -> bool:
        return self.reaches(t) and t % self.divisor == 0

    def reaches(self, t: int) -> bool:
        return (self.low is None or self.low <= t) and (self.high is None or t <= self.high)

    def covers(self, other: _Exclusion) -> bool:
        """True if every t of `other`'s interval is in this one's."""
        low = self.low is None or (other.low is not None and self.low <= other.low)
        return low and (self.high is None or (other.high is not None and other.high <= self.high))


def some_number(record: NumberShape) -> bool | None:
    """True if `record`, which lists no values, holds a number; False if it holds none; None if that is not clear.

    Raises:  nothing. Exact: no float is involved.
    Cost:    at most 200,000 remainders.
    """
    constraint = replace(record.constraint, integer=True) if record.plain else record.constraint
    step = step_of(constraint)
    if step is None:
        return _some_dense(constraint, record.without)
    span = _multiples(constraint, step, 1)
    excluded = []
    for one in record.without:
        every = step_of(one)
        excluded.append(_multiples(one, step, 1 if every is None else (step / every).denominator))
    if any(one.divisor == 1 and one.covers(span) for one in excluded):
        return False
    limit = min(LIMIT_CANDIDATES, max(64, LIMIT_TRIALS // (len(excluded) + 1)))
    for tried, t in enumerate(_outwards(span)):
        if tried == limit:
            return None
        if not any(one.holds(t) for one in excluded):
            return True
    return False


def _multiples(constraint: NumberConstraint, step: Fraction, divisor: int) -> _Exclusion:
    """The interval of `constraint` in units of `step`."""
    low = high = None
    if constraint.minimum is not None:
        quotient = Fraction(constraint.minimum) / step
        low = math.ceil(quotient) + int(constraint.exclusive_minimum and quotient.denominator == 1)
    if constraint.maximum is not None:
        quotient = Fraction(constraint.maximum) / step
        high = math.floor(quotient) - int(constraint.exclusive_maximum and quotient.denominator == 1)
    return _Exclusion(low, high, divisor)


def _outwards(span: _Exclusion) -> Iterator[int]:
    """The whole numbers of `span`: from its lower end up, else from its upper end down, else 0, 1, 2 …"""
    if span.low is None and span.high is not None:
        t = span.high
        while True:
            yield t
            t -= 1
    t = span.low or 0
    while span.high is None or t <= span.high:
        yield t
        t += 1


def _some_dense(constraint: NumberConstraint, without: tuple[NumberConstraint, ...]) -> bool | None:
    """The same without a step: a few numbers near the bounds are tried."""
    for one in without:
        if step_of(one) is None and spans(one, constraint):
            return False
    low, high = constraint.minimum, constraint.maximum
    if low is not None and high is not None:
        start, unit = Fraction(low), (Fraction(high) - Fraction(low)) / 64
    else:
        near = low if low is not None else high
        start = Fraction(0) if near is None else Fraction(near)
        unit = Fraction(-1 if low is None and high is not None else 1, 2)
    for i in range(65):
        if all(not _contains(one, start + i * unit) for one in without) and _contains(constraint, start + i * unit):
            return True
    return None


def _contains(constraint: NumberConstraint, value: Fraction) -> bool:
    low, high = constraint.minimum, constraint.maximum
    if low is not None and (value < low or (value == low and constraint.exclusive_minimum)):
        return False
    if high is not None and (value > high or (value == high and constraint.exclusive_maximum)):
        return False
    step = step_of(constraint)
    return step is None or (value / step).denominator == 1
