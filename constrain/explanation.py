"""Why a text is accepted or not: how far it goes, what could stand there, and where in the JSON value that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from constrain.errors import InvalidSpecification

if TYPE_CHECKING:
    from constrain.grammar.recognizer import Recognizer

SHOWN_ALTERNATIVES = 8
SHOWN_BYTES = 40


@dataclass(frozen=True, slots=True)
class Explanation:
    """accepted  the whole text satisfies the specification.
    complete     what could be read (all of it, or up to `offset`) is itself a whole text.
    offset       how much could be read: in code points for a `str`, in bytes for `bytes`.
    line, column of that place, from 1; columns count code points.
    expected     what may stand there, in words; "" if accepted.
    path         JSON pointer of the value being written there; "" at the root or where the text is no JSON.
    """

    accepted: bool
    complete: bool
    offset: int
    line: int
    column: int
    expected: str
    path: str

    def __bool__(self) -> bool:
        return self.accepted

    def __str__(self) -> str:
        if self.accepted:
            return "accepted"
        place = f"line {self.line}, column {self.column}" + (f", at {self.path}" if self.path else "")
        return f"not accepted: at {place}: expected {self.expected}"


def explain(recognizer: Recognizer, text: str | bytes, *, is_json: bool) -> Explanation:
    """Read `text` as far as it goes. Cost: O(len(text))."""
    if not isinstance(text, (str, bytes, bytearray, memoryview)):
        raise InvalidSpecification(f"a text is str or bytes, not {type(text).__name__}")
    spelled = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)
    state, read = recognizer.feed(recognizer.start, spelled)
    complete = recognizer.is_complete(state)
    accepted = complete and read == len(spelled)
    while isinstance(text, str) and 0 < read < len(spelled) and spelled[read] & 0xC0 == 0x80:
        read -= 1  # the character as a whole cannot stand here
    state, _ = recognizer.feed(recognizer.start, spelled[:read])
    before = spelled[:read].decode("utf-8", "replace")
    return Explanation(
        accepted=accepted,
        complete=complete,
        offset=len(before) if isinstance(text, str) else read,
        line=before.count("\n") + 1,
        column=len(before) - (before.rfind("\n") + 1) + 1,
        expected="" if accepted else describe_next(recognizer, state),
        path=instance_path(before) if is_json else "",
    )


def describe_next(recognizer: Recognizer, state: int) -> str:
    """What may follow `state`, in words: texts where there are few, else classes of characters."""
    legal = recognizer.legal_bytes(state)
    parts = ["the end of the text"] if recognizer.is_complete(state) else []
    if len(legal) <= SHOWN_ALTERNATIVES and all(byte < 0x80 for byte in legal):
        parts += [_quoted(_forced_from(recognizer, state, byte)) for byte in legal]
    else:
        parts += _classes(legal)
    return " or ".join(parts) if parts else "nothing"


def _forced_from(recognizer: Recognizer, state: int, byte: int) -> bytes:
    """`byte` and what must come after it, up to the next choice."""
    text = bytes([byte])
    state = recognizer.step(state, byte)
    while len(text) < SHOWN_BYTES and not recognizer.is_complete(state):
        legal = recognizer.legal_bytes(state)
        if len(legal) != 1:
            break
        text += legal
        state = recognizer.step(state, legal[0])
    return text


def _quoted(text: bytes) -> str:
    shown = text.decode("utf-8", "ignore")
    return f"`{shown}`" if shown.isprintable() else f"`{repr(shown)[1:-1]}`"


def _classes(legal: bytes) -> list[str]:
    members = set(legal)
    parts = []
    for name, low, high in (("a digit", 0x30, 0x39), ("A-Z", 0x41, 0x5A), ("a-z", 0x61, 0x7A)):
        if members.issuperset(range(low, high + 1)):
            parts.append(name)
            members -= set(range(low, high + 1))
    if any(byte >= 0x80 for byte in members):
        parts.append("a non-ASCII character")
    ascii_left = sorted(byte for byte in members if byte < 0x80)
    if len(ascii_left) > 24:
        parts.append("other ASCII characters")
    else:
        parts += [_quoted(bytes([byte])) for byte in ascii_left]
    return parts


def instance_path(text: str) -> str:
    """The JSON pointer of the value that the beginning `text` of a JSON text is in."""
    path: list[str | int] = []  # a name, or an index, for each open container; None-like "" before the first name
    kinds: list[str] = []
    at, end = 0, len(text)
    expecting_key = False
    while at < end:
        char = text[at]
        if char == '"':
            start = at
            at += 1
            while at < end and text[at] != '"':
                at += 2 if text[at] == "\\" else 1
            if expecting_key:
                if at < end:
                    path[-1] = _unescaped(text[start + 1 : at])
                expecting_key = at >= end
        elif char in "{[":
            kinds.append(char)
            path.append("" if char == "{" else 0)
            expecting_key = char == "{"
        elif char in "}]" and kinds:
            kinds.pop()
            path.pop()
            expecting_key = False
        elif char == "," and kinds:
            if kinds[-1] == "{":
                path[-1] = ""
                expecting_key = True
            else:
                path[-1] = int(path[-1]) + 1
        at += 1
    if expecting_key:
        path = path[:-1]
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def _unescaped(raw: str) -> str:
    import json

    try:
        return json.loads(f'"{raw}"')
    except ValueError:
        return raw
