"""Complements and conjunctions say what they can without a search."""

from __future__ import annotations

from typing import Any

import pytest

from constrain.frontends.json_schema.compile import Settled, settle
from constrain.frontends.json_schema.evaluate import belongs
from constrain.frontends.json_schema.options import SchemaOptions
from constrain.frontends.json_schema.values import freeze


def _settled(schema: Any) -> Settled:
    return settle(schema, SchemaOptions())


def test_lengths_left_out_are_lengths() -> None:
    settled = _settled({"type": "string", "not": {"type": "string", "minLength": 3, "maxLength": 32_767}})
    records = settled.builder.shape_of(settled.root).strings
    assert [(record.min, record.max, record.parts) for record in records] == [(0, 2, ()), (32_768, None, ())]


@pytest.mark.parametrize(
    ("text", "valid"), [("", True), ("ab", True), ("abc", False), ("abcde", False), ("a" * 6, True)]
)
def test_lengths_left_out_are_those_outside(text: str, valid: bool) -> None:
    settled = _settled({"not": {"type": "string", "minLength": 3, "maxLength": 5}})
    assert belongs(freeze(text, "#"), settled.root, settled.builder.shape_of) == valid


def test_nested_intervals_are_told_apart_without_multiplying() -> None:
    branches = [
        {"properties": {f"a{i}": {}, "x": {"type": "integer", "minimum": i}}, "required": [f"a{i}", "x"]}
        for i in range(30)
    ]
    settled = _settled({"type": "object", "oneOf": branches})
    assert not settled.builder.findings.problems


def test_the_order_of_atoms_does_not_make_another_shape() -> None:
    schema = {"properties": {"a": {"minLength": 1}, "b": {"maxLength": 3}, "c": {"pattern": "^x"}}}
    settled = _settled(schema)
    builder = settled.builder
    (record,) = builder.shape_of(settled.root).objects
    a, b, c = (child for child in record.members.values())  # pyright: ignore[reportAttributeAccessIssue]
    assert builder.shape_of(a + b + c) is builder.shape_of(c + a + b)


@pytest.mark.parametrize("pattern", ["^DockerInstaller@0$", "^a b:c/d$"])
def test_a_pattern_that_is_one_text_is_that_text(pattern: str) -> None:
    settled = _settled({"type": "string", "pattern": pattern, "maxLength": 100})
    (record,) = settled.builder.shape_of(settled.root).strings
    assert record.finite == (pattern[1:-1],)
    assert _settled({"type": "string", "pattern": pattern, "maxLength": 2}).grammar is None
