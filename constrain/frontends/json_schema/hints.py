"""What helps where a keyword's value is malformed: what was probably meant, from the value that stands there.

`of_keyword`, `of_schema` and `of_negation` give one action. They know the value, the keyword and the place alone, and
never raise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from constrain.frontends.json_schema.keywords import suggestion
from constrain.frontends.json_schema.values import as_json

TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")

MEANT: Mapping[str, str] = {
    "int": "integer", "long": "integer", "int32": "integer", "int64": "integer", "whole": "integer",
    "float": "number", "double": "number", "decimal": "number", "numeric": "number", "num": "number",
    "str": "string", "text": "string", "char": "string", "date": "string",
    "bool": "boolean", "list": "array", "tuple": "array", "set": "array", "sequence": "array",
    "dict": "object", "map": "object", "mapping": "object", "record": "object", "struct": "object",
    "none": "null", "nonetype": "null", "nil": "null", "undefined": "null",
}  # fmt: skip
"""What types are called elsewhere, in lower case."""

COUNTS = frozenset(name + of for name in ("min", "max") for of in ("Length", "Items", "Properties", "Contains"))
BOUNDS = frozenset(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"))
LISTS_OF_SCHEMAS = frozenset(("allOf", "anyOf", "oneOf", "prefixItems"))
OBJECTS = frozenset(("properties", "patternProperties", "dependentSchemas", "$defs", "definitions"))

_IS_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,60})(?:\.[0-9]{1,60})?").fullmatch
_PROPERTY = re.compile(r"/properties/([^/]*)$")


def of_keyword(keyword: str, value: Any, path: str) -> str | None:
    """What to do about `value` of `keyword` in the schema at `path`; None where there is nothing to guess."""
    if keyword == "type":
        return _of_type(value)
    if keyword == "required":
        return _of_required(value, path)
    if isinstance(value, str) and _IS_NUMBER(value) and keyword in COUNTS | BOUNDS:
        return f"write the number without quotes: {value}"
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return f"write it without quotes: {value.lower()}"
    if isinstance(value, bool) and keyword in ("exclusiveMinimum", "exclusiveMaximum"):
        return f"write the bound itself, as in \"{keyword}\": 5, in the place of '{_beside(keyword)}'"
    if keyword == "enum":
        if isinstance(value, Mapping):
            listed = ", ".join(as_json(name) for name in list(value)[:5]) or '"a", "b"'
            return f"list the values in brackets: [{listed}]"
        return f"list the values in brackets: [{as_json(value)}]"
    if keyword in LISTS_OF_SCHEMAS:
        return (
            "put the schema in brackets: [{…}]" if isinstance(value, Mapping) else 'list schemas: [{"type": "string"}]'
        )
    if keyword in OBJECTS:
        return 'write an object with a schema for each name: {"name": {"type": "string"}}'
    if keyword == "dependentRequired":
        return 'write an object with a list of names for each name: {"a": ["b"]}'
    return None


def of_schema(value: Any, path: str) -> str | None:
    """What to do about `value` at `path`, where a schema should stand."""
    if isinstance(value, str):
        if value.lower() in ("true", "false"):
            return f"write it without quotes: {value.lower()}"
        name = type_meant(value)
        if name is not None:
            return f'write {{"type": "{name}"}}'
    if isinstance(value, type):
        name = type_meant(value.__name__)
        return f'write {{"type": "{name}"}}' if name is not None else None
    if isinstance(value, (list, tuple)) and path.endswith("/items"):
        return "write 'prefixItems' for a list of schemas, one for each of the first items"
    if isinstance(value, (list, tuple)) and value:
        return 'write {"enum": […]} for a list of values, or {"anyOf": […]} for a list of schemas'
    if value is None:
        return 'write {"type": "null"} for null, or {} for any value'
    if isinstance(value, (int, float)):
        return f'write {{"const": {as_json(value)}}} for that value alone'
    return None


def of_negation(keyword: str) -> str:
    """What to do where what `keyword` excludes cannot be said."""
    if keyword == "oneOf":
        return "tell the branches apart by a required 'const' or by 'type', or use 'anyOf'"
    if keyword == "if":
        return "write the two cases as branches of 'anyOf' that a required 'const' tells apart"
    if keyword == "not":
        return "rewrite it without negation, or split it into branches told apart by a 'const'"
    return "rewrite what excludes this schema without negation"


def type_meant(name: str) -> str | None:
    """The type that `name` names, or was probably meant to."""
    if name in TYPES:
        return name
    return MEANT.get(name.lower()) or suggestion(name, frozenset(TYPES)) or _longer(name)


def _longer(name: str) -> str | None:
    """Of two or three letters too much or too few: `strng` is one edit away, `strings` and `obj` are not."""
    lower = name.lower()
    return next((t for t in TYPES if len(lower) > 2 and (t.startswith(lower) or lower.startswith(t))), None)


def _of_type(value: Any) -> str | None:
    if value is None:
        return 'write "null" in quotes, or leave it out for any value'
    if isinstance(value, type):
        name = type_meant(value.__name__)
        return f'write "{name}"' if name is not None else None
    if isinstance(value, Mapping):
        return "write the name of a type; a schema stands without 'type' around it"
    if isinstance(value, str) and value.lower() == "any":
        return "leave it out for any value"
    names = [value] if isinstance(value, str) else value if isinstance(value, (list, tuple)) else []
    wrong = [name for name in names[:20] if not (isinstance(name, str) and name in TYPES)]
    meant = [(name, type_meant(name)) for name in wrong if isinstance(name, str)]
    known = [(name, type_name) for name, type_name in meant if type_name is not None]
    if isinstance(value, str) and known:
        return f"did you mean '{known[0][1]}'?"
    if known:
        return "did you mean " + ", ".join(f"'{type_name}' for {as_json(name)}" for name, type_name in known) + "?"
    if None in wrong:
        return 'write "null" in quotes'
    if any(isinstance(name, Mapping) for name in wrong):
        return "write 'anyOf' for a list of schemas"
    return "leave it out for any value" if value in ([], ()) else None


def _of_required(value: Any, path: str) -> str | None:
    if isinstance(value, bool):
        found = _PROPERTY.search(path)
        name = found[1].replace("~1", "/").replace("~0", "~") if found else None
        if not value:
            return "leave it out: a member is optional unless the parent's 'required' names it"
        listed = f": [{as_json(name)}]" if name is not None else ""
        return f"list the name in the parent's 'required'{listed}"
    if isinstance(value, str):
        return f"write a list: [{as_json(value)}]"
    if isinstance(value, Mapping):
        return "list the names in brackets: [" + ", ".join(as_json(name) for name in list(value)[:5]) + "]"
    return None


def _beside(keyword: str) -> str:
    return keyword.removeprefix("exclusive").lower()
