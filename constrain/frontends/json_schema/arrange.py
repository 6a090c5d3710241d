"""Values with their members in the order in which `key_order="declared"` writes them.

A valid value has many texts; the grammar of a schema holds those in declared order only. `arrange` puts the members of
every object of a value into that order, so that a text from elsewhere can be compared with the grammar.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from constrain.frontends.json_schema.compile import settle
from constrain.frontends.json_schema.evaluate import array_in, belongs, object_in
from constrain.frontends.json_schema.intersect import child_of
from constrain.frontends.json_schema.options import SchemaOptions
from constrain.frontends.json_schema.shapes import ANYTHING, ArrayShape, Child, ObjectShape
from constrain.frontends.json_schema.values import JsonValue, ObjectValue, freeze


class Arranger:
    """Arranges values of one schema (parsed), and tells which values its shapes hold."""

    def __init__(self, schema: Mapping[str, Any] | bool, options: SchemaOptions | None = None):
        settled = settle(schema, options or SchemaOptions())
        self._builder = settled.builder
        self._root = settled.root

    def holds(self, value: Any) -> bool:
        """True if the shape of the schema holds the parsed JSON `value`."""
        return belongs(freeze(value, "#"), self._root, self._builder.shape_of)

    def arrange(self, value: Any) -> Any:
        """`value`, its objects in declared order; an object that the schema does not allow keeps its order."""
        return self._arranged(value, freeze(value, "#"), self._root)

    def _arranged(self, value: Any, frozen: JsonValue, child: Child) -> Any:
        shape_of = self._builder.shape_of
        if isinstance(frozen, tuple):
            records = shape_of(child).arrays
            found = next((r for r in records if isinstance(r, ArrayShape) and array_in(r, frozen, shape_of)), None)
            children = [found.item(i) if found else ANYTHING for i in range(len(frozen))]
            return [self._arranged(*three) for three in zip(value, frozen, children, strict=True)]
        if isinstance(frozen, ObjectValue):
            rank = {name: i for i, name in enumerate(self._builder.order_of(child))}
            objects = shape_of(child).objects
            record = next((r for r in objects if isinstance(r, ObjectShape) and object_in(r, frozen, shape_of)), None)
            if record is not None:
                for name in (*record.members, *record.required):
                    rank.setdefault(name, len(rank))
            names = sorted(value, key=lambda name: rank.get(name, len(rank)))
            inner = dict(frozen.members)
            return {
                name: self._arranged(value[name], inner[name], child_of(record, name) if record else ANYTHING)
                for name in names
            }
        return value
