"""Random schemas of the supported keywords over a small world of names and values, so that keywords collide often."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

NAMES = ("a", "b", "ab", "c")
TEXTS = ("", "a", "b", "ab", "aab", "é", '"', "\\n\n")
NUMBERS = (0, 1, 2, 3, 6, -1, 0.5, 2.0, 1.5, 100)
PATTERNS = ("a", "^a", "b$", "^[ab]+$", "^.{2}", "^(a|ab)$")

scalars = st.one_of(st.none(), st.booleans(), st.sampled_from(NUMBERS), st.sampled_from(TEXTS))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)),
    max_leaves=6,
)
counts = st.integers(0, 3)
types = st.sampled_from(("null", "boolean", "integer", "number", "string", "array", "object"))


def _some(**keywords: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A few of `keywords` together."""
    return st.fixed_dictionaries({}, optional=keywords).map(lambda d: dict(list(d.items())[:4]))


def _layer(inner: st.SearchStrategy[Any], *, negations: bool) -> st.SearchStrategy[Any]:
    some = st.lists(inner, min_size=1, max_size=3)
    named = st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    required = st.lists(st.sampled_from(NAMES), unique=True, max_size=2)
    objects = _some(
        type=st.just("object"),
        properties=named,
        required=required,
        additionalProperties=inner,
        patternProperties=st.dictionaries(st.sampled_from(PATTERNS), inner, max_size=2),
        minProperties=counts,
        maxProperties=counts,
        propertyNames=st.fixed_dictionaries({"pattern": st.sampled_from(PATTERNS)}),
    )
    arrays = _some(
        type=st.just("array"),
        items=inner,
        prefixItems=some,
        minItems=counts,
        maxItems=counts,
    )
    together = st.one_of(
        st.fixed_dictionaries({"allOf": some}, optional={"type": types, "properties": named, "required": required}),
        st.fixed_dictionaries({"anyOf": some}, optional={"type": types, "properties": named, "required": required}),
        st.fixed_dictionaries({"oneOf": some}, optional={"type": types, "properties": named}),
        st.fixed_dictionaries({"$ref": st.just("#/$defs/d")}, optional={"type": types, "properties": named}),
    )
    layers = [objects, objects, arrays, together]
    if negations:
        layers.append(st.fixed_dictionaries({"not": inner}, optional={"type": types, "properties": named}))
        layers.append(st.fixed_dictionaries({"if": inner}, optional={"then": inner, "else": inner}))
        layers.append(
            st.fixed_dictionaries(
                {},
                optional={
                    "dependentRequired": st.dictionaries(st.sampled_from(NAMES), required, max_size=2),
                    "dependentSchemas": named,
                },
            )
        )
    return st.one_of(*layers)


leaves = st.one_of(
    st.booleans(),
    st.fixed_dictionaries({"type": types}),
    st.fixed_dictionaries({"type": st.lists(types, min_size=1, max_size=3, unique=True)}),
    st.fixed_dictionaries({"enum": st.lists(values, min_size=1, max_size=4)}),
    st.fixed_dictionaries({"const": values}),
    _some(
        type=st.sampled_from(("integer", "number")),
        minimum=st.sampled_from(NUMBERS),
        maximum=st.sampled_from(NUMBERS),
        exclusiveMinimum=st.sampled_from(NUMBERS),
        multipleOf=st.sampled_from((1, 2, 3, 0.5)),
    ),
    _some(type=st.just("string"), minLength=counts, maxLength=counts, pattern=st.sampled_from(PATTERNS)),
)


def schemas(*, negations: bool = False) -> st.SearchStrategy[Any]:
    """Schemas with a definition `d`, which may be recursive; `negations` adds `not`, `if` and the dependencies."""
    body = st.recursive(leaves, lambda inner: _layer(inner, negations=negations), max_leaves=8)
    whole = st.one_of(st.just({"type": "integer"}), body)
    return st.builds(_with_definition, body, whole)


def _with_definition(schema: Any, definition: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "$defs": {"d": definition}}
