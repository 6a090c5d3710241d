"""`Specification`: what a text must be, whatever it was written in, and what can be asked of it without a model.

`json_schema`, `regex` and `python_type` make one from source; `coerce` takes whatever a user passes as `spec=`. A
specification is immutable and safe for many threads; its recogniser is built when it is first needed, under a lock.

Deliberately not here: vocabularies and masks (`matching/`).
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from constrain.errors import ConstrainError, EmptyLanguage, InvalidSpecification, ValidationFailed, shorten, shown
from constrain.explanation import Explanation, explain, with_cause, with_spelling
from constrain.grammar import sample as sampling
from constrain.grammar import terms
from constrain.report import Report

if TYPE_CHECKING:
    from constrain.frontends.json_schema.options import (
        Formats,
        KeyOrder,
        OnUnsupported,
        Spelling,
        Trust,
        Whitespace,
    )
    from constrain.frontends.json_schema.registry import Registry
    from constrain.grammar.recognizer import Recognizer
    from constrain.validation.verdict import Verdict

MIXED_DIALECT = "mixed"
"""No `$schema`: 2020-12 with the older forms that real schemas mix in. The judge reads it so by itself."""

SPELLINGS = (
    ("whitespace", "spaced"),
    ("whitespace", "pretty"),
    ("whitespace", "flexible"),
    ("key_order", "any"),
    ("numbers", "any"),
    ("escapes", "any"),
    ("spelling", "any"),
)
"""The options that an explanation tries on a text whose value is valid, the narrowest first."""

Kind = Literal["json_schema", "regex", "python_type", "grammar"]


@dataclass(frozen=True, eq=False)
class Specification:
    """A compiled front end's result.

    kind      what it was written in; `source` is that: the parsed schema, the pattern, the type.
    grammar   the terms that the kernel compiles.      report   what became of each constraint.
    dialect   JSON Schema: the dialect read as; regex: "python" or "ecma".
    check     text → value, for what a grammar cannot say; raises ValidationFailed.
    respelt   the same specification under other spelling options, for explanations.
    """

    kind: Kind
    source: Any
    grammar: terms.GrammarSpec
    report: Report = field(default_factory=Report)
    dialect: str = ""
    formats: str = "known"
    check: Callable[[str], Any] | None = None
    schema: Any = None
    registry: Mapping[str, Any] | None = None
    base_uri: str = ""
    respelt: Callable[..., Specification] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _made: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def recognizer(self) -> Recognizer:
        """The automaton over all bytes. Raises: EmptyLanguage, LimitExceeded."""
        from constrain.grammar.recognizer import Recognizer

        with self._lock:
            if "recognizer" not in self._made:
                made = Recognizer(self.grammar)
                if made.is_empty:
                    raise EmptyLanguage("no text satisfies the specification", help="loosen what contradicts itself")
                self._made["recognizer"] = made
            return self._made["recognizer"]

    def accepts(self, text: str | bytes) -> bool:
        """Whether `text` is exactly what is asked for: form only, without the checks made afterwards.

        Cost: O(len(text)); the first call builds the automaton.
        """
        try:
            spelled = _utf8(text)
        except UnicodeEncodeError:  # a lone surrogate is in no text
            return False
        return self.recognizer.accepts(spelled)

    def explain(self, text: str | bytes) -> Explanation:
        """Where `text` leaves the specification, what could have stood there, and for a whole JSON text the cause.

        Cost: O(len(text)); for a JSON text that is not accepted, the judge's too, and if that finds its value valid,
        compiling under each spelling option until one accepts it.
        """
        found = explain(self.recognizer, text, is_json=self.kind in ("json_schema", "python_type"))
        if found.accepted or self.schema is None or not _is_json(text):
            return found
        try:
            failures = self._judged(text).failures
        except ConstrainError:  # what the judge cannot read is still told by its place
            return found
        if failures:
            return with_cause(found, failures)
        narrower = [entry for entry in self.report if entry.direction == "narrower"]
        return with_spelling(found, self._taken_by(text), narrower)

    def _taken_by(self, text: str | bytes) -> str:
        """The spelling option that accepts `text`, as it is written in Python; "" if there is none."""
        if self.respelt is None:
            return ""
        for name, value in SPELLINGS:
            try:
                if self.respelt(name, value).accepts(text):
                    return f'{name}="{value}"'
            except ConstrainError:  # a wider spelling may meet a limit
                continue
        return ""

    def _judged(self, text: str | bytes) -> Verdict:
        """The judge's verdict of a finished text."""
        from constrain.validation import json_schema as judge

        return judge.validate(
            self.schema,
            text,
            dialect=None if self.dialect in ("", MIXED_DIALECT) else self.dialect,
            registry=self.registry,
            base_uri=self.base_uri,
            formats="annotation" if self.formats == "annotation" else "known",
        )

    def sample(self, seed: int = 0, *, length: int = sampling.LENGTH) -> str:
        """A random text that satisfies the specification; the same for the same seed. After about `length` bytes it is
        finished the shortest way. Raises: InvalidSpecification: a seed or a length that is no whole number."""
        for name, value in (("seed", seed), ("length", length)):
            if isinstance(value, bool) or not isinstance(value, int) or (name == "length" and value < 0):
                raise InvalidSpecification(f"{name}={shorten(shown(value))}", expected="a whole number")
        return sampling.sample(self.recognizer, seed, length=length)

    def parse(self, text: str) -> Any:
        """The value of a finished text: parsed JSON, the value of the Python type, or the text itself.

        Raises:  ValidationFailed: the text is not JSON, or a number or nesting in it is beyond what Python reads.
        """
        if not isinstance(text, str):
            raise InvalidSpecification(f"a text is str, not {type(text).__name__}")
        if self.check is not None:
            return self.check(text)
        return _parsed(text) if self.kind == "json_schema" else text

    def validate(self, text: str) -> None:
        """Judge a finished text independently of the grammar. Raises: ValidationFailed, with every reason.

        What a mask enforced and the judge refuses is a defect of ours; either way it is never returned as valid.
        """
        if not isinstance(text, (str, bytes)):
            raise InvalidSpecification(f"a text is str or bytes, not {type(text).__name__}")
        if self.schema is not None:
            verdict = self._judged(text)
            if not verdict.ok:
                raise ValidationFailed(
                    f"the text does not satisfy the schema: {verdict.failures[0].message}",
                    text=text,
                    failures=verdict.failures,
                    at=verdict.failures[0].path or None,
                )
        elif not self.accepts(text):
            found = self.explain(text)
            raise ValidationFailed(
                "the text does not match", text=text, failures=(found,), at=f"line {found.line}, column {found.column}"
            )
        if self.check is not None:
            self.check(text)


def _is_json(text: object) -> bool:
    """True for a whole JSON text that Python can read."""
    if not isinstance(text, (str, bytes)):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _parsed(text: str) -> Any:
    """A JSON text's value; a float that would become infinite is refused, not changed."""
    try:
        return json.loads(text, parse_float=_finite)
    except RecursionError:
        raise ValidationFailed("the text nests deeper than Python's JSON reader goes", text=text, failures=()) from None
    except json.JSONDecodeError as error:
        raise ValidationFailed(
            f"the text is not JSON: {error.msg}",
            text=text,
            failures=(),
            at=f"line {error.lineno}, column {error.colno}",
        ) from None
    except ValueError as error:
        raise ValidationFailed(f"a number cannot be read: {shorten(str(error))}", text=text, failures=()) from None


def _finite(number: str) -> float:
    value = float(number)
    if math.isinf(value):
        raise ValueError(f"{shorten(number)} is beyond the largest float")
    return value


def _utf8(text: str | bytes) -> bytes:
    if isinstance(text, str):
        return text.encode()
    if isinstance(text, (bytes, bytearray, memoryview)):
        return bytes(text)
    raise InvalidSpecification(f"a text is str or bytes, not {shorten(type(text).__name__)}")


def json_schema(
    schema: Mapping[str, Any] | bool | str | bytes,
    key_order: KeyOrder | None = None,
    whitespace: Whitespace | None = None,
    numbers: Spelling | None = None,
    escapes: Spelling | None = None,
    formats: Formats = "known",
    dialect: str | None = None,
    registry: Registry | None = None,
    on_unsupported: OnUnsupported = "error",
    trust: Trust = "trusted",
    *,
    spelling: Spelling | None = None,
    base_uri: str = "",
) -> Specification:
    """JSON texts that satisfy `schema`: a dict, a bool, or JSON text.

    Args:    key_order: "declared" (default) or "any". whitespace: "compact" (default), "spaced" as `json.dumps` writes,
             "pretty", "flexible". numbers, escapes: "canonical" (default) or "any". spelling="any" is short for the
             widest of these four. formats: "known" enforces those we know, "annotation" none, "all" refuses unknown
             ones. dialect: "draft4" to "draft2020-12", where no `$schema` says otherwise. registry: documents that
             references may lead to, {uri: schema} or a folder of .json files; nothing is ever fetched.
             on_unsupported: "error", or "warn" to compile the wider language and report it. trust: "untrusted" reads
             no files. base_uri: where relative references start. See `SchemaOptions`.
    Raises:  ReferenceNotFound, PatternError, UnsupportedKeyword: one of them for all that was found (`.problems`).
             InvalidSpecification, EmptyLanguage, LimitExceeded: each with the JSON pointer.
    Cost:    linear in the part of the schema that can be reached.
    """
    from constrain.frontends.json_schema import SchemaOptions, compile_schema

    if isinstance(schema, (bytes, bytearray)):
        try:
            schema = bytes(schema).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InvalidSpecification("the schema is not UTF-8", at=f"byte {error.start}") from None
    spelt = {"key_order": key_order, "whitespace": whitespace, "numbers": numbers, "escapes": escapes}
    chosen = SchemaOptions.from_spelling(
        spelling,
        **{name: value for name, value in spelt.items() if value is not None},
        formats=formats,
        dialect=dialect,
        registry=registry,
        on_unsupported=on_unsupported,
        trust=trust,
        base_uri=base_uri,
    )
    compiled = compile_schema(schema, chosen)

    def respelt(name: str, value: str) -> Specification:
        """The same schema under another spelling option."""
        read = {k: getattr(chosen, k) for k in ("formats", "dialect", "registry", "on_unsupported", "base_uri")}
        written = {} if name == "spelling" else {k: getattr(chosen, k) for k in spelt}
        return json_schema(compiled.schema, **{**read, **written, name: value})

    return Specification(
        "json_schema",
        compiled.schema,
        compiled.grammar,
        compiled.report,
        dialect=compiled.dialect,
        formats=chosen.formats,
        schema=compiled.schema,
        registry=chosen.documents or None,
        base_uri=base_uri,
        respelt=respelt,
    )


def regex(pattern: str, dialect: Literal["python", "ecma"] = "python") -> Specification:
    """Texts that `pattern` matches as a whole.

    Args:    dialect: "python" (as `re` reads str patterns) or "ecma" (ECMA-262 with the `u` flag).
    Raises:  PatternError: it does not parse, or cannot be enforced (back references, …), with the position.
             EmptyLanguage: nothing matches. LimitExceeded.
    """
    from constrain.frontends.regex import parse
    from constrain.grammar.regular import is_empty

    if not isinstance(pattern, str):
        raise InvalidSpecification(
            f"a pattern is a str, not {type(pattern).__name__}", help="pass the pattern's text, not a compiled pattern"
        )
    term = parse(pattern, dialect=dialect, mode="fullmatch")
    if is_empty(term):
        raise EmptyLanguage(f"no text matches the pattern {shorten(pattern)!r}")
    return Specification("regex", pattern, terms.GrammarSpec({"start": terms.Lexeme(term, "pattern")}), dialect=dialect)


def python_type(type_: Any, **options: Any) -> Specification:
    """JSON texts of a Python type: a Pydantic model, dataclass, TypedDict, Literal, Enum, union, `set[int]`, ….

    Options are those of `json_schema`. Custom validators are business rules: reported, and checked afterwards.
    Raises:  MissingExtra: without pydantic. InvalidSpecification: a type that no JSON can spell. As `json_schema`.
    """
    from constrain.frontends.python_types import schema_of
    from constrain.report import Entry

    python = schema_of(type_)
    base = json_schema(python.schema, **{"dialect": "draft2020-12", **options})
    rules = tuple(
        Entry(rule.path, rule.name, "annotation", f"business rule, checked afterwards: {rule.description or rule.name}")
        for rule in python.rules
    )
    return Specification(
        "python_type",
        type_,
        base.grammar,
        Report(base.report.entries + rules),
        dialect=base.dialect,
        formats=base.formats,
        check=python.validate,
        schema=base.schema,
        registry=base.registry,
        base_uri=base.base_uri,
        respelt=base.respelt,
    )


def coerce(spec: Any, **options: Any) -> Specification:
    """A `Specification` of whatever a user passes as `spec=`: one already, a schema (dict or bool), or a Python type.

    Raises:  InvalidSpecification: anything else, saying what to call instead.
    """
    if isinstance(spec, Specification):
        return spec
    if isinstance(spec, (Mapping, bool)):
        return json_schema(spec, **options)
    if isinstance(spec, (str, bytes)):
        raise InvalidSpecification(
            f"spec={shorten(spec)!r} could be a schema's text or a pattern",
            help="pass constrain.json_schema(text) or constrain.regex(pattern)",
        )
    return python_type(spec, **options)
