"""Questions about regular terms: emptiness, membership, disjointness, size, lengths, a witness.

Answered by the kernel, exactly or with `LimitExceeded`. Terms are immutable, so answers are cached.
"""

from __future__ import annotations

import threading
from functools import lru_cache

from constrain import _kernel
from constrain.grammar import terms as t
from constrain.grammar.lower import ALL_BYTES, EMPTY_TERM, Lowering, kernel_limits

RENEW_AFTER_TERMS = 200_000


class _Arena(threading.local):
    """One kernel arena per thread, thrown away when it has grown large."""

    def __init__(self) -> None:
        self._lowering: Lowering | None = None

    def lower(self, term: t.Regular) -> tuple[_kernel.Grammar, int]:
        if self._lowering is None or self._lowering.kernel.stats()["terms"] > RENEW_AFTER_TERMS:
            self._lowering = Lowering(_kernel.Grammar(ALL_BYTES))
        return self._lowering.kernel, self._lowering.regular(term)


_arena = _Arena()


@lru_cache(maxsize=4096)
def is_empty(term: t.Regular) -> bool:
    """True if no string is in `term`."""
    with kernel_limits():
        kernel, lowered = _arena.lower(term)
        return lowered == EMPTY_TERM or not kernel.alive(lowered)


def matches(term: t.Regular, text: str | bytes) -> bool:
    """True if `text` is in `term`; a text with a lone surrogate is in none."""
    try:
        spelled = text.encode() if isinstance(text, str) else text
    except UnicodeEncodeError:
        return False
    with kernel_limits():
        kernel, lowered = _arena.lower(term)
        return kernel.matches(lowered, spelled)


def are_disjoint(a: t.Regular, b: t.Regular) -> bool:
    """True if no string is in both."""
    return is_empty(t.And((a, b)))


def includes(a: t.Regular, b: t.Regular) -> bool:
    """True if every string of `b` is in `a`."""
    return a in (b, t.ANY_TEXT) or is_empty(t.And((b, t.Not(a))))


@lru_cache(maxsize=1024)
def witness(term: t.Regular) -> str | None:
    """A shortest string of `term`; None if there is none."""
    if is_empty(term):
        return None
    with kernel_limits():
        kernel, lowered = _arena.lower(term)
        return kernel.shortest(lowered).decode()


@lru_cache(maxsize=4096)
def cardinality(term: t.Regular, limit: int) -> int | None:
    """How many strings `term` has; None if more than `limit`."""
    if is_empty(term):
        return 0
    with kernel_limits():
        kernel, lowered = _arena.lower(term)
        count = kernel.cardinality(lowered, limit)
    return None if count > limit else count


@lru_cache(maxsize=4096)
def length_bounds(term: t.Regular) -> tuple[int, int | None]:
    """Bounds of the length in code points (decoded, for `Encoded`): exact without And and Not, else outer ones."""
    match term:
        case t.CharClass() | t.DecimalMultiple():
            return (1, 1) if isinstance(term, t.CharClass) else (1, None)
        case t.Literal(text):
            return len(text), len(text)
        case t.LiteralSet(texts):
            lengths = [len(text) for text in texts]
            return (min(lengths), max(lengths)) if lengths else (0, 0)
        case t.Concat(items):
            bounds = [length_bounds(item) for item in items]
            return sum(low for low, _ in bounds), _total(high for _, high in bounds)
        case t.Alternation(items):
            bounds = [length_bounds(item) for item in items]
            highs = [high for _, high in bounds]
            return min(low for low, _ in bounds), None if None in highs else max(h for h in highs if h is not None)
        case t.Repeat(item, low, high):
            item_low, item_high = length_bounds(item)
            if item_high == 0 or high == 0:
                return 0, 0
            return low * item_low, None if high is None or item_high is None else high * item_high
        case t.And(items):
            bounds = [length_bounds(item) for item in items]
            highs = [high for _, high in bounds if high is not None]
            return max(low for low, _ in bounds), min(highs) if highs else None
        case t.Encoded(item, _):
            return length_bounds(item)
        case t.Not():
            return 0, None
    return 0, 0


def _total(parts) -> int | None:
    total = 0
    for part in parts:
        if part is None:
            return None
        total += part
    return total
