"""`oneOf` branches: told apart at a glance where they can be, compared once, whatever hangs on what."""

from __future__ import annotations

from typing import Any

import pytest

from constrain.frontends.json_schema.compile import Settled, settle
from constrain.frontends.json_schema.options import SchemaOptions
from tests.frontends.json_schema.writing import Judge


def _settled(schema: Any) -> Settled:
    settled = settle(schema, SchemaOptions())
    assert settled.grammar is not None
    return settled


def _branches(count: int, required: list[str]) -> list[dict[str, Any]]:
    return [
        {
            "type": "object",
            "properties": {"kind": {"enum": [f"k{i}"]}, f"a{i}": {"type": "string"}},
            "required": required,
        }
        for i in range(count)
    ]


def test_branches_with_a_required_constant_are_not_intersected() -> None:
    settled = _settled({"oneOf": _branches(100, ["kind"])})
    assert settled.builder.comparisons == 0


def test_strings_and_types_are_told_apart_at_a_glance() -> None:
    texts = [{"const": f"t{i}"} for i in range(50)]
    settled = _settled(
        {"oneOf": [*texts, {"type": "integer"}, {"type": "array"}, {"type": "object"}, {"type": "null"}]}
    )
    assert settled.builder.comparisons == 0


def test_branches_that_overlap_are_found_in_the_first_round() -> None:
    settled = _settled({"oneOf": _branches(20, [])})
    assert settled.builder.comparisons == 190
    assert not settled.builder.overlaps, "an overlap found late would have been accounted for in a second round"


LIST = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {
            "oneOf": [
                {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "a": {}}, "required": ["next"]},
                {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "b": {}}, "required": ["b"]},
                {"type": "null"},
            ]
        }
    },
}


@pytest.mark.parametrize(
    ("value", "valid"),
    [
        (None, True),
        ({"next": None}, True),
        ({"b": 1}, True),
        ({"next": None, "b": 1}, False),
        ({"next": {"next": None}}, True),
        ({"next": {"next": None, "b": 1}}, False),
        ({"next": 1}, False),
    ],
)
def test_branches_that_hang_on_the_place_being_read_are_compared_later(value: Any, valid: bool) -> None:
    assert Judge(LIST).accepts(value) == valid


def test_what_is_compared_later_is_known_in_the_second_round() -> None:
    assert set(_settled(LIST).builder.overlaps) == {"#/$defs/node"}


def test_a_place_read_while_branches_are_compared_is_no_cycle() -> None:
    deep: dict[str, Any] = {"type": "null"}
    for i in range(60):
        deep = {"oneOf": [{"required": ["x"], "properties": {"x": deep}}, {"required": ["y"]}, {"const": i}]}
    _settled(deep)
