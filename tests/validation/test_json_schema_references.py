"""The judge follows references as the specifications say, also where `referencing` does not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constrain.errors import ConstrainError
from constrain.validation.json_schema import Judge
from tests.frontends.json_schema.scope_twin import Endless, Nowhere, Twin
from tests.frontends.json_schema.test_scopes import VALUES, Documents

BASE = "http://example.com/"


def content(kind: str, keyword: str = "$dynamicAnchor") -> dict[str, Any]:
    return {keyword: "t", "type": kind}


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_references_lead_where_a_literal_reading_says(seed: int) -> None:
    documents = Documents(seed)
    twin = Twin(documents.all)
    try:
        expected = [twin.valid(value) for value in VALUES]
    except (Endless, Nowhere):
        return
    judge = Judge(documents.root, registry=documents.registry)
    assert [judge.value(value).ok for value in VALUES] == expected


@pytest.mark.parametrize(("keyword", "accepted"), [("$ref", 1), ("$dynamicRef", "a")])
def test_only_a_dynamic_ref_is_dynamic(keyword: str, accepted: Any) -> None:
    inner = {"$id": "inner", keyword: "#t", "$defs": {"t": content("integer")}}
    judge = Judge({"$id": BASE, "$ref": "inner", "$defs": {"i": inner, "t": content("string")}})
    assert [judge.value(value).ok for value in (1, "a")] == [accepted == 1, accepted == "a"]


def test_a_resource_is_entered_by_standing_in_it_and_not_by_a_pointer_through_it() -> None:
    item = {"$id": "item", "items": {"$dynamicRef": "#t"}, "$defs": {"t": content("integer")}}
    through = {"$id": "through", "properties": {"p": item}, "$defs": {"t": content("string")}}
    entered = Judge({"$id": BASE, "$ref": "through", "$defs": {"x": through}})
    assert entered.value({"p": ["a"]}).ok
    assert not entered.value({"p": [1]}).ok
    passed = Judge({"$id": BASE, "$ref": "through#/properties/p", "$defs": {"x": through}})
    assert passed.value([1]).ok
    assert not passed.value(["a"]).ok


def test_what_a_dynamic_ref_leads_to_is_read_where_it_stands() -> None:
    inner = {"$id": "inner", "$dynamicRef": "#t", "$defs": {"t": {"$dynamicAnchor": "t"}, "u": {"type": "null"}}}
    outer = {"$dynamicAnchor": "t", "items": {"$ref": "#/$defs/u"}}
    judge = Judge({"$id": BASE, "$ref": "inner", "$defs": {"i": inner, "t": outer, "u": {"type": "string"}}})
    assert judge.value(["a"]).ok
    assert not judge.value([None]).ok


def test_unevaluated_keywords_see_through_dynamic_refs() -> None:
    inner = {"$id": "inner", "$dynamicRef": "#t", "$defs": {"t": {"$dynamicAnchor": "t"}}}
    outer = {"$dynamicAnchor": "t", "properties": {"a": True}}
    judge = Judge({"$id": BASE, "$ref": "inner", "unevaluatedProperties": False, "$defs": {"i": inner, "t": outer}})
    assert judge.value({"a": 1}).ok
    assert not judge.value({"b": 1}).ok


def test_a_metaschema_is_known_by_its_identifier_and_may_assert_formats() -> None:
    vocabulary = "https://json-schema.org/draft/2020-12/vocab/"
    meta = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": BASE + "meta",
            "$vocabulary": {vocabulary + "core": True, vocabulary + "format-assertion": False}}  # fmt: skip
    judge = Judge(
        {"$schema": BASE + "meta", "format": "ipv4", "maxLength": 3}, registry={"meta.json": meta}, formats="annotation"
    )
    assert judge.value("1.2.3.4").ok
    assert not judge.value("1.2.3").ok


def test_an_identifier_that_is_no_string_is_a_typed_error() -> None:
    with pytest.raises(ConstrainError):
        Judge({"$id": ["a"], "$dynamicRef": "r"}, registry={"r": True}).value(1)


def test_a_reference_to_nowhere_is_a_typed_error() -> None:
    for reference in ("#nowhere", "#/x", "urn:x:y", "other#t", "http://["):
        with pytest.raises(ConstrainError):
            Judge({"$dynamicRef": reference}).value(1)
