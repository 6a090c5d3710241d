"""Right and wrong verdicts on three bodies of tests: `python -m benchmarks.conformance maskbench|suite|cases`.

    maskbench   every schema of maskbench-dev, in two modes: (any) spelling="any", the text of `json.dumps`;
                (spaced) whitespace="spaced", declared order, instances re-sorted to it. What compiles, what is refused
                and by which keyword, which verdicts are wrong. Schemas without instances are counted apart.
    suite       the official suite of one draft, spelling="any", formats="annotation", its remotes as the registry.
    cases       cases.jsonl: an accept text must pass under the default, spaced or any spelling, a reject text never.

The tables go to `results/` and, all together, to `docs/results/conformance.md`.
Exit code 1 if an invalid instance was accepted, an exception was not ours, a verdict was not given, or a step hung or
crashed.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections import Counter
from collections.abc import Iterable
from typing import Any

from benchmarks import conformance_page, data, judging
from benchmarks.first_cut import outside_first_cut, uses_only_first_cut
from benchmarks.judging import CaseJudged, Judged, Outcome, SuiteJudged
from benchmarks.tables import counted, summary, table, write_results
from benchmarks.workers import Lost, run

LISTED = 40
"""How many wrong verdicts the printed table names; the JSON file has all."""

SLOW_S, LARGE_BYTES = 2.0, 2**30
"""No real schema may take more."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--step-limit", type=float, default=2.0, metavar="S", help="processor seconds for one compile or verdict"
    )
    parser.add_argument("--name", help="of the result files (default: conformance-…)")
    bodies = parser.add_subparsers(dest="body", required=True)
    maskbench = bodies.add_parser("maskbench", help="maskbench-dev")
    maskbench.add_argument("--mode", choices=("any", "spaced", "both"), default="both")
    maskbench.add_argument("--first", type=int, help="only so many schemas, evenly spread")
    maskbench.add_argument("--only", nargs="+", metavar="ID", help="these schemas only")
    suite = bodies.add_parser("suite", help="the official JSON Schema test suite")
    suite.add_argument(
        "--draft", choices=(*data.DRAFTS, "all"), default="2020-12", help="all: with optional formats too"
    )
    suite.add_argument("--optional-formats", action="store_true", help='the optional/format files, formats="known"')
    bodies.add_parser("cases", help="cases.jsonl")
    options = parser.parse_args()
    try:
        code = {"maskbench": maskbench_body, "suite": suite_body, "cases": cases_body}[options.body](options)
    except data.DataMissing as error:
        sys.exit(str(error))
    conformance_page.write()
    sys.exit(code)


def lost_outcome(lost: Lost) -> Outcome:
    return Outcome("lost", (lost.kind,), f"{lost.kind} at {lost.step}")


# ---------------------------------------------------------------- MaskBench


def maskbench_body(options: argparse.Namespace) -> int:
    rows = [row for row in data.maskbench() if not options.only or row.id in options.only]
    rows = rows[:: max(1, len(rows) // options.first)][: options.first] if options.first else rows
    lines, values, failed = [f"maskbench-dev: {len(rows):,} schemas"], {}, False
    for mode in ("any", "spaced") if options.mode == "both" else (options.mode,):
        judged: list[Judged] = []
        arguments = [(row, mode) for row in rows]
        for index, result in run(
            judging.judge_row, arguments, processes=options.processes, step_limit_s=options.step_limit, title=mode
        ):
            tests = len(rows[index].tests)
            judged.append(Judged(rows[index].id, lost_outcome(result), tests) if isinstance(result, Lost) else result)
        judged.sort(key=lambda one: one.id)
        lines += ["", *maskbench_lines(mode, judged)]
        values[mode] = maskbench_values(judged)
        failed |= any(one.invalid_accepted or one.raised or one.outcome.status in ("untyped", "lost") for one in judged)
    write_results(options.name or "conformance-maskbench", "\n".join(lines), values)
    return int(failed)


def maskbench_lines(mode: str, judged: list[Judged]) -> list[str]:
    """The table of one mode, the refusals, and the wrong verdicts."""
    head = ["compiled", "empty", "refused", "typed", "untyped", "lost"]
    marks = ["pass", "but for choices", "valid rej.", "invalid acc.", "raised"]
    groups = {"tested": [one for one in judged if one.tests], "untested": [one for one in judged if not one.tests]}
    rows = []
    for name, group in groups.items():
        statuses = Counter(one.outcome.status for one in group)
        row: list[Any] = [name, len(group), *(statuses[status] for status in head)]
        passed = [sum(one.is_pass for one in group), sum(one.is_pass_but_for_choices for one in group)]
        wrong = [
            sum(len(one.valid_rejected) for one in group),
            sum(len(one.invalid_accepted) for one in group),
            sum(len(one.raised) for one in group),
        ]
        rows.append(row + (passed + wrong if name == "tested" else [""] * len(marks)))
    rejected = [(one.id, entry) for one in judged for entry in one.valid_rejected]
    lines = [
        f"mode {mode} ({', '.join(f'{key}={value!r}' for key, value in judging.MODES[mode].items())})",
        table(["schemas", "all", *head, *marks], rows),
        f"pass: {shared(sum(one.is_pass for one in groups['tested']), groups['tested'])} of the tested schemas",
    ]
    for name, group in groups.items():
        refused = sum(one.outcome.status == "refused" for one in group)
        by_keyword = (f"{kind} {shared(count, group)}" for kind, count in kinds(group, "refused").most_common())
        lines.append(f"refused, {name}: {shared(refused, group)}; by keyword: {', '.join(by_keyword) or 'none'}")
    lines += [
        f"typed errors by class: {counted(kinds(judged, 'typed'))}",
        f"valid instances rejected: {len(rejected)}",
    ]
    for why, count in Counter(entry["why"] for _, entry in rejected).most_common():
        lines.append(f"  {count} {why}: {judging.DOCUMENTED.get(why, 'NOT DOCUMENTED')}")
    lines += cost_lines(judged)
    lines += [
        f"  {o.status}: {one.id}: {o.message}" for one in judged if (o := one.outcome).status in ("untyped", "lost")
    ]
    lines += [
        f"  INVALID ACCEPTED {one.id} {e['instance']}: {e['text']}" for one in judged for e in one.invalid_accepted
    ]
    lines += [f"  RAISED {one.id} {e['instance']}: {e['why']}: {e['text']}" for one in judged for e in one.raised]
    for name, entry in rejected[:LISTED]:
        lines.append(f"  valid rejected ({entry['why']}) {name} {entry['instance']}: {entry.get('explanation', '')}")
    return lines + ([f"  … {len(rejected) - LISTED} more in the JSON file"] if len(rejected) > LISTED else [])


def shared(count: int, group: list[Judged]) -> str:
    """`91 (1.86 %)`: a count with its share of the group."""
    return f"{count:,} ({100 * count / len(group) if group else 0.0:.2f} %)"


def cost_lines(judged: list[Judged]) -> list[str]:
    """Quantiles of time and memory, the schemas that cost most, and those beyond the limits."""
    alive = [one for one in judged if one.outcome.status != "lost"]
    time_ms = summary((one.outcome.compile_s * 1000 for one in alive), (0.5, 0.99))
    peak_mb = summary((one.outcome.peak_bytes / 2**20 for one in alive), (0.5, 0.99))
    slowest = sorted(alive, key=lambda one: -one.outcome.compile_s)
    largest = sorted(alive, key=lambda one: -one.outcome.peak_bytes)
    beyond = [one for one in alive if one.outcome.compile_s > SLOW_S or one.outcome.peak_bytes > LARGE_BYTES]
    return [
        f"compile to first mask, processor ms: p50 {time_ms['p50']:.3g}, p99 {time_ms['p99']:.3g},"
        f" max {time_ms['max']:.3g}; peak memory of the process, MB:"
        f" p50 {peak_mb['p50']:.0f}, max {peak_mb['max']:.0f}",
        "slowest: " + ", ".join(f"{one.id} {one.outcome.compile_s:.2f} s" for one in slowest[:5]),
        "largest: " + ", ".join(f"{one.id} {one.outcome.peak_bytes / 2**20:.0f} MB" for one in largest[:5]),
        f"over {SLOW_S:g} s or 1 GB: {', '.join(one.id for one in beyond) or 'none'}",
    ]


def kinds(judged: Iterable[Judged | SuiteJudged | CaseJudged], status: str) -> Counter[str]:
    """How often each keyword or class stands in outcomes of one status: once per schema for each of its keywords."""
    return Counter(kind for one in judged if one.outcome.status == status for kind in one.outcome.kinds)


def maskbench_values(judged: list[Judged]) -> dict[str, Any]:
    keep = [one for one in judged if not one.is_pass]
    return {
        "schemas": len(judged),
        "statuses": Counter(one.outcome.status for one in judged),
        "pass": sum(one.is_pass for one in judged if one.tests),
        "tested": sum(bool(one.tests) for one in judged),
        "refused": kinds(judged, "refused"),
        "compile_ms": summary((one.outcome.compile_s * 1000 for one in judged), (0.5, 0.9, 0.99, 0.999)),
        "slowest": [
            {"id": one.id, "compile_s": one.outcome.compile_s, "peak_bytes": one.outcome.peak_bytes}
            for one in sorted(judged, key=lambda one: -one.outcome.compile_s)[:20]
        ],
        "not_passing": [dataclasses.asdict(one) for one in keep],
    }


# ---------------------------------------------------------------- the official suite


def suite_body(options: argparse.Namespace) -> int:
    """One draft's required or optional format files, or both of every draft."""
    if options.draft != "all":
        return suite_of_draft(options, options.draft, options.optional_formats)
    codes = [suite_of_draft(options, draft, formats) for draft in data.DRAFTS for formats in (False, True)]
    return max(codes)


def suite_of_draft(options: argparse.Namespace, draft: str, optional_formats: bool) -> int:
    groups = list(data.suite(draft, optional_formats=optional_formats))
    formats = "known" if optional_formats else "annotation"
    call = {"spelling": "any", "formats": formats, "dialect": data.DRAFTS[draft][0], "registry": data.remotes()}
    judged: list[SuiteJudged] = []
    for index, result in run(
        judging.judge_group,
        [(group, call) for group in groups],
        processes=options.processes,
        step_limit_s=options.step_limit,
        title=f"draft {draft}",
    ):
        if isinstance(result, Lost):
            group = groups[index]
            unknown: list[tuple[str, bool, bool | str]] = [(told, test.valid, "lost") for told, test in group.tests]
            result = SuiteJudged(group.file, group.description, lost_outcome(result), unknown)
        judged.append(result)
    judged.sort(key=lambda one: (one.file, one.description))
    files = sorted({one.file for one in judged})
    rows = [[name, *suite_counts([one for one in judged if one.file == name]).values()] for name in files]
    total = suite_counts(judged)
    what = "optional/format" if optional_formats else "required"
    lines = [
        f"official suite, draft {draft}, {what} files: {sum(total.values()):,} cases;"
        f' spelling="any", formats="{formats}"',
        "",
        table(["file", *total], [*rows, ["all", *total.values()]]),
        "",
        f"cases refused by keyword: {counted(refused_cases(judged))}",
    ]
    lines += [
        f"  refused {one.file}: {one.description} ({len(one.verdicts)} cases): {', '.join(one.outcome.kinds)}"
        for one in judged
        if one.outcome.status in ("refused", "typed")
    ]
    if optional_formats:
        unclaimed = sorted({one.file for one in judged if one.is_unclaimed})
        lines.append(f"files of formats that are not claimed (annotations, reported): {', '.join(unclaimed) or 'none'}")
    wrong: list[str] = []
    for one in judged:
        for description, valid, verdict in one.verdicts:
            kind = classify(one, valid, verdict)
            if kind not in ("right", "refused", "not claimed", "left out"):
                wrong.append(f"  {kind} {one.file}: {one.description}: {description} {one.outcome.message[:160]}")
    lines += wrong[: 2 * LISTED] + ([f"  … {len(wrong) - 2 * LISTED} more"] if len(wrong) > 2 * LISTED else [])
    name = (
        options.name
        if options.name and options.draft != "all"
        else f"conformance-suite-{draft}{'-formats' if optional_formats else ''}"
    )
    write_results(
        name, "\n".join(lines), {"total": total, "refused": refused_cases(judged), "groups": judged_dicts(judged)}
    )
    return int(bool(total["wrongly accepted"] or total["raised"]))


def classify(one: SuiteJudged, valid: bool, verdict: bool | str) -> str:
    """The column that one case counts in."""
    if one.outcome.status in ("untyped", "lost") or isinstance(verdict, str):
        return "raised"
    if one.outcome.status in ("refused", "typed"):
        return "refused"
    if verdict != valid and one.is_unclaimed:
        return "not claimed"
    if valid and not verdict and one.is_narrower:
        return "left out"
    return "right" if verdict == valid else "wrongly accepted" if verdict else "wrongly rejected"


def suite_counts(judged: list[SuiteJudged]) -> dict[str, int]:
    counts = Counter(classify(one, valid, verdict) for one in judged for _, valid, verdict in one.verdicts)
    return {kind: counts[kind] for kind in CLASSES}


CLASSES = ("right", "wrongly accepted", "wrongly rejected", "refused", "raised", "not claimed", "left out")
"""What a case of the suite may come to; a format that is only an annotation is not claimed, and of one that is reported
as narrower some valid texts are left out (`docs/guide/keywords.md` says which)."""


def refused_cases(judged: list[SuiteJudged]) -> Counter[str]:
    """Cases (not schemas) by the keyword or class that refused their schema."""
    counts: Counter[str] = Counter()
    for one in judged:
        if one.outcome.status in ("refused", "typed"):
            counts.update({kind: len(one.verdicts) for kind in one.outcome.kinds})
    return counts


def judged_dicts(judged: list[SuiteJudged]) -> list[dict[str, Any]]:
    return [
        dataclasses.asdict(one) for one in judged if any(classify(one, v, got) != "right" for _, v, got in one.verdicts)
    ]


# ---------------------------------------------------------------- cases


def cases_body(options: argparse.Namespace) -> int:
    cases = [case for case in data.cases() if case.spec_type in ("json_schema", "regex")]
    judged: dict[str, CaseJudged] = {}
    for index, result in run(
        judging.judge_case, cases, processes=options.processes, step_limit_s=options.step_limit, title="cases"
    ):
        lost = isinstance(result, Lost)
        judged[cases[index].id] = CaseJudged(cases[index].id, lost_outcome(result)) if lost else result
    groups = {
        "json_schema, first cut": [c for c in cases if c.spec_type == "json_schema" and uses_only_first_cut(c.spec)],
        "json_schema, beyond": [c for c in cases if c.spec_type == "json_schema" and not uses_only_first_cut(c.spec)],
        "regex, may not be refused": [c for c in cases if c.spec_type == "regex" and not c.may_refuse],
        "regex, may be refused": [c for c in cases if c.spec_type == "regex" and c.may_refuse],
    }
    rows = []
    for name, group in groups.items():
        answers = [judged[case.id] for case in group]
        counts = Counter(case_state(one) for one in answers)
        rows.append([name, len(group), *(counts[state] for state in ("right", "wrong", "refused", "other error"))])
    lines = [
        "cases.jsonl, json_schema and regex rows. An accept text passes if the default, spaced or any spelling takes"
        " it,"
        " a reject text must be rejected by all three.",
        "",
        table(["rows", "all", "right", "wrong", "refused", "other error"], rows),
        "",
        f"in the first cut: {', '.join(case.id for case in groups['json_schema, first cut'])}",
        "",
    ]
    for case in cases:
        one, state = judged[case.id], case_state(judged[case.id])
        beyond = {keyword for _, keyword in outside_first_cut(case.spec)} if case.spec_type == "json_schema" else set()
        keywords = ", ".join(sorted(beyond))
        allowed = " (may be)" if case.may_refuse else f" (beyond the first cut: {keywords})" if keywords else ""
        if state in ("refused", "other error"):
            lines.append(
                f"  {state}{allowed} {case.id}: {one.outcome.message.splitlines()[0] if one.outcome.message else ''}"
            )
        lines += [f"  WRONGLY REJECTED {case.id}: {text[:120]!r}" for text in one.wrongly_rejected]
        lines += [f"  WRONGLY ACCEPTED {case.id} ({name}): {text[:120]!r}" for name, text in one.wrongly_accepted]
    details = {case_id: dataclasses.asdict(one) for case_id, one in judged.items()}
    write_results(options.name or "conformance-cases", "\n".join(lines), {"table": rows, "cases": details})
    return int(any(one.wrongly_accepted or one.outcome.status in ("untyped", "lost") for one in judged.values()))


def case_state(one: CaseJudged) -> str:
    if one.outcome.status in ("compiled", "empty"):
        return "right" if one.is_right else "wrong"
    return "refused" if one.outcome.status == "refused" else "other error"


if __name__ == "__main__":
    main()
