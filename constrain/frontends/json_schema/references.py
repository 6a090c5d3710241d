"""References while places are read: followed to the end of the chain, with what goes wrong collected, not raised.

`follow` passes through schemas that are nothing but another reference without reading them as places, so a chain of
thousands costs no depth. A chain that comes back to itself never reaches a value, and is refused with all its paths.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from constrain.errors import InvalidSpecification, SpecificationError

if TYPE_CHECKING:
    from constrain.frontends.json_schema.atoms import Place
    from constrain.frontends.json_schema.build import Builder
    from constrain.frontends.json_schema.findings import Findings
    from constrain.frontends.json_schema.scopes import Scope, Target

KEYWORDS = frozenset(("$ref", "$dynamicRef", "$recursiveRef"))
SHOWN_PATHS = 20


def follow(builder: Builder, place: Place, keyword: str) -> Target | None:
    """What the reference `keyword` of `place` leads to in the end; None where it leads nowhere, which is noted.

    Raises:  InvalidSpecification: if it leads back to itself.
    """
    schema, path, scope = place.schema, place.path, place.scope
    passed: dict[tuple[int, int], str] = {}
    hops: list[tuple[Scope, int]] = []
    while True:
        passed[id(schema), id(scope)] = path
        try:
            target = scope.lookup(schema[keyword], f"{path}/{keyword}", keyword)
        except SpecificationError as error:
            builder.findings.fault(error, path, keyword)
            return None
        schema, path, scope = target
        following = None
        if isinstance(schema, Mapping):
            scope = scope.of(schema, path)
            following = _only_reference(schema, scope)
        if following is None:
            paths = list(passed.values())[1:]
            break
        if id(schema) in scope.ends:
            target, tail, start = scope.ends[id(schema)]
            paths = [*passed.values()][1:] + tail[start:]
            break
        if (id(schema), id(scope)) in passed:
            paths = list(passed.values())
            refuse_cycle(paths[list(passed).index((id(schema), id(scope))) :], path)
        builder.findings.enforced(path, following)
        hops.append((scope, id(schema)))
        keyword = following
    for i, (scope, identity) in enumerate(hops):
        scope.ends[identity] = (target, paths, i)
    builder.passed(paths)
    return target


def end_of_references(findings: Findings, schema: Any, path: str, scope: Scope) -> Target | None:
    """Where a schema that is nothing but a `$ref` leads, so that all that lead there are one atom.

    None where a chain of them has no end or leads nowhere: reading the place says so.
    """
    passed: dict[int, str] = {}
    while isinstance(schema, Mapping) and len(schema) == 1 and isinstance(schema.get("$ref"), str):
        if id(schema) in passed:
            return None
        passed[id(schema)] = path
        try:
            schema, path, scope = scope.lookup(schema["$ref"], f"{path}/$ref", "$ref")
        except SpecificationError:
            return None
    if not isinstance(schema, (Mapping, bool)):
        return None
    for place in passed.values():
        findings.enforced(place, "$ref")
    return schema, path, scope


def _only_reference(schema: Mapping[str, Any], scope: Scope) -> str | None:
    """The keyword of a schema that says nothing but where to go on."""
    dialect, found = scope.dialect, None
    for keyword in schema:
        if keyword in dialect.readers:
            if found is not None or keyword not in KEYWORDS or not isinstance(schema[keyword], str):
                return None
            found = keyword
        elif keyword not in dialect.known:
            return None
    return None if found == "$recursiveRef" and schema[found] != "#" else found


def target_of(scope: Scope, keyword: str, reference: Any) -> Target | None:
    """What a reference leads to at its next step; None where it leads nowhere."""
    try:
        return scope.lookup(reference, "#", keyword) if isinstance(reference, str) else None
    except SpecificationError:
        return None


def refuse_cycle(paths: Sequence[str], back: str) -> NoReturn:
    """Raise the error about schemas that refer to each other in a circle without going down into the value."""
    shown = [*paths, back]
    if len(shown) > SHOWN_PATHS:
        shown = [*shown[: SHOWN_PATHS // 2], f"({len(shown) - SHOWN_PATHS} more)", *shown[-SHOWN_PATHS // 2 :]]
    raise InvalidSpecification(
        "the references " + " → ".join(shown) + " never reach a value",
        at=paths[0],
        help="let the recursion pass through 'properties', 'items' or the like",
    )
