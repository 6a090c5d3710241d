"""The dialects of JSON Schema as records: which keywords exist, how each is read, what `$ref` means beside siblings.

Code elsewhere never asks for a draft's name; it asks the record. A schema without `$schema` is read in the *mixed*
dialect: 2020-12, plus the older forms that real schemas still hold (`items` as a list, `additionalItems`,
`dependencies`, boolean `exclusiveMinimum`), each reported where it is met.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from constrain.errors import InvalidSpecification
from constrain.frontends.json_schema import keywords, read_applicators, read_containers, read_scalars
from constrain.frontends.json_schema.values import as_json

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
    ids_are_anchors: bool = False
    asserts_formats: bool = False
    heeds_foreign_ids: bool = True
    contains_evaluates: bool = False

    def id_of(self, schema: Mapping[str, Any]) -> str | None:
        """The URI that `schema` gives itself as a resource, or None (a bare fragment is an anchor, not a resource).

        A schema with a `$schema` that is one of the drafts is asked in that draft's words, except in the mixed dialect:
        documents put together from draft 4 parts keep their `id`s and refer from the root all the same.
        """
        dialect = self
        if "$schema" in schema and self.heeds_foreign_ids:
            dialect = _named(schema["$schema"]) or self
        identifier = schema.get(dialect.id_keyword)
        if not isinstance(identifier, str) or identifier.startswith("#"):
            return None
        if dialect.ref_hides_siblings and "$ref" in schema:
            return None
        return identifier

    def anchors_of(self, schema: Mapping[str, Any]) -> list[str]:
        """The names, dynamic ones aside, by which references may call `schema` in its resource."""
        names = [schema["$anchor"]] if "$anchor" in schema and "$anchor" in self.known else []
        if self.ids_are_anchors and isinstance(identifier := schema.get(self.id_keyword), str) and "#" in identifier:
            names.append(identifier.partition("#")[2])
        return [name for name in names if isinstance(name, str) and name]


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
    "format": read_scalars.value_format,
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
_BEFORE_IDNA: dict[str, Reader] = {"format": read_scalars.format_before_idna}
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
    "$dynamicRef": read_applicators.ref,
}

DRAFT4 = Dialect(
    "draft4",
    "http://json-schema.org/draft-04/schema",
    keywords.of_dialect("draft4"),
    {
        **_COMMON,
        **_BEFORE_IDNA,
        **_BOOLEAN_EXCLUSIVE,
        **_TUPLE_ITEMS,
        **_DEPENDENCIES,
        "type": read_scalars.types_draft4,
    },
    "id",
    ref_hides_siblings=True,
    ids_are_anchors=True,
)
DRAFT6 = Dialect(
    "draft6",
    "http://json-schema.org/draft-06/schema",
    keywords.of_dialect("draft6"),
    {**_COMMON, **_BEFORE_IDNA, **_TUPLE_ITEMS, **_DEPENDENCIES, **_FROM_6},
    "$id",
    ref_hides_siblings=True,
    ids_are_anchors=True,
)
DRAFT7 = Dialect(
    "draft7",
    "http://json-schema.org/draft-07/schema",
    keywords.of_dialect("draft7"),
    {**_COMMON, **_TUPLE_ITEMS, **_DEPENDENCIES, **_FROM_6, **_FROM_7},
    "$id",
    ref_hides_siblings=True,
    ids_are_anchors=True,
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
        "$recursiveRef": read_applicators.ref,
    },
    "$id",
    ref_hides_siblings=False,
)
DRAFT2020 = Dialect(
    "draft2020-12",
    "https://json-schema.org/draft/2020-12/schema",
    keywords.of_dialect("draft2020-12"),
    {**_COMMON, **_FROM_6, **_FROM_7, **_FROM_2019, **_FROM_2020},
    "$id",
    ref_hides_siblings=False,
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
    ref_hides_siblings=False,
    ids_are_anchors=True,
    heeds_foreign_ids=False,
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


FORMAT_ASSERTION = "format-assertion"


def _named(uri: object) -> Dialect | None:
    """The draft that `uri` names."""
    if not isinstance(uri, str):
        return None
    return BY_URI.get(uri.strip().rstrip("#").removeprefix("https:").removeprefix("http:"))


def dialect_of(schema: Any, default: Dialect, document: Callable[[str], Any], *, at: str = "#") -> Dialect:
    """The dialect that the resource `schema`, which stands at `at`, names with `$schema`; `default` if it names none.

    A metaschema that is not one of the drafts is asked of `document`: the draft it is itself written in counts, less
    the vocabularies that its `$vocabulary` leaves out. Where it lists the format-assertion vocabulary, formats are
    asserted whatever the option `formats` says, and unknown ones are refused, as that vocabulary asks.

    Raises:  InvalidSpecification: if `$schema` is no string, names a dialect that nobody knows, or its metaschema
             requires a vocabulary that nobody knows.
    """
    metaschemas: list[Mapping[str, Any]] = []
    while isinstance(schema, Mapping) and "$schema" in schema and _named(schema["$schema"]) is None:
        uri = schema["$schema"]
        if not isinstance(uri, str):
            raise InvalidSpecification(f"'$schema' is {as_json(uri)}", at=at, expected="the URI of a dialect")
        schema = document(uri)
        if not isinstance(schema, Mapping) or any(schema is other for other in metaschemas):
            raise InvalidSpecification(
                f"the dialect {as_json(uri)} is not known",
                at=at,
                expected="one of " + ", ".join(d.uri for d in DIALECTS.values()),
                help="leave '$schema' out, or pass the metaschema in registry={uri: schema}",
            )
        metaschemas.append(schema)
    named = _named(schema["$schema"]) if isinstance(schema, Mapping) and "$schema" in schema else None
    dialect = named or default
    for metaschema in reversed(metaschemas):
        dialect = _of_metaschema(metaschema, dialect, at)
    return dialect


def _of_metaschema(metaschema: Mapping[str, Any], dialect: Dialect, at: str) -> Dialect:
    vocabulary = metaschema.get("$vocabulary")
    if not isinstance(vocabulary, Mapping):
        return dialect
    for uri, needed in vocabulary.items():
        if needed is True and not str(uri).startswith("https://json-schema.org/draft/"):
            raise InvalidSpecification(
                f"the vocabulary {as_json(uri)} is required and not known", at=at, help="list it as false"
            )
    listed = {str(uri).rpartition("/vocab/")[2] for uri in vocabulary}
    lost = [keywords_ for name, keywords_ in VOCABULARIES.items() if name not in listed]
    if "applicator" in listed and "$recursiveRef" in dialect.readers:  # in 2019-09 they are of that vocabulary
        lost = [keywords_ for keywords_ in lost if "unevaluatedItems" not in keywords_]
    hidden = frozenset().union(*lost)
    kept = {name: reader for name, reader in dialect.readers.items() if name not in hidden}
    asserts = dialect.asserts_formats or FORMAT_ASSERTION in listed
    return replace(dialect, readers=kept, known=dialect.known - hidden, asserts_formats=asserts)
