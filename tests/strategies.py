"""Hypothesis strategies: random regular terms, random grammars, and texts near a grammar's language.

Alphabets are small, so that random texts hit; they hold what goes wrong: quotes, backslashes, controls, DEL, characters
of two, three and four bytes, digits and the point. References stand only behind an opening mark, so no grammar is
left-recursive. `EXAMPLES` scales every property test here: `CONSTRAIN_EXAMPLES=20` runs twenty times as many cases, and
the hypothesis profiles `nightly` and `sanitize` choose a scale of their own.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterable
from heapq import heappop, heappush

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from constrain.grammar import terms
from tests.reference.grammar import Recognizer, State
from tests.reference.utf8 import first_code_points, spelled_ranges

_SCALES = {"nightly": "20", "sanitize": "0.3"}
EXAMPLES = float(os.environ.get("CONSTRAIN_EXAMPLES", _SCALES.get(os.environ.get("HYPOTHESIS_PROFILE", ""), "1")))

CHARACTERS = 'ab01."\\/\n\x01\x7f é日😀'
ALPHABETS = ("ab", "01.", 'a"\\', "aé日😀", "b/\n\x01\x7f", CHARACTERS)
WIDE_RANGES = ((0x20, 0x7E), (0, 0x10FFFF), (0xC0, 0x7FF), (0x7F, 0x80), (0x1F600, 0x1F64F), (0xFFFF, 0x10000))


def examples(count: int, **options: object) -> settings:
    """Settings for `count` examples in CI, deterministic there; more under `CONSTRAIN_EXAMPLES`."""
    return settings(
        max_examples=max(1, int(count * EXAMPLES)),
        deadline=None,
        derandomize=EXAMPLES <= 1,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
        **options,  # pyright: ignore[reportArgumentType]
    )


# ---------------------------------------------------------------- regular terms


def texts(alphabet: str = CHARACTERS, max_size: int = 4) -> st.SearchStrategy[str]:
    return st.text(alphabet=alphabet, max_size=max_size)


def character_classes(alphabet: str) -> st.SearchStrategy[terms.Regular]:
    single = st.sampled_from(alphabet).map(lambda c: (ord(c), ord(c)))
    return st.lists(single | st.sampled_from(WIDE_RANGES), min_size=1, max_size=3).map(terms.char_class)


def decimal_multiples() -> st.SearchStrategy[terms.Regular]:
    return st.builds(terms.DecimalMultiple, st.sampled_from((1, 2, 3, 4, 5, 7, 10, 15, 25)), st.integers(0, 2))


@st.composite
def bounds(draw: st.DrawFn, highest: int = 4) -> tuple[int, int | None]:
    least = draw(st.integers(0, highest - 1))
    return least, draw(st.none() | st.integers(least, highest))


def regulars(
    alphabet: str | None = None, *, encoded: bool = True, complements: bool = True, max_leaves: int = 8
) -> st.SearchStrategy[terms.Regular]:
    """Terms of every kind; `encoded=False` leaves out `Encoded`, `complements=False` also `And` and `Not`.

    `DecimalMultiple` stands for numerals only, outside of strings: not inside `Encoded`.
    """
    if alphabet is None:
        return st.sampled_from(ALPHABETS).flatmap(
            lambda one: regulars(one, encoded=encoded, complements=complements, max_leaves=max_leaves)
        )
    leaves = st.one_of(
        character_classes(alphabet),
        texts(alphabet).map(terms.Literal),
        st.lists(texts(alphabet), max_size=5, unique=True).map(lambda many: terms.LiteralSet(tuple(many))),
        st.sampled_from((terms.EPSILON, terms.ANY_CHAR, terms.ANY_TEXT, terms.EMPTY)),
        *([decimal_multiples()] if encoded and complements and "0" in alphabet else []),
    )
    if encoded:
        plain = regulars(alphabet, encoded=False, complements=complements, max_leaves=max_leaves // 2)
        encodings = st.sampled_from(("json", "json_any"))
        leaves |= st.builds(terms.Encoded, plain, encodings) | plain.flatmap(
            lambda item: st.builds(_quoted, st.just(item), encodings)
        )

    def extend(inner: st.SearchStrategy[terms.Regular]) -> st.SearchStrategy[terms.Regular]:
        several = st.lists(inner, min_size=1, max_size=3).map(tuple)
        repeats = st.builds(lambda item, limits: terms.Repeat(item, *limits), inner, bounds())
        kinds = [several.map(terms.Concat), several.map(terms.Alternation), repeats]
        if complements:
            kinds += [several.map(terms.And), inner.map(terms.Not)]
        return st.one_of(kinds)

    return st.recursive(leaves, extend, max_leaves=max_leaves)


WIDE_CLASSES = (
    terms.ANY_CHAR,
    terms.char_class([(0x20, 0x7E)]),
    terms.char_class([(0x61, 0x7A), (0xE9, 0xE9)]),
    terms.char_class([(0, 0x21), (0x23, 0x10FFFF)]),
)


@st.composite
def wide_texts(draw: st.DrawFn) -> terms.Regular:
    """What string schemas come to: free text, lengths, patterns, exclusions, and what they have in common."""
    wide = st.sampled_from(WIDE_CLASSES)
    counts = st.sampled_from(((0, None), (0, None), (1, None), (0, 3), (2, 5), (4, 9), (7, None)))
    repeats = st.builds(lambda item, limits: terms.Repeat(item, *limits), wide, counts)
    marks = texts("aet \n", 2).map(terms.Literal) | st.just(terms.LiteralSet(("at", "a", "é", "10")))
    patterns = st.lists(repeats | marks, min_size=1, max_size=3).map(lambda many: terms.concat(*many))
    parts = draw(st.lists(st.one_of(patterns, patterns.map(terms.Not), repeats), min_size=1, max_size=3))
    whole = terms.intersection(*parts)
    return terms.alternation(whole, draw(patterns)) if draw(st.integers(0, 4)) == 0 else whole


def wide_lexemes() -> st.SearchStrategy[terms.Regular]:
    """`wide_texts` in quotes and spelled, or bare, or before a mark that they may hold themselves."""
    encodings = st.sampled_from(("json", "json", "json_any"))
    quoted = st.builds(_quoted, wide_texts(), encodings)
    marked = st.builds(
        lambda body, mark: terms.Concat((body, terms.Literal(mark))), wide_texts(), st.sampled_from(",é\n")
    )
    return st.one_of(quoted, quoted, wide_texts(), marked)


def _quoted(item: terms.Regular, encoding: terms.Encoding) -> terms.Regular:
    return terms.Concat((terms.Literal('"'), terms.Encoded(item, encoding), terms.Literal('"')))


# ---------------------------------------------------------------- grammars

BLANKS = terms.Repeat(terms.char_class([(0x20, 0x20), (0x0A, 0x0A)]), 0, 2)
SPACE = terms.Literal(" ")


def _punctuation(left: str, right: str) -> st.SearchStrategy[terms.Punctuation]:
    opening, closing, comma, colon = map(terms.Literal, (left, right, ",", ":"))
    return st.sampled_from(
        (
            terms.Punctuation(opening, closing, comma, colon),
            terms.Punctuation(opening, closing, terms.Literal(", "), terms.Literal(": ")),
            terms.Punctuation(opening, terms.concat(BLANKS, closing), terms.concat(BLANKS, comma), colon, BLANKS),
            terms.Punctuation(opening, terms.Literal("\n" + right), comma, terms.Literal(": "), terms.Literal("\n ")),
        )
    )


NAMES = ("a", "b", "ab", "é", '"', "", "a\n")
NUMBERS = terms.concat(
    terms.optional(terms.Literal("-")),
    terms.alternation(
        terms.Literal("0"), terms.concat(terms.char_class([(49, 57)]), terms.Repeat(terms.char_class([(48, 57)]), 0, 2))
    ),
)
ANY_SPELLING_OF_NUMBERS = terms.concat(
    NUMBERS,
    terms.optional(terms.concat(terms.Literal("."), terms.Repeat(terms.char_class([(48, 57)]), 1, 2))),
)
"""Without exponents: the kernel does not write them where items must differ."""


def strings(encoding: terms.Encoding) -> st.SearchStrategy[terms.Regular]:
    """Quoted strings of a random plain term."""
    some = regulars("abé", encoded=False, max_leaves=3) | st.sampled_from((terms.ANY_TEXT, terms.LiteralSet(NAMES)))
    return some.map(lambda item: _quoted(item, encoding))


def scalars(encoding: terms.Encoding, numbers: str) -> st.SearchStrategy[terms.Regular]:
    """JSON scalars of few or many values, for `Items` that must differ."""
    number = ANY_SPELLING_OF_NUMBERS if numbers == "any" else NUMBERS
    few = ("1", "1.0", "0", "-0", "0.00") if numbers == "any" else ("1", "0", "-2")
    kinds = st.one_of(
        st.lists(st.sampled_from(few), min_size=1, max_size=4, unique=True).map(
            lambda many: terms.LiteralSet(tuple(many))
        ),
        st.just(number),
        strings(encoding),
        st.sampled_from((terms.Literal("null"), terms.LiteralSet(("true", "false")))),
    )
    return st.lists(kinds, min_size=1, max_size=2).map(lambda many: terms.alternation(*many))


COUNTERS = (0, 1, 5)


def conditions(highest: int = 3) -> st.SearchStrategy[tuple[terms.Condition, ...]]:
    """One or two conditions of one or two bounds each, on few counters and on how many there are."""
    bounds = st.builds(
        terms.Bound,
        st.sampled_from((*COUNTERS, 0, 1, None)),
        st.integers(0, highest),
        st.sampled_from((True, True, False)),
    )
    return st.lists(st.lists(bounds, min_size=1, max_size=2).map(tuple), min_size=1, max_size=2).map(tuple)


@st.composite
def counted(
    draw: st.DrawFn, values: st.SearchStrategy[terms.Grammar], most_ways: int = 3
) -> terms.Grammar | terms.Counted:
    """A value as it is, or in ways that count; the ways may share texts, or be dead."""
    if draw(st.integers(0, 3)) == 0:
        return draw(values)
    advanced = st.sampled_from(((), (0,), (0,), (1,), (1,), (0, 1), (5,)))
    ways = draw(st.lists(st.builds(terms.Way, values, advanced), min_size=1, max_size=most_ways))
    return terms.Counted(terms.Choice(tuple(way.value for way in ways)), tuple(ways))


@st.composite
def perhaps_counted(
    draw: st.DrawFn, values: st.SearchStrategy[terms.Grammar]
) -> tuple[st.SearchStrategy[terms.Grammar | terms.Counted], tuple[terms.Condition, ...]]:
    """The values of one container's members or items, and its conditions; one container in three has any."""
    if draw(st.integers(0, 2)):
        return values, ()
    return counted(values), draw(conditions())


@st.composite
def members(draw: st.DrawFn, plain: st.SearchStrategy[terms.Grammar]) -> terms.Members:
    values, all_conditions = draw(perhaps_counted(plain))
    names = draw(st.lists(st.sampled_from(NAMES), max_size=4, unique=True))
    declared = tuple(terms.Member(name, draw(values), draw(st.booleans())) for name in names)
    disjoint = draw(
        st.sampled_from(
            (
                (),
                (terms.ANY_TEXT,),
                (terms.LiteralSet(("a", "x", "é")),),
                (terms.Not(terms.LiteralSet(("x",))), terms.Literal("x")),
                (terms.Repeat(terms.char_class([(97, 98)]), 1, 2), terms.Literal("é")),
            )
        )
    )
    least, most = draw(st.sampled_from(((0, None), (0, None), (0, 2), (1, None), (2, None), (3, 4), (2, 2))))
    return terms.Members(
        declared,
        tuple(terms.NameClass(one, draw(values)) for one in disjoint),
        draw(_punctuation("{", "}")),
        order=draw(st.sampled_from(("declared", "any"))),
        min_count=least,
        max_count=most,
        encoding=draw(st.sampled_from(("json", "json_any"))),
        conditions=all_conditions,
    )


DEAD = terms.Lexeme(terms.EMPTY)
ONE = terms.Lexeme(terms.Literal("1"))
TWO = terms.Lexeme(terms.Literal("2"))
ONE_OR_TWO = terms.Lexeme(terms.LiteralSet(("1", "2")))
OBJECT = terms.Punctuation(*map(terms.Literal, ("{", "}", ",", ":")))
ARRAY = terms.Punctuation(*map(terms.Literal, ("[", "]", ",")))
SMALL_NAMES = ("a", "b", "x", "é")


@st.composite
def small_members(draw: st.DrawFn, encodings: st.SearchStrategy[terms.Encoding]) -> terms.Members:
    """Objects of few names and one value: their texts can all be listed."""
    declared = draw(st.lists(st.sampled_from(SMALL_NAMES), max_size=3, unique=True))
    members = tuple(
        terms.Member(n, draw(st.sampled_from((ONE, ONE, ONE, DEAD))), draw(st.booleans())) for n in declared
    )
    classes = tuple(
        terms.NameClass(terms.LiteralSet(names), draw(st.sampled_from((ONE, ONE, DEAD))))
        for names in draw(st.sampled_from(((), (("a", "b", "x", "é"),), (("a", "x"), ("é",)), (("x", "b"),))))
    )
    return terms.Members(
        members,
        classes,
        OBJECT,
        order=draw(st.sampled_from(("declared", "any"))),
        min_count=draw(st.integers(0, 3)),
        max_count=draw(st.sampled_from((None, None, 1, 2, 3))),
        encoding=draw(encodings),
    )


SMALL_VALUES = st.sampled_from((ONE, TWO, ONE_OR_TWO, ONE, TWO, DEAD))


@st.composite
def small_counted_members(draw: st.DrawFn, encodings: st.SearchStrategy[terms.Encoding]) -> terms.Members:
    """Objects of few names and two values, with conditions."""
    values = counted(SMALL_VALUES)
    declared = draw(st.lists(st.sampled_from(SMALL_NAMES), max_size=3, unique=True))
    classes = draw(st.sampled_from(((), (("a", "b", "x", "é"),), (("a", "x"), ("é", "b")), (("x", "b"),))))
    return terms.Members(
        tuple(terms.Member(name, draw(values), draw(st.booleans())) for name in declared),
        tuple(terms.NameClass(terms.LiteralSet(names), draw(values)) for names in classes),
        OBJECT,
        order=draw(st.sampled_from(("declared", "any"))),
        min_count=draw(st.sampled_from((0, 0, 1, 2, 3))),
        max_count=draw(st.sampled_from((None, None, 1, 2, 3))),
        encoding=draw(encodings),
        conditions=draw(conditions()),
    )


@st.composite
def small_counted_items(draw: st.DrawFn) -> terms.Items:
    """Arrays of two values, with conditions."""
    values = counted(SMALL_VALUES)
    return terms.Items(
        tuple(draw(st.lists(values, max_size=2))),
        draw(st.none() | values),
        ARRAY,
        min_count=draw(st.integers(0, 3)),
        max_count=draw(st.sampled_from((None, None, 2, 3, 5))),
        conditions=draw(conditions()),
    )


@st.composite
def small_unique_items(draw: st.DrawFn) -> terms.Items:
    """Arrays of few different values, some spelled in several ways."""
    pool = ("0", "-0", "1", "1.0", "-1.5", '"a"', '"\\u0061"', '"1"', "true", "null")
    chosen = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=4, unique=True))
    least, most = draw(st.integers(0, 3)), draw(st.sampled_from((None, 1, 2, 3)))
    rest = terms.Lexeme(terms.LiteralSet(tuple(chosen)))
    return terms.Items((), rest, ARRAY, least, most, unique=True, encoding="json_any", numbers="any")


SPACED_OBJECT = terms.Punctuation(*map(terms.Literal, ("{", "}", ", ", ": ")))
SPACED_ARRAY = terms.Punctuation(*map(terms.Literal, ("[", "]", ", ")))
BLANK_ARRAY = terms.Punctuation(
    terms.Literal("["),
    terms.concat(terms.optional(SPACE), terms.Literal("]")),
    terms.concat(terms.optional(SPACE), terms.Literal(",")),
)
SCALAR_POOL = ("1", "1.0", "0", "-0", "0.0", '"a"', '"\\u0061"', '"1"', "true", "null", "-1.50", "-1.5")


def few_scalars() -> st.SearchStrategy[terms.Grammar]:
    """A lexeme of one to three texts, of which several may spell one value."""
    some = st.lists(st.sampled_from(SCALAR_POOL), min_size=1, max_size=3, unique=True)
    return some.map(lambda many: terms.Lexeme(terms.LiteralSet(tuple(many))))


def few_values(depth: int = 1) -> st.SearchStrategy[terms.Grammar]:
    """JSON values of any kind, few enough to list: scalars, closed objects, arrays, what differs in itself."""
    if depth == 0:
        return few_scalars()
    inner = few_values(depth - 1)
    return st.one_of(
        few_scalars(),
        _few_objects(inner),
        _few_objects(inner),
        _few_arrays(inner),
        st.lists(few_values(depth - 1), min_size=2, max_size=2).map(lambda both: terms.Choice(tuple(both))),
        st.builds(lambda value: terms.Sequence((terms.Lexeme(terms.optional(SPACE)), value)), inner),
    )


@st.composite
def _few_objects(draw: st.DrawFn, values: st.SearchStrategy[terms.Grammar]) -> terms.Members:
    names = draw(st.lists(st.sampled_from(SMALL_NAMES), max_size=2, unique=True))
    classes = draw(st.sampled_from(((), (), (("x", "y"),))))
    return terms.Members(
        tuple(terms.Member(name, draw(values), draw(st.booleans())) for name in names),
        tuple(terms.NameClass(terms.LiteralSet(names), draw(values)) for names in classes),
        draw(st.sampled_from((OBJECT, SPACED_OBJECT))),
        order=draw(st.sampled_from(("declared", "any"))),
        min_count=draw(st.integers(0, 1)),
        max_count=2,
        encoding=draw(st.sampled_from(("json", "json_any"))),
    )


@st.composite
def _few_arrays(draw: st.DrawFn, values: st.SearchStrategy[terms.Grammar]) -> terms.Items:
    least = draw(st.integers(0, 2))
    return terms.Items(
        tuple(draw(st.lists(values, max_size=2))),
        draw(st.none() | values),
        draw(st.sampled_from((ARRAY, SPACED_ARRAY))),
        least,
        draw(st.integers(max(least, 1), 2)),
        unique=draw(st.booleans()),
        encoding="json_any",
        numbers="any",
    )


@st.composite
def different_items(draw: st.DrawFn) -> terms.Items:
    """Arrays whose items must all differ, composite ones and of several schemas; as many as there are, or one more."""
    values = few_values(draw(st.sampled_from((0, 1, 1, 1, 2))))
    prefix = tuple(draw(st.lists(values, max_size=3)))
    rest = draw(st.none() | values)
    least = draw(st.integers(0, 4))
    return terms.Items(
        prefix,
        rest,
        draw(st.sampled_from((ARRAY, ARRAY, SPACED_ARRAY, BLANK_ARRAY))),
        least,
        draw(st.none() | st.integers(least, 4)),
        unique=True,
        encoding="json_any",
        numbers="any",
    )


@st.composite
def items(draw: st.DrawFn, plain: st.SearchStrategy[terms.Grammar]) -> terms.Items:
    values, all_conditions = draw(perhaps_counted(plain))
    least, most = draw(st.sampled_from(((0, None), (0, None), (1, None), (0, 2), (2, 3), (3, 3))))
    return terms.Items(
        tuple(draw(st.lists(values, max_size=2))),
        draw(st.none() | values),
        draw(_punctuation("[", "]")),
        min_count=least,
        max_count=most,
        conditions=all_conditions,
    )


@st.composite
def unique_items(draw: st.DrawFn) -> terms.Items:
    least, most = draw(st.sampled_from(((0, None), (1, None), (0, 2), (2, 3), (3, 3))))
    encoding: terms.Encoding = draw(st.sampled_from(("json", "json_any")))
    numbers = draw(st.sampled_from(("canonical", "any")))
    return terms.Items(
        (),
        terms.Lexeme(draw(scalars(encoding, numbers))),
        draw(_punctuation("[", "]")),
        min_count=least,
        max_count=most,
        unique=True,
        encoding=encoding,
        numbers=numbers,
    )


def grammar_terms(rules: Iterable[str], *, depth: int = 2, guarded: bool = False) -> st.SearchStrategy[terms.Grammar]:
    """Grammar terms nested `depth` deep; references only where `guarded` says that something was written before."""
    lexemes = st.one_of(
        st.sampled_from((terms.Literal("a"), terms.Literal("ab"), NUMBERS, terms.LiteralSet(("true", "false")))),
        st.sampled_from(("json", "json_any")).flatmap(strings),
        regulars(max_leaves=4),
    ).map(terms.Lexeme)
    leaves: st.SearchStrategy[terms.Grammar] = lexemes
    if guarded:
        leaves |= st.sampled_from(tuple(rules)).map(terms.RuleRef)
    if depth == 0:
        return leaves
    inner = grammar_terms(rules, depth=depth - 1, guarded=guarded)
    inside = grammar_terms(rules, depth=depth - 1, guarded=True)
    several = st.lists(inner, min_size=1, max_size=3).map(tuple)
    marks = st.sampled_from(("(", "-", "a", "é")).map(lambda text: terms.Lexeme(terms.Literal(text)))
    behind_a_mark = st.builds(lambda mark, rest: terms.Sequence((mark, *rest)), marks, st.lists(inside, max_size=2))
    repetitions = st.builds(
        lambda item, separator, limits: terms.Repetition(item, separator, *limits),
        inner,
        st.none() | marks,
        bounds(3),
    )
    return st.one_of(
        leaves,
        several.map(terms.Sequence),
        several.map(terms.Choice),
        repetitions,
        behind_a_mark,
        members(inside),
        members(inside),
        items(inside),
        unique_items(),
    )


@st.composite
def grammars(draw: st.DrawFn, *, depth: int = 2) -> terms.GrammarSpec:
    """One to three rules that may refer to each other."""
    names = ("start", "second", "third")[: draw(st.integers(1, 3))]
    return terms.GrammarSpec({name: draw(grammar_terms(names, depth=depth)) for name in names})


# ---------------------------------------------------------------- texts near a language


def random_walk(recognizer: Recognizer, chance: random.Random, steps: int) -> bytes:
    """A beginning of some text: any stretch of characters, any of its characters; may end where it is complete."""
    state, text = recognizer.start(), b""
    for _ in range(steps):
        stretches = recognizer.stretches(state)
        if not stretches or (recognizer.is_complete(state) and chance.random() < 0.3):
            break
        character = _character_in(chance.choice(stretches), chance)
        successor = recognizer.advance(state, character)
        if recognizer.is_alive(successor):
            state, text = successor, text + character
    return text


def _character_in(stretch: tuple[int, int], chance: random.Random) -> bytes:
    low, high = stretch
    code_point = chance.choice((low, high, chance.randint(low, min(high, low + 0x7F)), chance.randint(low, high)))
    return b"?" if 0xD800 <= code_point <= 0xDFFF else chr(code_point).encode()


def finish(recognizer: Recognizer, text: bytes, limit: int = 100) -> bytes | None:
    """`text` with a short ending in the alphabet that completes it; None if none is found among `limit` states.

    The shortest, save where items must differ: only the first characters of each stretch are tried.
    """
    ranges = spelled_ranges(recognizer.alphabet)
    start = recognizer.advance(recognizer.start(), text)
    seen: set[State] = {start}
    queue = [(len(text), 0, start, text)]
    while queue and len(seen) < limit:
        _, _, state, written = heappop(queue)
        if recognizer.is_complete(state):
            return written
        for low, high in recognizer.stretches(state):
            for c in first_code_points(ranges, low, high, 3):
                longer = written + chr(c).encode()
                successor = recognizer.advance(start, longer[len(text) :])
                if successor not in seen and recognizer.is_alive(successor):
                    seen.add(successor)
                    heappush(queue, (len(longer), len(seen), successor, longer))
    return None


def mutate(text: bytes, chance: random.Random) -> bytes:
    """`text` with one byte dropped, doubled, replaced or inserted, or a stretch doubled or dropped."""
    i, j = sorted((chance.randint(0, len(text)), chance.randint(0, len(text))))
    other = bytes((chance.choice((*CHARACTERS.encode(), 0x2C, 0x7D, 0x5D, 0x22, chance.randrange(256))),))
    return chance.choice(
        (
            text[:i] + text[i + 1 :],
            text[:i] + text[i : i + 1] * 2 + text[i + 1 :],
            text[:i] + other + text[i + 1 :],
            text[:i] + other + text[i:],
            text[:j] + text[i:],
            text[:i] + text[j:],
        )
    )


def texts_near(recognizer: Recognizer, seed: int, count: int, steps: int = 40) -> list[bytes]:
    """Random beginnings, finished where that is quick, each also mutated."""
    chance = random.Random(seed)
    found: list[bytes] = []
    while len(found) < count:
        text = random_walk(recognizer, chance, chance.randint(0, steps))
        text = finish(recognizer, text) or text
        found += [text, mutate(text, chance)]
    return found[:count]
