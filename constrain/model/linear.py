"""y = x·Wᵀ + b, in the fastest form that this machine has for a weight that never changes.

In bf16 on a CPU, oneDNN can lay a weight out once for its own kernels; plain `F.linear` does it on every call. For
one token that is the difference between 22 and 32 tokens/s (SmolLM2-135M, one thread). The two calls are private to
torch (`mkldnn._reorder_linear_weight`, `mkldnn._linear_pointwise`), so each weight is tried once and kept plain if that
fails.

Rejected: int4 weights (twice as fast again, but other numbers than the bf16 that was asked for); `torch.compile` (a
minute per shape, no gain).
"""

from __future__ import annotations

import functools

import torch
import torch.nn.functional as F

__all__ = ["Linear", "has_fast_bf16"]


@functools.cache
def has_fast_bf16() -> bool:
    """Whether bf16 weights can be laid out for oneDNN here, and give what a plain product gives."""
    try:
        if not (torch.backends.mkldnn.is_available() and torch.ops.mkldnn._is_mkldnn_bf16_supported()):
            return False
        weight = torch.arange(64 * 32, dtype=torch.float32).remainder(7).reshape(64, 32).bfloat16()
        inputs = torch.ones(1, 32, dtype=torch.bfloat16)
        return torch.allclose(_packed(inputs, _pack(weight), None), F.linear(inputs, weight), rtol=0.02)
    except (AttributeError, RuntimeError):
        return False


def _pack(weight: torch.Tensor) -> torch.Tensor:
    return torch.ops.mkldnn._reorder_linear_weight(weight.contiguous())


def _packed(inputs: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    return torch.ops.mkldnn._linear_pointwise(inputs, weight, bias, "none", [], "")


class Linear:
    """A constant linear map: [..., columns] → [..., rows]. Immutable."""

    __slots__ = ("_bias", "_is_packed", "_weight", "columns", "rows")

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None = None):
        self.rows, self.columns = weight.shape
        self._bias = bias
        self._is_packed = weight.dtype == torch.bfloat16 and weight.device.type == "cpu" and has_fast_bf16()
        self._weight = _pack(weight) if self._is_packed else weight.contiguous()

    def __call__(self, inputs: torch.Tensor) -> torch.Tensor:
        if self._is_packed:
            return _packed(inputs, self._weight, self._bias)
        return F.linear(inputs, self._weight, self._bias)
