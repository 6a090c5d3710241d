"""Whether a JSON value belongs to a shape, decided on the shape itself (not on the schema it was read from).

Used for constants beside other keywords: exact, and defined for every shape. Costs what the value weighs times the
records that it meets.
"""

from __future__ import annotations

from collections.abc import Callable

from constrain.frontends.json_schema.intersect import child_of, number_in, string_in
from constrain.frontends.json_schema.shapes import ArrayRecord, ArrayShape, Child, ConstShape, ObjectRecord, Shape
from constrain.frontends.json_schema.values import Decimal, JsonValue, ObjectValue, value_key

ShapeOf = Callable[[Child], Shape]


def belongs(value: JsonValue, child: Child, shape_of: ShapeOf) -> bool:
    """True if `value` is one that `child` allows."""
    if not child:
        return True
    shape = shape_of(child)
    if value is None:
        return shape.null
    if isinstance(value, bool):
        return value in shape.booleans
    if isinstance(value, Decimal):
        return any(number_in(record, value) for record in shape.numbers)
    if isinstance(value, str):
        return any(string_in(record, value) for record in shape.strings)
    if isinstance(value, tuple):
        return any(array_in(record, value, shape_of) for record in shape.arrays)
    return any(object_in(record, value, shape_of) for record in shape.objects)


def array_in(record: ArrayRecord, value: tuple[JsonValue, ...], shape_of: ShapeOf) -> bool:
    """True if the array `value` satisfies `record`."""
    if isinstance(record, ConstShape):
        return record.key == value_key(value) and const_is_allowed(record, shape_of)
    if len(value) < record.min or (record.max is not None and len(value) > record.max):
        return False
    if record.unique is not None and len({value_key(item) for item in value}) < len(value):
        return False
    if not all(belongs(item, record.item(i), shape_of) for i, item in enumerate(value)):
        return False
    for contained in record.contains:
        count = sum(belongs(item, contained.child, shape_of) for item in value)
        if count < contained.min or (contained.max is not None and count > contained.max):
            return False
    return not any(array_in(other, value, shape_of) for other in record.outside)


def object_in(record: ObjectRecord, value: ObjectValue, shape_of: ShapeOf) -> bool:
    """True if the object `value` satisfies `record`."""
    if isinstance(record, ConstShape):
        return record.key == value_key(value) and const_is_allowed(record, shape_of)
    members = dict(value.members)
    if len(members) < record.min or (record.max is not None and len(members) > record.max):
        return False
    if not all(name in members for name in record.required):
        return False
    if not all(belongs(item, child_of(record, name), shape_of) for name, item in members.items()):
        return False
    return not any(object_in(other, value, shape_of) for other in record.outside)


def const_is_allowed(record: ConstShape, shape_of: ShapeOf) -> bool:
    """True if the constant satisfies all its conditions."""
    for condition in record.conditions:
        if isinstance(condition, ArrayShape):
            if not isinstance(record.value, tuple) or not array_in(condition, record.value, shape_of):
                return False
        elif not isinstance(record.value, ObjectValue) or not object_in(condition, record.value, shape_of):
            return False
    return True
