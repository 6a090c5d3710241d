"""The mask by brute force: every token is tried. Tokens that begin alike share their steps, nothing else is clever."""

from __future__ import annotations

from collections.abc import Sequence

from tests.reference.grammar import Recognizer, State


class TokenTrie:
    """Tokens by their bytes; a token without bytes is never spelled, so it is in no mask."""

    def __init__(self, tokens: Sequence[bytes], unspelled: frozenset[int] = frozenset()):
        self.children: dict[int, TokenTrie] = {}
        self.token_ids: list[int] = []
        for token_id, token in enumerate(tokens):
            if token and token_id not in unspelled:
                self._insert(token, token_id)

    def _insert(self, token: bytes, token_id: int) -> None:
        node = self
        for byte in token:
            if byte not in node.children:
                node.children[byte] = TokenTrie(())
            node = node.children[byte]
        node.token_ids.append(token_id)


def brute_force_mask(recognizer: Recognizer, state: State, tokens: Sequence[bytes] | TokenTrie) -> set[int]:
    """The tokens behind which the text can be finished. End tokens are not among them: see `is_complete`."""
    trie = tokens if isinstance(tokens, TokenTrie) else TokenTrie(tokens)
    allowed: set[int] = set()
    open_nodes = [(trie, state)]
    while open_nodes:
        node, reached = open_nodes.pop()
        if node.token_ids and recognizer.is_alive(reached):
            allowed.update(node.token_ids)
        for byte, child in node.children.items():
            successor = recognizer.step(reached, byte)
            if successor:
                open_nodes.append((child, successor))
    return allowed


def single_bytes(tokens: Sequence[bytes], unspelled: frozenset[int] = frozenset()) -> frozenset[int]:
    """The alphabet that liveness is relative to: the bytes that some token of one byte spells."""
    return frozenset(token[0] for token_id, token in enumerate(tokens) if len(token) == 1 and token_id not in unspelled)
