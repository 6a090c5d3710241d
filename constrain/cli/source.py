"""What the user names on the command line, read: specifications and texts, from files, standard input or arguments.

A name that is not there is wrong usage (exit 2); a file that is there but cannot be used is a finding (exit 1).
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

import typer

from constrain.errors import ConstrainError, InvalidSpecification, LimitExceeded

if TYPE_CHECKING:
    from constrain import Specification

STDIN = "-"
LIMIT_BYTES = 64 * 1024 * 1024
LOOKS_LIKE_A_PATH = re.compile(r"(?:~|\.{1,2})?/?[\w.\-+/]*\w\.[A-Za-z]\w{0,7}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Source:
    """A specification's text: `name` is what messages call it, `fault` why it cannot even be read as text."""

    name: str
    kind: Literal["json_schema", "regex"]
    text: str
    fault: ConstrainError | None = None
    is_file: bool = False

    def compile(self, options: dict[str, Any]) -> Specification:
        """The specification; raises SpecificationError or LimitExceeded."""
        import constrain

        if self.fault is not None:
            raise self.fault
        if self.kind == "regex":
            return constrain.regex(self.text, dialect=options.get("regex_dialect", "python"))
        wanted = {name: value for name, value in options.items() if name != "regex_dialect"}
        return constrain.json_schema(self.text, **wanted)


def schema_source(name: str) -> Source:
    """A JSON Schema file, or standard input for `-`."""
    content = read_bytes(name, "SPEC")
    try:
        return Source(shown_name(name), "json_schema", content.decode("utf-8-sig"), is_file=name != STDIN)
    except UnicodeDecodeError as error:
        fault = InvalidSpecification(
            "the file is not UTF-8 text", at=f"byte {error.start}", help="save the file as UTF-8"
        )
        return Source(shown_name(name), "json_schema", content.decode("utf-8", "replace"), fault, name != STDIN)


def regex_source(pattern: str) -> Source:
    """A pattern given as an argument."""
    return Source("--regex", "regex", pattern)


def registry_of(given: Sequence[str]) -> dict[str, Any] | None:
    """The documents that references may lead to, by URI: from folders, files, and URI=FILE; None if none is given.

    Raises:  InvalidSpecification: a file that is no schema, or two documents under one name.
    """
    documents: dict[str, Any] = {}
    for argument in given:
        for uri, document in _registered(argument).items():
            if uri in documents:
                raise InvalidSpecification(f"--registry names two documents {uri!r}", help="leave one of them out")
            documents[uri] = document
    return documents or None


def _registered(argument: str) -> dict[str, Any]:
    from constrain.frontends.json_schema.registry import read_document, read_folder

    try:
        path = Path(argument)
        if path.is_dir():
            return read_folder(path)
        if path.exists():
            return {quote(path.name): read_document(path)}
    except (OSError, ValueError):  # longer than a path may be, or with a NUL
        pass
    uri, equals, file = argument.rpartition("=")
    if not equals or not uri or not is_file(file):
        what = f"no file {file!r}" if equals else f"neither a folder nor a file {argument!r}"
        raise typer.BadParameter(f"there is {what}; write PATH, or URI=FILE", param_hint="--registry")
    return {uri: read_document(file)}


def text_of(argument: str | None, given_text: str | None) -> tuple[str, bytes]:
    """The text to match and what to call it: `--text`, standard input, an existing file, or the argument itself.

    The one line end that editors put at the end of a file is not part of the text.
    """
    if given_text is not None:
        return "--text", as_bytes(given_text)
    if argument is None:
        raise typer.BadParameter("name a file, give the text itself, or - for standard input", param_hint="TEXT")
    if argument == STDIN or is_file(argument):
        content = read_bytes(argument, "TEXT")
        return shown_name(argument), re.sub(rb"\r?\n\Z", b"", content)
    if LOOKS_LIKE_A_PATH.fullmatch(argument):
        raise typer.BadParameter(
            f"there is no file {argument!r}; if this is the text itself, write --text {argument!r}", param_hint="TEXT"
        )
    return "the text", as_bytes(argument)


def prompt_of(argument: str) -> str:
    """A prompt, or standard input for `-`."""
    if argument != STDIN:
        return as_bytes(argument).decode("utf-8", "replace")
    return read_bytes(STDIN, "PROMPT").decode("utf-8", "replace").removesuffix("\n")


def read_bytes(name: str, what: str) -> bytes:
    """The bytes of a file or of standard input, up to a limit; absence is wrong usage."""
    try:
        if name == STDIN:
            content = sys.stdin.buffer.read(LIMIT_BYTES + 1)
        else:
            with Path(name).open("rb") as file:
                content = file.read(LIMIT_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise typer.BadParameter(f"cannot read {shown_name(name)}: {reason}", param_hint=what) from None
    if len(content) > LIMIT_BYTES:
        raise LimitExceeded(
            f"{shown_name(name)} is larger than {LIMIT_BYTES:,} bytes", limit="file size", help="give a smaller file"
        )
    return content


def is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except (OSError, ValueError):  # longer than a path may be, or with a NUL: a text
        return False


def shown_name(name: str) -> str:
    return "standard input" if name == STDIN else name


def as_bytes(argument: str) -> bytes:
    """A command-line argument as the bytes that the shell passed."""
    try:
        return os.fsencode(argument)
    except UnicodeEncodeError:
        return argument.encode("utf-8", "surrogatepass")
