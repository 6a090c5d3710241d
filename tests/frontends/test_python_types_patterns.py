"""Patterns on their way from Pydantic to ECMA."""

from __future__ import annotations

import json

import pytest

from constrain.frontends.python_types_patterns import to_ecma


@pytest.mark.parametrize(
    ("pattern", "text", "is_exact"),
    [
        ("^[a-z]+$", "^[a-z]+$", True),
        (r"\Aab\z", "^ab$", True),
        (r"(?P<year>\d{4})-(?P<m>\d\d)", r"(?<year>\d{4})-(?<m>\d\d)", True),
        (r"\pL\x{1F600}", r"\p{L}\u{1F600}", True),
        (r"a\@b\-c\.d\/", r"a@b-c\.d\/", True),
        (r"[\w\-.]+", r"[\w\-.]+", True),
        (r"[^\d]", r"[^\d]", False),
        (r"[^\]a]", r"[^\]a]", True),
        (r"\W", r"\W", False),
        (r"(?i)abc", r"(?i)abc", False),
        (r"(?:ab|cd)", r"(?:ab|cd)", True),
        (r"(?=a)", r"(?=a)", True),
        (r"[[:alpha:]]", r"[[:alpha:]]", False),
        (r"[a-z&&[^b]]", r"[a-z&&[^b]]", False),
        ("\\", "\\", True),
        ("[", "[", True),
        ("", "", True),
    ],
)
def test_a_pattern_is_rewritten_or_marked(pattern: str, text: str, is_exact: bool) -> None:
    result = to_ecma(pattern)
    assert (result.text, result.is_exact) == (text, is_exact)


@pytest.mark.parametrize(
    "pattern", [r"^\w+@\w+\.\w{2,}$", r"\A[A-Z]{2}\d+\z", r"^(?P<a>x|y)\-1$", r"^\s*#[0-9a-f]{6}$"]
)
def test_what_the_rewritten_pattern_matches_pydantic_accepts(pattern: str) -> None:
    pydantic = pytest.importorskip("pydantic", reason="pydantic is an extra")
    regress = pytest.importorskip("regress", reason="the judge of ECMA patterns")
    from typing import Annotated

    adapter = pydantic.TypeAdapter(Annotated[str, pydantic.Field(pattern=pattern)])
    ecma = regress.Regex(to_ecma(pattern).text, flags="u")
    texts = ["a@b.cd", "AB12", "AB12\n", "x-1", "x\\-1", " #00ff00", "é@b.cd", "", "٣"]
    for text in texts:
        if ecma.find(text) is not None:
            adapter.validate_json(json.dumps(text))
