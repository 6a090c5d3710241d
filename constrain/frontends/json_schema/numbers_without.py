"""The language of numbers that satisfy one constraint and none of others: what `not` leaves of numbers.

An excluded range splits the constraint into pieces before, inside and after it; an excluded multiple stays with the
pieces it covers. So what is left to exclude inside a piece is multiples alone, which are filtered where the values are
listed, and otherwise counted: plain decimals that are no `DecimalMultiple`. Whether a piece of multiples of s without
multiples of t holds anything is arithmetic: nothing if t divides s.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
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
from .numbers_canonical import MAX_REMAINDERS

MAX_POINTS = 16
"""Up to so many single numbers split the constraint; more are left out of the canonical texts."""

MAX_PIECES = 64

Piece = tuple[NumberConstraint, tuple[Fraction, ...]]


def language_without(constraint: NumberConstraint, without: Iterable[NumberConstraint], spelling: Spelling) -> Regular:
    """The texts of the numbers of `constraint` that are in none of `without`.

    Fewer texts than `spelling` says where multiples, or more than 16 single numbers, are excluded: plain decimals.
    Raises:  LimitExceeded: too many ranges, or multiples that need more than 5,000 remainders to tell apart.
    """
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
    language = alternation(*[_piece(*piece, "canonical" if points else spelling) for piece in pieces])
    if not points:
        return language
    texts = [number_language(NumberConstraint(point, point), "canonical") for point in sorted(points)]
    return intersection(language, Not(alternation(*texts)))


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
    step = step_of(constraint)
    kept: list[Fraction] = []
    for excluded in sorted(set(steps)):
        if step is not None:
            excluded = common_multiple([step, excluded])
            if excluded == step:
                return EMPTY
        if all((excluded / other).denominator != 1 for other in kept):
            kept.append(excluded)
    if not kept:
        return number_language(constraint, spelling)
    remainders = decimal_step(common_multiple(kept)).coefficient
    if remainders > MAX_REMAINDERS:
        raise LimitExceeded(
            f"telling the excluded multiples apart takes {remainders:,} remainders, more than {MAX_REMAINDERS:,}",
            limit="multipleOf coefficient",
            help="exclude fewer multiples at one place",
        )
    return number_language(constraint, spelling, tuple(decimal_step(one) for one in kept))
