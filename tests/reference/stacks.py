"""Stacks of frames, and the machine that reads characters with them.

A configuration is one way to have read the text so far: a stack of frames, each still to be matched, the innermost on
top. On top of a settled configuration stands a frame that reads characters; the configuration `END` has nothing left to
match. Which frames may be pushed is asked of a `Grammar`: none that cannot be finished.
"""

from __future__ import annotations

from tests.reference.frames import Frame, Grammar, Reader
from tests.reference.regular import TwinLimit

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


class Machine:
    """Pushes, expands and reads, by what `grammar` says can be finished."""

    def __init__(self, grammar: Grammar):
        self._grammar = grammar
        self._stacks: dict[tuple[Frame, Stack], Stack] = {}
        self._settled: dict[Stack, frozenset[Stack]] = {}

    def begin(self, frame: Frame) -> frozenset[Stack]:
        """The settled configurations of `frame` alone."""
        bottom = self.push((frame,), END)
        return self.settle(bottom) if bottom else frozenset()

    def read_all(self, stacks: frozenset[Stack], c: int) -> frozenset[Stack]:
        """The settled configurations once each of `stacks` has read `c`, where it can."""
        successors = (self.read(stack, c) for stack in stacks)
        return frozenset(settled for one in successors if one is not None for settled in self.settle(one))

    def push(self, sequence: tuple[Frame, ...], below: Stack) -> Stack | None:
        """`below` with `sequence` on top, its first frame topmost; None if no bytes can finish that."""
        for frame in reversed(sequence):
            if not self._grammar.can_finish(frame):
                return None
            key = frame, below
            if key not in self._stacks:
                self._stacks[key] = Stack(frame, below)
            below = self._stacks[key]
        if below.depth > DEPTH_LIMIT:
            raise TwinLimit(f"a stack deeper than {DEPTH_LIMIT}")
        return below

    def settle(self, stack: Stack) -> frozenset[Stack]:
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
            if not frame.is_over():
                settled.add(stack)
            if not frame.may_end():
                return []
        pushed = (self.push(way, below) for way in frame.expand(self._grammar))
        return [successor for successor in pushed if successor is not None]

    def read(self, stack: Stack, c: int) -> Stack | None:
        """The stack once its reader has read `c`; None if no bytes can finish that."""
        frame, below = stack.frame, stack.below
        if below is None or not isinstance(frame, Reader) or not frame.reads(c):
            return None
        return self.push((frame.read(c, self._grammar),), below)
