"""From what the user says to token ids: through the model's chat template, or as it is.

Invariant: special tokens come from the template (or the model's own beginning of a text) and from nowhere else; the
words of a user are encoded as plain text, even where they spell one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from constrain.errors import ModelError, shorten
from constrain.model.chat_template import ChatTemplate, Piece

__all__ = ["ChatMode", "Prompt", "encode_prompt"]

Prompt = str | Sequence[Mapping[str, Any]]
ChatMode = bool | Literal["auto"]


def encode_prompt(prompt: Prompt, vocabulary: Any, template: ChatTemplate | None, chat: ChatMode = "auto") -> list[int]:
    """Token ids of `prompt`, ready for the completion to follow.

    Args:    prompt: text, or messages (`{"role": …, "content": …}`).
             chat: whether text is wrapped as a user's message; "auto": if the model has a template.
    Raises:  ModelError: if messages are given and there is no template, or the template fails; if nothing is left.
    """
    is_text = isinstance(prompt, str)
    if not is_text and not isinstance(prompt, Sequence):
        raise ModelError(f"the prompt is {shorten(prompt)}", expected="text, or a list of messages")
    wants_chat = not is_text or (template is not None if chat == "auto" else bool(chat))
    if wants_chat and template is None:
        raise ModelError(
            "the model has no chat template",
            help="pass the prompt as one text with chat=False" if is_text else "join the messages to one text",
        )
    if template is None or not wants_chat:
        assert isinstance(prompt, str)
        ids = [*_beginning(vocabulary), *vocabulary.encode(_encodable(prompt))]
    else:
        messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else list(prompt)
        pieces = template.render(messages, _special_tokens(vocabulary))
        ids = [token for piece in pieces for token in _piece_ids(piece, vocabulary)]
    if not ids:
        raise ModelError("the prompt is empty", help="give the model at least one character to go on")
    return ids


def _piece_ids(piece: Piece, vocabulary: Any) -> list[int]:
    return [piece.token_id] if piece.token_id is not None else vocabulary.encode(_encodable(piece.text))


def _encodable(text: str) -> bytes:
    """UTF-8; a lone surrogate, which no token spells, becomes U+FFFD as in any text that was read leniently."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode("utf-8")


def _special_tokens(vocabulary: Any) -> dict[str, int]:
    spelled = ((vocabulary.token_bytes(token).decode("utf-8", "replace"), token) for token in vocabulary.special_ids)
    return {text: token for text, token in spelled if text}


def _beginning(vocabulary: Any) -> list[int]:
    """The token that this model wants before every text, if any."""
    facts: Mapping[str, object] = getattr(vocabulary, "metadata", {})
    begin = facts.get("bos_id")
    return [begin] if facts.get("add_bos") and isinstance(begin, int) else []
