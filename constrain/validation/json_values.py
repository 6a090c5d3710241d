"""JSON values, exactly: parsed without floats, compared by value, divided without rounding.

`parse_json` reads a text, `exact_value` takes a Python value; both give dict, list, str, bool, None, and numbers as
`int` or `Decimal`. A Python float counts as the decimal that `repr` shows. Neither accepts what JSON does not have, or
what readers disagree on: NaN and infinities, a name twice in one object, half of a surrogate pair.

Invariant: no arithmetic here depends on a decimal context, and none writes out an exponent: `1e999999999` is cheap.
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable
from decimal import Decimal, InvalidOperation
from typing import Any

from ..errors import shorten

MAX_DEPTH = 100
"""How deep arrays and objects may nest: well below what the interpreter's stack allows a validator."""

LONG_INTEGER = 4000
"""Digits from which an integer is kept as a decimal: the interpreter refuses to convert longer ones."""


class NotJson(ValueError):
    """A text or value that is not JSON as we accept it; the message says why."""


def parse_json(text: str | bytes) -> Any:
    """The value that `text` spells.  Raises: NotJson."""
    try:
        decoded = text.decode("utf-8") if isinstance(text, bytes) else text
        value = json.loads(
            decoded,
            parse_float=_decimal,
            parse_int=_integer,
            parse_constant=_refuse_constant,
            object_pairs_hook=_object,
        )
    except UnicodeDecodeError as error:
        raise NotJson(f"not UTF-8: {error.reason} at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise NotJson(f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise NotJson(f"nested deeper than {MAX_DEPTH} levels") from None
    return exact_value(value)


def exact_value(value: Any, depth: int = 0) -> Any:
    """A copy of a Python value with exact numbers; tuples become arrays.  Raises: NotJson."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        if not value.isascii():
            _refuse_surrogates(value)
        return str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NotJson(f"{value!r} is not a JSON number")
        return Decimal(repr(float(value)))
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise NotJson(f"{value} is not a JSON number")
        return value
    if depth >= MAX_DEPTH:
        raise NotJson(f"nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, dict):
        return {_name(name): exact_value(item, depth + 1) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [exact_value(item, depth + 1) for item in value]
    raise NotJson(f"a {type(value).__name__} is not a JSON value")


def _name(name: object) -> str:
    if not isinstance(name, str):
        raise NotJson(f"the name {shorten(name)} of a member is not a string")
    _refuse_surrogates(name)
    return name


def _refuse_surrogates(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise NotJson(f"the lone surrogate U+{ord(text[error.start]):04X} is half a character") from None


def _decimal(text: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite():
        raise NotJson(f"the number {shorten(text)} is out of all range")
    return number


def _integer(text: str) -> int | Decimal:
    return int(text) if len(text) < LONG_INTEGER else _decimal(text)


def _refuse_constant(name: str) -> None:
    raise NotJson(f"{name} is not a JSON number")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))
        raise NotJson(f"the name {shorten(twice)!r} comes twice in one object")
    return members


# ---------------------------------------------------------------- questions


def is_number(value: object) -> bool:
    """True for `int` and `Decimal`, not for `bool`."""
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def is_integer(value: object) -> bool:
    """True if the number is whole, however it is written: 1.0 and 1E2 are."""
    if isinstance(value, Decimal):
        coefficient, exponent = _parts(value)
        return exponent >= 0 or _divides_by_ten(coefficient, -exponent)
    return isinstance(value, int) and not isinstance(value, bool)


def is_written_as_integer(value: object) -> bool:
    """True for a number that was written without point and exponent."""
    if isinstance(value, Decimal):  # such as those too long for `int`
        _, digits, exponent = value.as_tuple()
        return exponent == 0 and len(digits) >= LONG_INTEGER - 1
    return is_integer(value)


def is_multiple(value: int | Decimal, step: int | Decimal) -> bool:
    """True if value / step is whole; `step` is positive."""
    (coefficient, exponent), (divisor, scale) = _parts(value), _parts(step)
    shift = exponent - scale
    if shift >= 0:
        return coefficient * pow(10, shift, divisor) % divisor == 0
    return _divides_by_ten(coefficient, -shift) and (coefficient == 0 or coefficient // 10**-shift % divisor == 0)


def _divides_by_ten(coefficient: int, power: int) -> bool:
    """True if 10^power divides `coefficient`; a power beyond its digits is not written out."""
    return coefficient == 0 or (power <= coefficient.bit_length() and coefficient % 10**power == 0)


def _parts(value: int | Decimal) -> tuple[int, int]:
    """|value| as coefficient · 10^exponent."""
    if isinstance(value, int):
        return abs(value), 0
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    coefficient = 0
    for start in range(0, len(digits), LONG_INTEGER):
        chunk = digits[start : start + LONG_INTEGER]
        coefficient = coefficient * 10 ** len(chunk) + int("".join(map(str, chunk)))
    return coefficient, exponent


def value_key(value: Any) -> Hashable:
    """Two values have equal keys exactly if they are the same JSON value: 1 and 1.0 are, 1 and true are not."""
    if isinstance(value, dict):
        return ("object", frozenset((name, value_key(item)) for name, item in value.items()))
    if isinstance(value, list):
        return ("array", tuple(value_key(item) for item in value))
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return (type(value).__name__, value)
    return ("number", value)
