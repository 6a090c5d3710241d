"""The independent judge: is a JSON value valid under a JSON Schema, of any draft from 4 to 2020-12?

Main names: `validate`, and `Judge` for many values under one schema. Built on `jsonschema`, with its known errors put
right: exact numbers (`json_values`), ECMA patterns, equality by value, `unevaluated*` (`json_schema_keywords`), formats
(`json_schema_formats`). It shares no code with the front ends, so that it can find their mistakes.

**Dialects.** `dialect` names one (`"draft7"`, `"7"`, `"2019-09"`, or its `$schema` URI); otherwise `$schema` does;
otherwise 2020-12 with the older forms beside it (`json_schema_keywords.FORGIVING`). Subschemas with a `$schema` of
their own are read by that. A metaschema from `registry` whose `$vocabulary` lacks validation switches validation off.
1.0 is an integer in every dialect but draft 4, whose integers are written without point and exponent.

**What is a failure, not an error:** a text that is not JSON, a name twice, NaN, half a surrogate pair, nesting deeper
than 100 levels. Errors are for schemas: `InvalidSpecification`, `PatternError`, `ReferenceNotFound`. There is no
network: references lead into the schema, the registry, or the metaschemas.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Literal, TypeVar

from ..errors import ConstrainError, InvalidSpecification, LimitExceeded, ReferenceNotFound, shorten, shown
from .json_schema_references import resolver_of
from .json_values import NotJson, exact_value, is_integer, is_number, is_written_as_integer, parse_json
from .verdict import PASSED, Failure, Verdict, pointer

__all__ = ["Failure", "Judge", "Verdict", "validate"]

Formats = Literal["known", "annotation"]

_Result = TypeVar("_Result")

MAX_FAILURES = 100
SHOWN_VALUE = 40
"""How many characters of a value begin a message."""

CACHED_JUDGES = 256

DIALECT_URIS = {
    "4": "http://json-schema.org/draft-04/schema",
    "6": "http://json-schema.org/draft-06/schema",
    "7": "http://json-schema.org/draft-07/schema",
    "2019-09": "https://json-schema.org/draft/2019-09/schema",
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
}

BEFORE_IDNA = ("draft-04", "draft-06")
"""Specifications in which a host name is RFC 1123's alone, by the names that `referencing` has for them."""

VALIDATION_VOCABULARY = "https://json-schema.org/draft/{}/vocab/validation"
FORMAT_ASSERTION = "/vocab/format-assertion"
"""A vocabulary that has formats asserted, whatever is asked for."""

VALIDATION_KEYWORDS = frozenset(
    {"type", "enum", "const", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength"}
    | {"minLength", "pattern", "maxItems", "minItems", "uniqueItems", "maxContains", "minContains", "maxProperties"}
    | {"minProperties", "required", "dependentRequired"}
)


def validate(
    schema: dict[str, Any] | bool | str,
    value_or_text: Any,
    *,
    dialect: str | None = None,
    formats: Formats = "known",
    registry: Mapping[str, Any] | None = None,
    base_uri: str = "",
) -> Verdict:
    """Judge one value. `str` and `bytes` are JSON text, everything else a Python value (for a string, see `Judge`).

    Raises:  InvalidSpecification, PatternError, ReferenceNotFound: what is wrong with the schema.
    Cost:    the judge of a schema is kept, found again by the schema's text: O(schema) to find, then `jsonschema`.
    """
    if registry or base_uri:
        judge = Judge(schema, dialect=dialect, formats=formats, registry=registry, base_uri=base_uri)
    else:
        judge = _judge(_text_of(schema), dialect, formats)
    return judge.text(value_or_text) if isinstance(value_or_text, str | bytes) else judge.value(value_or_text)


@lru_cache(maxsize=CACHED_JUDGES)
def _judge(schema_text: str, dialect: str | None, formats: Formats) -> Judge:
    return Judge(schema_text, dialect=dialect, formats=formats)


def _text_of(schema: Any) -> str:
    if isinstance(schema, str):
        return schema
    try:
        return json.dumps(schema)
    except (TypeError, ValueError, RecursionError):  # decimals, or worse: written from exact values
        return _write(_exact_schema(schema))


def _write(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(name)}: {_write(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_write(item) for item in value) + "]"
    return str(value) if is_number(value) else json.dumps(value)


def _exact_schema(schema: Any) -> Any:
    try:
        return parse_json(schema) if isinstance(schema, str) else exact_value(schema)
    except NotJson as error:
        raise InvalidSpecification(f"the schema cannot be read: {error}", expected="a JSON Schema") from None


class Judge:
    """Judges values under one schema; immutable, safe to share between threads.

    Args:    schema: an object, a boolean, or JSON text of one. registry: URI → schema, for references elsewhere.
             formats: "known" checks the formats of `json_schema_formats`, "annotation" none. base_uri: where relative
             references start, unless the schema has an identifier of its own.
    """

    def __init__(
        self,
        schema: dict[str, Any] | bool | str,
        *,
        dialect: str | None = None,
        formats: Formats = "known",
        registry: Mapping[str, Any] | None = None,
        base_uri: str = "",
    ):
        exact = _exact_schema(schema)
        if not isinstance(exact, dict | bool):
            raise InvalidSpecification(f"{shorten(exact)} is not a schema", expected="an object or a boolean")
        documents = {uri.rstrip("#"): _exact_schema(document) for uri, document in (registry or {}).items()}
        dialects = _dialects()
        self._validator = _translated(lambda: dialects.validator(exact, dialect, formats, documents, base_uri))

    def text(self, text: str | bytes) -> Verdict:
        """Judge the value that a JSON text spells."""
        try:
            return self._verdict(parse_json(text))
        except NotJson as error:
            return Verdict(False, (Failure("", "json", str(error)),))

    def value(self, value: Any) -> Verdict:
        """Judge a Python value; a `str` is a JSON string."""
        try:
            return self._verdict(exact_value(value))
        except NotJson as error:
            return Verdict(False, (Failure("", "json", str(error)),))

    def _verdict(self, value: Any) -> Verdict:
        failures = _translated(lambda: self._failures(value))
        return Verdict(False, failures) if failures else PASSED

    def _failures(self, value: Any) -> tuple[Failure, ...]:
        found: list[Failure] = []
        for error in self._validator.iter_errors(value):
            keyword = str(error.validator) if error.validator is not None else "false"
            found.append(Failure(pointer(list(error.absolute_path)), keyword, _said(error.message, error.instance)))
            if len(found) == MAX_FAILURES:
                break
        return tuple(found)


def _said(message: str, value: Any) -> str:
    """`jsonschema`'s message, with the value that it begins with as JSON, and cut so that what follows is seen."""
    written = shown(value)
    if not message.startswith(written):
        return shorten(message)
    text = _write(value)
    return shorten((text if len(text) <= SHOWN_VALUE else text[: SHOWN_VALUE - 1] + "…") + message[len(written) :])


def _translated(run: Callable[[], _Result]) -> _Result:
    """`run`, with what a malformed schema makes `jsonschema` raise turned into our errors."""
    import referencing.exceptions
    from jsonschema.exceptions import UnknownType

    try:
        return run()
    except ConstrainError:
        raise
    except RecursionError:
        raise _too_deep() from None
    except UnknownType as error:
        raise InvalidSpecification(f"{shorten(error.type)} is not a type", expected="a JSON type's name") from None
    except referencing.exceptions.Unresolvable as error:
        raise ReferenceNotFound(str(error.ref), at="#", help="give the document in `registry`") from None
    except (TypeError, ValueError, AttributeError, KeyError, IndexError) as error:
        raise InvalidSpecification(f"a keyword of the schema has a malformed value: {shorten(str(error))}") from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise _too_deep() from None  # a RecursionError met inside rpds, which calls that a panic


def _too_deep() -> LimitExceeded:
    return LimitExceeded(
        "the schema refers to itself without going down into the value, or nests too deeply to be judged",
        limit="recursion",
        help="look for a $ref that leads back to its own schema",
    )


# ---------------------------------------------------------------- dialects


class _Dialects:
    """The corrected validator classes, by `$schema`; made once, on first use, since `jsonschema` loads slowly."""

    def __init__(self) -> None:
        from referencing.jsonschema import SchemaRegistry, specification_with

        from . import json_schema_keywords as keywords
        from .jsonschema_import import jsonschema

        self.specification_with = specification_with
        self.registry_type = SchemaRegistry
        oldest = {**keywords.COMMON, **keywords.BEFORE_2020}
        modern = {**keywords.COMMON, **keywords.SINCE_DRAFT_6}
        latest = {**modern, **keywords.SINCE_2019}
        bases = {
            "4": (jsonschema.Draft4Validator, oldest),
            "6": (jsonschema.Draft6Validator, {**modern, **oldest}),
            "7": (jsonschema.Draft7Validator, {**modern, **oldest}),
            "2019-09": (jsonschema.Draft201909Validator, {**latest, **oldest, **keywords.ONLY_2019}),
            "2020-12": (jsonschema.Draft202012Validator, {**latest, **keywords.SINCE_2020}),
        }
        self.classes: dict[str, Any] = {}
        for name, (base, corrections) in bases.items():
            self.classes[DIALECT_URIS[name]] = self._extended(base, corrections, DIALECT_URIS[name])
        newest, uri = jsonschema.Draft202012Validator, DIALECT_URIS["2020-12"]
        self.forgiving = self._extended(newest, {**latest, **keywords.SINCE_2020, **keywords.FORGIVING}, uri)
        self.forgiving.SPECIFICATION = _with_old_forms(self.forgiving.SPECIFICATION)

    def _extended(self, base: Any, corrections: Mapping[str, Any], uri: str) -> Any:
        from jsonschema.validators import extend

        integers = is_written_as_integer if uri == DIALECT_URIS["4"] else is_integer
        types = base.TYPE_CHECKER.redefine_many(
            {"integer": lambda _, value: integers(value), "number": lambda _, value: is_number(value)}
        )
        cls: Any = extend(base, validators=dict(corrections), type_checker=types)
        cls.SPECIFICATION = self.specification_with(uri)
        dialects = self

        def evolve(self: Any, **changes: Any) -> Any:
            """`jsonschema` would turn back to its own classes wherever a schema names its dialect."""
            schema = changes.setdefault("schema", self.schema)
            changes.setdefault("format_checker", self.format_checker)
            changes.setdefault("registry", self._registry)
            changes.setdefault("_resolver", self._resolver)
            return dialects.named_by(schema, type(self))(**changes)

        cls.evolve = evolve
        return cls

    def named_by(self, schema: Any, default: Any) -> Any:
        """The class of the dialect that `schema` itself names."""
        if isinstance(schema, dict) and "$schema" in schema:
            return self.classes.get(str(schema["$schema"]).rstrip("#"), default)
        return default

    def validator(
        self, schema: Any, dialect: str | None, formats: str, documents: Mapping[str, Any], base_uri: str
    ) -> Any:
        """A validator at the root of `schema`, which comes from `base_uri`."""
        if dialect is not None:
            default = self.classes[_dialect_uri(dialect)]
        else:
            default = self._by_metaschema(schema, documents) or self.forgiving
        cls = self.named_by(schema, default) if dialect is None else default
        registry = self._registry(documents, cls.SPECIFICATION)
        if self._asserts_formats(schema, documents):
            formats = "known"
        checker = _format_checker(cls.SPECIFICATION.name in BEFORE_IDNA) if formats == "known" else None
        resolver = resolver_of(cls.SPECIFICATION.create_resource(schema), registry, base_uri)
        return cls(schema, format_checker=checker, registry=registry, _resolver=resolver)

    def _registry(self, documents: Mapping[str, Any], default: Any) -> Any:
        from referencing import Registry, Resource

        resources = [
            (uri, Resource.from_contents(contents, default_specification=default))
            for uri, contents in documents.items()
        ]
        return Registry().with_resources(resources)

    def _by_metaschema(self, schema: Any, documents: Mapping[str, Any]) -> Any:
        """The class for a metaschema of one's own: as its `$vocabulary` says, read by the dialect it is written in."""
        metaschema = self._metaschema(schema, documents)
        if metaschema is None:
            return None
        cls = self.named_by(metaschema, self.forgiving)
        year = "2019-09" if cls is self.classes[DIALECT_URIS["2019-09"]] else "2020-12"
        if VALIDATION_VOCABULARY.format(year) in metaschema["$vocabulary"]:
            return cls
        kept = {name: rule for name, rule in cls.VALIDATORS.items() if name not in VALIDATION_KEYWORDS}
        return self._without_validation(cls, kept, DIALECT_URIS[year])

    def _metaschema(self, schema: Any, documents: Mapping[str, Any]) -> Any:
        """The document with a `$vocabulary` that `schema` names as its metaschema, by its key or its `$id`; or None."""
        if not isinstance(schema, dict) or "$schema" not in schema:
            return None
        uri = str(schema["$schema"]).rstrip("#")
        given = documents.get(uri)
        if isinstance(given, dict):
            return given if "$vocabulary" in given else None
        named = [one for one in documents.values() if isinstance(one, dict) and "$vocabulary" in one]
        return next((one for one in named if str(one.get("$id", "")).rstrip("#") == uri), None)

    def _asserts_formats(self, schema: Any, documents: Mapping[str, Any]) -> bool:
        metaschema = self._metaschema(schema, documents)
        return metaschema is not None and any(str(uri).endswith(FORMAT_ASSERTION) for uri in metaschema["$vocabulary"])

    def _without_validation(self, cls: Any, kept: Mapping[str, Any], uri: str) -> Any:
        from jsonschema.validators import create

        return self._extended(create(cls.META_SCHEMA, kept, type_checker=cls.TYPE_CHECKER, id_of=cls.ID_OF), {}, uri)


def _with_old_forms(specification: Any) -> Any:
    """The same `referencing` specification, but it finds anchors and ids below the older forms too."""
    from attrs import evolve

    def subresources_of(contents: Any) -> Any:
        if not isinstance(contents, dict):
            return []
        spread = dict(contents)
        prefix = [*spread.get("prefixItems", ())]
        if isinstance(spread.get("items"), list):
            prefix += spread.pop("items")
        if isinstance(spread.get("additionalItems"), dict | bool):
            prefix.append(spread["additionalItems"])
        dependencies = spread.get("dependencies")
        if isinstance(dependencies, dict):
            prefix += [rule for rule in dependencies.values() if isinstance(rule, dict)]
        return specification.subresources_of(spread | ({"prefixItems": prefix} if prefix else {}))

    return evolve(specification, subresources_of=subresources_of)


@lru_cache(maxsize=1)
def _dialects() -> _Dialects:
    return _Dialects()


def _dialect_uri(name: str) -> str:
    uri = DIALECT_URIS.get(name.removeprefix("draft").lstrip("-0")) or name.rstrip("#")
    if uri not in DIALECT_URIS.values():
        raise InvalidSpecification(f"{shorten(name)} is not a dialect", expected=", ".join(DIALECT_URIS))
    return uri


@lru_cache(maxsize=2)
def _format_checker(before_idna: bool) -> Any:
    """A checker of our formats only."""
    from jsonschema import FormatChecker

    from .json_schema_formats import FORMAT_CHECKS, NUMBER_CHECKS, is_plain_hostname

    checker = FormatChecker(formats=())
    checks = {**FORMAT_CHECKS, "hostname": is_plain_hostname} if before_idna else FORMAT_CHECKS
    for name, check in checks.items():
        checker.checks(name)(_on_strings(check))
    for name, check in NUMBER_CHECKS.items():
        checker.checks(name)(_on_numbers(check))
    return checker


def _on_strings(check: Callable[[str], bool]) -> Callable[[object], bool]:
    return lambda value: not isinstance(value, str) or check(value)


def _on_numbers(check: Callable[[Any], bool]) -> Callable[[object], bool]:
    return lambda value: not is_number(value) or check(value)
