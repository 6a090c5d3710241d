"""Resources: what in a document has a URI of its own, and the anchors in it.

`Resource` is a schema with an identifier (`$id`, in draft 4 `id`), or a whole document. Its anchors and the resources
in it are found by one walk over the places where its dialect has schemas, when they are first asked for; an `$id` in a
`const`, or under a keyword that the dialect does not know, is none. `point` follows a JSON pointer and minds the
resources on the way.

`referencing` is not used to follow references: its resolver has no place for our dialects (custom metaschemas, the
mixed one), walks all documents at the first name, and its dynamic scope leaves out resources that were entered without
a reference. The judge uses it, with that put right, and tests hold the two beside each other.

Source:  JSON Schema 2020-12 core, 8.2 and 9; RFC 3986 (joining), RFC 6901 (pointers: percent-decoded, then split).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urljoin

from constrain.frontends.json_schema.dialects import Dialect, dialect_of
from constrain.frontends.json_schema.values import escape

NOWHERE = object()
"""What a pointer finds where there is nothing."""

NAMED = frozenset(("$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"))
"""Keywords whose value holds schemas by name."""

DIRECT = frozenset(
    ("additionalItems", "additionalProperties", "allOf", "anyOf", "contains", "contentSchema", "else", "if", "items",
     "not", "oneOf", "prefixItems", "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties")
)  # fmt: skip
"""Keywords whose value is a schema or a list of schemas."""

Anchors = dict[str, tuple[Any, str]]
"""Schema and pointer by name."""

Found = tuple["Resource", Any, str]


def join(base: str, reference: str) -> str:
    """`reference` against `base`; what is no URI stands for itself."""
    try:
        return urljoin(base, reference)
    except ValueError:
        return reference


def without_fragment(uri: str) -> str:
    """`uri` up to its `#`."""
    return uri.partition("#")[0]


class Resource:
    """A schema with a URI of its own. `path` is its pointer from the document's root; `uri` may be empty."""

    __slots__ = ("_anchors", "_documents", "_dynamic", "_inner", "_resources", "dialect", "path", "root", "uri")

    def __init__(self, root: Any, path: str, base: str, dialect: Dialect, documents: Callable[[str], Any]):
        self.root = root
        self.path = path
        self.dialect = dialect
        identifier = dialect.id_of(root) if isinstance(root, Mapping) else None
        self.uri = base if identifier is None else without_fragment(join(base, identifier))
        self._documents = documents
        self._inner: dict[int, Resource] = {}
        self._anchors: Anchors | None = None
        self._dynamic: Anchors = {}
        self._resources: list[Resource] = []

    def inner(self, schema: Mapping[str, Any], path: str) -> Resource:
        """The resource that `schema`, which stands in this one and has an identifier, is.

        Raises:  InvalidSpecification: if its `$schema` is not known.
        """
        resource = self._inner.get(id(schema))
        if resource is None:
            dialect = dialect_of(schema, self.dialect, self._documents, at=path)
            resource = self._inner[id(schema)] = Resource(schema, path, self.uri, dialect, self._documents)
        return resource

    @property
    def is_recursive(self) -> bool:
        """True if `$recursiveAnchor` lets this resource be extended."""
        known = "$recursiveAnchor" in self.dialect.known
        return known and isinstance(self.root, Mapping) and self.root.get("$recursiveAnchor") is True

    @property
    def anchors(self) -> Anchors:
        """All anchors, dynamic ones too."""
        if self._anchors is None:
            self._walk()
        return self._anchors or {}

    @property
    def dynamic(self) -> Anchors:
        """The dynamic anchors."""
        if self._anchors is None and "$dynamicAnchor" in self.dialect.known:
            self._walk()
        return self._dynamic

    @property
    def resources(self) -> list[Resource]:
        """The resources that stand in this one, but not in another one of them; in document order."""
        if self._anchors is None:
            self._walk()
        return self._resources

    def _walk(self) -> None:
        self._anchors = anchors = {}
        stack: list[tuple[Any, str]] = [(self.root, self.path)]
        seen: set[int] = set()
        while stack:
            schema, path = stack.pop()
            if not isinstance(schema, Mapping) or id(schema) in seen:
                continue
            seen.add(id(schema))
            if schema is not self.root and self.dialect.id_of(schema) is not None:
                self._resources.append(self.inner(schema, path))
                continue
            for name in self.dialect.anchors_of(schema):
                anchors.setdefault(name, (schema, path))
            name = schema.get("$dynamicAnchor") if "$dynamicAnchor" in self.dialect.known else None
            if isinstance(name, str):
                anchors.setdefault(name, (schema, path))
                self._dynamic.setdefault(name, (schema, path))
            stack.extend(reversed([*subschemas(schema, path, self.dialect)]))


def subschemas(schema: Mapping[str, Any], path: str, dialect: Dialect) -> Iterator[tuple[Any, str]]:
    """What stands in `schema` where `dialect` has schemas, with the pointer; not always a schema."""
    for keyword, value in schema.items():
        if keyword in NAMED:
            inner = value.items() if isinstance(value, Mapping) else ()
        elif keyword not in DIRECT:
            continue
        elif isinstance(value, Mapping):
            inner = ((None, value),)
        else:
            inner = enumerate(value) if isinstance(value, list) else ()
        if keyword in dialect.known:
            for name, subschema in inner:
                if isinstance(subschema, Mapping):
                    yield subschema, f"{path}/{keyword}" + ("" if name is None else f"/{escape(str(name))}")


def point(resource: Resource, segments: Sequence[str]) -> tuple[Any, Any, str]:
    """Follow a pointer's `segments` from the root of `resource`: the resource there, what is there, and its pointer.

    Where there is nothing: what was there last, NOWHERE, and the pointer up to the segment that fails.
    """
    node, path = resource.root, resource.path
    is_schema, holds_schemas = True, False
    for raw in segments:
        segment = raw.replace("~1", "/").replace("~0", "~") if "~" in raw else raw
        known = is_schema and segment in resource.dialect.known
        child = step(node, segment)
        path = f"{path}/{escape(segment)}"
        if child is NOWHERE:
            return node, NOWHERE, path
        is_direct = known and segment in DIRECT
        is_schema = holds_schemas or (is_direct and not isinstance(child, list))
        holds_schemas = (known and segment in NAMED) or (is_direct and isinstance(child, list))
        node = child
        if is_schema and isinstance(node, Mapping) and resource.dialect.id_of(node) is not None:
            resource = resource.inner(node, path)
    return resource, node, path


def step(node: Any, segment: str) -> Any:
    """The member or item of `node` that one segment of a pointer names, or NOWHERE."""
    if isinstance(node, Mapping):
        return node.get(segment, NOWHERE)
    if isinstance(node, Sequence) and not isinstance(node, str) and segment.isascii() and segment.isdigit():
        index = int(segment) if len(segment) < 10 and (segment == "0" or segment[0] != "0") else len(node)
        return node[index] if index < len(node) else NOWHERE
    return NOWHERE
