"""What can be told at a glance: the shape of a constant, the types and constants that a schema names on its face.

Nothing here reads a subschema or looks into an array or object, so it costs little and needs no table of atoms.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from constrain.errors import InvalidSpecification
from constrain.frontends.json_schema.hints import TYPES
from constrain.frontends.json_schema.shapes import ConstShape, NumberShape, Shape, StringShape
from constrain.frontends.json_schema.values import (
    Decimal,
    JsonValue,
    ObjectValue,
    freeze,
    is_number,
    value_key,
)
from constrain.grammar import regular

if TYPE_CHECKING:
    from constrain.frontends.json_schema.atoms import Place


def distinct(values: Sequence[JsonValue]) -> list[JsonValue]:
    """`values`, each once: the first of those that are equal in JSON's sense."""
    return list({value_key(value): value for value in reversed(values)}.values())[::-1]


def shape_of_value(value: JsonValue) -> Shape:
    """The shape of just `value`."""
    if value is None:
        return Shape(null=True)
    if isinstance(value, bool):
        return Shape(booleans=(value,))
    if isinstance(value, Decimal):
        return Shape(numbers=(NumberShape(finite=(value,)),))
    if isinstance(value, str):
        return Shape(strings=(StringShape(finite=(value,)),))
    record = ConstShape(value, value_key(value))
    return Shape(objects=(record,)) if isinstance(value, ObjectValue) else Shape(arrays=(record,))


def has_records(shape: Shape) -> bool:
    """True unless every record is seen to be empty; one of strings is asked whether it holds any."""
    if shape.null or shape.booleans or shape.numbers or shape.has_containers:
        return True
    return any(record.finite is not None or not regular.is_empty(record.term()) for record in shape.strings)


def peek_schema(place: Place) -> tuple[frozenset[str] | None, frozenset[Any] | None]:
    """The types and the keys of the constants that the schema at `place` names on its face (None: any)."""
    schema, dialect = place.schema, place.scope.dialect
    if dialect.ref_hides_siblings and "$ref" in schema:
        return None, None
    types: frozenset[str] | None = None
    declared = schema.get("type")
    names = (declared,) if isinstance(declared, str) else declared if isinstance(declared, (list, tuple)) else ()
    if names and all([isinstance(name, str) and name in TYPES for name in names]):
        types = frozenset(["number" if name == "integer" else name for name in names])
    values = None
    if "const" in schema and "const" in dialect.readers:
        values = [schema["const"]]
    elif isinstance(schema.get("enum"), (list, tuple)):
        values = schema["enum"]
    if values is None or not all(isinstance(v, (str, bool)) or v is None or is_number(v) for v in values):
        return types, None
    try:
        return types, frozenset(value_key(freeze(value, place.path)) for value in values)
    except InvalidSpecification:  # said when the place is read
        return types, None
