"""Each road to PyTorch's kernel: what the tests of `attention` cannot tell apart by values alone."""

import pytest
import torch

from attnlib import attention, causal_mask
from attnlib._plan import Plan
from attnlib.backends.choose import at_once, attend
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


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("heads", [1, 4])
@pytest.mark.parametrize("kv_heads", [2, 4])
def test_a_step_behind_a_mask_is_computed_at_once_and_rightly(kv_heads, heads, causal):
    q, k, v = randn(3, 4, 1, 8), randn(3, kv_heads, 7, 8, seed=1), randn(3, kv_heads, 7, 8, seed=2)
    mask = randn(3, heads, 1, 7, seed=3) > 0
    mask[1] = False
    mask[2, 0, 0] = torch.arange(7, device=DEVICE) > 2
    got = at_once(q, k, v, mask, causal)
    assert (got is None) == (DEVICE.type != "cpu")
    assert_close(attention(q, k, v, mask, causal=causal), reference.attention(q, k, v, mask))
    if got is not None:
        assert_close(got, reference.attention(q, k, v, mask))
        assert not got[1].any()
    if DEVICE.type == "cpu":  # what it hides is felt by nobody
        mask[2, :, 0, 0] = False
        want = reference.attention(q, k, v, mask)
        k[2, :, 0], v[2, :, 0] = torch.nan, torch.inf
        assert at_once(q, k, v, mask, causal) is None
        assert_close(attention(q, k, v, mask, causal=causal), want)


ONE = randn(2, 4, 1, 8), randn(2, 4, 7, 8, seed=1), randn(2, 4, 7, 8, seed=2)
SEEN = torch.ones(2, 1, 1, 7, dtype=torch.bool, device=DEVICE)


@pytest.mark.parametrize(
    ("changes", "mask", "causal"),
    [
        ({}, SEEN.float(), False),
        ({}, SEEN[:, 0], False),
        ({}, SEEN[..., :6], False),
        ({}, SEEN.expand(2, 2, 1, 7), False),
        ({}, SEEN[:1].expand(3, 1, 1, 7), False),
        ({}, SEEN.tolist(), False),
        ({}, SEEN.to("meta"), False),
        ({}, SEEN, "no"),
        ({0: randn(2, 4, 2, 8)}, SEEN, False),
        ({0: randn(2, 4, 2, 8)}, SEEN.expand(2, 1, 2, 7), False),
        ({0: randn(2, 4, 1, 8).requires_grad_()}, SEEN, False),
        ({2: randn(2, 4, 7, 8).requires_grad_()}, SEEN, False),
        ({2: randn(2, 4, 7, 6)}, SEEN, False),
        ({1: randn(2, 4, 0, 8), 2: randn(2, 4, 0, 8)}, SEEN[..., :0], False),
    ],
)
def test_what_is_more_than_a_step_behind_a_mask_goes_the_long_way(changes, mask, causal):
    q, k, v = (changes.get(i, x) for i, x in enumerate(ONE))
    assert at_once(q, k, v, mask, causal) is None


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
@pytest.mark.parametrize("T", [1, 64])
def test_a_bias_that_alone_learns_has_its_gradient(T, dtype):
    q, k, v = (
        x.to(dtype) for x in (randn(1, 2, T, 8), randn(1, 2, 65, 8, seed=1), randn(1, 2, 65, 8, seed=2))
    )
    bias = randn(T, 65, seed=3).to(dtype).requires_grad_()
    (got,) = torch.autograd.grad(attention(q, k, v, bias=bias).square().sum(), bias)
    wide = bias.detach().double().requires_grad_()
    out = attention(q.double(), k.double(), v.double(), bias=wide)
    (want,) = torch.autograd.grad(out.square().sum(), wide)
    assert (got.double() - want).abs().max() <= 4 * torch.finfo(dtype).eps * out.square().sum()
