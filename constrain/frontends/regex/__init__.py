"""Regular expressions as regular terms: `parse` for Python's `re` and for ECMA-262, exact or refused.

    parse(r"\\d{4}-\\d\\d", dialect="python", mode="fullmatch")  →  Regular
    parse_with_notes("[\\w-.]+", dialect="ecma", mode="search") →  ParsedPattern(regular, annex_b=True, notes=(…,))

Text to tree (`parser.py`, with a record of functions per dialect), tree to skeleton (`skeleton.py`: everything plain
is a term already), skeleton to term (`translate.py`: anchors, boundaries and lookarounds). Not here: back references,
atomic groups, possessive quantifiers and conditionals, which are refused with their position.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from constrain.errors import InvalidSpecification, LimitExceeded, PatternError
from constrain.frontends.regex.ecma_dialect import EcmaParser
from constrain.frontends.regex.elsewhere import Trap
from constrain.frontends.regex.parser import Parser
from constrain.frontends.regex.python_dialect import PYTHON
from constrain.frontends.regex.syntax import Node
from constrain.frontends.regex.translate import Mode, translate
from constrain.grammar.terms import Regular

__all__ = ["ParsedPattern", "Trap", "parse", "parse_with_notes"]

DialectName = OneOf["python", "ecma"]


@dataclass(frozen=True, slots=True)
class ParsedPattern:
    """A pattern's language, and how it was read: `annex_b` if only without the flag `u`; `notes` say why.

    `traps`: what is then read otherwise than in the dialect that it seems to come from.
    """

    regular: Regular
    annex_b: bool
    notes: tuple[str, ...]
    traps: tuple[Trap, ...] = ()


def parse(pattern: str, *, dialect: DialectName, mode: Mode) -> Regular:
    """The language of `pattern`: texts that match as a whole (`fullmatch`) or somewhere (`search`).

    Raises:  PatternError: it does not parse, or cannot be enforced exactly; with the position.
             LimitExceeded: too long, nested too deep, or repeats too often.
    Cost:    linear in the pattern unless it holds lookarounds or anchors inside repeats; then bounded.
    """
    return parse_with_notes(pattern, dialect=dialect, mode=mode).regular


def parse_with_notes(pattern: str, *, dialect: DialectName, mode: Mode) -> ParsedPattern:
    """As `parse`, and whether ECMA's Annex B had to be used to read the pattern."""
    if dialect not in ("python", "ecma") or mode not in ("fullmatch", "search"):
        raise InvalidSpecification(
            f"no such dialect or mode: {dialect!r}, {mode!r}",
            expected="dialect 'python' or 'ecma', mode 'fullmatch' or 'search'",
        )
    try:
        tree, notes, traps = _read(pattern, dialect)
        return ParsedPattern(translate(tree, pattern, mode), bool(notes), notes, traps)
    except RecursionError:
        raise LimitExceeded(
            "the pattern is nested too deep for the space left on the stack", limit="pattern_nesting"
        ) from None


def _read(pattern: str, dialect: DialectName) -> tuple[Node, tuple[str, ...], tuple[Trap, ...]]:
    if dialect == "python":
        return Parser(pattern, PYTHON).parse(), (), ()
    try:
        return EcmaParser(pattern, unicode=True).parse(), (), ()
    except PatternError as strict:
        parser = EcmaParser(pattern, unicode=False)
        try:
            tree = parser.parse()
        except PatternError as plain:
            raise (plain if plain.position > strict.position else strict) from None
        traps = tuple(parser.traps)
        note = f"read without the flag 'u' (Annex B): {strict.message} at position {strict.position}"
        return tree, (note, *map(str, traps)), traps
