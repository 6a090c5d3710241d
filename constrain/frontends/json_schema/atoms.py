"""The atoms of children: a schema where it stands, a constant, the negation of a child, a choice of children."""

from __future__ import annotations

from typing import Any

from constrain.frontends.json_schema.scopes import Scope
from constrain.frontends.json_schema.shapes import NOT_TRACKED, Child
from constrain.frontends.json_schema.values import JsonValue


class Place:
    """A schema and where it stands; `tracked` are the types of which its records say what they have evaluated."""

    __slots__ = ("path", "schema", "scope", "tracked")

    def __init__(self, schema: Any, path: str, scope: Scope, tracked: frozenset[str] = NOT_TRACKED):
        self.schema = schema
        self.path = path
        self.scope = scope
        self.tracked = tracked

    @property
    def key(self) -> str:
        """The place's name: its path, and where the dynamic scope matters that too."""
        return f"{self.path} {self.scope.label}" if self.scope.outer or self.scope.recursive else self.path


class Constant:
    """An atom that is one value; `path` is where it was met first."""

    __slots__ = ("path", "value")

    def __init__(self, value: JsonValue, path: str):
        self.value = value
        self.path = path


class Negation:
    """An atom that is everything but `child`."""

    __slots__ = ("child", "path")

    def __init__(self, child: Child, path: str):
        self.child = child
        self.path = path


class Either:
    """An atom that is what any of `children` allows."""

    __slots__ = ("children", "path")

    def __init__(self, children: tuple[Child, ...], path: str):
        self.children = children
        self.path = path


Atom = Place | Constant | Negation | Either
