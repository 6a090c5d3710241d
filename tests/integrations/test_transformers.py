"""Inside `model.generate`: whatever the strategy does to rows, every sequence satisfies the grammar."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
import torch  # noqa: E402

from constrain.errors import VocabularyError  # noqa: E402
from constrain.integrations.transformers import LogitsProcessor  # noqa: E402
from tests.decoding.finite_grammar import FiniteGrammar, small_vocabulary  # noqa: E402

VOCABULARY = small_vocabulary()
END = VOCABULARY.end_ids[0]
PAD = END + 1
SCHEMA = {
    "type": "object",
    "properties": {
        "ab": {"enum": ["abc", "é", 12, True]},
        "b": {"type": "boolean"},
        "c": {"type": "integer", "minimum": 0, "maximum": 120},
    },
    "required": ["ab", "b"],
    "additionalProperties": False,
}


def _finite() -> tuple[Any, Callable[[str], bool]]:
    values = ['"abc"', '"é"', "12", "true", '"ab"']
    texts = [f'{{"{name}":{value}}}' for name, value in itertools.product(["ab", "b", "é"], values)]
    grammar = FiniteGrammar((text.encode() for text in texts), VOCABULARY)
    return grammar, lambda text: text in texts


def _compiled() -> tuple[Any, Callable[[str], bool]]:
    try:
        from constrain.matching.compiler import Compiler
        from constrain.specification import json_schema
    except ImportError:
        pytest.skip("the kernel is not built here")
    spec = json_schema(SCHEMA)
    return Compiler(VOCABULARY).compile(spec), spec.accepts


GRAMMARS = {"finite": _finite, "compiled": _compiled}


@pytest.fixture(scope="module")
def model() -> Any:
    """A tiny Llama whose logits are wider than the vocabulary."""
    return _tiny(0)


def _tiny(seed: int) -> Any:
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=320,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=256,
        initializer_range=0.5,
        bos_token_id=END - 1,
        eos_token_id=END,
        pad_token_id=PAD,
    )
    return transformers.LlamaForCausalLM(config).eval()


def _generate(model: Any, processor: Any, prompts: list[str], **options: Any) -> list[str]:
    """Generated texts; prompts are padded on the left."""
    encoded = [VOCABULARY.encode(prompt) for prompt in prompts]
    width = max(map(len, encoded))
    ids = torch.tensor([[PAD] * (width - len(row)) + row for row in encoded])
    torch.manual_seed(0)
    out = model.generate(
        input_ids=ids,
        attention_mask=(ids != PAD).long(),
        logits_processor=[processor],
        max_new_tokens=60,
        pad_token_id=PAD,
        eos_token_id=END,
        **options,
    )
    texts: list[str] = []
    for row in out[:, width:].tolist():
        assert END in row, "a sequence did not end"
        end = row.index(END)
        assert set(row[end + 1 :]) <= {PAD, END}
        texts.append(VOCABULARY.decode(row[:end]).decode())
    return texts


STRATEGIES: dict[str, dict[str, Any]] = {
    "greedy": {"do_sample": False},
    "sampling": {"do_sample": True, "temperature": 3.0},
    "several a prompt": {"do_sample": True, "temperature": 3.0, "num_return_sequences": 4},
    "beams": {"num_beams": 3, "do_sample": False, "num_return_sequences": 3},
    "sampled beams": {"num_beams": 3, "do_sample": True, "temperature": 2.0},
    "truncated": {"do_sample": True, "top_k": 5, "top_p": 0.5, "repetition_penalty": 1.5},
    "without a cache": {"do_sample": False, "use_cache": False},
}


@pytest.mark.parametrize("source", GRAMMARS)
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("prompts", [["x"], ["x", "yzyzyz"]], ids=["one", "two, padded"])
def test_every_sequence_satisfies_the_grammar(model: Any, source: str, strategy: str, prompts: list[str]) -> None:
    grammar, accepts = GRAMMARS[source]()
    texts = _generate(model, LogitsProcessor(grammar, pad_token_id=PAD), prompts, **STRATEGIES[strategy])
    assert len(texts) == len(prompts) * STRATEGIES[strategy].get("num_return_sequences", 1)
    assert all(accepts(text) for text in texts)


@pytest.mark.parametrize("source", GRAMMARS)
def test_beams_find_different_texts(model: Any, source: str) -> None:
    grammar, _ = GRAMMARS[source]()
    texts = _generate(model, LogitsProcessor(grammar), ["x"], num_beams=4, do_sample=False, num_return_sequences=4)
    assert len(set(texts)) > 1


@pytest.mark.parametrize("source", GRAMMARS)
@pytest.mark.parametrize("drafter", ["model", "prompt"])
@pytest.mark.parametrize("do_sample", [False, True])
def test_assisted_generation_satisfies_the_grammar(model: Any, source: str, drafter: str, do_sample: bool) -> None:
    grammar, accepts = GRAMMARS[source]()
    if drafter == "model":
        options: dict[str, Any] = {"assistant_model": _tiny(1)}
    else:
        options = {"prompt_lookup_num_tokens": 5}
    texts = _generate(model, LogitsProcessor(grammar), ['{"ab":12}{"ab":true}{"ab'], do_sample=do_sample, **options)
    assert all(accepts(text) for text in texts)
    if not do_sample:
        assert texts == _generate(model, LogitsProcessor(grammar), ['{"ab":12}{"ab":true}{"ab'], do_sample=False)


def test_one_processor_serves_one_generation_after_another(model: Any) -> None:
    grammar, accepts = _finite()
    processor = LogitsProcessor(grammar)
    for prompt in ("x", "xyz", "x", "xy", "x", "x", "xyzxyz", "zz"):
        assert all(accepts(text) for text in _generate(model, processor, [prompt], do_sample=False))
    first = _generate(model, processor, ["x"], do_sample=False)[0]
    assert all(accepts(text) for text in _generate(model, processor, ["x" + first + "x"], do_sample=False))


def _allowed(processor: Any, rows: list[list[int]]) -> list[set[int]]:
    masked = processor(torch.tensor(rows), torch.zeros(len(rows), 320))
    return [set(row.isfinite().nonzero().flatten().tolist()) for row in masked]


def _expected(grammar: FiniteGrammar, tokens: list[int]) -> set[int]:
    matcher = grammar.matcher()
    return set(matcher.allowed()) if matcher.try_advance(tokens) == len(tokens) else set()


def test_rows_may_reorder_shrink_and_change() -> None:
    grammar, _ = _finite()
    assert isinstance(grammar, FiniteGrammar)
    processor = LogitsProcessor(grammar, prompt_length=2)
    prompt = [1, 2]
    one, two = VOCABULARY.encode('{"ab":"abc"}'), VOCABULARY.encode('{"é":true}')
    for rows in (
        [one[:0], two[:0]],
        [one[:1], two[:1]],
        [two[:2], one[:2]],
        [one[:3], one[:3]],
        [two[:4], one[:1]],
        [two[:1], two[:3]],
        [one, two],
        [one[:2], two[:5]],
    ):
        width = max(map(len, rows))
        for row in (row for row in rows if len(row) == width):
            assert _allowed(processor, [prompt + row]) == [_expected(grammar, row)]


def test_a_row_that_ended_or_cannot_go_on_may_only_end() -> None:
    grammar, _ = _finite()
    text = VOCABULARY.encode('{"ab":12}')
    processor = LogitsProcessor(grammar, prompt_length=1, pad_token_id=PAD)
    assert _allowed(processor, [[1, *text]]) == [{END}]
    assert _allowed(processor, [[1, *text, END], [1, *text, 7]]) == [{END, PAD}, {END, PAD}]
    assert _allowed(processor, [[1, *text, END, PAD], [1, *text, END, END]]) == [{END, PAD}, {END, PAD}]
    assert _allowed(processor, [[1, *text]]) == [{END}]


def test_scores_are_not_changed_in_place_and_must_be_wide_enough() -> None:
    grammar, _ = _finite()
    processor = LogitsProcessor(grammar)
    scores = torch.zeros(1, 320)
    processor(torch.tensor([[1]]), scores)
    assert scores.count_nonzero() == 0
    with pytest.raises(VocabularyError):
        processor(torch.tensor([[1]]), torch.zeros(1, 100))
    with pytest.raises(VocabularyError, match="prompt_length"):
        LogitsProcessor(grammar, prompt_length=3)(torch.tensor([[1]]), scores)
