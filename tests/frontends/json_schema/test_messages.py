"""What an error says of a schema: as JSON, not as Python; where it stands; what was meant; and everything at once."""

from __future__ import annotations

import re
from typing import Any

import pytest

from constrain.errors import ConstrainError, InvalidSpecification, ReferenceNotFound, UnsupportedKeyword
from constrain.frontends.json_schema.compile import compile_schema
from constrain.frontends.json_schema.keywords import KEYWORDS
from constrain.frontends.json_schema.options import SchemaOptions
from constrain.frontends.json_schema.values import as_json
from tests.frontends.json_schema.writing import error_of

VALUES = ["1.5", "-1", "true", "null", '"x"', "[1.5,true]", '{"a":1.5}', "[]", "1e500", '[{"a":null}]', '"("', "[1,1]"]
UNSAID = {"propertyNames": {"format": "hostname"}}
"""A schema whose opposite cannot be said."""

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


MALFORMED: list[tuple[Any, str, str, str]] = [
    ({"type": "int"}, "type", "did you mean 'integer'?", '"int"'),
    ({"type": "str"}, "type", "did you mean 'string'?", '"str"'),
    ({"type": "float"}, "type", "did you mean 'number'?", '"float"'),
    ({"type": "bool"}, "type", "did you mean 'boolean'?", '"bool"'),
    ({"type": "list"}, "type", "did you mean 'array'?", '"list"'),
    ({"type": "dict"}, "type", "did you mean 'object'?", '"dict"'),
    ({"type": "None"}, "type", "did you mean 'null'?", '"None"'),
    ({"type": None}, "type", '"null" in quotes', "null"),
    ({"type": ["strng", "null"]}, "type", "did you mean 'string' for \"strng\"?", '["strng", "null"]'),
    ({"type": ["string", None]}, "type", '"null" in quotes', "null"),
    ({"type": "any"}, "type", "leave it out", '"any"'),
    ({"type": {"type": "string"}}, "type", "name of a type", "{"),
    ({"type": "string", "required": True}, "required", "the parent's 'required': [\"p\"]", "true"),
    ({"required": "a"}, "required", 'write a list: ["a"]', '"a"'),
    ({"minimum": "3"}, "minimum", "without quotes: 3", '"3"'),
    ({"maxLength": "10"}, "maxLength", "without quotes: 10", '"10"'),
    ({"uniqueItems": "true"}, "uniqueItems", "without quotes: true", '"true"'),
    ({"enum": {}}, "enum", "in brackets", "{}"),
    ({"enum": {"a": 1}}, "enum", 'in brackets: ["a"]', "{"),
    ({"enum": "a"}, "enum", 'in brackets: ["a"]', '"a"'),
    ({"properties": []}, "properties", "a schema for each name", "[]"),
    ({"anyOf": {"type": "null"}}, "anyOf", "in brackets", "{"),
    ({"allOf": []}, "allOf", "list schemas", "[]"),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "keyword", "help", "shown"), MALFORMED)
def test_a_malformed_value_is_shown_as_json_with_what_was_probably_meant(
    schema: Any, keyword: str, help: str, shown: str
) -> None:
    error = error_of({"properties": {"p": schema}})
    assert isinstance(error, InvalidSpecification)
    assert (error.at, error.keyword) == ("#/properties/p", keyword)
    assert error.help is not None
    assert help in error.help
    assert shown in error.message
    assert not PYTHON.search(re.sub(r'"\w+"', "", error.message)), error.message


@pytest.mark.parametrize(
    ("schema", "help"),
    [
        ("string", '{"type": "string"}'),
        ("int", '{"type": "integer"}'),
        ("true", "without quotes"),
        ([{"type": "string"}], "prefixItems"),
        (None, '{"type": "null"}'),
        (3, '{"const": 3}'),
    ],
)
def test_what_is_no_schema_says_what_would_be_one(schema: Any, help: str) -> None:
    error = error_of({"properties": {"p": {"items": schema}}}, dialect="draft2020-12")
    assert isinstance(error, InvalidSpecification)
    assert error.at == "#/properties/p/items"
    assert help in (error.help or "")


def test_a_boolean_bound_of_draft_4_says_where_the_bound_belongs() -> None:
    error = error_of({"minimum": 5, "exclusiveMinimum": True}, dialect="draft2020-12")
    assert isinstance(error, InvalidSpecification)
    assert "in the place of 'minimum'" in (error.help or "")


def test_one_malformed_value_hides_no_other_problem() -> None:
    schema = {
        "properties": {
            **{f"p{i}": schema for i, (schema, *_) in enumerate(MALFORMED)},
            "a": "string",
            "b": {"$ref": "#/nowhere"},
            "c": {"pattern": "("},
            "d": {"allOf": [{"$ref": "#/properties/d"}]},
            "e": {"items": "string", "minItems": -1},
            "f": {"contains": {}, "minContains": "1"},
        }
    }
    error = error_of(schema)
    assert isinstance(error, ReferenceNotFound)
    places = [(problem.path.split("/")[2], problem.keyword) for problem in error.problems]
    assert {(f"p{i}", keyword) for i, (_, keyword, *_) in enumerate(MALFORMED)} <= set(places)
    assert {
        ("a", ""),
        ("b", "$ref"),
        ("c", "pattern"),
        ("d", ""),
        ("e", ""),
        ("e", "minItems"),
        ("f", "minContains"),
    } <= {*places}
    assert len(places) == len(set(places)) == len(MALFORMED) + 7
    assert all(problem.help for problem in error.problems)


def test_each_malformed_list_of_names_is_said() -> None:
    error = error_of({"dependentRequired": {"a": "b", "c": 3, "d": ["e"]}})
    assert isinstance(error, InvalidSpecification)
    assert [problem.reason.partition(":")[0] for problem in error.problems] == ['is "b"', "is 3"]


@pytest.mark.parametrize(
    "schema",
    [{"$ref": "#/x"}, {"pattern": "("}, {"type": "int"}, {"format": "nothing"}, {"not": UNSAID}],
)
def test_the_pointer_is_that_of_the_schema_alone_or_among_others(schema: Any) -> None:
    alone = error_of({"properties": {"p": schema}}, formats="all")
    assert alone is not None
    assert alone.at == "#/properties/p"
    among = error_of({"properties": {"o": {"$ref": "#/y"}, "p": schema}}, formats="all")
    assert isinstance(among, ReferenceNotFound)
    assert [problem.path for problem in among.problems] == ["#/properties/o", "#/properties/p"]
    assert str(among).count("#/properties/p") == 1


@pytest.mark.parametrize(
    ("schema", "keyword"),
    [
        ({"if": {"properties": {"v": UNSAID}, "required": ["v"]}, "then": {"required": ["x"]}}, "if"),
        ({"oneOf": [{"required": ["v"], "properties": {"v": UNSAID}}, {"required": ["w"]}]}, "oneOf"),
        ({"not": {"properties": {"v": UNSAID}}}, "not"),
    ],
)
def test_a_refused_negation_names_the_keyword_that_asks_for_it(schema: Any, keyword: str) -> None:
    error = error_of(schema)
    assert isinstance(error, UnsupportedKeyword)
    (problem,) = error.problems
    assert (problem.path, problem.keyword) == ("#", keyword)
    assert "/properties/v" in problem.reason
    report = compile_schema(schema, SchemaOptions(on_unsupported="warn")).report
    assert [(e.path, e.keyword) for e in report if e.status == "refused"] == [("#", keyword)]


@pytest.mark.parametrize(
    ("schema", "idle"),
    [
        ({"type": "string", "minimum": 3, "items": {}, "minLength": 1}, {"minimum", "items"}),
        ({"type": ["integer", "null"], "minLength": 2, "format": "int32", "maximum": 3}, {"minLength"}),
        ({"type": "integer", "format": "uuid"}, {"format"}),
        ({"minimum": 3, "minLength": 2}, set()),
        ({"type": ["string", "number"], "minimum": 3, "minLength": 2}, set()),
    ],
)
def test_a_keyword_of_a_type_that_is_excluded_is_an_annotation(schema: Any, idle: set[str]) -> None:
    rows = [e for e in compile_schema(schema).report if e.status == "annotation"]
    assert {e.keyword for e in rows} == idle
    assert all(e.reason.startswith("says nothing about ") for e in rows)
