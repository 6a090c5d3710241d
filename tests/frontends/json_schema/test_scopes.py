"""References that hang on what was entered before: against a literal twin, the judges, and cases checked by hand."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constrain.errors import ConstrainError, EmptyLanguage, InvalidSpecification, ReferenceNotFound
from constrain.frontends.json_schema import SchemaOptions, compile_schema
from constrain.grammar.recognizer import Recognizer
from constrain.validation.json_schema import Judge as Validator
from tests.frontends.json_schema.scope_twin import Endless, Nowhere, Twin
from tests.frontends.json_schema.writing import Judge, error_of

BASE = "http://example.com/"
URI = {year: f"https://json-schema.org/draft/{year}/schema" for year in ("2019-09", "2020-12")}
LEAVES: list[Any] = [{"type": name} for name in ("integer", "string", "boolean", "object")]
LEAVES += [{"type": ["integer", "array", "object"]}, {"type": ["string", "array", "object"]}, True]
KINDS = ("leaf", "ref", "ref", "properties", "items", "additionalProperties", "allOf", "embed")
CORE = ("$id", "$dynamicAnchor", "$recursiveAnchor")
INNERMOST: list[Any] = [0, "s", True]
VALUES: list[Any] = [*INNERMOST, [], {}]
for _ in range(3):
    VALUES += [made for value in VALUES[-9:] for made in ([value], {"x": value}, {"y": value})]


class Documents:
    """Random resources that refer to each other; as one document, or as several.

    `for_judges` leaves out what `jsonschema_rs` gets wrong: it takes `$ref` to a dynamic anchor as `$dynamicRef`, and
    leaves out of the dynamic scope a resource that holds the one in which the value was entered.
    """

    def __init__(self, seed: int, *, for_judges: bool = False):
        self.for_judges = for_judges
        self.random = random.Random(seed)
        self.year = self.random.choice(("2020-12", "2020-12", "2019-09"))
        self.names = [f"r{i}" for i in range(self.random.randint(2, 4))]
        made = {name: self._resource(name) for name in list(self.names)}
        root = made.pop("r0")
        self.registry: dict[str, Any] = {}
        if self.random.random() < 0.5:
            root["$defs"] = {**root["$defs"], **{f"in-{name}": inner for name, inner in made.items()}}
        else:
            for name, inner in made.items():
                self.registry[BASE + name] = {"$schema": URI[self.year], **inner, "$id": BASE + name}
        self.root = {"$schema": URI[self.year], **root, "$id": BASE + "r0"}

    @property
    def all(self) -> dict[str, Any]:
        return {BASE + "r0": self.root, **self.registry}

    def _resource(self, name: str) -> dict[str, Any]:
        chance, made = self.random.random, {"$id": name, "$defs": {}}
        if self.year == "2019-09":
            made |= {"$recursiveAnchor": chance() < 0.8} if chance() < 0.8 else {}
        else:
            for anchor in "ab":
                if chance() < 0.3 and "$dynamicAnchor" not in made:
                    made["$dynamicAnchor"] = anchor
                elif chance() < 0.6:
                    leaf = self.random.choice(LEAVES[:-1])
                    made["$defs"][anchor] = {
                        self.random.choice(("$dynamicAnchor", "$dynamicAnchor", "$anchor")): anchor, **leaf
                    }  # fmt: skip
        said = self._schema(name, 2)
        if isinstance(said, dict):
            made |= {keyword: value for keyword, value in said.items() if keyword not in CORE}
        made["$defs"]["s"] = self._schema(name, 1)
        return made

    def _schema(self, name: str, depth: int) -> Any:
        kind = self.random.choice(
            ("leaf", "ref", "ref", "properties", "items", "additionalProperties", "allOf", "embed")
        )
        if (depth == 0 and kind not in ("leaf", "ref")) or (kind == "embed" and self.for_judges):
            kind = "ref"
        if kind == "leaf":
            return self.random.choice(LEAVES)
        if kind == "ref":
            return self._reference()
        inner = self._schema(name, depth - 1)
        if kind == "embed":
            self.names.append(f"{name}e{len(self.names)}")
            made = {"$id": self.names[-1], "properties": {"x": inner}}
            if self.year == "2020-12":
                made["$dynamicAnchor"] = self.random.choice("ab")
            else:
                made["$recursiveAnchor"] = True
            return made
        if kind == "properties":
            return {"properties": {"x": inner}}
        return {kind: [inner, self.random.choice(LEAVES)] if kind == "allOf" else inner}

    def _reference(self) -> dict[str, str]:
        to = self.random.choice([*self.names, "", ""])
        if self.year == "2019-09":
            return self.random.choice(
                ({"$recursiveRef": "#"}, {"$ref": to + self.random.choice(("#", "#/$defs/s"))})
            )  # fmt: skip
        keyword = self.random.choice(("$ref", "$dynamicRef", "$dynamicRef"))
        fragment = self.random.choice(("#a", "#a", "#b", "#", "#/$defs/s"))
        is_name = fragment in ("#a", "#b")
        return {"$dynamicRef" if self.for_judges and is_name else keyword: to + fragment}


def recognizer_of(documents: Documents) -> Recognizer | None:
    """None: nothing satisfies it. Raises ConstrainError: a cycle, a reference to nowhere."""
    try:
        return Recognizer(compile_schema(documents.root, SchemaOptions(registry=documents.registry)).grammar)
    except EmptyLanguage:
        return None


def holds(recognizer: Recognizer | None, value: Any) -> bool:
    return recognizer is not None and recognizer.accepts(json.dumps(value, separators=(",", ":")).encode())


@settings(max_examples=250, deadline=None)
@given(st.integers(0, 2**32))
def test_references_lead_where_a_literal_reading_says(seed: int) -> None:
    documents = Documents(seed)
    twin = Twin(documents.all)
    try:
        recognizer = recognizer_of(documents)
    except (ReferenceNotFound, InvalidSpecification) as error:
        told = ("leads nowhere", "never reach a value")
        assert any(said in str(error) for said in told)
        return
    for value in VALUES:
        try:
            expected = twin.valid(value)
        except (Endless, Nowhere):  # on a way that another keyword closes: we see that, the twin does not
            continue
        assert holds(recognizer, value) == expected, (documents.all, value)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_references_lead_where_the_judges_say(seed: int) -> None:
    rs = pytest.importorskip("jsonschema_rs")
    documents = Documents(seed, for_judges=True)
    try:
        recognizer = recognizer_of(documents)
        registry = rs.Registry(list(documents.all.items()))
        second = rs.validator_for(documents.root, registry=registry)
        twin = Twin(documents.all)
        _ = [twin.valid(value) for value in VALUES]
    except (ConstrainError, ValueError, Endless, Nowhere):  # the judges need all references, and have no end
        return
    first = Validator(documents.root, registry=documents.registry)
    for value in VALUES:
        verdicts = holds(recognizer, value), first.text(json.dumps(value)).ok, second.is_valid(value)
        assert len(set(verdicts)) == 1, (documents.all, value, verdicts)


# ---------------------------------------------------------------- by hand

TREE = {
    "$id": BASE + "tree",
    "$dynamicAnchor": "node",
    "type": "object",
    "properties": {"data": True, "children": {"type": "array", "items": {"$dynamicRef": "#node"}}},
}
STRICT = {
    "$id": BASE + "strict", "$dynamicAnchor": "node", "$ref": "tree",
    "propertyNames": {"enum": ["data", "children"]},
}  # fmt: skip


def test_an_extension_reaches_every_level_of_what_it_extends() -> None:
    judge = Judge(STRICT, registry={BASE + "tree": TREE})
    assert judge.accepts_text('{"children":[{"data":1}]}')
    assert not judge.accepts_text('{"children":[{"daat":1}]}')
    assert not judge.accepts_text('{"children":[{"children":[{"daat":1}]}]}')
    assert Judge(TREE).accepts_text('{"children":[{"daat":1}]}')


def test_the_same_resource_means_different_things_in_one_schema() -> None:
    schema = {
        "properties": {"plain": {"$ref": BASE + "tree"}, "strict": {"$ref": BASE + "strict"}},
        "additionalProperties": False,
    }
    judge = Judge(schema, registry={BASE + "tree": TREE, BASE + "strict": STRICT})
    assert judge.accepts_text('{"plain":{"children":[{"daat":1}]},"strict":{"children":[]}}')
    assert not judge.accepts_text('{"plain":{},"strict":{"children":[{"daat":1}]}}')


def test_a_ref_to_a_dynamic_anchor_is_not_dynamic() -> None:
    inner = {"$id": "inner", "$ref": "#t", "$defs": {"t": {"$dynamicAnchor": "t", "type": "integer"}}}
    outer = {"$id": BASE, "$ref": "inner", "$defs": {"i": inner, "t": {"$dynamicAnchor": "t", "type": "string"}}}
    assert Judge(outer).accepts_text("1")
    assert not Judge(outer).accepts_text('"a"')


def test_a_dynamic_ref_to_a_plain_anchor_or_a_pointer_is_not_dynamic() -> None:
    for reference, keyword in (("#t", "$anchor"), ("#/$defs/t", "$dynamicAnchor")):
        inner = {"$id": "inner", "$dynamicRef": reference, "$defs": {"t": {keyword: "t", "type": "integer"}}}
        outer = {"$id": BASE, "$ref": "inner", "$defs": {"i": inner, "t": {"$dynamicAnchor": "t", "type": "string"}}}
        assert Judge(outer).accepts_text("1")


def test_a_resource_is_in_the_dynamic_scope_of_what_stands_in_it() -> None:
    inner = {"$id": "inner", "items": {"$dynamicRef": "#t"}, "$defs": {"t": {"$dynamicAnchor": "t", "type": "null"}}}
    schema = {
        "$id": BASE, "type": "object", "required": ["p"], "properties": {"p": inner},
        "$defs": {"t": {"$dynamicAnchor": "t", "type": "string"}},
    }  # fmt: skip
    assert Judge(schema).accepts_text('{"p":["a"]}')
    assert not Judge(schema).accepts_text('{"p":[null]}')


def test_a_chain_of_recursive_anchors_ends_where_one_is_missing() -> None:
    def resource(name: str, to: str, is_open: bool, **more: Any) -> dict[str, Any]:
        return {
            "$schema": URI["2019-09"],
            "$id": BASE + name,
            "$recursiveAnchor": is_open,
            "allOf": [{"$ref": to}],
            **more,
        }

    last = {"$schema": URI["2019-09"], "$id": BASE + "c", "$recursiveAnchor": True, "type": ["object", "integer"],
            "additionalProperties": {"$recursiveRef": "#"}}  # fmt: skip
    for middle, accepted in ((True, False), (False, True)):
        registry = {BASE + "b": resource("b", "c", middle), BASE + "c": last}
        judge = Judge(resource("a", "b", True, type="object"), registry=registry)
        assert judge.accepts_text('{"x":1}') is accepted


def test_names_come_in_the_order_of_what_a_dynamic_ref_leads_to() -> None:
    inner = {"$id": "inner", "$dynamicRef": "#t", "$defs": {"t": {"$dynamicAnchor": "t", "properties": {"a": True}}}}
    outer = {"$dynamicAnchor": "t", "properties": {"b": {"type": "null"}, "a": {"type": "null"}}}
    schema = {"$id": BASE, "$ref": "inner", "type": "object", "$defs": {"i": inner, "t": outer}}
    assert Judge(schema).accepts_text('{"b":null,"a":null}')
    assert not Judge(schema).accepts_text('{"a":null,"b":null}')


def test_branches_are_compared_in_each_dynamic_scope() -> None:
    choice = {
        "$id": BASE + "choice",
        "oneOf": [{"$dynamicRef": "#t"}, {"const": 1}, {"const": 2}],
        "$defs": {"t": {"$dynamicAnchor": "t", "type": "null"}},
    }

    def with_t(name: str, value: int) -> dict[str, Any]:
        return {"$id": BASE + name, "$ref": "choice", "$defs": {"t": {"$dynamicAnchor": "t", "const": value}}}

    judge = Judge(
        {"prefixItems": [{"$ref": BASE + "one"}, {"$ref": BASE + "two"}, {"$ref": BASE + "choice"}], "minItems": 3},
        registry={BASE + "choice": choice, BASE + "one": with_t("one", 1), BASE + "two": with_t("two", 2)},
    )
    accepted = [
        (a, b, c) for a in (1, 2) for b in (1, 2) for c in (1, 2) if judge.accepts_text(f"[{a},{b},{c}]")
    ]  # fmt: skip
    assert accepted == [(2, 1, 1), (2, 1, 2)]


def test_branches_are_compared_again_when_others_were_excluded() -> None:
    never = {"oneOf": [{}, {}]}
    assert isinstance(error_of({"oneOf": [{}, {"if": never, "then": False}, {}]}), EmptyLanguage)
    judge = Judge({"oneOf": [{"type": "integer"}, {"if": never, "then": False, "else": {"type": ["integer", "null"]}}]})
    assert judge.accepts_text("null")
    assert not judge.accepts_text("1")


@pytest.mark.parametrize("count", [2, 3, 8])
def test_resources_that_enter_each_other_in_any_order_stay_finite(count: int) -> None:
    registry = {
        f"{BASE}{i}": {
            "$id": f"{BASE}{i}", "$dynamicAnchor": "t", "type": "object",
            "properties": {str(j): {"$ref": f"{BASE}{j}"} for j in range(count)},
            "additionalProperties": {"$dynamicRef": "#t"}, "maxProperties": i + 1,
        }
        for i in range(count)
    }  # fmt: skip
    compiled = compile_schema({"anyOf": [{"$ref": uri} for uri in registry]}, SchemaOptions(registry=registry))
    assert len(compiled.grammar.rules) <= 10 * count * count + 10
    assert error_of({"$ref": f"{BASE}0"}, registry=registry) is None
