"""Random schemas with `unevaluated*` beside applicators, over few names and values, so that branches overlap often."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

D2019, D2020 = "https://json-schema.org/draft/2019-09/schema", "https://json-schema.org/draft/2020-12/schema"
DIALECTS = (D2019, D2020, None)
"""None is the mixed dialect, of schemas that name none."""

NAMES = ("a", "b", "ab", "c")
PATTERNS = ("^a", "b$", "^(a|c)$")

items = st.sampled_from((0, 1, "x", None))
objects = st.dictionaries(st.sampled_from((*NAMES, "d")), items, max_size=4)
arrays = st.lists(items, max_size=4)

leaves = st.sampled_from(
    (True, {}, {"type": "integer"}, {"type": "string"}, {"const": 1}, {"enum": [0, "x"]}, {"minimum": 1}, False)
)
names = st.lists(st.sampled_from(NAMES), unique=True, max_size=2)
counts = st.integers(0, 3)


def _own(kind: str, dialect: str | None) -> dict[str, st.SearchStrategy[Any]]:
    """The keywords of one type that evaluate something, or tell values apart."""
    if kind == "object":
        return {
            "properties": st.dictionaries(st.sampled_from(NAMES), leaves, max_size=2),
            "patternProperties": st.dictionaries(st.sampled_from(PATTERNS), leaves, max_size=2),
            "required": names,
            "minProperties": counts,
            "enum": st.lists(objects, min_size=1, max_size=3),
            "additionalProperties": leaves,
        }
    one, several = leaves, st.lists(leaves, min_size=1, max_size=3)
    if dialect != D2020:
        return {
            "items": st.one_of(several, several, one), "additionalItems": one, "minItems": counts,
            "maxItems": counts, "enum": st.lists(arrays, min_size=1, max_size=3),
        }  # fmt: skip
    return {
        "prefixItems": several, "items": one, "minItems": counts, "maxItems": counts,
        "enum": st.lists(arrays, min_size=1, max_size=3),
    }  # fmt: skip


def _some(keywords: dict[str, st.SearchStrategy[Any]], most: int) -> st.SearchStrategy[dict[str, Any]]:
    chosen = st.lists(st.sampled_from(tuple(keywords)), min_size=1, max_size=most, unique=True)
    return chosen.flatmap(lambda names: st.fixed_dictionaries({name: keywords[name] for name in names}))


def _applied(inner: st.SearchStrategy[Any], kind: str, dialect: str | None) -> dict[str, st.SearchStrategy[Any]]:
    some = st.lists(inner, min_size=1, max_size=3)
    found: dict[str, st.SearchStrategy[Any]] = {
        "allOf": some, "anyOf": some, "oneOf": some, "if": inner, "then": inner, "else": inner, "not": inner,
        "$ref": st.just("#/$defs/d"), "unevaluated": leaves,
    }  # fmt: skip
    if kind == "object":
        found["dependentSchemas"] = st.dictionaries(st.sampled_from(NAMES), inner, max_size=2)
        if dialect is None:
            found["dependencies"] = st.dictionaries(st.sampled_from(NAMES), inner, max_size=2)
    return found


@st.composite
def schemas(draw: st.DrawFn, contains: bool = False) -> tuple[dict[str, Any], str]:
    """A schema of one dialect, and the type that it is about."""
    dialect, kind = draw(st.sampled_from(DIALECTS)), draw(st.sampled_from(("object", "array")))
    keywords = _own(kind, dialect)
    if contains and kind == "array":
        keywords |= {"contains": leaves, "minContains": st.integers(0, 2), "maxContains": counts}
    own = _some(keywords, 2)

    def layer(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.builds(lambda a, b: {**a, **b}, st.one_of(st.just({}), own), _some(_applied(inner, kind, dialect), 3))

    body = layer(st.recursive(st.one_of(own, own, own, st.booleans()), layer, max_leaves=4))
    definition = draw(st.one_of(own, layer(own)).filter(lambda schema: "#/$defs" not in str(schema)))
    schema = {**draw(body), "unevaluated": draw(st.sampled_from((False, False, {"type": "string"}, {"const": 1})))}
    named = _named({**schema, "$defs": {"d": definition}}, kind)
    return {"$schema": dialect, **named} if dialect else named, kind


def _named(schema: Any, kind: str) -> Any:
    """`schema` with the keyword of its type in the place of `unevaluated`."""
    if isinstance(schema, list):
        return [_named(one, kind) for one in schema]
    if not isinstance(schema, dict):
        return schema
    keyword = "unevaluatedProperties" if kind == "object" else "unevaluatedItems"
    return {keyword if name == "unevaluated" else name: _named(one, kind) for name, one in schema.items()}
