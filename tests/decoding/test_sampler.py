"""Choosing: exact where it is exact; where it is random, tested with stated odds of a false alarm."""

from __future__ import annotations

import math

import pytest
import torch

from constrain.decoding.sampler import choose, logits_to_probs, sample, seeded_generator
from constrain.errors import ModelError

DRAWS = 20_000
# Chi-square with 7 degrees of freedom exceeds 40.5 once in a million draws of this whole test.
CHI_SQUARE_LIMIT = 40.5


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_draws_follow_the_probabilities(seed: int) -> None:
    """False-alarm odds: 1 in 1,000,000 a seed, if seeds were fresh; being fixed, the test is deterministic."""
    probabilities = torch.tensor([[0.4, 0.2, 0.15, 0.1, 0.08, 0.05, 0.015, 0.005, 0.0]])
    draws = sample(probabilities.expand(DRAWS, -1).contiguous(), seeded_generator(seed))
    counts = draws.bincount(minlength=9)
    assert counts[8] == 0
    expected = probabilities[0, :8] * DRAWS
    assert float(((counts[:8] - expected) ** 2 / expected).sum()) < CHI_SQUARE_LIMIT


def test_rows_are_drawn_independently() -> None:
    """Two fair rows agree in half of the draws: 5 standard deviations, false-alarm odds 1 in 1,700,000."""
    generator = seeded_generator(5)
    draws = torch.stack([sample(torch.full((2, 2), 0.5), generator) for _ in range(4_000)])
    agreements = int((draws[:, 0] == draws[:, 1]).sum())
    assert abs(agreements - 2_000) < 5 * math.sqrt(4_000 / 4)


def test_a_seed_fixes_the_draws() -> None:
    probabilities = torch.full((50, 100), 0.01)
    first, again = (sample(probabilities, seeded_generator(7)) for _ in range(2))
    assert torch.equal(first, again)
    assert not torch.equal(first, sample(probabilities, seeded_generator(8)))
    assert torch.equal(first, sample(probabilities, seeded_generator(7 + (1 << 63))))


def test_greedy_takes_the_lowest_id_of_equals() -> None:
    assert choose(torch.tensor([[0.0, 3.0, 3.0], [1.0, float("-inf"), 0.0]]), is_greedy=True).tolist() == [1, 0]


def test_a_single_legal_token_is_always_chosen() -> None:
    logits = torch.full((64, 1000), float("-inf"))
    logits[:, 3] = -1e30
    assert choose(logits, is_greedy=False, generator=seeded_generator(0)).unique().tolist() == [3]
    assert choose(logits, is_greedy=True).unique().tolist() == [3]


@pytest.mark.parametrize("bad", [[float("-inf")] * 2, [float("nan"), 0.0], [float("inf"), 0.0]])
@pytest.mark.parametrize("is_greedy", [True, False])
def test_logits_that_leave_no_choice_are_a_typed_error(bad: list[float], is_greedy: bool) -> None:
    with pytest.raises(ModelError, match="nothing to choose"):
        choose(torch.tensor([bad]), is_greedy=is_greedy, generator=seeded_generator(0))


def test_forbidden_tokens_have_no_probability() -> None:
    probabilities = logits_to_probs(torch.tensor([[1.0, float("-inf"), 1.0]]))
    assert probabilities.tolist() == [[0.5, 0.0, 0.5]]
