"""Masks of the shapes that specifications are made of, over three vocabularies, by brute force.

Each shape aims at one way in which the kernel saves work: a wide lexeme with a terminator is split into tokens that
stay inside and remainders, a bounded one is a window over counts, one with excluded texts is a difference from another,
and caches serve many matchers. Walks are by tokens of the mask: every state was reached as a decoder reaches it.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable

import numpy as np
import pytest

from constrain.grammar import terms
from constrain.grammar.terms import (
    ANY_CHAR,
    ANY_TEXT,
    Concat,
    Encoded,
    Items,
    Lexeme,
    Literal,
    LiteralSet,
    Member,
    Members,
    NameClass,
    Not,
    Punctuation,
    Repeat,
    RuleRef,
)
from tests.kernel.subjects import Pair, compile_grammar, mask_ids, pair_of
from tests.strategies import EXAMPLES

QUOTE = Literal('"')
OBJECT = Punctuation(Literal("{"), Literal("}"), Literal(", "), Literal(": "))
PRETTY = Punctuation(Literal("{"), Literal("\n}"), Literal(","), Literal(": "), Literal("\n  "))
ARRAY = Punctuation(Literal("["), Literal("]"), Literal(", "))
DIGIT = terms.char_class([(0x30, 0x39)])
INTEGER = terms.alternation(Literal("0"), Concat((terms.char_class([(0x31, 0x39)]), Repeat(DIGIT, 0, 8))))
WORD = terms.char_class([(0x61, 0x7A), (0xE9, 0xE9)])


def string(item: terms.Regular, encoding: terms.Encoding = "json") -> terms.Regular:
    return Concat((QUOTE, Encoded(item, encoding), QUOTE))


def person() -> terms.Grammar:
    name = Lexeme(string(Repeat(ANY_CHAR, 1, 20)))
    tags = Items((), Lexeme(string(ANY_TEXT)), ARRAY, 1, 3)
    members = (Member("name", name, True), Member("age", Lexeme(INTEGER), True), Member("tags", tags, False))
    return Members(members, (), OBJECT)


def extras(order: str, encoding: terms.Encoding) -> Callable[[], terms.Grammar]:
    def build() -> terms.Grammar:
        members = (Member("id", Lexeme(INTEGER), True), Member("name", Lexeme(string(ANY_TEXT, encoding)), False))
        names = NameClass(Repeat(WORD, 1, None), Lexeme(INTEGER))
        return Members(members, (names,), PRETTY, order, 2, 4, encoding)  # pyright: ignore[reportArgumentType]

    return build


def unique(encoding: terms.Encoding, numbers: str) -> Callable[[], terms.Grammar]:
    def build() -> terms.Grammar:
        spelled = LiteralSet(("1", "1.0", "0", "-0", "null")) if numbers == "any" else INTEGER
        rest = Lexeme(terms.alternation(spelled, string(Repeat(terms.char_class([(97, 99)]), 0, 2), encoding)))
        return Items((), rest, ARRAY, 2, 4, True, encoding, numbers)  # pyright: ignore[reportArgumentType]

    return build


def nested() -> terms.Grammar:
    value = terms.Choice((Lexeme(INTEGER), Items((), RuleRef("start"), ARRAY), RuleRef("object")))
    return value


def any_object() -> terms.Grammar:
    return Members((), (NameClass(ANY_TEXT, RuleRef("start")),), OBJECT, encoding="json_any")


NUMBER_OR_UNIT = Concat(
    (
        terms.And((terms.DecimalMultiple(25, 2), Repeat(terms.char_class([(46, 46), (48, 57)]), 1, 6))),
        terms.optional(LiteralSet((" kg", " g", "%"))),
    )
)

LEXEMES: dict[str, Callable[[], terms.Grammar]] = {
    "free string": lambda: Lexeme(string(ANY_TEXT)),
    "free string in any spelling": lambda: Lexeme(string(ANY_TEXT, "json_any")),
    "bounded string": lambda: Lexeme(string(Repeat(ANY_CHAR, 2, 12))),
    "bounded string in any spelling": lambda: Lexeme(string(Repeat(ANY_CHAR, 2, 6), "json_any")),
    "string of at least": lambda: Lexeme(string(Repeat(ANY_CHAR, 9, None))),
    "bounded words": lambda: Lexeme(string(Concat((Repeat(WORD, 3, 7), Literal(" "), Repeat(WORD, 0, 5))))),
    "pattern and length": lambda: Lexeme(
        string(terms.And((Repeat(ANY_CHAR, 4, 9), Concat((ANY_TEXT, Literal("at"), ANY_TEXT)))))
    ),
    "all but some": lambda: Lexeme(string(Not(LiteralSet(("name", "type", "value", "", "é"))))),
    "all but what contains": lambda: Lexeme(string(Not(Concat((ANY_TEXT, LiteralSet(("a\n", "<!")), ANY_TEXT))))),
    "one of many": lambda: Lexeme(string(LiteralSet(tuple(f"{i:x}é{i * i}" for i in range(300))))),
    "no terminator": lambda: Lexeme(Repeat(terms.alternation(WORD, Literal(" "), Literal("\n")), 0, None)),
    "multiple with a unit": lambda: Lexeme(NUMBER_OR_UNIT),
}

SHAPES = LEXEMES | {
    "marks that share a lead byte": lambda: terms.Sequence(
        (Lexeme(Literal("«")), Lexeme(Repeat(Not(LiteralSet(("«", "»"))), 1, 1)), Lexeme(Literal("»")))
    ),
    "ambiguous": lambda: terms.Sequence(
        (
            Lexeme(LiteralSet(("list", "listen", "l"))),
            Lexeme(LiteralSet(("ed", "ened", "is"))),
            Lexeme(Repeat(WORD, 0, 3)),
        )
    ),
    "person": person,
    "extras in order": extras("declared", "json"),
    "extras in any order and spelling": extras("any", "json_any"),
    "unique": unique("json", "canonical"),
    "unique in any spelling": unique("json_any", "any"),
    "nested": nested,
}


def followed(shape: Callable[[], terms.Grammar]) -> Callable[[], terms.Grammar]:
    """The shape, and then marks that tokens spell together with the end of a string."""
    behind = Lexeme(LiteralSet((", ", ",", ": ", "}", "]}", "\n", "é")))
    return lambda: terms.Sequence((shape(), behind, behind))


SHAPES |= {f"{name}, then more": followed(SHAPES[name]) for name in LEXEMES}


def spec_of(shape: str) -> terms.GrammarSpec:
    return terms.GrammarSpec({"start": SHAPES[shape](), "object": any_object()})


def walk(pair: Pair, chance: random.Random, steps: int, every: int = 1) -> None:
    """Random tokens of the mask: mostly short ones of few bytes, which are those that change the structure."""
    for place in range(steps):
        allowed = sorted(mask_ids(pair.matcher) - set(pair.matcher.grammar.vocabulary.end_ids))
        if place % every == 0:
            pair.assert_same_mask()
        assert pair.matcher.is_complete == pair.twin.is_complete(pair.state)
        if not allowed:
            return
        spelled = pair.matcher.grammar.vocabulary.tokens
        few = min(allowed, key=lambda token: (spelled[token].isalnum(), chance.random()))
        pair.advance(chance.choice((few, chance.choice(allowed))))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["bytes", "bpe"])
def test_masks_equal_brute_force_along_a_walk(name: str, shape: str):
    pair = pair_of(name, spec_of(shape))
    assert pair is not None
    chance = random.Random(f"{name} {shape}")
    for _ in range(max(1, round(3 * EXAMPLES))):
        walk(pair.fork(), chance, 14)


@pytest.mark.parametrize("shape", SHAPES)
def test_masks_over_a_real_vocabulary_equal_brute_force_along_a_walk(shape: str):
    pair = pair_of("smollm2", spec_of(shape))
    assert pair is not None
    chance = random.Random(shape)
    slow = "unique" in shape or "extras" in shape  # the twin remembers names and values letter by letter
    for _ in range(max(1, round(EXAMPLES))):
        walk(pair.fork(), chance, 8, every=4 if slow else 2)


@pytest.mark.parametrize("limit_bytes", [0, 2_000])
@pytest.mark.parametrize("shape", ["person", "bounded string", "all but some", "extras in order", "nested"])
def test_masks_stay_right_when_the_cache_is_evicted(shape: str, limit_bytes: int):
    pair = pair_of("bpe", spec_of(shape), cache_limit_bytes=limit_bytes)
    assert pair is not None
    chance = random.Random(shape)
    for _ in range(3):
        walk(pair.fork(), chance, 12)


@pytest.mark.parametrize("shape", ["person", "extras in any order and spelling", "nested", "one of many"])
def test_one_grammar_serves_many_threads(shape: str):
    grammar = compile_grammar("bpe", spec_of(shape))
    spelled = grammar.vocabulary.tokens

    def run(seed: int) -> list[tuple[bytes, bytes]]:
        matcher, chance, seen = grammar.matcher(), random.Random(seed), []
        for _ in range(25):
            allowed = sorted(mask_ids(matcher) - set(grammar.vocabulary.end_ids))
            seen.append((matcher.text, matcher.mask().tobytes()))
            if not allowed:
                break
            matcher.advance(chance.choice(sorted(allowed, key=lambda token: len(spelled[token]))[:20]))
        return seen

    results: dict[int, list[tuple[bytes, bytes]]] = {}
    threads = [threading.Thread(target=lambda seed=seed: results.update({seed: run(seed)})) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 6
    for seed, seen in results.items():
        assert seen == run(seed), "the same steps alone give other masks"


def test_a_mask_row_is_filled_whole_and_beyond_the_vocabulary_with_zeros():
    pair = pair_of("bpe", spec_of("free string"))
    assert pair is not None
    row = np.full(pair.matcher.grammar.words, -1, dtype=np.int32)
    pair.matcher.fill_mask(row)
    bits = np.unpackbits(row.view(np.uint8), bitorder="little")
    assert not bits[pair.matcher.grammar.vocabulary.size :].any()


def test_what_may_be_empty_can_be_repeated_without_bound():
    letters = terms.Repetition(Lexeme(Literal("a")), None, 0, None)
    pair = pair_of("bytes", terms.GrammarSpec({"start": terms.Repetition(letters, None, 0, None)}))
    assert pair is not None
    walk(pair, random.Random(1), 4)
