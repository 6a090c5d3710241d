"""Hypothesis strategies for JSON Schemas: the hard ones of `benchmarks.random_schemas`, and ones from the metaschema.

`hard_schemas` hands hypothesis's own randomness to the seeded generator, so that both are one generator.
`schemas_by_metaschema` asks hypothesis-jsonschema for instances of draft 7's metaschema. That package does not follow
recursion and takes seconds where schemas are large, so the metaschema is unrolled one level and what it gives is
grafted into one another. Free strings and numbers are narrowed to what hard schemas use too: else nothing collides.
"""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

from hypothesis import strategies as st

from benchmarks.random_instances import instances
from benchmarks.random_schemas import NAMES, NUMBERS, PATTERNS, STEPS, TYPES, VALUES, random_schema


def hard_schemas(depth: int = 3) -> st.SearchStrategy[Any]:
    """Schemas of every dialect, by `random_schema`."""
    return st.randoms(use_true_random=False).map(lambda chance: random_schema(chance, depth))


def values_near(schema: Any, count: int = 8) -> st.SearchStrategy[list[Any]]:
    """Instances near a schema, valid and invalid ones."""
    return st.randoms(use_true_random=False).map(lambda chance: instances(chance, schema, count))


def schemas_by_metaschema() -> st.SearchStrategy[Any]:
    """Schemas that hypothesis-jsonschema draws from the unrolled metaschema of draft 7, grafted two levels deep."""
    from hypothesis_jsonschema import from_schema

    _give_collections_their_old_loop()
    flat = from_schema(unrolled_metaschema(1))
    return st.builds(_grafted, flat, st.lists(flat, max_size=3), st.randoms(use_true_random=False))


def _grafted(schema: dict[str, Any], more: list[Any], chance: random.Random) -> dict[str, Any]:
    """`schema` with some of its subschemas replaced by `more`; the dialect named, as `items` lists belong to it."""
    waiting = [one for one in more if one]

    def subschema(here: Any) -> Any:
        return waiting.pop() if waiting and chance.random() < 0.6 else here

    grown: dict[str, Any] = {"$schema": "http://json-schema.org/draft-07/schema#"}
    for name, argument in schema.items():
        if name in ("allOf", "anyOf", "oneOf") or (name == "items" and isinstance(argument, list)):
            grown[name] = [subschema(one) for one in argument]
        elif name in ("properties", "patternProperties"):
            grown[name] = {key: subschema(one) for key, one in argument.items()}
        else:
            grown[name] = subschema(argument) if name in SINGLE else argument
    return grown


SINGLE = ("not", "if", "then", "else", "contains", "additionalProperties", "additionalItems")


def _give_collections_their_old_loop() -> None:
    """hypothesis-jsonschema draws objects by `while elements.more()`, which hypothesis has replaced by a context.

    The loop is handed to that package alone, on a class of its own; nothing is changed where hypothesis still has it.
    """
    from hypothesis.internal.conjecture import utils
    from hypothesis_jsonschema import _from_schema as generator

    if hasattr(utils.many, "more"):
        return

    class Many(utils.many):
        _rounds: Any = None

        def more(self) -> bool:
            if self._rounds is None:
                self._rounds = iter(self.__enter__())
            going_on = next(self._rounds, _END) is not _END
            if not going_on:
                self.__exit__(None, None, None)
            return going_on

    generator.cu = SimpleNamespace(**{**vars(utils), "many": Many})  # pyright: ignore[reportAttributeAccessIssue]


_END = object()


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
