"""The examples run, and what they print is what they promise."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import sys
from pathlib import Path
from types import ModuleType

import jsonschema
import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
needs_model = pytest.mark.skipif(not os.environ.get("CONSTRAIN_MODEL"), reason="CONSTRAIN_MODEL names no model")


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # Pydantic looks annotations up there
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", range(5))
def test_a_loop_of_your_own_writes_what_the_schema_asks_for(seed: int):
    module = example("mask_your_own_loop")
    jsonschema.validate(
        json.loads(module.main(seed)),
        {**module.SCHEMA, "properties": {**module.SCHEMA["properties"], "price": {"minimum": 1, "maximum": 99}}},
    )


def test_transformers_generates_what_the_pattern_asks_for():
    pytest.importorskip("transformers", reason="transformers is not installed")
    texts = example("transformers_generate").main()
    assert len(texts) == 2
    assert all(re.fullmatch(r"[A-Z]{2}-[0-9]{3}(-(ok|failed))?", text) for text in texts)


@needs_model
def test_a_person_comes_out_of_a_sentence():
    pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("pydantic", reason="pydantic is not installed")
    person = example("extract_person").main()
    assert "Ada" in person.name
    assert person.profession in ("mathematician", "painter", "politician")


@needs_model
def test_a_code_has_the_form_of_the_pattern():
    pytest.importorskip("torch", reason="torch is not installed")
    module = example("regex_code")
    assert re.fullmatch(module.PATTERN, module.main())


def test_every_example_is_tested():
    tested = Path(__file__).read_text()
    assert all(f'example("{path.stem}")' in tested for path in EXAMPLES.glob("*.py"))
