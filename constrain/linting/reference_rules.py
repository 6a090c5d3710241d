"""Rules about references: which definitions does nothing lead to?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from constrain.errors import ConstrainError, shorten
from constrain.linting.finding import Finding
from constrain.linting.places import DEFINITIONS, Place
from constrain.linting.rules import found

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


def unreachable(places: Sequence[Place]) -> frozenset[str]:
    """The paths of the definitions that cannot be reached from the root.

    A definition is reached by a reference to it or into it, from a place that is reached itself. Whatever has a
    dynamic anchor counts as reached, since which one is meant is not decided before a value is there.
    """
    by_path = {place.path: place for place in places}
    inner: dict[str, list[Place]] = {}
    for place in places:
        if place.parent is not None:
            inner.setdefault(place.parent.path, []).append(place)
    reached: set[str] = set()
    stack = [place for place in places if place.parent is None or _is_dynamic(place)]
    while stack:
        place = stack.pop()
        if place.path in reached:
            continue
        reached.add(place.path)
        stack += [child for child in inner.get(place.path, ()) if child.keyword not in DEFINITIONS]
        for target in _targets(place):
            while target and target not in by_path and "/" in target:
                target = target.rpartition("/")[0]
            if target in by_path:
                stack.append(by_path[target])
    return frozenset(p.path for p in places if p.keyword in DEFINITIONS and not _is_reached(p, reached, inner))


def _is_reached(place: Place, reached: set[str], inner: Mapping[str, list[Place]]) -> bool:
    """True if the definition is reached, or something in it."""
    stack = [place]
    while stack:
        current = stack.pop()
        if current.path in reached:
            return True
        stack += inner.get(current.path, ())
    return False


def _is_dynamic(place: Place) -> bool:
    return isinstance(place.schema, Mapping) and "$dynamicAnchor" in place.schema


def _targets(place: Place) -> Iterator[str]:
    for keyword in REFERENCES:
        reference = place.keywords.get(keyword)
        if isinstance(reference, str):
            try:
                yield place.scope.lookup(reference, place.path)[1]
            except ConstrainError:
                continue


def unreachable_findings(places: Sequence[Place], paths: frozenset[str]) -> Iterator[Finding]:
    """A finding for each definition that nothing leads to; a schema of definitions only is a library, and has none."""
    root = places[0].schema if places else None
    if not isinstance(root, Mapping) or not any(name in root for name in _APPLIES):
        return
    for place in places:
        if place.path in paths and not any(place.path.startswith(f"{path}/") for path in paths):
            yield found("unreachable-definition", place.path, f"nothing refers to {shorten(repr(place.name))}",
                        help="remove it, or refer to it")  # fmt: skip


_APPLIES = frozenset(
    ("$ref", "$dynamicRef", "$recursiveRef", "type", "properties", "items", "prefixItems", "allOf", "anyOf", "oneOf",
     "patternProperties", "additionalProperties", "if", "enum", "const", "not", "required")
)  # fmt: skip
