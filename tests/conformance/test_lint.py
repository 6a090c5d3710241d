"""Linting real schemas: it ends, never raises, and no valid instance has what is called unsatisfiable."""

from __future__ import annotations

import json

import pytest

from benchmarks import data
from constrain import lint
from constrain.validation.json_schema import validate

STEP = 60
"""Every how many-th schema is linted in CI; all are, in the nightly run."""

MEMBER = "#/properties/"


def lint_real_schemas(step: int) -> None:
    try:
        rows = [*data.maskbench()][::step]
    except data.DataMissing as missing:
        pytest.skip(str(missing))
    for row in rows:
        findings = lint(row.schema, "openai-strict", strict=True)
        empty = {finding.at or "#" for finding in findings if finding.code in ("EmptyLanguage", "unsatisfiable")}
        names = {at.removeprefix(MEMBER) for at in empty if at.startswith(MEMBER)}
        for test in row.tests:
            if test.valid:
                assert "#" not in empty, row.id
                assert not (isinstance(test.value, dict) and names & test.value.keys()), row.id
        for finding in findings:
            if finding.code == "invalid-default" and finding.at == "#/default":
                assert not validate(row.schema, json.dumps(row.schema["default"], default=str)).ok, row.id


def test_some_real_schemas_are_linted():
    lint_real_schemas(STEP)


@pytest.mark.slow
def test_all_real_schemas_are_linted():
    lint_real_schemas(1)
