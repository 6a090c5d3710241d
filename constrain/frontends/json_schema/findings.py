"""What a compilation finds out about each keyword: the entries of its report, and the problems that stop it.

Main type: `Findings`, filled while places are read, asked once at the end. A place that is read twice (once more for
what it evaluates, or under another dynamic scope) enters the same again, save for what is refused only then: that
stays refused.
"""

from __future__ import annotations

from constrain.errors import PatternError, Problem, ReferenceNotFound, SpecificationError, UnsupportedKeyword
from constrain.report import Direction, Entry, Report, Status

Row = tuple[str, str, Status, str, Direction | None]


class Findings:
    """A mutable collector; `rows` are entries not yet made."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str, str], Row] = {}
        self.problems: dict[tuple[str, str], Problem] = {}
        self.faults: dict[tuple[str, str, str], SpecificationError] = {}

    def enforced(self, path: str, keyword: str) -> None:
        """`keyword` at `path` is enforced exactly."""
        self.rows[path, keyword, ""] = (path, keyword, "enforced", "", None)

    def annotation(self, path: str, keyword: str, reason: str) -> None:
        """`keyword` at `path` asserts nothing."""
        self.rows[path, keyword, ""] = (path, keyword, "annotation", reason, None)

    def note(self, path: str, keyword: str, reason: str, direction: Direction | None = None) -> None:
        """`keyword` at `path` is read or written in a way that deserves a word: an approximation."""
        status: Status = "enforced" if direction is None else "approximated"
        self.rows[path, keyword, reason] = (path, keyword, status, reason, direction)

    def refuse(self, path: str, keyword: str, reason: str, help: str) -> None:
        """`keyword` at `path` cannot be enforced; what is compiled lets more through."""
        self.rows[path, keyword, ""] = (path, keyword, "refused", reason, "wider")
        self.problems.setdefault((path, keyword), Problem(path, keyword, reason, help))

    def fault(self, error: SpecificationError, path: str, keyword: str) -> None:
        """`keyword` at `path` is wrong in itself; what is compiled is of no use, and `error` is raised at the end."""
        self.faults.setdefault((path, keyword, str(error)), error)

    def error(self, *, with_unsupported: bool) -> SpecificationError | None:
        """One error for everything that was found, or None: the first of the gravest kind, with all as `problems`."""
        problems = [*self.problems.values()] if with_unsupported else []
        if not self.faults:
            return UnsupportedKeyword(problems) if problems else None
        grave = sorted(self.faults.items(), key=lambda entry: _gravity(entry[1]))
        found = [
            Problem(path, keyword, f"cannot be read: {error.message}", error.help or "correct it", type(error).__name__)
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


def _gravity(error: SpecificationError) -> int:
    return 0 if isinstance(error, ReferenceNotFound) else 2 if isinstance(error, PatternError) else 1
