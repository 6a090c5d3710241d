"""The syntax tree of a pattern: what the parser makes and the translator reads. Both dialects share it.

Groups leave no node: without back references a capture means nothing. Flags are gone too: `(?i)` has widened the
`Chars`, `(?s)` the dots, `(?m)` picked the anchors. `Unsupported` stands for what parses and yet cannot be enforced,
so that "does not parse" (which ECMA re-reads by Annex B) and "cannot be enforced" stay apart.

Invariant: a tree is at most `MAX_NESTING` groups deep; every node has the position (code points from 0) of its text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from constrain.frontends.regex.classes import Ranges

MAX_NESTING = 200
MAX_PATTERN_LENGTH = 100_000
MAX_REPEAT = 100_000

AnchorKind = OneOf[
    "text_start",
    "text_end",
    "line_start",
    "line_end",
    "final_line_end",
    "boundary",
    "no_boundary",
    "no_boundary_or_empty",
]
"""`final_line_end` is Python's `$`: at the end, or before a newline that ends the text. `no_boundary_or_empty` is `\\B`
where it fails on the empty text (`re` before Python 3.14)."""


@dataclass(frozen=True, slots=True)
class Chars:
    """One code point of `ranges`, which may be empty."""

    ranges: Ranges
    position: int


@dataclass(frozen=True, slots=True)
class Sequence:
    items: tuple[Node, ...]
    position: int


@dataclass(frozen=True, slots=True)
class Choice:
    items: tuple[Node, ...]
    position: int


@dataclass(frozen=True, slots=True)
class Repetition:
    """`item` from `min` to `max` times (None: no bound). Lazy or greedy is the same language."""

    item: Node
    min: int
    max: int | None
    position: int


@dataclass(frozen=True, slots=True)
class Anchor:
    """A condition on the characters left and right; `word` are the word characters, for boundaries."""

    kind: AnchorKind
    position: int
    word: Ranges = ()


@dataclass(frozen=True, slots=True)
class Look:
    """A lookahead, or (`behind`) a lookbehind."""

    item: Node
    behind: bool
    negated: bool
    position: int


@dataclass(frozen=True, slots=True)
class Unsupported:
    """`what` it is, in words, and what to do instead."""

    what: str
    help: str
    position: int


Node = Chars | Sequence | Choice | Repetition | Anchor | Look | Unsupported


def children(node: Node) -> tuple[Node, ...]:
    if isinstance(node, (Sequence, Choice)):
        return node.items
    if isinstance(node, (Repetition, Look)):
        return (node.item,)
    return ()


def postorder(root: Node) -> list[Node]:
    """Every node, children before parents, without recursion."""
    order: list[Node] = []
    stack = [root]
    while stack:
        node = stack.pop()
        order.append(node)
        stack.extend(children(node))
    order.reverse()
    return order


def width(root: Node) -> tuple[int, int | None]:
    """The least and the greatest length (None: no bound) of what `root` matches, as Python computes it."""
    widths: dict[int, tuple[int, int | None]] = {}
    for node in postorder(root):
        inner = [widths[id(child)] for child in children(node)]
        if isinstance(node, Chars):
            widths[id(node)] = (1, 1)
        elif isinstance(node, Sequence):
            highs = [high for _, high in inner]
            total = None if None in highs else sum(high for high in highs if high is not None)
            widths[id(node)] = (sum(low for low, _ in inner), total)
        elif isinstance(node, Choice):
            highs = [high for _, high in inner]
            most = None if None in highs else max(high for high in highs if high is not None)
            widths[id(node)] = (min(low for low, _ in inner), most)
        elif isinstance(node, Repetition):
            low, high = inner[0]
            most = 0 if high == 0 else None if high is None or node.max is None else high * node.max
            widths[id(node)] = (low * node.min, most)
        else:
            widths[id(node)] = (0, 0)
    return widths[id(root)]
