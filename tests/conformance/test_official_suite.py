"""The required files of the official suite, draft 2020-12; `python -m benchmarks.conformance suite` runs all drafts."""

import pytest

from benchmarks import data, judging
from benchmarks.conformance import classify

DRAFT = "2020-12"


@pytest.fixture(scope="module")
def judged() -> list[judging.SuiteJudged]:
    try:
        groups, registry = list(data.suite(DRAFT)), data.remotes()
    except data.DataMissing as error:
        pytest.skip(str(error))
    options = {
        "spelling": "any",
        "formats": "annotation",
        "dialect": data.DRAFTS[DRAFT][0],
        "registry": registry,
    }
    return [judging.judge_group((group, options), lambda _: None) for group in groups]


def named(judged: list[judging.SuiteJudged], kind: str) -> list[str]:
    return [
        f"{one.file}: {one.description}: {description}: {one.outcome.message}"
        for one in judged
        for description, valid, verdict in one.verdicts
        if classify(one, valid, verdict) == kind
    ]


def test_nothing_is_wrongly_accepted(judged: list[judging.SuiteJudged]):
    assert named(judged, "wrongly accepted") == []


def test_nothing_is_wrongly_rejected(judged: list[judging.SuiteJudged]):
    assert named(judged, "wrongly rejected") == []


def test_every_failure_is_a_typed_error(judged: list[judging.SuiteJudged]):
    assert named(judged, "raised") == []
