"""Run the kernel's tests under AddressSanitizer and UndefinedBehaviorSanitizer, without torch.

    python scripts/sanitize.py [pytest arguments]

Builds the extension with sanitizers into `build/sanitize`, then runs pytest in a process where that extension stands in
for `constrain._kernel`. The interpreter itself is not instrumented, so libasan is preloaded, and leak detection is off
(CPython keeps memory until it exits). Any report ends the run with an error. Standard library only.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "sanitize"
SANITIZERS = "address,undefined"
TESTS = ("tests/kernel", "tests/grammar")
OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0:halt_on_error=1:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "PYTHONMALLOC": "malloc",
    "HYPOTHESIS_PROFILE": "sanitize",
}


def main(arguments: Sequence[str]) -> int:
    if arguments[:1] == ["--inside"]:
        return run_tests(arguments[1:])
    build()
    preload = ":".join(library(name) for name in ("libasan.so", "libubsan.so", "libstdc++.so"))
    environment = {**os.environ, **OPTIONS, "LD_PRELOAD": preload}
    command = [sys.executable, str(Path(__file__)), "--inside", *arguments]
    return subprocess.run(command, env=environment, cwd=ROOT, check=False).returncode


def build() -> None:
    cmake = str(Path(sys.executable).parent / "cmake")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    print(f"── kernel under {SANITIZERS}", flush=True)
    configure = [cmake, "-S", str(ROOT), "-B", str(FOLDER), "-G", "Ninja", f"-DPython_EXECUTABLE={sys.executable}"]
    configure += [f"-DCONSTRAIN_SANITIZE={SANITIZERS}", f"-DCONSTRAIN_OUTPUT={FOLDER / 'out'}"]
    for command in (configure, [cmake, "--build", str(FOLDER)]):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"sanitize: the build failed\n{(done.stdout + done.stderr)[-6000:]}")


def library(name: str) -> str:
    """The compiler's own copy of a run-time library: the one that the extension was linked against."""
    compiler = os.environ.get("CXX", "c++")
    found = subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=False)
    path = found.stdout.strip()
    if found.returncode != 0 or not os.path.isabs(path):
        sys.exit(f"sanitize: {compiler} has no {name}\n  help: install the compiler's sanitizer libraries (libasan)")
    return path


def run_tests(arguments: Sequence[str]) -> int:
    """In the preloaded process: put the sanitized kernel in place, hide torch, run pytest."""
    import pytest

    sys.path.insert(0, str(ROOT))
    import constrain

    extension = next((FOLDER / "out").glob("_kernel*.so"))
    spec = importlib.util.spec_from_file_location("constrain._kernel", extension)
    assert spec is not None and spec.loader is not None
    kernel = importlib.util.module_from_spec(spec)
    sys.modules["constrain._kernel"] = kernel
    spec.loader.exec_module(kernel)
    constrain._kernel = kernel  # type: ignore[attr-defined]
    sys.modules["torch"] = None  # type: ignore[assignment]  # an import of torch fails, as where it is absent
    chosen = list(arguments) or [name for name in TESTS if (ROOT / name).is_dir()]
    return pytest.main([*chosen, "-m", "not slow and not model", "-p", "no:cacheprovider", "--timeout=900"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
