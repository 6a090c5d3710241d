"""From text to token ids: through the `tokenizers` library where a tokenizer is known, else by segmentation.

`TokenizersEncoder` holds a tokenizer.json document and builds the library's object when first called. It encodes what
stands in the *middle* of a text: no prefix space, no normalisation, no special tokens. `Segmenter` needs tokens only:
the longest first, and if that runs into a dead end, the fewest tokens by dynamic programming (O(n · longest token)).

Invariant: both answer for plain text alone; `Vocabulary.encode` checks that the ids spell the text and, if not (a
normaliser that changes characters, a byte without token), takes the segmentation.
"""

from __future__ import annotations

import json
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from constrain.errors import VocabularyError, shorten

__all__ = ["JsonSource", "Segmenter", "TokenizersEncoder", "encode_bytes", "flat_steps", "for_middle_of_text"]

LOSSY_NORMALIZERS = {
    "NFC", "NFD", "NFKC", "NFKD", "Nmt", "Precompiled", "BertNormalizer", "Lowercase", "Strip", "StripAccents",
    "Prepend",
}  # fmt: skip
"""Normalisers that change the text or add to it: a forced text must come out as it went in."""


class Segmenter:
    """Cuts bytes into tokens without knowing the tokenizer."""

    def __init__(self, spelled: Sequence[bytes]) -> None:
        self._ids: dict[bytes, int] = {}
        for token_id in range(len(spelled) - 1, -1, -1):  # the lowest id of equal spellings wins
            self._ids[spelled[token_id]] = token_id
        self._ids.pop(b"", None)
        lengths: dict[int, set[int]] = {}
        for token in self._ids:
            lengths.setdefault(token[0], set()).add(len(token))
        self._lengths = {first: sorted(found, reverse=True) for first, found in lengths.items()}

    def encode(self, data: bytes) -> list[int]:
        """Ids that spell `data`. Raises: VocabularyError: none do."""
        ids: list[int] = []
        position = 0
        while position < len(data):
            found = next(self._tokens_at(data, position), None)
            if found is None:
                return self._fewest(data)
            length, token_id = found
            ids.append(token_id)
            position += length
        return ids

    def _tokens_at(self, data: bytes, position: int):
        room = len(data) - position
        for length in self._lengths.get(data[position], ()):
            if length <= room:
                token_id = self._ids.get(data[position : position + length])
                if token_id is not None:
                    yield length, token_id

    def _fewest(self, data: bytes) -> list[int]:
        cost: list[int | None] = [0] + [None] * len(data)
        back: list[tuple[int, int]] = [(0, 0)] * (len(data) + 1)
        reached = 0
        for position in range(len(data)):
            here = cost[position]
            if here is None:
                continue
            for length, token_id in self._tokens_at(data, position):
                end = position + length
                reached = max(reached, end)
                known = cost[end]
                if known is None or here + 1 < known:
                    cost[end], back[end] = here + 1, (position, token_id)
        if cost[-1] is None:
            raise VocabularyError(
                f"no tokens of this vocabulary spell {shorten(data)}",
                at=f"byte {reached} (value {data[reached]})" if reached < len(data) else "the end",
                help="see unproducible_bytes for the byte values without a token of their own",
            )
        ids: list[int] = []
        position = len(data)
        while position:
            position, token_id = back[position]
            ids.append(token_id)
        return ids[::-1]


def encode_bytes(
    data: bytes, encode: Callable[[str], Sequence[int]], segment: Callable[[bytes], list[int]]
) -> list[int] | None:
    """Runs of valid UTF-8 by `encode`, the bytes between them by `segment`; None if the tokenizer knows no answer."""
    ids: list[int] = []
    while data:
        try:
            text, bad, rest = data.decode("utf-8"), b"", b""
        except UnicodeDecodeError as error:
            text, bad, rest = data[: error.start].decode("utf-8"), data[error.start : error.end], data[error.end :]
        ids += map(int, encode(text)) if text else ()
        try:
            ids += segment(bad) if bad else ()
        except VocabularyError:
            return None
        data = rest
    return ids


def flat_steps(node: Any, key: str) -> list[dict[str, Any]]:
    """The steps of a tokenizer.json component, in order, sequences flattened; no recursion, as nesting is foreign."""
    steps: list[dict[str, Any]] = []
    pending = [node]
    while pending:
        step = pending.pop()
        if not isinstance(step, dict):
            continue
        children = step.get(key) if step.get("type") == "Sequence" else None
        if isinstance(children, list):
            pending += reversed(children)
        else:
            steps.append(step)
    return steps


def for_middle_of_text(document: dict[str, Any]) -> dict[str, Any]:
    """The tokenizer.json `document`, changed so that text is encoded as it would be inside a longer text."""
    steps = [s for s in flat_steps(document.get("normalizer"), "normalizers") if s.get("type") not in LOSSY_NORMALIZERS]
    cutters = [dict(step) for step in flat_steps(document.get("pre_tokenizer"), "pretokenizers")]
    for cutter in cutters:
        if cutter.get("type") in ("ByteLevel", "Metaspace"):
            if "prepend_scheme" in cutter:
                cutter["prepend_scheme"] = "never"
            if "add_prefix_space" in cutter:
                cutter["add_prefix_space"] = False
    model = dict(document["model"])
    if "dropout" in model:  # random merges are for training
        model["dropout"] = None
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {
        **document,
        "added_tokens": [{**flags, **token} for token in document.get("added_tokens") or []],
        "normalizer": {"type": "Sequence", "normalizers": steps} if steps else None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": cutters} if cutters else None,
        "model": model,
        "post_processor": None,
        "truncation": None,
        "padding": None,
    }


class TokenizersEncoder:
    """Text to ids by the `tokenizers` library, from the source of a tokenizer.json; built when first called.

    Without the library `encode` warns once and answers nothing, so that the caller's segmentation takes over.
    Raises: VocabularyError: if the library refuses the document.
    """

    def __init__(self, source: Callable[[], str], name: str = "") -> None:
        self._source = source
        self._name = name
        self._tokenizer: Any = None
        self._lock = threading.Lock()

    def __call__(self, text: str) -> list[int]:
        tokenizer = self._tokenizer or self._build()
        return tokenizer.encode(text, add_special_tokens=False).ids if tokenizer else []

    def __getstate__(self) -> dict[str, Any]:
        return {"_source": self._source, "_name": self._name}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["_source"], state["_name"])

    def _build(self) -> Any:
        with self._lock:
            if self._tokenizer is None:
                try:
                    from tokenizers import Tokenizer
                except ImportError:
                    warnings.warn(
                        "'tokenizers' is not installed: text is cut into longest tokens, not as the model was trained; "
                        "pip install 'constrain[tokenizers]'",
                        stacklevel=4,
                    )
                    self._tokenizer = False
                    return False
                try:
                    tokenizer = Tokenizer.from_str(self._source())
                except Exception as error:  # the library raises bare Exception
                    raise VocabularyError(
                        f"the tokenizers library refuses this tokenizer: {shorten(str(error))}", at=self._name or None
                    ) from None
                tokenizer.encode_special_tokens = True  # the text of a special token is text
                self._tokenizer = tokenizer
            return self._tokenizer


class JsonSource:
    """The text of a tokenizer.json, prepared for the middle of a text when asked for."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw

    def __call__(self) -> str:
        return json.dumps(for_middle_of_text(json.loads(self._raw)), ensure_ascii=False)
