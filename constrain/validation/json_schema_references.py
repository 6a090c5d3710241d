"""References as the specifications say, where `referencing` does otherwise.

`ScopedResolver` stands in for its resolver, with these put right:

- `$ref` to a `$dynamicAnchor` is not dynamic; only `$dynamicRef` is.
- A resource counts as entered too where the value led into it without a reference (an `$id` under `properties`), and
  does not count where a pointer merely passes through it.
- What a dynamic reference leads to is read with the base URI of the resource that holds it.

Source:  JSON Schema 2020-12 core, 7.1 and 8.2.3.2; 2019-09 core, 8.2.4.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urldefrag, urljoin


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a reference leads to, and the resolver that stands there."""

    contents: Any
    resolver: ScopedResolver


@dataclass(frozen=True, slots=True)
class ScopedResolver:
    """A base URI, a registry of `referencing`, and all resources entered before, the outermost first."""

    base: str
    registry: Any
    previous: tuple[str, ...] = ()

    def in_subresource(self, subresource: Any) -> ScopedResolver:
        """The resolver for a schema that stands here; `subresource` is its `Resource`."""
        identifier = subresource.id()
        return self if identifier is None else self._enter(urljoin(self.base, identifier), self.registry)

    def _enter(self, base: str, registry: Any) -> ScopedResolver:
        if base == self.base:
            return self if registry is self.registry else replace(self, registry=registry)
        return ScopedResolver(base, registry, (*self.previous, self.base))

    def lookup(self, ref: str) -> Resolved:
        """What `$ref` leads to. Raises: referencing.exceptions.Unresolvable."""
        uri, fragment = self._parts(ref)
        return self._find(uri, fragment, self.registry)

    def lookup_dynamic(self, ref: str) -> Resolved:
        """What `$dynamicRef` leads to."""
        uri, name = self._parts(ref)
        resolved = self.lookup(ref)
        registry = resolved.resolver.registry
        if name and not name.startswith("/") and _is_dynamic(registry, uri, name):
            for base in (*self.previous, self.base):
                if _is_dynamic(registry, base, name):
                    return self._find(base, name, registry)
        return resolved

    def lookup_recursive(self) -> Resolved:
        """What `$recursiveRef` leads to: the outermost of the unbroken chain of resources that can be extended."""
        resolved = self.lookup("#")
        for base in (self.base, *reversed(self.previous)):
            outer = self._find(base, "", self.registry)
            if not isinstance(outer.contents, dict) or outer.contents.get("$recursiveAnchor") is not True:
                break
            resolved = outer
        return resolved

    def _parts(self, ref: str) -> tuple[str, str]:
        if ref.startswith("#"):
            return self.base, ref[1:]
        uri, fragment = urldefrag(urljoin(self.base, ref))
        return uri, fragment

    def _find(self, uri: str, fragment: str, registry: Any) -> Resolved:
        """A resolver of `referencing` that stands in the resource itself finds its own anchors, dynamic ones too."""
        found = registry.resolver(base_uri=uri).lookup(f"#{fragment}")
        return Resolved(found.contents, self._enter(found.resolver._base_uri, found.resolver._registry))


def _is_dynamic(registry: Any, base: str, name: str) -> bool:
    from referencing.exceptions import NoSuchAnchor
    from referencing.jsonschema import DynamicAnchor

    try:
        return isinstance(registry.anchor(base, name).value, DynamicAnchor)
    except (NoSuchAnchor, LookupError):
        return False


def resolver_of(root: Any, registry: Any, base_uri: str = "") -> ScopedResolver:
    """A resolver that stands at `root`, which comes from `base_uri`, and knows the metaschemas and `registry`."""
    from jsonschema_specifications import REGISTRY

    known = REGISTRY.combine(registry)
    if base_uri:
        uri = urljoin(base_uri, root.id() or "")
        return ScopedResolver(uri, known.with_resource(uri, root))
    plain = known.resolver_with_root(root)
    return ScopedResolver(plain._base_uri, plain._registry)


def resolve(validator: Any, keyword: str, reference: str) -> Any:
    """What a reference under `keyword` leads to, from where `validator` stands."""
    resolver = validator._resolver
    if keyword == "$recursiveRef":
        return resolver.lookup_recursive()
    return resolver.lookup_dynamic(reference) if keyword == "$dynamicRef" else resolver.lookup(reference)


def dynamic_ref(validator: Any, reference: str, instance: Any, schema: Any) -> Iterator[Any]:
    yield from _follow(validator, "$dynamicRef", reference, instance)


def recursive_ref(validator: Any, reference: str, instance: Any, schema: Any) -> Iterator[Any]:
    yield from _follow(validator, "$recursiveRef", reference, instance)


def _follow(validator: Any, keyword: str, reference: str, instance: Any) -> Iterable[Any]:
    resolved = resolve(validator, keyword, reference)
    return validator.descend(instance, resolved.contents, resolver=resolved.resolver)
