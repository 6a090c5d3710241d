"""Registries: the documents that references may lead to, from a mapping, a folder, or both.

    read_registry   what a user passes as `registry=`, as documents by URI
    read_folder     every `.json` file in a folder, by its path relative to the folder
    read_document   one file

A file's own `$id` needs no entry here: documents are found by it too (`scopes.Shelf`). Files are read once, when the
options are made; links to folders are not followed. Deliberately not here: the network.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from constrain.errors import ConstrainError, InvalidSpecification, LimitExceeded, SpecificationError, shorten, shown
from constrain.frontends.json_schema.document import parse
from constrain.frontends.json_schema.values import as_json

Documents = Mapping[str, Any]
Registry = Documents | str | os.PathLike[str]

SAFE_IN_PATHS = "/~!$&'()*+,;=@"
OnFault = Callable[[Path, ConstrainError], None]
"""What to do about a file that is no schema, instead of raising: it is left out of the documents."""

MAX_FILES = 20_000
MAX_BYTES = 256 * 1024 * 1024
"""How much one folder may hold, over all files."""


def read_registry(registry: Registry | None, *, trust: str) -> Documents | None:
    """The documents of `registry` by URI: a mapping as it is, a folder's files read.

    Raises:  InvalidSpecification: neither of them, or a folder under trust="untrusted"; as `read_folder`.
    """
    if registry is None:
        return None
    if isinstance(registry, Mapping):
        for uri in registry:
            if not isinstance(uri, str):
                raise InvalidSpecification(
                    f"the registry has a document under {shorten(shown(uri))}", expected="URIs, which are strings"
                )
        return registry
    if not isinstance(registry, (str, os.PathLike)):
        raise InvalidSpecification(
            f"registry={shorten(shown(registry))} is neither a mapping nor a folder",
            expected="documents by URI, {uri: schema}, or the path of a folder with .json files",
        )
    if trust == "untrusted":
        raise InvalidSpecification(
            f"registry={shorten(shown(os.fspath(registry)))} would read files, which trust='untrusted' does not allow",
            help="pass the documents themselves: registry={uri: schema}",
        )
    return read_folder(registry)


def read_folder(folder: str | os.PathLike[str], on_fault: OnFault | None = None) -> dict[str, Any]:
    """Every `.json` file in `folder`, at any depth, by its path from there (`parts/address.json`).

    With `on_fault` a file that is no schema, or has the `$id` of another one, is told to it and left out.

    Raises:  InvalidSpecification: it is no folder, or holds a file that is no schema (which is named), or two files
             with the same `$id`. LimitExceeded: more than 20,000 files or 256 MB.
    """
    root = Path(folder)
    if not root.is_dir():
        raise InvalidSpecification(
            f"registry={shorten(str(folder))!r} is no folder",
            help="name a folder with .json files, or pass a document as {uri: schema}",
        )
    documents: dict[str, Any] = {}
    owners: dict[str, str] = {}
    left = MAX_BYTES
    for path in _files(root):
        try:
            content = _bytes(path, left)
            left -= len(content)
            document = _parse(content, str(path))
            _own(path, document, owners)
        except ConstrainError as error:
            if on_fault is None or (isinstance(error, LimitExceeded) and error.limit == "registry_bytes"):
                raise
            on_fault(path, error)
        else:
            documents[uri_in(root, path)] = document
    return documents


def uri_in(folder: Path, path: Path) -> str:
    """The URI of a file in a folder that is a registry: its path from there."""
    return quote(path.relative_to(folder).as_posix(), safe=SAFE_IN_PATHS)


def _own(path: Path, document: Any, owners: dict[str, str]) -> None:
    """Note whose the document's identifier is. Raises: InvalidSpecification: another file's."""
    for keyword in ("$id", "id") if isinstance(document, Mapping) else ():
        identifier = document.get(keyword)
        if not isinstance(identifier, str):
            continue
        if identifier in owners:
            raise InvalidSpecification(
                f"{shorten(str(path))} and {shorten(owners[identifier])} have the same {keyword!r}"
                f" {shorten(shown(identifier))}",
                at=str(path),
                help="remove one of them, or give it another one",
            )
        owners[identifier] = str(path)
        return


def read_document(path: str | os.PathLike[str]) -> Any:
    """The schema in one file.

    Raises:  InvalidSpecification: it cannot be read or is no schema; its name is in the message. LimitExceeded.
    """
    return _parse(_bytes(Path(path), MAX_BYTES), str(path))


def _files(root: Path) -> Iterator[Path]:
    count = 0
    for folder, folders, names in os.walk(root, onerror=_unreadable):
        folders.sort()
        for name in sorted(names):
            if name.lower().endswith(".json"):
                count += 1
                if count > MAX_FILES:
                    raise LimitExceeded(f"{root} holds more than {MAX_FILES:,} files", limit="registry_files")
                yield Path(folder, name)


def _unreadable(error: OSError) -> None:
    raise InvalidSpecification(f"cannot read {error.filename}: {error.strerror}", at=str(error.filename)) from None


def _bytes(path: Path, limit: int) -> bytes:
    try:
        if not path.is_file():
            raise InvalidSpecification(f"{path} is no file", at=str(path), expected="a JSON Schema")
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InvalidSpecification(f"cannot read {path}: {reason}", at=str(path)) from None
    if len(content) > limit:
        raise LimitExceeded(f"{path} is beyond {MAX_BYTES:,} bytes in all", limit="registry_bytes", at=str(path))
    return content


def _parse(content: bytes, name: str) -> Any:
    try:
        document = parse(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InvalidSpecification(
            f"{name} is not UTF-8 text", at=f"{name}, byte {error.start}", help="save the file as UTF-8"
        ) from None
    except (SpecificationError, LimitExceeded) as error:
        raise _named(error, name) from None
    if not isinstance(document, (Mapping, bool)):
        raise InvalidSpecification(
            f"{name} holds {as_json(document)}", at=name, expected="a schema: an object, true or false"
        )
    return document


def _named(error: ConstrainError, name: str) -> ConstrainError:
    """`error`, met in the file called `name`, saying so."""
    at = f"{name}:{error.at}" if error.at else name
    message = f"{name}: {error.message}"
    if isinstance(error, LimitExceeded):
        return LimitExceeded(message, limit=error.limit, at=at, help=error.help)
    return InvalidSpecification(message, at=at, expected=error.expected, help=error.help)
