"""Make an environment where a peer engine and ours run in one process: `python -m benchmarks.peers`.

Peers pin what we do not want to depend on, so they live in `.venv-peers` beside the repository's environment: pinned
llguidance and what the benchmark needs, and our package, either installed from a wheel (`--wheel`) or, by default,
found through a `.pth` file that names this repository (whose compiled kernel must then be of the same Python version).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import venv
from pathlib import Path

from benchmarks.data import REPOSITORY

PINNED = (
    "llguidance==1.9.1",
    "tokenizers==0.23.3",
    "numpy==2.4.6",
    "rich==15.0.0",
    "regress==2026.9.1",
    "referencing==0.37.0",
    "jsonschema-specifications==2025.9.1",
)
"""The peer, and what our front ends and the benchmark itself import."""
ENVIRONMENT = REPOSITORY / ".venv-peers"


def python_of(environment: Path) -> Path:
    """The interpreter of a virtual environment."""
    return environment / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def prepare(environment: Path, wheel: Path | None, pip_arguments: list[str]) -> None:
    """Create the environment if need be, and install the pinned peers and our package into it.

    Raises: subprocess.CalledProcessError: if pip fails; its own message stands on standard error.
    """
    if not python_of(environment).exists():
        venv.create(environment, with_pip=True)
        (environment / ".gitignore").write_text("*\n")
    packages = [*PINNED, *([str(wheel)] if wheel else [])]
    pip = [str(python_of(environment)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *pip_arguments, *packages], check=True)
    where = subprocess.run(
        [str(python_of(environment)), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    pointer = Path(where) / "constrain-repository.pth"
    if wheel:
        pointer.unlink(missing_ok=True)
    else:
        pointer.write_text(f"{REPOSITORY}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--environment", type=Path, default=ENVIRONMENT, help="where (default: .venv-peers)")
    parser.add_argument(
        "--wheel", type=Path, help="install our package from this wheel instead of using the repository"
    )
    parser.add_argument("pip", nargs="*", help="more arguments for pip install, after --")
    options = parser.parse_args()
    print(f"installing {', '.join(PINNED)} into {options.environment.name}", file=sys.stderr)
    prepare(options.environment, options.wheel, options.pip)
    print(f"ready: {python_of(options.environment)} -m benchmarks.masks")


if __name__ == "__main__":
    main()
