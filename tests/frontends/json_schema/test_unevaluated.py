"""`unevaluatedProperties` and `unevaluatedItems` beside whatever applies in place, against two independent judges."""

from __future__ import annotations

import json
import time
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from constrain.errors import EmptyLanguage, LimitExceeded, UnsupportedKeyword
from constrain.frontends.json_schema import SchemaOptions, compile_schema
from constrain.frontends.json_schema.arrange import Arranger
from constrain.grammar.recognizer import Recognizer
from constrain.validation import json_schema as judge
from tests.frontends.json_schema import unevaluated_schemas as world
from tests.frontends.json_schema.writing import Judge, error_of

EXAMPLES = settings().max_examples
patient = settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
several = st.tuples(st.lists(world.objects, min_size=8, max_size=8), st.lists(world.arrays, min_size=8, max_size=8))

MANY = [{"required": [name], "properties": {name: True}} for name in "abcdefghijklmn"]
CAT = {"type": "object", "properties": {"kind": {"const": "cat"}, "meow": {}}, "required": ["kind"]}
DOG = {"type": "object", "properties": {"kind": {"const": "dog"}, "bark": {}}, "required": ["kind"]}


def valid(schema: Any, value: Any) -> bool:
    """What both judges say.

    A schema that names no dialect is for ours alone, and so is `contains` in 2019-09: `jsonschema_rs` takes the items
    that satisfy it for evaluated, as only 2020-12 does.
    """
    ours = judge.Judge(schema).value(value).ok
    if "$schema" in schema and not (schema["$schema"] == world.D2019 and "'contains'" in str(schema)):
        assert jsonschema_rs.validator_for(schema).is_valid(value) == ours, "the judges differ"
    return ours


@pytest.mark.parametrize("contains", [False, True])
@patient
@given(data=st.data())
def test_shapes_hold_exactly_the_valid_values(contains: bool, data: st.DataObject) -> None:
    schema, kind = data.draw(world.schemas(contains=contains))
    values = data.draw(several)
    arranger: Arranger | None = None
    try:
        compile_schema(schema)
        arranger = Arranger(schema)
    except EmptyLanguage:
        pass
    except (UnsupportedKeyword, LimitExceeded):
        assume(False)
    for value in values[kind == "array"]:
        assert (arranger is not None and arranger.holds(value)) == valid(schema, value), value


@patient
@given(world.schemas(contains=True), several)
def test_grammars_hold_the_valid_values_and_more_only_where_that_is_reported(
    schema_of: tuple[Any, str], values: Any
) -> None:
    schema, kind = schema_of
    ours: Judge | None = None
    try:
        ours = Judge(schema, key_order="any", on_unsupported="warn")
    except EmptyLanguage:
        pass
    except LimitExceeded:
        assume(False)
    is_wider = ours is not None and bool(ours.compiled.report.with_status("refused"))
    for value in values[kind == "array"]:
        accepted = ours is not None and ours.accepts_text(_text(value))
        assert accepted == valid(schema, value) or (accepted and is_wider), value


@settings(patient, max_examples=EXAMPLES // 2)
@given(world.schemas(contains=True), st.randoms(use_true_random=False))
def test_every_walk_can_be_finished_and_is_valid(schema_of: tuple[Any, str], random: Any) -> None:
    schema, kind = schema_of
    try:
        recognizer = Recognizer(compile_schema({"type": kind, **schema}, SchemaOptions(key_order="any")).grammar)
    except (EmptyLanguage, UnsupportedKeyword, LimitExceeded):
        assume(False)
        return
    state, text = recognizer.start, b""
    assert not recognizer.is_empty
    for _ in range(25):
        legal = recognizer.legal_bytes(state)
        if not legal or (recognizer.is_complete(state) and random.random() < 0.3):
            break
        byte = random.choice(legal)
        state, text = recognizer.step(state, byte), text + bytes([byte])
    value = json.loads(text + recognizer.completion(state))
    assert valid({"type": kind, **schema}, value), value


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


# ---------------------------------------------------------------- what counts as evaluated


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"anyOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}, ["{}", '{"a":1,"b":1}'], ['{"c":1}']),
        ({"anyOf": [{"properties": {"a": {"type": "integer"}}}, {"properties": {"b": {}}}]},
         ['{"a":1,"b":1}'], ['{"a":"x","b":1}']),
        ({"anyOf": [{"properties": {"a": {}}}, True]}, ['{"a":1}'], ['{"b":1}']),
        ({"oneOf": [CAT, DOG]}, ['{"kind":"cat","meow":1}'], ['{"kind":"cat","bark":1}']),
        ({"if": CAT}, ['{"kind":"cat","meow":1}', "{}"], ['{"kind":"dog"}', '{"meow":1}']),
        ({"if": CAT, "else": {"properties": {"kind": {}}}}, ['{"kind":"dog"}'], ['{"kind":"dog","meow":1}']),
        ({"if": {"properties": {"a": {"const": 1}}}, "else": {"properties": {"b": {}}}},
         ['{"a":1}', '{"b":1}'][:1], ['{"b":1}', '{"a":2}', '{"a":1,"b":1}']),
        ({"not": {"not": {"properties": {"a": {}}}}}, ["{}"], ['{"a":1}']),
        ({"dependentSchemas": {"a": {"properties": {"a": {}, "b": {}}}}}, ['{"a":1,"b":1}', "{}"], ['{"b":1}']),
        ({"allOf": [{"additionalProperties": True}]}, ['{"a":1}'], []),
        ({"allOf": [{"patternProperties": {"^a": {}, "b$": {}}}]}, ['{"ab":1,"b":1}'], ['{"c":1}']),
        ({"allOf": [{"unevaluatedProperties": {"type": "integer"}}]}, ['{"a":1}'], ['{"a":"x"}']),
        ({"$ref": "#/$defs/d", "$defs": {"d": {"properties": {"a": {}}}}}, ['{"a":1}'], ['{"b":1}']),
        ({"enum": [{"a": 1}, {"a": 1, "b": 1}], "anyOf": [{"properties": {"a": {}}}]}, ['{"a":1}'], ['{"a":1,"b":1}']),
        ({"propertyNames": {"pattern": "^a"}, "minProperties": 0}, ["{}"], ['{"a":1}']),
        ({"required": ["a"], "dependentRequired": {"b": ["a"]}, "allOf": [{"properties": {"a": {}}}]},
         ['{"a":1}'], ["{}", '{"a":1,"b":1}']),
    ],
)  # fmt: skip
@pytest.mark.parametrize("first", [False, True])
def test_members_that_nothing_has_evaluated_are_forbidden(
    schema: Any, good: list[str], bad: list[str], first: bool
) -> None:
    closed = {"type": "object", "unevaluatedProperties": False}
    ours = Judge({**closed, **schema} if first else {**schema, **closed}, key_order="any")
    assert [text for text in good if not ours.accepts_text(text)] == []
    assert [text for text in bad if ours.accepts_text(text)] == []


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"anyOf": [{"prefixItems": [{"const": 1}]}, {"prefixItems": [True, True]}]}, ["[1,2]", "[2,2]"], ["[1,2,3]"]),
        ({"oneOf": [{"prefixItems": [{"const": 1}, True], "minItems": 1}, {"maxItems": 0}]}, ["[]", "[1,2]"], ["[2]"]),
        ({"allOf": [{"prefixItems": [True]}, {"prefixItems": [True, True]}]}, ["[1,2]"], ["[1,2,3]"]),
        ({"if": {"prefixItems": [{"const": 1}], "minItems": 1}, "then": {"prefixItems": [True, True]}},
         ["[1,2]", "[]"], ["[2]", "[1,2,3]"]),
        ({"allOf": [{"items": True}]}, ["[1,2,3]"], []),
        ({"contains": {"const": 1}}, ["[1,1]"], ["[]", "[1,2]"]),
        ({"contains": {"const": 1}, "minContains": 0}, ["[]", "[1,1]"], ["[2]"]),
        ({"contains": {"const": 1}, "prefixItems": [True]}, ["[1]", "[2,1]"], ["[2]", "[1,2]"]),
        ({"allOf": [{"contains": {"const": 1}}, {"contains": {"const": 2}}]}, ["[1,2]", "[2,1,1]"], ["[1]", "[1,2,3]"]),
        ({"anyOf": [{"contains": {"const": 1}}, {"contains": {"const": 2}}]}, ["[1,2]", "[1]"], ["[]", "[1,3]"]),
        ({"if": {"contains": {"const": 1}}, "else": {"items": True}}, ["[1,1]", "[2,3]"], ["[1,2]"]),
        ({"enum": [[1], [1, 2]], "$ref": "#/$defs/d", "$defs": {"d": {"prefixItems": [True]}}}, ["[1]"], ["[1,2]"]),
    ],
)  # fmt: skip
def test_items_that_nothing_has_evaluated_are_forbidden(schema: Any, good: list[str], bad: list[str]) -> None:
    ours = Judge({"type": "array", "unevaluatedItems": False, **schema})
    assert [text for text in good if not ours.accepts_text(text)] == []
    assert [text for text in bad if ours.accepts_text(text)] == []


def test_a_keyword_inside_a_branch_sees_its_own_branch_alone() -> None:
    cousins = {"type": "object", "allOf": [{"properties": {"a": {}}}, {"unevaluatedProperties": False}]}
    ours = Judge(cousins)
    assert ours.accepts_text("{}")
    assert not ours.accepts_text('{"a":1}')


def test_a_value_of_a_member_evaluates_nothing_of_the_object_that_holds_it() -> None:
    inner = {"type": "object", "properties": {"b": {}}}
    ours = Judge({"type": "object", "allOf": [{"properties": {"a": inner}}], "unevaluatedProperties": False})
    assert ours.accepts_text('{"a":{"b":1,"c":2}}')
    assert not ours.accepts_text('{"b":1}')


def test_a_recursive_schema_closes_at_every_depth() -> None:
    tree = {"type": "object", "allOf": [{"$ref": "#/$defs/d"}], "unevaluatedProperties": False}
    ours = Judge({**tree, "$defs": {"d": {"properties": {"next": {"$ref": "#"}}}}})
    assert ours.accepts_text('{"next":{"next":{}}}')
    assert not ours.accepts_text('{"next":{"x":1}}')


def test_the_same_definition_is_open_where_nobody_asks() -> None:
    base = {"type": "object", "anyOf": [{"properties": {"x": {}}}, True]}
    closed = {"$ref": "#/$defs/base", "unevaluatedProperties": False}
    properties = {"open": {"$ref": "#/$defs/base"}, "closed": closed}
    ours = Judge({"type": "object", "properties": properties, "$defs": {"base": base}})
    assert ours.accepts_text('{"open":{"y":1},"closed":{"x":1}}')
    assert not ours.accepts_text('{"closed":{"y":1}}')


# ---------------------------------------------------------------- limits and refusals


def test_branches_that_multiply_are_refused_by_name_and_fast() -> None:
    start = time.process_time()
    error = error_of({"type": "object", "anyOf": MANY, "unevaluatedProperties": False})
    assert time.process_time() - start < 5
    assert isinstance(error, UnsupportedKeyword)
    assert {problem.keyword for problem in error.problems} == {"anyOf", "unevaluatedProperties"}
    wider = Judge({"type": "object", "anyOf": MANY, "unevaluatedProperties": False}, on_unsupported="warn")
    assert wider.accepts_text('{"a":1,"b":2}')


def test_branches_that_exclude_each_other_do_not_multiply() -> None:
    kinds = [{"properties": {"kind": {"const": i}, f"x{i}": {}}, "required": ["kind"]} for i in range(100)]
    ours = Judge({"type": "object", "anyOf": kinds, "unevaluatedProperties": False})
    assert ours.accepts_text('{"kind":7,"x7":1}')
    assert not ours.accepts_text('{"kind":7,"x8":1}')


def test_a_refusal_names_what_stood_in_the_way_and_stays_one() -> None:
    schema = {"type": "object", "allOf": [{"anyOf": MANY}], "unevaluatedProperties": False}
    report = compile_schema(schema, SchemaOptions(on_unsupported="warn")).report
    reasons = {(entry.path, entry.keyword): entry.reason for entry in report.with_status("refused")}
    assert set(reasons) == {("#/allOf/0", "anyOf"), ("#", "unevaluatedProperties")}
    assert "'anyOf' at #/allOf/0" in reasons["#", "unevaluatedProperties"]


def test_a_required_member_that_may_not_be_is_a_contradiction() -> None:
    schema = {"type": "object", "required": ["b"], "anyOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False}
    error = error_of(schema)
    assert isinstance(error, EmptyLanguage)
    assert "not evaluated" in error.message
