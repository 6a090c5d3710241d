"""Weights of a Llama-family model in a Hugging Face directory: `config.json` beside one or several safetensors files.

Several files come with `model.safetensors.index.json`, which says what lies where. The `safetensors` package reads the
files (its header is bounded and checked) and maps them, so that a tensor costs memory only when it is read.

Deliberately not here: pickled `.bin` weights, which run code when they are opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import torch

from constrain.errors import MissingExtra, ModelError, shorten
from constrain.model.config import LlamaConfig, read_json
from constrain.model.layout import check_layout

__all__ = ["SafetensorsWeights"]

_SINGLE: Final = "model.safetensors"
_INDEX: Final = "model.safetensors.index.json"
_FLOATS: Final = ("F64", "F32", "F16", "BF16")


class SafetensorsWeights:
    """A `TensorSource` over a directory; `config` describes the model.

    Raises:  ModelError: if a file is missing, truncated or not a model that can be run.
             MissingExtra: without the `safetensors` package.
    """

    def __init__(self, directory: Path):
        self.directory = directory
        config_path = directory / "config.json"
        self.config = LlamaConfig.from_hugging_face(read_json(config_path), at=str(config_path))
        self._parts = {name: _open(directory / name) for name in _part_names(directory)}
        self._holders: dict[str, Any] = {}
        self._shapes: dict[str, tuple[int, ...]] = {}
        for part_name, part in self._parts.items():
            for name in part.keys():  # noqa: SIM118 - safetensors' handle is no mapping
                self._admit(part_name, part, name)
        check_layout(self.config, self._shapes, at=str(directory))

    def _admit(self, part_name: str, part: Any, name: str) -> None:
        view = part.get_slice(name)
        if name in self._shapes:
            raise ModelError(f"the tensor {shorten(name)!r} comes twice", at=str(self.directory / part_name))
        if view.get_dtype() not in _FLOATS:
            raise ModelError(
                f"the tensor {shorten(name)!r} is stored as {view.get_dtype()}",
                at=str(self.directory / part_name),
                expected=" or ".join(_FLOATS),
                help="use the weights before they were quantised, or a GGUF file",
            )
        self._shapes[name] = tuple(view.get_shape())
        self._holders[name] = part

    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        return self._shapes

    def read(self, name: str) -> torch.Tensor:
        """The tensor `name` in the dtype it is stored in."""
        return self._holders[name].get_tensor(name)

    def rope_divisors(self) -> torch.Tensor | None:
        """None: a directory says it in its configuration (`rope_scaling`)."""
        return None


def _part_names(directory: Path) -> list[str]:
    index = directory / _INDEX
    if not index.exists():
        if (directory / _SINGLE).exists():
            return [_SINGLE]
        raise ModelError(
            "the directory holds no safetensors weights",
            at=str(directory),
            expected=f"{_SINGLE} or {_INDEX}",
            help="pickled weights (.bin) are not read; convert them with transformers' save_pretrained",
        )
    parts = read_json(index).get("weight_map")
    if not isinstance(parts, dict) or not parts or not all(_is_plain_name(name) for name in parts.values()):
        raise ModelError("the index names no parts, or names files outside its directory", at=f"{index}, weight_map")
    return sorted(set(parts.values()))


def _is_plain_name(name: object) -> bool:
    return isinstance(name, str) and name.endswith(".safetensors") and Path(name).name == name


def _open(path: Path) -> Any:
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError as error:
        raise MissingExtra("safetensors", "model") from error
    try:
        return safe_open(str(path), framework="pt", device="cpu")
    except FileNotFoundError as error:
        raise ModelError(f"{path.name} is missing", at=str(path), help="is every part of the model there?") from error
    except (SafetensorError, OSError, ValueError) as error:
        raise ModelError(
            f"{path.name} is truncated or garbled: {shorten(str(error))}",
            at=str(path),
            help="download the file again, and compare its size and checksum",
        ) from error
