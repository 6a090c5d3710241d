"""References in every dialect: where they lead, what they cost, and what is said when they lead nowhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from constrain.errors import (
    ConstrainError,
    EmptyLanguage,
    InvalidSpecification,
    LimitExceeded,
    PatternError,
    ReferenceNotFound,
    UnsupportedKeyword,
)
from constrain.frontends.json_schema import SchemaOptions, compile_schema
from constrain.frontends.json_schema.compile import settle
from constrain.frontends.json_schema.dialects import DIALECTS
from constrain.grammar.recognizer import Recognizer
from tests.frontends.json_schema.test_suite import SUITE, remotes
from tests.frontends.json_schema.writing import Judge, error_of

INTEGER = {"type": "integer"}
BASE = "http://example.com/"
DRAFT = {name: dialect.uri for name, dialect in DIALECTS.items()}
FILES = ("ref", "refRemote", "dynamicRef", "recursiveRef", "anchor", "id", "vocabulary", "definitions", "defs",
         "unknownKeyword", "infinite-loop-detection", "refOfUnknownKeyword", "cross-draft",
         "format-assertion")  # fmt: skip
OTHERS = {"unevaluatedItems", "unevaluatedProperties", "contains", "uniqueItems", "if"}
"""Keywords that may refuse a schema of these files; references never do."""


def suite_files(dialect: str) -> Iterator[Path]:
    folder = SUITE / "tests" / dialect
    for place in (folder, folder / "optional"):
        yield from (path for name in FILES if (path := place / f"{name}.json").exists())


@pytest.mark.skipif(not SUITE.is_dir(), reason="the official suite is not here (CONSTRAIN_DATA)")
@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_reference_of_the_official_suite_is_refused_or_followed_wrongly(dialect: str) -> None:
    options = SchemaOptions.from_spelling("any", formats="annotation", dialect=dialect, registry=remotes())
    wrong: list[str] = []
    count = 0
    for path in suite_files(dialect):
        for group in json.loads(path.read_text(encoding="utf-8")):
            try:
                recognizer = Recognizer(compile_schema(group["schema"], options).grammar)
            except EmptyLanguage:
                recognizer = None
            except UnsupportedKeyword as error:
                assert {problem.keyword for problem in error.problems} <= OTHERS, group["description"]
                continue
            for case in group["tests"]:
                count += 1
                text = json.dumps(case["data"], ensure_ascii=False).encode()
                if (recognizer is not None and recognizer.accepts(text)) != case["valid"]:
                    wrong.append(f"{path.name}: {group['description']}: {case['description']}")
    assert not wrong
    assert count > 50


# ---------------------------------------------------------------- where references lead


@pytest.mark.parametrize(
    ("reference", "schema"),
    [
        ("#/$defs/a~1b", {"$defs": {"a/b": INTEGER}}),
        ("#/$defs/a%2Fb", {"$defs": {"a": {"b": INTEGER}}}),
        ("#/$defs/a%7E1b", {"$defs": {"a/b": INTEGER}}),
        ("#/$defs/a%25b", {"$defs": {"a%b": INTEGER}}),
        ("#/$defs/%C3%A9", {"$defs": {"é": INTEGER}}),
        ("#/$defs/~01", {"$defs": {"~1": INTEGER}}),
        ("#/$defs//x", {"$defs": {"": {"x": INTEGER}}}),
        ("#/definitions/i", {"definitions": {"i": INTEGER}}),
        ("#/unknown/deep/0", {"unknown": {"deep": [INTEGER]}}),
        ("#/then/allOf/1", {"then": {"allOf": [True, INTEGER]}}),
        ("#/then/properties/p", {"then": {"properties": {"p": INTEGER}}}),
        ("#a", {"then": {"anyOf": [{"$anchor": "a", **INTEGER}]}}),
        ("#a", {"dependencies": {"p": {"$anchor": "a", **INTEGER}}}),
        ("#a", {"items": [{"$anchor": "a", **INTEGER}]}),
        ("folder/b#x", {"$defs": {"d": {"$id": "folder/", "$defs": {"e": {"$id": "b", "$anchor": "x", **INTEGER}}}}}),
        ("urn:example:i", {"$defs": {"d": {"$id": "urn:example:i", **INTEGER}}}),
        ("urn:example:i#/$defs/j", {"$defs": {"d": {"$id": "urn:example:i", "$defs": {"j": INTEGER}}}}),
        ("other#/$defs/i", {"$defs": {"d": {"$id": "other", "$defs": {"i": {"$ref": "#/$defs/j"}, "j": INTEGER}}}}),
    ],
)  # fmt: skip
def test_references_lead_there(reference: str, schema: dict[str, Any]) -> None:
    judge = Judge({"$id": BASE + "root", "type": "object", "properties": {"r": {"$ref": reference}}, **schema})
    assert judge.accepts_text('{"r":1}')
    assert not judge.accepts_text('{"r":"1"}')


@pytest.mark.parametrize("schema", [True, False])
def test_a_reference_may_lead_to_a_boolean(schema: bool) -> None:
    judge = Judge({"properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": schema}})
    assert judge.accepts_text('{"a":1}') is schema
    assert judge.accepts_text("{}")


def test_what_is_no_schema_has_no_identifier_and_no_anchor() -> None:
    for hiding in ({"const": {"$id": "i", "$anchor": "a"}}, {"enum": [{"$id": "i", "$anchor": "a"}]},
                   {"unknown": {"$id": "i", "$anchor": "a"}}, {"default": {"$id": "i"}}):  # fmt: skip
        for reference in ("i", "#a"):
            schema = {"$id": BASE, "then": hiding, "properties": {"p": {"$ref": reference}}}
            assert isinstance(error_of(schema), ReferenceNotFound)


def test_an_embedded_resource_is_read_in_its_own_dialect() -> None:
    inner = {"$schema": DRAFT["draft4"], "id": BASE + "old", "type": "integer", "maximum": 3, "exclusiveMaximum": True}
    judge = Judge({"$schema": DRAFT["draft2020-12"], "$ref": BASE + "old", "$defs": {"o": inner}})
    assert judge.accepts_text("2")
    assert not judge.accepts_text("3")
    newer = {"$schema": DRAFT["draft2019-09"], "$id": "new", "$ref": "#/$defs/i", "minimum": 5, "$defs": {"i": INTEGER}}
    judge = Judge({"$schema": DRAFT["draft7"], "$id": BASE, "allOf": [{"$ref": "new"}], "definitions": {"n": newer}})
    assert not judge.accepts_text("4")
    assert judge.accepts_text("5")


def test_parts_of_draft_4_in_a_document_without_a_dialect_refer_from_its_root() -> None:
    part = {"$schema": DRAFT["draft4"], "id": "parts/app", "definitions": {"id": INTEGER},
            "properties": {"id": {"$ref": "#/definitions/app/definitions/id"}}}  # fmt: skip
    assert error_of({"definitions": {"app": part}, "$ref": "#/definitions/app"}) is None
    strict = {"$schema": DRAFT["draft7"], "definitions": {"app": part}, "$ref": "#/definitions/app"}
    assert isinstance(error_of(strict), ReferenceNotFound)


def test_an_anchor_keyword_counts_only_where_the_dialect_has_it() -> None:
    schema = {"properties": {"p": {"$ref": "#a"}}, "definitions": {"d": {"$anchor": "a"}}}
    assert error_of({"$schema": DRAFT["draft2019-09"], **schema}) is None
    assert isinstance(error_of({"$schema": DRAFT["draft7"], **schema}), ReferenceNotFound)
    schema = {"properties": {"p": {"$ref": "#a"}}, "definitions": {"d": {"$id": "#a"}}}
    assert error_of({"$schema": DRAFT["draft7"], **schema}) is None
    assert isinstance(error_of({"$schema": DRAFT["draft2019-09"], **schema}), ReferenceNotFound)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_metaschemas_are_there_to_be_referred_to(dialect: str) -> None:
    error = error_of({"$ref": DRAFT[dialect]}, formats="annotation")
    assert error is None or (
        isinstance(error, UnsupportedKeyword) and {problem.keyword for problem in error.problems} <= OTHERS
    )


# ---------------------------------------------------------------- dialects of one's own


def metaschema(**vocabularies: bool) -> dict[str, Any]:
    prefix = DRAFT["draft2020-12"].removesuffix("schema") + "vocab/"
    return {
        "$schema": DRAFT["draft2020-12"],
        "$id": BASE + "meta",
        "$vocabulary": {prefix + name.replace("_", "-"): needed for name, needed in vocabularies.items()},
    }


@pytest.mark.parametrize("needed", [True, False])
def test_a_metaschema_with_format_assertion_asserts_formats_whatever_the_option_says(needed: bool) -> None:
    meta = metaschema(core=True, validation=True, format_assertion=needed)
    schema = {"$schema": BASE + "meta", "type": "string", "format": "ipv4"}
    judge = Judge(schema, registry={BASE + "any-name": meta}, formats="annotation")
    assert judge.accepts_text('"1.2.3.4"')
    assert not judge.accepts_text('"1.2.3"')
    error = error_of({**schema, "format": "mine"}, registry={"m": meta}, formats="annotation")
    assert isinstance(error, UnsupportedKeyword)


def test_a_metaschema_takes_away_the_vocabularies_that_it_does_not_list() -> None:
    schema = {"$schema": BASE + "meta", "properties": {"a": {"minimum": 5}, "b": False}}
    judge = Judge(schema, registry={BASE + "meta": metaschema(core=True, applicator=True)})
    assert judge.accepts_text('{"a":1}')
    assert not judge.accepts_text('{"b":1}')


def test_metaschemas_that_nobody_can_read_are_refused_at_the_resource_that_names_them() -> None:
    circle = {BASE + "m": {"$schema": BASE + "n", "$id": BASE + "m"}, BASE + "n": {"$schema": BASE + "m"}}
    for schema, registry, at in (
        ({"$schema": BASE + "m"}, circle, "#"),
        ({"$schema": BASE + "self"}, {BASE + "self": {"$schema": BASE + "self"}}, "#"),
        ({"properties": {"p": {"$id": "x", "$schema": "urn:mine"}}}, {}, "#/properties/p"),
        ({"$schema": BASE + "m"}, {BASE + "m": {**metaschema(), "$vocabulary": {"urn:mine": True}}}, "#"),
    ):
        error = error_of(schema, registry=registry)
        assert isinstance(error, InvalidSpecification)
        assert error.at == at


# ---------------------------------------------------------------- circles


def test_a_circle_across_documents_is_refused_by_all_its_paths() -> None:
    registry = {
        BASE + "a": {"allOf": [{"$ref": "b"}]},
        BASE + "b": {"$ref": "c"},
        BASE + "c": {"$ref": "a", "minimum": 1},
    }
    error = error_of({"properties": {"p": {"$ref": BASE + "a"}}}, registry=registry)
    assert isinstance(error, InvalidSpecification)
    for path in ("a#", "a#/allOf/0", "b#", "c#"):
        assert f"{BASE}{path} → " in error.message
    assert error.message.count(BASE + "a#") == 3  # at its start, on the way, and where it closes


@pytest.mark.parametrize(
    "schema", [{"$ref": "#"}, {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}]
)
def test_a_circle_of_bare_references_is_refused(schema: dict[str, Any]) -> None:
    error = error_of(schema)
    assert isinstance(error, InvalidSpecification)
    assert "never reach a value" in error.message


def test_a_circle_that_was_passed_before_is_named_whole() -> None:
    schema = {
        "properties": {"p": {"$ref": "#/$defs/hop"}}, "required": ["p"],
        "$defs": {"hop": {"$ref": "#/$defs/end"}, "end": {"minimum": 1, "allOf": [{"$ref": "#/$defs/hop"}]}},
    }  # fmt: skip
    error = error_of(schema)
    assert isinstance(error, InvalidSpecification)
    assert "#/$defs/end → #/$defs/end/allOf/0 → #/$defs/hop → #/$defs/end" in error.message


# ---------------------------------------------------------------- what it costs


class Counting(dict[str, Any]):
    """A schema that says when it is looked into."""

    looked: set[str]

    def __getitem__(self, name: str) -> Any:
        self.looked.add(dict.get(self, "title", ""))
        return super().__getitem__(name)

    def __iter__(self) -> Iterator[str]:
        self.looked.add(dict.get(self, "title", ""))
        return super().__iter__()

    def items(self) -> Any:
        self.looked.add(dict.get(self, "title", ""))
        return super().items()


def test_definitions_that_nobody_refers_to_are_not_even_looked_at() -> None:
    Counting.looked = set()
    definitions = {f"d{i}": Counting({"title": f"d{i}", "type": "integer"}) for i in range(50_000)}
    definitions["d7"] = Counting({"title": "d7", "properties": {"n": {"$ref": "#/$defs/d40000"}}})
    schema = {"$id": BASE, "$defs": definitions,
              "properties": {"a": {"$ref": "#/$defs/d7"}, "b": {"$ref": "#/$defs/d49999"}}}  # fmt: skip
    settled = settle(schema, SchemaOptions())
    assert Counting.looked == {"d7", "d40000", "d49999"}
    assert len(settled.builder._atoms) < 20


def chain(length: int, end: Any) -> dict[str, Any]:
    definitions = {str(i): {"$ref": f"#/$defs/{i + 1}", "title": "a link"} for i in range(length)}
    return {"$ref": "#/$defs/0", "$defs": {**definitions, str(length): end}}


def test_a_chain_of_references_has_no_depth() -> None:
    judge = Judge(chain(5_000, INTEGER))
    assert judge.accepts_text("1")
    assert not judge.accepts_text('"1"')
    everywhere = chain(5_000, INTEGER)
    everywhere["properties"] = {name: {"$ref": f"#/$defs/{name}"} for name in everywhere["$defs"]}
    del everywhere["$ref"]
    assert error_of(everywhere) is None
    circle = error_of(chain(5_000, {"$ref": "#/$defs/4000"}))
    assert isinstance(circle, InvalidSpecification)
    assert len(circle.message) < 1_000
    assert isinstance(error_of(chain(5_000, {"$ref": "#/$defs/none"})), ReferenceNotFound)
    assert isinstance(error_of(chain(5_000, {"allOf": [{"$ref": "#/$defs/3"}]})), InvalidSpecification)


@pytest.mark.parametrize("keyword", ["properties", "allOf", "anyOf"])
def test_shared_references_are_read_once(keyword: str) -> None:
    def twice(i: int) -> Any:
        one = {"$ref": f"#/$defs/{i + 1}"}
        return {"a": one, "b": one} if keyword == "properties" else [one, dict(one)]

    definitions = {str(i): {keyword: twice(i)} for i in range(20)}
    settled = settle({"$ref": "#/$defs/0", "$defs": {**definitions, "20": INTEGER}}, SchemaOptions())
    assert len(settled.builder._atoms) < 100


def test_deep_application_in_place_meets_a_limit() -> None:
    definitions = {str(i): {"$ref": f"#/$defs/{i + 1}", "minimum": i} for i in range(5_000)}
    assert isinstance(error_of({"$ref": "#/$defs/0", "$defs": {**definitions, "5000": INTEGER}}), LimitExceeded)


# ---------------------------------------------------------------- what is said


def test_everything_that_is_wrong_comes_in_one_error() -> None:
    schema = {
        "properties": {
            "a": {"pattern": "("}, "b": {"$ref": "#/$defs/typo"}, "c": {"$ref": "other.json"},
            "d": {"patternProperties": {"[": True, "(": True}}, "e": {"format": "mine"}, "f": {"$ref": "#/type"},
        },
        "type": "object",
    }  # fmt: skip
    error = error_of(schema, formats="all")
    assert isinstance(error, ReferenceNotFound)
    assert error.reference == "#/$defs/typo"
    found = [(problem.path.rpartition("/")[2], problem.kind) for problem in error.problems]
    assert found == [
        ("b", "ReferenceNotFound"), ("c", "ReferenceNotFound"), ("f", "InvalidSpecification"), ("a", "PatternError"),
        ("d", "PatternError"), ("d", "PatternError"), ("e", "UnsupportedKeyword"),
    ]  # fmt: skip
    assert all(problem.help for problem in error.problems)
    assert all(f"#/properties/{name}" in str(error) for name in "abcdef")
    wider = error_of(schema, formats="all", on_unsupported="warn")
    assert isinstance(wider, ReferenceNotFound)
    assert len(wider.problems) == 3


def test_one_problem_is_an_error_of_its_own_kind() -> None:
    for schema, kind in (({"pattern": "("}, PatternError), ({"$ref": "#x"}, ReferenceNotFound)):
        error = error_of({"properties": {"p": schema}})
        assert type(error) is kind
        assert str(error).count("help:") <= 1


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("#/$defs/adress", "did you mean 'address'?"),
        ("#adress", "did you mean 'address'?"),
        ("adress.json", f"did you mean '{BASE}address.json'?"),
        ("https://elsewhere.org/x", "no document has the URI 'https://elsewhere.org/x'"),
    ],
)
def test_a_reference_to_nowhere_says_what_there_is(reference: str, said: str) -> None:
    schema = {"$id": BASE, "properties": {"p": {"$ref": reference}}, "$defs": {"address": {"$anchor": "address"}}}
    error = error_of(schema, registry={BASE + "address.json": True, BASE + "person.json": True})
    assert isinstance(error, ReferenceNotFound)
    assert said in str(error)


@pytest.mark.parametrize("reference", ["#/type", "#/required", "#/required/0", "#/maximum"])
def test_a_reference_to_what_is_no_schema_is_refused_where_it_stands(reference: str) -> None:
    error = error_of({"type": "object", "required": ["p"], "maximum": 3, "properties": {"p": {"$ref": reference}}})
    assert isinstance(error, InvalidSpecification)
    assert (error.at, error.keyword) == ("#/properties/p", "$ref")
    assert "is no schema" in error.message


@pytest.mark.parametrize(
    "reference", ["http://[", "#/%zz", "#%ff", "%", "//", "#/" + "a/" * 500, "x" * 10_000, "\ud800"]
)
def test_hostile_references_are_typed_errors_and_short(reference: str) -> None:
    error = error_of({"$id": "http://[::1", "properties": {"p": {"$ref": reference}}})
    assert isinstance(error, ConstrainError)
    assert len(str(error)) < 5_000
