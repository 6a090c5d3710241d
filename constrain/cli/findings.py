"""Findings as text: one thing found, in one place of the user's file, with one action that helps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from constrain.cli.excerpt import excerpt, visible
from constrain.cli.output import stderr
from constrain.cli.source import Source
from constrain.errors import ConstrainError
from constrain.linting.finding import Finding

if TYPE_CHECKING:
    from constrain import Specification


def compile_or_explain(source: Source, options: dict[str, Any]) -> Specification | None:
    """The specification; or None, after saying on standard error what is wrong with it and where in the file."""
    try:
        return source.compile(options)
    except ConstrainError as error:
        for finding in findings_of_error(error, source):
            stderr().print(rendered(finding, source))
        return None


def findings_of_error(error: ConstrainError, source: Source) -> list[Finding]:
    """One finding for each problem that `error` carries, with its place in the source."""
    from constrain.linting.compiled import error_findings
    from constrain.linting.lint import placed

    return placed([*error_findings(error)], source.text, is_pattern=source.kind == "regex")


def rendered(finding: Finding, source: Source) -> str:
    """As a compiler would say it: `file:line:column: error: …`, the line with a caret, place, expectation, help."""
    place = f":{finding.line}:{finding.column}" if finding.line is not None else ""
    head = f"{visible(source.name)}{place}: {finding.severity}: {finding.code}: "
    lines = [head + _shown(finding.message)]
    if finding.line is not None and finding.column is not None:
        lines.append(excerpt(source.text, finding.line, finding.column))
    lines += [f"  {name}: {_shown(value)}" for name, value in _details(finding) if value]
    return "\n".join(line for line in lines if line)


def _shown(text: str) -> str:
    return visible(text, keep="\n")


def _details(finding: Finding) -> Iterable[tuple[str, str | None]]:
    return (("at", finding.at), ("expected", finding.expected), ("help", finding.help))
