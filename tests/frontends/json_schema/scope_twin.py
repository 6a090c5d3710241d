"""A literal reading of how references work, for a handful of keywords: what `scopes.py` is held against.

Nothing is cached or reduced, and no keyword is passed over because another one has failed: the dynamic scope
is the list of all resources entered, in order, and every reference searches it anew.

Source:  JSON Schema 2020-12 core, 7.1 and 8.2.3; 2019-09 core, 8.2.4.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin

TYPES = {"integer": int, "string": str, "boolean": bool, "array": list, "object": dict}
MAX_DEPTH = 60


class Endless(Exception):
    """The schema applies itself to the same value without end."""


class Nowhere(Exception):
    """A reference leads nowhere."""


class Twin:
    """`documents` by URI; the first is the schema."""

    def __init__(self, documents: dict[str, Any]):
        self.resources: dict[str, Any] = {}
        self.anchors: dict[tuple[str, str], tuple[Any, bool]] = {}
        for uri, document in documents.items():
            self._index(document, uri, uri)
        self.first = next(iter(self.resources))

    def _index(self, schema: Any, base: str, own: str | None) -> None:
        if not isinstance(schema, dict):
            return
        if own is not None or "$id" in schema:
            base = urljoin(base, schema.get("$id", base))
            self.resources[base] = schema
        for keyword in ("$anchor", "$dynamicAnchor"):
            if keyword in schema:
                self.anchors[base, schema[keyword]] = (schema, keyword == "$dynamicAnchor")
        for inner in _inside(schema):
            self._index(inner, base, None)

    def valid(self, value: Any) -> bool:
        return self._valid(self.resources[self.first], value, (self.first,), 0)

    def _valid(self, schema: Any, value: Any, scope: tuple[str, ...], depth: int) -> bool:
        if isinstance(schema, bool):
            return schema
        if depth > MAX_DEPTH:
            raise Endless
        if "$id" in schema and schema is not self.resources[scope[-1]]:
            scope = (*scope, urljoin(scope[-1], schema["$id"]))
        return all([self._keyword(name, said, value, scope, depth) for name, said in schema.items()])

    def _keyword(self, name: str, said: Any, value: Any, scope: tuple[str, ...], depth: int) -> bool:
        if name == "type":
            names = said if isinstance(said, list) else [said]
            return any(type(value) is TYPES[one] for one in names)
        if name == "properties":
            members = value if isinstance(value, dict) else {}
            return all([self._valid(said[k], members[k], scope, 0) for k in said if k in members])
        if name == "additionalProperties":
            return not isinstance(value, dict) or all([self._valid(said, v, scope, 0) for v in value.values()])
        if name == "items":
            return not isinstance(value, list) or all([self._valid(said, v, scope, 0) for v in value])
        if name == "allOf":
            return all([self._valid(one, value, scope, depth + 1) for one in said])
        if name in ("$ref", "$dynamicRef", "$recursiveRef"):
            schema, resource = self._target(name, said, scope)
            return self._valid(schema, value, scope if resource == scope[-1] else (*scope, resource), depth + 1)
        return True

    def _target(self, keyword: str, reference: str, scope: tuple[str, ...]) -> tuple[Any, str]:
        resource, _, fragment = urljoin(scope[-1], reference).partition("#")
        if resource not in self.resources:
            raise Nowhere
        if keyword == "$recursiveRef":
            for uri in reversed(scope):
                if self.resources[uri].get("$recursiveAnchor") is not True:
                    break
                resource = uri
            return self.resources[resource], resource
        if fragment.startswith("/"):
            node = self.resources[resource]
            for step in fragment[1:].split("/"):
                if not isinstance(node, dict) or step not in node:
                    raise Nowhere
                node = node[step]
                if isinstance(node, dict) and "$id" in node:
                    resource = urljoin(resource, node["$id"])
            return node, resource
        if not fragment:
            return self.resources[resource], resource
        if (resource, fragment) not in self.anchors:
            raise Nowhere
        schema, is_dynamic = self.anchors[resource, fragment]
        if keyword == "$dynamicRef" and is_dynamic:
            for uri in scope:
                if self.anchors.get((uri, fragment), (None, False))[1]:
                    return self.anchors[uri, fragment][0], uri
        return schema, resource


def _inside(schema: dict[str, Any]) -> Iterator[Any]:
    for name in ("$defs", "properties"):
        yield from schema.get(name, {}).values()
    yield from (schema[name] for name in ("items", "additionalProperties") if name in schema)
    yield from schema.get("allOf", ())
