"""Checks of keyword values: each returns the value in the wanted form, or says what was found and what was expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NoReturn

from constrain.errors import InvalidSpecification, LimitExceeded
from constrain.frontends.json_schema.hints import of_keyword
from constrain.frontends.json_schema.values import as_json, exact, is_number

if TYPE_CHECKING:
    from constrain.frontends.json_schema.atoms import Place

MAX_COUNT = 2**31 - 1
"""The largest length or number of items that is told apart from "no bound"."""


def fail(place: Place, keyword: str, value: object, expected: str) -> NoReturn:
    """Raise `InvalidSpecification` for the value of `keyword` at `place`."""
    error = InvalidSpecification(
        f"{keyword!r} is {as_json(value)}", at=place.path, expected=expected,
        help=of_keyword(keyword, value, place.path) or "correct it, or leave it out",
    )  # fmt: skip
    error.keyword = keyword
    raise error


def number(place: Place, keyword: str, value: Any) -> Decimal:
    """A JSON number, exactly."""
    if not is_number(value):
        fail(place, keyword, value, "a number")
    return exact(value, place.path)


def count(place: Place, keyword: str, value: Any) -> int:
    """A whole number that is not negative."""
    if not is_number(value):
        fail(place, keyword, value, "a whole number, 0 or more")
    exactly = exact(value, place.path)
    if exactly < 0 or exactly != exactly.to_integral_value():
        fail(place, keyword, value, "a whole number, 0 or more")
    if exactly > MAX_COUNT:
        if keyword.startswith("max"):
            return MAX_COUNT
        raise LimitExceeded(
            f"{keyword!r} is {as_json(value)}, more than {MAX_COUNT}",
            limit="count",
            at=place.path,
            help="no text is that long: lower it",
        )
    return int(exactly)


def flag(place: Place, keyword: str, value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        fail(place, keyword, value, "true or false")
    return value


def names(place: Place, keyword: str, value: Any) -> dict[str, None]:
    """A list of names, as ordered keys."""
    if not isinstance(value, Sequence) or isinstance(value, str) or not all([isinstance(n, str) for n in value]):
        fail(place, keyword, value, "a list of names")
    return dict.fromkeys(value)


def schemas(place: Place, keyword: str, value: Any) -> Sequence[Any]:
    """A list of schemas, not empty."""
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        fail(place, keyword, value, "a list of schemas, not empty")
    return value


def members(place: Place, keyword: str, value: Any) -> Mapping[str, Any]:
    """An object with schemas (or the like) by name."""
    if not isinstance(value, Mapping):
        fail(place, keyword, value, "an object")
    for name in value:
        if not isinstance(name, str):
            fail(place, keyword, name, "names that are strings")
    return value
