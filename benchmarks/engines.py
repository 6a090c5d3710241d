"""Two engines behind one narrow interface, so that both are timed by the same loop.

An engine compiles a schema text to a `Session`; a session walks token ids and fills masks into its engine's own row.
Nothing here is timed: `masks.py` takes the clock around `Session.fill`. Each engine gets the fastest documented call:
ours `Matcher.fill_mask(row)`, llguidance's `LLMatcher.unsafe_compute_mask_ptr(pointer, bytes)`.

Both write JSON as `json.dumps` does: `", "` and `": "`, no other white space, members in the order of the schema.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np

END_TOKENS = {"llama3": ("<|end_of_text|>", "<|eot_id|>"), "qwen3": ("<|endoftext|>", "<|im_end|>")}
"""The tokens that end a text, by tokenizer: a `tokenizer.json` does not say."""


class Refused(Exception):
    """The engine does not compile the schema; `kind` names the keyword or the error class."""

    def __init__(self, kind: str, message: str):
        self.kind = kind
        super().__init__(message)


class Session(Protocol):
    """One compiled schema, at the start of a text."""

    fill: Callable[[], Any]
    advance: Callable[[int], Any]

    def restart(self) -> None:
        """Go back to the start of a text; `fill` and `advance` are new callables afterwards."""
        ...

    def is_complete(self) -> bool: ...


class Engine(Protocol):
    name: str
    row: np.ndarray

    def compile(self, schema_text: str) -> Session:
        """Compile, make a matcher, and leave it ready for its first mask. Raises `Refused`."""
        ...

    def forget(self) -> None:
        """Drop what was kept between schemas, unless the engine is meant to share it."""
        ...


def allows(row: np.ndarray, token: int) -> bool:
    """Whether bit `token` of a mask is set."""
    return bool((int(row[token >> 5]) >> (token & 31)) & 1)


def end_ids(tokenizer: Path, name: str) -> list[int]:
    """The ids of `END_TOKENS` in a `tokenizer.json`."""
    added = json.loads(tokenizer.read_text(encoding="utf-8"))["added_tokens"]
    return sorted(token["id"] for token in added if token["content"] in END_TOKENS[name])


# ---------------------------------------------------------------- ours


class OurSession:
    def __init__(self, grammar: Any, row: np.ndarray):
        self.grammar, self.row = grammar, row
        self.restart()

    def restart(self) -> None:
        matcher = self.matcher = self.grammar.matcher()
        row, fill_mask = self.row, matcher.fill_mask
        self.fill = lambda: fill_mask(row)
        self.advance = matcher.advance

    def is_complete(self) -> bool:
        return self.matcher.is_complete


class OurEngine:
    """constrain. With `shared` one Compiler serves all schemas, as in a server; else each schema gets a new one."""

    name = "constrain"

    def __init__(self, tokenizer: Path, name: str, *, shared: bool = False):
        import constrain

        self.constrain = constrain
        self.shared = shared
        self.vocabulary = constrain.Vocabulary.from_file(str(tokenizer))
        self.row = np.zeros((self.vocabulary.size + 31) // 32, dtype=np.int32)
        self.compiler = constrain.Compiler(self.vocabulary)

    def specification(self, schema_text: str) -> Any:
        return self.constrain.json_schema(schema_text, whitespace="spaced")

    def compile(self, schema_text: str) -> OurSession:
        try:
            return OurSession(self.compiler.compile(self.specification(schema_text)), self.row)
        except self.constrain.UnsupportedKeyword as error:
            raise Refused(error.keyword or "schema", str(error)) from error
        except self.constrain.ConstrainError as error:
            raise Refused(type(error).__name__, str(error)) from error

    def forget(self) -> None:
        if not self.shared:
            self.compiler = self.constrain.Compiler(self.vocabulary)


# ---------------------------------------------------------------- llguidance


class PeerSession:
    def __init__(self, matcher: Any, make: Callable[[], Any], row: np.ndarray):
        self.matcher, self.make = matcher, make
        self.pointer, self.size = row.ctypes.data, row.nbytes
        self.bind()

    def bind(self) -> None:
        compute, pointer, size = self.matcher.unsafe_compute_mask_ptr, self.pointer, self.size
        self.fill = lambda: compute(pointer, size)
        self.advance = self.matcher.consume_token

    def restart(self) -> None:
        if self.matcher.is_error() or not self.matcher.reset():
            self.matcher = self.make()
        self.bind()

    def is_complete(self) -> bool:
        return self.matcher.is_accepting()


class PeerEngine:
    """llguidance, with the separators of `json.dumps` and no other white space; it keeps nothing between schemas."""

    OPTIONS = {"item_separator": ", ", "key_separator": ": ", "whitespace_flexible": False}  # noqa: RUF012

    def __init__(self, tokenizer: Path, name: str):
        llguidance: Any = import_module("llguidance")  # lives in the peers' environment only

        version = getattr(llguidance, "__version__", None) or llguidance.get_version()
        self.name = f"llguidance {version}"
        self.matcher_class = llguidance.LLMatcher
        self.tokenizer = llguidance.LLTokenizer(
            tokenizer.read_text(encoding="utf-8"), eos_token=end_ids(tokenizer, name)
        )
        self.row = np.zeros((self.tokenizer.vocab_size + 31) // 32, dtype=np.int32)

    def compile(self, schema_text: str) -> PeerSession:
        def make() -> Any:
            grammar = self.matcher_class.grammar_from_json_schema(schema_text, overrides=self.OPTIONS)
            return self.matcher_class(self.tokenizer, grammar, log_level=0)

        try:
            matcher = make()
        except ValueError as error:
            raise Refused("ValueError", str(error)) from error
        if matcher.is_error():
            message = matcher.get_error()
            raise Refused(message.strip().splitlines()[0][:80], message)
        return PeerSession(matcher, make, self.row)

    def forget(self) -> None:
        pass
