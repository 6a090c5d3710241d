"""A Llama of a few thousand random weights, and the GGUF and Hugging Face files to load one from."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from constrain.model.config import LlamaConfig
from constrain.model.layout import expected_shapes
from constrain.model.transformer import Model, build_model


def tiny_config(vocabulary_size: int = 300, **changes: Any) -> LlamaConfig:
    values: dict[str, Any] = {
        "architecture": "llama",
        "layers": 2,
        "width": 32,
        "feed_forward_width": 48,
        "heads": 4,
        "kv_heads": 2,
        "head_width": 8,
        "vocabulary_size": vocabulary_size,
        "context_length": 256,
        "rope_base": 10_000.0,
        "norm_epsilon": 1e-5,
        "tied_embeddings": False,
    }
    return LlamaConfig(**{**values, **changes})


class RandomSource:
    """A `TensorSource` of seeded noise."""

    def __init__(self, config: LlamaConfig, seed: int = 0):
        self.shapes = expected_shapes(config)
        generator = torch.Generator().manual_seed(seed)
        self.tensors = {name: torch.randn(shape, generator=generator) * 0.4 for name, shape in self.shapes.items()}

    def read(self, name: str) -> torch.Tensor:
        return self.tensors[name]


def tiny_model(vocabulary_size: int = 300, *, dtype: torch.dtype = torch.float32, **changes: Any) -> Model:
    config = tiny_config(vocabulary_size, **changes)
    return build_model(config, RandomSource(config), dtype=dtype)


# ---------------------------------------------------------------- GGUF


def gguf_bytes(fields: Mapping[str, Any], tensors: Mapping[str, tuple[int, np.ndarray, tuple[int, ...]]]) -> bytes:
    """A GGUF file. `tensors`: name → (block type, stored bytes, row-major shape)."""
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(fields))
    head += b"".join(_text(key) + _value(value) for key, value in fields.items())
    body = b""
    for name, (kind, raw, shape) in tensors.items():
        head += _text(name) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *reversed(shape))
        head += struct.pack("<IQ", kind, len(body))
        stored = raw.tobytes()
        body += stored + bytes(-len(stored) % 32)
    return head + bytes(-len(head) % 32) + body


def _text(text: str) -> bytes:
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def _value(value: Any) -> bytes:
    if isinstance(value, bool):
        return struct.pack("<I?", 7, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + _text(value)
    return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(_text(item) for item in value)


_GGUF_NAMES = {
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def gguf_fields(config: LlamaConfig) -> dict[str, Any]:
    a = config.architecture
    return {
        "general.architecture": a,
        f"{a}.block_count": config.layers,
        f"{a}.context_length": config.context_length,
        f"{a}.embedding_length": config.width,
        f"{a}.feed_forward_length": config.feed_forward_width,
        f"{a}.attention.head_count": config.heads,
        f"{a}.attention.head_count_kv": config.kv_heads,
        f"{a}.rope.freq_base": config.rope_base,
        f"{a}.attention.layer_norm_rms_epsilon": config.norm_epsilon,
        f"{a}.attention.key_length": config.head_width,
        f"{a}.attention.value_length": config.head_width,
    }


def write_gguf(path: Path, config: LlamaConfig, source: RandomSource, fields: Mapping[str, Any] | None = None) -> Path:
    """A model as llama.cpp's converter would write it: for `llama`, query and key rows in rotary pairs."""
    tensors: dict[str, tuple[int, np.ndarray, tuple[int, ...]]] = {}
    for name in source.shapes:
        tensor = source.read(name)
        if config.architecture == "llama" and ("q_proj" in name or "k_proj" in name):
            heads = config.heads if "q_proj" in name else config.kv_heads
            tensor = tensor.reshape(heads, 2, -1, *tensor.shape[1:]).transpose(1, 2).reshape(tensor.shape)
        tensors[_gguf_name(name)] = (0, tensor.contiguous().numpy(), tuple(tensor.shape))
    path.write_bytes(gguf_bytes(fields or gguf_fields(config), tensors))
    return path


def _gguf_name(name: str) -> str:
    if name in _GGUF_NAMES:
        return _GGUF_NAMES[name]
    _, _, layer, *middle, kind = name.split(".")
    return f"blk.{layer}.{_GGUF_NAMES['.'.join(middle)]}.{kind}"
