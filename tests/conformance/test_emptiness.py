"""Schemas that nothing satisfies, or hardly anything; `python -m benchmarks.emptiness` prints the counts."""

import random

import pytest

from benchmarks import data
from benchmarks.emptiness import decide
from benchmarks.emptiness_families import Row, rows
from benchmarks.random_instances import instances
from benchmarks.two_judges import Judges

CORPUS = rows()
WALKS, POOL = 3, 60


@pytest.mark.parametrize("row", CORPUS, ids=[row.id for row in CORPUS])
def test_schema_is_decided_rightly_or_refused_by_name_and_has_no_dead_end(row: Row):
    decided = decide((row, WALKS), lambda _: None)
    assert decided.faults == []
    assert decided.state in ("right", "refused")


def test_the_corpus_is_large_and_has_both_kinds():
    assert len({row.id for row in CORPUS}) == len(CORPUS) >= 200
    assert min(sum(row.is_empty for row in CORPUS), sum(not row.is_empty for row in CORPUS)) > 80


def test_every_witness_is_valid_by_every_judge_that_takes_the_schema():
    for row in CORPUS:
        if not row.is_empty:
            verdict = Judges(data.json_text(row.schema)).verdict(data.json_text(row.witness))
            assert verdict.corrected is True and verdict.second is not False, row.id


def test_no_value_near_an_empty_schema_is_valid_by_either_judge():
    for row in CORPUS:
        if row.is_empty:
            judges = Judges(data.json_text(row.schema))
            for value in instances(random.Random(row.id), row.schema, POOL):
                verdict = judges.verdict(data.json_text(value))
                assert not (verdict.corrected or verdict.second), (row.id, value)
