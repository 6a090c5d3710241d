"""Thousands of hard (pattern, text) pairs: our language says what `regress` says, and what Node's RegExp says."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator

import pytest
import regress

from constrain.errors import PatternError
from constrain.frontends.regex import parse_with_notes
from constrain.frontends.regex.unicode_tables import _folded_alike
from constrain.grammar import regular
from tests.frontends.regex.hard_patterns import Generator

TEXTS = 4
"""Texts for each pattern."""

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


def judge_of(pattern: str) -> tuple[regress.Regex, bool] | None:
    """The pattern as `regress` reads it with the flag `u`, else (True) without; None if neither way."""
    for flags in ("u", ""):
        try:
            return regress.Regex(pattern, flags), not flags
        except regress.RegressError:
            continue
    return None


def verdicts(generator: Generator, count: int) -> Iterator[tuple[str, str, bool, bool]]:
    """(pattern, text, our verdict, that of `regress`), until there are `count`."""
    made = refused = 0
    while made < count:
        pattern = generator.pattern()
        judge = judge_of(pattern)
        try:
            parsed = parse_with_notes(pattern, dialect="ecma", mode="search")
        except PatternError as error:
            assert judge is None or ("cannot be enforced" in error.message and error.position is not None), pattern
            refused += judge is not None
            continue
        assert judge is not None, pattern
        assert parsed.annex_b == judge[1], pattern
        for _ in range(TEXTS):
            text = generator.text()
            yield pattern, text, regular.matches(parsed.regular, text), judge[0].find(text) is not None
            made += 1
    assert refused * TEXTS < count / 20, "what is refused is to be rare"


def disagreements(generator: Generator, count: int) -> list[tuple[str, str, bool]]:
    return [(pattern, text, ours) for pattern, text, ours, theirs in verdicts(generator, count) if ours != theirs]


def test_conditions_of_all_kinds_mean_what_regress_says() -> None:
    assert disagreements(Generator(1), 4000) == []


def test_what_only_annex_b_reads_means_what_regress_says() -> None:
    assert disagreements(Generator(2, annex_b=True), 1000) == []


def test_modifiers_mean_what_regress_says() -> None:
    assert disagreements(Generator(8, modifiers=True), 2000) == []


def test_case_variants_are_those_of_regress() -> None:
    """Every character that has one, matched against all of them."""
    alike = {one: {*several} for several in _folded_alike() for one in several}
    characters = map(chr, range(0x20000))
    cased = [one for one in characters if {one.upper(), one.lower(), one.casefold()} != {one}]
    text = "".join(cased).encode()
    for character in cased[::3]:
        spans = [match.range() for match in regress.Regex(f"\\u{{{ord(character):x}}}", "iu").find_iter(text.decode())]
        found = {ord(text[span.start : span.stop].decode()) for span in spans}
        assert found == alike.get(ord(character), {ord(character)}), character


@pytest.mark.parametrize("pattern", ["(?i-i:a)", "(?-:a)", "(?ii:a)", "(?i)a", "(?x:a)", "(?i", "(?i-", "(?:a)(?-s)"])
def test_bad_modifiers_are_refused_with_their_position(pattern: str) -> None:
    with pytest.raises(regress.RegressError):
        regress.Regex(pattern, "u")
    with pytest.raises(PatternError) as caught:
        parse_with_notes(pattern, dialect="ecma", mode="search")
    assert pattern[caught.value.position] == "("


def test_letter_case_without_the_flag_u_cannot_be_enforced() -> None:
    with pytest.raises(PatternError, match="cannot be enforced"):
        parse_with_notes(r"\-(?i:a)", dialect="ecma", mode="search")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3, 7))
def test_many_more_mean_what_regress_says(seed: int) -> None:
    assert disagreements(Generator(seed, annex_b=seed % 2 == 0), 5000) == []


NODE = """
const pairs = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify(pairs.map(([pattern, text]) => new RegExp(pattern, 'u').test(text))));
"""


@needs_node
def test_conditions_of_all_kinds_mean_what_node_says() -> None:
    """Not \\B beside astral characters: V8 looks for it also between the halves of one, which ECMA-262 does not."""
    made = [(pattern, text, ours) for pattern, text, ours, _ in verdicts(Generator(7), 2400)]
    kept = [(p, t, ours) for p, t, ours in made if "\\B" not in p or all(ord(c) < 0x10000 for c in t)][:2000]
    run = subprocess.run(
        ["node", "-e", NODE], input=json.dumps([pair[:2] for pair in kept]), capture_output=True, text=True, check=True
    )
    theirs = json.loads(run.stdout)
    assert [pair for pair, verdict in zip(kept, theirs, strict=True) if pair[2] != verdict] == []


@pytest.mark.parametrize("pattern", ["a[]|(?<=b)c", r"\S[](?<!-x)", "(?!)|a", "[]+$"])
def test_a_part_that_matches_nothing_stands_in_nobodys_way(pattern: str) -> None:
    parsed = parse_with_notes(pattern, dialect="ecma", mode="search")
    for text in ("", "a", "bc", "c", "-x"):
        assert regular.matches(parsed.regular, text) == (regress.Regex(pattern, "u").find(text) is not None)
