"""Errors and reports as findings: one thing found, in one place of the user's file, with one action that helps."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from constrain.cli.excerpt import excerpt, visible
from constrain.cli.output import stderr
from constrain.cli.positions import Position, child_pointer, locate
from constrain.cli.source import Source
from constrain.errors import ConstrainError, PatternError, SpecificationError, UnsupportedKeyword
from constrain.report import Report

if TYPE_CHECKING:
    from constrain import Specification

LINE_AND_COLUMN = re.compile(r"(?:line (\d+),? column (\d+)|(\d+):(\d+))")


@dataclass(frozen=True, slots=True)
class Finding:
    """`line` and `column` (from 1) are those of the file where they can be told; `at` is the pointer or position."""

    severity: Literal["error", "warning"]
    kind: str
    message: str
    at: str | None = None
    keyword: str | None = None
    expected: str | None = None
    help: str | None = None
    line: int | None = None
    column: int | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def compile_or_explain(source: Source, options: dict[str, Any]) -> Specification | None:
    """The specification; or None, after saying on standard error what is wrong with it and where in the file."""
    try:
        return source.compile(options)
    except ConstrainError as error:
        for finding in findings_of_error(error, source):
            stderr().print(rendered(finding, source))
        return None


def findings_of_error(error: ConstrainError, source: Source) -> list[Finding]:
    """One finding for each problem that `error` carries."""
    kind = type(error).__name__
    if isinstance(error, UnsupportedKeyword) or (isinstance(error, SpecificationError) and len(error.problems) > 1):
        places = _places(source, [(problem.path, problem.keyword) for problem in error.problems])
        return [
            _placed(
                Finding("error", p.kind, f"{p.keyword!r} {p.reason}", at=p.path, keyword=p.keyword, help=p.help), place
            )
            for p, place in zip(error.problems, places, strict=True)
        ]
    finding = Finding("error", kind, error.message, at=error.at, expected=error.expected, help=error.help)
    if isinstance(error, PatternError) and source.kind == "regex":
        place = _place_in_pattern(error.pattern, error.position)
        return [_placed(replace(finding, at=f"position {error.position}"), place)]
    if isinstance(error, PatternError):
        finding = replace(finding, message=_message_with_pattern(error))
    return [_placed(finding, _place_of(source, error.at))]


def findings_of_report(report: Report, source: Source) -> list[Finding]:
    """Warnings: what is not enforced exactly, and names that look like slips of the pen."""
    worth_saying = [e for e in report if e.status in ("approximated", "refused") or "did you mean" in e.reason]
    places = _places(source, [(entry.path, entry.keyword) for entry in worth_saying])
    return [
        _placed(Finding("warning", e.status, f"{e.keyword!r} {e.reason}", at=e.path, keyword=e.keyword), place)
        for e, place in zip(worth_saying, places, strict=True)
    ]


def rendered(finding: Finding, source: Source) -> str:
    """As a compiler would say it: `file:line:column: error: …`, the line with a caret, place, expectation, help."""
    place = f":{finding.line}:{finding.column}" if finding.line is not None else ""
    head = f"{visible(source.name)}{place}: {finding.severity}: {finding.kind}: "
    lines = [head + _shown(finding.message)]
    if finding.line is not None and finding.column is not None:
        lines.append(excerpt(source.text, finding.line, finding.column))
    lines += [f"  {name}: {_shown(value)}" for name, value in _details(finding) if value]
    return "\n".join(line for line in lines if line)


def _shown(text: str) -> str:
    return visible(text, keep="\n")


def _details(finding: Finding) -> Iterable[tuple[str, str | None]]:
    return (("at", finding.at), ("expected", finding.expected), ("help", finding.help))


def _places(source: Source, wanted: Sequence[tuple[str, str]]) -> list[Position | None]:
    """For each pointer and keyword the keyword's position, or else that of the schema that holds it."""
    if source.kind != "json_schema":
        return [None] * len(wanted)
    pointers = {pointer for pair in wanted for pointer in (pair[0], child_pointer(*pair))}
    found = locate(source.text, pointers)
    return [found.get(child_pointer(path, keyword)) or found.get(path) for path, keyword in wanted]


def _place_of(source: Source, at: str | None) -> Position | None:
    if at is None:
        return None
    if (numbers := LINE_AND_COLUMN.search(at)) is not None:
        line, column = (int(number) for number in numbers.groups() if number is not None)
        return Position(line, column)
    if source.kind != "json_schema" or not at.startswith(("#", "/")):
        return None
    pointer = at.split(",")[0].split(" ")[0]
    return locate(source.text, [pointer]).get(pointer)


def _place_in_pattern(pattern: str, position: int) -> Position:
    return Position(pattern.count("\n", 0, position) + 1, position - pattern.rfind("\n", 0, position))


def _message_with_pattern(error: PatternError) -> str:
    """A pattern inside a schema: the caret under the pattern says more than one under its JSON spelling."""
    place = _place_in_pattern(error.pattern, error.position)
    return f"{error.message}\n{excerpt(error.pattern, place.line, place.column, numbered=False)}"


def _placed(finding: Finding, place: Position | None) -> Finding:
    return finding if place is None else replace(finding, line=place.line, column=place.column)
