"""Where the data sets are, and how they are read.

    MaskBench     5,646 real schemas with valid and invalid instances        `maskbench()`
    the suite     the official JSON-Schema-Test-Suite with its remotes       `suite()`, `remotes()`
    cases         small cases made from public bug reports                   `cases()`
    tokenizers    `tokenizer.json` files of real models                      `tokenizer_file()`

The folder is named by the environment variable CONSTRAIN_DATA, else it is `../shared/data` beside the repository.
Without it every loader raises `DataMissing`, which says what to do; tests turn it into a skip.

Invariant: numbers keep their value. A float that no Python float holds exactly as written comes as a `Decimal`, and
`json_text` writes it back; so a schema goes to an engine as the text that was in the file, up to white space.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent

PARTS = {
    "Glaive": "Glaiveai2K",
    "Kubernetes": "Kubernetes",
    "Github easy": "Github_easy",
    "Github medium": "Github_medium",
    "Github hard": "Github_hard",
    "Snowplow": "Snowplow",
    "WashingtonPost": "WashingtonPost",
    "JsonSchemaStore": "JsonSchemaStore",
    "BFCL": "BFCL",
    "MCPspec": "MCPspec",
    "JME": "JME",
}
"""The parts that reports name, and how the ids of each begin."""

DRAFTS = {
    "4": ("draft4", "http://json-schema.org/draft-04/schema#"),
    "6": ("draft6", "http://json-schema.org/draft-06/schema#"),
    "7": ("draft7", "http://json-schema.org/draft-07/schema#"),
    "2019-09": ("draft2019-09", "https://json-schema.org/draft/2019-09/schema"),
    "2020-12": ("draft2020-12", "https://json-schema.org/draft/2020-12/schema"),
}
"""Per draft: the folder of the official suite, and the `$schema` URI."""

REMOTES_URI = "http://localhost:1234/"
"""Where the suite's `remotes/` pretend to live; nothing is fetched, the files are given as a registry."""


class DataMissing(Exception):
    """A data set is not on this machine."""

    def __init__(self, path: Path):
        self.path = path
        super().__init__(
            f"{path.name} is not in {path.parent}: set CONSTRAIN_DATA (for the model, CONSTRAIN_MODEL) to where it is"
        )


@dataclass(frozen=True, slots=True)
class Instance:
    """One value with the verdict that the schema gives it."""

    valid: bool
    value: Any


@dataclass(frozen=True, slots=True)
class Row:
    """One schema of MaskBench; 753 have no instances and say only whether a schema compiles."""

    id: str
    schema: Any
    tests: tuple[Instance, ...]

    @property
    def schema_text(self) -> str:
        return json_text(self.schema)

    @property
    def part(self) -> str:
        """`Github_hard`, `BFCL`: the id up to its number."""
        return self.id.split("---")[0] if "---" in self.id else self.id.split("_")[0]


@dataclass(frozen=True, slots=True)
class SuiteGroup:
    """One schema of the official suite with its tests (description, instance)."""

    file: str
    description: str
    schema: Any
    tests: tuple[tuple[str, Instance], ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One row of `cases.jsonl`: texts, not values."""

    id: str
    spec_type: str
    spec: Any
    accept: tuple[str, ...]
    reject: tuple[str, ...]
    optional_accept: tuple[str, ...]
    may_refuse: bool
    note: str


# ---------------------------------------------------------------- places


def data_folder() -> Path:
    """The folder of the data sets, whether or not it exists."""
    named = os.environ.get("CONSTRAIN_DATA")
    return Path(named) if named else REPOSITORY.parent / "shared" / "data"


def data_path(name: str) -> Path:
    """The path of one data set.

    Raises: DataMissing: if it is not there.
    """
    path = data_folder() / name
    if not path.exists():
        raise DataMissing(path)
    return path


def model_file() -> Path:
    """The SmolLM2 GGUF that CONSTRAIN_MODEL names.

    Raises: DataMissing: if the variable is unset or names no file.
    """
    path = Path(os.environ.get("CONSTRAIN_MODEL", "CONSTRAIN_MODEL"))
    if not path.is_file():
        raise DataMissing(path)
    return path


@lru_cache(maxsize=4)
def tokenizer_file(name: str = "llama3") -> Path:
    """A plain `tokenizer.json` of `name` (llama3, qwen3), unpacked once into the machine's temporary folder."""
    packed = data_path(f"tokenizers/{name}.json.gz")
    plain = Path(tempfile.gettempdir()) / f"constrain-benchmarks-{os.getuid()}" / f"{name}.{packed.stat().st_size}.json"
    if not plain.exists():
        plain.parent.mkdir(exist_ok=True)
        partial = plain.with_suffix(f".{os.getpid()}")
        partial.write_bytes(gzip.decompress(packed.read_bytes()))
        partial.replace(plain)
    return plain


# ---------------------------------------------------------------- loaders


def maskbench() -> Iterator[Row]:
    """Every row of the development part of MaskBench, in file order."""
    with gzip.open(data_path("maskbench-dev.jsonl.gz"), "rt", encoding="utf-8") as lines:
        for line in lines:
            row = parse_json(line)
            tests = tuple(Instance(test["valid"], test["data"]) for test in row["tests"])
            yield Row(row["id"], row["schema"], tests)


def part_permutation(rows: list[Row], part: str, seed: int = 1) -> list[Row]:
    """The rows of one of `PARTS`, permuted: `random.Random(seed).sample` over the part's rows in file order."""
    members = [row for row in rows if row.part == PARTS[part]]
    return random.Random(seed).sample(members, len(members))


def suite(draft: str = "2020-12", *, optional_formats: bool = False) -> Iterator[SuiteGroup]:
    """The groups of the required files of one draft, or of its `optional/format` files."""
    folder = data_path("json-schema-test-suite") / "tests" / DRAFTS[draft][0]
    folder = folder / "optional" / "format" if optional_formats else folder
    for path in sorted(folder.glob("*.json")):
        for group in parse_json(path.read_text(encoding="utf-8")):
            tests = tuple((test["description"], Instance(test["valid"], test["data"])) for test in group["tests"])
            yield SuiteGroup(path.stem, group["description"], group["schema"], tests)


def remotes() -> dict[str, Any]:
    """The suite's remote documents by URI."""
    folder = data_path("json-schema-test-suite") / "remotes"
    return {
        REMOTES_URI + path.relative_to(folder).as_posix(): parse_json(path.read_text(encoding="utf-8"))
        for path in sorted(folder.rglob("*.json"))
    }


def cases() -> Iterator[Case]:
    """Every row of `cases.jsonl`."""
    for line in data_path("cases.jsonl").read_text(encoding="utf-8").split("\n"):
        if not line:
            continue
        row = parse_json(line)
        yield Case(
            row["id"],
            row["spec_type"],
            row["spec"],
            tuple(row["accept"]),
            tuple(row["reject"]),
            tuple(row.get("optional_accept", ())),
            bool(row.get("may_refuse_with_error", False)),
            row["note"],
        )


# ---------------------------------------------------------------- JSON with exact numbers


def parse_json(text: str) -> Any:
    """`json.loads`, but a number that a float would change comes as a `Decimal`."""
    return json.loads(text, parse_float=_exact_float)


def _exact_float(text: str) -> float | Decimal:
    value, exact = float(text), Decimal(text)
    return value if exact.is_finite() and abs(value) != float("inf") and Decimal(repr(value)) == exact else exact


def json_text(value: Any, *, ascii: bool = False) -> str:
    """What `json.dumps` writes with its default separators, `", "` and `": "`, and with exact numbers.

    Non-ASCII characters stand for themselves unless `ascii`; a value that holds a lone surrogate, which no UTF-8 text
    can, is always written in ASCII.
    """
    try:
        text = json.dumps(value, ensure_ascii=ascii)
    except TypeError:
        text = _write(value, ascii)
    return text if ascii or _SURROGATE.search(text) is None else json_text(value, ascii=True)


_SURROGATE = re.compile("[\ud800-\udfff]")


def _write(value: Any, ascii: bool) -> str:
    if isinstance(value, Decimal):
        return str(value).replace("E", "e")
    if isinstance(value, dict):
        return (
            "{" + ", ".join(f"{json.dumps(k, ensure_ascii=ascii)}: {_write(v, ascii)}" for k, v in value.items()) + "}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(_write(item, ascii) for item in value) + "]"
    return json.dumps(value, ensure_ascii=ascii)


def with_canonical_numbers(value: Any) -> Any:
    """`value` with each number in its shortest plain spelling: `1.0` and `1e0` become `1`, `-0` becomes `0`."""
    if isinstance(value, dict):
        return {name: with_canonical_numbers(member) for name, member in value.items()}
    if isinstance(value, list):
        return [with_canonical_numbers(item) for item in value]
    if isinstance(value, float | Decimal):
        exact = Decimal(repr(value)) if isinstance(value, float) else value
        if exact == exact.to_integral_value() and exact.adjusted() < 400:
            return int(exact)
        return Decimal(format(exact.normalize(), "f")) if abs(exact.adjusted()) < 400 else exact
    return value
