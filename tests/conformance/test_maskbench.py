"""A fixed sample of real schemas with their instances; `python -m benchmarks.conformance maskbench` runs all."""

import random

import pytest

from benchmarks import data, judging
from benchmarks.first_cut import uses_only_first_cut

SAMPLE = 150
SEED = 2026


@pytest.fixture(scope="module", params=["any", "spaced"])
def judged(request: pytest.FixtureRequest) -> list[tuple[data.Row, judging.Judged]]:
    try:
        rows = list(data.maskbench())
    except data.DataMissing as error:
        pytest.skip(str(error))
    sample = random.Random(SEED).sample(rows, SAMPLE)
    return [(row, judging.judge_row((row, request.param), lambda _: None)) for row in sample]


def test_no_invalid_instance_is_accepted(judged: list[tuple[data.Row, judging.Judged]]):
    assert [(row.id, one.invalid_accepted) for row, one in judged if one.invalid_accepted] == []


def test_every_valid_instance_is_accepted_but_for_documented_spelling(judged: list[tuple[data.Row, judging.Judged]]):
    wrong = [(row.id, e) for row, one in judged for e in one.valid_rejected if e["why"] not in judging.DOCUMENTED]
    assert wrong == []


def test_every_failure_is_a_typed_error(judged: list[tuple[data.Row, judging.Judged]]):
    assert [(row.id, one.outcome.message) for row, one in judged if one.outcome.status == "untyped"] == []


def test_every_instance_gets_a_verdict(judged: list[tuple[data.Row, judging.Judged]]):
    assert [(row.id, one.raised) for row, one in judged if one.raised] == []


def test_schemas_of_the_first_cut_compile(judged: list[tuple[data.Row, judging.Judged]]):
    refused = [
        (row.id, one.outcome.kinds, one.outcome.message)
        for row, one in judged
        if uses_only_first_cut(row.schema) and one.outcome.status not in ("compiled", "empty")
    ]
    assert refused == []
