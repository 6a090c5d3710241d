"""Which schemas use only the keywords that the first cut of the JSON Schema front end promises to enforce.

The promise: type, properties, required, additionalProperties, disjoint patternProperties, items, prefixItems and the
older tuple form, min/maxItems, uniqueItems of scalars, enum, const, anyOf, oneOf with branches told apart by type or
by a const or enum, allOf, `$ref` by pointer, pattern, min/maxLength, format, numeric bounds, multipleOf, booleans.
Everything else that asserts is *outside*. Written apart from the front end on purpose: it judges what may be refused.

Only places that the root reaches are read: a keyword in a definition that nothing refers to does not count. The test
of `oneOf` and of `patternProperties` is syntactic and errs towards *outside*.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from typing import Any

from benchmarks.declared_order import resolve_pointer

OUTSIDE = frozenset(
    {"not", "if", "dependentRequired", "dependentSchemas", "dependencies", "contains", "minContains", "maxContains"}
    | {"propertyNames", "minProperties", "maxProperties", "unevaluatedProperties", "unevaluatedItems"}
    | {"$dynamicRef", "$recursiveRef"}
)
IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
SCALARS = frozenset({"string", "number", "integer", "boolean", "null"})
ALL_TYPES = frozenset({"string", "number", "boolean", "null", "array", "object"})


def uses_only_first_cut(schema: Any) -> bool:
    """True if nothing in `schema` is outside the first cut."""
    return next(outside_first_cut(schema), None) is None


def outside_first_cut(schema: Any) -> Iterator[tuple[str, str]]:
    """Each (JSON pointer, keyword) that the first cut may refuse, depth-first."""
    return _Reader(schema).read(schema, "#")


def size_of_interest(schema: Any) -> tuple[int, int]:
    """(declared properties in all, deepest nesting of objects and arrays below the root), by properties and items."""
    return _Reader(schema).measure(schema, 0, 12)


class _Reader:
    def __init__(self, root: Any):
        self.root = root
        self.seen: set[int] = set()

    def read(self, schema: Any, path: str) -> Iterator[tuple[str, str]]:
        pending = [(schema, path)]
        while pending:
            here, at = pending.pop()
            if not isinstance(here, dict) or id(here) in self.seen:
                continue
            self.seen.add(id(here))
            yield from self.outside_here(here, at)
            pending.extend(reversed(list(self.below(here, at))))

    def outside_here(self, schema: dict[str, Any], at: str) -> Iterator[tuple[str, str]]:
        for keyword, argument in schema.items():
            if keyword in OUTSIDE and not self.is_void(keyword, argument, schema):
                yield at, keyword
        if "$ref" in schema and self.resolve(schema) is None:
            yield at, "$ref"
        if "oneOf" in schema and not self.is_told_apart(schema["oneOf"]):
            yield at, "oneOf"
        if schema.get("uniqueItems") is True and not self.has_scalar_items(schema):
            yield at, "uniqueItems"
        if not are_patterns_disjoint(schema):
            yield at, "patternProperties"

    def is_void(self, keyword: str, argument: Any, schema: dict[str, Any]) -> bool:
        """True if the keyword asserts nothing where it stands."""
        if keyword == "if":
            return "then" not in schema and "else" not in schema
        if keyword in ("minContains", "maxContains"):
            return "contains" not in schema
        return argument in ({}, True) and keyword in (
            "dependencies",
            "dependentRequired",
            "dependentSchemas",
            "propertyNames",
        )

    def below(self, schema: dict[str, Any], at: str) -> Iterator[tuple[Any, str]]:
        for keyword in ("properties", "patternProperties"):
            members = schema.get(keyword)
            for name, member in members.items() if isinstance(members, dict) else ():
                yield member, f"{at}/{keyword}/{name.replace('~', '~0').replace('/', '~1')}"
        for keyword in (*IN_PLACE_LISTS, "prefixItems", "items"):
            parts = schema.get(keyword)
            for index, part in enumerate(parts) if isinstance(parts, list) else ():
                yield part, f"{at}/{keyword}/{index}"
        for keyword in ("items", "additionalItems", "additionalProperties"):
            yield schema.get(keyword), f"{at}/{keyword}"
        if "$ref" in schema:
            yield self.resolve(schema), f"{at}/$ref"

    def resolve(self, schema: dict[str, Any]) -> Any:
        reference = schema["$ref"]
        return (
            resolve_pointer(self.root, reference)
            if isinstance(reference, str) and reference[:2] in ("#", "#/")
            else None
        )

    def has_scalar_items(self, schema: dict[str, Any]) -> bool:
        items = schema.get("items")
        return isinstance(items, dict) and "prefixItems" not in schema and self.types(items) <= SCALARS

    def types(self, schema: Any, depth: int = 6) -> frozenset[str]:
        """The JSON types that `schema` may let through (`integer` counts as `number`)."""
        if not isinstance(schema, dict):
            return ALL_TYPES if schema is not False else frozenset()
        found = ALL_TYPES
        if "type" in schema:
            names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
            found &= {"number" if name == "integer" else str(name) for name in names}
        for value in [[schema["const"]]] if "const" in schema else []:
            found &= {_type_of(item) for item in value}
        if isinstance(schema.get("enum"), list):
            found &= {_type_of(item) for item in schema["enum"]}
        if depth:
            if "$ref" in schema:
                found &= self.types(self.resolve(schema), depth - 1)
            for part in schema.get("allOf", ()):
                found &= self.types(part, depth - 1)
            for keyword in ("anyOf", "oneOf"):
                if isinstance(schema.get(keyword), list):
                    found &= frozenset().union(*(self.types(part, depth - 1) for part in schema[keyword]))
        return found

    def is_told_apart(self, branches: Any) -> bool:
        """True if any two branches differ by type, by const or enum, or by one of a member that both require."""
        if not isinstance(branches, list) or len(branches) > 200:
            return False
        return all(self.are_disjoint(a, b, 3) for a, b in combinations(branches, 2))

    def are_disjoint(self, a: Any, b: Any, depth: int) -> bool:
        if a is False or b is False or not self.types(a) & self.types(b):
            return True
        a, b = self.dereferenced(a), self.dereferenced(b)
        if not isinstance(a, dict) or not isinstance(b, dict) or depth == 0:
            return False
        values_a, values_b = _values(a), _values(b)
        if values_a is not None and values_b is not None:
            return not any(x == y and _type_of(x) == _type_of(y) for x in values_a for y in values_b)
        both = set(a.get("required") or ()) & set(b.get("required") or ())
        members_a, members_b = a.get("properties") or {}, b.get("properties") or {}
        objects_only = self.types(a) & self.types(b) <= {"object"}
        return objects_only and any(
            self.are_disjoint(members_a[name], members_b[name], depth - 1)
            for name in both
            if name in members_a and name in members_b
        )

    def dereferenced(self, schema: Any) -> Any:
        for _ in range(8):
            if not (isinstance(schema, dict) and "$ref" in schema):
                break
            schema = self.resolve(schema)
        return schema

    def measure(self, schema: Any, depth: int, budget: int) -> tuple[int, int]:
        schema = self.dereferenced(schema)
        if not isinstance(schema, dict) or budget == 0:
            return 0, depth
        members = schema.get("properties")
        children = list(members.values()) if isinstance(members, dict) else []
        count = len(children)
        children += [schema[key] for key in ("items", "additionalProperties") if isinstance(schema.get(key), dict)]
        measured = [self.measure(child, depth + 1, budget - 4) for child in children]
        measured += [self.measure(part, depth, budget - 4) for key in IN_PLACE_LISTS for part in schema.get(key, ())]
        has_children = bool(children)
        deepest = max([level for _, level in measured], default=depth)
        return count + sum(n for n, _ in measured), deepest if has_children or measured else depth


def are_patterns_disjoint(schema: dict[str, Any]) -> bool:
    """True if no name is matched by two patterns, or by one and declared: as far as the heads of `^…` patterns show."""
    patterns = schema.get("patternProperties")
    if not isinstance(patterns, dict) or not patterns:
        return True
    declared = schema.get("properties")
    try:
        if any(
            re.search(pattern, name)
            for pattern in patterns
            for name in (declared if isinstance(declared, dict) else ())
        ):
            return False
    except re.error:
        return False
    heads = [
        match.group(1) if (match := re.match(r"\^((?:[\w -](?![*+?{|]))*)", pattern)) else "" for pattern in patterns
    ]
    has_choice = len(patterns) > 1 and any("|" in pattern for pattern in patterns)
    return not has_choice and all(not a.startswith(b) and not b.startswith(a) for a, b in combinations(heads, 2))


def _values(schema: dict[str, Any]) -> list[Any] | None:
    if "const" in schema:
        return [schema["const"]]
    return schema["enum"] if isinstance(schema.get("enum"), list) else None


def _type_of(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    if isinstance(value, str | list | dict):
        return {str: "string", list: "array", dict: "object"}[type(value)]
    return "number"
