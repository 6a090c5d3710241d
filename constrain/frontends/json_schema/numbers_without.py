"""The language of numbers that satisfy one constraint and none of others: what `not` leaves of numbers.

An excluded range splits the constraint into pieces before, inside and after it; an excluded multiple stays with the
pieces it covers. So what is left to exclude inside a piece is multiples alone, which are filtered where the values are
listed, and otherwise counted: plain decimals that are no `DecimalMultiple`. Whether a piece of multiples of s without
multiples of t holds anything is arithmetic: nothing if t divides s.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from ...errors import LimitExceeded
from ...grammar.terms import EMPTY, Not, Regular, alternation, intersection
from .numbers import (
    NumberConstraint,
    Spelling,
    common_multiple,
    decimal_step,
    intersect,
    is_empty_constraint,
    number_language,
    step_of,
)
from .numbers_canonical import FEW_MULTIPLES, is_long

MAX_POINTS = 16
"""Up to so many single numbers split the constraint; more are left out of the canonical texts."""

MAX_PIECES = 64
Piece = tuple[NumberConstraint, tuple[Fraction, ...]]


def language_without(constraint: NumberConstraint, without: Iterable[NumberConstraint], spelling: Spelling) -> Regular:
    """The texts of the numbers of `constraint` that are in none of `without`.

    Fewer texts than `spelling` says where `left_out` has a word about it.
    Raises:  LimitExceeded: too many ranges.
    """
    pieces, points = _pieces(constraint, without)
    language = alternation(*[_piece(*piece, "canonical" if points else spelling) for piece in pieces])
    if not points:
        return language
    texts = [number_language(NumberConstraint(point, point), "canonical") for point in sorted(points)]
    return intersection(language, Not(alternation(*texts)))


def left_out(constraint: NumberConstraint, without: Iterable[NumberConstraint], spelling: Spelling) -> str | None:
    """What `language_without` leaves out of the texts that `spelling` promises, in words; None if nothing."""
    pieces, points = _pieces(constraint, without)
    steps = [(piece, step_of(piece), _kept(piece, excluded)) for piece, excluded in pieces]
    for piece, step, kept in steps:
        if step is None or kept is None or _is_listed(piece, step):
            continue
        if is_long(decimal_step(step), len(kept)):
            return f"of the multiples of so long a step only the first {FEW_MULTIPLES:,} from zero on are written"
    if spelling == "any" and (points or any(kept for _, _, kept in steps)):
        return "beside excluded multiples or many excluded numbers, numbers are written without an exponent"
    return None


def _pieces(constraint: NumberConstraint, without: Iterable[NumberConstraint]) -> tuple[list[Piece], set[Decimal]]:
    """The constraint, split by the ranges that are excluded, and the single numbers that are still to be excluded."""
    without = [one for one in without if not is_empty_constraint(one)]
    points = {one.minimum for one in without if one.minimum is not None and one.minimum == one.maximum}
    ranges = [one for one in without if one.minimum is None or one.minimum != one.maximum]
    if len(points) <= MAX_POINTS:
        ranges += [NumberConstraint(point, point) for point in sorted(points)]
        points = set()
    pieces: list[Piece] = [(constraint, ())]
    for excluded in ranges:
        pieces = [part for piece in pieces for part in _split(piece, excluded)]
        if len(pieces) > MAX_PIECES:
            raise LimitExceeded(
                f"the ranges of numbers excluded here leave more than {MAX_PIECES} others",
                limit="number_ranges",
                help="exclude fewer ranges, or say which are allowed",
            )
    return pieces, points


def _split(piece: Piece, excluded: NumberConstraint) -> list[Piece]:
    """What is left of `piece`: before `excluded`, after it, and inside it what is no multiple of its step."""
    constraint, steps = piece
    parts: list[Piece] = []
    low, high = excluded.minimum, excluded.maximum
    if low is not None:
        before = NumberConstraint(maximum=low, exclusive_maximum=not excluded.exclusive_minimum)
        parts.append((intersect(constraint, before), steps))
    step = step_of(excluded)
    if step is not None:
        inside = replace(excluded, multiple_of=(), integer=False, plain=False)
        parts.append((intersect(constraint, inside), (*steps, step)))
    if high is not None:
        after = NumberConstraint(minimum=high, exclusive_minimum=not excluded.exclusive_maximum)
        parts.append((intersect(constraint, after), steps))
    return [part for part in parts if not is_empty_constraint(part[0])]


def _piece(constraint: NumberConstraint, steps: tuple[Fraction, ...], spelling: Spelling) -> Regular:
    """The numbers of `constraint` that are no multiples of any of `steps`."""
    kept = _kept(constraint, steps)
    if kept is None:
        return EMPTY
    return number_language(constraint, spelling, tuple(decimal_step(one) for one in kept))


def _kept(constraint: NumberConstraint, steps: tuple[Fraction, ...]) -> list[Fraction] | None:
    """The steps whose multiples must be left out one by one; None if that is all of them."""
    step = step_of(constraint)
    kept: list[Fraction] = []
    for excluded in sorted(set(steps)):
        if step is not None:
            excluded = common_multiple([step, excluded])
            if excluded == step:
                return None
        if all((excluded / other).denominator != 1 for other in kept):
            kept.append(excluded)
    return kept


def _is_listed(constraint: NumberConstraint, step: Fraction) -> bool:
    """Whether the multiples of `step` are so few that each is looked at."""
    low, high = constraint.minimum, constraint.maximum
    return low is not None and high is not None and (Fraction(high) - Fraction(low)) / step < FEW_MULTIPLES
