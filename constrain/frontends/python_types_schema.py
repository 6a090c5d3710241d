"""Pydantic's JSON schema, made as narrow as Pydantic's validator.

A subclass of Pydantic's generator replaces the schemas of those types whose JSON form says less than the validator
checks (found by comparing the two on instances), then passes over the finished schema:

- a branch of a discriminated union must name its tag: `required` is added beside the reference;
- `propertyNames` of a mapping becomes `patternProperties` or `properties`, which says the same of closed mappings.

Formats that no standard defines are dropped; where they restrict anything, `python_types_rules` has a rule for it.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Mapping
from typing import Any

from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic.json_schema import GenerateJsonSchema

from constrain.frontends.python_types_patterns import to_ecma

__all__ = ["NoJsonSchema", "json_schema"]

Schema = dict[str, Any]

STANDARD_FORMATS = frozenset({
    "date-time", "date", "time", "duration", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6", "uri",
    "uri-reference", "iri", "iri-reference", "uuid", "uri-template", "json-pointer", "relative-json-pointer", "regex",
})  # fmt: skip

YEAR_ONE = "^0{0,3}[1-9]"
"""With a format that fixes four digits: not the year 0000, which Python does not have."""

DAYS = (
    "(?:(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    "|02-(?:0[1-9]|1[0-9]|2[0-8]))"
    "|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)-02-29)"
)
"""A day of the calendar from the year 1 on."""
CLOCK = "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,6})?"
DURATION = (
    "^P(?:[0-9]{1,7}W|(?:[0-9]{1,5}Y)?(?:[0-9]{1,6}M)?(?:[0-9]{1,8}D)?"
    "(?:T(?:[0-9]{1,6}H)?(?:[0-9]{1,7}M)?(?:[0-9]{1,9}S)?)?)$"
)
INTEGER = "^(?:0|-?[1-9][0-9]*)$"
DECIMAL = "^-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?$"
FRACTION = "^-?(?:0|[1-9][0-9]*)(?:/[1-9][0-9]*|\\.[0-9]+)?$"
COMPLEX = "^-?[0-9]+(?:\\.[0-9]+)?(?:[+-][0-9]+(?:\\.[0-9]+)?j)?$"
HEX = "^(?:[0-9a-fA-F]{2})*$"
BASE64 = "^(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-][AQgw]==|[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048]=)?$"
UUID = "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"
MAX_DIGITS_SPELT = 30


class NoJsonSchema(Exception):
    """A core schema without a form in JSON; `core` is the node, `what` its name."""

    def __init__(self, core: Any, what: str) -> None:
        super().__init__(what)
        self.core = core
        self.what = what


def json_schema(adapter: Any) -> Schema:
    """The JSON schema of a `TypeAdapter`. Raises: NoJsonSchema."""
    try:
        schema = adapter.json_schema(mode="validation", schema_generator=_Generator)
    except PydanticInvalidForJsonSchema as error:
        raise NoJsonSchema(None, str(error).splitlines()[0]) from None
    definitions = schema.get("$defs", {})
    for node in _schemas(schema):
        _require_tags(node, definitions)
        _lower_property_names(node, definitions)
        _drop_foreign_format(node)
        _drop_infinite_bounds(node)
    return schema


class _Generator(GenerateJsonSchema):
    """Narrower schemas for the types whose JSON form Pydantic leaves wide."""

    def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> Schema:
        cls = schema.get("cls")
        name = getattr(cls, "__name__", None) or str(schema.get("type", error_info))
        raise NoJsonSchema(schema, f"a value of type {name}")

    def is_subclass_schema(self, schema: Any) -> Schema:
        raise NoJsonSchema(schema, "a class")

    # ------------------------------------------------------------ strings

    def str_schema(self, schema: Any) -> Schema:
        json = super().str_schema(schema)
        if isinstance(json.get("pattern"), str):
            json["pattern"] = to_ecma(json["pattern"]).text
        for keyword, setting in (("minLength", "str_min_length"), ("maxLength", "str_max_length")):
            bound = getattr(self._config, setting, None)  # a model's own bounds, which the schema leaves out
            if isinstance(bound, int) and bound > 0:
                json.setdefault(keyword, bound)
        return json

    def bytes_schema(self, schema: Any) -> Schema:
        json = super().bytes_schema(schema)
        json.pop("format", None)
        encoding = getattr(self._config, "val_json_bytes", "utf8")
        if encoding in ("hex", "base64"):
            json = {"type": "string", "pattern": HEX if encoding == "hex" else BASE64}
        return json

    def date_schema(self, schema: Any) -> Schema:
        return super().date_schema(schema) | {"pattern": YEAR_ONE}

    def datetime_schema(self, schema: Any) -> Schema:
        if schema.get("tz_constraint") == "naive":  # the format demands an offset
            return {"type": "string", "pattern": f"^{DAYS}T{CLOCK}$"}
        return super().datetime_schema(schema) | {"pattern": YEAR_ONE + "[^:]*:[0-9]{2}:[0-5]"}  # no leap second

    def time_schema(self, schema: Any) -> Schema:
        return super().time_schema(schema) | {"pattern": "^[0-9]{2}:[0-9]{2}:[0-5]"}

    def timedelta_schema(self, schema: Any) -> Schema:
        json = super().timedelta_schema(schema)
        return json | {"pattern": DURATION} if json.get("type") == "string" else json

    def uuid_schema(self, schema: Any) -> Schema:
        version = schema.get("version")
        json: Schema = {"type": "string", "format": "uuid"}
        if version is not None:
            json["pattern"] = f"^[0-9a-fA-F]{{8}}-[0-9a-fA-F]{{4}}-{version:x}[0-9a-fA-F]{{3}}-[89abAB]"
        return json

    def complex_schema(self, schema: Any) -> Schema:
        return {"type": "string", "pattern": COMPLEX}

    def fraction_schema(self, schema: Any) -> Schema:
        number = _number(schema)
        return number if _bounds(schema) else {"anyOf": [number, {"type": "string", "pattern": FRACTION}]}

    # ------------------------------------------------------------ numbers

    def decimal_schema(self, schema: Any) -> Schema:
        """A number, or text in which no bound can be said: with bounds only the number is left."""
        digits, places = schema.get("max_digits"), schema.get("decimal_places")
        if digits is not None and places is not None:
            places = min(digits, places)
        number = _number(schema)
        forms = [number] if digits is None and places is None else _decimal_numbers(number, digits, places)
        if not _bounds(schema) and (digits is None or digits <= MAX_DIGITS_SPELT):
            forms = [*forms, {"type": "string", "pattern": _decimal_pattern(digits, places)}]
        return forms[0] if len(forms) == 1 else {"anyOf": forms}

    # ------------------------------------------------------------ finite sets

    def enum_schema(self, schema: Any) -> Schema:
        values = [value for member in schema["members"] if _is_json(value := member.value)]
        return self._finite(schema, values, getattr(schema.get("cls"), "__name__", "an enum"))

    def literal_schema(self, schema: Any) -> Schema:
        values = [value.value if isinstance(value, enum.Enum) else value for value in schema["expected"]]
        return self._finite(schema, [value for value in values if _is_json(value)], "this Literal")

    def _finite(self, schema: Any, values: list[Any], name: str) -> Schema:
        if not values:
            raise NoJsonSchema(schema, f"any value of {name}")
        json: Schema = {"const": values[0]} if len(values) == 1 else {"enum": values}
        kinds = {_JSON_TYPES[type(value)] for value in values}
        return json | ({"type": kinds.pop()} if len(kinds) == 1 else {})

    # ------------------------------------------------------------ containers

    def dict_schema(self, schema: Any) -> Schema:
        json = super().dict_schema(schema)
        keys = schema.get("keys_schema") or {}
        pattern = _KEY_PATTERNS.get(_kind(keys))
        patterns = json.get(
            "patternProperties", {}
        )  # Pydantic turns the pattern of a key into this, and leaves it open
        if pattern is not None:
            values = json.pop("patternProperties", {None: json.get("additionalProperties", True)})
            json.pop("propertyNames", None)
            json |= {"patternProperties": {pattern: next(iter(values.values()))}, "additionalProperties": False}
        elif len(patterns) == 1:
            values = next(iter(patterns.values()))
            json |= {"patternProperties": {to_ecma(next(iter(patterns))).text: values}, "additionalProperties": False}
        return json

    def dataclass_args_schema(self, schema: Any) -> Schema:
        fields = [field for field in schema["fields"] if field.get("init", True)]
        changed: Any = {**schema, "fields": fields}
        return super().dataclass_args_schema(changed)

    def tagged_union_schema(self, schema: Any) -> Schema:
        json = super().tagged_union_schema(schema)
        if callable(schema["discriminator"]) and "oneOf" in json:  # a function chooses: branches may overlap
            json["anyOf"] = json.pop("oneOf")
        return json


_JSON_TYPES: dict[type, str] = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}

_KEY_PATTERNS = {
    "int": INTEGER,
    "float": DECIMAL,
    "decimal": DECIMAL,
    "bool": "^(?:true|false)$",
    "uuid": UUID,
    "date": f"^{DAYS}$",
}
"""What a key must look like, by the type it is read as."""


def _is_json(value: object) -> bool:
    return type(value) in _JSON_TYPES and not (isinstance(value, float) and not math.isfinite(value))


def _kind(node: Any) -> str:
    """The type of a core schema without constraints; "" if it has any or is of several parts."""
    return str(node.get("type")) if isinstance(node, Mapping) and not {"gt", "ge", "lt", "le"} & set(node) else ""


# ---------------------------------------------------------------- numbers


def _bounds(schema: Mapping[str, Any]) -> Schema:
    names = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
    named = {name: schema[key] for key, name in names.items() if schema.get(key) is not None}
    if schema.get("multiple_of") is not None:
        named["multipleOf"] = schema["multiple_of"]
    return {name: _plain_number(value) for name, value in named.items()}


def _plain_number(value: Any) -> int | float:
    return value if isinstance(value, (int, float)) else int(value) if value == int(value) else float(value)


def _number(schema: Mapping[str, Any]) -> Schema:
    return {"type": "number", **_bounds(schema)}


def _decimal_numbers(number: Schema, digits: int | None, places: int | None) -> list[Schema]:
    """Numbers of at most `digits` digits, `places` of them after the point: one form for each number of places."""
    if digits is None:
        return [_with_places(number, None, places or 0)]
    most = min(digits, MAX_DIGITS_SPELT)
    return [_with_places(number, digits - p, p) for p in ([places] if places is not None else range(most + 1))]


def _with_places(number: Schema, whole_digits: int | None, places: int) -> Schema:
    step = {"multipleOf": 10**-places if places else 1} if "multipleOf" not in number else {}
    if whole_digits is None:
        return number | step
    limit = 10 ** max(0, whole_digits)
    low, high = number.get("exclusiveMinimum", -limit), number.get("exclusiveMaximum", limit)
    return number | step | {"exclusiveMinimum": max(low, -limit), "exclusiveMaximum": min(high, limit)}


def _decimal_pattern(digits: int | None, places: int | None) -> str:
    """Decimal text of at most so many digits, without leading zeros."""
    if digits is None:
        return DECIMAL if places is None else _decimal_form(None, places)
    if places is not None:
        return _decimal_form(digits - places, places)
    forms = [_decimal_form(digits - p, p).strip("^$") for p in range(digits + 1)]
    return "^(?:" + "|".join(forms) + ")$"


def _decimal_form(whole: int | None, places: int) -> str:
    more = "*" if whole is None else f"{{0,{whole - 1}}}"
    head = "0" if whole is not None and whole <= 0 else f"(?:0|[1-9][0-9]{more})"
    return f"^-?{head}" + (f"(?:\\.[0-9]{{1,{places}}})?" if places > 0 else "") + "$"


# ---------------------------------------------------------------- passes


def _schemas(root: Schema) -> list[Schema]:
    """Every subschema of `root`, itself included; values of `const`, `enum`, `default`, `examples` are none."""
    found: list[Schema] = []
    pending: list[Any] = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending += node
        elif isinstance(node, dict):
            found.append(node)
            for key, value in node.items():
                if key in ("properties", "patternProperties", "$defs", "dependentSchemas"):
                    pending += value.values() if isinstance(value, dict) else ()
                elif key not in ("const", "enum", "default", "examples", "discriminator", "required"):
                    pending.append(value)
    return found


def _target(node: Any, definitions: Schema) -> Schema:
    """The schema that `node` refers to, or itself."""
    reference = node.get("$ref") if isinstance(node, dict) else None
    if isinstance(reference, str) and reference.startswith("#/$defs/"):
        name = reference.removeprefix("#/$defs/").replace("~1", "/").replace("~0", "~")
        return definitions.get(name, {})
    return node if isinstance(node, dict) else {}


def _require_tags(node: Schema, definitions: Schema) -> None:
    discriminator = node.get("discriminator")
    tag = discriminator.get("propertyName") if isinstance(discriminator, dict) else None
    for branch in node.get("oneOf", ()) if isinstance(tag, str) else ():
        target = _target(branch, definitions)
        if tag in target.get("properties", {}) and tag not in target.get("required", ()):
            branch["required"] = [*branch.get("required", ()), tag]


def _lower_property_names(node: Schema, definitions: Schema) -> None:
    """`propertyNames` with one plain condition, as properties or patternProperties of a closed object."""
    if not isinstance(node.get("propertyNames"), dict) or "properties" in node or "patternProperties" in node:
        return
    names = {k: v for k, v in _target(node["propertyNames"], definitions).items() if k not in ("title", "description")}
    values = node.get("additionalProperties", True)
    finite = names.get("enum", [names["const"]] if "const" in names else None)
    condition = {key: value for key, value in names.items() if key != "type"}
    if finite is not None:
        lowered: Schema = {"properties": {name: values for name in finite if isinstance(name, str)}}
    elif set(condition) == {"pattern"}:
        lowered = {"patternProperties": {condition["pattern"]: values}}
    elif condition and set(condition) <= {"minLength", "maxLength"}:
        bounds = f"{{{condition.get('minLength', 0)},{condition.get('maxLength', '')}}}"
        lowered = {"patternProperties": {f"^[\\s\\S]{bounds}$": values}}
    else:
        return
    del node["propertyNames"]
    node.update(lowered, additionalProperties=False)


def _drop_foreign_format(node: Schema) -> None:
    name = node.get("format")
    if isinstance(name, str) and name not in STANDARD_FORMATS:
        del node["format"]
        if re.fullmatch("uuid[1-8]", name):  # the version is in the pattern
            node["format"] = "uuid"


def _drop_infinite_bounds(node: Schema) -> None:
    for key in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
        value = node.get(key)
        if isinstance(value, float) and not math.isfinite(value):
            del node[key]
