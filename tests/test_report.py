"""A report as people read it: one line for each entry."""

from __future__ import annotations

from constrain.report import Entry, Report


def test_a_report_prints_a_line_for_each_entry():
    report = Report(
        (
            Entry("#", "type", "enforced"),
            Entry("#/items", "contains", "refused", "cannot be enforced yet", "wider"),
        )
    )
    assert str(report).splitlines() == [
        "enforced: type at #",
        "refused: contains at #/items: cannot be enforced yet (wider)",
    ]
    assert str(Report()) == "nothing to report"
