"""Texts out of real schemas, judged twice; `python -m benchmarks.samples` does all schemas."""

import random

import pytest

from benchmarks import data
from benchmarks.samples import Plan, Sampled, Session, as_values, read_back, sample_schema
from benchmarks.two_judges import Judges

SCHEMAS, SEEDS = 30, 4
SEED = 2026


@pytest.mark.parametrize("option", [("whitespace", "compact"), ("whitespace", "spaced"), ("spelling", "any")])
def test_sampled_and_completed_texts_are_valid_by_both_judges(option: tuple[str, str]):
    try:
        rows = list(data.maskbench())
    except data.DataMissing as error:
        pytest.skip(str(error))
    plan = Plan(SEEDS, "bytes", (option,))
    found = []
    for row in random.Random(SEED).sample(rows, SCHEMAS):
        found.append(sample_schema((row.id, row.schema_text, plan), lambda _: None))
    assert [(one.id, one.faults) for one in found if one.faults] == []
    assert sum(one.counts["sample"] for one in found) > SCHEMAS


def test_a_bad_text_is_a_fault_and_survives_the_file():
    found = Sampled("x", "compiled")
    session = Session(None, Judges('{"type": "integer"}', formats="known"), found, lambda _: None)
    session.judge("sample", "1")
    session.judge("sample", "1.5")
    session.judge("sample", "{")
    assert [kind for kind, _, _ in found.faults] == ["sample invalid", "sample invalid"]
    assert read_back(as_values(found)) == found
