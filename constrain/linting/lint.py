"""`lint` and `examine`: everything that can be said of a specification without using it.

    constrain.lint(schema)                               findings, in document order
    constrain.lint(schema, profile="openai-strict")      and what that service would refuse

A specification given as text has findings with line and column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from constrain.errors import ConstrainError, InvalidSpecification, shorten
from constrain.linting.compiled import AT_POSITION, error_findings, report_findings
from constrain.linting.finding import Finding
from constrain.linting.openai_strict import OPENAI_STRICT
from constrain.linting.positions import LINE_AND_COLUMN, Position, child_pointer, locate, position_at
from constrain.linting.profile import Profile
from constrain.report import Report

PROFILES: Mapping[str, Profile] = {profile.name: profile for profile in (OPENAI_STRICT,)}


@dataclass(frozen=True, slots=True)
class Examined:
    """All findings about one specification, and its report; None if it does not compile."""

    findings: tuple[Finding, ...]
    report: Report | None


def lint(
    schema: Mapping[str, Any] | bool | str | bytes,
    profile: str | Profile | None = None,
    *,
    strict: bool = False,
    **options: Any,
) -> tuple[Finding, ...]:
    """What `schema` (a dict, a bool, or JSON text) says that can hardly be meant, in document order.

    Args:    profile: a hosted service whose rules count too: "openai-strict", or a record of your own. strict: look for
             what only matters to the strict, such as strings without `maxLength`. options: those of `json_schema`.
    Raises:  InvalidSpecification: an option or a profile that does not exist. What is wrong with the schema is found,
             not raised.
    Cost:    that of compiling the schema, and of asking each of its places whether it is empty.
    """
    return examine(schema, options, profile=profile_of(profile), strict=strict).findings


def profile_of(profile: str | Profile | None) -> Profile | None:
    """The record called `profile`. Raises: InvalidSpecification: there is none."""
    if profile is None or isinstance(profile, Profile):
        return profile
    if profile not in PROFILES:
        raise InvalidSpecification(
            f"there is no profile {shorten(repr(profile))}", expected="one of " + ", ".join(map(repr, PROFILES))
        )
    return PROFILES[profile]


def examine(
    schema: Mapping[str, Any] | bool | str | bytes,
    options: Mapping[str, Any],
    *,
    profile: Profile | None = None,
    strict: bool = False,
) -> Examined:
    """Compile a JSON Schema and lint it."""
    from constrain.frontends.json_schema import SchemaOptions
    from constrain.frontends.json_schema.document import parse
    from constrain.linting.json_schema import schema_findings
    from constrain.specification import json_schema

    spelling = options.get("spelling")
    chosen = SchemaOptions.from_spelling(spelling, **{k: v for k, v in options.items() if k != "spelling"})
    try:
        if isinstance(schema, (bytes, bytearray)):
            schema = bytes(schema).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        fault = InvalidSpecification("the schema is not UTF-8", at=f"byte {error.start}")
        return Examined(tuple(error_findings(fault)), None)
    try:
        report = json_schema(schema, **{**options, "registry": chosen.registry}).report
        examined = Examined(tuple(report_findings(report)), report)
    except ConstrainError as error:
        examined = Examined(tuple(error_findings(error)), None)
    try:
        parsed = parse(schema) if isinstance(schema, str) else schema
    except ConstrainError:
        return _placed(examined, schema)
    found = [*examined.findings]
    said = {finding.at for finding in found}
    found += [
        finding
        for finding in schema_findings(parsed, chosen, examined.report, profile, strict=strict)
        if not (finding.code == "unsatisfiable" and finding.at in said)
    ]
    return _placed(Examined(tuple(found), examined.report), schema)


# ---------------------------------------------------------------- places in the text


def _placed(examined: Examined, schema: object) -> Examined:
    """The same findings in document order; with line and column, if the schema is text."""
    findings = placed(examined.findings, schema) if isinstance(schema, str) else examined.findings
    order = _document_order(findings, schema)
    return Examined(tuple(sorted(findings, key=order)), examined.report)


def placed(findings: Sequence[Finding], text: str, *, is_pattern: bool = False) -> list[Finding]:
    """`findings` with line and column in `text`: of the keyword, else of the schema that holds it.

    In a pattern, of the position.
    """
    if is_pattern:
        return [_at(finding, _in_pattern(finding, text)) for finding in findings]
    pointers = {pointer for finding in findings for pointer in _pointers(finding)}
    found = locate(text, pointers)
    return [_at(finding, _position(finding, found)) for finding in findings]


def _in_pattern(finding: Finding, pattern: str) -> Position | None:
    if finding.at is None or not finding.at.startswith(AT_POSITION):
        return None
    return position_at(pattern, int(finding.at.removeprefix(AT_POSITION)))


def _pointers(finding: Finding) -> list[str]:
    """Where to look for a finding, the best place first; without `#`, since names are not percent-encoded in them."""
    if finding.at is None or not finding.at.startswith("#"):
        return []
    pointer = finding.at[1:]
    return [*([child_pointer(pointer, finding.keyword)] if finding.keyword is not None else []), pointer]


def _position(finding: Finding, found: Mapping[str, Position]) -> Position | None:
    if finding.at is not None and (numbers := LINE_AND_COLUMN.search(finding.at)) is not None and finding.at[0] != "#":
        line, column = (int(number) for number in numbers.groups() if number is not None)
        return Position(line, column)
    return next((found[pointer] for pointer in _pointers(finding) if pointer in found), None)


def _at(finding: Finding, place: Position | None) -> Finding:
    if place is None or finding.line is not None:
        return finding
    return replace(finding, line=place.line, column=place.column)


def _document_order(findings: Iterable[Finding], schema: object) -> Callable[[Finding], tuple[int, ...]]:
    if isinstance(schema, str):
        return lambda finding: (finding.line or 0, finding.column or 0)
    return lambda finding: _order_in(schema, finding.at or "#")


def _order_in(node: object, pointer: str) -> tuple[int, ...]:
    """Where a pointer leads, as the number of each step among its siblings."""
    order: list[int] = []
    for raw in pointer.split("/")[1:]:
        step = raw.replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping) and step in node:
            order.append([*node].index(step))
            node = node[step]
        elif isinstance(node, (list, tuple)) and step.isdecimal() and int(step) < len(node):
            order.append(int(step))
            node = node[int(step)]
        else:
            break
    return tuple(order)
