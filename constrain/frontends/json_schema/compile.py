"""`compile_schema`: from a JSON Schema to a grammar, in one pass over what can be reached.

    parse → read places into shapes → is the root inhabited? → emit rules → are `oneOf` branches disjoint?

If branches of a `oneOf` that could not be compared at once turn out to overlap, all is done again with those branches
excluded from each other. Problems are collected on the way and raised together at the end, so that one run names all of
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from constrain.errors import (
    EmptyLanguage,
    InvalidSpecification,
    LimitExceeded,
    Problem,
    UnsupportedKeyword,
)
from constrain.frontends.json_schema import dialects
from constrain.frontends.json_schema.build import Builder
from constrain.frontends.json_schema.document import parse
from constrain.frontends.json_schema.emit import Emitter
from constrain.frontends.json_schema.emptiness import Emptiness
from constrain.frontends.json_schema.options import SchemaOptions
from constrain.frontends.json_schema.overlaps import Overlaps, compare, overlapping
from constrain.frontends.json_schema.scopes import Shelf
from constrain.frontends.json_schema.shapes import ANYTHING, Child, ConstShape, ObjectShape
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
    error = builder.findings.error(with_unsupported=options.on_unsupported == "error")
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
        raise _empty(builder, settled.emptiness, settled.root)
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


def _empty(builder: Builder, emptiness: Emptiness, root: Child) -> EmptyLanguage:
    """The error for a root that nothing satisfies: follow what is needed down to a contradiction."""
    child, seen = root, set[Child]()
    while child not in seen:
        seen.add(child)
        path = builder.path_of(child)
        if path in builder.contradictions:
            break
        needed = [other for other in _needs(builder, child) if other and emptiness.is_empty(other)]
        if not needed:
            break
        child = next((other for other in needed if other not in seen), child)
    path = builder.path_of(child)
    said = builder.contradictions.get(path)
    if said is None:
        if child in (ANYTHING, root) and builder.shape_of(root).is_blank:
            said = "the schema allows no value"
        else:
            said = "every value would have to hold another one, without end, or what is required is forbidden"
    return EmptyLanguage(
        f"no value satisfies the schema: {said} at {path}", at=path, help="relax or remove one of the keywords there"
    )


def _needs(builder: Builder, child: Child) -> list[Child]:
    shape = builder.shape_of(child)
    found: list[Child] = []
    for record in (*shape.objects, *shape.arrays):
        if isinstance(record, ConstShape):
            continue
        if isinstance(record, ObjectShape):
            found += [record.members.get(name, record.extra) for name in record.required]
        else:
            found += [record.item(i) for i in range(min(record.min, len(record.prefix) + 1))]
    return found
