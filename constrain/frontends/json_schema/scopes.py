"""Where schemas stand: a resource, and the resources that were entered on the way to it.

    Scope   a resource with its dynamic scope; `lookup` follows references of all three kinds
    Shelf   all documents of one compilation: the schema, the registry given, the metaschemas. Nothing is ever fetched

**The dynamic scope, reduced.** What `$dynamicRef` leads to hangs on all resources entered before, but only in this: for
each dynamic anchor, which resource that declares it was entered first. So a scope keeps that map (without the entries
of its own resource, which follow), and for `$recursiveRef` the first resource of the unbroken chain of resources with
`$recursiveAnchor: true` that leads here. Both are finite, scopes with the same ones are the same object, and so places,
keyed by schema and scope, stay finite under any recursion. A document is searched for dynamic anchors only when a
second resource is entered; without any, each resource has one scope.

Source:  JSON Schema 2020-12 core, 8.2.3.2 and 7.1; 2019-09 core, 8.2.4.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any
from urllib.parse import unquote

from constrain.errors import InvalidSpecification, ReferenceNotFound, shorten
from constrain.frontends.json_schema.dialects import Dialect, dialect_of
from constrain.frontends.json_schema.resources import NOWHERE, Found, Resource, join, point, without_fragment
from constrain.frontends.json_schema.values import as_json

Schema = Any
"""A parsed schema: a mapping or a bool, where it is well-formed."""

Target = tuple[Schema, str, "Scope"]
"""What a reference leads to: the schema, its pointer and its scope."""

SHOWN_NAMES = 3
SEARCHED_NAMES = 2_000
"""Among how many names one that looks like what was written is looked for."""


class Scope:
    """A resource and its dynamic scope. Shared by all places that stand so."""

    __slots__ = ("_entered", "_found", "_shelf", "dialect", "ends", "outer", "recursive", "resource")

    def __init__(self, shelf: Shelf, resource: Resource, outer: Mapping[str, Resource], recursive: Resource | None):
        self._shelf = shelf
        self.resource = resource
        self.dialect = resource.dialect
        self.outer = outer
        self.recursive = recursive
        self._found: dict[tuple[str, str], Target] = {}
        self._entered: dict[int, Scope] = {}
        self.ends: dict[int, tuple[Target, list[str], int]] = {}

    @property
    def root(self) -> Schema:
        """The schema that is the whole resource."""
        return self.resource.root

    @property
    def label(self) -> str:
        """What tells this scope from others of its resource; empty where there is nothing to tell."""
        parts = [f"{name}={resource.path}" for name, resource in sorted(self.outer.items())]
        return " ".join(parts + ([f"$recursiveRef={self.recursive.path}"] if self.recursive else []))

    def of(self, schema: Mapping[str, Any], path: str) -> Scope:
        """The scope of a schema that stands here: a new one if it is a resource of its own (`$id`)."""
        if schema is self.resource.root or self.dialect.id_of(schema) is None:
            return self
        return self.enter(self.resource.inner(schema, path))

    def enter(self, resource: Resource) -> Scope:
        """The scope of `resource`, entered from here."""
        if resource is self.resource:
            return self
        scope = self._entered.get(id(resource))
        if scope is None:
            here = self.resource
            outer = {**dict.fromkeys(here.dynamic, here), **self.outer}
            outer = {name: first for name, first in outer.items() if first is not resource}
            recursive = (self.recursive or here) if here.is_recursive else None
            recursive = None if recursive is resource else recursive
            scope = self._entered[id(resource)] = self._shelf.scope(resource, outer, recursive)
        return scope

    def lookup(self, reference: str, at: str, keyword: str = "$ref") -> Target:
        """What `reference` leads to, as the value of `keyword`.

        `$dynamicRef` to a dynamic anchor counts in the outermost resource that declares it; `$recursiveRef` leads to
        the first of the chain of resources that let themselves be extended, else to this one.

        Raises:  ReferenceNotFound; InvalidSpecification: if what is there is no schema.
        """
        found = self._found.get((keyword, reference))
        if found is None:
            resource, schema, path = self._find(reference, at)
            if keyword == "$dynamicRef":
                resource, schema, path = self._outermost(reference, resource, schema, path)
            elif keyword == "$recursiveRef" and resource.is_recursive and self.recursive is not None:
                resource = self.recursive
                schema, path = resource.root, resource.path
            if not isinstance(schema, (Mapping, bool)):
                raise InvalidSpecification(
                    f"the reference {shorten(reference)!r} leads to {as_json(schema)}, which is no schema",
                    at=at,
                    expected="a reference to an object, true or false",
                )
            found = self._found[keyword, reference] = (schema, path, self.enter(resource))
        return found

    def _outermost(self, reference: str, resource: Resource, schema: Schema, path: str) -> Found:
        name = unquote(reference.partition("#")[2])
        if name.startswith("/") or name not in resource.dynamic or resource.dynamic[name][0] is not schema:
            return resource, schema, path
        first = self.outer.get(name) or (self.resource if name in self.resource.dynamic else resource)
        return first, *first.dynamic[name]

    def _find(self, reference: str, at: str) -> Found:
        """The resource, schema and pointer that `reference` leads to, whatever was entered before."""
        uri, _, fragment = reference.partition("#")
        resource = self.resource
        if uri:
            whole = without_fragment(join(resource.uri, uri))
            if whole != resource.uri:
                resource = self._shelf.find(whole)
                if resource is None:
                    reason, help = self._shelf.missing(whole)
                    raise ReferenceNotFound(reference, at=at, reason=reason, help=help)
        name = unquote(fragment) if "%" in fragment else fragment
        if not name:
            return resource, resource.root, resource.path
        if not name.startswith("/"):
            return _anchored(resource, name, reference, at)
        found, node, path = point(resource, name[1:].split("/"))
        if node is NOWHERE:
            near, missing = found, path.rpartition("/")[2]
            help = _near(missing, near) if isinstance(near, Mapping) else None
            raise ReferenceNotFound(reference, at=at, reason=f"there is nothing at {path}", help=help)
        return found, node, path


def _anchored(resource: Resource, name: str, reference: str, at: str) -> Found:
    if name not in resource.anchors:
        reason = f"there is no anchor {shorten(name)!r} in {resource.path or '#'}"
        raise ReferenceNotFound(reference, at=at, reason=reason, help=_near(name, resource.anchors))
    return resource, *resource.anchors[name]


def _near(name: str, names: Mapping[str, Any]) -> str:
    """Help: the names there are, those first that look like `name`."""
    searched = [other for _, other in zip(range(SEARCHED_NAMES), names, strict=False) if isinstance(other, str)]
    if not searched:
        return "there are no names at all there"
    close = get_close_matches(name, searched, 1, 0.9) or get_close_matches(name, searched, SHOWN_NAMES, 0.6)
    shown = close or searched[:SHOWN_NAMES]
    more = f" and {len(names) - len(shown):,} more" if len(names) > len(shown) else ""
    return (
        ("did you mean " if close else "there is ")
        + ", ".join(repr(shorten(n)) for n in shown)
        + ("?" if close else more)
    )


class Shelf:
    """All documents of one compilation: the schema itself, the registry given, and the metaschemas.

    `base_uri` is that of the schema where it does not name itself; its relative references start from there.
    """

    def __init__(self, schema: Schema, dialect: Dialect, documents: Mapping[str, Any], base_uri: str = ""):
        self.schema = schema
        self._given = documents
        self._by_uri: dict[str, Resource] = {}
        self._roots: dict[str, Resource] = {}
        self._scopes: dict[tuple[Any, ...], Scope] = {}
        self._stages = 0
        own = dialect_of(schema, dialect, self._document)
        root = Resource(schema, "#", base_uri, own, self._document)
        self._by_uri = {"": root}
        self._by_uri.setdefault(base_uri, root)
        self._by_uri.setdefault(root.uri, root)
        self.root = self.scope(root, {}, None)

    def scope(self, resource: Resource, outer: Mapping[str, Resource], recursive: Resource | None) -> Scope:
        """The one scope of `resource` with this dynamic scope."""
        entries = frozenset([(name, id(first)) for name, first in outer.items()])
        key = (id(resource), entries, id(recursive))
        if key not in self._scopes:
            self._scopes[key] = Scope(self, resource, outer, recursive)
        return self._scopes[key]

    def find(self, uri: str) -> Resource | None:
        """The resource that `uri` (without a fragment) names, or None. The nearest places are searched first."""
        while uri not in self._by_uri and self._stages < 3:
            self._stages += 1
            if self._stages == 1:
                self._enter_all(self._by_uri[""])
            elif self._stages == 2:
                self._enter_roots()
            else:
                for resource in self._roots.values():
                    self._enter_all(resource)
        return self._by_uri.get(uri) or self._metaschema(uri)

    def _enter_all(self, resource: Resource) -> None:
        stack = [resource]
        while stack:
            resource = stack.pop()
            self._by_uri.setdefault(resource.uri, resource)
            stack.extend(reversed(resource.resources))

    def _enter_roots(self) -> None:
        """The registry's documents, by the names they are given and those they give themselves."""
        for uri, contents in self._given.items():
            name = without_fragment(uri)
            if not isinstance(contents, (Mapping, bool)):
                raise InvalidSpecification(
                    f"the registry's document {shorten(uri)!r} is {as_json(contents)}",
                    expected="an object, true or false",
                )
            dialect = dialect_of(contents, self.root.dialect, self._document, at=f"{name}#")
            resource = self._roots[name] = Resource(contents, f"{name}#", name, dialect, self._document)
            self._by_uri.setdefault(name, resource)
        for name, resource in self._roots.items():
            self._by_uri.setdefault(resource.uri, resource)
            self._by_uri.setdefault(unquote(name), resource)

    def _metaschema(self, uri: str) -> Resource | None:
        from jsonschema_specifications import REGISTRY

        found = REGISTRY.get(uri)
        if found is None:
            return None
        dialect = dialect_of(found.contents, self.root.dialect, self._document)
        resource = self._by_uri[uri] = Resource(found.contents, f"{uri}#", uri, dialect, self._document)
        return resource

    def _document(self, uri: str) -> Any:
        """The document of the registry that has this URI, as it stands there; None if there is none."""
        name = without_fragment(uri)
        for key in (name, f"{name}#"):
            if key in self._given:
                return self._given[key]
        for contents in self._given.values():
            identifier = contents.get("$id") if isinstance(contents, Mapping) else None
            if isinstance(identifier, str) and without_fragment(identifier) == name:
                return contents
        return None

    def missing(self, uri: str) -> tuple[str, str]:
        """Why there is no resource called `uri`, and what helps."""
        reason = f"no document has the URI {shorten(uri)!r}"
        advice = "pass it in registry={uri: schema} or a folder of schemas, since nothing is fetched"
        known = [name for name in self._by_uri if name and name != uri]
        if not known:
            return reason, advice
        return reason, f"{advice}; of the documents here, {_near(uri, dict.fromkeys(known))}"
