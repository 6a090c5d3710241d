"""`constrain match`: is a text what a specification asks for, and if not, from where on and what could stand there?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from constrain.cli.excerpt import excerpt, visible
from constrain.cli.output import print_json, print_styled
from constrain.cli.source import Source

if TYPE_CHECKING:
    from constrain import Explanation

FIELDS = ("accepted", "complete", "offset", "line", "column", "expected", "path")
STYLES = {": accepted": "bold green", ": incomplete": "bold yellow", ": rejected": "bold red"}

Verdict = Literal["accepted", "incomplete", "rejected"]


def match(source: Source, options: dict[str, Any], name: str, content: bytes, *, as_json: bool) -> int:
    """Explain `content` against the specification, print the verdict, and return the exit code (0: accepted)."""
    explanation = source.compile(options).explain(content)
    verdict = verdict_of(explanation, content)
    if as_json:
        found = {field: getattr(explanation, field) for field in FIELDS}
        print_json({"verdict": verdict, "specification": source.name, "text": name, **found})
    else:
        print_styled(rendered(explanation, verdict, source, name, content), STYLES)
    return 0 if verdict == "accepted" else 1


def verdict_of(explanation: Explanation, content: bytes) -> Verdict:
    """incomplete: right so far, but more must follow. rejected: no continuation helps."""
    if explanation.accepted and explanation.complete:
        return "accepted"
    return "incomplete" if explanation.offset >= len(content) else "rejected"


def rendered(explanation: Explanation, verdict: Verdict, source: Source, name: str, content: bytes) -> str:
    """`name:line:column: rejected: …`, the line with a caret, what could stand there, and where in the value it is."""
    if verdict == "accepted":
        return f"{visible(name)}: accepted by {visible(source.name)}"
    text = content.decode("utf-8", "replace")
    what = "the text ends too early" if verdict == "incomplete" else _offender(content, explanation.offset)
    lines = [
        f"{visible(name)}:{explanation.line}:{explanation.column}: {verdict}: {what}",
        excerpt(text, explanation.line, explanation.column),
    ]
    lines += [f"  expected: {visible(str(explanation.expected))}"] if explanation.expected else []
    lines += [f"  path: {visible(explanation.path)}"] if explanation.path else []
    return "\n".join(line for line in lines if line)


def _offender(content: bytes, offset: int) -> str:
    """The character at `offset`, or the byte where there is no character."""
    for length in range(1, 5):
        try:
            return f"{visible(content[offset : offset + length].decode())!r} cannot stand here"
        except UnicodeDecodeError:
            continue
    return f"byte {content[offset]:#04x} cannot stand here"
