"""Schema documents: reading JSON text exactly.

`parse` reads text with exact decimal numbers and refuses what JSON leaves open (a name twice in one object, NaN).
"""

from __future__ import annotations

import json
import re
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
    except _Twice as error:
        line, column = _second(text, error.name)
        raise InvalidSpecification(
            f"the name {shorten(shown(error.name))} stands twice in one object",
            at=f"{line}:{column}",
            help="keep the one that is meant",
        ) from None
    except json.JSONDecodeError as error:
        if not text.strip():
            raise InvalidSpecification(
                "the schema is empty",
                at="1:1",
                expected="a JSON object, true or false",
                help="write {} to allow any value",
            ) from None
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


class _Twice(Exception):
    """A name that stands twice in one object; the reader does not tell where."""

    def __init__(self, name: str):
        self.name = name


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        seen: set[str] = set()
        raise _Twice(next(name for name, _ in pairs if name in seen or seen.add(name)))
    return members


TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],]', re.DOTALL)


def _second(text: str, name: str) -> tuple[int, int]:
    """Line and column of the first member called `name` whose object has one already; `text` is JSON so far."""
    objects: list[set[str] | None] = []  # the names of each open object; None for an array
    expects_name = False
    for token in TOKEN.finditer(text):
        mark = token[0]
        if mark in "{[":
            objects.append(set() if mark == "{" else None)
        elif mark in "}]":
            del objects[-1:]
        elif mark != "," and expects_name and objects[-1] is not None:
            found = json.loads(mark, strict=False)
            if found == name and found in objects[-1]:
                return text.count("\n", 0, token.start()) + 1, token.start() - text.rfind("\n", 0, token.start())
            objects[-1].add(found)
        expects_name = mark == "{" or (mark == "," and bool(objects) and objects[-1] is not None)
    return 1, 1
