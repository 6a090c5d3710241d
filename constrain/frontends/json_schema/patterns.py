"""Patterns of schemas: parsed once each, and found again by their text."""

from __future__ import annotations

import re
from functools import lru_cache

from constrain.errors import PatternError
from constrain.frontends import regex
from constrain.grammar.terms import Literal

_IS_ONE_TEXT = re.compile(r"\^[A-Za-z0-9_@:/ -]+\$").fullmatch
"""Patterns that need no parser: schemas that tell branches apart by pattern have hundreds of them."""


@lru_cache(maxsize=2048)
def parse_pattern(text: str) -> regex.ParsedPattern | PatternError:
    """The strings in which the ECMA pattern `text` is found, or what is wrong with it."""
    if _IS_ONE_TEXT(text):
        return regex.ParsedPattern(Literal(text[1:-1]), annex_b=False, notes=())
    try:
        return regex.parse_with_notes(text, dialect="ecma", mode="search")
    except PatternError as error:
        return error
