"""One request, step by step: `Generation` turns prompt ids into events.

    jump over what is forced → mask → logits → pipeline → choice → accept → show

The model is asked only where there is a choice: forced tokens wait and go through it together with the next step's, in
one pass, and a text that can only end ends without it.

Invariants: under a grammar a text is complete whenever the generation ends for another reason than being cancelled; at
most `budget` tokens are written.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch

from constrain.decoding.guide import Guide, Step
from constrain.decoding.pipeline import Pipeline, StepInputs
from constrain.decoding.result import Event, FinishReason, Usage
from constrain.decoding.sampler import choose
from constrain.decoding.text_stream import TextStream

__all__ = ["Clock", "Generation", "RunTokens"]

RunTokens = Callable[[Sequence[int]], torch.Tensor]
"""Runs tokens after those run before; gives logits [1, V'] after the last."""


@dataclass(slots=True)
class Clock:
    """Seconds by purpose; a consumer's time between two events is on nobody's account."""

    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(("prefill", "decode", "mask"), 0.0))

    @contextmanager
    def on(self, purpose: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[purpose] += time.perf_counter() - start


class Generation:
    """The state of one request. `run` may be called once; afterwards `finish_reason`, `tokens` and `usage` hold.

    Args:    run_tokens: the model with its cache. prompt_ids: at least one. budget: tokens that may be written.
             is_cancelled: asked before every step.
    """

    def __init__(
        self,
        run_tokens: RunTokens,
        vocabulary: Any,
        prompt_ids: Sequence[int],
        *,
        budget: int,
        guide: Guide,
        pipeline: Pipeline,
        generator: torch.Generator,
        stream: TextStream,
        is_cancelled: Callable[[], bool] = lambda: False,
    ):
        self._run_tokens = run_tokens
        self._vocabulary = vocabulary
        self._prompt_length = len(prompt_ids)
        self._pending = list(prompt_ids)
        self._budget = budget
        self._guide = guide
        self._pipeline = pipeline
        self._generator = generator
        self._stream = stream
        self._is_cancelled = is_cancelled
        self._clock = Clock()
        self._forced = self._choices = self._masked = 0
        self._was_prefilled = False
        self.tokens: list[int] = []
        self.finish_reason: FinishReason = "end"

    @property
    def remaining(self) -> int:
        return self._budget - len(self.tokens)

    def run(self) -> Iterator[Event]:
        """The events of the generation, without a result. Raises: what the model and the matcher raise."""
        while True:
            if self._is_cancelled():
                self.finish_reason = "cancelled"
                break
            with self._clock.on("mask"):
                step, forced = self._guide.jump(self.remaining)
            if forced:
                yield self._write(forced, forced=True)
            if step is Step.WRITTEN and not self._stream.is_stopped:
                step, chosen = self._choose()
                if step is Step.END:
                    break
                if step is Step.WRITTEN and chosen is not None:
                    yield self._write([chosen], forced=False)
            if step is Step.BUDGET or self._stream.is_stopped:
                self.finish_reason = "budget" if step is Step.BUDGET else "stop"
                break
        yield from self._finish()

    def _choose(self) -> tuple[Step, int | None]:
        """Mask, ask the model, choose, and let the guide judge."""
        with self._clock.on("mask"):
            row, forbidden = self._guide.mask()
            if row is not None and self._guide.must_end:
                return Step.END, None
        if self.remaining == 0:
            return Step.BUDGET, None
        logits = self._logits()
        with self._clock.on("decode"):
            inputs = StepInputs(grammar_rows=None if row is None else row[None], written=(self.tokens,))
            processed = self._pipeline(logits, inputs)
            token = int(choose(processed, is_greedy=self._pipeline.is_greedy, generator=self._generator))
        self._choices += 1
        self._masked += forbidden
        with self._clock.on("mask"):
            return self._guide.accept(token, self.remaining), token

    def _logits(self) -> torch.Tensor:
        with self._clock.on("decode" if self._was_prefilled else "prefill"):
            # Models pad their output beyond the vocabulary; what lies there is no token.
            logits = self._run_tokens(self._pending)[:, : self._vocabulary.size].cpu()
        self._was_prefilled = True
        self._pending = []
        return logits

    def _write(self, tokens: Sequence[int], *, forced: bool) -> Event:
        self.tokens.extend(tokens)
        self._pending.extend(tokens)
        self._forced += len(tokens) if forced else 0
        return Event(self._stream.push(self._vocabulary.decode(tokens)), tuple(tokens), forced)

    def _finish(self) -> Iterator[Event]:
        """Complete the text where it was cut, and let go of what was held back."""
        if self.finish_reason in ("budget", "stop"):
            completion = self._guide.completion()
            if completion:
                yield self._write(completion, forced=True)
        rest = self._stream.finish()
        if rest:
            yield Event(rest)

    def usage(self, compile_s: float = 0.0) -> Usage:
        """The account so far."""
        seconds = self._clock.seconds
        return Usage(
            prompt_tokens=self._prompt_length,
            completion_tokens=len(self.tokens),
            forced_tokens=self._forced,
            choices=self._choices,
            masked_choices=self._masked,
            compile_s=compile_s,
            prefill_s=seconds["prefill"],
            decode_s=seconds["decode"],
            mask_s=seconds["mask"],
        )
