"""Each rule fires where it should, at the place it should, and not at a near miss."""

from __future__ import annotations

from typing import Any

import pytest

from constrain import lint
from constrain.linting.finding import Finding
from constrain.linting.rules import RULES

DRAFT4 = {"$schema": "http://json-schema.org/draft-04/schema#"}
DRAFT7 = {"$schema": "http://json-schema.org/draft-07/schema#"}
DRAFT2020 = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
CLOSED = {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False}


def deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "array", "items": schema}
    return schema


FIRES: list[tuple[str, Any, str, str]] = [
    ("misspelt-keyword", {"type": "string", "minLenght": 2}, "#", "minLength"),
    ("misspelt-keyword", {"properties": {"a": {"maxlength": 2}}}, "#/properties/a", "maxLength"),
    ("misspelt-keyword", {"$reff": "#/$defs/a"}, "#", "$ref"),
    ("misspelt-keyword", {"type": "string", "max_length": 2}, "#", "maxLength"),
    ("misspelt-keyword", {"type": "array", "max-items": 2}, "#", "maxItems"),
    ("misspelt-keyword", {"Min_Length": 2}, "#", "minLength"),
    ("borrowed-keyword", {"type": "string", "max": 2}, "#", "did you mean 'maxLength'?"),
    ("borrowed-keyword", {"type": "integer", "max": 2}, "#", "did you mean 'maximum'?"),
    ("borrowed-keyword", {"type": ["array", "null"], "min": 2}, "#", "did you mean 'minItems'?"),
    ("borrowed-keyword", {"min": 2}, "#", "did you mean 'minimum' or 'minLength' or"),
    ("borrowed-keyword", {"type": "string", "length": 2}, "#", "maxLength"),
    ("borrowed-keyword", {"type": "array", "unique": True}, "#", "uniqueItems"),
    ("borrowed-keyword", {"type": "string", "regex": "^a$"}, "#", "pattern"),
    ("borrowed-keyword", {"type": "integer", "ge": 2}, "#", "'minimum'"),
    ("borrowed-keyword", {"type": "number", "lt": 2.5}, "#", "exclusiveMaximum"),
    ("borrowed-keyword", {"properties": {"a": {"optional": True}}}, "#/properties/a", "required"),
    ("borrowed-keyword", {"choices": ["a", "b"]}, "#", "enum"),
    ("misspelt-annotation", {"type": "string", "descripton": "x"}, "#", "description"),
    ("foreign-keyword", {"type": "string", "nullable": True}, "#", "null"),
    ("foreign-keyword", {"type": "integer", "divisibleBy": 2}, "#", "multipleOf"),
    ("unknown-keyword", {"type": "string", "colour": "red"}, "#", "x-"),
    ("other-dialect-keyword", {**DRAFT4, "const": 3}, "#", "$schema"),
    ("other-dialect-keyword", {**DRAFT2020, "dependencies": {"a": ["b"]}}, "#", "in 4, 6, 7"),
    ("wrong-type-keyword", {"type": "string", "minimum": 3}, "#", "numbers"),
    ("wrong-type-keyword", {"type": ["array", "null"], "properties": {}}, "#", "objects"),
    ("wrong-type-keyword", {"type": "object", "items": {"type": "string"}}, "#", "arrays"),
    ("wrong-type-keyword", {"type": "integer", "format": "date"}, "#", "strings"),
    ("no-effect", {"type": "string", "then": {"minLength": 2}}, "#", "if"),
    ("no-effect", {"if": {"type": "string"}}, "#", "follows"),
    ("no-effect", {"minContains": 2}, "#", "contains"),
    ("no-effect", {"items": {"type": "string"}, "additionalItems": False}, "#", "items"),
    ("no-effect", {**DRAFT4, "exclusiveMinimum": True}, "#", "minimum"),
    ("no-effect", {"additionalProperties": {}, "unevaluatedProperties": False}, "#", "one of the two"),
    ("no-effect", {"contains": {"type": "string"}, "minContains": 0}, "#", "bound"),
    ("ignored-beside-ref", {**DRAFT7, "properties": {"a": {"$ref": "#/definitions/d", "minLength": 2}},
                            "definitions": {"d": {"type": "string"}}}, "#/properties/a", "allOf"),
    ("old-form", {"items": [{"type": "string"}]}, "#", "$schema"),
    ("old-form", {"minimum": 3, "exclusiveMinimum": True}, "#", "$schema"),
    ("duplicate-type", {"type": ["string", "string"]}, "#/type", "keep one"),
    ("duplicate-type", {"type": ["integer", "number"]}, "#/type", "keep"),
    ("misspelt-format", {"type": "string", "format": "datetime"}, "#", "date-time"),
    ("misspelt-format", {"type": "string", "format": "date_time"}, "#", "date-time"),
    ("unknown-format", {"type": "string", "format": "colour"}, "#", "pattern"),
    ("deep-nesting", deep(25), "#" + "/items" * 25, "flatten"),
    ("duplicate-required", {"required": ["a", "b", "a"]}, "#/required/2", "remove"),
    ("forbidden-required", {**CLOSED, "required": ["aa"]}, "#/required/0", "declare"),
    ("forbidden-required", {**CLOSED, "patternProperties": {"^x": {}}, "required": ["y"]}, "#/required/0", "declare"),
    ("forbidden-required", {"allOf": [CLOSED, {"required": ["b"]}]}, "#/allOf/1/required/0", "declare"),
    ("forbidden-required", {**CLOSED, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
     "#/anyOf/1/required/0", "declare"),
    ("forbidden-required", {"$ref": "#/$defs/base", "additionalProperties": False, "properties": {"x": {}},
                            "$defs": {"base": {"required": ["y"]}}}, "#/$defs/base/required/0", "declare"),
    ("forbidden-property", {"allOf": [CLOSED, {"properties": {"b": {"type": "string"}}}]}, "#/allOf/0",
     "unevaluatedProperties"),
    ("misspelt-required", {"properties": {"name": {}, "size": {}}, "required": ["nmae"]}, "#/required/0", "'name'"),
    ("undeclared-required", {"properties": {"name": {}}, "required": ["size"]}, "#/required/0", "declare"),
    ("duplicate-enum", {"enum": [1, "a", 1.0]}, "#/enum/2", "remove"),
    ("excluded-enum-value", {"type": "string", "enum": ["a", 7]}, "#/enum/1", "remove"),
    ("excluded-enum-value", {"enum": [1, 5, 9], "maximum": 6}, "#/enum/2", "remove"),
    ("excluded-enum-value", {"enum": ["ab", "Ab"], "pattern": "^[a-z]+$"}, "#/enum/1", "remove"),
    ("invalid-default", {"type": "integer", "default": "7"}, "#/default", "integer"),
    ("invalid-default", {"enum": ["a", "b"], "default": "c"}, "#/default", "allowed"),
    ("invalid-default", {"type": "string", "format": "date", "default": "tomorrow"}, "#/default", "allowed"),
    ("invalid-example", {"type": "string", "maxLength": 2, "examples": ["ab", "abc"]}, "#/examples/1", "allowed"),
    ("unsatisfiable", {"properties": {"n": {"type": "integer", "minimum": 7, "maximum": 3}}}, "#/properties/n",
     "forbidden"),
    ("unsatisfiable", {"properties": {"n": {"allOf": [{"type": "string"}, {"type": "array"}]}}}, "#/properties/n",
     "forbidden"),
    ("unsatisfiable", {"properties": {"n": {"$ref": "#/$defs/d"}}, "$defs": {"d": {"const": 3, "type": "string"}}},
     "#/$defs/d", "contradiction"),
    ("dead-branch", {"type": "string", "anyOf": [{"maxLength": 3}, {"type": "integer"}]}, "#/anyOf/1", "branch"),
    ("dead-branch", {"oneOf": [{"type": "integer"}, {"type": "number"}]}, "#/oneOf/0", "anyOf"),
    ("redundant-branch", {"anyOf": [{"type": "integer"}, {"type": "number"}]}, "#/anyOf/0", "remove"),
    ("redundant-branch", {"anyOf": [{"type": "string"}, {"type": "string"}]}, "#/anyOf/1", "remove"),
    ("overlapping-branches", {"oneOf": [{"type": "integer", "maximum": 5}, {"type": "integer", "minimum": 5}]}, "#",
     "anyOf"),
    ("pattern-matches-nothing", {"type": "string", "pattern": "a^b"}, "#", "'^'"),
    ("pattern-matches-all", {"type": "string", "pattern": ".*"}, "#", "remove"),
    ("pattern-matches-all", {"patternProperties": {"": {"type": "string"}}}, "#/patternProperties/",
     "additionalProperties"),
    ("foreign-pattern", {"type": "string", "pattern": "^a\\Z"}, "#", "write $"),
    ("foreign-pattern", {"type": "string", "pattern": "\\Aa$"}, "#", "write ^"),
    ("foreign-pattern", {"type": "string", "pattern": "^\\p{L}\\_$"}, "#", "property"),
    ("foreign-pattern", {"type": "string", "pattern": "^a{,3}$"}, "#", "{0,3}"),
    ("foreign-pattern", {"type": "string", "pattern": "^[[:alpha:]_]$"}, "#", "A-Za-z"),
    ("foreign-pattern", {"patternProperties": {"^a\\z": {"type": "null"}}}, "#/patternProperties/^a\\z", "write $"),
    ("old-pattern", {"type": "string", "pattern": "^[\\w-.]+$"}, "#", "correct"),
    ("old-pattern", {"type": "string", "pattern": "^a\\@b$"}, "#", "correct"),
    ("unanchored-pattern", {"type": "string", "pattern": "[a-z]+"}, "#", "^(?:[a-z]+)$"),
    ("unbounded-string", {"properties": {"a": {"type": "string"}}}, "#/properties/a", "maxLength"),
    ("unbounded-array", {"type": "array", "items": {"type": "integer"}}, "#", "maxItems"),
    ("unreachable-definition", {"type": "string", "$defs": {"a": {}}}, "#/$defs/a", "refer"),
    ("unreachable-definition", {"$ref": "#/$defs/a", "$defs": {"a": {}, "b": {"$ref": "#/$defs/b"}}}, "#/$defs/b",
     "refer"),
]  # fmt: skip
"""Code, schema, where, and what the help says."""

MISSES: list[tuple[str, Any]] = [
    ("misspelt-keyword", {"type": "string", "minLength": 2}),
    ("misspelt-keyword", {"properties": {"minLenght": {}}, "const": {"minLenght": 1}, "default": {"titel": 1}}),
    ("misspelt-keyword", {"note": "of a", "typ": 3, "item": "a", "mininum": "low"}),
    ("misspelt-keyword", {"_format": "date", "x-itmes": 3, "example": 1}),
    ("misspelt-keyword", {"_uniqueItems": True, "x-max-length": 3, "ui:order": ["a"], "_max_length": 2}),
    ("borrowed-keyword", {"type": "string", "unique": True}),
    ("borrowed-keyword", {"type": "integer", "minimum": 1, "min": 1}),
    ("borrowed-keyword", {"regex": {"flags": "i"}, "length": "long", "x-min": 3, "_max": 3, "ui:regex": "a"}),
    ("borrowed-keyword", {"size": {"type": "integer"}, "$min": 3, "options": ["a"], "name": "n"}),
    ("foreign-keyword", {"type": "string", "nullable": False}),
    ("unknown-keyword", {"x-colour": "red", "$comment": "c", "markdownDescription": "d"}),
    ("other-dialect-keyword", {"dependencies": {"a": ["b"]}, "additionalItems": False}),
    ("other-dialect-keyword", {**DRAFT4, "description": "a", "examples": [1]}),
    ("wrong-type-keyword", {"type": ["string", "integer"], "minimum": 3}),
    ("wrong-type-keyword", {"minimum": 3, "minLength": 2}),
    ("wrong-type-keyword", {"type": "integer", "format": "int32"}),
    ("wrong-type-keyword", {"type": "integer", "format": "milliseconds"}),
    ("no-effect", {"if": {"type": "string"}, "else": {"minimum": 2}}),
    ("no-effect", {"items": [{}], "additionalItems": False}),
    ("no-effect", {**DRAFT4, "minimum": 3, "exclusiveMinimum": True}),
    ("no-effect", {"contains": {"type": "string"}, "minContains": 0, "maxContains": 2}),
    ("ignored-beside-ref", {**DRAFT7, "$ref": "#/definitions/d", "description": "d",
                            "definitions": {"d": {"type": "string"}}}),
    ("ignored-beside-ref", {**DRAFT7, "$ref": "#/definitions/d", "type": "string",
                            "definitions": {"d": {"type": "string"}}}),
    ("ignored-beside-ref", {**DRAFT2020, "$ref": "#/$defs/d", "minLength": 2, "$defs": {"d": {"type": "string"}}}),
    ("old-form", {**DRAFT7, "items": [{"type": "string"}]}),
    ("duplicate-type", {"type": ["string", "integer"]}),
    ("misspelt-format", {"type": "string", "format": "date-time"}),
    ("misspelt-format", {"type": "string", "format": "colour"}),
    ("unknown-format", {"type": "number", "format": "double"}),
    ("deep-nesting", deep(24)),
    ("duplicate-required", {"required": ["a", "A"]}),
    ("forbidden-required", {**CLOSED, "required": ["a"]}),
    ("forbidden-required", {**CLOSED, "patternProperties": {"^x": {}}, "required": ["xy"]}),
    ("forbidden-required", {"properties": {"a": {}}, "required": ["b"]}),
    ("forbidden-required", {**CLOSED, "not": {"required": ["b"]}}),
    ("forbidden-required", {**CLOSED, "if": {"required": ["b"]}, "then": {}}),
    ("forbidden-property", {"allOf": [{**CLOSED, "properties": {"a": {}, "b": {}}}, {"properties": {"b": {}}}]}),
    ("forbidden-property", {"allOf": [CLOSED, {"properties": {"b": False}}]}),
    ("forbidden-property", {"anyOf": [CLOSED, {"properties": {"b": {}}}]}),
    ("misspelt-required", {"properties": {"name": {}, "names": {}}, "required": ["name"]}),
    ("misspelt-required", {"properties": {"name1": {}}, "required": ["name1", "name2"]}),
    ("undeclared-required", {"properties": {"a": {}}, "allOf": [{"required": ["a"]}]}),
    ("undeclared-required", {"properties": {"a": {}}, "required": ["b"], "additionalProperties": {"type": "string"}}),
    ("undeclared-required", {"required": ["b"]}),
    ("duplicate-enum", {"enum": [1, "1", True, [1], None, 0, False]}),
    ("excluded-enum-value", {"type": ["string", "integer"], "enum": ["a", 7, 1.0]}),
    ("excluded-enum-value", {"enum": ["foo@ex--ample.org"], "format": "email"}),
    ("invalid-default", {"type": "number", "multipleOf": 0.01, "default": 19.99}),
    ("invalid-default", {"type": "string", "format": "hostname", "default": "xn--nxasmq6b"}),
    ("invalid-default", {"$ref": "#/$defs/d", "default": [1], "$defs": {"d": {"items": {"type": "integer"}}}}),
    ("invalid-example", {"type": "string", "examples": ["a"]}),
    ("invalid-example", {**DRAFT4, "type": "string", "examples": [1]}),
    ("unsatisfiable", {"properties": {"n": {"type": "integer", "minimum": 3, "maximum": 3}, "x": False}}),
    ("unsatisfiable", {"properties": {"x": {"not": {}}}}),
    ("unsatisfiable", {"properties": {"n": {"$ref": "#"}}}),
    ("dead-branch", {"type": ["string", "integer"], "anyOf": [{"maxLength": 3}, {"type": "integer"}]}),
    ("dead-branch", {"oneOf": [{"type": "integer", "minimum": 3}, {"type": "integer", "maximum": 2}]}),
    ("redundant-branch", {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
    ("overlapping-branches", {"oneOf": [{"type": "integer"}, {"type": "string"}]}),
    ("overlapping-branches", {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}),
    ("overlapping-branches", {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}),
    ("pattern-matches-nothing", {"type": "string", "pattern": "^a"}),
    ("pattern-matches-all", {"type": "string", "pattern": "^.*$"}),
    ("foreign-pattern", {"type": "string", "pattern": "^\\p{L}[a-z:]\\d\\x41\\\\Z$"}),
    ("old-pattern", {"type": "string", "pattern": "^[\\w.-]+$"}),
    ("unanchored-pattern", {"type": "string", "pattern": "^[a-z]+"}),
    ("unanchored-pattern", {"type": "string", "pattern": "error"}),
    ("unbounded-string", {"type": "string", "maxLength": 4}),
    ("unbounded-string", {"type": "string", "enum": ["a"]}),
    ("unbounded-string", {"type": "string", "pattern": "^[a-z]{1,3}$"}),
    ("unbounded-array", {"type": "array", "maxItems": 4}),
    ("unbounded-array", {"type": "array", "prefixItems": [{}], "items": False}),
    ("unreachable-definition", {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {}}}),
    ("unreachable-definition", {"$ref": "#/$defs/a/properties/x", "$defs": {"a": {"properties": {"x": {}}}}}),
    ("unreachable-definition", {"$ref": "#node", "$defs": {"a": {"$anchor": "node"}}}),
    ("unreachable-definition", {"$defs": {"a": {}, "b": {}}}),
]  # fmt: skip
"""Code, and a schema that comes close without deserving it."""


def with_code(schema: Any, code: str) -> list[Finding]:
    return [finding for finding in lint(schema, strict=True) if finding.code == code]


@pytest.mark.parametrize(("code", "schema", "at", "help"), FIRES, ids=[f"{row[0]}-{i}" for i, row in enumerate(FIRES)])
def test_a_rule_fires_in_its_place_and_helps(code: str, schema: Any, at: str, help: str):
    [finding, *others] = with_code(schema, code)
    assert not others
    assert finding.at == at
    assert help in (finding.help or "")
    assert finding.severity == RULES[code].severity


@pytest.mark.parametrize(("code", "schema"), MISSES, ids=[f"{row[0]}-{i}" for i, row in enumerate(MISSES)])
def test_a_near_miss_is_left_alone(code: str, schema: Any):
    assert not with_code(schema, code)


def test_every_rule_has_a_case_that_fires_and_one_that_does_not():
    assert {row[0] for row in FIRES} == {row[0] for row in MISSES} | {"misspelt-annotation"} == {*RULES}


def test_what_only_matters_to_the_strict_is_not_looked_for_otherwise():
    schema = {"type": "array", "items": {"type": "string"}}
    assert not lint(schema)
    assert {finding.code for finding in lint(schema, strict=True)} == {"unbounded-string", "unbounded-array"}
    assert {rule.code for rule in RULES.values() if rule.only_strict} == {"unbounded-string", "unbounded-array"}


def test_one_contradiction_is_told_once_where_it_is():
    inner = {"type": "integer", "minimum": 7, "maximum": 3}
    schema = {
        "properties": {
            "a": {"type": "object", "properties": {"b": {"$ref": "#/$defs/c"}}, "required": ["b"]},
            "d": {"allOf": [{"$ref": "#/$defs/c"}]},
        },
        "$defs": {"c": inner},
    }
    assert [finding.at for finding in with_code(schema, "unsatisfiable")] == ["#/$defs/c"]


def test_the_keyword_that_excludes_a_value_is_named():
    [finding] = with_code({"type": "string", "maxLength": 9, "pattern": "^a", "default": "b"}, "invalid-default")
    assert "'pattern' excludes it" in finding.message


def test_a_constant_that_its_siblings_exclude_is_named():
    for words, said in (
        ({"const": 3, "type": "string"}, "'const' is 3, and 'type' excludes it"),
        ({"enum": ["a", "b"], "type": "array"}, "'enum' has \"a\" and the like, and 'type' excludes it"),
    ):
        [finding] = with_code({"properties": {"n": words}}, "unsatisfiable")
        assert said in finding.message


def test_no_advice_contradicts_the_profile():
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string", "maxLength": 3}, "c": {"type": "array"}},
        "required": ["a", "b", "c"],
        "additionalProperties": False,
        "descripton": "d",
    }
    found = [(finding.code, finding.at) for finding in lint(schema, "openai-strict", strict=True)]
    assert ("unbounded-string", "#/properties/a") not in found
    assert ("openai-strict/undocumented-keyword", "#/properties/b") in found
    assert ("unbounded-array", "#/properties/c") in found, "maxItems is documented"
    assert [code for code, at in found if at == "#"] == ["misspelt-annotation"]
