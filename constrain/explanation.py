"""Why a text is accepted or not: how far it goes, what could stand there, where in the value that is, and the cause.

The grammar says where a text leaves it. Why, it cannot say: that `}` may not stand here has its cause in a member that
is missing. So `Specification.explain` asks the judge about a whole JSON text, and `with_cause` adds what it says.
Deliberately not here: the judge itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from constrain.errors import InvalidSpecification

if TYPE_CHECKING:
    from constrain.grammar.recognizer import Recognizer
    from constrain.report import Entry

SHOWN_ALTERNATIVES = 8
SHOWN_BYTES = 40
SHOWN_FAILURES = 3
BLANKS = b"\t\n\r "
CLOSERS = b",]}"


class Failure(Protocol):
    """What the judge says of a value: the JSON pointer into it, the keyword, and a message of one line."""

    @property
    def path(self) -> str: ...

    @property
    def keyword(self) -> str: ...

    @property
    def message(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Explanation:
    """accepted  the whole text satisfies the specification.
    complete     what could be read (all of it, or up to `offset`) is itself a whole text.
    offset       how much could be read: in code points for a `str`, in bytes for `bytes`.
    line, column of that place, from 1; columns count code points.
    expected     what may stand there, in words; "" if accepted.
    path         JSON pointer of the value being written there, or of the container that may go on or close there;
                 "" at the root or where the text is no JSON.
    reason       the cause in one line, where the text is JSON and the judge knows it; else "".
    failures     all that the judge says of the value: each with `path`, `keyword` and `message`.
    takes        the option that would accept the text, if its value is valid and only its spelling is not
                 (`whitespace="flexible"`); else "".
    """

    accepted: bool
    complete: bool
    offset: int
    line: int
    column: int
    expected: str
    path: str
    reason: str = ""
    failures: tuple[Failure, ...] = ()
    takes: str = ""

    def __bool__(self) -> bool:
        return self.accepted

    def __str__(self) -> str:
        if self.accepted:
            return "accepted"
        place = f"line {self.line}, column {self.column}" + (f", at {self.path}" if self.path else "")
        if self.reason:
            return f"not accepted: {self.reason} (seen at {place}: expected {self.expected})"
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
    between = _is_between(recognizer.legal_bytes(state), before, spelled[read : read + 1])
    return Explanation(
        accepted=accepted,
        complete=complete,
        offset=len(before) if isinstance(text, str) else read,
        line=before.count("\n") + 1,
        column=len(before) - (before.rfind("\n") + 1) + 1,
        expected="" if accepted else describe_next(recognizer, state),
        path=instance_path(before, between=between) if is_json else "",
    )


def _is_between(legal: bytes, before: str, here: bytes) -> bool:
    """True if a separator or an end is what is missing: nothing else can follow, or a value has just been finished."""
    if not legal.translate(None, BLANKS + CLOSERS):
        return True
    after_value = before.rstrip()[-1:] not in ("", "[", "{", ",", ":")
    return after_value and bool({*legal} & {*CLOSERS}) and here != b"" and here not in b"0123456789.eE+-"


def with_cause(found: Explanation, failures: Sequence[Failure]) -> Explanation:
    """`found` with what the judge says of the value that the text spells."""
    return replace(found, reason="; ".join(map(told, failures[:SHOWN_FAILURES])), failures=tuple(failures))


def with_spelling(found: Explanation, takes: str, narrower: Sequence[Entry] = ()) -> Explanation:
    """`found` for a valid value: only its spelling is not accepted; `takes` is the option that would, "" if none.

    Without one it may be a constraint that lets fewer values through than it says: `narrower`, of the report.
    """
    if not takes and narrower:
        first = narrower[0]
        fewer = f"{first.keyword!r} at {first.path} lets fewer values through than it says ({first.reason})"
        return replace(found, reason=f"the value is valid, but {fewer}")
    other = f"{takes} takes it" if takes else "no option takes this one"
    return replace(found, reason=f"the value is valid, and differs only in its spelling: {other}", takes=takes)


def told(failure: Failure) -> str:
    """A failure in one line: what is wrong, and where in the value."""
    return " ".join(f"{failure.message}, at #{failure.path}".split())


def describe_next(recognizer: Recognizer, state: int) -> str:
    """What may follow `state`, in words: texts where there are few, else classes of characters."""
    blank, legal = _choices(recognizer, state)
    parts = ["the end of the text"] if recognizer.is_complete(state) else []
    parts += ["a blank"] if blank else []
    if len(legal) <= SHOWN_ALTERNATIVES and all(byte < 0x80 for byte in legal):
        parts += [_quoted(_forced_from(recognizer, state, byte)) for byte in legal]
    else:
        parts += _classes(legal)
    return " or ".join(parts) if parts else "nothing"


def _choices(recognizer: Recognizer, state: int) -> tuple[bool, bytes]:
    """Whether all four blanks may come next, and what else may, without escapes of characters that may come plain."""
    legal = recognizer.legal_bytes(state)
    blank = {*BLANKS} <= {*legal} and len(legal) < 0x80  # in free text a tab is not a blank between lexemes
    if blank:
        legal = legal.translate(None, BLANKS)
    if b"\\" in legal and len(legal) > 1 and _spells_the_plain(recognizer, state, legal):
        legal = legal.replace(b"\\", b"")
    return blank, legal


def _spells_the_plain(recognizer: Recognizer, state: int, legal: bytes) -> bool:
    """True if a backslash begins only an escape of one of the characters in `legal`: `\\u006e` beside `n`, `\\/`."""
    if not {*recognizer.legal_bytes(recognizer.step(state, 0x5C))} <= {*b"u/"}:
        return False
    plain = next((byte for byte in legal if 0x20 < byte < 0x80 and byte not in b'"\\'), None)
    if plain is None:
        return False
    escape = b"\\u%04x" % plain
    return recognizer.feed(state, escape)[1] == len(escape)


def _forced_from(recognizer: Recognizer, state: int, byte: int) -> bytes:
    """`byte` and what must come after it, up to the next choice; blanks that may be left out are."""
    text = bytes([byte])
    state = recognizer.step(state, byte)
    while len(text) < SHOWN_BYTES and not recognizer.is_complete(state):
        _, legal = _choices(recognizer, state)
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


def instance_path(text: str, *, between: bool = False) -> str:
    """The JSON pointer of the value that the beginning `text` of a JSON text is in.

    `between`: only a separator or an end can follow, so that it is the open container's, unless a string is open.
    """
    path: list[str | int] = []  # a name, or an index, for each open container; None-like "" before the first name
    kinds: list[str] = []
    at, end = 0, len(text)
    expecting_key = in_string = False
    while at < end:
        char = text[at]
        if char == '"':
            start = at
            at += 1
            while at < end and text[at] != '"':
                at += 2 if text[at] == "\\" else 1
            in_string = at >= end
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
    if expecting_key or (between and not in_string):
        path = path[:-1]
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def _unescaped(raw: str) -> str:
    import json

    try:
        return json.loads(f'"{raw}"')
    except ValueError:
        return raw
