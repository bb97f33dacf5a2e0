"""Each road to PyTorch's kernel: what the tests of `attention` cannot tell apart by values alone."""

import pytest
import torch

from attnlib import attention, causal_mask
from attnlib._plan import Plan
from attnlib.backends.choose import attend
from attnlib.instruments.counters import count_peak_bytes
from tests import DEVICE, assert_close, randn, reference


@pytest.mark.parametrize(("T", "S"), [(5, 5), (7, 5), (5, 7)])
@pytest.mark.parametrize("kv_heads", [2, 4])
@pytest.mark.parametrize("masked", [False, True])
def test_dropout_reaches_the_kernel_on_every_road(T, S, kv_heads, masked):
    q, k, v = randn(2, 4, T, 8), randn(2, kv_heads, S, 8, seed=1), randn(2, kv_heads, S, 8, seed=2)
    mask = torch.ones(T, S, dtype=torch.bool, device=DEVICE) if masked else None
    first, again = (attend(Plan.of(q, k, v, mask, causal=True, dropout=0.5)) for _ in range(2))
    assert not torch.equal(first, again)


@pytest.mark.parametrize("D", [2, 6])  # as wide as there are key heads, or query heads, or sequences
def test_grouped_heads_are_told_from_other_sizes_that_are_equal(D):
    q, k, v = randn(2, 6, 5, D), randn(2, 2, 7, D, seed=1), randn(2, 2, 7, D, seed=2)
    assert_close(attention(q, k, v), reference.attention(q, k, v))


@pytest.mark.parametrize("kv_heads", [2, 4])
def test_a_square_causal_mask_is_told_and_not_made(kv_heads):
    T = 512
    q, k, v = randn(1, 4, T, 8), randn(1, kv_heads, T, 8, seed=1), randn(1, kv_heads, T, 8, seed=2)
    peak = count_peak_bytes(lambda: attention(q, k, v, causal=True))
    if DEVICE.type == "cpu":
        assert peak < T * T  # the mask alone would take a byte for each pair
    mask = causal_mask(T, device=DEVICE)
    assert_close(attention(q, k, v, causal=True), attention(q, k, v, mask))


@pytest.mark.parametrize("S", [5, 7])
def test_one_query_sees_every_key(S):
    q, k, v = randn(2, 3, 1, 8), randn(2, 3, S, 8, seed=1), randn(2, 3, S, 8, seed=2)
    assert_close(attention(q, k, v, causal=True), attention(q, k, v))


def test_dropout_reaches_the_kernel_with_a_bias_that_is_wider_than_the_queries():
    q = randn(2, 4, 5, 8).bfloat16()
    bias = torch.zeros(5, 5, device=DEVICE)
    first, again = (attend(Plan(q, q, q, bias=bias, dropout=0.5)) for _ in range(2))
    assert not torch.equal(first, again)
