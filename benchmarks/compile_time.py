"""Compile time and memory over every real schema: `.venv-peers/bin/python -m benchmarks.compile_time`.

Each schema of maskbench-dev goes from its text to the first mask, cold (a fresh Compiler; the vocabulary stays), in
ours and, where it is installed, in llguidance: the two take turns at going first, in the same process. Ours is also
told apart by stage: front end (parse, shapes, terms), kernel (terms to automaton), first mask. Times are processor
time, so that a busy machine moves them little; wall times stand in the JSON file. The collector is off while the clock
runs.

Memory is what the process peaks above what it held before (`/proc`); nothing is told where the system offers no peak.
Schemas over `--slow` seconds or `--large` MB are named, as are those that ended their process.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any

from benchmarks import data
from benchmarks.engines import OurEngine, PeerEngine, Refused
from benchmarks.tables import counted, summary, table, write_results
from benchmarks.workers import Lost, Step, peak_memory_bytes, reset_peak_memory, run

QUANTILES = (0.5, 0.9, 0.99)
STAGES = ("front end", "kernel", "first mask")
MEMORY_LIMIT_BYTES = 3 * 2**30
"""Two engines with their vocabularies take some 600 MB before the first schema."""


SLOWEST_KEPT = 200
"""How many schemas the result file has figures of."""


@dataclass
class Compiled:
    """One engine on one schema: `cpu_us` by stage and in all, `refused` the kind of refusal or ""."""

    engine: str
    refused: str = ""
    cpu_us: dict[str, float] = field(default_factory=dict)
    wall_us: float = 0.0
    peak_bytes: int = 0


@dataclass
class Both:
    """What both engines did with one schema; `lost` where the process did not survive it."""

    id: str
    engines: list[Compiled] = field(default_factory=list)
    lost: str = ""


@cache
def our_engine(tokenizer: str) -> OurEngine:
    return OurEngine(data.tokenizer_file(tokenizer), tokenizer)


@cache
def peer_engine(tokenizer: str) -> PeerEngine | None:
    """llguidance, or None where it is not installed."""
    if not importlib.util.find_spec("llguidance"):
        return None
    return PeerEngine(data.tokenizer_file(tokenizer), tokenizer)


def compile_both(argument: tuple[int, str, str, str], step: Step) -> Both:
    """Task: one schema in both engines; even numbers begin with ours."""
    number, schema_id, schema_text, tokenizer = argument
    ours, peer = our_engine(tokenizer), peer_engine(tokenizer)
    turns: list[Callable[[], Compiled]] = [lambda: _ours(ours, schema_text)]
    if peer is not None:
        turns.append(lambda: _peer(peer, schema_text))
    found = Both(schema_id)
    for position in range(len(turns)):
        step(f"turn {position}")
        found.engines.append(turns[(position + number) % len(turns)]())
    return found


def _ours(engine: OurEngine, schema_text: str) -> Compiled:
    engine.forget()

    def stages(lap: Callable[[str], None]) -> None:
        try:
            specification = engine.specification(schema_text)
            lap("front end")
            grammar = engine.compiler.compile(specification)
            lap("kernel")
            grammar.matcher().fill_mask(engine.row)
            lap("first mask")
        except engine.constrain.UnsupportedKeyword as error:
            raise Refused(error.keyword or "schema", str(error)) from error
        except engine.constrain.ConstrainError as error:
            raise Refused(type(error).__name__, str(error)) from error

    return _timed(engine.name, stages)


def _peer(engine: PeerEngine, schema_text: str) -> Compiled:
    def stages(lap: Callable[[str], None]) -> None:
        engine.compile(schema_text).fill()

    return _timed(engine.name, stages)


def _timed(name: str, stages: Callable[[Callable[[str], None]], None]) -> Compiled:
    """Run the stages with the collector off; `lap` ends one."""
    found = Compiled(name)
    gc.collect()
    gc.disable()
    try:
        measures = reset_peak_memory()
        before = peak_memory_bytes()
        wall, begin = time.perf_counter_ns(), time.process_time_ns()
        last = begin

        def lap(stage: str) -> None:
            nonlocal last
            now = time.process_time_ns()
            found.cpu_us[stage] = (now - last) / 1000
            last = now

        try:
            stages(lap)
        except Refused as error:
            found.refused = error.kind
        found.cpu_us["all"] = (time.process_time_ns() - begin) / 1000
        found.wall_us = (time.perf_counter_ns() - wall) / 1000
        found.peak_bytes = max(0, peak_memory_bytes() - before) if measures else 0
    finally:
        gc.enable()
    return found


# ---------------------------------------------------------------- the run


def report(found: Sequence[Both], names: Sequence[str], slow_s: float, large_mb: float) -> str:
    """The tables, and the schemas that are named."""
    by_engine = {name: {one.id: e for one in found for e in one.engines if e.engine == name} for name in names}
    compiled = {name: {key for key, e in by_engine[name].items() if not e.refused} for name in names}
    shared = set.intersection(*compiled.values()) if compiled else set()
    rows = []
    for name in names:
        rows.append(_row(name, [by_engine[name][key].cpu_us["all"] for key in shared]))
    ours = by_engine[names[0]]
    rows += [_row(f"  {stage}", [ours[key].cpu_us[stage] for key in shared]) for stage in STAGES]
    figures = ["schemas", "avg", *(f"p{q * 100:g}" for q in QUANTILES), "max"]
    own = [ours[key].cpu_us["all"] for key in compiled[names[0]]]
    megabytes = [ours[key].peak_bytes / 2**20 for key in compiled[names[0]]]
    lines = [
        f"maskbench-dev: {len(found):,} schemas, text to first mask, processor time in µs, cold",
        "",
        table(["compiled by all", *figures], rows),
        "",
        table(["compiled by ours", *figures], [_row("µs", own), _row("peak MB", megabytes)]),
        "",
    ]
    for name in names:
        kinds = Counter(e.refused for e in by_engine[name].values() if e.refused)
        lines.append(f"{name} compiles {len(compiled[name]):,}; refuses: {counted(kinds, 12)}")
    named = [(key, e) for key, e in ours.items() if e.cpu_us["all"] > slow_s * 1e6 or e.peak_bytes > large_mb * 2**20]
    named.sort(key=lambda one: -one[1].cpu_us["all"])
    lines.append(f"over {slow_s:g} s or {large_mb:g} MB: {len(named)}; lost: {sum(bool(one.lost) for one in found)}")
    lines += [
        f"  {key}: {e.cpu_us['all'] / 1e6:.2f} s, {e.peak_bytes / 2**20:.0f} MB"
        f" ({', '.join(f'{stage} {us / 1000:.0f} ms' for stage, us in e.cpu_us.items() if stage != 'all')})"
        f" {e.refused}"
        for key, e in named
    ]
    return "\n".join(lines + [f"  lost {one.id}: {one.lost}" for one in found if one.lost])


def _row(name: str, values: Sequence[float]) -> list[Any]:
    figures = summary(values, QUANTILES)
    return [name, int(figures.pop("count")), *figures.values()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, help="only so many schemas, evenly spread")
    parser.add_argument("--only", nargs="+", metavar="ID", help="these schemas only")
    parser.add_argument("--tokenizer", default="llama3", choices=("llama3", "qwen3"))
    parser.add_argument("--processes", type=int, default=1, help="more than one disturb each other (default 1)")
    parser.add_argument("--slow", type=float, default=2.0, metavar="S", help="name schemas over so many seconds")
    parser.add_argument("--large", type=float, default=1024.0, metavar="MB", help="name schemas over so many megabytes")
    parser.add_argument("--step-limit", type=float, default=60.0, metavar="S", help="processor seconds for one schema")
    options = parser.parse_args()
    try:
        rows = [row for row in data.maskbench() if not options.only or row.id in options.only]
        _ = data.tokenizer_file(options.tokenizer)
    except data.DataMissing as error:
        sys.exit(str(error))
    rows = rows[:: max(1, len(rows) // options.first)][: options.first] if options.first else rows
    arguments = [(number, row.id, row.schema_text, options.tokenizer) for number, row in enumerate(rows)]
    found: list[Both] = []
    for index, result in run(
        compile_both,
        arguments,
        processes=options.processes,
        step_limit_s=options.step_limit,
        title="schemas",
        memory_limit_bytes=MEMORY_LIMIT_BYTES,
    ):
        lost = isinstance(result, Lost)
        found.append(Both(rows[index].id, lost=f"{result.kind} at {result.step}") if lost else result)
    names = sorted({e.engine for one in found for e in one.engines}, key=lambda name: name != OurEngine.name)
    if OurEngine.name not in names:
        sys.exit("no schema was compiled")
    text = report(found, names, options.slow, options.large)
    slowest = sorted(found, key=lambda one: -max((e.cpu_us.get("all", 0.0) for e in one.engines), default=0.0))
    write_results("compile_time", text, {"slowest": [asdict(one) for one in slowest[:SLOWEST_KEPT]]})


if __name__ == "__main__":
    main()
