"""An instance with its members in the order of its schema, as `key_order="declared"` writes them.

The order is that of first appearance reading depth-first: a schema's own `properties`, then its siblings (`allOf`,
`anyOf`, `oneOf`, `$ref`, `if`, `then`, `else`, `dependentSchemas`) in document order; then required names that are not
declared, those of `dependentRequired` after the name that brings them; then all others as they stand. Written apart
from the front end on purpose: it judges it.

Where branches declare the same names in different orders the order depends on the branch. So there are two candidates:
one that reads every branch, one that reads only branches that the value may satisfy by type, const, enum and required.
Where `$schema` names draft 4, 6 or 7 a `$ref` hides what stands beside it.

Not done: `$dynamicRef` and references to other documents or by `$id` (their members keep the order they have).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

BRANCHES = ("anyOf", "oneOf")
REF_HIDES = re.compile(r"json-schema\.org/draft-0[467]/schema")
IN_PLACE = ("allOf", "anyOf", "oneOf", "$ref", "if", "then", "else", "dependentSchemas", "dependencies")


def candidates(schema: Any, value: Any) -> list[Any]:
    """`value` re-sorted: by all branches, then (if that differs) by plausible branches alone."""
    sorter = _Sorter(schema)
    broad = sorter.sort([schema], value, plausible_only=False)
    narrow = sorter.sort([schema], value, plausible_only=True)
    return [broad] if _names(broad) == _names(narrow) else [broad, narrow]


def resolve_pointer(root: Any, reference: str) -> Any:
    """What a local reference (`#`, `#/a/b`, `#anchor`) leads to; None if nowhere."""
    if not reference.startswith("#"):
        return None
    fragment = unquote(reference[1:])
    if fragment and not fragment.startswith("/"):
        return _find_anchor(root, fragment)
    here = root
    for step in fragment.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(here, dict) and name in here:
            here = here[name]
        elif isinstance(here, list) and name.isdigit() and int(name) < len(here):
            here = here[int(name)]
        else:
            return None
    return here


def _find_anchor(root: Any, name: str) -> Any:
    pending = [root]
    while pending:
        here = pending.pop()
        if isinstance(here, dict):
            if name in (here.get("$anchor"), here.get("$dynamicAnchor")) or here.get("$id") == f"#{name}":
                return here
            pending.extend(here.values())
        elif isinstance(here, list):
            pending.extend(here)
    return None


class _Sorter:
    def __init__(self, root: Any):
        self.root = root
        declared = root.get("$schema") if isinstance(root, dict) else None
        self.ref_hides = isinstance(declared, str) and REF_HIDES.search(declared) is not None

    def sort(self, schemas: list[Any], value: Any, *, plausible_only: bool) -> Any:
        if isinstance(value, dict):
            views = list(self.views(schemas, value, plausible_only))
            order = {name: None for view in views for name in _mapping(view, "properties")}
            order |= {name: None for view in views for name in _required(view, value) if isinstance(name, str)}
            names = [name for name in order if name in value] + [name for name in value if name not in order]
            return {
                name: self.sort(_member_schemas(views, name), value[name], plausible_only=plausible_only)
                for name in names
            }
        if isinstance(value, list):
            views = list(self.views(schemas, value, plausible_only))
            return [
                self.sort(
                    _item_schemas(views, index) + self.contained(views, item, plausible_only),
                    item,
                    plausible_only=plausible_only,
                )
                for index, item in enumerate(value)
            ]
        return value

    def contained(self, views: list[dict[str, Any]], item: Any, plausible_only: bool) -> list[Any]:
        """The `contains` schemas: what is contained has their members in their order."""
        found = [view["contains"] for view in views if "contains" in view]
        return [one for one in found if not plausible_only or self.is_plausible(one, item, depth=4)]

    def views(self, schemas: list[Any], value: Any, plausible_only: bool) -> Iterator[dict[str, Any]]:
        """Every schema that applies to the same place, depth-first; each once."""
        seen: set[int] = set()
        pending = list(reversed(schemas))
        while pending:
            schema = pending.pop()
            if not isinstance(schema, dict) or id(schema) in seen:
                continue
            seen.add(id(schema))
            if self.ref_hides and isinstance(schema.get("$ref"), str):
                schema = {"$ref": schema["$ref"]}
            yield schema
            below: list[Any] = []
            for keyword, argument in schema.items():
                if keyword in IN_PLACE:
                    below += self.branches(keyword, argument, value, plausible_only)
            pending.extend(reversed(below))

    def branches(self, keyword: str, argument: Any, value: Any, plausible_only: bool) -> list[Any]:
        if keyword == "$ref":
            return [resolve_pointer(self.root, argument)] if isinstance(argument, str) else []
        if keyword in ("dependentSchemas", "dependencies"):
            return [schema for schema in _values(argument) if isinstance(schema, dict)]
        if keyword in ("if", "then", "else"):
            return [argument]
        branches = argument if isinstance(argument, list) else []
        if plausible_only and keyword in BRANCHES:
            return [branch for branch in branches if self.is_plausible(branch, value, depth=4)]
        return branches

    def is_plausible(self, schema: Any, value: Any, depth: int) -> bool:
        """False only if `schema` cannot hold for `value` by type, const, enum, required or a closed object."""
        if depth == 0 or not isinstance(schema, dict):
            return schema is not False
        types = schema.get("type")
        if types is not None and _type_of(value) not in _widened(types):
            return False
        if ("const" in schema and schema["const"] != value) or (
            "enum" in schema and value not in _values(schema["enum"])
        ):
            return False
        if "$ref" in schema and isinstance(schema["$ref"], str):
            target = resolve_pointer(self.root, schema["$ref"])
            if not self.is_plausible(True if target is None else target, value, depth - 1):
                return False
        if not all(self.is_plausible(part, value, depth - 1) for part in _sequence(schema, "allOf")):
            return False
        for keyword in BRANCHES:
            parts = _sequence(schema, keyword)
            if parts and not any(self.is_plausible(part, value, depth - 1) for part in parts):
                return False
        if not isinstance(value, dict):
            return True
        if not all(name in value for name in _sequence(schema, "required")):
            return False
        declared = _mapping(schema, "properties")
        if (
            schema.get("additionalProperties") is False
            and "patternProperties" not in schema
            and set(value) - set(declared)
        ):
            return False
        return all(self.is_plausible(declared[name], value[name], depth - 1) for name in value if name in declared)


def _required(view: dict[str, Any], value: dict[str, Any]) -> list[Any]:
    """Names that `view` requires of `value`; a name that others depend on comes right before them."""
    found = list(_sequence(view, "required"))
    for keyword in ("dependentRequired", "dependencies"):
        for name, rule in _mapping(view, keyword).items():
            if name in value and rule and isinstance(rule, list):
                found += [name, *rule]
    return found


def _member_schemas(views: list[dict[str, Any]], name: str) -> list[Any]:
    found: list[Any] = []
    for view in views:
        declared = _mapping(view, "properties")
        here = [declared[name]] if name in declared else []
        here += [schema for pattern, schema in _mapping(view, "patternProperties").items() if _search(pattern, name)]
        if not here and "additionalProperties" in view:
            here = [view["additionalProperties"]]
        if not here and "unevaluatedProperties" in view:
            here = [view["unevaluatedProperties"]]
        found += here
    return found


def _item_schemas(views: list[dict[str, Any]], index: int) -> list[Any]:
    found: list[Any] = []
    for view in views:
        items = view.get("items")
        prefix = items if isinstance(items, list) else _sequence(view, "prefixItems")
        rest = view.get("additionalItems") if isinstance(items, list) else items
        found.append(prefix[index] if index < len(prefix) else rest)
    return [schema for schema in found if schema is not None]


def _search(pattern: str, name: str) -> bool:
    try:
        return re.search(pattern, name) is not None
    except re.error:
        return False


def _type_of(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    if isinstance(value, str | list | dict):
        return {str: "string", list: "array", dict: "object"}[type(value)]
    return "number"


def _widened(types: Any) -> set[str]:
    return {"number" if name == "integer" else name for name in ([types] if isinstance(types, str) else _values(types))}


def _mapping(schema: dict[str, Any], keyword: str) -> dict[str, Any]:
    value = schema.get(keyword)
    return value if isinstance(value, dict) else {}


def _sequence(schema: dict[str, Any], keyword: str) -> list[Any]:
    value = schema.get(keyword)
    return value if isinstance(value, list) else []


def _values(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []


def _names(value: Any) -> Any:
    """The order of names at every depth, to compare two re-sortings by."""
    if isinstance(value, dict):
        return tuple((name, _names(member)) for name, member in value.items())
    return tuple(_names(item) for item in value) if isinstance(value, list) else None
