"""Text that is remembered while it is read, because what may follow depends on its *value*: names and unique items.

Two spellings of one value must lead to one state, so what is remembered is canonical: blanks in front are dropped,
and whole characters of a string are respelled in the one canonical way. Values compare as JSON does: strings decoded,
numbers by exact decimal value (-0 is 0).

`values_ahead` lists distinct values that can still be reached; counting them decides whether a
container can be filled.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from heapq import heappop, heappush

from tests.reference.escapes import read_escape
from tests.reference.nodes import EMPTY, Node
from tests.reference.regular import SEARCH_LIMIT, TwinLimit, intervals, shortest_length
from tests.reference.utf8 import first_code_points, spelled_ranges

BLANKS = " \t\n\r"
Value = tuple[str, object]


@lru_cache(maxsize=100_000)
def remember(text: str, c: int) -> str:
    """`text` with `c` behind it, in canonical spelling. A finished string is whatever ends in an unescaped quote."""
    character = chr(c)
    if not text:
        return "" if character in BLANKS else character
    if not text.startswith('"'):
        return text + character
    body, escape = _split_escape(text[1:])
    if not escape:
        return text + character
    spelled, _ = read_escape("json_any", escape + character)
    return text + character if spelled is None else '"' + body + json.dumps(chr(spelled), ensure_ascii=False)[1:-1]


def _split_escape(body: str) -> tuple[str, str]:
    """The whole characters of a string's body, and the unfinished escape at its end."""
    index = 0
    while index < len(body):
        if body[index] != "\\":
            index += 1
            continue
        for end in range(index + 2, min(len(body), index + 12) + 1):
            if read_escape("json_any", body[index:end])[0] is not None:
                index = end
                break
        else:
            return body[:index], body[index:]
    return body, ""


def value_of(text: str) -> Value:
    """The value that a finished JSON scalar denotes, as a key that compares by value."""
    text = text.strip(BLANKS)
    if text.startswith('"'):
        return "string", json.loads(text)
    if text in ("true", "false", "null"):
        return "literal", text
    sign, digits, exponent = Decimal(text).as_tuple()
    significant = "".join(map(str, digits)).lstrip("0")
    if not significant:
        return "number", 0
    shortened = significant.rstrip("0")
    return "number", (sign, shortened, int(exponent) + len(significant) - len(shortened))


def values_ahead(node: Node, text: str, alphabet: frozenset[int], enough: int) -> Iterator[Value]:
    """Distinct values of `text` + w, for w in `node` written in `alphabet`: all of them, or at least `enough`.

    Best first: whatever leads to the shortest text, and of those the longest beginning. Inside a string other
    characters are other values, so of those that leave the same node only `enough` are tried.
    """
    ranges = spelled_ranges(alphabet)
    values: set[Value] = set()
    seen: set[tuple[Node, str]] = set()
    queue: list[tuple[int, int, int, Node, str]] = []

    def add(length: int, node: Node, text: str) -> None:
        to_come = None if node is EMPTY else shortest_length(node, alphabet)
        if to_come is not None and (node, text) not in seen:
            seen.add((node, text))
            heappush(queue, (length + to_come, to_come, len(seen), node, text))

    add(0, node, text)
    while queue and len(values) < enough:
        total, to_come, _, node, text = heappop(queue)
        if node.nullable and (value := value_of(text)) not in values:
            values.add(value)
            yield value
        for low, high in intervals(node):
            if node.after(low) is not EMPTY:
                for c in first_code_points(ranges, low, high, enough if text.startswith('"') else 128):
                    add(total - to_come + 1, node.after(c), remember(text, c))
        if len(seen) > SEARCH_LIMIT:
            raise TwinLimit(f"more than {SEARCH_LIMIT} beginnings of values")
