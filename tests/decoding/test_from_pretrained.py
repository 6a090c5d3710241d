"""From files on disk to a validated object, and what is said when the files are not good."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import constrain
from constrain.decoding.decoder import Decoder
from constrain.errors import BudgetTooSmall, ConstrainError, ModelError, VocabularyError
from tests.model.test_chat_template import CHATML
from tests.model.tiny import RandomSource, gguf_fields, tiny_config, write_gguf

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "tags": {"type": "array", "items": {"enum": ["a", "bb", "é"]}, "maxItems": 3, "uniqueItems": True},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny Llama with a byte-level tokenizer, as transformers would save it."""
    tokenizers = pytest.importorskip("tokenizers")
    safetensors_torch = pytest.importorskip("safetensors.torch")
    path = tmp_path_factory.mktemp("model")
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE({c: i for i, c in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    tokenizer.add_special_tokens(["<|im_start|>", "<|im_end|>"])
    tokenizer.save(str(path / "tokenizer.json"))
    config = tiny_config(300, context_length=512)
    safetensors_torch.save_file(RandomSource(config).tensors, path / "model.safetensors")
    record: dict[str, Any] = {
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": config.width,
        "intermediate_size": config.feed_forward_width,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.heads,
        "num_key_value_heads": config.kv_heads,
        "vocab_size": config.vocabulary_size,
        "max_position_embeddings": config.context_length,
        "eos_token_id": 257,
    }
    (path / "config.json").write_text(json.dumps(record))
    (path / "tokenizer_config.json").write_text(json.dumps({"eos_token": "<|im_end|>", "chat_template": CHATML}))
    return path


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_random_model_writes_valid_objects(directory: Path, dtype: str) -> None:
    decoder = Decoder.from_pretrained(directory, dtype=dtype)
    assert decoder.chat_template is not None
    spec = constrain.json_schema(SCHEMA)
    shortest = len(decoder.compiler.compile(spec).matcher().shortest_completion().token_ids)
    reasons = set()
    for seed in range(12):
        budget = shortest + 3 * seed
        result = decoder.generate("Fill in.", SCHEMA, max_tokens=budget, temperature=2.0, seed=seed)
        assert spec.accepts(result.text) and result.value == json.loads(result.text)
        assert len(result.tokens) <= budget
        assert result.usage.forced_tokens > 0 < result.usage.masked_choices
        reasons.add(result.finish_reason)
    assert "budget" in reasons
    with pytest.raises(BudgetTooSmall) as caught:
        decoder.generate("Fill in.", SCHEMA, max_tokens=shortest - 1)
    assert caught.value.needed == shortest


def test_a_regular_expression_gives_its_text(directory: Path) -> None:
    decoder = Decoder.from_pretrained(directory)
    result = decoder.generate("When?", constrain.regex(r"\d{4}-\d\d"), temperature=1.0)
    assert result.value == result.text and len(result.text) == 7


@pytest.mark.parametrize("forced", ["canonical", "single", "off"])
def test_a_prompt_begins_the_same_way_under_every_mode(directory: Path, forced: Any) -> None:
    result = Decoder.from_pretrained(directory).generate("x", SCHEMA, forced=forced)
    assert result.text.startswith('{"name":"')
    # Each byte is a token here, so the first nine are forced one by one even without a canonical cut.
    assert (result.usage.forced_tokens >= 9) == (forced != "off")


def test_a_model_of_another_architecture_is_refused_before_its_tokenizer_is_read(tmp_path: Path) -> None:
    config = tiny_config()
    fields = {**gguf_fields(config), "general.architecture": "bert"}
    with pytest.raises(ModelError, match="'bert' is not supported"):
        Decoder.from_pretrained(write_gguf(tmp_path / "m.gguf", config, RandomSource(config), fields))
    with pytest.raises(VocabularyError, match="no tokenizer"):
        Decoder.from_pretrained(write_gguf(tmp_path / "m.gguf", config, RandomSource(config)))


def test_a_truncated_file_is_a_model_error(tmp_path: Path) -> None:
    config = tiny_config()
    path = write_gguf(tmp_path / "m.gguf", config, RandomSource(config))
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ModelError, match="truncated"):
        Decoder.from_pretrained(str(path))


def test_a_name_that_is_nowhere_is_a_model_error() -> None:
    for name in ("gpt-17", "", "/", "\0"):
        with pytest.raises(ConstrainError, match=r"gpt-17|is no|config\.json|does not exist"):
            Decoder.from_pretrained(name)
