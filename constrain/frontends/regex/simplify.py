"""Constructors of regular terms that keep them in the shape the kernel likes, and what follows from structure alone.

`join` merges literals and absorbs what `ANY_TEXT` makes superfluous; `unite` merges single characters into a class
and words into a `LiteralSet`; `meet` and `negate` stay structural where one side only looks at the first character.
All of them are exact: the language is always that of the plain constructor.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from constrain.frontends.regex.classes import EVERYTHING, Ranges, common, complement, merge
from constrain.grammar.terms import (
    ANY_CHAR,
    ANY_TEXT,
    EMPTY,
    EPSILON,
    SURROGATES,
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
    alternation,
    char_class,
    concat,
    intersection,
)

LITERAL_SET_FROM = 5
"""So many words in one alternation become a `LiteralSet`."""
MAX_NULLABLE_HEAD = 4
"""How many leading items that may be empty `starting_with` unfolds before it writes an intersection."""


class _HashedOnce(tuple[tuple[int, int], ...]):
    """The ranges of a big class (`\\w` has 760 in Python), whose hash is asked for with every term that holds it."""

    def __hash__(self) -> int:
        known = self.__dict__.get("hash")
        if known is None:
            known = self.__dict__["hash"] = super().__hash__()
        return known


def nullable(term: Regular) -> bool:
    """Is the empty text in `term`? (Loops, not generators: one stack frame per level of a deep term, not two.)"""
    if isinstance(term, Concat):
        for item in term.items:  # noqa: SIM110 (as above)
            if not nullable(item):
                return False
        return True
    if isinstance(term, Alternation):
        for item in term.items:  # noqa: SIM110 (as above)
            if nullable(item):
                return True
        return False
    if isinstance(term, And):
        return all(nullable(item) for item in term.items)
    if isinstance(term, Not):
        return not nullable(term.item)
    if isinstance(term, Repeat):
        return term.min == 0 or nullable(term.item)
    if isinstance(term, LiteralSet):
        return "" in term.texts
    return isinstance(term, Epsilon) or (isinstance(term, Literal) and not term.text)


def single(ranges: Ranges) -> Regular:
    """One character of `ranges`: a `Literal` if there is just one."""
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1] and not SURROGATES[0] <= ranges[0][0] <= SURROGATES[1]:
        return Literal(chr(ranges[0][0]))
    term = char_class(ranges)
    if isinstance(term, CharClass) and len(term.ranges) == 1 and term.ranges[0][0] == term.ranges[0][1]:
        return Literal(chr(term.ranges[0][0]))
    return CharClass(_HashedOnce(term.ranges)) if isinstance(term, CharClass) and len(term.ranges) > 16 else term


def ranges_of(term: Regular) -> Ranges | None:
    """The characters of a term that is exactly one character, else None."""
    if isinstance(term, CharClass):
        return term.ranges
    if isinstance(term, Literal) and len(term.text) == 1:
        return ((ord(term.text), ord(term.text)),)
    return None


def join(*items: Regular) -> Regular:
    """One after the other; adjacent literals merge, and beside `ANY_TEXT` an item that may be empty is superfluous."""
    flat: list[Regular] = []
    for item in items:
        for part in item.items if isinstance(item, Concat) else (item,):
            if isinstance(part, Empty):
                return EMPTY
            if isinstance(part, Epsilon) or (flat and flat[-1] == ANY_TEXT and nullable(part)):
                continue
            if part == ANY_TEXT:
                while flat and nullable(flat[-1]):
                    flat.pop()
            flat.append(part)
    return concat(*_merge_literal_runs(flat))


def _merge_literal_runs(items: Sequence[Regular]) -> list[Regular]:
    merged: list[Regular] = []
    run: list[str] = []
    for item in items:
        if isinstance(item, Literal):
            run.append(item.text)
            continue
        if run:
            merged.append(Literal("".join(run)))
            run = []
        merged.append(item)
    if run:
        merged.append(Literal("".join(run)))
    return merged


def unite(*items: Regular) -> Regular:
    """Any of them; characters merge into one class (in the place of the first), words into a `LiteralSet`."""
    parts = [part for item in items for part in (item.items if isinstance(item, Alternation) else (item,))]
    parts = [part for part in parts if not isinstance(part, Empty)]
    # Hashing a term walks all of it: not for nothing, or long rows of conditions would take quadratic time.
    if len(parts) < 2:
        return parts[0] if parts else EMPTY
    if ANY_TEXT in parts:
        return ANY_TEXT
    if len(parts) == 2 and parts[0] == parts[1]:
        return parts[0]
    flat: dict[Regular, None] = dict.fromkeys(parts)
    characters = [ranges for part in flat if (ranges := ranges_of(part)) is not None]
    if len(characters) > 1:
        union = single(merge(pair for ranges in characters for pair in ranges))
        flat = _replaced(flat, lambda part: ranges_of(part) is not None, union)
    words = [word for part in flat for word in _words(part)]
    if len(words) >= LITERAL_SET_FROM:
        flat = _replaced(flat, lambda part: bool(_words(part)), LiteralSet(tuple(dict.fromkeys(words))))
    return alternation(*flat)


def _words(part: Regular) -> tuple[str, ...]:
    return part.texts if isinstance(part, LiteralSet) else (part.text,) if isinstance(part, Literal) else ()


def _replaced(flat: Iterable[Regular], chosen, union: Regular) -> dict[Regular, None]:
    """`flat` with `union` in place of the first chosen one, the other chosen ones left out."""
    kept: dict[Regular, None] = {}
    placed = False
    for part in flat:
        if not chosen(part):
            kept[part] = None
        elif not placed:
            kept[union] = None
            placed = True
    return kept


def repeat(item: Regular, least: int, most: int | None) -> Regular:
    """`item` from `least` to `most` times; counts stay symbolic, stars of stars collapse."""
    if most == 0 or isinstance(item, Epsilon):
        return EPSILON
    if isinstance(item, Empty):
        return EPSILON if least == 0 else EMPTY
    if (least, most) == (1, 1):
        return item
    if isinstance(item, Repeat) and item.max is None and item.min <= 1 and least <= 1:
        return Repeat(item.item, min(item.min, least), None)
    if isinstance(item, Repeat) and item.min <= 1 and item.max is not None and least == 0 and most is None:
        return Repeat(item.item, 0, None)
    return Repeat(item, least, most)


def reverse(term: Regular) -> Regular:
    """The texts of `term`, each read backwards. Cost: linear in its distinct parts; what is shared stays shared."""
    return _reversed(term, {})


def _reversed(term: Regular, known: dict[int, Regular]) -> Regular:
    """`known` holds what was turned round, by identity: `term` keeps its parts alive."""
    if id(term) in known:
        return known[id(term)]
    result: Regular = term
    if isinstance(term, Literal):
        result = Literal(term.text[::-1])
    elif isinstance(term, LiteralSet):
        result = LiteralSet(tuple(text[::-1] for text in term.texts))
    elif isinstance(term, Concat):
        result = Concat(tuple([_reversed(item, known) for item in reversed(term.items)]))
    elif isinstance(term, Alternation):
        result = Alternation(tuple([_reversed(item, known) for item in term.items]))
    elif isinstance(term, And):
        result = And(tuple([_reversed(item, known) for item in term.items]))
    elif isinstance(term, Not):
        result = Not(_reversed(term.item, known))
    elif isinstance(term, Repeat):
        result = Repeat(_reversed(term.item, known), term.min, term.max)
    known[id(term)] = result
    return result


# ---------------------------------------------------------------- tests of one character


def edge_test(term: Regular) -> tuple[bool, Ranges] | None:
    """(may the text be empty, which first characters) if `term` asks for nothing else, else None."""
    if term == ANY_TEXT:
        return True, EVERYTHING
    if isinstance(term, Epsilon):
        return True, ()
    if isinstance(term, Empty):
        return False, ()
    if isinstance(term, Repeat) and term.item == ANY_CHAR and term.min == 1 and term.max is None:
        return False, EVERYTHING
    if isinstance(term, Concat) and len(term.items) == 2 and term.items[1] == ANY_TEXT:
        ranges = ranges_of(term.items[0])
        return None if ranges is None else (False, ranges)
    if isinstance(term, Alternation):
        parts = [edge_test(item) for item in term.items]
        known = [part for part in parts if part is not None]
        if len(known) == len(parts):
            return any(empty for empty, _ in known), merge(pair for _, ranges in known for pair in ranges)
    return None


def edge(may_be_empty: bool, ranges: Ranges) -> Regular:
    """The term that `edge_test` reads as this pair."""
    first = single(ranges)
    if first == ANY_CHAR and may_be_empty:
        return ANY_TEXT
    return unite(EPSILON if may_be_empty else EMPTY, concat(first, ANY_TEXT))


def negate(term: Regular) -> Regular:
    """Every other text; structural for tests of one character, for `Not` and for nothing and everything."""
    if isinstance(term, Not):
        return term.item
    test = edge_test(term)
    return Not(term) if test is None else edge(not test[0], complement(test[1]))


def meet(left: Regular, right: Regular) -> Regular:
    """What both have in common, structural where one of them is a test of one character."""
    for one, other in ((right, left), (left, right)):
        if other == ANY_TEXT:
            return one
        test = edge_test(one)
        if test is not None:
            return unite(EPSILON if test[0] and nullable(other) else EMPTY, starting_with(other, test[1]))
    return intersection(left, right)


def starting_with(term: Regular, ranges: Ranges) -> Regular:
    """The non-empty texts of `term` whose first character is in `ranges`."""
    if isinstance(term, Epsilon | Empty):
        return EMPTY
    if isinstance(term, CharClass):
        return single(common(term.ranges, ranges))
    if isinstance(term, Literal):
        return term if _has(ranges, term.text) else EMPTY
    if isinstance(term, LiteralSet):
        return unite(*(Literal(text) for text in term.texts if text and _has(ranges, text)))
    if isinstance(term, Alternation):
        return unite(*(starting_with(item, ranges) for item in term.items))
    if isinstance(term, And):
        return intersection(starting_with(term.items[0], ranges), *term.items[1:])
    if isinstance(term, Repeat) and not nullable(term.item):
        return _repeat_starting_with(term, ranges)
    if isinstance(term, Concat):
        return _concat_starting_with(term, ranges)
    return intersection(term, concat(single(ranges), ANY_TEXT)) if ranges else EMPTY


def _has(ranges: Ranges, text: str) -> bool:
    return any(low <= ord(text[0]) <= high for low, high in ranges)


def _repeat_starting_with(term: Repeat, ranges: Ranges) -> Regular:
    first = starting_with(term.item, ranges)
    if first == term.item:
        return repeat(term.item, max(term.min, 1), term.max)
    return join(first, repeat(term.item, max(term.min - 1, 0), None if term.max is None else term.max - 1))


def _concat_starting_with(term: Concat, ranges: Ranges) -> Regular:
    heads = 0
    while heads < len(term.items) and nullable(term.items[heads]):
        heads += 1
    if heads > MAX_NULLABLE_HEAD:
        return intersection(term, concat(single(ranges), ANY_TEXT)) if ranges else EMPTY
    branches = []
    for index in range(min(heads + 1, len(term.items))):
        branches.append(join(starting_with(term.items[index], ranges), *term.items[index + 1 :]))
    return unite(*branches)


def ending_with(term: Regular, ranges: Ranges) -> Regular:
    """The non-empty texts of `term` whose last character is in `ranges`."""
    return reverse(starting_with(reverse(term), ranges))
