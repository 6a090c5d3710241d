"""Hypothesis strategies for JSON Schemas: the hard ones of `benchmarks.random_schemas`, and ones from the metaschema.

`hard_schemas` hands hypothesis's own randomness to the seeded generator, so that both are one generator.
`schemas_by_metaschema` asks hypothesis-jsonschema for instances of draft 7's metaschema. That package does not follow
recursion, so the metaschema is unrolled: level n may hold schemas of level n - 1 only, and level 0 no applicators. Free
strings and numbers are narrowed to the names and values that hard schemas use too: else nothing ever collides.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from benchmarks.random_instances import instances
from benchmarks.random_schemas import NAMES, NUMBERS, PATTERNS, STEPS, TYPES, VALUES, random_schema

LEVELS = 2


def hard_schemas(depth: int = 3) -> st.SearchStrategy[Any]:
    """Schemas of every dialect, by `random_schema`."""
    return st.randoms(use_true_random=False).map(lambda chance: random_schema(chance, depth))


def values_near(schema: Any, count: int = 8) -> st.SearchStrategy[list[Any]]:
    """Instances near a schema, valid and invalid ones."""
    return st.randoms(use_true_random=False).map(lambda chance: instances(chance, schema, count))


def schemas_by_metaschema(levels: int = LEVELS) -> st.SearchStrategy[Any]:
    """Schemas that hypothesis-jsonschema draws from the unrolled metaschema of draft 7."""
    from hypothesis_jsonschema import from_schema

    return from_schema(unrolled_metaschema(levels)).map(_naming_its_dialect)


def unrolled_metaschema(level: int) -> dict[str, Any]:
    """Draft 7's metaschema down to `level`, over small domains."""
    count = {"type": "integer", "minimum": 0, "maximum": 3}
    number = {"enum": list(NUMBERS)}
    names = {"type": "array", "items": {"enum": list(NAMES)}, "uniqueItems": True, "maxItems": 3}
    properties: dict[str, Any] = {
        "type": {"anyOf": [{"enum": list(TYPES)}, {"type": "array", "items": {"enum": list(TYPES)}, "minItems": 1,
                                                   "maxItems": 3, "uniqueItems": True}]},
        "const": {"enum": list(VALUES)},
        "enum": {"type": "array", "items": {"enum": list(VALUES)}, "minItems": 1, "maxItems": 3, "uniqueItems": True},
        "multipleOf": {"enum": list(STEPS)},
        "uniqueItems": {"type": "boolean"},
        "required": names,
        "pattern": {"enum": list(PATTERNS)},
        **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), number),
        **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), count),
    }  # fmt: skip
    if level > 0:
        below: dict[str, Any] = {"anyOf": [unrolled_metaschema(level - 1), {"type": "boolean"}]}
        several = {"type": "array", "items": below, "minItems": 1, "maxItems": 3}
        properties |= {
            **dict.fromkeys(("not", "if", "then", "else", "contains", "propertyNames", "additionalProperties"), below),
            **dict.fromkeys(("allOf", "anyOf", "oneOf"), several),
            "items": {"anyOf": [below, several]},
            "additionalItems": below,
            "properties": _mapping(NAMES, below),
            "patternProperties": _mapping(PATTERNS[:6], below),
            "dependencies": _mapping(NAMES, {"anyOf": [below, names]}),
        }
    return {"type": "object", "properties": properties, "additionalProperties": False, "maxProperties": 4}


def _mapping(names: tuple[str, ...], below: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict.fromkeys(names, below),
        "additionalProperties": False,
        "maxProperties": 2,
    }


def _naming_its_dialect(schema: Any) -> Any:
    """The dialect named, since `items` as a list and `dependencies` belong to it."""
    return {"$schema": "http://json-schema.org/draft-07/schema#", **schema}
