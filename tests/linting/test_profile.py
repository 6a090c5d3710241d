"""Profiles of hosted services: what OpenAI's strict mode refuses is found, what it accepts is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from constrain import Finding, lint
from constrain.linting.lint import PROFILES
from constrain.linting.openai_strict import OPENAI_STRICT
from constrain.linting.profile import Limits


def strict(**members: Any) -> dict[str, Any]:
    return {"type": "object", "properties": members, "required": [*members], "additionalProperties": False}


def wide(objects: int, names: int, stem: str) -> dict[str, Any]:
    inner = strict(**{f"{stem}{i:04}": {"type": "string"} for i in range(names)})
    return strict(**{f"o{i}": inner for i in range(objects)})


def found(schema: Any, profile: Any = "openai-strict") -> list[Finding]:
    return [finding for finding in lint(schema, profile) if "/" in finding.code]


ACCEPTED = [
    strict(name={"type": "string", "description": "whose"}, age={"type": ["integer", "null"], "minimum": 0}),
    strict(when={"type": "string", "format": "date-time"}, kind={"enum": ["a", "b"]}, one={"const": 1}),
    strict(items={"type": "array", "items": strict(x={"type": "number"}), "minItems": 1, "maxItems": 3}),
    strict(either={"anyOf": [{"type": "string", "pattern": "^a$"}, strict(y={"type": "null"})]}),
    {**strict(next={"anyOf": [{"$ref": "#"}, {"type": "null"}]}), "title": "List"},
    {**strict(node={"$ref": "#/$defs/node"}), "$defs": {"node": strict(left={"anyOf": [{"$ref": "#/$defs/node"},
                                                                                   {"type": "null"}]})}},
]  # fmt: skip

REFUSED: list[tuple[str, Any, str]] = [
    ("root", {"type": "array", "items": {"type": "string"}}, "#"),
    ("root", {**strict(a={"type": "string"}), "anyOf": [{}]}, "#"),
    ("root", True, "#"),
    ("open-object", strict(a={"type": "object", "properties": {}}), "#/properties/a"),
    ("open-object", {**strict(a={"type": "string"}), "additionalProperties": {"type": "string"}}, "#"),
    ("open-object", strict(a={"type": ["object", "null"]}), "#/properties/a"),
    ("optional-member", {**strict(a={"type": "string"}, b={"type": "string"}), "required": ["a"]}, "#/properties/b"),
    ("refused-keyword", strict(a={"oneOf": [{"type": "string"}, {"type": "null"}]}), "#/properties/a"),
    ("refused-keyword", strict(a={"type": "array", "items": {"type": "null"}, "uniqueItems": True}), "#/properties/a"),
    ("refused-keyword", strict(a={"type": "array", "items": [{"type": "string"}]}), "#/properties/a"),
    ("refused-keyword", strict(a={"not": {"type": "null"}}), "#/properties/a"),
    ("undocumented-keyword", strict(a={"type": "string", "minLength": 2}), "#/properties/a"),
    ("undocumented-keyword", strict(a={"type": "string", "default": "x"}), "#/properties/a"),
    ("format", strict(a={"type": "string", "format": "uri"}), "#/properties/a"),
    ("reference", {**strict(a={"$ref": "#/$defs/d", "description": "x"}), "$defs": {"d": {"type": "string"}}},
     "#/properties/a"),
    ("boolean-schema", strict(a=True), "#/properties/a"),
    ("too-many-properties", wide(51, 100, ""), "#/properties/o49"),
    ("too-many-enum-values", strict(a={"enum": [*range(600)]}, b={"enum": [*range(401)]}), "#/properties/b"),
    ("too-long-enum", strict(a={"enum": [f"{i:060}" for i in range(251)]}), "#/properties/a"),
    ("too-long-names", wide(31, 100, "n" * 36), "#/properties/o29"),
]  # fmt: skip


@pytest.mark.parametrize("schema", ACCEPTED)
def test_what_the_service_accepts_has_no_finding(schema: Any):
    assert not found(schema)


@pytest.mark.parametrize(("rule", "schema", "at"), REFUSED)
def test_what_the_service_refuses_is_found_with_what_to_change(rule: str, schema: Any, at: str):
    findings = found(schema)
    assert [(finding.code, finding.at) for finding in findings] == [(f"openai-strict/{rule}", at)]
    assert findings[0].help
    assert findings[0].severity == ("warning" if rule == "undocumented-keyword" else "error")


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = strict(x={"type": "string"})
    for _ in range(levels - 1):
        schema = strict(n={"type": "array", "items": schema})
    return schema


def test_nesting_is_counted_in_objects_and_through_references():
    assert not found(nested(10))
    assert [finding.code for finding in found(nested(11))] == ["openai-strict/too-deep"]
    through = {**strict(a=strict(b={"$ref": "#/$defs/d"})), "$defs": {"d": nested(9)}}
    assert [finding.code for finding in found(through)] == ["openai-strict/too-deep"]


def test_limits_are_exact():
    assert not found(strict(a={"enum": [*range(1_000)]}))
    assert not found(strict(a={"enum": [f"{i:060}" for i in range(250)]}))


def test_another_service_is_another_record():
    limits = Limits(properties=1, depth=1, enum_values=9, characters=99, large_enum=9, large_enum_characters=99)
    other = replace(OPENAI_STRICT, name="mine", service="Mine", limits=limits, refused={}, all_required=False)
    codes = {finding.code for finding in found({**strict(a={"oneOf": [{}]}, b={}), "required": []}, other)}
    assert codes == {"mine/undocumented-keyword", "mine/too-many-properties"}


def test_every_profile_says_where_its_rules_come_from():
    for name, profile in PROFILES.items():
        assert profile.name == name
        assert profile.source.startswith("https://") and profile.as_of
        assert not profile.supported & profile.refused.keys()
