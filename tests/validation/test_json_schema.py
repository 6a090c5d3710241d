"""The judge against the official suite, a second validator, and the traps that caught its base."""

from __future__ import annotations

import json
import os
from decimal import Decimal
from pathlib import Path

import jsonschema_rs
import pytest

from constrain.errors import InvalidSpecification, LimitExceeded, PatternError, ReferenceNotFound
from constrain.validation.json_schema import Failure, Judge, Verdict, validate

DATA = Path(os.environ.get("CONSTRAIN_DATA", Path(__file__).parents[3] / "shared" / "data"))
SUITE = DATA / "json-schema-test-suite"
DIALECTS = ("draft4", "draft6", "draft7", "draft2019-09", "draft2020-12")

needs_suite = pytest.mark.skipif(not SUITE.exists(), reason="the official suite is not here (set CONSTRAIN_DATA)")

STRICT = "strict 2020-12 knows no 'dependencies'; the forgiving dialect does"


def remotes() -> dict[str, object]:
    root = SUITE / "remotes"
    return {
        f"http://localhost:1234/{file.relative_to(root).as_posix()}": json.loads(file.read_text(encoding="utf-8"))
        for file in root.rglob("*.json")
    }


def judge_of(schema, dialect: str, formats, registry) -> Judge:
    names_itself = isinstance(schema, dict) and "$schema" in schema
    return Judge(schema, dialect=None if names_itself else dialect, formats=formats, registry=registry)


def disagreements(file: Path, dialect: str, formats, registry) -> list[str]:
    found = []
    for group in json.loads(file.read_text(encoding="utf-8")):
        judge = judge_of(group["schema"], dialect, formats, registry)
        found += [
            f"{group['description']} / {test['description']}"
            for test in group["tests"]
            if judge.value(test["data"]).ok != test["valid"] or judge.text(json.dumps(test["data"])).ok != test["valid"]
        ]
    return found


@needs_suite
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_official_suite_agrees_on_every_required_case(dialect: str) -> None:
    registry = remotes()
    for file in sorted((SUITE / "tests" / dialect).glob("*.json")):
        assert disagreements(file, dialect, "annotation", registry) == [], file.name


@needs_suite
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_official_suite_agrees_on_every_format(dialect: str) -> None:
    for file in sorted((SUITE / "tests" / dialect / "optional" / "format").glob("*.json")):
        assert disagreements(file, dialect, "known", {}) == [], file.name


@needs_suite
def test_the_official_suite_agrees_on_optional_cases() -> None:
    registry = remotes()
    for file in sorted((SUITE / "tests" / "draft2020-12" / "optional").glob("*.json")):
        if file.name == "dependencies-compatibility.json":
            continue  # STRICT
        assert disagreements(file, "draft2020-12", "known", registry) == [], file.name


TRAPS = [  # schema, text, valid, what the second judge says where it differs (None: the same)
    ({"multipleOf": 0.01}, "19.99", True, None),
    ({"multipleOf": 0.01}, "19.995", False, None),
    ({"multipleOf": 1e-7}, "12391239123", True, None),
    ({"multipleOf": 0.5}, "1e308", True, None),
    ({"multipleOf": 3}, "1e999999999", False, "parses floats"),
    ({"minimum": 9007199254740993}, "9007199254740992", False, None),
    ({"maximum": 0.1}, "0.10000000000000000001", False, "rounds to a float"),
    ({"exclusiveMaximum": 1e300}, "1e299", True, None),
    ({"type": "integer"}, "1.0", True, None),
    ({"type": "integer"}, "1E2", True, None),
    ({"type": "integer"}, "1.5e1", True, None),
    ({"type": "integer"}, "1.25e1", False, None),
    ({"type": "integer"}, "true", False, None),
    ({"const": 1}, "1.0", True, None),
    ({"const": 1}, "true", False, None),
    ({"const": [False]}, "[0]", False, None),
    ({"enum": [{"a": [1]}]}, '{"a": [1.0]}', True, None),
    ({"enum": [{"a": [1]}]}, '{"a": [true]}', False, None),
    ({"uniqueItems": True}, "[1, 1.0]", False, None),
    ({"uniqueItems": True}, "[1, true]", True, None),
    ({"uniqueItems": True}, '[{"a": 1, "b": [2]}, {"b": [2.0], "a": 1}]', False, None),
    ({"uniqueItems": True}, '[{"a": false}, {"a": 0}]', True, None),
    ({"pattern": "^\\w$"}, '"é"', False, None),
    ({"pattern": "^a$"}, '"a\\n"', False, None),
    ({"pattern": "^\\d$"}, '"४"', False, None),
    ({"pattern": "^.$"}, '"😀"', True, None),
    ({"pattern": "^\\p{Lu}$"}, '"É"', True, None),
    ({"pattern": "^[\\w-.]$"}, '"-"', True, "has no Annex B"),
    ({"patternProperties": {"^\\w$": False}}, '{"é": 1}', True, None),
    ({"patternProperties": {"^a$": True}, "additionalProperties": False}, '{"a\\n": 1}', False, None),
    ({"maxLength": 1}, '"😀"', True, None),
    ({"minLength": 2.0}, '"ab"', True, None),
    ({"format": "date"}, '"2023-02-29"', False, None),
    ({"format": "date"}, '"0000-02-29"', True, None),
    ({"format": "time"}, '"23:59:60+00:30"', False, None),
    ({"format": "no-such-format"}, '"x"', True, None),
    ({"unevaluatedProperties": False, "patternProperties": {"^\\w$": True}}, '{"é": 1}', False, None),
]


@pytest.mark.parametrize(("schema", "text", "valid", "second"), TRAPS, ids=lambda value: str(value)[:60])
def test_traps_are_judged_right(schema, text: str, valid: bool, second: str | None) -> None:
    assert validate(schema, text, dialect="2020-12").ok == valid
    assert validate(json.dumps(schema), text.encode()).ok == valid
    if second is None:
        value = json.loads(text)
        assert jsonschema_rs.Draft202012Validator(schema, validate_formats=True).is_valid(value) == valid


def test_a_float_counts_as_the_decimal_it_shows() -> None:
    assert validate({"multipleOf": 0.01}, 19.99).ok
    assert validate({"multipleOf": Decimal("0.01")}, Decimal("19.99")).ok
    assert validate({"const": 0.1}, "0.1").ok


@pytest.mark.parametrize(
    "text",
    ['{"a": 1, "a": 1}', "NaN", "-Infinity", "[Infinity]", '"\\ud800"', '{"\\udc00": 1}', "01", "[1,]", "", "{'a': 1}",
     '"\n"', "[" * 5000, "[" * 150 + "]" * 150, "1e99999999999999999999", b"\xff", b'"\xed\xa0\x80"', "\ufeff1"],
)  # fmt: skip
def test_what_is_not_json_is_a_failure(text: str | bytes) -> None:
    verdict = validate(True, text)
    assert not verdict.ok
    assert verdict.failures[0].keyword == "json"


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), "\ud800", {1: 2}, {"a": object()}, Decimal("NaN"), {1, 2}]
)
def test_a_value_that_json_does_not_have_is_a_failure(value: object) -> None:
    assert not Judge(True).value(value).ok


def test_a_huge_integer_is_judged_without_a_traceback() -> None:
    text = "1" + "0" * 10_000
    assert validate({"type": "integer", "multipleOf": 10, "minimum": 5}, text).ok
    assert not validate({"maximum": 5}, text).ok


def test_an_integer_of_draft_4_has_no_point() -> None:
    for text, valid in {"1": True, "1.0": False, "1e2": False, "1" * 10_000: True, "-0": True}.items():
        assert validate({"type": "integer"}, text, dialect="4").ok == valid
        assert validate({"type": "integer"}, text, dialect="6").ok


def test_a_failure_says_where_which_rule_and_why() -> None:
    schema = {"properties": {"a/b": {"items": {"type": "integer"}}}, "required": ["c"]}
    verdict = validate(schema, '{"a/b": [1, "x"]}')
    assert not verdict.ok and not verdict
    assert [(one.path, one.keyword) for one in verdict.failures] == [("/a~1b/1", "type"), ("", "required")]
    assert all(len(one.message) <= 100 for one in verdict.failures)
    assert validate(schema, '{"c": 0}') == Verdict(True, ())
    assert "at: /a~1b/1" in str(verdict.failures[0])
    assert isinstance(verdict.failures[0], Failure)


def test_older_forms_count_where_no_dialect_is_named() -> None:
    assert not validate({"items": [{"type": "integer"}], "additionalItems": False}, "[1, 2]").ok
    assert not validate({"items": [{"type": "integer"}]}, '["a"]').ok
    assert not validate({"minimum": 1, "exclusiveMinimum": True}, "1").ok
    assert validate({"minimum": 1, "exclusiveMinimum": False}, "1").ok
    assert not validate({"dependencies": {"a": ["b"]}}, '{"a": 1}').ok
    assert not validate({"dependencies": {"a": {"required": ["b"]}}}, '{"a": 1}').ok
    assert not validate({"prefixItems": [True], "items": False}, "[1, 2]").ok
    assert not validate({"items": [True], "unevaluatedItems": False}, "[1, 2]").ok


@pytest.mark.parametrize("dialect", ["6", "7", "2019-09"])
def test_additional_items_say_nothing_beside_a_boolean(dialect: str) -> None:
    assert validate({"items": True, "additionalItems": False}, "[1, 2]", dialect=dialect).ok
    assert not validate({"items": [True], "additionalItems": False}, "[1, 2]", dialect=dialect).ok


def test_anchors_are_found_beside_and_below_older_forms() -> None:
    schema = {
        "$dynamicAnchor": "node",
        "items": [{"type": "null"}, {"$anchor": "number", "type": "number"}],
        "additionalItems": {"$dynamicRef": "#node"},
        "dependencies": {"a": {"$anchor": "b", "required": ["b"]}},
        "properties": {"c": {"$ref": "#number"}, "d": {"$ref": "#b"}},
    }
    assert validate(schema, '[null, 1, [null, 2], {"c": 3}]').ok
    assert not validate(schema, '[null, 1, [null, "x"]]').ok
    assert not validate(schema, '{"c": "x"}').ok
    assert not validate(schema, '{"d": {}}').ok
    assert validate(schema, '{"d": {"b": 1}}').ok


def test_a_named_dialect_is_taken_at_its_word() -> None:
    named = {"$schema": "https://json-schema.org/draft/2020-12/schema", "dependencies": {"a": ["b"]}}
    assert validate(named, '{"a": 1}').ok
    assert validate({"dependencies": {"a": ["b"]}}, '{"a": 1}', dialect="2020-12").ok
    draft7 = {"$schema": "http://json-schema.org/draft-07/schema#", "prefixItems": [False]}
    assert validate(draft7, "[1]").ok
    for name in ("draft7", "7", "draft-07", "http://json-schema.org/draft-07/schema#"):
        assert validate({"prefixItems": [False]}, "[1]", dialect=name).ok
    with pytest.raises(InvalidSpecification):
        validate({}, "1", dialect="draft9")


def test_corrections_survive_a_reference_to_a_schema_that_names_its_dialect() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "pattern": "^\\w*$",
        "multipleOf": 0.01,
        "items": {"$ref": "#"},
    }
    assert not validate(schema, '[["é"]]').ok
    assert validate(schema, "[[19.99]]").ok


def test_formats_can_be_annotations() -> None:
    assert validate({"format": "date"}, '"x"', formats="annotation").ok
    assert not validate({"format": "date"}, '"x"').ok


@pytest.mark.parametrize(
    ("schema", "error"),
    [
        ("{", InvalidSpecification),
        ("[1]", InvalidSpecification),
        (3, InvalidSpecification),
        ({"type": "text"}, InvalidSpecification),
        ({"required": True}, InvalidSpecification),
        ({"properties": [1]}, InvalidSpecification),
        ({"maxProperties": "x"}, InvalidSpecification),
        ({"patternProperties": {"(": True}}, PatternError),
        ({"$ref": "#/nowhere"}, ReferenceNotFound),
        ({"$ref": "http://nowhere.invalid/x"}, ReferenceNotFound),
        ({"$ref": "#"}, LimitExceeded),
    ],
)
def test_a_schema_that_cannot_be_judged_is_an_error(schema, error) -> None:
    with pytest.raises(error):
        validate(schema, '{"a": 1}')


def test_a_schema_changed_in_place_is_judged_anew() -> None:
    schema = {"minimum": 3}
    assert not validate(schema, "2").ok
    schema["minimum"] = 1
    assert validate(schema, "2").ok


def test_references_lead_into_the_registry() -> None:
    registry = {"http://example.com/name": {"type": "string"}}
    assert validate({"$ref": "http://example.com/name"}, '"a"', registry=registry).ok
    assert not validate({"$ref": "http://example.com/name"}, "1", registry=registry).ok


def test_validation_imports_nothing_of_ours_but_errors() -> None:
    folder = Path(__file__).parents[2] / "constrain" / "validation"
    for file in folder.rglob("*.py"):
        for line in file.read_text(encoding="utf-8").splitlines():
            if line.strip().startswith("from ..") or "import constrain" in line or "from constrain" in line:
                assert line.strip().startswith("from ..errors import"), (file.name, line)


@pytest.mark.parametrize("value", [5, None, [1]])
def test_a_schema_that_applies_itself_is_refused_however_the_recursion_ends(value: object) -> None:
    """`rpds`, below `jsonschema`, turns a RecursionError of its callbacks into a panic, which is no `Exception`."""
    nested: dict = {"if": {"patternProperties": {"a|b": {"type": "object"}, "b$": {}}, "$ref": "#"}}
    for schema in (nested, {"if": nested["if"], "then": {}}, {"allOf": [{"not": {"$ref": "#"}}]}):
        with pytest.raises(LimitExceeded):
            validate(schema, value)
