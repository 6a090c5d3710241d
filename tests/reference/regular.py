"""The twin of regular terms: what is left behind a byte, and whether it can still be finished.

The functions for callers are `derivative`, `is_nullable`, `is_alive` and `matches`, by byte; the others ask of nodes.
Liveness is relative to an alphabet of bytes: is there a way to finish that writes only those? Searches are breadth
first, try one character of each stretch that leaves the same node, and give up with `TwinLimit`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from constrain.grammar import terms
from tests.reference.nodes import EMPTY, Node, node_of
from tests.reference.utf8 import ALL_BYTES, first_code_points, next_character, spelled_ranges

SEARCH_LIMIT = 50_000
"""How many nodes a search may see."""


class TwinLimit(Exception):
    """The twin gave up: the case is too large for the slow method, and says nothing of the kernel."""


def intervals(node: Node) -> Iterable[tuple[int, int]]:
    """The stretches of code points on which the derivative is the same."""
    cuts = node.cuts()
    return zip(cuts, [cut - 1 for cut in cuts[1:]] + [terms.MAX_CODE_POINT], strict=True)


def successors(node: Node, alphabet: frozenset[int], partial: bytes = b"") -> Iterable[Node]:
    """What is left behind each character that begins with `partial` and goes on in `alphabet`."""
    for c in _one_of_each(node.cuts(), alphabet, partial):
        yield node.after(c)


@cache
def _one_of_each(cuts: tuple[int, ...], alphabet: frozenset[int], partial: bytes) -> tuple[int, ...]:
    """A code point from each stretch between cuts that has one to write."""
    ranges = spelled_ranges(alphabet, partial)
    ends = (*(cut - 1 for cut in cuts[1:]), terms.MAX_CODE_POINT)
    return tuple(c for low, high in zip(cuts, ends, strict=True) for c in first_code_points(ranges, low, high))


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
    """A term in progress: what is left behind the whole characters, and the bytes of an unfinished one."""

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
