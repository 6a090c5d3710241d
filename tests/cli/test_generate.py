"""`generate` and `demo`: what is streamed, in both forms, with a stand-in for the model; once with the real one."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import constrain
from constrain.cli.app import app
from constrain.cli.demo import SCHEMA
from constrain.decoding.result import Event, Result, Usage
from constrain.report import Report

USAGE = Usage(prompt_tokens=3, completion_tokens=4, forced_tokens=2, choices=2, masked_choices=10, mask_s=0.001)


class StandIn:
    """Streams given pieces and remembers what it was asked."""

    def __init__(self, pieces: list[tuple[str, bool]], value: Any, error: Exception | None = None):
        self.pieces, self.value, self.error = pieces, value, error
        self.asked: list[tuple[str, Any, dict[str, Any]]] = []

    def from_pretrained(self, name: str) -> StandIn:
        self.name = name
        return self

    def stream(self, prompt: str, spec: Any = None, **options: Any) -> Iterator[Event]:
        self.asked.append((prompt, spec, options))
        for index, (text, forced) in enumerate(self.pieces):
            yield Event(text, (index,), forced)
        if self.error is not None:
            raise self.error
        text = "".join(text for text, _ in self.pieces)
        yield Event("", result=Result(self.value, text, tuple(range(len(self.pieces))), USAGE, "end", Report()))


def stand_in(monkeypatch: pytest.MonkeyPatch, decoder: StandIn) -> StandIn:
    monkeypatch.setattr(constrain, "Decoder", decoder, raising=False)
    return decoder


def invoke(*arguments: str, stdin: str = "") -> Any:
    result = CliRunner().invoke(app, list(arguments), input=stdin, env={"CONSTRAIN_MODEL": ""})
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_standard_output_has_the_text_alone(monkeypatch: pytest.MonkeyPatch):
    decoder = stand_in(monkeypatch, StandIn([("ab", True), ("[c]", False)], "ab[c]"))
    result = invoke("generate", "--regex", r"ab\[c\]", "--seed", "7", "--top-k", "3", "hello")
    assert result.exit_code == 0
    assert result.stdout == "ab[c]\n"
    assert "4 tokens (2 forced)" in result.stderr and "finish: end" in result.stderr
    prompt, spec, options = decoder.asked[0]
    assert (prompt, spec.kind) == ("hello", "regex")
    assert options == {"max_tokens": 256, "temperature": 0.0, "seed": 7, "top_k": 3}


def test_json_lines_are_events_and_the_last_is_the_result(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    stand_in(monkeypatch, StandIn([('{"n":', True), ("1}", False)], {"n": 1}))
    schema = tmp_path / "schema.json"
    schema.write_text('{"properties": {"n": {"type": "integer"}}}')
    result = invoke("generate", "--schema", str(schema), "--json", "-", stdin="hello\n")
    events = [json.loads(line) for line in result.stdout.splitlines()]
    assert [event["event"] for event in events] == ["text", "text", "result"]
    assert events[0] == {"event": "text", "text": '{"n":', "token_ids": [0], "forced": True}
    assert events[-1]["value"] == {"n": 1} and events[-1]["usage"]["forced_tokens"] == 2


def test_an_error_in_the_middle_ends_the_stream_in_both_forms(monkeypatch: pytest.MonkeyPatch):
    error = constrain.LimitExceeded("too many states", limit="states", help="simplify")
    stand_in(monkeypatch, StandIn([("ab", False)], None, error))
    plain = invoke("generate", "--free", "hello")
    assert (plain.exit_code, plain.stdout) == (1, "ab\n")
    assert "LimitExceeded: too many states" in plain.stderr
    machine = invoke("generate", "--free", "--json", "hello")
    assert machine.exit_code == 1
    last = json.loads(machine.stdout.splitlines()[-1])
    assert (last["event"], last["error"], last["help"]) == ("error", "LimitExceeded", "simplify")


def test_a_bad_schema_is_told_before_a_model_is_loaded(monkeypatch: pytest.MonkeyPatch):
    decoder = stand_in(monkeypatch, StandIn([], None))
    result = invoke("generate", "--schema", "-", "hello", stdin="{")
    assert result.exit_code == 1 and "InvalidSpecification" in result.stderr
    assert not hasattr(decoder, "name")


def test_the_demo_shows_both_runs_and_what_the_free_one_is_worth(monkeypatch: pytest.MonkeyPatch):
    decoder = stand_in(monkeypatch, StandIn([("Marie [Curie]", False)], {"name": "Marie [Curie]"}))
    result = invoke("demo")
    assert result.exit_code == 0
    for part in ('"additionalProperties": false', "choices removed by masks", "With the schema", "valid", "not JSON"):
        assert part in result.stdout
    assert [spec for _, spec, _ in decoder.asked] == [SCHEMA, None]
    events = [json.loads(line) for line in invoke("demo", "--json").stdout.splitlines()]
    assert [(e["run"], e["event"]) for e in events] == [
        ("constrained", "text"), ("constrained", "result"), ("unconstrained", "text"), ("unconstrained", "result")
    ]  # fmt: skip


@pytest.mark.skipif(not os.environ.get("CONSTRAIN_MODEL"), reason="CONSTRAIN_MODEL names no model")
@pytest.mark.timeout(600)  # seconds of work, but a busy machine may take minutes over it
def test_the_real_demo_ends_with_a_valid_object():
    pytest.importorskip("torch", reason="torch is not installed")
    result = CliRunner().invoke(app, ["demo", "--json", "--max-tokens", "60"])
    assert result.exit_code == 0
    results = [event for line in result.stdout.splitlines() if (event := json.loads(line))["event"] == "result"]
    assert constrain.json_schema(SCHEMA).accepts(results[0]["text"])
    assert results[0]["value"]["name"] == "Marie Curie"
    assert results[0]["usage"]["forced_tokens"] > 10 and results[0]["usage"]["masked_choices"] > 100_000
    assert results[1]["report"] == []
