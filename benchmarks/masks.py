"""Mask and start times on real schemas, beside a peer engine's in the same run: `python -m benchmarks.masks`.

What is measured. Schemas of maskbench-dev with at least one valid instance, permuted by `--seed`; the first `--schemas`
that both engines compile. Text as `json.dumps` writes it, members in schema order, numbers in their shortest spelling;
tokens of the Llama-3 tokenizer. One thread, one process, no garbage collection while the clock runs. The engines take
turns schema by schema, and take turns at going first. *Start* is schema text to first mask: front end, compile,
matcher, mask. Then every valid instance is walked, the clock around each single mask. Cold: nothing is kept from one
schema to the next but what belongs to the vocabulary (`--shared` keeps one Compiler).

An instance counts only if both engines accept it whole, so both columns are about the same masks. What either rejects
is a verdict, listed apart. Invalid instances are walked for their verdict, untimed.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import heapq
import pstats
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from benchmarks import data, declared_order
from benchmarks.engines import Engine, OurEngine, PeerEngine, Refused, Session, allows
from benchmarks.tables import shown, summary, table, write_results
from benchmarks.workers import progress_bar

QUANTILES = (0.5, 0.9, 0.99, 0.999)
BAR = 1 / 3


@dataclass(order=True)
class Slow:
    """One slow mask: where in which text."""

    us: float
    schema: str
    token: int
    text: str = field(compare=False)


@dataclass
class Column:
    """What one engine did."""

    masks_us: list[float] = field(default_factory=list)
    starts_us: list[float] = field(default_factory=list)
    verdicts: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    wrong: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Prepared:
    """One schema with its instances as token ids: (valid, text, ids)."""

    id: str
    schema_text: str
    instances: list[tuple[bool, str, list[int]]]


def prepare(row: data.Row, tokenizer: Any, ours: OurEngine | None) -> Prepared:
    """Re-sort, spell and tokenise; where the order depends on a branch, the one that we accept.

    Numbers of invalid instances stay as they are: `1.0` may be what is wrong (draft 4 takes it for no integer).
    """
    instances = []
    for test in row.tests:
        values = declared_order.candidates(row.schema, test.value)
        texts = [data.json_text(data.with_canonical_numbers(value) if test.valid else value) for value in values]
        text = texts[0]
        if len(texts) > 1 and ours is not None and test.valid:
            specification = ours.specification(row.schema_text)
            text = next((one for one in texts if specification.accepts(one)), text)
        instances.append((test.valid, text, tokenizer.encode(text, add_special_tokens=False).ids))
    return Prepared(row.id, row.schema_text, instances)


def start(engine: Engine, schema_text: str) -> tuple[Session, float]:
    """Compile and fill the first mask; the time in µs."""
    engine.forget()
    begin = time.perf_counter_ns()
    session = engine.compile(schema_text)
    session.fill()
    return session, (time.perf_counter_ns() - begin) / 1000


def walk(session: Session, engine: Engine, ids: list[int]) -> list[float] | None:
    """The time of each mask in µs along `ids` and at their end; None if a token is forbidden or the end incomplete."""
    clock, fill, advance, row = time.perf_counter_ns, session.fill, session.advance, engine.row
    times = []
    for token in ids:
        begin = clock()
        fill()
        times.append((clock() - begin) / 1000)
        if not allows(row, token):
            return None
        advance(token)
    if not session.is_complete():
        return None
    begin = clock()
    fill()
    times.append((clock() - begin) / 1000)
    return times


def measure(prepared: Prepared, engine: Engine, column: Column) -> list[list[float] | None] | None:
    """The masks of every instance by one engine (None: rejected), or None if it refuses the schema."""
    gc.collect()
    gc.disable()
    try:
        session, start_us = start(engine, prepared.schema_text)
        walks = []
        for number, (valid, text, ids) in enumerate(prepared.instances):
            if number:
                session.restart()
            walks.append(walk(session, engine, ids))
            verdict = f"{'valid' if valid else 'invalid'} {'accepted' if walks[-1] is not None else 'rejected'}"
            column.verdicts[verdict] += 1
            if valid != (walks[-1] is not None):
                column.wrong.append((prepared.id, f"{verdict}: {text[:200]}"))
    except Refused as refused:
        column.refusals[refused.kind] += 1
        return None
    finally:
        gc.enable()
    column.starts_us.append(start_us)
    return walks


def compiles(engine: Engine, schema_text: str) -> Refused | None:
    """None if the engine compiles the schema, else its refusal; nothing is kept."""
    try:
        engine.forget()
        engine.compile(schema_text)
    except Refused as refused:
        return refused
    return None


def run(engines: list[Engine], tokenizer: Any, options: argparse.Namespace) -> dict[str, Any]:
    """All schemas, all engines; the figures by engine name."""
    columns = {engine.name: Column() for engine in engines}
    ours = next((engine for engine in engines if isinstance(engine, OurEngine)), None)
    rows = [row for row in data.maskbench() if any(test.valid for test in row.tests)]
    rows = random.Random(options.seed).sample(rows, len(rows))
    if options.only:
        rows = [row for row in rows if row.id in options.only]
    slow: list[Slow] = []
    per_schema: list[dict[str, Any]] = []
    gc.collect()
    gc.freeze()  # the data set is not searched again at every collection
    with progress_bar() as bar:
        tracked = bar.add_task("schemas", total=min(options.schemas, len(rows)))
        for row in rows:
            if len(per_schema) == options.schemas:
                break
            refusals = {engine.name: compiles(engine, row.schema_text) for engine in engines}
            for name, refused in refusals.items():
                if refused:
                    columns[name].refusals[refused.kind] += 1
            if any(refusals.values()):
                continue
            prepared = prepare(row, tokenizer, ours)
            turn = engines if len(per_schema) % 2 == 0 else engines[::-1]
            walks = {engine.name: measure(prepared, engine, columns[engine.name]) for engine in turn}
            if any(walked is None for walked in walks.values()):
                continue
            entry: dict[str, Any] = {"id": row.id}
            for number, (valid, text, ids) in enumerate(prepared.instances):
                times = {name: walked[number] for name, walked in walks.items() if walked is not None}
                if not valid or any(one is None for one in times.values()):
                    continue
                for name, one in times.items():
                    columns[name].masks_us += one or []
                if ours is not None and options.slowest:
                    note_slow(slow, options.slowest, row.id, text, ids, times[ours.name] or [], tokenizer)
            for engine in engines:
                walked = zip(prepared.instances, walks[engine.name] or [], strict=True)
                masks = [us for (valid, _, _), one in walked if valid for us in one or []]
                start_us = columns[engine.name].starts_us[-1]
                entry[engine.name] = {"start_us": start_us, "masks": summary(masks, QUANTILES)}
            per_schema.append(entry)
            bar.advance(tracked)
    return {"columns": columns, "slow": sorted(slow, reverse=True), "per_schema": per_schema}


def note_slow(
    slow: list[Slow], limit: int, schema: str, text: str, ids: list[int], times: list[float], tokenizer: Any
) -> None:
    """Keep the `limit` slowest masks in `slow`."""
    for position, us in enumerate(times):
        if len(slow) < limit or us > slow[0].us:
            before = tokenizer.decode(ids[:position])
            push = heapq.heappush if len(slow) < limit else heapq.heappushpop
            push(slow, Slow(us, schema, position, f"{before[-60:]}▮{text[len(before) : len(before) + 20]}"))


def report(result: dict[str, Any], options: argparse.Namespace) -> str:
    """The tables as text."""
    columns: dict[str, Column] = result["columns"]
    figures = ["avg", *(f"p{q * 100:g}" for q in QUANTILES), "max", "count"]
    lines = [
        f"{len(result['per_schema'])} schemas of maskbench-dev with valid instances that all compile,"
        f" seed {options.seed}; {options.tokenizer} tokenizer; one thread;"
        f" {'one Compiler for all' if options.shared else 'cold: a fresh Compiler per schema'}; µs",
        "",
    ]
    for title, attribute in (("mask", "masks_us"), ("start (schema text to first mask)", "starts_us")):
        rows = [
            [name, *(summary(getattr(column, attribute), QUANTILES)[f] for f in figures)]
            for name, column in columns.items()
        ]
        if len(rows) == 2:
            rows.append(["ratio", *(a / b for a, b in zip(rows[0][1:-1], rows[1][1:-1], strict=True)), ""])
        lines += [table([title, *figures], rows), ""]
        if len(rows) == 3 and attribute == "masks_us":
            met = rows[2][1] <= BAR and rows[2][4] <= BAR
            lines += [f"bar (mask avg and p99 at most a third of the peer's): {'met' if met else 'NOT met'}", ""]
    kinds = ["valid accepted", "valid rejected", "invalid rejected", "invalid accepted"]
    lines += [
        table(["verdicts", *kinds], [[name, *(c.verdicts[kind] for kind in kinds)] for name, c in columns.items()]),
        "",
    ]
    for name, column in columns.items():
        refused = "; ".join(f"{kind} {count}" for kind, count in column.refusals.most_common(12))
        lines.append(f"{name} refused {column.refusals.total()} schemas met on the way: {refused or 'none'}")
    for slow in result["slow"]:
        lines.append(f"{shown(slow.us):>9} µs  {slow.schema} token {slow.token}: {slow.text!r}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schemas", type=int, default=300, help="how many schemas (default 300)")
    parser.add_argument("--seed", type=int, default=1, help="of the permutation (default 1)")
    parser.add_argument("--tokenizer", default="llama3", choices=("llama3", "qwen3"))
    parser.add_argument("--shared", action="store_true", help="one Compiler for all schemas, as in a server")
    parser.add_argument(
        "--alone", choices=("ours", "peer"), help="time one engine only (ours needs no peers' environment)"
    )
    parser.add_argument("--only", nargs="+", metavar="ID", help="these schemas only")
    parser.add_argument("--slowest", type=int, default=0, metavar="K", help="also list our K slowest masks")
    parser.add_argument("--profile", action="store_true", help="also print where Python time goes (distorts the times)")
    parser.add_argument("--name", default="masks", help="of the result files (default masks)")
    options = parser.parse_args()

    from tokenizers import Tokenizer

    try:
        path = data.tokenizer_file(options.tokenizer)
        engines: list[Engine] = []
        if options.alone != "peer":
            engines.append(OurEngine(path, options.tokenizer, shared=options.shared))
        if options.alone != "ours":
            engines.append(PeerEngine(path, options.tokenizer))
    except data.DataMissing as error:
        sys.exit(str(error))
    except ModuleNotFoundError as error:
        sys.exit(f"{error.name} is not installed here: run `python -m benchmarks.peers`, then use its interpreter")
    profiler = cProfile.Profile() if options.profile else None
    if profiler:
        profiler.enable()
    result = run(engines, Tokenizer.from_file(str(path)), options)
    if profiler:
        profiler.disable()
        pstats.Stats(profiler, stream=sys.stderr).sort_stats("tottime").print_stats(40)
    columns: dict[str, Column] = result["columns"]
    write_results(
        options.name,
        report(result, options),
        {
            "options": vars(options),
            "masks_us": {name: summary(column.masks_us, QUANTILES) for name, column in columns.items()},
            "starts_us": {name: summary(column.starts_us, QUANTILES) for name, column in columns.items()},
            "verdicts": {name: column.verdicts for name, column in columns.items()},
            "refusals": {name: column.refusals for name, column in columns.items()},
            "wrong": {name: column.wrong for name, column in columns.items()},
            "slowest": [vars(slow) for slow in result["slow"]],
            "schemas": result["per_schema"],
        },
    )


if __name__ == "__main__":
    main()
