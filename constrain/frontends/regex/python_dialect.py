"""The dialect of Python's `re` for str patterns; the judge is `re.fullmatch`.

Follows the interpreter where versions differ: `\\z` is new in 3.14, and `\\B` matches the empty text since then.
"""

from __future__ import annotations

import sys
import unicodedata

from constrain.frontends.regex.classes import (
    ASCII_WORD,
    EVERYTHING,
    NEWLINE,
    Ranges,
    complement,
    merge,
    python_escape_class,
)
from constrain.frontends.regex.parser import Dialect, Flags, Frame, Parser, count, look, with_flags
from constrain.frontends.regex.syntax import Anchor, AnchorKind, Chars, Node, Unsupported, width

DIGITS = "0123456789"
OCTAL = "01234567"
HEX = DIGITS + "abcdefABCDEF"
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
CONTROLS = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
FLAG_LETTERS = "aiLmsux"
SINCE_3_14 = sys.version_info >= (3, 14)


def _braces(parser: Parser) -> tuple[int, int | None] | None:
    """`{n}`, `{n,}`, `{,m}`, `{n,m}`, else a literal brace."""
    start = parser.position
    parser.position += 1
    least = parser.take_while(DIGITS)
    comma = parser.take(",")
    most = parser.take_while(DIGITS) if comma else least
    if not parser.take("}") or (not comma and not least):
        parser.position = start + 1
        parser.add_literal(ord("{"), start)
        return None
    return (count(least) if least else 0, count(most) if most else None)


def _special(parser: Parser, character: str) -> None:
    position, flags = parser.position, parser.flags
    parser.position += 1
    if character == ".":
        parser.add(Chars(EVERYTHING if flags.dot_all else complement(NEWLINE), position))
    elif character == "^":
        parser.add(Anchor("line_start" if flags.multiline else "text_start", position), "fixed")
    else:
        parser.add(Anchor("line_end" if flags.multiline else "final_line_end", position), "fixed")


def _literal(parser: Parser, character: str) -> None:
    parser.position += 1
    parser.add_literal(ord(character), parser.position - 1)


# ---------------------------------------------------------------- escapes


def _escape(parser: Parser) -> None:
    start = parser.position
    letter = parser.peek(1)
    anchors: dict[str, AnchorKind] = {"A": "text_start", "Z": "text_end", "b": "boundary"}
    anchors["B"] = "no_boundary" if SINCE_3_14 else "no_boundary_or_empty"
    if SINCE_3_14:
        anchors["z"] = "text_end"
    if letter and letter in anchors:
        parser.position += 2
        word = ASCII_WORD if parser.flags.ascii_only else python_escape_class("w", False)
        parser.add(Anchor(anchors[letter], start, word if letter in "bB" else ()), "fixed")
    elif letter and letter in "dDsSwW":
        parser.position += 2
        ranges = python_escape_class(letter.lower(), parser.flags.ascii_only)
        parser.add(Chars(ranges if letter.islower() else complement(ranges), start))
    elif letter and letter in "123456789":
        _group_reference(parser)
    else:
        parser.add_literal(_character_escape(parser), start)


def _group_reference(parser: Parser) -> None:
    start = parser.position
    parser.position += 1
    digits = parser.take_while(DIGITS, 2)
    if len(digits) == 2 and digits[0] in OCTAL and digits[1] in OCTAL and parser.peek() and parser.peek() in OCTAL:
        value = int(digits + parser.take_while(OCTAL, 1), 8)
        if value > 0o377:
            parser.fail("an octal escape beyond \\377", start)
        parser.add_literal(value, start)
        return
    _add_back_reference(parser, int(digits) <= parser.group_count, start)


def _add_back_reference(parser: Parser, known: bool, start: int) -> None:
    if not known:
        parser.fail("a reference to a group that is not there", start)
    parser.add_unsupported(
        "a back reference", "back references are not regular: write out the alternatives, as in axa|bxb", start
    )


def _character_escape(parser: Parser, in_class: bool = False) -> int:
    """The code point of an escape that stands for one character."""
    start = parser.position
    parser.position += 1
    letter = parser.peek()
    parser.position += 1
    if letter == "":
        parser.fail("a backslash at the end", start, help="write \\\\ for the character itself")
    if letter in "xuU":
        return _hex_escape(parser, {"x": 2, "u": 4, "U": 8}[letter], start)
    if letter == "N":
        return _named_escape(parser, start)
    if letter == "0" or (in_class and letter in OCTAL):
        value = int(letter + parser.take_while(OCTAL, 2), 8)
        if value > 0o377:
            parser.fail("an octal escape beyond \\377", start)
        return value
    if letter in CONTROLS:
        return CONTROLS[letter]
    if in_class and letter == "b":
        return 8
    if letter in LETTERS or letter in DIGITS:
        parser.fail(f"there is no escape \\{letter}", start, help=f"write {letter} for the character itself")
    return ord(letter)


def _hex_escape(parser: Parser, length: int, start: int) -> int:
    digits = parser.take_while(HEX, length)
    if len(digits) < length:
        parser.fail(f"an incomplete escape, {length} hexadecimal digits are needed", start)
    if int(digits, 16) > 0x10FFFF:
        parser.fail("an escape beyond U+10FFFF", start)
    return int(digits, 16)


def _named_escape(parser: Parser, start: int) -> int:
    if not parser.take("{"):
        parser.fail("\\N without {name}", start)
    name = parser.take_until("}", "character name", start)
    try:
        return ord(unicodedata.lookup(name))
    except (KeyError, TypeError):
        parser.fail(f"no character is named {name!r}", start)


# ---------------------------------------------------------------- classes


def _character_class(parser: Parser) -> None:
    start = parser.position
    parser.position += 1
    negated = parser.take("^")
    ranges: list[tuple[int, int]] = []
    first = True
    while first or parser.peek() != "]":
        first = False
        item_start = parser.position
        low = _class_item(parser, start)
        if parser.peek() == "-" and parser.peek(1) not in ("]", ""):
            parser.position += 1
            high = _class_item(parser, start)
            if not isinstance(low, int) or not isinstance(high, int) or high < low:
                text = parser.pattern[item_start : parser.position]
                parser.fail(f"a bad range {text!r} in a class", item_start, help="write \\- for the hyphen itself")
            ranges.append((low, high))
        else:
            ranges.extend(((low, low),) if isinstance(low, int) else low)
    parser.position += 1
    parser.add_chars(merge(ranges), start, negated)


def _class_item(parser: Parser, opened: int) -> int | Ranges:
    character = parser.peek()
    if character == "":
        parser.fail("missing ']', unterminated class", opened, help="write \\[ for the character itself")
    if character != "\\":
        parser.position += 1
        return ord(character)
    letter = parser.peek(1)
    if letter and letter in "dDsSwW":
        parser.position += 2
        ranges = python_escape_class(letter.lower(), parser.flags.ascii_only)
        return ranges if letter.islower() else complement(ranges)
    return _character_escape(parser, in_class=True)


# ---------------------------------------------------------------- groups


def _open_group(parser: Parser) -> None:
    start = parser.position
    parser.position += 1
    if not parser.take("?"):
        parser.group_count += 1
        parser.open(Frame(start, parser.flags))
    elif parser.take(":"):
        parser.open(Frame(start, parser.flags))
    elif parser.take("P"):
        _open_named(parser, start)
    elif parser.take("#"):
        parser.take_until(")", "comment", start)
    elif parser.take("=") or parser.take("!"):
        parser.open(Frame(start, parser.flags, look(False, parser.pattern[start + 2] == "!", start)))
    elif parser.take("<=") or parser.take("<!"):
        parser.open(Frame(start, parser.flags, _fixed_width_look(parser, parser.pattern[start + 3] == "!", start)))
    elif parser.take(">"):
        parser.open(Frame(start, parser.flags, _unsupported_group("an atomic group", "use (?:…)", start)))
    elif parser.take("("):
        _open_conditional(parser, start)
    else:
        _open_flags(parser, start)


def _unsupported_group(what: str, help: str, start: int):
    def close(node: Node) -> Node:
        return Unsupported(what, help, start)

    return close


def _fixed_width_look(parser: Parser, negated: bool, start: int):
    close = look(True, negated, start)

    def checked(node: Node) -> Node:
        least, most = width(node)
        if least != most:
            parser.fail("a lookbehind whose width varies", start, help="give all its alternatives the same length")
        return close(node)

    return checked


def _open_named(parser: Parser, start: int) -> None:
    if parser.take("<"):
        name = _group_name(parser, ">", start)
        parser.name_group(name, start, once=True)
        parser.group_count += 1
        parser.open(Frame(start, parser.flags))
    elif parser.take("="):
        name = _group_name(parser, ")", start)
        _add_back_reference(parser, name in parser.group_names, start)
    else:
        parser.fail("'(?P' must go on with '<name>' or '=name'", start)


def _group_name(parser: Parser, mark: str, start: int) -> str:
    name = parser.take_until(mark, "group name", start)
    if not name.isidentifier():
        parser.fail(f"{name!r} is no group name", start, help="use letters, digits and underscores")
    return name


def _open_conditional(parser: Parser, start: int) -> None:
    name = parser.take_until(")", "condition", start)
    known = name in parser.group_names if not name.isdecimal() else 0 < count(name) < 2**31
    if not known:
        parser.fail(f"a condition on a group {name!r} that is not there", start)
    close = _unsupported_group("a conditional (?(…)…)", "write out both cases as alternatives", start)
    parser.open(Frame(start, parser.flags, close, max_branches=2))


def _open_flags(parser: Parser, start: int) -> None:
    """`(?i)` for the whole pattern, or `(?i-s:…)` for a group."""
    on = parser.take_while(FLAG_LETTERS)
    off = parser.take_while(FLAG_LETTERS) if (minus := parser.take("-")) else ""
    if "L" in on or len({"a", "u"} & set(on)) > 1:
        parser.fail("the flags 'a', 'u' and 'L' exclude each other, and 'L' is for bytes", start)
    if (minus and not off) or set(off) & set("aLu") or set(on) & set(off):
        parser.fail("a flag that cannot be turned off here", start)
    if parser.take(":") and (on or off):
        parser.open(Frame(start, with_flags(parser.flags, on, off)))
    elif on and not minus and parser.take(")"):
        _set_global_flags(parser, on, start)
    else:
        parser.fail("an unknown extension after '(?'", start, help="write \\( for the character itself")


def _set_global_flags(parser: Parser, on: str, start: int) -> None:
    frame = parser.frame
    if len(parser.frames) > 1 or frame.items or frame.branches:
        parser.fail("global flags not at the start", start, help="put them first, or use (?i:…)")
    before: Flags = frame.flags
    frame.flags = with_flags(before, on, "")
    if ("u" in on and before.ascii_only) or ("a" in on and before.unicode):
        parser.fail("the flags 'a' and 'u' exclude each other", start)


PYTHON = Dialect(
    name="python",
    escape=_escape,
    character_class=_character_class,
    open_group=_open_group,
    braces=_braces,
    special=_special,
    literal=_literal,
    possessive=True,
)
