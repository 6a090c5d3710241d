"""What a hosted service accepts of JSON Schema: `Profile`, a record of its rules, and the check against it.

A profile is data: nothing here knows a service by name, and another one is another record. Its findings have codes of
the form `openai-strict/open-object`. They are errors where the service says or is known to refuse the schema, warnings
where its documentation does not promise to accept it.

How sizes are counted, where a service does not say: every schema place once, definitions included; a level of nesting
is an object in an object, through arrays and references (a reference back to a place above adds none, since recursion
is allowed); lengths in code points.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from constrain.errors import ConstrainError, shorten
from constrain.frontends.json_schema.keywords import KEYWORDS
from constrain.frontends.json_schema.values import escape
from constrain.linting.finding import Finding, Severity
from constrain.linting.keyword_rules import types_of
from constrain.linting.places import Place


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes of a whole schema; an `enum` of more than `large_enum` strings has a limit of its own."""

    properties: int
    depth: int
    enum_values: int
    characters: int
    large_enum: int
    large_enum_characters: int


@dataclass(frozen=True, slots=True)
class Profile:
    """The rules of one service.

    supported        keywords that its documentation lists, and annotations that it is known to accept
    refused          keywords that it refuses, each with what to write instead
    root_refused     keywords that it refuses at the root only
    bare_references  nothing may stand beside `$ref`
    """

    name: str
    service: str
    source: str
    as_of: str
    supported: frozenset[str]
    refused: Mapping[str, str]
    root_refused: Mapping[str, str]
    formats: frozenset[str]
    limits: Limits
    root_is_object: bool = True
    closed_objects: bool = True
    all_required: bool = True
    bare_references: bool = True
    local_references: bool = True
    boolean_schemas: bool = False

    def findings(self, places: Sequence[Place]) -> Iterator[Finding]:
        """What of a schema, given by all its places, the service would refuse."""
        check = _Check(self)
        for place in places:
            yield from check.place(place)
        yield from check.sizes(places)

    def takes(self, keyword: str) -> bool:
        """True if advice to add `keyword` does not contradict the service's documentation."""
        return keyword in self.supported

    @property
    def rules(self) -> Mapping[str, str]:
        """What each code of this profile is about."""
        return {f"{self.name}/{rule}": about for rule, about in RULES.items()}


RULES: Mapping[str, str] = {
    "root": "the root is not an object, or holds a keyword that the root may not",
    "open-object": "an object that is not closed with `additionalProperties: false`",
    "optional-member": "a declared member that is not required",
    "refused-keyword": "a keyword that the service refuses",
    "undocumented-keyword": "a keyword that its documentation does not list",
    "format": "a format that its documentation does not list",
    "reference": "a reference to elsewhere, or with keywords beside it",
    "boolean-schema": "`true` or `false` where a schema stands",
    "too-many-properties": "more members than the whole schema may declare",
    "too-deep": "objects nested deeper than allowed",
    "too-many-enum-values": "more `enum` values than the whole schema may have",
    "too-long-names": "names and constants longer than the whole schema may have",
    "too-long-enum": "a large `enum` whose strings are too long together",
}


class _Check:
    def __init__(self, profile: Profile):
        self._profile = profile

    def _found(
        self, rule: str, at: str, message: str, help: str, keyword: str | None = None, severity: Severity = "error"
    ) -> Finding:
        return Finding(f"{self._profile.name}/{rule}", severity, message, at=at, keyword=keyword, help=help)

    # ------------------------------------------------------------ one place

    def place(self, place: Place) -> Iterator[Finding]:
        profile, schema = self._profile, place.schema
        if not isinstance(schema, Mapping):
            is_closing = place.keyword == "additionalProperties" and schema is False
            if place.parent is None:
                yield self._found("root", "#", f"the root is {str(schema).lower()}, not an object", _ROOT_HELP)
            elif not profile.boolean_schemas and not is_closing and place.keyword != "additionalProperties":
                yield self._found("boolean-schema", place.path,
                                  f"{profile.service} reads no {str(schema).lower()} here",
                                  "write a schema with a 'type'")  # fmt: skip
            return
        if place.parent is None:
            yield from self._root(place)
        yield from self._keywords(place)
        yield from self._reference(place)
        if is_object(place):
            yield from self._object(place)

    def _root(self, place: Place) -> Iterator[Finding]:
        schema = place.schema
        if self._profile.root_is_object and schema.get("type") != "object":
            yield self._found("root", "#", "the root must have the type 'object'", _ROOT_HELP, _first(schema, "type"))
        for keyword, help in self._profile.root_refused.items():
            if keyword in schema:
                yield self._found("root", "#", f"the root may not hold {keyword!r}", help, keyword)

    def _keywords(self, place: Place) -> Iterator[Finding]:
        profile, schema = self._profile, place.schema
        for keyword, value in schema.items():
            if keyword in profile.refused:
                yield self._found("refused-keyword", place.path, f"{profile.service} refuses {keyword!r}",
                                  profile.refused[keyword], keyword)  # fmt: skip
            elif keyword == "items" and isinstance(value, list):
                yield self._found("refused-keyword", place.path, f"{profile.service} refuses a list in 'items'",
                                  "give one schema for all items, or an object with a member for each",
                                  keyword)  # fmt: skip
            elif keyword not in profile.supported and keyword in KEYWORDS:  # a word that is none is a finding anyway
                yield self._found(
                    "undocumented-keyword", place.path,
                    f"{shorten(repr(keyword))} is not among the keywords that {profile.service} documents",
                    "remove it, and check the value afterwards", keyword, "warning",
                )  # fmt: skip
        name = schema.get("format")
        if isinstance(name, str) and name not in profile.formats:
            yield self._found("format", place.path, f"{profile.service} does not list the format {shorten(repr(name))}",
                              f"use one of {', '.join(sorted(profile.formats))}, or 'pattern'", "format")  # fmt: skip

    def _reference(self, place: Place) -> Iterator[Finding]:
        profile, schema = self._profile, place.schema
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return
        if profile.local_references and not reference.startswith("#"):
            yield self._found("reference", place.path, f"the reference {shorten(repr(reference))} leads elsewhere",
                              "put what it refers to under '$defs'", "$ref")  # fmt: skip
        beside = [keyword for keyword in schema if keyword not in ("$ref", "$defs", "definitions")]
        if profile.bare_references and beside and place.parent is not None:
            listed = ", ".join(shorten(repr(keyword)) for keyword in beside[:5])
            yield self._found("reference", place.path, f"{profile.service} refuses keywords beside '$ref': {listed}",
                              "move them into the definition", beside[0])  # fmt: skip

    def _object(self, place: Place) -> Iterator[Finding]:
        profile, schema = self._profile, place.schema
        if profile.closed_objects and schema.get("additionalProperties") is not False:
            if "additionalProperties" in schema:
                message = "'additionalProperties' must be false"
            else:
                message = "the object is not closed"
            yield self._found("open-object", place.path, message, "write additionalProperties: false",
                              _first(schema, "additionalProperties", "type", "properties"))  # fmt: skip
        declared, required = schema.get("properties"), schema.get("required")
        if not profile.all_required or not isinstance(declared, Mapping):
            return
        needed = required if isinstance(required, list) else []
        for name in declared:
            if name not in needed:
                yield self._found(
                    "optional-member", f"{place.path}/properties/{escape(str(name))}",
                    f"{shorten(repr(name))} is not required; {profile.service} wants every member in 'required'",
                    "add it to 'required', and \"null\" to its types if it may be left out",
                )  # fmt: skip

    # ------------------------------------------------------------ the whole schema

    def sizes(self, places: Sequence[Place]) -> Iterator[Finding]:
        limits, service = self._profile.limits, self._profile.service
        properties = enum_values = characters = 0
        for place in places:
            words = place.schema if isinstance(place.schema, Mapping) else {}
            declared = words.get("properties")
            names = [*declared] if isinstance(declared, Mapping) else []
            values = words["enum"] if isinstance(words.get("enum"), list) else []
            constants = [*values, *([words["const"]] if "const" in words else [])]
            texts = [*names, *(v for v in constants if isinstance(v, str))]
            texts += [
                name for key in ("$defs", "definitions") if isinstance(words.get(key), Mapping) for name in words[key]
            ]
            length = sum(len(value) for value in values if isinstance(value, str))
            if len(values) > limits.large_enum and length > limits.large_enum_characters:
                yield self._found(
                    "too-long-enum", place.path,
                    f"the strings of this 'enum' of {len(values):,} values have {length:,} characters together; "
                    f"{service} allows {limits.large_enum_characters:,} above {limits.large_enum} values",
                    "shorten or drop values, or take a plain string and check it afterwards", "enum",
                )  # fmt: skip
            was = (properties, enum_values, characters)
            properties += len(names)
            enum_values += len(values)
            characters += sum(map(len, texts))
            for rule, before, now, most, what, help in (
                ("too-many-properties", was[0], properties, limits.properties, "members are declared", "declare fewer"),
                ("too-many-enum-values", was[1], enum_values, limits.enum_values, "'enum' values stand in the schema",
                 "drop values, or take a plain string and check it afterwards"),
                ("too-long-names", was[2], characters, limits.characters, "characters of names and constants",
                 "shorten names and values"),
            ):  # fmt: skip
                if before <= most < now:
                    yield self._found(
                        rule, place.path, f"here more than {most:,} {what}: {service} allows no more", help
                    )
        too_deep = deepest(places, limits.depth)
        if too_deep is not None:
            yield self._found("too-deep", too_deep.path, f"objects nest more than {limits.depth} levels deep here",
                              "flatten the structure")  # fmt: skip


_ROOT_HELP = "wrap what is wanted in an object with one member"


def is_object(place: Place) -> bool:
    """True if the schema at `place` speaks of objects."""
    types = types_of(place)
    if types is not None:
        return "object" in types
    return isinstance(place.schema, Mapping) and ("properties" in place.schema or "required" in place.schema)


def _first(schema: Mapping[str, Any], *keywords: str) -> str | None:
    return next((keyword for keyword in keywords if keyword in schema), None)


@dataclass(frozen=True, slots=True)
class _Way:
    """The references followed to a place, from the last one on."""

    path: str
    before: _Way | None

    def holds(self, path: str) -> bool:
        way: _Way | None = self
        while way is not None:
            if way.path == path:
                return True
            way = way.before
        return False


def deepest(places: Sequence[Place], limit: int) -> Place | None:
    """The first place found where objects nest more than `limit` deep; references are followed, but not in circles."""
    by_path = {place.path: place for place in places}
    inner: dict[str, list[Place]] = {}
    for place in places:
        if place.parent is not None and place.keyword not in ("$defs", "definitions"):
            inner.setdefault(place.parent.path, []).append(place)
    seen: dict[str, int] = {}
    stack: list[tuple[Place, int, _Way | None]] = [(places[0], 0, None)] if places else []
    while stack:
        place, depth, way = stack.pop()
        depth += is_object(place)
        if depth > limit:
            return place
        if seen.get(place.path, -1) >= depth:
            continue
        seen[place.path] = depth
        stack += [(child, depth, way) for child in inner.get(place.path, ())]
        reference = place.schema.get("$ref") if isinstance(place.schema, Mapping) else None
        if isinstance(reference, str):
            try:
                target = by_path.get(place.scope.lookup(reference, place.path)[1])
            except ConstrainError:
                continue
            if target is not None and (way is None or not way.holds(target.path)) and not _is_inside(place, target):
                stack.append((target, depth, _Way(target.path, way)))
    return None


def _is_inside(place: Place, other: Place) -> bool:
    return other.path == "#" or place.path == other.path or place.path.startswith(f"{other.path}/")
