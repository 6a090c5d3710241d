"""The dialects of JSON Schema as records: which keywords exist, how each is read, what `$ref` means beside siblings.

Code elsewhere never asks for a draft's name; it asks the record. A schema without `$schema` is read in the *mixed*
dialect: 2020-12, plus the older forms that real schemas still hold (`items` as a list, `additionalItems`,
`dependencies`, boolean `exclusiveMinimum`), each reported where it is met.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from constrain.errors import InvalidSpecification, shorten
from constrain.frontends.json_schema import keywords, read_applicators, read_containers, read_scalars

if TYPE_CHECKING:
    from constrain.frontends.json_schema.reading import Reader


@dataclass(frozen=True, slots=True)
class Dialect:
    """One dialect. `readers` has an entry for each keyword that is more than a core word or an annotation.

    `contains_evaluates`: items that satisfy `contains` count as evaluated, for `unevaluatedItems`.
    """

    name: str
    uri: str
    known: frozenset[str]
    readers: Mapping[str, Reader]
    id_keyword: str
    ref_hides_siblings: bool
    specification_name: str
    contains_evaluates: bool = False

    def id_of(self, schema: Mapping[str, Any]) -> str | None:
        """The URI that `schema` gives itself as a resource, or None (a bare fragment is an anchor, not a resource)."""
        identifier = schema.get(self.id_keyword)
        if not isinstance(identifier, str) or identifier.startswith("#"):
            return None
        if self.ref_hides_siblings and "$ref" in schema:
            return None
        return identifier

    def specification(self) -> Any:
        """The `referencing` specification: where subresources and anchors are."""
        import referencing.jsonschema

        return getattr(referencing.jsonschema, self.specification_name)


_COMMON: dict[str, Reader] = {
    "$ref": read_applicators.ref,
    "allOf": read_applicators.all_of,
    "anyOf": read_applicators.any_of,
    "oneOf": read_applicators.one_of,
    "not": read_applicators.negation,
    "type": read_scalars.types,
    "enum": read_scalars.enumeration,
    "minimum": read_scalars.minimum,
    "maximum": read_scalars.maximum,
    "multipleOf": read_scalars.multiple_of,
    "minLength": read_scalars.min_length,
    "maxLength": read_scalars.max_length,
    "pattern": read_scalars.pattern,
    "format": read_scalars.string_format,
    "minItems": read_containers.min_items,
    "maxItems": read_containers.max_items,
    "uniqueItems": read_containers.unique_items,
    "properties": read_containers.properties,
    "patternProperties": read_containers.pattern_properties,
    "additionalProperties": read_containers.additional_properties,
    "required": read_containers.required,
    "minProperties": read_containers.min_properties,
    "maxProperties": read_containers.max_properties,
}
_BOOLEAN_EXCLUSIVE: dict[str, Reader] = {
    "exclusiveMinimum": read_scalars.exclusive_minimum_flag,
    "exclusiveMaximum": read_scalars.exclusive_maximum_flag,
}
_TUPLE_ITEMS: dict[str, Reader] = {
    "items": read_containers.items_or_tuple,
    "additionalItems": read_containers.additional_items,
}
_DEPENDENCIES: dict[str, Reader] = {"dependencies": read_applicators.dependencies}
_FROM_6: dict[str, Reader] = {
    "const": read_scalars.constant,
    "exclusiveMinimum": read_scalars.exclusive_minimum,
    "exclusiveMaximum": read_scalars.exclusive_maximum,
    "contains": read_containers.contains,
    "propertyNames": read_containers.property_names,
}
_FROM_7: dict[str, Reader] = {
    "if": read_applicators.condition,
    "then": read_applicators.consequence,
    "else": read_applicators.consequence,
    "contentEncoding": read_scalars.content,
    "contentMediaType": read_scalars.content,
}
_FROM_2019: dict[str, Reader] = {
    "contentSchema": read_scalars.content,
    "minContains": read_containers.contains_count,
    "maxContains": read_containers.contains_count,
    "dependentRequired": read_applicators.dependent_required,
    "dependentSchemas": read_applicators.dependent_schemas,
    "unevaluatedItems": read_applicators.unevaluated,
    "unevaluatedProperties": read_applicators.unevaluated,
}
_FROM_2020: dict[str, Reader] = {
    "prefixItems": read_containers.prefix_items,
    "items": read_containers.items,
    "$dynamicRef": read_applicators.dynamic_ref,
}

DRAFT4 = Dialect(
    "draft4",
    "http://json-schema.org/draft-04/schema",
    keywords.of_dialect("draft4"),
    {**_COMMON, **_BOOLEAN_EXCLUSIVE, **_TUPLE_ITEMS, **_DEPENDENCIES, "type": read_scalars.types_draft4},
    "id",
    True,
    "DRAFT4",
)
DRAFT6 = Dialect(
    "draft6",
    "http://json-schema.org/draft-06/schema",
    keywords.of_dialect("draft6"),
    {**_COMMON, **_TUPLE_ITEMS, **_DEPENDENCIES, **_FROM_6},
    "$id",
    True,
    "DRAFT6",
)
DRAFT7 = Dialect(
    "draft7",
    "http://json-schema.org/draft-07/schema",
    keywords.of_dialect("draft7"),
    {**_COMMON, **_TUPLE_ITEMS, **_DEPENDENCIES, **_FROM_6, **_FROM_7},
    "$id",
    True,
    "DRAFT7",
)
DRAFT2019 = Dialect(
    "draft2019-09",
    "https://json-schema.org/draft/2019-09/schema",
    keywords.of_dialect("draft2019-09"),
    {
        **_COMMON,
        **_TUPLE_ITEMS,
        **_FROM_6,
        **_FROM_7,
        **_FROM_2019,
        "$recursiveRef": read_applicators.recursive_ref,
    },
    "$id",
    False,
    "DRAFT201909",
)
DRAFT2020 = Dialect(
    "draft2020-12",
    "https://json-schema.org/draft/2020-12/schema",
    keywords.of_dialect("draft2020-12"),
    {**_COMMON, **_FROM_6, **_FROM_7, **_FROM_2019, **_FROM_2020},
    "$id",
    False,
    "DRAFT202012",
    contains_evaluates=True,
)
MIXED = Dialect(
    "mixed",
    DRAFT2020.uri,
    DRAFT2020.known | {"additionalItems", "dependencies"},
    {
        **DRAFT2020.readers,
        **_DEPENDENCIES,
        "items": read_containers.items_mixed,
        "additionalItems": read_containers.additional_items_mixed,
        "dependencies": read_applicators.dependencies_mixed,
        "exclusiveMinimum": read_scalars.exclusive_minimum_mixed,
        "exclusiveMaximum": read_scalars.exclusive_maximum_mixed,
    },
    "$id",
    False,
    "DRAFT202012",
    contains_evaluates=True,
)

DIALECTS: Mapping[str, Dialect] = {d.name: d for d in (DRAFT4, DRAFT6, DRAFT7, DRAFT2019, DRAFT2020)}
BY_URI: Mapping[str, Dialect] = {d.uri.removeprefix("https:").removeprefix("http:"): d for d in DIALECTS.values()}


VOCABULARIES: Mapping[str, frozenset[str]] = {
    "validation": frozenset(
        ("type", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
         "minLength", "maxLength", "pattern", "minItems", "maxItems", "uniqueItems", "minContains", "maxContains",
         "required", "minProperties", "maxProperties", "dependentRequired")
    ),
    "applicator": frozenset(
        ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "items", "prefixItems", "additionalItems", "contains",
         "properties", "patternProperties", "additionalProperties", "propertyNames", "dependentSchemas")
    ),
    "unevaluated": frozenset(("unevaluatedItems", "unevaluatedProperties")),
}  # fmt: skip
"""The keywords that a dialect loses if its metaschema's `$vocabulary` does not list their vocabulary."""


def dialect_of(schema: Any, default: Dialect, documents: Mapping[str, Any]) -> Dialect:
    """The dialect that the resource `schema` names with `$schema`, or `default` where it names none.

    A metaschema that is not one of the drafts is looked for in `documents`: the draft it is itself written in counts,
    less the vocabularies that its `$vocabulary` leaves out.

    Raises:  InvalidSpecification: if `$schema` is no string, names a dialect that nobody knows, or its metaschema
             requires a vocabulary that nobody knows.
    """
    uri = schema.get("$schema") if isinstance(schema, Mapping) else None
    if uri is None:
        return default
    if not isinstance(uri, str):
        raise InvalidSpecification(f"'$schema' is {shorten(repr(uri))}", at="#", expected="the URI of a dialect")
    found = BY_URI.get(uri.strip().rstrip("#").removeprefix("https:").removeprefix("http:"))
    if found is not None:
        return found
    metaschema = documents.get(uri, documents.get(uri.rstrip("#")))
    if isinstance(metaschema, Mapping) and metaschema.get("$schema") not in (uri, None):
        return _of_metaschema(metaschema, dialect_of(metaschema, default, documents))
    raise InvalidSpecification(
        f"the dialect {shorten(repr(uri))} is not known",
        at="#",
        expected="one of " + ", ".join(d.uri for d in DIALECTS.values()),
        help="leave '$schema' out, or pass the metaschema in registry={uri: schema}",
    )


def _of_metaschema(metaschema: Mapping[str, Any], dialect: Dialect) -> Dialect:
    vocabulary = metaschema.get("$vocabulary")
    if not isinstance(vocabulary, Mapping):
        return dialect
    listed = {uri.rpartition("/vocab/")[2] for uri in vocabulary if uri.startswith("https://json-schema.org/draft/")}
    for uri, needed in vocabulary.items():
        if needed is True and not uri.startswith("https://json-schema.org/draft/"):
            raise InvalidSpecification(
                f"the vocabulary {shorten(repr(uri))} is required and not known", at="#", help="list it as false"
            )
    lost = [keywords_ for name, keywords_ in VOCABULARIES.items() if name not in listed]
    if "unevaluatedItems" in dialect.readers and "applicator" in listed and dialect is DRAFT2019:
        lost = [keywords_ for keywords_ in lost if "unevaluatedItems" not in keywords_]
    hidden = frozenset().union(*lost)
    kept = {name: reader for name, reader in dialect.readers.items() if name not in hidden}
    return replace(dialect, readers=kept, known=dialect.known - hidden)
