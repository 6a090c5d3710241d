"""The order in which names first appear in a schema: own `properties`, then in-place schemas in document order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from constrain.frontends.json_schema.references import target_of

if TYPE_CHECKING:
    from constrain.frontends.json_schema.scopes import Scope, Target


def collect_names(target: Target, names: dict[str, None]) -> None:
    """Add the names that the schema at `target` and those applied in place there declare. Iterative, depth-first."""
    seen: set[tuple[int, int]] = set()
    stack = [target]
    while stack:
        schema, path, scope = stack.pop()
        if not isinstance(schema, Mapping):
            continue
        scope = scope.of(schema, path)
        if (id(schema), id(scope)) in seen:
            continue
        seen.add((id(schema), id(scope)))
        hidden = scope.dialect.ref_hides_siblings and "$ref" in schema
        own = schema.get("properties")
        if isinstance(own, Mapping) and not hidden:
            names.update(dict.fromkeys([name for name in own if isinstance(name, str)]))
        inner: list[Target] = []
        for keyword in schema:
            if keyword in _GATHER and keyword in scope.dialect.readers and (not hidden or keyword == "$ref"):
                gather = _GATHER[keyword]
                if gather is not None:
                    inner += gather(schema[keyword], path, scope)
                elif (found := target_of(scope, keyword, schema[keyword])) is not None:
                    inner.append(found)
        stack.extend(reversed(inner))


def _several(schemas: Any, path: str, scope: Scope) -> list[Target]:
    return [(schema, path, scope) for schema in schemas] if isinstance(schemas, (list, tuple)) else []


def _named(schemas: Any, path: str, scope: Scope) -> list[Target]:
    return [(schema, path, scope) for schema in schemas.values()] if isinstance(schemas, Mapping) else []


def _one(schema: Any, path: str, scope: Scope) -> list[Target]:
    return [(schema, path, scope)]


_GATHER: Mapping[str, Callable[[Any, str, Scope], list[Target]] | None] = {
    "allOf": _several,
    "anyOf": _several,
    "oneOf": _several,
    "$ref": None,
    "$dynamicRef": None,
    "$recursiveRef": None,
    "if": _one,
    "then": _one,
    "else": _one,
    "dependentSchemas": _named,
    "dependencies": _named,
}
