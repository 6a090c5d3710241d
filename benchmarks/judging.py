"""One schema and its instances put to the engine: what came of compiling, and each verdict beside the right one.

The tasks here run in the watched processes of `workers.py`; `conformance.py` adds up what they return. An outcome is

    compiled   the engine takes the schema
    empty      it says that nothing satisfies it: a verdict too, no to all
    refused    UnsupportedKeyword, ReferenceNotFound
    typed      any other error of ours
    untyped    an exception that is not ours: a defect
    lost       the step hung or ended the process: a defect

A valid instance that is rejected is looked into: is it only spelt otherwise than a documented choice allows (numbers,
key order, lone surrogates)? Does a second judge, `jsonschema-rs`, think it invalid too? What remains is `unexplained`.
"""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from benchmarks import data, declared_order
from benchmarks.workers import Step, peak_memory_bytes, reset_peak_memory

Status = Literal["compiled", "empty", "refused", "typed", "untyped", "lost"]
Mode = Literal["any", "spaced"]

MODES: dict[str, dict[str, Any]] = {"any": {"spelling": "any"}, "spaced": {"whitespace": "spaced"}}
"""The options of the two runs: (i) every spelling, the text of `json.dumps`; (ii) declared order, re-sorted text."""

DOCUMENTED: dict[str, str] = {
    "key order": "branches order the same names differently, and the instance follows another one",
    "number spelling": "an exponent, or more digits than canonical numbers have",
    "lone surrogate": "half of a surrogate pair, which no UTF-8 text holds",
    "format": 'formats="known" enforces a format that whoever labelled the instance did not; our judge rejects it too',
}
"""Reasons for rejecting a valid instance that are choices which the options name, not faults."""


@dataclass
class Outcome:
    """What came of compiling: `kinds` are refused keywords, or the error's class; `compile_s` is processor time."""

    status: Status
    kinds: tuple[str, ...] = ()
    message: str = ""
    compile_s: float = 0.0
    peak_bytes: int = 0


@dataclass
class Judged:
    """One schema: the outcome, how many verdicts were right, the wrong ones with their reason, those not given."""

    id: str
    outcome: Outcome
    tests: int = 0
    right: int = 0
    valid_rejected: list[dict[str, Any]] = field(default_factory=list)
    invalid_accepted: list[dict[str, Any]] = field(default_factory=list)
    raised: list[dict[str, Any]] = field(default_factory=list)

    @property
    def is_pass(self) -> bool:
        return self.outcome.status in ("compiled", "empty") and self.right == self.tests

    @property
    def is_pass_but_for_choices(self) -> bool:
        explained = all(entry["why"] in DOCUMENTED for entry in self.valid_rejected)
        wrong = self.invalid_accepted or self.raised
        return self.outcome.status in ("compiled", "empty") and not wrong and explained


@cache
def byte_vocabulary() -> Any:
    """One token per byte and an end token: enough to make the kernel compile and show its first mask."""
    import constrain

    return constrain.Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), b"<end>"], end_ids=[256])


def compile_schema(schema_text: str, options: dict[str, Any], *, first_mask: bool = True) -> tuple[Any, Outcome]:
    """The specification (None unless compiled), compiled down to its first mask, and what came of it.

    Without `first_mask` down to what `accepts` needs, and memory is not measured: for many small schemas.
    """
    import constrain

    if first_mask:
        reset_peak_memory()
    begin = time.process_time()

    def outcome(status: Status, kinds: tuple[str, ...] = (), error: BaseException | None = None) -> Outcome:
        spent = time.process_time() - begin
        peak = peak_memory_bytes() if first_mask else 0
        return Outcome(status, kinds, "" if error is None else str(error)[:500], spent, peak)

    try:
        specification = constrain.json_schema(schema_text, **options)
        if first_mask:
            constrain.Compiler(byte_vocabulary()).compile(specification).matcher().mask()
        else:
            _ = specification.recognizer
    except constrain.UnsupportedKeyword as error:
        return None, outcome("refused", tuple(sorted({problem.keyword for problem in error.problems})), error)
    except constrain.ReferenceNotFound as error:
        return None, outcome("refused", ("$ref leads nowhere",), error)
    except constrain.EmptyLanguage as error:
        return None, outcome("empty", ("EmptyLanguage",), error)
    except constrain.ConstrainError as error:
        return None, outcome("typed", (type(error).__name__,), error)
    except Exception as error:
        return None, outcome("untyped", (type(error).__name__,), error)
    return specification, outcome("compiled")


def accepts(specification: Any, text: str) -> bool | str:
    """The verdict; the class name of an exception instead, where one came out."""
    if specification is None:
        return False
    try:
        return bool(specification.accepts(text))
    except Exception as error:
        return type(error).__name__


def texts_of(schema: Any, value: Any, mode: str) -> list[str]:
    """The texts to try, best first: `json.dumps`'s, or in declared order, then also with numbers respelt."""
    if mode == "any":
        return [data.json_text(value, ascii=True)]
    values = declared_order.candidates(schema, value)
    texts = [data.json_text(one) for one in values] + [
        data.json_text(data.with_canonical_numbers(one)) for one in values
    ]
    return list(dict.fromkeys(texts))


def judge_row(argument: tuple[data.Row, str], step: Step) -> Judged:
    """Task: compile one MaskBench schema in one mode and ask for a verdict on each of its instances."""
    row, mode = argument
    step("compile")
    specification, outcome = compile_schema(row.schema_text, MODES[mode])
    judged = Judged(row.id, outcome, tests=len(row.tests))
    if outcome.status not in ("compiled", "empty"):
        return judged
    for number, test in enumerate(row.tests):
        step(f"instance {number}")
        texts = texts_of(row.schema, test.value, mode)
        plain = len(declared_order.candidates(row.schema, test.value)) if mode == "spaced" else 1
        verdicts = [accepts(specification, text) for text in (texts if test.valid else texts[:plain])]
        raised = next((verdict for verdict in verdicts if isinstance(verdict, str)), None)
        accepted = True in verdicts[:plain] if test.valid else any(verdict is True for verdict in verdicts)
        if raised is None and accepted == test.valid:
            judged.right += 1
            continue
        entry = {"instance": number, "text": texts[0][:300], "judge": _second_opinion(row, test.value)}
        if raised is not None:
            judged.raised.append(entry | {"why": raised})
            continue
        if test.valid:
            step(f"instance {number}, reason")
            respelt = True in verdicts
            why = "number spelling" if respelt else _reason(row, specification, test.value, texts, mode)
            entry |= {"why": why, "explanation": _explanation(specification, texts[0])}
        (judged.valid_rejected if test.valid else judged.invalid_accepted).append(entry)
    return judged


_ESCAPED_SURROGATE = re.compile(r"(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F][0-9a-fA-F]{2}")


def _reason(row: data.Row, specification: Any, value: Any, texts: list[str], mode: str) -> str:
    import constrain

    if _ESCAPED_SURROGATE.search(data.json_text(value)):
        return "lone surrogate"
    if specification is None:
        return "taken for empty"
    wider: dict[str, dict[str, Any]] = {"key order": {"key_order": "any"}, "format": {"formats": "annotation"}}
    for name, option in wider.items():
        try:
            wider_specification = constrain.json_schema(row.schema_text, **(MODES[mode] | option))
            if any(wider_specification.accepts(text) for text in texts):
                is_judged_so = name != "format" or not _format_holds(row, value)
                return name if is_judged_so else "format, though our judge takes it"
        except constrain.ConstrainError:
            continue
    return "unexplained" if _second_opinion(row, value) != "invalid" else "second judge: invalid too"


def _format_holds(row: data.Row, value: Any) -> bool:
    """Whether the corrected judge, which has formats of its own, takes the instance with its formats."""
    from constrain.validation import json_schema

    return json_schema.validate(row.schema, data.json_text(value, ascii=True), formats="known").ok


def _explanation(specification: Any, text: str) -> str:
    if specification is None:
        return ""
    try:
        told = specification.explain(text)
        return f"at {told.path or '#'}, offset {told.offset}: expected {told.expected}"[:300]
    except Exception as error:
        return f"explain raised {type(error).__name__}: {error}"[:300]


def _second_opinion(row: data.Row, value: Any) -> str:
    """What `jsonschema-rs` says of the instance, as far as it is installed and takes the schema."""
    try:
        import jsonschema_rs

        schema = json.loads(row.schema_text)
        judge = jsonschema_rs.validator_for(schema, validate_formats=True)
        return "valid" if judge.is_valid(json.loads(data.json_text(value, ascii=True))) else "invalid"
    except Exception as error:
        return f"no opinion ({type(error).__name__})"


# ---------------------------------------------------------------- the official suite


@dataclass
class SuiteJudged:
    """One group of the official suite: the outcome, and (description, valid, verdict) of each test."""

    file: str
    description: str
    outcome: Outcome
    verdicts: list[tuple[str, bool, bool | str]]
    is_unclaimed: bool = False
    """A format of the schema is an annotation: no claim is made for it."""

    is_narrower: bool = False
    """A format of the schema is reported as narrower: that nothing wrong is accepted is claimed, not that all is."""


def judge_group(argument: tuple[data.SuiteGroup, dict[str, Any]], step: Step) -> SuiteJudged:
    """Task: compile one group's schema and ask for a verdict on each test."""
    group, options = argument
    step("compile")
    specification, outcome = compile_schema(data.json_text(group.schema), options)
    verdicts: list[tuple[str, bool, bool | str]] = []
    for description, test in group.tests:
        step(description)
        verdicts.append((description, test.valid, accepts(specification, data.json_text(test.value, ascii=True))))
    entries = specification.report.entries if specification is not None else ()
    unclaimed = any(entry.keyword == "format" and entry.status == "annotation" for entry in entries)
    narrower = any(entry.keyword == "format" and entry.direction == "narrower" for entry in entries)
    return SuiteJudged(group.file, group.description, outcome, verdicts, unclaimed, narrower)


# ---------------------------------------------------------------- cases


CASE_OPTIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "spaced": {"whitespace": "spaced"},
    "spelling=any": {"spelling": "any"},
}


@dataclass
class CaseJudged:
    """One case: the outcome, and what is wrong: an accept text that no option takes, a reject text that one takes."""

    id: str
    outcome: Outcome
    wrongly_rejected: list[str] = field(default_factory=list)
    wrongly_accepted: list[tuple[str, str]] = field(default_factory=list)
    needs_spelling: int = 0
    declined_optional: int = 0

    @property
    def is_right(self) -> bool:
        return self.outcome.status in ("compiled", "empty") and not self.wrongly_rejected and not self.wrongly_accepted


def judge_case(case: data.Case, step: Step) -> CaseJudged:
    """Task: one row of `cases.jsonl` under each of `CASE_OPTIONS` (a regex has one)."""
    step("compile")
    if case.spec_type == "regex":
        made = {"default": _compile_regex(case.spec)}
    else:
        text = data.json_text(case.spec)
        made = {name: compile_schema(text, options) for name, options in CASE_OPTIONS.items()}
    worst = next((outcome for _, outcome in made.values() if outcome.status not in ("compiled", "empty")), None)
    judged = CaseJudged(case.id, worst or made["default"][1])
    if worst:
        return judged
    for text in case.accept:
        step(f"accept {text[:40]!r}")
        verdicts = [accepts(specification, text) for specification, _ in made.values()]
        judged.needs_spelling += verdicts[0] is not True
        if True not in verdicts:
            judged.wrongly_rejected.append(text)
    for text in case.reject:
        step(f"reject {text[:40]!r}")
        for name, (specification, _) in made.items():
            verdict = accepts(specification, text)
            if verdict is not False:
                judged.wrongly_accepted.append((name if verdict is True else f"{name}: raised {verdict}", text))
    for text in case.optional_accept:
        judged.declined_optional += not any(accepts(specification, text) is True for specification, _ in made.values())
    return judged


def _compile_regex(pattern: str) -> tuple[Any, Outcome]:
    import constrain

    begin = time.perf_counter()
    try:
        specification = constrain.regex(pattern)
        specification.accepts("")
    except constrain.PatternError as error:
        return None, Outcome("refused", ("PatternError",), str(error)[:500])
    except constrain.ConstrainError as error:
        return None, Outcome("typed", (type(error).__name__,), str(error)[:500])
    except Exception as error:
        return None, Outcome("untyped", (type(error).__name__,), str(error)[:500])
    return specification, Outcome("compiled", compile_s=time.perf_counter() - begin)
