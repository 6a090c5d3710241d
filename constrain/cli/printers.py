"""How `constrain check` prints what it found: for people, and in three forms for machines.

    text      one paragraph a finding, the line with a caret; a line for each file; the report as a table on request
    json      one object, described in docs/guide/checking.md; `version` rises when a field changes its meaning
    sarif     SARIF 2.1.0, which code hosts and editors read
    github    workflow commands, which show as annotations of a pull request

A printer knows nothing of what specifications are written in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from textwrap import wrap
from typing import Any
from urllib.parse import quote

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from constrain.cli.check import Checked, CheckFormat
from constrain.cli.excerpt import visible
from constrain.cli.findings import rendered
from constrain.cli.output import print_json, print_styled, stdout
from constrain.linting.finding import Finding, count
from constrain.report import Report, Status

JSON_VERSION = 1
SEVERITY_STYLES = {": error: ": "bold red", ": warning: ": "bold yellow", ": note: ": "bold cyan"}
STATUS_STYLES = {"enforced": "green", "approximated": "yellow", "refused": "red", "annotation": "dim"}
STATUSES: tuple[Status, ...] = ("refused", "approximated", "annotation", "enforced")
SHOWN_NOTES = 3
"""How many notes of one code are shown for one file, unless strict."""

LEAST_REASON = 40
"""How many columns a reason has at least, however long the places are."""

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


# ---------------------------------------------------------------- for people


def print_text(checked: Sequence[Checked], *, strict: bool, report: bool) -> None:
    """Findings, a line for each specification, and a line for all of them."""
    for one in checked:
        _print_one(one, strict, report)
    clean = sum(one.is_clean(strict) for one in checked)
    what = "specification" if len(checked) == 1 else "specifications"
    said = f"{len(checked)} {what}: {clean} clean, {len(checked) - clean} with findings"
    stdout().print(said + _ignored(sum(one.ignored for one in checked)))


def _ignored(number: int) -> str:
    return f", {number} finding{'s' if number != 1 else ''} ignored" if number else ""


def _print_one(checked: Checked, strict: bool, report: bool) -> None:
    name = visible(checked.source.name)
    notes: Counter[str] = Counter()
    for finding in checked.findings:
        if finding.severity == "note" and not strict:
            notes[finding.code] += 1
            if notes[finding.code] > SHOWN_NOTES:
                continue
        print_styled(rendered(finding, checked.source), SEVERITY_STYLES)
    for code, number in notes.items():
        if number > SHOWN_NOTES:
            print_styled(f"{name}: note: {code}: {number - SHOWN_NOTES} more; --strict shows all", SEVERITY_STYLES)
    if checked.is_clean(strict) and checked.report is not None:
        print_styled(f"{name}: ok{summary(checked.report)}{_ignored(checked.ignored)}", {": ok": "bold green"})
    elif (said := counted(checked.findings)) and len(checked.findings) > 1:
        print_styled(f"{name}: {said}{_ignored(checked.ignored)}", {})
    if report and checked.report is not None and len(checked.report):
        _print_report(checked.report)


def counted(findings: Sequence[Finding]) -> str:
    """`2 errors, 1 warning`."""
    numbers = [(number, severity) for severity, number in count(findings).items() if number]
    return ", ".join(f"{number} {severity}{'s' if number != 1 else ''}" for number, severity in numbers)


def summary(report: Report) -> str:
    """Counts in brackets; nothing for what has no parts to report, such as a pattern: it is enforced as a whole."""
    order: tuple[Status, ...] = ("enforced", "approximated", "refused", "annotation")
    counts = [(status, len(report.with_status(status))) for status in order]
    said = [
        f"{number} {status}{'s' if status == 'annotation' and number != 1 else ''}"
        for status, number in counts
        if number
    ]
    return f" ({', '.join(said)})" if said else ""


def _print_report(report: Report) -> None:
    """A table for each status, what is not enforced first."""
    for status in STATUSES:
        entries = report.with_status(status)
        if not entries:
            continue
        stdout().print(Text(f"\n{status} ({len(entries)})", style=STATUS_STYLES[status]))
        reasons = [f"{entry.reason} ({entry.direction})" if entry.direction else entry.reason for entry in entries]
        rows = [(f"  {entry.keyword}", entry.path, reason) for entry, reason in zip(entries, reasons, strict=True)]
        shown = [[visible(cell) for cell in (row if any(reasons) else row[:2])] for row in rows]
        _print_table(("  keyword", "at", "reason"), shown)


def _print_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as what stands in them; only the reason wraps: a place that breaks cannot be copied."""
    widths = [max(cell_len(cell) for cell in column) for column in zip(headings[: len(rows[0])], *rows, strict=True)]
    margin = sum(width + 2 for width in widths[:2])
    room = max(stdout().width - margin, LEAST_REASON)
    for number, (keyword, at, *reason) in enumerate([headings[: len(rows[0])], *rows]):
        first, *others = wrap(reason[0], room) if reason and reason[0] else [""]
        line = "  ".join((set_cell_size(keyword, widths[0]), set_cell_size(at, widths[1]), first))
        stdout().print(Text(line.rstrip(), style="bold" if number == 0 else ""))
        for other in others:
            stdout().print(Text(" " * margin + other))


# ---------------------------------------------------------------- for machines


def print_as_json(checked: Sequence[Checked], *, strict: bool, report: bool) -> None:
    """One object on one line."""
    del report  # always there: machines need not ask
    print_json(
        {
            "version": JSON_VERSION,
            "clean": all(one.is_clean(strict) for one in checked),
            "counts": count(finding for one in checked for finding in one.findings),
            "ignored": sum(one.ignored for one in checked),
            "specifications": [
                {
                    "source": one.source.name,
                    "kind": one.source.kind,
                    "clean": one.is_clean(strict),
                    "findings": [finding.to_json() for finding in one.findings],
                    "ignored": one.ignored,
                    "report": None if one.report is None else one.report.to_json(),
                }
                for one in checked
            ],
        }
    )


def print_sarif(checked: Sequence[Checked], *, strict: bool, report: bool) -> None:
    """One SARIF log with one run."""
    del strict, report
    results = [_sarif_result(finding, one) for one in checked for finding in one.findings]
    codes = dict.fromkeys(result["ruleId"] for result in results)
    about = descriptions()
    rules = [{"id": code, "shortDescription": {"text": about.get(code, code)}} for code in codes]
    driver = {"name": "constrain", "version": _version(), "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    print_json({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]})


def descriptions() -> Mapping[str, str]:
    """What each code is about; codes of errors explain themselves."""
    from constrain.linting.compiled import CODES
    from constrain.linting.lint import PROFILES
    from constrain.linting.rules import RULES

    of_profiles = {code: about for profile in PROFILES.values() for code, about in profile.rules.items()}
    return {**{rule.code: rule.about for rule in RULES.values()}, **CODES, **of_profiles}


def _sarif_result(finding: Finding, checked: Checked) -> dict[str, Any]:
    text = finding.message + (f"\nHelp: {finding.help}" if finding.help else "")
    location: dict[str, Any] = {}
    if checked.source.is_file:
        physical: dict[str, Any] = {"artifactLocation": {"uri": quote(checked.source.name)}}
        if finding.line is not None:
            physical["region"] = {"startLine": finding.line, "startColumn": finding.column}
        location["physicalLocation"] = physical
    if finding.at is not None:
        location["logicalLocations"] = [{"fullyQualifiedName": finding.at}]
    return {
        "ruleId": finding.code,
        "level": finding.severity,
        "message": {"text": text},
        "locations": [location] if location else [],
    }


def _version() -> str:
    import constrain

    return constrain.__version__


def print_github(checked: Sequence[Checked], *, strict: bool, report: bool) -> None:
    """A workflow command for each finding."""
    del strict, report
    for one in checked:
        for finding in one.findings:
            level = "notice" if finding.severity == "note" else finding.severity
            properties = {"file": one.source.name} if one.source.is_file else {}
            if finding.line is not None and properties:
                properties |= {"line": str(finding.line), "col": str(finding.column)}
            properties["title"] = finding.code
            said = ",".join(f"{name}={_escaped(value, of_property=True)}" for name, value in properties.items())
            text = finding.message + (f"\nhelp: {finding.help}" if finding.help else "")
            where = f" (at {finding.at})" if finding.at and "line" not in properties else ""
            stdout().print(f"::{level} {said}::{_escaped(visible(text, keep=chr(10)) + where)}")


def _escaped(text: str, *, of_property: bool = False) -> str:
    """As workflow commands want it: a line end, or a mark that separates, is not itself."""
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return visible(text.replace(":", "%3A").replace(",", "%2C")) if of_property else text


PRINTERS: Mapping[CheckFormat, Callable[..., None]] = {
    "text": print_text,
    "json": print_as_json,
    "sarif": print_sarif,
    "github": print_github,
}
