"""Masks inside arrays whose items must differ, where items are wide: equal to the parser's own steps, token by token.

Texts are made of a pool of items, so that the same beginnings come again and again; some end where only a value that
came already could follow.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

from constrain.errors import LimitExceeded
from constrain.grammar import terms
from constrain.grammar.recognizer import Recognizer
from constrain.grammar.terms import ANY_CHAR, ANY_TEXT, Concat, Encoded, Items, Lexeme, Literal, Member, Members, Repeat
from constrain.matching.compiler import Compiler
from constrain.matching.matcher import Matcher
from constrain.matching.vocabulary import Vocabulary
from tests.kernel.subjects import byte_tokens, compile_grammar, mask_ids, segment
from tests.strategies import EXAMPLES, OBJECT, SPACED_ARRAY, SPACED_OBJECT

DIGIT = terms.char_class([(0x30, 0x39)])
INTEGER = terms.alternation(Literal("0"), Concat((terms.char_class([(0x31, 0x39)]), Repeat(DIGIT, 0, 8))))
BLANKS = Repeat(terms.char_class([(0x20, 0x20), (0x0A, 0x0A)]), 0, 3)
ARRAY = terms.Punctuation(*map(Literal, ("[", "]", ",")))


def string(item: terms.Regular = ANY_TEXT, encoding: terms.Encoding = "json") -> terms.Regular:
    return Concat((Literal('"'), Encoded(item, encoding), Literal('"')))


def user(mark: terms.Punctuation, encoding: terms.Encoding = "json", blanks: terms.Regular = terms.EPSILON):
    values = (terms.concat(blanks, INTEGER), terms.concat(blanks, string(encoding=encoding)))
    members = (Member("id", Lexeme(values[0]), True), Member("name", Lexeme(values[1]), False))
    return Members(members, (), mark, order="any", encoding=encoding)


def flexible(left: str, right: str) -> terms.Punctuation:
    close, comma, colon = (terms.concat(BLANKS, Literal(mark)) for mark in (right, ",", ":"))
    return terms.Punctuation(Literal(left), close, comma, colon, BLANKS)


def array_of(
    *prefix: terms.Grammar, rest: terms.Grammar, mark=ARRAY, encoding: terms.Encoding = "json", least: int = 0
):
    return Items(prefix, rest, mark, least, None, unique=True, encoding=encoding)


USERS = ('{"id":1}', '{"id":12}', '{"id":1,"name":"a"}', '{"name":"a","id":1}', '{"id":1,"name":"ab"}')
STRINGS = ('"a"', '"ab"', '"abc"', '"b"', '""')
SHORT = Lexeme(string(Repeat(ANY_CHAR, 0, 2)))
SHAPES: dict[str, tuple[Callable[[], terms.Items], tuple[str, ...], str]] = {
    "objects": (lambda: array_of(rest=user(OBJECT)), USERS, ","),
    "objects, spaced": (
        lambda: array_of(rest=user(SPACED_OBJECT), mark=SPACED_ARRAY),
        tuple(u.replace(":", ": ").replace(",", ", ") for u in USERS),
        ", ",
    ),
    "objects, any spelling": (
        lambda: array_of(rest=user(OBJECT, "json_any"), encoding="json_any"),
        (*USERS, '{"\\u0069d":1}', '{"id":1,"name":"\\u0061"}'),
        ",",
    ),
    "objects, blanks anywhere": (
        lambda: array_of(rest=user(flexible("{", "}"), blanks=BLANKS), mark=flexible("[", "]")),
        (*USERS, '{ "id":\n1}', '{"id" :1, "name": "a"}'),
        " ,",
    ),
    "several kinds": (
        lambda: array_of(rest=terms.Choice((Lexeme(string()), Lexeme(INTEGER), user(OBJECT)))),
        (*USERS, *STRINGS, "1", "12"),
        ",",
    ),
    "behind a prefix": (lambda: array_of(SHORT, Lexeme(string()), rest=Lexeme(string()), least=3), STRINGS, ","),
    "pairs": (
        lambda: array_of(rest=Items((Lexeme(INTEGER), SHORT), None, ARRAY, 1, 2)),
        ('[1,"a"]', '[1,"ab"]', "[1]", "[12]", '[1,""]'),
        ",",
    ),
    "arrays of arrays that differ": (
        lambda: array_of(rest=array_of(rest=user(OBJECT))),
        ("[]", '[{"id":1}]', '[{"id":1},{"id":2}]', '[{"id":2},{"id":1}]'),
        ",",
    ),
}


def stepwise(matcher: Matcher) -> set[int]:
    row = np.zeros(matcher.grammar.words, dtype=np.int32)
    matcher._kernel.fill_stepwise(row)  # pyright: ignore[reportPrivateUsage]
    return set(np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")).tolist())


@pytest.mark.parametrize("vocabulary", ["bytes", "bpe", "pieces"])
@pytest.mark.parametrize("shape", SHAPES)
def test_masks_equal_the_steps_of_the_parser(shape: str, vocabulary: str):
    build, pool, separator = SHAPES[shape]
    grammar = compile_grammar(vocabulary, terms.GrammarSpec({"start": build()}))
    chance = random.Random(7)
    for _ in range(max(1, int(4 * EXAMPLES))):
        matcher = grammar.matcher()
        text = "[" + separator.join(chance.choices(pool, k=5)) + "]"
        for token in segment(vocabulary, text.encode(), chance):
            mask = mask_ids(matcher)
            wrong = {byte_tokens(vocabulary).tokens[i] for i in mask ^ stepwise(matcher)}
            assert not wrong, (matcher.text, wrong)
            if token not in mask:
                break
            matcher.advance(token)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_beginning_can_be_completed(shape: str):
    build, pool, separator = SHAPES[shape]
    recognizer = Recognizer(terms.GrammarSpec({"start": build()}))
    chance = random.Random(5)
    for _ in range(max(1, int(10 * EXAMPLES))):
        text = ("[" + separator.join(chance.choices(pool, k=4)) + "]").encode()
        state, read = recognizer.feed(recognizer.start, text[: chance.randint(0, len(text))])
        completion = recognizer.completion(state)
        end, more = recognizer.feed(state, completion)
        assert more == len(completion), (text[:read], completion)
        assert recognizer.is_complete(end), (text[:read], completion)


# ---------------------------------------------------------------- cost and limits


def states_for(items: int) -> int:
    recognizer = Recognizer(terms.GrammarSpec({"start": array_of(rest=user(OBJECT))}))
    text = "[" + ",".join(f'{{"id":5,"name":"user {i}"}}' for i in range(items)) + "]"
    assert recognizer.accepts(text.encode())
    return recognizer.stats()["states"]


def test_an_item_costs_the_same_however_many_came_before():
    assert states_for(400) < 2.2 * states_for(200)


def test_scalars_cost_the_same_however_many_came_before():
    def terms_for(items: int) -> int:
        recognizer = Recognizer(terms.GrammarSpec({"start": array_of(rest=Lexeme(INTEGER))}))
        assert recognizer.accepts(f"[{','.join(map(str, range(items)))}]".encode())
        return recognizer.stats()["terms"]

    assert terms_for(800) < 2.4 * terms_for(400)


@pytest.mark.parametrize("item", [Lexeme(string()), Items((Lexeme(string()),), None, ARRAY, 1, 1)])
def test_an_array_that_became_too_long_names_the_limit(item: terms.Grammar):
    recognizer = Recognizer(terms.GrammarSpec({"start": array_of(rest=item)}))
    long = '"{}' + "a" * 1_000 + '"'
    texts = [long.format(i) if isinstance(item, Lexeme) else f"[{long.format(i)}]" for i in range(1_060)]
    with pytest.raises(LimitExceeded) as caught:
        recognizer.accepts(f"[{','.join(texts)}]".encode())
    assert caught.value.limit == "unique_bytes"
    assert caught.value.help


def test_values_nested_too_deeply_name_the_limit():
    nested = terms.Choice((Items((), terms.RuleRef("value"), ARRAY), Lexeme(Literal("1"))))
    spec = terms.GrammarSpec({"start": array_of(rest=terms.RuleRef("value")), "value": nested})
    recognizer = Recognizer(spec)
    assert recognizer.accepts(b"[" + b"[" * 300 + b"]" * 300 + b"]")
    with pytest.raises(LimitExceeded) as caught:
        recognizer.accepts(b"[" + b"[" * 3000 + b"]" * 3000 + b"]")
    assert caught.value.limit == "depth"


def test_arrays_that_must_differ_inside_of_each_other_are_finished_at_any_depth():
    item = terms.Choice((Lexeme(Literal("1")), Lexeme(Literal("2")), terms.RuleRef("tree")))
    tree = Items((), item, ARRAY, min_count=2, unique=True)
    spec = terms.GrammarSpec({"tree": tree}, "tree")
    bytes_ = [bytes([byte]) for byte in range(128)]
    vocabulary = Vocabulary([*bytes_, b"<end>"], end_ids=[128])
    for piece in ("[2,1,", "[2,[2,1],", "[[2,1],2,1,"):
        matcher = Compiler(vocabulary).compile_grammar(spec).matcher()
        assert matcher.try_advance((piece * 40).encode()) == len(piece) * 40
        assert Recognizer(spec).accepts(matcher.text + matcher.shortest_completion())  # once 2^40 steps
