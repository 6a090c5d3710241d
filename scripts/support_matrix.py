"""Write `docs/guide/keywords.md` from the keyword and format tables in the code.

    python scripts/support_matrix.py            writes the file
    python scripts/support_matrix.py --check    exit code 1 if it is not what would be written

There is one place for each fact: the tables. A test runs the check.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from constrain.frontends.json_schema.formats import FORMATS, NARROWER
from constrain.frontends.json_schema.keywords import ALL, KEYWORDS, Keyword

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "guide" / "keywords.md"
SAID = {"enforced": "enforced", "conditional": "enforced, or refused", "annotation": "annotation"}
HEAD = """# Keywords and formats

Made by `scripts/support_matrix.py` from the tables in the code; do not edit. *Enforced, or refused*: enforced where
the note says, refused by name elsewhere. Keywords that are not listed are annotations.
"""


def main(arguments: list[str]) -> int:
    text = document()
    if "--check" in arguments:
        return 0 if DOCUMENT.read_text() == text else 1
    DOCUMENT.write_text(text)
    return 0


def document() -> str:
    """The whole file."""
    return "\n".join([HEAD, *keyword_table(), "", "## Formats", "", *format_table(), ""])


def keyword_table() -> Iterator[str]:
    yield "| keyword | dialects | applies to | |"
    yield "|:--|:--|:--|:--|"
    for keyword in KEYWORDS.values():
        applies = ", ".join(keyword.types) or "any"
        yield f"| `{keyword.name}` | {dialects(keyword)} | {applies} | {said(keyword)} |"


def said(keyword: Keyword) -> str:
    what = "read" if keyword.kind == "core" else SAID[keyword.support]
    return f"{what}: {keyword.note}" if keyword.note else what


def dialects(keyword: Keyword) -> str:
    """A range of dialects, since keywords come and go once."""
    if keyword.dialects == ALL:
        return "all"
    first, last = (name.removeprefix("draft") for name in (keyword.dialects[0], keyword.dialects[-1]))
    if keyword.dialects[-1] == ALL[-1]:
        return f"from {first}" if first != last else first
    return (
        f"to {last}"
        if keyword.dialects[0] == ALL[0] and first != last
        else first
        if first == last
        else f"{first} to {last}"
    )


def format_table() -> Iterator[str]:
    yield "| format | |"
    yield "|:--|:--|"
    for name in FORMATS:
        yield f"| `{name}` | enforced{f', narrower: {NARROWER[name]}' if name in NARROWER else ''} |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
