"""The languages equal those of `re` and `regress`, on generated patterns and texts; bad patterns are bad to both."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable

import pytest
import regress
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from constrain.errors import PatternError
from constrain.frontends.regex import parse_with_notes
from tests.frontends.regex.oracle import accepts
from tests.frontends.regex.patterns import TEXTS, patterns

MODES = st.sampled_from(["fullmatch", "search"])
SETTINGS = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
UNENFORCEABLE = "cannot be enforced"


def python_judge(pattern: str, mode: str) -> Callable[[str], bool]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled = re.compile(pattern)
    return lambda text: bool((compiled.fullmatch if mode == "fullmatch" else compiled.search)(text))


def ecma_judge(pattern: str, mode: str, flags: str) -> Callable[[str], bool]:
    regress.Regex(pattern, flags)
    compiled = regress.Regex(pattern if mode == "search" else f"^(?:{pattern})$", flags)
    return lambda text: compiled.find(text) is not None


@SETTINGS
@given(patterns("python"), MODES, st.lists(TEXTS, min_size=8, max_size=8))
def test_python_patterns_mean_what_re_says(pattern, mode, texts):
    try:
        judge = python_judge(pattern, mode)
    except re.error:
        with pytest.raises(PatternError):
            parse_with_notes(pattern, dialect="python", mode=mode)
        return
    try:
        parsed = parse_with_notes(pattern, dialect="python", mode=mode)
    except PatternError as error:
        assert UNENFORCEABLE in error.message
        return
    for text in texts:
        assert accepts(parsed.regular, text) == judge(text), text


@SETTINGS
@given(patterns("ecma"), MODES, st.lists(TEXTS, min_size=8, max_size=8))
def test_ecma_patterns_mean_what_regress_says(pattern, mode, texts):
    check_ecma(pattern, mode, texts)


@SETTINGS
@given(patterns("ecma", annex_b=True), MODES, st.lists(TEXTS, min_size=8, max_size=8))
def test_what_only_annex_b_reads_means_what_regress_says_without_u(pattern, mode, texts):
    check_ecma(pattern, mode, texts)


def check_ecma(pattern: str, mode, texts: list[str]) -> None:
    try:
        judge, annex_b = ecma_judge(pattern, mode, "u"), False
    except regress.RegressError:
        try:
            judge, annex_b = ecma_judge(pattern, mode, ""), True
        except regress.RegressError:
            with pytest.raises(PatternError):
                parse_with_notes(pattern, dialect="ecma", mode=mode)
            return
    try:
        parsed = parse_with_notes(pattern, dialect="ecma", mode=mode)
    except PatternError as error:
        assert UNENFORCEABLE in error.message
        return
    assert parsed.annex_b == annex_b
    for text in texts:
        assert accepts(parsed.regular, text) == judge(text), text
