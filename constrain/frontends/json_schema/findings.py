"""What a compilation finds out about each keyword: the entries of its report, and the problems that stop it.

Main type: `Findings`, filled while places are read, asked once at the end. A place that is read twice (once more for
what it evaluates) enters the same again, save for what is refused only then: that stays refused.
"""

from __future__ import annotations

from constrain.errors import Problem
from constrain.report import Direction, Entry, Report, Status

Row = tuple[str, str, Status, str, Direction | None]


class Findings:
    """A mutable collector; `rows` are entries not yet made."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str, str], Row] = {}
        self.problems: dict[tuple[str, str], Problem] = {}

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

    def report(self) -> Report:
        """All rows as entries, in the order in which places were read."""
        for (path, keyword), problem in self.problems.items():  # what was refused once was not enforced elsewhere
            self.rows[path, keyword, ""] = (path, keyword, "refused", problem.reason, "wider")
        return Report(tuple([Entry(*row) for row in self.rows.values()]))
