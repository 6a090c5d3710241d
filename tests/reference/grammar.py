"""The twin of the whole kernel: which texts a grammar holds, and which beginnings of texts can be finished.

A state is the set of all settled configurations (see `stacks.py`), and the bytes of an unfinished character. Ambiguity
is more than one configuration; nothing is ever chosen.

Invariant: a state holds only configurations that can be finished with some bytes. `is_alive` asks more: can one of them
be finished with bytes of the alphabet? The two differ inside a token whose characters single bytes cannot write: the
way through it leads over states that are not alive, and only the state behind it counts. Frames of a stack do not
depend on each other, so a stack can be finished iff each of its frames can.

Recursion: which rules can be finished is a least fixed point, reached from "none can".
"""

from __future__ import annotations

from dataclasses import dataclass

from constrain.grammar import terms
from tests.reference import frames
from tests.reference.containers import items_term, members_term
from tests.reference.counters import CountedWay, Values
from tests.reference.frames import Frame, Reader, Term
from tests.reference.nodes import Node, node_of
from tests.reference.stacks import END, Machine, Stack
from tests.reference.utf8 import ALL_BYTES, next_character


@dataclass(frozen=True, slots=True)
class State:
    """All ways to have read the text so far; false if there is none, that is if no bytes can finish the text."""

    configurations: frozenset[Stack]
    partial: bytes = b""

    def __bool__(self) -> bool:
        return bool(self.configurations)


DEAD = State(frozenset())


class Liveness:
    """What can be finished with bytes of `alphabet`: terms by the least fixed point, what is in progress on demand."""

    def __init__(self, rules: dict[str, Term], everything: frozenset[Term], alphabet: frozenset[int]):
        self.alphabet = alphabet
        self._rules = rules
        self._finishable: frozenset[Term] = frozenset()
        self._answers: dict[Frame, bool] = {}
        self.names: dict[Frame, Node] = {}
        self._stacks: dict[Stack, bool] = {END: True}
        while True:
            self._answers.clear()
            self.names.clear()
            self.machine = Machine(self)
            found = frozenset(term for term in everything if term.can_finish(self))
            if found == self._finishable:
                break
            self._finishable = found
        self._answers.clear()
        self.names.clear()
        self.machine = Machine(self)

    def rule(self, name: str) -> Term:
        return self._rules[name]

    def can_finish(self, frame: Frame) -> bool:
        if isinstance(frame, Term):
            return frame in self._finishable
        if frame not in self._answers:
            self._answers[frame] = frame.can_finish(self)
        return self._answers[frame]

    def can_finish_stack(self, stack: Stack) -> bool:
        if stack not in self._stacks:
            below = stack.below
            assert below is not None
            self._stacks[stack] = self.can_finish_stack(below) and self.can_finish(stack.frame)
        return self._stacks[stack]

    def can_read_one(self, stack: Stack, partial: bytes) -> bool:
        """True if the stack can be finished behind some character that begins with `partial`."""
        below, frame = stack.below, stack.frame
        if below is None or not isinstance(frame, Reader) or not self.can_finish_stack(below):
            return False
        return frame.can_read_one(self, partial)


class Recognizer:
    """The language of a `GrammarSpec`, byte by byte; see the module head."""

    def __init__(self, spec: terms.GrammarSpec, alphabet: frozenset[int] = ALL_BYTES):
        self.alphabet = alphabet
        self._compiled: dict[terms.Grammar, Term] = {}
        self._rules = {name: self._compile(term) for name, term in spec.rules.items()}
        everything = frozenset(self._compiled.values())
        self._by_any_bytes = Liveness(self._rules, everything, ALL_BYTES)
        whole = alphabet >= ALL_BYTES
        self._by_alphabet = self._by_any_bytes if whole else Liveness(self._rules, everything, alphabet)
        self._machine = self._by_any_bytes.machine
        self._alive: dict[State, bool] = {}
        self._legal: dict[State, frozenset[int]] = {}
        self._steps: dict[tuple[State, int], State] = {}
        self._start = State(self._machine.begin(self._rules[spec.start]))

    # ------------------------------------------------------------ what callers ask

    def start(self) -> State:
        return self._start

    def step(self, state: State, byte: int) -> State:
        """The state behind `byte`: false if no bytes can finish the text any more."""
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
        """True if bytes of the alphabet can finish the text: the kernel's mask allows what leads to such a state."""
        if state not in self._alive:
            live = self._by_alphabet
            self._alive[state] = any(
                live.can_read_one(stack, state.partial) if state.partial else live.can_finish_stack(stack)
                for stack in state.configurations
            )
        return self._alive[state]

    def is_complete(self, state: State) -> bool:
        return not state.partial and END in state.configurations

    def accepts(self, data: bytes) -> bool:
        return self.is_complete(self.advance(self._start, data))

    def legal_bytes(self, state: State) -> frozenset[int]:
        """The bytes behind which the state is alive; the byte itself may lie outside the alphabet."""
        if state not in self._legal:
            self._legal[state] = frozenset(b for b in range(256) if self.is_alive(self.step(state, b)))
        return self._legal[state]

    def stretches(self, state: State) -> list[tuple[int, int]]:
        """Stretches of code points of which one comes next; not every one in them is legal. For random walks."""
        readers = {stack.frame for stack in state.configurations if isinstance(stack.frame, Reader)}
        return sorted({stretch for reader in readers for stretch in reader.stretches()})

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
                values = tuple(self._ways(member.value) for member in term.members)
                return members_term(term, values, tuple(self._ways(one.value) for one in term.classes))
            case terms.Items():
                prefix = tuple(map(self._ways, term.prefix))
                return items_term(term, prefix, () if term.rest is None else self._ways(term.rest))
        raise TypeError(f"not a grammar term: {term!r}")

    def _ways(self, value: terms.Grammar | terms.Counted) -> Values:
        ways = value.ways if isinstance(value, terms.Counted) else (terms.Way(value),)
        return tuple(CountedWay(self._compile(way.value), frozenset(way.counters)) for way in ways)

    def _step(self, state: State, byte: int) -> State:
        character = next_character(state.partial, byte)
        if isinstance(character, int):
            return State(self._machine.read_all(state.configurations, character))
        if character is None:
            return DEAD
        kept = frozenset(stack for stack in state.configurations if self._by_any_bytes.can_read_one(stack, character))
        return State(kept, character) if kept else DEAD
