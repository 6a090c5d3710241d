"""Plant each fault of `tests/mutants/*.patch` in a copy of the project and see that a test catches it.

    python tests/mutants/run.py [name …]

A patch is a unified diff below a head of `Fault:` and `Tests:` lines: what is wrong, and the pytest arguments that
must notice. The copy is made once, in a temporary folder; each fault is applied, the kernel rebuilt where its sources
changed (only what changed is compiled), the tests run until the first failure, and the fault taken back. Before the
first fault the same tests must pass. A run that takes too long counts as caught: a fault may loop forever.

Exit code 0 if every fault is caught; 1 if one survives, does not apply any more, or the tests fail without it. Needs
what `make test` installs: cmake, ninja, a compiler, pytest, hypothesis. Standard library only.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = Path(__file__).resolve().parent
NEEDED = ("constrain", "kernel", "tests", "CMakeLists.txt", "pyproject.toml")
LONGEST_TEST_S = 300
KERNEL_SUFFIXES = (".cpp", ".hpp", "CMakeLists.txt")


@dataclass(frozen=True, slots=True)
class Fault:
    """One patch: its name, what it breaks, the pytest arguments that must notice, and the files that it changes."""

    name: str
    what: str
    tests: tuple[str, ...]
    files: tuple[str, ...]

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.name}.patch"

    @property
    def changes_kernel(self) -> bool:
        return any(file.endswith(KERNEL_SUFFIXES) for file in self.files)


class PatchUnreadable(Exception):
    """A patch without a head, or that does not apply."""


def read_fault(path: Path) -> Fault:
    lines = path.read_text().splitlines()
    head = dict(line.split(": ", 1) for line in lines if line.startswith(("Fault: ", "Tests: ")))
    files = tuple(line.removeprefix("+++ b/") for line in lines if line.startswith("+++ b/"))
    if set(head) != {"Fault", "Tests"} or not files:
        raise PatchUnreadable(f"{path.name} needs a Fault: line, a Tests: line and a diff")
    return Fault(path.stem, head["Fault"], tuple(shlex.split(head["Tests"])), files)


class Copy:
    """A copy of the project that faults are planted in."""

    def __init__(self, folder: Path):
        self.folder = folder
        for name in NEEDED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
            else:
                shutil.copy2(source, folder / name)

    def apply(self, fault: Fault, *, reverse: bool = False) -> None:
        command = ["git", "apply", "-C1", *(["-R"] if reverse else []), str(fault.path)]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise PatchUnreadable(f"does not apply: {done.stderr.strip().splitlines()[0]}")
        now = time.time()
        for file in fault.files:  # so that ninja sees the change even within one tick of the clock
            os.utime(self.folder / file, (now, now))

    def build(self) -> None:
        """The kernel, incrementally; raises CalledProcessError if the compiler refuses."""
        build = self.folder / "build"
        if not (build / "build.ninja").exists():
            options = [f"-DPython_EXECUTABLE={sys.executable}", f"-DCONSTRAIN_OUTPUT={self.folder / 'constrain'}"]
            self._call([tool("cmake"), "-S", str(self.folder), "-B", str(build), "-G", "Ninja", *options])
        self._call([tool("cmake"), "--build", str(build)])

    def _call(self, command: Sequence[str]) -> None:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
        subprocess.run(
            command, cwd=self.folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=True
        )

    def first_failure(self, tests: Sequence[str]) -> str | None:
        """The first test that fails, or None; "(too slow)" for a run that was stopped."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider", *tests]
        environment = {**os.environ, "PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            done = subprocess.run(
                command,
                cwd=self.folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=LONGEST_TEST_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "(too slow)"
        if done.returncode == 0:
            return None
        failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
        return failed[0].split(" ", 1)[1].split(" - ")[0] if failed else f"(pytest ended with {done.returncode})"


def tool(name: str) -> str:
    """A program beside this interpreter, else on PATH."""
    beside = Path(sys.executable).parent / name
    return str(beside) if beside.exists() else name


def judge(copy: Copy, fault: Fault) -> tuple[bool, str]:
    """(caught, by what)."""
    try:
        copy.apply(fault)
    except PatchUnreadable as error:
        return False, str(error)
    try:
        if fault.changes_kernel:
            copy.build()
        failure = copy.first_failure(fault.tests)
        return failure is not None, failure or "SURVIVED"
    except subprocess.CalledProcessError as error:
        return False, f"does not compile: {error.stdout[-300:]}"
    finally:
        copy.apply(fault, reverse=True)


def main(names: Sequence[str]) -> int:
    faults = [read_fault(path) for path in sorted(FOLDER.glob("*.patch")) if not names or path.stem in names]
    with tempfile.TemporaryDirectory(prefix="constrain-mutants-") as folder:
        copy = Copy(Path(folder))
        print("building the kernel, and running the tests without any fault", flush=True)
        copy.build()
        for tests in sorted({fault.tests for fault in faults}):
            if failure := copy.first_failure(tests):
                print(f"without any fault, {failure} fails: {shlex.join(tests)}")
                return 1
        caught = 0
        for fault in faults:
            started = time.monotonic()
            found, by = judge(copy, fault)
            if not found or fault.changes_kernel:  # the next fault starts from a sound kernel
                copy.build()
            caught += found
            took = time.monotonic() - started
            print(f"{'caught  ' if found else 'MISSED  '} {fault.name:32} {took:5.0f} s  {by}", flush=True)
            print(f"{'':9} {fault.what}", flush=True)
    print(f"{caught} of {len(faults)} planted faults are caught")
    return 0 if caught == len(faults) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
