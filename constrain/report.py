"""What became of each constraint of a specification: enforced, approximated, refused, or only an annotation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Status = Literal["enforced", "approximated", "refused", "annotation"]
Direction = Literal["wider", "narrower"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One keyword at one place. `direction` says how an approximation differs from the truth.

    `path` is the JSON pointer of the schema that holds the keyword (`#/properties/tags`), or a position in a pattern.
    """

    path: str
    keyword: str
    status: Status
    reason: str = ""
    direction: Direction | None = None

    def __str__(self) -> str:
        direction = f" ({self.direction})" if self.direction else ""
        return f"{self.status}: {self.keyword} at {self.path}" + (f": {self.reason}" if self.reason else "") + direction


@dataclass(frozen=True, slots=True)
class Report:
    """All entries, in document order."""

    entries: tuple[Entry, ...] = ()

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __str__(self) -> str:
        return "\n".join(str(entry) for entry in self.entries) or "nothing to report"

    def with_status(self, status: Status) -> tuple[Entry, ...]:
        """The entries of one status."""
        return tuple(entry for entry in self.entries if entry.status == status)

    @property
    def is_exact(self) -> bool:
        """True if nothing is approximated or refused: what is let through is exactly what was asked for."""
        return not any(entry.status in ("approximated", "refused") for entry in self.entries)

    def to_json(self) -> list[dict[str, str | None]]:
        """A list of plain objects, for machines."""
        return [
            {"path": e.path, "keyword": e.keyword, "status": e.status, "reason": e.reason, "direction": e.direction}
            for e in self.entries
        ]
