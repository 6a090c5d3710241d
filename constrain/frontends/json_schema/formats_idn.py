"""`idn-hostname`: host names whose labels are those of RFC 1123 or surely U-labels of IDNA 2008 (RFC 5890 to 5893).

A U-label's characters are derived from the Unicode properties as RFC 5892 says, out of those that Unicode 3.2 had: no
later version has another opinion of them. The contextual rules and the Bidi rule are regular; they are written as they
stand. What is left out:

- characters beyond the basic plane, and combining ones that may compose with what stands before them or that stand
  behind another one with a class (so a label is in NFC as it stands);
- labels that might be longer than 62 octets in Punycode. That length is no regular question, so each label has at most
  as many characters as surely fit: 11 to 19, by how far apart its characters are (`_room`);
- more than four labels where one is beyond ASCII (so all of them fit into 253 octets).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import cache

from ...grammar.terms import ANY_TEXT, Not, Regular, char_class, intersection, optional
from .formats_abnf import any_of, in_order, many, one_of
from .formats_net import hostname

MAX_LABELS = 4
MAX_OCTETS = 62
BASIC_PLANE = range(0x80, 0x10000)

EXCEPTIONS = {0xDF, 0x3C2, 0x6FD, 0x6FE, 0xF0B, 0x3007}
DISALLOWED = {0x640, 0x7FA, 0x302E, 0x302F, 0x303B, *range(0x3031, 0x3036)}
OLD_JAMO = {*range(0x1100, 0x1200), *range(0xA960, 0xA980), *range(0xD7B0, 0xD800)}
IGNORABLE = {0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, *range(0x180B, 0x1810), *range(0xFE00, 0xFE10)}
IGNORABLE |= {*range(0x20D0, 0x2100)}
ARABIC_DIGITS, EXTENDED_DIGITS = range(0x660, 0x66A), range(0x6F0, 0x6FA)
MIDDLE_DOT, KERAIA, GERESH, GERSHAYIM, KATAKANA_DOT = 0xB7, 0x375, 0x5F3, 0x5F4, 0x30FB
IN_CONTEXT = (MIDDLE_DOT, KERAIA, GERESH, GERSHAYIM, KATAKANA_DOT, *ARABIC_DIGITS, *EXTENDED_DIGITS)
DOTS = one_of(".", "\u3002", "\uff0e", "\uff61")
"""What RFC 3490, section 3.1, takes for a full stop."""

JOINERS = char_class([(0x200C, 0x200D)])
VIRAMA = 9

WINDOWS = (
    (0x80, 0x24F), (0x370, 0x3FF), (0x400, 0x52F), (0x530, 0x5FF), (0x600, 0x6FF), (0x700, 0x7FF),
    *((first, first + 0x7F) for first in range(0x900, 0x1100, 0x80)), (0x1200, 0x137F), (0x1780, 0x17FF),
    (0x1E00, 0x1FFF), (0x3000, 0x30FF), (0x3000, 0x9FFF), (0xAC00, 0xD7A3), (0x80, 0xFFFF),
)  # fmt: skip
"""Characters that stand together in labels: within one of these ranges, besides ASCII."""


def idn_hostname() -> Regular:
    """Labels without right-to-left characters, or all of them as RFC 5893 asks where there is one."""
    label, strict = _label(_left_to_right()), any_of(_label(_strict_left()), _label(_right_to_left()))
    return any_of(hostname(), _domain(label), _domain(strict))


def _domain(label: Regular) -> Regular:
    return in_order(label, many(in_order(DOTS, label), 0, MAX_LABELS - 1))


def _label(direction: Regular) -> Regular:
    """A label of small letters, digits, hyphens and characters beyond ASCII."""
    ascii_ = one_of("a-z", "0-9")
    starters = any_of(ascii_, _class(c for c in _valid() if not _is_mark(c)), _class(IN_CONTEXT))
    unordered = _class(c for c in _valid() if _is_mark(c) and not unicodedata.combining(chr(c)))
    ordered = _class(c for c in _valid() if 0 < unicodedata.combining(chr(c)) != VIRAMA)
    virama = in_order(_class(c for c in _valid() if unicodedata.combining(chr(c)) == VIRAMA), optional(JOINERS))
    group = in_order(starters, optional(any_of(ordered, virama)), many(in_order(unordered, optional(virama))))
    form = in_order(group, many(in_order(many(one_of("-")), group)))
    rooms = any_of(*(_window(first, last) for first, last in WINDOWS))
    reserved = in_order(many(_anything(), 2, 2), "--", ANY_TEXT)
    return intersection(form, rooms, direction, Not(reserved), *_contexts())


def _anything() -> Regular:
    return char_class([(0, 0x10FFFF)])


def _window(first: int, last: int) -> Regular:
    ranges = [(0x2D, 0x2D), (0x30, 0x39), (0x61, 0x7A), (first, last)]
    return many(char_class(ranges), 1, _room(first, last))


# ---------------------------------------------------------------- characters


@cache
def _valid() -> tuple[int, ...]:
    """PVALID of RFC 5892, section 3, in the basic plane of Unicode 3.2, without what may compose."""
    seconds = {part for code in BASIC_PLANE for part in _composed_of(code)[1:]}
    return tuple(code for code in BASIC_PLANE if code not in seconds and _is_valid(code))


def _composed_of(code: int) -> list[int]:
    parts = unicodedata.decomposition(chr(code))
    return [] if not parts or parts.startswith("<") else [int(part, 16) for part in parts.split()]


def _is_valid(code: int) -> bool:
    character = chr(code)
    if code in EXCEPTIONS:
        return True
    if code in DISALLOWED or code in OLD_JAMO or code in IGNORABLE or code in IN_CONTEXT:
        return False
    if unicodedata.ucd_3_2_0.category(character) == "Cn":
        return False
    if unicodedata.category(character) not in ("Ll", "Lu", "Lo", "Nd", "Lm", "Mn", "Mc"):
        return False
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", character).casefold())
    return unicodedata.normalize("NFKC", folded) == character


def _is_mark(code: int) -> bool:
    return unicodedata.category(chr(code)) in ("Mn", "Mc")


def _class(codes: Iterable[int]) -> Regular:
    return char_class((code, code) for code in codes)


# ---------------------------------------------------------------- contexts and directions


def _contexts() -> list[Regular]:
    """RFC 5892, appendix A.3 to A.9."""
    greek, hebrew = _named("GREEK "), any_of(_named("HEBREW "), _class((GERESH, GERSHAYIM)))
    east = any_of(_named("HIRAGANA "), _named("KATAKANA "), char_class([(0x4E00, 0x9FA5), (0x3005, 0x3005)]))
    dot, east_dot = chr(MIDDLE_DOT), chr(KATAKANA_DOT)

    def has(*parts: Regular | str) -> Regular:
        return in_order(ANY_TEXT, *parts, ANY_TEXT)

    return [
        Not(in_order(Not(in_order(ANY_TEXT, "l")), dot, ANY_TEXT)),
        Not(in_order(ANY_TEXT, dot, Not(in_order("l", ANY_TEXT)))),
        Not(in_order(ANY_TEXT, chr(KERAIA), Not(in_order(greek, ANY_TEXT)))),
        Not(in_order(Not(in_order(ANY_TEXT, hebrew)), _class((GERESH, GERSHAYIM)), ANY_TEXT)),
        any_of(Not(has(east_dot)), has(east)),
        any_of(Not(has(_class(ARABIC_DIGITS))), Not(has(_class(EXTENDED_DIGITS)))),
    ]


def _named(beginning: str) -> Regular:
    return _class(c for c in _valid() if unicodedata.name(chr(c), "").startswith(beginning))


@cache
def _facing(*directions: str) -> Regular:
    codes = [0x2D, *range(0x30, 0x3A), *range(0x61, 0x7B), *_valid(), *IN_CONTEXT, 0x200C, 0x200D]
    return _class(code for code in codes if unicodedata.bidirectional(chr(code)) in directions)


NEUTRAL = ("ES", "CS", "ET", "ON", "BN", "NSM")


def _left_to_right() -> Regular:
    return many(_facing("L", "EN", *NEUTRAL))


def _strict_left() -> Regular:
    """RFC 5893, section 2: rules 5 and 6."""
    end = in_order(_facing("L", "EN"), many(_facing("NSM")))
    return intersection(in_order(_facing("L"), ANY_TEXT), _left_to_right(), in_order(ANY_TEXT, end))


def _right_to_left() -> Regular:
    """Rules 1 to 4."""
    end = in_order(_facing("R", "AL", "EN", "AN"), many(_facing("NSM")))
    within = any_of(*(many(_facing("R", "AL", digits, *NEUTRAL)) for digits in ("EN", "AN")))
    return intersection(in_order(_facing("R", "AL"), ANY_TEXT), within, in_order(ANY_TEXT, end))


# ---------------------------------------------------------------- lengths
# Punycode (RFC 3492) writes each character beyond ASCII as a number: how far it is from the one before it, counting all
# places. The numbers of digits depend on a bias; here it is always the worst one that can come up.


@cache
def _room(first: int, last: int) -> int:
    """The most characters of a label, beyond ASCII from `first` to `last`, whose Punycode surely fits."""
    count = 1
    while _octets(count + 1, first, last) <= MAX_OCTETS:
        count += 1
    return count


def _octets(count: int, first: int, last: int) -> int:
    """The longest `xn--` form of `count` characters: all beyond ASCII, or all but one (and a delimiter)."""
    alone = [4 + _digits(beyond, count, first, last) for beyond in (count, count - 1) if beyond]
    return max(alone[0], alone[-1] + 2)


def _digits(beyond: int, count: int, first: int, last: int) -> int:
    """The most digits for `beyond` of `count` characters. They come in order, so that their steps add up to the width
    of the window: the greedy choice, always the cheapest digit more, is the worst."""
    capacity = _capacities(72 if (last - first + 1) * (count + 1) < 30_000 else 180)
    total = _length((last - 0x80 + 1) * (count + 1), _capacities(72))
    others, budget = beyond - 1, last - first
    least = _length(count, capacity)
    total += others * least
    cost = 0
    for room in capacity[least - 1 :]:
        more = max(1, -(-(room - count) // (count + 1))) - cost
        raised = min(others, budget // more)
        total, budget, cost = total + raised, budget - raised * more, cost + more
        others = raised
    return total


def _length(delta: int, capacity: tuple[int, ...]) -> int:
    return next(size for size, room in enumerate(capacity, 1) if delta < room)


@cache
def _capacities(bias: int) -> tuple[int, ...]:
    """For 1, 2, … digits: how many numbers they write at least, whatever the bias up to `bias` is."""
    return tuple(min(_capacity(size, one) for one in range(bias + 1)) for size in range(1, 9))


def _capacity(size: int, bias: int) -> int:
    total = 0
    for at in reversed(range(1, size + 1)):
        threshold = min(26, max(1, 36 * at - bias))
        total = threshold + (36 - threshold) * total
    return total
