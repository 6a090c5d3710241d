"""The dialect of ECMA-262 patterns, with the flag `u` or (Annex B) without; the judge is `regress`.

Without `u`, ECMA-262 sees UTF-16 code units, so that `.` is half an astral character. Here, as in `regress`, a
character is one code point in both modes; a pattern that names a lone surrogate without `u`, and so means half a
character, is refused. With `u` a lone surrogate in a pattern matches only itself, hence nothing in well-formed text.
"""

from __future__ import annotations

import re

from constrain.frontends.regex.classes import (
    ASCII_WORD,
    ECMA_LINE_TERMINATORS,
    EVERYTHING,
    Ranges,
    complement,
    ecma_escape_class,
    merge,
)
from constrain.frontends.regex.elsewhere import Trap, at_most_trap, escape_trap, group_help, posix_trap
from constrain.frontends.regex.parser import Dialect, Frame, Parser, count, look, with_flags
from constrain.frontends.regex.syntax import Anchor, AnchorKind, Chars, Look
from constrain.frontends.regex.unicode_tables import property_ranges, with_same_folding
from constrain.grammar.terms import MAX_CODE_POINT, SURROGATES

DIGITS = "0123456789"
OCTAL = "01234567"
HEX = DIGITS + "abcdefABCDEF"
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
CONTROLS = {"f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
SYNTAX_CHARACTERS = "^$\\.*+?()[]{}|/"
CAPTURES = re.compile(r"\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|(\((?!\?)|\(\?<(?![=!]))|(?s:.)", re.DOTALL)


class EcmaParser(Parser):
    """A parser that knows whether `u` is on, and how many groups (named ones) the whole pattern has."""

    def __init__(self, pattern: str, unicode: bool):
        super().__init__(pattern, ECMA_UNICODE if unicode else ECMA_ANNEX_B)
        self.unicode = unicode
        groups = [match[1] for match in CAPTURES.finditer(pattern) if match[1]]
        self.total_groups = len(groups)
        self.has_names = "(?<" in groups
        self.pending_names: list[tuple[str, int]] = []
        self.traps: list[Trap] = []
        """What is read otherwise than where such text comes from; only without `u`, which refuses all of it."""

    def note_trap(self, trap: Trap | None) -> None:
        if trap is not None:
            self.traps.append(trap)

    def add_chars(self, ranges: Ranges, position: int, negated: bool = False) -> None:
        """As the base class, but case variants are those of ECMA-262: equal simple case foldings."""
        if self.flags.ignore_case:
            ranges = with_same_folding(ranges)
        self.add(Chars(complement(ranges) if negated else ranges, position))

    @property
    def word(self) -> Ranges:
        """The characters of `\\w`: under (?i:…) also those that fold to one of them (`ſ` and the Kelvin sign)."""
        return with_same_folding(ASCII_WORD) if self.flags.ignore_case else ASCII_WORD

    def parse(self):
        tree = super().parse()
        for name, position in self.pending_names:
            if name not in self.group_names:
                self.fail(f"a reference to a group {name!r} that is not there", position)
        return tree


def _ecma(parser: Parser) -> EcmaParser:
    assert isinstance(parser, EcmaParser)
    return parser


def _braces(parser: Parser) -> tuple[int, int | None] | None:
    """`{n}`, `{n,}`, `{n,m}`; any other brace is an error, or literal in Annex B."""
    start = parser.position
    parser.position += 1
    least = parser.take_while(DIGITS)
    comma = bool(least) and parser.take(",")
    most = parser.take_while(DIGITS) if comma else least
    if least and parser.take("}"):
        return (count(least), count(most) if most else None)
    if _ecma(parser).unicode:
        parser.fail("a brace that is no quantifier", start, help="write \\{ for the character itself")
    parser.position = start + 1
    _ecma(parser).note_trap(at_most_trap(parser.pattern, start))
    parser.add_literal(ord("{"), start)
    return None


def _special(parser: Parser, character: str) -> None:
    position = parser.position
    flags = parser.flags
    parser.position += 1
    inside_line = Chars(complement(ECMA_LINE_TERMINATORS), position)
    if character == ".":
        parser.add(Chars(EVERYTHING, position) if flags.dot_all else inside_line)
    elif flags.multiline:  # no character of the same line stands on that side
        parser.add(Look(inside_line, character == "^", True, position), "fixed")
    else:
        parser.add(Anchor("text_start" if character == "^" else "text_end", position), "fixed")


def _literal(parser: Parser, character: str) -> None:
    if _ecma(parser).unicode and character in "]}":
        parser.fail(f"a lone {character!r}", help=f"write \\{character} for the character itself")
    parser.position += 1
    _add_code_point(parser, ord(character), parser.position - 1)


def _add_code_point(parser: Parser, code_point: int, position: int) -> None:
    if not _ecma(parser).unicode and SURROGATES[0] <= code_point <= SURROGATES[1]:
        _add_half_character(parser, position)
    else:
        parser.add_literal(code_point, position)


def _add_half_character(parser: Parser, position: int) -> None:
    parser.add_unsupported(
        "half a surrogate pair without the flag 'u'", "write astral characters themselves, or as a pair", position
    )


# ---------------------------------------------------------------- escapes


def _escape(parser: Parser) -> None:
    ecma = _ecma(parser)
    start = parser.position
    letter = parser.peek(1)
    boundaries: dict[str, AnchorKind] = {"b": "boundary", "B": "no_boundary"}
    if letter and letter in boundaries:
        parser.position += 2
        parser.add(Anchor(boundaries[letter], start, ecma.word), "fixed")
    elif (ranges := _class_escape(ecma)) is not None:
        parser.add_chars(ranges, start)
    elif letter and letter in "123456789" and _back_reference(ecma):
        pass
    elif letter == "k" and (ecma.unicode or ecma.has_names):
        _named_reference(ecma)
    else:
        _add_code_point(parser, _character_escape(ecma, in_class=False), start)


def _class_escape(parser: EcmaParser) -> Ranges | None:
    """`\\d \\D \\s \\S \\w \\W \\p{…} \\P{…}`, or None with the position kept."""
    letter = parser.peek(1)
    if letter and letter in "dDsSwW":
        parser.position += 2
        ranges = parser.word if letter in "wW" else ecma_escape_class(letter.lower())
        return ranges if letter.islower() else complement(ranges)
    if letter and letter in "pP" and parser.unicode:
        start = parser.position
        parser.position += 2
        if not parser.take("{"):
            parser.fail(f"\\{letter} without {{property}}", start)
        name = parser.take_until("}", "property name", start)
        try:
            ranges = property_ranges(name)
        except ValueError:
            parser.fail(
                f"there is no property {name!r}", start, help="names are as in ECMA-262: \\p{L}, \\p{Script=Greek}"
            )
        return ranges if letter == "p" else complement(ranges)
    return None


def _back_reference(parser: EcmaParser) -> bool:
    """Read `\\n` if there is a group n; without `u`, else leave it to the legacy octal escapes."""
    start = parser.position
    parser.position += 1
    number = count(parser.take_while(DIGITS))
    if number > parser.total_groups:
        if parser.unicode:
            parser.fail("a reference to a group that is not there", start)
        parser.position = start
        return False
    _add_reference(parser, start)
    return True


def _named_reference(parser: EcmaParser) -> None:
    start = parser.position
    parser.position += 2
    if not parser.take("<"):
        parser.fail("\\k without <name>", start)
    parser.pending_names.append((_group_name(parser, start), start))
    _add_reference(parser, start)


def _add_reference(parser: EcmaParser, start: int) -> None:
    parser.add_unsupported(
        "a back reference", "back references are not regular: write out the alternatives, as in axa|bxb", start
    )


def _character_escape(parser: EcmaParser, in_class: bool) -> int:
    """The code point of an escape that stands for one character, by the rules of the mode."""
    start = parser.position
    letter = parser.peek(1)
    parser.position += 2
    if letter == "":
        parser.fail("a backslash at the end", start, help="write \\\\ for the character itself")
    if letter in CONTROLS:
        return CONTROLS[letter]
    if in_class and (letter == "b" or (letter == "-" and parser.unicode)):
        return 8 if letter == "b" else ord("-")
    if letter == "c":
        return _control_escape(parser, in_class, start)
    if letter == "x" and (value := _hex_digits(parser, 2)) is not None:
        return value
    if letter == "u" and (value := _unicode_escape(parser)) is not None:
        return value
    if letter in DIGITS and (value := _octal_escape(parser, letter, start)) is not None:
        return value
    return _identity_escape(parser, letter, start)


def _identity_escape(parser: EcmaParser, letter: str, start: int) -> int:
    if parser.unicode and letter not in SYNTAX_CHARACTERS:
        parser.fail(f"there is no escape \\{letter}", start, help=f"write {letter} for the character itself")
    if letter == "k" and parser.has_names:
        parser.fail("\\k where no reference can stand", start)
    parser.note_trap(escape_trap(letter, start))
    return ord(letter)


def _control_escape(parser: EcmaParser, in_class: bool, start: int) -> int:
    """`\\cX`; without `u` also `\\c1` and `\\c_` in a class, and else a literal backslash before a `c`."""
    letter = parser.peek()
    if letter and (letter in LETTERS or (in_class and not parser.unicode and letter in DIGITS + "_")):
        parser.position += 1
        return ord(letter) % 32
    if parser.unicode:
        parser.fail("\\c without a letter", start)
    parser.position -= 1
    return ord("\\")


def _hex_digits(parser: EcmaParser, length: int) -> int | None:
    start = parser.position
    digits = parser.take_while(HEX, length)
    if len(digits) == length:
        return int(digits, 16)
    parser.position = start
    return None


def _unicode_escape(parser: EcmaParser) -> int | None:
    """`\\uXXXX`, a pair of them for an astral character, or (with `u`) `\\u{X…}`."""
    start = parser.position - 2
    if parser.unicode and parser.take("{"):
        digits = parser.take_until("}", "escape", start)
        if not digits or digits.strip(HEX) or int(digits.lstrip("0")[:7] or "0", 16) > MAX_CODE_POINT:
            parser.fail("\\u{…} needs hexadecimal digits up to 10FFFF", start)
        return int(digits, 16)
    high = _hex_digits(parser, 4)
    if high is None or not 0xD800 <= high <= 0xDBFF:
        return high
    after = parser.position
    if parser.take("\\u") and (low := _hex_digits(parser, 4)) is not None and 0xDC00 <= low <= 0xDFFF:
        return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)
    parser.position = after
    return high


def _octal_escape(parser: EcmaParser, first: str, start: int) -> int | None:
    if parser.unicode:
        if first != "0" or (parser.peek() and parser.peek() in DIGITS):
            parser.fail("an octal escape under the flag 'u'", start, help="write \\x00 and so on")
        return 0
    if first not in OCTAL:
        return None
    return int(first + parser.take_while(OCTAL, 2 if first <= "3" else 1), 8)


# ---------------------------------------------------------------- classes


def _character_class(parser: Parser) -> None:
    ecma = _ecma(parser)
    start = parser.position
    parser.position += 1
    negated = parser.take("^")
    ranges: list[tuple[int, int]] = []
    while parser.peek() != "]":
        item_start = parser.position
        ecma.note_trap(posix_trap(parser.pattern, item_start))
        low = _class_item(ecma, start)
        if parser.peek() == "-" and parser.peek(1) not in ("]", ""):
            parser.position += 1
            ranges.extend(_range(ecma, low, _class_item(ecma, start), item_start))
        else:
            ranges.extend(((low, low),) if isinstance(low, int) else low)
    parser.position += 1
    first, last = SURROGATES
    explicit = [end for pair in ranges for end in pair if pair != (0, MAX_CODE_POINT)]
    if not ecma.unicode and any(first <= end <= last for end in explicit):
        _add_half_character(parser, start)
    else:
        parser.add_chars(merge(ranges), start, negated)


def _range(parser: EcmaParser, low: int | Ranges, high: int | Ranges, start: int) -> Ranges:
    if isinstance(low, int) and isinstance(high, int):
        if high < low:
            parser.fail(f"a range out of order in a class: {parser.pattern[start : parser.position]!r}", start)
        return ((low, high),)
    if parser.unicode:
        parser.fail("a range that ends in a class escape", start, help="write \\- for the hyphen itself")
    sides = [((side, side),) if isinstance(side, int) else side for side in (low, high)]
    return (*sides[0], (ord("-"), ord("-")), *sides[1])


def _class_item(parser: EcmaParser, opened: int) -> int | Ranges:
    character = parser.peek()
    if character == "":
        parser.fail("missing ']', unterminated class", opened, help="write \\[ for the character itself")
    if character != "\\":
        parser.position += 1
        return ord(character)
    ranges = _class_escape(parser)
    return ranges if ranges is not None else _character_escape(parser, in_class=True)


# ---------------------------------------------------------------- groups


def _open_group(parser: Parser) -> None:
    ecma = _ecma(parser)
    start = parser.position
    parser.position += 1
    if not parser.take("?") or parser.take(":"):
        parser.open(Frame(start, parser.flags))
    elif parser.take("=") or parser.take("!"):
        after = "fixed" if ecma.unicode else "atom"
        parser.open(Frame(start, parser.flags, look(False, parser.pattern[start + 2] == "!", start), after))
    elif parser.take("<=") or parser.take("<!"):
        parser.open(Frame(start, parser.flags, look(True, parser.pattern[start + 3] == "!", start), "fixed"))
    elif parser.take("<"):
        parser.name_group(_group_name(ecma, start), start, once=False)
        parser.open(Frame(start, parser.flags))
    else:
        _modifiers(ecma, start)


def _modifiers(parser: EcmaParser, start: int) -> None:
    """`(?ims-ims:…)` of ECMA-262 since 2025: each flag at most once."""
    on = parser.take_while("ims")
    minus = parser.take("-")
    off = parser.take_while("ims")
    if not (on or off) or len({*on, *off}) < len(on + off) or not parser.take(":"):
        message, help = group_help(parser.pattern, start)
        parser.fail(message, start, help=help)
    assert minus or not off
    if "i" in on and not parser.unicode:
        parser.add_unsupported("(?i:…) without the flag 'u'", "write both cases: [aA]", start)
    parser.open(Frame(start, with_flags(parser.flags, on, off)))


def _group_name(parser: EcmaParser, start: int) -> str:
    text = parser.take_until(">", "group name", start)
    name = re.sub(
        r"\\u(?:\{([0-9a-fA-F]{1,6})\}|([0-9a-fA-F]{4}))",
        lambda match: chr(min(int(match[1] or match[2], 16), MAX_CODE_POINT)),
        text,
    )
    if not name.replace("$", "_").replace("\u200c", "_").replace("\u200d", "_").isidentifier():
        parser.fail(f"{text!r} is no group name", start, help="use letters, digits and underscores")
    return name


def _dialect(name: str) -> Dialect:
    return Dialect(
        name=name,
        escape=_escape,
        character_class=_character_class,
        open_group=_open_group,
        braces=_braces,
        special=_special,
        literal=_literal,
        possessive=False,
    )


ECMA_UNICODE = _dialect("ecma")
ECMA_ANNEX_B = _dialect("ecma without u")
