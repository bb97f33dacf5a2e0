"""What holds for any shapes, dtypes, broadcasting and masks, drawn by hypothesis."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlib import (
    attention,
    attention_scores,
    attention_weights,
    causal_mask,
    linear_attention,
    masked_softmax,
    rotary,
    sliding_window_attention,
    sliding_window_mask,
    tiled_attention,
)
from tests import DEVICE, assert_close, reference
from tests.test_functional import pytorchs_error

DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
ROUNDING = {dtype: 8 * torch.finfo(dtype).eps for dtype in DTYPES}
small = st.integers(1, 5)
often = settings(max_examples=60, deadline=None)


@st.composite
def problems(draw, dtypes=DTYPES, same_length=False):
    """Draw q, k, v and options: grouped heads, any lengths (none too), a mask or bias of any rank that broadcasts."""
    B, Hkv, groups, D, Dv = (draw(small) for _ in range(5))
    T = draw(st.integers(0, 7))
    S = T if same_length else draw(st.integers(0, 7))
    dtype, g = draw(st.sampled_from(dtypes)), torch.Generator().manual_seed(draw(st.integers(0, 10**6)))
    sizes = (B, Hkv * groups, T, D), (B, Hkv, S, D), (B, Hkv, S, Dv)
    q, k, v = (torch.randn(size, generator=g, dtype=torch.float64).to(DEVICE, dtype) for size in sizes)
    target = (B, Hkv * groups, T, S)
    options = {"causal": draw(st.booleans()), "scale": draw(st.sampled_from([None, 0.3, 2.0]))}
    if draw(st.booleans()):
        shape = draw_shape(draw, target)
        options["mask"] = (torch.rand(shape, generator=g) > draw(st.sampled_from([0.2, 0.8]))).to(DEVICE)
    if draw(st.booleans()):
        options["bias"] = torch.randn(draw_shape(draw, target), generator=g, dtype=torch.float64).to(
            DEVICE, dtype
        )
    return q, k, v, options


def draw_shape(draw, target):
    """Draw a shape that broadcasts to the target: some axes 1, some in front missing."""
    shape = [size if draw(st.booleans()) else 1 for size in target]
    return shape[draw(st.integers(0, 3)) :]


def visible(q, k, options):
    T, S = q.shape[-2], k.shape[-2]
    seen = torch.ones(*q.shape[:-1], S, dtype=torch.bool, device=DEVICE)
    if "mask" in options:
        seen = seen & options["mask"]
    return seen & causal_mask(T, S, device=DEVICE) if options["causal"] else seen


def plus(options, bias):
    """Add a bias to the one there is."""
    return options | {"bias": options["bias"] + bias if "bias" in options else bias}


@given(problems())
@often
def test_shapes_and_dtypes_are_kept_and_the_output_is_the_references(problem):
    q, k, v, options = problem
    out, weights = attention(q, k, v, **options), attention_weights(q, k, **options)
    assert out.shape == (*q.shape[:-1], v.shape[-1])
    assert weights.shape == (*q.shape[:-1], k.shape[-2])
    assert out.dtype == weights.dtype == q.dtype
    exact = reference.attention(q, k, v, **options)
    if not exact.numel():
        return
    # at most twice PyTorch's own error, and one rounding where it happens to make none
    theirs = pytorchs_error(q, k, v, exact, **options)
    allowed = 2 * theirs + torch.finfo(q.dtype).eps * exact.abs().max().clamp_min(1)
    for got in (out, tiled_attention(q, k, v, **options, block_size=2)):
        assert (got.double().cpu() - exact).abs().max() <= allowed


@given(problems())
@often
def test_rows_sum_to_one_or_zero_and_hidden_keys_get_nothing(problem):
    q, k, _, options = problem
    weights, seen = attention_weights(q, k, **options), visible(q, k, options)
    assert (weights >= 0).all()
    assert not weights[~seen].any()
    sums = weights.double().sum(-1)
    assert_close(sums, seen.any(-1).double(), rtol=0, atol=k.shape[-2] * ROUNDING[q.dtype])


@given(problems(dtypes=(torch.float64,)), st.floats(-1e4, 1e4))
@often
def test_a_shift_of_a_whole_row_changes_nothing(problem, shift):
    q, k, v, options = problem
    row = torch.full((q.shape[-2], 1), shift, dtype=torch.float64, device=DEVICE)
    shifted = plus(options, row)
    assert_close(attention_weights(q, k, **shifted), attention_weights(q, k, **options))
    assert_close(attention(q, k, v, **shifted), attention(q, k, v, **options))


@given(problems(dtypes=(torch.float64,)), st.randoms(use_true_random=False))
@often
def test_permuting_keys_changes_nothing_and_permuting_queries_permutes_outputs(problem, random):
    q, k, v, options = problem
    options |= {"causal": False}
    keys = random.sample(range(k.shape[-2]), k.shape[-2])
    queries = random.sample(range(q.shape[-2]), q.shape[-2])

    def turned(x, rows, columns):
        x = x[..., rows, :] if x.ndim > 1 and x.shape[-2] == q.shape[-2] > 1 else x
        return x[..., columns] if x.shape[-1] == k.shape[-2] > 1 else x

    moved = {n: turned(x, queries, keys) if n in ("mask", "bias") else x for n, x in options.items()}
    out = attention(q[..., queries, :], k[..., keys, :], v[..., keys, :], **moved)
    assert_close(out, attention(q, k, v, **options)[..., queries, :])


@given(problems(dtypes=(torch.float32, torch.float64)), st.sampled_from([1e-30, 1e-8, 1e8, 1e30]))
@often
def test_huge_and_tiny_scores_stay_finite_forward_and_backward(problem, size):
    q, k, v, options = problem
    q, k, v = ((q * size).requires_grad_(), k.requires_grad_(), v.requires_grad_())
    for run in (attention, tiled_attention):
        out = run(q, k, v, **options)
        assert out.isfinite().all()
        if run is attention and q.is_cuda and size > 1e8:
            continue  # PyTorch's kernel has NaN there, as the docstring says
        for gradient in torch.autograd.grad(out.sum(), (k, v)):
            assert gradient.isfinite().all()


@given(problems(dtypes=(torch.float64,)))
@settings(max_examples=12, deadline=None)
def test_gradients_by_finite_differences(problem):
    q, k, v, options = problem
    inputs = [x[:1].requires_grad_() for x in (q, k, v)]
    options = {n: x[:1] if n in ("mask", "bias") and x.ndim == 4 else x for n, x in options.items()}
    if min(x.numel() for x in inputs):
        for run in (attention, tiled_attention):
            assert torch.autograd.gradcheck(lambda q, k, v, run=run: run(q, k, v, **options), inputs)


@given(problems(dtypes=(torch.float64,)), st.floats(0.1, 10.0))
@often
def test_a_soft_cap_bounds_the_scores(problem, softcap):
    q, k, _, options = problem
    scores = attention_scores(q, k, scale=options["scale"], softcap=softcap)
    assert (scores.abs() <= softcap).all()
    assert_close(
        attention_weights(q, k, **options, softcap=softcap),
        reference.weights(q, k, **options, softcap=softcap),
    )


@given(problems(dtypes=(torch.float64,), same_length=True), st.integers(1, 9))
@often
def test_a_window_is_attention_with_the_windows_mask(problem, window):
    q, k, v, options = problem
    T = q.shape[-2]
    mask = sliding_window_mask(T, window=window, device=DEVICE)
    got = sliding_window_attention(q, k, v, window=window, scale=options["scale"])
    assert_close(got, attention(q, k, v, mask, scale=options["scale"]))


@given(problems(dtypes=(torch.float64,), same_length=True), st.integers(1, 9))
@often
def test_linear_attention_is_a_mean_of_the_values_seen(problem, block_size):
    q, k, v, _ = problem
    for causal in (False, True):
        out = linear_attention(q, k, v, causal=causal, block_size=block_size)
        assert out.shape == (*q.shape[:-1], v.shape[-1])
        ones = linear_attention(q, k, torch.ones_like(v), causal=causal, block_size=block_size)
        assert_close(ones, torch.ones_like(out))


@given(st.integers(0, 10**6), st.integers(-50, 50), st.booleans())
@often
def test_rotary_keeps_lengths_and_sees_distances_only(seed, shift, interleaved):
    g = torch.Generator().manual_seed(seed)
    q, k = torch.randn(2, 5, 8, generator=g, dtype=torch.float64).to(DEVICE)
    at = torch.randint(-50, 50, (5,), generator=g).to(DEVICE)
    turned = [rotary(x, at, interleaved=interleaved) for x in (q, k)]
    moved = [rotary(x, at + shift, interleaved=interleaved) for x in (q, k)]
    assert_close(turned[0].norm(dim=-1), q.norm(dim=-1), rtol=1e-5, atol=1e-5)
    assert_close(moved[0] @ moved[1].mT, turned[0] @ turned[1].mT, rtol=1e-4, atol=1e-4)


@given(st.lists(st.floats(-1e300, 1e300) | st.just(-math.inf), min_size=1, max_size=6))
@often
def test_masked_softmax_takes_any_scores(scores):
    weights = masked_softmax(torch.tensor(scores, dtype=torch.float64))
    total = weights.sum().item()
    assert total == pytest.approx(0.0 if set(scores) == {-math.inf} else 1.0)
