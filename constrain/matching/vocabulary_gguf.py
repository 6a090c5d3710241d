"""The tokenizer inside a GGUF file.

`read_metadata` reads the key/value part of the file and nothing else: every length is checked against the bytes that
remain before anything is allocated, so a garbled file costs an error, not memory. (The `gguf` package needs 3 s for
SmolLM2's 98,000 strings and trusts the lengths; this takes a tenth of a second and needs no package.)

`read` turns `tokenizer.ggml.*` into a `Vocabulary`. Two models of spelling: `gpt2` (byte-level characters) and `llama`
(SentencePiece: `▁` is a space, tokens of type *byte* are one byte). Types: 1 normal, 2 unknown, 3 control,
4 user-defined, 5 unused, 6 byte; control and unknown are special, unused spells nothing, user-defined spells its text.

The encoding is rebuilt for the `tokenizers` library from tokens, merges (or scores) and the name of the pre-tokenizer.
An unknown name means no canonical encoding: `metadata["encoder"]` then says so and `encode` takes the longest tokens.
Format: github.com/ggml-org/ggml/blob/master/docs/gguf.md, versions 2 and 3.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
from collections.abc import Iterable
from typing import Any

from constrain.errors import VocabularyError, shorten
from constrain.matching.vocabulary import MAX_VOCABULARY_SIZE, Vocabulary
from constrain.matching.vocabulary_encoding import TokenizersEncoder
from constrain.matching.vocabulary_spelling import byte_level_bytes, end_ids_by_name, sentencepiece_bytes

__all__ = ["read", "read_metadata"]

UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 2, 3, 4, 5, 6

SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
MAX_KEYS = 1 << 16
MAX_ARRAY_DEPTH = 4
MAX_ARRAY_ITEMS = 1 << 23

CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
WORD_CUT = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
"""The cut of cl100k and its heirs; they differ in how many digits make one number."""

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
GPT2_CUT = [{**BYTE_LEVEL, "use_regex": True}]


def _split(pattern: str) -> list[dict[str, Any]]:
    cut = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    return [cut, {**BYTE_LEVEL, "use_regex": False}]


SMOLLM_CUT = [{"type": "Digits", "individual_digits": True}, *GPT2_CUT]
LLAMA3_CUT = _split(WORD_CUT % "{1,3}")
QWEN2_CUT = _split(WORD_CUT % "")
PRE_TOKENIZERS: dict[str, tuple[list[dict[str, Any]], bool]] = {
    **dict.fromkeys(("gpt-2", "gpt2", "phi-2", "mpt", "olmo"), (GPT2_CUT, False)),
    **dict.fromkeys(("smollm", "starcoder", "refact", "command-r", "codeshell"), (SMOLLM_CUT, False)),
    **dict.fromkeys(("llama-bpe", "llama3", "llama-v3"), (LLAMA3_CUT, True)),
    **dict.fromkeys(("qwen2", "deepseek-r1-qwen", "stablelm2"), (QWEN2_CUT, False)),
}
"""`tokenizer.ggml.pre` → (pre-tokenizer steps, whether a whole word in the vocabulary skips the merges)."""


# ---------------------------------------------------------------- the file


class _Reader:
    """Bounded reads from a mapped file; every failure is a VocabularyError that names the byte."""

    def __init__(self, data: mmap.mmap, path: str) -> None:
        self.data = data
        self.path = path
        self.position = 0
        self.order = "<"

    def fail(self, message: str) -> VocabularyError:
        return VocabularyError(
            message, at=f"{self.path}, byte {self.position}", help="the file is damaged or incomplete: fetch it again"
        )

    def need(self, count: int) -> None:
        if count > len(self.data) - self.position:
            raise self.fail(f"the GGUF file ends early: {count} more bytes were announced")

    def scalar(self, code: str) -> Any:
        size = struct.calcsize("<" + code)
        self.need(size)
        (value,) = struct.unpack_from(self.order + code, self.data, self.position)
        self.position += size
        return value

    def text(self) -> str:
        length = self.scalar("Q")
        self.need(length)
        raw = self.data[self.position : self.position + length]
        self.position += length
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            raise self.fail("a string of the GGUF file is not UTF-8") from None

    def value(self, kind: int, depth: int = 0) -> Any:
        if kind in SCALARS:
            return self.scalar(SCALARS[kind])
        if kind == STRING:
            return self.text()
        if kind != ARRAY or depth >= MAX_ARRAY_DEPTH:
            raise self.fail(f"a GGUF value has the unknown type {kind}" if kind != ARRAY else "arrays nest too deeply")
        item, count = self.scalar("I"), self.scalar("Q")
        if count > MAX_ARRAY_ITEMS:
            raise self.fail(f"a GGUF array announces {count} items")
        if item in SCALARS:
            size = struct.calcsize("<" + SCALARS[item])
            self.need(count * size)
            values = list(struct.unpack_from(f"{self.order}{count}{SCALARS[item]}", self.data, self.position))
            self.position += count * size
            return values
        self.need(count * 8)  # a string or an array takes eight bytes at least
        if item == STRING:
            return self._texts(count)
        return [self.value(item, depth + 1) for _ in range(count)]

    def _texts(self, count: int) -> list[str]:
        data, position, limit = self.data, self.position, len(self.data)
        unpack = struct.Struct(self.order + "Q").unpack_from
        texts: list[str] = []
        start = position
        try:
            for _ in range(count):
                start = position + 8
                position = start + unpack(data, position)[0]
                if position > limit:
                    raise struct.error
                texts.append(data[start:position].decode("utf-8"))
        except struct.error:
            self.position = min(position, limit)
            raise self.fail("the GGUF file ends inside an array of strings") from None
        except UnicodeDecodeError:
            self.position = start
            raise self.fail("a string of the GGUF file is not UTF-8") from None
        self.position = position
        return texts


def read_metadata(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The key/value part of a GGUF file: scalars, strings and lists, by key.

    Raises: VocabularyError: not a GGUF file, of another version, truncated or garbled; never more memory than the file.
    """
    name = os.fspath(path)
    try:
        with open(name, "rb") as file:
            if os.fstat(file.fileno()).st_size < 24:
                raise VocabularyError("the file is too short to be GGUF", at=name)
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return _pairs(_Reader(data, name))
    except (OSError, ValueError) as error:
        raise VocabularyError(f"the model file cannot be read: {error}", at=name) from None


def _pairs(reader: _Reader) -> dict[str, Any]:
    if reader.data[:4] != b"GGUF":
        raise VocabularyError("this is not a GGUF file", at=reader.path, expected="the bytes 'GGUF' at its start")
    reader.position = 4
    version = reader.scalar("I")
    if version & 0xFFFF == 0:  # written on a machine of the other byte order
        reader.order = ">"
        reader.position = 4
        version = reader.scalar("I")
    if version not in (2, 3):
        raise VocabularyError(f"GGUF version {version} is not supported", at=reader.path, expected="version 2 or 3")
    reader.scalar("Q")  # the number of tensors, which are not read
    count = reader.scalar("Q")
    if count > MAX_KEYS:
        raise reader.fail(f"the GGUF file announces {count} keys")
    pairs: dict[str, Any] = {}
    for _ in range(count):
        key = reader.text()
        pairs[key] = reader.value(reader.scalar("I"))
    return pairs


# ---------------------------------------------------------------- the vocabulary


def read(path: str | os.PathLike[str], *, end_ids: Iterable[int] | None = None) -> Vocabulary:
    """The vocabulary of a GGUF file. Raises: VocabularyError."""
    name = os.fspath(path)
    fields = read_metadata(path)
    model = fields.get("tokenizer.ggml.model")
    if model not in ("gpt2", "llama"):
        raise VocabularyError(
            "the GGUF file holds no tokenizer" if model is None else f"the tokenizer {shorten(model)!r} is unsupported",
            at=f"{name}, tokenizer.ggml.model",
            expected="'gpt2' (byte-level BPE) or 'llama' (SentencePiece)",
            help="build the vocabulary with Vocabulary.from_tokens",
        )
    texts, types = _texts_and_types(fields, name)
    tokens = _spell(texts, types, model)
    ids = {key: _token_id(fields, key, len(texts), name) for key in ("bos", "eos", "eot", "eom", "unknown", "padding")}
    special = {i for i, kind in enumerate(types) if kind in (UNKNOWN, CONTROL)}
    special |= {i for i in ids.values() if i is not None}
    ends: Iterable[int] | None = end_ids
    if ends is None:
        ends = sorted({i for key in ("eos", "eot", "eom") if (i := ids[key]) is not None})
        ends = ends or end_ids_by_name((texts[i], i) for i in special)
    if end_ids is None and not ends:
        raise VocabularyError(
            "the GGUF file names no end token",
            at=f"{name}, tokenizer.ggml.eos_token_id",
            help="pass end_ids=(…), or end_ids=() if texts are to end by other means",
        )
    pre = fields.get("tokenizer.ggml.pre", "gpt-2")
    encode, note = _encoder(model, pre, texts, types, fields, name)
    template = fields.get("tokenizer.chat_template")
    return Vocabulary(
        tokens,
        end_ids=ends,
        special_ids=special,
        encode=encode,
        name=os.path.basename(name),
        chat_template=template if isinstance(template, str) else None,
        metadata={
            "encoder": note,
            "bos_id": ids["bos"],
            "add_bos": bool(fields.get("tokenizer.ggml.add_bos_token", model == "llama")),
        },
    )


def _texts_and_types(fields: dict[str, Any], name: str) -> tuple[list[str], list[int]]:
    texts = fields.get("tokenizer.ggml.tokens")
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise VocabularyError("the GGUF file lists no tokens", at=f"{name}, tokenizer.ggml.tokens")
    if len(texts) > MAX_VOCABULARY_SIZE:
        raise VocabularyError(f"{len(texts)} tokens are too many", at=f"{name}, tokenizer.ggml.tokens")
    types = fields.get("tokenizer.ggml.token_type", [1] * len(texts))
    if not isinstance(types, list) or len(types) != len(texts) or not all(isinstance(kind, int) for kind in types):
        raise VocabularyError(
            "token types and tokens differ in number", at=f"{name}, tokenizer.ggml.token_type", expected=str(len(texts))
        )
    return texts, types


def _token_id(fields: dict[str, Any], key: str, size: int, name: str) -> int | None:
    value = fields.get(f"tokenizer.ggml.{key}_token_id")
    if value is None or value in (0xFFFFFFFF, -1):  # how writers say "none"
        return None
    if not isinstance(value, int) or not 0 <= value < size:
        raise VocabularyError(
            f"token {shorten(value)} is out of range",
            at=f"{name}, tokenizer.ggml.{key}_token_id",
            expected=f"an id from 0 to {size - 1}",
        )
    return value


def _spell(texts: list[str], types: list[int], model: str) -> list[bytes]:
    if model == "gpt2":
        tokens = byte_level_bytes(texts)
        literal = (UNKNOWN, CONTROL, USER_DEFINED)
        return [
            b"" if kind == UNUSED else texts[i].encode() if kind in literal else tokens[i]
            for i, kind in enumerate(types)
        ]
    return [
        b"" if kind == UNUSED
        else text.encode() if kind in (UNKNOWN, CONTROL)
        else sentencepiece_bytes(text, byte_fallback=kind == BYTE)
        for text, kind in zip(texts, types, strict=True)
    ]  # fmt: skip


# ---------------------------------------------------------------- the encoding


def _encoder(
    model: str, pre: Any, texts: list[str], types: list[int], fields: dict[str, Any], name: str
) -> tuple[TokenizersEncoder | None, str]:
    """The tokenizer's own encoding, and one line about it; the pieces are kept, the library's object built later."""
    added = [(texts[i], i) for i, kind in enumerate(types) if kind == USER_DEFINED]
    plain = [i for i, kind in enumerate(types) if kind not in (UNKNOWN, CONTROL, UNUSED) and texts[i]]
    vocab = {texts[i]: i for i in reversed(plain)}  # of equal texts the first counts
    if model == "llama":
        scores = fields.get("tokenizer.ggml.scores")
        if not isinstance(scores, list) or len(scores) != len(texts):
            return None, "longest token: the file holds no scores"
        return TokenizersEncoder(_SentencePieceSource(vocab, scores, added), name), "SentencePiece BPE"
    merges = fields.get("tokenizer.ggml.merges")
    if (
        not isinstance(pre, str)
        or pre not in PRE_TOKENIZERS
        or not isinstance(merges, list)
        or not all(isinstance(m, str) for m in merges)
    ):
        return None, f"longest token: the pre-tokenizer {shorten(pre)!r} is unknown"
    return TokenizersEncoder(_ByteLevelSource(vocab, merges, added, pre), name), f"byte-level BPE, {pre}"


def _added(added: list[tuple[str, int]]) -> list[dict[str, Any]]:
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False}
    return [{"id": token_id, "content": text, **flags} for text, token_id in added if text]


class _ByteLevelSource:
    """A tokenizer.json for byte-level BPE, made when asked for."""

    def __init__(self, vocab: dict[str, int], merges: list[str], added: list[tuple[str, int]], pre: str) -> None:
        self._vocab, self._merges, self._added, self._pre = vocab, merges, added, pre

    def __call__(self) -> str:
        steps, whole_words = PRE_TOKENIZERS[self._pre]
        vocab = self._vocab
        pairs = [pair for merge in self._merges if len(pair := merge.split(" ")) == 2]
        known = [[a, b] for a, b in pairs if a in vocab and b in vocab and a + b in vocab]
        return json.dumps({
            "version": "1.0",
            "added_tokens": _added(self._added),
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": steps},
            "model": {"type": "BPE", "vocab": vocab, "merges": known, "ignore_merges": whole_words},
        })  # fmt: skip


class _SentencePieceSource:
    """A tokenizer.json for SentencePiece BPE: merges are every split of a piece into pieces, by the piece's score."""

    def __init__(self, vocab: dict[str, int], scores: list[float], added: list[tuple[str, int]]) -> None:
        self._vocab, self._scores, self._added = vocab, scores, added

    def __call__(self) -> str:
        vocab = self._vocab
        merges = [
            (-self._scores[token_id], vocab[piece[:cut]], vocab[piece[cut:]], [piece[:cut], piece[cut:]])
            for piece, token_id in vocab.items()
            for cut in range(1, len(piece))
            if piece[:cut] in vocab and piece[cut:] in vocab
        ]
        merges.sort(key=lambda merge: merge[:3])
        return json.dumps({
            "version": "1.0",
            "added_tokens": _added(self._added),
            "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
            "model": {
                "type": "BPE", "vocab": vocab, "merges": [merge[3] for merge in merges],
                "byte_fallback": True, "fuse_unk": True,
            },
        })  # fmt: skip
