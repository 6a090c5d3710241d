"""Brzozowski derivatives of regular terms by code point, and the partition of code points that a term can tell apart.

Used for small languages only: what a lookaround asks of the text. The kernel has its own derivatives, over bytes.
Source:  Brzozowski 1964, "Derivatives of regular expressions"; Owens, Reppy & Turon 2009 for the classes.

Invariant: of equal sets of alternatives (or conjuncts) one `Derivatives` always makes the same term, so that the
derivatives of a term are finite in number.
"""

from __future__ import annotations

from collections.abc import Iterable

from constrain.frontends.regex.classes import Ranges
from constrain.frontends.regex.simplify import edge_test, join, meet, negate, nullable, repeat, unite
from constrain.grammar.terms import (
    ANY_TEXT,
    EMPTY,
    EPSILON,
    MAX_CODE_POINT,
    Alternation,
    And,
    CharClass,
    Concat,
    Empty,
    Literal,
    LiteralSet,
    Not,
    Regular,
    Repeat,
)


class Derivatives:
    """Derivatives with a memo, and an order of terms (that of their first appearance) to write sets in."""

    def __init__(self) -> None:
        self._memo: dict[tuple[Regular, int], Regular] = {}
        self._serial: dict[Regular, int] = {}

    def derive(self, term: Regular, code_point: int) -> Regular:
        """What may follow `code_point` in `term`."""
        key = (term, code_point)
        if key not in self._memo:
            self._memo[key] = self._derive(term, code_point)
        return self._memo[key]

    def _derive(self, term: Regular, code_point: int) -> Regular:
        if term == ANY_TEXT:
            return ANY_TEXT
        if isinstance(term, CharClass):
            return EPSILON if any(low <= code_point <= high for low, high in term.ranges) else EMPTY
        if isinstance(term, Literal):
            return _word(term.text[1:]) if term.text[:1] == chr(code_point) else EMPTY
        if isinstance(term, LiteralSet):
            first = chr(code_point)
            return self.any_of(_word(text[1:]) for text in term.texts if text[:1] == first)
        if isinstance(term, Alternation):
            return self.any_of(self.derive(item, code_point) for item in term.items)
        if isinstance(term, And):
            return self.all_of(self.derive(item, code_point) for item in term.items)
        if isinstance(term, Not):
            return negate(self.derive(term.item, code_point))
        if isinstance(term, Repeat):
            most = None if term.max is None else term.max - 1
            return join(self.derive(term.item, code_point), repeat(term.item, max(term.min - 1, 0), most))
        if isinstance(term, Concat):
            return self._derive_concat(term, code_point)
        return EMPTY

    def _derive_concat(self, term: Concat, code_point: int) -> Regular:
        branches = []
        for index, item in enumerate(term.items):
            branches.append(join(self.derive(item, code_point), *term.items[index + 1 :]))
            if not nullable(item):
                break
        return self.any_of(branches)

    def any_of(self, items: Iterable[Regular]) -> Regular:
        union = unite(*items)
        if isinstance(union, Alternation):
            return Alternation(self._in_order(union.items))
        return union

    def all_of(self, items: Iterable[Regular]) -> Regular:
        """The conjunction; tests of one character become one. Adding a part again changes nothing."""
        test: Regular = ANY_TEXT
        rest: dict[Regular, None] = {}
        for item in items:
            for part in item.items if isinstance(item, And) else (item,):
                if edge_test(part) is not None:
                    test = meet(test, part)
                else:
                    rest[part] = None
        if isinstance(test, Empty) or not rest:
            return test
        parts = self._in_order(rest if test == ANY_TEXT else (*rest, test))
        return parts[0] if len(parts) == 1 else And(parts)

    def matches(self, term: Regular, text: str) -> bool:
        for character in text:
            term = self.derive(term, ord(character))
        return nullable(term)

    def _in_order(self, items: Iterable[Regular]) -> tuple[Regular, ...]:
        return tuple(sorted(items, key=lambda item: self._serial.setdefault(item, len(self._serial))))


def _word(text: str) -> Regular:
    return Literal(text) if text else EPSILON


def atoms(terms: Iterable[Regular]) -> list[Ranges]:
    """The coarsest partition of the code points such that no term tells two points of one part apart.

    Cost:  O(r log r) for r ranges in all.
    """
    toggles: dict[int, int] = {0: 0}
    for index, ranges in enumerate(_classes(terms)):
        for low, high in ranges:
            toggles[low] = toggles.get(low, 0) ^ (1 << index)
            toggles[high + 1] = toggles.get(high + 1, 0) ^ (1 << index)
    parts: dict[int, list[tuple[int, int]]] = {}
    signature = 0
    starts = sorted(point for point in toggles if point <= MAX_CODE_POINT)
    for start, end in zip(starts, [*starts[1:], MAX_CODE_POINT + 1], strict=True):
        signature ^= toggles[start]
        parts.setdefault(signature, []).append((start, end - 1))
    return [tuple(ranges) for ranges in parts.values()]


def _classes(terms: Iterable[Regular]) -> list[Ranges]:
    """Every class and every literal's character in `terms`, each once."""
    found: dict[Ranges, None] = {}
    stack = list(terms)
    while stack:
        term = stack.pop()
        if isinstance(term, CharClass):
            found[term.ranges] = None
        elif isinstance(term, Literal | LiteralSet):
            for text in (term.text,) if isinstance(term, Literal) else term.texts:
                found.update({((ord(character), ord(character)),): None for character in text})
        elif isinstance(term, Concat | Alternation | And):
            stack.extend(term.items)
        elif isinstance(term, Repeat | Not):
            stack.append(term.item)
    return list(found)
