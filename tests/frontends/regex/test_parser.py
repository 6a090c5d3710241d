"""Syntax: errors have the right position, and each dialect's oddities are read as its judge reads them."""

from __future__ import annotations

import re
import sys

import pytest

from constrain.errors import PatternError
from constrain.frontends.regex import parse, parse_with_notes
from tests.frontends.regex.oracle import accepts


@pytest.mark.parametrize(
    ("pattern", "position"),
    [
        ("a(b", 1),
        ("a)b", 1),
        ("*a", 0),
        ("a**", 2),
        ("é[a", 1),
        ("a\\", 1),
        ("[b-a]", 1),
        (r"[\d-a]", 1),
        ("a{2,1}", 1),
        (r"\q", 0),
        (r"\x4", 0),
        (r"\N{NO SUCH}", 0),
        ("(?P<1>a)", 0),
        ("(?<=a+)b", 0),
        ("a(?i)b", 1),
        ("(?z)", 0),
        (r"\1", 0),
        ("(?#a", 0),
        ("^*", 1),
        ("(?i-i:a)", 0),
        ("(?au:a)", 0),
        ("(?P<n>a)(?P<n>b)", 8),
        (r"\8", 0),
        (r"[\8]", 1),
        (r"\400", 0),
    ],
)
def test_a_python_error_has_its_position(pattern, position):
    with pytest.raises(re.error):
        re.compile(pattern)
    with pytest.raises(PatternError) as caught:
        parse(pattern, dialect="python", mode="fullmatch")
    assert caught.value.position == position


@pytest.mark.parametrize(
    ("pattern", "position"),
    [
        ("a(b", 1),
        ("a)b", 1),
        ("*a", 0),
        ("a**", 2),
        ("a[", 1),
        ("a\\", 1),
        ("[b-a]", 1),
        ("a{2,1}", 1),
        ("(?<n>a)(?<n>b)", 7),
        ("(?<1>a)", 0),
        (r"(?<n>a)\k<m>", 7),
        ("(?x:a)", 0),
        ("(?P<n>a)", 0),
        ("(?>a)", 0),
    ],
)
def test_an_ecma_error_has_its_position(pattern, position):
    with pytest.raises(PatternError) as caught:
        parse(pattern, dialect="ecma", mode="search")
    assert caught.value.position == position


@pytest.mark.parametrize(
    ("pattern", "accepted", "rejected"),
    [
        ("a{,2}b", "aab", "aaab"),
        ("a{}", "a{}", "a"),
        ("a{1,x}", "a{1,x}", "a"),
        ("[]a]+", "]a", "["),
        ("[^]a]", "b", "]"),
        ("(?x) a b # c", "ab", "a b"),
        ("(?x: a [ ] )b", "a b", "ab"),
        ("(?i)straße", "STRAßE", "strasse"),
        ("(?i)k", "\u212a", "c"),
        ("(?i)[^k]", "c", "\u212a"),
        ("(?ia)k", "K", "\u212a"),
        ("(?a)\\w", "a", "é"),
        ("\\w", "é", "-"),
        ("\\d", "٣", "a"),
        ("(?s).", "\n", "ab"),
        (".", "\r", "\n"),
        ("(?i:a)b", "Ab", "AB"),
        ("(?i)a(?-i:b)", "Ab", "AB"),
        (r"\0\x07", "\0\a", "0"),
        (r"[\b]", "\b", "b"),
        (r"\101", "A", "1"),
        (r"\N{EM DASH}", "—", "-"),
        ("(?m)^a$\n^b$", "a\nb", "ab"),
        ("a|", "", "b"),
        ("(?#x)a", "a", "x"),
        ("a(?#x)*", "aaa", "x"),
        ("(?i)[a-z]", "\u017f", "1"),
        ("a{0}", "", "a"),
        ("(?P<é>a)", "a", ""),
    ],
)
def test_python_syntax_reads_as_re_reads_it(pattern, accepted, rejected):
    assert re.fullmatch(pattern, accepted) and not re.fullmatch(pattern, rejected)
    term = parse(pattern, dialect="python", mode="fullmatch")
    assert accepts(term, accepted) and not accepts(term, rejected)


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="re changed: \\B now matches the empty text")
def test_no_boundary_fails_on_the_empty_text():
    assert not accepts(parse(r"\B", dialect="python", mode="search"), "")
    assert accepts(parse(r"\B", dialect="ecma", mode="search"), "")


@pytest.mark.parametrize(
    ("pattern", "accepted", "rejected"),
    [
        (r"^[\w-.]+$", "a-.", "a b"),
        (r"^\-\_\@$", "-_@", "-"),
        ("^a{$", "a{", "a"),
        ("^]}$", "]}", "]"),
        (r"^\61$", "1", "61"),
        (r"^\c$", r"\c", "c"),
        (r"^[\c]$", "\\", "x"),
        (r"^[\c1]$", "\x11", "1"),
        (r"^\x$", "x", "\\x"),
        (r"^\-?\u{3}$", "uuu", "\x03"),
        (r"^\p{2}$", "pp", "p"),
        (r"^\8$", "8", "\\8"),
        (r"^(?=a)*b$", "b", "a"),
        (r"^a{,2}$", "a{,2}", "aa"),
        (r"^\k$", "k", "a"),
    ],
)
def test_what_only_annex_b_reads_says_so(pattern, accepted, rejected):
    parsed = parse_with_notes(pattern, dialect="ecma", mode="search")
    assert parsed.annex_b and "Annex B" in parsed.notes[0]
    assert accepts(parsed.regular, accepted) and not accepts(parsed.regular, rejected)


@pytest.mark.parametrize("pattern", [r"\-\ud83d", r"\-[\ud800-\udbff]"])
def test_half_a_character_without_u_is_refused(pattern):
    with pytest.raises(PatternError, match="half a surrogate pair"):
        parse(pattern, dialect="ecma", mode="search")


def test_a_surrogate_pair_is_one_character():
    for pattern in (r"^\ud83d\ude00$", r"^[\ud83d\ude00]$", r"^\u{1f600}$", r"^\-?\ud83d\ude00$"):
        assert accepts(parse(pattern, dialect="ecma", mode="search"), "😀")


def test_ecma_classes_are_ascii_but_space_is_unicode():
    def full(pattern, text):
        return accepts(parse(pattern, dialect="ecma", mode="fullmatch"), text)

    assert not full(r"\w", "é") and not full(r"\d", "٣")
    assert all(full(r"\s", text) for text in "\ufeff\u2028\u2029\u00a0\u3000\v") and not full(r"\s", "\x85")
    assert not any(full(".", text) for text in "\n\r\u2028\u2029") and full(".", "\x85") and full(".", "😀")


@pytest.mark.parametrize(
    ("pattern", "help"),
    [
        ("(?P<y>[0-9]{4})", "write (?<y>…)"),
        ("^a\\Z(?P<y>a)", "write (?<y>…)"),
        ("(?P=y)", "write out"),
        ("(?i)a", "(?i:…)"),
        ("(?au:a)", "remove"),
        ("(?x)a", "blanks"),
        ("(?s)a", "(?s:…)"),
        ("(?im)a", "(?im:…)"),
        ("(?>a)b", "(?:…)"),
        ("(?#a)", "remove"),
        ("(?(1)a|b)", "alternatives"),
        ("(?~a)", "(?:…)"),
        ("a*+", "drop the '+'"),
        ("a++", "drop the '+'"),
        ("a{2}+", "drop the '+'"),
        ("a**", "(?:a*)*"),
    ],
)
def test_what_ecma_lacks_has_help_that_says_what_to_write(pattern, help):
    with pytest.raises(PatternError) as caught:
        parse(pattern, dialect="ecma", mode="search")
    assert help in (caught.value.help or "")


@pytest.mark.parametrize(
    ("pattern", "traps"),
    [
        (r"^a\Z", ["\\Z"]),
        (r"\A\p{L}", ["\\A", "\\p"]),
        ("a{,3}", ["{,3}"]),
        ("[[:alpha:]]", ["[:alpha:]"]),
        (r"\@[\w-.]", []),
        (r"\p{L}\d", []),
    ],
)
def test_what_other_dialects_mean_otherwise_is_a_trap(pattern, traps):
    found = parse_with_notes(pattern, dialect="ecma", mode="search")
    assert [trap.text for trap in found.traps] == traps
