"""The official suite, every draft; `python -m benchmarks.conformance suite --draft all` prints the tables.

What is refused is listed here by name with its reason; a refusal that is not listed fails, and so does a name that is
no longer refused.
"""

from functools import cache

import pytest

from benchmarks import data, judging
from benchmarks.conformance import classify

MOST_REFUSED = 0.01
"""The share of a draft's required cases that may be refused."""

ALLOWED: dict[tuple[str, str, str], str] = {}
"""(draft, file, description) of each group that may be refused → why it cannot be enforced."""

CLAIMED_IN_PART = {"hostname", "idn-hostname", "ecmascript-regex", "regex"}
"""Format files of formats whose language is narrower than the format, as the guide says: nothing wrong gets in."""


@cache
def judged(draft: str, optional_formats: bool = False) -> list[judging.SuiteJudged]:
    try:
        groups, registry = list(data.suite(draft, optional_formats=optional_formats)), data.remotes()
    except data.DataMissing as error:
        pytest.skip(str(error))
    options = {
        "spelling": "any",
        "formats": "known" if optional_formats else "annotation",
        "dialect": data.DRAFTS[draft][0],
        "registry": registry,
    }
    return [judging.judge_group((group, options), lambda _: None) for group in groups]


def named(groups: list[judging.SuiteJudged], kind: str) -> list[str]:
    return [
        f"{one.file}: {one.description}: {description}: {one.outcome.message}"
        for one in groups
        for description, valid, verdict in one.verdicts
        if classify(one, valid, verdict) == kind
    ]


every_draft = pytest.mark.parametrize("draft", tuple(data.DRAFTS))


@every_draft
def test_nothing_is_wrongly_accepted(draft: str):
    assert named(judged(draft), "wrongly accepted") == []


@every_draft
def test_nothing_is_wrongly_rejected(draft: str):
    assert named(judged(draft), "wrongly rejected") == []


@every_draft
def test_every_failure_is_a_typed_error(draft: str):
    assert named(judged(draft), "raised") == []


@every_draft
def test_what_is_refused_is_listed_by_name(draft: str):
    refused = {(draft, one.file, one.description): one.outcome for one in judged(draft) if is_refused(one)}
    unlisted = {name: outcome.message for name, outcome in refused.items() if name not in ALLOWED}
    assert unlisted == {}
    assert [name for name in ALLOWED if name[0] == draft and name not in refused] == []


@every_draft
def test_few_cases_are_refused(draft: str):
    cases = sum(len(one.verdicts) for one in judged(draft))
    refused = sum(len(one.verdicts) for one in judged(draft) if is_refused(one))
    assert refused <= MOST_REFUSED * cases


def is_refused(one: judging.SuiteJudged) -> bool:
    return one.outcome.status in ("refused", "typed")


@every_draft
def test_formats_that_are_claimed_are_judged_right(draft: str):
    groups = judged(draft, optional_formats=True)
    assert named(groups, "wrongly accepted") + named(groups, "raised") + named(groups, "refused") == []
    whole = [one for one in groups if one.file not in CLAIMED_IN_PART]
    assert named(whole, "wrongly rejected") == []
