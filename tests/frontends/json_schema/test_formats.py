"""Format languages against the official suite, and against independent readers of each format."""

from __future__ import annotations

import calendar
import ipaddress
import json
import os
import random
import re
import unicodedata
from decimal import Decimal
from functools import cache
from pathlib import Path

import pytest
import regress
from hypothesis import given, settings
from hypothesis import strategies as st

from constrain.errors import UnsupportedKeyword
from constrain.frontends.json_schema import formats_idn
from constrain.frontends.json_schema.compile import compile_schema
from constrain.frontends.json_schema.formats import BEFORE_IDNA, FORMATS, NARROWER, NUMBER_FORMATS, ORIGINS, wider
from constrain.frontends.json_schema.options import SchemaOptions
from constrain.grammar.recognizer import Recognizer
from constrain.grammar.sample import sample
from constrain.grammar.terms import GrammarSpec, Lexeme, Not
from constrain.validation.json_schema import validate
from constrain.validation.json_schema_formats import FORMAT_CHECKS, NUMBER_CHECKS

from .term_oracle import denotes

DATA = Path(os.environ.get("CONSTRAIN_DATA", Path(__file__).parents[4] / "shared" / "data"))
SUITE = DATA / "json-schema-test-suite" / "tests"
DIALECTS = ("draft4", "draft6", "draft7", "draft2019-09", "draft2020-12")

needs_suite = pytest.mark.skipif(not SUITE.exists(), reason="the official suite is not here (set CONSTRAIN_DATA)")


@cache
def recognizer_of(name: str) -> Recognizer:
    return Recognizer(GrammarSpec({"start": Lexeme(FORMATS[name]())}))


def suite_cases(name: str, dialects: tuple[str, ...] = DIALECTS) -> list[tuple[str, bool]]:
    files = [SUITE / dialect / "optional" / "format" / f"{name}.json" for dialect in dialects]
    groups = [group for file in files if file.exists() for group in json.loads(file.read_text(encoding="utf-8"))]
    tests = [test for group in groups for test in group["tests"]]
    return [(test["data"], test["valid"]) for test in tests if isinstance(test["data"], str)]


NOWHERE = re.compile("(?!)")
LEFT_OUT = {
    "hostname": re.compile("^xn--", re.IGNORECASE),
    "idn-hostname": re.compile("^xn--|\u0628\u064a\u200c\u0628\u064a|(?=[^.]{20})[^.]*[^\\x00-\\x7f.]"),
}
"""Host names of the suite that are left out: Punycode, a joiner between Arabic letters, more characters than fit."""


@needs_suite
@pytest.mark.parametrize("name", sorted(set(FORMATS) - set(ORIGINS)))
def test_the_official_suite_agrees(name: str) -> None:
    cases = suite_cases(name, DIALECTS[2:] if name in BEFORE_IDNA else DIALECTS)
    assert cases
    for text, valid in cases:
        if LEFT_OUT.get(name, NOWHERE).search(text):  # narrower on purpose: see NARROWER
            assert not recognizer_of(name).accepts(text.encode()), text
        else:
            assert recognizer_of(name).accepts(text.encode()) == valid, text


@needs_suite
def test_host_names_of_drafts_4_and_6_are_exact() -> None:
    for text, valid in suite_cases("hostname", DIALECTS[:2]):
        assert denotes(BEFORE_IDNA["hostname"](), text) == valid, text


def test_what_is_narrower_is_a_format_we_have() -> None:
    assert set(NARROWER) <= set(FORMATS)


def test_a_term_is_built_once() -> None:
    assert all(build() is build() for build in FORMATS.values())


@pytest.mark.parametrize("year", [0, 4, 100, 400, 1900, 1999, 2000, 2023, 2024, 2100, 9996, 9999])
def test_the_calendar_is_the_real_one(year: int) -> None:
    date = FORMATS["date"]()
    for month in range(14):
        for day in range(33):
            real = 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year or 2000, month)[1]
            assert denotes(date, f"{year:04}-{month:02}-{day:02}") == real


CLOCK = st.tuples(st.integers(0, 24), st.integers(0, 60))


@settings(max_examples=600, deadline=None)
@given(
    st.integers(0, 24), st.integers(0, 60), st.sampled_from("+-"), st.integers(0, 24), st.integers(0, 60), st.booleans()
)
def test_a_leap_second_is_the_last_second_of_a_day_in_utc(
    hour, minute, sign, offset_hour, offset_minute, exact
) -> None:
    if exact:  # move the local time to where UTC is 23:59
        shift = (offset_hour * 60 + offset_minute) * (1 if sign == "+" else -1)
        hour, minute = divmod((23 * 60 + 59 + shift) % 1440, 60)
    utc = hour * 60 + minute - (offset_hour * 60 + offset_minute) * (1 if sign == "+" else -1)
    valid = hour < 24 and minute < 60 and offset_hour < 24 and offset_minute < 60 and utc % 1440 == 1439
    text = f"{hour:02}:{minute:02}:60{sign}{offset_hour:02}:{offset_minute:02}"
    assert denotes(FORMATS["time"](), text) == valid
    assert denotes(FORMATS["date-time"](), "2016-12-31T" + text) == valid


GROUPS = st.lists(st.sampled_from(["0", "1", "ff", "ABCD", "12345", "", "1.2.3.4", "g"]), max_size=10).map(":".join)


@settings(max_examples=2000, deadline=None)
@given(GROUPS)
def test_ipv6_agrees_with_ipaddress(text: str) -> None:
    try:
        ipaddress.IPv6Address(text)
        valid = "%" not in text
    except ValueError:
        valid = False
    assert denotes(FORMATS["ipv6"](), text) == valid


@settings(max_examples=500, deadline=None)
@given(st.lists(st.integers(0, 300).map(str) | st.sampled_from(["00", "01", "", "a"]), max_size=5).map(".".join))
def test_ipv4_agrees_with_ipaddress(text: str) -> None:
    try:
        valid = str(ipaddress.IPv4Address(text)) == text
    except ValueError:
        valid = False
    assert denotes(FORMATS["ipv4"](), text) == valid


def test_lengths_are_bounded_where_the_rfc_bounds_them() -> None:
    label = "a" * 63
    host = f"{label}.{label}.{label}.{'a' * 61}"
    assert denotes(FORMATS["hostname"](), host)
    assert not denotes(FORMATS["hostname"](), host + "a")
    assert not denotes(FORMATS["hostname"](), "a" * 64)
    assert denotes(FORMATS["email"](), "a" * 64 + "@b")
    assert not denotes(FORMATS["email"](), "a" * 65 + "@b")
    assert denotes(FORMATS["idn-email"](), "é" * 32 + "@b")
    assert not denotes(FORMATS["idn-email"](), "é" * 33 + "@b")


BYTES = {"": True, "QQ==": True, "QUI=": True, "QUJD": True, "QUJ": False, "QQ=": False, "Q===": False}


@pytest.mark.parametrize(("text", "valid"), BYTES.items())
def test_byte_is_padded_base64(text: str, valid: bool) -> None:
    assert denotes(FORMATS["byte"](), text) == valid


PATTERNS = [
    "", "^[a-z]+$", r"^\d{3}-\d{4}$", r"[^\s]*", r"^(([a-zA-Z0-9_\-\.]+)@(?:[a-z]+))$", "[\u4e00-\u9fa5]", "[À-ÿ]",
    r"[\u4e00-\u9fa5]+", "[!-~]", "[ -~]+", "^.{1,100}$", "a{2,10}|a{10,12}|b{12,19}?", "(?=.*[A-Z])(?<!a)b", "[]|[^]",
    r"^[\w.-]+$", r"[\x20-\x7E]", r"\p{L}+|\P{Script=Han}", r"[\uD800-\uDBFF][^\uD800-\uDFFF]", r"[\uD800-\uFFFF]",
    r"[\u0000-\u001f]", r"\u{1F600}", "a|b|",
    "(?<year>\\d{4})-(?<month>\\d\\d)", "(?<n>a)\\k<n>", "(['\"]).*?\\1", "(a)(b)\\2[c]", "\\0|[\\0]", "((((((a))))))",
    "^https?://(www\\.)?[-a-zA-Z0-9@:%._+~#=]{1,256}\\.[a-z]{2,6}$",
]  # fmt: skip
NO_PATTERNS = [
    "a**", "(", ")", "[", "]", "{", "}", "\\", "[z-a]", "a{2,1}", "a{20,12}", "a{,3}", "(?<!a)*", "^*", "(?:a", "\\1",
    r"[\uD83D\uDC00-\uE000]", r"[\d-x]", r"[\w-.]", "x{1}{2}", r"\-", r"\p{Nonsense}", "(?<a>x)(?<a>y)", "^(?!x)+",
    r"\01", r"(a)\2", r"(a)\10", r"[(?<n>]\k<n>", r"\(?<n>\k<n>", r"(?<n>a)\k<m>", "(?<1>a)", r"(?:a)\1",
]  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_that_people_write_are_regexes(pattern: str) -> None:
    regress.Regex(pattern, "u")
    assert denotes(FORMATS["regex"](), pattern)


@pytest.mark.parametrize("pattern", NO_PATTERNS)
def test_what_is_no_pattern_is_no_regex(pattern: str) -> None:
    assert not denotes(FORMATS["regex"](), pattern)


PIECES = [*"ab09-^$.*?+{},()[]|\\é一!/", "(?:", "(?=", "(?<!", "[^", "{1,2}", "{2}"]
PIECES += ["(?<n>", "(?<nn>", "(?<m>", "\\k<n>", "\\k<m>", "\\1", "\\2", "\\0", "1"]
PIECES += ["\\d", "\\u", "\\x", "\\p{L}", "D83D", "DC00", "e000", "41"]


@settings(max_examples=3000, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join))
def test_no_regex_is_refused_by_a_reader_of_ecma_patterns(text: str) -> None:
    if recognizer_of("regex").accepts(text.encode()):
        regress.Regex(text, "u")


def test_random_regexes_are_read_by_a_reader_of_ecma_patterns() -> None:
    recognizer = recognizer_of("regex")
    assert recognizer.stats()["terms"] < 40_000
    for seed in range(400):
        regress.Regex(sample(recognizer, seed, length=60), "u")


def test_groups_nest_to_a_depth_of_six() -> None:
    assert denotes(FORMATS["regex"](), "((((((a))))))")
    assert not denotes(FORMATS["regex"](), "(((((((a)))))))")


@pytest.mark.parametrize("name", sorted({*FORMATS} | {*NUMBER_FORMATS}))
def test_the_judge_checks_each_format_that_is_enforced(name: str) -> None:
    assert name in (FORMAT_CHECKS if name in FORMATS else NUMBER_CHECKS)


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_what_is_drawn_of_a_format_has_it_for_the_judge(name: str) -> None:
    for seed in range(60):
        text = sample(recognizer_of(name), seed, length=40)
        assert FORMAT_CHECKS[name](text), text


ROOMS = sorted({*formats_idn.WINDOWS})


@pytest.mark.parametrize("window", ROOMS, ids=lambda window: f"{window[0]:X}-{window[1]:X}")
def test_labels_beyond_ascii_fit_as_punycode(window: tuple[int, int]) -> None:
    chance = random.Random(1)
    valid = [chr(code) for code in formats_idn._valid() if window[0] <= code <= window[1]]
    ends = valid[:2] + valid[-2:]
    for _ in range(300):
        letters = chance.choice([valid, ends, chance.choices(valid, k=3), [*ends, "a"]])
        label = "".join(chance.choices(letters, k=formats_idn._room(*window)))
        assert len("xn--" + label.encode("punycode").decode()) <= formats_idn.MAX_OCTETS


def test_every_character_of_international_labels_is_one_for_the_judge() -> None:
    for code in formats_idn._valid():
        character = chr(code)
        around = ("\u05d0", "\u0627") if unicodedata.bidirectional(character) in ("R", "AL", "NSM", "AN") else ("a",)
        assert any(FORMAT_CHECKS["idn-hostname"](a + character + a) for a in (*around, "a")), hex(code)


PARTS = ["a", "1", "-", "--", "A", "l", ".", "\u3002", "\u00b7", "\u00df", "\u0301", "\u0375", "\u03b1"]
PARTS += ["\u05d0", "\u05f3", "\u0627", "\u064b", "\u0660", "\u06f0", "\u0915", "\u094d", "\u0e33", "\u200d"]
PARTS += ["\u30a2", "\u30fb", "\u4e2d"]


@settings(max_examples=3000, deadline=None)
@given(st.lists(st.sampled_from(PARTS), max_size=8).map("".join))
def test_no_international_name_is_let_in_that_the_judge_refuses(text: str) -> None:
    if recognizer_of("idn-hostname").accepts(text.encode()):
        assert FORMAT_CHECKS["idn-hostname"](text)


EXACT = sorted(set(FORMATS) - set(NARROWER))


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(EXACT), st.integers(0, 200), st.integers(0, 60), st.sampled_from("aZ0159-_+=:/.~%{}[]@ é\\#"))
def test_one_changed_character_is_judged_alike(name: str, seed: int, at: int, character: str) -> None:
    text = sample(recognizer_of(name), seed, length=20)
    for changed in (
        text[:at] + character + text[at:],
        text[:at] + character + text[at + 1 :],
        text[:at] + text[at + 1 :],
    ):
        assert recognizer_of(name).accepts(changed.encode()) == FORMAT_CHECKS[name](changed), changed


WHOLE = ["0", "-0", "127", "128", "-128", "-129", "1.0", "1e2", "0.5", "255", "256", "1e400", "65535.5"]
WHOLE += [str(sign * 2**bits + off) for bits in (15, 16, 31, 32, 53, 63, 64) for sign in (1, -1) for off in (-1, 0, 1)]


@pytest.mark.parametrize("name", sorted(NUMBER_FORMATS))
def test_formats_of_numbers_bound_whole_numbers_and_nothing_else(name: str) -> None:
    specification = compile_schema({"format": name}, SchemaOptions(numbers="any"))
    recognizer = Recognizer(specification.grammar)
    low, high = NUMBER_FORMATS[name].minimum, NUMBER_FORMATS[name].maximum
    assert low is not None and high is not None
    for text in WHOLE:
        value = Decimal(text)
        expected = low <= value <= high and value == value.to_integral_value()
        assert recognizer.accepts(text.encode()) == expected, text
        assert bool(validate({"format": name}, text)) == expected, text
    assert all(recognizer.accepts(text) for text in (b'"a"', b"null", b"true", b"[0.5]"))


@pytest.mark.parametrize("name", sorted(NARROWER))
def test_a_narrower_format_is_reported_and_so_is_its_negation(name: str) -> None:
    compiled = compile_schema({"format": name})
    entry = next(entry for entry in compiled.report.entries if entry.keyword == "format")
    assert (entry.status, entry.direction, entry.reason) == ("approximated", "narrower", NARROWER[name])
    report = compile_schema({"type": "string", "not": {"format": name}}).report
    assert any(entry.keyword == "not" and entry.direction == "narrower" for entry in report.entries)


@pytest.mark.parametrize("name", sorted(NARROWER))
def test_what_is_let_in_lacks_a_negated_format_whatever_is_known_of_it(name: str) -> None:
    inner = FORMATS[name]()
    outer = wider(inner)
    assert wider(Not(outer)) == Not(inner)
    recognizer = Recognizer(GrammarSpec({"start": Lexeme(inner)}))
    drawn = [sample(recognizer, seed, length=60) for seed in range(20)]
    for text in [*KNOWN[name], *drawn]:
        assert denotes(outer, text)


@pytest.mark.parametrize("name", sorted(NARROWER))
def test_names_of_a_narrower_format_are_not_negated(name: str) -> None:
    with pytest.raises(UnsupportedKeyword):
        compile_schema({"not": {"propertyNames": {"format": name}}})


KNOWN = {
    "hostname": ["xn--nxasmq6b", "a--b", "a.b"],
    "email": ["a@xn--nxasmq6b", '"\\ "@a', "a@[127.0.0.1]"],
    "idn-hostname": ["xn--nxasmq6b", "\u0628\u064a\u200c\u0628\u064a", "é" * 30],
    "idn-email": ["é" * 60 + "@é.example", "실례@실례.테스트"],
    "regex": ["(?<name>a)\\k<name>", "(((((((a)))))))", "\\0", "(a)\\1", ""],
}
"""Strings that have the format and are left out, or may be."""
