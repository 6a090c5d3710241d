"""The nodes of the twin: regular terms under Brzozowski derivatives by code point, written to be obvious.

A `Node` is a set of code point strings. It knows whether it holds the empty string (`nullable`) and what is left of it
behind one code point (`after`). Nodes are interned, so that equal ones are one object; the constructors flatten, sort
and drop what is empty, which makes the set of derivatives of a node finite (Brzozowski 1964, "Derivatives of regular
expressions"). A derivative is the same for all code points between two `cuts`, so a search tries one of each.

`Encoded` is no exception: a spelling is itself a code point string, and the reader of spellings keeps the characters
of an unfinished escape beside what is left of the decoded string.

This module shares nothing with the kernel: it reads `constrain.grammar.terms` and Python's UTF-8 codec.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Any, ClassVar

from constrain.grammar import terms
from tests.reference.escapes import LOW_SURROGATE_DIGITS, read_escape, spelled_by


class Node:
    """A set of code point strings; see the module head. Compared by identity, made only by the functions below."""

    __slots__ = ("_cuts", "_derivatives", "nullable", "serial")
    _interned: ClassVar[dict[tuple[Any, ...], Node]] = {}

    serial: int
    nullable: bool
    _cuts: tuple[int, ...] | None
    _derivatives: dict[int, Node]

    def _finish(self) -> None:
        """Compute `nullable`; called once, when the parts are set."""

    def derive(self, c: int) -> Node:
        raise NotImplementedError

    def find_cuts(self) -> Iterable[int]:
        raise NotImplementedError

    def cuts(self) -> tuple[int, ...]:
        """Sorted code points, 0 first: `derive` is constant from each up to the next."""
        if self._cuts is None:
            self._cuts = tuple(sorted({0, *self.find_cuts()} - {terms.MAX_CODE_POINT + 1}))
        return self._cuts

    def after(self, c: int) -> Node:
        """What is left of the strings that begin with `c`, without that `c`."""
        interval = bisect_right(self.cuts(), c)
        if interval not in self._derivatives:
            self._derivatives[interval] = self.derive(c)
        return self._derivatives[interval]


def _make(kind: type[Node], *parts: Any) -> Any:
    key = (kind, *parts)
    node = Node._interned.get(key)
    if node is None:
        node = kind.__new__(kind)
        for name, part in zip(kind.__slots__, parts, strict=True):
            setattr(node, name, part)
        node._cuts, node._derivatives, node.serial = None, {}, len(Node._interned)
        node._finish()
        Node._interned[key] = node
    return node


# ---------------------------------------------------------------- the kinds of nodes


class Texts(Node):
    """Any one of finitely many strings; none of them is the empty language, and ("",) the empty string alone."""

    __slots__ = ("texts",)
    texts: tuple[str, ...]

    def _finish(self) -> None:
        self.nullable = "" in self.texts

    def derive(self, c: int) -> Node:
        return texts(text[1:] for text in self.texts if text and ord(text[0]) == c)

    def find_cuts(self) -> Iterable[int]:
        for text in self.texts:
            if text:
                yield from (ord(text[0]), ord(text[0]) + 1)


class Characters(Node):
    """One code point out of `ranges`."""

    __slots__ = ("ranges",)
    ranges: tuple[tuple[int, int], ...]

    def _finish(self) -> None:
        self.nullable = False

    def derive(self, c: int) -> Node:
        return EPSILON if any(low <= c <= high for low, high in self.ranges) else EMPTY

    def find_cuts(self) -> Iterable[int]:
        for low, high in self.ranges:
            yield from (low, high + 1)


class Concatenation(Node):
    __slots__ = ("head", "tail")
    head: Node
    tail: Node

    def _finish(self) -> None:
        self.nullable = self.head.nullable and self.tail.nullable

    def derive(self, c: int) -> Node:
        through_head = concat(self.head.after(c), self.tail)
        return union(through_head, self.tail.after(c)) if self.head.nullable else through_head

    def find_cuts(self) -> Iterable[int]:
        yield from self.head.cuts()
        if self.head.nullable:
            yield from self.tail.cuts()


class Union(Node):
    __slots__ = ("parts",)
    parts: tuple[Node, ...]

    def _finish(self) -> None:
        self.nullable = any(part.nullable for part in self.parts)

    def derive(self, c: int) -> Node:
        return union(*(part.after(c) for part in self.parts))

    def find_cuts(self) -> Iterable[int]:
        for part in self.parts:
            yield from part.cuts()


class Intersection(Node):
    __slots__ = ("parts",)
    parts: tuple[Node, ...]

    def _finish(self) -> None:
        self.nullable = all(part.nullable for part in self.parts)

    def derive(self, c: int) -> Node:
        return intersect(*(part.after(c) for part in self.parts))

    def find_cuts(self) -> Iterable[int]:
        for part in self.parts:
            yield from part.cuts()


class Complement(Node):
    """Every code point string that is not in `item`."""

    __slots__ = ("item",)
    item: Node

    def _finish(self) -> None:
        self.nullable = not self.item.nullable

    def derive(self, c: int) -> Node:
        return complement(self.item.after(c))

    def find_cuts(self) -> Iterable[int]:
        return self.item.cuts()


class Repeated(Node):
    """`item` from `least` to `most` times (None: no bound); `least` is 0 where `item` is nullable."""

    __slots__ = ("item", "least", "most")
    item: Node
    least: int
    most: int | None

    def _finish(self) -> None:
        self.nullable = self.least == 0

    def derive(self, c: int) -> Node:
        rest = repeat(self.item, max(self.least - 1, 0), None if self.most is None else self.most - 1)
        return concat(self.item.after(c), rest)

    def find_cuts(self) -> Iterable[int]:
        return self.item.cuts()


class Spelling(Node):
    """Spellings of what is left of `item`, where `escape` is an unfinished escape, hexadecimal digits in lower case.

    A high surrogate's escape is unfinished until the low one's is read.
    """

    __slots__ = ("encoding", "escape", "item")
    encoding: terms.Encoding
    escape: str
    item: Node

    def _finish(self) -> None:
        self.nullable = not self.escape and self.item.nullable

    def derive(self, c: int) -> Node:
        if not self.escape:
            if c == ord("\\"):
                return spelling(self.encoding, "\\", self.item)
            return EMPTY if c < 0x20 or c == ord('"') else spelling(self.encoding, "", self.item.after(c))
        character, escape = read_escape(self.encoding, self.escape + chr(c))
        if character is not None:
            return spelling(self.encoding, "", self.item.after(character))
        return spelling(self.encoding, escape, self.item) if escape else EMPTY

    def find_cuts(self) -> Iterable[int]:
        singled_out = '0123456789abcdefABCDEF"\\/nrtu' if self.escape else '"\\'
        for character in singled_out:
            yield from (ord(character), ord(character) + 1)
        if not self.escape:
            yield 0x20
            yield from self.item.cuts()


class Multiple(Node):
    """`DecimalMultiple` in progress: `remainder` of all digits so far, read as an integer, by `coefficient`.

    `fraction` is None before the point, else how many digits stand behind it, at most `scale`: the value is
    digits / 10^fraction, and it is a multiple of coefficient / 10^scale iff coefficient divides
    digits · 10^(scale - fraction). Past `scale` digits that holds only while zeros follow. `ready`: a digit came last.
    """

    __slots__ = ("coefficient", "fraction", "ready", "remainder", "scale")
    coefficient: int
    fraction: int | None
    ready: bool
    remainder: int
    scale: int

    def _finish(self) -> None:
        self.nullable = (
            self.ready and self.remainder * 10 ** (self.scale - (self.fraction or 0)) % self.coefficient == 0
        )

    def derive(self, c: int) -> Node:
        if c == ord(".") and self.ready and self.fraction is None:
            return _make(Multiple, self.coefficient, 0, False, self.remainder, self.scale)
        if not ord("0") <= c <= ord("9"):
            return EMPTY
        digit = c - ord("0")
        if self.fraction == self.scale:
            whole = self.remainder == 0 and digit == 0
            return _make(Multiple, self.coefficient, self.fraction, True, 0, self.scale) if whole else EMPTY
        fraction = None if self.fraction is None else self.fraction + 1
        remainder = (self.remainder * 10 + digit) % self.coefficient
        return _make(Multiple, self.coefficient, fraction, True, remainder, self.scale)

    def find_cuts(self) -> Iterable[int]:
        yield from (ord("."), ord(".") + 1)
        yield from range(ord("0"), ord("9") + 2)


# ---------------------------------------------------------------- constructors


def texts(strings: Iterable[str]) -> Node:
    return _make(Texts, tuple(sorted(set(strings))))


EMPTY = texts(())
EPSILON = texts(("",))


def complement(item: Node) -> Node:
    return item.item if isinstance(item, Complement) else _make(Complement, item)


EVERYTHING = complement(EMPTY)


def characters(ranges: Iterable[tuple[int, int]]) -> Node:
    built = terms.char_class(ranges)
    return _make(Characters, built.ranges) if isinstance(built, terms.CharClass) else EMPTY


def concat(*items: Node) -> Node:
    result = EPSILON
    for item in reversed(items):
        result = _concat_two(item, result)
    return result


def _concat_two(head: Node, tail: Node) -> Node:
    if EMPTY in (head, tail):
        return EMPTY
    if head is EPSILON:
        return tail
    if tail is EPSILON:
        return head
    if isinstance(head, Concatenation):
        return _concat_two(head.head, _concat_two(head.tail, tail))
    return _make(Concatenation, head, tail)


def union(*items: Node) -> Node:
    parts: set[Node] = set()
    strings: set[str] = set()
    for item in items:
        for part in item.parts if isinstance(item, Union) else (item,):
            if isinstance(part, Texts):
                strings.update(part.texts)
            else:
                parts.add(part)
    if strings:
        parts.add(texts(strings))
    if EVERYTHING in parts:
        return EVERYTHING
    if len(parts) <= 1:
        return next(iter(parts), EMPTY)
    return _make(Union, tuple(sorted(parts, key=lambda part: part.serial)))


def intersect(*items: Node) -> Node:
    parts: set[Node] = set()
    for item in items:
        parts.update(item.parts if isinstance(item, Intersection) else (item,))
    parts.discard(EVERYTHING)
    for part in sorted(parts, key=lambda part: part.serial):
        if isinstance(part, Texts):  # finitely many strings: ask the others about each
            others = parts - {part}
            return texts(text for text in part.texts if all(behind(other, text).nullable for other in others))
    if len(parts) <= 1:
        return next(iter(parts), EVERYTHING)
    return _make(Intersection, tuple(sorted(parts, key=lambda part: part.serial)))


def repeat(item: Node, least: int, most: int | None) -> Node:
    if most == 0 or item is EPSILON or (item is EMPTY and least == 0):
        return EPSILON
    if item is EMPTY or (most is not None and most < least):
        return EMPTY
    if (least, most) == (1, 1):
        return item
    if item.nullable:
        least = 0
    if (least, most) == (0, None) and item in (ANY_CHARACTER, EVERYTHING):
        return EVERYTHING
    return _make(Repeated, item, least, most)


ANY_CHARACTER = characters(terms.ANY_CHAR.ranges)
ANY_HEX_DIGIT = characters((ord(low), ord(high)) for low, high in ("09", "af", "AF"))
ANY_LOW_SURROGATE = concat(
    texts(("\\ud", "\\uD")),
    characters((ord(digit), ord(digit)) for digit in LOW_SURROGATE_DIGITS),
    repeat(ANY_HEX_DIGIT, 2, 2),
)


def spelling(encoding: terms.Encoding, escape: str, item: Node) -> Node:
    """Spellings of `item` behind the unfinished `escape`.

    Where every way to finish the escape leaves the same of `item`, that is what is built: else each of 65,536 escapes
    would be a node of its own.
    """
    if item is EMPTY:
        return EMPTY
    if encoding == "json_any" and len(escape) > 2:
        spelled = spelled_by(escape)
        if spelled and not any(spelled.low < cut <= spelled.high for cut in item.cuts()):
            rest = repeat(ANY_HEX_DIGIT, spelled.missing_digits, spelled.missing_digits)
            rest = concat(rest, ANY_LOW_SURROGATE) if spelled.needs_low_surrogate else rest
            return concat(rest, spelling(encoding, "", item.after(spelled.low)))
    return _make(Spelling, encoding, escape, item)


def node_of(term: terms.Regular) -> Node:
    """The node of a term."""
    match term:
        case terms.Empty():
            return EMPTY
        case terms.Epsilon():
            return EPSILON
        case terms.CharClass(ranges):
            return characters(ranges)
        case terms.Literal(text):
            return texts((text,))
        case terms.LiteralSet(strings):
            return texts(strings)
        case terms.Concat(items):
            return concat(*map(node_of, items))
        case terms.Alternation(items):
            return union(*map(node_of, items))
        case terms.Repeat(item, least, most):
            return repeat(node_of(item), least, most)
        case terms.And(items):
            return intersect(*map(node_of, items))
        case terms.Not(item):
            return complement(node_of(item))
        case terms.Encoded(item, encoding):
            return spelling(encoding, "", node_of(item))
        case terms.DecimalMultiple(coefficient, scale):
            return _make(Multiple, coefficient, None, False, 0, scale)
    raise TypeError(f"not a regular term: {term!r}")


def behind(node: Node, text: str) -> Node:
    """What is left of the strings that begin with `text`."""
    for character in text:
        node = node.after(ord(character))
    return node
