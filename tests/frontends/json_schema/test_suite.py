"""The official JSON-Schema-Test-Suite: what is compiled is right, in every dialect; what is refused is counted."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from constrain.errors import EmptyLanguage, LimitExceeded, UnsupportedKeyword
from constrain.frontends.json_schema import SchemaOptions, compile_schema
from constrain.frontends.json_schema.dialects import DIALECTS
from constrain.grammar.recognizer import Recognizer

DATA = Path(os.environ.get("CONSTRAIN_DATA", Path(__file__).parents[4] / "shared" / "data"))
SUITE = DATA / "json-schema-test-suite"
REFUSED_AT_MOST = {"draft4": 0.09, "draft6": 0.08, "draft7": 0.08, "draft2019-09": 0.2, "draft2020-12": 0.22}

pytestmark = pytest.mark.skipif(not SUITE.is_dir(), reason="the official suite is not here (CONSTRAIN_DATA)")


@cache
def remotes() -> dict[str, Any]:
    root = SUITE / "remotes"
    return {
        "http://localhost:1234/" + path.relative_to(root).as_posix(): json.loads(path.read_text(encoding="utf-8"))
        for path in root.rglob("*.json")
    }


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_case_of_the_official_suite_is_judged_wrongly(dialect: str) -> None:
    wrong: list[str] = []
    refused = total = 0
    options = SchemaOptions(
        key_order="any", numbers="any", whitespace="spaced", formats="annotation", dialect=dialect, registry=remotes()
    )
    for path in sorted((SUITE / "tests" / dialect).glob("*.json")):
        for group in json.loads(path.read_text(encoding="utf-8")):
            total += len(group["tests"])
            try:
                recognizer = Recognizer(compile_schema(group["schema"], options).grammar)
            except EmptyLanguage:
                recognizer = None
            except (UnsupportedKeyword, LimitExceeded):
                refused += len(group["tests"])
                continue
            for case in group["tests"]:
                text = json.dumps(case["data"], ensure_ascii=False).encode()
                if (recognizer is not None and recognizer.accepts(text)) != case["valid"]:
                    wrong.append(f"{path.name}: {group['description']}: {case['description']}")
    assert not wrong
    assert refused <= REFUSED_AT_MOST[dialect] * total
