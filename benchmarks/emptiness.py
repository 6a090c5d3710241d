"""Empty or barely inhabited: `python -m benchmarks.emptiness` decides each schema of the corpus.

A schema of `emptiness_families.rows()` is decided rightly if nothing satisfies it and we say so (`EmptyLanguage`), or
if it compiles, its witness is accepted, sampled texts are valid, and no walk meets a dead end: `--walks` walks over a
vocabulary of bytes, one by uniform choice and the others by *forced* ones (never the end while anything else is legal,
by turns the longest way in and the rarest byte), every mask non-empty, every state finished by its shortest
completion, every finished text valid by both judges. Refused schemas are counted by keyword.

Exit code 1 if one was decided wrongly.
"""

from __future__ import annotations

import argparse
import dataclasses
import random
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal

from benchmarks import data, judging
from benchmarks.emptiness_families import Row, rows
from benchmarks.forced_walks import STEPS, walk
from benchmarks.tables import counted, table, write_results
from benchmarks.two_judges import Judges
from benchmarks.workers import Lost, Step, run

OPTIONS: dict[str, Any] = {"key_order": "any", "numbers": "any", "whitespace": "spaced"}
SAMPLES = 10

State = Literal["right", "wrong", "refused", "limit"]


@dataclass
class Decided:
    """What came of one row: `faults` say what is wrong; `limit` is a typed error that names what was exceeded."""

    id: str
    is_empty: bool
    state: State
    kinds: tuple[str, ...] = ()
    faults: list[str] = field(default_factory=list)


def decide(argument: tuple[Row, int], step: Step) -> Decided:
    """Task: one row, with so many walks."""
    row, walks = argument
    step("compile")
    specification, outcome = judging.compile_schema(data.json_text(row.schema), OPTIONS)
    found = Decided(row.id, row.is_empty, "right", outcome.kinds)
    if outcome.status in ("refused", "typed"):
        found.state = "refused" if outcome.status == "refused" else "limit"
        found.faults = [] if outcome.kinds == ("LimitExceeded",) or outcome.status == "refused" else [outcome.message]
    elif outcome.status == "untyped":
        found.faults.append(f"compiling raised {outcome.message}")
    elif outcome.status == "empty" and not row.is_empty:
        found.faults.append(f"said to be empty, but {data.json_text(row.witness)} satisfies it")
    elif outcome.status == "compiled" and row.is_empty:
        found.faults.append(f"not said to be empty: {_example(specification)}")
    elif specification is not None:
        _inhabit(specification, row, walks, found, step)
    if found.faults:
        found.state = "wrong"
    return found


def _example(specification: Any) -> str:
    """A text that should not exist, or what came instead of it."""
    try:
        return specification.sample(0)
    except Exception as error:
        return f"sampling raised {type(error).__name__}: {error}"


def _inhabit(specification: Any, row: Row, walks: int, found: Decided, step: Step) -> None:
    """The witness, samples and walks of a schema that compiled."""
    import constrain

    judges = Judges(data.json_text(row.schema), formats="known")
    text = data.json_text(row.witness)
    step("witness")
    if (verdict := judging.accepts(specification, text)) is not True:
        found.faults.append(f"the witness {text} is not accepted: {verdict}")
    for seed in range(SAMPLES):
        step(f"sample {seed}")
        try:
            sampled = specification.sample(seed, length=STEPS)
        except Exception as error:
            found.faults.append(f"sampling raised {type(error).__name__}: {error}")
            break
        if objection := judges.objection(sampled):
            found.faults.append(f"sampled {sampled}: {objection}")
    grammar = constrain.Compiler(judging.byte_vocabulary()).compile(specification)
    for number in range(walks):
        step(f"walk {number}")
        if fault := walk(grammar, judges, random.Random(f"{row.id} {number}"), is_forced=number > 0):
            found.faults.append(fault)


def decide_all(corpus: list[Row], walks: int, processes: int, step_limit_s: float = 5.0) -> list[Decided]:
    """The whole corpus in watched processes; a row that hangs is wrong."""
    found: list[Decided] = []
    arguments = [(row, walks) for row in corpus]
    for index, result in run(decide, arguments, processes=processes, step_limit_s=step_limit_s, title="schemas"):
        if isinstance(result, Lost):
            row = corpus[index]
            result = Decided(row.id, row.is_empty, "wrong", (result.kind,), [f"{result.kind} at {result.step}"])
        found.append(result)
    return sorted(found, key=lambda one: one.id)


def report(found: list[Decided]) -> str:
    states = ("right", "wrong", "refused", "limit")
    refused = Counter(kind for one in found if one.state == "refused" for kind in one.kinds)
    groups = {"empty": [one for one in found if one.is_empty], "inhabited": [one for one in found if not one.is_empty]}
    lines = [
        table(
            ["schemas", "all", *states],
            [
                [name, len(group), *(sum(one.state == state for one in group) for state in states)]
                for name, group in groups.items()
            ],
        ),
        "",
        f"refused by keyword: {counted(refused)}",
    ]
    lines += [f"  limit {one.id}" for one in found if one.state == "limit"]
    lines += [f"  WRONG {one.id}: {fault}" for one in found for fault in one.faults[:3]]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--walks", type=int, default=20, help="per inhabited schema (default 20)")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", metavar="TEXT", help="the rows whose id contains it")
    parser.add_argument("--list", action="store_true", help="print the corpus and stop")
    options = parser.parse_args()
    corpus = [row for row in rows() if options.only is None or options.only in row.id]
    if options.list:
        for row in corpus:
            witness = "nothing" if row.is_empty else data.json_text(row.witness)
            print(f"{row.id}\n    {data.json_text(row.schema)}\n    {witness}")
        return
    found = decide_all(corpus, options.walks, options.processes)
    write_results("emptiness", report(found), {"schemas": [dataclasses.asdict(one) for one in found]})
    sys.exit(int(any(one.state == "wrong" for one in found)))


if __name__ == "__main__":
    main()
