"""The Jinja sandbox in which a model's chat template runs.

Jinja's `ImmutableSandboxedEnvironment` keeps a template from attributes with underscores and from changing its
arguments. What it does not bound is size: `"x" * 10**10`, `"%9999999999d" % 1`, `s.center(10**10)`, or a string doubled
by `~` in a loop. So operators that can multiply are intercepted, `~` is compiled to a bounded join, filters are only
those that templates in use need, and each result is held to `limit_characters`.

Deliberately not here: the time limit, which `chat_template.py` keeps while it renders.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Iterable
from typing import Any, Final

from constrain.errors import MissingExtra, ModelError, shorten

try:
    import jinja2
    from jinja2.compiler import CodeGenerator
    from jinja2.exceptions import SecurityError
    from jinja2.sandbox import ImmutableSandboxedEnvironment
    from jinja2.utils import Namespace
except ImportError as error:
    raise MissingExtra("jinja2", "model") from error

__all__ = ["compile_template"]

_FILTERS: Final = (
    "abs", "capitalize", "count", "d", "default", "dictsort", "first", "float", "int", "items", "join", "last",
    "length", "list", "lower", "map", "max", "min", "reject", "rejectattr", "replace", "reverse", "round", "safe",
    "select", "selectattr", "sort", "string", "sum", "title", "trim", "unique", "upper",
)  # fmt: skip
_STRING_METHODS: Final = frozenset((
    "capitalize", "count", "endswith", "find", "index", "isalnum", "isalpha", "isdigit", "islower", "isspace",
    "isupper", "join", "lower", "lstrip", "partition", "removeprefix", "removesuffix", "replace", "rfind", "rindex",
    "rpartition", "rsplit", "rstrip", "split", "splitlines", "startswith", "strip", "title", "upper",
))  # fmt: skip
_RANGE_LIMIT: Final = 100_000


def compile_template(source: str, limit_characters: int) -> Any:
    """A Jinja template with a `generate` method.

    Raises:  ModelError: with the line, if it does not parse.
    """
    try:
        return _Environment(limit_characters).from_string(source)
    except jinja2.TemplateSyntaxError as error:
        raise ModelError(
            f"the chat template does not parse: {shorten(error.message or '')}", at=f"line {error.lineno}"
        ) from error
    except (RecursionError, jinja2.TemplateError, SyntaxError, MemoryError) as error:
        raise ModelError(f"the chat template does not compile: {shorten(str(error))}") from error


class _BoundedCodeGenerator(CodeGenerator):
    """Compiles `a ~ b` to a call that looks at the size of the result."""

    def visit_Concat(self, node: Any, frame: Any) -> None:
        self.write("environment.join_bounded((")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")


class _Environment(ImmutableSandboxedEnvironment):
    code_generator_class = _BoundedCodeGenerator
    intercepted_binops = frozenset(("*", "**", "%", "+"))

    def __init__(self, limit_characters: int):
        super().__init__(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
        self.limit_characters = limit_characters
        self.filters = {name: self._bounded(self.filters[name]) for name in _FILTERS if name in self.filters}
        self.filters["tojson"] = _to_json
        self.filters["replace"] = self._replace
        self.filters["join"] = self._join
        self.globals = {
            "range": _bounded_range,
            "dict": dict,
            "namespace": Namespace,
            "raise_exception": _raise_exception,
            "strftime_now": _strftime_now,
        }

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        sized = (str, bytes, list, tuple)
        if operator == "*" and (isinstance(left, sized) or isinstance(right, sized)):
            raise SecurityError("a template may not repeat a sequence")
        if operator == "%" and isinstance(left, str | bytes):
            raise SecurityError("a template may not format a string")
        if operator in ("*", "**") and not (
            _is_within(1 << 32, left) and _is_within(1 << 32 if operator == "*" else 64, right)
        ):
            raise SecurityError("a template may not compute with large numbers")
        return self.bounded(super().call_binop(context, operator, left, right))

    def call(self, context: Any, function: Any, *arguments: Any, **named: Any) -> Any:
        owner = getattr(function, "__self__", None)
        if isinstance(owner, str):
            self._check_size(owner, getattr(function, "__name__", ""), arguments)
        return self.bounded(super().call(context, function, *arguments, **named))

    def bounded(self, value: Any) -> Any:
        """`value`, unless it is a sequence longer than the limit."""
        if isinstance(value, str | bytes | list | tuple) and len(value) > self.limit_characters:
            raise SecurityError("a template may not build a value so long")
        return value

    def join_bounded(self, parts: Iterable[Any]) -> str:
        """The parts as one string, unless it would be longer than the limit."""
        texts = [str(part) for part in parts]
        if sum(map(len, texts)) > self.limit_characters:
            raise SecurityError("a template may not build a text so long")
        return "".join(texts)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        if isinstance(obj, str | bytes) and attr not in _STRING_METHODS:
            return False
        return super().is_safe_attribute(obj, attr, value)

    def wrap_str_format(self, value: Any) -> None:
        """None: `str.format` is judged as any other method, instead of being let through in a wrapper."""
        return None

    def _check_size(self, owner: str, name: str, arguments: tuple[Any, ...]) -> None:
        if name == "replace":
            self._check_replace(owner, *arguments[:2])
        if name == "join" and arguments and isinstance(arguments[0], list | tuple):
            self._check_join(arguments[0], owner)

    def _check_replace(self, text: str, old: Any = "", new: Any = "") -> None:
        # Counted before it is done: replacing n letters by n letters each is quadratic.
        times = text.count(str(old)) if old else len(text) + 1
        if len(text) + times * len(str(new)) > self.limit_characters:
            raise SecurityError("a template may not build a text so long")

    def _check_join(self, parts: Iterable[Any], separator: str) -> None:
        if sum(len(part) + len(separator) for part in parts if isinstance(part, str)) > self.limit_characters:
            raise SecurityError("a template may not build a text so long")

    def _replace(self, text: Any, old: Any, new: Any, count: int = -1) -> str:
        self._check_replace(str(text), old, new)
        return str(text).replace(str(old), str(new), count)

    def _join(self, parts: Iterable[Any], separator: str = "") -> str:
        texts = [str(part) for part in parts]
        self._check_join(texts, separator)
        return separator.join(texts)

    def _bounded(self, function: Any) -> Any:
        if hasattr(function, "jinja_pass_arg") or hasattr(function, "jinja_async_variant"):
            return function  # takes the environment or context; none of these lengthens its input

        def wrapped(*arguments: Any, **named: Any) -> Any:
            return self.bounded(function(*arguments, **named))

        return wrapped


def _is_within(limit: int, number: Any) -> bool:
    return isinstance(number, int | float) and abs(number) <= limit


def _bounded_range(*arguments: int) -> range:
    numbers = range(*arguments)
    if len(numbers) > _RANGE_LIMIT:
        raise SecurityError(f"a template may not count further than {_RANGE_LIMIT}")
    return numbers


def _to_json(value: Any, indent: int | None = None, ensure_ascii: bool = False, **_: Any) -> str:
    width = min(indent, 16) if isinstance(indent, int) else None
    return json.dumps(value, indent=width, ensure_ascii=bool(ensure_ascii))


def _raise_exception(message: str) -> Callable[..., Any]:
    raise jinja2.TemplateError(message)


def _strftime_now(layout: str) -> str:
    return datetime.datetime.now(datetime.UTC).astimezone().strftime(layout[:64])
