"""Random schemas against an independent validator, and what is emitted against the shapes it was emitted from."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from constrain.errors import EmptyLanguage, InvalidSpecification, LimitExceeded, UnsupportedKeyword
from constrain.frontends.json_schema import SchemaOptions, compile_schema
from constrain.grammar.recognizer import Recognizer
from tests.frontends.json_schema.schemas import schemas, values
from tests.frontends.json_schema.writing import Judge, write
from tests.reference.grammar import Recognizer as Twin

EXAMPLES = settings().max_examples
patient = settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])


def judged(schema: Any, **options: Any) -> Judge | None:
    """The schema's judge; None if it is empty. A schema that is refused, or that never descends, is no example."""
    try:
        return Judge(schema, **options)
    except EmptyLanguage:
        return None
    except (UnsupportedKeyword, LimitExceeded):
        assume(False)
    except InvalidSpecification as error:
        assume("never reach a value" not in error.message)
        raise
    return None


def valid(schema: Any, value: Any) -> bool:
    return jsonschema_rs.validator_for(schema).is_valid(value)


@patient
@given(schemas(), st.lists(values, min_size=1, max_size=8))
def test_grammars_hold_exactly_the_valid_values(schema: Any, instances: list[Any]) -> None:
    judge = judged(schema)
    for value in instances:
        assert (judge is not None and judge.holds(value)) == valid(schema, value), value
        if judge is not None:
            assert judge.accepts(_as_written(value)) == valid(schema, value), value


@patient
@given(schemas(negations=True), st.lists(values, min_size=1, max_size=8))
def test_negations_that_are_compiled_are_exact(schema: Any, instances: list[Any]) -> None:
    judge = judged(schema)
    for value in instances:
        assert (judge is not None and judge.holds(value)) == valid(schema, value), value
        if judge is not None:
            assert judge.accepts(_as_written(value)) == valid(schema, value), value


@pytest.mark.parametrize("whitespace", ["spaced", "pretty", "flexible"])
@settings(patient, max_examples=EXAMPLES // 3)
@given(data=st.data())
def test_white_space_changes_texts_and_not_values(whitespace: str, data: st.DataObject) -> None:
    schema = data.draw(schemas())
    judge = judged(schema, whitespace=whitespace)
    for value in data.draw(st.lists(values, min_size=1, max_size=4)):
        if judge is not None:
            assert judge.accepts(_as_written(value)) == valid(schema, value), value


@settings(patient, max_examples=EXAMPLES // 2)
@given(schemas(), st.lists(values, min_size=1, max_size=4))
def test_any_spelling_takes_members_in_any_order(schema: Any, instances: list[Any]) -> None:
    judge = judged(schema, key_order="any", numbers="any", escapes="any", whitespace="flexible")
    for value in instances:
        if judge is not None:
            assert judge.accepts_text(write(value, "flexible")) == valid(schema, value), value


@settings(patient, max_examples=EXAMPLES // 5)
@given(schemas(), st.lists(values, min_size=1, max_size=3))
def test_the_twin_reads_the_same_language(schema: Any, instances: list[Any]) -> None:
    judge = judged(schema)
    assume(judge is not None)
    assert judge is not None
    twin = Twin(judge.compiled.grammar)
    for value in instances:
        text = write(value)
        assert twin.accepts(text.encode()) == judge.accepts_text(text)


@settings(patient, max_examples=EXAMPLES)
@given(schemas(negations=True), st.randoms(use_true_random=False))
def test_every_walk_can_be_finished_and_is_valid(schema: Any, random: Any) -> None:
    try:
        grammar = compile_schema(schema, SchemaOptions()).grammar
    except (EmptyLanguage, UnsupportedKeyword, LimitExceeded, InvalidSpecification):
        assume(False)
        return
    recognizer = Recognizer(grammar)
    assert not recognizer.is_empty, "an empty schema was not found to be empty"
    state, text = recognizer.start, b""
    for _ in range(30):
        legal = recognizer.legal_bytes(state)
        assert legal or recognizer.is_complete(state)
        if not legal or (recognizer.is_complete(state) and random.random() < 0.3):
            break
        byte = random.choice(legal)
        state, text = recognizer.step(state, byte), text + bytes([byte])
    text += recognizer.completion(state)
    assert valid(schema, json.loads(text)), text


def _as_written(value: Any) -> Any:
    """`value` with whole floats as integers where the schema wants integers: `2.0` is canonically written `2`."""
    if isinstance(value, float) and value == int(value):
        return int(value)
    if isinstance(value, list):
        return [_as_written(item) for item in value]
    if isinstance(value, dict):
        return {name: _as_written(item) for name, item in value.items()}
    return value
