"""Weights of a Llama-family model in a GGUF file, under Hugging Face's names and in its row order.

GGUF's `llama` architecture stores the rows of the query and key projections so that rotary pairs lie side by side
(2i, 2i+1); the transformer here rotates halves (i, i + d/2), as Hugging Face does, so the rows are put back on reading.
`qwen2` and `qwen3` files keep halves and are left alone. Source: llama.cpp's converter, `permute`.

Llama 3.1's rotary scaling comes as a tensor of divisors (`rope_freqs.weight`), given out by `rope_divisors`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import torch

from constrain.errors import ModelError
from constrain.model.config import LlamaConfig
from constrain.model.gguf_file import GgufFile
from constrain.model.layout import check_layout

__all__ = ["GgufWeights"]

_ROPE_DIVISORS: Final = "rope_freqs.weight"
_WHOLE: Final = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}
_IN_LAYER: Final = {
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_LAYER_NAME: Final = re.compile(r"blk\.(\d+)\.(\w+)\.(weight|bias)")
_ROTATED: Final = re.compile(r"blk\.\d+\.attn_([qk])\.(?:weight|bias)")


class GgufWeights:
    """A `TensorSource` over a GGUF file; `config` describes the model.

    Raises:  ModelError: if the file is not a model that can be run; see `GgufFile` and `check_layout`.
    """

    def __init__(self, file: GgufFile):
        self.file = file
        at = str(file.path)
        found = {name: entry.shape for name, entry in file.tensors.items()}
        self.config = LlamaConfig.from_gguf(file.metadata, tensors=found, at=at)
        self._names = {_translated(name): name for name in found if name != _ROPE_DIVISORS}
        check_layout(self.config, self.shapes, at=at)

    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        return {ours: self.file.tensors[theirs].shape for ours, theirs in self._names.items()}

    def read(self, name: str) -> torch.Tensor:
        """The tensor `name` (Hugging Face's name) as float32. Cost: dequantising it."""
        theirs = self._names[name]
        tensor = torch.from_numpy(self.file.read(theirs))
        rotated = _ROTATED.fullmatch(theirs)
        if rotated is None or self.config.architecture != "llama":
            return tensor
        return _halves(tensor, self.config.heads if rotated[1] == "q" else self.config.kv_heads)

    def rope_divisors(self) -> torch.Tensor | None:
        """float32 [head_width / 2]: what each rotary frequency is divided by, if the file says so."""
        if _ROPE_DIVISORS not in self.file.tensors:
            return None
        divisors = torch.from_numpy(self.file.read(_ROPE_DIVISORS))
        if divisors.shape != (self.config.head_width // 2,) or not bool((divisors > 0).all()):
            raise ModelError(
                f"the tensor {_ROPE_DIVISORS!r} has the shape {tuple(divisors.shape)} or holds numbers below zero",
                at=str(self.file.path),
                expected=f"{self.config.head_width // 2} positive numbers",
            )
        return divisors


def _translated(name: str) -> str:
    layered = _LAYER_NAME.fullmatch(name)
    if layered and layered[2] in _IN_LAYER:
        return f"model.layers.{int(layered[1])}.{_IN_LAYER[layered[2]]}.{layered[3]}"
    return _WHOLE.get(name, name)


def _halves(tensor: torch.Tensor, heads: int) -> torch.Tensor:
    """Rows (2i, 2i+1) of each head back to (i, i + d/2)."""
    rest = tensor.shape[1:]
    return tensor.reshape(heads, -1, 2, *rest).transpose(1, 2).reshape(tensor.shape)
