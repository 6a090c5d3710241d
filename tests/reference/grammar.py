"""The twin of the whole kernel: which texts a grammar holds, and which beginnings of texts can be finished.

A configuration is one way to have read the text so far: a stack of frames, each still to be matched, the innermost on
top. On top of a settled configuration stands a frame that reads characters; the configuration `END` has nothing left to
match. A state is the set of all settled configurations, and the bytes of an unfinished character. Ambiguity is more
than one configuration; nothing is ever chosen.

Invariant: a state holds only configurations that can be finished with bytes of the recognizer's alphabet. Frames of a
stack do not depend on each other, so a stack can be finished iff each of its frames can. Hence a state is alive iff it
is not empty, and `step` returns an empty state exactly where the kernel's mask must forbid.

Recursion: which rules can be finished is a least fixed point, reached from "none can".
"""

from __future__ import annotations

from dataclasses import dataclass

from constrain.grammar import terms
from tests.reference import frames
from tests.reference.containers import items_term, members_term
from tests.reference.frames import Frame, Reader, Term
from tests.reference.nodes import EMPTY, EPSILON, node_of
from tests.reference.regular import TwinLimit, intervals
from tests.reference.utf8 import ALL_BYTES, first_code_points, next_character, spelled_ranges

DEPTH_LIMIT = 1_000
"""How deep a stack may grow: met by left recursion, which the terms exclude, and by very deep texts."""


class Stack:
    """A frame and the stack below it. Interned by its recognizer, so compared by identity."""

    __slots__ = ("below", "depth", "frame")

    def __init__(self, frame: Frame, below: Stack | None):
        self.frame = frame
        self.below = below
        self.depth: int = below.depth + 1 if below else 0


END = Stack(Frame(), None)


@dataclass(frozen=True, slots=True)
class State:
    """All ways to have read the text so far; false if there is none, that is if the text cannot be finished."""

    configurations: frozenset[Stack]
    partial: bytes = b""

    def __bool__(self) -> bool:
        return bool(self.configurations)


DEAD = State(frozenset())


class Recognizer:
    """The language of a `GrammarSpec`, byte by byte; see the module head."""

    def __init__(self, spec: terms.GrammarSpec, alphabet: frozenset[int] = ALL_BYTES):
        self.alphabet = alphabet
        self._compiled: dict[terms.Grammar, Term] = {}
        self._rules = {name: self._compile(term) for name, term in spec.rules.items()}
        self._finishable: frozenset[Term] = frozenset()
        self._answers: dict[Frame, bool] = {}
        self._find_finishable()
        self._stacks: dict[tuple[Frame, Stack], Stack] = {}
        self._settled: dict[Stack, frozenset[Stack]] = {}
        self._steps: dict[tuple[State, int], State] = {}
        bottom = self._push((self._rules[spec.start],), END)
        self._start = State(self._settle(bottom)) if bottom else DEAD

    # ------------------------------------------------------------ what callers ask

    def start(self) -> State:
        return self._start

    def step(self, state: State, byte: int) -> State:
        """The state behind `byte`: empty if the text cannot be finished any more."""
        key = state, byte
        if key not in self._steps:
            self._steps[key] = self._step(state, byte)
        return self._steps[key]

    def advance(self, state: State, data: bytes) -> State:
        """The state behind all of `data`."""
        for byte in data:
            if not state:
                break
            state = self.step(state, byte)
        return state

    def is_alive(self, state: State) -> bool:
        return bool(state)

    def is_complete(self, state: State) -> bool:
        return not state.partial and END in state.configurations

    def accepts(self, data: bytes) -> bool:
        return self.is_complete(self.advance(self._start, data))

    def legal_bytes(self, state: State) -> frozenset[int]:
        """The bytes behind which the text can be finished; the byte itself may lie outside the alphabet."""
        return frozenset(byte for byte in range(256) if self.step(state, byte))

    # ------------------------------------------------------------ what frames ask

    def rule(self, name: str) -> Term:
        return self._rules[name]

    def can_finish(self, frame: Frame) -> bool:
        if isinstance(frame, Term):
            return frame in self._finishable
        if frame not in self._answers:
            self._answers[frame] = frame.can_finish(self)
        return self._answers[frame]

    # ------------------------------------------------------------ how it is done

    def _compile(self, term: terms.Grammar) -> Term:
        if term not in self._compiled:
            self._compiled[term] = self._compile_new(term)
        return self._compiled[term]

    def _compile_new(self, term: terms.Grammar) -> Term:
        def compile_all(parts: tuple[terms.Grammar, ...]) -> tuple[Term, ...]:
            return tuple(map(self._compile, parts))

        match term:
            case terms.Lexeme(regular):
                return frames.LexemeTerm(node_of(regular))
            case terms.Sequence(items):
                return frames.SequenceTerm(compile_all(items))
            case terms.Choice(items):
                return frames.ChoiceTerm(compile_all(items))
            case terms.RuleRef(name):
                return frames.RuleTerm(name)
            case terms.Repetition(item, separator, least, most):
                between = None if separator is None else self._compile(separator)
                return frames.RepetitionTerm(self._compile(item), between, least, most)
            case terms.Members():
                values = compile_all(tuple(member.value for member in term.members))
                return members_term(term, values, compile_all(tuple(one.value for one in term.classes)))
            case terms.Items():
                return items_term(
                    term, compile_all(term.prefix), None if term.rest is None else self._compile(term.rest)
                )
        raise TypeError(f"not a grammar term: {term!r}")

    def _find_finishable(self) -> None:
        everything = frozenset(self._compiled.values())
        while True:
            self._answers.clear()
            found = frozenset(term for term in everything if term.can_finish(self))
            if found == self._finishable:
                return
            self._finishable = found

    def _push(self, sequence: tuple[Frame, ...], below: Stack) -> Stack | None:
        """`below` with `sequence` on top, its first frame topmost; None if that cannot be finished."""
        for frame in reversed(sequence):
            if not self.can_finish(frame):
                return None
            key = frame, below
            if key not in self._stacks:
                self._stacks[key] = Stack(frame, below)
            below = self._stacks[key]
        if below.depth > DEPTH_LIMIT:
            raise TwinLimit(f"a stack deeper than {DEPTH_LIMIT}")
        return below

    def _settle(self, stack: Stack) -> frozenset[Stack]:
        """Expand until a reader or `END` is on top, in every way."""
        if stack not in self._settled:
            settled: set[Stack] = set()
            seen = {stack}
            open_stacks = [stack]
            while open_stacks:
                current = open_stacks.pop()
                for successor in self._expand(current, settled):
                    if successor not in seen:
                        seen.add(successor)
                        open_stacks.append(successor)
            self._settled[stack] = frozenset(settled)
        return self._settled[stack]

    def _expand(self, stack: Stack, settled: set[Stack]) -> list[Stack]:
        below, frame = stack.below, stack.frame
        if below is None:
            settled.add(stack)
            return []
        if isinstance(frame, Reader):
            if frame.node is not EPSILON:
                settled.add(stack)
            if not frame.node.nullable:
                return []
        pushed = (self._push(way, below) for way in frame.expand(self))
        return [successor for successor in pushed if successor is not None]

    def _step(self, state: State, byte: int) -> State:
        character = next_character(state.partial, byte)
        if isinstance(character, int):
            found: set[Stack] = set()
            for stack in state.configurations:
                successor = self._read(stack, character)
                if successor is not None:
                    found |= self._settle(successor)
            return State(frozenset(found))
        if character is None:
            return DEAD
        kept = frozenset(stack for stack in state.configurations if self._can_read_one(stack, character))
        return State(kept, character) if kept else DEAD

    def _read(self, stack: Stack, c: int) -> Stack | None:
        """The stack once its reader has read `c`; None if that cannot be finished."""
        frame, below = stack.frame, stack.below
        if below is None or not isinstance(frame, Reader) or frame.node.after(c) is EMPTY:
            return None
        return self._push((frame.after(c),), below)

    def _can_read_one(self, stack: Stack, partial: bytes) -> bool:
        """True if the reader can go on with some character that begins with `partial` and goes on in the alphabet."""
        frame = stack.frame
        if not isinstance(frame, Reader):
            return False
        ranges = spelled_ranges(self.alphabet, partial)
        return any(
            self._read(stack, c) is not None
            for low, high in intervals(frame.node)
            for c in first_code_points(ranges, low, high, frame.spread())
        )
