"""Rules about the keywords of one schema: do they exist, do they fit its type, do they say anything?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

from constrain.errors import ConstrainError, shorten
from constrain.frontends.json_schema.formats import EXCLUDES_NOTHING, FORMATS
from constrain.frontends.json_schema.formats import NUMBER_FORMATS as ENFORCED_OF_NUMBERS
from constrain.frontends.json_schema.keywords import KEYWORDS, suggestion
from constrain.frontends.json_schema.resources import DIRECT, NAMED
from constrain.linting.borrowed_keywords import meant_by
from constrain.linting.finding import Finding
from constrain.linting.places import Place
from constrain.linting.rules import found

DEEP = 24
FOREIGN: Mapping[str, tuple[str, str]] = {
    "nullable": ("OpenAPI 3.0", "add \"null\" to 'type', or an 'anyOf' branch of that type"),
    "divisibleBy": ("draft 3", "write 'multipleOf'"),
    "extends": ("draft 3", "write 'allOf'"),
    "disallow": ("draft 3", "write 'not'"),
}
"""Keywords that assert something elsewhere, by where that is and what says the same here."""

ANNOTATIONS_ELSEWHERE = frozenset(
    ("example", "xml", "discriminator", "externalDocs", "links", "media", "readonly", "name", "comment", "$id", "id",
     "markdownDescription", "enumDescriptions", "enumNames", "defaultSnippets", "errorMessage", "deprecationMessage",
     "markdownEnumDescriptions", "doNotSuggest", "allowComments", "allowTrailingCommas", "tsType", "propertyOrder",
     "options", "self", "$default", "javaType", "faker", "meta:enum", "markdownEnum", "intellij")
)  # fmt: skip
"""Keywords of other tools that assert nothing; no word about them."""

FOR_OTHERS = re.compile(r"x[-_]|[_@!#]|//")
"""How names begin that are meant for somebody else, or switched off on purpose."""

NUMBER_FORMATS = frozenset(
    ("int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "int", "integer", "long", 
     "float", "double", "decimal", "number", "timestamp", "utc-millisec",
      "unixtime", "unix-time", "epoch", "currency")
)  # fmt: skip
"""Formats that others define for numbers: no word about them on a number."""

NEEDS: Mapping[str, tuple[str, ...]] = {
    "then": ("if",),
    "else": ("if",),
    "minContains": ("contains",),
    "maxContains": ("contains",),
}
NUMBER_TYPES = frozenset(("integer", "number"))
STANDARD_FORMATS = frozenset((*FORMATS, *ENFORCED_OF_NUMBERS, *EXCLUDES_NOTHING))


def keyword_findings(place: Place) -> Iterator[Finding]:
    """What each keyword of one schema is, by itself."""
    for keyword in place.keywords:
        if isinstance(keyword, str):
            yield from _unknown(place, keyword)
    yield from _of_other_types(place)
    yield from _without_effect(place)
    yield from _beside_ref(place)
    yield from _types(place)
    yield from _format(place)
    if place.depth == DEEP + 1 and (place.parent is None or place.parent.depth == DEEP):
        yield found("deep-nesting", place.path, f"values nest more than {DEEP} levels deep here",
                    help="flatten the structure: models lose track of it, and services refuse it")  # fmt: skip


def _unknown(place: Place, keyword: str) -> Iterator[Finding]:
    dialect = place.dialect
    if keyword in dialect.known:
        return
    if keyword in KEYWORDS:
        record = KEYWORDS[keyword]
        if record.kind in ("assertion", "applicator"):
            drafts = ", ".join(name.removeprefix("draft") for name in record.dialects)
            yield found(
                "other-dialect-keyword", place.path,
                f"{keyword!r} is no keyword of {dialect.name}, which this schema is read as: it is ignored",
                keyword=keyword, help=f"name a dialect that has it in '$schema' (it is in {drafts})",
            )  # fmt: skip
        return
    if keyword in FOREIGN:
        if place.keywords[keyword] is not False:
            origin, help = FOREIGN[keyword]
            yield found(
                "foreign-keyword", place.path, f"{keyword!r} is a keyword of {origin}: JSON Schema ignores it",
                keyword=keyword, help=help,
            )  # fmt: skip
        return
    if keyword in ANNOTATIONS_ELSEWHERE or FOR_OTHERS.match(keyword):
        return
    meant = suggestion(keyword, dialect.known)
    if meant is not None and meant not in place.keywords and _fits(meant, place.keywords[keyword]):
        asserts = KEYWORDS[meant].kind in ("assertion", "applicator", "core")
        yield found(
            "misspelt-keyword" if asserts else "misspelt-annotation", place.path,
            f"{keyword!r} is not a keyword, and is ignored",
            keyword=keyword, help=f"did you mean {meant!r}?",
        )  # fmt: skip
        return
    borrowed = [
        word
        for word in meant_by(keyword, types_of(place))
        if word in dialect.known
        and word not in place.keywords
        and _fits(word, place.keywords[keyword])
        and not isinstance(place.keywords[keyword], Mapping)
    ]
    if borrowed:
        yield found(
            "borrowed-keyword", place.path, f"{keyword!r} is not a keyword, and is ignored",
            keyword=keyword, help=f"did you mean {' or '.join(map(repr, borrowed))}?"
            + (" It is a list of names, beside 'properties'" if borrowed == ["required"] else ""),
        )  # fmt: skip
    elif not keyword.startswith("$"):
        yield found(
            "unknown-keyword", place.path, f"{shorten(repr(keyword))} is not a keyword, and is ignored",
            keyword=keyword, help="remove it, or let its name begin with 'x-' to show that it is meant for others",
        )  # fmt: skip


def _fits(keyword: str, value: object) -> bool:
    """True if `value` could be meant as that of `keyword`: `note: "…"` is not a slip for `not`."""
    if keyword in NAMED:
        return isinstance(value, Mapping)
    if keyword in DIRECT:
        return isinstance(value, (Mapping, bool, list))
    if keyword == "type":
        return isinstance(value, (str, list))
    if keyword in ("enum", "required", "examples"):
        return isinstance(value, (list, bool))
    if keyword in ("const", "default"):
        return True
    record = KEYWORDS[keyword]
    if record.kind == "assertion" and keyword not in ("pattern", "format"):
        return isinstance(value, (int, float, Decimal, Mapping))  # counts, bounds, flags; dependentRequired
    return isinstance(value, (str, bool))


def types_of(place: Place) -> frozenset[str] | None:
    """The types that `type` names, `integer` as itself; None if it is absent or malformed."""
    declared = place.keywords.get("type")
    names = [declared] if isinstance(declared, str) else declared
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return None
    return frozenset(names)


def _of_other_types(place: Place) -> Iterator[Finding]:
    types = types_of(place)
    if not types:
        return
    allowed = types | {"number"} if "integer" in types else types
    for keyword, value in place.keywords.items():
        record = KEYWORDS.get(keyword)
        if record is None or not record.types or keyword not in place.dialect.known or allowed & {*record.types}:
            continue
        if keyword == "format" and not (isinstance(value, str) and value in FORMATS):
            continue  # a format that is not known may be one of numbers
        yield found(
            "wrong-type-keyword", place.path,
            f"{keyword!r} speaks of {_plural(record.types[0])}, but 'type' allows only {_listed(sorted(types))}",
            keyword=keyword, help=f"remove it, or correct 'type' if {_plural(record.types[0])} are meant",
        )  # fmt: skip


def _without_effect(place: Place) -> Iterator[Finding]:
    words, known = place.keywords, place.dialect.known

    def nothing(keyword: str, reason: str, help: str) -> Finding:
        return found("no-effect", place.path, f"{keyword!r} says nothing {reason}", keyword=keyword, help=help)

    for keyword, needed in NEEDS.items():
        if keyword in words and keyword in known and not any(name in words for name in needed):
            yield nothing(keyword, f"without {needed[0]!r}", f"add {needed[0]!r}, or remove it")
    if "if" in words and "if" in known and not ({"then", "else"} & words.keys()):
        yield nothing("if", "without 'then' or 'else'", "add what follows from it, or remove it")
    additional = words.get("additionalItems")
    if additional not in (None, True, {}) and "additionalItems" in known and not isinstance(words.get("items"), list):
        yield nothing("additionalItems", "without a list in 'items'", "use 'items' alone, or 'maxItems' for a bound")
    for flag, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if words.get(flag) is True and bound not in words:
            yield nothing(flag, f"as 'true' without {bound!r}", f"give the bound itself by {bound!r}")
    if "unevaluatedProperties" in words and "unevaluatedProperties" in known and "additionalProperties" in words:
        yield nothing("unevaluatedProperties", "beside 'additionalProperties', which evaluates every other member",
                      "keep one of the two")  # fmt: skip
    unevaluated_items = "unevaluatedItems" in words and "unevaluatedItems" in known
    if unevaluated_items and isinstance(words.get("items"), (Mapping, bool)):
        yield nothing("unevaluatedItems", "beside 'items', which evaluates every other item", "keep one of the two")
    if words.get("minContains") == 0 and "contains" in words and "maxContains" not in words and "minContains" in known:
        yield nothing("contains", "with 'minContains' 0 and no 'maxContains'", "give a bound, or remove both")


def _beside_ref(place: Place) -> Iterator[Finding]:
    schema = place.schema
    if not isinstance(schema, Mapping) or not place.dialect.ref_hides_siblings or "$ref" not in schema:
        return
    hidden = [
        keyword
        for keyword in schema
        if keyword != "$ref"
        and keyword in place.dialect.known
        and KEYWORDS[keyword].kind in ("assertion", "applicator")
        and not (keyword == "type" and schema["type"] == _type_of_target(place, schema["$ref"]))
    ]
    if hidden:
        which = _listed([repr(name) for name in hidden])
        yield found(
            "ignored-beside-ref", place.path, f"{place.dialect.name} ignores {which} beside '$ref'", keyword=hidden[0],
            help="write allOf: [{$ref: …}, {…}], or name a later dialect in '$schema'",
        )  # fmt: skip


def _type_of_target(place: Place, reference: object) -> object:
    try:
        target = place.scope.lookup(reference, place.path)[0] if isinstance(reference, str) else None
    except ConstrainError:
        return None
    return target.get("type") if isinstance(target, Mapping) else None


def _types(place: Place) -> Iterator[Finding]:
    declared = place.keywords.get("type")
    if not isinstance(declared, list) or not all(isinstance(name, str) for name in declared):
        return
    twice = [name for i, name in enumerate(declared) if name in declared[:i]]
    if twice:
        yield found("duplicate-type", place.at("type"), f"the type {shorten(repr(twice[0]))} is named twice",
                    help="keep one of them")  # fmt: skip
    elif {*declared} >= NUMBER_TYPES:
        yield found(
            "duplicate-type", place.at("type"), "every 'integer' is a 'number'", help="keep the one that is meant"
        )


def _format(place: Place) -> Iterator[Finding]:
    name = place.keywords.get("format")
    if not isinstance(name, str) or name in FORMATS:
        return
    types = types_of(place)
    if name in NUMBER_FORMATS and (types is None or types & NUMBER_TYPES):
        return
    if name in EXCLUDES_NOTHING and (types is None or "string" in types):
        return
    near = _near_format(name)
    if near is not None:
        yield found("misspelt-format", place.path, f"the format {shorten(repr(name))} does not exist", keyword="format",
                    help=f"did you mean {near!r}?")  # fmt: skip
    else:
        what = "is not enforced" if name in STANDARD_FORMATS else "is not known, and not enforced"
        yield found("unknown-format", place.path, f"the format {shorten(repr(name))} {what}", keyword="format",
                    help="say what is meant by 'pattern' too")  # fmt: skip


def _near_format(name: str) -> str | None:
    """A known format that differs by one edit, or only in case and marks (`dateTime`, `date_time`)."""
    bare = re.sub(r"[\W_]", "", name).lower()
    for known in FORMATS:
        if re.sub(r"\W", "", known) == bare:
            return known
    near = suggestion(name, _FORMAT_NAMES)
    return near if near is not None and len(name) > 4 else None


_FORMAT_NAMES = frozenset(FORMATS)


def _plural(type_name: str) -> str:
    return type_name + "s"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def old_form_findings(notes: Iterable[tuple[str, str, str]]) -> Iterator[Finding]:
    """What the report of a schema without `$schema` says about old forms: (path, keyword, reason)."""
    for path, keyword, reason in notes:
        yield found("old-form", path, f"{keyword!r} is read {_as(reason)}", keyword=keyword,
                    help="name the dialect in '$schema', or write the form of 2020-12")  # fmt: skip


def _as(reason: str) -> str:
    return reason if reason.startswith("as ") else f"as {reason.replace(', as', ', the form of')}"


__all__ = ["keyword_findings", "old_form_findings", "types_of"]
