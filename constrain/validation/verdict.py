"""What every validator hands back: a `Verdict`, and for each thing that failed a `Failure` with place and reason."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Failure:
    """`path`: JSON pointer into the value ("" is all of it). `keyword`: the rule. `message`: what was wrong."""

    path: str
    keyword: str
    message: str

    def __str__(self) -> str:
        return f"{self.keyword}: {self.message}\n  at: {self.path or 'the whole value'}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """True in a condition if nothing failed."""

    ok: bool
    failures: tuple[Failure, ...] = ()

    def __bool__(self) -> bool:
        return self.ok


PASSED = Verdict(True)


def pointer(steps: object) -> str:
    """The JSON pointer of a path of names and indices."""
    assert isinstance(steps, list | tuple)
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)
