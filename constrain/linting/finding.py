"""`Finding`: one thing found in a specification, in one place, with one action that helps.

Severities, and what they promise:

    error     the specification cannot be used: it does not compile, or the service of the profile would refuse it
    warning   it compiles, and something in it certainly does not do what it seems to say
    note      worth a look; may well be meant

The code of a finding is stable: a rule's name (`misspelt-keyword`), or the name of an error class (`EmptyLanguage`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

Severity = Literal["error", "warning", "note"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""From the gravest on."""


@dataclass(frozen=True, slots=True)
class Finding:
    """`at` is a JSON pointer (`#/properties/n`) or a position; `keyword`, if given, is the one meant there.

    `line` and `column` count from 1, in the specification's text, where there is one and they can be told.
    """

    code: str
    severity: Severity
    message: str
    at: str | None = None
    keyword: str | None = None
    expected: str | None = None
    help: str | None = None
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        place = self.at if self.line is None else f"{self.line}:{self.column}"
        head = f"{place}: " if place is not None else ""
        return f"{head}{self.severity}: {self.code}: {self.message}" + (f" (help: {self.help})" if self.help else "")

    def to_json(self) -> dict[str, Any]:
        """A plain object, for machines; every field is there, null where there is nothing to say."""
        return asdict(self)


def count(findings: Iterable[Finding]) -> dict[Severity, int]:
    """How many there are of each severity."""
    found = dict.fromkeys(SEVERITIES, 0)
    for finding in findings:
        found[finding.severity] += 1
    return found


def is_clean(findings: Iterable[Finding], *, strict: bool = False) -> bool:
    """True if there is no error and no warning; under `strict` no note either."""
    return not any(strict or finding.severity != "note" for finding in findings)
