"""`constrain check`: does each specification compile, what of it is enforced, and what in it can hardly be meant?

A specification is clean without errors and warnings; under --strict without notes too. What is found is independent of
what a specification is written in, and of how it is printed (`printers.py`).
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Literal

import typer

from constrain.cli.findings import findings_of_error
from constrain.cli.source import Source
from constrain.errors import ConstrainError, UnsupportedKeyword
from constrain.linting.finding import Finding, is_clean
from constrain.report import Report

CheckFormat = Literal["text", "json", "sarif", "github"]


@dataclass(frozen=True, slots=True)
class Checked:
    """What became of one specification; `report` is None if it does not compile.

    `ignored` counts the findings that the user accepts: they are not among `findings`.
    """

    source: Source
    findings: tuple[Finding, ...]
    report: Report | None
    ignored: int = 0

    def is_clean(self, strict: bool) -> bool:
        return is_clean(self.findings, strict=strict)

    @property
    def compiles(self) -> bool:
        """False if an error stands in the way."""
        return self.report is not None


def check(
    sources: Sequence[Source],
    options: dict[str, Any],
    *,
    profile: str | None = None,
    report: bool,
    output_format: CheckFormat,
    strict: bool,
    ignore: Set[str] = frozenset(),
) -> int:
    """Check every source, print what was found, and return the exit code; `ignore` holds codes of accepted findings."""
    from constrain.cli.printers import PRINTERS

    checked = [check_one(source, options, profile, strict=strict, report=report) for source in sources]
    checked = [without_ignored(one, ignore) for one in checked]
    PRINTERS[output_format](checked, strict=strict, report=report)
    return 0 if all(one.is_clean(strict) for one in checked) else 1


def check_one(source: Source, options: dict[str, Any], profile: str | None, *, strict: bool, report: bool) -> Checked:
    """Compile and lint one source; every error of ours becomes findings.

    Where constraints are refused and a report is asked for, it is that of the wider language (on_unsupported="warn").
    """
    from constrain.linting.compiled import report_findings
    from constrain.linting.lint import examine, profile_of

    if source.kind == "json_schema" and source.fault is None:
        wanted = source.schema_options(options)
        examined = examine(source.text, wanted, profile=profile_of(profile), strict=strict)
        findings, found_report = examined.findings, examined.report
        if report and found_report is None and any(f.code == UnsupportedKeyword.__name__ for f in findings):
            found_report = examine(source.text, {**wanted, "on_unsupported": "warn"}).report
        return Checked(source, findings, found_report)
    try:
        specification = source.compile(options)
    except ConstrainError as error:
        return Checked(source, tuple(findings_of_error(error, source)), None)
    return Checked(source, tuple(report_findings(specification.report)), specification.report)


def without_ignored(checked: Checked, ignore: Set[str]) -> Checked:
    """`checked` with the findings of these codes counted instead of listed."""
    kept = tuple(finding for finding in checked.findings if finding.code not in ignore)
    return replace(checked, findings=kept, ignored=len(checked.findings) - len(kept))


def check_codes(ignore: Sequence[str]) -> None:
    """Raises: BadParameter: a code that no finding can have."""
    import constrain.errors
    from constrain.cli.printers import descriptions

    codes = {*descriptions(), *(name for name in constrain.errors.__all__ if name[0].isupper())}
    for code in ignore:
        if code not in codes:
            near = get_close_matches(code, codes, 1, 0.6)
            advice = f"did you mean {near[0]!r}?" if near else "docs/guide/lint_rules.md lists them"
            raise typer.BadParameter(f"no finding has the code {code!r}; {advice}", param_hint="--ignore")
