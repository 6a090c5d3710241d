"""Random texts of a grammar: for examples, and as a source of tests.

A walk over the legal bytes, weighted so that texts look like texts: printable ASCII more than the rest, ends now and
then. After about `length` bytes the text is finished the shortest way. The same seed gives the same text.
"""

from __future__ import annotations

import random

from constrain.grammar.recognizer import Recognizer

LENGTH = 400
_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789 ABCDEFGHIJKLMNOPQRSTUVWXYZ")


def sample(recognizer: Recognizer, seed: int, *, length: int = LENGTH) -> str:
    """A text of the grammar. Cost: O(length) steps, and one shortest completion."""
    generator = random.Random(seed)
    state, text = recognizer.start, bytearray()
    limit = generator.randint(0, length)
    stop = generator.choice((0.05, 0.15, 0.5))
    while len(text) < limit:
        if recognizer.is_complete(state) and generator.random() < 0.3:
            return text.decode()
        legal = recognizer.legal_bytes(state)
        if not legal:
            break
        byte = _choose(generator, legal, stop)
        state = recognizer.step(state, byte)
        text.append(byte)
    return (bytes(text) + recognizer.completion(state)).decode()


def _choose(generator: random.Random, legal: bytes, stop: float) -> int:
    if len(legal) == 1:
        return legal[0]
    closing = [byte for byte in legal if byte in b'"}]']
    if closing and len(closing) < len(legal) and generator.random() < stop:
        return generator.choice(closing)
    plain = [byte for byte in legal if byte in _PLAIN]
    if plain and generator.random() < 0.85:
        return generator.choice(plain)
    return generator.choice(legal)
