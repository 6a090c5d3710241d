"""JSON values near a schema: valid ones often, and values one step away from those.

`instances` mixes four sources: values *guided* by the schema (its constants, names, bounds and counts, one branch
followed at a time), values of a small world without any regard to it, given `texts` (sampled from the language), and
mutations of all these: a member dropped, renamed or added, a value changed, an item doubled or moved, a number pushed
over a bound. Nothing here knows whether a value is valid; that is for the judges.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from benchmarks.declared_order import resolve_pointer
from benchmarks.random_schemas import NAMES, VALUES

EXTRA_NAMES = ("a", "b", "c", "d", "ab", "", "bc", "é", "1")
EXTRA_VALUES: tuple[Any, ...] = (3, 10, 0.3, 0.1, 2.5, 1.0, "c", "abc", "aé", [[]], [{}], {"b": 0}, [0, 0], ["a", "a"])
MARKS = ("", "a", "b", "ab", "c", "aaa", "abc", "1", "😀b")
DEPTH = 4


def instances(chance: random.Random, schema: Any, count: int, values: Sequence[Any] = ()) -> list[Any]:
    """`count` values to ask about; `values` are valid ones that are known already."""
    source = _Source(chance, schema)
    pool: list[Any] = [copy.deepcopy(one) for one in values]
    while len(pool) < count:
        kind = chance.random()
        if pool and kind < 0.45:
            pool.append(source.mutated(copy.deepcopy(chance.choice(pool))))
        elif kind < 0.9:
            pool.append(source.guided(schema, DEPTH))
        else:
            pool.append(source.any_value(2))
    return pool[:count]


class _Source:
    """Random values with one schema's constants and names in mind."""

    def __init__(self, chance: random.Random, schema: Any):
        self.chance, self.root = chance, schema
        self.values = [*VALUES, *EXTRA_VALUES, *_constants(schema)]
        self.names = [*NAMES, *EXTRA_NAMES]

    def any_value(self, depth: int) -> Any:
        chance = self.chance
        kind = chance.random()
        if depth == 0 or kind < 0.5:
            return copy.deepcopy(chance.choice(self.values))
        if kind < 0.75:
            return [self.any_value(depth - 1) for _ in range(chance.choice((0, 1, 2, 2, 3)))]
        return {chance.choice(self.names): self.any_value(depth - 1) for _ in range(chance.choice((0, 1, 2, 3)))}

    # ---------------------------------------------------------------- guided

    def guided(self, schema: Any, depth: int) -> Any:
        """A value that goes along with `schema` where that is easy to see."""
        chance = self.chance
        if not isinstance(schema, dict) or depth <= 0:
            return self.any_value(min(1, max(depth, 0)))
        if "const" in schema and chance.random() < 0.9:
            return copy.deepcopy(schema["const"])
        if isinstance(schema.get("enum"), list) and schema["enum"] and chance.random() < 0.9:
            return copy.deepcopy(chance.choice(schema["enum"]))
        parts = [schema, *self.followed(schema)]
        if chance.random() < 0.1:
            parts.reverse()
        return self.made(parts, depth)

    def followed(self, schema: dict[str, Any], depth: int = 3) -> Iterator[dict[str, Any]]:
        """Schemas that apply to the same place: all of `allOf`, one of each choice, at times the branches of `if`."""
        chance = self.chance
        below: list[Any] = list(schema.get("allOf", ()))
        for keyword in ("anyOf", "oneOf"):
            below += [chance.choice(schema[keyword])] if schema.get(keyword) else []
        if isinstance(schema.get("$ref"), str):
            below.append(resolve_pointer(self.root, schema["$ref"]))
        if "$recursiveRef" in schema or "$dynamicRef" in schema:
            below.append(self.root)
        if "if" in schema:
            taken = ("if", "then") if chance.random() < 0.5 else ("else",)
            below += [schema[keyword] for keyword in taken if keyword in schema]
        for keyword in ("dependentSchemas", "dependencies"):
            rules = schema.get(keyword, {})
            below += [rule for rule in rules.values() if isinstance(rule, dict) and chance.random() < 0.5]
        for one in below:
            if isinstance(one, dict) and depth > 0:
                yield one
                yield from self.followed(one, depth - 1)

    def made(self, parts: list[dict[str, Any]], depth: int) -> Any:
        """A value from what all `parts` say together."""
        chance = self.chance
        for part in parts:
            if "const" in part and chance.random() < 0.8:
                return copy.deepcopy(part["const"])
            if part.get("enum") and chance.random() < 0.8:
                return copy.deepcopy(chance.choice(part["enum"]))
        return self.of_kind(self.kind_of(parts), parts, depth)

    def kind_of(self, parts: list[dict[str, Any]]) -> str:
        kinds = [part["type"] for part in parts if "type" in part]
        if kinds and self.chance.random() < 0.9:
            kind = self.chance.choice(kinds)
            return kind if isinstance(kind, str) else self.chance.choice(kind)
        hints = [hint for part in parts for keyword in part if (hint := _KIND_OF.get(keyword))]
        return self.chance.choice(hints) if hints else self.chance.choice(("object", "array", "number", "string"))

    def of_kind(self, kind: str, parts: list[dict[str, Any]], depth: int) -> Any:
        if kind == "object":
            return self.object_of(parts, depth)
        if kind == "array":
            return self.array_of(parts, depth)
        if kind in ("number", "integer"):
            return self.number_of(parts, kind)
        if kind == "string":
            return self.chance.choice((*MARKS, *(one for one in self.values if isinstance(one, str))))
        return None if kind == "null" else self.chance.random() < 0.5

    def object_of(self, parts: list[dict[str, Any]], depth: int) -> dict[str, Any]:
        chance = self.chance
        schemas = {name: sub for part in parts for name, sub in part.get("properties", {}).items()}
        wanted = [name for part in parts for name in part.get("required", ()) if isinstance(name, str)]
        rest = [part[key] for part in parts for key in ("additionalProperties", "unevaluatedProperties") if key in part]
        rest += [sub for part in parts for sub in part.get("patternProperties", {}).values()]
        names = [name for name in wanted if chance.random() < 0.95]
        names += [name for name in schemas if chance.random() < 0.6]
        counts = [part["minProperties"] for part in parts if isinstance(part.get("minProperties"), int)]
        names += [chance.choice(self.names) for _ in range(chance.choice((0, 0, 1, *counts)))]
        chance.shuffle(names)
        return {
            name: self.guided(schemas[name] if name in schemas else chance.choice(rest) if rest else True, depth - 1)
            for name in names
        }

    def array_of(self, parts: list[dict[str, Any]], depth: int) -> list[Any]:
        chance = self.chance
        prefixes = [part[key] for part in parts for key in ("prefixItems", "items") if isinstance(part.get(key), list)]
        keys = ("items", "additionalItems", "contains", "unevaluatedItems")
        rest = [part[key] for part in parts for key in keys if isinstance(part.get(key), dict | bool)]
        counts = [part[key] for part in parts for key in ("minItems", "minContains") if isinstance(part.get(key), int)]
        found = []
        for index in range(chance.choice((0, 1, 1, 2, 2, 3, *counts))):
            here = [prefix[index] for prefix in prefixes if index < len(prefix)] or rest or [True]
            found.append(self.guided(chance.choice(here), depth - 1))
        return found

    def number_of(self, parts: list[dict[str, Any]], kind: str) -> int | float:
        chance = self.chance
        keys = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
        marks = [part[key] for part in parts for key in keys if isinstance(part.get(key), int | float)]
        base = chance.choice([mark for mark in marks if not isinstance(mark, bool)] or [0, 1, 2, 0.5])
        found = chance.choice((base, base, base + 1, base - 1, base * 2, base + 0.5, round(base * 3, 6)))
        return int(found) if kind == "integer" and chance.random() < 0.8 else round(found, 6)

    # ---------------------------------------------------------------- mutations

    def mutated(self, value: Any) -> Any:
        """`value` with one to two small changes somewhere."""
        for _ in range(self.chance.choice((1, 1, 2))):
            value = self.changed(value)
        return value

    def changed(self, value: Any) -> Any:
        chance = self.chance
        if isinstance(value, dict | list) and value and chance.random() < 0.5:
            key = chance.choice(list(value) if isinstance(value, dict) else range(len(value)))
            value[key] = self.changed(value[key])
            return value
        if isinstance(value, dict):
            return self.changed_object(value)
        if isinstance(value, list):
            return self.changed_array(value)
        if isinstance(value, bool) or value is None:
            return self.any_value(1)
        if isinstance(value, str):
            return chance.choice((value + chance.choice(MARKS), value[1:], value[::-1], self.any_value(1)))
        steps = (value + 1, value - 1, round(value + 0.1, 6), float(value), -value, round(value * 10, 6))
        return chance.choice((*steps, self.any_value(1)))

    def changed_object(self, value: dict[str, Any]) -> Any:
        chance = self.chance
        kind = chance.randrange(5)
        if kind == 0 and value:
            value.pop(chance.choice(list(value)))
        elif kind == 1 and value:
            value[chance.choice(self.names)] = value.pop(chance.choice(list(value)))
        elif kind == 2:
            names = list(value)
            chance.shuffle(names)
            return {name: value[name] for name in names}
        elif kind == 3:
            return self.any_value(1)
        else:
            value[chance.choice(self.names)] = self.any_value(1)
        return value

    def changed_array(self, value: list[Any]) -> Any:
        chance = self.chance
        kind = chance.randrange(5)
        if kind == 0 and value:
            value.pop(chance.randrange(len(value)))
        elif kind == 1 and value:
            value.append(copy.deepcopy(chance.choice(value)))
        elif kind == 2:
            chance.shuffle(value)
        elif kind == 3:
            return self.any_value(1)
        else:
            value.insert(chance.randint(0, len(value)), self.any_value(1))
        return value


_KIND_OF = {
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), "number"),
    **dict.fromkeys(("minLength", "maxLength", "pattern"), "string"),
    **dict.fromkeys(
        ("items", "prefixItems", "additionalItems", "minItems", "maxItems", "uniqueItems", "contains"), "array"
    ),
    "unevaluatedItems": "array",
    **dict.fromkeys(("properties", "patternProperties", "additionalProperties", "required"), "object"),
    **dict.fromkeys(("minProperties", "maxProperties", "propertyNames", "dependentRequired"), "object"),
    **dict.fromkeys(("dependentSchemas", "dependencies", "unevaluatedProperties"), "object"),
}
"""The type that a keyword is about."""


def _constants(schema: Any) -> list[Any]:
    """Every `const` and `enum` value that the schema mentions, and lone values beside them."""
    found: list[Any] = []
    pending: list[Any] = [schema]
    visit: Callable[[Any], None] = pending.append
    while pending:
        here = pending.pop()
        if isinstance(here, dict):
            found += [here["const"]] if "const" in here else []
            found += here["enum"] if isinstance(here.get("enum"), list) else []
            for value in here.values():
                visit(value)
        elif isinstance(here, list):
            for value in here:
                visit(value)
    return found
