"""What an error says of a schema is written as JSON, not as Python."""

from __future__ import annotations

import re

import pytest

from constrain.errors import ConstrainError
from constrain.frontends.json_schema.compile import compile_schema
from constrain.frontends.json_schema.keywords import KEYWORDS
from constrain.frontends.json_schema.values import as_json

VALUES = ["1.5", "-1", "true", "null", '"x"', "[1.5,true]", '{"a":1.5}', "[]", "1e500", '[{"a":null}]', '"("', "[1,1]"]
PYTHON = re.compile(r"Decimal|\bTrue\b|\bFalse\b|\bNone\b|\bfloat\b|Fraction|<class|object at|\bdict\b|\bint\b")


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_no_message_speaks_python(keyword: str) -> None:
    for value in VALUES:
        try:
            compile_schema(f'{{"properties": {{"p": {{"{keyword}": {value}}}}}, "required": ["p"]}}')
        except ConstrainError as error:
            assert not PYTHON.search(str(error)), str(error)


def test_values_are_cut_in_depth_and_length() -> None:
    assert as_json({"a": [1, True, None, "é"]}) == '{"a": [1, true, null, "é"]}'
    assert as_json([[[[1]]]]) == "[[[…]]]"
    assert len(as_json(["x" * 10_000] * 10_000)) == 100
    assert as_json("\ud800") == '"\\ud800"'


def test_a_pattern_that_is_read_without_the_flag_u_is_reported() -> None:
    schema = {
        "properties": {"a": {"type": "string", "pattern": "^a\\Z"}, "b": {"pattern": "^a$"}},
        "patternProperties": {"^\\@": {"type": "null"}},
    }
    rows = [(e.path, e.keyword, e.reason) for e in compile_schema(schema).report if "Annex B" in e.reason]
    assert {(path, keyword) for path, keyword, _ in rows} == {("#/properties/a", "pattern"), ("#", "patternProperties")}
    assert any("\\Z at position 2 is the letter Z" in e.reason for e in compile_schema(schema).report)
