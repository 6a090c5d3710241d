"""Python types as specifications: a JSON schema, the rules no schema can say, and a validator for both.

`schema_of(T)` asks Pydantic what T means. Three parts come back:

- `schema`: a JSON schema (2020-12) whose instances Pydantic accepts for T, read as JSON. Pydantic's own schema is wider
  than its validator in a score of places (a `Decimal` is any string, a key of `dict[int, …]` any name, a discriminator
  with a default may be left out); `python_types_schema` closes them.
- `rules`: what is left, each with its place: custom validators, dates compared with today, URLs; checked afterwards.
- `validate`: text → the value of type T, or `ValidationFailed` with every reason.

Invariant: text that fits `schema` and is refused by `validate` breaks one of `rules`. Two exceptions are not worth a
rule: numbers that overflow a float, and `1.0` for a strict integer (the canonical spelling is `1`).

Fields go by their validation alias, as they do in the JSON that Pydantic reads. Where a type accepts several spellings
(a naive and an aware `datetime`), the schema keeps the one that Pydantic documents. A model that ignores extra members
leaves its object open, as Pydantic does; `extra="forbid"` closes it.
"""

from __future__ import annotations

import dataclasses
import typing
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from constrain.errors import InvalidSpecification, LimitExceeded, MissingExtra, ValidationFailed, shorten

__all__ = ["BusinessRule", "PythonSchema", "RuleFailure", "schema_of"]


@dataclass(frozen=True, slots=True)
class BusinessRule:
    """A check that no schema can say. `path` is the JSON pointer of the schema that holds it, references inlined."""

    path: str
    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class RuleFailure:
    """One reason why a value was refused; `path` is the JSON pointer of the value, `rule` Pydantic's error type."""

    path: str
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.path or '/'}: {self.message}"


@dataclass(frozen=True, slots=True)
class PythonSchema:
    """What a Python type means as JSON. `validate` takes finished text and returns the value of the type."""

    schema: dict[str, Any]
    rules: tuple[BusinessRule, ...]
    validate: Callable[[str | bytes], object]
    name: str = ""


def schema_of(type_: Any) -> PythonSchema:
    """The schema, the rules and the validator of a Python type (or of a `pydantic.TypeAdapter`).

    Raises: InvalidSpecification: a type that no JSON can spell, with its name and path. MissingExtra: without pydantic.
    Cost:   Pydantic's: about 1 ms for a small model.
    """
    try:
        import pydantic
    except ImportError:
        raise MissingExtra("pydantic", "pydantic") from None
    from constrain.frontends import python_types_rules, python_types_schema

    adapter = _adapter(type_, pydantic)
    core: Any = {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a default that is not JSON is only an annotation
            core = adapter.core_schema
            python_types_rules.refuse_what_no_json_can_spell(core)
            schema = python_types_schema.json_schema(adapter)
            rules = python_types_rules.find_rules(core)
    except python_types_schema.NoJsonSchema as error:
        path = python_types_rules.path_of(core, error.core)
        raise _unusable(error.what, path) from None
    except RecursionError:
        raise LimitExceeded(f"{_name(type_)} is nested too deeply", limit="depth") from None
    except (pydantic.errors.PydanticUserError, NameError) as error:
        raise InvalidSpecification(
            f"{_name(type_)} cannot be used: {shorten(str(error))}",
            help="define every type that it refers to before using it",
        ) from None
    return PythonSchema(schema, rules, _Validator(adapter, _name(type_)), _name(type_))


def _name(type_: object) -> str:
    return shorten(getattr(type_, "__name__", None) or repr(type_))


def _unusable(what: str, path: str) -> InvalidSpecification:
    return InvalidSpecification(
        f"{what} has no form in JSON",
        at=path,
        expected="a type whose values are JSON: a model, dataclass, TypedDict, Literal, Enum, union, list, str, …",
        help="change the annotation, or exclude the field from the model that is generated",
    )


def _adapter(type_: Any, pydantic: Any) -> Any:
    if isinstance(type_, pydantic.TypeAdapter):
        return type_
    if isinstance(
        type_, (str, bytes, int, float, dict, list, set)
    ):  # a string would be evaluated as a forward reference
        raise InvalidSpecification(
            f"{shorten(repr(type_))} is not a type",
            expected="a Python type, such as a pydantic model or list[int]",
            help="for a JSON schema use json_schema(…)",
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return pydantic.TypeAdapter(type_)
    except RecursionError:
        raise LimitExceeded(f"{_name(type_)} is nested too deeply", limit="depth") from None
    except Exception as error:  # pydantic runs the hooks of user classes, which may raise anything
        path, culprit = _locate(type_, pydantic)
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise InvalidSpecification(
            f"{_name(culprit)} is no type that Pydantic can read: {shorten(reason)}",
            at=path,
            help="use pydantic models, dataclasses, TypedDict, enums, unions and containers of them",
        ) from None


def _locate(type_: Any, pydantic: Any, path: str = "#", depth: int = 0) -> tuple[str, Any]:
    """The innermost field whose type Pydantic refuses, for dataclasses, typed dictionaries and generic types."""
    parts: list[tuple[str, Any]] = []
    try:
        if dataclasses.is_dataclass(type_) or typing.is_typeddict(type_):
            hints = typing.get_type_hints(type_, include_extras=True)
            parts = [(f"/properties/{name}", hint) for name, hint in hints.items()]
        elif typing.get_origin(type_) is not None:
            parts = [("", argument) for argument in typing.get_args(type_) if isinstance(argument, type)]
    except Exception:  # hints that cannot be evaluated: the whole type is the culprit
        return path, type_
    for step, part in parts if depth < 20 else ():
        try:
            pydantic.TypeAdapter(part)
        except Exception:
            return _locate(part, pydantic, path + step, depth + 1)
    return path, type_


class _Validator:
    """Text → value, or `ValidationFailed` with all the reasons."""

    def __init__(self, adapter: Any, name: str) -> None:
        self._adapter = adapter
        self._name = name

    def __call__(self, text: str | bytes) -> object:
        from pydantic import ValidationError

        shown = text if isinstance(text, str) else bytes(text).decode("utf-8", "replace")
        try:
            return self._adapter.validate_json(text)
        except ValidationError as error:
            failures = _failures(error)
        except Exception as error:  # a custom validator may raise anything
            failures = [RuleFailure("", type(error).__name__, f"a validator raised {type(error).__name__}: {error}")]
        raise ValidationFailed(
            f"the value is no {self._name}: {shorten(failures[0].message)}"
            + (f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""),
            text=shown,
            failures=failures,
            at=failures[0].path or "/",
        ) from None


def _failures(error: Any) -> list[RuleFailure]:
    found = []
    for item in error.errors(include_url=False, include_context=False, include_input=False):
        steps = (str(step).replace("~", "~0").replace("/", "~1") for step in item["loc"])
        found.append(RuleFailure("".join(f"/{step}" for step in steps), item["type"], item["msg"]))
    return found
