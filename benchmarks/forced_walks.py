"""Walks over one grammar that look for dead ends, by choices that a model would hardly make.

`walk` goes byte by byte over `judging.byte_vocabulary`. At every state the mask must not be empty, and the shortest
completion must be taken token by token, leave the text complete, and make it valid by both judges. A forced walk never
ends while anything else is legal; it takes by turns what opens something new, and the least and the greatest byte.
"""

from __future__ import annotations

import random
from typing import Any

from benchmarks.two_judges import Judges

STEPS = 60
"""Bytes of a walk before it is finished the shortest way."""


def walk(grammar: Any, judges: Judges, chance: random.Random, *, is_forced: bool, steps: int = STEPS) -> str:
    """One walk over bytes, checked at every state; what is wrong, or ""."""
    end, matcher = 256, grammar.matcher()
    for _ in range(steps):
        legal = legal_tokens(matcher.mask())
        if not legal:
            return f"dead end after {matcher.text!r}"
        if fault := _unfinishable(matcher, judges):
            return fault
        if is_forced and legal != [end]:
            legal = [token for token in legal if token != end]
            opening = [token for token in legal if token in b'{["' or chr(token).isdigit()]
            choices = opening if opening and chance.random() < 0.4 else [min(legal), max(legal), chance.choice(legal)]
        else:
            choices = legal
        matcher.advance(chance.choice(choices))
        if matcher.is_terminated:
            break
    return _unfinishable(matcher, judges)


def _unfinishable(matcher: Any, judges: Judges) -> str:
    """Why the text so far cannot be finished to a valid one, or ""."""
    fork = matcher.fork()
    try:
        tokens = list(fork.shortest_completion().token_ids)
    except Exception as error:
        return f"after {matcher.text!r} no completion: {type(error).__name__}: {error}"
    if fork.try_advance(tokens) != len(tokens) or not (fork.is_complete or fork.is_terminated):
        return f"after {matcher.text!r} the completion does not complete"
    text = fork.text.decode("utf-8", "backslashreplace")
    objection = judges.objection(text)
    return f"after {matcher.text!r} finished as {text}: {objection}" if objection else ""


def legal_tokens(mask: Any) -> list[int]:
    """The ids of a mask, over few tokens."""
    return [32 * word + bit for word, bits in enumerate(mask) for bit in range(32) if (int(bits) >> bit) & 1]
