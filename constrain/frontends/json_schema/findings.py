"""What a compilation finds out about each keyword: the entries of its report, and the problems that stop it.

Main type: `Findings`, filled while places are read, asked once at the end. A place that is read twice (once more for
what it evaluates, or under another dynamic scope) enters the same again, save for what is refused only then: that
stays refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from constrain.errors import (
    InvalidSpecification,
    PatternError,
    Problem,
    ReferenceNotFound,
    SpecificationError,
    UnsupportedKeyword,
)
from constrain.frontends.json_schema.keywords import KEYWORDS
from constrain.frontends.json_schema.values import as_json
from constrain.report import Direction, Entry, Report, Status

ORDER = ("string", "number", "boolean", "array", "object", "null")

Row = tuple[str, str, Status, str, Direction | None]


class Findings:
    """A mutable collector; `rows` are entries not yet made."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str, str], Row] = {}
        self.problems: dict[tuple[str, str], Problem] = {}
        self.faults: dict[tuple[str, str, str], SpecificationError] = {}
        self.raises = False
        """Are malformed values raised at once? For those who ask of single places, and want no answer then."""

    def enforced(self, path: str, keyword: str) -> None:
        """`keyword` at `path` is enforced exactly."""
        self.rows[path, keyword, ""] = (path, keyword, "enforced", "", None)

    def annotation(self, path: str, keyword: str, reason: str) -> None:
        """`keyword` at `path` asserts nothing."""
        self.rows[path, keyword, ""] = (path, keyword, "annotation", reason, None)

    def idle(self, path: str, schema: Mapping[Any, Any], types: frozenset[str]) -> None:
        """The keywords of `schema` that speak of other types than the `types` that it allows assert nothing."""
        named = _spelt([name for name in ORDER if name in types])
        for keyword in schema:
            row = self.rows.get((path, keyword, ""))
            record = KEYWORDS.get(keyword)
            if row is None or record is None or row[2] != "enforced" or not record.types:
                continue
            if not types.intersection(record.types):
                self.annotation(path, keyword, f"says nothing about {named}")

    def note(self, path: str, keyword: str, reason: str, direction: Direction | None = None) -> None:
        """`keyword` at `path` is read or written in a way that deserves a word: an approximation."""
        status: Status = "enforced" if direction is None else "approximated"
        self.rows[path, keyword, reason] = (path, keyword, status, reason, direction)

    def refuse(self, path: str, keyword: str, reason: str, help: str) -> None:
        """`keyword` at `path` cannot be enforced; what is compiled lets more through."""
        self.rows[path, keyword, ""] = (path, keyword, "refused", reason, "wider")
        self.problems.setdefault((path, keyword), Problem(path, keyword, reason, help))

    def fault(self, error: SpecificationError, path: str, keyword: str) -> None:
        """`keyword` at `path` (none: the schema itself) is wrong in itself; `error` is raised at the end.

        What is compiled is then of no use; reading goes on to find what else is wrong.

        Raises:  InvalidSpecification: `error` itself, if `raises`.
        """
        if self.raises and isinstance(error, InvalidSpecification):
            raise error
        if error.at in (None, path, f"{path}/{keyword}"):
            error.at, error.keyword = path, error.keyword or keyword or None
        path, keyword = error.at or path, error.keyword or ""  # it may know better: a cycle, a part of the value
        self.faults.setdefault((path, keyword, str(error)), error)

    def error(self, *, with_unsupported: bool) -> SpecificationError | None:
        """One error for everything that was found, or None: the first of the gravest kind, with all as `problems`."""
        problems = [*self.problems.values()] if with_unsupported else []
        if not self.faults:
            return UnsupportedKeyword(problems) if problems else None
        grave = sorted(self.faults.items(), key=lambda entry: _gravity(entry[1]))
        found = [
            Problem(path, keyword, _reason(error), error.help or "correct it, or leave it out", type(error).__name__)
            for (path, keyword, _), error in grave
        ]
        error = grave[0][1]
        error.problems = (*found, *problems)
        return error

    def report(self) -> Report:
        """All rows as entries, in the order in which places were read."""
        for (path, keyword), problem in self.problems.items():  # what was refused once was not enforced elsewhere
            self.rows[path, keyword, ""] = (path, keyword, "refused", problem.reason, "wider")
        return Report(tuple([Entry(*row) for row in self.rows.values()]))


def _reason(error: SpecificationError) -> str:
    """What `error` says of its keyword, without naming it."""
    said = error.message + (f": expected {error.expected}" if error.expected else "")
    if isinstance(error, PatternError):
        said += f" at position {error.position} of {as_json(error.pattern)}"
    named = f"{error.keyword!r} "
    if not error.keyword:
        return said
    return said.removeprefix(named) if said.startswith(named) else f"cannot be read: {said}"


def _spelt(types: Sequence[str]) -> str:
    """`a string`, `an array or null`."""
    words = [name if name == "null" else f"an {name}" if name[0] in "aeiou" else f"a {name}" for name in types]
    return " or ".join(words) or "no value"


def _gravity(error: SpecificationError) -> int:
    return 0 if isinstance(error, ReferenceNotFound) else 2 if isinstance(error, PatternError) else 1
