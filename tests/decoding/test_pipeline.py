"""The order of the stages, and each stage by itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from constrain.decoding import pipeline
from constrain.decoding.pipeline import SamplingOptions, StepInputs, build_pipeline
from constrain.decoding.sampler import choose, logits_to_probs, seeded_generator
from constrain.errors import InvalidSpecification

INF = float("inf")
ALL = SamplingOptions(0.7, 3, 0.9, 0.05, 1.2, 0.5, 0.25, {1: 2.0})


def _row(*allowed: int, words: int = 2) -> np.ndarray:
    bits = np.zeros(32 * words, dtype=np.uint8)
    bits[list(allowed)] = 1
    return np.packbits(bits, bitorder="little").view("<i4")[None]


def test_the_order_is_the_documented_one() -> None:
    assert str(build_pipeline(ALL)) == (
        "logits → grammar mask → safety mask → repetition penalty 1.2 → presence penalty 0.5 → "
        "frequency penalty 0.25 → logit bias of 1 → temperature 0.7 → top-k 3 → top-p 0.9 → min-p 0.05 → sample"
    )
    assert str(build_pipeline(SamplingOptions())) == "logits → grammar mask → safety mask → argmax"


def test_stages_run_in_the_order_that_is_printed() -> None:
    logits = torch.tensor([[1.0, -2.0, 3.0, 0.5] + [0.1] * 36])
    inputs = StepInputs(_row(0, 1, 2, 3), _row(0, 1, 3, 4), [[1, 1, 3]])
    expected = logits.clone()
    expected[0, [2, *range(4, 40)]] = -INF
    expected[0, 1] = -2.0 * 1.2 - 0.5 - 2 * 0.25 + 2.0
    expected[0, 3] = 0.5 / 1.2 - 0.5 - 0.25
    expected = (expected - expected.max()) / 0.7
    # Tokens 0, 3 and 1 have the shares 0.845, 0.126 and 0.027 now: top-p 0.9 is reached with two of them.
    expected[0, 1] = -INF
    torch.testing.assert_close(build_pipeline(ALL)(logits, inputs), expected)


@settings(max_examples=100, deadline=None)
@given(
    values=st.lists(st.floats(-30, 30, width=32), min_size=40, max_size=40),
    allowed=st.sets(st.integers(0, 39), min_size=1),
    options=st.builds(
        SamplingOptions,
        temperature=st.sampled_from([0.0, 1e-9, 0.3, 1.0, 100.0]),
        top_k=st.none() | st.integers(1, 60),
        top_p=st.none() | st.floats(0, 1),
        min_p=st.none() | st.floats(0, 1),
        repetition_penalty=st.floats(0.01, 100),
        presence_penalty=st.floats(-100, 100),
        frequency_penalty=st.floats(-100, 100),
        logit_bias=st.dictionaries(st.integers(0, 50), st.floats(-1e6, 1e6), max_size=3),
    ),
    written=st.lists(st.integers(0, 50), max_size=20),
    seed=st.integers(-(2**70), 2**70),
)
def test_whatever_the_options_only_a_legal_token_is_chosen(
    values: list[float], allowed: set[int], options: SamplingOptions, written: list[int], seed: int
) -> None:
    logits = torch.tensor([values])
    stages = build_pipeline(options)
    processed = stages(logits, StepInputs(_row(*allowed), None, [written]))
    chosen = int(choose(processed, is_greedy=stages.is_greedy, generator=seeded_generator(seed)))
    assert chosen in allowed
    assert logits.tolist() == torch.tensor([values]).tolist()


def test_temperature_zero_is_argmax() -> None:
    logits = torch.randn(20, 100, generator=torch.Generator().manual_seed(0))
    stages = build_pipeline(SamplingOptions(temperature=0, top_k=2, top_p=0.1))
    chosen = choose(stages(logits, StepInputs()), is_greedy=stages.is_greedy)
    assert torch.equal(chosen, logits.argmax(-1))


def test_a_tiny_temperature_is_argmax_without_overflow() -> None:
    scaled = pipeline.temperature(torch.tensor([[1e4, 1e4 - 1, -INF]]), 1e-9)
    assert logits_to_probs(scaled).tolist() == [[1.0, 0.0, 0.0]]


def test_top_k_keeps_the_largest() -> None:
    assert pipeline.top_k(torch.tensor([[1.0, 3.0, 2.0, 0.0]]), 2).tolist() == [[-INF, 3.0, 2.0, -INF]]
    assert pipeline.top_k(torch.tensor([[1.0, 2.0]]), 5).tolist() == [[1.0, 2.0]]


def test_top_p_keeps_the_fewest_that_reach_the_share() -> None:
    logits = torch.tensor([[0.5, 0.3, 0.15, 0.05]]).log()
    for share, kept in ((0.0, 1), (0.4, 1), (0.6, 2), (0.79, 2), (0.9, 3), (1.0, 4)):
        assert int(pipeline.top_p(logits, share).isfinite().sum()) == kept


def test_min_p_keeps_what_is_near_the_likeliest() -> None:
    logits = torch.tensor([[0.5, 0.3, 0.15, 0.05]]).log()
    for share, kept in ((0.0, 4), (0.2, 3), (0.5, 2), (1.0, 1)):
        assert int(pipeline.min_p(logits, share).isfinite().sum()) == kept


def test_penalties_touch_written_tokens_only() -> None:
    logits = torch.tensor([[2.0, -2.0, 1.0]])
    assert pipeline.repetition_penalty(logits, [[0, 1, 1, 99]], 2.0).tolist() == [[1.0, -4.0, 1.0]]
    assert pipeline.presence_penalty(logits, [[0, 0, 1]], 0.5).tolist() == [[1.5, -2.5, 1.0]]
    assert pipeline.frequency_penalty(logits, [[0, 0, 1, 99]], 0.5).tolist() == [[1.0, -2.5, 1.0]]


def test_a_bias_cannot_allow_what_a_mask_forbids() -> None:
    stages = build_pipeline(SamplingOptions(logit_bias={2: 1e6, 77: 1.0}))
    processed = stages(torch.zeros(1, 40), StepInputs(_row(0, 1)))
    assert processed[0, 2] == -INF and int(choose(processed, is_greedy=True)) == 0


@pytest.mark.parametrize(
    "options",
    [
        {"temperature": -1}, {"temperature": math.nan}, {"temperature": "hot"}, {"temperature": True}, {"top_k": 0},
        {"top_k": 2.5}, {"top_p": 1.1}, {"min_p": -0.1}, {"repetition_penalty": 0}, {"presence_penalty": INF},
        {"logit_bias": {-1: 0.0}}, {"logit_bias": {1: math.nan}}, {"logit_bias": {"a": 1}}, {"logit_bias": [1]},
    ],
    ids=str,
)  # fmt: skip
def test_an_option_out_of_range_is_named(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidSpecification, match=next(iter(options))):
        SamplingOptions(**options)
