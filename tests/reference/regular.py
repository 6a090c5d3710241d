"""The twin of regular terms: Brzozowski derivatives by code point, written to be obvious.

A `Node` is a set of code point strings. It knows whether it holds the empty string (`nullable`) and what is left of it
behind one code point (`after`). Nodes are interned, so that equal ones are one object; the constructors flatten, sort
and drop what is empty, which makes the set of derivatives of a node finite (Brzozowski 1964, "Derivatives of regular
expressions"). A derivative is the same for all code points between two `cuts`, so a search tries one of each.

`Encoded` is no exception: a spelling is itself a code point string, and the reader of spellings keeps the characters
of an unfinished escape beside what is left of the decoded string.

Liveness is relative to an alphabet of bytes: is there a way to finish that writes only those?

This module shares nothing with the kernel: it reads `constrain.grammar.terms` and Python's UTF-8 codec.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from constrain.grammar import terms
from tests.reference.utf8 import ALL_BYTES, first_code_points, next_character, spelled_ranges

SEARCH_LIMIT = 50_000
"""How many nodes a search for a way to finish may see."""


class TwinLimit(Exception):
    """The twin gave up: the case is too large for the slow method, and says nothing of the kernel."""


class Node:
    """A set of code point strings; see the module head. Compared by identity, made only by the functions below."""

    __slots__ = ("_cuts", "_derivatives", "nullable", "serial")
    _interned: ClassVar[dict[tuple[Any, ...], Node]] = {}

    serial: int
    nullable: bool

    def _finish(self) -> None:
        """Compute `nullable`; called once, when the parts are set."""

    def derive(self, c: int) -> Node:
        raise NotImplementedError

    def find_cuts(self) -> Iterable[int]:
        raise NotImplementedError

    def cuts(self) -> tuple[int, ...]:
        """Sorted code points, 0 first: `derive` is constant from each up to the next."""
        if self._cuts is None:
            self._cuts = tuple(sorted({0, *self.find_cuts()}))
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


SHORT_ESCAPES = {'"': '"', "\\": "\\", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
CONTROLS_WITH_SHORT_ESCAPE = "\b\f\n\r\t"
HEX_DIGITS = "0123456789abcdef"


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


def read_escape(encoding: terms.Encoding, escape: str) -> tuple[int | None, str]:
    """The code point that `escape` spells, or None and what to keep of it: "" if nothing spelled so can follow."""
    if len(escape) == 2 and escape[1] in SHORT_ESCAPES:
        return ord(SHORT_ESCAPES[escape[1]]), ""
    if escape == "\\/" and encoding == "json_any":
        return ord("/"), ""
    if encoding == "json":
        return _read_canonical_escape(escape)
    first, second = escape[:6].lower(), escape[6:].lower()
    if not _may_become_escape(first) or not _may_become_escape(second):
        return None, ""
    if len(first) < 6:
        return None, first
    unit = int(first[2:], 16)
    if not 0xD800 <= unit <= 0xDFFF:
        return unit, ""
    if unit >= 0xDC00:
        return None, ""
    if len(second) < 6:
        return None, first + second
    low = int(second[2:], 16)
    return (0x10000 + (unit - 0xD800) * 0x400 + low - 0xDC00, "") if 0xDC00 <= low <= 0xDFFF else (None, "")


def _may_become_escape(text: str) -> bool:
    return text[:2] in ("", "\\", "\\u") and all(digit in HEX_DIGITS for digit in text[2:])


def _read_canonical_escape(escape: str) -> tuple[int | None, str]:
    for control in range(0x20):
        canonical = f"\\u{control:04x}"
        if chr(control) not in CONTROLS_WITH_SHORT_ESCAPE and canonical.startswith(escape):
            return (control, "") if canonical == escape else (None, escape)
    return None, ""


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
            return texts(text for text in part.texts if all(_holds(other, text) for other in others))
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
    characters((ord(low), ord(high)) for low, high in ("cf", "CF")),
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
        low, high, rest = _spelled_by(escape)
        if low <= high and item.after(low) is item.after(high) and not any(low < cut <= high for cut in item.cuts()):
            return concat(rest, spelling(encoding, "", item.after(low)))
    return _make(Spelling, encoding, escape, item)


def _spelled_by(escape: str) -> tuple[int, int, Node]:
    """The first and last code point that an unfinished escape may become, and how it goes on; (1, 0, …) if undecided."""
    digits = escape[2:6]
    missing = 4 - len(digits)
    low, high = int(digits.ljust(4, "0"), 16), int(digits.ljust(4, "f"), 16)
    more_digits = repeat(ANY_HEX_DIGIT, missing, missing)
    if high < 0xD800 or low > 0xDFFF:
        return low, high, more_digits
    if not 0xD800 <= low <= high <= 0xDBFF or len(escape) > 6:
        return 1, 0, more_digits
    pairs_before = (low - 0xD800) * 0x400, (high + 1 - 0xD800) * 0x400
    return 0x10000 + pairs_before[0], 0xFFFF + pairs_before[1], concat(more_digits, ANY_LOW_SURROGATE)


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


# ---------------------------------------------------------------- questions


def _holds(node: Node, text: str) -> bool:
    for character in text:
        node = node.after(ord(character))
    return node.nullable


def intervals(node: Node) -> Iterable[tuple[int, int]]:
    """The stretches of code points on which the derivative is the same."""
    cuts = node.cuts()
    return zip(cuts, [cut - 1 for cut in cuts[1:]] + [terms.MAX_CODE_POINT], strict=True)


def successors(node: Node, alphabet: frozenset[int], partial: bytes = b"") -> Iterable[Node]:
    """What is left behind each character that begins with `partial` and goes on in `alphabet`."""
    ranges = spelled_ranges(alphabet, partial)
    for low, high in intervals(node):
        for c in first_code_points(ranges, low, high):
            yield node.after(c)


_known_alive: dict[frozenset[int], dict[Node, bool]] = {}


def node_is_alive(node: Node, alphabet: frozenset[int] = ALL_BYTES) -> bool:
    """True if `node` holds a string that is written with bytes of `alphabet`. Breadth first, under `SEARCH_LIMIT`."""
    known = _known_alive.setdefault(alphabet, {})
    came_from: dict[Node, Node | None] = {node: None}
    queue = deque([node])
    while queue:
        current = queue.popleft()
        if current.nullable or known.get(current):
            step: Node | None = current
            while step is not None:
                known[step] = True
                step = came_from[step]
            return True
        if current in known:
            continue
        for successor in successors(current, alphabet):
            if successor not in came_from and successor is not EMPTY:
                came_from[successor] = current
                queue.append(successor)
        if len(came_from) > SEARCH_LIMIT:
            raise TwinLimit(f"more than {SEARCH_LIMIT} derivatives")
    known.update(dict.fromkeys(came_from, False))
    return False


_known_lengths: dict[tuple[Node, frozenset[int]], int | None] = {}


def shortest_length(node: Node, alphabet: frozenset[int]) -> int | None:
    """How many characters the shortest string of `node` has that `alphabet` can write; None if there is none."""
    if (node, alphabet) not in _known_lengths:
        _known_lengths[node, alphabet] = _find_shortest_length(node, alphabet)
    return _known_lengths[node, alphabet]


def _find_shortest_length(node: Node, alphabet: frozenset[int]) -> int | None:
    if not node_is_alive(node, alphabet):
        return None
    length, reached, seen = 0, {node}, {node}
    while not any(one.nullable for one in reached):
        length += 1
        reached = {s for one in reached for s in successors(one, alphabet) if node_is_alive(s, alphabet)} - seen
        seen |= reached
        if len(seen) > SEARCH_LIMIT:
            raise TwinLimit(f"more than {SEARCH_LIMIT} derivatives")
    return length


# ---------------------------------------------------------------- by byte


@dataclass(frozen=True, slots=True)
class ByteState:
    """A term in progress between two bytes: what is left behind the whole characters, and the bytes of an unfinished one."""

    node: Node
    partial: bytes = b""


def byte_state(term: terms.Regular | ByteState) -> ByteState:
    return term if isinstance(term, ByteState) else ByteState(node_of(term))


def derivative(term: terms.Regular | ByteState, byte: int) -> ByteState:
    """What is left of `term` behind `byte`."""
    state = byte_state(term)
    match next_character(state.partial, byte):
        case None:
            return ByteState(EMPTY)
        case bytes(partial):
            return ByteState(state.node, partial)
        case code_point:
            return ByteState(state.node.after(code_point))


def is_nullable(term: terms.Regular | ByteState) -> bool:
    state = byte_state(term)
    return not state.partial and state.node.nullable


def is_alive(term: terms.Regular | ByteState, alphabet: frozenset[int] = ALL_BYTES) -> bool:
    """True if some way to finish writes only bytes of `alphabet`; what is written already does not count."""
    state = byte_state(term)
    if not state.partial:
        return node_is_alive(state.node, alphabet)
    return any(node_is_alive(node, alphabet) for node in successors(state.node, alphabet, state.partial))


def matches(term: terms.Regular | ByteState, data: bytes) -> bool:
    state = byte_state(term)
    for byte in data:
        state = derivative(state, byte)
    return is_nullable(state)
