"""Write `docs/guide/keywords.md` from the keyword and format tables in the code.

    python scripts/support_matrix.py            writes the file
    python scripts/support_matrix.py --check    exit code 1 if it is not what would be written

There is one place for each fact: the tables. A test runs the check.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from constrain.frontends.json_schema.formats import EXCLUDES_NOTHING, FORMATS, NARROWER, NUMBER_FORMATS, ORIGINS
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
    return "\n".join([HEAD, *keyword_table(), "", FORMATS_HEAD, "", *format_table(), ""])


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


FORMATS_HEAD = """## Formats

What is claimed: with `formats="known"` (the default) nothing is let in that lacks the format. *Exact*: and nothing is
left out either. *Narrower*: what the last column names is left out, and the report says so. A format that is not
here, or that excludes no value, is an annotation, and reported as one. Host names of drafts 4 and 6 know no Punycode:
exact."""


def format_table() -> Iterator[str]:
    """The claims: each format, whose it is, and how its language differs from it."""
    yield "| format | of | defined by | language | what is left out |"
    yield "|:--|:--|:--|:--|:--|"
    for name in FORMATS:
        language = f"narrower | {NARROWER[name].removesuffix(' are left out')}" if name in NARROWER else "exact |"
        yield f"| `{name}` | strings | {ORIGINS.get(name, 'JSON Schema')} | {language} |"
    for name, bounds in NUMBER_FORMATS.items():
        yield f"| `{name}` | numbers | OpenAPI | exact: whole, {bounds.minimum} to {bounds.maximum} | |"
    for name, reason in EXCLUDES_NOTHING.items():
        yield f"| `{name}` | | OpenAPI, draft 3 | annotation | nothing: it {reason} |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
