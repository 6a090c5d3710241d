"""One schema and the two judges beside us: the corrected one, and `jsonschema-rs`, with what is known wrong of each.

`Judges.verdict` puts a text to both. Where they agree, that is the truth; where one has a listed fault that applies
(`FAULTS`: a reason and a test for schema and value), the other decides; where they differ without one, the truth is
open, `Verdict.valid` is None, and whoever asked reports it. A judge that does not take the schema has no opinion.

Invariant: `FAULTS` is the whole list of exceptions, and each says why the specification is on the other side.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from benchmarks import data

CORRECTED, SECOND = "corrected judge", "jsonschema-rs"


@dataclass(frozen=True)
class Fault:
    """A judge is wrong, or has nothing to say, where `applies(schema, value)`."""

    judge: str
    reason: str
    applies: Callable[[Any, Any], bool]


@dataclass(frozen=True)
class Verdict:
    """What each judge says (None: no opinion), and what holds (None: they differ and no listed fault explains it)."""

    corrected: bool | None
    second: bool | None
    valid: bool | None
    explained: str = ""


class Judges:
    """Both judges of one schema.

    Args:    formats: "annotation", or "known" to check those that each of them knows.
    Raises:  nothing for a bad schema: then neither has an opinion.
    """

    def __init__(self, schema_text: str, formats: Literal["known", "annotation"] = "annotation"):
        import jsonschema_rs

        from constrain.errors import ConstrainError
        from constrain.validation.json_schema import Judge

        self.schema = data.parse_json(schema_text)
        self.formats = formats
        try:
            self._corrected: Any = Judge(schema_text, formats=formats)
        except ConstrainError:
            self._corrected = None
        try:
            self._second: Any = jsonschema_rs.validator_for(
                json.loads(schema_text), validate_formats=formats == "known"
            )
        except Exception:  # its error classes are many, and one of them is a panic
            self._second = None
        self.faults = [fault for fault in FAULTS if fault.judge == SECOND and fault.applies(self.schema, None)]

    def verdict(self, text: str) -> Verdict:
        """What holds of the value that `text` spells."""
        corrected, second = self._ask_corrected(text), self._ask_second(text)
        if corrected == second or second is None or corrected is None:
            return Verdict(corrected, second, corrected if corrected is not None else second)
        value = data.parse_json(text)
        for fault in FAULTS:
            if fault.applies(self.schema, value):
                valid = corrected if fault.judge == SECOND else second
                return Verdict(corrected, second, valid, f"{fault.judge} {fault.reason}")
        return Verdict(corrected, second, None)

    def _ask_corrected(self, text: str) -> bool | None:
        from constrain.errors import ConstrainError

        if self._corrected is None:
            return None
        try:
            return self._corrected.text(text).ok
        except ConstrainError:
            return None

    def _ask_second(self, text: str) -> bool | None:
        if self._second is None:
            return None
        try:
            return self._second.is_valid(json.loads(text))
        except Exception:
            return None

    def reason(self, text: str) -> str:
        """Why a judge says no, in one line; "" if none does."""
        if self._corrected is not None and not (verdict := self._corrected.text(text)).ok:
            return str(verdict.failures[0])
        if self._second is not None and not self._second.is_valid(json.loads(text)):
            return str(next(iter(self._second.iter_errors(json.loads(text))), "")).splitlines()[0]
        return ""

    def objection(self, text: str) -> str:
        """What is wrong with a text that should be valid: who says no and why; "" if nothing is."""
        try:
            verdict = self.verdict(text)
        except ValueError as error:
            return f"not JSON: {error}"
        if verdict.valid is False or (verdict.valid is None and verdict.corrected is not verdict.second):
            who = [CORRECTED] * (verdict.corrected is False) + [SECOND] * (verdict.second is False)
            return f"{' and '.join(who)}: {self.reason(text)}"
        return ""


# ---------------------------------------------------------------- what the judges get wrong


def _keywords(schema: Any) -> Iterator[tuple[str, Any]]:
    """Every (name, value) of every object in the schema, at any depth."""
    pending = [schema]
    while pending:
        here = pending.pop()
        if isinstance(here, dict):
            yield from here.items()
            pending.extend(here.values())
        elif isinstance(here, list):
            pending.extend(here)


def _numbers(value: Any) -> Iterator[int | float | Decimal]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _numbers(item)
    elif isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        yield value


def _mixes_old_forms(schema: Any, value: Any) -> bool:
    if not isinstance(schema, dict) or "$schema" in schema:
        return False
    return any(
        name in ("dependencies", "additionalItems")
        or (name == "items" and isinstance(argument, list))
        or (name in ("exclusiveMinimum", "exclusiveMaximum") and isinstance(argument, bool))
        for name, argument in _keywords(schema)
    )


def _rounds_numbers(schema: Any, value: Any) -> bool:
    """A number that no float holds, or one so far from others that arithmetic on floats loses it."""
    return any(
        isinstance(number, Decimal) or abs(number) > 2**53 for part in (schema, value) for number in _numbers(part)
    )


def _patterns(schema: Any) -> Iterator[str]:
    for name, argument in _keywords(schema):
        if name == "pattern" and isinstance(argument, str):
            yield argument
        if name == "patternProperties" and isinstance(argument, dict):
            yield from argument


def _has_loose_pattern(schema: Any, value: Any) -> bool:
    return any(not _parses_with_u(pattern) for pattern in _patterns(schema))


def _parses_with_u(pattern: str) -> bool:
    import regress

    try:
        regress.Regex(pattern, "u")
    except regress.RegressError:
        return False
    return True


def _contains_under_2019(schema: Any, value: Any) -> bool:
    """`contains` beside or below `unevaluatedItems` in a schema of 2019-09."""
    if not isinstance(schema, dict) or "2019-09" not in str(schema.get("$schema")):
        return False
    return {"contains", "unevaluatedItems"} <= {name for name, _ in _keywords(schema)}


FAULTS: tuple[Fault, ...] = (
    Fault(
        SECOND,
        "reads a schema without $schema strictly as 2020-12; the older forms in it count for us and for the corrected"
        " judge, as documented",
        _mixes_old_forms,
    ),
    Fault(SECOND, "is given numbers as Python reads them, rounded to a float", _rounds_numbers),
    Fault(
        SECOND,
        "lets `contains` evaluate items under 2019-09, whose `unevaluatedItems` heeds only `items`, `additionalItems`"
        " and itself (core, 9.3.1.3); `contains` counts since 2020-12",
        _contains_under_2019,
    ),
    Fault(SECOND, "has no Annex B: a pattern that only that reads matches otherwise", _has_loose_pattern),
)
"""Faults that were met, with what decides; `differential` and `samples` print how often each was needed."""
