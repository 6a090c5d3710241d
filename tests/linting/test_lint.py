"""`lint` as a whole: it never raises for what a schema holds, agrees with the judge, and knows where things stand."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import constrain
from constrain import lint
from constrain.errors import ConstrainError, InvalidSpecification
from constrain.frontends.json_schema.keywords import KEYWORDS
from constrain.linting.compiled import CODES
from constrain.linting.lint import PROFILES
from constrain.linting.rules import RULES
from constrain.validation.json_schema import validate
from tests.frontends.json_schema.schemas import schemas, values
from tests.strategies import examples

KNOWN_CODES = {*RULES, *CODES, *(code for profile in PROFILES.values() for code in profile.rules)}
WORDS = st.sampled_from([*KEYWORDS, "minLenght", "nullable", "$reff", "x", "a/b~c", ""])
TYPES = st.sampled_from(["string", "object", "array", "integer", "nul", "#", "#/$defs/a", "[a-z]+", "(", "\ud800"])

wild = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.floats(allow_nan=False) | TYPES | st.just(1e400),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=5),
    max_leaves=14,
)


@given(st.dictionaries(WORDS, wild, max_size=6))
@examples(150)
def test_nothing_that_a_file_holds_makes_it_raise(schema: dict[str, Any]):
    for finding in lint(schema, "openai-strict", strict=True):
        assert finding.code in KNOWN_CODES or issubclass(getattr(constrain.errors, finding.code), ConstrainError)
        assert finding.severity in ("error", "warning", "note")
        assert finding.message


@given(schemas(negations=True), values)
@examples(120)
def test_a_default_called_invalid_is_invalid_to_the_judge(schema: Any, value: Any):
    if not isinstance(schema, dict):
        return
    schema = {**schema, "default": value}
    if any(finding.code == "invalid-default" and finding.at == "#/default" for finding in lint(schema)):
        assert not validate(schema, json.dumps(value)).ok


@given(schemas(negations=True), st.lists(values, max_size=6))
@examples(120)
def test_a_schema_called_unsatisfiable_refuses_every_value(schema: Any, some: list[Any]):
    whole = {"properties": {"n": schema}, "$defs": schema.get("$defs", {}) if isinstance(schema, dict) else {}}
    if any(finding.code == "unsatisfiable" and finding.at == "#/properties/n" for finding in lint(whole)):
        assert not any(validate(whole, json.dumps({"n": value})).ok for value in some)


@given(schemas(negations=True), schemas(negations=True), st.lists(values, max_size=6))
@examples(120)
def test_a_branch_called_dead_or_redundant_makes_no_difference(left: Any, right: Any, some: list[Any]):
    definitions = {name: {} for name in ("d",)}
    for keyword in ("anyOf", "oneOf"):
        whole = {keyword: [left, right], "$defs": definitions}
        for finding in lint(whole):
            if finding.code in ("dead-branch", "redundant-branch") and finding.at == f"#/{keyword}/0":
                without = {keyword: [right], "$defs": definitions}
                inner = {"allOf": [left], "$defs": definitions}
                for text in map(json.dumps, some):
                    if keyword == "anyOf":
                        assert validate(whole, text).ok == validate(without, text).ok
                    elif validate(inner, text).ok:
                        assert not validate(whole, text).ok


def test_text_has_lines_and_columns_and_a_dict_has_none():
    text = '{\n  "type": "string",\n  "minLenght": 2,\n  "enum": ["é", "a", "a"]\n}'
    assert [(f.code, f.line, f.column) for f in lint(text)] == [("misspelt-keyword", 3, 3), ("duplicate-enum", 4, 22)]
    assert lint(text.encode()) == lint(text)
    assert [(f.code, f.line) for f in lint(json.loads(text))] == [("misspelt-keyword", None), ("duplicate-enum", None)]


def test_names_that_need_escapes_are_found():
    text = '{"properties": {"a/b%41~": {"type": "string",\n"minimum": 1}}}'
    [finding] = lint(text)
    assert (finding.at, finding.line, finding.column) == ("#/properties/a~1b%41~0", 2, 1)


def test_findings_are_in_document_order():
    schema = {"required": ["a", "a"], "properties": {"b": {"type": "string", "minimum": 1}, "a": {"itmes": {}}}}
    assert [f.code for f in lint(schema)] == ["duplicate-required", "wrong-type-keyword", "misspelt-keyword"]
    assert [f.code for f in lint(json.dumps(schema))] == [f.code for f in lint(schema)]


@pytest.mark.parametrize("schema", ["{", "[]", b"\xff", "7", {"type": "strin"}, {"$ref": "#/no"}, {"pattern": "("}])
def test_what_does_not_compile_is_an_error_finding(schema: Any):
    assert [finding.severity for finding in lint(schema)][:1] == ["error"]


def test_a_dict_that_is_deep_or_holds_itself_is_linted_within_bounds():
    endless: dict[str, Any] = {"type": "array", "minLenght": 1}
    endless["items"] = endless
    assert "misspelt-keyword" in {finding.code for finding in lint(endless)}
    deep: Any = True
    for _ in range(100_000):
        deep = {"not": deep}
    assert "LimitExceeded" in {finding.code for finding in lint(deep)}


def test_a_schema_that_does_not_compile_is_still_linted():
    codes = [finding.code for finding in lint({"pattern": "(", "minLenght": 2, "type": "string", "minimum": 3})]
    assert {"PatternError", "misspelt-keyword", "wrong-type-keyword"} <= {*codes}


def test_options_are_those_of_compiling():
    schema = {"type": "string", "format": "date", "default": "x"}
    assert [finding.code for finding in lint(schema)] == ["invalid-default"]
    assert [finding.code for finding in lint({"const": 3}, dialect="draft4")] == ["other-dialect-keyword"]
    assert not lint({"$ref": "urn:a"}, registry={"urn:a": {"type": "string"}})
    with pytest.raises(InvalidSpecification):
        lint({}, dialect="draft5")
    with pytest.raises(InvalidSpecification):
        lint({}, profile="no-such-service")


def test_a_good_schema_has_no_finding():
    person = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"name": {"type": "string", "maxLength": 20}, "tags": {"$ref": "#/$defs/tags"}},
        "required": ["name"],
        "additionalProperties": False,
        "$defs": {"tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 3, "default": []}},
    }
    assert not lint(person, strict=True)


def test_deep_and_wide_schemas_are_linted_without_harm():
    deep: dict[str, Any] = {}
    for _ in range(400):
        deep = {"allOf": [deep], "properties": {"a": deep}} if len(str(deep)) < 2_000 else {"not": deep}
    lint(deep)
    lint('{"items":' * 5_000 + "{}" + "}" * 5_000)
    lint({"oneOf": [{"type": "object", "properties": {"a": {"const": i}}} for i in range(25)]})
    lint({"enum": [f"v{i}" for i in range(20_000)], "minLength": 3})
