"""Rules about patterns, and about strings and arrays that nothing keeps from running on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from constrain.errors import ConstrainError, shorten
from constrain.frontends import regex
from constrain.frontends.json_schema.questions import Questions
from constrain.frontends.json_schema.shapes import ArrayShape, Child
from constrain.grammar import regular
from constrain.grammar.terms import Not
from constrain.linting.finding import Finding
from constrain.linting.object_rules import parsed
from constrain.linting.places import Place
from constrain.linting.rules import found

ANCHORS = re.compile(r"(?<!\\)(?:\\\\)*(?:[\^$]|\\[bB]|\(\?[=!<])")
REPEATED_CLASS = re.compile(r"(?:\]|\\[dws]|\))(?:[+*]|\{\d+(?:,\d*)?\})")

BOUNDED_BY = {"unbounded-string": "maxLength", "unbounded-array": "maxItems"}
"""The keyword that the help of a finding advises."""


def pattern_findings(place: Place) -> Iterator[Finding]:
    """What each pattern of one schema matches."""
    text = place.keywords.get("pattern")
    if isinstance(text, str):
        yield from _pattern(text, place.path, "pattern", "string")
        if not ANCHORS.search(text) and REPEATED_CLASS.search(text) and not text.startswith(".*"):
            yield found(
                "unanchored-pattern", place.path,
                f"the pattern {shorten(repr(text))} has no anchor: it is enough that it matches somewhere",
                keyword="pattern", help=f"write {shorten('^(?:' + text + ')$')!r} if the whole string is meant",
            )  # fmt: skip
    patterns = place.keywords.get("patternProperties")
    if isinstance(patterns, Mapping):
        for text in patterns:
            if isinstance(text, str):
                yield from _pattern(text, place.at("patternProperties", text), None, "name")


def _dialect(pattern: regex.ParsedPattern, text: str, at: str, keyword: str | None) -> Iterator[Finding]:
    """What is read otherwise than meant elsewhere; or else, that the pattern is of an old kind."""
    for trap in pattern.traps:
        yield found("foreign-pattern", at, f"in the pattern {shorten(repr(text))}, {trap}", keyword=keyword,
                    help=trap.help)  # fmt: skip
    if pattern.annex_b and not pattern.traps:
        yield found("old-pattern", at, f"the pattern {shorten(repr(text))} is {pattern.notes[0]}", keyword=keyword,
                    help="correct it, so that every reader of ECMA-262 takes it alike")  # fmt: skip


def _pattern(text: str, at: str, keyword: str | None, what: str) -> Iterator[Finding]:
    pattern = parsed(text)
    if pattern is None:
        return
    yield from _dialect(pattern, text, at, keyword)
    term = pattern.regular
    try:
        nothing, everything = regular.is_empty(term), regular.is_empty(Not(term))
    except ConstrainError:
        return
    if nothing:
        yield found("pattern-matches-nothing", at, f"no {what} matches the pattern {shorten(repr(text))}",
                    keyword=keyword, help="correct it: '^' after, or '$' before a character cannot match")  # fmt: skip
    elif everything:
        instead = "remove it" if what == "string" else "use 'additionalProperties'"
        yield found("pattern-matches-all", at, f"every {what} matches the pattern {shorten(repr(text))}",
                    keyword=keyword,
                    help=f"{instead}, or anchor it with '^' and '$' if the whole {what} is meant")  # fmt: skip


def unbounded_findings(place: Place, questions: Questions, child: Child | None) -> Iterator[Finding]:
    """Strings and arrays without an upper bound, where the schema itself says that they are allowed."""
    if child is None or not isinstance(place.keywords.get("type"), (str, list)):
        return
    shape, declared = questions.shape(child), place.keywords["type"]
    names = [declared] if isinstance(declared, str) else declared
    if "string" in names and any(_is_unbounded(record.term(), record.max) for record in shape.strings):
        yield found("unbounded-string", place.path, "nothing bounds the length of the string", keyword="type",
                    help="add 'maxLength', so that a model cannot run on")  # fmt: skip
    if "array" in names and any(isinstance(record, ArrayShape) and _runs_on(record) for record in shape.arrays):
        yield found("unbounded-array", place.path, "nothing bounds the number of items", keyword="type",
                    help="add 'maxItems', so that a model cannot run on")  # fmt: skip


def _is_unbounded(term: regular.t.Regular, most: int | None) -> bool:
    return most is None and regular.length_bounds(term)[1] is None


def _runs_on(record: ArrayShape) -> bool:
    return record.max is None and record.rest != (0,)
