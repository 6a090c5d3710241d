"""Implications: the same values as a union and as obligations, and the latter where unions would multiply."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constrain.errors import ConstrainError
from constrain.frontends.json_schema import implications
from constrain.frontends.json_schema.compile import settle
from constrain.frontends.json_schema.evaluate import belongs
from constrain.frontends.json_schema.options import SchemaOptions
from constrain.frontends.json_schema.shapes import ObjectShape
from constrain.frontends.json_schema.values import freeze
from tests.frontends.json_schema.writing import Judge

names = st.sampled_from("abc")
leaves = st.sampled_from([True, False, {"const": 1}, {"type": "string"}, {"enum": [1, "x"]}])
records = st.fixed_dictionaries(
    {},
    optional={
        "properties": st.dictionaries(names, leaves, max_size=2),
        "required": st.lists(names, max_size=2, unique=True),
        "minProperties": st.integers(0, 3),
        "maxProperties": st.integers(0, 3),
        "additionalProperties": leaves,
        "type": st.sampled_from(["object", "string"]),
    },
)
schemas = st.fixed_dictionaries(
    {
        "dependentSchemas": st.dictionaries(names, records, max_size=2),
        "dependentRequired": st.dictionaries(names, st.lists(names, max_size=2, unique=True), max_size=2),
        "allOf": st.lists(
            st.fixed_dictionaries({"if": records}, optional={"then": records, "else": records}), min_size=1, max_size=3
        ),
    }
)
values = st.one_of(st.sampled_from([1, "x"]), st.dictionaries(names, st.sampled_from([1, 2, "x"]), max_size=3))


def _answers(schema: Any, instances: list[Any]) -> list[bool] | None:
    try:
        settled = settle(schema, SchemaOptions())
    except ConstrainError:
        return None
    if settled.builder.findings.problems:
        return None
    return [belongs(freeze(value, "#"), settled.root, settled.builder.shape_of) for value in instances]


@given(schemas, st.lists(values, min_size=1, max_size=8))
def test_obligations_hold_the_same_values_as_unions(schema: Any, instances: list[Any]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(implications, "FOLDED_BEYOND", 10**9)
        union = _answers(schema, instances)
        patch.setattr(implications, "FOLDED_BEYOND", 0)
        folded = _answers(schema, instances)
    assert union is None or folded is None or union == folded


def _dependencies(count: int) -> dict[str, Any]:
    kinds = {f"m{i}": {"properties": {"kind": {"enum": [f"k{i}", "any"]}}} for i in range(count)}
    properties = {"kind": {"type": "string"}, **{name: {"type": "integer"} for name in kinds}}
    return {"type": "object", "properties": properties, "additionalProperties": False, "dependencies": kinds}


def test_dependencies_beside_each_other_are_one_record() -> None:
    settled = settle(_dependencies(16), SchemaOptions())
    (record,) = settled.builder.shape_of(settled.root).objects
    assert isinstance(record, ObjectShape)
    assert len(record.outside) == 16


@pytest.mark.parametrize(
    ("value", "valid"),
    [
        ({}, True),
        ({"kind": "k3", "m3": 1}, True),
        ({"kind": "k3", "m4": 1}, False),
        ({"kind": "any", "m3": 1, "m4": 1}, True),
        ({"m3": 1, "m4": 1}, True),
        ({"kind": "k3", "m3": 1, "m4": 1}, False),
    ],
)
def test_sixteen_dependencies_are_enforced(value: Any, valid: bool) -> None:
    assert Judge(_dependencies(16)).accepts(value) == valid


def test_few_implications_stay_unions() -> None:
    settled = settle(_dependencies(2), SchemaOptions())
    assert len(settled.builder.shape_of(settled.root).objects) == 4
