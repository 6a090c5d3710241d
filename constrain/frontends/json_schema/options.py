"""How a JSON Schema is read and how its values are written: the options of `compile_schema`.

A schema says which *values* are valid; these options choose among the many texts that spell one value, and what
becomes of constraints that cannot be enforced. Invariant: a `SchemaOptions` that exists holds only allowed values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from constrain.errors import InvalidSpecification, shorten, shown
from constrain.frontends.json_schema.registry import Documents, Registry, read_registry

KeyOrder = Literal["declared", "any"]
Whitespace = Literal["compact", "spaced", "pretty", "flexible"]
Spelling = Literal["canonical", "any"]
Formats = Literal["known", "annotation", "all"]
OnUnsupported = Literal["error", "warn"]
Trust = Literal["trusted", "untrusted"]

ALLOWED: Mapping[str, tuple[str, ...]] = {
    "key_order": ("declared", "any"),
    "whitespace": ("compact", "spaced", "pretty", "flexible"),
    "numbers": ("canonical", "any"),
    "escapes": ("canonical", "any"),
    "formats": ("known", "annotation", "all"),
    "on_unsupported": ("error", "warn"),
    "trust": ("trusted", "untrusted"),
}
DIALECTS = ("draft4", "draft6", "draft7", "draft2019-09", "draft2020-12")


@dataclass(frozen=True, slots=True)
class SchemaOptions:
    """Reading and spelling options.

    key_order       "declared": the order of first appearance, reading the schemas of a place depth-first (own
                    `properties`, then in-place siblings in document order), then required undeclared names, then
                    other names in any order. "any": every order.
    whitespace      "compact" none; "spaced" as `json.dumps` writes; "pretty" two blanks a level, as
                    `json.dumps(indent=2)`; "flexible" up to 64 blanks before each lexeme.
    numbers         "canonical" one spelling for each value, "any" several (bounded).
    escapes         "canonical" one spelling for each character, "any" also `\\/` and `\\uXXXX`.
    formats         "known" enforces those we know and reports others, "annotation" none, "all" refuses unknown ones.
    dialect         read as this dialect where no `$schema` says otherwise; None: 2020-12 with older forms mixed in.
    registry        documents that references may lead to: {uri: schema}, or a folder, whose .json files are read once,
                    here, and found by their `$id` and by their path in the folder. Nothing is ever fetched.
    on_unsupported  "error" raises, listing every constraint that cannot be enforced; "warn" lets more through and
                    says where.
    trust           "untrusted": no option reads files.
    base_uri        where the schema comes from, such as its path in the registry's folder: relative references start
                    there, unless its `$id` says otherwise.

    Raises:  InvalidSpecification: for a value that is not allowed, or a registry that cannot be read.
    """

    key_order: KeyOrder = "declared"
    whitespace: Whitespace = "compact"
    numbers: Spelling = "canonical"
    escapes: Spelling = "canonical"
    formats: Formats = "known"
    dialect: str | None = None
    registry: Registry | None = field(default=None, hash=False)
    on_unsupported: OnUnsupported = "error"
    trust: Trust = "trusted"
    base_uri: str = ""

    def __post_init__(self) -> None:
        for name, allowed in ALLOWED.items():
            _check(name, getattr(self, name), allowed)
        if self.dialect is not None:
            _check("dialect", self.dialect, DIALECTS)
        if not isinstance(self.base_uri, str) or "#" in self.base_uri:
            raise InvalidSpecification(
                f"base_uri={shorten(shown(self.base_uri))} is no base", expected="a URI without a fragment"
            )
        object.__setattr__(self, "registry", read_registry(self.registry, trust=self.trust))

    @property
    def documents(self) -> Documents:
        """The registry's documents by URI."""
        return self.registry if isinstance(self.registry, Mapping) else {}

    @classmethod
    def from_spelling(cls, spelling: str | None = None, **options: Any) -> SchemaOptions:
        """Options where `spelling="any"` stands for every spelling choice at its widest; `options` win over it.

        Raises:  InvalidSpecification: for an option or a value that does not exist.
        """
        if spelling is not None:
            _check("spelling", spelling, ("canonical", "any"))
        widest = {"key_order": "any", "numbers": "any", "escapes": "any", "whitespace": "flexible"}
        chosen = {**(widest if spelling == "any" else {}), **options}
        unknown = [name for name in chosen if name not in cls.__dataclass_fields__]
        if unknown:
            raise InvalidSpecification(
                f"there is no option {unknown[0]!r}", expected="one of " + ", ".join(cls.__dataclass_fields__)
            )
        return replace(cls(), **chosen)


def _check(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in allowed:
        raise InvalidSpecification(
            f"{name}={shorten(shown(value))} is not an option", expected="one of " + ", ".join(map(repr, allowed))
        )
