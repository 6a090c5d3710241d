"""Three vocabularies to try masks with: every byte, a byte-level BPE of 500 tokens made here, and SmolLM2's.

The last one lacks tokens for 21 bytes and has tokens that end inside a character; it is read from the model file that
`CONSTRAIN_MODEL` names, with the plain `gguf` reader, so that no code of ours stands between the file and the tokens.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

MODEL_VARIABLE = "CONSTRAIN_MODEL"
BPE_SIZE = 500


@dataclass(frozen=True, slots=True)
class ByteTokens:
    """Token i spells `tokens[i]`; end and special tokens are never spelled by text."""

    name: str
    tokens: tuple[bytes, ...]
    end_ids: tuple[int, ...]
    special_ids: frozenset[int] = frozenset()

    @property
    def unspelled(self) -> frozenset[int]:
        return self.special_ids | frozenset(self.end_ids)


@cache
def all_bytes() -> ByteTokens:
    """Every byte, and one end token."""
    return ByteTokens("bytes", (*(bytes((byte,)) for byte in range(256)), b""), end_ids=(256,))


PIECES = '",|"]|"}|":|":1|":1,|":1,"|":1}|a":1,"|a":1,"x|x":1}|{"|{"a|1,|1]|1,1|1,"|"a|a","|0,-0|,"|,-|1,"a"]|\\u0061"'


@cache
def pieces() -> ByteTokens:
    """Every byte, and tokens that end one part of a small object or array and begin the next."""
    longer = tuple(piece.encode() for piece in PIECES.split("|"))
    return ByteTokens("pieces", (*(bytes((byte,)) for byte in range(256)), *longer, b""), end_ids=(256 + len(longer),))


# ---------------------------------------------------------------- a small BPE


def _training_text() -> bytes:
    """JSON as it is written: compact, spaced and pretty, with names, numbers, escapes, accents and an emoji."""
    names = ("name", "id", "type", "value", "items", "description", "tags", "é", "created_at", "a", "b")
    values = (
        '"',
        '"x"',
        "true",
        "false",
        "null",
        "0",
        "12",
        "-3.5",
        "1e10",
        '"é"',
        '"日本"',
        '"😀"',
        '"a\\nb"',
        '"\\u00e9"',
    )
    lines = []
    for i, name in enumerate(names):
        for j, value in enumerate(values):
            lines.append(f'{{"{name}":{value},"{names[(i + j) % len(names)]}":[{value},{j}{i}]}}')
            lines.append(f'{{"{name}": {value}, "{names[(i * j) % len(names)]}": [{value}, {i}.{j}]}}')
            lines.append(f'{{\n  "{name}": {value},\n  "x{i}": []\n}}, {{}}]}}]')
    return "\n".join(lines).encode()


@cache
def small_bpe() -> ByteTokens:
    """256 bytes, then merges of the most frequent pair (ties: the smaller pair), then an end and a special token."""
    tokens = [bytes((byte,)) for byte in range(256)]
    words = list(_training_text())
    while len(tokens) < BPE_SIZE - 2:
        pairs = Counter(pairwise(words))
        pair = min(pairs, key=lambda pair: (-pairs[pair], pair))
        tokens.append(tokens[pair[0]] + tokens[pair[1]])
        words = _merge(words, pair, len(tokens) - 1)
    end, special = len(tokens), len(tokens) + 1
    return ByteTokens("bpe", (*tokens, b"", b"<tool>"), end_ids=(end,), special_ids=frozenset((special,)))


def _merge(words: list[int], pair: tuple[int, int], merged: int) -> list[int]:
    result: list[int] = []
    index = 0
    while index < len(words):
        if tuple(words[index : index + 2]) == pair:
            result.append(merged)
            index += 2
        else:
            result.append(words[index])
            index += 1
    return result


# ---------------------------------------------------------------- SmolLM2


def _byte_of_character() -> dict[str, int]:
    """The byte-level alphabet of GPT-2: printable bytes are themselves, the others are written from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(0x100 + n): byte for n, byte in enumerate(others)}


@cache
def _read_smollm2(path: str) -> ByteTokens:
    gguf = pytest.importorskip("gguf", reason="reading a model file needs the package gguf")
    fields = gguf.GGUFReader(path).fields
    texts = [bytes(fields["tokenizer.ggml.tokens"].parts[i]).decode() for i in fields["tokenizer.ggml.tokens"].data]
    kinds = [int(fields["tokenizer.ggml.token_type"].parts[i][0]) for i in fields["tokenizer.ggml.token_type"].data]
    byte_of = _byte_of_character()
    normal = 1
    tokens = tuple(
        bytes(byte_of[character] for character in text) if kind == normal else text.encode()
        for text, kind in zip(texts, kinds, strict=True)
    )
    end = int(fields["tokenizer.ggml.eos_token_id"].parts[-1][0])
    return ByteTokens("smollm2", tokens, (end,), frozenset(i for i, kind in enumerate(kinds) if kind != normal))


def smollm2() -> ByteTokens:
    """SmolLM2's vocabulary; skips the test where the model file is not at hand."""
    path = os.environ.get(MODEL_VARIABLE, "")
    if not path or not Path(path).is_file():
        pytest.skip(f"{MODEL_VARIABLE} names no model file")
    return _read_smollm2(path)


VOCABULARIES = {"bytes": all_bytes, "pieces": pieces, "bpe": small_bpe, "smollm2": smollm2}
