"""Chat templates: from messages to a prompt in which nobody but the template can write a special token.

A template is a Jinja program that comes with the model, so it is not trusted: it runs in Jinja's immutable sandbox,
under a limit of time (a trace function looks at the clock on each line of the compiled template) and of size (what can
multiply a string is checked before it does, and the output as it grows).

The content of messages is not trusted either. A rendered prompt is cut into `Piece`s: text, and special tokens that
*the template* wrote. Where content spells one (`<|im_end|>`), or would complete one with what the template puts beside
it, a mark is set inside it before rendering and taken out afterwards, so it is found to be text. (Rejected: a
placeholder per message, which breaks templates that trim or look at the content.)

Invariant: joining the pieces gives the text that the template would give without marks.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from constrain.errors import MissingExtra, ModelError, shorten
from constrain.model.config import read_json

__all__ = ["ChatTemplate", "Piece", "cut_at_special_tokens"]

SOURCE_LIMIT_CHARACTERS: Final = 256 << 10
OUTPUT_LIMIT_CHARACTERS: Final = 8 << 20
TIME_LIMIT_S: Final = 2.0
_ROLE: Final = re.compile(r"[A-Za-z_]{1,32}")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a prompt: `token_id` is None for text."""

    text: str
    token_id: int | None = None


@dataclass(frozen=True)
class ChatTemplate:
    """A template's source, and the spellings of the tokens that begin and end a text."""

    source: str
    begin: str = ""
    end: str = ""

    @classmethod
    def from_gguf(cls, metadata: Mapping[str, Any]) -> ChatTemplate | None:
        """The template in a GGUF file's metadata; None if there is none."""
        source = metadata.get("tokenizer.chat_template")
        if not isinstance(source, str):
            return None
        tokens = metadata.get("tokenizer.ggml.tokens", [])
        return cls(source, *(_gguf_token(metadata, tokens, key) for key in ("bos_token_id", "eos_token_id")))

    @classmethod
    def from_directory(cls, directory: Path) -> ChatTemplate | None:
        """The template in `chat_template.jinja` or `tokenizer_config.json`; None if there is none."""
        path = directory / "tokenizer_config.json"
        config = read_json(path) if path.exists() else {}
        source = _directory_source(directory, config)
        if source is None:
            return None
        return cls(source, *(_named_token(config.get(key)) for key in ("bos_token", "eos_token")))

    def render(
        self,
        messages: Sequence[Mapping[str, Any]],
        special_tokens: Mapping[str, int],
        *,
        add_generation_prompt: bool = True,
    ) -> list[Piece]:
        """The prompt for `messages`, cut at the special tokens that the template wrote.

        Args:    messages: records with a `role` (letters and `_`) and a `content` (text).
                 special_tokens: spelling → id of the tokens that only the template may write.
        Raises:  ModelError: if a message is malformed, or the template does not compile, fails, or meets a limit.
        Cost:    some ms; 2 s and 8 MiB at most.
        """
        checked = [_checked_message(message, index) for index, message in enumerate(messages)]
        mark = _unused_character("".join(message["content"] for message in checked) + self.source)
        broken = [
            {**message, "content": _break_special_tokens(message["content"], special_tokens, mark)}
            for message in checked
        ]
        text = _render_bounded(
            self._compiled,
            messages=broken,
            add_generation_prompt=add_generation_prompt,
            bos_token=self.begin,
            eos_token=self.end,
        )
        pieces = cut_at_special_tokens(text, special_tokens)
        return [Piece(piece.text.replace(mark, ""), piece.token_id) for piece in pieces]

    @cached_property
    def _compiled(self) -> Any:
        if len(self.source) > SOURCE_LIMIT_CHARACTERS:
            raise ModelError(
                f"the chat template has {len(self.source)} characters", expected=f"{SOURCE_LIMIT_CHARACTERS} at most"
            )
        from constrain.model.template_sandbox import compile_template

        return compile_template(self.source, OUTPUT_LIMIT_CHARACTERS)


def cut_at_special_tokens(text: str, special_tokens: Mapping[str, int]) -> list[Piece]:
    """`text` cut at every special token in it; of two that begin at one place, the longer counts."""
    if not special_tokens:
        return [Piece(text)] if text else []
    spellings = sorted(special_tokens, key=len, reverse=True)
    pieces: list[Piece] = []
    for part in re.split("(" + "|".join(map(re.escape, spellings)) + ")", text):
        if part:
            pieces.append(Piece(part, special_tokens.get(part)))
    return pieces


def _render_bounded(template: Any, **values: Any) -> str:
    deadline = time.monotonic() + TIME_LIMIT_S
    previous = sys.gettrace()

    def watch(frame: Any, event: str, argument: Any) -> Callable[..., Any]:
        if time.monotonic() > deadline:
            raise _TimeIsUp
        return watch

    parts: list[str] = []
    size = 0
    sys.settrace(watch)
    try:
        for part in template.generate(**values):
            size += len(part)
            if size > OUTPUT_LIMIT_CHARACTERS:
                raise ModelError("the chat template writes too much", expected=f"{OUTPUT_LIMIT_CHARACTERS} characters")
            parts.append(part)
    except _TimeIsUp:
        raise ModelError(f"the chat template takes longer than {TIME_LIMIT_S:g} s") from None
    except (ModelError, MissingExtra):
        raise
    except Exception as error:  # a template may raise whatever Python can
        raise ModelError(
            f"the chat template fails: {shorten(str(error))}",
            help="pass the prompt as plain text with chat=False, or messages that the template takes",
        ) from error
    finally:
        sys.settrace(previous)
    return "".join(parts)


class _TimeIsUp(BaseException):
    """Raised inside a template; a BaseException, so that no filter swallows it."""


def _checked_message(message: object, index: int) -> dict[str, Any]:
    at = f"messages[{index}]"
    if not isinstance(message, Mapping):
        raise ModelError(f"a message is {shorten(message)}", at=at, expected="an object with role and content")
    role, content = message.get("role"), message.get("content")
    if not isinstance(role, str) or not _ROLE.fullmatch(role):
        raise ModelError(f"the role is {shorten(role)}", at=f"{at}.role", expected="system, user, assistant or tool")
    if not isinstance(content, str):
        raise ModelError(f"the content is {shorten(content)}", at=f"{at}.content", expected="text")
    return {"role": role, "content": content}


def _break_special_tokens(content: str, special_tokens: Iterable[str], mark: str) -> str:
    """`content` with `mark` inside every special token that it spells, or that its ends might complete.

    The ends are looked at without white space, because templates trim.
    """
    breaks: set[int] = set()
    start = len(content) - len(content.lstrip())
    end = len(content.rstrip())
    for token in special_tokens:
        if len(token) < 2:
            continue
        position = content.find(token)
        while position >= 0:
            breaks.add(position + 1)
            position = content.find(token, position + 1)
        for cut in range(1, len(token)):
            if content.startswith(token[cut:], start):
                breaks.add(start + len(token) - cut - 1)
            if content.endswith(token[:cut], 0, end):
                breaks.add(end - cut + 1)
    for position in sorted(breaks, reverse=True):
        content = content[:position] + mark + content[position:]
    return content


def _unused_character(text: str) -> str:
    used = set(text)
    for code in (*range(0xE000, 0xF900), *range(0xF0000, 0x10FFFE)):
        if chr(code) not in used:
            return chr(code)
    raise ModelError("the messages hold every private-use character of Unicode")


def _gguf_token(metadata: Mapping[str, Any], tokens: Sequence[str], key: str) -> str:
    index = metadata.get(f"tokenizer.ggml.{key}")
    return tokens[index] if isinstance(index, int) and 0 <= index < len(tokens) else ""


def _named_token(value: object) -> str:
    if isinstance(value, Mapping):
        value = value.get("content")
    return value if isinstance(value, str) else ""


def _directory_source(directory: Path, config: Mapping[str, Any]) -> str | None:
    path = directory / "chat_template.jinja"
    if path.exists():
        try:
            with path.open(encoding="utf-8") as handle:
                return handle.read(SOURCE_LIMIT_CHARACTERS + 1)
        except (OSError, UnicodeDecodeError) as error:
            raise ModelError("the chat template cannot be read", at=str(path)) from error
    source = config.get("chat_template")
    if isinstance(source, list):  # several by name; "default" is the one for chatting
        named = {entry.get("name"): entry.get("template") for entry in source if isinstance(entry, Mapping)}
        source = named.get("default")
    return source if isinstance(source, str) else None
