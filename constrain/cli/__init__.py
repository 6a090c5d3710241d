"""The command line: `constrain demo | generate | check | match | version`.

`main` is the entry point. The commands live in `app.py`, each one's work in a module of its own, and nothing heavy is
imported before a command needs it: `constrain --help` loads neither torch nor the kernel.

Exit codes: 0 clean, 1 findings (a specification that does not compile, a text that does not match, a run that failed),
2 wrong usage (an unknown option, a file that is not there), 130 interrupted.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line on `arguments` (default: those of the process) and exit."""
    from constrain.cli.app import run

    run(arguments)
