"""How tests write values as JSON text, one writer per white space option; numbers canonically."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from constrain.errors import ConstrainError
from constrain.frontends.json_schema import SchemaOptions, compile_schema
from constrain.frontends.json_schema.arrange import Arranger
from constrain.grammar.recognizer import Recognizer

LAYOUT: dict[str, dict[str, Any]] = {
    "compact": {"separators": (",", ":")},
    "spaced": {},
    "pretty": {"indent": 2},
    "flexible": {"indent": 4},
}


class _Number(float):
    """A float that `json.dumps` writes as its exact decimal, without an exponent."""

    def __repr__(self) -> str:
        text = format(Decimal(float.__repr__(self)), "f")
        return text.rstrip("0") + "0" if text.endswith("0") and "." in text[:-1] else text


def write(value: Any, whitespace: str = "compact") -> str:
    """`value` as text; whole floats as `1.0`."""
    return json.dumps(_plain(value), ensure_ascii=False, **LAYOUT[whitespace])


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return _Number(value) if isinstance(value, float) else value


class Judge:
    """One schema under one set of options: does its grammar hold the text of a value?"""

    def __init__(self, schema: Any, **options: Any):
        self.options = SchemaOptions(**options)
        self.compiled = compile_schema(schema, self.options)
        self._arranger = Arranger(self.compiled.schema, self.options)
        self._recognizer = Recognizer(self.compiled.grammar)

    def accepts(self, value: Any) -> bool:
        """True if the grammar holds `value`, its members put into declared order."""
        return self.accepts_text(write(self._arranger.arrange(value), self.options.whitespace))

    def accepts_text(self, text: str) -> bool:
        """True if the grammar holds `text`."""
        return self._recognizer.accepts(text.encode())

    def holds(self, value: Any) -> bool:
        """True if the shape holds `value`."""
        return self._arranger.holds(value)


def error_of(schema: Any, **options: Any) -> ConstrainError | None:
    """The error that compiling `schema` raises, if any."""
    try:
        compile_schema(schema, SchemaOptions(**options))
    except ConstrainError as error:
        return error
    return None
