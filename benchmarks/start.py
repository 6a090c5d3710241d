"""How long until the first mask: `python -m benchmarks.start`.

import      wall time of `python -c "import constrain"` less that of an empty program, median of `--repeats`, and
            which heavy packages it drew in (there must be none)
vocabulary  reading a `tokenizer.json` and building what every compile shares
compile     schema text to first mask over `--schemas` of maskbench-dev, cold, beside llguidance where installed
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import json
import random
import statistics
import subprocess
import sys
import time
from typing import Any

from benchmarks import data
from benchmarks.engines import Engine, OurEngine, PeerEngine, Refused
from benchmarks.masks import start
from benchmarks.tables import summary, table, write_results
from benchmarks.workers import progress_bar

HEAVY = ("torch", "tokenizers", "transformers", "pydantic", "jsonschema", "rich", "typer", "numpy")
QUANTILES = (0.5, 0.9, 0.99)


def wall_ms(program: str) -> float:
    """The time of one Python process."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True, cwd=data.REPOSITORY)
    return (time.perf_counter() - begin) * 1000


def import_times(repeats: int) -> dict[str, Any]:
    """Median import time in ms, and the heavy packages that the import loads."""
    empty = statistics.median(wall_ms("pass") for _ in range(repeats))
    ours = statistics.median(wall_ms("import constrain") for _ in range(repeats))
    program = f"import sys, json, constrain; print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))"
    answer = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, cwd=data.REPOSITORY)
    return {"empty_ms": empty, "import_ms": ours - empty, "heavy": json.loads(answer.stdout)}


def timed(make: Any, *arguments: Any) -> tuple[Any, float]:
    """What `make` returns, and the ms it took."""
    begin = time.perf_counter()
    made = make(*arguments)
    return made, (time.perf_counter() - begin) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7, help="processes per import time (default 7)")
    parser.add_argument("--schemas", type=int, default=1000, help="permuted schemas to compile (default 1000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tokenizer", default="llama3", choices=("llama3", "qwen3"))
    options = parser.parse_args()
    imported = import_times(options.repeats)
    lines = [
        f"import constrain: {imported['import_ms']:.0f} ms (an empty program: {imported['empty_ms']:.0f} ms);"
        f" heavy packages loaded: {', '.join(imported['heavy']) or 'none'}"
    ]
    try:
        path = data.tokenizer_file(options.tokenizer)
        rows = list(data.maskbench())
    except data.DataMissing as error:
        sys.exit(f"{lines[0]}\n{error}")
    engines: list[Engine] = []
    made, ms = timed(OurEngine, path, options.tokenizer)
    engines.append(made)
    lines.append(f"vocabulary {options.tokenizer}: {made.name} {ms:.0f} ms")
    if importlib.util.find_spec("llguidance"):
        made, ms = timed(PeerEngine, path, options.tokenizer)
        engines.append(made)
        lines[-1] += f", {made.name} {ms:.0f} ms"
    times: dict[str, list[float]] = {engine.name: [] for engine in engines}
    refused = dict.fromkeys(times, 0)
    gc.freeze()  # the data set is not searched again at every collection
    with progress_bar() as bar:
        for row in bar.track(
            random.Random(options.seed).sample(rows, min(options.schemas, len(rows))), description="schemas"
        ):
            took = {}
            for engine in engines:
                gc.collect()
                try:
                    _, took[engine.name] = start(engine, row.schema_text)
                except Refused:
                    refused[engine.name] += 1
            if len(took) == len(engines):
                for name, us in took.items():
                    times[name].append(us)
    figures = ["count", "avg", *(f"p{q * 100:g}" for q in QUANTILES), "max"]
    table_rows = [
        [name, *(summary(us, QUANTILES)[figure] for figure in figures), refused[name]] for name, us in times.items()
    ]
    lines += [
        "",
        "schema text to first mask, µs, schemas that all compile; cold",
        table(["", *figures, "refused"], table_rows),
    ]
    values = {name: summary(us, QUANTILES) for name, us in times.items()}
    write_results("start", "\n".join(lines), {"import": imported, "compile_us": values, "refused": refused})


if __name__ == "__main__":
    main()
