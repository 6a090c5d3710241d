"""Questions about single places of a schema: is it empty, does it refuse a value, is it within another one?

Main type: `Questions`, for linting. Every answer errs on one side only: what is not enforced exactly is read more
widely, so "empty", "refused" and "within" are certain, and anything else is "not that I know". Questions never raise
for what a schema says; a place that cannot be read has no answers.

Branches of `oneOf` are compared at the end, as in a compilation, since whether they overlap may hang on places read
later: `settled` asks again with that known, until nothing changes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from constrain.errors import ConstrainError
from constrain.frontends.json_schema import dialects
from constrain.frontends.json_schema.build import Builder
from constrain.frontends.json_schema.compile import MAX_ROUNDS
from constrain.frontends.json_schema.emptiness import Emptiness
from constrain.frontends.json_schema.evaluate import belongs
from constrain.frontends.json_schema.formats import is_narrower
from constrain.frontends.json_schema.options import Formats, SchemaOptions
from constrain.frontends.json_schema.overlaps import Overlaps, overlapping
from constrain.frontends.json_schema.scopes import Scope, Shelf
from constrain.frontends.json_schema.shapes import Child, Shape, conjoin
from constrain.frontends.json_schema.spelling import number_term
from constrain.frontends.json_schema.values import freeze
from constrain.grammar import regular

_Answers = TypeVar("_Answers")


class Questions:
    """What can be asked of the places of one schema. Not shared between threads."""

    def __init__(self, shelf: Shelf, options: SchemaOptions, overlaps: Mapping[str, Overlaps]):
        self._builder = Builder(shelf, replace(options, on_unsupported="warn"), overlaps)
        self._builder.findings.raises = True
        self._emptiness = Emptiness(self._builder)
        self._parts: dict[tuple[int, tuple[str, ...]], Mapping[str, Any]] = {}
        self._kept: list[Mapping[str, Any]] = []

    def without(self, schema: Mapping[str, Any], *keywords: str) -> Mapping[str, Any]:
        """`schema` less some keywords: the same object for the same question."""
        key = (id(schema), keywords)
        if key not in self._parts:
            self._kept.append(schema)
            self._parts[key] = {name: value for name, value in schema.items() if name not in keywords}
        return self._parts[key]

    def child(self, schema: Any, path: str, scope: Scope) -> Child | None:
        """What `schema`, standing at `path`, denotes; None if it cannot be read."""
        try:
            child = self._builder.child(schema, path, scope)
            self._builder.shape_of(child)
            return child
        except (ConstrainError, RecursionError):
            return None

    def shape(self, child: Child) -> Shape:
        """The shape of a child that can be read."""
        return self._builder.shape_of(child)

    def is_empty(self, child: Child | None) -> bool:
        """True if certainly no value satisfies `child`."""
        if child is None:
            return False
        try:
            return self._emptiness.is_empty(child)
        except (ConstrainError, RecursionError):
            return False

    def is_disjoint(self, left: Child | None, right: Child | None) -> bool:
        """True if certainly no value satisfies both."""
        return left is not None and right is not None and self.is_empty(conjoin(left, right))

    def is_seen_disjoint(self, left: Child, right: Child) -> bool:
        """True if the types and constants that both name show that no value satisfies both. Cheap."""
        return self._builder.is_dead(conjoin(left, right))

    def is_within(self, inner: Child | None, outer: Child | None) -> bool:
        """True if certainly every value of `inner` satisfies `outer`."""
        if inner is None or outer is None or self._is_narrower(inner):
            return False
        return self.is_empty(conjoin(inner, self._builder.negate(outer)))

    def shared_scalar(self, left: Child, right: Child, beside: Child) -> str | None:
        """The JSON text of a scalar of both (and `beside`), unless one is not read exactly, or neither names types."""
        try:
            shapes = self.shape(left), self.shape(right)
            if not all(shape.exact for shape in shapes) or all(_has_all_types(shape) for shape in shapes):
                return None
            shape = self._builder.shape_of(conjoin(conjoin(left, right), beside))
            found = ["null"] if shape.null else [str(value).lower() for value in shape.booleans]
            for term in (number_term(record, "canonical") for record in shape.numbers):
                found += [text for text in [regular.witness(term)] if text is not None]
            for term in (record.term() for record in shape.strings):
                found += [json.dumps(text, ensure_ascii=False) for text in [regular.witness(term)] if text is not None]
            return found[0] if found else None
        except (ConstrainError, RecursionError):
            return None

    def refuses(self, child: Child | None, value: Any) -> bool:
        """True if the parsed JSON `value` certainly does not satisfy `child` (but for formats known in part only)."""
        if child is None:
            return False
        try:
            return not belongs(freeze(value, "#"), child, self._builder.shape_of)
        except (ConstrainError, RecursionError):
            return False

    def reason(self, path: str) -> str | None:
        """Why the place at `path` allows nothing, where one sentence says it."""
        return self._builder.contradictions.get(path)

    def with_formats(self, formats: Formats) -> Questions:
        """The same schema, asked with another option `formats`."""
        return Questions(self._builder.shelf, replace(self._builder.options, formats=formats), self._builder.overlaps)

    def overlaps(self) -> dict[str, Overlaps]:
        """The `oneOf`s read so far, by place, with branches that may share a value, and which."""
        return overlapping(self._builder, self._emptiness)

    def _is_narrower(self, child: Child) -> bool:
        return any(is_narrower(part) for record in self.shape(child).strings for part in record.parts)


def _has_all_types(shape: Shape) -> bool:
    return bool(shape.null and shape.booleans and shape.numbers and shape.strings and shape.arrays and shape.objects)


def shelf_of(schema: Any, options: SchemaOptions) -> Shelf:
    """Where the places of `schema` stand. Raises: InvalidSpecification: its dialect is not known."""
    default = dialects.DIALECTS[options.dialect] if options.dialect else dialects.MIXED
    return Shelf(schema, default, options.documents, options.base_uri)


def settled(shelf: Shelf, options: SchemaOptions, ask: Callable[[Questions], _Answers]) -> _Answers | None:
    """What `ask` answers when all overlaps are known; None if that cannot be found out."""
    overlaps: dict[str, Overlaps] = {}
    for _ in range(MAX_ROUNDS):
        questions = Questions(shelf, options, overlaps)
        answers = ask(questions)
        try:
            found = questions.overlaps()
        except (ConstrainError, RecursionError):
            return None
        if not found:
            return answers
        overlaps |= found
    return None
