"""The rules of JSON Schema, in order: first what the text alone shows, then what the shapes of its places show.

`schema_findings` never raises for what a schema holds, and ends: places, values and pairs of branches are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from constrain.errors import ConstrainError
from constrain.frontends.json_schema.options import SchemaOptions
from constrain.frontends.json_schema.questions import Questions, settled, shelf_of
from constrain.frontends.json_schema.scopes import Shelf
from constrain.linting.branch_rules import Branches
from constrain.linting.finding import Finding
from constrain.linting.keyword_rules import keyword_findings, old_form_findings
from constrain.linting.object_rules import Names
from constrain.linting.places import Place, walk
from constrain.linting.profile import Profile
from constrain.linting.reference_rules import unreachable, unreachable_findings
from constrain.linting.string_rules import BOUNDED_BY, pattern_findings, unbounded_findings
from constrain.linting.value_rules import duplicate_findings, emptiness_finding, value_findings
from constrain.report import Report

MAX_ASKED_PLACES = 10_000
"""Places whose shape is asked for; a larger schema is linted by its text beyond them."""


def schema_findings(
    schema: Any, options: SchemaOptions, report: Report | None, profile: Profile | None, *, strict: bool
) -> list[Finding]:
    """Everything found in the parsed `schema`; `report` is that of its compilation, if it compiles."""
    try:
        shelf = shelf_of(schema, options)
        places = [*walk(schema, shelf.root)]
    except ConstrainError:  # a dialect that nobody knows: said by the compilation
        return []
    found = [*_of_text(places)]
    if report is not None:
        old = [(e.path, e.keyword, e.reason) for e in report if e.status == "enforced" and e.reason.startswith(_OLD)]
        found += old_form_findings(old)
    unreached = unreachable(places)
    found += unreachable_findings(places, unreached)
    of_shapes = _of_shapes(shelf, options, places, strict)
    found += [
        finding
        for finding in of_shapes
        if profile is None or finding.code not in BOUNDED_BY or profile.takes(BOUNDED_BY[finding.code])
    ]
    if profile is not None:
        found += profile.findings(places)
    return found


_OLD = ("a list, as before", "a boolean, as in", "as before")


def _of_text(places: Sequence[Place]) -> Iterator[Finding]:
    names = Names()
    for place in places:
        yield from keyword_findings(place)
        yield from names.findings(place)
        yield from duplicate_findings(place)
        yield from pattern_findings(place)


def _of_shapes(shelf: Shelf, options: SchemaOptions, places: Sequence[Place], strict: bool) -> list[Finding]:
    asked = [place for place in places if isinstance(place.schema, Mapping)][:MAX_ASKED_PLACES]

    def ask(questions: Questions) -> list[Finding]:
        plain = questions.with_formats("annotation")
        branches = Branches(questions)
        found: list[Finding] = []
        empty: dict[str, Finding] = {}
        for place in reversed(asked):  # what is inside first: then its holder is decided at once
            child = questions.child(place.schema, place.path, place.scope)
            finding = emptiness_finding(place, questions, child)
            if finding is not None:
                empty[place.path] = finding
                continue
            found += value_findings(place, questions, plain)
            found += branches.findings(place)
            if strict:
                found += unbounded_findings(place, questions, child)
        return [*found, *_innermost(empty, asked)]

    return settled(shelf, replace(options, formats="known"), ask) or []


def _innermost(empty: Mapping[str, Finding], places: Sequence[Place]) -> Iterator[Finding]:
    """The findings about empty schemas whose emptiness does not come from another one: in them, or referred to."""
    explained = set[str]()
    for place in places:
        if place.path not in empty:
            continue
        parent = place.parent
        while parent is not None and parent.path not in explained:
            explained.add(parent.path)
            parent = parent.parent
        reference = place.keywords.get("$ref")
        if isinstance(reference, str):
            try:
                target = place.scope.lookup(reference, place.path)[1]
            except ConstrainError:
                continue
            if target in empty and target != place.path:
                explained.add(place.path)
    for path, finding in empty.items():
        if path not in explained:
            yield finding
