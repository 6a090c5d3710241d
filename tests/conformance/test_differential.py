"""Random schemas with random instances, ours beside two judges; `python -m benchmarks.differential` runs more."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import data, differential, judging
from benchmarks.random_instances import instances
from benchmarks.random_schemas import random_schema
from benchmarks.shrinking import shrink
from benchmarks.two_judges import Judges
from tests.strategies import examples
from tests.strategies_json_schema import hard_schemas, values_near

PAIRS_IN_CI = 5_000
PAIRS_BY_HYPOTHESIS = 300
NIGHTLY_PARTS, NIGHTLY_PAIRS = 8, 25_000


def test_five_thousand_pairs_agree_with_the_judges():
    total = differential.run_pairs(PAIRS_IN_CI, "ci", processes=1, most=5)
    assert [str(one) for one in total.findings] == []
    assert total.counts["pairs"] >= PAIRS_IN_CI


def test_schemas_by_hypothesis_jsonschema_agree_with_the_judges():
    pytest.importorskip("hypothesis_jsonschema", reason="hypothesis-jsonschema is not installed")
    total = differential.run_pairs(PAIRS_BY_HYPOTHESIS, "ci", generator="hypothesis", processes=1, most=5)
    assert [str(one) for one in total.findings] == []


@examples(60)
@given(st.data())
def test_a_hard_schema_compiles_or_fails_with_a_typed_error(drawn: st.DataObject):
    schema = drawn.draw(hard_schemas())
    found = differential.Examined("")
    specification, outcome = judging.compile_schema(data.json_text(schema), differential.OPTIONS, first_mask=False)
    assert outcome.status != "untyped", outcome.message
    if outcome.status in ("compiled", "empty"):
        judges = Judges(data.json_text(schema))
        for value in drawn.draw(values_near(schema)):
            differential.compare(specification, judges, data.json_text(value), found, ("", ""), lambda _: None)
    assert found.findings == []


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("part", range(NIGHTLY_PARTS))
def test_a_share_of_two_hundred_thousand_pairs_agrees_with_the_judges(part: int):
    total = differential.run_pairs(NIGHTLY_PAIRS, f"nightly{part}", processes=1)
    assert [str(one) for one in total.findings] == []


# ---------------------------------------------------------------- the instrument itself


def test_one_seed_is_one_schema():
    first, again = (random_schema(random.Random("x 7")) for _ in range(2))
    assert first == again


def test_random_schemas_are_schemas_and_say_yes_and_no():
    verdicts = {True: 0, False: 0}
    for number in range(100):
        chance = random.Random(f"self {number}")
        schema = random_schema(chance)
        judges = Judges(data.json_text(schema))
        for value in instances(chance, schema, 5):
            verdicts[bool(judges.verdict(data.json_text(value)).valid)] += 1
    assert min(verdicts.values()) > 100


def test_the_generator_writes_every_keyword_of_every_dialect():
    written: dict[str, set[str]] = {}
    for number in range(3000):
        schema = random_schema(random.Random(f"keywords {number}"))
        if isinstance(schema, dict):
            found = written.setdefault(schema.get("$schema", ""), set())
            pending = [schema]
            while pending:
                here = pending.pop()
                found.update(here if isinstance(here, dict) else ())
                pending += [
                    one for one in (here.values() if isinstance(here, dict) else here) if type(one) in (dict, list)
                ]
    newest = written[data.DRAFTS["2020-12"][1]]
    assert {"unevaluatedItems", "unevaluatedProperties", "minContains", "dependentSchemas", "prefixItems"} <= newest
    assert {"$recursiveRef", "additionalItems", "dependentRequired"} <= written[data.DRAFTS["2019-09"][1]]
    assert {"if", "contains", "propertyNames", "dependencies"} <= written[data.DRAFTS["7"][1]]
    assert "if" not in written[data.DRAFTS["6"][1]] and "const" not in written[data.DRAFTS["4"][1]]


def test_shrinking_keeps_the_failure_and_nothing_else():
    schema = {"properties": {"a": {"minimum": 1, "type": "number"}}, "allOf": [{"items": {"uniqueItems": True}}]}
    (small,), _ = shrink((schema,), lambda one: "uniqueItems" in json.dumps(one))
    assert small in ({"uniqueItems": True}, "uniqueItems", {"uniqueItems": 0})


def test_exponents_are_written_out_but_not_inside_strings():
    assert (
        differential.without_exponents('["1e5", 1e5, 2.5e-3, "\\\\", 3e0]') == '["1e5", 100000.0, 0.0025, "\\\\", 3.0]'
    )


@pytest.mark.parametrize(
    ("schema", "text", "valid"),
    [
        ({"items": [{"type": "null"}], "additionalItems": False}, "[1]", False),
        ({"multipleOf": 3}, "343968705613288240000.0", False),
        ({"maximum": 0.1}, "0.10000000000000000001", False),
        ({"pattern": "^[\\w-.]$"}, '"-"', True),
        ({"$schema": data.DRAFTS["2019-09"][1], "contains": {}, "unevaluatedItems": False}, "[1]", False),
    ],
)
def test_a_listed_fault_of_a_judge_decides_for_the_other(schema: object, text: str, valid: bool):
    verdict = Judges(json.dumps(schema)).verdict(text)
    assert verdict.valid is valid
