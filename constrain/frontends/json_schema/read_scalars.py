"""Readers of the keywords that speak of types, constants, numbers and strings (see `reading.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from constrain.frontends.json_schema.expect import count, fail, number
from constrain.frontends.json_schema.formats import BEFORE_IDNA, EXCLUDES_NOTHING, FORMATS, NARROWER, NUMBER_FORMATS
from constrain.frontends.json_schema.hints import TYPES
from constrain.frontends.json_schema.shapes import Shape, StringShape
from constrain.frontends.json_schema.values import exact, freeze, is_number

if TYPE_CHECKING:
    from constrain.frontends.json_schema.atoms import Place
    from constrain.frontends.json_schema.build import Builder
    from constrain.frontends.json_schema.reading import Reading

_ONE_TYPE = {name: frozenset(["number" if name == "integer" else name]) for name in TYPES}


def types(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    """`type`: one name or a list of them."""
    builder.findings.enforced(place.path, keyword)
    if isinstance(value, str) and value in _ONE_TYPE:
        reading.types, reading.integer = _ONE_TYPE[value], value == "integer"
        return
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, Sequence) or not names or not all(name in TYPES for name in names if _is_text(name)):
        fail(place, keyword, value, "one of " + ", ".join(TYPES) + ", or a list of them")
    if not all(_is_text(name) for name in names):
        fail(place, keyword, value, "a list of type names")
    reading.types = frozenset("number" if name == "integer" else name for name in names)
    reading.integer = "integer" in names and "number" not in names


def types_draft4(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    """`type` of draft 4, where `1.0` is a number but no integer."""
    types(builder, place, reading, keyword, value)
    reading.plain = True


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def enumeration(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    """`enum`: any of the values."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        fail(place, keyword, value, "a list of values")
    builder.findings.enforced(place.path, keyword)
    if all([type(item) is str for item in value]) and value:
        texts = builder.spellable(tuple(dict.fromkeys(value)), place, keyword)
        reading.values.append(Shape(strings=(StringShape(finite=texts),)) if texts else Shape())
        return
    reading.values.append(builder.shape_of_values([freeze(item, place.path) for item in value], place, keyword))
    if not value:
        builder.contradiction(place, "enum has no values")


def constant(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    """`const`: this value."""
    builder.findings.enforced(place.path, keyword)
    frozen = freeze(value, place.path)
    reading.values.append(builder.shape_of_values([frozen], place, keyword))


# ---------------------------------------------------------------- numbers


def _bound(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> Decimal:
    builder.findings.enforced(place.path, keyword)
    reading.touched.add("number")
    return number(place, keyword, value)


def minimum(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    reading.minimum = _bound(builder, place, reading, keyword, value)


def maximum(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    reading.maximum = _bound(builder, place, reading, keyword, value)


def exclusive_minimum(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    reading.exclusive_minimum = _bound(builder, place, reading, keyword, value)


def exclusive_maximum(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    reading.exclusive_maximum = _bound(builder, place, reading, keyword, value)


def exclusive_minimum_flag(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    """Draft 4: a boolean that sharpens `minimum`."""
    if not isinstance(value, bool):
        fail(place, keyword, value, "true or false in this dialect")
    builder.findings.enforced(place.path, keyword)
    reading.touched.add("number")
    reading.minimum_is_open = value


def exclusive_maximum_flag(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    """Draft 4: a boolean that sharpens `maximum`."""
    if not isinstance(value, bool):
        fail(place, keyword, value, "true or false in this dialect")
    builder.findings.enforced(place.path, keyword)
    reading.touched.add("number")
    reading.maximum_is_open = value


def exclusive_minimum_mixed(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    if isinstance(value, bool):
        exclusive_minimum_flag(builder, place, reading, keyword, value)
        builder.findings.note(place.path, keyword, "a boolean, as in draft 4")
    else:
        exclusive_minimum(builder, place, reading, keyword, value)


def exclusive_maximum_mixed(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    if isinstance(value, bool):
        exclusive_maximum_flag(builder, place, reading, keyword, value)
        builder.findings.note(place.path, keyword, "a boolean, as in draft 4")
    else:
        exclusive_maximum(builder, place, reading, keyword, value)


def multiple_of(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    if not is_number(value) or exact(value, place.path) <= 0:
        fail(place, keyword, value, "a number greater than 0")
    reading.multiples = (*reading.multiples, _bound(builder, place, reading, keyword, value))


# ---------------------------------------------------------------- strings


def min_length(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    reading.min_length = count(place, keyword, value)
    reading.touched.add("string")
    builder.findings.enforced(place.path, keyword)


def max_length(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    reading.max_length = count(place, keyword, value)
    reading.touched.add("string")
    builder.findings.enforced(place.path, keyword)


def pattern(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    """`pattern`: an ECMA-262 regular expression that is found somewhere in the string."""
    if not isinstance(value, str):
        fail(place, keyword, value, "a regular expression")
    term = builder.pattern(value, place, keyword)
    if term is None:
        reading.exact = False
        return
    reading.parts = (*reading.parts, term)
    reading.touched.add("string")


def value_format(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    """`format`: by the option `formats`, unless the dialect's own metaschema wants formats asserted."""
    if not isinstance(value, str):
        fail(place, keyword, value, "the name of a format")
    formats = "all" if place.scope.dialect.asserts_formats else builder.options.formats
    if formats == "annotation":
        builder.findings.annotation(place.path, keyword, "formats are annotations, by option")
    elif value in FORMATS:
        reading.parts = (*reading.parts, FORMATS[value]())
        reading.touched.add("string")
        if value in NARROWER:
            builder.findings.note(place.path, keyword, NARROWER[value], "narrower")
        else:
            builder.findings.enforced(place.path, keyword)
    elif value in NUMBER_FORMATS:
        reading.number_format = NUMBER_FORMATS[value]
        reading.touched.add("number")
        builder.findings.note(place.path, keyword, f"of numbers alone: {value}")
    elif value in EXCLUDES_NOTHING:
        builder.findings.annotation(place.path, keyword, f"the format {value!r} {EXCLUDES_NOTHING[value]}")
    elif formats == "known":
        builder.findings.annotation(place.path, keyword, f"the format {value!r} is not known")
    else:
        builder.findings.refuse(
            place.path, keyword, f"is {value!r}, which is not known", 'use formats="known" to take it as an annotation'
        )
        reading.exact = False


def format_before_idna(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    """`format` of drafts 4 and 6, whose host names know no Punycode."""
    if not isinstance(value, str) or value not in BEFORE_IDNA or builder.options.formats == "annotation":
        value_format(builder, place, reading, keyword, value)
        return
    reading.parts = (*reading.parts, BEFORE_IDNA[value]())
    reading.touched.add("string")
    builder.findings.enforced(place.path, keyword)


def content(builder: Builder, place: Place, reading: Reading, keyword: str, value: Any) -> None:
    """`contentEncoding` and its kin assert nothing."""
    builder.findings.annotation(place.path, keyword, "says what a string holds, and asserts nothing")
