"""A line of a user's text with a caret under one place, safe to print.

Whatever a stranger's file holds is shown, never obeyed: control characters (an escape sequence could repaint the
terminal) appear as pictures, lone surrogates as backslash escapes, and long lines are cut around the caret.
"""

from __future__ import annotations

import re
import unicodedata

SHOWN_CHARACTERS = 100
LEAD_CHARACTERS = 60
CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")


def visible(text: str, *, keep: str = "") -> str:
    """`text` with each control character (but those in `keep`) replaced by a picture or an escape."""
    shown = CONTROLS.sub(lambda match: match[0] if match[0] in keep else _picture(match[0]), text)
    return shown.encode("utf-8", "backslashreplace").decode("utf-8")


def excerpt(text: str, line: int, column: int, *, numbered: bool = True) -> str:
    """Line number `line` of `text` and a caret under `column` (both from 1), in two lines of at most 100 characters."""
    lines = text.split("\n")
    if not 1 <= line <= len(lines):
        return ""
    content = lines[line - 1].removesuffix("\r")
    start = max(0, column - 1 - LEAD_CHARACTERS)
    before, after = content[start : column - 1], content[column - 1 : start + SHOWN_CHARACTERS]
    lead = "…" if start else ""
    tail = "…" if start + SHOWN_CHARACTERS < len(content) else ""
    shown_before = lead + visible(before)
    margin = f"    {line} | " if numbered else "    "
    caret = " " * (len(margin) + _cells(shown_before)) + "^"
    return f"{margin}{shown_before}{visible(after)}{tail}\n{caret}"


def _picture(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"\\u{code:04x}"


def _cells(text: str) -> int:
    """How many columns of a terminal `text` takes: two for wide characters, none for combining ones."""
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )
