"""`constrain version`: what is installed, for bug reports."""

from __future__ import annotations

import platform
from importlib import metadata

OPTIONAL = ("torch", "tokenizers", "transformers", "pydantic", "gguf", "safetensors")


def version_lines() -> list[str]:
    """The version first, alone on its line; then the interpreter and the optional packages that are here."""
    here = [f"{name} {version}" for name in OPTIONAL if (version := version_of(name)) is not None]
    machine = f"{platform.system()} {platform.machine()}"
    return [
        f"constrain {version_of('constrain') or '(not installed)'}",
        f"Python {platform.python_version()} on {machine}",
        f"with {', '.join(here)}" if here else "with no optional package",
    ]


def version_of(package: str) -> str | None:
    """The installed version, read from metadata: nothing is imported."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
