"""Build a wheel into `dist/` and try it where there is neither compiler nor torch.

    python scripts/wheel.py

The trial environment is fresh (`build/wheel-trial`), holds only the wheel and its core dependencies, and runs with an
empty PATH, so that nothing on the machine can help. It must import, print its help, and check and match a schema.
Run by `.venv`'s Python, which has the build tools. Standard library only.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
TRIAL = ROOT / "build" / "wheel-trial"
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name"],
}
IMPORTS = """
import importlib.util, sys
import constrain, constrain._kernel
assert "site-packages" in constrain.__file__, constrain.__file__
assert importlib.util.find_spec("torch") is None, "torch is here: the trial proves nothing"
"""


def main() -> int:
    wheel = build_wheel()
    python = make_trial_environment(wheel)
    constrain = str(python.with_name("constrain"))
    schema = TRIAL / "person.json"
    schema.write_text(json.dumps(SCHEMA))
    try_out([str(python), "-c", IMPORTS])
    try_out([constrain, "--help"])
    try_out([constrain, "check", str(schema)])
    try_out([constrain, "match", str(schema), '{"name":"Ada","age":36}'])
    try_out([constrain, "match", str(schema), '{"name":7}'], expect=1)
    print(f"── {wheel.relative_to(ROOT)}: {wheel.stat().st_size / 1e6:.1f} MB, works without compiler and torch")
    return 0


def build_wheel() -> Path:
    """The wheel alone in `dist/`, built aside first so that a failure leaves the last one."""
    print("── wheel", flush=True)
    fresh = ROOT / "build" / "wheel-fresh"
    shutil.rmtree(fresh, ignore_errors=True)
    run(
        [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--no-deps",
            "--no-build-isolation",
            "-w",
            str(fresh),
            str(ROOT),
            *pip_args(),
        ]
    )
    built = next(fresh.glob("*.whl"))
    DIST.mkdir(exist_ok=True)
    return built.replace(DIST / built.name)


def make_trial_environment(wheel: Path) -> Path:
    print("── trial environment (core dependencies only)", flush=True)
    shutil.rmtree(TRIAL, ignore_errors=True)
    run([sys.executable, "-m", "venv", str(TRIAL)])
    python = TRIAL / "bin" / "python"
    run([str(python), "-m", "pip", "install", "-c", str(ROOT / "constraints.txt"), str(wheel), *pip_args()])
    return python


def pip_args() -> list[str]:
    return ["--quiet", "--disable-pip-version-check", *shlex.split(os.environ.get("PIP_ARGS", ""))]


def run(command: Sequence[str]) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"wheel: {shlex.join(command)} ended with {done.returncode}\n{(done.stdout + done.stderr)[-4000:]}")


def try_out(command: Sequence[str], *, expect: int = 0) -> None:
    environment = {"PATH": "", "HOME": str(TRIAL), "NO_COLOR": "1", "PYTHONNOUSERSITE": "1"}
    tried = subprocess.run(command, env=environment, cwd=TRIAL, capture_output=True, text=True, check=False)
    if tried.returncode != expect:
        sys.exit(
            f"wheel: {shlex.join(command)} ended with {tried.returncode}, not {expect}\n{tried.stdout}{tried.stderr}"
        )
    print(f"   ok: {Path(command[0]).name} {' '.join(command[1:3])[:60].strip().splitlines()[0]}")


if __name__ == "__main__":
    sys.exit(main())
