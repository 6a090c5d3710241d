"""Generate with a real model on real schemas: `python -m benchmarks.generate`, table in `docs/results/generated.md`.

For each part of maskbench-dev the schemas are permuted by `random.Random(1).sample` over the part in file order. The
first five that use only the first cut of keywords are taken; what was skipped on the way is listed with the keyword.
If fewer than half of all have 5 or more properties or nesting of 2 or more, the report says so and the exit code is 1.

Each schema is generated twice with SmolLM2-135M, greedy and sampled (temperature 0.8, seed 1), from a prompt made of
its title and description. Under a budget of `--max-tokens` a text that would not end is completed the shortest way.
Every text must be complete, parse, and be valid by our judge and by `jsonschema-rs`.

A generation is a line in `benchmarks/results/generate.jsonl`; a run continues where the last one stopped (`--afresh`
forgets it). 110 generations take half an hour or so on two cores.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import data
from benchmarks.first_cut import outside_first_cut, size_of_interest
from benchmarks.tables import RESULTS, machine, markdown, shown
from benchmarks.workers import progress_bar

DOCUMENT = data.REPOSITORY / "docs" / "results" / "generated.md"
PER_PART = 5
CHOICES: dict[str, dict[str, Any]] = {"greedy": {"temperature": 0.0}, "sampled": {"temperature": 0.8, "seed": 1}}
DESCRIPTION_CHARACTERS = 300


def select(rows: list[data.Row]) -> tuple[dict[str, list[data.Row]], list[dict[str, str]]]:
    """The schemas of each part, and those skipped before the fifth: (part, id, keyword)."""
    chosen: dict[str, list[data.Row]] = {}
    skipped = []
    for part in data.PARTS:
        chosen[part] = []
        for row in data.part_permutation(rows, part):
            if len(chosen[part]) == PER_PART:
                break
            reasons = sorted({keyword for _, keyword in outside_first_cut(row.schema)})
            refusal = "" if reasons else refusal_of(row)
            if reasons or refusal:
                skipped.append({"part": part, "id": row.id, "because": ", ".join(reasons) or refusal})
            else:
                chosen[part].append(row)
    return chosen, skipped


def refusal_of(row: data.Row) -> str:
    """Why the engine refuses a schema that is inside the first cut; empty if it compiles."""
    import constrain

    try:
        constrain.json_schema(row.schema_text)
    except constrain.UnsupportedKeyword as error:
        return "REFUSED though inside the first cut: " + ", ".join(sorted({p.keyword for p in error.problems}))
    except constrain.ConstrainError as error:
        return f"{type(error).__name__}: {error.message}"[:120]
    return ""


def is_rich(schema: Any) -> bool:
    """5 or more properties, or nesting of 2 or more."""
    properties, nesting = size_of_interest(schema)
    return properties >= 5 or nesting >= 2


def prompt_of(schema: Any) -> str:
    """What to ask the model, from the schema's own words."""
    title = schema.get("title") if isinstance(schema, dict) else None
    description = schema.get("description") if isinstance(schema, dict) else None
    prompt = (
        f"Write a JSON value for {title!r}." if isinstance(title, str) and title else "Write a realistic JSON value."
    )
    if isinstance(description, str) and description:
        prompt += f" {description[:DESCRIPTION_CHARACTERS]}"
    names = (
        list(schema["properties"])[:12]
        if isinstance(schema, dict) and isinstance(schema.get("properties"), dict)
        else []
    )
    return prompt + (f" It has: {', '.join(names)}." if names else "")


def generations(
    decoder: Any, chosen: dict[str, list[data.Row]], done: set[tuple[str, str]], limit: int
) -> Iterator[Any]:
    """Each generation that is not done, as a record."""
    for part, rows in chosen.items():
        for row in rows:
            for how, options in CHOICES.items():
                if (row.id, how) not in done:
                    yield {"part": part, "id": row.id, "how": how, "max_tokens": limit} | generate(
                        decoder, row, options, limit
                    )


def generate(decoder: Any, row: data.Row, options: dict[str, Any], limit: int) -> dict[str, Any]:
    """One text, its account, and what is wrong with it."""
    from constrain import ConstrainError, json_schema

    properties, nesting = size_of_interest(row.schema)
    record: dict[str, Any] = {"properties": properties, "nesting": nesting, "rich": is_rich(row.schema)}
    begin = time.perf_counter()
    try:
        specification = json_schema(row.schema_text)
        result = decoder.generate(prompt_of(row.schema), spec=specification, max_tokens=limit, **options)
    except ConstrainError as error:
        return record | {"faults": [f"{type(error).__name__}: {error}"[:400]], "seconds": time.perf_counter() - begin}
    record |= {
        "seconds": time.perf_counter() - begin,
        "finish": result.finish_reason,
        "text": result.text,
        "usage": result.usage.to_json(),
    }
    return record | {"faults": faults_of(row, result.text)}


def faults_of(row: data.Row, text: str) -> list[str]:
    """What is wrong with a finished text: not JSON, or not valid by one of two judges."""
    import jsonschema_rs

    from constrain.validation import json_schema

    try:
        value = json.loads(text)
    except ValueError as error:
        return [f"does not parse: {error}"]
    faults = []
    verdict = json_schema.validate(row.schema, text)
    if not verdict.ok:
        faults.append(f"our judge: {verdict.failures[0]}"[:300])
    try:
        judge = jsonschema_rs.validator_for(json.loads(row.schema_text), validate_formats=True)
    except (ValueError, jsonschema_rs.ValidationError) as error:
        return [*faults, f"jsonschema-rs does not take the schema: {error}"[:300]]
    error = next(iter(judge.iter_errors(value)), None)
    return faults + ([f"jsonschema-rs: {str(error).splitlines()[0]}"[:300]] if error else [])


# ---------------------------------------------------------------- the document


def document(records: list[dict[str, Any]], skipped: list[dict[str, str]], chosen: dict[str, list[data.Row]]) -> str:
    """The Markdown of `generated.md`."""
    wanted = [row for rows in chosen.values() for row in rows]
    order = {row.id: number for number, row in enumerate(wanted)}
    records = sorted((r for r in records if r["id"] in order), key=lambda r: (order[r["id"]], r["how"]))
    good = sum(not record["faults"] for record in records)
    rich = sum(is_rich(row.schema) for row in wanted)
    head = ["part", "schema", "how", "properties", "nesting", "s", "tokens", "forced %", "mask %", "end", "valid"]
    about = machine()
    lines = [
        "# Generated with a real model",
        "",
        "Made by `python -m benchmarks.generate`; do not edit. SmolLM2-135M-Instruct, greedy and sampled"
        f" (temperature 0.8, seed 1), at most {max((r['max_tokens'] for r in records), default=0)} tokens;"
        f" {about['cores']} cores, {about['date']}.",
        "",
        f"**{good} of {len(records)}** texts are complete, parse, and are valid by our judge and by `jsonschema-rs`"
        f" ({len(wanted)} schemas; {rich} of them have 5 or more properties or nesting of 2 or more).",
        "",
        "Per part of maskbench-dev: the first 5 schemas, in the permutation `random.Random(1).sample`, that use only"
        " the keywords of the first cut. *forced*: tokens written without asking the model. *mask*: share of the time"
        " after the prompt that went into masks. *end*: `budget` means that the text was completed the shortest way.",
        "",
        markdown(head, (cells(record) for record in records)),
        "",
        "## By part",
        "",
        markdown(["part", "texts", "valid", "s avg", "tokens avg", "forced %", "mask %"], by_part(records)),
        "",
        "## Skipped before the fifth",
        "",
        markdown(["part", "schema", "because of"], ([s["part"], s["id"], s["because"]] for s in skipped)),
        "",
    ]
    faults = [f"- `{r['id']}` {r['how']}: {fault}" for r in records for fault in r["faults"]]
    return "\n".join(lines + (["## Faults", "", *faults, ""] if faults else []))


def shares(record: dict[str, Any]) -> tuple[int, float, float]:
    """Tokens, percent forced, percent of the time after the prompt spent in masks."""
    usage = record.get("usage", {})
    tokens = usage.get("completion_tokens", 0)
    seconds = usage.get("decode_s", 0.0) + usage.get("mask_s", 0.0)
    forced = 100 * usage.get("forced_tokens", 0) / tokens if tokens else 0.0
    return tokens, forced, 100 * usage.get("mask_s", 0.0) / seconds if seconds else 0.0


def cells(record: dict[str, Any]) -> list[Any]:
    tokens, forced, mask = shares(record)
    numbers = [
        record["properties"],
        record["nesting"],
        round(record["seconds"], 1),
        tokens,
        f"{forced:.0f}",
        f"{mask:.1f}",
    ]
    state = "yes" if not record["faults"] else "**no**"
    return [record["part"], f"`{record['id']}`", record["how"], *numbers, record.get("finish", ""), state]


def by_part(records: list[dict[str, Any]]) -> Iterator[list[Any]]:
    for part in [*data.PARTS, "all"]:
        here = [record for record in records if part in (record["part"], "all")]
        if here:
            tokens, forced, mask = (sum(values) / len(here) for values in zip(*map(shares, here), strict=True))
            seconds = sum(record["seconds"] for record in here) / len(here)
            valid = sum(not record["faults"] for record in here)
            yield [part, len(here), valid, shown(seconds), f"{tokens:.0f}", f"{forced:.0f}", f"{mask:.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--max-tokens", type=int, default=300)
    parser.add_argument("--model", help="a .gguf file or a directory (default: CONSTRAIN_MODEL, else smollm2)")
    parser.add_argument("--limit", type=int, help="stop after so many new generations")
    parser.add_argument("--afresh", action="store_true", help="forget earlier generations")
    parser.add_argument("--only-list", action="store_true", help="print which schemas are chosen and skipped, and stop")
    parser.add_argument("--document", type=Path, default=DOCUMENT)
    options = parser.parse_args()
    try:
        chosen, skipped = select(list(data.maskbench()))
    except data.DataMissing as error:
        sys.exit(str(error))
    if options.only_list:
        print(
            json.dumps(
                {"chosen": {p: [r.id for r in rows] for p, rows in chosen.items()}, "skipped": skipped}, indent=1
            )
        )
        return
    path = RESULTS / "generate.jsonl"
    if options.afresh:
        path.unlink(missing_ok=True)
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
    records = [record for record in records if record["max_tokens"] == options.max_tokens]
    extend(records, chosen, path, options)
    options.document.parent.mkdir(parents=True, exist_ok=True)
    options.document.write_text(document(records, skipped, chosen), encoding="utf-8")
    wanted = [row for rows in chosen.values() for row in rows]
    faults = [f"{r['id']} {r['how']}: {fault}" for r in records for fault in r["faults"]]
    is_rich_enough = 2 * sum(is_rich(row.schema) for row in wanted) >= len(wanted)
    print(f"{len(records)} texts, {len(faults)} faults, {'' if is_rich_enough else 'NOT '}half of the schemas are rich")
    print("\n".join(faults))
    sys.exit(int(bool(faults) or not is_rich_enough))


def extend(
    records: list[dict[str, Any]], chosen: dict[str, list[data.Row]], path: Path, options: argparse.Namespace
) -> None:
    """Make the generations that are missing, each written down at once."""
    done = {(record["id"], record["how"]) for record in records}
    todo = sum((row.id, how) not in done for rows in chosen.values() for row in rows for how in CHOICES)
    if not todo or options.limit == 0:
        return
    import constrain

    try:
        model = options.model or str(data.model_file())
    except data.DataMissing:
        model = "smollm2"
    decoder = constrain.Decoder.from_pretrained(model)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as lines, progress_bar() as bar:
        tracked = bar.add_task("generations", total=min(todo, options.limit or todo))
        for number, record in enumerate(generations(decoder, chosen, done, options.max_tokens), 1):
            records.append(record)
            lines.write(json.dumps(record, ensure_ascii=False) + "\n")
            lines.flush()
            bar.advance(tracked)
            if number == options.limit:
                return


if __name__ == "__main__":
    main()
