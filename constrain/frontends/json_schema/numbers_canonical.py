"""The canonical spelling of constrained numbers: `7`, `-12`, `2.0`, `0.25`.

Each side of zero is a comparison of digit strings, as an alternation with one alternative per digit of a bound: equal
up to digit i, then a digit that decides, then any digits. That is O(digits) alternatives, deterministic after the
deciding digit, and without dead ends. Multiples are enumerated where few lie within the bounds; otherwise powers of
ten are a matter of how many digits or zeros stand at the end, and the rest is left to `DecimalMultiple`.
"""

from __future__ import annotations

from collections.abc import Callable

from ...grammar.terms import (
    EMPTY,
    EPSILON,
    DecimalMultiple,
    Literal,
    LiteralSet,
    Not,
    Regular,
    alternation,
    concat,
    intersection,
    optional,
)
from .numbers_side import DIGIT, LIMIT_COEFFICIENT, NONZERO, Bound, Side, Step, digits, times

FEW_MULTIPLES = 2000
"""Up to so many multiples per side are listed one by one."""

MAX_REMAINDERS = 5000
"""Up to so many remainders (of a step without its factors of ten) are counted by an automaton."""

MAX_EFFORT = 10_000
"""The same where other multiples are excluded: remainders, doubled for each step that is."""


def canonical_language(
    positive: Side | None,
    negative: Side | None,
    has_zero: bool,
    step: Step | None,
    integer: bool,
    excluded: tuple[Step, ...],
) -> Regular:
    """The canonical texts of zero and of both sides without multiples of `excluded`; `integer` writes no point."""
    parts: list[Regular] = [_zero(integer)] if has_zero else []
    if positive is not None:
        parts.append(_magnitudes(positive, step, integer, excluded))
    if negative is not None:
        parts.append(concat(Literal("-"), _magnitudes(negative, step, integer, excluded)))
    return alternation(*parts)


def _zero(integer: bool) -> Regular:
    return Literal("0") if integer else LiteralSet(("0", "0.0"))


def _magnitudes(side: Side, step: Step | None, integer: bool, excluded: tuple[Step, ...]) -> Regular:
    if step is None:
        plain = Plain(side.whole_digits, side.fraction_digits, False).between(side.low, side.high)
        return without_multiples(plain, excluded)
    listed = multiples_of(side, step, excluded)
    if listed is None:
        plain = stepped(side, step, lambda whole, fraction: Plain(whole, fraction, integer))
        return without_multiples(plain, excluded)
    texts: list[str] = []
    for one in listed:
        texts += [one.whole + "." + one.fraction] if one.fraction else [one.whole]
        texts += [one.whole + ".0"] if not one.fraction and not integer else []
    return one_of(texts)


def multiples_of(side: Side, step: Step, excluded: tuple[Step, ...]) -> list[Bound] | None:
    """Every multiple within the bounds, or None where there are many that an automaton can count.

    Where there are many, and too many remainders to count, the first 2,000.
    """
    last = None if side.high is None else side.high.value / step.value
    first = side.low.value / step.value
    if last is None or last - first >= FEW_MULTIPLES:
        if not is_long(step, len(excluded)):
            return None
        last = first + FEW_MULTIPLES - 1
    periods = [int(other.value / step.value) for other in excluded]
    counts = (n for n in range(int(first), int(last) + 1) if all(n % period for period in periods))
    return [one for one in map(step.times, counts) if len(one.whole) <= side.whole_digits]


def is_long(step: Step, exclusions: int) -> bool:
    """True if the multiples of `step` without those of other steps are too many remainders to count.

    Close to a bound the kernel looks for one multiple of the step among those that are excluded: each doubles the work.
    """
    return step.coefficient > MAX_REMAINDERS or (exclusions > 0 and step.coefficient << exclusions > MAX_EFFORT)


def without_multiples(plain: Regular, excluded: tuple[Step, ...]) -> Regular:
    """Those of some unsigned plain decimals that are no multiples of any of `excluded`."""
    if not excluded:
        return plain
    return intersection(plain, *(Not(_multiples(one)) for one in excluded))


def _multiples(step: Step) -> Regular:
    """All plain decimals that are multiples of `step`, and perhaps texts that are no decimals."""
    factor = step.coefficient * 10 ** max(step.exponent, 0)
    if factor <= LIMIT_COEFFICIENT:
        return DecimalMultiple(factor, max(-step.exponent, 0))
    head = intersection(times(DIGIT, 1, None), DecimalMultiple(step.coefficient, 0))
    return concat(head, Literal("0" * step.exponent), optional(concat(Literal("."), times(digits(0, 0), 1, None))))


def stepped(side: Side, step: Step, decimals: Callable[[int, int], Plain]) -> Regular:
    """Plain decimals within the bounds that are multiples of `step`; `decimals(whole, fraction)`: all of that size."""
    low, high, zeros = side.low, side.high, max(step.exponent, 0)
    if zeros:  # the bounds end in as many zeros: compare what stands before them
        whole = Plain(side.whole_digits - zeros, 0, True)
        texts = whole.between(low.without_zeros(zeros), None if high is None else high.without_zeros(zeros))
        scale, tail = 0, concat(Literal("0" * zeros), decimals(side.whole_digits, 0).no_fraction())
    else:
        scale, tail = -step.exponent, EPSILON
        texts = decimals(side.whole_digits, scale).between(low, high)
    if step.coefficient > 1:
        texts = intersection(texts, DecimalMultiple(step.coefficient, scale))
    return concat(texts, tail)


class Plain:
    """Plain decimals of at most `whole.fraction` digits, compared with bounds. `point=False` writes integers only."""

    def __init__(self, whole: int, fraction: int, integer: bool):
        self.whole = whole
        self.fraction = fraction
        self.integer = integer

    def between(self, low: Bound, high: Bound | None) -> Regular:
        """From `low` to `high`."""
        if high is not None and len(high.whole) > self.whole:
            high = None
        size = len(low.whole)
        if high is not None and len(high.whole) == size:
            return self._same_size(low, high)
        longest = self.whole if high is None else len(high.whole) - 1
        middle = times(DIGIT, size, longest - 1)
        return alternation(
            self._from(low.whole, low),
            EMPTY if middle == EMPTY else concat(NONZERO, middle, self._any_fraction()),
            EMPTY if high is None else self._up_to(high.whole, high, smallest=1 if len(high.whole) > 1 else 0),
        )

    def _same_size(self, low: Bound, high: Bound) -> Regular:
        if low.whole == high.whole:
            return concat(Literal(low.whole), self._fraction_between(low, high))
        at = next(i for i, (a, b) in enumerate(zip(low.whole, high.whole, strict=True)) if a != b)
        left, right = low.whole[at:], high.whole[at:]
        between = concat(digits(int(left[0]) + 1, int(right[0]) - 1), self._free(len(left) - 1), self._any_fraction())
        return concat(
            Literal(low.whole[:at]) if at else EPSILON,
            alternation(
                concat(Literal(left[0]), self._from(left[1:], low)),
                between,
                concat(Literal(right[0]), self._up_to(right[1:], high, smallest=0)),
            ),
        )

    def _from(self, whole: str, low: Bound) -> Regular:
        """As many digits as `whole`, not less than it; then a fraction that keeps to `low`."""
        parts = [
            concat(literal(whole[:i]), digits(int(digit) + 1, 9), self._free(len(whole) - i - 1), self._any_fraction())
            for i, digit in enumerate(whole)
        ]
        return alternation(*parts, concat(literal(whole), self._fraction_from(low)))

    def _up_to(self, whole: str, high: Bound, smallest: int) -> Regular:
        """As many digits as `whole`, not more than it, the first not below `smallest`; then a fraction under `high`."""
        parts = [
            concat(
                literal(whole[:i]),
                digits(0 if i else smallest, int(digit) - 1),
                self._free(len(whole) - i - 1),
                self._any_fraction(),
            )
            for i, digit in enumerate(whole)
        ]
        return alternation(*parts, concat(literal(whole), self._fraction_up_to(high)))

    def _free(self, count: int) -> Regular:
        return times(DIGIT, count, count)

    # -- fractions: "" | ".0" | "." and digits that do not end in 0

    def no_fraction(self) -> Regular:
        return EPSILON if self.integer else optional(Literal(".0"))

    def _any_fraction(self) -> Regular:
        if self.integer:
            return EPSILON
        return optional(concat(Literal("."), alternation(Literal("0"), _more(self.fraction))))

    def _fraction_from(self, low: Bound) -> Regular:
        if not low.fraction and not low.is_open:
            return self._any_fraction()
        return concat(Literal("."), _at_least(low.fraction, low.is_open, self.fraction, may_end=False))

    def _fraction_up_to(self, high: Bound) -> Regular:
        if not high.fraction:
            return EMPTY if high.is_open else self.no_fraction()
        some = concat(Literal("."), _at_most(high.fraction, high.is_open, self.fraction, may_end=False))
        return alternation(self.no_fraction(), some)

    def _fraction_between(self, low: Bound, high: Bound) -> Regular:
        if not low.fraction:
            up_to = self._fraction_up_to(high)
            if not low.is_open:
                return up_to
            return concat(Literal("."), _at_most(high.fraction, high.is_open, self.fraction, may_end=False))
        return concat(Literal("."), _within(low, high, self.fraction))


def one_of(texts: list[str]) -> Regular:
    """One of `texts`; `EMPTY` if there is none."""
    return EMPTY if not texts else Literal(texts[0]) if len(texts) == 1 else LiteralSet(tuple(texts))


def literal(text: str) -> Regular:
    return Literal(text) if text else EPSILON


def _more(room: int) -> Regular:
    """One to `room` digits, the last not 0."""
    return concat(times(DIGIT, 0, room - 1), NONZERO) if room > 0 else EMPTY


def _end_or_more(room: int) -> Regular:
    return optional(_more(room)) if room > 0 else EPSILON


def _at_least(fraction: str, is_open: bool, room: int, *, may_end: bool) -> Regular:
    """Fraction digits (what follows is 0) not less than `fraction`; `may_end`: the digit before is not 0."""
    if not fraction:
        return alternation(EPSILON if may_end and not is_open else EMPTY, _more(room))
    parts = [
        concat(literal(fraction[:i]), digits(int(digit) + 1, 9), _end_or_more(room - i - 1))
        for i, digit in enumerate(fraction)
    ]
    rest = room - len(fraction)
    return alternation(*parts, concat(Literal(fraction), _more(rest) if is_open else _end_or_more(rest)))


def _at_most(fraction: str, is_open: bool, room: int, *, may_end: bool) -> Regular:
    """Fraction digits not more than `fraction` and, unless `may_end`, more than 0."""
    parts: list[Regular] = [EPSILON] if may_end and (fraction or not is_open) else []
    for i, digit in enumerate(fraction):
        prefix, rest = literal(fraction[:i]), room - i - 1
        parts.append(concat(prefix, digits(1, int(digit) - 1), _end_or_more(rest)))
        if digit != "0":
            parts.append(concat(prefix, Literal("0"), _more(rest)))
            if i + 1 < len(fraction) or not is_open:
                parts.append(Literal(fraction[: i + 1]))
    return alternation(*parts)


def _within(low: Bound, high: Bound, room: int) -> Regular:
    """Fraction digits between the fractions of two bounds with the same whole part, `low`'s not empty."""
    padded = low.fraction.ljust(len(high.fraction), "0")
    if low.fraction == high.fraction:
        return Literal(low.fraction)
    at = next(i for i, (a, b) in enumerate(zip(padded, high.fraction, strict=False)) if a != b)
    left, right = padded[at], high.fraction[at]
    rest = room - at - 1
    return alternation(
        Literal(low.fraction) if len(low.fraction) <= at and not low.is_open else EMPTY,
        concat(
            literal(padded[:at]),
            alternation(
                concat(Literal(left), _at_least(low.fraction[at + 1 :], low.is_open, rest, may_end=left != "0")),
                concat(digits(int(left) + 1, int(right) - 1), _end_or_more(rest)),
                concat(Literal(right), _at_most(high.fraction[at + 1 :], high.is_open, rest, may_end=True)),
            ),
        ),
    )
