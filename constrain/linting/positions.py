"""Where in a JSON text a JSON pointer points: line and column, for messages that an editor can jump to.

`json` keeps no positions, so this is a scan of its own: one pass over the tokens of a text that is already known to be
JSON, with an explicit stack, so that neither depth nor size can exhaust anything. A text that is not JSON yields what
was found before the fault. Cost: O(length of the text) times the depth, only when there is something to report.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote

LINE_AND_COLUMN = re.compile(r"(?:line (\d+),? column (\d+)|(\d+):(\d+))")
"""How errors name a place in a text."""

TOKEN = re.compile(r'\s*(?:(?P<string>"(?:[^"\\]|\\.)*")|(?P<mark>[{}\[\]:,])|(?P<scalar>[^\s{}\[\]:,"]+))', re.DOTALL)


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a text, both counted from 1; columns count code points."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


@dataclass(slots=True)
class _Container:
    """An open object or array: the escaped name or index of the child that comes next."""

    is_object: bool
    child: str
    expects_name: bool


def locate(text: str, pointers: Iterable[str]) -> dict[str, Position]:
    """The position of each of `pointers` (`#/properties/n`, `/properties/n`) that `text` has: of the member's name for
    a member of an object, else of the value."""
    wanted = {normalised(pointer): pointer for pointer in pointers}
    found: dict[str, Position] = {}
    if not wanted:
        return found
    line, start, at = 1, 0, 0  # of the line of the last position: values come in order
    for pointer, offset in value_offsets(text):
        if pointer in wanted:
            line += text.count("\n", at, offset)
            start = max(start, text.rfind("\n", at, offset) + 1)
            at = offset
            found.setdefault(wanted.pop(pointer), Position(line, offset - start + 1))
            if not wanted:
                break
    return found


def normalised(pointer: str) -> str:
    """A pointer without its `#`, and with the percent-escapes of a URI fragment undone."""
    return unquote(pointer[1:]) if pointer.startswith("#") else pointer


def child_pointer(pointer: str, name: str) -> str:
    """The pointer of a member of what `pointer` points at."""
    return f"{pointer}/{escaped(name)}"


def escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def position_at(text: str, offset: int) -> Position:
    """Line and column of a code point offset."""
    return Position(text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))


def value_offsets(text: str) -> Iterator[tuple[str, int]]:
    """Each value's pointer with the offset where its name, or else the value itself, begins."""
    stack: list[_Container] = []
    at, name_start = 0, 0
    while (token := TOKEN.match(text, at)) is not None:
        at = token.end()
        kind = token.lastgroup or "scalar"
        start, what = token.start(kind), token[kind]
        if what in ("}", "]"):
            if not stack:
                return
            stack.pop()
        elif what == ",":
            _to_next_child(stack)
        elif what == ":":
            continue
        elif stack and stack[-1].expects_name:
            stack[-1].child, stack[-1].expects_name, name_start = escaped(_decoded(what)), False, start
        else:
            inside_object = bool(stack) and stack[-1].is_object
            yield "".join(f"/{container.child}" for container in stack), name_start if inside_object else start
            if what in ("{", "["):
                stack.append(_Container(what == "{", "0", what == "{"))


def _to_next_child(stack: list[_Container]) -> None:
    if not stack:
        return
    if stack[-1].is_object:
        stack[-1].expects_name = True
    else:
        stack[-1].child = str(int(stack[-1].child) + 1)


def _decoded(string: str) -> str:
    try:
        return str(json.loads(string, strict=False))
    except ValueError:
        return string.strip('"')
