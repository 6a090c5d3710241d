"""What other tools call the keywords of JSON Schema, as data: validators of Python and JavaScript, ORMs, form builders.

A name counts without case, `_` and `-`. Names that real schemas hold by the thousand for other things are not here
(`options`, `name`, `values`, `format_` …): counted over some 5,600 schemas in use.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from constrain.frontends.json_schema.keywords import KEYWORDS

_LEAST = ("minimum", "minLength", "minItems", "minProperties")
_MOST = ("maximum", "maxLength", "maxItems", "maxProperties")

BORROWED: Mapping[str, tuple[str, ...]] = {
    "min": _LEAST,
    "max": _MOST,
    "minvalue": ("minimum",),
    "maxvalue": ("maximum",),
    "minval": ("minimum",),
    "maxval": ("maximum",),
    "ge": ("minimum",),
    "gte": ("minimum",),
    "le": ("maximum",),
    "lte": ("maximum",),
    "gt": ("exclusiveMinimum",),
    "lt": ("exclusiveMaximum",),
    "exclusivemin": ("exclusiveMinimum",),
    "exclusivemax": ("exclusiveMaximum",),
    "step": ("multipleOf",),
    "minlen": ("minLength", "minItems"),
    "maxlen": ("maxLength", "maxItems"),
    "length": ("maxLength", "maxItems"),
    "size": ("maxLength", "maxItems", "maxProperties"),
    "minsize": _LEAST[1:],
    "maxsize": _MOST[1:],
    "mincount": ("minItems",),
    "maxcount": ("maxItems",),
    "unique": ("uniqueItems",),
    "distinct": ("uniqueItems",),
    "regex": ("pattern",),
    "regexp": ("pattern",),
    "matches": ("pattern",),
    "choices": ("enum",),
    "allowedvalues": ("enum",),
    "optional": ("required",),
    "mandatory": ("required",),
}
"""Names, bare, and the keywords that say it here, by the type that is meant."""


def meant_by(name: str, types: Collection[str] | None) -> tuple[str, ...]:
    """The keywords that `name` may stand for in a schema that allows `types` (None: all)."""
    candidates = BORROWED.get(name.replace("_", "").replace("-", "").lower(), ())
    if types is None:
        return candidates
    allowed = {*types, "number"} if "integer" in types else {*types}
    return tuple(
        word
        for word in candidates
        if not KEYWORDS[word].types or allowed & {*KEYWORDS[word].types} or word == "required"
    )
