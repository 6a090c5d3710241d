"""Membership of a text in a regular term, straight from the definition: slow, obvious, and nothing shared with the
code."""

from __future__ import annotations

from constrain.grammar.terms import (
    Alternation,
    And,
    CharClass,
    Concat,
    Empty,
    Epsilon,
    Literal,
    LiteralSet,
    Not,
    Regular,
    Repeat,
)


def accepts(term: Regular, text: str) -> bool:
    """Is `text` in `term`?"""
    return len(text) in _Ends(text).ends(term, 0)


class _Ends:
    """For a term and a start: all ends j such that text[start:j] is in the term."""

    def __init__(self, text: str):
        self.text = text
        self.memo: dict[tuple[int, int], frozenset[int]] = {}
        self.kept: list[Regular] = []

    def ends(self, term: Regular, start: int) -> frozenset[int]:
        key = (id(term), start)
        if key not in self.memo:
            self.kept.append(term)
            self.memo[key] = frozenset(self._ends(term, start))
        return self.memo[key]

    def _ends(self, term: Regular, start: int) -> set[int]:
        text = self.text
        if isinstance(term, Empty):
            return set()
        if isinstance(term, Epsilon):
            return {start}
        if isinstance(term, CharClass):
            inside = start < len(text) and any(low <= ord(text[start]) <= high for low, high in term.ranges)
            return {start + 1} if inside else set()
        if isinstance(term, Literal | LiteralSet):
            words = (term.text,) if isinstance(term, Literal) else term.texts
            return {start + len(word) for word in words if text.startswith(word, start)}
        if isinstance(term, Concat):
            reached = {start}
            for item in term.items:
                reached = {end for at in reached for end in self.ends(item, at)}
            return reached
        if isinstance(term, Alternation):
            return {end for item in term.items for end in self.ends(item, start)}
        if isinstance(term, And):
            return set.intersection(*(set(self.ends(item, start)) for item in term.items))
        if isinstance(term, Not):
            return set(range(start, len(text) + 1)) - self.ends(term.item, start)
        if isinstance(term, Repeat):
            return self._repeat_ends(term, start)
        raise TypeError(term)

    def _repeat_ends(self, term: Repeat, start: int) -> set[int]:
        current = {start}
        found = set(current) if term.min == 0 else set()
        bound = term.min + len(self.text) + 1 if term.max is None else min(term.max, term.min + len(self.text) + 1)
        for count in range(1, bound + 1):
            following = {end for at in current for end in self.ends(term.item, at)}
            if count >= term.min:
                if following <= found and following == current:
                    break
                found |= following
            elif following == current:
                # Nothing changes any more, so neither does it at the least count.
                found |= following
                break
            current = following
            if not current:
                break
        return found
