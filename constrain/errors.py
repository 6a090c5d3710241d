"""Every error that `constrain` raises on purpose, in one tree.

    ConstrainError
    ├── SpecificationError            the specification cannot be used as it stands
    │   ├── InvalidSpecification      not JSON, a wrong type, a keyword with a malformed value
    │   ├── UnsupportedKeyword        a constraint that cannot be enforced; lists all of them
    │   ├── EmptyLanguage             nothing satisfies the specification
    │   ├── PatternError              a regular expression that does not parse or cannot be enforced
    │   └── ReferenceNotFound         a `$ref` that leads nowhere
    ├── LimitExceeded                 a limit (states, bytes, time, depth) was met; names it
    ├── VocabularyError               a tokenizer that cannot be read, or lacks what the grammar needs
    ├── TokenRejected                 `advance` got a token that the mask forbids
    ├── BudgetTooSmall                the shortest text needs more tokens than allowed
    ├── ModelError                    a model file that is truncated, foreign, or too small for the prompt
    ├── ValidationFailed              a finished value that fails a rule checked afterwards
    └── MissingExtra                  an optional dependency is absent; carries the `pip install` line

Each error carries typed fields and renders itself: what failed (the offending value cut at 100 characters), where
(JSON pointer, or line:column), what was expected, and one action that helps. This module imports nothing of ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = [
    "BudgetTooSmall",
    "ConstrainError",
    "EmptyLanguage",
    "InvalidSpecification",
    "LimitExceeded",
    "MissingExtra",
    "ModelError",
    "PatternError",
    "Problem",
    "ReferenceNotFound",
    "SpecificationError",
    "TokenRejected",
    "UnsupportedKeyword",
    "ValidationFailed",
    "VocabularyError",
    "shorten",
    "shown",
]

SHOWN_CHARACTERS = 100


def shorten(value: object) -> str:
    """`repr(value)`, cut at 100 characters so that a hostile value cannot flood a message."""
    text = value if isinstance(value, str) else shown(value)
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"


def shown(value: object) -> str:
    """`repr(value)`, also of what has none: Python writes no number of more than 4,300 digits, nor what holds one."""
    try:
        return repr(value)
    except (ValueError, RecursionError):
        return f"a value of type {type(value).__name__} that cannot be shown"


class ConstrainError(Exception):
    """The root: `message` says what failed, `at` where, `expected` what would do, `help` one action."""

    def __init__(self, message: str, *, at: str | None = None, expected: str | None = None, help: str | None = None):
        super().__init__(message)
        self.message = message
        self.at = at
        self.expected = expected
        self.help = help

    def __str__(self) -> str:
        lines = [self.message]
        lines += [f"  at: {self.at}"] if self.at is not None else []
        lines += [f"  expected: {self.expected}"] if self.expected is not None else []
        lines += [f"  help: {self.help}"] if self.help is not None else []
        return "\n".join(lines)


class SpecificationError(ConstrainError):
    """The specification cannot be used as it stands; `problems` lists all that was found.

    Where it is about a keyword, `keyword` is its name, and `at` the JSON pointer of the schema that holds it.
    """

    problems: tuple[Problem, ...] = ()
    keyword: str | None = None

    def __str__(self) -> str:
        return "\n".join([self._said(), *map(str, self.problems[1:])])

    def _said(self) -> str:
        return super().__str__()


class InvalidSpecification(SpecificationError):
    """The specification is malformed: not JSON, a wrong type, a keyword whose value is of the wrong kind."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One keyword that cannot be enforced, or is wrong in itself: `path` is the JSON pointer of its schema
    (`#/properties/tags`), `kind` the class of error that it would be alone. No `keyword`: it is the schema itself."""

    path: str
    keyword: str
    reason: str
    help: str
    kind: str = "UnsupportedKeyword"

    def __str__(self) -> str:
        return f"{self.said}\n  at: {self.path}\n  help: {self.help}"

    @property
    def said(self) -> str:
        """What is wrong, in one line."""
        return f"{self.keyword!r} {self.reason}" if self.keyword else self.reason


class UnsupportedKeyword(SpecificationError):
    """Constraints that cannot be enforced; `problems` lists all of them, not only the first."""

    def __init__(self, problems: Sequence[Problem]):
        self.problems = tuple(problems)
        first = self.problems[0]
        super().__init__(
            first.said + (f" (and {len(self.problems) - 1} more)" if len(self.problems) > 1 else ""),
            at=first.path,
            help=first.help,
        )
        self.keyword = first.keyword
        self.path = first.path

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)


class EmptyLanguage(SpecificationError):
    """Nothing satisfies the specification; the message names the contradiction."""


class PatternError(SpecificationError):
    """A regular expression that does not parse or cannot be enforced; `position` counts code points from 0."""

    def __init__(self, message: str, *, pattern: str, position: int, at: str | None = None, help: str | None = None):
        self.pattern = pattern
        self.position = position
        super().__init__(message, at=at, help=help)

    def _said(self) -> str:
        start = max(0, self.position - 60)
        window = self.pattern[start : start + SHOWN_CHARACTERS].replace("\n", "␊").replace("\t", "␉")
        caret = " " * (self.position - start) + "^"
        head = f"{self.message}\n  at: {self.at + ', ' if self.at else ''}position {self.position}"
        tail = f"\n  help: {self.help}" if self.help else ""
        return f"{head}\n    {window}\n    {caret}{tail}"


class ReferenceNotFound(SpecificationError):
    """A reference that leads nowhere; `reason` says at what it fails."""

    def __init__(self, reference: str, *, at: str, reason: str | None = None, help: str | None = None):
        self.reference = reference
        because = f": {reason}" if reason else ""
        super().__init__(f"the reference {shorten(reference)!r} leads nowhere{because}", at=at, help=help)


class LimitExceeded(ConstrainError):
    """A limit was met: `limit` names it, `text` is what had been written, where there was any."""

    def __init__(
        self, message: str, *, limit: str, at: str | None = None, help: str | None = None, text: bytes | None = None
    ):
        self.limit = limit
        self.text = text
        super().__init__(message, at=at, help=help)


class VocabularyError(ConstrainError):
    """A tokenizer that cannot be read, or lacks what the grammar needs."""


class TokenRejected(ConstrainError):
    """`advance` got a token that may not follow; the matcher is unchanged."""

    def __init__(self, message: str, *, token_id: int, help: str | None = None):
        self.token_id = token_id
        super().__init__(message, help=help)


class BudgetTooSmall(ConstrainError):
    """The shortest text that satisfies the specification needs `needed` tokens, more than allowed."""

    def __init__(self, needed: int, budget: int):
        self.needed = needed
        self.budget = budget
        super().__init__(
            f"a budget of {budget} tokens cannot hold the shortest text, which needs {needed}",
            help=f"raise max_tokens to {needed} or more",
        )


class ModelError(ConstrainError):
    """A model that cannot be loaded or run: truncated, of another architecture, or a context too short."""


class ValidationFailed(ConstrainError):
    """A finished value that fails a check made afterwards; `text` is what was written, `failures` what failed."""

    def __init__(
        self, message: str, *, text: str, failures: Sequence[object], at: str | None = None, help: str | None = None
    ):
        self.text = text
        self.failures = tuple(failures)
        super().__init__(message, at=at, help=help)


class MissingExtra(ConstrainError, ImportError):
    """An optional dependency is absent; `extra` names the group that installs it."""

    def __init__(self, package: str, extra: str):
        self.package = package
        self.extra = extra
        super().__init__(f"{package!r} is not installed", help=f"pip install 'constrain[{extra}]'")
