"""Random JSON Schemas that are hard on purpose, from any `random.Random`: one seed is one schema.

Domains are small so that things collide: names a, b, c; values 0, 1, 2, "a", null, [], {}; patterns that overlap. A
schema has a *theme* (objects, arrays, numbers, strings, anything) which most of the schemas that apply to the same
place share, so that they contradict, overlap and evaluate each other's members. Every keyword of every dialect occurs;
`$schema` names the dialect, or nothing does (2020-12, or the older forms mixed in).

Invariant: recursion descends. A reference that stays at its place leads only to a later definition, so no schema
applies itself; from a child a reference may lead anywhere, the root included.

Not done: formats (annotations to whoever uses this), remote documents, embedded resources.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.data import DRAFTS

NAMES = ("a", "b", "c")
VALUES: tuple[Any, ...] = (0, 1, 2, -1, 1.5, "a", "b", "", "ab", None, True, False, [], {}, [0], [1, 0], {"a": 0})
NUMBERS = (0, 1, 2, 3, -1, 0.5, 1.5, 2.5, 0.1, 10)
STEPS = (1, 2, 3, 0.5, 0.1, 0.01, 1.5, 0.3)
PATTERNS = ("^a", "b", "^[ab]$", "a|c", "^.$", "c$", "", "^b?$", "^(?!a)", "^a*$", r"\d")
TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
THEMES = ("object", "object", "object", "array", "array", "array", "number", "string", "any", "any")

ORDER = ("4", "6", "7", "2019-09", "2020-12")
MIXED = "mixed"
SHARES: Mapping[str | None, int] = {None: 8, "2020-12": 5, "2019-09": 2, "7": 2, "6": 1, "4": 1, MIXED: 1}
"""How often each dialect: None is no `$schema` and no older form, "mixed" no `$schema` and older forms."""


def random_schema(chance: random.Random, depth: int = 3) -> Any:
    """A schema nested at most `depth` deep (definitions apart)."""
    dialect = chance.choices(tuple(SHARES), tuple(SHARES.values()))[0]
    return _Maker(chance, dialect).root(depth)


@dataclass
class _Maker:
    chance: random.Random
    dialect: str | None
    definitions: tuple[str, ...] = ()
    reachable: tuple[str, ...] = ()
    refers_dynamically: bool = False

    @property
    def age(self) -> int:
        """The dialect's place in `ORDER`; no dialect is the newest."""
        return ORDER.index(self.dialect) if self.dialect in ORDER else len(ORDER) - 1

    @property
    def writes_old_forms(self) -> bool:
        return self.age < 4 or self.dialect == MIXED

    def root(self, depth: int) -> Any:
        holder = "$defs" if self.age >= 3 and self.dialect != MIXED else "definitions"
        count = self.chance.choice((0, 0, 1, 2, 2))
        self.definitions = tuple(f"#/{holder}/{name}" for name in ("x", "y")[:count])
        self.reachable = self.definitions
        self.refers_dynamically = self.age == 4 and self.chance.random() < 0.1
        schema = self.schema(depth)
        if not isinstance(schema, dict):
            return schema
        head: dict[str, Any] = {"$schema": DRAFTS[self.dialect][1]} if self.dialect in DRAFTS else {}
        schema = head | schema
        if count:
            schema[holder] = {}
        for position, pointer in enumerate(self.definitions):
            self.reachable = self.definitions[position + 1 :]
            schema[holder][pointer.rpartition("/")[2]] = self.schema(min(depth, 2))
        if self.refers_dynamically:
            schema["$dynamicAnchor"] = "node"
        if self.dialect == "2019-09" and self.chance.random() < 0.3:
            schema["$recursiveAnchor"] = True
        return schema

    # ---------------------------------------------------------------- schemas

    def schema(self, depth: int, theme: str | None = None) -> Any:
        """A schema for the place at hand; its in-place references lead to `reachable`."""
        chance = self.chance
        if self.age > 0 and chance.random() < (0.05 if depth > 1 else 0.15):
            return chance.random() < 0.6
        if theme is None or chance.random() < 0.2:
            theme = chance.choice(THEMES)
        if depth <= 0:
            return self.leaf(theme)
        found: dict[str, Any] = {}
        pool = [keyword for keyword in KEYWORDS if theme in keyword.themes and self.age in keyword.ages]
        wanted = chance.choice((1, 1, 2, 2, 3, 4))
        for keyword in chance.choices(pool, [keyword.weight for keyword in pool], k=wanted):
            for name, argument in keyword.make(self, depth, theme).items():
                found.setdefault(name, argument)
        if theme != "any" and "type" not in found and chance.random() < 0.4:
            found["type"] = theme
        return found

    def leaf(self, theme: str) -> Any:
        chance = self.chance
        kind = chance.randrange(6)
        if kind == 0 and self.age > 0:
            return {"const": chance.choice(VALUES)}
        if kind == 1:
            return {"enum": self.values()}
        if kind == 2:
            return {"type": chance.choice(TYPES)}
        if kind == 3:
            return {}
        plain = [keyword for keyword in KEYWORDS if keyword.is_plain and theme in keyword.themes]
        allowed = [keyword for keyword in plain if self.age in keyword.ages]
        return chance.choice(allowed).make(self, 0, theme) if allowed else {"type": chance.choice(TYPES)}

    def child(self, depth: int) -> Any:
        """A schema for something inside the value: it may refer to anything."""
        if self.chance.random() < 0.15 and (self.definitions or self.chance.random() < 0.5):
            return self.reference((*self.definitions, "#"))
        kept, self.reachable = self.reachable, self.definitions
        try:
            return self.schema(depth - 1)
        finally:
            self.reachable = kept

    def here(self, depth: int, theme: str) -> Any:
        """A schema for the same place."""
        if self.reachable and self.chance.random() < 0.12:
            return self.reference(self.reachable)
        return self.schema(depth - 1, theme)

    def reference(self, targets: Sequence[str]) -> dict[str, Any]:
        target = self.chance.choice(targets)
        if target == "#" and self.dialect == "2019-09" and self.chance.random() < 0.3:
            return {"$recursiveRef": "#"}
        if target == "#" and self.refers_dynamically:
            return {"$dynamicRef": "#node"}
        return {"$ref": target}

    # ---------------------------------------------------------------- small parts

    def values(self) -> list[Any]:
        """Different values for `enum`."""
        return self.chance.sample(VALUES, self.chance.choice((1, 2, 2, 3, 4)))

    def names(self, least: int = 1) -> list[str]:
        return self.chance.sample(NAMES, self.chance.randint(least, len(NAMES)))

    def pattern(self) -> str:
        return self.chance.choice(PATTERNS)

    def count(self, highest: int = 3) -> int:
        return self.chance.randint(0, highest)


# ---------------------------------------------------------------- keywords

Make = Callable[[_Maker, int, str], dict[str, Any]]
ALL_AGES = range(len(ORDER))


@dataclass(frozen=True)
class _Keyword:
    """One keyword, or several that belong together: `make(maker, depth, theme)` writes them."""

    themes: tuple[str, ...]
    make: Make
    ages: range = ALL_AGES
    weight: int = 2
    is_plain: bool = False


def _type(maker: _Maker, depth: int, theme: str) -> dict[str, Any]:
    if maker.chance.random() < 0.5:
        return {"type": maker.chance.choice(TYPES)}
    return {"type": maker.chance.sample(TYPES, maker.chance.choice((2, 2, 3)))}


def _bound(name: str) -> Make:
    def make(maker: _Maker, depth: int, theme: str) -> dict[str, Any]:
        bound, chance = maker.chance.choice(NUMBERS), maker.chance
        flag = "exclusive" + name.capitalize()
        if maker.age == 0 or (maker.dialect == MIXED and chance.random() < 0.5):
            return {name: bound, flag: chance.random() < 0.5} if chance.random() < 0.5 else {name: bound}
        return {flag if chance.random() < 0.3 else name: bound}

    return make


def _simple(name: str, draw: Callable[[_Maker], Any]) -> Make:
    return lambda maker, depth, theme: {name: draw(maker)}


def _child(name: str) -> Make:
    return lambda maker, depth, theme: {name: maker.child(depth)}


def _items(maker: _Maker, depth: int, theme: str) -> dict[str, Any]:
    chance, count = maker.chance, maker.chance.choice((0, 0, 1, 2))
    if not count:
        return {"items": maker.child(depth)}
    prefix = [maker.child(depth) for _ in range(count)]
    if maker.writes_old_forms:
        rest = {"additionalItems": maker.child(depth)} if chance.random() < 0.6 else {}
        return {"items": prefix} | rest
    return {"prefixItems": prefix} | ({"items": maker.child(depth)} if chance.random() < 0.4 else {})


def _contains(maker: _Maker, depth: int, theme: str) -> dict[str, Any]:
    found: dict[str, Any] = {"contains": maker.child(depth)}
    if maker.age >= 3:
        if maker.chance.random() < 0.4:
            found["minContains"] = maker.count()
        if maker.chance.random() < 0.4:
            found["maxContains"] = maker.count()
    return found


def _properties(maker: _Maker, depth: int, theme: str) -> dict[str, Any]:
    return {"properties": {name: maker.child(depth) for name in maker.names()}}


def _pattern_properties(maker: _Maker, depth: int, theme: str) -> dict[str, Any]:
    patterns = {maker.pattern() for _ in range(maker.chance.choice((1, 1, 2)))}
    return {"patternProperties": {pattern: maker.child(depth) for pattern in sorted(patterns)}}


def _property_names(maker: _Maker, depth: int, theme: str) -> dict[str, Any]:
    chance = maker.chance
    some: tuple[Any, ...] = (
        {"pattern": maker.pattern()},
        {"enum": maker.names()},
        {"maxLength": 1},
        {"minLength": 1},
        {"not": {"const": chance.choice(NAMES)}},
        {"not": {"enum": maker.names()}},
    )
    return {"propertyNames": chance.choice(some) if chance.random() < 0.9 else maker.schema(depth - 1, "string")}


def _dependent(maker: _Maker, depth: int, theme: str) -> dict[str, Any]:
    chance = maker.chance
    if chance.random() < 0.5:
        name, rules = "dependentRequired", {one: maker.names() for one in maker.names()}
    else:
        name, rules = "dependentSchemas", {one: maker.here(depth, theme) for one in maker.names()[:2]}
    return {"dependencies" if maker.age < 3 or maker.dialect == MIXED else name: rules}


def _branches(name: str) -> Make:
    def make(maker: _Maker, depth: int, theme: str) -> dict[str, Any]:
        branches = [maker.here(depth, theme) for _ in range(maker.chance.choice((1, 2, 2, 2, 3)))]
        if name == "oneOf" and maker.chance.random() < 0.2:  # the same twice: neither may hold
            branches.append(branches[0])
        return {name: branches}

    return make


def _condition(maker: _Maker, depth: int, theme: str) -> dict[str, Any]:
    found = {"if": maker.here(depth, theme)}
    for name in ("then", "else"):
        if maker.chance.random() < 0.75:
            found[name] = maker.here(depth, theme)
    return found


def _reference(maker: _Maker, depth: int, theme: str) -> dict[str, Any]:
    return maker.reference(maker.reachable) if maker.reachable else {}


def _unevaluated(name: str, applicators: Sequence[Make]) -> Make:
    """`unevaluated*` beside something that evaluates: mostly false, or a small schema."""

    def make(maker: _Maker, depth: int, theme: str) -> dict[str, Any]:
        chance = maker.chance
        rest = False if chance.random() < 0.6 else maker.child(min(depth, 2))
        return {name: rest} | chance.choice(applicators)(maker, depth, theme)

    return make


_NUMBER, _STRING, _ARRAY, _OBJECT = ("number",), ("string",), ("array",), ("object",)
_ANY = ("any", "object", "array", "number", "string")
_COMBINATIONS = (_branches("allOf"), _branches("anyOf"), _branches("oneOf"), _condition)

KEYWORDS = (
    _Keyword(_ANY, _type, weight=1, is_plain=True),
    _Keyword(_ANY, _simple("const", lambda maker: maker.chance.choice(VALUES)), range(1, 5), 1, is_plain=True),
    _Keyword(_ANY, _simple("enum", _Maker.values), weight=1, is_plain=True),
    _Keyword(_NUMBER, _bound("minimum"), weight=4, is_plain=True),
    _Keyword(_NUMBER, _bound("maximum"), weight=4, is_plain=True),
    _Keyword(_NUMBER, _simple("multipleOf", lambda maker: maker.chance.choice(STEPS)), weight=4, is_plain=True),
    _Keyword(_STRING, _simple("minLength", _Maker.count), weight=3, is_plain=True),
    _Keyword(_STRING, _simple("maxLength", _Maker.count), weight=3, is_plain=True),
    _Keyword(_STRING, _simple("pattern", _Maker.pattern), weight=4, is_plain=True),
    _Keyword(_ARRAY, _items, weight=4),
    _Keyword(_ARRAY, _simple("minItems", _Maker.count), is_plain=True),
    _Keyword(_ARRAY, _simple("maxItems", _Maker.count), is_plain=True),
    _Keyword(_ARRAY, _simple("uniqueItems", lambda maker: True), is_plain=True, weight=3),
    _Keyword(_ARRAY, _contains, range(1, 5), 4),
    _Keyword(_ARRAY, _unevaluated("unevaluatedItems", (*_COMBINATIONS, _items, _contains)), range(3, 5), 3),
    _Keyword(_OBJECT, _properties, weight=6),
    _Keyword(_OBJECT, _pattern_properties, weight=3),
    _Keyword(_OBJECT, _child("additionalProperties"), weight=3),
    _Keyword(_OBJECT, _simple("required", _Maker.names), weight=3, is_plain=True),
    _Keyword(_OBJECT, _simple("minProperties", _Maker.count), is_plain=True),
    _Keyword(_OBJECT, _simple("maxProperties", _Maker.count), is_plain=True),
    _Keyword(_OBJECT, _property_names, range(1, 5)),
    _Keyword(_OBJECT, _dependent, weight=3),
    _Keyword(
        _OBJECT,
        _unevaluated("unevaluatedProperties", (*_COMBINATIONS, _properties, _pattern_properties, _dependent)),
        range(3, 5),
        3,
    ),
    _Keyword(_ANY, lambda maker, depth, theme: {"not": maker.here(depth, theme)}, weight=2),
    _Keyword(_ANY, _branches("allOf"), weight=2),
    _Keyword(_ANY, _branches("anyOf"), weight=2),
    _Keyword(_ANY, _branches("oneOf"), weight=3),
    _Keyword(_ANY, _condition, range(2, 5), 2),
    _Keyword(_ANY, _reference, weight=2),
)
"""`propertyNames`, `contains`, `const` exist since draft 6, `if` since 7, `unevaluated*` since 2019-09."""
