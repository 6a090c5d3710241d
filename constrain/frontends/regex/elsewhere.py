"""What other dialects (Python's, Perl's, POSIX') mean by text that ECMA-262 reads otherwise, or not at all.

`Trap`: a piece of a pattern that parses without the flag `u`, and then says something else than where it comes from.
`group_help`: what to write for an extension after `(?` that ECMA-262 does not have.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Trap:
    """`text` at `position` is read as `read_as`; `help` says what to write for what is meant elsewhere."""

    text: str
    position: int
    read_as: str
    help: str

    def __str__(self) -> str:
        return f"{self.text} at position {self.position} is {self.read_as} in ECMA-262"


ESCAPES: Mapping[str, str] = {
    "A": "write ^ for the start of the text",
    "Z": "write $ for the end of the text",
    "z": "write $ for the end of the text",
    "G": "write ^ for the start of the text",
    "a": "write \\x07 for the bell",
    "e": "write \\x1b for the escape character",
    "h": "write [ \\t] for blanks that end no line",
    "H": "write [^ \\t] for anything but blanks that end no line",
    "R": "write (\\r\\n|\\n|\\r) for a line end",
    "X": "write . for a character",
    "K": "leave it out: nothing is captured",
    "N": "write \\u and four hexadecimal digits for a character by number",
    "U": "write \\u and four hexadecimal digits, or the character itself",
    "x": "write two hexadecimal digits after it",
    "u": "write four hexadecimal digits after it, or the character itself",
    "p": "correct what else keeps the pattern from being read with the flag 'u', under which it is a property",
    "P": "correct what else keeps the pattern from being read with the flag 'u', under which it is a property",
    "Q": "escape each character by itself",
    "E": "escape each character by itself",
    "i": "write the characters that may start a name, as in [A-Za-z_]",
    "l": "write [a-z] for lower case letters",
    "L": "write the characters themselves",
    "y": "write \\b for a boundary of a word",
    "m": "write \\b for a boundary of a word",
    "M": "write \\b for a boundary of a word",
}
"""Escapes that mean something elsewhere and are, without `u`, the letter itself; what to write instead."""

POSIX_CLASSES: Mapping[str, str] = {
    "alpha": "A-Za-z", "digit": "0-9", "alnum": "A-Za-z0-9", "upper": "A-Z", "lower": "a-z", "space": "\\s",
    "punct": "!-\\/:-@\\[-`{-~", "xdigit": "0-9A-Fa-f", "word": "\\w", "blank": " \\t", "cntrl": "\\x00-\\x1f\\x7f",
    "print": " -~", "graph": "!-~", "ascii": "\\x00-\\x7f",
}  # fmt: skip
POSIX_CLASS = re.compile(r"\[:\^?(" + "|".join(POSIX_CLASSES) + r"):\]")
AT_MOST = re.compile(r"\{,(\d+)\}")

_FLAGS = re.compile(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]*))?([:)])")


def escape_trap(letter: str, position: int) -> Trap | None:
    """The trap of an escape that is read as `letter` itself; None where nobody means anything else."""
    if letter not in ESCAPES:
        return None
    return Trap("\\" + letter, position, f"the letter {letter}", ESCAPES[letter])


def posix_trap(pattern: str, position: int) -> Trap | None:
    """The trap of a class of POSIX, such as `[:alpha:]`, inside of a class."""
    match = POSIX_CLASS.match(pattern, position)
    if match is None:
        return None
    name = match[1]
    letters = " ".join(dict.fromkeys(match[0][1:-1]))
    instead = f"write {POSIX_CLASSES[name]} inside of the brackets"
    return Trap(match[0], position, f"one of the characters {letters}", instead)


def at_most_trap(pattern: str, position: int) -> Trap | None:
    """The trap of `{,n}`, which is a repeat in Python."""
    match = AT_MOST.match(pattern, position)
    if match is None:
        return None
    return Trap(match[0], position, "those characters, and no repeat", f"write {{0,{match[1]}}}")


def group_help(pattern: str, start: int) -> tuple[str, str]:
    """What is wrong with the extension after the `(?` at `start`, and what to write instead."""
    rest = pattern[start + 2 : start + 100]
    if match := re.match(r"P<(\w*)>?", rest):
        return "(?P<…>) is how Python writes a named group", f"write (?<{match[1][:40]}>…)"
    if rest.startswith("P="):
        return "(?P=…) is a back reference of Python", "back references are not regular: write out the alternatives"
    if rest.startswith(("P>", "R", "&", "+")) or rest[:1].isdigit():
        return "a recursion of Perl", "recursion is not regular: write out the levels that are needed"
    if rest.startswith("#"):
        return "a comment", "remove it: ECMA-262 has no comments"
    if rest.startswith(">"):
        return "an atomic group", "write (?:…): more texts match then, and all of these"
    if rest.startswith("|"):
        return "a group that counts its branches anew", "write (?:…)"
    if rest.startswith("("):
        return "a conditional", "write out both alternatives, as in ab|c"
    if (match := _FLAGS.match(pattern, start)) and (match[1] or match[2]):
        return _flags_help(match[1], match[2] or "")
    return "an unknown extension after '(?'", "write (?:…) for a group, or \\( for the character itself"


def _flags_help(on: str, off: str) -> tuple[str, str]:
    """The same for flags; those that ECMA-262 has stand before a colon and hold inside of their group."""
    message = f"the flags {on + off!r} inside a pattern"
    if "x" in on:
        return message, "write the pattern without blanks and comments"
    known = "".join(dict.fromkeys(flag for flag in on if flag in "ims"))
    if known:
        return message, f"write (?{known}:…) around what they are meant for"
    return message, "remove it: there are no such flags"
