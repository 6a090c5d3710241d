"""A model, ready to run, from a directory or a GGUF file: `load_model`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from constrain.errors import MissingExtra, ModelError

try:
    import torch
except ImportError as error:
    raise MissingExtra("torch", "model") from error

from constrain.model.chat_template import ChatTemplate
from constrain.model.gguf_file import GgufFile
from constrain.model.gguf_weights import GgufWeights
from constrain.model.safetensors_weights import SafetensorsWeights
from constrain.model.transformer import Model, build_model, default_dtype

__all__ = ["LoadedModel", "load_model"]


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model, the place it came from, and its chat template if it has one."""

    path: Path
    model: Model
    chat_template: ChatTemplate | None


def load_model(path: Path, *, dtype: torch.dtype | str | None = None, device: str = "cpu") -> LoadedModel:
    """Load the model at `path`, as `find_model` gave it.

    Args:    dtype: "float32" or "bfloat16" (or torch's own); None takes bfloat16 where it is fast.
    Raises:  ModelError: if the files are missing, truncated, garbled, or of another architecture.
             MissingExtra: if a package that reads the files is missing.
    Cost:    reading and, for GGUF, dequantising all weights (4 s for SmolLM2).
    """
    chosen = _dtype(dtype, device)
    if path.is_dir():
        source: GgufWeights | SafetensorsWeights = SafetensorsWeights(path)
        template = ChatTemplate.from_directory(path)
    else:
        file = GgufFile(path)
        source = GgufWeights(file)
        template = ChatTemplate.from_gguf(file.metadata)
    model = build_model(source.config, source, dtype=chosen, device=device, rope_divisors=source.rope_divisors())
    return LoadedModel(path, model, template)


def _dtype(dtype: torch.dtype | str | None, device: str) -> torch.dtype:
    if dtype is None:
        return default_dtype(device)
    named = {"float32": torch.float32, "fp32": torch.float32, "bfloat16": torch.bfloat16, "bf16": torch.bfloat16}
    chosen = named.get(dtype) if isinstance(dtype, str) else dtype
    if chosen not in (torch.float32, torch.bfloat16):
        raise ModelError(f"the dtype {dtype!r} is not supported", expected="float32 or bfloat16")
    return chosen
