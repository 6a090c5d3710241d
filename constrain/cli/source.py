"""What the user names on the command line, read: specifications and texts, from files, standard input or arguments.

A name that is not there is wrong usage (exit 2); a file that is there but cannot be used is a finding (exit 1).
A schema's file that a registry holds too has the URI that it has there, so that its references find their neighbours.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
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
    """A specification's text: `name` is what messages call it, `fault` why it cannot even be read as text.

    `base_uri` is where the relative references of a schema start.
    """

    name: str
    kind: Literal["json_schema", "regex"]
    text: str
    fault: ConstrainError | None = None
    is_file: bool = False
    base_uri: str = ""

    def schema_options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Those of `options` that `json_schema` takes, and where this schema stands."""
        wanted = {name: value for name, value in options.items() if name != "regex_dialect"}
        return {**wanted, "base_uri": self.base_uri} if self.base_uri else wanted

    def compile(self, options: Mapping[str, Any]) -> Specification:
        """The specification; raises SpecificationError or LimitExceeded."""
        import constrain

        if self.fault is not None:
            raise self.fault
        if self.kind == "regex":
            return constrain.regex(self.text, dialect=options.get("regex_dialect", "python"))
        return constrain.json_schema(self.text, **self.schema_options(options))


def schema_sources(names: Sequence[str], registry: Sequence[str] = ()) -> list[Source]:
    """The JSON Schemas that are named: files, folders (all `.json` files in them), standard input (once)."""
    if list(names).count(STDIN) > 1:
        raise typer.BadParameter("standard input can be read once", param_hint="SPEC")
    files: list[str] = []
    for name in names:
        inside = files_in(name) if name != STDIN and is_folder(name) else [name]
        if not inside:
            raise typer.BadParameter(f"the folder {name!r} holds no .json file", param_hint="SPEC")
        files += inside
    return [schema_source(name, registry) for name in files]


def without_repeats(faults: Sequence[Source], sources: Sequence[Source]) -> list[Source]:
    """Those faults of a registry that checking the sources does not find by itself, one for each file."""
    named = {Path(source.name).resolve() for source in sources if source.is_file}
    kept: dict[Path, Source] = {}
    for fault in faults:
        path = Path(fault.name).resolve()
        if path not in named or is_json(fault.text):  # as JSON it is checked; what is wrong is its part in the registry
            kept.setdefault(path, fault)
    return [*kept.values()]


def is_json(text: str) -> bool:
    from constrain.frontends.json_schema.document import parse

    try:
        parse(text)
    except ConstrainError:
        return False
    return True


def files_in(folder: str) -> list[str]:
    """Every `.json` file in a folder, at any depth."""
    return [str(path) for path in sorted(Path(folder).rglob("*")) if path.suffix.lower() == ".json" and path.is_file()]


def schema_source(name: str, registry: Sequence[str] = ()) -> Source:
    """A JSON Schema file, or standard input for `-`; `registry` as the user names it."""
    content = read_bytes(name, "SPEC")
    base_uri = "" if name == STDIN else registered_uri(Path(name), registry)
    try:
        text = content.decode("utf-8-sig")
        return Source(shown_name(name), "json_schema", text, is_file=name != STDIN, base_uri=base_uri)
    except UnicodeDecodeError as error:
        fault = InvalidSpecification(
            "the file is not UTF-8 text", at=f"byte {error.start}", help="save the file as UTF-8"
        )
        return Source(shown_name(name), "json_schema", content.decode("utf-8", "replace"), fault, name != STDIN)


def regex_source(pattern: str) -> Source:
    """A pattern given as an argument."""
    return Source("--regex", "regex", pattern)


def registered_uri(path: Path, registry: Sequence[str]) -> str:
    """The URI of a file in the registry that the user names, or "" if it is not there."""
    from constrain.frontends.json_schema.registry import uri_in

    try:
        path = path.resolve()
        for argument in registry:
            uri, _, file = argument.rpartition("=")
            folder = Path(argument).resolve()
            if folder.is_dir() and path.is_relative_to(folder):
                return uri_in(folder, path)
            if path == folder:
                return quote(path.name)
            if uri and path == Path(file).resolve():
                return uri.partition("#")[0]
    except (OSError, ValueError):
        pass
    return ""


def registry_of(given: Sequence[str], faults: list[Source] | None = None) -> dict[str, Any] | None:
    """The documents that references may lead to, by URI: from folders, files, and URI=FILE; None if none is given.

    What cannot be used is added to `faults`, each with its `fault`, and left out; without `faults` it is raised.

    Raises:  InvalidSpecification: a file that is no schema, or two documents under one name.
    """
    documents: dict[str, Any] = {}

    def refuse(path: Path, error: ConstrainError) -> None:
        if faults is None:
            raise error
        faults.append(_faulty(path, error))

    for argument in given:
        try:
            registered = _registered(argument, refuse)
        except ConstrainError as error:
            refuse(Path(argument.rpartition("=")[2] if not Path(argument).exists() else argument), error)
            continue
        for uri, document in registered.items():
            if uri in documents:
                twice = InvalidSpecification(f"--registry names two documents {uri!r}", help="leave one of them out")
                refuse(Path(argument), twice)
            else:
                documents[uri] = document
    return documents or None


def _faulty(path: Path, error: ConstrainError) -> Source:
    """What is wrong with a file of the registry, as a specification that has it; the message need not name the file."""
    name = str(path)
    try:
        content = path.read_bytes() if path.is_file() and path.stat().st_size <= LIMIT_BYTES else b""
    except OSError:
        content = b""
    error.message = error.message.removeprefix(f"{name}: ")
    error.at = (error.at or "").removeprefix(name).lstrip(":, ") or None
    return Source(name, "json_schema", content.decode("utf-8-sig", "replace"), error, is_file=path.is_file())


def _registered(argument: str, refuse: Callable[[Path, ConstrainError], None]) -> dict[str, Any]:
    from constrain.frontends.json_schema.registry import read_document, read_folder

    try:
        path = Path(argument)
        if path.is_dir():
            return read_folder(path, refuse)
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


def is_folder(name: str) -> bool:
    try:
        return Path(name).is_dir()
    except (OSError, ValueError):
        return False


def shown_name(name: str) -> str:
    return "standard input" if name == STDIN else name


def as_bytes(argument: str) -> bytes:
    """A command-line argument as the bytes that the shell passed."""
    try:
        return os.fsencode(argument)
    except UnicodeEncodeError:
        return argument.encode("utf-8", "surrogatepass")
