"""Positions of JSON pointers: the scan agrees with the text, whatever the text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constrain.linting.positions import Position, escaped, locate, position_at, value_offsets

TEXT = """{
  "type": "object",
  "properties": {
    "a/b": {"type": "string", "pattern": "[\\"{]"},
    "tags": {"items": [ {"not": {}}, 7 ]}
  }
}"""

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("pointer", "line", "column"),
    [
        ("#", 1, 1),
        ("#/properties", 3, 3),
        ("#/properties/a~1b", 4, 5),
        ("#/properties/a~1b/pattern", 4, 31),
        ("#/properties/tags/items/0/not", 5, 26),
        ("#/properties/tags/items/1", 5, 38),
        ("/properties/tags", 5, 5),
        ("#/properties/a%7E1b", 4, 5),
    ],
)
def test_a_pointer_leads_to_the_name_of_its_member(pointer: str, line: int, column: int):
    assert locate(TEXT, [pointer]) == {pointer: Position(line, column)}


def test_a_pointer_to_nowhere_has_no_position():
    assert locate(TEXT, ["#/properties/none", "#/definitions"]) == {}


def test_the_first_of_two_members_of_one_name_is_meant():
    assert locate('{"a": 1,\n"a": 2}', ["#/a"])["#/a"] == Position(1, 2)


@given(json_values, st.sampled_from([None, 1, "\t"]))
def test_every_value_is_found_where_it_stands(value: Any, indent: int | str | None):
    text = json.dumps(value, indent=indent)
    offsets = dict(value_offsets(text))
    assert set(offsets) == set(pointers_of(value, ""))
    for pointer, offset in offsets.items():
        name = pointer.rpartition("/")[2] if pointer else None
        start = text[offset:]
        assert start[0] not in " \t\n,:}]"
        if name is not None and start[0] == '"' and not name.isdigit():
            decoded, _ = json.JSONDecoder().raw_decode(start)
            assert isinstance(decoded, str)


def pointers_of(value: Any, at: str):
    yield at
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, child in children:
        yield from pointers_of(child, f"{at}/{escaped(str(name))}")


@given(st.text(max_size=60))
def test_text_that_is_not_json_is_scanned_without_harm(text: str):
    for _, offset in value_offsets(text):
        position_at(text, offset)


def test_depth_does_not_exhaust_the_scan():
    depth = 20_000
    text = "[" * depth + "]" * depth
    assert sum(1 for _ in zip(range(50), value_offsets(text), strict=False)) == 50
    assert locate(text, ["#/0/0/0"]) == {"#/0/0/0": Position(1, 4)}
