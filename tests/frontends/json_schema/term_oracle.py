"""A slow, obvious judge of regular terms on one text: the set of places where a term that starts at i can end."""

from __future__ import annotations

from fractions import Fraction

from constrain.grammar import terms as t


def denotes(term: t.Regular, text: str) -> bool:
    """True if `text` as a whole is in `term`."""
    return len(text) in _Judge(text).ends(term, 0)


class _Judge:
    def __init__(self, text: str):
        self.text = text
        self.known: dict[tuple[int, int], frozenset[int]] = {}

    def ends(self, term: t.Regular, start: int) -> frozenset[int]:
        key = (id(term), start)
        if key not in self.known:
            self.known[key] = frozenset(self._ends(term, start))
        return self.known[key]

    def _ends(self, term: t.Regular, start: int):
        text = self.text
        match term:
            case t.Empty():
                return ()
            case t.Epsilon():
                return (start,)
            case t.CharClass(ranges):
                here = start < len(text) and any(low <= ord(text[start]) <= high for low, high in ranges)
                return (start + 1,) if here else ()
            case t.Literal(literal):
                return (start + len(literal),) if text.startswith(literal, start) else ()
            case t.LiteralSet(literals):
                return {start + len(one) for one in literals if text.startswith(one, start)}
            case t.Concat(items):
                places = {start}
                for item in items:
                    places = {end for place in places for end in self.ends(item, place)}
                return places
            case t.Alternation(items):
                return {end for item in items for end in self.ends(item, start)}
            case t.And(items):
                return frozenset.intersection(*(self.ends(item, start) for item in items))
            case t.Not(item):
                return set(range(start, len(text) + 1)) - self.ends(item, start)
            case t.Repeat(item, low, high):
                return self._repeat(item, low, high, start)
            case t.DecimalMultiple(coefficient, scale):
                step = Fraction(coefficient, 10**scale)
                return {end for end in range(start + 1, len(text) + 1) if _is_multiple(text[start:end], step)}
        raise AssertionError(term)

    def _repeat(self, item: t.Regular, low: int, high: int | None, start: int) -> set[int]:
        layer, found, count = {start}, set(), 0
        while layer and (high is None or count <= high):
            if count >= low:
                if layer <= found:
                    break
                found |= layer
            layer = {end for place in layer for end in self.ends(item, place)}
            count += 1
        return found


def _is_multiple(text: str, step: Fraction) -> bool:
    whole, point, fraction = text.partition(".")
    digits = whole.isdigit() and (fraction.isdigit() or not point) and text.isascii()
    return digits and (Fraction(text) / step).denominator == 1
