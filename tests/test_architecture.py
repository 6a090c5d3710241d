"""The shape of the project, read from its imports: arrows point down, the judge and the twin stand alone.

The order is that of `docs/design/interfaces.md`. Imports inside functions count; those for type checking only do not.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "constrain"
FREE = {"errors", "report"}
LAYERS = (
    {"_kernel"},
    {"grammar"},
    {"frontends"},
    {"specification", "explanation"},
    {"linting"},
    {"matching"},
    {"model"},
    {"decoding"},
    {"cli", "integrations"},
)
"""From the bottom to the top: each part may import those below it, and what stands beside it in one file's layer."""
JUDGE = "validation"
MAY_ASK_THE_JUDGE = {"specification", "decoding", "cli", "integrations"}
TOP = {"cli", "integrations", "__init__", "__main__"}
"""Who may use the public names of the package itself."""
LONGEST_MODULE = 450
VAGUE_NAMES = {"util", "utils", "common", "helper", "helpers", "misc"}


def python_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.py") if "__pycache__" not in path.parts)


def imports_of(path: Path) -> Iterator[str]:
    """Every module that a file imports, absolute, also inside functions."""
    tree = ast.parse(path.read_text())
    for node in _without_type_checking(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(path, node)
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _without_type_checking(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            for other in child.orelse:
                yield from _without_type_checking(other)
        else:
            yield from _without_type_checking(child)


def _absolute(path: Path, node: ast.ImportFrom) -> str:
    if node.level == 0:
        return node.module or ""
    package = path.relative_to(ROOT).with_suffix("").parts[: -node.level]
    return ".".join((*package, *([node.module] if node.module else [])))


def part_of(path: Path) -> str:
    """The folder below `constrain/`, or the module that stands there alone."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def parts_imported(path: Path) -> Iterable[str]:
    """The parts of `constrain` that a file imports; "" is the package with its public names."""
    for name in imports_of(path):
        words = name.split(".")
        if words[0] == "constrain":
            is_part = len(words) > 1 and ((PACKAGE / words[1]).is_dir() or (PACKAGE / f"{words[1]}.py").is_file())
            yield words[1] if is_part or words[1:2] == ["_kernel"] else ""


def layer_of(part: str) -> int:
    found = [height for height, parts in enumerate(LAYERS) if part in parts]
    assert found, f"{part!r} has no place in LAYERS: give it one, here and in docs/design/interfaces.md"
    return found[0]


def is_allowed(importer: str, imported: str) -> bool:
    if imported == importer or imported in FREE:
        return True
    if importer in FREE or importer == JUDGE:
        return False
    if imported == JUDGE:
        return importer in MAY_ASK_THE_JUDGE
    if imported in ("", "__init__", "__main__"):
        return importer in TOP
    if importer in ("__init__", "__main__"):
        return True
    beside = layer_of(importer) == layer_of(imported) and not (PACKAGE / importer).is_dir()
    return layer_of(imported) < layer_of(importer) or beside


@pytest.mark.parametrize("path", python_files(PACKAGE), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_only_to_lower_layers(path: Path):
    importer = part_of(path)
    wrong = sorted({part or "constrain" for part in parts_imported(path) if not is_allowed(importer, part)})
    assert not wrong, f"{importer} may not import {wrong}"


def test_errors_import_nothing_of_ours():
    assert set(parts_imported(PACKAGE / "errors.py")) <= {"errors"}


def test_the_judge_imports_only_errors():
    for path in python_files(PACKAGE / JUDGE):
        assert set(parts_imported(path)) <= {JUDGE, "errors"}, path


def test_the_twin_imports_nothing_of_ours_but_the_terms():
    for path in python_files(ROOT / "tests" / "reference"):
        ours = {name for name in imports_of(path) if name.split(".")[0] in ("constrain", "tests")}
        assert not {n for n in ours if not n.startswith(("constrain.grammar.terms", "tests.reference."))}, path


def test_the_twin_runs_without_the_kernel():
    code = (
        "import sys; sys.modules['constrain._kernel'] = None\n"
        "from tests.reference.grammar import Recognizer; from constrain.grammar import terms\n"
        "spec = terms.GrammarSpec({'start': terms.Lexeme(terms.Literal('a'))}); assert Recognizer(spec).accepts(b'a')\n"
        "ours = {m for m in sys.modules if m.startswith('constrain.')}\n"
        "assert ours == {'constrain._kernel', 'constrain.grammar', 'constrain.grammar.terms'}, ours"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_the_terms_import_nothing_of_ours():
    assert not set(parts_imported(PACKAGE / "grammar" / "terms.py"))


@pytest.mark.parametrize("folder", ["constrain", "tests/reference", "tests/kernel"])
def test_no_module_is_too_long(folder: str):
    def written_lines(path: Path) -> int:
        return sum(1 for line in path.read_text().splitlines() if line.strip())

    long = {str(path): written_lines(path) for path in python_files(ROOT / folder)}
    assert not {path: lines for path, lines in long.items() if lines > LONGEST_MODULE}


def test_every_module_says_what_it_is_for():
    silent = [
        path
        for path in python_files(PACKAGE)
        if path.stat().st_size and not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert not silent


def test_no_module_has_a_name_that_says_nothing():
    vague = [
        path
        for folder in ("constrain", "tests", "benchmarks", "scripts", "examples")
        for path in python_files(ROOT / folder)
        if set(path.stem.split("_")) & VAGUE_NAMES or set(path.parent.name.split("_")) & VAGUE_NAMES
    ]
    assert not vague
