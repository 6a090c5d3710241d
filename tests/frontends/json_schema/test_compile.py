"""Compiling: what is refused and how it is said, what is reported, what is empty."""

from __future__ import annotations

import json
from typing import Any

import pytest

from constrain.errors import (
    EmptyLanguage,
    InvalidSpecification,
    LimitExceeded,
    PatternError,
    SpecificationError,
    UnsupportedKeyword,
)
from constrain.frontends.json_schema import SchemaOptions, compile_schema
from tests.frontends.json_schema.writing import Judge, error_of

NOT_UNIQUE = {"type": "array", "not": {"uniqueItems": True}}


# ---------------------------------------------------------------- malformed keywords


@pytest.mark.parametrize(
    ("schema", "at"),
    [
        ({"properties": {"a": {"minimum": "x"}}}, "#/properties/a/minimum"),
        ({"type": "text"}, "#/type"),
        ({"type": []}, "#/type"),
        ({"type": ["string", 3]}, "#/type"),
        ({"minLength": -1}, "#/minLength"),
        ({"minLength": 1.5}, "#/minLength"),
        ({"maxItems": True}, "#/maxItems"),
        ({"multipleOf": 0}, "#/multipleOf"),
        ({"required": "a"}, "#/required"),
        ({"required": True}, "#/required"),
        ({"enum": 3}, "#/enum"),
        ({"properties": []}, "#/properties"),
        ({"properties": {"a~/b": 3}}, "#/properties/a~0~1b"),
        ({"allOf": []}, "#/allOf"),
        ({"anyOf": {}}, "#/anyOf"),
        ({"items": 3}, "#/items"),
        ({"pattern": 3}, "#/pattern"),
        ({"uniqueItems": "yes"}, "#/uniqueItems"),
        ({"$ref": 3}, "#/$ref"),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "exclusiveMinimum": 3}, "#/exclusiveMinimum"),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "exclusiveMinimum": True}, "#/exclusiveMinimum"),
    ],
)
def test_a_keyword_value_of_the_wrong_kind_is_refused_with_its_pointer(schema: Any, at: str) -> None:
    error = error_of({"type": "object", **schema})
    assert isinstance(error, InvalidSpecification)
    assert at in (error.at, f"{error.at}/{error.keyword}")
    assert error.expected


def test_a_pattern_that_does_not_parse_names_its_place_and_position() -> None:
    error = error_of({"properties": {"a": {"pattern": "a(b"}}, "required": ["a"]})
    assert isinstance(error, PatternError)
    assert (error.at, error.keyword, error.position) == ("#/properties/a", "pattern", 1)


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"anyOf": [{"type": "null"}, {"$ref": "#"}]},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}},
        {"not": {"$ref": "#"}},
    ],
)
def test_recursion_that_never_descends_is_refused_with_its_cycle(schema: Any) -> None:
    error = error_of(schema)
    assert isinstance(error, InvalidSpecification)
    assert "→" in error.message


# ---------------------------------------------------------------- refusals


def test_all_problems_are_raised_together() -> None:
    names = {"not": {"propertyNames": {"format": "hostname"}}}
    error = error_of({"type": "object", "properties": {"a": NOT_UNIQUE, "b": names}})
    assert isinstance(error, UnsupportedKeyword)
    assert {(p.path, p.keyword) for p in error.problems} == {("#/properties/a", "not"), ("#/properties/b", "not")}
    assert all(problem.help and problem.reason for problem in error.problems)


def test_warn_compiles_a_wider_language_and_says_where() -> None:
    schema = {"type": "object", "properties": {"a": NOT_UNIQUE}, "required": ["a"]}
    judge = Judge(schema, on_unsupported="warn")
    assert judge.accepts_text('{"a":[{},{}]}')
    [entry] = judge.compiled.report.with_status("refused")
    assert (entry.path, entry.keyword, entry.direction) == ("#/properties/a", "not", "wider")
    assert not judge.compiled.report.is_exact


def test_what_is_only_partly_enforced_is_never_negated() -> None:
    schema = {"not": {"propertyNames": {"format": "hostname"}}}
    assert isinstance(error_of(schema), UnsupportedKeyword)
    judge = Judge(schema, on_unsupported="warn")
    assert judge.accepts_text("{}")
    assert judge.accepts_text("3")


@pytest.mark.parametrize(
    "schema",
    [
        {"dependencies": {}},
        {"dependentRequired": {}},
        {"minProperties": 0},
        {"uniqueItems": False},
        {"uniqueItems": True, "maxItems": 1},
        {"contains": True, "minContains": 0},
        {"contains": {"minimum": 3}, "minContains": 0},
        {"if": {"contains": {"minimum": 3}}},
        {"unevaluatedProperties": True},
        {"$defs": {"a": {"contains": {"minimum": 3}}}},
        {"properties": {"a": False, "b": {"not": {}}}},
    ],
)
def test_what_says_nothing_is_not_refused(schema: Any) -> None:
    assert error_of(schema) is None


def test_an_unknown_format_is_an_annotation_or_refused_by_option() -> None:
    schema = {"type": "string", "format": "colour"}
    [entry] = compile_schema(schema).report.with_status("annotation")
    assert entry.keyword == "format"
    assert isinstance(error_of(schema, formats="all"), UnsupportedKeyword)
    assert Judge({"type": "string", "format": "ipv4"}, formats="annotation").accepts_text('"x"')
    assert not Judge({"type": "string", "format": "ipv4"}).accepts_text('"x"')


# ---------------------------------------------------------------- the report


def test_an_unknown_keyword_is_reported_with_what_was_probably_meant() -> None:
    report = compile_schema({"type": "object", "propertys": {}, "minimun": 3, "requierd": [], "x-mine": 1}).report
    reasons = {entry.keyword: entry.reason for entry in report.with_status("annotation")}
    assert "'minimum'" in reasons["minimun"]
    assert "'required'" in reasons["requierd"]
    assert "mean" not in reasons["x-mine"]


def test_each_keyword_that_is_enforced_has_an_entry() -> None:
    report = compile_schema({"type": "object", "properties": {"a": {"type": "string", "minLength": 2}}}).report
    assert [(e.path, e.keyword) for e in report.with_status("enforced")] == [
        ("#", "type"), ("#", "properties"), ("#/properties/a", "type"), ("#/properties/a", "minLength"),
    ]  # fmt: skip
    assert report.is_exact


def test_older_forms_are_read_and_reported_where_no_dialect_is_named() -> None:
    schema = {"items": [{"type": "null"}], "additionalItems": False, "exclusiveMinimum": True, "minimum": 1,
              "dependencies": {"a": ["b"]}}  # fmt: skip
    judge = Judge(schema)
    noted = {e.keyword for e in judge.compiled.report if e.reason}
    assert noted == {"items", "additionalItems", "exclusiveMinimum", "dependencies"}
    for text, accepted in (("1", False), ("1.5", True), ("[null]", True), ("[null,1]", False), ('{"a":1}', False)):
        assert judge.accepts_text(text) == accepted


def test_keywords_of_other_drafts_are_annotations_in_a_named_dialect() -> None:
    judge = Judge({"$schema": "http://json-schema.org/draft-04/schema#", "const": 3})
    assert judge.accepts_text("4")
    assert [e.keyword for e in judge.compiled.report.with_status("annotation")] == ["const"]
    assert judge.compiled.dialect == "draft4"


# ---------------------------------------------------------------- emptiness


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (False, "allows no value"),
        ({"type": "object", "properties": {"n": {"type": "number", "minimum": 7, "maximum": 3}}, "required": ["n"]},
         "minimum 7 > maximum 3 at #/properties/n"),
        ({"type": "integer", "exclusiveMinimum": 4, "exclusiveMaximum": 5}, "no integer"),
        ({"type": "integer", "minimum": 1, "maximum": 5, "multipleOf": 7}, "multipleOf 7"),
        ({"type": "string", "minLength": 3, "maxLength": 2}, "minLength 3 > maxLength 2"),
        ({"type": "object", "required": ["a"], "additionalProperties": False}, "'a' is required"),
        ({"type": "object", "required": ["a"], "properties": {"a": False}}, "'a' is required"),
        ({"type": "array", "items": False, "minItems": 1}, "minItems 1"),
        ({"allOf": [{"type": "string"}, {"type": "number"}]}, "'allOf' leaves no value"),
        ({"const": 1, "type": "string"}, "contradict"),
        ({"enum": []}, "enum has no values"),
        ({"not": {}}, "excludes every value"),
        ({"type": "string", "pattern": "^a$", "minLength": 2}, "#"),
        ({"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": True, "minItems": 3}, "#"),
        ({"type": "array", "items": {"type": "boolean"}, "uniqueItems": True, "minItems": 3}, "#"),
        ({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}, "without end"),
        ({"type": "array", "items": {"$ref": "#"}, "minItems": 1}, "without end"),
        ({"type": "object", "additionalProperties": False, "properties": {"a": {}}, "minProperties": 2}, "#"),
        ({"type": "object", "minProperties": 1, "additionalProperties": {"$ref": "#"}}, "without end"),
        ({"type": "object", "patternProperties": {"^[ab]$": {}}, "additionalProperties": False, "minProperties": 3},
         "#"),
        ({"type": "string", "const": "\ud800"}, "#"),
    ],
)  # fmt: skip
def test_a_schema_that_nothing_satisfies_names_the_contradiction(schema: Any, said: str) -> None:
    error = error_of(schema)
    assert isinstance(error, EmptyLanguage)
    assert said in str(error)


@pytest.mark.parametrize(
    ("schema", "accepted", "rejected"),
    [
        ({"type": "object", "properties": {"a": {"type": "integer", "minimum": 2, "maximum": 1}}}, "{}", '{"a":1}'),
        ({"type": "object", "properties": {"a": {"$ref": "#/$defs/e"}, "b": {}},
          "$defs": {"e": {"type": "object", "properties": {"a": {"$ref": "#/$defs/e"}}, "required": ["a"]}}},
         '{"b":1}', '{"a":{}}'),
        ({"type": "array", "prefixItems": [{}, {"enum": []}]}, "[1]", "[1,1]"),
        ({"anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#/$defs/e"}, "minItems": 1}],
          "$defs": {"e": {"type": "array", "items": {"$ref": "#/$defs/e"}, "minItems": 1}}}, "null", "[[]]"),
        ({"anyOf": [{"type": "null"}, {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}]},
         '{"a":{"a":null}}', "{}"),
    ],
)  # fmt: skip
def test_what_is_empty_inside_is_forbidden_and_the_rest_stays(schema: Any, accepted: str, rejected: str) -> None:
    judge = Judge(schema)
    assert judge.accepts_text(accepted)
    assert not judge.accepts_text(rejected)


# ---------------------------------------------------------------- limits


def test_alternatives_that_multiply_meet_a_limit_that_names_the_place() -> None:
    branches = [{"properties": {"a": {"minimum": i}}, "required": [str(i)]} for i in range(20)]
    wide = [{"anyOf": [{**branch, "required": [f"{j}{k}"]} for k, branch in enumerate(branches)]} for j in range(6)]
    error = error_of({"type": "object", "properties": {"x": {"allOf": wide}}})
    assert isinstance(error, LimitExceeded)
    assert error.at == "#/properties/x"


@pytest.mark.timeout(30)
def test_a_thousand_properties_and_definitions_compile_and_only_what_is_reached() -> None:
    schema = {
        "type": "object",
        "properties": {f"p{i}": {"type": ["string", "null"], "maxLength": i} for i in range(1_000)},
        "$defs": {f"d{i}": {"type": "object", "properties": {"x": {"$ref": "#"}}} for i in range(1_000)},
    }
    rules = compile_schema(schema, SchemaOptions()).grammar.rules
    assert not [name for name in rules if "$defs" in name]


@pytest.mark.parametrize(
    "keywords",
    [{"type": "number", "minimum": 10**500}, {"type": "integer", "multipleOf": 12345678901234567890123},
     {"pattern": "(" * 3_000 + ")" * 3_000}, {"minLength": 10**12}, {"const": [10**500]}],
)  # fmt: skip
def test_limits_name_their_place(keywords: Any) -> None:
    error = error_of({"type": "object", "properties": {"x": keywords}})
    assert isinstance(error, LimitExceeded | PatternError)
    assert (error.at or "").startswith("#/properties/x")


@pytest.mark.parametrize(
    ("schema", "kept"),
    [
        ({"not": {"type": "integer"}}, {"1.0", "2.5", "1e2"}),
        ({"not": {"not": {"type": "integer"}}}, {"1", "-3"}),
        ({"type": "number", "not": {"type": "integer", "minimum": 0}}, {"1.0", "2.5", "1e2", "-3"}),
        ({"type": "integer", "not": {"enum": [1]}}, {"-3"}),
        ({"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 2}]}, {"1", "-3", "2.5", "1e2"}),
    ],
)
def test_draft_4_negates_an_integer_by_its_text(schema: Any, kept: set[str]) -> None:
    judge = Judge({"$schema": "http://json-schema.org/draft-04/schema#", **schema}, numbers="any")
    assert {text for text in ("1", "1.0", "2.5", "1e2", "-3") if judge.accepts_text(text)} == kept


def test_names_of_a_class_that_is_found_alive_late_are_counted() -> None:
    names = {"^[ab]$": {"type": "string"}, "b": {"required": ["a"]}}
    judge = Judge({"patternProperties": names, "minProperties": 3, "type": "object"}, key_order="any")
    assert judge.accepts_text('{"":null,"d":{},"a":""}')
    assert not judge.accepts_text('{"":null,"d":{},"a":1}')
    assert not judge.accepts_text('{"":null,"a":""}')


@pytest.mark.parametrize(
    ("negated", "kept", "left_out"),
    [
        ({"uniqueItems": True, "items": {"minimum": 0}}, ["[-1]", "[1,-1]"], "[1,1]"),
        ({"uniqueItems": True, "maxItems": 2}, ["[1,2,3]", "[1,1,1]"], "[1,1]"),
        ({"uniqueItems": True, "contains": {"maximum": 0}}, ["[]", "[1,1]"], "[0,0]"),
    ],
)
def test_a_negation_of_distinct_items_leaves_out_repetitions_and_says_so(
    negated: Any, kept: Any, left_out: str
) -> None:
    schema = {"type": "array", "items": {"type": "integer"}, "not": negated}
    judge = Judge(schema)
    assert [judge.accepts_text(text) for text in kept] == [True] * len(kept)
    assert not judge.accepts_text(left_out)
    assert judge.holds(json.loads(left_out))
    assert any(entry.keyword == "not" and entry.direction == "narrower" for entry in judge.compiled.report)
    both = Judge({"type": "array", "not": schema})
    assert not any(both.accepts_text(text) for text in [*kept, left_out])


@pytest.mark.parametrize(
    ("schema", "at", "said"),
    [
        ({"type": "string", "pattern": "^[a-z]{5}$", "maxLength": 3}, "#", "'pattern', 'maxLength' contradict"),
        ({"type": "array", "items": {"type": "string"}, "contains": {"type": "integer"}}, "#", "'items', 'contains'"),
        ({"oneOf": [{"type": "string"}, {"type": "string"}]}, "#", "'oneOf' leaves no value"),
        ({"enum": [1], "type": "string"}, "#", "'enum', 'type' contradict"),
        (
            {"type": "object", "required": ["x"],
             "properties": {"x": {"type": "object", "required": ["AB"], "propertyNames": {"maxLength": 1}}}},
            "#/properties/x", "'AB' is required, and no member may have that name",
        ),
        (
            {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}, "required": ["n"],
             "$defs": {"n": {"type": "object", "properties": {"m": {"$ref": "#"}}, "required": ["m"]}}},
            "#", "without end: # → #/$defs/n → #",
        ),
        (
            {"type": "object", "required": ["a"],
             "allOf": [{"properties": {"a": {"minimum": 5}}}, {"properties": {"a": {"maximum": 2, "type": "number"}}}]},
            "#/allOf/0/properties/a", "'minimum' at #/allOf/0/properties/a and 'maximum', 'type' at #/allOf/1",
        ),
    ],
)  # fmt: skip
def test_a_contradiction_is_named_with_its_place(schema: Any, at: str, said: str) -> None:
    error = error_of(schema)
    assert isinstance(error, EmptyLanguage)
    assert said in error.message
    assert (error.at or "").startswith(at)


def test_a_contradiction_hides_no_other_mistake() -> None:
    members = {
        "a": {"$ref": "#/nowhere"},
        "b": {"pattern": "(a)\\1"},
        "z": {"minLength": 5, "maxLength": 3, "type": "string"},
    }
    error = error_of({"type": "object", "properties": members, "required": ["z"]})
    assert isinstance(error, SpecificationError)
    assert {problem.path for problem in error.problems} == {"#/properties/a", "#/properties/b"}


def test_items_that_vary_freely_may_be_counted_and_differ() -> None:
    item = {"type": "object", "required": ["role", "name"], "additionalProperties": False,
            "properties": {"role": {"enum": ["admin", "user"]}, "name": {"type": "string"}}}  # fmt: skip
    admin = {"properties": {"role": {"const": "admin"}}, "required": ["role"]}
    judge = Judge({"type": "array", "uniqueItems": True, "items": item, "contains": admin})
    one, other = '{"role":"admin","name":"a"}', '{"role":"user","name":"a"}'
    assert judge.accepts_text(f"[{other},{one}]")
    assert not judge.accepts_text(f"[{other}]")
    assert not judge.accepts_text(f"[{one},{one}]")


COMBINING = json.loads(
    '{"$defs":{"a":{"anyOf":[{"type":"integer"},{"type":"array","items":{"$ref":"#/$defs/b"},"contains":{'
    '"$ref":"#/$defs/c"},"minContains":1,"not":{"items":{"type":"array"}}},{"type":"array","items":{"anyO'
    'f":[{"type":"string"},{"$ref":"#/$defs/a"}]},"prefixItems":[{"$ref":"#/$defs/a"},{"anyOf":[{"$ref":"'
    '#/$defs/c"},{"type":"boolean"}]}],"contains":{"type":"array"},"not":{"items":{"type":"array"}}}]},"b'
    '":{"anyOf":[{"const":1},{"type":"array","items":{"$ref":"#/$defs/a"},"contains":{"$ref":"#/$defs/c"}'
    ',"maxContains":2,"minItems":1}]},"c":{"oneOf":[{"type":"integer"},{"type":"array","items":{"anyOf":['
    '{"type":"integer"},{"$ref":"#/$defs/c"}]},"contains":{"type":"integer"},"minItems":1},{"type":"array'
    '","items":{"$ref":"#/$defs/a"},"prefixItems":[{"$ref":"#/$defs/c"},{"anyOf":[{"$ref":"#/$defs/c"},{"'
    'type":"integer"}]}],"contains":{"type":"array"},"minItems":1,"not":{"items":{"type":"array"}}}]}},"$'
    'ref":"#/$defs/a"}'
)
"""Recursive branches under `oneOf`, each with `contains` or a negation: their complements meet in ever new ways."""


def test_schemas_that_combine_without_end_meet_a_limit_by_name() -> None:
    error = error_of(COMBINING)
    assert isinstance(error, LimitExceeded)
    assert error.limit == "schema_shapes"
    assert error.at and error.help
