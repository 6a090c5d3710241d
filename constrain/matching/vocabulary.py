"""What the tokens of a model spell: the bridge between bytes (grammars) and token ids (models).

`Vocabulary` is immutable: `tokens[i]` is what token i contributes to a text, as bytes, because a token may end inside a
UTF-8 character. A *special* token (control, end of sequence, unknown) is never spelled by text, whatever its bytes; an
unused id has `b""`. `spelled_tokens()` folds both into `b""`: that is what the kernel gets.

The readers live beside this module, one per source: `vocabulary_hf` (tokenizer.json, transformers), `vocabulary_gguf`,
`vocabulary_tiktoken`. None of them needs its library to learn what tokens spell; only `encode` does, and only when
called, for the tokenizer's own way of cutting text into tokens (`vocabulary_encoding`).

Invariants: decode(encode(text)) == text, byte for byte: an encoder that normalises, prepends or loses something is
overruled by a plain segmentation. End ids are special ids. Several ids may spell the same bytes.

Not here: chat templates are passed through unread; padding of logits beyond `size` is `logits_mask`'s business.
"""

from __future__ import annotations

import hashlib
import operator
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from constrain import _kernel
from constrain.errors import VocabularyError, shorten
from constrain.matching.vocabulary_encoding import Segmenter, encode_bytes

__all__ = ["MAX_TOKEN_BYTES", "MAX_VOCABULARY_SIZE", "Vocabulary"]

MAX_TOKEN_BYTES = 4096
"""More is no token (the longest known are 256 blanks); the kernel's trie is as deep as the longest one."""

MAX_VOCABULARY_SIZE = 1 << 22
"""More ids than this is a garbled file, not a tokenizer (the largest known have 262,144)."""


class Vocabulary:
    """Tokens as bytes, the ids that end a text, and the tokenizer's own encoding of plain text.

    Args:    tokens: what each id spells; `b""` is never spelled. The literal text of a special token may stand there.
             end_ids: ids that end a text; `()` says that there is none. special_ids: further ids no text may spell.
             encode: the tokenizer's cut of a plain text into ids; without it, the longest token first.
    Raises:  VocabularyError: a token that is not bytes or longer than 4,096, an id out of range or given twice, no
             token at all.
    Cost:    O(size) to build; `fingerprint`, `spelled_tokens` and the segmenter are computed when first asked for.
    """

    def __init__(
        self,
        tokens: Sequence[bytes],
        *,
        end_ids: Iterable[int],
        special_ids: Iterable[int] = (),
        encode: Callable[[str], Sequence[int]] | None = None,
        name: str = "",
        chat_template: str | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> None:
        self._tokens = _checked_tokens(tokens)
        ends = _checked_ids(end_ids, len(self._tokens), "end_ids")
        self._end_ids = tuple(sorted(ends))
        self._special_ids = frozenset(ends) | _checked_ids(special_ids, len(self._tokens), "special_ids")
        self._check_lengths()
        self._encode = encode
        self._name = name
        self._chat_template = chat_template
        self._metadata = dict(metadata or {})

    def _check_lengths(self) -> None:
        if max(map(len, self._tokens)) <= MAX_TOKEN_BYTES:
            return
        for index, token in enumerate(self._tokens):
            if len(token) > MAX_TOKEN_BYTES and index not in self._special_ids:
                raise VocabularyError(
                    f"a token of {len(token)} bytes is too long",
                    at=f"tokens[{index}]",
                    expected=f"at most {MAX_TOKEN_BYTES}",
                    help="if no text should spell it, name its id in special_ids",
                )

    @classmethod
    def from_tokens(
        cls,
        tokens: Sequence[bytes],
        *,
        end_ids: Iterable[int],
        special_ids: Iterable[int] = (),
        encode: Callable[[str], Sequence[int]] | None = None,
        name: str = "",
    ) -> Vocabulary:
        """A vocabulary from a plain list of byte strings."""
        return cls(tokens, end_ids=end_ids, special_ids=special_ids, encode=encode, name=name)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], *, end_ids: Iterable[int] | None = None) -> Vocabulary:
        """A Hugging Face `tokenizer.json` (or `.json.gz`, or the directory that holds it), or a `.gguf` file.

        End ids come from the configuration files beside it, else from well-known names among the special tokens.
        Raises: VocabularyError: unreadable, not a tokenizer, tokens that do not simply concatenate, no end id.
        """
        from constrain.matching import vocabulary_gguf, vocabulary_hf

        _check_path(path)
        if str(path).endswith(".gguf"):
            return vocabulary_gguf.read(path, end_ids=end_ids)
        return vocabulary_hf.read(path, end_ids=end_ids)

    @classmethod
    def from_gguf(cls, path: str | os.PathLike[str], *, end_ids: Iterable[int] | None = None) -> Vocabulary:
        """The tokenizer inside a GGUF model file; its weights are not read. Raises: VocabularyError."""
        from constrain.matching import vocabulary_gguf

        _check_path(path)
        return vocabulary_gguf.read(path, end_ids=end_ids)

    @classmethod
    def from_transformers(cls, tokenizer: Any, *, end_ids: Iterable[int] | None = None) -> Vocabulary:
        """A transformers tokenizer: fast ones by their `tokenizer.json`, slow SentencePiece ones by their pieces."""
        from constrain.matching import vocabulary_hf

        return vocabulary_hf.from_transformers(tokenizer, end_ids=end_ids)

    @classmethod
    def from_tiktoken(cls, encoding: Any, *, end_ids: Iterable[int] | None = None) -> Vocabulary:
        """A `tiktoken.Encoding`."""
        from constrain.matching import vocabulary_tiktoken

        return vocabulary_tiktoken.read(encoding, end_ids=end_ids)

    # ------------------------------------------------------------ what it holds

    @property
    def size(self) -> int:
        """How many ids there are; a model's logits may be wider."""
        return len(self._tokens)

    @property
    def tokens(self) -> tuple[bytes, ...]:
        """The bytes of every id, the literal text for special ones."""
        return self._tokens

    @property
    def end_ids(self) -> tuple[int, ...]:
        """The ids that end a text, ascending."""
        return self._end_ids

    @property
    def special_ids(self) -> frozenset[int]:
        """The ids that no text spells, end ids among them."""
        return self._special_ids

    @property
    def name(self) -> str:
        """Where it came from, for messages."""
        return self._name

    @property
    def chat_template(self) -> str | None:
        """The source of the chat template that came with the tokenizer, unread."""
        return self._chat_template

    @property
    def metadata(self) -> Mapping[str, object]:
        """Facts from the source that are no business of masks: `bos_id`, `add_bos`, `encoder`, …"""
        return MappingProxyType(self._metadata)

    def token_bytes(self, token_id: int) -> bytes:
        """What token `token_id` spells; for a special token its literal text. Raises: VocabularyError: no such id."""
        try:
            index = operator.index(token_id)
        except TypeError:
            raise VocabularyError(f"a token id is an integer, not {shorten(token_id)}") from None
        if not 0 <= index < len(self._tokens):
            raise VocabularyError(f"there is no token {index}", expected=f"an id from 0 to {len(self._tokens) - 1}")
        return self._tokens[index]

    @cached_property
    def _spelled(self) -> tuple[bytes, ...]:
        spelled = list(self._tokens)
        for special in self._special_ids:
            spelled[special] = b""
        return tuple(spelled)

    def spelled_tokens(self) -> tuple[bytes, ...]:
        """`tokens` with `b""` for whatever text cannot spell: special and unused ids."""
        return self._spelled

    @cached_property
    def kernel(self) -> _kernel.Vocab:
        """The kernel's vocabulary: byte trie and shared lexeme splits. Cost: 0.1 s for 128,000 tokens, once."""
        return _kernel.Vocab(self.spelled_tokens(), list(self.end_ids))

    @cached_property
    def unproducible_bytes(self) -> frozenset[int]:
        """The byte values that no token of one byte spells: text that needs them may be out of reach."""
        return frozenset(range(256)) - {token[0] for token in self._spelled if len(token) == 1}

    @cached_property
    def fingerprint(self) -> str:
        """Hex digest of size, tokens, end and special ids: equal exactly for vocabularies that mask alike."""
        digest = hashlib.blake2b(digest_size=16)
        lengths = np.fromiter(map(len, self._tokens), dtype="<i4", count=len(self._tokens))
        specials = np.array(sorted(self._special_ids), dtype="<i4")
        header = (self.size, len(self._end_ids), len(specials))
        for part in (np.array(header, dtype="<i8"), np.array(self._end_ids, dtype="<i4"), specials, lengths):
            digest.update(part.tobytes())
        digest.update(b"".join(self._tokens))
        return digest.hexdigest()

    def __len__(self) -> int:
        return len(self._tokens)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        return f"Vocabulary({self._name or 'tokens'!r}, size={self.size}, end_ids={self._end_ids})"

    # ------------------------------------------------------------ text and ids

    @cached_property
    def _segmenter(self) -> Segmenter:
        return Segmenter(self._spelled)

    def encode(self, text: bytes | str) -> list[int]:
        """The tokenizer's own cut of `text` into ids, never special ones; decode(encode(text)) == text.

        Bytes that are not UTF-8, and texts that the tokenizer would change, are cut into longest tokens instead.
        Raises: VocabularyError: no row of tokens spells the text.
        """
        data = _as_bytes(text)
        ids = encode_bytes(data, self._encode, self._segment) if self._encode else None
        if ids is not None and self._special_ids.isdisjoint(ids) and self.decode(ids) == data:
            return ids
        return self._segment(data)

    def _segment(self, data: bytes) -> list[int]:
        return self._segmenter.encode(data)

    def encode_prompt(self, text: str) -> list[int]:
        """Like `encode`, but the literal text of a special token becomes that token, as in a rendered chat template.

        Only for text that is trusted: a user's words belong in `encode`.
        """
        pattern, ids = self._special_splitter
        if pattern is None:
            return self.encode(text)
        pieces = pattern.split(text)
        return [i for at, piece in enumerate(pieces) for i in ([ids[piece]] if at % 2 else self.encode(piece))]

    @cached_property
    def _special_splitter(self) -> tuple[re.Pattern[str] | None, dict[str, int]]:
        texts = {self._tokens[i].decode("utf-8", "replace"): i for i in sorted(self._special_ids, reverse=True)}
        texts.pop("", None)
        names = sorted(texts, key=len, reverse=True)
        return (re.compile("(" + "|".join(map(re.escape, names)) + ")") if names else None), texts

    def decode(self, ids: Iterable[int]) -> bytes:
        """The bytes that `ids` write; special tokens write nothing. Raises: VocabularyError: no such id."""
        if not isinstance(ids, Iterable):
            raise VocabularyError(f"token ids are a list, not {shorten(ids)}", help="token_bytes(i) takes a single one")
        ids = list(ids)
        spelled = self._spelled
        if all(type(i) is int and 0 <= i < len(spelled) for i in ids):
            return b"".join([spelled[i] for i in ids])
        return b"".join([b"" if i in self._special_ids else self.token_bytes(i) for i in ids])


def _check_path(path: object) -> None:
    if not isinstance(path, (str, os.PathLike)):
        raise VocabularyError(f"a file is named by a path, not {shorten(path)}", help="pass a str or a Path")


def _as_bytes(text: bytes | str) -> bytes:
    if isinstance(text, str):
        try:
            return text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise VocabularyError(
                f"the text holds a lone surrogate, {text[error.start]!r}", at=f"character {error.start}"
            ) from None
    if isinstance(text, (bytes, bytearray, memoryview)):
        return bytes(text)
    raise VocabularyError(f"a text is str or bytes, not {shorten(text)}")


def _checked_tokens(tokens: Sequence[bytes]) -> tuple[bytes, ...]:
    if isinstance(tokens, (str, bytes)) or not isinstance(tokens, Iterable):
        raise VocabularyError(f"tokens are a sequence of bytes, not {shorten(tokens)}")
    checked = tuple(tokens)
    if not checked:
        raise VocabularyError("a vocabulary needs at least one token", help="pass a list of byte strings")
    if len(checked) > MAX_VOCABULARY_SIZE:
        raise VocabularyError(f"{len(checked)} tokens are too many", expected=f"at most {MAX_VOCABULARY_SIZE}")
    for index, token in enumerate(checked):
        if type(token) is not bytes:
            raise VocabularyError(
                f"a token is bytes, not {type(token).__name__}: {shorten(token)}",
                at=f"tokens[{index}]",
                help="encode it: text.encode() (a token may end inside a character, so text would not do)",
            )
    return checked


def _checked_ids(ids: Iterable[int], size: int, argument: str) -> frozenset[int]:
    if isinstance(ids, (str, bytes)) or not isinstance(ids, Iterable):
        raise VocabularyError(f"{argument} is a collection of token ids, not {shorten(ids)}", help=f"{argument}=(2,)")
    seen: set[int] = set()
    for position, value in enumerate(ids):
        at = f"{argument}[{position}]"
        try:
            if isinstance(value, bool):
                raise TypeError
            token_id = operator.index(value)
        except TypeError:
            raise VocabularyError(f"a token id is an integer, not {shorten(value)}", at=at) from None
        if not 0 <= token_id < size:
            raise VocabularyError(f"token {token_id} is out of range", at=at, expected=f"an id from 0 to {size - 1}")
        if token_id in seen:
            raise VocabularyError(f"token {token_id} is given twice", at=at, help="name each id once")
        seen.add(token_id)
    return frozenset(seen)
