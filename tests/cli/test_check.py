"""`constrain check`: what it prints for people and for machines, and with which exit code."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest
from typer.testing import CliRunner

from constrain.cli.app import app, check_command
from constrain.cli.check import CheckFormat
from constrain.cli.printers import PRINTERS
from constrain.linting.lint import PROFILES

ORDER = """{
  "type": "object",
  "properties": {
    "id": {"type": "string", "minimum": 3},
    "total": {"type": "number", "minimum": 10, "maximum": 5},
    "state": {"enum": ["open", "closed", "open"], "default": "opened"},
    "tags": {"type": "array", "uniqueItem": true}
  },
  "required": ["id", "idd"],
  "additionalProperties": {"pattern": "[a-z]+"}
}
"""

ORDER_SAYS = """\
order.json:4:30: warning: wrong-type-keyword: 'minimum' speaks of numbers, but 'type' allows only string
    4 |     "id": {"type": "string", "minimum": 3},
                                     ^
  at: #/properties/id
  help: remove it, or correct 'type' if numbers are meant
order.json:5:5: warning: unsatisfiable: 'total' is declared, and no value satisfies it: minimum 10 > maximum 5
    5 |     "total": {"type": "number", "minimum": 10, "maximum": 5},
            ^
  at: #/properties/total
  help: resolve the contradiction; as it stands the member is forbidden
order.json:6:42: warning: duplicate-enum: "open" stands in 'enum' twice
    6 |     "state": {"enum": ["open", "closed", "open"], "default": "opened"},
                                                 ^
  at: #/properties/state/enum/2
  help: remove one of them
order.json:6:51: warning: invalid-default: "opened" is not what 'enum' asks for
    6 |     "state": {"enum": ["open", "closed", "open"], "default": "opened"},
                                                          ^
  at: #/properties/state/default
  help: give a value that is allowed
order.json:7:31: warning: misspelt-keyword: 'uniqueItem' is not a keyword, and is ignored
    7 |     "tags": {"type": "array", "uniqueItem": true}
                                      ^
  at: #/properties/tags
  help: did you mean 'uniqueItems'?
order.json:10:28: note: unanchored-pattern: the pattern '[a-z]+' has no anchor: it is enough that it matches somewhere
    10 |   "additionalProperties": {"pattern": "[a-z]+"}
                                    ^
  at: #/additionalProperties
  help: write '^(?:[a-z]+)$' if the whole string is meant
order.json: 5 warnings, 1 note
1 specification: 0 clean, 1 with findings
"""

PROFILE = """{"type": "object",
 "properties": {"a": {"type": "string"}},
 "oneOf": [{}]}
"""

PROFILE_SAYS = """\
p.json:1:2: error: openai-strict/open-object: the object is not closed
    1 | {"type": "object",
         ^
  at: #
  help: write additionalProperties: false
p.json:2:17: error: openai-strict/optional-member: 'a' is not required; OpenAI wants every member in 'required'
    2 |  "properties": {"a": {"type": "string"}},
                        ^
  at: #/properties/a
  help: add it to 'required', and "null" to its types if it may be left out
p.json:3:2: error: openai-strict/refused-keyword: OpenAI refuses 'oneOf'
    3 |  "oneOf": [{}]}
         ^
  at: #
  help: write 'anyOf' with branches that exclude each other
p.json: 3 errors
1 specification: 0 clean, 1 with findings
"""

BROKEN = '{"properties": {"a": {"$ref": "#/nowhere"}},\n "required": ["a"], "itmes": {}}'

EMPTY = """{
  "required": ["b"],
  "type": "object",
  "additionalProperties": false
}
"""

EMPTY_SAYS = """\
empty.json:1:1: error: EmptyLanguage: no value satisfies the schema: \
'b' is required, and no member may have that name at #
    1 | {
        ^
  at: #
  help: relax or remove one of the keywords there
empty.json:2:16: warning: forbidden-required: 'b' is required and not declared, \
and 'additionalProperties: false' forbids it
    2 |   "required": ["b"],
                       ^
  at: #/required/0
  help: declare it in 'properties' there, or do not require it
empty.json: 1 error, 1 warning
1 specification: 0 clean, 1 with findings
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(*arguments: str, stdin: str | bytes = "") -> Any:
    result = CliRunner().invoke(app, ["check", *arguments], input=stdin, env={"NO_COLOR": "1"})
    assert "Traceback" not in result.output
    return result


# ---------------------------------------------------------------- for people


@pytest.mark.parametrize(
    ("name", "text", "arguments", "says"),
    [
        ("order.json", ORDER, (), ORDER_SAYS),
        ("p.json", PROFILE, ("--profile", "openai-strict"), PROFILE_SAYS),
        ("empty.json", EMPTY, (), EMPTY_SAYS),
    ],
)
def test_findings_are_printed_as_a_compiler_would(
    folder: Path, name: str, text: str, arguments: tuple[str, ...], says: str
):
    (folder / name).write_text(text)
    result = check(name, *arguments)
    assert result.stdout == says
    assert result.exit_code == 1


def test_a_broken_schema_is_linted_too(folder: Path):
    (folder / "broken.json").write_text(BROKEN)
    lines = check("broken.json").stdout.splitlines()
    assert [line.split(": ")[1:3] for line in lines if line.startswith("broken.json:")][:2] == [
        ["error", "ReferenceNotFound"],
        ["warning", "misspelt-keyword"],
    ]


def test_exit_codes_count_warnings_and_under_strict_notes(folder: Path):
    (folder / "note.json").write_text('{"type": "string", "pattern": "[a-z]+"}')
    (folder / "clean.json").write_text('{"type": "string", "maxLength": 3}')
    assert check("clean.json").exit_code == 0
    assert check("clean.json", "--strict").exit_code == 0
    assert check("note.json").exit_code == 0
    assert "note.json: ok (" in check("note.json").stdout
    assert check("note.json", "--strict").exit_code == 1
    assert check("-", stdin='{"minLenght": 2}').exit_code == 1
    assert check("clean.json", "--profile", "openai-strict").exit_code == 1
    assert check("clean.json", "--profile", "no-such-service").exit_code == 2
    assert check("clean.json", "--format", "yaml").exit_code == 2
    assert check("no-such-file.json").exit_code == 2


def test_notes_of_one_kind_do_not_flood():
    schema = json.dumps({"properties": {f"p{i}": {"hue": 1} for i in range(9)}})
    shown = check("-", stdin=schema).stdout
    assert shown.count("unknown-keyword") == 4
    assert "standard input: note: unknown-keyword: 6 more; --strict shows all" in shown
    assert check("-", "--strict", stdin=schema).stdout.count("unknown-keyword") == 9


def test_several_files_have_a_line_for_all(folder: Path):
    (folder / "a.json").write_text("{}")
    (folder / "b.json").write_text('{"minLenght": 2}')
    result = check("a.json", "b.json", "--regex", "a+")
    assert result.stdout.endswith("3 specifications: 2 clean, 1 with findings\n")


def test_one_file_has_that_line_too(folder: Path):
    (folder / "a.json").write_text("{}")
    assert check("a.json").stdout.endswith("a.json: ok\n1 specification: 1 clean, 0 with findings\n")


# ---------------------------------------------------------------- what is accepted


def test_findings_of_an_ignored_code_are_counted_and_do_not_fail(folder: Path):
    (folder / "a.json").write_text('{"type": "string", "colour": 1, "pattern": "[a-z]+"}')
    plain = check("a.json", "--strict")
    assert plain.exit_code == 1
    codes = ("unknown-keyword", "unanchored-pattern", "unbounded-string")
    ignored = check("a.json", "--strict", *(part for code in codes for part in ("--ignore", code)))
    assert ignored.exit_code == 0
    assert ignored.stdout.splitlines()[-1] == "1 specification: 1 clean, 0 with findings, 3 findings ignored"
    assert not any(f": {code}: " in ignored.stdout for code in codes)
    some = check("a.json", "--strict", "--ignore", "unknown-keyword")
    assert some.exit_code == 1 and some.stdout.endswith("1 with findings, 1 finding ignored\n")
    said = json.loads(check("a.json", "--format", "json", "--ignore", "unknown-keyword").stdout)
    assert said["ignored"] == said["specifications"][0]["ignored"] == 1


def test_a_code_that_no_finding_has_is_wrong_usage(folder: Path):
    (folder / "a.json").write_text("{}")
    result = check("a.json", "--ignore", "unbound-string")
    assert result.exit_code == 2
    assert "unbounded-string" in " ".join(result.output.replace("│", " ").split())
    assert check("a.json", "--ignore", "EmptyLanguage", "--ignore", "openai-strict/root").exit_code == 0


# ---------------------------------------------------------------- folders and registries


@pytest.fixture
def schemas(folder: Path) -> Path:
    """A registry with neighbours in a folder of their own, and three files that cannot be used."""
    (folder / "schemas" / "parts").mkdir(parents=True)
    for name, text in (
        ("broken.json", "{"),
        ("empty.json", ""),
        ("twice.json", '{"a": 1,\n "b": {"a": 2},\n "a": 3}'),
        ("person.json", '{"properties": {"home": {"$ref": "parts/home.json"}}}'),
        ("parts/home.json", '{"items": {"$ref": "street.json"}, "contains": {"$ref": "../person.json"}}'),
        ("parts/street.json", '{"type": "string"}'),
    ):
        (folder / "schemas" / name).write_text(text)
    return folder / "schemas"


@pytest.mark.parametrize("output_format", [*PRINTERS])
def test_what_is_wrong_in_a_registry_is_found_and_the_rest_is_checked(schemas: Path, output_format: str):
    result = check("schemas/person.json", "--registry", "schemas", "--format", output_format)
    assert result.exit_code == 1
    assert all(name in result.stdout for name in ("broken.json", "empty.json", "twice.json"))
    if output_format == "text":
        assert "schemas/person.json: ok (" in result.stdout
        assert "4 specifications: 1 clean, 3 with findings" in result.stdout


def test_a_faulty_file_that_is_checked_itself_is_told_once(schemas: Path):
    result = check("schemas/broken.json", "schemas/person.json", "--registry", "schemas", "--format", "json")
    named = [one["source"] for one in json.loads(result.stdout)["specifications"]]
    assert sorted(named) == [f"schemas/{name}.json" for name in ("broken", "empty", "person", "twice")]


def test_two_files_of_a_registry_with_one_identifier_are_a_finding(folder: Path):
    (folder / "r").mkdir()
    for name in ("a", "b"):
        (folder / "r" / f"{name}.json").write_text('{"$id": "urn:x"}')
    result = check("r", "--registry", "r")
    assert result.exit_code == 1 and "have the same '$id'" in result.stdout
    assert "3 specifications: 2 clean, 1 with findings" in result.stdout


def test_a_file_in_a_registry_finds_its_neighbours(schemas: Path):
    for name in ("broken", "empty", "twice"):
        (schemas / f"{name}.json").unlink()
    result = check("schemas", "--registry", "schemas")
    assert result.exit_code == 0, result.stdout
    assert "3 specifications: 3 clean" in result.stdout
    assert check("schemas/parts/home.json").exit_code == 1
    accepted = CliRunner().invoke(app, ["match", "schemas/parts/home.json", '["a"]', "--registry", "schemas"])
    assert accepted.exit_code == 0, accepted.output
    rejected = CliRunner().invoke(app, ["match", "schemas/parts/home.json", '["a", 7]', "--registry", "schemas"])
    assert "7 is not of type 'string', at #/1" in rejected.output


def test_a_folder_stands_for_its_files_and_one_without_is_wrong_usage(schemas: Path):
    assert "6 specifications: " in check("schemas").stdout
    (schemas / "none").mkdir()
    assert check("schemas/none").exit_code == 2


def test_faults_of_json_have_their_place_and_a_plain_sentence(schemas: Path):
    said = check("schemas/empty.json", "schemas/twice.json").stdout
    assert "schemas/empty.json:1:1: error: InvalidSpecification: the schema is empty\n" in said
    assert "schemas/twice.json:3:2: error: InvalidSpecification: the name 'a' stands twice in one object\n" in said


# ---------------------------------------------------------------- the report


def test_places_in_the_report_do_not_break_and_empty_reasons_take_no_column(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "80")
    names = [f"a_rather_long_name_{i}" for i in range(4)]
    inner: dict[str, Any] = {"type": "string", "format": "colour", "title": "t"}
    for name in names:
        inner = {"properties": {name: inner}}
    place = "#" + "".join(f"/properties/{name}" for name in reversed(names))
    said = check("-", "--report", stdin=json.dumps(inner)).stdout
    annotation, enforced = said.split("\nannotation (1)")[1].split("\nenforced")
    assert f"  format   {place}  " in annotation and "reason" in annotation
    assert place in enforced and "reason" not in enforced


def test_the_report_is_grouped_by_status_what_is_not_enforced_first():
    schema = {"type": "object", "title": "t", "properties": {"a": {"format": "email", "type": "string"}, "b": {"c": 1}}}
    shown = check("-", "--report", stdin=json.dumps(schema)).stdout
    headings = re.findall(r"^(refused|approximated|annotation|enforced) \((\d+)\)$", shown, re.MULTILINE)
    assert headings == [("approximated", "1"), ("annotation", "1"), ("enforced", "3")]
    assert re.search(r"^  format +#/properties/a +.*\n", shown, re.MULTILINE)


def test_a_refused_schema_has_the_report_of_the_wider_language():
    schema = json.dumps({"type": "string", "format": "colour"})
    arguments = ("-", "--formats", "all", "--format", "json")
    plain = json.loads(check(*arguments, stdin=schema).stdout)["specifications"][0]
    assert plain["report"] is None and plain["findings"][0]["code"] == "UnsupportedKeyword"
    [one] = json.loads(check(*arguments, "--report", stdin=schema).stdout)["specifications"]
    assert [entry["status"] for entry in one["report"] if entry["keyword"] == "format"] == ["refused"]
    assert not one["clean"]


def test_what_is_left_out_under_warn_is_a_warning_with_its_place():
    schema = '{"type": "string",\n "format": "colour"}'
    result = check("-", "--formats", "all", "--on-unsupported", "warn", stdin=schema)
    assert "standard input:2:2: warning: not-enforced: 'format'" in result.stdout
    assert result.exit_code == 1


# ---------------------------------------------------------------- for machines


def test_json_has_every_field_of_every_finding(folder: Path):
    (folder / "order.json").write_text(ORDER)
    said = json.loads(check("order.json", "--format", "json").stdout)
    assert said["version"] == 1 and said["clean"] is False
    assert said["counts"] == {"error": 0, "warning": 5, "note": 1}
    [one] = said["specifications"]
    assert {*one} == {"source", "kind", "clean", "findings", "ignored", "report"}
    assert one["findings"][0] == {
        "code": "wrong-type-keyword",
        "severity": "warning",
        "message": "'minimum' speaks of numbers, but 'type' allows only string",
        "at": "#/properties/id",
        "keyword": "minimum",
        "expected": None,
        "help": "remove it, or correct 'type' if numbers are meant",
        "line": 4,
        "column": 30,
    }
    assert {*one["report"][0]} == {"path", "keyword", "status", "reason", "direction"}


def test_sarif_has_rules_results_and_regions(folder: Path):
    (folder / "a b.json").write_text(ORDER)
    log = json.loads(check("a b.json", "-", "--format", "sarif", stdin='{"minLenght": 2}').stdout)
    assert log["version"] == "2.1.0"
    [run] = log["runs"]
    rules = {rule["id"]: rule["shortDescription"]["text"] for rule in run["tool"]["driver"]["rules"]}
    assert {result["ruleId"] for result in run["results"]} == {*rules}
    first = run["results"][0]
    assert first["level"] == "warning"
    assert first["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "a%20b.json"},
                "region": {"startLine": 4, "startColumn": 30},
            },
            "logicalLocations": [{"fullyQualifiedName": "#/properties/id"}],
        }
    ]
    assert "physicalLocation" not in run["results"][-1]["locations"][0]


def test_github_commands_are_one_line_each_and_escaped(folder: Path):
    (folder / "a,b.json").write_text('{"type": "string",\n "default": "100%\\n"\n, "maxLength": 2, "title": 3}')
    lines = check("a,b.json", "--format", "github").stdout.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("::warning file=a%2Cb.json,line=2,col=2,title=invalid-default::")
    assert "100%25" in lines[0] and "%0Ahelp: " in lines[0]


@pytest.mark.parametrize("output_format", [*PRINTERS])
@pytest.mark.parametrize("text", ["{", "[" * 50_000, "\x00\x1b[31m", '{"\\ud800": {"\x7f": 1}}', '{"title": "\u202e"}'])
def test_hostile_files_are_findings_in_every_format(output_format: str, text: str):
    result = check("-", "--format", output_format, "--profile", "openai-strict", stdin=text)
    assert result.exit_code in (0, 1)
    if output_format in ("json", "sarif"):
        json.loads(result.stdout)
    else:
        assert not {"\x1b", "\u202e", "\x7f"} & {*result.stdout}


def test_the_options_offer_what_there_is():
    assert {*get_args(CheckFormat)} == {*PRINTERS}
    offered = str(check_command.__annotations__["profile"])
    assert all(repr(name) in offered or f'"{name}"' in offered for name in PROFILES)
