"""Keywords of JSON Schema that `jsonschema` judges otherwise than the specification, judged right.

Functions `(validator, keyword value, instance, schema) → errors`, as `jsonschema.validators.extend` takes them.

- Numbers: bounds and multiples on exact values, whatever their size.
- Equality (`enum`, `const`, `uniqueItems`): by JSON value.
- Patterns: ECMA-262 by `regress`, with the flag u, or without (Annex B) where only that parses. Search, in code points.
- References: by the dynamic scope of the specification (`json_schema_references`).
- `unevaluated*`: what has been evaluated is collected by going through the schemas that hold in place, each resolved
  where it stands.
- `forgiving`: where a schema names no dialect, the older forms beside the newest: array `items` with
  `additionalItems`, `dependencies`, boolean `exclusiveMinimum` and `exclusiveMaximum`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import regress

from ..errors import PatternError, shorten
from .json_schema_references import dynamic_ref, recursive_ref, resolve
from .json_values import is_multiple, is_number, value_key
from .jsonschema_import import jsonschema

ValidationError = jsonschema.ValidationError

Keyword = Callable[[Any, Any, Any, Any], Iterable[ValidationError] | None]


# ---------------------------------------------------------------- patterns


@lru_cache(maxsize=4096)
def compiled(pattern: str) -> regress.Regex:
    """`pattern` as ECMA-262 reads it.  Raises: PatternError."""
    try:
        return regress.Regex(pattern, "u")
    except regress.RegressError:
        pass
    try:
        return regress.Regex(pattern)
    except regress.RegressError as error:
        raise PatternError(f"the pattern does not parse: {error}", pattern=pattern, position=0) from None


def found(pattern: str, text: str) -> bool:
    """True if `pattern` matches somewhere in `text`."""
    return compiled(pattern).find(text) is not None


def pattern_(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not found(pattern, instance):
        yield ValidationError(f"{shorten(instance)!r} does not match {shorten(pattern)!r}")


def pattern_properties(validator: Any, patterns: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for pattern, subschema in patterns.items():
            for name, value in instance.items():
                if found(pattern, name):
                    yield from validator.descend(value, subschema, path=name, schema_path=pattern)


def additional_properties(validator: Any, subschema: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for name in _undeclared(instance, schema):
            if subschema is False:
                yield _placed(ValidationError(f"the name {shorten(name)!r} is not allowed"), name)
            else:
                yield from validator.descend(instance[name], subschema, path=name)


def required(validator: Any, names: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        missing = [name for name in names if name not in instance]
        yield from (ValidationError(f"{shorten(name)!r} is required and missing") for name in missing)


def _undeclared(instance: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    declared, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    return [name for name in instance if name not in declared and not any(found(one, name) for one in patterns)]


def _placed(error: ValidationError, step: str | int) -> ValidationError:
    error.path.appendleft(step)
    return error


# ---------------------------------------------------------------- numbers


def multiple_of(validator: Any, step: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if is_number(instance) and not is_multiple(instance, step):
        yield ValidationError(f"{shorten(str(instance))} is not a multiple of {step}")


def minimum(validator: Any, bound: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not is_number(instance):
        return
    is_open = schema.get("exclusiveMinimum") is True
    if instance < bound or (is_open and instance == bound):
        yield ValidationError(f"{shorten(str(instance))} is less than {'or equal to ' * is_open}{bound}")


def maximum(validator: Any, bound: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not is_number(instance):
        return
    is_open = schema.get("exclusiveMaximum") is True
    if instance > bound or (is_open and instance == bound):
        yield ValidationError(f"{shorten(str(instance))} is greater than {'or equal to ' * is_open}{bound}")


def exclusive_minimum(validator: Any, bound: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if is_number(instance) and is_number(bound) and instance <= bound:
        yield ValidationError(f"{shorten(str(instance))} is not greater than {bound}")


def exclusive_maximum(validator: Any, bound: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if is_number(instance) and is_number(bound) and instance >= bound:
        yield ValidationError(f"{shorten(str(instance))} is not less than {bound}")


# ---------------------------------------------------------------- equality


def enum(validator: Any, options: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if value_key(instance) not in _option_keys(options):
        yield ValidationError(f"{shorten(instance)} is not one of {shorten(options)}")


def const(validator: Any, option: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if value_key(instance) != value_key(option):
        yield ValidationError(f"{shorten(instance)} is not {shorten(option)}")


def unique_items(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if wanted and isinstance(instance, list) and len({value_key(item) for item in instance}) < len(instance):
        yield ValidationError(f"two items of {shorten(instance)} are equal")


_OPTIONS: dict[int, tuple[Any, frozenset[Any]]] = {}
_MAX_OPTIONS = 2048


def _option_keys(options: Any) -> frozenset[Any]:
    """The keys of an `enum`, kept while its list lives; the list is held too, so that its id stays its own."""
    known = _OPTIONS.get(id(options))
    if known is None or known[0] is not options:
        if len(_OPTIONS) >= _MAX_OPTIONS:
            _OPTIONS.clear()
        known = (options, frozenset(value_key(option) for option in options))
        _OPTIONS[id(options)] = known
    return known[1]


# ---------------------------------------------------------------- arrays and dependencies in older forms


def items_any_form(validator: Any, items: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """`items` of every draft: a list is a prefix, a schema is for what follows `prefixItems`."""
    if not isinstance(instance, list):
        return
    if isinstance(items, list):
        for index, (item, subschema) in enumerate(zip(instance, items, strict=False)):
            yield from validator.descend(item, subschema, path=index, schema_path=index)
        return
    for index in range(len(schema.get("prefixItems", ())), len(instance)):
        yield from validator.descend(instance[index], items, path=index)


def additional_items(validator: Any, subschema: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, list) and isinstance(schema.get("items"), list):
        for index in range(len(schema["items"]), len(instance)):
            yield from validator.descend(instance[index], subschema, path=index)


def dependencies(validator: Any, rules: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    for name, rule in rules.items():
        if name not in instance:
            continue
        if isinstance(rule, list):
            missing = [one for one in rule if one not in instance]
            yield from (ValidationError(f"{one!r} is required beside {name!r}") for one in missing)
        else:
            yield from validator.descend(instance, rule, schema_path=name)


# ---------------------------------------------------------------- unevaluated


def unevaluated_properties(validator: Any, subschema: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        evaluated = _evaluated(validator, instance, schema, _names_here, is_top=True)
        for name in instance:
            if name not in evaluated:
                yield from validator.descend(instance[name], subschema, path=name)


def unevaluated_items(validator: Any, subschema: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, list):
        evaluated = _evaluated(validator, instance, schema, _indices_here, is_top=True)
        for index, item in enumerate(instance):
            if index not in evaluated:
                yield from validator.descend(item, subschema, path=index)


Here = Callable[[Any, Any, Mapping[str, Any], bool], set[Any]]


def _evaluated(validator: Any, instance: Any, schema: Any, here: Here, *, is_top: bool) -> set[Any]:
    """Names or indices that `schema` and the schemas that hold in place with it have evaluated."""
    if not isinstance(schema, dict):
        return set()
    evaluated = here(validator, instance, schema, is_top)
    for inner, subschema in _in_place(validator, instance, schema):
        if inner.is_valid(instance):
            evaluated |= _evaluated(inner, instance, subschema, here, is_top=False)
    return evaluated


def _in_place(validator: Any, instance: Any, schema: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    """The subschemas that apply to `instance` itself, each with a validator that stands there."""
    for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
        if keyword in schema and keyword in validator.VALIDATORS:
            resolved = resolve(validator, keyword, schema[keyword])
            yield validator.evolve(schema=resolved.contents, _resolver=resolved.resolver), resolved.contents
    subschemas = [one for keyword in ("allOf", "anyOf", "oneOf") for one in schema.get(keyword, ())]
    for keyword in ("dependentSchemas", "dependencies"):
        if isinstance(instance, dict) and keyword in validator.VALIDATORS:
            rules = schema.get(keyword, {})
            subschemas += [rule for name, rule in rules.items() if name in instance and not isinstance(rule, list)]
    if "if" in schema:
        holds = enter(validator, schema["if"]).is_valid(instance)
        subschemas += [schema["if"]] if holds else []
        branch = "then" if holds else "else"
        subschemas += [schema[branch]] if branch in schema else []
    for subschema in subschemas:
        yield enter(validator, subschema), subschema


def enter(validator: Any, subschema: Any) -> Any:
    """The validator for a subschema of this one's, with references resolved from there."""
    resource = validator.SPECIFICATION.create_resource(subschema)
    return validator.evolve(schema=subschema, _resolver=validator._resolver.in_subresource(resource))


def _names_here(validator: Any, instance: dict[str, Any], schema: Mapping[str, Any], is_top: bool) -> set[Any]:
    if "additionalProperties" in schema or ("unevaluatedProperties" in schema and not is_top):
        return set(instance)
    declared, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    return {name for name in instance if name in declared or any(found(one, name) for one in patterns)}


def _indices_here(validator: Any, instance: list[Any], schema: Mapping[str, Any], is_top: bool) -> set[Any]:
    every = set(range(len(instance)))
    if "unevaluatedItems" in schema and not is_top:
        return every
    evaluated: set[Any] = set()
    items = schema.get("items")
    if isinstance(items, list):
        if "additionalItems" in schema:
            return every
        evaluated |= set(range(len(items)))
    elif items is not None:
        return every
    if "prefixItems" in validator.VALIDATORS:
        evaluated |= set(range(len(schema.get("prefixItems", ()))))
        if "contains" in schema:  # evaluates what it matches since 2020-12
            inner = enter(validator, schema["contains"])
            evaluated |= {index for index, item in enumerate(instance) if inner.is_valid(item)}
    return evaluated & every


COMMON: Mapping[str, Keyword] = {
    "required": required,
    "pattern": pattern_,
    "patternProperties": pattern_properties,
    "additionalProperties": additional_properties,
    "multipleOf": multiple_of,
    "enum": enum,
    "uniqueItems": unique_items,
    "minimum": minimum,
    "maximum": maximum,
}
"""For every dialect. `minimum` minds a boolean beside it, which only draft 4 and the forgiving dialect admit."""

SINCE_DRAFT_6: Mapping[str, Keyword] = {
    "const": const,
    "exclusiveMinimum": exclusive_minimum,
    "exclusiveMaximum": exclusive_maximum,
}

SINCE_2019: Mapping[str, Keyword] = {
    "unevaluatedProperties": unevaluated_properties,
    "unevaluatedItems": unevaluated_items,
}

ONLY_2019: Mapping[str, Keyword] = {"$recursiveRef": recursive_ref}

SINCE_2020: Mapping[str, Keyword] = {"$dynamicRef": dynamic_ref}

BEFORE_2020: Mapping[str, Keyword] = {"additionalItems": additional_items}
"""It says nothing beside a boolean `items`, where `jsonschema` fails."""

FORGIVING: Mapping[str, Keyword] = {
    "items": items_any_form,
    "additionalItems": additional_items,
    "dependencies": dependencies,
}
