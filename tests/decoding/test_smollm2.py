"""The default model itself: loads, answers sensibly, and is the same however it is asked."""

from __future__ import annotations

import pytest

from constrain.decoding.decoder import Decoder
from constrain.errors import ModelError
from constrain.model.find import find_model
from tests.decoding.finite_grammar import FiniteGrammar

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def decoder() -> Decoder:
    try:
        path = find_model("smollm2")
    except ModelError as error:
        pytest.skip(f"needs the SmolLM2 weights: {error.message}")
    return Decoder.from_pretrained(path)


def test_greedy_text_is_sensible(decoder: Decoder) -> None:
    assert decoder.generate("The capital of France is", chat=False, max_tokens=3).text.startswith(" Paris")
    result = decoder.generate("What is the capital of France?", max_tokens=30)
    assert "Paris" in result.text and result.finish_reason == "end"
    assert result.usage.prompt_tokens == 37


def test_a_prompt_is_encoded_as_the_template_says(decoder: Decoder) -> None:
    from constrain.decoding.prompt import encode_prompt

    ids = encode_prompt("Hi", decoder.vocabulary, decoder.chat_template)
    # <|im_start|> system … <|im_end|> \n <|im_start|> user … <|im_end|> \n <|im_start|> assistant \n
    assert [token for token in ids if token in decoder.vocabulary.special_ids] == [1, 2, 1, 2, 1]
    assert decoder.vocabulary.decode(ids[-3:]) == b"assistant\n"


def test_a_choice_is_made_among_legal_texts(decoder: Decoder, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys
    from types import ModuleType, SimpleNamespace

    module = ModuleType("constrain.specification")
    module.coerce = lambda spec: spec  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "constrain.specification", module)
    monkeypatch.setattr(decoder, "_compiler", SimpleNamespace(compile=lambda spec, deadline_s: spec))
    grammar = FiniteGrammar([b'{"capital":"Paris"}', b'{"capital":"Lima"}', b'{"capital":"Oslo"}'], decoder.vocabulary)
    result = decoder.generate("Answer in JSON: what is the capital of France?", grammar)
    assert result.text == '{"capital":"Paris"}'
    assert 0 < result.usage.forced_tokens < len(result.tokens)
