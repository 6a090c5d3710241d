"""From logits to a choice: the stages, and their order as data.

    logits → grammar mask → safety mask → penalties → logit bias → temperature → top-k → top-p → min-p → choice

Main types: `SamplingOptions` (what a caller may set, checked), `StepInputs` (what a step knows), `Pipeline` (stages in
order; prints itself). Each stage is a pure function float32 [B, V'] → float32 [B, V'].

Invariants: what a mask forbids stays forbidden, because no later stage turns -inf into something else (a bias or a
penalty only adds to or scales finite numbers); truncation keeps at least one token of every row that has one. The masks
come first, so that penalties and truncation are judged among legal tokens only.

Sources: Keskar et al. 2019 (repetition penalty), Fan et al. 2018 (top-k), Holtzman et al. 2020 (top-p), Nguyen et al.
2024 (min-p).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import torch

from constrain.errors import InvalidSpecification, shorten
from constrain.matching.logits_mask import apply_mask

__all__ = ["Pipeline", "SamplingOptions", "Stage", "StepInputs", "build_pipeline"]

FORBIDDEN: Final = float("-inf")


@dataclass(frozen=True, slots=True)
class SamplingOptions:
    """How to choose among legal tokens; the defaults are greedy.

    Raises:  InvalidSpecification: naming the option, if a value is out of range.
    """

    temperature: float = 0.0
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    logit_bias: Mapping[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check("temperature", self.temperature, 0.0, 100.0)
        _check("repetition_penalty", self.repetition_penalty, 0.01, 100.0)
        _check("presence_penalty", self.presence_penalty, -100.0, 100.0)
        _check("frequency_penalty", self.frequency_penalty, -100.0, 100.0)
        for name, value in (("top_p", self.top_p), ("min_p", self.min_p)):
            if value is not None:
                _check(name, value, 0.0, 1.0)
        if self.top_k is not None and (
            isinstance(self.top_k, bool) or not isinstance(self.top_k, int) or self.top_k < 1
        ):
            raise InvalidSpecification(f"top_k is {shorten(self.top_k)}", expected="an integer of 1 or more")
        if not isinstance(self.logit_bias, Mapping):
            raise InvalidSpecification(f"logit_bias is {shorten(self.logit_bias)}", expected="token id → number to add")
        for token, bias in self.logit_bias.items():
            if isinstance(token, bool) or not isinstance(token, int) or token < 0:
                raise InvalidSpecification(f"logit_bias names {shorten(token)}", expected="token ids")
            _check(f"logit_bias[{token}]", bias, -1e6, 1e6)


@dataclass(frozen=True, slots=True)
class StepInputs:
    """What a step knows besides logits: packed mask rows (int32 [B, ceil(V/32)], None where nothing is masked), and
    the tokens written so far, per row (completion only)."""

    grammar_rows: Any = None
    safety_rows: Any = None
    written: Sequence[Sequence[int]] = ()


StageFunction = Callable[[torch.Tensor, StepInputs], torch.Tensor]


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of the pipeline: `name` says what, `setting` with which value ("" where there is none)."""

    name: str
    function: StageFunction
    setting: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.setting}".rstrip()


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Stages in order. `is_greedy`: the choice is the argmax."""

    stages: tuple[Stage, ...]
    is_greedy: bool

    def __call__(self, logits: torch.Tensor, inputs: StepInputs) -> torch.Tensor:
        """Processed logits, float32 [B, V']; the argument is left alone. Cost: O(B · V') a stage, a sort for top-p."""
        processed = logits.to(torch.float32, copy=True)
        for stage in self.stages:
            processed = stage.function(processed, inputs)
        return processed

    def __str__(self) -> str:
        return " → ".join(["logits", *map(str, self.stages), "argmax" if self.is_greedy else "sample"])


def build_pipeline(options: SamplingOptions) -> Pipeline:
    """The stages that `options` call for, in the order of the module's head; neutral ones are left out.

    Temperature 0 is argmax: truncation could not change the choice, so those stages are left out too.
    """
    is_greedy = options.temperature == 0
    table: tuple[tuple[bool, Stage], ...] = (
        (True, Stage("grammar mask", grammar_mask)),
        (True, Stage("safety mask", safety_mask)),
        _penalty("repetition penalty", repetition_penalty, options.repetition_penalty, neutral=1.0),
        _penalty("presence penalty", presence_penalty, options.presence_penalty, neutral=0.0),
        _penalty("frequency penalty", frequency_penalty, options.frequency_penalty, neutral=0.0),
        (
            bool(options.logit_bias),
            Stage("logit bias", _with(logit_bias, options.logit_bias), f"of {len(options.logit_bias)}"),
        ),
        _truncation("temperature", temperature, None if is_greedy or options.temperature == 1 else options.temperature),
        _truncation("top-k", top_k, None if is_greedy else options.top_k),
        _truncation("top-p", top_p, None if is_greedy or options.top_p == 1 else options.top_p),
        _truncation("min-p", min_p, None if is_greedy or options.min_p == 0 else options.min_p),
    )
    return Pipeline(tuple(stage for wanted, stage in table if wanted), is_greedy)


def _with(function: Callable[..., torch.Tensor], value: Any) -> StageFunction:
    return lambda logits, inputs: function(logits, value)


def _truncation(name: str, function: Callable[..., torch.Tensor], value: float | None) -> tuple[bool, Stage]:
    return value is not None, Stage(name, _with(function, value), "" if value is None else f"{value:g}")


def _penalty(name: str, function: Callable[..., torch.Tensor], value: float, *, neutral: float) -> tuple[bool, Stage]:
    stage = Stage(name, lambda logits, inputs: function(logits, inputs.written, value), f"{value:g}")
    return value != neutral, stage


# ---------------------------------------------------------------- the stages, as pure functions


def grammar_mask(logits: torch.Tensor, inputs: StepInputs) -> torch.Tensor:
    """Forbid what the grammar's mask forbids, and all beyond the vocabulary. Writes into `logits`."""
    return logits if inputs.grammar_rows is None else apply_mask(logits, inputs.grammar_rows)


def safety_mask(logits: torch.Tensor, inputs: StepInputs) -> torch.Tensor:
    """The same for a mask that does not come from the grammar (none yet: a seam). Writes into `logits`."""
    return logits if inputs.safety_rows is None else apply_mask(logits, inputs.safety_rows)


def repetition_penalty(logits: torch.Tensor, written: Sequence[Sequence[int]], penalty: float) -> torch.Tensor:
    """Divide (where negative: multiply) the logits of tokens already written by `penalty`."""
    result = logits.clone()
    for row, tokens in enumerate(written):
        seen = _distinct(tokens, logits.shape[1])
        values = logits[row, seen]
        result[row, seen] = torch.where(values > 0, values / penalty, values * penalty)
    return result


def presence_penalty(logits: torch.Tensor, written: Sequence[Sequence[int]], penalty: float) -> torch.Tensor:
    """Subtract `penalty` from the logits of tokens already written."""
    result = logits.clone()
    for row, tokens in enumerate(written):
        result[row, _distinct(tokens, logits.shape[1])] -= penalty
    return result


def frequency_penalty(logits: torch.Tensor, written: Sequence[Sequence[int]], penalty: float) -> torch.Tensor:
    """Subtract `penalty` times the number of times a token was written."""
    result = logits.clone()
    for row, tokens in enumerate(written):
        ids = torch.tensor(
            [token for token in tokens if token < logits.shape[1]], dtype=torch.long, device=logits.device
        )
        result[row].index_add_(0, ids, torch.full((len(ids),), -penalty, dtype=result.dtype, device=logits.device))
    return result


def logit_bias(logits: torch.Tensor, bias: Mapping[int, float]) -> torch.Tensor:
    """Add `bias[token]` to that token's logit in every row. A forbidden token stays forbidden."""
    known = {token: value for token, value in bias.items() if token < logits.shape[1]}
    result = logits.clone()
    result[:, list(known)] += torch.tensor(list(known.values()), dtype=logits.dtype, device=logits.device)
    return result


def temperature(logits: torch.Tensor, value: float) -> torch.Tensor:
    """Divide by `value` > 0, after shifting the largest to 0, so that a tiny value cannot overflow."""
    largest = logits.max(dim=-1, keepdim=True).values
    return (logits - torch.where(largest.isfinite(), largest, 0.0)) / max(value, 1e-6)


def top_k(logits: torch.Tensor, count: int) -> torch.Tensor:
    """Keep the `count` largest of each row (and what equals the last of them)."""
    if count >= logits.shape[-1]:
        return logits
    threshold = logits.topk(count, dim=-1).values[:, -1:]
    return logits.masked_fill(logits < threshold, FORBIDDEN)


def top_p(logits: torch.Tensor, share: float) -> torch.Tensor:
    """Keep the fewest tokens whose probabilities reach `share`; at least the likeliest."""
    ordered, order = logits.sort(dim=-1, descending=True, stable=True)
    probabilities = ordered.softmax(dim=-1)
    before = probabilities.cumsum(dim=-1) - probabilities
    dropped = before >= share
    dropped[:, 0] = False
    return logits.masked_fill(torch.zeros_like(dropped).scatter(1, order, dropped), FORBIDDEN)


def min_p(logits: torch.Tensor, share: float) -> torch.Tensor:
    """Keep tokens at least `share` times as likely as the likeliest."""
    if share <= 0:
        return logits
    return logits.masked_fill(logits < logits.max(dim=-1, keepdim=True).values + math.log(share), FORBIDDEN)


def _distinct(tokens: Sequence[int], width: int) -> torch.Tensor:
    return torch.tensor(sorted({token for token in tokens if token < width}), dtype=torch.long)


def _check(name: str, value: object, low: float, high: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise InvalidSpecification(f"{name} is {shorten(value)}", expected=f"a number from {low:g} to {high:g}")
