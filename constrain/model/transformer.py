"""The Llama-family transformer: plain torch, immutable weights, the cache passed in.

    Model             weights and configuration; built by `build_model`
    prefill           many tokens → logits after the last one
    decode_one_token  one token per row → logits after it
    forward           what both are made of

Pre-norm blocks of grouped-query attention with rotary positions and a SwiGLU feed-forward; biases and query/key norms
as the configuration says. Norms and softmax accumulate in float32; logits are float32.

Invariant: the functions are pure but for the cache, and the cache counts the new tokens only after all of them went
through every layer. Sources: Touvron et al. 2023 (Llama), Su et al. 2021 (rotary positions), Ainslie et al. 2023
(grouped queries), Shazeer 2020 (SwiGLU).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import torch
import torch.nn.functional as F

from constrain.errors import ModelError
from constrain.model.config import LlamaConfig, RopeScaling
from constrain.model.kv_cache import KeyValueCache, PreallocatedCache
from constrain.model.layout import TensorSource
from constrain.model.linear import Linear, has_fast_bf16

__all__ = ["Model", "build_model", "decode_one_token", "default_dtype", "forward", "new_cache", "prefill"]

PREFILL_CHUNK: Final = 512
"""Tokens per forward pass of a long prompt: bounds the attention's scores to chunk × context per head."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One block. `query_key_value` and `gate_up` are several projections laid one below the other."""

    attention_norm: torch.Tensor
    query_key_value: Linear
    query_norm: torch.Tensor | None
    key_norm: torch.Tensor | None
    output: Linear
    feed_forward_norm: torch.Tensor
    gate_up: Linear
    down: Linear


@dataclass(frozen=True, slots=True)
class Model:
    """Weights and configuration. `frequencies`: float32 [head_width / 2], radians per position."""

    config: LlamaConfig
    dtype: torch.dtype
    device: str
    embedding: torch.Tensor
    layers: tuple[Layer, ...]
    final_norm: torch.Tensor
    head: Linear
    frequencies: torch.Tensor


def default_dtype(device: str = "cpu") -> torch.dtype:
    """bfloat16 where it is fast, else float32."""
    return torch.bfloat16 if device != "cpu" or has_fast_bf16() else torch.float32


def build_model(
    config: LlamaConfig,
    source: TensorSource,
    *,
    dtype: torch.dtype,
    device: str = "cpu",
    rope_divisors: torch.Tensor | None = None,
) -> Model:
    """A model from tensors whose layout was checked.

    Args:    dtype: torch.float32 or torch.bfloat16, of weights, activations and cache.
    Cost:    the weights once in `dtype` (a tied embedding twice on a CPU in bf16), one tensor at a time besides.
    """

    def read(name: str) -> torch.Tensor:
        return source.read(name).to(device=device, dtype=dtype)

    def linear(prefix: str, names: Sequence[str], bias: bool) -> Linear:
        weights = [read(f"{prefix}.{name}.weight") for name in names]
        biases = [read(f"{prefix}.{name}.bias") for name in names] if bias else []
        return Linear(torch.cat(weights), torch.cat(biases) if bias else None)

    def layer(index: int) -> Layer:
        at = f"model.layers.{index}"
        normed = config.query_key_norm
        return Layer(
            attention_norm=read(f"{at}.input_layernorm.weight"),
            query_key_value=linear(f"{at}.self_attn", ("q_proj", "k_proj", "v_proj"), config.query_key_value_bias),
            query_norm=read(f"{at}.self_attn.q_norm.weight") if normed else None,
            key_norm=read(f"{at}.self_attn.k_norm.weight") if normed else None,
            output=linear(f"{at}.self_attn", ("o_proj",), config.output_bias),
            feed_forward_norm=read(f"{at}.post_attention_layernorm.weight"),
            gate_up=linear(f"{at}.mlp", ("gate_proj", "up_proj"), config.feed_forward_bias),
            down=linear(f"{at}.mlp", ("down_proj",), config.feed_forward_bias),
        )

    with torch.inference_mode():
        embedding = read("model.embed_tokens.weight")
        return Model(
            config=config,
            dtype=dtype,
            device=device,
            embedding=embedding,
            layers=tuple(layer(index) for index in range(config.layers)),
            final_norm=read("model.norm.weight"),
            head=Linear(embedding if config.tied_embeddings else read("lm_head.weight")),
            frequencies=_rope_frequencies(config, rope_divisors).to(device),
        )


def new_cache(model: Model, capacity: int, *, batch: int = 1) -> PreallocatedCache:
    """An empty cache for `capacity` tokens that suits `model`."""
    return PreallocatedCache(model.config, capacity, batch=batch, dtype=model.dtype, device=model.device)


def prefill(model: Model, tokens: torch.Tensor, cache: KeyValueCache) -> torch.Tensor:
    """Run `tokens` after what `cache` holds.

    Args:    tokens: int64 [B, T], T ≥ 1.
    Returns: float32 [B, V]: logits after the last token.
    Raises:  ModelError: before any work, if the tokens do not fit or are no tokens of the model.
    Cost:    O(T · (parameters + context)); long prompts go in chunks.
    """
    _check_tokens(model, tokens, cache)
    chunks = tokens.split(PREFILL_CHUNK, dim=1)
    for chunk in chunks[:-1]:
        forward(model, chunk, cache)
    return _logits(model, forward(model, chunks[-1], cache)[:, -1])


def decode_one_token(model: Model, token: torch.Tensor, cache: KeyValueCache) -> torch.Tensor:
    """Run one token per row: int64 [B] or [B, 1] → float32 logits [B, V]. Raises and costs as `prefill`."""
    return prefill(model, token.reshape(-1, 1), cache)


@torch.inference_mode()
def forward(model: Model, tokens: torch.Tensor, cache: KeyValueCache) -> torch.Tensor:
    """Hidden states [B, T, width] (before the final norm) of `tokens` [B, T]; `cache` grows by T."""
    start, count = cache.length, tokens.shape[1]
    rotation = _rotation(model, start, count)
    mask = _causal_mask(model, start, count)
    hidden = F.embedding(tokens.to(model.device), model.embedding)
    for index, layer in enumerate(model.layers):
        normed = _rms_norm(hidden, layer.attention_norm, model.config)
        hidden = hidden + _attention(model.config, layer, index, normed, rotation, mask, cache)
        gate, up = layer.gate_up(_rms_norm(hidden, layer.feed_forward_norm, model.config)).chunk(2, dim=-1)
        hidden = hidden + layer.down(F.silu(gate) * up)
    cache.commit(count)
    return hidden


def _attention(
    config: LlamaConfig,
    layer: Layer,
    index: int,
    hidden: torch.Tensor,
    rotation: tuple[torch.Tensor, torch.Tensor],
    mask: torch.Tensor | None,
    cache: KeyValueCache,
) -> torch.Tensor:
    batch, count, _ = hidden.shape
    heads, kv_heads, width = config.heads, config.kv_heads, config.head_width
    packed = layer.query_key_value(hidden).view(batch, count, heads + 2 * kv_heads, width).transpose(1, 2)
    queries, keys, values = packed.split((heads, kv_heads, kv_heads), dim=1)
    if layer.query_norm is not None and layer.key_norm is not None:
        queries, keys = _rms_norm(queries, layer.query_norm, config), _rms_norm(keys, layer.key_norm, config)
    all_keys, all_values = cache.extend(index, _rotate(keys, rotation), values)
    # The query heads that share a key head stand below one another, as if they were more positions: keys are not
    # repeated.
    grouped = _rotate(queries, rotation).reshape(batch, kv_heads, -1, width)
    attended = F.scaled_dot_product_attention(grouped, all_keys, all_values, attn_mask=mask)
    return layer.output(attended.reshape(batch, heads, count, width).transpose(1, 2).reshape(batch, count, -1))


def _rms_norm(hidden: torch.Tensor, weight: torch.Tensor, config: LlamaConfig) -> torch.Tensor:
    return F.rms_norm(hidden, weight.shape, weight, config.norm_epsilon)


def _logits(model: Model, hidden: torch.Tensor) -> torch.Tensor:
    with torch.inference_mode():
        return model.head(_rms_norm(hidden, model.final_norm, model.config)).float()


def _rope_frequencies(config: LlamaConfig, divisors: torch.Tensor | None) -> torch.Tensor:
    exponents = torch.arange(0, config.head_width, 2, dtype=torch.float32) / config.head_width
    frequencies = 1.0 / config.rope_base**exponents
    if divisors is not None:
        return frequencies / divisors
    return frequencies if config.rope_scaling is None else _scaled(frequencies, config.rope_scaling)


def _scaled(frequencies: torch.Tensor, scaling: RopeScaling) -> torch.Tensor:
    """Llama 3.1: keep the high frequencies, divide the low ones, go smoothly from one to the other."""
    turns = scaling.original_context_length * frequencies / (2 * math.pi)
    low, high = scaling.low_frequency_factor, scaling.high_frequency_factor
    kept = ((turns - low) / (high - low)).clamp(0.0, 1.0)
    return frequencies * (kept + (1.0 - kept) / scaling.factor)


def _rotation(model: Model, start: int, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Cosines and sines [T, head_width] of positions start…start + count - 1; the sine carries the rotation's sign."""
    positions = torch.arange(start, start + count, dtype=torch.float32, device=model.device)
    angles = torch.outer(positions, model.frequencies)
    sines = angles.sin()
    return (
        torch.cat((angles, angles), dim=-1).cos().to(model.dtype),
        torch.cat((-sines, sines), dim=-1).to(model.dtype),
    )


def _rotate(heads: torch.Tensor, rotation: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    cosines, signed_sines = rotation
    return heads * cosines + heads.roll(heads.shape[-1] // 2, dims=-1) * signed_sines


def _causal_mask(model: Model, start: int, count: int) -> torch.Tensor | None:
    """Bool [group · T, start + T], true where a query may look; None for one token, which may look everywhere."""
    if count == 1:
        return None
    ones = torch.ones(count, start + count, dtype=torch.bool, device=model.device)
    return ones.tril(diagonal=start).repeat(model.config.heads // model.config.kv_heads, 1)


def _check_tokens(model: Model, tokens: torch.Tensor, cache: KeyValueCache) -> None:
    if tokens.ndim != 2 or tokens.shape[1] == 0:
        raise ModelError(f"tokens of the shape {tuple(tokens.shape)} cannot be run", expected="[batch, at least 1]")
    needed = cache.length + tokens.shape[1]
    if needed > cache.capacity:
        raise ModelError(
            f"{needed} tokens do not fit into a cache of {cache.capacity}",
            help="shorten the prompt, or lower max_tokens",
        )
    low, high = int(tokens.min()), int(tokens.max())
    if low < 0 or high >= model.config.vocabulary_size:
        raise ModelError(
            f"{low if low < 0 else high} is no token of the model",
            expected=f"0 to {model.config.vocabulary_size - 1}",
            help="does the tokenizer belong to this model?",
        )
