"""Texts out of every real schema that compiles: `python -m benchmarks.samples`, each judged twice.

For each schema of maskbench-dev: `--seeds` texts by `Specification.sample`, and from each of them two texts begun at
random: cut after a random number of characters (over a vocabulary of bytes), and of tokens (over `--vocabulary`), then
finished by `shortest_completion`. Every text must be valid by both judges; the judges' listed faults are counted.

A finished schema is a line in `results/samples.jsonl`: a run continues where the last one stopped, and `--from` with
`--count` does a stretch of them. The table is about all lines of the asked range. Exit code 1 for any invalid text.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks import data, judging
from benchmarks.dead_ends import vocabulary_of
from benchmarks.tables import RESULTS, counted, summary, table, write_results
from benchmarks.two_judges import Judges
from benchmarks.workers import Lost, Step, run

BYTES = "bytes"
"""The vocabulary in which a prefix is a number of characters."""


@dataclass(frozen=True)
class Plan:
    """How texts are made, the same for every schema. `options` are those of `constrain.json_schema`."""

    seeds: int
    vocabulary: str
    options: tuple[tuple[str, str], ...] = ()


@dataclass
class Sampled:
    """One schema: what came of compiling, how many texts of each kind, and (kind, text, reason) of each bad one."""

    id: str
    status: str
    kinds: tuple[str, ...] = ()
    counts: Counter[str] = field(default_factory=Counter)
    explained: Counter[str] = field(default_factory=Counter)
    lengths: list[int] = field(default_factory=list)
    faults: list[tuple[str, str, str]] = field(default_factory=list)


def sample_schema(argument: tuple[str, str, Plan], step: Step) -> Sampled:
    """Task: all texts of one schema."""
    schema_id, schema_text, plan = argument
    step("compile")
    specification, outcome = judging.compile_schema(schema_text, dict(plan.options), first_mask=False)
    found = Sampled(schema_id, outcome.status, outcome.kinds)
    if outcome.status in ("untyped", "lost"):
        found.faults.append((f"compiling: {outcome.status}", "", outcome.message))
    if specification is None:
        return found
    session = Session(specification, Judges(schema_text, formats="known"), found, step)
    grammars = session.grammars(plan.vocabulary)
    for seed in range(plan.seeds):
        step(f"sample {seed}")
        try:
            text = specification.sample(seed)
        except Exception as error:
            session.fault("sampling raised", f"seed {seed}", error)
            continue
        session.judge("sample", text)
        chance = random.Random(f"{schema_id} {seed}")
        for name, grammar in grammars.items():
            session.complete(name, grammar, text, chance)
    return found


class Session:
    """The parts of one task: what is judged, by whom, and where it is counted."""

    def __init__(self, specification: Any, judges: Judges, found: Sampled, step: Step):
        self.specification, self.judges, self.found, self.step = specification, judges, found, step
        self.judged: set[str] = set()

    def grammars(self, vocabulary: str) -> dict[str, Any]:
        """The compiled grammar over each vocabulary that prefixes are cut in."""
        import constrain

        made = {}
        for name in dict.fromkeys((BYTES, vocabulary)):
            self.step(f"compile {name}")
            tokens = judging.byte_vocabulary() if name == BYTES else vocabulary_of(name)
            try:
                made[name] = constrain.Compiler(tokens).compile(self.specification)
            except Exception as error:
                self.fault("compiling raised", name, error)
        return made

    def complete(self, name: str, grammar: Any, text: str, chance: random.Random) -> None:
        """Cut `text` somewhere and judge what the shortest completion makes of it."""
        self.step(f"completion over {name}")
        matcher = grammar.matcher()
        try:
            tokens = list(text.encode()) if name == BYTES else list(grammar.vocabulary.encode(text))
            taken = tokens[: chance.randint(0, len(tokens))]
            if (accepted := matcher.try_advance(taken)) != len(taken):
                self.found.faults.append((f"prefix not accepted over {name}", text[:300], f"token {accepted}"))
                return
            finished = (matcher.text + bytes(matcher.shortest_completion())).decode()
        except Exception as error:
            self.fault(f"completion raised over {name}", text[:300], error)
            return
        self.judge(f"completion over {name}", finished)

    def judge(self, kind: str, text: str) -> None:
        self.found.counts[kind] += 1
        if text in self.judged:
            return
        self.judged.add(text)
        self.step(f"judging {kind}")
        self.found.counts["different texts"] += 1
        self.found.lengths.append(len(text))
        if objection := self.judges.objection(text):
            self.found.faults.append((f"{kind} invalid", text[:500], objection[:500]))
        elif explained := self.judges.verdict(text).explained:
            self.found.explained[explained] += 1

    def fault(self, kind: str, text: str, error: Exception) -> None:
        """Note an exception; a limit that was met is counted and is no fault."""
        name = type(error).__name__
        if name == "LimitExceeded":
            self.found.counts["limits met"] += 1
        else:
            self.found.faults.append((kind, text, f"{name}: {error}"[:300]))


# ---------------------------------------------------------------- the run


def sample_all(rows: Sequence[data.Row], plan: Plan, options: argparse.Namespace) -> list[Sampled]:
    """Every row that the file does not have yet; each is appended as it ends."""
    path = RESULTS / "samples.jsonl"
    if options.afresh:
        path.unlink(missing_ok=True)
    key, done = json.loads(json.dumps(asdict(plan))), {}
    for line in path.read_text(encoding="utf-8").split("\n") if path.exists() else ():
        if line and (entry := json.loads(line))["plan"] == key:
            done[entry["id"]] = read_back(entry["sampled"])
    wanted = [row for row in rows if row.id not in done]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as lines:
        arguments = [(row.id, row.schema_text, plan) for row in wanted]
        for index, result in run(
            sample_schema, arguments, processes=options.jobs, step_limit_s=options.step_limit, title="schemas"
        ):
            if isinstance(result, Lost):
                result = Sampled(wanted[index].id, "lost", (result.kind,), faults=[(result.kind, "", result.step)])
            done[result.id] = result
            lines.write(json.dumps({"plan": key, "id": result.id, "sampled": as_values(result)}) + "\n")
            lines.flush()
    return [done[row.id] for row in rows]


def as_values(one: Sampled) -> dict[str, Any]:
    """A record for JSON (a Counter does not go through `asdict`)."""
    return vars(one) | {"counts": dict(one.counts), "explained": dict(one.explained)}


def read_back(entry: dict[str, Any]) -> Sampled:
    counters: dict[str, Any] = {name: Counter(entry[name]) for name in ("counts", "explained")}
    lists: dict[str, Any] = {"kinds": tuple(entry["kinds"]), "faults": [tuple(one) for one in entry["faults"]]}
    return Sampled(**(entry | counters | lists))


def report(found: Sequence[Sampled], plan: Plan) -> str:
    """The table, what was not sampled, and the first faults."""
    counts: Counter[str] = sum((one.counts for one in found), Counter())
    explained: Counter[str] = sum((one.explained for one in found), Counter())
    faults = Counter(kind for one in found for kind, _, _ in one.faults)
    invalid = sum(count for kind, count in faults.items() if kind.endswith("invalid"))
    kinds = [kind for kind in counts if kind.startswith(("sample", "completion"))]
    compiled = [one for one in found if one.status == "compiled"]
    lengths = summary((length for one in found for length in one.lengths), (0.5, 0.99))
    lines = [
        f"maskbench-dev: {len(found):,} schemas, {plan.seeds} seeds, prefixes cut in bytes and {plan.vocabulary} tokens"
        + "".join(f", {name}={value!r}" for name, value in plan.options),
        "",
        table(
            ["compiled", *kinds, "different texts", "invalid", "other faults", "limits met"],
            [
                [
                    f"{len(compiled):,}",
                    *(counts[kind] for kind in kinds),
                    counts["different texts"],
                    invalid,
                    faults.total() - invalid,
                    counts["limits met"],
                ]
            ],
        ),
        "",
        f"characters of a text: p50 {lengths['p50']:.0f}, p99 {lengths['p99']:.0f}, max {lengths['max']:.0f}",
        f"not compiled: {counted(Counter(one.status for one in found if one.status != 'compiled'))}",
        f"judges differ, explained: {counted(explained)}",
        f"faults by kind: {counted(faults)}",
    ]
    for one in [one for one in found if one.faults][:40]:
        lines += [f"  {kind} {one.id}: {text!r}: {reason}" for kind, text, reason in one.faults[:2]]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20, help="texts per schema (default 20)")
    parser.add_argument("--from", dest="begin", type=int, default=0, metavar="N", help="the first row (default 0)")
    parser.add_argument("--count", type=int, help="how many rows from there (default: all)")
    parser.add_argument("--spread", type=int, metavar="N", help="only N rows, evenly spread over the range")
    parser.add_argument("--only", nargs="+", metavar="ID", help="these schemas only")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--vocabulary", default="llama3", choices=("llama3", "qwen3", "smollm2"))
    parser.add_argument("--whitespace", default="compact", choices=("compact", "spaced", "pretty", "flexible"))
    parser.add_argument("--spelling", default="canonical", choices=("canonical", "any"))
    parser.add_argument("--step-limit", type=float, default=20.0, metavar="S", help="processor seconds for one step")
    parser.add_argument("--afresh", action="store_true", help="forget what an earlier run did")
    options = parser.parse_args()
    chosen = {"spelling": "any"} if options.spelling == "any" else {"whitespace": options.whitespace}
    plan = Plan(options.seeds, options.vocabulary, tuple(chosen.items()))
    try:
        rows = [row for row in data.maskbench() if not options.only or row.id in options.only]
        _ = data.model_file() if options.vocabulary == "smollm2" else data.tokenizer_file(options.vocabulary)
    except data.DataMissing as error:
        sys.exit(str(error))
    rows = rows[options.begin :][: options.count]
    rows = rows[:: max(1, len(rows) // options.spread)][: options.spread] if options.spread else rows
    found = sample_all(rows, plan, options)
    write_results("samples", report(found, plan), {"schemas": [as_values(one) for one in found if one.faults]})
    sys.exit(int(any(one.faults for one in found)))


if __name__ == "__main__":
    main()
