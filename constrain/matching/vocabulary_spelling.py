"""How tokenizers write bytes as characters, and how they call the tokens that end a text.

Two spellings are in use. *Byte-level* (GPT-2): each byte is one printable character, 256 of them. *SentencePiece*: a
piece is its own text with `▁` for a space, and `<0xAB>` for a byte that no piece spells.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise

__all__ = ["END_NAMES", "byte_level_bytes", "end_ids_by_name", "sentencepiece_bytes"]

END_NAMES = frozenset({
    "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|im_end|>", "<|endoftext|>", "</s>", "<eos>", "<end_of_turn>",
    "<|end|>", "<|eot|>", "<|return|>", "<|call|>", "<|end_of_turn|>", "<|END_OF_TURN_TOKEN|>",
    "<\uff5cend▁of▁sentence\uff5c>", "[EOS]", "[/EOS]", "<turn|>", "<|eos|>", "<|end_of_sentence|>",
})  # fmt: skip
"""Special tokens that end a text, by name, where no configuration says which do."""

PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]


def _byte_level_table() -> dict[str, int]:
    """Printable bytes are their own character; the others follow from U+0100 on, in order."""
    table = {chr(byte): byte for byte in PRINTABLE}
    others = sorted(set(range(256)) - set(PRINTABLE))
    return table | {chr(0x100 + n): byte for n, byte in enumerate(others)}


BYTE_OF = _byte_level_table()


def byte_level_bytes(texts: Sequence[str]) -> list[bytes]:
    """The bytes of byte-level tokens; a token with a character outside the 256 is taken literally, as decoders do.

    All tokens are translated in one go (one character is one byte, so lengths carry over): 60 ms for 128,000.
    """
    joined = "".join(texts)
    try:
        spelled = bytes(map(BYTE_OF.__getitem__, joined))
    except KeyError:
        return [_one_byte_level(text) for text in texts]
    bounds = accumulate(map(len, texts), initial=0)
    return [spelled[start:end] for start, end in pairwise(bounds)]


def _one_byte_level(text: str) -> bytes:
    try:
        return bytes(map(BYTE_OF.__getitem__, text))
    except KeyError:
        return text.encode("utf-8", "surrogatepass")


BYTE_PIECE = re.compile(r"<0x([0-9A-Fa-f]{2})>")


def sentencepiece_bytes(piece: str, *, byte_fallback: bool) -> bytes:
    """The bytes of one SentencePiece piece in the middle of a text."""
    if byte_fallback and (match := BYTE_PIECE.fullmatch(piece)):
        return bytes([int(match[1], 16)])
    return piece.replace("▁", " ").encode("utf-8", "surrogatepass")


def end_ids_by_name(specials: Iterable[tuple[str, int]]) -> list[int]:
    """The ids of those special tokens whose name says that they end a text, ascending."""
    return sorted(token_id for text, token_id in specials if text in END_NAMES)
