"""Readers of the keywords that speak of arrays and objects (see `reading.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from constrain.frontends.json_schema.expect import count, fail, flag, members, names, schemas
from constrain.frontends.json_schema.shapes import ANYTHING, NOTHING, Child, Containment, conjoin
from constrain.frontends.json_schema.values import escape
from constrain.grammar.terms import ANY_TEXT, intersection

if TYPE_CHECKING:
    from constrain.frontends.json_schema.atoms import Place
    from constrain.frontends.json_schema.build import Builder
    from constrain.frontends.json_schema.reading import Reading

# ---------------------------------------------------------------- arrays


def _array(builder: Builder, place: Place, reading: Reading, keyword: str) -> None:
    builder.findings.enforced(place.path, keyword)
    reading.touched.add("array")


def _children(builder: Builder, place: Place, keyword: str, value: Sequence[Any]) -> tuple[Child, ...]:
    return tuple([builder.below(place, schema, f"{keyword}/{i}") for i, schema in enumerate(value)])


def items(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    """`items` of 2020-12: the items behind `prefixItems`."""
    _array(builder, place, reading, keyword)
    reading.items = conjoin(reading.items, builder.below(place, value, keyword))


def items_or_tuple(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    """`items` before 2020-12: a schema for all items, or a list of schemas for the first ones."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        _array(builder, place, reading, keyword)
        reading.items_are_tuple = True
        reading.prefix = _children(builder, place, keyword, value)
    else:
        items(builder, place, reading, keyword, value)


def items_mixed(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    """As before 2020-12; a list beside `prefixItems` is refused, since no dialect has both."""
    is_tuple = isinstance(value, Sequence) and not isinstance(value, str)
    if is_tuple and "prefixItems" in place.schema:
        fail(place, keyword, value, "a schema beside 'prefixItems'")
    items_or_tuple(builder, place, reading, keyword, value)
    if is_tuple:
        builder.findings.note(place.path, keyword, "a list, as before 2020-12")


def prefix_items(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    _array(builder, place, reading, keyword)
    reading.prefix = _children(builder, place, keyword, schemas(place, keyword, value))


def additional_items(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    """`additionalItems`: the items behind a list in `items`; without one it says nothing."""
    if isinstance(place.schema.get("items"), (list, tuple)):
        _array(builder, place, reading, keyword)
        reading.additional_items = builder.below(place, value, keyword)
    else:
        builder.findings.annotation(place.path, keyword, "says nothing without a list in 'items'")


def additional_items_mixed(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    additional_items(builder, place, reading, keyword, value)
    if isinstance(place.schema.get("items"), (list, tuple)):
        builder.findings.note(place.path, keyword, "as before 2020-12")


def min_items(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    reading.min_items = max(reading.min_items, count(place, keyword, value))
    _array(builder, place, reading, keyword)


def max_items(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    most = count(place, keyword, value)
    reading.max_items = most if reading.max_items is None else min(most, reading.max_items)
    _array(builder, place, reading, keyword)


def unique_items(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    if flag(place, keyword, value):
        _array(builder, place, reading, keyword)
        reading.unique = place.path


def contains(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    """`contains` with `minContains` and `maxContains`, where the dialect has them."""
    counted = "minContains" in place.scope.dialect.readers
    least = count(place, "minContains", place.schema.get("minContains", 1)) if counted else 1
    most = place.schema.get("maxContains") if counted else None
    most = None if most is None else count(place, "maxContains", most)
    child = builder.below(place, value, keyword)
    _array(builder, place, reading, keyword)
    if most is not None and least > most:
        builder.contradiction(place, f"minContains {least} > maxContains {most}")
        reading.max_items = -1
    elif child == ANYTHING:
        reading.min_items = max(reading.min_items, least)
        if most is not None:
            reading.max_items = most if reading.max_items is None else min(most, reading.max_items)
    elif child == NOTHING:
        reading.max_items = reading.max_items if least == 0 else -1
    elif least > 0 or most is not None:
        reading.contains.append(Containment(child, least, most, place.path))


def contains_count(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    """`minContains` and `maxContains` are read by `contains`."""
    count(place, keyword, value)
    if "contains" in place.schema:
        builder.findings.enforced(place.path, keyword)
    else:
        builder.findings.annotation(place.path, keyword, "says nothing without 'contains'")


# ---------------------------------------------------------------- objects


def _object(builder: Builder, place: Place, reading: Reading, keyword: str) -> None:
    builder.findings.enforced(place.path, keyword)
    reading.touched.add("object")


def properties(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    _object(builder, place, reading, keyword)
    path, scope = f"{place.path}/{keyword}/", place.scope
    found = reading.members
    for name, schema in members(place, keyword, value).items():
        found[name] = builder.of_value(schema, path + escape(name), scope)


def pattern_properties(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    for text, schema in members(place, keyword, value).items():
        term = builder.pattern(text, place, keyword)
        if term is None:
            reading.exact = False
            reading.is_open = True
            continue
        _object(builder, place, reading, keyword)
        reading.patterns.append((term, builder.below(place, schema, f"{keyword}/{escape(text)}")))


def additional_properties(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    _object(builder, place, reading, keyword)
    reading.additional = conjoin(reading.additional, builder.below(place, value, keyword))


def required(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    reading.required.update(names(place, keyword, value))
    _object(builder, place, reading, keyword)


def min_properties(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    reading.min_members = count(place, keyword, value)
    _object(builder, place, reading, keyword)


def max_properties(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    reading.max_members = count(place, keyword, value)
    _object(builder, place, reading, keyword)


def property_names(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    """`propertyNames`: the strings of its shape are the names allowed."""
    child = builder.below(place, value, keyword)
    language, is_exact = builder.names_language(child, place, keyword)
    if not is_exact:
        reading.exact = False
    if language is None:
        return
    if language != ANY_TEXT:
        _object(builder, place, reading, keyword)
        reading.names = language if reading.names is None else intersection(reading.names, language)
    else:
        builder.findings.enforced(place.path, keyword)
