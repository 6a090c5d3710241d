"""Which values schemas allow: the kinds of cases that went wrong elsewhere, and each keyword's corners."""

from __future__ import annotations

from typing import Any

import pytest

from constrain.validation.json_schema import validate
from tests.frontends.json_schema.writing import Judge

TAGGED = {
    "oneOf": [
        {"type": "object", "properties": {"kind": {"const": kind}, "value": {"type": value}},
         "required": ["kind", "value"]}
        for kind, value in (("a", "string"), ("b", "integer"))
    ]
}  # fmt: skip

CASES: list[tuple[str, Any, list[str], list[str]]] = [
    ("required undeclared names follow the declared ones",
     {"type": "object", "properties": {"b": {}}, "required": ["a"]}, ['{"b":1,"a":2}', '{"a":2}'], ['{"a":2,"b":1}']),
    ("an undeclared required name takes its pattern's schema",
     {"type": "object", "required": ["a1"], "patternProperties": {"^a": {"type": "null"}},
      "additionalProperties": False},
     ['{"a1":null}', '{"a1":null,"a2":null}'], ['{"a1":1}', "{}", '{"a1":null,"b":null}']),
    ("a declared name that a pattern matches obeys both",
     {"type": "object", "properties": {"rank": {"multipleOf": 4}}, "patternProperties": {"^rank$": {"maximum": 40}}},
     ['{"rank":4}', '{"rank":40}'], ['{"rank":44}', '{"rank":6}']),
    ("overlapping patterns both apply",
     {"type": "object", "patternProperties": {"a": {"minimum": 2}, "b": {"maximum": 5}}},
     ['{"a":9}', '{"b":0}', '{"ab":3}', '{"c":"x"}'], ['{"ab":1}', '{"ab":6}', '{"a":1}']),
    ("an open pattern is searched", {"type": "string", "pattern": "b+"}, ['"abc"', '"b"'], ['"ac"']),
    ("lengths count code points and not escapes", {"type": "string", "maxLength": 1},
     ['"\\n"', '"é"', '"😀"', '"\\""'], ['"ab"']),
    ("typeless keywords leave other types free", {"minimum": 5, "minLength": 2, "required": ["a"], "minItems": 1},
     ["5", '"ab"', '{"a":1}', "[1]", "null", "true"], ["4", '"a"', "{}", "[]"]),
    ("enum beside other keywords is filtered", {"enum": ["a", "bbb", 3, None, [1], {"a": 1}], "minLength": 2,
     "type": ["string", "array"], "maxItems": 0}, ['"bbb"'], ['"a"', "3", "null", "[1]"]),
    ("const objects hold exactly their members", {"const": {"a": 1, "b": [True, None]}},
     ['{"a":1,"b":[true,null]}'], ['{"a":1}', '{"a":1,"b":[true,null],"c":1}', '{"a":1.5,"b":[true,null]}']),
    ("true is not 1", {"enum": [1, False]}, ["1", "false"], ["true", "0"]),
    ("1.0 is an integer", {"const": 1.0, "type": "integer"}, ["1"], ["2"]),
    ("a tuple may stop early", {"type": "array", "prefixItems": [{"type": "boolean"}, {"type": "string"}]},
     ["[]", "[true]", '[true,"x",7]'], ['["x"]', "[true,1]"]),
    ("allOf intersects with its siblings",
     {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False,
      "allOf": [{"required": ["a"]}, {"properties": {"a": {"minimum": 3}}}]}, ['{"a":3}'], ["{}", '{"a":2}']),
    ("additionalProperties sees only its own properties",
     {"type": "object", "allOf": [{"properties": {"a": {}}}], "additionalProperties": False}, ["{}"], ['{"a":1}']),
    ("branches told apart by a constant", TAGGED, ['{"kind":"a","value":"x"}', '{"kind":"b","value":1}'],
     ['{"kind":"a","value":1}', '{"kind":"b"}', "{}"]),
    ("overlapping branches exclude each other", {"oneOf": [{"type": "integer"}, {"minimum": 2}]},
     ["1", "2.5", '"x"'], ["3", "1.5"]),
    ("required groups exclude each other", {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b", "c"]}]},
     ['{"a":1}', '{"b":1,"c":1}', '{"a":1,"b":1}'], ["{}", '{"b":1}', '{"a":1,"b":1,"c":1}']),
    ("overlapping languages exclude each other",
     {"oneOf": [{"type": "string", "pattern": "^[a-z]{2,4}$"}, {"type": "string", "pattern": "^[a-z]{4,6}$"}]},
     ['"ab"', '"abcde"'], ['"abcd"', '"a"']),
    ("declared order is that of the place and not of the branch",
     {"anyOf": [{"properties": {"a": {"type": "null"}, "b": {}}}, {"properties": {"b": {"type": "null"}, "a": {}}}]},
     ['{"a":null,"b":1}', '{"a":1,"b":null}'], ['{"b":null,"a":1}', '{"a":1,"b":1}']),
    ("a recursive list", {"type": "object", "properties": {"next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}},
                          "additionalProperties": False},
     ["{}", '{"next":{"next":null}}'], ['{"next":1}', '{"next":{"x":1}}']),
    ("unique scalars by value", {"type": "array", "items": {"type": "number"}, "uniqueItems": True},
     ["[1,2]", "[1.5,1]", "[]"], ["[1,1]", "[1,1.0]"]),
    ("unique enum values", {"type": "array", "items": {"enum": ["r", "g"]}, "uniqueItems": True},
     ['["r"]', '["g","r"]'], ['["r","r"]', '["g","r","g"]']),
    ("property counts", {"type": "object", "minProperties": 1, "maxProperties": 2},
     ['{"a":1}', '{"a":1,"b":1}'], ["{}", '{"a":1,"b":1,"c":1}']),
    ("not of a type", {"not": {"type": ["string", "object"]}}, ["1", "null", "[]"], ['"a"', "{}"]),
    ("not of constants", {"type": "string", "not": {"enum": ["a", "b"]}}, ['"c"', '""'], ['"a"', '"b"', "1"]),
    ("not required", {"type": "object", "not": {"required": ["a"]}}, ["{}", '{"b":1}'], ['{"a":1}']),
    ("if with a constant decides", {"type": "object", "properties": {"k": {"enum": ["x", "y"]}},
     "if": {"properties": {"k": {"const": "x"}}, "required": ["k"]}, "then": {"required": ["a"]},
     "else": {"required": ["b"]}},
     ['{"k":"x","a":1}', '{"k":"y","b":1}', '{"b":1}'], ['{"k":"x","b":1}', '{"k":"y"}', "{}"]),
    ("names depend on names", {"type": "object", "dependentRequired": {"a": ["b"]}},
     ["{}", '{"b":1}', '{"a":1,"b":1}'], ['{"a":1}']),
    ("property names", {"type": "object", "propertyNames": {"maxLength": 1}, "additionalProperties": {"type": "null"}},
     ['{"a":null}', "{}"], ['{"ab":null}', '{"a":1}']),
    ("unevaluatedProperties without applicators is additionalProperties",
     {"type": "object", "properties": {"a": {}}, "unevaluatedProperties": False}, ['{"a":1}'], ['{"b":1}']),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "accepted", "rejected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_texts(schema: Any, accepted: list[str], rejected: list[str]) -> None:
    judge = Judge(schema)
    for text in accepted:
        assert judge.accepts_text(text), text
    for text in rejected:
        assert not judge.accepts_text(text), text


@pytest.mark.parametrize(
    ("options", "accepted", "rejected"),
    [
        ({}, ['{"a":[1,{"b":2}]}'], ['{"a": [1, {"b": 2}]}', '{"a":[1,{"b":2}]} ', ' {"a":[]}']),
        ({"whitespace": "spaced"}, ['{"a": [1, {"b": 2}]}', "{}", "[]"], ['{"a":[1,{"b":2}]}', '{ "a": 1}']),
        ({"whitespace": "pretty"}, ['{\n  "a": [\n    1,\n    {\n      "b": 2\n    }\n  ]\n}', "{}", "[]", "1"],
         ["{\n}", "[\n]", '{"a": 1}', "[1]"]),
        ({"whitespace": "flexible"}, [' { "a" :\t[1,{"b":2}\n]}', "\n1", "{ }", "[ ]"],
         ['{"a":1} ', '{\u00a0"a":1}', " " * 65 + "1"]),
        ({"escapes": "any"}, ['"\\u0061\\/"', '{"\\u0061":1}', '"\\ud83d\\ude00"'], ['"\\ud83d"', '"\\x"']),
        ({"numbers": "any"}, ["1e2", "1.50", "-0", "0.10E+1"], ["01", "+1", ".5", "1."]),
    ],
)  # fmt: skip
def test_spelling_options_choose_among_texts_of_a_value(options: Any, accepted: list[str], rejected: list[str]) -> None:
    judge = Judge({"type": ["object", "array", "number", "string"]}, **options)
    for text in accepted:
        assert judge.accepts_text(text), text
    for text in rejected:
        assert not judge.accepts_text(text), text


@pytest.mark.parametrize("name", ['"\\u0061"', '"a"'])
def test_a_name_escaped_differently_is_still_that_name(name: str) -> None:
    judge = Judge({"type": "object", "properties": {"a": {"type": "null"}}}, escapes="any")
    assert judge.accepts_text(f"{{{name}:null}}")
    assert not judge.accepts_text(f"{{{name}:1}}")


def test_a_name_never_comes_twice() -> None:
    judge = Judge({"type": "object", "properties": {"a": {}}}, escapes="any", key_order="any")
    for text in ('{"a":1,"a":1}', '{"a":1,"\\u0061":1}', '{"x":1,"x":1}', '{"x":1,"\\u0078":1}'):
        assert not judge.accepts_text(text)


def test_names_and_constants_with_lone_surrogates_are_left_out_and_reported() -> None:
    judge = Judge({"type": "object", "properties": {"\ud800": {}, "a": {"enum": ["\udfff", "x"]}}})
    assert judge.accepts_text('{"a":"x"}')
    assert {e.keyword for e in judge.compiled.report.with_status("approximated")} == {"properties", "enum"}
    assert {e.direction for e in judge.compiled.report.with_status("approximated")} == {"narrower"}


def test_pretty_printed_recursion_takes_any_even_indentation() -> None:
    judge = Judge({"type": "array", "items": {"$ref": "#"}}, whitespace="pretty")
    assert judge.accepts_text("[\n  [\n    []\n  ]\n]")
    assert not judge.accepts_text("[[]]")


@pytest.mark.parametrize("whitespace", ["compact", "spaced", "pretty", "flexible"])
@pytest.mark.parametrize(
    "items", [{}, {"enum": [1, "a", [1], {"a": 1}, [], {}]}, {"type": "array"}, {"type": "integer"}]
)
def test_items_differ_by_value_whatever_white_space_is_before_them(whitespace: str, items: Any) -> None:
    judge = Judge({"uniqueItems": True, "items": items}, whitespace=whitespace)
    alone = [item for item in (1, "a", [1], {"a": 1}, [], {}) if judge.accepts([item])]
    assert alone
    for item in alone:
        assert not judge.accepts([item, item])
        for other in alone:
            assert judge.accepts([item, other]) == (item != other)
            assert not judge.accepts([item, other, item])


def test_a_whole_number_in_a_constant_has_one_canonical_text() -> None:
    judge = Judge({"const": 2})
    assert judge.accepts_text("2")
    assert not judge.accepts_text("2.0")
    assert Judge({"const": 2}, numbers="any").accepts_text("2.0")


INTEGER = {"type": "integer"}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": ["integer", "array"], "items": {"$ref": "#"}, "contains": INTEGER},
        {"anyOf": [{"type": "array", "items": {"$ref": "#"}, "contains": INTEGER, "maxContains": 2}, INTEGER]},
        {"anyOf": [INTEGER, {"type": "array", "prefixItems": [{"$ref": "#"}], "contains": INTEGER}]},
        {"type": ["integer", "array"], "items": {"$ref": "#"}, "not": {"type": "array", "items": {"type": "array"}}},
        {"type": "array", "items": {"anyOf": [INTEGER, {"$ref": "#"}]}, "contains": INTEGER, "minContains": 2},
        {"type": ["integer", "object"], "additionalProperties": {"$ref": "#"},
         "not": {"type": "object", "additionalProperties": {"type": "object"}}},
    ],
)  # fmt: skip
def test_what_is_counted_may_hold_the_container_that_counts_it(schema: Any) -> None:
    judge = Judge(schema)  # the ways of an item come to life before the item does, which goes through the array
    for value in (
        1,
        [],
        [1],
        [[1]],
        [1, 1],
        [1, [1]],
        [1, 1, [1, 1]],
        [1, 1, 1],
        {},
        {"a": 1},
        {"a": {"a": 1}, "b": 1},
    ):
        assert judge.accepts(value) == validate(schema, value).ok, value
