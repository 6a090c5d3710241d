"""The keyword table: every keyword of every dialect, once; the support matrix of the docs is made from it.

A record says in which dialects the keyword exists, to which JSON types it applies, what kind of keyword it is, and
what this front end does with it. Unknown keywords are annotations; `suggestion` finds the one that was probably meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Kind = Literal["core", "assertion", "applicator", "annotation"]
Support = Literal["enforced", "conditional", "annotation"]

DRAFT4, DRAFT6, DRAFT7, DRAFT2019, DRAFT2020 = "draft4", "draft6", "draft7", "draft2019-09", "draft2020-12"
ALL = (DRAFT4, DRAFT6, DRAFT7, DRAFT2019, DRAFT2020)
FROM_6, FROM_7, FROM_2019, FROM_2020 = ALL[1:], ALL[2:], ALL[3:], ALL[4:]
TO_7, TO_2019 = ALL[:3], ALL[:4]


@dataclass(frozen=True, slots=True)
class Keyword:
    """`support`: "enforced" always and exactly; "conditional" where `note` allows, else refused."""

    name: str
    dialects: tuple[str, ...]
    kind: Kind
    types: tuple[str, ...] = ()
    support: Support = "enforced"
    note: str = ""


def _records() -> Iterable[Keyword]:
    number, string, array, members = ("number",), ("string",), ("array",), ("object",)
    for name, dialects in (("$schema", ALL), ("id", (DRAFT4,)), ("$id", FROM_6), ("definitions", ALL),
                           ("$defs", FROM_2019), ("$anchor", FROM_2019), ("$vocabulary", FROM_2019),
                           ("$recursiveAnchor", (DRAFT2019,)), ("$dynamicAnchor", FROM_2020)):  # fmt: skip
        yield Keyword(name, dialects, "core")
    for name, dialects in (("title", ALL), ("description", ALL), ("default", ALL), ("examples", FROM_6),
                           ("$comment", FROM_7), ("readOnly", FROM_7), ("writeOnly", FROM_7),
                           ("deprecated", FROM_2019)):  # fmt: skip
        yield Keyword(name, dialects, "annotation", support="annotation")
    for name, dialects in (("contentEncoding", FROM_7), ("contentMediaType", FROM_7), ("contentSchema", FROM_2019)):
        yield Keyword(name, dialects, "annotation", string, "annotation")

    yield Keyword("$ref", ALL, "applicator")
    yield Keyword("$dynamicRef", FROM_2020, "applicator", note="by the dynamic scope")
    yield Keyword("$recursiveRef", (DRAFT2019,), "applicator", note="by the dynamic scope")
    for name in ("type", "enum"):
        yield Keyword(name, ALL, "assertion")
    yield Keyword("const", FROM_6, "assertion")
    for name in ("minimum", "maximum", "multipleOf"):
        yield Keyword(name, ALL, "assertion", number)
    yield Keyword("exclusiveMinimum", ALL, "assertion", number, note="a boolean in draft 4, a number since")
    yield Keyword("exclusiveMaximum", ALL, "assertion", number, note="a boolean in draft 4, a number since")
    for name in ("minLength", "maxLength", "pattern"):
        yield Keyword(name, ALL, "assertion", string)
    yield Keyword("format", ALL, "assertion", string, "conditional", "known formats, by formats=")

    yield Keyword("items", ALL, "applicator", array)
    yield Keyword("prefixItems", FROM_2020, "applicator", array)
    yield Keyword("additionalItems", TO_2019, "applicator", array)
    for name in ("minItems", "maxItems"):
        yield Keyword(name, ALL, "assertion", array)
    beside = "unless 'contains' stands beside it and an item has only few values"
    yield Keyword("uniqueItems", ALL, "assertion", array, "conditional", beside)
    yield Keyword("contains", FROM_6, "applicator", array)
    for name in ("minContains", "maxContains"):
        yield Keyword(name, FROM_2019, "assertion", array)
    yield Keyword("unevaluatedItems", FROM_2019, "applicator", array)

    for name in ("properties", "patternProperties", "additionalProperties"):
        yield Keyword(name, ALL, "applicator", members)
    for name in ("required", "minProperties", "maxProperties"):
        yield Keyword(name, ALL, "assertion", members)
    yield Keyword("propertyNames", FROM_6, "applicator", members)
    yield Keyword("dependencies", TO_7, "applicator", members)
    yield Keyword("dependentRequired", FROM_2019, "assertion", members)
    yield Keyword("dependentSchemas", FROM_2019, "applicator", members)
    yield Keyword("unevaluatedProperties", FROM_2019, "applicator", members)

    for name in ("allOf", "anyOf"):
        yield Keyword(name, ALL, "applicator")
    few = "unless too many kinds of values are told apart in one place"
    negatable = few + "; arrays that only a repeated item lets out of negated `uniqueItems` are left out"
    yield Keyword("oneOf", ALL, "applicator", (), "conditional", negatable)
    yield Keyword("not", ALL, "applicator", (), "conditional", negatable)
    for name in ("if", "then", "else"):
        yield Keyword(name, FROM_7, "applicator", (), "conditional", negatable)


KEYWORDS: Mapping[str, Keyword] = {record.name: record for record in _records()}


def of_dialect(name: str) -> frozenset[str]:
    """The names of the keywords of the dialect called `name`."""
    return frozenset(keyword.name for keyword in KEYWORDS.values() if name in keyword.dialects)


@lru_cache(maxsize=4096)
def suggestion(name: str, known: frozenset[str]) -> str | None:
    """The keyword of `known` that is one edit away from `name` (a letter more, less, other, or two swapped), if any.

    A name in another case or with other marks (`maxlength`, `max_length`, `max-items`) comes before an edit.
    """
    bare = _bare(name)
    for keyword in sorted(known):
        if len(name) > 2 and _bare(keyword) == bare:
            return keyword
    for keyword in sorted(known):
        if abs(len(keyword) - len(name)) <= 1 and len(name) > 2 and _one_edit(name, keyword):
            return keyword
    return None


def _bare(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _one_edit(left: str, right: str) -> bool:
    if len(left) > len(right):
        left, right = right, left
    first = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), len(left))
    if len(left) < len(right):
        return left[first:] == right[first + 1 :]
    swapped = left[first + 1 : first + 2] + left[first : first + 1] == right[first : first + 2]
    return left[first + 1 :] == right[first + 1 :] or (swapped and left[first + 2 :] == right[first + 2 :])
