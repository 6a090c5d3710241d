"""Pattern text to syntax tree: one parser, driven by a `Dialect`, a record of functions.

What both dialects share is here: branches, groups, quantifiers, limits. What differs (escapes, classes, what may
follow `(?`, when `{` is a quantifier) is a function of the dialect that reads on from the parser's position and adds
to it. Open groups are frames on an explicit stack, so depth is bounded by `MAX_NESTING` and not by the interpreter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal as OneOf
from typing import NoReturn

from constrain.errors import LimitExceeded, PatternError
from constrain.frontends.regex.classes import Ranges, complement, merge
from constrain.frontends.regex.syntax import (
    MAX_NESTING,
    MAX_PATTERN_LENGTH,
    MAX_REPEAT,
    Chars,
    Choice,
    Look,
    Node,
    Repetition,
    Sequence,
    Unsupported,
)
from constrain.frontends.regex.unicode_tables import with_case_variants

Last = OneOf["nothing", "fixed", "atom", "quantified"]
"""What stands before the position: nothing, what takes no quantifier, an atom, or an atom with its quantifier."""


SHORT_QUANTIFIERS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}


@dataclass(frozen=True, slots=True)
class Flags:
    ignore_case: bool = False
    multiline: bool = False
    dot_all: bool = False
    verbose: bool = False
    ascii_only: bool = False
    unicode: bool = False
    """Asked for by name; it is the default, but excludes `ascii_only`."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one dialect reads what the shared parser does not: each function reads on from `parser.position`."""

    name: str
    escape: Callable[[Parser], None]
    character_class: Callable[[Parser], None]
    open_group: Callable[[Parser], None]
    braces: Callable[[Parser], tuple[int, int | None] | None]
    special: Callable[[Parser, str], None]
    """`.`, `^` and `$`."""
    literal: Callable[[Parser, str], None]
    """Any other character, after deciding that it may stand for itself."""
    possessive: bool
    """Is `+` after a quantifier a possessive quantifier?"""


def _same(node: Node) -> Node:
    return node


@dataclass(slots=True)
class Frame:
    """An open group. `close` turns its content into a node; `after` says whether that may be quantified."""

    position: int
    flags: Flags
    close: Callable[[Node], Node] = _same
    after: Last = "atom"
    max_branches: int | None = None
    branches: list[Node] = field(default_factory=list)
    items: list[Node] = field(default_factory=list)
    last: Last = "nothing"
    product: int = 1
    last_product: int = 1
    names: set[str] = field(default_factory=set)
    """Names of the groups in this branch; `all_names`: in all branches."""
    all_names: set[str] = field(default_factory=set)


class Parser:
    """The position in one pattern, and the stack of open groups."""

    def __init__(self, pattern: str, dialect: Dialect):
        if len(pattern) > MAX_PATTERN_LENGTH:
            raise LimitExceeded(
                f"a pattern of {len(pattern)} characters, {MAX_PATTERN_LENGTH} are allowed",
                limit="pattern_length",
                help="split the pattern, or write a long list of words as an enum",
            )
        self.pattern = pattern
        self.dialect = dialect
        self.position = 0
        self.frames = [Frame(0, Flags())]
        self.group_count = 0
        self.group_names: set[str] = set()

    # ------------------------------------------------------------ reading

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    @property
    def flags(self) -> Flags:
        return self.frames[-1].flags

    def peek(self, ahead: int = 0) -> str:
        """The character `ahead` of the position, or "" at the end."""
        at = self.position + ahead
        return self.pattern[at] if at < len(self.pattern) else ""

    def take(self, text: str) -> bool:
        """Step over `text` if it comes next."""
        if self.pattern.startswith(text, self.position):
            self.position += len(text)
            return True
        return False

    def take_while(self, characters: str, limit: int | None = None) -> str:
        """Step over the longest run of `characters`, at most `limit` long."""
        start = self.position
        stop = len(self.pattern) if limit is None else min(len(self.pattern), start + limit)
        while self.position < stop and self.pattern[self.position] in characters:
            self.position += 1
        return self.pattern[start : self.position]

    def take_until(self, mark: str, what: str, opened: int) -> str:
        """The text up to `mark`, stepping over both."""
        end = self.pattern.find(mark, self.position)
        if end < 0:
            self.fail(f"missing {mark!r}, unterminated {what}", opened)
        text = self.pattern[self.position : end]
        self.position = end + len(mark)
        return text

    def fail(self, message: str, position: int | None = None, help: str | None = None) -> NoReturn:
        at = self.position if position is None else position
        raise PatternError(message, pattern=self.pattern, position=at, help=help)

    # ------------------------------------------------------------ adding

    def add(self, node: Node, last: Last = "atom", product: int = 1) -> None:
        frame = self.frame
        frame.items.append(node)
        frame.last = last
        frame.last_product = product
        frame.product = max(frame.product, product)

    def add_chars(self, ranges: Ranges, position: int, negated: bool = False) -> None:
        """One character of `ranges`, widened by case under `(?i)`, then complemented if `negated`."""
        if self.flags.ignore_case:
            ranges = merge(with_case_variants(ranges, self.flags.ascii_only))
        self.add(Chars(complement(ranges) if negated else ranges, position))

    def add_literal(self, code_point: int, position: int) -> None:
        self.add_chars(((code_point, code_point),), position)

    def add_unsupported(self, what: str, help: str, position: int, last: Last = "atom") -> None:
        self.add(Unsupported(what, help, position), last)

    def open(self, frame: Frame) -> None:
        if len(self.frames) > MAX_NESTING:
            raise LimitExceeded(
                f"groups nested deeper than {MAX_NESTING} at position {frame.position}",
                limit="pattern_nesting",
                help="flatten the pattern: groups that only hold a group can go",
            )
        self.frames.append(frame)

    def name_group(self, name: str, position: int, *, once: bool) -> None:
        """Note the group `name`; `once`: never twice, else twice only in different branches."""
        taken = self.group_names if once else set().union(*(frame.names for frame in self.frames))
        if name in taken:
            self.fail(f"the group name {name!r} is taken", position)
        self.group_names.add(name)
        self.frame.names.add(name)

    # ------------------------------------------------------------ the loop

    def parse(self) -> Node:
        """The tree of the whole pattern.

        Raises:  PatternError: where it does not parse. LimitExceeded: too long, too deep, too many repeats.
        Cost:    linear in the pattern.
        """
        while self.position < len(self.pattern):
            self._step()
        if len(self.frames) > 1:
            self.fail("missing ')', unterminated group", self.frame.position)
        return self._finish_branches(self.frame)

    def _step(self) -> None:
        character = self.pattern[self.position]
        if self.flags.verbose and self._skip_blanks(character):
            return
        if character == "(":
            self.dialect.open_group(self)
        elif character == ")":
            self._close_group()
        elif character == "|":
            self._next_branch()
        elif character in "*+?{":
            self._quantify(character)
        elif character == "[":
            self.dialect.character_class(self)
        elif character == "\\":
            self.dialect.escape(self)
        elif character in ".^$":
            self.dialect.special(self, character)
        else:
            self.dialect.literal(self, character)

    def _skip_blanks(self, character: str) -> bool:
        if character in " \t\n\r\v\f":
            self.position += 1
            return True
        if character == "#":
            end = self.pattern.find("\n", self.position)
            self.position = len(self.pattern) if end < 0 else end + 1
            return True
        return False

    def _next_branch(self) -> None:
        frame = self.frame
        if frame.max_branches is not None and len(frame.branches) + 1 >= frame.max_branches:
            self.fail(f"more than {frame.max_branches} branches")
        self._finish_branch(frame)
        self.position += 1

    def _finish_branch(self, frame: Frame) -> None:
        items = tuple(frame.items)
        frame.branches.append(items[0] if len(items) == 1 else Sequence(items, frame.position))
        frame.items = []
        frame.last = "nothing"
        frame.all_names |= frame.names
        frame.names = set()

    def _finish_branches(self, frame: Frame) -> Node:
        self._finish_branch(frame)
        branches = tuple(frame.branches)
        return branches[0] if len(branches) == 1 else Choice(branches, frame.position)

    def _close_group(self) -> None:
        if len(self.frames) == 1:
            self.fail("unbalanced ')'", help="write \\) for the character itself")
        frame = self.frames.pop()
        node = frame.close(self._finish_branches(frame))
        self.frame.names |= frame.all_names
        self.position += 1
        self.add(node, frame.after, frame.product)

    def _quantify(self, character: str) -> None:
        start = self.position
        if character == "{":
            bounds = self.dialect.braces(self)
            if bounds is None:
                return
        else:
            self.position += 1
            bounds = SHORT_QUANTIFIERS[character]
        lazy = self.take("?")
        possessive = not lazy and self.dialect.possessive and self.take("+")
        frame = self.frame
        if frame.last == "quantified":
            help = "put the repeated part in a group: (?:a*)*"
            if character == "+" and not self.dialect.possessive:
                help = "there are no possessive quantifiers: drop the '+', or put the repeated part in a group: (?:a*)+"
            self.fail("a quantifier after a quantifier", start, help=help)
        if frame.last != "atom":
            self.fail("nothing to repeat", start, help=f"write \\{character} for the character itself")
        self._repeat(start, *bounds)
        if possessive:
            frame.items[-1] = Unsupported(
                "a possessive quantifier", "drop the '+': without it more texts match, and all of these", start
            )

    def _repeat(self, start: int, least: int, most: int | None) -> None:
        frame = self.frame
        if most is not None and most < least:
            self.fail(f"the repeat {{{least},{most}}} ends before it starts", start)
        product = frame.last_product * max(1, least, most or 0)
        if product > MAX_REPEAT:
            raise LimitExceeded(
                f"a repeat of {product} (nested repeats multiplied) at position {start}; {MAX_REPEAT} are allowed",
                limit="pattern_repeat",
                help="lower the count, or drop the upper bound",
            )
        frame.items[-1] = Repetition(frame.items[-1], least, most, start)
        frame.last = "quantified"
        frame.last_product = product
        frame.product = max(frame.product, product)


def count(digits: str) -> int:
    """The value of `digits`, capped: more than 18 digits are over every limit, and `int` would be slow or refuse."""
    return int(digits) if len(digits.lstrip("0")) <= 18 else 10**18


def look(behind: bool, negated: bool, position: int) -> Callable[[Node], Node]:
    """How to close a lookahead or lookbehind."""

    def close(node: Node) -> Node:
        return Look(node, behind, negated, position)

    return close


def with_flags(flags: Flags, on: str, off: str) -> Flags:
    """`flags` with those of the letters `on` set and of `off` cleared; letters without a field mean nothing here."""
    fields = {"i": "ignore_case", "m": "multiline", "s": "dot_all", "x": "verbose", "a": "ascii_only", "u": "unicode"}
    changed = {fields[letter]: True for letter in on if letter in fields}
    changed |= {fields[letter]: False for letter in off if letter in fields}
    if "u" in on:
        changed["ascii_only"] = False
    return replace(flags, **changed)
