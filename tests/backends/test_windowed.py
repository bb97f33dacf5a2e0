import math

import pytest
import torch

from attnlib import attention, sliding_window_attention, sliding_window_mask
from attnlib.instruments.counters import count_peak_bytes
from tests import DEVICE, assert_close
from tests.test_functional import case


@pytest.mark.parametrize("window", [1, 2, 3, 5, 11, 13])
@pytest.mark.parametrize("T", [1, 2, 7, 10, 11])
def test_equals_attention_with_the_window_mask_values_and_gradients(window, T):
    q, k, v = (x.requires_grad_() for x in case(T=T, S=T))
    got = sliding_window_attention(q, k, v, window=window)
    want = attention(q, k, v, sliding_window_mask(T, window=window, device=DEVICE))
    assert_close(got, want)
    for a, b in zip(
        torch.autograd.grad(got.square().sum(), (q, k, v)),
        torch.autograd.grad(want.square().sum(), (q, k, v)),
        strict=True,
    ):
        assert_close(a, b)


@pytest.mark.parametrize("kv_heads", [1, 2, 6])
def test_grouped_heads_scale_and_broadcasting(kv_heads):
    q, k, v = case(heads=6, kv_heads=kv_heads, T=7, S=7)
    mask = sliding_window_mask(7, window=3, device=DEVICE)
    got = sliding_window_attention(q, k, v, window=3, scale=0.3)
    assert_close(got, attention(q, k, v, mask, scale=0.3))
    assert_close(sliding_window_attention(q, k[:1], v[:1], window=3), attention(q, k[:1], v[:1], mask))


def test_an_empty_sequence_stays_empty():
    q, k, v = case(T=0, S=0)
    assert sliding_window_attention(q, k, v, window=3).shape == v.shape


def test_no_matrix_of_queries_by_keys_is_made():
    T, window = 4096, 16
    q, k, v = case(T=T, S=T, dtype=torch.float32)
    mask = sliding_window_mask(T, window=window, device=DEVICE)
    peak = count_peak_bytes(lambda: sliding_window_attention(q, k, v, window=window))
    assert peak < 0.5 * count_peak_bytes(lambda: attention(q, k, v, mask))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"window": 0}, ValueError, "window must be at least 1, got 0"),
        ({"window": 2.0}, TypeError, "window must be an int, got float (2.0)"),
        (
            {"window": 2},
            ValueError,
            "q and k must have the same length, got q (2, 3, 5, 11) and k (2, 3, 7, 11)",
        ),
    ],
)
def test_bad_input_gets_this_message(options, error, message):
    with pytest.raises(error) as caught:
        sliding_window_attention(*case(), **options)
    assert str(caught.value) == message


@pytest.mark.parametrize("scale", [math.nan, math.inf])
def test_a_scale_that_is_no_number_gets_this_message(scale):
    x = torch.zeros(5, 3, device=DEVICE)
    with pytest.raises(ValueError, match=f"scale must be a finite number, got {scale}"):
        sliding_window_attention(x, x, x, window=2, scale=scale)


def test_keys_and_values_must_be_equally_many():
    x = torch.zeros(5, 3, device=DEVICE)
    with pytest.raises(
        ValueError, match=r"k and v must have the same length S, got k \(5, 3\) and v \(4, 3\)"
    ):
        sliding_window_attention(x, x, x[:4], window=2)
