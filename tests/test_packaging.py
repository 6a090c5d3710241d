"""The repository as a package: light core, pinned set-up, no trace of one machine."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
HEAVY = ("torch", "transformers", "tokenizers", "pydantic", "safetensors", "gguf", "tiktoken")
NAME = re.compile(r"^[A-Za-z0-9._-]+")


def tracked_files() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def package_name(requirement: str) -> str:
    match = NAME.match(requirement)
    assert match is not None
    return re.sub(r"[-_.]+", "-", match[0]).lower()


def test_the_core_depends_on_nothing_heavy():
    assert not {package_name(requirement) for requirement in PROJECT["dependencies"]} & set(HEAVY)


def test_every_requirement_but_torch_is_pinned():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = {package_name(line) for line in lines if line and not line.startswith("#")}
    assert all("==" in line for line in lines if line and not line.startswith("#"))
    wanted = [*PROJECT["dependencies"], *(r for group in PROJECT["optional-dependencies"].values() for r in group)]
    assert {package_name(r) for r in wanted} - pinned <= {"torch", "constrain"}


def test_all_has_every_extra_that_a_user_may_need():
    extras = PROJECT["optional-dependencies"]

    def packages_of(extra: str) -> set[str]:
        found: set[str] = set()
        for requirement in extras[extra]:
            nested = re.fullmatch(r"constrain\[(.*)\]", requirement)
            found |= (
                {n for e in nested[1].split(",") for n in packages_of(e)} if nested else {package_name(requirement)}
            )
        return found

    for extra in set(extras) - {"build", "test", "lint", "dev"}:
        assert packages_of(extra) <= packages_of("all"), extra


def test_nothing_committed_names_this_machine_or_a_package_registry():
    registry = re.compile(
        rb"(?:pypi\.(?:org|python\.org)|download\.pytorch\.org|pythonhosted|/(?:root|home/\w+|work|opt)/)"
    )
    own = Path(__file__)
    found = {
        str(path.relative_to(ROOT)) for path in tracked_files() if path != own and registry.search(path.read_bytes())
    }
    assert not found


def test_links_between_documents_lead_somewhere():
    link = re.compile(r"\]\((?!https?:|#)([^)#\s]+)(?:#[^)]*)?\)")
    missing = [
        f"{path.relative_to(ROOT)} → {target}"
        for path in tracked_files()
        if path.suffix == ".md"
        for target in link.findall(path.read_text())
        if not (path.parent / target).exists()
    ]
    assert not missing


@pytest.mark.parametrize("script", ["support_matrix", "lint_rules"])
def test_tables_in_the_guide_are_those_of_the_code(script: str):
    command = [sys.executable, f"scripts/{script}.py", "--check"]
    checked = subprocess.run(command, cwd=ROOT, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert checked.returncode == 0, "run: make docs"


def test_ci_can_be_run():
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    for script in (ROOT / ".ci" / "run",):
        assert subprocess.run(["bash", "-n", str(script)], check=False).returncode == 0


def test_every_make_target_is_explained():
    text = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    assert phony is not None
    explained = set(re.findall(r"^([a-z]+):.*## ", text, re.MULTILINE))
    assert set(phony[1].split()) - explained == {"python"}


def test_import_brings_nothing_heavy():
    unwanted = {*HEAVY, "rich", "typer", "jsonschema", "numpy"}
    code = f"import json, sys; import constrain;print(json.dumps(sorted(set(sys.modules) & {unwanted!r})))"
    assert json.loads(subprocess.check_output([sys.executable, "-c", code], cwd=ROOT)) == []


def test_help_is_quick_to_ask_for_and_loads_neither_torch_nor_the_kernel():
    code = (
        "import sys; from constrain.cli.app import app\n"
        "try: app(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'torch', 'constrain._kernel', 'numpy', 'jsonschema'} & set(sys.modules); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True)
