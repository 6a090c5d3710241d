"""What an explanation says: what may come next in words, where in the value that is, and why."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

import constrain
from constrain.errors import ConstrainError
from constrain.validation.json_schema import validate
from tests.frontends.json_schema.schemas import schemas, values
from tests.strategies import examples

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 9}, "born": {"type": "integer", "maximum": 99}},
    "required": ["name", "born"],
    "additionalProperties": False,
}


def explain(schema: Any, text: str, **options: Any) -> constrain.Explanation:
    return constrain.json_schema(schema, **options).explain(text)


def test_blanks_are_one_alternative_and_what_is_forced_is_told_plainly():
    assert explain(PERSON, '{"name": "Ada"}', spelling="any").expected == 'a blank or `,"born":`'
    assert explain(PERSON, '{"name": "Ada"}', spelling="any", key_order="declared").expected == 'a blank or `,"born":`'
    assert explain(PERSON, "{", spelling="any", key_order="declared").expected == 'a blank or `"name":"`'
    assert explain(PERSON, '{"name":7', whitespace="compact").expected == '`"`'


def test_escapes_are_told_only_where_the_plain_character_is_not_offered():
    found = explain({"enum": ["alpha", "beta"]}, '"', spelling="any")
    assert found.expected == '`alpha"` or `beta"`'
    assert explain({"enum": ["\x01x"]}, '"', spelling="any").expected.startswith("`\\u00")
    assert "`\\`" in explain({"type": "string", "pattern": '^["x]'}, '"', spelling="any").expected


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('{"name":"Ada"}', ""),
        ('{"name":"Ada"', ""),
        ('{"name":"Ada', "/name"),
        ('{"name":7', "/name"),
        ('{"name":"a","born":7]', ""),
        ('{"name":"a","born":x', "/born"),
        ('{"name":"a","x', ""),
    ],
)
def test_the_path_is_that_of_what_may_go_on_there(text: str, path: str):
    assert explain(PERSON, text).path == path


def test_the_path_is_that_of_the_array_where_an_item_has_ended():
    schema = {"properties": {"a": {"type": "array", "items": {"type": "integer"}, "maxItems": 2}}}
    assert explain(schema, '{"a":[1,2,3]}').path == "/a"
    assert explain(schema, '{"a":[1,x').path == "/a/1"
    assert explain({"type": "array", "maxItems": 0}, "[1]").path == ""


def test_the_cause_is_the_judges():
    found = explain(PERSON, '{"name":"Ada"}')
    assert found.reason == "'born' is required and missing, at #"
    assert [(one.path, one.keyword) for one in found.failures] == [("", "required")]
    assert "'born' is required and missing" in str(found)
    assert not found.takes


def test_what_is_no_whole_json_has_no_cause_but_its_place():
    for text in ('{"name":"Ada"', '{"name":}', "x", "[" * 5_000):
        found = explain(PERSON, text)
        assert not found.reason and not found.failures and found.expected


def test_what_only_its_spelling_excludes_is_told_so():
    found = explain(PERSON, '{"name": "Ada", "born": 1}')
    assert found.takes == 'whitespace="spaced"' and "differs only in its spelling" in found.reason
    assert explain(PERSON, '{"born":1,"name":"Ada"}').takes == 'key_order="any"'
    assert explain({"type": "integer"}, "1.0").takes == 'numbers="any"'
    beyond = explain({"type": "array"}, "[" + " " * 500 + "]")
    assert beyond.reason and not beyond.takes


def test_a_large_or_exact_value_does_not_hide_what_is_wrong_with_it():
    large = json.dumps({f"member{i}": i for i in range(99)})
    assert explain({"type": "string"}, large).reason.endswith("… is not of type 'string', at #")
    assert explain({"type": "string"}, "1.5").reason == "1.5 is not of type 'string', at #"
    assert explain({"anyOf": [{"type": "null"}]}, '[1.5, true, "\\u001b\\n"]').reason.startswith(
        '[1.5, true, "\\u001b\\n"] is not'
    )


def test_a_valid_value_that_an_approximation_leaves_out_is_told_so():
    found = explain({"type": "string", "format": "regex"}, json.dumps("(" * 9 + "a" + ")" * 9))
    assert not found.accepted and not found.takes
    assert found.reason.startswith("the value is valid, but 'format' at # lets fewer values through than it says (")


def test_a_pattern_has_no_judge():
    found = constrain.regex("[ab]c").explain("ax")
    assert (found.expected, found.reason, found.path) == ("`c`", "", "")


@given(schemas(), values)
@examples(80)
def test_a_rejected_json_text_has_the_cause_that_the_judge_gives(schema: Any, value: Any):
    try:
        specification = constrain.json_schema(schema, on_unsupported="warn")
        text = json.dumps(value)
        found, verdict = specification.explain(text), validate(schema, text)
    except ConstrainError:
        return
    if not found.accepted:
        assert found.reason
        assert bool(found.failures) == (not verdict.ok)
