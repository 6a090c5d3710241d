"""A model from a directory or a GGUF file, in two steps: look, then load.

`open_model` reads headers and configuration and checks all that can be checked without the weights, so that a file that
is truncated or of another architecture is refused at once. `OpenedModel.build` reads the weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from constrain.errors import MissingExtra, ModelError, shorten

try:
    import torch
except ImportError as error:
    raise MissingExtra("torch", "model") from error

from constrain.model.chat_template import ChatTemplate
from constrain.model.gguf_file import GgufFile
from constrain.model.gguf_weights import GgufWeights
from constrain.model.safetensors_weights import SafetensorsWeights
from constrain.model.transformer import Model, build_model, default_dtype

__all__ = ["OpenedModel", "open_model"]


@dataclass(frozen=True, slots=True)
class OpenedModel:
    """A model whose files have been checked: its weights, still unread, and its chat template if it has one."""

    path: Path
    weights: GgufWeights | SafetensorsWeights
    chat_template: ChatTemplate | None

    def build(self, *, dtype: torch.dtype | str | None = None, device: str = "cpu") -> Model:
        """Read the weights.

        Args:    dtype: "float32" or "bfloat16" (or torch's own); None takes bfloat16 where it is fast.
        Raises:  ModelError: if a dtype or device cannot be used here, or a tensor cannot be decoded.
        Cost:    reading and, for GGUF, dequantising all weights (1 to 4 s for SmolLM2).
        """
        checked_device = _device(device)
        return build_model(
            self.weights.config,
            self.weights,
            dtype=_dtype(dtype, checked_device),
            device=checked_device,
            rope_divisors=self.weights.rope_divisors(),
        )


def open_model(path: Path) -> OpenedModel:
    """Look at the model at `path`, as `find_model` gave it.

    Raises:  ModelError: if the files are missing, truncated, garbled, or of another architecture.
             MissingExtra: if a package that reads the files is missing.
    Cost:    the headers (0.1 s for SmolLM2).
    """
    if path.is_dir():
        return OpenedModel(path, SafetensorsWeights(path), ChatTemplate.from_directory(path))
    file = GgufFile(path)
    return OpenedModel(path, GgufWeights(file), ChatTemplate.from_gguf(file.metadata))


def _dtype(dtype: torch.dtype | str | None, device: str) -> torch.dtype:
    if dtype is None:
        return default_dtype(device)
    named = {"float32": torch.float32, "fp32": torch.float32, "bfloat16": torch.bfloat16, "bf16": torch.bfloat16}
    chosen = named.get(dtype) if isinstance(dtype, str) else dtype
    if chosen not in (torch.float32, torch.bfloat16):
        raise ModelError(f"the dtype {shorten(dtype)} is not supported", expected="float32 or bfloat16")
    return chosen


def _device(device: str) -> str:
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, TypeError) as error:
        raise ModelError(
            f"the device {shorten(device)!r} cannot be used here", help="device='cpu' always can"
        ) from error
    return str(device)
