"""`constrain check`: does each specification compile, and what of it is enforced?

A specification is clean if it compiles. What it compiles to more widely than it says (under --on-unsupported warn) and
keywords that look misspelt are warnings, which count as findings under --strict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table
from rich.text import Text

from constrain.cli.excerpt import visible
from constrain.cli.findings import Finding, findings_of_error, findings_of_report, rendered
from constrain.cli.output import print_json, print_styled, stdout
from constrain.cli.source import Source
from constrain.errors import ConstrainError
from constrain.report import Report

SEVERITY_STYLES = {": error: ": "bold red", ": warning: ": "bold yellow"}
STATUS_STYLES = {"enforced": "green", "approximated": "yellow", "refused": "red", "annotation": "dim"}


@dataclass(frozen=True, slots=True)
class Checked:
    """What became of one specification; `report` is None if it does not compile."""

    source: Source
    findings: tuple[Finding, ...]
    report: Report | None

    def is_clean(self, strict: bool) -> bool:
        return not any(strict or finding.severity == "error" for finding in self.findings)

    def to_json(self, strict: bool) -> dict[str, Any]:
        return {
            "source": self.source.name,
            "kind": self.source.kind,
            "clean": self.is_clean(strict),
            "findings": [finding.to_json() for finding in self.findings],
            "report": None if self.report is None else self.report.to_json(),
        }


def check(sources: Sequence[Source], options: dict[str, Any], *, report: bool, as_json: bool, strict: bool) -> int:
    """Check every source, print what was found, and return the exit code."""
    checked = [check_one(source, options) for source in sources]
    clean = sum(one.is_clean(strict) for one in checked)
    if as_json:
        print_json({"clean": clean == len(checked), "specifications": [one.to_json(strict) for one in checked]})
    else:
        for one in checked:
            show(one, report)
        if len(checked) > 1:
            stdout().print(f"{len(checked)} specifications: {clean} clean, {len(checked) - clean} with findings")
    return 0 if clean == len(checked) else 1


def check_one(source: Source, options: dict[str, Any]) -> Checked:
    """Compile one source; every error of ours becomes findings."""
    try:
        specification = source.compile(options)
    except ConstrainError as error:
        return Checked(source, tuple(findings_of_error(error, source)), None)
    return Checked(source, tuple(findings_of_report(specification.report, source)), specification.report)


def show(checked: Checked, report: bool) -> None:
    for finding in checked.findings:
        print_styled(rendered(finding, checked.source), SEVERITY_STYLES)
    if checked.report is not None:
        print_styled(f"{visible(checked.source.name)}: ok{summary(checked.report)}", {": ok": "bold green"})
    if report and checked.report is not None and len(checked.report):
        stdout().print(report_table(checked.report), soft_wrap=False)


def summary(report: Report) -> str:
    """Counts in brackets; nothing for what has no parts to report, such as a pattern: it is enforced as a whole."""
    counts = [
        (status, len(report.with_status(status))) for status in ("enforced", "approximated", "refused", "annotation")
    ]
    said = [
        f"{count} {status}{'s' if status == 'annotation' and count != 1 else ''}" for status, count in counts if count
    ]
    return f" ({', '.join(said)})" if said else ""


def report_table(report: Report) -> Table:
    """One row for each keyword at each place."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("status", "keyword", "at", "reason"):
        table.add_column(heading, overflow="fold")
    for entry in report:
        reason = f"{entry.reason} ({entry.direction})" if entry.direction else entry.reason
        cells = (Text(visible(cell)) for cell in (entry.keyword, entry.path, reason))
        table.add_row(Text(entry.status, style=STATUS_STYLES[entry.status]), *cells)
    return table
