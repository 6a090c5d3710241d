"""Where the commands write: two consoles that print exactly what they are given.

Markup, emoji codes and highlighting are off, since the text comes from users' files; colour follows the terminal and
NO_COLOR. Results go to standard output, what is said about them to standard error.
"""

from __future__ import annotations

import json
import sys
from functools import lru_cache
from typing import Any

from rich.console import Console
from rich.text import Text


def stdout() -> Console:
    return _console(False, id(sys.stdout))


def stderr() -> Console:
    return _console(True, id(sys.stderr))


@lru_cache(maxsize=8)
def _console(to_stderr: bool, stream: int) -> Console:
    """One console for each stream (tests swap the streams, hence the key)."""
    del stream
    return Console(stderr=to_stderr, markup=False, emoji=False, highlight=False, soft_wrap=True)


def print_json(value: Any) -> None:
    """One line of JSON for machines, written at once; half a surrogate pair becomes an escape, which JSON reads too."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    sys.stdout.write(text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n")
    sys.stdout.flush()


def print_styled(text: str, styles: dict[str, str]) -> None:
    """`text` with whole words coloured: the severity and the verdict."""
    line = Text(text)
    for word, style in styles.items():
        line.highlight_words([word], style)
    stdout().print(line)
