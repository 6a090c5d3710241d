"""Rules about names: what is required and what is declared, here and in the schemas that apply beside.

The *conjuncts* of a place are the schemas that all hold for the value there: itself, its `allOf` and `$ref`, and those
in whose branches it stands. A name is forbidden if a conjunct is closed by `additionalProperties: false` and neither
declares it nor has a pattern for it: `additionalProperties` does not see what its siblings declare.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from constrain.errors import ConstrainError, shorten
from constrain.frontends import regex
from constrain.frontends.json_schema.keywords import suggestion
from constrain.frontends.json_schema.scopes import Scope
from constrain.frontends.json_schema.values import has_surrogate
from constrain.grammar import regular
from constrain.linting.finding import Finding
from constrain.linting.places import BRANCHES, Place
from constrain.linting.rules import found

MAX_CONJUNCTS = 200
SHOWN_NAMES = 5


@dataclass(frozen=True, slots=True, eq=False)
class Conjunct:
    """A schema that holds beside others, with what it says of names; malformed keywords say nothing."""

    path: str
    declared: Mapping[str, Any]
    patterns: tuple[str, ...]
    required: tuple[str, ...]
    is_closed: bool

    def allows(self, name: str) -> bool:
        """False if a member called `name` is certainly forbidden by this schema's own keywords."""
        if name in self.declared:
            return self.declared[name] is not False
        return not self.is_closed or any(_finds(pattern, name) for pattern in self.patterns)


class Names:
    """The rules about names, for one schema; remembers what it has read."""

    def __init__(self) -> None:
        self._gathered: dict[tuple[int, int], list[Conjunct]] = {}
        self._said: set[tuple[str, str]] = set()

    def findings(self, place: Place) -> Iterator[Finding]:
        """What is found at `place`; places are asked for in document order, each thing is said once."""
        words = place.keywords
        required = words.get("required")
        names = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
        for i, name in enumerate(names):
            if name in names[:i] and names.index(name) == i - names[:i][::-1].index(name) - 1:
                yield found("duplicate-required", place.at("required", i), f"{_shown(name)} is required twice",
                            help="remove one of them")  # fmt: skip
        if place.is_test or not isinstance(place.schema, Mapping):
            return
        conjuncts = self._conjuncts(place)
        closers = [conjunct for conjunct in conjuncts if conjunct.is_closed]
        yield from self._forbidden(conjuncts, closers)
        if names and not closers:
            yield from self._undeclared(place, names, conjuncts)

    def _forbidden(self, conjuncts: list[Conjunct], closers: list[Conjunct]) -> Iterator[Finding]:
        for conjunct in conjuncts:
            for i, name in enumerate(conjunct.required):
                closer = next((c for c in conjuncts if not c.allows(name)), None)
                if closer is not None and self._is_new("required", conjunct.path, name):
                    yield _forbidden_required(conjunct, i, name, closer)
            for closer in closers:
                forbidden = [
                    name
                    for name, schema in conjunct.declared.items()
                    if schema is not False and not closer.allows(name) and name not in closer.declared
                ]
                if forbidden and closer is not conjunct and self._is_new(closer.path, conjunct.path):
                    yield _forbidden_property(conjunct, closer, forbidden)

    def _undeclared(self, place: Place, names: list[str], conjuncts: list[Conjunct]) -> Iterator[Finding]:
        words = place.keywords
        declared = dict.fromkeys(name for conjunct in conjuncts for name in conjunct.declared)
        free = frozenset(name for name in declared if name not in names)
        patterns = [pattern for conjunct in conjuncts for pattern in conjunct.patterns]
        for i, name in enumerate(names):
            if name in declared or any(_finds(pattern, name) for pattern in patterns):
                continue
            near = suggestion(name, free) if len(name) > 3 else None
            if near is not None:
                yield found("misspelt-required", place.at("required", i),
                            f"{_shown(name)} is required and not declared, while {_shown(near)} is declared",
                            help=f"did you mean {near!r}?")  # fmt: skip
            elif isinstance(words.get("properties"), Mapping) and not self._may_be_elsewhere(place):
                yield found("undeclared-required", place.at("required", i),
                            f"{_shown(name)} is required, and nothing says what it must be",
                            help="declare it in 'properties'")  # fmt: skip

    @staticmethod
    def _may_be_elsewhere(place: Place) -> bool:
        """True if other schemas apply in place, or extra members have a schema."""
        return any(word in place.keywords for word in (*BRANCHES, "if", "$dynamicRef", "$recursiveRef")) or isinstance(
            place.keywords.get("additionalProperties"), Mapping
        )

    def _is_new(self, *said: str) -> bool:
        key = (said[0], "\0".join(said[1:]))
        if key in self._said:
            return False
        self._said.add(key)
        return True

    # ------------------------------------------------------------ what holds together

    def _conjuncts(self, place: Place) -> list[Conjunct]:
        gathered = [*self._gather(place.schema, place.path, place.scope)]
        while place.parent is not None and place.keyword in BRANCHES:
            place = place.parent
            gathered += self._gather(place.schema, place.path, place.scope)
        return [*{conjunct.path: conjunct for conjunct in gathered[:MAX_CONJUNCTS]}.values()]

    def _gather(self, schema: Any, path: str, scope: Scope) -> list[Conjunct]:
        """`schema`, its `$ref` and its `allOf`, as deep as they go."""
        key = (id(schema), id(scope))
        if key in self._gathered:
            return self._gathered[key]
        gathered: list[Conjunct] = []
        stack, seen = [(schema, path, scope)], set[int]()
        while stack and len(gathered) < MAX_CONJUNCTS:
            schema, path, scope = stack.pop()
            if not isinstance(schema, Mapping) or id(schema) in seen:
                continue
            seen.add(id(schema))
            try:
                scope = scope.of(schema, path)
                if scope.dialect.ref_hides_siblings and "$ref" in schema:
                    schema = {"$ref": schema["$ref"]}
                reference = schema.get("$ref")
                inner = [scope.lookup(reference, path)] if isinstance(reference, str) else []
            except ConstrainError:
                continue
            gathered.append(_conjunct(schema, path))
            branches = schema.get("allOf")
            if isinstance(branches, list):
                inner += [(branch, f"{path}/allOf/{i}", scope) for i, branch in enumerate(branches)]
            stack.extend(reversed(inner))
        self._gathered[key] = gathered
        return gathered


def _conjunct(schema: Mapping[str, Any], path: str) -> Conjunct:
    declared, patterns, required = (schema.get(name) for name in ("properties", "patternProperties", "required"))
    return Conjunct(
        path,
        declared if isinstance(declared, Mapping) else {},
        tuple([text for text in patterns if isinstance(text, str)]) if isinstance(patterns, Mapping) else (),
        tuple([name for name in required if isinstance(name, str)]) if isinstance(required, list) else (),
        schema.get("additionalProperties") is False,
    )


def _forbidden_required(conjunct: Conjunct, i: int, name: str, closer: Conjunct) -> Finding:
    near = suggestion(name, frozenset(closer.declared)) if len(name) > 2 else None
    where = "" if closer is conjunct else f" at {closer.path}"
    if name in closer.declared:
        message = f"{_shown(name)} is required, and 'properties' forbids it{where}"
        help = "remove it from 'required', or give it a schema that allows something"
    else:
        message = f"{_shown(name)} is required and not declared, and 'additionalProperties: false'{where} forbids it"
        help = f"did you mean {near!r}?" if near else "declare it in 'properties' there, or do not require it"
    return found("forbidden-required", f"{conjunct.path}/required/{i}", message, help=help)


def _forbidden_property(conjunct: Conjunct, closer: Conjunct, names: list[str]) -> Finding:
    shown = ", ".join(_shown(name) for name in names[:SHOWN_NAMES])
    more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
    return found(
        "forbidden-property", closer.path,
        f"'additionalProperties: false' forbids {shown}{more}, declared at {conjunct.path}/properties",
        keyword="additionalProperties",
        help="it sees its own 'properties' only: declare all members in one place, or use 'unevaluatedProperties'",
    )  # fmt: skip


def _shown(name: str) -> str:
    return shorten(repr(name))


def _finds(pattern: str, name: str) -> bool:
    """True if `name` may match `pattern`."""
    read = parsed(pattern)
    if read is None:
        return True
    try:
        return not has_surrogate(name) and regular.matches(read.regular, name)
    except ConstrainError:
        return True


@lru_cache(maxsize=2048)
def parsed(pattern: str) -> regex.ParsedPattern | None:
    """The strings in which the pattern is found, and how it is read; None if that cannot be said."""
    try:
        return regex.parse_with_notes(pattern, dialect="ecma", mode="search")
    except (ConstrainError, RecursionError):
        return None


__all__ = ["Names", "parsed"]
