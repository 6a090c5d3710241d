"""Patterns from real schemas and from bug reports: read, and right on real texts."""

from __future__ import annotations

import gzip
import json
import os
import random
from pathlib import Path

import pytest
import regress

from constrain.errors import PatternError
from constrain.frontends.regex import parse, parse_with_notes
from tests.frontends.regex.oracle import accepts

DATA = Path(os.environ.get("CONSTRAIN_DATA", Path(__file__).parents[4] / "shared" / "data"))
SCHEMAS, CASES = DATA / "maskbench-dev.jsonl.gz", DATA / "cases.jsonl"


def walk(value):
    stack = [value]
    while stack:
        top = stack.pop()
        yield top
        stack.extend(top.values() if isinstance(top, dict) else top if isinstance(top, list) else ())


def patterns_of(schema) -> set[str]:
    found: set[str] = set()
    for node in walk(schema):
        if isinstance(node, dict):
            found.update(one for one in [node.get("pattern")] if isinstance(one, str))
            names = node.get("patternProperties")
            found.update(names if isinstance(names, dict) else ())
    return found


def strings_of(tests) -> set[str]:
    nodes = [node for test in tests for node in walk(test["data"])]
    keys = {key for node in nodes if isinstance(node, dict) for key in node}
    return keys | {node for node in nodes if isinstance(node, str)}


def mutated(text: str, chance: random.Random) -> str:
    at = chance.randrange(len(text) + 1)
    return text[:at] + chance.choice(["", "a", "0", ".", "-", "_", " ", "é", "\n"]) + text[at + chance.randrange(2) :]


@pytest.mark.skipif(not SCHEMAS.exists(), reason="needs maskbench-dev.jsonl.gz in CONSTRAIN_DATA")
def test_patterns_of_real_schemas_are_read_and_right():
    chance = random.Random(1)
    texts_of: dict[str, list[str]] = {}
    with gzip.open(SCHEMAS, "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            for pattern in patterns_of(record["schema"]) - set(texts_of):
                texts = sorted(text for text in strings_of(record["tests"]) if len(text) < 60)
                texts_of[pattern] = chance.sample(texts, min(6, len(texts)))
    refused = []
    for pattern, texts in texts_of.items():
        try:
            parsed = parse_with_notes(pattern, dialect="ecma", mode="search")
        except PatternError as error:
            refused.append((pattern, str(error)))
            continue
        judge = regress.Regex(pattern, "" if parsed.annex_b else "u")
        for text in ["", *texts, *(mutated(text, chance) for text in texts)]:
            assert accepts(parsed.regular, text) == (judge.find(text) is not None), (pattern, text)
    assert len(texts_of) > 1000
    assert not refused


def regex_cases() -> list[dict]:
    lines = CASES.read_text(encoding="utf-8").split("\n") if CASES.exists() else []
    return [case for case in map(json.loads, filter(None, lines)) if case["spec_type"] == "regex"]


@pytest.mark.skipif(not CASES.exists(), reason="needs cases.jsonl in CONSTRAIN_DATA")
def test_cases_from_bug_reports_are_right():
    refused = []
    for case in regex_cases():
        try:
            term = parse(case["spec"], dialect="python", mode="fullmatch")
        except PatternError:
            assert case.get("may_refuse_with_error"), case["id"]
            refused.append(case["id"])
            continue
        assert all(accepts(term, text) for text in case["accept"]), case["id"]
        assert not any(accepts(term, text) for text in case["reject"]), case["id"]
    assert refused == ["rx-backreference"]
