"""Every spelling of constrained numbers: trailing zeros, `-0`, and exponents on any mantissa.

A magnitude is mantissa · 10^e; with the mantissa's first digit other than 0 at position p it is d.ddd · 10^E,
E = p + e. What a constraint asks splits into conditions that each have a small exact regular term, and the language is
their intersection, so that no arithmetic is left to do while matching:

`_sized`     E lies in a range: for each p, exponents of a range shifted by -p. A chain over positions.
`_compared`  the digits, whatever the point, compare with the digits of a bound. From low to high is then
             E strictly between the bounds' | E = low's and digits ≥ low's | E = high's and digits ≤ high's.
`_multiple_of_power`  multiples of 10^k (integers: k = 0): the last digit other than 0 is at a position ≥ k - e.
`_digits_multiple`    for a step coefficient c prime to ten: the digits are a multiple of c, whatever the point.
`_digits_end`         for c = 2^n or 5^n: the digits without trailing zeros end in one of c's endings.

A plain decimal is the case e = 0 with nothing written, so it needs no branch of its own.

Not exact in spelling (only narrower): for 2^n or 5^n with n > 7, the endings would be too many; then exponent forms are
admitted where the value is a multiple of the next power of ten, and other values are plain decimals only.
"""

from __future__ import annotations

from functools import lru_cache

from ...grammar.terms import (
    EMPTY,
    EPSILON,
    Alternation,
    CharClass,
    Concat,
    DecimalMultiple,
    Literal,
    LiteralSet,
    Regular,
    alternation,
    char_class,
    concat,
    intersection,
    optional,
)
from .numbers_side import DIGIT, LIMIT_COEFFICIENT, NONZERO, Side, Step, digits, times

MAX_EXPONENT = 400
MAX_EXPONENT_ZEROS = 3
MAX_PRIME_POWER = 7
CHAIN_LEVELS = 40

POINT = Literal(".")
ZERO = Literal("0")
E = CharClass(((0x45, 0x45), (0x65, 0x65)))
UNCHECKED_TAIL = optional(concat(E, times(CharClass(((0x2B, 0x2B), (0x2D, 0x2D), (0x30, 0x39))), 0, None)))
"""An exponent or none, its form left to another term of the intersection."""

POINTED_ZEROS = times(concat(ZERO, optional(POINT)), 0, None)
POINTED_DIGITS = times(concat(DIGIT, optional(POINT)), 0, None)
LEADING_ZEROS = optional(concat(Literal("0."), times(ZERO, 0, None)))


def any_language(positive: Side | None, negative: Side | None, has_zero: bool, step: Step | None) -> Regular:
    """All texts of zero and of both sides; an integer may be written with a point or an exponent."""
    above = EMPTY if positive is None else _magnitudes(positive, step)
    zero = _zero() if has_zero else EMPTY
    minus = Literal("-")
    if positive == negative:
        return concat(optional(minus), alternation(zero, above))
    below = EMPTY if negative is None else _magnitudes(negative, step)
    return alternation(concat(optional(minus), zero), above, concat(minus, below))


@lru_cache(maxsize=1)
def _zero() -> Regular:
    return concat(ZERO, optional(concat(POINT, times(ZERO, 1, 40))), _tail(-MAX_EXPONENT, MAX_EXPONENT))


def _magnitudes(side: Side, step: Step | None) -> Regular:
    within = _within(side)
    return within if step is None else intersection(within, _multiples(step, side.whole_digits, side.fraction_digits))


# ---------------------------------------------------------------- exponents


@lru_cache(maxsize=4096)
def _tail(low: int, high: int) -> Regular:
    """What may follow a mantissa so that the exponent lies in low…high: an exponent part, or nothing for 0."""
    low, high = max(low, -MAX_EXPONENT), min(high, MAX_EXPONENT)
    if low > high:
        return EMPTY
    zeros = times(ZERO, 0, MAX_EXPONENT_ZEROS)
    plus = CharClass(((0x2B, 0x2B),))
    written = alternation(
        concat(optional(plus), zeros, _integers(max(low, 0), high)) if high >= 0 else EMPTY,
        concat(Literal("-"), zeros, _integers(max(-high, 0), -low)) if low <= 0 else EMPTY,
    )
    exponent = concat(E, written)
    return optional(exponent) if low <= 0 <= high else exponent


@lru_cache(maxsize=4096)
def _integers(low: int, high: int) -> Regular:
    """The integers low…high, 0 ≤ low ≤ high ≤ 999, as tens with a class of last digits."""
    parts: list[Regular] = []
    full: list[str] = []
    for tens in range(low // 10, high // 10 + 1):
        first, last = max(low - 10 * tens, 0), min(high - 10 * tens, 9)
        prefix = str(tens) if tens else ""
        if (first, last) == (0, 9) and prefix:
            full.append(prefix)
        else:
            parts.append(concat(Literal(prefix) if prefix else EPSILON, digits(first, last)))
    if full:
        parts.append(concat(LiteralSet(tuple(full)) if len(full) > 1 else Literal(full[0]), DIGIT))
    return alternation(*parts)


# ---------------------------------------------------------------- magnitudes within bounds


def _within(side: Side) -> Regular:
    """Mantissa and exponent whose value lies between the side's bounds."""
    size = (side.whole_digits, side.fraction_digits)
    low, high = side.low, side.high
    at_least = None if not low.significant else _compared(low.significant, not low.is_open, upwards=True)
    at_most = None if high is None else _compared(high.significant, not high.is_open, upwards=False)
    if at_least is not None and at_most is not None and high is not None and low.magnitude == high.magnitude:
        return intersection(_sized(low.magnitude, low.magnitude, *size), at_least, at_most)
    above = None if at_least is None else low.magnitude + 1
    below = None if high is None else high.magnitude - 1
    parts = [EMPTY if above is not None and below is not None and above > below else _sized(above, below, *size)]
    if at_least is not None:
        parts.append(intersection(_sized(low.magnitude, low.magnitude, *size), at_least))
    if at_most is not None and high is not None:
        parts.append(intersection(_sized(high.magnitude, high.magnitude, *size), at_most))
    return alternation(*parts)


@lru_cache(maxsize=1024)
def _sized(low: int | None, high: int | None, whole_digits: int, fraction_digits: int) -> Regular:
    """Every mantissa other than 0 with every exponent that brings its first digit to a position in low…high."""
    if low is None and high is None:
        every = _tail(-MAX_EXPONENT, MAX_EXPONENT)
        fraction = concat(POINT, times(DIGIT, 1, fraction_digits))
        small = concat(Literal("0."), _nonzero_within(fraction_digits))
        whole = concat(NONZERO, times(DIGIT, 0, whole_digits - 1), optional(fraction))
        return concat(alternation(whole, small), every)

    def tail(position: int) -> Regular:
        below = -MAX_EXPONENT if low is None else low - position
        return _tail(below, MAX_EXPONENT if high is None else high - position)

    fraction = optional(concat(POINT, times(DIGIT, 1, fraction_digits)))
    whole = [concat(fraction, tail(position)) for position in range(whole_digits)]
    small = [concat(_first_of(fraction_digits - zeros), tail(-zeros - 1)) for zeros in range(fraction_digits)]
    return alternation(
        concat(NONZERO, _chain(whole, [DIGIT] * len(whole))), concat(Literal("0."), _chain(small, [ZERO] * len(small)))
    )


def _first_of(room: int) -> Regular:
    """A digit other than 0 and up to `room` - 1 more."""
    return concat(NONZERO, times(DIGIT, 0, room - 1))


def _nonzero_within(room: int) -> Regular:
    """Up to `room` digits, not all of them 0."""
    return _chain([_first_of(room - zeros) for zeros in range(room)], [ZERO] * room)


def _compared(significant: str, closed: bool, *, upwards: bool) -> Regular:
    """Mantissas whose digits, whatever the point and the leading zeros, are not below (above) `significant`."""
    rest = concat(POINTED_DIGITS, UNCHECKED_TAIL)
    if upwards:
        equal = rest if closed else concat(POINTED_ZEROS, NONZERO, optional(POINT), rest)
    else:
        equal = concat(POINTED_ZEROS, UNCHECKED_TAIL) if closed else EMPTY
    ends: list[Regular] = []
    for i, digit in enumerate(int(one) for one in significant):
        decided = digits(digit + 1, 9) if upwards else digits(0 if i else 1, digit - 1)
        less = UNCHECKED_TAIL if i and not upwards else EMPTY  # a text that ends here is less
        ends.append(alternation(concat(decided, optional(POINT), rest), less))
    links = [concat(Literal(digit), optional(POINT)) for digit in significant]
    return concat(LEADING_ZEROS, _chain([*ends, equal], links))


# ---------------------------------------------------------------- multiples


@lru_cache(maxsize=512)
def _multiples(step: Step, whole_digits: int, fraction_digits: int) -> Regular:
    """Numbers other than 0 that are multiples of `step`; the form of the text is given elsewhere."""
    rest, prime, power = _prime_power(step.coefficient)
    scale = step.exponent
    size = (whole_digits, fraction_digits)
    if power == 0:
        texts = _multiple_of_power(scale, *size)
    elif power <= MAX_PRIME_POWER:
        # the last digit other than 0 stands `place` above the scale, and holds the other prime `place` times
        options = [
            intersection(_multiple_of_power(scale + place, *size), _digits_end(prime, power - place))
            for place in range(power)
        ]
        texts = alternation(_multiple_of_power(scale + power, *size), *options)
    else:
        texts = alternation(_multiple_of_power(scale + power, *size), _plain_multiples(prime**power, scale))
    return texts if rest == 1 else intersection(texts, _digits_multiple(rest, fraction_digits))


def _prime_power(coefficient: int) -> tuple[int, int, int]:
    """`coefficient` = rest · prime^power, prime 2 or 5, rest prime to ten."""
    for prime in (2, 5):
        power = 0
        while coefficient % prime == 0:
            coefficient, power = coefficient // prime, power + 1
        if power:
            return coefficient, prime, power
    return coefficient, 2, 0


def _plain_multiples(factor: int, exponent: int) -> Regular:
    """Multiples of factor · 10^exponent without an exponent part."""
    if exponent <= 0 or factor * 10**exponent <= LIMIT_COEFFICIENT:
        return DecimalMultiple(factor * 10 ** max(exponent, 0), max(-exponent, 0))
    head = intersection(times(DIGIT, 1, None), DecimalMultiple(factor, 0))
    return concat(head, Literal("0" * exponent), optional(concat(POINT, times(ZERO, 1, None))))


def _digits_multiple(factor: int, fraction_digits: int) -> Regular:
    """The digits, read without their point, are a multiple of `factor`, which is prime to ten.

    With at most s digits after the point, the value is a multiple of factor · 10^-s exactly then.
    """
    return concat(DecimalMultiple(factor, fraction_digits), UNCHECKED_TAIL)


@lru_cache(maxsize=512)
def _multiple_of_power(power: int, whole_digits: int, fraction_digits: int) -> Regular:
    """Multiples of 10^power: after j digits of a fraction, or z zeros at the end, an exponent that makes up for it."""

    def tail(exponent: int) -> Regular:
        return _tail(exponent, MAX_EXPONENT)

    # after j digits of the fraction; zeros may follow
    fraction = [
        concat(times(ZERO, 0 if j else 1, fraction_digits - j), tail(power + j)) for j in range(fraction_digits + 1)
    ]
    # after z zeros at the end of the whole part
    zero_fraction = optional(concat(POINT, times(ZERO, 1, fraction_digits)))
    zeros = [concat(zero_fraction, tail(power - z)) for z in range(whole_digits)]
    whole = concat(NONZERO, times(DIGIT, 0, whole_digits - 1))
    return alternation(
        concat(alternation(ZERO, whole), POINT, _chain(fraction, [DIGIT] * fraction_digits)),
        concat(whole, _chain(zeros, [ZERO] * len(zeros))),
    )


@lru_cache(maxsize=64)
def _digits_end(prime: int, power: int) -> Regular:
    """The digits without their trailing zeros are a multiple of prime^power.

    Read from the right: after some digits, the rest of the number must be ≡ r modulo a smaller power. Multiplying by
    ten loses one factor: 10x + d ≡ r (mod p^n) asks d ≡ r (mod p) and x ≡ (r - d) / p · (10 / p)^-1 (mod p^(n-1)).
    """
    known: dict[tuple[int, int], Regular] = {}

    def heads(left: int, residue: int) -> Regular:
        """All pointed digit strings whose value is ≡ residue modulo prime^left; of all digits, the last not 0."""
        if left == 0:
            return POINTED_DIGITS
        if (left, residue) not in known:
            smallest = 1 if left == power else 0
            smaller = prime ** (left - 1)
            inverse = pow(10 // prime, -1, smaller) if smaller > 1 else 0
            by_head: dict[int, list[tuple[int, int]]] = {}
            for digit in range(smallest, 10):
                if (residue - digit) % prime == 0:
                    head = (residue - digit) // prime * inverse % smaller
                    by_head.setdefault(head, []).append((0x30 + digit, 0x30 + digit))
            options = [
                Concat((heads(left - 1, head), char_class(last), optional(POINT))) for head, last in by_head.items()
            ]
            known[left, residue] = Alternation((EPSILON, *options) if residue == 0 and not smallest else tuple(options))
        return known[left, residue]

    return concat(heads(power, 0), POINTED_ZEROS, UNCHECKED_TAIL)


# ---------------------------------------------------------------- long chains


def _chain(ends: list[Regular], links: list[Regular]) -> Regular:
    """ends[0] | links[0] (ends[1] | links[1] (ends[2] | …)): what may stand after any number of links.

    Several links share a level where there are many, so that no term is nested deeper than some 80 levels. The smart
    constructors would compare and hash the whole rest at each level; this does not.
    """
    width = 1 + len(ends) // CHAIN_LEVELS
    rest: Regular = EMPTY
    for start in reversed(range(0, len(ends), width)):
        level = list(range(start, min(start + width, len(ends))))
        options = [concat(*links[start:i], ends[i]) for i in level]
        options += [Concat((*links[start : start + width], rest))] if rest is not EMPTY else []
        kept = tuple(one for one in options if one is not EMPTY)
        rest = Alternation(kept) if len(kept) > 1 else kept[0] if kept else EMPTY
    return rest
