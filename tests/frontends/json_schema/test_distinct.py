"""Arrays that cannot have enough different items are empty by name, and no others are."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constrain.errors import EmptyLanguage, UnsupportedKeyword
from constrain.frontends.json_schema.compile import compile_schema
from constrain.grammar.recognizer import Recognizer

CLOSED = {"type": "object", "properties": {"b": {"type": "boolean"}}, "required": ["b"], "additionalProperties": False}
PAIR = {"type": "array", "items": {"type": "boolean"}, "maxItems": 2}

TOO_FEW: list[tuple[dict[str, Any], int]] = [
    ({"prefixItems": [{"const": 1}, {"const": 1}], "minItems": 2}, 1),
    ({"prefixItems": [{"const": 1}, {"const": 1.0}, {}], "minItems": 3}, 2),
    ({"prefixItems": [{"enum": [1, 2]}] * 3, "minItems": 3}, 2),
    ({"items": CLOSED, "minItems": 3}, 2),
    ({"items": {**CLOSED, "required": []}, "minItems": 4}, 3),
    ({"items": PAIR, "minItems": 8}, 7),
    ({"items": {**PAIR, "uniqueItems": True}, "minItems": 6}, 5),
    ({"items": {"enum": [[1], [1.0], {"a": 1, "b": 2}, {"b": 2, "a": 1.0}]}, "minItems": 3}, 2),
    ({"items": {"type": "integer", "minimum": 1, "maximum": 5, "not": {"const": 2}}, "minItems": 5}, 4),
    ({"prefixItems": [{"type": "string", "pattern": "^[ab]$"}] * 2, "items": {"enum": ["a", []]}, "minItems": 4}, 3),
]


@pytest.mark.parametrize(("schema", "most"), TOO_FEW)
def test_too_few_different_items_are_named(schema: dict[str, Any], most: int) -> None:
    with pytest.raises(EmptyLanguage) as caught:
        compile_schema({"type": "array", "uniqueItems": True, **schema})
    assert f"minItems {schema['minItems']} with uniqueItems, but " in caught.value.message
    assert f"at most {most} " in caught.value.message


@pytest.mark.parametrize(("schema", "most"), [case for case in TOO_FEW if {} not in case[0].get("prefixItems", ())])
def test_one_item_less_is_possible(schema: dict[str, Any], most: int) -> None:
    compiled = compile_schema({"type": "array", "uniqueItems": True, **schema, "minItems": most})
    assert not Recognizer(compiled.grammar).is_empty


def test_the_place_is_named_inside_a_document() -> None:
    schema = {"type": "object", "properties": {"x": {"type": "array", "items": CLOSED, "minItems": 3,
                                                     "uniqueItems": True}}, "required": ["x"]}  # fmt: skip
    with pytest.raises(EmptyLanguage) as caught:
        compile_schema(schema)
    assert caught.value.at == "#/properties/x"


def test_an_integer_of_draft_4_beside_its_other_spelling_counts_once() -> None:
    schema = {"type": "array", "items": {"type": "integer", "enum": [1, 2]}, "minItems": 2, "uniqueItems": True}
    compiled = compile_schema({"$schema": "http://json-schema.org/draft-04/schema#", **schema})
    assert Recognizer(compiled.grammar).accepts(b"[1,2]")


VALUES: list[Any] = [0, 1, "a", True, None, [0], [1], [], {}, {"a": 0}]
ITEMS = st.lists(st.sampled_from(VALUES), min_size=1, max_size=3).map(lambda values: {"enum": values})
NESTED = st.sampled_from([CLOSED, {**CLOSED, "required": []}, PAIR, {**PAIR, "minItems": 1, "uniqueItems": True}])
ITEM = st.one_of(ITEMS, NESTED, st.tuples(ITEMS, NESTED).map(lambda pair: {"anyOf": [*pair]}))


def values_of(schema: dict[str, Any]) -> list[Any]:
    if "anyOf" in schema:
        return [value for one in schema["anyOf"] for value in values_of(one)]
    if "enum" in schema:
        return schema["enum"]
    if schema["type"] == "object":
        return [{"b": False}, {"b": True}] + ([] if schema["required"] else [{}])
    lists = [list(one) for size in range(3) for one in product([False, True], repeat=size)]
    lists = [one for one in lists if len(one) >= schema.get("minItems", 0)]
    return [one for one in lists if not schema.get("uniqueItems") or len({*one}) == len(one)]


@settings(max_examples=250, deadline=None)
@given(st.lists(ITEM, max_size=3), ITEM, st.integers(2, 5))
def test_emptiness_is_decided_as_by_trying_all(prefix: list[Any], rest: Any, least: int) -> None:
    schema = {"type": "array", "prefixItems": prefix, "items": rest, "minItems": least, "uniqueItems": True}
    places = [{repr(value) for value in values_of(prefix[i] if i < len(prefix) else rest)} for i in range(least)]
    possible = _matches(places, frozenset())
    try:
        compiled = compile_schema(schema if prefix else {**schema, "prefixItems": [rest]})
    except EmptyLanguage:
        assert not possible
        return
    except UnsupportedKeyword:
        return
    assert possible
    assert not Recognizer(compiled.grammar).is_empty


def _matches(places: list[set[str]], taken: frozenset[str]) -> bool:
    if not places:
        return True
    return any(_matches(places[1:], taken | {value}) for value in places[0] - taken)
