"""What compiling says, as findings: one for each problem of an error, and for what a report does not promise."""

from __future__ import annotations

from collections.abc import Iterator

from constrain.errors import ConstrainError, PatternError, SpecificationError
from constrain.linting.finding import Finding, Severity
from constrain.report import Entry, Report

AT_POSITION = "position "
"""How a place in a pattern is named: with the number of code points before it."""


def error_findings(error: ConstrainError) -> Iterator[Finding]:
    """One finding for each problem that `error` carries; its code is the name of an error class."""
    code = type(error).__name__
    problems = error.problems if isinstance(error, SpecificationError) else ()
    if problems:
        for problem in problems:
            keyword = problem.keyword or None
            yield Finding(problem.kind, "error", problem.said, at=problem.path, keyword=keyword, help=problem.help)
        return
    message, at = error.message, error.at
    if isinstance(error, PatternError) and at is None:
        at = f"{AT_POSITION}{error.position}"
    yield Finding(code, "error", message, at=at, expected=error.expected, help=error.help)


CODES = {
    "not-enforced": "what cannot be enforced, and was asked to be left out rather than refused",
    "approximated": "what is enforced, but lets fewer values through than it says",
}
"""The codes of what a report does not promise."""


def severity_of(code: str) -> Severity:
    """A warning for what is not enforced, a note for what is not exact."""
    return "warning" if code == "not-enforced" else "note"


def report_findings(report: Report) -> Iterator[Finding]:
    """What is not enforced (a warning), and what is let through more narrowly than asked for (a note)."""
    for entry in report:
        if entry.status == "refused" or (entry.status == "approximated" and entry.direction == "wider"):
            yield _of_entry(entry, "not-enforced")
        elif entry.status == "approximated":
            yield _of_entry(entry, "approximated")


def _of_entry(entry: Entry, code: str) -> Finding:
    return Finding(code, severity_of(code), f"{entry.keyword!r}: {entry.reason}", at=entry.path, keyword=entry.keyword)
