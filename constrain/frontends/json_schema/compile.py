"""`compile_schema`: from a JSON Schema to a grammar, in one pass over what can be reached.

    parse → read places into shapes → is the root inhabited? → emit rules → are `oneOf` branches disjoint?

If branches of a `oneOf` that could not be compared at once turn out to overlap, all is done again with those branches
excluded from each other. Problems are collected on the way and raised together at the end, so that one run names all of
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from constrain.errors import (
    ConstrainError,
    InvalidSpecification,
    LimitExceeded,
    Problem,
    UnsupportedKeyword,
)
from constrain.frontends.json_schema import dialects
from constrain.frontends.json_schema.build import Builder
from constrain.frontends.json_schema.contradictions import why_empty
from constrain.frontends.json_schema.document import parse
from constrain.frontends.json_schema.emit import Emitter
from constrain.frontends.json_schema.emptiness import Emptiness
from constrain.frontends.json_schema.options import SchemaOptions
from constrain.frontends.json_schema.overlaps import Overlaps, compare, overlapping
from constrain.frontends.json_schema.scopes import Shelf
from constrain.frontends.json_schema.shapes import Child
from constrain.frontends.json_schema.spelling import Spelling
from constrain.frontends.json_schema.values import as_json
from constrain.grammar.terms import GrammarSpec
from constrain.report import Report

MAX_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class CompiledSchema:
    """A schema as a grammar, with what became of each keyword; `schema` as parsed, `dialect` as read."""

    grammar: GrammarSpec
    report: Report
    schema: Any
    dialect: str


def compile_schema(schema: Mapping[str, Any] | bool | str, options: SchemaOptions | None = None) -> CompiledSchema:
    """The grammar of the JSON texts that satisfy `schema` (a dict, a bool, or JSON text).

    Raises:  InvalidSpecification: not JSON, a keyword with a malformed value, a reference cycle that never descends.
             UnsupportedKeyword: constraints that cannot be enforced (unless on_unsupported="warn").
             ReferenceNotFound, PatternError: with the pointer of the place.
             These three are one error that lists all that was found, as its `problems`; a reference that leads nowhere
             gives it its class before a pattern, and that before a constraint.
             EmptyLanguage: no value satisfies the schema.
             LimitExceeded: nested too deep, too many alternatives, numbers too long.
    Cost:    linear in the schema's reachable part, save for `allOf` of `anyOf`, which multiply under a limit.
    """
    options = options or SchemaOptions()
    settled = settle(parse(schema) if isinstance(schema, str) else schema, options)
    builder = settled.builder
    collects = options.on_unsupported == "error"
    if settled.grammar is None or builder.findings.error(with_unsupported=collects):
        with suppress(ConstrainError):  # all that is wrong is to be named at once, also what was not needed so far
            builder.read_all()
    error = builder.findings.error(with_unsupported=collects)
    if error is not None:
        raise error
    if settled.grammar is None and builder.left_out:
        help = "allow other arrays too, or demand the repeated item by its value"
        raise UnsupportedKeyword(
            [
                Problem(at, "not", f"{reason}, and nothing else is allowed", help)
                for at, reason in builder.left_out.items()
            ]
        )
    if settled.grammar is None:
        raise why_empty(builder, settled.emptiness, settled.root)
    return CompiledSchema(
        settled.grammar, builder.findings.report(), builder.shelf.schema, builder.shelf.root.dialect.name
    )


@dataclass(frozen=True, slots=True)
class Settled:
    """A schema read to the end: its shapes, what is inhabited, its grammar (None: nothing satisfies it)."""

    builder: Builder
    emptiness: Emptiness
    root: Child
    grammar: GrammarSpec | None


def settle(schema: Any, options: SchemaOptions) -> Settled:
    """Read the parsed `schema` until no `oneOf` holds branches whose overlap is not accounted for.

    Raises:  as `compile_schema`, save for UnsupportedKeyword and EmptyLanguage.
    """
    if not isinstance(schema, (bool, Mapping)):
        raise InvalidSpecification(
            f"the schema is {as_json(schema)}", at="#", expected="an object, true or false, or JSON text"
        )
    default = dialects.DIALECTS[options.dialect] if options.dialect else dialects.MIXED
    overlaps: dict[str, Overlaps] = {}
    try:
        shelf = Shelf(schema, default, options.documents, options.base_uri)
        for _ in range(MAX_ROUNDS):
            builder = Builder(shelf, options, overlaps)
            emptiness = Emptiness(builder)
            builder.judge = partial(compare, builder, emptiness)
            root = builder.child(schema, "#", shelf.root)
            grammar: GrammarSpec | None = None
            if emptiness.inhabited(root):
                grammar = Emitter(builder, emptiness, Spelling(options)).grammar(root)
            found = {} if builder.findings.faults else overlapping(builder, emptiness)
            if not found:
                return Settled(builder, emptiness, root, grammar)
            overlaps |= found
    except RecursionError:
        raise LimitExceeded("the schema nests too deep", limit="schema_depth", at="#") from None
    raise LimitExceeded(
        f"the branches of 'oneOf' still overlap after {MAX_ROUNDS} rounds",
        limit="one_of_rounds",
        at=next(iter(overlaps)),
        help="tell the branches apart by a required 'const'",
    )
