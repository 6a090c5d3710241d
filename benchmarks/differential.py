"""Random schemas × random instances, ours beside two judges: `python -m benchmarks.differential`.

A seed makes a schema (`random_schemas`, or with `--generator hypothesis` hypothesis-jsonschema over the metaschema),
and instances near it (`random_instances`, texts sampled from the language among them). A *pair* is one schema with one
instance: `accepts(json.dumps(instance))` beside what `two_judges` say. Options: key_order="any", numbers="any",
whitespace="spaced", formats="annotation". Sampled texts must be valid too, a forced walk over the masks (default
spelling) must meet no dead end, and where a schema is said to be empty, no instance may be valid. Refused schemas are
counted by keyword; their instances are no pairs.

Each finding is shrunk to a minimal schema and instance. Exit code 1 if there is one.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import re
import signal
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from functools import lru_cache
from typing import Any

from benchmarks import data, judging
from benchmarks.forced_walks import walk
from benchmarks.random_instances import instances
from benchmarks.random_schemas import random_schema
from benchmarks.shrinking import shrink
from benchmarks.tables import counted, table, write_results
from benchmarks.two_judges import Judges
from benchmarks.workers import Lost, Step, run

OPTIONS: dict[str, Any] = {
    "key_order": "any",
    "numbers": "any",
    "whitespace": "spaced",
    "formats": "annotation",
}
SAMPLES = 3
INSTANCES = 20
WALKS, WALK_STEPS = 1, 24
LARGEST = 10**30
"""Sampled numbers beyond it are made small before they are mutated: arithmetic on them is not what is tested."""


@dataclass(frozen=True)
class Finding:
    """One disagreement: `kind` says who is on which side; `shrunk` are the minimal schema and instance."""

    kind: str
    schema: str
    instance: str
    detail: str
    origin: str
    shrunk: tuple[str, str] | None = None

    def __str__(self) -> str:
        schema, instance = self.shrunk or (self.schema, self.instance)
        return f"{self.kind} [{self.origin}]\n    schema   {schema}\n    instance {instance}\n    {self.detail}"


@dataclass
class Examined:
    """What came of one schema: `counts` are pairs by (verdict), `explained` the listed faults that were needed."""

    status: str
    kinds: tuple[str, ...] = ()
    compile_s: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    explained: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    @property
    def pairs(self) -> int:
        return self.counts["valid"] + self.counts["invalid"]


# ---------------------------------------------------------------- one schema


def examine(argument: tuple[str, int, str], step: Step) -> Examined:
    """Task: the schema of (seed, number) from a generator, with all its instances."""
    seed, number, generator = argument
    origin = f"{generator} {seed} {number}"
    chance = random.Random(origin)
    schema = random_schema(chance) if generator == "own" else hypothesis_schema(seed, number)
    return examine_schema(schema, chance, origin, step)


def examine_schema(schema: Any, chance: random.Random, origin: str, step: Step) -> Examined:
    schema_text = data.json_text(schema)
    step("compile")
    specification, outcome = judging.compile_schema(schema_text, OPTIONS, first_mask=False)
    found = Examined(outcome.status, outcome.kinds, outcome.compile_s)
    if outcome.status == "untyped":
        found.findings.append(Finding("compiling raised", schema_text, "", outcome.message, origin))
    if outcome.status not in ("compiled", "empty"):
        return found
    judges = Judges(schema_text)
    known = sampled(specification, judges, found, (schema_text, origin), step) if specification else []
    if specification is not None:
        walked(schema_text, judges, found, origin, step)
    for value in instances(chance, schema, INSTANCES, known):
        compare(specification, judges, data.json_text(value), found, (schema_text, origin), step)
    return found


def sampled(specification: Any, judges: Judges, found: Examined, place: tuple[str, str], step: Step) -> list[Any]:
    """The values of a few sampled texts, each judged."""
    from constrain import LimitExceeded

    values = []
    for seed in range(SAMPLES):
        step(f"sample {seed}")
        try:
            text = specification.sample(seed, length=60)
        except LimitExceeded:
            found.counts["limit"] += 1
            continue
        except Exception as error:
            detail = f"{type(error).__name__}: {error}"
            found.findings.append(Finding("sampling raised", place[0], f"seed {seed}", detail, place[1]))
            continue
        found.counts["samples"] += 1
        if objection := judges.objection(text):
            found.findings.append(Finding("sample invalid", place[0], text, objection, place[1]))
        values.append(json.loads(text, parse_float=_small_float, parse_int=_small_int))
    return values


def walked(schema_text: str, judges: Judges, found: Examined, origin: str, step: Step, walks: int = WALKS) -> None:
    """Forced walks over the masks, under the default spelling: no dead end, and every state finishes validly."""
    import constrain

    step("compile for walks")
    try:
        specification = constrain.json_schema(schema_text, formats="annotation")
        grammar = constrain.Compiler(judging.byte_vocabulary()).compile(specification)
    except constrain.ConstrainError as error:
        kind = f"compiles in any order, but not in declared order: {type(error).__name__}"
        found.findings.append(Finding(kind, schema_text, "", str(error)[:300], origin))
        return
    for number in range(walks):
        step(f"walk {number}")
        try:
            fault = walk(grammar, judges, random.Random(number), is_forced=True, steps=WALK_STEPS)
        except constrain.LimitExceeded:
            found.counts["limit"] += 1
            continue
        except Exception as error:
            fault = f"{type(error).__name__}: {error}"
        found.counts["walks"] += 1
        if fault:
            found.findings.append(Finding("walk", schema_text, "", fault[:500], origin))
            return


def _small_float(text: str) -> float:
    return float(text) if abs(float(text)) < LARGEST else 2.5


def _small_int(text: str) -> int:
    return int(text) if len(text) < 30 else 7


def compare(specification: Any, judges: Judges, text: str, found: Examined, place: tuple[str, str], step: Step) -> None:
    """Put one text to both sides; `place` is the schema's text and origin, for a finding."""
    step(f"{JUDGING} {text[:60]}")
    verdict = judges.verdict(text)
    step(f"accepts {text[:60]}")
    ours = judging.accepts(specification, text)
    if ours is False and verdict.valid and judging.accepts(specification, without_exponents(text)) is True:
        found.counts["valid, spelt otherwise"] += 1  # the guide says which numbers are written with exponents
        return
    if (
        ours is False
        and verdict.valid
        and leaves_out_repetitions(specification)
        and repeats_an_item(json.loads(text, parse_float=_whole_if_whole))
    ):
        found.counts["valid, left out as reported"] += 1
        return
    if verdict.explained:
        found.explained[verdict.explained] += 1
    if kind := disagreement(ours, verdict.valid, verdict.corrected is not verdict.second):
        detail = f"ours {ours}, corrected judge {verdict.corrected}, jsonschema-rs {verdict.second}"
        found.findings.append(Finding(kind, place[0], text, f"{detail}: {judges.reason(text)}"[:300], place[1]))
    if ours == "LimitExceeded":
        found.counts["limit"] += 1
    elif verdict.valid is None:
        found.counts["no truth"] += 1
    else:
        found.counts["valid" if verdict.valid else "invalid"] += 1


def leaves_out_repetitions(specification: Any) -> bool:
    """True if the report says that a negation of distinct items is narrower than it might be."""
    return any(entry.keyword == "not" and entry.direction == "narrower" for entry in specification.report)


def repeats_an_item(value: Any) -> bool:
    """True if some array inside the parsed JSON `value` holds an item twice."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if isinstance(value, list):
        keys = [json.dumps(item, sort_keys=True) for item in value]
        if len(set(keys)) < len(keys):
            return True
    return any(repeats_an_item(item) for item in inner)


def _whole_if_whole(text: str) -> int | float:
    value = float(text)
    return int(value) if value.is_integer() else value


JUDGING = "judging"
"""The step in which the judges are asked: what is lost there is theirs (they take time exponential in recursion)."""

_NUMBER_OR_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?[eE][+-]?\d+')


def without_exponents(text: str) -> str:
    """A JSON text with each exponent written out; what was no integer by its spelling stays none."""

    def plain(match: re.Match[str]) -> str:
        if match[0].startswith('"'):
            return match[0]
        digits = format(Decimal(match[0]), "f")
        return digits if "." in digits else digits + ".0"

    return _NUMBER_OR_STRING.sub(plain, text)


def disagreement(ours: bool | str, valid: bool | None, judges_differ: bool) -> str:
    """The kind of a finding; "" for none. A limit that was met is a refusal, not a verdict."""
    if isinstance(ours, str):
        return "" if ours == "LimitExceeded" else f"accepts raised {ours}"
    if valid is None:
        return "judges differ" if judges_differ else ""
    if ours == valid:
        return ""
    return "accepted, but invalid" if ours else "rejected, but valid"


# ---------------------------------------------------------------- schemas by hypothesis-jsonschema


BLOCK = 25
"""How many schemas one run of hypothesis draws: its set-up costs as much as a few of them."""


def hypothesis_schema(seed: str, number: int) -> Any:
    """The schema that hypothesis-jsonschema draws from the metaschema for this seed and number. Cost: 0.1 s."""
    block = _hypothesis_block(seed, number // BLOCK)
    return block[number % BLOCK % len(block)]


@lru_cache(maxsize=4)
def _hypothesis_block(seed: str, block: int) -> list[Any]:
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import seed as seeded

    from tests.strategies_json_schema import schemas_by_metaschema

    drawn: list[Any] = []

    @seeded(f"{seed} {block}")
    @settings(
        max_examples=BLOCK,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),  # pyright: ignore[reportArgumentType]
    )
    @given(schemas_by_metaschema())
    def collect(schema: Any) -> None:
        drawn.append(schema)

    collect()
    return drawn


# ---------------------------------------------------------------- shrinking


def shrink_finding(finding: Finding, step: Step) -> Finding:
    """Task: the same kind of disagreement with as little schema and instance as possible."""
    step("shrinking")
    if finding.kind.startswith(LOST):
        return _shrink_lost(finding)
    if not finding.instance or finding.kind in ("sampling raised", "sample invalid"):
        parts: tuple[Any, ...] = (data.parse_json(finding.schema),)
    else:
        parts = (data.parse_json(finding.schema), data.parse_json(finding.instance))

    def fails(*candidate: Any) -> bool:
        return same_failure(finding.kind, *candidate) is not None

    small, _ = shrink(parts, fails)
    again = same_failure(finding.kind, *small) or finding
    return replace(finding, shrunk=(again.schema, again.instance), detail=again.detail)


LOST = "lost"
CHILD_LIMIT_S = 3


def _shrink_lost(finding: Finding) -> Finding:
    """A schema that hangs or crashes, made small by children that may: each tries what `examine_schema` does."""
    schema = data.parse_json(finding.schema)
    if not is_lost(schema):
        return finding
    (small,), _ = shrink((schema,), lambda one: is_schema(one) and is_lost(one), limit_s=50.0)
    return replace(finding, shrunk=(data.json_text(small), ""))


def is_lost(schema: Any) -> bool:
    """Whether a child process that compiles, samples and asks a few instances ends by a signal."""
    child = os.fork()
    if child == 0:
        signal.alarm(CHILD_LIMIT_S)
        with contextlib.suppress(BaseException):
            specification, _ = judging.compile_schema(data.json_text(schema), OPTIONS, first_mask=False)
            if specification is not None:
                for seed in range(2 * SAMPLES):
                    specification.sample(seed, length=60)
                for value in instances(random.Random(0), schema, INSTANCES):
                    specification.accepts(data.json_text(value))
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def same_failure(kind: str, schema: Any, value: Any = None) -> Finding | None:
    """The finding of `kind` that a schema (and an instance) still gives, if it does."""
    schema_text = data.json_text(schema)
    if not is_schema(schema):
        return None
    try:
        specification, outcome = judging.compile_schema(schema_text, OPTIONS, first_mask=False)
        found = Examined(outcome.status)
        if kind == "compiling raised":
            raised = outcome.status == "untyped"
            return Finding(kind, schema_text, "", outcome.message, "") if raised else None
        if outcome.status not in ("compiled", "empty"):
            return None
        judges = Judges(schema_text)
        if kind in ("sampling raised", "sample invalid"):
            if specification is not None:
                sampled(specification, judges, found, (schema_text, ""), lambda _: None)
        elif kind == "walk" or kind.startswith("compiles in"):
            if specification is not None:
                walked(schema_text, judges, found, "", lambda _: None, walks=4)
        else:
            compare(specification, judges, data.json_text(value), found, (schema_text, ""), lambda _: None)
    except Exception:
        return None
    return next((one for one in found.findings if one.kind == kind), None)


def is_schema(schema: Any) -> bool:
    """Whether the metaschema of its dialect admits it (the older forms of the mixed dialect it does not)."""
    import jsonschema_rs

    try:
        return jsonschema_rs.meta.is_valid(schema)
    except Exception:
        return False


# ---------------------------------------------------------------- the run


@dataclass
class Total:
    """All schemas of a run together."""

    schemas: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    explained: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    slowest: list[tuple[float, str]] = field(default_factory=list)
    examples: dict[str, str] = field(default_factory=dict)

    def add(self, one: Examined, origin: str) -> None:
        self.schemas += 1
        self.statuses[one.status] += 1
        if one.status in ("refused", "typed"):
            self.refused.update(one.kinds)
            self.examples |= {kind: origin for kind in one.kinds if kind not in self.examples}
        self.counts.update(one.counts)
        self.counts["pairs"] += one.pairs
        self.explained.update(one.explained)
        self.findings += one.findings
        self.slowest = sorted([*self.slowest, (one.compile_s, origin)], reverse=True)[:10]


def run_pairs(
    pairs: int, seed: str, *, generator: str = "own", processes: int = 2, step_limit_s: float = 10.0, most: int = 20
) -> Total:
    """Examine schemas in watched processes until `pairs` were compared; shrink the first `most` findings."""
    total, begun = Total(), 0
    while total.counts["pairs"] < pairs and begun < 2 + 4 * pairs // INSTANCES:
        missing = 1 + (pairs - total.counts["pairs"]) * 11 // (10 * INSTANCES)
        arguments = [(seed, begun + number, generator) for number in range(missing)]
        begun += missing
        for index, result in run(
            examine, arguments, processes=processes, step_limit_s=step_limit_s, title=f"{generator} schemas"
        ):
            origin = f"{generator} {seed} {arguments[index][1]}"
            if isinstance(result, Lost) and result.step.startswith(JUDGING):
                result = Examined("judges too slow")
            if isinstance(result, Lost):
                schema = data.json_text(random_schema(random.Random(origin))) if generator == "own" else ""
                kind = f"{LOST} ({result.kind})"
                result = Examined("lost", findings=[Finding(kind, schema, "", f"at {result.step}", origin)])
            total.add(result, origin)
    total.findings = shrunk(total.findings, processes, most)
    return total


def shrunk(findings: Sequence[Finding], processes: int = 1, most: int = 20) -> list[Finding]:
    """The first `most` findings made small, one of each, and the rest as they are."""
    chosen = list(findings[:most])
    rest = [one for one in findings if one not in chosen]
    small: dict[tuple[str, str], Finding] = {}
    if chosen:
        for index, result in run(shrink_finding, chosen, processes=processes, step_limit_s=90.0, title="shrinking"):
            one = chosen[index] if isinstance(result, Lost) else result
            small.setdefault((one.kind, (one.shrunk or (one.schema,))[0]), one)
    return [*small.values(), *rest]


def report(total: Total) -> str:
    """The table, the refusals, and the findings."""
    pairs = total.counts["pairs"]
    statuses = [total.statuses[name] for name in ("compiled", "empty", "refused", "typed", "untyped", "lost")]
    lines = [
        table(
            ["schemas", "compiled", "empty", "refused", "typed", "untyped", "lost"], [[str(total.schemas), *statuses]]
        ),
        "",
        f"pairs: {pairs:,} ({total.counts['valid']:,} valid), sampled texts: {total.counts['samples']:,},"
        f" forced walks: {total.counts['walks']:,},"
        f" numbers spelt otherwise: {total.counts['valid, spelt otherwise']:,},"
        f" repeated items left out as reported: {total.counts['valid, left out as reported']:,},"
        f" limits met: {total.counts['limit']:,},"
        f" schemas lost to slow judges: {total.statuses['judges too slow']}",
        f"refused by keyword, or another error of ours: {counted(total.refused)}",
        f"  the first of each: {', '.join(f'{kind} [{origin}]' for kind, origin in total.examples.items()) or 'none'}",
        f"slowest compile: {total.slowest[0][0]:.2f} s [{total.slowest[0][1]}]" if total.slowest else "",
        f"judges differ, explained: {counted(total.explained)}",
        f"findings: {counted(Counter(one.kind for one in total.findings))}",
    ]
    return "\n".join(lines + [f"  {one}" for one in total.findings[:60]])


def values_of(total: Total) -> dict[str, Any]:
    """The same for the JSON file."""
    counters = {name: dict(getattr(total, name)) for name in ("statuses", "refused", "counts", "explained")}
    findings = [asdict(one) for one in total.findings]
    return {
        "schemas": total.schemas,
        **counters,
        "slowest": total.slowest,
        "examples": total.examples,
        "findings": findings,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=20_000, help="how many to compare (default 20,000)")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--generator", choices=("own", "hypothesis"), default="own")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--step-limit", type=float, default=10.0, metavar="S", help="processor seconds for one step")
    parser.add_argument("--shrink", type=int, default=20, metavar="N", help="how many findings to make small")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="one schema of the seed, printed with its findings")
    options = parser.parse_args()
    if options.only is not None:
        origin = (options.seed, options.only, options.generator)
        one = examine(origin, lambda _: None)
        print(one.status, *one.kinds, dict(one.counts))
        print("\n".join(map(str, shrunk(one.findings, 1, options.shrink))))
        sys.exit(int(bool(one.findings)))
    total = run_pairs(
        options.pairs,
        options.seed,
        generator=options.generator,
        processes=options.processes,
        step_limit_s=options.step_limit,
        most=options.shrink,
    )
    write_results(f"differential-{options.generator}", report(total), values_of(total))
    sys.exit(int(bool(total.findings)))


if __name__ == "__main__":
    main()
