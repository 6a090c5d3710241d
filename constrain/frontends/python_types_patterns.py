"""Patterns of Pydantic (Rust's `regex`, or Python's `re`) as ECMA patterns, which is what JSON Schema means.

Most patterns are the same text in all three. What differs is rewritten where ECMA has the same thing under another name
(`\\A`, `\\z`, `(?P<name>…)`, escapes of plain punctuation) and marked where it has not: then `is_exact` is false and
the pattern is checked afterwards as well. "Exact" means that ECMA matches no string which Pydantic refuses; it may
match fewer, as `\\d` in ECMA is ASCII and in Rust every decimal digit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["EcmaPattern", "to_ecma"]

SYNTAX = set("^$\\.*+?()[]{}|/")
RENAMED = {"A": "^", "z": "$", "Z": "$", "a": "\\x07"}
WIDER_IN_ECMA = set("DWSbBGRXhHKQE<>")
"""Escapes whose complement is smaller in Rust and Python (`\\W` of ECMA takes é), or that ECMA does not know."""

TOKEN = re.compile(
    r"\\(?P<escape>[pPx]\{[^}]*\}|p\w|P\w|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]+\}|.)"
    r"|(?P<named>\(\?P<(?P<name>\w+)>)"
    r"|(?P<group>\(\?(?:P[=>]|[a-zA-Z-]+[:)]|#|\())"
    r"|(?P<posix>\[:\^?\w+:\])"
    r"|(?P<setop>&&|--|~~)"
    r"|(?P<other>.)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class EcmaPattern:
    """`text` for JSON Schema; `is_exact` says that whatever it matches, Pydantic matches too."""

    text: str
    is_exact: bool


def to_ecma(pattern: str) -> EcmaPattern:
    """The ECMA spelling of a pattern of Pydantic. Never raises: what ECMA cannot parse, its front end reports."""
    out: list[str] = []
    exact = True
    class_depth = 0
    for token in TOKEN.finditer(pattern):
        text = token[0]
        if token["escape"] is not None:
            text, known = _escape(token["escape"], inside=class_depth > 0)
            exact &= known
        elif class_depth:
            exact &= token["posix"] is None and token["setop"] is None
            if text == "[":
                exact = False  # nested classes are Rust's own
            class_depth -= text == "]"
        elif token["name"] is not None:
            text = f"(?<{token['name']}>"
        elif token["group"] is not None or token["posix"] is not None:
            exact = False
        elif text == "[":
            class_depth = 1
            exact &= pattern[token.end() : token.end() + 1] != "^" or not re.match(
                r"\^(?:[^\]\\]|\\.)*\\[dws]", pattern[token.end() :]
            )
        out.append(text)
    return EcmaPattern("".join(out), exact)


def _escape(name: str, *, inside: bool) -> tuple[str, bool]:
    """One escape in ECMA, and whether it means no more than before."""
    if name in RENAMED and not (inside and name != "a"):
        return RENAMED[name], True
    if name in WIDER_IN_ECMA and not (inside and name == "b"):
        return "\\" + name, False
    if name[0] in "pP" and len(name) == 2:
        return f"\\{name[0]}{{{name[1]}}}", True
    if name.startswith("x{"):
        return f"\\u{name[1:]}", True
    if len(name) == 1 and not name.isalnum() and name not in SYNTAX and not (inside and name == "-"):
        return name, True
    return "\\" + name, True
