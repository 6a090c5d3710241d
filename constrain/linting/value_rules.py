"""Rules about values: what `enum`, `const`, `default` and `examples` hold, and whether anything is allowed at all.

Whether a value belongs is asked of the shapes (`questions.py`): exact decimals, ECMA patterns, formats. A value that
fails a format only is named only where that format is known completely.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from constrain.errors import ConstrainError, shorten
from constrain.frontends.json_schema.formats import FORMATS, NARROWER
from constrain.frontends.json_schema.questions import Questions
from constrain.frontends.json_schema.shapes import Child
from constrain.frontends.json_schema.values import freeze, is_spellable, value_key
from constrain.linting.finding import Finding
from constrain.linting.places import Place
from constrain.linting.rules import found

ANNOTATIONS = frozenset(
    ("title", "description", "default", "examples", "$comment", "deprecated", "readOnly", "writeOnly", "$schema", "$id",
     "id", "$anchor", "$defs", "definitions")
)  # fmt: skip
SHOWN_VALUES = 5
MAX_VALUES = 2_000


def duplicate_findings(place: Place) -> Iterator[Finding]:
    """Values that stand in `enum` twice."""
    values = place.keywords.get("enum")
    if not isinstance(values, list):
        return
    seen: set[object] = set()
    left = SHOWN_VALUES
    for i, value in enumerate(values):
        try:
            key = value_key(freeze(value, place.path))
        except ConstrainError:
            continue
        if key in seen and left:
            left -= 1
            yield found("duplicate-enum", place.at("enum", i), f"{shown(value)} stands in 'enum' twice",
                        help="remove one of them")  # fmt: skip
        seen.add(key)


def value_findings(place: Place, questions: Questions, without_formats: Questions) -> Iterator[Finding]:
    """Values of `enum`, `default` and `examples` that the schema itself excludes."""
    words = place.keywords
    if not isinstance(place.schema, Mapping) or not ({"enum", "default", "examples"} & words.keys()):
        return
    rest = questions.without(words, "enum", "const", "default", "examples")
    says_more = bool(rest.keys() - ANNOTATIONS)

    def refused(value: Any) -> bool:
        """True if what stands beside the constants excludes `value`."""
        if not says_more:
            return False
        child = questions.child(rest, place.path, place.scope)
        if not questions.refuses(child, value):
            return False
        if without_formats.refuses(without_formats.child(rest, place.path, place.scope), value):
            return True
        name = rest.get("format")
        return isinstance(name, str) and isinstance(value, str) and name in FORMATS and name not in NARROWER

    values = words.get("enum")
    if isinstance(values, list) and says_more:
        excluded = [(i, value) for i, value in enumerate(values[:MAX_VALUES]) if is_plain(value) and refused(value)]
        if len(excluded) < len(values):
            yield from _excluded(place, excluded, lambda value: _culprit(place, rest, value, questions))
    constants = _constants(words)
    given = [("default", place.at("default"), words["default"])] if "default" in words else []
    examples = words.get("examples")
    if isinstance(examples, list) and "examples" in place.dialect.known:
        given += [("examples", place.at("examples", i), value) for i, value in enumerate(examples[:MAX_VALUES])]
    for keyword, at, value in given:
        if not is_plain(value):
            continue
        code = "invalid-default" if keyword == "default" else "invalid-example"
        if constants is not None and value_key(freeze(value, at)) not in constants:
            wanted = "const" if "const" in words else "enum"
            yield found(
                code, at, f"{shown(value)} is not what {wanted!r} asks for", help="give a value that is allowed"
            )
        elif refused(value):
            culprit = _culprit(place, rest, value, questions)
            yield found(code, at, f"{shown(value)} does not satisfy its own schema{culprit}", help=_how(rest, value))


def _excluded(place: Place, excluded: list[tuple[int, Any]], culprit: Callable[[Any], str]) -> Iterator[Finding]:
    for i, value in excluded[:SHOWN_VALUES]:
        yield found("excluded-enum-value", place.at("enum", i),
                    f"{shown(value)} is excluded by what stands beside 'enum'{culprit(value)}",
                    help="remove it, or correct its siblings")  # fmt: skip
    if len(excluded) > SHOWN_VALUES:
        i, _ = excluded[SHOWN_VALUES]
        yield found("excluded-enum-value", place.at("enum", i),
                    f"{len(excluded) - SHOWN_VALUES} more values are excluded by what stands beside 'enum'",
                    help="remove them, or correct the siblings")  # fmt: skip


def _culprit(place: Place, schema: Mapping[str, Any], value: Any, questions: Questions) -> str:
    """`: 'pattern' excludes it`, where one keyword alone does."""
    for keyword in schema:
        if keyword not in ANNOTATIONS and keyword in place.dialect.readers:
            alone = questions.without(schema, *(name for name in schema if name != keyword))
            if questions.refuses(questions.child(alone, place.path, place.scope), value):
                return f": {keyword!r} excludes it"
    return ""


def _constants(words: Mapping[str, Any]) -> frozenset[object] | None:
    """The values that `const` and `enum` allow; None if they do not say, or hold what is no JSON value."""
    allowed: frozenset[object] | None = None
    for values in ([words["const"]] if "const" in words else None, words.get("enum")):
        if not isinstance(values, list):
            continue
        if not all(is_plain(value) for value in values):
            return None
        keys = frozenset(value_key(freeze(value, "#")) for value in values)
        allowed = keys if allowed is None else allowed & keys
    return allowed


def _how(schema: Mapping[str, Any], value: Any) -> str:
    declared = schema.get("type")
    names = [declared] if isinstance(declared, str) else declared
    type_name = type_of(value)
    if isinstance(names, list) and type_name not in names and not (type_name == "integer" and "number" in names):
        return f"it is of type {type_name!r}; 'type' asks for {', '.join(map(str, names))}"
    return "give a value that is allowed, or correct the schema"


def type_of(value: Any) -> str:
    """The JSON type of a parsed value, as messages name it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, Mapping):
        return "object"
    if isinstance(value, (list, tuple)):
        return "array"
    return "integer" if value == int(value) else "number"


def is_plain(value: Any) -> bool:
    """True if `value` is a JSON value that can be written."""
    try:
        return is_spellable(freeze(value, "#"))
    except (ConstrainError, RecursionError):
        return False


def shown(value: Any) -> str:
    """A value as JSON spells it, cut short."""
    return shorten(json.dumps(value, ensure_ascii=False, default=str))


# ---------------------------------------------------------------- nothing at all


def emptiness_finding(place: Place, questions: Questions, child: Child | None) -> Finding | None:
    """That no value satisfies the schema at `place`, unless it says so itself (`false`, `not: {}`)."""
    schema = place.schema
    if not isinstance(schema, Mapping) or says_never(schema) or not questions.is_empty(child):
        return None
    reason = questions.reason(place.path) or ""
    if reason in ("", "its keywords contradict each other"):
        reason = (
            _of_constants(place, questions) or reason or "its keywords contradict each other, or need what is forbidden"
        )
    if place.keyword == "properties" and place.parent is not None:
        required = place.parent.keywords.get("required")
        if not (isinstance(required, list) and place.name in required):
            return found(
                "unsatisfiable", place.path,
                f"{shorten(repr(place.name))} is declared, and no value satisfies it: {reason}",
                help="resolve the contradiction; as it stands the member is forbidden",
            )  # fmt: skip
    return found("unsatisfiable", place.path, f"no value satisfies this schema: {reason}",
                 help="resolve the contradiction, or write 'false' if nothing is meant")  # fmt: skip


def _of_constants(place: Place, questions: Questions) -> str | None:
    """Why each constant that the schema allows is excluded, by the first of them."""
    words = place.keywords
    keyword = "const" if "const" in words else "enum"
    values = [words["const"]] if keyword == "const" else words.get("enum")
    if not isinstance(values, list) or not values or not is_plain(values[0]):
        return None
    rest = questions.without(words, "enum", "const", "default", "examples")
    culprit = _culprit(place, rest, values[0], questions)
    which = f"{keyword!r} is {shown(values[0])}" if len(values) == 1 else f"'enum' has {shown(values[0])} and the like"
    return f"{which}{culprit.replace(':', ', and', 1)}" if culprit else None


def says_never(schema: Mapping[str, Any]) -> bool:
    """True if the schema excludes everything by intent."""
    return schema.get("not") in (True, {}) or schema.get("enum") == [] or schema.get("type") == []
