"""`apply_mask` against the definition, bit by bit, for every kind of logits."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from constrain.errors import VocabularyError
from constrain.matching.logits_mask import apply_mask

torch = pytest.importorskip("torch", reason="torch is an extra")


def by_definition(logits: np.ndarray, rows: np.ndarray, size: int) -> np.ndarray:
    out = logits.copy()
    for b in range(len(rows)):
        for token in range(logits.shape[1]):
            word = int(rows[b, token // 32]) & 0xFFFFFFFF if token < size else 0
            if not word >> (token % 32) & 1:
                out[b, token] = -np.inf
    return out


@st.composite
def cases(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, int]:
    batch, words = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    size = draw(st.integers(32 * words - 31, 32 * words))
    width = size + draw(st.integers(0, 70))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows = rng.integers(-(2**31), 2**31, (batch, words)).astype(np.int32)
    logits = rng.standard_normal((batch, width))
    logits[rng.random(logits.shape) < 0.05] = draw(st.sampled_from([np.inf, -np.inf, np.nan, 0.0, -0.0]))
    return logits, rows, size


def clear_beyond(rows: np.ndarray, size: int) -> np.ndarray:
    rows = rows.copy()
    if size % 32:
        rows[:, -1] &= np.int32((1 << size % 32) - 1)
    return rows


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@given(case=cases())
def test_numpy_logits_follow_the_definition(dtype: str, case) -> None:
    logits, rows, size = case
    given_logits = logits.astype(dtype)
    expected = by_definition(given_logits, rows, size)
    result = apply_mask(given_logits, rows, vocabulary_size=size)
    assert result is given_logits
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@given(case=cases())
def test_torch_logits_follow_the_definition(dtype: str, case) -> None:
    logits, rows, size = case
    tensor = torch.from_numpy(logits).to(getattr(torch, dtype))
    expected = by_definition(tensor.double().numpy(), rows, size)
    assert apply_mask(tensor, torch.from_numpy(rows), vocabulary_size=size) is tensor
    np.testing.assert_array_equal(tensor.double().numpy(), expected)


@given(case=cases())
def test_without_a_size_the_bits_alone_decide(case) -> None:
    logits, rows, size = case
    rows = clear_beyond(rows, size)
    expected = by_definition(logits, rows, size)
    np.testing.assert_array_equal(apply_mask(logits.copy(), rows), expected)
    np.testing.assert_array_equal(apply_mask(logits[0].copy(), rows[0]), expected[0])


@given(case=cases())
def test_the_path_for_other_devices_follows_the_definition(case) -> None:
    from constrain.matching.logits_mask import _mask_on_device

    logits, rows, size = case
    tensor = torch.from_numpy(logits.copy())
    _mask_on_device(tensor, rows, size)
    np.testing.assert_array_equal(tensor.numpy(), by_definition(logits, rows, size))


def test_strided_logits_are_masked_in_place() -> None:
    whole = np.zeros((2, 128), np.float32)
    apply_mask(whole[:, ::2], np.array([[1, 0], [0, -1]], np.int32))
    assert np.isfinite(whole[:, 1::2]).all()
    assert np.isfinite(whole[0, ::2]).sum() == 1
    assert np.isfinite(whole[1, ::2]).sum() == 32
    tensor = torch.zeros(64, 2).t()
    apply_mask(tensor, np.array([[1, 0], [0, -1]], np.int32))
    assert torch.isfinite(tensor).sum(dim=1).tolist() == [1, 32]


def test_logits_that_require_grad_are_masked() -> None:
    tensor = torch.zeros(32, requires_grad=True)
    apply_mask(tensor, np.array([1], np.int32))
    assert torch.isfinite(tensor).sum() == 1


ROWS = np.zeros((1, 2), np.int32)


@pytest.mark.parametrize(
    ("logits", "rows", "size"),
    [
        (np.zeros((1, 32), np.float32), ROWS, None),  # fewer columns than a vocabulary of two words can have
        (np.zeros((1, 40), np.float32), ROWS, 41),
        (np.zeros((1, 64), np.float32), ROWS, 65),
        (np.zeros((2, 64), np.float32), ROWS, None),
        (np.zeros((64,), np.float32), ROWS, None),
        (np.zeros((1, 1, 64), np.float32), ROWS[None], None),
        (np.zeros((1, 64), np.int32), ROWS, None),
        (np.zeros((1, 64), np.float32), ROWS.astype(np.int64), None),
        (np.zeros((1, 64), np.float32), [[0, 0]], None),
        ([[0.0] * 64], ROWS, None),
        (np.broadcast_to(np.zeros(64, np.float32), (1, 64)), ROWS, None),
        (torch.zeros(1, 64).expand(2, 64), np.zeros((2, 2), np.int32), None),
        (torch.zeros((1, 64), dtype=torch.int64), ROWS, None),
    ],
)
def test_what_does_not_fit_is_a_typed_error(logits, rows, size) -> None:
    with pytest.raises(VocabularyError):
        apply_mask(logits, rows, vocabulary_size=size)


def test_numpy_logits_need_no_torch() -> None:
    code = (
        "import sys, numpy as np; from constrain.matching.logits_mask import apply_mask;"
        "apply_mask(np.zeros((1, 64), np.float32), np.zeros((1, 2), np.int32)); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
