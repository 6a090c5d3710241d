"""What OpenAI's Structured Outputs (`strict: true`) accept, as data.

Source:  OpenAI, "Structured model outputs", section "Supported schemas",
         https://developers.openai.com/api/docs/guides/structured-outputs#supported-schemas
As of:   2026-02 for the documented lists and limits (5,000 properties and 10 levels, once 100 and 5; 1,000 `enum`
         values, once 500), read in dated copies of that page, which has no date itself: the profile 202602 of
         https://jsonschemaprofiles.unitvectorylabs.com/schemas/openai, and later quotations that agree with it.
         For models that are not fine-tuned; those accept less.

Not in the documentation, and known from the service's answers ("'oneOf' is not permitted", "$ref cannot have keywords
{'description'}", seen until 2026-09) and from the check in its own Node library (openai-node, `lib/transform.ts`,
2026-07): `oneOf`, `uniqueItems`, `propertyNames`, `patternProperties`, `prefixItems`, `contains`, `dependencies`,
`unevaluated*`, `minProperties`, `maxProperties`, `contentSchema`, and keywords beside `$ref`.
"""

from __future__ import annotations

from constrain.linting.profile import Limits, Profile

_AFTERWARDS = "remove it, and check the value afterwards"
_ONE_OBJECT = "write all members in one object schema"
_ANY_OF = "write 'anyOf' with branches that exclude each other"

OPENAI_STRICT = Profile(
    name="openai-strict",
    service="OpenAI",
    source="https://developers.openai.com/api/docs/guides/structured-outputs#supported-schemas",
    as_of="2026-02",
    supported=frozenset(
        ("type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "$ref", "$defs",
         "definitions", "pattern", "format", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum",
         "minItems", "maxItems", "title", "description", "$schema")
    ),
    refused={
        "allOf": _ONE_OBJECT,
        "not": _AFTERWARDS,
        "if": _ANY_OF,
        "then": _ANY_OF,
        "else": _ANY_OF,
        "dependentRequired": _ANY_OF,
        "dependentSchemas": _ANY_OF,
        "dependencies": _ANY_OF,
        "oneOf": _ANY_OF,
        "uniqueItems": _AFTERWARDS,
        "contains": _AFTERWARDS,
        "minContains": _AFTERWARDS,
        "maxContains": _AFTERWARDS,
        "prefixItems": "write an object with a member for each item",
        "unevaluatedItems": _AFTERWARDS,
        "unevaluatedProperties": "write additionalProperties: false",
        "patternProperties": "write an array of objects with a name and a value",
        "propertyNames": _AFTERWARDS,
        "minProperties": _AFTERWARDS,
        "maxProperties": _AFTERWARDS,
        "contentSchema": "write the inner value as an object of its own",
    },
    root_refused={"anyOf": "wrap the union in an object with one member"},
    formats=frozenset(
        ("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid")
    ),
    limits=Limits(
        properties=5_000,
        depth=10,
        enum_values=1_000,
        characters=120_000,
        large_enum=250,
        large_enum_characters=15_000,
    ),
)  # fmt: skip
