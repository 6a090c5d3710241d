"""A pattern's tree with everything plain already a regular term: what is left are the conditions and what holds them.

A *condition* holds at a position between two characters. `Condition` is a union of clauses (P, S): the text before
the position is in P and the text after it in S. Every anchor is one; so are lookarounds with a plain body. A
lookaround whose body holds conditions itself stays a `Look`.

Building it is one pass over the tree, children first, without recursion.
"""

from __future__ import annotations

from dataclasses import dataclass

from constrain.frontends.regex.classes import NEWLINE, complement
from constrain.frontends.regex.simplify import edge, join, negate, repeat, reverse, single, unite
from constrain.frontends.regex.syntax import (
    Anchor,
    Chars,
    Choice,
    Look,
    Node,
    Repetition,
    Sequence,
    children,
    postorder,
)
from constrain.grammar.terms import ANY_TEXT, EPSILON, Literal, Regular

Clauses = tuple[tuple[Regular, Regular], ...]


@dataclass(frozen=True, slots=True)
class Plain:
    term: Regular


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    clauses: Clauses
    position: int


@dataclass(frozen=True, slots=True, eq=False)
class LookAround:
    body: Skeleton
    behind: bool
    negated: bool
    position: int


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    items: tuple[Skeleton, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Branches:
    items: tuple[Skeleton, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    item: Skeleton
    min: int
    max: int | None
    position: int


Skeleton = Plain | Condition | LookAround | Row | Branches | Loop


def skeleton_of(root: Node) -> Skeleton:
    """The skeleton of a tree without `Unsupported` nodes; just a `Plain` if the pattern has no conditions."""
    built: dict[int, Skeleton] = {}
    for node in postorder(root):
        built[id(node)] = _build(node, [built[id(child)] for child in children(node)])
    return built[id(root)]


def _build(node: Node, inner: list[Skeleton]) -> Skeleton:
    if isinstance(node, Chars):
        return Plain(single(node.ranges))
    if isinstance(node, Anchor):
        return Condition(anchor_clauses(node), node.position)
    if isinstance(node, Sequence):
        return row(inner)
    if isinstance(node, Choice):
        return _branches(inner)
    item = inner[0]
    if isinstance(node, Repetition):
        if isinstance(item, Plain):
            return Plain(repeat(item.term, node.min, node.max))
        if node.max == 0:
            return Plain(EPSILON)
        if isinstance(item, Condition | LookAround):
            # Taking no text, it holds as often as it holds once; and need not, if it may come no time at all.
            return item if node.min else Plain(EPSILON)
        return Loop(item, node.min, node.max, node.position)
    assert isinstance(node, Look)
    if not isinstance(item, Plain):
        return LookAround(item, node.behind, node.negated, node.position)
    seen = join(ANY_TEXT, item.term) if node.behind else join(item.term, ANY_TEXT)
    seen = negate(seen) if node.negated else seen
    return Condition(((seen, ANY_TEXT) if node.behind else (ANY_TEXT, seen),), node.position)


def row(items: list[Skeleton]) -> Skeleton:
    """One after the other, neighbouring plain terms joined."""
    flat: list[Skeleton] = []
    run: list[Regular] = []
    for item in items:
        for part in item.items if isinstance(item, Row) else (item,):
            if isinstance(part, Plain):
                run.append(part.term)
                continue
            if run:
                flat.append(Plain(join(*run)))
                run = []
            flat.append(part)
    if run or not flat:
        flat.append(Plain(join(*run)))
    return flat[0] if len(flat) == 1 else Row(tuple(flat))


def _branches(items: list[Skeleton]) -> Skeleton:
    plain = [item.term for item in items if isinstance(item, Plain)]
    others = [item for item in items if not isinstance(item, Plain)]
    union = [Plain(unite(*plain))] if plain else []
    return union[0] if not others else Branches((*union, *others)) if len(union) + len(others) > 1 else others[0]


def anchor_clauses(anchor: Anchor) -> Clauses:
    """What an anchor asks of the text before and after."""
    newline = Literal("\n")
    if anchor.kind == "text_start":
        return ((EPSILON, ANY_TEXT),)
    if anchor.kind == "text_end":
        return ((ANY_TEXT, EPSILON),)
    if anchor.kind == "line_start":
        return ((reverse(edge(True, NEWLINE)), ANY_TEXT),)
    if anchor.kind == "line_end":
        return ((ANY_TEXT, edge(True, NEWLINE)),)
    if anchor.kind == "final_line_end":
        return ((ANY_TEXT, unite(EPSILON, newline)),)
    word_after, other_after = edge(False, anchor.word), edge(True, complement(anchor.word))
    word_before, other_before = reverse(word_after), reverse(other_after)
    if anchor.kind == "boundary":
        return ((word_before, other_after), (other_before, word_after))
    if anchor.kind == "no_boundary":
        return ((word_before, word_after), (other_before, other_after))
    some_other = edge(False, complement(anchor.word))
    return ((word_before, word_after), (reverse(some_other), other_after), (EPSILON, some_other))


def reversed_skeleton(node: Skeleton) -> Skeleton:
    """The skeleton for texts read backwards: behind becomes ahead."""
    if isinstance(node, Plain):
        return Plain(reverse(node.term))
    if isinstance(node, Condition):
        return Condition(tuple((reverse(after), reverse(before)) for before, after in node.clauses), node.position)
    if isinstance(node, LookAround):
        return LookAround(reversed_skeleton(node.body), not node.behind, node.negated, node.position)
    if isinstance(node, Loop):
        return Loop(reversed_skeleton(node.item), node.min, node.max, node.position)
    items = tuple(reversed_skeleton(item) for item in node.items)
    return Row(items[::-1]) if isinstance(node, Row) else Branches(items)


def conditions(node: Skeleton) -> list[Condition]:
    """Every condition in `node`, lookaheads' bodies included."""
    found: list[Condition] = []
    stack = [node]
    while stack:
        top = stack.pop()
        if isinstance(top, Condition):
            found.append(top)
        elif isinstance(top, Row | Branches):
            stack.extend(top.items)
        elif isinstance(top, Loop):
            stack.append(top.item)
        elif isinstance(top, LookAround):
            stack.append(top.body)
    return found
