"""The transformer: equal to transformers' own, and the same however a text is cut into passes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from constrain.errors import ModelError
from constrain.model import linear, transformer
from constrain.model.load import open_model
from constrain.model.transformer import decode_one_token, forward, new_cache, prefill
from tests.model.tiny import tiny_model

LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 1e4,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}
FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("Llama", {}),
    "llama, biases, tied, scaled": (
        "Llama",
        {"attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True, "rope_parameters": LLAMA3},
    ),
    "mistral": ("Mistral", {"sliding_window": None, "head_dim": 16}),
    "qwen2": ("Qwen2", {}),
    "qwen3": ("Qwen3", {"head_dim": 24}),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_logits_equal_those_of_transformers(family: str, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    name, options = FAMILIES[family]
    torch.manual_seed(0)
    theirs = getattr(transformers, f"{name}ForCausalLM")(
        getattr(transformers, f"{name}Config")(
            vocab_size=300,
            hidden_size=64,
            intermediate_size=96,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=128,
            initializer_range=0.3,
            **options,
        )
    ).eval()
    for parameter_name, parameter in theirs.named_parameters():
        if parameter_name.endswith("bias") or "norm" in parameter_name:
            torch.nn.init.normal_(parameter, 1.0, 0.2)
    theirs.save_pretrained(tmp_path, max_shard_size="100KB")
    ours = open_model(tmp_path).build(dtype="float32")
    tokens = torch.randint(0, 300, (2, 60))
    with torch.inference_mode():
        expected = theirs(tokens).logits
    cache = new_cache(ours, 60, batch=2)
    steps = [prefill(ours, tokens[:, :7], cache)]
    steps += [decode_one_token(ours, tokens[:, at], cache) for at in range(7, 60)]
    torch.testing.assert_close(torch.stack(steps, dim=1), expected[:, 6:], atol=1e-4, rtol=1e-4)


def test_a_long_prompt_gives_the_same_logits_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_model()
    tokens = torch.randint(0, 300, (1, 50), generator=torch.Generator().manual_seed(1))
    whole = prefill(model, tokens, new_cache(model, 50))
    monkeypatch.setattr(transformer, "PREFILL_CHUNK", 7)
    torch.testing.assert_close(prefill(model, tokens, new_cache(model, 50)), whole, atol=1e-5, rtol=1e-5)


def test_a_truncated_cache_forgets_exactly_what_was_cut() -> None:
    model = tiny_model()
    tokens = torch.randint(0, 300, (1, 20), generator=torch.Generator().manual_seed(2))
    cache = new_cache(model, 40)
    prefill(model, tokens, cache)
    prefill(model, torch.zeros(1, 9, dtype=torch.long), cache)
    cache.truncate(19)
    again = decode_one_token(model, tokens[:, 19], cache)
    torch.testing.assert_close(again, prefill(model, tokens, new_cache(model, 20)), atol=1e-5, rtol=1e-5)


def test_rows_of_a_batch_do_not_see_each_other() -> None:
    model = tiny_model()
    tokens = torch.randint(0, 300, (3, 12), generator=torch.Generator().manual_seed(3))
    together = prefill(model, tokens, new_cache(model, 12, batch=3))
    alone = torch.cat([prefill(model, row[None], new_cache(model, 12)) for row in tokens])
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("is_fast", [True, False])
def test_bfloat16_is_near_float32_packed_or_not(is_fast: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if is_fast and not linear.has_fast_bf16():
        pytest.skip("this machine has no bf16 kernels to pack weights for")
    monkeypatch.setattr(linear, "has_fast_bf16", lambda: is_fast)
    tokens = torch.randint(0, 300, (1, 10), generator=torch.Generator().manual_seed(4))
    exact_model, rough_model = tiny_model(), tiny_model(dtype=torch.bfloat16)
    exact = prefill(exact_model, tokens, new_cache(exact_model, 10))
    rough = prefill(rough_model, tokens, new_cache(rough_model, 10))
    assert rough.dtype == torch.float32
    # bf16 keeps 8 bits; two layers deep an error of a few percent of the logits' spread is what to expect.
    assert float((rough - exact).abs().max()) < 0.15 * float(exact.std())


def test_what_does_not_fit_is_refused_before_any_work() -> None:
    model = tiny_model()
    cache = new_cache(model, 8)
    with pytest.raises(ModelError, match="9 tokens do not fit"):
        prefill(model, torch.zeros(1, 9, dtype=torch.long), cache)
    with pytest.raises(ModelError, match="300 is no token"):
        prefill(model, torch.tensor([[300]]), cache)
    with pytest.raises(ModelError, match="cannot be run"):
        prefill(model, torch.zeros(1, 0, dtype=torch.long), cache)
    with pytest.raises(ModelError, match="context"):
        new_cache(model, 257)
    assert cache.length == 0


def test_an_interrupted_pass_leaves_the_cache_as_it_was() -> None:
    model = tiny_model()
    cache = new_cache(model, 8)
    prefill(model, torch.zeros(1, 6, dtype=torch.long), cache)
    with pytest.raises(ModelError):
        forward(model, torch.zeros(1, 5, dtype=torch.long), cache)
    assert cache.length == 6
    with pytest.raises(ModelError, match="cut to 7"):
        cache.truncate(7)
