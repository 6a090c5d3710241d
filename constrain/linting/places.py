"""The places of a JSON Schema: every subschema with its pointer, its scope, and how it is reached from its parent.

Main types: `Place`, and `walk`, which yields them in document order, parents first; also what no reference reaches.
The walk has a stack of its own and limits, and steps over what is no schema: whatever it is given, it ends, also a
dict that holds itself. A pointer is as long as its place is deep, so depth is limited too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from constrain.errors import ConstrainError
from constrain.frontends.json_schema.dialects import Dialect
from constrain.frontends.json_schema.resources import DIRECT, NAMED
from constrain.frontends.json_schema.scopes import Scope
from constrain.frontends.json_schema.values import escape

MAX_PLACES = 100_000
MAX_NESTING = 500
"""Schemas inside of each other: more than the reader of JSON text lets through."""

DEFINITIONS = frozenset(("$defs", "definitions"))
BRANCHES = frozenset(("allOf", "anyOf", "oneOf", "then", "else", "dependentSchemas", "dependencies"))
"""Keywords whose schemas apply to the value at hand, and must hold for some of its values."""
TESTS = frozenset(("not", "if"))
"""Keywords whose schemas apply to the value at hand, and need not hold."""


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """`schema` stands at `path` as the value of `keyword` of `parent` (or in it, under `name`)."""

    schema: Any
    path: str
    scope: Scope
    parent: Place | None = None
    keyword: str = ""
    name: str = ""
    depth: int = 0
    """How deep the values that it speaks of lie in the root's values; definitions begin anew."""

    @property
    def dialect(self) -> Dialect:
        """What the keywords here mean."""
        return self.scope.dialect

    @property
    def keywords(self) -> Mapping[str, Any]:
        """The members that are read here: none of a boolean; `$ref` alone where the dialect ignores what is beside."""
        if not isinstance(self.schema, Mapping):
            return {}
        if self.dialect.ref_hides_siblings and "$ref" in self.schema:
            return {"$ref": self.schema["$ref"]}
        return self.schema

    def at(self, *steps: str | int) -> str:
        """The pointer of something in this schema."""
        return "/".join((self.path, *(escape(str(step)) for step in steps)))

    @property
    def is_test(self) -> bool:
        """True if this schema is one that values are tried on, or applies in place to one that is."""
        place: Place | None = self
        while place is not None and place.keyword in BRANCHES | TESTS:
            if place.keyword in TESTS:
                return True
            place = place.parent
        return False


def walk(schema: Any, scope: Scope) -> Iterator[Place]:
    """Every place of `schema`, whose root stands in `scope`, up to 100,000 of them and 500 deep."""
    stack = [(Place(schema, "#", scope), 0)]
    left = MAX_PLACES
    while stack and left:
        place, nesting = stack.pop()
        left -= 1
        if isinstance(place.schema, Mapping):
            try:
                scope = place.scope.of(place.schema, place.path)
            except ConstrainError:  # a resource in a dialect that nobody knows
                continue
            if scope is not place.scope:
                place = Place(place.schema, place.path, scope, place.parent, place.keyword, place.name, place.depth)
            yield place
            if nesting < MAX_NESTING:
                stack.extend((child, nesting + 1) for child in reversed([*_children(place)]))
        elif isinstance(place.schema, bool):
            yield place


def _children(place: Place) -> Iterator[Place]:
    known = place.dialect.known
    hidden = place.dialect.ref_hides_siblings and "$ref" in place.schema
    for keyword, value in place.schema.items():
        if keyword in DEFINITIONS:
            depth = 0
        elif hidden or keyword not in known:
            continue
        else:
            depth = place.depth if keyword in BRANCHES | TESTS else place.depth + 1
        if keyword in NAMED and isinstance(value, Mapping):
            for name, inner in value.items():
                if isinstance(name, str):
                    yield Place(inner, place.at(keyword, name), place.scope, place, keyword, name, depth)
        elif keyword in DIRECT and isinstance(value, list):
            for i, inner in enumerate(value):
                yield Place(inner, place.at(keyword, i), place.scope, place, keyword, str(i), depth)
        elif keyword in DIRECT:
            yield Place(value, place.at(keyword), place.scope, place, keyword, "", depth)
