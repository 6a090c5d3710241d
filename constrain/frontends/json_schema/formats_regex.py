r"""`regex`: strings that are certainly patterns of ECMA-262 with the flag `u` (its section 22.2.1, "Patterns").

All valid patterns are no regular language, since groups nest and group names may not repeat; this is a part of it that
holds what people write. Groups and assertions nest to `DEPTH`. What would ask for memory is decided by few characters:

- a range `a-z` begins with a letter, a digit, one of ` !#$%&'()*+,./`, `\xHH`, `\uHHHH`, or a character beyond ASCII;
  code points are compared at the first hexadecimal digit (or the next, after `\u0` and `\u00`), beyond ASCII by block;
- in `{n,m}`, m has more digits than n, or both have one digit, or two, and n ≤ m;
- no two named groups have names with the same first letter;
- a back reference is `\1` to `\9`, or `\k<x>` with a name of one small letter; its group opens before it, and no `\(`,
  `\]` or class with a parenthesis stands before it: what looks like the opening of a group is one, and is counted.

Left out: modifiers, as many engines do not know them; and what is valid only without `u` (`\-` outside a class, a `{`
by itself), as many engines refuse it.
"""

from __future__ import annotations

from itertools import pairwise

from ...grammar.terms import ANY_TEXT, EMPTY, LiteralSet, Not, Regular, char_class, intersection, optional
from .formats_abnf import ALPHA, DIGIT, HEX, any_of, in_order, many, one_of

DEPTH = 6
MAX_CODE_POINT = 0x10FFFF
SYNTAX = "^$\\.*+?()[]{}|/"
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
HEX_DIGITS = "0123456789abcdef"
BLOCKS = (0x80, 0xC0, 0xD8, 0xF8, 0x100, 0x250, 0x370, 0x2000, 0x3040, 0x4E00, 0x9FA5, 0xE000, 0x10000)
"""Beyond ASCII, ranges go from one of these blocks to a later one."""

NO_RANGE_BEGINS = frozenset('"-:;<=>?@[\\]^_`{|}~')

CATEGORIES = """
    L Lu Ll Lt LC Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp C Cc Cf Cn Co Cs
    Letter Uppercase_Letter Lowercase_Letter Mark Number Decimal_Number Punctuation Symbol Separator Other
"""
PROPERTIES = """
    ASCII Alphabetic Alpha Any Lowercase Uppercase White_Space Emoji Extended_Pictographic ID_Start ID_Continue
    XID_Start XID_Continue Ideographic
"""
SCRIPTS = """
    Latin Greek Cyrillic Arabic Hebrew Han Hiragana Katakana Hangul Thai Devanagari Common
"""


def no_syntax_error_at_once() -> Regular:
    """Every pattern, and much else: texts that do not begin with a quantifier or a closing parenthesis."""
    return Not(in_order(one_of("*+?)"), ANY_TEXT))


def regex() -> Regular:
    """Patterns with groups nested up to `DEPTH` deep."""
    plain = _but(SYNTAX.replace("/", ""))
    escape = _escape()
    klass = _class(escape)
    atom = any_of(plain, one_of("."), in_order("\\", any_of(escape, one_of(SYNTAX), REFERENCE)), klass)
    quantifier = optional(_quantifier())
    assertion = any_of("^", "$", in_order("\\", one_of("bB")))
    look = in_order("(?", optional(one_of("<")), one_of("=!"))
    opening = any_of("(", "(?:", in_order("(?<", NAME_START, many(any_of(NAME_START, DIGIT)), ">"))
    pattern: Regular = EMPTY
    for _ in range(DEPTH + 1):
        terms = [in_order(atom, quantifier), assertion]
        if pattern is not EMPTY:
            terms += [in_order(opening, pattern, ")", quantifier), in_order(look, pattern, ")")]
        pattern = many(any_of(*terms, "|"))
    return intersection(pattern, *[Not(any_of(*faults)) for faults in _faults()])


NAME_START = any_of(ALPHA, one_of("_$"))
REFERENCE = any_of(one_of("1-9"), in_order("k<", one_of("a-z"), ">"))


def _faults() -> list[list[Regular]]:
    """Texts with a fault that the form alone does not show, by kinds: what is together is followed together.

    Each is a fault for good, whatever follows: so whether anything can follow is as easy to see as without them.
    """
    no_group = any_of("\\(", "\\]", in_order("[", many(_but("]")), "("))
    decimal = in_order(ANY_TEXT, "\\", one_of("0-9"), DIGIT, ANY_TEXT)
    uncounted = in_order(ANY_TEXT, no_group, ANY_TEXT, "\\", one_of("1-9", "k"), ANY_TEXT)
    group = in_order("(", any_of(_but("?"), in_order("?<", _but("=!"))))

    def without(*parts: Regular | str) -> Regular:
        return Not(in_order(*parts, ANY_TEXT))

    return [
        [decimal, uncounted],
        [in_order(ANY_TEXT, f"(?<{c}", ANY_TEXT, f"(?<{c}", ANY_TEXT) for c in [*LETTERS, "_", "$"]],
        [in_order(without(ANY_TEXT, f"(?<{c}>"), f"\\k<{c}>", ANY_TEXT) for c in LETTERS[:26]],
        [in_order(without(many(in_order(ANY_TEXT, group), n)), f"\\{n}", ANY_TEXT) for n in range(1, 10)],
    ]


def _but(characters: str) -> Regular:
    """Every character but `characters`."""
    codes = [-1, *sorted(map(ord, characters)), MAX_CODE_POINT + 1]
    return char_class([(low + 1, high - 1) for low, high in pairwise(codes) if low + 1 < high])


def _escape() -> Regular:
    """What may follow a backslash inside a class and outside, save for punctuation."""
    code_point = in_order("{", any_of(many(HEX, 1, 5), in_order("10", many(HEX, 4, 4))), "}")
    categories = CATEGORIES.split()
    names = [*categories, *PROPERTIES.split()]
    names += [f"{key}={one}" for key in ("gc", "General_Category") for one in categories]
    names += [f"{key}={one}" for key in ("sc", "Script", "scx", "Script_Extensions") for one in SCRIPTS.split()]
    return any_of(
        one_of("dDsSwWfnrtv0"),
        in_order("c", ALPHA),
        in_order("x", HEX, HEX),
        in_order("u", any_of(many(HEX, 4, 4), code_point)),
        in_order(one_of("pP"), "{", LiteralSet(tuple(names)), "}"),
    )


def _quantifier() -> Regular:
    counts = [DIGIT, *(in_order(one_of("1-9"), many(DIGIT, size, size)) for size in range(1, 4))]
    longer = [in_order(counts[size], ",", any_of(*counts[size + 1 :])) for size in range(3)]
    ones = [in_order(f"{n},", one_of(f"{n}-9")) for n in range(10)]
    tens = [in_order(str(n), _after_tens(n)) for n in range(1, 10)]
    braces = any_of(in_order(any_of(*counts), optional(one_of(","))), *longer, *ones, *tens)
    return in_order(any_of(one_of("*+?"), in_order("{", braces, "}")), optional(one_of("?")))


def _after_tens(n: int) -> Regular:
    """What follows the digit `n` in `{nx,my}`, two numbers of two digits in order."""
    same = [in_order(f"{m},{n}", one_of(f"{m}-9")) for m in range(10)]
    return any_of(in_order(DIGIT, ",", one_of(f"{n + 1}-9"), DIGIT) if n < 9 else EMPTY, *same)


# ---------------------------------------------------------------- classes


def _class(escape: Regular) -> Regular:
    """`[…]`: a hyphen by itself only first or last, where it is no range."""
    single = any_of(_but("\\]-"), in_order("\\", any_of(escape, one_of(SYNTAX, "-", "b"))))
    hyphen = optional(one_of("-"))
    return in_order("[", optional(one_of("^")), hyphen, many(any_of(single, *_ranges())), hyphen, "]")


def _ranges() -> list[Regular]:
    ascii_ = [in_order(chr(code), "-", _end(code)) for code in range(0x20, 0x7F) if chr(code) not in NO_RANGE_BEGINS]
    beyond = [
        in_order(char_class([(first, last - 1)]), "-", char_class([(last, MAX_CODE_POINT)]))
        for first, last in pairwise(BLOCKS)
    ]
    # a low surrogate is no beginning: it might belong to a high one before it
    rising = [(_hex(i, i), _hex(i + 1, 15)) for i in range(15)]
    written = [
        in_order("\\u", low, one_of("0-9", "abAB") if i == 0xD else HEX, HEX, HEX, "-\\u", high, HEX, HEX, HEX)
        for i, (low, high) in enumerate(rising)
    ]
    written += [
        in_order("\\u", _hex(13, 13), _hex(i, i), HEX, HEX, "-\\u", _hex(13, 13), _hex(i + 1, 15), HEX, HEX)
        for i in range(8, 12)
    ]
    for prefix, more in (("x", 1), ("u0", 2), ("u00", 1)):
        rest = many(HEX, more, more)
        written += [in_order(f"\\{prefix}", low, rest, f"-\\{prefix}", high, rest) for low, high in rising]
    return [*ascii_, *beyond, *written]


def _end(least: int) -> Regular:
    """A character from `least` on that may end a range."""
    ranges = [(0x20, 0x2C), (0x2E, 0x5B), (0x5E, MAX_CODE_POINT)]
    return char_class([(max(low, least), high) for low, high in ranges if high >= least])


def _hex(first: int, last: int) -> Regular:
    digits = HEX_DIGITS[first : last + 1]
    return one_of(digits + digits.upper())
