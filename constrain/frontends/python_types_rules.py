"""What a JSON schema cannot say of a Python type, found by walking Pydantic's core schema.

`walk` yields each node that takes part in reading JSON, with the JSON pointer of its schema (references inlined, a
recursive one visited once). On it stand three questions: which rules are left (`find_rules`), where a node is
(`path_of`), and what can never be valid (`refuse_what_no_json_can_spell`).

A function that belongs to Pydantic itself and is said exactly by the schema (an IP address, a path) is no rule; any
other function is, since nothing is known of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import FunctionType, MethodType
from typing import Any

from constrain.errors import InvalidSpecification, shorten
from constrain.frontends.python_types import BusinessRule
from constrain.frontends.python_types_patterns import to_ecma

__all__ = ["find_rules", "path_of", "refuse_what_no_json_can_spell", "walk"]

Node = Mapping[str, Any]

SAME_PLACE = ("schema", "lax_schema", "json_schema")
"""Keys that hold the schema of the same JSON value."""

EXACT = frozenset({
    "path_validator", "ip_v4_address_validator", "ip_v6_address_validator", "sequence_validator",
    "defaultdict_validator", "deque_validator", "mapping_validator", "SecretStr", "SecretBytes", "Path", "PurePath",
    "PosixPath", "WindowsPath", "PurePosixPath", "PureWindowsPath",
})  # fmt: skip
"""Functions of Pydantic, and constructors it uses, that refuse nothing which the schema lets through."""

COMPARISONS = {"gt": ">", "ge": ">=", "lt": "<", "le": "<="}
MOMENTS = ("date", "datetime", "time", "timedelta")


# ---------------------------------------------------------------- walking


def walk(core: Node) -> Iterator[tuple[str, Node]]:
    """(JSON pointer, node) of everything that reads JSON, in document order. No recursion: types nest as they like."""
    definitions: dict[str, Node] = {}
    visited: set[str] = set()
    pending: list[tuple[str, Node]] = [("#", core)]
    while pending:
        path, node = pending.pop()
        kind = node.get("type")
        if kind == "definitions":
            definitions |= {entry["ref"]: entry for entry in node["definitions"]}
        elif kind == "definition-ref":
            target = node["schema_ref"]
            if target in visited or target not in definitions:
                continue
            visited.add(target)
            pending.append((path, definitions[target]))
            continue
        yield path, node
        pending += reversed(list(_children(path, node)))


def _children(path: str, node: Node) -> Iterator[tuple[str, Node]]:
    kind = node.get("type")
    if kind == "json":
        yield from [(f"{path}/contentSchema", node["schema"])] if "schema" in node else []
        return
    yield from ((path, node[key]) for key in SAME_PLACE if isinstance(node.get(key), Mapping))
    yield from ((path, step) for step in node.get("steps", ()))
    items = node.get("items_schema")
    if isinstance(items, Mapping):
        yield f"{path}/items", items
    elif items is not None:
        variadic = node.get("variadic_item_index")
        yield from (
            (f"{path}/items" if i == variadic else f"{path}/prefixItems/{i}", item) for i, item in enumerate(items)
        )
    yield from _fields(path, node)
    if isinstance(node.get("keys_schema"), Mapping):
        yield f"{path}/propertyNames", node["keys_schema"]
    for key in ("values_schema", "extras_schema"):
        if isinstance(node.get(key), Mapping):
            yield f"{path}/additionalProperties", node[key]
    choices = node.get("choices", ())
    if isinstance(choices, Mapping):
        yield from ((f"{path}/oneOf/{i}", choice) for i, choice in enumerate(choices.values()) if _is_node(choice))
    else:
        found = (choice[0] if isinstance(choice, tuple) else choice for choice in choices)
        yield from ((f"{path}/anyOf/{i}", choice) for i, choice in enumerate(found))


def _fields(path: str, node: Node) -> Iterator[tuple[str, Node]]:
    fields = node.get("fields", ())
    if isinstance(fields, Mapping):
        for name, field in fields.items():
            yield f"{path}/properties/{_escape(_alias(field) or name)}", field
    else:
        for index, field in enumerate(fields):
            if _is_node(field):  # a dataclass also lists the names of its fields
                at = f"prefixItems/{index}" if node.get("type") == "named-tuple" else None
                yield f"{path}/{at or 'properties/' + _escape(_alias(field) or field['name'])}", field


def _is_node(value: object) -> bool:
    return isinstance(value, Mapping) and "type" in value


def _alias(field: Node) -> str | None:
    """The name that JSON uses for a field: of several aliases the first that is a plain name."""
    alias = field.get("validation_alias")
    if isinstance(alias, str):
        return alias
    paths = alias if isinstance(alias, list) and alias and isinstance(alias[0], list) else [alias]
    return next((p[0] for p in paths if isinstance(p, list) and len(p) == 1 and isinstance(p[0], str)), None)


def _escape(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def path_of(core: Node, wanted: object) -> str:
    """The pointer of the node that is `wanted`, or of one equal in kind; `#` if it is not there."""
    nodes = list(walk(core))
    exact = (path for path, node in nodes if node is wanted)
    kind = wanted.get("type") if isinstance(wanted, Mapping) else None
    alike = (path for path, node in nodes if node.get("type") == kind)
    return next(exact, None) or next(alike, "#")


# ---------------------------------------------------------------- what can never be


def refuse_what_no_json_can_spell(core: Node) -> None:
    """Raises: InvalidSpecification: a field read from inside another value, a set of what cannot be hashed."""
    nodes = list(walk(core))
    definitions = {node["ref"]: node for _, node in nodes if "ref" in node}
    for path, node in nodes:
        kind = node.get("type")
        if isinstance(node.get("validation_alias"), list) and _alias(node) is None:
            raise InvalidSpecification(
                f"the alias {shorten(node['validation_alias'])} reads a field from inside another value",
                at=path,
                expected="an alias that is a name",
                help="use AliasChoices with a plain name",
            )
        if kind in ("set", "frozenset") and _is_unhashable(node.get("items_schema"), definitions):
            raise InvalidSpecification(
                "the items of this set cannot be hashed, so that no item is ever valid",
                at=f"{path}/items",
                help="use a list, or a frozen model or tuple for the items",
            )


def _is_unhashable(node: Any, definitions: Mapping[str, Node]) -> bool:
    for _ in range(20):
        if not isinstance(node, Mapping):
            return False
        kind = node.get("type")
        if kind in ("list", "set", "dict", "typed-dict"):
            return True
        if kind in ("model", "dataclass"):
            return getattr(node.get("cls"), "__hash__", True) is None
        node = definitions.get(node["schema_ref"]) if kind == "definition-ref" else node.get("schema")
    return False


# ---------------------------------------------------------------- the rules


def find_rules(core: Node) -> tuple[BusinessRule, ...]:
    """Everything that is checked by code and not by the schema, in document order, each once."""
    rules = [rule for path, node in walk(core) for rule in _rules_of(path, node)]
    return tuple(dict.fromkeys(rules))


def _rules_of(path: str, node: Node) -> Iterator[BusinessRule]:
    kind = str(node.get("type", ""))
    if kind.startswith("function-"):
        yield from _function_rule(path, kind.removeprefix("function-"), node)
    elif kind in ("model", "dataclass"):
        yield from _class_rules(path, node)
    elif kind in MOMENTS:
        for key, sign in COMPARISONS.items():
            if key in node:
                yield BusinessRule(path, key, f"{kind} {sign} {node[key]}")
        if "now_op" in node:
            yield BusinessRule(path, str(node["now_op"]), f"the {kind} lies in the {node['now_op']}")
    elif kind in ("url", "multi-host-url"):
        yield BusinessRule(path, kind, "a URL as Pydantic parses it")
    elif kind == "json":
        yield BusinessRule(path, "Json", "the string is itself JSON text")
    elif kind == "bytes" and "max_length" in node:
        yield BusinessRule(
            path, "max_length", f"at most {node['max_length']} bytes, where the schema counts characters"
        )
    elif kind == "str":
        yield from _string_rules(path, node)
    elif kind == "tagged-union" and callable(node.get("discriminator")):
        yield BusinessRule(path, _function_name(node["discriminator"]), "chooses the branch of the union")
    elif kind in ("is-instance", "is-subclass"):
        yield BusinessRule(path, kind, f"the value is an instance of {shorten(node.get('cls'))}")


def _function_rule(path: str, mode: str, node: Node) -> Iterator[BusinessRule]:
    function = node.get("function")
    if isinstance(function, Mapping):
        function = function.get("function")
    name = _function_name(function)
    if _is_pydantics(function):
        inner = node.get("schema")
        if name in EXACT or (isinstance(inner, Mapping) and inner.get("type") in ("url", "multi-host-url")):
            return  # said by the schema, or by the rule of the node inside
    yield BusinessRule(path, name, _describe(mode, function))


def _class_rules(path: str, node: Node) -> Iterator[BusinessRule]:
    cls = node.get("cls")
    config = node.get("config") or {}
    changes = [key for key in ("str_strip_whitespace", "str_to_lower", "str_to_upper") if config.get(key)]
    if changes:
        yield BusinessRule(path, changes[0], "text is changed before its length and pattern are checked")
    if node.get("custom_init"):
        yield BusinessRule(path, "__init__", f"the constructor of {getattr(cls, '__name__', cls)}")
    post = node.get("post_init")
    name = "__post_init__" if node.get("type") == "dataclass" else str(post)
    hook = getattr(cls, name, None) if post else None
    if hook is not None and not _is_pydantics(hook):
        yield BusinessRule(path, name, _describe("after", hook))


def _string_rules(path: str, node: Node) -> Iterator[BusinessRule]:
    changes = [key for key in ("strip_whitespace", "to_lower", "to_upper") if node.get(key)]
    if changes and any(key in node for key in ("min_length", "max_length", "pattern")):
        yield BusinessRule(path, changes[0], "the text is changed before length and pattern are checked")
    pattern = node.get("pattern")
    has_flags = isinstance(pattern, re.Pattern) and pattern.flags != re.UNICODE
    text = pattern.pattern if isinstance(pattern, re.Pattern) else pattern
    if isinstance(text, str) and (has_flags or not to_ecma(text).is_exact):
        yield BusinessRule(path, "pattern", f"{shorten(text)} means something else to Pydantic than to JSON Schema")
    if node.get("ascii_only"):
        yield BusinessRule(path, "ascii_only", "only ASCII characters")


def _function_name(function: Any) -> str:
    """The name of a user's function, also behind a partial or one of Pydantic's wrappers."""
    inner = getattr(function, "func", None) or function
    if _is_pydantics(inner):
        for cell in getattr(inner, "__closure__", None) or ():
            held = getattr(cell.cell_contents, "func", cell.cell_contents)
            if callable(held) and not isinstance(held, type) and not _is_pydantics(held):
                inner = held
                break
    return str(getattr(inner, "__name__", None) or type(inner).__name__)


def _is_pydantics(function: Any) -> bool:
    inner = getattr(function, "func", None) or function
    module = getattr(inner, "__module__", None) or ""
    return module.split(".")[0] in ("pydantic", "pydantic_core", "pathlib")


def _describe(mode: str, function: Any) -> str:
    when = {"before": "before the value is read", "after": "after the value was read"}.get(mode, "around the reading")
    written = isinstance(function, (FunctionType, MethodType)) and not _is_pydantics(function)
    lines = (function.__doc__ or "").strip().splitlines() if written else []
    return f"checked {when}" + (f": {shorten(lines[0].strip())}" if lines else "")
