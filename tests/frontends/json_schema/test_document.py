"""Schema documents: JSON text, references, dialects of resources."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constrain.errors import ConstrainError, InvalidSpecification, LimitExceeded, ReferenceNotFound
from constrain.frontends.json_schema.document import parse
from tests.frontends.json_schema.writing import Judge, error_of
from tests.strategies import examples

INTEGER = {"type": "integer"}


@pytest.mark.parametrize(
    ("text", "at"),
    [('{"a": }', "1:7"), ("", "1:1"), ('{"a": 1\n "b": 2}', "2:2"), ("{'a': 1}", "1:2"), ('{"a": 1} x', "1:10")],
)
def test_text_that_is_not_json_is_refused_with_line_and_column(text: str, at: str) -> None:
    error = error_of(text)
    assert isinstance(error, InvalidSpecification)
    assert error.at == at


@pytest.mark.parametrize("text", ['{"minimum": NaN}', '{"type": "null", "type": "string"}', "3", "null", "[]", '"x"'])
def test_text_that_is_no_schema_is_refused(text: str) -> None:
    assert isinstance(error_of(text), InvalidSpecification)


@pytest.mark.parametrize("depth", [150, 1_000, 100_000])
def test_deep_nesting_is_a_limit_and_never_a_traceback(depth: int) -> None:
    assert isinstance(error_of('{"allOf":[' * depth + "{}" + "]}" * depth), LimitExceeded)
    assert isinstance(error_of('{"const":' + "[" * depth * 2 + "]" * depth * 2 + "}"), LimitExceeded)


def test_deep_properties_compile_or_meet_a_limit() -> None:
    schema: dict[str, Any] = {"type": "null"}
    for _ in range(5_000):
        schema = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    assert isinstance(error_of(schema), ConstrainError | None)


def test_a_python_value_that_holds_itself_is_a_limit() -> None:
    schema: dict[str, Any] = {"type": "object"}
    schema["allOf"] = [schema]
    assert isinstance(error_of(schema), InvalidSpecification)
    value: list[Any] = []
    value.append(value)
    assert isinstance(error_of({"const": value}), LimitExceeded)


LONG = 1 << 20_000
"""An integer that Python itself refuses to write out."""


@pytest.mark.parametrize(
    "schema",
    [{"minLength": LONG}, {"type": LONG}, {"items": LONG}, {"required": [LONG]}, {LONG: 1}, {"const": LONG},
     {"minimum": LONG}, {"multipleOf": -LONG}, {"$schema": LONG}, {"$ref": "#/x", "x": LONG}, {"format": LONG},
     '{"minimum":' + "9" * 5_000 + "}"],
)  # fmt: skip
def test_a_number_that_cannot_be_shown_is_a_typed_error(schema: Any) -> None:
    error = error_of(schema)
    assert isinstance(error, ConstrainError)
    assert len(str(error)) < 2_000
    assert isinstance(error_of("x", dialect=LONG), ConstrainError)


@pytest.mark.parametrize("schema", [{"const": {1, 2}}, {"enum": [float("nan")]}, {1: 2}, {"properties": {1: {}}}])
def test_python_values_that_are_not_json_are_refused(schema: Any) -> None:
    assert isinstance(error_of(schema), InvalidSpecification)


@pytest.mark.parametrize(
    ("reference", "definitions"),
    [
        ("#/$defs/a~1b", {"a/b": INTEGER}),
        ("#/$defs/m~0n", {"m~n": INTEGER}),
        ("#/$defs/p%20q", {"p q": INTEGER}),
        ("#named", {"x": {"$anchor": "named", **INTEGER}}),
        ("other.json", {"x": {"$id": "other.json", **INTEGER}}),
        ("other.json#/$defs/y", {"x": {"$id": "other.json", "$defs": {"y": INTEGER}}}),
        ("#/$defs/x/$defs/y", {"x": {"$id": "http://e.org/o", "$defs": {"y": {"$ref": "#/$defs/z"}, "z": INTEGER}}}),
    ],
)  # fmt: skip
def test_references_lead_to_pointers_anchors_and_ids(reference: str, definitions: dict[str, Any]) -> None:
    judge = Judge({"$id": "http://example.com/root.json", "$defs": definitions, "$ref": reference})
    assert judge.accepts_text("1")
    assert not judge.accepts_text('"1"')


@pytest.mark.parametrize("reference", ["#/$defs/x", "#nowhere", "http://example.com/a", "a.json", "#/type/0", "#/x~2"])
def test_a_reference_to_nowhere_names_itself_and_its_place(reference: str) -> None:
    error = error_of({"type": "object", "properties": {"p": {"$ref": reference}}})
    assert isinstance(error, ReferenceNotFound)
    assert (error.at, error.keyword) == ("#/properties/p", "$ref")
    assert error.reference == reference


def test_a_registry_answers_references_and_nothing_is_fetched() -> None:
    schema = {"$ref": "http://example.com/b"}
    registry = {"http://example.com/b": {"type": "array", "items": {"$ref": "c#/$defs/d"}},
                "http://example.com/c": {"$defs": {"d": INTEGER}}}  # fmt: skip
    assert isinstance(error_of(schema), ReferenceNotFound)
    judge = Judge(schema, registry=registry)
    assert judge.accepts_text("[1,2]")
    assert not judge.accepts_text('["1"]')


def test_the_metaschemas_are_known() -> None:
    judge = Judge({"$ref": "http://json-schema.org/draft-07/schema#"})
    assert judge.holds({"type": "object"})
    assert not judge.holds({"type": "nonsense"})


def test_siblings_of_a_reference_count_since_2019_09_and_not_before() -> None:
    schema = {"$ref": "#/definitions/i", "minimum": 5, "definitions": {"i": INTEGER}}
    assert not Judge(schema).accepts_text("4")
    old = Judge({"$schema": "http://json-schema.org/draft-07/schema#", **schema})
    assert old.accepts_text("4")
    assert any(e.keyword == "minimum" and e.status == "annotation" for e in old.compiled.report)


@pytest.mark.parametrize("uri", ["http://example.com/mine", "draft-07", 3])
def test_an_unknown_dialect_is_refused(uri: Any) -> None:
    assert isinstance(error_of({"$schema": uri}), InvalidSpecification)


def test_numbers_in_text_are_exact() -> None:
    judge = Judge('{"type": "number", "minimum": 0.1000000000000000055511151231257827}')
    assert not judge.accepts_text("0.1")
    assert judge.accepts_text("0.1000000000000000055511151231257828")
    assert Judge({"type": "number", "minimum": 0.1}).accepts_text("0.1")


def test_definitions_that_nobody_uses_are_not_read() -> None:
    schema = {"$defs": {str(i): {"minimum": "wrong"} for i in range(1_000)}, "type": "null"}
    assert error_of(schema) is None


@given(
    st.recursive(
        st.integers(0, 9),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('a{,"\\', max_size=2), inner),
    )
)
@examples(60)
def test_the_second_of_two_names_is_where_the_fault_is(value: Any) -> None:
    text = json.dumps(['\\"a,{', value, {"x": {"a": 1}, "a": "}", "b": [{"a": 1}]}])[:-2] + ',\n "\\u0061": 2}]'
    with pytest.raises(InvalidSpecification, match="'a' stands twice") as caught:
        parse(text)
    assert caught.value.at == "2:2"


def test_an_empty_schema_is_called_so() -> None:
    for text in ("", " \n\t"):
        with pytest.raises(InvalidSpecification, match="the schema is empty") as caught:
            parse(text)
        assert caught.value.at == "1:1"
