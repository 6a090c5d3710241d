"""What a generation gives back: `Result` at the end, `Event`s on the way, `Usage` for the account.

Invariant: `Result.value` is None unless the text is complete and passed every check; the texts of all events of a
stream, joined, are `Result.text`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from constrain.report import Report

__all__ = ["Event", "FinishReason", "Result", "Usage"]

FinishReason = Literal["end", "budget", "stop", "cancelled"]
"""end: the model ended the text, or nothing else could follow. budget: the tokens ran out (under a specification the
text was then completed the shortest way). stop: a stop string. cancelled: the caller, or the time limit."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and seconds. `forced_tokens` (part of `completion_tokens`) were written without asking the model.

    `masked_choices` sums, over the `choices` the model was asked to make, how many tokens the grammar forbade.
    `decode_s` is model, sampling and bookkeeping; `mask_s` the matcher; `compile_s` the specification.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    forced_tokens: int = 0
    choices: int = 0
    masked_choices: int = 0
    compile_s: float = 0.0
    prefill_s: float = 0.0
    decode_s: float = 0.0
    mask_s: float = 0.0

    @property
    def masked_per_choice(self) -> float:
        """How many tokens the grammar forbade at an average choice."""
        return self.masked_choices / self.choices if self.choices else 0.0

    @property
    def tokens_per_s(self) -> float:
        """Completion tokens per second after the prompt was read."""
        seconds = self.decode_s + self.mask_s
        return self.completion_tokens / seconds if seconds > 0 else 0.0

    def to_json(self) -> dict[str, int | float]:
        """A plain object, for machines."""
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "forced_tokens": self.forced_tokens,
            "choices": self.choices,
            "masked_choices": self.masked_choices,
            "masked_per_choice": self.masked_per_choice,
            "compile_s": self.compile_s,
            "prefill_s": self.prefill_s,
            "decode_s": self.decode_s,
            "mask_s": self.mask_s,
            "tokens_per_s": self.tokens_per_s,
        }


@dataclass(frozen=True, slots=True)
class Result:
    """A finished generation.

    value:          parsed and checked under a specification; the text itself without one; None if cancelled.
    tokens:         ids of the completion, without the end token.
    report:         what the specification's masks enforce; empty without a specification.
    """

    value: Any
    text: str
    tokens: tuple[int, ...]
    usage: Usage
    finish_reason: FinishReason
    report: Report


@dataclass(frozen=True, slots=True)
class Event:
    """A step of a stream. `text` holds whole characters, so it may be empty while a token waits for its rest.

    The last event has `result`, all others None. `forced`: the tokens were the only way on, or the shortest way to the
    end.
    """

    text: str
    token_ids: tuple[int, ...] = ()
    forced: bool = False
    result: Result | None = None
