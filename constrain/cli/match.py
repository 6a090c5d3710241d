"""`constrain match`: is a text what a specification asks for, and if not, from where on and what could stand there?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from constrain.cli.excerpt import excerpt, visible
from constrain.cli.findings import compile_or_explain
from constrain.cli.output import print_json, print_styled
from constrain.cli.source import Source
from constrain.explanation import SHOWN_FAILURES, told

if TYPE_CHECKING:
    from constrain import Explanation

FIELDS = ("accepted", "complete", "offset", "line", "column", "expected", "path", "reason", "takes")
JUDGED = ("path", "keyword", "message")
STYLES = {": accepted": "bold green", ": incomplete": "bold yellow", ": rejected": "bold red"}

Verdict = Literal["accepted", "incomplete", "rejected"]


def match(source: Source, options: dict[str, Any], name: str, content: bytes, *, as_json: bool) -> int:
    """Explain `content` against the specification, print the verdict, and return the exit code (0: accepted)."""
    try:
        text: str | bytes = content.decode()
    except UnicodeDecodeError:
        text = content
    specification = compile_or_explain(source, options)
    if specification is None:
        return 1
    explanation = specification.explain(text)
    verdict = verdict_of(explanation, text)
    if as_json:
        found = {field: getattr(explanation, field) for field in FIELDS}
        found["failures"] = [{field: getattr(one, field) for field in JUDGED} for one in explanation.failures]
        print_json({"verdict": verdict, "specification": source.name, "text": name, **found})
    else:
        print_styled(rendered(explanation, verdict, source, name, text), STYLES)
    return 0 if verdict == "accepted" else 1


def verdict_of(explanation: Explanation, text: str | bytes) -> Verdict:
    """incomplete: right so far, but more must follow. rejected: no continuation helps."""
    if explanation.accepted:
        return "accepted"
    return "incomplete" if explanation.offset >= len(text) else "rejected"


def rendered(explanation: Explanation, verdict: Verdict, source: Source, name: str, text: str | bytes) -> str:
    """`name:line:column: rejected: …`, the line with a caret, what could stand there, and where in the value it is.

    The cause comes first where it is known; a character that cannot stand there is only where it shows.
    """
    if verdict == "accepted":
        return f"{visible(name)}: accepted by {visible(source.name)}"
    what = "the text ends too early" if verdict == "incomplete" else offender(text, explanation.offset)
    causes = reasons(explanation)
    shown = text if isinstance(text, str) else text.decode("utf-8", "replace")
    lines = [
        f"{visible(name)}:{explanation.line}:{explanation.column}: {verdict}: {causes[0] if causes else what}",
        excerpt(shown, explanation.line, explanation.column),
    ]
    lines += [f"  also: {cause}" for cause in causes[1 : 1 + SHOWN_FAILURES]]
    lines += [f"  also: {len(causes) - 1 - SHOWN_FAILURES} more"] if len(causes) > 1 + SHOWN_FAILURES else []
    lines += [f"  expected: {visible(explanation.expected)}"] if explanation.expected else []
    lines += [f"  path: #{visible(explanation.path)}"] if explanation.path else []
    return "\n".join(line for line in lines if line)


def reasons(explanation: Explanation) -> list[str]:
    """Each cause in one line; options as this command line spells them."""
    if explanation.failures:
        return [visible(told(failure)) for failure in explanation.failures]
    reason = explanation.reason
    if explanation.takes:
        name, _, value = explanation.takes.partition("=")
        reason = reason.replace(explanation.takes, f"--{name.replace('_', '-')} {value.strip(chr(34))}")
    return [visible(reason)] if reason else []


def offender(text: str | bytes, offset: int) -> str:
    """The character at `offset`, or the byte where the text is no text."""
    if isinstance(text, str):
        return f"{visible(text[offset])!r} cannot stand here"
    return f"byte {text[offset]:#04x} cannot stand here: the text is not UTF-8 there, or not as specified"
