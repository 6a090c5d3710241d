"""The table of rules: every code that linting a JSON Schema may give, once; the guide's table is made from it.

`found` makes a finding of a rule. Codes of errors (`EmptyLanguage`, …) are the names of their classes: not here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from constrain.linting.finding import Finding, Severity


@dataclass(frozen=True, slots=True)
class Rule:
    """`about` says what is found; `only_strict`: looked for only when asked to be strict."""

    code: str
    severity: Severity
    about: str
    only_strict: bool = False


_KEYWORDS = (
    Rule(
        "misspelt-keyword", "warning", "a keyword that does not exist, one edit, case or mark away from one that does"
    ),
    Rule("misspelt-annotation", "note", "the same, where what was meant only describes"),
    Rule(
        "foreign-keyword",
        "warning",
        "a keyword of OpenAPI or of draft 3 that asserts something there, and nothing here",
    ),
    Rule(
        "borrowed-keyword", "warning", "what other tools call a keyword, such as `regex` for `pattern`: it is ignored"
    ),
    Rule("unknown-keyword", "note", "a keyword that no dialect has"),
    Rule("other-dialect-keyword", "warning", "an assertion of another dialect than the schema names: it is ignored"),
    Rule("wrong-type-keyword", "warning", "a keyword of a type that `type` excludes, such as `minimum` on a string"),
    Rule("no-effect", "warning", "a keyword that says nothing without another one, such as `then` without `if`"),
    Rule(
        "ignored-beside-ref", "warning", "an assertion beside `$ref`, in a dialect that ignores what stands beside it"
    ),
    Rule("old-form", "note", "no `$schema`, and a form that only older dialects have"),
    Rule("duplicate-type", "note", "a type that is named twice, or `integer` beside `number`"),
    Rule("misspelt-format", "warning", "a format that does not exist, close to one that does"),
    Rule("unknown-format", "note", "a format that is not enforced"),
    Rule("deep-nesting", "note", "values nested more than 24 levels deep"),
)
_OBJECTS = (
    Rule("duplicate-required", "warning", "a name that stands in `required` twice"),
    Rule(
        "forbidden-required",
        "warning",
        "a required name that `additionalProperties: false` forbids, there or beside it",
    ),
    Rule("forbidden-property", "warning", "declared members that `additionalProperties: false` of a sibling forbids"),
    Rule("misspelt-required", "warning", "a required name that is not declared, one edit away from one that is"),
    Rule("undeclared-required", "note", "a required name that is not declared where others are"),
)
_VALUES = (
    Rule("duplicate-enum", "warning", "a value that stands in `enum` twice"),
    Rule("excluded-enum-value", "warning", "a value of `enum` that its siblings exclude"),
    Rule("invalid-default", "warning", "a `default` that its own schema excludes"),
    Rule("invalid-example", "warning", "a value of `examples` that its own schema excludes"),
    Rule("unsatisfiable", "warning", "a schema that no value satisfies; an optional member that can never be written"),
    Rule("dead-branch", "warning", "a branch of `anyOf` or `oneOf` that can never be the one"),
    Rule("redundant-branch", "note", "a branch of `anyOf` that another one covers"),
    Rule("overlapping-branches", "note", "branches of `oneOf` that share scalars, which are therefore refused"),
)
_STRINGS = (
    Rule("pattern-matches-nothing", "warning", "a pattern that no string matches"),
    Rule("pattern-matches-all", "note", "a pattern that every string matches"),
    Rule(
        "foreign-pattern", "warning", "a piece of a pattern that means something else in Python or Perl, such as `\\Z`"
    ),
    Rule("old-pattern", "note", "a pattern that is read without the flag `u`, since it does not parse with it"),
    Rule("unanchored-pattern", "note", "a pattern without anchors, which is searched for, not matched as a whole"),
    Rule("unbounded-string", "note", "a string without an upper bound of its length", only_strict=True),
    Rule("unbounded-array", "note", "an array without `maxItems`", only_strict=True),
)
_REFERENCES = (Rule("unreachable-definition", "note", "a definition that no reference leads to"),)

RULES: Mapping[str, Rule] = {rule.code: rule for rule in (*_KEYWORDS, *_OBJECTS, *_VALUES, *_STRINGS, *_REFERENCES)}


def found(code: str, at: str, message: str, *, keyword: str | None = None, help: str | None = None) -> Finding:
    """A finding of the rule `code` at the JSON pointer `at`."""
    return Finding(code, RULES[code].severity, message, at=at, keyword=keyword, help=help)
