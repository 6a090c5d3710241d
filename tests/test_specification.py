"""A specification asked with anything at all: an answer, or a typed error; never a traceback from inside."""

from __future__ import annotations

import numpy as np
import pytest

import constrain
from constrain import ConstrainError, InvalidSpecification, ValidationFailed

ANY_JSON = constrain.json_schema({}, spelling="any")
SPECIFICATIONS = [ANY_JSON, constrain.regex("é+b"), constrain.json_schema({"type": "object"})]
NO_TEXTS = [None, 5, 2**40, [1], object(), str]


@pytest.mark.parametrize("value", NO_TEXTS)
@pytest.mark.parametrize("spec", SPECIFICATIONS)
def test_what_is_no_text_is_refused(spec: constrain.Specification, value: object):
    for ask in (spec.accepts, spec.explain, spec.parse, spec.validate):
        with pytest.raises(ConstrainError):
            ask(value)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("text", ["nope", "", "[" * 100_000, "1" * 5000, "1e400", "-1e999", "[1,-1e400]"])
def test_a_text_that_python_cannot_read_is_a_failure_not_another_value(text: str):
    with pytest.raises(ValidationFailed) as raised:
        ANY_JSON.parse(text)
    assert raised.value.text == text


def test_a_failure_at_the_root_shows_no_empty_place():
    with pytest.raises(ValidationFailed) as raised:
        constrain.json_schema({"type": "object"}).validate("5")
    assert "at:" not in str(raised.value)


def test_a_failure_of_a_pattern_says_where():
    with pytest.raises(ValidationFailed) as raised:
        constrain.regex("a\nb").validate("a\nc")
    assert raised.value.at == "line 2, column 1"


@pytest.mark.parametrize("seed", [None, "a", 1.5, [], b"x", True])
def test_a_seed_is_a_whole_number(seed: object):
    with pytest.raises(InvalidSpecification, match="seed"):
        ANY_JSON.sample(seed)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("length", [None, "a", 1.5, -1])
def test_a_length_is_a_whole_number(length: object):
    with pytest.raises(InvalidSpecification, match="length"):
        ANY_JSON.sample(0, length=length)  # pyright: ignore[reportArgumentType]


def test_floats_of_other_libraries_are_numbers():
    spec = constrain.json_schema({"type": "number", "minimum": np.float64(2.5), "maximum": np.float64(2.5)})
    assert spec.accepts("2.5") and not spec.accepts("2.4")


def test_a_shortest_text_beyond_measure_is_a_limit_not_an_empty_language():
    nothing = {"type": "null"}
    schema = {"type": "array", "minItems": 70_000, "items": {"type": "array", "minItems": 70_000, "items": nothing}}
    spec = constrain.json_schema(schema)
    assert not spec.accepts("[]")
    with pytest.raises(constrain.LimitExceeded, match="too long") as raised:
        spec.sample(0)
    assert raised.value.limit == "completion"
