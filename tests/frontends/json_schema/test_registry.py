"""Registries of files: what is read, how it is found, and what is said about files that cannot be used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import constrain
from constrain.errors import ConstrainError, InvalidSpecification, LimitExceeded, ReferenceNotFound
from constrain.frontends.json_schema import registry as registries
from tests.frontends.json_schema.writing import Judge, error_of

INTEGER = {"type": "integer"}


def folder(root: Path, **files: Any) -> Path:
    """`root` with files; `__` in a name is a folder, and bytes are written as they are."""
    for name, content in files.items():
        path = root / (name.replace("__", "/") + ".json")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return root


def test_documents_are_found_by_their_path_in_the_folder_and_by_their_identifier(tmp_path: Path) -> None:
    folder(
        tmp_path,
        parts__a={"$ref": "b.json#/$defs/n"},
        parts__b={"$defs": {"n": {"$ref": "../top.json"}}},
        top={"$ref": "http://example.com/named"},
        parts__c={"$id": "http://example.com/named", "$ref": "#n", "$defs": {"n": {"$anchor": "n", **INTEGER}}},
        old={"$schema": "http://json-schema.org/draft-04/schema#", "id": "http://example.com/old", **INTEGER},
    )
    (tmp_path / "parts" / "with blank.json").write_text('{"type": "integer"}')
    (tmp_path / "notes.txt").write_text("not a schema")
    references = ["parts/a.json", "http://example.com/named", "http://example.com/old", "old.json", "parts/c.json#n",
                  "parts/with%20blank.json", "parts/with blank.json"]  # fmt: skip
    for reference in references:
        for given in (tmp_path, str(tmp_path)):
            judge = Judge({"$ref": reference}, registry=given)
            assert judge.accepts_text("1"), reference
            assert not judge.accepts_text('"1"')


def test_a_metaschema_may_stand_in_a_folder(tmp_path: Path) -> None:
    vocabulary = "https://json-schema.org/draft/2020-12/vocab/"
    meta = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "http://example.com/meta",
            "$vocabulary": {vocabulary + "core": True, vocabulary + "applicator": True}}  # fmt: skip
    judge = Judge({"$schema": "http://example.com/meta", "type": "null"}, registry=folder(tmp_path, m=meta))
    assert judge.accepts_text("1")


def test_the_whole_way_from_a_folder_to_a_validated_value(tmp_path: Path) -> None:
    folder(tmp_path, address={"type": "object", "required": ["zip"], "properties": {"zip": {"type": "string"}}})
    spec = constrain.json_schema(
        {"properties": {"home": {"$ref": "address.json"}}, "type": "object"}, registry=tmp_path
    )
    assert spec.accepts('{"home":{"zip":"1"}}')
    assert not spec.accepts('{"home":{}}')
    spec.validate('{"home":{"zip":"1"}}')
    with pytest.raises(constrain.ValidationFailed):
        spec.validate('{"home":{}}')


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "not JSON"),
        (b'{"a": 1, "a": 2}', "twice"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[]", "holds []"),
        (b"", "is empty"),
        (b"3", "holds 3"),
        (b"[" * 100_000, "too deep"),
        (b'{"minimum": NaN}', "NaN"),
    ],
)
def test_a_file_that_is_no_schema_is_named(tmp_path: Path, content: bytes, said: str) -> None:
    error = error_of({}, registry=folder(tmp_path, good=INTEGER, parts__bad=content))
    assert isinstance(error, InvalidSpecification | LimitExceeded)
    assert said in error.message
    assert str(tmp_path / "parts" / "bad.json") in error.message
    assert error.at is not None
    assert error.at.startswith(str(tmp_path / "parts" / "bad.json"))


def test_two_files_with_one_identifier_are_both_named(tmp_path: Path) -> None:
    error = error_of({}, registry=folder(tmp_path, a={"$id": "urn:x:1"}, b={"$id": "urn:x:1"}))
    assert isinstance(error, InvalidSpecification)
    assert "a.json" in error.message
    assert "b.json" in error.message


def test_strangers_cannot_have_files_read(tmp_path: Path) -> None:
    folder(tmp_path, a=INTEGER)
    for given in (tmp_path, str(tmp_path)):
        error = error_of({"$ref": "a.json"}, registry=given, trust="untrusted")
        assert isinstance(error, InvalidSpecification)
        assert "untrusted" in error.message
    assert error_of({"$ref": "a.json"}, registry={"a.json": INTEGER}, trust="untrusted") is None
    assert isinstance(error_of({"$ref": (tmp_path / "a.json").as_uri()}), ReferenceNotFound)


def test_what_is_neither_folder_nor_mapping_is_refused(tmp_path: Path) -> None:
    folder(tmp_path, a=INTEGER)
    for given in (3, [INTEGER], tmp_path / "a.json", tmp_path / "none", "", "\0", {1: INTEGER}, b"x"):
        assert isinstance(error_of({}, registry=given), InvalidSpecification), given
    for document in (3, "{}", None, [INTEGER]):
        assert isinstance(error_of({"$ref": "urn:x:y"}, registry={"urn:x:y": document}), InvalidSpecification)


def test_a_folder_has_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder(tmp_path, a=INTEGER, b=INTEGER, c=INTEGER)
    monkeypatch.setattr(registries, "MAX_FILES", 2)
    assert isinstance(error_of({}, registry=tmp_path), LimitExceeded)
    monkeypatch.setattr(registries, "MAX_FILES", 3)
    assert error_of({}, registry=tmp_path) is None
    monkeypatch.setattr(registries, "MAX_BYTES", 40)
    assert isinstance(error_of({}, registry=tmp_path), LimitExceeded)


def test_odd_entries_of_a_folder_are_typed_errors_or_passed_over(tmp_path: Path) -> None:
    folder(tmp_path, a=INTEGER)
    (tmp_path / "folder.json").mkdir()
    assert error_of({"$ref": "a.json"}, registry=tmp_path) is None
    (tmp_path / "broken.json").symlink_to(tmp_path / "none")
    assert isinstance(error_of({}, registry=tmp_path), ConstrainError)


def test_faults_are_told_and_left_out_where_somebody_takes_them(tmp_path: Path) -> None:
    path = folder(tmp_path, good=INTEGER, parts__bad=b"{", parts__fine={"$id": "urn:a"}, twice={"$id": "urn:a"})
    told: list[str] = []
    documents = registries.read_folder(path, lambda file, _: told.append(file.name))
    assert len(documents) == 2 and "good.json" in documents
    assert len(told) == 2 and "bad.json" in told


@pytest.mark.parametrize("dialect", [None, "draft4", "draft7", "draft2020-12"])
@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "y.json"},
        {"allOf": [{"$ref": "../parts/y.json"}]},
        {"allOf": [{"$ref": "x.json#/definitions/a"}], "definitions": {"a": {"$ref": "y.json"}}},
        {"$ref": "#/definitions/a", "definitions": {"a": {"$ref": "y.json"}}},
    ],
)
def test_relative_references_start_where_the_schema_comes_from(dialect: str | None, schema: dict[str, Any]) -> None:
    registry = {"parts/y.json": {"type": "integer"}, "y.json": {"type": "string"}}
    specification = constrain.json_schema(schema, dialect=dialect, registry=registry, base_uri="parts/x.json")
    assert specification.accepts("1") and not specification.accepts('"a"')
    specification.validate("1")
    assert "is not of type 'integer'" in specification.explain('"a"').reason


def test_a_base_has_no_fragment() -> None:
    for base in ("a#b", 7):
        with pytest.raises(InvalidSpecification, match="base_uri"):
            constrain.json_schema({}, base_uri=base)  # type: ignore[arg-type]
