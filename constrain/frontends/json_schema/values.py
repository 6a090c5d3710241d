"""JSON values, frozen and exact: what `enum` and `const` hold, and what shapes are evaluated on.

A frozen value is None, a bool, a `Decimal` (every number), a str, a tuple (an array) or an `ObjectValue`. Two values
are equal, in JSON's sense, iff their `value_key`s are: `1` and `1.0` are one number, `true` is not `1`, and the order
of an object's members does not matter. A Python float means its shortest repr.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from constrain.errors import SHOWN_CHARACTERS, InvalidSpecification, LimitExceeded, shorten, shown

MAX_VALUE_DEPTH = 200
MAX_EXPONENT = 10_000


@dataclass(frozen=True, slots=True)
class ObjectValue:
    """An object: its members in document order, each name once."""

    members: tuple[tuple[str, JsonValue], ...]


JsonValue = None | bool | Decimal | str | tuple["JsonValue", ...] | ObjectValue


def exact(value: int | float | Decimal, path: str) -> Decimal:
    """`value` as a Decimal: a float by its shortest repr.

    Raises:  InvalidSpecification: for NaN and infinities.  LimitExceeded: for exponents beyond ±10,000.
    """
    number = Decimal(float.__repr__(value)) if isinstance(value, float) else Decimal(value)
    if not number.is_finite():
        raise InvalidSpecification(f"{as_json(value)} is not a JSON number", at=path, expected="a finite number")
    if number and abs(number.adjusted()) > MAX_EXPONENT:
        raise LimitExceeded(
            f"the number {shorten(str(number))} is beyond 10^±{MAX_EXPONENT}",
            limit="number_exponent",
            at=path,
            help="use a number nearer to one, or leave it out",
        )
    return number


def is_number(value: object) -> bool:
    """True for a JSON number as parsed (bool is not one)."""
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


def freeze(value: Any, path: str, depth: int = 0) -> JsonValue:
    """A parsed JSON value (dict, list, …) as a frozen one.

    Raises:  InvalidSpecification: for what is not JSON.  LimitExceeded: for values nested beyond 200 levels.
    """
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, float, Decimal)):
        return exact(value, path)
    if depth >= MAX_VALUE_DEPTH:
        raise LimitExceeded(
            f"a value nests deeper than {MAX_VALUE_DEPTH} levels",
            limit="value_depth",
            at=path,
            help="nest it less deeply, or describe it by 'properties' and 'items'",
        )
    if isinstance(value, (list, tuple)):
        return tuple([freeze(item, path, depth + 1) for item in value])
    if isinstance(value, Mapping):
        for name in value:
            if not isinstance(name, str):
                raise InvalidSpecification(f"the name {as_json(name)} is not a string", at=path)
        return ObjectValue(tuple([(name, freeze(item, path, depth + 1)) for name, item in value.items()]))
    raise InvalidSpecification(
        f"{as_json(value)} is not a JSON value", at=path, expected="null, a boolean, number, string, array or object"
    )


def as_json(value: Any, depth: int = 3) -> str:
    """`value` as it would stand in a schema, cut in depth and in length, for messages."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, Decimal):
        return shorten(str(value))
    if isinstance(value, str):
        return json.dumps(value[:SHOWN_CHARACTERS], ensure_ascii=has_surrogate(value))
    if not isinstance(value, (Mapping, list, tuple)):
        return shorten(shown(value))
    if depth == 0:
        return "…"
    first = list(value)[:SHOWN_CHARACTERS]
    if isinstance(value, Mapping):
        return shorten("{" + ", ".join(f"{as_json(n, 1)}: {as_json(value[n], depth - 1)}" for n in first) + "}")
    return shorten("[" + ", ".join(as_json(item, depth - 1) for item in first) + "]")


def value_key(value: JsonValue) -> Hashable:
    """A hashable key that is equal for equal JSON values, and only for those."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, Decimal):
        return ("number", value)
    if isinstance(value, tuple):
        return ("array", tuple([value_key(item) for item in value]))
    return ("object", frozenset([(name, value_key(item)) for name, item in value.members]))


def has_surrogate(text: str) -> bool:
    """True if `text` holds a lone surrogate, which no JSON text in UTF-8 can spell."""
    if text.isascii():
        return False
    return any(0xD800 <= ord(character) <= 0xDFFF for character in text)


def is_spellable(value: JsonValue) -> bool:
    """False if some string or name inside `value` holds a lone surrogate."""
    if isinstance(value, str):
        return not has_surrogate(value)
    if isinstance(value, tuple):
        return all(is_spellable(item) for item in value)
    if isinstance(value, ObjectValue):
        return all(not has_surrogate(name) and is_spellable(item) for name, item in value.members)
    return True


def escape(segment: str) -> str:
    """`segment` as a part of a JSON pointer."""
    if "~" in segment or "/" in segment:
        return segment.replace("~", "~0").replace("/", "~1")
    return segment
