"""The commands as a user runs them: what they print, their exit codes, and never a traceback."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from constrain.cli.app import app

SCHEMA = """{
  "type": "object",
  "properties": {
    "name": {"type": "string", "maxLength": 5},
    "age": {"type": "integer", "minimum": 0}
  },
  "required": ["name"],
  "additionalProperties": false
}
"""


@pytest.fixture
def person(tmp_path: Path) -> str:
    path = tmp_path / "person.json"
    path.write_text(SCHEMA)
    return str(path)


def invoke(*arguments: str, stdin: str | bytes = "") -> Any:
    result = CliRunner().invoke(app, list(arguments), input=stdin)
    assert "Traceback" not in result.output
    return result


def process(*arguments: str | bytes, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    done = subprocess.run(
        [sys.executable, "-m", "constrain", *arguments],
        input=stdin,
        capture_output=True,
        check=False,
        env={**os.environ, "NO_COLOR": "1", **environment},
        timeout=60,
    )
    assert b"Traceback" not in done.stderr
    return done


# ---------------------------------------------------------------- check


def test_a_clean_schema_is_ok(person: str):
    result = invoke("check", person)
    assert result.exit_code == 0
    assert result.stdout.startswith(f"{person}: ok (")


def test_a_refused_keyword_is_shown_where_it_stands(tmp_path: Path):
    path = tmp_path / "bad.json"
    path.write_text('{\n  "properties": {\n    "n": {"$dynamicRef": "#node"}\n  }\n}')
    result = invoke("check", str(path))
    assert result.exit_code == 1
    assert result.stdout.startswith(f"{path}:3:11: error: ")
    assert '    3 |     "n": {"$dynamicRef": "#node"}\n' in result.stdout
    assert "  help: " in result.stdout


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("{", "InvalidSpecification"),
        ("", "InvalidSpecification"),
        ('{"type": 7}', "InvalidSpecification"),
        ('{"type": "strin"}', "InvalidSpecification"),
        ("[" * 100_000, "LimitExceeded InvalidSpecification"),
        ('{"items":' * 5_000 + "{}" + "}" * 5_000, "LimitExceeded"),
        ('{"$ref": "#/nowhere"}', "ReferenceNotFound"),
        ('{"pattern": "("}', "PatternError"),
        ('{"type": "integer", "minimum": 7, "maximum": 3}', "EmptyLanguage"),
        ("\x00\x1b[31m", "InvalidSpecification"),
        ('"\\ud800"', "InvalidSpecification"),
        ("NaN", "InvalidSpecification"),
        ("7", "InvalidSpecification"),
    ],
)
def test_a_bad_schema_is_a_finding_of_its_kind(text: str, kind: str):
    result = invoke("check", "-", "--format", "json", stdin=text)
    assert result.exit_code == 1
    [checked] = json.loads(result.stdout)["specifications"]
    assert checked["source"] == "standard input"
    assert not checked["clean"]
    assert checked["findings"][0]["code"] in kind.split()
    assert checked["findings"][0]["message"]


def test_the_place_of_a_fault_in_json_itself_is_told():
    result = invoke("check", "-", stdin='{"type":\n  "string",\n  oops}')
    assert "standard input:3:3: error: InvalidSpecification" in result.stdout


def test_references_lead_into_folders_and_files_that_are_named(person: str, tmp_path: Path):
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "age.json").write_text('{"type": "integer"}')
    schema = '{"items": {"$ref": "https://example.com/person?v=1"}, "prefixItems": [{"$ref": "age.json"}]}'
    given = ["--registry", str(tmp_path / "schemas"), "--registry", f"https://example.com/person?v=1={person}"]
    assert invoke("check", "-", *given, stdin=schema).exit_code == 0
    spec = tmp_path / "people.json"
    spec.write_text(schema)
    assert invoke("match", str(spec), '[1, {"name": "Ada"}]', *given).exit_code == 0
    assert invoke("match", str(spec), '["1", {"name": "Ada"}]', *given).exit_code == 1
    assert invoke("match", str(spec), '[1, {"name": "Ada"}]', *given[:2]).exit_code == 1


def test_registries_that_cannot_be_used_are_named(person: str, tmp_path: Path):
    bad = tmp_path / "bad.json"
    bad.write_text("{")
    for given, code, said in (
        ([str(tmp_path / "none")], 2, "neither a folder nor a file"),
        ([f"urn:x={tmp_path / 'none'}"], 2, "no file"),
        ([f"={person}"], 2, "URI=FILE"),
        ([f"urn:x={bad}"], 1, "bad.json:1:2: error: "),
        ([person, person], 1, "two documents"),
    ):
        result = invoke("check", person, *[part for path in given for part in ("--registry", path)])
        assert result.exit_code == code
        assert said in " ".join(result.output.replace("│", " ").split())


def test_all_that_is_wrong_is_shown_where_it_stands():
    schema = '{"properties": {\n"a": {"$ref": "#/x"},\n"b": {"pattern": "("}}}'
    found = json.loads(invoke("check", "-", "--format", "json", stdin=schema).output)["specifications"][0]["findings"]
    assert [(finding["code"], finding["line"]) for finding in found] == [("ReferenceNotFound", 2), ("PatternError", 3)]


def test_several_specifications_are_summed_up(person: str):
    result = invoke("check", person, "--regex", "a+", "--regex", "(")
    assert result.exit_code == 1
    assert result.stdout.endswith("3 specifications: 2 clean, 1 with findings\n")


def test_a_fault_in_a_pattern_has_its_column():
    result = invoke("check", "--regex", r"ab(?<=c)*(\1)")
    assert result.exit_code == 1
    assert result.stdout.startswith("--regex:1:")
    assert "PatternError" in result.stdout


def test_the_report_says_what_became_of_each_keyword(person: str):
    result = invoke("check", "--report", person)
    assert result.exit_code == 0
    assert "maxLength" in result.stdout and "enforced" in result.stdout
    machine = json.loads(invoke("check", "--format", "json", person).stdout)
    assert machine["clean"] is True
    assert {"path": "#/properties/name", "keyword": "maxLength", "status": "enforced"}.items() <= next(
        entry for entry in machine["specifications"][0]["report"] if entry["keyword"] == "maxLength"
    ).items()


# ---------------------------------------------------------------- match


@pytest.mark.parametrize(
    "text", ['{"name":"Ada"}', '{"name": "Ada", "age": 36}', '{\n  "age": 36.0,\n  "name": "\\u0041da"\n}\n']
)
def test_a_text_that_satisfies_the_schema_is_accepted_however_spelt(person: str, text: str, tmp_path: Path):
    (tmp_path / "answer").write_text(text)
    assert invoke("match", person, str(tmp_path / "answer")).exit_code == 0
    assert invoke("match", person, "-", stdin=text).exit_code == 0


def test_canonical_spelling_is_that_of_a_decoder(person: str):
    assert invoke("match", "--spelling", "canonical", person, '{"name":"Ada"}').exit_code == 0
    assert invoke("match", "--spelling", "canonical", person, '{"name": "Ada"}').exit_code == 1


def test_a_rejection_shows_place_caret_expectation_and_path(person: str, tmp_path: Path):
    answer = tmp_path / "answer.json"
    answer.write_text('{\n  "name": 7\n}\n')
    result = invoke("match", person, str(answer))
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0] == f"{answer}:2:11: rejected: 7 is not of type 'string', at #/name"
    assert lines[1:3] == ['    2 |   "name": 7', "                  ^"]
    assert any(line.startswith("  expected: ") for line in lines)
    assert any(line.startswith("  path: ") and "name" in line for line in lines)


@pytest.mark.parametrize(
    ("schema", "text", "cause"),
    [
        ({"required": ["born"], "type": "object"}, "{}", "'born' is required and missing, at #"),
        ({"properties": {"a": {"required": ["b"], "type": "object"}}}, '{"a": {}}',
         "'b' is required and missing, at #/a"),
        ({"uniqueItems": True, "items": {"type": "integer"}}, "[1, 2, 1]", "two items of [1, 2, 1] are equal, at #"),
        ({"contains": {"const": 3}, "type": "array"}, "[1]", "[1] does not contain items matching the given schema"),
        ({"additionalProperties": False, "properties": {"a": {}}}, '{"b": 1}', "the name 'b' is not allowed, at #/b"),
        ({"properties": {"n": {"maximum": 5}}}, '{"n": 7}', "7 is greater than 5, at #/n"),
    ],
)  # fmt: skip
def test_a_rejection_of_whole_json_tells_the_cause(schema: dict[str, Any], text: str, cause: str, tmp_path: Path):
    path = tmp_path / "schema.json"
    path.write_text(json.dumps(schema))
    result = invoke("match", str(path), text)
    assert result.exit_code == 1
    assert f": rejected: {cause}" in result.stdout.splitlines()[0]
    machine = json.loads(invoke("match", str(path), text, "--format", "json").stdout)
    assert machine["reason"].startswith(cause) and machine["failures"][0].keys() == {"path", "keyword", "message"}


def test_a_missing_member_is_told_as_a_person_would(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    members = {"name": {"type": "string"}, "born": {"type": "integer"}, "died": {"type": "integer"}}
    schema = {"properties": members, "required": [*members], "type": "object", "additionalProperties": False}
    Path("person.json").write_text(json.dumps(schema))
    assert invoke("match", "person.json", '{"name": "Ada"}').stdout == (
        "the text:1:15: rejected: 'born' is required and missing, at #\n"
        '    1 | {"name": "Ada"}\n'
        "                      ^\n"
        "  also: 'died' is required and missing, at #\n"
        '  expected: a blank or `,"`\n'
    )


def test_a_valid_value_spelt_otherwise_names_the_option_that_takes_it(person: str):
    for text, option in (
        ('{"name": "Ada"}', "--whitespace spaced"),
        ('{"name":"Ada" }', "--whitespace flexible"),
        ('{"age":3,"name":"Ada"}', "--key-order any"),
        ('{"name":"\\u0041da"}', "--escapes any"),
        ('{"age":3, "name":"Ada"}', "--spelling any"),
    ):
        result = invoke("match", "--spelling", "canonical", person, text)
        assert result.exit_code == 1
        assert f"differs only in its spelling: {option} takes it" in result.stdout, text


def test_a_text_that_stops_too_early_is_incomplete(person: str):
    result = invoke("match", person, '{"name":"Ad')
    assert result.exit_code == 1
    assert "incomplete: the text ends too early" in result.stdout
    machine = json.loads(invoke("match", "--format", "json", person, '{"name":"Ad').stdout)
    assert machine["verdict"] == "incomplete"
    assert machine["offset"] == 11


def test_a_pattern_is_matched_whole():
    assert invoke("match", "--regex", r"\d{4}-\d\d", "2026-01").exit_code == 0
    assert invoke("match", "--regex", r"\d{4}-\d\d", "2026-012").exit_code == 1
    assert invoke("match", "--regex", "a*", "--text", "").exit_code == 0
    assert invoke("match", "--regex", "a*", "aa").exit_code == 0


@pytest.mark.parametrize(
    "text", [b"\xff", b'{"name":"\xed\xa0\x80"}', b'{"name":"\xf0\x9f', b"\x00", b"\xef\xbb\xbf{}"]
)
def test_bytes_that_are_no_text_are_rejected(person: str, text: bytes):
    result = invoke("match", person, "-", stdin=text)
    assert result.exit_code == 1
    assert "rejected" in result.stdout or "incomplete" in result.stdout


def test_hostile_texts_cannot_reach_the_terminal(person: str):
    result = invoke("match", person, "-", stdin='{"name": \x1b]0;owned\x07 7}')
    assert result.exit_code == 1
    assert "\x1b" not in result.stdout and "\x07" not in result.stdout


def test_deep_and_long_texts_are_judged_without_harm(person: str):
    assert invoke("match", person, "-", stdin="[" * 200_000).exit_code == 1
    assert invoke("match", person, "-", stdin='{"name":"' + "x" * 200_000).exit_code == 1


# ---------------------------------------------------------------- usage


@pytest.mark.parametrize(
    "arguments",
    [
        ["check"],
        ["check", "no-such-file.json"],
        ["check", "-", "-"],
        ["check", "--format", "yaml", "-"],
        ["check", "--no-such-option"],
        ["match"],
        ["match", "no-such-file.json", "x"],
        ["match", "--regex", "a", "b", "c"],
        ["match", "--regex", "a"],
        ["match", "--regex", "a", "answer.json"],
        ["match", "-", "-"],
        ["generate"],
        ["generate", "--schema", "no-such-file.json", "x"],
        ["generate", "--schema", "a.json", "--regex", "b", "x"],
        ["generate", "--schema", "-", "-"],
        ["generate", "x"],
        ["generate", "--free", "--regex", "a", "x"],
        ["generate", "--max-tokens", "0", "x"],
        ["generate", "--top-p", "2", "x"],
        ["no-such-command"],
    ],
)
def test_wrong_usage_ends_with_2(arguments: list[str]):
    assert invoke(*arguments).exit_code == 2


@pytest.mark.parametrize("command", ["demo", "generate", "check", "match"])
def test_help_has_examples(command: str):
    result = invoke(command, "--help")
    assert result.exit_code == 0
    assert "Examples:" in result.stdout and f"constrain {command}" in result.stdout


@pytest.mark.parametrize("command", [[], ["demo"], ["generate"], ["check"], ["match"], ["version"]])
def test_help_names_values_and_breaks_no_word(command: list[str]):
    result = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "80", "NO_COLOR": "1"})
    assert not re.search(r"<\w", result.stdout), "types are not what a value is for"
    options = [line for line in result.stdout.splitlines() if re.match(r"│ +--", line)]
    assert options and all(re.match(r"│ +--[\w-]+ +(-h )? *(\S+ )?(\[\S+\])? +\S", line) for line in options)
    assert "constrain check" in result.stdout or command


def test_help_shows_how_findings_are_accepted():
    shown = invoke("check", "--help").stdout
    examples = shown[shown.index("Examples:") :]
    assert all(option in examples for option in ("--strict", "--ignore", "--on-unsupported"))


def test_version_comes_first():
    result = invoke("version")
    assert result.exit_code == 0
    assert result.stdout.startswith("constrain ")


def test_a_model_that_is_not_there_is_a_message(tmp_path: Path):
    pytest.importorskip("torch", reason="torch is not installed")
    result = invoke("generate", "--model", str(tmp_path / "none.gguf"), "--regex", "a", "x")
    assert result.exit_code == 1
    assert "ModelError" in result.output and "help:" in result.output
    machine = invoke("generate", "--json", "--model", str(tmp_path / "none.gguf"), "--regex", "a", "x")
    assert machine.exit_code == 1
    assert json.loads(machine.stdout)["error"] == "ModelError"


# ---------------------------------------------------------------- as a process


def test_the_pipe_may_be_closed_early(person: str):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "constrain", "check", "--report", person],
            stdout=closed,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode != 0
    assert b"Traceback" not in done.stderr and b"Exception ignored" not in done.stderr


def test_no_colour_in_a_pipe_and_none_under_no_color(person: str):
    assert b"\x1b" not in process("check", person).stdout
    forced = process("check", person, FORCE_COLOR="1").stdout
    assert not re.search(rb"\x1b\[(?:\d+;)*[34]\d", forced), "bold is no colour, red is"


def test_arguments_that_are_not_utf8_are_texts():
    done = process("match", "--regex", "café", b"--text", b"caf\xe9")
    assert done.returncode == 1
    assert b"rejected" in done.stdout


def test_a_stream_that_cannot_encode_gets_escapes():
    done = process("match", "--regex", "é", "ü", PYTHONIOENCODING="ascii")
    assert done.returncode == 1
    assert b"\\xfc" in done.stdout


def test_an_interrupt_ends_quietly():
    child = subprocess.Popen(
        [sys.executable, "-m", "constrain", "check", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # it may be ignored where the tests run
    )
    assert child.stdin is not None
    child.stdin.write(b"{")
    child.stdin.flush()
    with pytest.raises(subprocess.TimeoutExpired):
        child.wait(1.5)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=30)
    assert child.returncode == 130
    assert b"Traceback" not in errors


def test_version_is_an_option_too():
    asked, told = (CliRunner().invoke(app, [name]) for name in ("--version", "version"))
    assert asked.exit_code == told.exit_code == 0
    assert asked.stdout == told.stdout != ""


def test_a_schema_that_does_not_compile_is_shown_with_its_place_by_match_and_generate(tmp_path: Path):
    schema = tmp_path / "schema.json"
    schema.write_text('{\n  "contains": 1\n}')
    for arguments in (["match", str(schema), "[]"], ["generate", "--schema", str(schema), "a prompt"]):
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 1 and not result.stdout
        assert f"{schema}:2:3: error: " in result.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", [["check", "--regex", "a"], ["match", "--regex", "a", "a", "--format", "json"]])
def test_output_that_cannot_be_written_is_a_message(arguments: list[str]):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "constrain", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            timeout=60,
        )
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr and b"No space left" in done.stderr
