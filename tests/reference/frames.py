"""The frames of a configuration: what is still to be matched, one class per kind of grammar term.

A frame either reads characters (`Reader`) or expands into sequences of other frames. `Term` frames stand for whole
grammar terms and compare by identity; the others are terms in progress and compare by value, so that equal
configurations meet.
Counts are kept only as far as they matter: an unbounded repetition that has its minimum no longer counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tests.reference.nodes import EMPTY, EPSILON, Node
from tests.reference.regular import intervals, node_is_alive, successors

if TYPE_CHECKING:
    from tests.reference.stacks import Machine


class Grammar(Protocol):
    """What frames ask: which rules there are, and what can be finished with which bytes."""

    @property
    def alphabet(self) -> frozenset[int]: ...

    names: dict[Frame, Node]
    """Which names may follow in an object in progress, once asked for; valid when the rules are known."""

    machine: Machine
    """Reads characters by what can be finished."""

    def rule(self, name: str) -> Term: ...

    def can_finish(self, frame: Frame) -> bool:
        """True if the frame can be matched with bytes of the alphabet."""
        ...


Ways = Iterator[tuple["Frame", ...]]


class Frame:
    """Something still to be matched."""

    __slots__ = ()

    def can_finish(self, grammar: Grammar) -> bool:
        """Decide it; ask `grammar.can_finish` about parts, which knows the answers that recursion needs."""
        raise NotImplementedError

    def expand(self, grammar: Grammar) -> Ways:
        """The ways to match it, each a sequence of frames."""
        raise NotImplementedError


class Term(Frame):
    """A whole grammar term, not begun."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Reader(Frame):
    """Reads what `node` holds; `expand` says what stands behind it once `node` is nullable."""

    node: Node

    def can_finish(self, grammar: Grammar) -> bool:
        return node_is_alive(self.node, grammar.alphabet)

    def expand(self, grammar: Grammar) -> Ways:
        yield ()

    def is_over(self) -> bool:
        """True if nothing is left to read."""
        return self.node is EPSILON

    def may_end(self) -> bool:
        """True if nothing has to be read any more."""
        return self.node.nullable

    def reads(self, c: int) -> bool:
        return self.node.after(c) is not EMPTY

    def stretches(self) -> set[tuple[int, int]]:
        """Stretches of code points that it reads and that all lead to the same."""
        return {stretch for stretch in intervals(self.node) if self.node.after(stretch[0]) is not EMPTY}

    def after(self, c: int) -> Reader:
        return Reader(self.node.after(c))

    def read(self, c: int, grammar: Grammar) -> Reader:
        """What is left behind `c`."""
        return self.after(c)

    def can_read_one(self, grammar: Grammar, partial: bytes) -> bool:
        """True if it can be finished behind some character that begins with `partial` and goes on in the alphabet."""
        return any(node_is_alive(node, grammar.alphabet) for node in successors(self.node, grammar.alphabet, partial))


@dataclass(frozen=True, slots=True, eq=False)
class LexemeTerm(Term):
    node: Node

    def can_finish(self, grammar: Grammar) -> bool:
        return node_is_alive(self.node, grammar.alphabet)

    def expand(self, grammar: Grammar) -> Ways:
        yield (Reader(self.node),)


@dataclass(frozen=True, slots=True, eq=False)
class SequenceTerm(Term):
    items: tuple[Term, ...]

    def can_finish(self, grammar: Grammar) -> bool:
        return all(grammar.can_finish(item) for item in self.items)

    def expand(self, grammar: Grammar) -> Ways:
        yield self.items


@dataclass(frozen=True, slots=True, eq=False)
class ChoiceTerm(Term):
    items: tuple[Term, ...]

    def can_finish(self, grammar: Grammar) -> bool:
        return any(grammar.can_finish(item) for item in self.items)

    def expand(self, grammar: Grammar) -> Ways:
        for item in self.items:
            yield (item,)


@dataclass(frozen=True, slots=True, eq=False)
class RuleTerm(Term):
    name: str

    def can_finish(self, grammar: Grammar) -> bool:
        return grammar.can_finish(grammar.rule(self.name))

    def expand(self, grammar: Grammar) -> Ways:
        yield (grammar.rule(self.name),)


@dataclass(frozen=True, slots=True, eq=False)
class RepetitionTerm(Term):
    item: Term
    separator: Term | None
    least: int
    most: int | None

    def begin(self) -> RepetitionFrame:
        return RepetitionFrame(self.item, self.separator, self.least, self.most, True)

    def can_finish(self, grammar: Grammar) -> bool:
        return self.begin().can_finish(grammar)

    def expand(self, grammar: Grammar) -> Ways:
        yield (self.begin(),)


@dataclass(frozen=True, slots=True)
class RepetitionFrame(Frame):
    """Still `least` to `most` times; `first`: no separator stands before the next."""

    item: Term
    separator: Term | None
    least: int
    most: int | None
    first: bool

    def can_finish(self, grammar: Grammar) -> bool:
        if self.most is not None and self.least > self.most:
            return False
        if self.least == 0:
            return True
        separators = self.least - 1 if self.first else self.least
        can_separate = self.separator is None or separators == 0 or grammar.can_finish(self.separator)
        return can_separate and grammar.can_finish(self.item)

    def expand(self, grammar: Grammar) -> Ways:
        if self.least == 0:
            yield ()
        if self.most == 0:
            return
        most = None if self.most is None else self.most - 1
        rest = RepetitionFrame(self.item, self.separator, max(self.least - 1, 0), most, False)
        between = () if self.first or self.separator is None else (self.separator,)
        yield (*between, self.item, rest)
