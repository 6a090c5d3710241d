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
    suite.add_argument("--draft", choices=tuple(data.DRAFTS), default="2020-12")
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
    marks = ["pass", "but for spelling", "valid rej.", "invalid acc.", "raised"]
    groups = {"tested": [one for one in judged if one.tests], "untested": [one for one in judged if not one.tests]}
    rows = []
    for name, group in groups.items():
        statuses = Counter(one.outcome.status for one in group)
        row: list[Any] = [name, len(group), *(statuses[status] for status in head)]
        passed = [sum(one.is_pass for one in group), sum(one.is_pass_but_for_spelling for one in group)]
        wrong = [
            sum(len(one.valid_rejected) for one in group),
            sum(len(one.invalid_accepted) for one in group),
            sum(len(one.raised) for one in group),
        ]
        rows.append(row + (passed + wrong if name == "tested" else [""] * len(marks)))
    tested = groups["tested"]
    share = 100 * sum(one.is_pass for one in tested) / len(tested) if tested else 0.0
    compile_ms = summary((one.outcome.compile_s * 1000 for one in judged if one.outcome.status != "lost"), (0.5, 0.99))
    peak_mb = summary((one.outcome.peak_bytes / 2**20 for one in judged if one.outcome.status != "lost"), (0.5, 0.99))
    lines = [
        f"mode {mode} ({', '.join(f'{key}={value!r}' for key, value in judging.MODES[mode].items())})",
        table(["schemas", "all", *head, *marks], rows),
        f"pass: {share:.2f} % of the tested schemas",
        f"refused by keyword: {counted(kinds(judged, 'refused'))}",
        f"typed errors by class: {counted(kinds(judged, 'typed'))}",
        f"valid instances rejected because: {counted(Counter(e['why'] for one in judged for e in one.valid_rejected))}",
        f"compile to first mask, ms: p50 {compile_ms['p50']:.3g}, p99 {compile_ms['p99']:.3g},"
        f" max {compile_ms['max']:.3g}"
        f"; peak memory of the process, MB: p50 {peak_mb['p50']:.0f}, max {peak_mb['max']:.0f}",
    ]
    lines += [
        f"  {o.status}: {one.id}: {o.message}" for one in judged if (o := one.outcome).status in ("untyped", "lost")
    ]
    lines += [
        f"  INVALID ACCEPTED {one.id} {e['instance']}: {e['text']}" for one in judged for e in one.invalid_accepted
    ]
    lines += [f"  RAISED {one.id} {e['instance']}: {e['why']}: {e['text']}" for one in judged for e in one.raised]
    rejected = [(one.id, e) for one in judged for e in one.valid_rejected if e["why"] not in judging.DOCUMENTED]
    for name, entry in rejected[:LISTED]:
        lines.append(f"  valid rejected ({entry['why']}) {name} {entry['instance']}: {entry.get('explanation', '')}")
    return lines + ([f"  … {len(rejected) - LISTED} more in the JSON file"] if len(rejected) > LISTED else [])


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
    groups = list(data.suite(options.draft, optional_formats=options.optional_formats))
    formats = "known" if options.optional_formats else "annotation"
    call = {"spelling": "any", "formats": formats, "dialect": data.DRAFTS[options.draft][0], "registry": data.remotes()}
    judged: list[SuiteJudged] = []
    for index, result in run(
        judging.judge_group,
        [(group, call) for group in groups],
        processes=options.processes,
        step_limit_s=options.step_limit,
        title=f"draft {options.draft}",
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
    what = "optional/format" if options.optional_formats else "required"
    lines = [
        f"official suite, draft {options.draft}, {what} files: {sum(total.values()):,} cases;"
        f' spelling="any", formats="{formats}"',
        "",
        table(["file", *total], [*rows, ["all", *total.values()]]),
        "",
        f"cases refused by keyword: {counted(refused_cases(judged))}",
    ]
    wrong: list[str] = []
    for one in judged:
        for description, valid, verdict in one.verdicts:
            kind = classify(one, valid, verdict)
            if kind not in ("right", "refused"):
                wrong.append(f"  {kind} {one.file}: {one.description}: {description} {one.outcome.message[:160]}")
    lines += wrong[: 2 * LISTED] + ([f"  … {len(wrong) - 2 * LISTED} more"] if len(wrong) > 2 * LISTED else [])
    name = options.name or f"conformance-suite-{options.draft}{'-formats' if options.optional_formats else ''}"
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
    return "right" if verdict == valid else "wrongly accepted" if verdict else "wrongly rejected"


def suite_counts(judged: list[SuiteJudged]) -> dict[str, int]:
    counts = Counter(classify(one, valid, verdict) for one in judged for _, valid, verdict in one.verdicts)
    return {kind: counts[kind] for kind in ("right", "wrongly accepted", "wrongly rejected", "refused", "raised")}


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
