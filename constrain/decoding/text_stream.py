"""From token bytes to text that may be shown: whole characters only, and nothing of a stop string.

Invariant: what was given out never has to be taken back. Bytes of an unfinished character wait for the rest; characters
that may begin a stop string wait until they do not.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence

from constrain.errors import InvalidSpecification, shorten

__all__ = ["TextStream"]


class TextStream:
    """Text put together from bytes. `text` is all that was given out so far.

    Args:    stop: strings that end the text, looked for across tokens. keep_stop: give the stop string out too.
    Raises:  InvalidSpecification: if `stop` is not a sequence of strings, each of one character or more.
    """

    def __init__(self, stop: Sequence[str] = (), *, keep_stop: bool = False):
        if isinstance(stop, str) or not all(isinstance(one, str) and one for one in stop):
            raise InvalidSpecification(f"stop is {shorten(stop)}", expected="a list of strings that are not empty")
        self._stop = tuple(stop)
        self._keep_stop = keep_stop
        # Bytes that are not UTF-8 (a free model may write them) become U+FFFD; an unfinished character waits.
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._waiting = ""
        self._given: list[str] = []
        self.is_stopped = False

    @property
    def text(self) -> str:
        return "".join(self._given)

    def push(self, data: bytes) -> str:
        """Add `data`; return what may be shown now. Sets `is_stopped` when a stop string was completed."""
        return self._advance(self._decoder.decode(data))

    def finish(self) -> str:
        """No more will come: return what was held back."""
        shown = self._advance(self._decoder.decode(b"", final=True))
        return shown + self._give(len(self._waiting))

    def _advance(self, characters: str) -> str:
        if self.is_stopped and not self._keep_stop:
            return ""
        self._waiting += characters
        found = [(at, len(one)) for one in self._stop if (at := self._waiting.find(one)) >= 0]
        if found and not self.is_stopped:
            self.is_stopped = True
            if not self._keep_stop:
                shown = self._give(min(found)[0])
                self._waiting = ""
                return shown
        return self._give(len(self._waiting) - self._held_back())

    def _held_back(self) -> int:
        """How many characters at the end might begin a stop string."""
        longest = max(map(len, self._stop), default=1) - 1 if not self.is_stopped else 0
        for size in range(min(longest, len(self._waiting)), 0, -1):
            tail = self._waiting[-size:]
            if any(one.startswith(tail) for one in self._stop):
                return size
        return 0

    def _give(self, count: int) -> str:
        shown, self._waiting = self._waiting[:count], self._waiting[count:]
        if shown:
            self._given.append(shown)
        return shown
