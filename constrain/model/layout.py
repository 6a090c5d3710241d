"""Which tensors a model must have, under which names and in which shapes; and what to call a difference.

Names are Hugging Face's (`model.layers.0.self_attn.q_proj.weight`); `gguf_weights.py` translates. A loader offers a
`TensorSource`: shapes known at once, values read one at a time, so that a model never lies in memory twice.

Invariant: after `check_layout` the model can be built without another shape error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Protocol

from constrain.errors import ModelError, shorten

if TYPE_CHECKING:
    import torch

    from constrain.model.config import LlamaConfig

__all__ = ["TensorSource", "check_layout", "expected_shapes"]

_NAMED_AT_MOST: Final = 5
# Buffers that old exports carry and that are recomputed, and the head that a tied model may repeat.
_IGNORED: Final = re.compile(r"model\.layers\.\d+\.self_attn\.rotary_emb\.inv_freq|model\.rotary_emb\.inv_freq")


class TensorSource(Protocol):
    """Where tensors come from. `shapes` costs nothing; `read` costs the tensor and gives it in any floating dtype."""

    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]: ...

    def read(self, name: str) -> torch.Tensor: ...


def expected_shapes(config: LlamaConfig) -> dict[str, tuple[int, ...]]:
    """Every tensor that `config` asks for, by name."""
    shapes: dict[str, tuple[int, ...]] = {
        "model.embed_tokens.weight": (config.vocabulary_size, config.width),
        "model.norm.weight": (config.width,),
    }
    if not config.tied_embeddings:
        shapes["lm_head.weight"] = (config.vocabulary_size, config.width)
    for layer in range(config.layers):
        for name, shape in _layer_shapes(config).items():
            shapes[f"model.layers.{layer}.{name}"] = shape
    return shapes


def _layer_shapes(config: LlamaConfig) -> dict[str, tuple[int, ...]]:
    queries, keys = config.heads * config.head_width, config.kv_heads * config.head_width
    width, inner = config.width, config.feed_forward_width
    shapes: dict[str, tuple[int, ...]] = {
        "input_layernorm.weight": (width,),
        "post_attention_layernorm.weight": (width,),
    }
    linears = {
        "self_attn.q_proj": (queries, width, config.query_key_value_bias),
        "self_attn.k_proj": (keys, width, config.query_key_value_bias),
        "self_attn.v_proj": (keys, width, config.query_key_value_bias),
        "self_attn.o_proj": (width, queries, config.output_bias),
        "mlp.gate_proj": (inner, width, config.feed_forward_bias),
        "mlp.up_proj": (inner, width, config.feed_forward_bias),
        "mlp.down_proj": (width, inner, config.feed_forward_bias),
    }
    for name, (rows, columns, bias) in linears.items():
        shapes[f"{name}.weight"] = (rows, columns)
        if bias:
            shapes[f"{name}.bias"] = (rows,)
    if config.query_key_norm:
        shapes["self_attn.q_norm.weight"] = shapes["self_attn.k_norm.weight"] = (config.head_width,)
    return shapes


def check_layout(config: LlamaConfig, found: Mapping[str, tuple[int, ...]], *, at: str) -> None:
    """Compare what `config` asks for with what was `found`.

    Raises:  ModelError: naming up to five tensors that are missing, unexpected or of another shape.
    """
    # A count that no file backs would make the loop below as long as an attacker likes.
    if config.layers > len(found):
        raise ModelError(f"{config.layers} layers are announced, but there are only {len(found)} tensors", at=at)
    expected = expected_shapes(config)
    missing = [name for name in expected if name not in found]
    if missing:
        raise ModelError(
            f"{len(missing)} tensors are missing: {_some(missing)}", at=at, help="is every part of the model there?"
        )
    surplus = {"lm_head.weight"} if config.tied_embeddings else set()
    unexpected = [
        name for name in found if name not in expected and name not in surplus and not _IGNORED.fullmatch(name)
    ]
    if unexpected:
        raise ModelError(
            f"{len(unexpected)} tensors are unexpected: {_some(unexpected)}",
            at=at,
            help="the model does something that its configuration does not say; it would give wrong text",
        )
    for name, shape in expected.items():
        if tuple(found[name]) != shape:
            raise ModelError(f"the tensor {name!r} has the shape {tuple(found[name])}", at=at, expected=str(shape))


def _some(names: list[str]) -> str:
    shown = ", ".join(repr(shorten(name)) for name in names[:_NAMED_AT_MOST])
    return shown + (", …" if len(names) > _NAMED_AT_MOST else "")
