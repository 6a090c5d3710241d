"""Random walks that look for dead ends: `python -m benchmarks.dead_ends`.

A walk starts at the empty text and takes a token uniformly among the legal ones, up to `--tokens` of them or to an end
token. At every `--every`-th state, and at the last, the text must be finishable: `shortest_completion()` of a fork,
whose tokens the fork must accept one by one, must leave it complete, and the finished text must be valid by both
judges. An empty mask before the text is complete is a dead end outright.

The schemas are the first `--schemas` of maskbench-dev's permutation by `--seed` that compile and use only the first cut
of keywords; with `--keywords beyond` those that use others too (obligations, uniqueness, …), with `all` any. A finished
schema is a line in `results/dead_ends.jsonl`; a run continues where the last one stopped.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Any

from benchmarks import data
from benchmarks.first_cut import uses_only_first_cut
from benchmarks.tables import RESULTS, counted, summary, table, write_results
from benchmarks.two_judges import Judges
from benchmarks.workers import Lost, Step, run


@dataclass
class Walks:
    """What the walks over one schema found; `faults` are (kind, text so far, detail)."""

    id: str
    status: str
    walks: int = 0
    states: int = 0
    checked: int = 0
    ended: int = 0
    completion_us: list[float] = field(default_factory=list)
    longest_completion: int = 0
    faults: list[tuple[str, str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Plan:
    """How to walk, the same for every schema."""

    walks: int
    tokens: int
    every: int
    seed: int
    vocabulary: str


@cache
def vocabulary_of(name: str) -> Any:
    """SmolLM2's vocabulary from the model file, with its missing bytes, or a tokenizer file's."""
    import constrain

    if name == "smollm2":
        return constrain.Vocabulary.from_gguf(str(data.model_file()))
    return constrain.Vocabulary.from_file(str(data.tokenizer_file(name)))


def walk_schema(argument: tuple[str, str, Plan], step: Step) -> Walks:
    """Task: all walks over one schema."""
    import constrain

    schema_id, schema_text, plan = argument
    step("compile")
    vocabulary = vocabulary_of(plan.vocabulary)
    try:
        grammar = constrain.Compiler(vocabulary).compile(constrain.json_schema(schema_text))
    except constrain.ConstrainError as error:
        return Walks(schema_id, type(error).__name__)
    found = Walks(schema_id, "compiled")
    judge = _Judge(Judges(schema_text, formats="known"))
    for number in range(plan.walks):
        step(f"walk {number}")
        chooser = random.Random(f"{plan.seed} {schema_id} {number}")
        matcher = grammar.matcher()
        found.walks += 1
        for position in range(plan.tokens):
            legal = _legal_tokens(matcher.mask(), vocabulary.size)
            if not len(legal):
                found.faults.append(("empty mask", _shown(matcher.text), f"token {position}"))
                break
            found.states += 1
            if position % plan.every == 0:
                _check(matcher, found, judge)
                step(f"walk {number} token {position}")
            token = int(legal[chooser.randrange(len(legal))])
            matcher.advance(token)
            if matcher.is_terminated:
                found.ended += 1
                _judge_text(matcher.text, matcher.text, found, judge)
                break
        else:
            _check(matcher, found, judge)
    found.completion_us = sorted(found.completion_us)[:: max(1, len(found.completion_us) // 100)]
    return found


def _legal_tokens(mask: Any, size: int) -> Any:
    """The ids, as an array: most masks have tens of thousands, and one is wanted."""
    import numpy as np

    bits = np.unpackbits(np.ascontiguousarray(mask).view(np.uint8), bitorder="little")[:size]
    return np.flatnonzero(bits)


def _check(matcher: Any, found: Walks, judge: _Judge) -> None:
    """Finish a fork of `matcher` by its shortest completion and judge the text."""
    found.checked += 1
    before, fork = matcher.text, matcher.fork()
    begin = time.perf_counter_ns()
    try:
        completion = fork.shortest_completion()
    except Exception as error:
        found.faults.append(("no completion", _shown(before), f"{type(error).__name__}: {error}"[:300]))
        return
    found.completion_us.append((time.perf_counter_ns() - begin) / 1000)
    ids = list(completion.token_ids)
    found.longest_completion = max(found.longest_completion, len(ids))
    accepted = fork.try_advance(ids)
    if accepted != len(ids) or not (fork.is_complete or fork.is_terminated):
        detail = f"{accepted} of {len(ids)} tokens of {_shown(bytes(completion))} taken, complete: {fork.is_complete}"
        found.faults.append(("completion does not complete", _shown(before), detail))
    elif fork.text != before + bytes(completion):
        found.faults.append(("completion spells other bytes", _shown(before), _shown(bytes(completion))))
    else:
        _judge_text(before, fork.text, found, judge)


def _judge_text(before: bytes, text: bytes, found: Walks, judge: _Judge) -> None:
    if objection := judge.objection(text):
        found.faults.append(("invalid", _shown(before), f"{_shown(text)}: {objection}"[:500]))


def _shown(text: bytes) -> str:
    return text.decode("utf-8", "backslashreplace")[-300:]


class _Judge:
    """What both judges say; a text that was judged before is not judged again."""

    def __init__(self, judges: Judges):
        self.judges = judges
        self.known: set[bytes] = set()

    def objection(self, text: bytes) -> str:
        if text in self.known:
            return ""
        self.known.add(text)
        return self.judges.objection(text.decode("utf-8", "backslashreplace"))


# ---------------------------------------------------------------- the run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schemas", type=int, default=200)
    parser.add_argument("--walks", type=int, default=50, help="per schema (default 50: 10,000 in all)")
    parser.add_argument("--tokens", type=int, default=60, help="per walk at most (default 60)")
    parser.add_argument("--every", type=int, default=1, help="check every so-manieth state (default 1: all)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keywords", default="first-cut", choices=("first-cut", "beyond", "all"))
    parser.add_argument("--vocabulary", default="smollm2", choices=("smollm2", "llama3", "qwen3"))
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--step-limit", type=float, default=60.0, metavar="S", help="seconds between two checked states"
    )
    parser.add_argument("--afresh", action="store_true", help="forget what an earlier run did")
    options = parser.parse_args()
    plan = Plan(options.walks, options.tokens, options.every, options.seed, options.vocabulary)
    try:
        wanted = {"first-cut": (True,), "beyond": (False,), "all": (True, False)}[options.keywords]
        rows = [row for row in data.maskbench() if uses_only_first_cut(row.schema) in wanted]
        _ = data.model_file() if options.vocabulary == "smollm2" else data.tokenizer_file(options.vocabulary)
    except data.DataMissing as error:
        sys.exit(str(error))
    rows = random.Random(options.seed).sample(rows, len(rows))
    found = walk_all(rows, plan, options)
    compiled = [one for one in found if one.status == "compiled"][: options.schemas]
    schemas = [asdict(replace(one, completion_us=[])) for one in found]
    write_results("dead_ends", report(found, compiled, plan), {"plan": asdict(plan), "schemas": schemas})
    sys.exit(int(any(one.faults or one.status in ("timeout", "crash") for one in found)))


def walk_all(rows: list[data.Row], plan: Plan, options: argparse.Namespace) -> list[Walks]:
    """Walk until `--schemas` of them compiled; what the file holds already is not done again."""
    path = RESULTS / "dead_ends.jsonl"
    if options.afresh:
        path.unlink(missing_ok=True)
    done: dict[str, Walks] = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            if entry["plan"] == asdict(plan):
                done[entry["walks"]["id"]] = Walks(**entry["walks"])
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as lines:
        while True:
            compiled = sum(done[row.id].status == "compiled" for row in rows if row.id in done)
            wanted = [row for row in rows if row.id not in done][: max(0, options.schemas - compiled)]
            if not wanted:
                return [done[row.id] for row in rows if row.id in done]
            arguments = [(row.id, row.schema_text, plan) for row in wanted]
            for index, result in run(
                walk_schema, arguments, processes=options.processes, step_limit_s=options.step_limit, title="schemas"
            ):
                if isinstance(result, Lost):
                    result = Walks(wanted[index].id, result.kind, faults=[(result.kind, "", result.step)])
                done[result.id] = result
                lines.write(json.dumps({"plan": asdict(plan), "walks": asdict(result)}, ensure_ascii=False) + "\n")
                lines.flush()


def report(found: list[Walks], compiled: list[Walks], plan: Plan) -> str:
    """The table and the first faults of each kind."""
    times = summary((us for one in compiled for us in one.completion_us), (0.5, 0.99))
    faults = Counter(kind for one in found for kind, _, _ in one.faults)
    head = ["schemas", "walks", "ended by themselves", "states", "states checked", "faults"]
    row = [sum(getattr(one, name) for one in compiled) for name in ("walks", "ended", "states", "checked")]
    lines = [
        f"random walks, uniform among legal tokens: vocabulary {plan.vocabulary}, seed {plan.seed},"
        f" at most {plan.tokens} tokens",
        "",
        table(head, [[str(len(compiled)), *row, faults.total()]]),
        "",
        f"shortest completion: p50 {times['p50']:.3g} µs, p99 {times['p99']:.3g} µs,"
        f" longest {max((one.longest_completion for one in compiled), default=0)} tokens",
        f"not compiled: {counted(Counter(one.status for one in found if one.status != 'compiled'))}",
        f"faults by kind: {counted(faults)}",
    ]
    for one in found:
        lines += [f"  {kind} {one.id}: after {text!r}: {detail}" for kind, text, detail in one.faults[:3]]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
