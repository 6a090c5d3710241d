"""The last step: from processed logits to one token per row."""

from __future__ import annotations

import torch

from constrain.errors import ModelError

__all__ = ["choose", "logits_to_probs", "sample", "seeded_generator"]


def seeded_generator(seed: int) -> torch.Generator:
    """A generator whose draws `seed` fixes; any integer will do."""
    return torch.Generator().manual_seed(seed & 0x7FFF_FFFF_FFFF_FFFF)


def logits_to_probs(logits: torch.Tensor) -> torch.Tensor:
    """Softmax over the last axis in float32; a forbidden token (-inf) gets exactly 0.

    Raises:  ModelError: if a row has nothing left to choose, or holds a NaN or +inf.
    """
    probabilities = logits.float().softmax(dim=-1)
    if not bool(probabilities.isfinite().all()):
        raise ModelError(
            "the logits leave nothing to choose from",
            expected="in each row at least one finite number, no NaN, no +inf",
            help="does the tokenizer belong to this model?",
        )
    return probabilities


def sample(probabilities: torch.Tensor, generator: torch.Generator | None = None) -> torch.Tensor:
    """One token per row, int64 [B], drawn from `probabilities` [B, V]. A token of probability 0 is never drawn.

    By inverting the distribution function in float64, with a point strictly below its end: the step it falls on has a
    height, so rounding cannot land on a forbidden token. (Rejected: exponential races, eight times as slow because they
    draw a number for each token.)
    """
    steps = probabilities.double().cumsum(dim=-1)
    ends = steps[:, -1:]
    points = torch.rand(ends.shape, dtype=torch.float64, generator=generator).to(ends.device) * ends
    points = torch.minimum(points, torch.nextafter(ends, torch.zeros_like(ends)))
    return torch.searchsorted(steps, points, right=True).squeeze(-1)


def choose(logits: torch.Tensor, *, is_greedy: bool, generator: torch.Generator | None = None) -> torch.Tensor:
    """int64 [B]: the largest logit of each row (the lowest id of equals) if greedy, else a draw from the softmax.

    Raises:  ModelError: as `logits_to_probs`.
    """
    if not is_greedy:
        return sample(logits_to_probs(logits), generator)
    largest, chosen = logits.max(dim=-1)
    if not bool(largest.isfinite().all()):
        raise ModelError(
            "the logits leave nothing to choose from",
            expected="in each row at least one finite number, no NaN, no +inf",
            help="does the tokenizer belong to this model?",
        )
    return chosen
