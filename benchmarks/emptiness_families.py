"""Families of schemas that nothing satisfies, or hardly anything: each row with the truth, known by how it was made.

A family is a generator that goes through small parameters and computes for each whether a value exists, by counting
that has nothing to do with schemas: k different values fill n places if n ≤ k. The witness is that value. Rows that no
formula gives are written by hand in `tests/conformance/emptiness.json`; `rows()` has both.

Invariant: a witness is valid by both judges, and no value of a pool near an empty schema is (`tests/conformance`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import product
from typing import Any

from benchmarks.data import REPOSITORY

WRITTEN = REPOSITORY / "tests" / "conformance" / "emptiness.json"


class Nothing(Enum):
    """What stands instead of a witness; an enum, so that it is the same in every process."""

    EMPTY = "nothing satisfies the schema"


EMPTY: Any = Nothing.EMPTY


@dataclass(frozen=True)
class Row:
    """One schema; `witness` satisfies it, or is EMPTY."""

    id: str
    schema: Any
    witness: Any

    @property
    def is_empty(self) -> bool:
        return self.witness is EMPTY


def rows() -> list[Row]:
    """The whole corpus: what is written by hand, then the families."""
    written = json.loads(WRITTEN.read_text(encoding="utf-8"))
    found = [Row(f"written {one['id']}", one["schema"], EMPTY if one["empty"] else one["witness"]) for one in written]
    for family in FAMILIES:
        found += [Row(f"{family.__name__.strip('_')} {name}", schema, witness) for name, schema, witness in family()]
    return found


Made = Iterator[tuple[str, Any, Any]]


def _if(holds: bool, witness: Any) -> Any:
    return witness if holds else EMPTY


# ---------------------------------------------------------------- scalars


def _multiples() -> Made:
    """A multiple between two bounds, in hundredths."""
    for step, low, high in product((7, 30, 100), (1, 31, 98), (13, 35, 99, 105)):
        if (step + low + high) % 3 or low > high:
            continue
        first = -(-low // step) * step
        schema = {"type": "number", "minimum": low / 100, "maximum": high / 100, "multipleOf": step / 100}
        yield f"of {step}/100 in {low}..{high}", schema, _if(first <= high, first / 100)


def _integers() -> Made:
    """Integers between bounds that exclude themselves, with two steps."""
    for low, high, (one, other) in product((0, 5), (1, 6, 30), ((2, 3), (4, 6), (5, 7))):
        found = [n for n in range(low + 1, high) if n % one == 0 and n % other == 0]
        bounds = {"exclusiveMinimum": low, "exclusiveMaximum": high}
        schema = {"type": "integer", **bounds, "allOf": [{"multipleOf": one}, {"multipleOf": other}]}
        if (low + high + one) % 2 == 0 or found:
            yield f"{low}<n<{high} by {one} and {other}", schema, _if(bool(found), found[0] if found else None)


def _lengths() -> Made:
    """A pattern whose lengths are known, between two lengths."""
    for unit, least, most in (("ab", 1, 1), ("ab", 1, 2), ("ab", 3, 3), ("abc", 4, 5), ("abc", 7, 9), ("a", 0, 0)):
        times = next((n for n in range(1, 10) if least <= n * len(unit) <= most), None)
        schema = {"type": "string", "pattern": f"^({unit})+$", "minLength": least, "maxLength": most}
        yield f"({unit})+ of {least}..{most}", schema, _if(times is not None, unit * (times or 0))
    for low, high, least in ((2, 4, 3), (2, 4, 5), (0, 3, 4), (0, 50, 50)):
        schema = {"type": "string", "minLength": least, "allOf": [{"pattern": f"^a{{{low},{high}}}$"}]}
        yield f"a{{{low},{high}}} of {least} or more", schema, _if(least <= high, "a" * max(low, least))


def _patterns() -> Made:
    """Two patterns at once."""
    both = (
        ("^a*$", "^b*$", 0, ""), ("^a*$", "^b*$", 1, EMPTY), ("^[ab]+$", "^[bc]+$", 2, "bb"),
        ("^a", "b$", 2, "ab"), ("^(ab)*$", "^(aba)*$", 1, EMPTY), ("^(aa)*$", "^(aaa)*$", 1, "aaaaaa"),
        ("^[^a]*$", "a", 0, EMPTY), ("^\\d+$", "^0", 3, "000"), ("^(?!a)", "^a", 0, EMPTY),
    )  # fmt: skip
    for left, right, least, witness in both:
        schema = {"type": "string", "allOf": [{"pattern": left}, {"pattern": right}], "minLength": least}
        yield f"{left} and {right} of {least} or more", schema, witness


# ---------------------------------------------------------------- arrays

BOOLEAN = {"type": "boolean"}
FEW: dict[str, tuple[Any, list[Any]]] = {
    "booleans": (BOOLEAN, [True, False]),
    "equal numbers": ({"enum": [1, 1.0, 2]}, [1, 2]),
    "equal objects": ({"enum": [{"a": 1, "b": 2}, {"b": 2, "a": 1}]}, [{"a": 1, "b": 2}]),
    "one is not true": ({"enum": [1, True, "1", [1]]}, [1, True, "1", [1]]),
    "pairs of booleans": (
        {"type": "array", "prefixItems": [BOOLEAN, BOOLEAN], "items": False, "minItems": 2},
        [[True, True], [True, False], [False, True], [False, False]],
    ),
    "objects of a boolean": (
        {"type": "object", "properties": {"a": BOOLEAN}, "additionalProperties": False, "required": ["a"]},
        [{"a": True}, {"a": False}],
    ),
    "objects with or without": (
        {"type": "object", "properties": {"a": {"const": 1}}, "additionalProperties": False},
        [{}, {"a": 1}],
    ),
    "integers 1 to 3": ({"type": "integer", "minimum": 1, "maximum": 3}, [1, 2, 3]),
    "letters": ({"type": "string", "pattern": "^[ab]?$"}, ["", "a", "b"]),
}
"""Schemas of a few values: all of them."""


def _unique() -> Made:
    """n different items out of k values: just enough, or one too few."""
    for name, (items, values) in FEW.items():
        for count in (len(values), len(values) + 1):
            schema = {"type": "array", "items": items, "uniqueItems": True, "minItems": count}
            yield f"{count} of {len(values)} {name}", schema, _if(count <= len(values), values)


def _unique_beside_a_prefix() -> Made:
    """The prefix takes values away from the items."""
    for prefix, rest, witness in (
        ([{"const": 1}], {"enum": [1, 2]}, [1, 2]),
        ([{"const": 1}, {"const": 2}], {"enum": [1, 2]}, EMPTY),
        ([{"enum": [1, 2]}, {"enum": [1, 2]}], {"enum": [2, 3]}, [1, 2, 3]),
        ([{"enum": [1, 2]}, {"enum": [1, 2]}], {"enum": [1, 2]}, EMPTY),
        ([{"const": [1]}, {"const": [1.0]}], True, EMPTY),
    ):
        least = {"uniqueItems": True, "minItems": len(prefix) + 1}
        schema = {"type": "array", "prefixItems": prefix, "items": rest, **least}
        if rest is True:
            schema["minItems"] = 2
        yield f"{json.dumps(prefix)} then {json.dumps(rest)}", schema, witness


def _contains() -> Made:
    """At least a ones and b twos among at most n items; with `minItems` of something that is neither."""
    for ones, twos, most in ((1, 1, 1), (1, 1, 2), (2, 1, 2), (2, 1, 3), (0, 2, 1), (3, 3, 6)):
        wanted = [{"contains": {"const": 1}, "minContains": ones}, {"contains": {"const": 2}, "minContains": twos}]
        schema = {"type": "array", "allOf": wanted, "maxItems": most}
        yield f"{ones} ones and {twos} twos in {most}", schema, _if(ones + twos <= most, [1] * ones + [2] * twos)
    for least, most, length, witness in (
        (2, 1, 3, EMPTY), (0, 0, 1, ["a"]), (1, 1, 2, [1, "a"]), (2, 2, 2, [1, 1]), (3, 3, 2, [1, 1, 1]),
    ):  # fmt: skip
        counts = {"contains": {"type": "integer"}, "minContains": least, "maxContains": most}
        schema = {"type": "array", **counts, "minItems": length, "items": {"enum": [1, "a"]}}
        yield f"{least} to {most} integers among {length} or more", schema, witness
        narrowed = schema | {"items": {"const": 1}}
        only = [1] * max(least, length)
        yield f"{least} to {most} of {length} or more ones", narrowed, _if(max(least, length) <= most, only)


def _contains_within_contains() -> Made:
    """Every integer is a number: more integers than numbers are allowed."""
    for integers, numbers, witness in ((2, 1, EMPTY), (1, 1, [1]), (2, 3, [1, 1])):
        parts = [
            {"contains": {"type": "integer"}, "minContains": integers},
            {"contains": {"type": "number"}, "maxContains": numbers},
        ]
        yield f"{integers} integers, {numbers} numbers", {"type": "array", "allOf": parts}, witness


def _prefixes() -> Made:
    """A prefix with a hole in it cuts the array short."""
    for hole, least in product((0, 1, 2), (0, 1, 2, 3)):
        prefix: list[Any] = [{"const": 0}] * 3
        prefix[hole] = False
        if (hole + least) % 2 == 0:
            schema = {"type": "array", "prefixItems": prefix, "minItems": least}
            yield f"hole at {hole}, {least} or more", schema, _if(least <= hole, [0] * least)


# ---------------------------------------------------------------- objects


def _names() -> Made:
    """n members out of k names."""
    kinds: tuple[tuple[str, dict[str, Any], int], ...] = (
        ("propertyNames enum", {"propertyNames": {"enum": ["a", "b"]}}, 2),
        ("propertyNames pattern", {"propertyNames": {"pattern": "^[ab]$"}}, 2),
        ("closed", {"properties": {"a": True, "b": True}, "additionalProperties": False}, 2),
        ("closed but for one", {"properties": {"a": True, "b": False}, "additionalProperties": False}, 1),
        ("by pattern", {"patternProperties": {"^[a]$": True}, "additionalProperties": False}, 1),
        ("names and pattern", {"propertyNames": {"enum": ["a", "b"]}, "patternProperties": {"b": False}}, 1),
    )
    for name, schema, count in kinds:
        for least in (count, count + 1):
            witness = _if(least <= count, {one: 0 for one in ("a", "b")[:count]})
            yield f"{least} members, {name}", {"type": "object", **schema, "minProperties": least}, witness


def _dependents() -> Made:
    """A chain n0 → n1 → … under `maxProperties`, or to a name that is forbidden."""
    for length in (2, 5, 20):
        chain = {f"n{i}": [f"n{i + 1}"] for i in range(length)}
        base = {"type": "object", "required": ["n0"], "dependentRequired": chain}
        whole = {f"n{i}": 0 for i in range(length + 1)}
        yield f"chain of {length}, room for all", base | {"maxProperties": length + 1}, whole
        yield f"chain of {length}, room for one fewer", base | {"maxProperties": length}, EMPTY
        yield f"chain of {length} to a forbidden name", base | {"properties": {f"n{length}": False}}, EMPTY


def _required() -> Made:
    """Required names whose schemas contradict each other, or not."""
    one, other = {"type": "integer"}, {"type": "string"}
    parts: tuple[tuple[str, dict[str, Any], Any], ...] = (
        ("both patterns match", {"patternProperties": {"^a": one, "b$": other}, "required": ["ab"]}, EMPTY),
        ("one pattern matches", {"patternProperties": {"^a": one, "b$": other}, "required": ["a"]}, {"a": 1}),
        ("undeclared in a closed object", {"additionalProperties": False, "required": ["a"]}, EMPTY),
        ("undeclared, others integers", {"additionalProperties": one, "required": ["a"]}, {"a": 1}),
        ("more names than room", {"required": ["a", "b", "c"], "maxProperties": 2}, EMPTY),
        ("as many names as room", {"required": ["a", "b"], "maxProperties": 2}, {"a": 0, "b": 0}),
        ("a name too long", {"required": ["abc"], "propertyNames": {"maxLength": 2}}, EMPTY),
        (
            "declared twice",
            {"allOf": [{"properties": {"a": one}}, {"properties": {"a": other}}], "required": ["a"]},
            EMPTY,
        ),
        ("declared twice, optional", {"allOf": [{"properties": {"a": one}}, {"properties": {"a": other}}]}, {}),
    )
    for name, schema, witness in parts:
        yield name, {"type": "object", **schema}, witness


def _extra_names() -> Made:
    """Only a name that nobody declared can fill the object."""
    for least, pattern, witness in ((1, "^x", {"x": 1}), (2, "^x", {"x": 1, "xa": 1}), (1, "^a$", EMPTY)):
        rest = {"properties": {"a": False, "b": False}, "additionalProperties": {"type": "integer"}}
        schema = {"type": "object", **rest, "minProperties": least, "propertyNames": {"pattern": pattern}}
        yield f"{least} of {pattern}", schema, witness


def _unevaluated() -> Made:
    """`unevaluatedProperties: false` lets through only what a branch that holds has evaluated."""
    for required, witness in (
        (["a"], {"a": 0}), (["b"], {"b": 1}), (["b", "c"], EMPTY), (["a", "c"], {"a": 0, "c": 2}), (["d"], EMPTY),
    ):  # fmt: skip
        schema = {
            "type": "object",
            "required": required,
            "properties": {"a": True},
            "oneOf": [
                {"properties": {"b": {"const": 1}}, "required": ["b"]},
                {"properties": {"c": {"const": 2}}, "required": ["c"]},
            ],
            "unevaluatedProperties": False,
        }
        if required == ["a"]:
            witness = {"a": 0, "b": 1}
        yield f"needs {required}", schema, witness
    for least, witness in ((1, [1]), (2, EMPTY)):
        branches = [{"prefixItems": [{"const": 1}]}, {"contains": {"const": 2}, "maxItems": 1}]
        schema = {"type": "array", "anyOf": branches, "minItems": least, "unevaluatedItems": False}
        yield f"{least} or more items", schema, witness


# ---------------------------------------------------------------- logic

NUMBER_FROM_5, EVEN = {"type": "number", "minimum": 5}, {"multipleOf": 2}


def _logic() -> Made:
    """A and B and what contradicts them."""
    thing = {"type": "object", "required": ["a"]}
    rows_: tuple[tuple[str, Any, Any], ...] = (
        ("A and not A", {"allOf": [thing, {"not": thing}]}, EMPTY),
        ("A, not (A and B)", {"allOf": [NUMBER_FROM_5, {"not": {"allOf": [NUMBER_FROM_5, EVEN]}}]}, 7),
        ("A, B, not (A and B)", {"allOf": [NUMBER_FROM_5, EVEN, {"not": {"allOf": [NUMBER_FROM_5, EVEN]}}]}, EMPTY),
        ("A, if A then not A", {**thing, "if": thing, "then": {"not": thing}}, EMPTY),
        ("if A then no, else no", {"if": thing, "then": False, "else": {"required": ["b"], "maxProperties": 0}}, 0),
        ("object, if A then no", {"type": "object", "if": thing, "then": False}, {}),
        ("if A then no, else A", {"if": thing, "then": False, "else": thing}, EMPTY),
        ("one of A and A", {"oneOf": [thing, thing]}, EMPTY),
        ("one of A, A and B", {"oneOf": [NUMBER_FROM_5, NUMBER_FROM_5, EVEN], "type": "number"}, 4),
        ("one of A, A, and B within A", {"oneOf": [NUMBER_FROM_5, NUMBER_FROM_5, {"const": 6}]}, EMPTY),
        ("one of all and A", {"oneOf": [True, thing], "type": "object"}, {}),
        ("one of all and object, object", {"oneOf": [True, {"type": "object"}], "type": "object"}, EMPTY),
        ("not not A", {"not": {"not": thing}}, {"a": 0}),
        ("not anything", {"not": {}}, EMPTY),
        ("not any of all types", {"not": {"type": ["object", "array", "string", "number", "boolean", "null"]}}, EMPTY),
        ("all types but null", {"not": {"type": ["object", "array", "string", "number", "boolean"]}}, None),
    )
    yield from rows_


def _enums() -> Made:
    """Values that siblings take away one by one."""
    values = [1, "a", None, [1], {"a": 1}]
    for taken in range(len(values) + 1):
        left = values[taken:]
        schema = {"enum": values, "not": {"enum": values[:taken]}} if taken else {"enum": values}
        yield f"{taken} of {len(values)} taken away", schema, left[0] if left else EMPTY


# ---------------------------------------------------------------- recursion


def _chains() -> Made:
    """Definitions that lead to each other through required members, to a value or to nothing."""
    for length, end in product((1, 7, 40), ({"const": 0}, False, {"$ref": "#/$defs/d0"})):
        definitions: dict[str, Any] = {
            f"d{i}": {
                "type": "object",
                "properties": {"x": {"$ref": f"#/$defs/d{i + 1}"}},
                "required": ["x"],
                "additionalProperties": False,
            }
            for i in range(length)
        }
        definitions[f"d{length}"] = end
        witness: Any = 0
        for _ in range(length):
            witness = {"x": witness}
        schema = {"$ref": "#/$defs/d0", "$defs": definitions}
        yield f"{length} long to {json.dumps(end)}", schema, _if("const" in str(end), witness)


def _trees() -> Made:
    """Nodes that hold nodes: with a way to stop, or without."""
    for least, extra, witness in (
        (0, {}, {"c": []}), (1, {}, EMPTY), (2, {"uniqueItems": True}, EMPTY), (0, {"contains": {"$ref": "#"}}, EMPTY),
        (0, {"contains": {"$ref": "#"}, "minContains": 0}, {"c": []}),
    ):  # fmt: skip
        children = {"type": "array", "items": {"$ref": "#"}, "minItems": least, **extra}
        schema = {"type": "object", "properties": {"c": children}, "required": ["c"], "additionalProperties": False}
        yield f"{least} or more children {json.dumps(extra)}", schema, witness


FAMILIES = (
    _multiples, _integers, _lengths, _patterns, _unique, _unique_beside_a_prefix, _contains, _contains_within_contains,
    _prefixes, _names, _dependents, _required, _extra_names, _unevaluated, _logic, _enums, _chains, _trees,
)  # fmt: skip
