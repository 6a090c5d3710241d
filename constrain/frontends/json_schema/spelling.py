"""How values are spelt: strings, numbers, punctuation and white space, by the options.

White space stands in front of what follows it (`terms.Punctuation` says why). Under "flexible" it is up to 64 of blank,
tab, line feed and carriage return before every lexeme, also before the root value and none behind it: enough for
JSON indented by four to a depth of 15, by two to 31. Under "pretty" it is what `json.dumps(indent=2)` writes; inside a
recursive schema, whose depth is not known, a line may be indented by any even number of blanks up to 64.
"""

from __future__ import annotations

from dataclasses import replace

from constrain.frontends.json_schema import numbers
from constrain.frontends.json_schema.numbers_without import language_without
from constrain.frontends.json_schema.numbers_without import left_out as numbers_left_out
from constrain.frontends.json_schema.options import KeyOrder, SchemaOptions
from constrain.frontends.json_schema.shapes import NumberShape, Shape
from constrain.grammar.terms import (
    ANY_TEXT,
    EMPTY,
    EPSILON,
    Alternation,
    Concat,
    Encoded,
    Encoding,
    Literal,
    Punctuation,
    Regular,
    Repeat,
    char_class,
    concat,
    intersection,
)

MAX_BLANKS = 64
BLANK = char_class([(9, 10), (13, 13), (32, 32)])
BLANKS = Repeat(BLANK, 0, MAX_BLANKS)
LOOSE_LINE = concat(Literal("\n"), Repeat(Literal("  "), 0, MAX_BLANKS // 2))
QUOTE = Literal('"')
_FREE_STRING: dict[Encoding, Regular] = {
    "json": Concat((QUOTE, Encoded(ANY_TEXT, "json"), QUOTE)),
    "json_any": Concat((QUOTE, Encoded(ANY_TEXT, "json_any"), QUOTE)),
}


def number_term(record: NumberShape, spelling: numbers.Spelling) -> Regular:
    """The JSON texts of the numbers in `record`."""
    if record.pointed:
        return intersection(number_term(replace(record, pointed=False), spelling), _POINTED)
    if record.finite is not None:
        values = [value for value in record.finite if not record.plain or value == value.to_integral_value()]
        return numbers.finite_language(values, spelling, plain=record.plain)
    constraint = record.constraint
    if record.plain:
        constraint = replace(constraint, integer=True, plain=True)
    if not record.without:
        return numbers.number_language(constraint, spelling)
    return language_without(constraint, record.without, spelling)


def left_out(record: NumberShape, spelling: numbers.Spelling) -> str | None:
    """Which texts of numbers in `record` are never written though `spelling` promises them; None if all are."""
    if record.finite is not None:
        return None
    plain = record.plain and not record.pointed
    constraint = replace(record.constraint, integer=True, plain=True) if plain else record.constraint
    if record.without or constraint.multiple_of:
        return numbers_left_out(constraint, record.without, spelling)
    return None


_POINTED = concat(ANY_TEXT, char_class([(0x2E, 0x2E), (0x45, 0x45), (0x65, 0x65)]), ANY_TEXT)


def _any(terms: list[Regular]) -> Regular:
    """Any of `terms`, known to be distinct: `alternation` would hash each whole."""
    return terms[0] if len(terms) == 1 else Alternation(tuple(terms)) if terms else EMPTY


class Spelling:
    """The texts of values under one set of options."""

    def __init__(self, options: SchemaOptions):
        self.numbers: numbers.Spelling = options.numbers
        self.encoding: Encoding = "json" if options.escapes == "canonical" else "json_any"
        self.order: KeyOrder = options.key_order
        self.is_pretty = options.whitespace == "pretty"
        self.before_value: Regular = BLANKS if options.whitespace == "flexible" else EPSILON
        self._object = _flat(options.whitespace, "{", "}")
        self._array = _flat(options.whitespace, "[", "]")

    def string(self, term: Regular) -> Regular:
        """A quoted string whose decoded text is in `term`."""
        if term is ANY_TEXT:
            return _FREE_STRING[self.encoding]
        return Concat((QUOTE, Encoded(term, self.encoding), QUOTE))

    def scalars(self, shape: Shape, numbers_: tuple[NumberShape, ...], strings: list[Regular]) -> Regular:
        """One lexeme for all scalars of `shape`, blanks before it included."""
        texts: list[Regular] = [Literal("null")] if shape.null else []
        texts += [Literal("true" if value else "false") for value in shape.booleans]
        texts += [number_term(record, self.numbers) for record in numbers_]
        texts += [self.string(_any(strings))] if strings else []
        return concat(self.before_value, _any(texts))

    def object_marks(self, depth: int | None) -> Punctuation:
        """The punctuation of an object at `depth` (used by "pretty" alone; None: not known)."""
        if not self.is_pretty:
            return self._object
        inner, outer = line(depth, 1), line(depth, 0)
        return Punctuation(Literal("{"), concat(outer, Literal("}")), Literal(","), Literal(": "), inner)

    def array_marks(self, depth: int | None) -> Punctuation:
        """The punctuation of an array at `depth`."""
        if not self.is_pretty:
            return self._array
        return Punctuation(Literal("["), concat(line(depth, 0), Literal("]")), Literal(","))


def line(depth: int | None, more: int) -> Regular:
    """A new line, indented for `depth` + `more` levels."""
    return LOOSE_LINE if depth is None else Literal("\n" + "  " * (depth + more))


def _flat(whitespace: str, opening: str, closing: str) -> Punctuation:
    if whitespace == "spaced":
        return Punctuation(Literal(opening), Literal(closing), Literal(", "), Literal(": "))
    if whitespace == "flexible":
        marks = [concat(BLANKS, Literal(mark)) for mark in (opening, closing, ",", ":")]
        return Punctuation(*marks, before_key=BLANKS)
    return Punctuation(Literal(opening), Literal(closing), Literal(","), Literal(":"))
