"""Small cases made from public bug reports, each under the default, the spaced and the widest spelling."""

import pytest

from benchmarks import data, judging
from benchmarks.first_cut import uses_only_first_cut

try:
    CASES = [case for case in data.cases() if case.spec_type in ("json_schema", "regex")]
    MISSING = ""
except data.DataMissing as error:
    CASES, MISSING = [], str(error)


@pytest.mark.skipif(bool(MISSING), reason=MISSING or "the cases are there")
def test_the_cases_are_there():
    assert CASES


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_case_is_right_or_refused_where_it_may_be(case: data.Case):
    judged = judging.judge_case(case, lambda _: None)
    if judged.outcome.status == "refused":
        is_beyond = case.spec_type == "json_schema" and not uses_only_first_cut(case.spec)
        assert case.may_refuse or is_beyond, judged.outcome.message
    else:
        assert judged.is_right, (judged.outcome, judged.wrongly_rejected, judged.wrongly_accepted)
