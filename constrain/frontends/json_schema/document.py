"""Schema documents: reading JSON text exactly, and following references.

`parse` reads text with exact decimal numbers and refuses what JSON leaves open (a name twice in one object, NaN).
`Scope` is where a schema stands: the resource that contains it, its base URI, its dialect. `Scope.lookup` follows a
reference with the `referencing` library (pointers, `$id`, `$anchor`, a registry of documents); a plain pointer inside
one resource is followed here, because real schemas hold thousands of them. Nothing is ever fetched.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import unquote

from constrain.errors import InvalidSpecification, LimitExceeded, ReferenceNotFound, shorten
from constrain.frontends.json_schema.dialects import Dialect, dialect_of
from constrain.frontends.json_schema.values import escape

Schema = Any
"""A parsed schema: a mapping or a bool, where it is well-formed."""


def parse(text: str) -> Any:
    """The JSON value of `text`; numbers with a point or an exponent as Decimal.

    Raises:  InvalidSpecification: not JSON (with line:column), a name twice in one object, NaN or Infinity.
             LimitExceeded: nested too deep for the reader.
    """
    try:
        return json.loads(text, parse_float=Decimal, parse_constant=_refuse_constant, object_pairs_hook=_unique_names)
    except json.JSONDecodeError as error:
        raise InvalidSpecification(
            f"the schema is not JSON: {error.msg}",
            at=f"{error.lineno}:{error.colno}",
            expected="a JSON object, true or false",
        ) from None
    except RecursionError:
        raise LimitExceeded("the schema nests too deep to be read", limit="schema_depth") from None
    except (ValueError, InvalidOperation) as error:
        raise InvalidSpecification(f"the schema holds a number that cannot be read: {shorten(str(error))}") from None


def _refuse_constant(name: str) -> Any:
    raise InvalidSpecification(f"the schema is not JSON: {name} is not a number", expected="a finite number")


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))
        raise InvalidSpecification(
            f"the name {shorten(repr(twice))} stands twice in one object", help="keep the one that is meant"
        )
    return members


class Scope:
    """Where schemas stand: a resource's root, its place, its dialect and resolver. Shared by all places of it."""

    __slots__ = ("_children", "_found", "_resolver", "_shelf", "dialect", "path", "root")

    def __init__(self, shelf: Shelf, root: Schema, path: str, dialect: Dialect, resolver: Any):
        self._shelf = shelf
        self.root = root
        self.path = path
        self.dialect = dialect
        self._resolver = resolver
        self._found: dict[str, tuple[Schema, str, Scope]] = {}
        self._children: dict[int, Scope] = {}

    def of(self, schema: Mapping[str, Any], path: str) -> Scope:
        """The scope of a schema that stands here: a new one if it is a resource of its own (`$id`)."""
        identifier = self.dialect.id_of(schema)
        if identifier is None or schema is self.root:
            return self
        if id(schema) not in self._children:
            dialect = dialect_of(schema, self.dialect, self._shelf.documents)
            resolver = self.resolver.in_subresource(dialect.specification().create_resource(schema))
            self._children[id(schema)] = Scope(self._shelf, schema, path, dialect, resolver)
        return self._children[id(schema)]

    @property
    def resolver(self) -> Any:
        """A `referencing` resolver with this scope's base URI."""
        if self._resolver is None:
            self._resolver = self._shelf.root_resolver()
        return self._resolver

    def lookup(self, reference: str, at: str) -> tuple[Schema, str, Scope]:
        """What `reference` leads to: the schema, its pointer and its scope.

        Raises:  ReferenceNotFound.
        """
        found = self._found.get(reference)
        if found is None:
            found = self._plain_pointer(reference, at) or self._resolve(reference, at)
            self._found[reference] = found
        return found

    def _plain_pointer(self, reference: str, at: str) -> tuple[Schema, str, Scope] | None:
        """A pointer within this resource; None if `reference` is none, or another resource lies on the way."""
        if reference in ("#", ""):
            return self.root, self.path, self
        if not reference.startswith("#/"):
            return None
        node, path = self.root, self.path
        for raw in reference[2:].split("/"):
            if node is not self.root and isinstance(node, Mapping) and self.dialect.id_of(node) is not None:
                return None
            segment = (unquote(raw) if "%" in raw else raw).replace("~1", "/").replace("~0", "~")
            node = _step(node, segment)
            if node is _NOWHERE:
                raise ReferenceNotFound(reference, at=at, help=f"there is nothing at {path}/{escape(segment)}")
            path = f"{path}/{escape(segment)}"
        return node, path, self

    def _resolve(self, reference: str, at: str) -> tuple[Schema, str, Scope]:
        from referencing.exceptions import Unresolvable

        try:
            resolved = self.resolver.lookup(reference)
        except (Unresolvable, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise ReferenceNotFound(
                reference, at=at, help="correct it, or pass the document as registry={uri: schema}"
            ) from None
        return self._shelf.place(resolved.contents, resolved.resolver, self.dialect, reference)


_NOWHERE = object()


def _step(node: Any, segment: str) -> Any:
    if isinstance(node, Mapping):
        return node.get(segment, _NOWHERE)
    if isinstance(node, Sequence) and not isinstance(node, str) and segment.isascii() and segment.isdigit():
        index = int(segment) if len(segment) < 10 else len(node)
        return node[index] if index < len(node) else _NOWHERE
    return _NOWHERE


class Shelf:
    """All documents of one compilation: the schema itself, and the registry given."""

    def __init__(self, schema: Schema, dialect: Dialect, documents: Mapping[str, Any] | None):
        self.schema = schema
        self._dialect = dialect
        self.documents = documents or {}
        self._places: dict[int, str] | None = None
        self._scopes: dict[tuple[int, str], Scope] = {}
        self._kept: list[Any] = []
        self.root = Scope(self, schema, "#", dialect_of(schema, dialect, self.documents), None)

    def root_resolver(self) -> Any:
        """A resolver that stands at the schema's root and knows every document given and the metaschemas."""
        from jsonschema_specifications import REGISTRY
        from referencing import Resource
        from referencing.exceptions import CannotDetermineSpecification

        resources: list[tuple[str, Any]] = []
        for uri, document in self.documents.items():
            default = self._dialect.specification()
            try:
                resource = Resource.from_contents(document, default_specification=default)
            except (CannotDetermineSpecification, AttributeError, TypeError):
                resource = default.create_resource(document)
            resources.append((uri, resource))
        registry = REGISTRY.with_resources(resources)
        root = self.root.dialect.specification().create_resource(self.schema)
        return registry.resolver_with_root(root)

    def place(self, contents: Schema, resolver: Any, dialect: Dialect, reference: str) -> tuple[Schema, str, Scope]:
        """Where resolved `contents` stand. `resolver` already has the base URI of the resource that holds them."""
        base = resolver._base_uri
        if id(contents) in self._pointers():
            path = self._pointers()[id(contents)]
        else:
            path = reference if "#" in reference else reference + "#"
        key = (id(contents), base)
        if key not in self._scopes:
            self._kept.append(contents)
            resource_root = self._resource_root(base, resolver)
            holder = dialect_of(resource_root, dialect, self.documents)
            root_path = self._pointers().get(id(resource_root), f"{base}#")
            self._scopes[key] = self._scope_of(base, resource_root, root_path, holder, resolver)
        return contents, path, self._scopes[key]

    def _scope_of(self, base: str, root: Schema, path: str, dialect: Dialect, resolver: Any) -> Scope:
        if root is self.schema:
            return self.root
        key = (-1, base)
        if key not in self._scopes:
            self._scopes[key] = Scope(self, root, path, dialect, resolver)
        return self._scopes[key]

    def _resource_root(self, base: str, resolver: Any) -> Schema:
        from referencing.exceptions import Unresolvable

        try:
            root = resolver.lookup(base).contents if base else self.schema
        except Unresolvable:
            root = self.schema
        self._kept.append(root)
        return root

    def is_only_anchor(self, schema: Schema, keyword: str, value: object) -> bool:
        """True if `schema` is the one place, of all documents, where `keyword` has that value."""
        if id(schema) not in self._pointers() or self.documents:
            return False
        stack, count = [self.schema], 0
        seen: set[int] = set()
        while stack:
            node = stack.pop()
            if isinstance(node, (Mapping, list)) and id(node) not in seen:
                seen.add(id(node))
                count += isinstance(node, Mapping) and node.get(keyword) == value
                stack.extend(child for _, child in _children(node))
        return count == 1

    def _pointers(self) -> dict[int, str]:
        """The pointer of every object and array of the schema, by identity; made when first needed."""
        if self._places is None:
            self._places = {}
            stack: list[tuple[Any, str]] = [(self.schema, "#")]
            while stack:
                node, path = stack.pop()
                if isinstance(node, (Mapping, list)) and id(node) not in self._places:
                    self._places[id(node)] = path
                    stack.extend((child, f"{path}/{escape(str(name))}") for name, child in _children(node))
        return self._places


def _children(node: Any) -> Iterator[tuple[object, Any]]:
    return iter(node.items()) if isinstance(node, Mapping) else enumerate(node)
