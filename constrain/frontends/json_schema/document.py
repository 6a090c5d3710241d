"""Schema documents: reading JSON text exactly.

`parse` reads text with exact decimal numbers and refuses what JSON leaves open (a name twice in one object, NaN).
"""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation
from typing import Any

from constrain.errors import InvalidSpecification, LimitExceeded, shorten, shown


def parse(text: str) -> Any:
    """The JSON value of `text`; numbers with a point or an exponent as Decimal.

    Raises:  InvalidSpecification: not JSON (with line:column), a name twice in one object, NaN or Infinity.
             LimitExceeded: nested too deep for the reader.
    """
    try:
        return json.loads(text, parse_float=Decimal, parse_constant=_refuse_constant, object_pairs_hook=_unique_names)
    except json.JSONDecodeError as error:
        raise InvalidSpecification(
            f"the schema is not JSON: {error.msg}",
            at=f"{error.lineno}:{error.colno}",
            expected="a JSON object, true or false",
        ) from None
    except RecursionError:
        raise LimitExceeded(
            "the schema nests too deep to be read",
            limit="schema_depth",
            help="nest less deeply, or name parts in '$defs'",
        ) from None
    except (ValueError, InvalidOperation):  # Python reads no integer of more than 4,300 digits
        raise InvalidSpecification(
            "the schema holds a number that is too long to be read", help="use a number of at most 400 digits"
        ) from None


def _refuse_constant(name: str) -> Any:
    raise InvalidSpecification(f"the schema is not JSON: {name} is not a number", expected="a finite number")


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))
        raise InvalidSpecification(
            f"the name {shorten(shown(twice))} stands twice in one object", help="keep the one that is meant"
        )
    return members
