"""Hypothesis strategies: patterns of a dialect's grammar, and texts that such patterns are likely to tell apart."""

from __future__ import annotations

from typing import Literal as OneOf

from hypothesis import strategies as st

Dialect = OneOf["python", "ecma"]

TEXTS = st.one_of(
    st.text(alphabet="ab", max_size=6),
    st.text(alphabet="ab1_- \n.", max_size=6),
    st.text(alphabet="aA1é😀\u2028\u212a\r\ns\u017f", max_size=4),
)

CHARACTERS = ["a", "b", "ab", "1", "_", "-", " ", r"\n", r"\.", "é", "😀", r"\x61", r"\u00e9", r"\t", r"\0"]
CLASSES = [
    ".",
    r"\w",
    r"\d",
    r"\s",
    r"\W",
    r"\D",
    r"\S",
    "[ab]",
    "[^a]",
    "[a-z1]",
    r"[^\w]",
    r"[\n.]",
    "[-a]",
    "[a-]",
    r"[\d_-]",
]
ANCHORS = ["^", "$", r"\b", r"\B"]
ONLY: dict[Dialect, list[str]] = {
    "python": [
        r"\A",
        r"\Z",
        "(?#note)",
        "[]a]",
        "[^]a]",
        "{",
        "a{",
        "{,",
        "]",
        "}",
        r"\N{DIGIT ONE}",
        r"\U0001F600",
        r"\@",
        r"\061",
    ],
    "ecma": [r"\cJ", r"\u{61}", r"\p{Lu}", r"\P{Script=Latin}", "[]", "[^]", r"\/", "[^\\S]", r"\ud83d\ude00"],
}
ANNEX_B = [
    r"\-",
    r"\@",
    "]",
    "}",
    "{",
    "x{,2}",
    r"[\w-.]",
    r"\c",
    r"[\c]",
    r"\_",
    r"\8",
    r"\61",
    r"\x",
    r"\u",
    r"(?=a)*",
    r"\p{L}",
]
QUANTIFIERS = ["*", "+", "?", "{2}", "{1,}", "{1,3}", "{0}", "{2,3}", "*?", "+?", "??", "{1,2}?"]
GROUPS: dict[Dialect, list[str]] = {
    "python": ["(", "(?:", "(?i:", "(?-i:", "(?s:", "(?m:", "(?a:", "(?x:"],
    "ecma": ["(", "(?:"],
}


@st.composite
def patterns(draw, dialect: Dialect, annex_b: bool = False, depth: int = 2) -> str:
    """A pattern; most parse, some do not (a lookbehind of varying width in Python)."""
    prefix = draw(st.sampled_from(["", "", "", "(?i)", "(?m)", "(?s)", "(?a)"])) if dialect == "python" else ""
    return prefix + _alternatives(draw, dialect, annex_b, depth)


def _alternatives(draw, dialect: Dialect, annex_b: bool, depth: int) -> str:
    branches = draw(st.integers(1, 2 if depth < 2 else 3))
    return "|".join(_row(draw, dialect, annex_b, depth) for _ in range(branches))


def _row(draw, dialect: Dialect, annex_b: bool, depth: int) -> str:
    items = []
    for _ in range(draw(st.integers(0, 3))):
        kind = draw(
            st.sampled_from(["character"] * 4 + ["class"] * 3 + ["anchor", "only"] + ["group", "look"] * (depth > 0))
        )
        item = _item(draw, dialect, annex_b, depth, kind)
        # A quantified anchor is an error in both dialects, but `regress` lets some pass.
        quantified = kind in ("character", "class", "group") and draw(st.integers(0, 2)) == 0
        items.append(item + (draw(st.sampled_from(QUANTIFIERS)) if quantified else ""))
    return "".join(items)


def _item(draw, dialect: Dialect, annex_b: bool, depth: int, kind: str) -> str:
    if kind == "group":
        return draw(st.sampled_from(GROUPS[dialect])) + _alternatives(draw, dialect, annex_b, depth - 1) + ")"
    if kind == "look":
        opening = draw(st.sampled_from(["(?=", "(?!", "(?<=", "(?<!"]))
        if dialect == "python" and "<" in opening:
            return (
                opening
                + "".join(draw(st.lists(st.sampled_from(["a", "[ab]", r"\w", "^", r"\b", "(?=a)"]), max_size=2)))
                + ")"
            )
        return opening + _alternatives(draw, dialect, annex_b, depth - 1) + ")"
    if kind == "only":
        return draw(st.sampled_from(ANNEX_B if annex_b else ONLY[dialect]))
    return draw(st.sampled_from({"character": CHARACTERS, "class": CLASSES, "anchor": ANCHORS}[kind]))
