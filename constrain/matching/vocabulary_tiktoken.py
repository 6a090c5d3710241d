"""tiktoken encodings: their tokens are bytes already, their special tokens a set of names.

The library is the caller's: only its public methods are used, and nothing is imported here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from constrain.errors import VocabularyError, shorten
from constrain.matching.vocabulary import MAX_VOCABULARY_SIZE, Vocabulary
from constrain.matching.vocabulary_spelling import end_ids_by_name

__all__ = ["read"]


def read(encoding: Any, *, end_ids: Iterable[int] | None = None) -> Vocabulary:
    """The vocabulary of a `tiktoken.Encoding`; end ids are its special tokens of well-known names.

    Raises: VocabularyError: not an encoding, or no end token. Cost: one call for each id.
    """
    try:
        size = int(encoding.max_token_value) + 1
        specials = {str(text): int(encoding.encode_single_token(text)) for text in encoding.special_tokens_set}
        encode = encoding.encode_ordinary
    except (AttributeError, TypeError, ValueError, KeyError) as error:
        raise VocabularyError(
            f"{shorten(type(encoding).__name__)} is no tiktoken encoding: {shorten(str(error))}",
            expected="tiktoken.get_encoding(…) or a tiktoken.Encoding",
        ) from None
    if not 0 < size <= MAX_VOCABULARY_SIZE:
        raise VocabularyError(f"{size} tokens are too many", expected=f"at most {MAX_VOCABULARY_SIZE}")
    ends = end_ids if end_ids is not None else end_ids_by_name(specials.items())
    if end_ids is None and not ends:
        raise VocabularyError(
            "the encoding names no end token",
            at=str(getattr(encoding, "name", "")) or None,
            help="pass end_ids=(…), or end_ids=() if texts are to end by other means",
        )
    return Vocabulary(
        [_token(encoding, token_id) for token_id in range(size)],
        end_ids=ends,
        special_ids=set(specials.values()),
        encode=encode,
        name=str(getattr(encoding, "name", "tiktoken")),
        metadata={"encoder": "tiktoken"},
    )


def _token(encoding: Any, token_id: int) -> bytes:
    try:
        return encoding.decode_single_token_bytes(token_id)
    except KeyError:  # a hole between ordinary and special tokens
        return b""
