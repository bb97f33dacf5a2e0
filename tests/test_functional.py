import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.overrides import TorchFunctionMode

from attnlib import (
    MaskRule,
    alibi_bias,
    attention,
    attention_scores,
    attention_weights,
    causal_mask,
    masked_softmax,
    padding_mask,
    sliding_window_attention,
    tiled_attention,
)
from attnlib.functional import attention_with_lse, key_mass, merge
from attnlib.instruments.counters import count_peak_bytes
from tests import DEVICE, assert_close, randn, reference

B, H, T, S, D, Dv = 2, 3, 5, 7, 11, 13
HALVES = (torch.float16, torch.bfloat16)


def case(*, heads=H, kv_heads=H, T=T, S=S, D=D, Dv=Dv, dtype=torch.float64, seed=0):
    g = torch.Generator().manual_seed(seed)
    sizes = (B, heads, T, D), (B, kv_heads, S, D), (B, kv_heads, S, Dv)
    return [torch.randn(s, generator=g, dtype=torch.float64).to(DEVICE, dtype) for s in sizes]


def some_mask(*, blind_row=None, seed=1):
    mask = torch.rand(B, 1, T, S, generator=torch.Generator().manual_seed(seed)) > 0.4
    mask[..., 0] = True  # every query sees at least one key
    if blind_row is not None:
        mask[:, :, blind_row] = False
    return mask.to(DEVICE)


def some_bias(seed=2):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(H, T, S, generator=g, dtype=torch.float64).to(DEVICE)


OPTIONS = {
    "plain": {},
    "causal": {"causal": True},
    "mask": {"mask": some_mask()},
    "blind row": {"mask": some_mask(blind_row=2)},
    "bias": {"bias": some_bias()},
    "scale": {"scale": 0.3},
    "softcap": {"softcap": 1.5},
    "everything": {
        "mask": some_mask(blind_row=4),
        "causal": True,
        "bias": some_bias(),
        "scale": 0.7,
        "softcap": 2.0,
    },
}
options = pytest.mark.parametrize("opts", OPTIONS.values(), ids=OPTIONS)


# by hand


def test_i_love_paris_by_hand():
    q = torch.tensor([[1.0, 0, 1, 0]])
    k = torch.tensor([[1.0, 0, 0, 1], [0, 1, 1, 0], [1, 0, 1, 0]])
    e = [math.exp(0.5), math.exp(0.5), math.exp(1.0)]
    expected = torch.tensor([[x / sum(e) for x in e]])
    assert_close(attention_weights(q, k), expected)
    assert [round(x, 3) for x in attention_weights(q, k)[0].tolist()] == [0.274, 0.274, 0.452]


def test_softcap_comes_before_bias_and_bias_before_mask():
    q, k = torch.tensor([[10.0]]), torch.tensor([[10.0], [0.0], [5.0]])
    bias = torch.tensor([[0.0, 1.0, 9.0]])
    mask = torch.tensor([[True, True, False]])
    got = attention_weights(q, k, mask, bias=bias, scale=1.0, softcap=2.0)
    expected = torch.tensor([[2 * math.tanh(50.0), 1.0]]).softmax(-1)
    assert_close(got, F.pad(expected, (0, 1)))


# against the loops


@options
def test_weights_equal_the_loop_reference(opts):
    q, k, _ = case()
    assert_close(attention_weights(q, k, **opts), reference.weights(q, k, **opts))


@options
def test_output_equals_the_loop_reference(opts):
    q, k, v = case()
    assert_close(attention(q, k, v, **opts), reference.attention(q, k, v, **opts))


@pytest.mark.parametrize("kv_heads", [1, 2, 3, 6])
@pytest.mark.parametrize("causal", [False, True])
def test_grouped_heads_equal_the_loop_reference(kv_heads, causal):
    q, k, v = case(heads=6, kv_heads=kv_heads)
    expected = reference.attention(q, k, v, causal=causal)
    assert_close(attention(q, k, v, causal=causal), expected)
    assert_close(attention_weights(q, k, causal=causal), reference.weights(q, k, causal=causal))


@pytest.mark.parametrize("sizes", [(5, 5), (5, 7), (7, 5), (1, 7), (7, 1), (2, 2)])
def test_causal_is_the_causal_mask_for_any_lengths(sizes):
    T, S = sizes
    q, k, v = case(T=T, S=S)
    expected = attention(q, k, v, causal_mask(T, S, device=DEVICE))
    assert_close(attention(q, k, v, causal=True), expected)
    assert_close(expected, reference.attention(q, k, v, causal=True))


@pytest.mark.parametrize("lead", [(), (2,), (2, 3), (2, 3, 2)])
def test_queries_before_the_first_key_see_nothing_whatever_the_leading_axes(lead):
    q, k = torch.randn(*lead, 7, 3, device=DEVICE), torch.randn(*lead, 5, 3, device=DEVICE)
    weights = attention_weights(q, k, causal=True)
    assert not weights[..., :2, :].any()
    assert_close(weights[..., 2:, :].sum(-1), torch.ones(*lead, 5))
    assert not attention(q, k, k, causal=True)[..., :2, :].any()


# scores


def test_scores_by_hand_at_every_stage():
    q, k = torch.tensor([[10.0]]), torch.tensor([[10.0], [0.0], [5.0]])
    bias, mask = torch.tensor([[0.0, 1.0, 9.0]]), torch.tensor([[True, True, False]])
    assert attention_scores(q, k).tolist() == [[100.0, 0.0, 50.0]]
    assert attention_scores(q, k, scale=0.5).tolist() == [[50.0, 0.0, 25.0]]
    assert_close(attention_scores(q, k, softcap=2.0), torch.tensor([[2.0, 0.0, 2.0]]))
    got = attention_scores(q, k, mask, bias=bias, softcap=2.0)
    assert_close(got, torch.tensor([[2.0, 1.0, -math.inf]]))


@options
def test_weights_are_the_softmax_of_the_scores(opts):
    q, k, _ = case(heads=6, kv_heads=3)
    opts = {name: x for name, x in opts.items() if name != "bias"}
    scores = attention_scores(q, k, **opts)
    assert_close(masked_softmax(scores), attention_weights(q, k, **opts))


@pytest.mark.parametrize("dtype", HALVES)
def test_scores_in_half_precision_are_rounded_once(dtype):
    q, k, _ = case(dtype=dtype)
    exact = (q.double() @ k.double().mT / math.sqrt(D)).to(dtype)
    assert attention_scores(q, k).dtype == dtype
    assert_close(attention_scores(q, k), exact, rtol=2 * torch.finfo(dtype).eps, atol=1e-6)


# the two functions, and their gradients


@options
def test_output_is_weights_times_values_and_so_are_the_gradients(opts):
    q, k, v = (x.requires_grad_() for x in case())
    grad = case(seed=3)[0][..., :1].expand(B, H, T, Dv)
    plain = attention_weights(q, k, **opts) @ v
    fast = attention(q, k, v, **opts)
    assert_close(fast, plain)
    for a, b in zip(
        torch.autograd.grad(fast, (q, k, v), grad),
        torch.autograd.grad(plain, (q, k, v), grad),
        strict=True,
    ):
        assert_close(a, b)


@options
def test_gradients_by_finite_differences(opts):
    q, k, v = (x[:1, :1].requires_grad_() for x in case())
    opts = {n: x[:1, :1] if n == "mask" else x[:1] if n == "bias" else x for n, x in opts.items()}
    assert torch.autograd.gradcheck(lambda q, k, v: attention(q, k, v, **opts), (q, k, v))
    assert torch.autograd.gradcheck(lambda q, k: attention_weights(q, k, **opts), (q, k))


def test_bias_gets_its_gradient():
    q, k, v = case()
    bias = some_bias().requires_grad_()
    assert torch.autograd.gradcheck(lambda b: attention(q, k, v, bias=b), bias)


# against PyTorch


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("width", "options"), [(D, {"rtol": 0, "atol": 0}), (Dv, {}), (D - 2, {})])
def test_equals_pytorch_values_and_gradients(causal, width, options):
    # to the last bit, unless PyTorch would take another kernel: for values of another width, on a CPU
    q, k, v = (x.requires_grad_() for x in case(S=T, Dv=width, dtype=torch.float32))
    ours, theirs = (
        attention(q, k, v, causal=causal),
        F.scaled_dot_product_attention(q, k, v, is_causal=causal),
    )
    assert_close(ours, theirs, **options)
    for a, b in zip(
        torch.autograd.grad(ours.sum(), (q, k, v)),
        torch.autograd.grad(theirs.sum(), (q, k, v)),
        strict=True,
    ):
        assert_close(a, b, **options)


def pytorchs_own(q, k, v, mask=None, *, causal=False, bias=None, scale=None, softcap=None):
    """Attention by PyTorch's kernel, if there is no softcap, and by the plain formula in the same dtype."""
    T, S, groups = q.shape[-2], k.shape[-2], q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
    every = torch.ones(T, S, dtype=torch.bool, device=DEVICE)
    seen = every if mask is None else every & mask  # at least (T, S), as the kernel asks
    seen = seen & every.tril(S - T) if causal else seen
    bias = torch.zeros(T, S, device=DEVICE) if bias is None else bias
    bias = bias.to(q.dtype).masked_fill(~seen, -math.inf)
    scores = q @ k.mT * (scale or q.shape[-1] ** -0.5)
    scores = scores if softcap is None else softcap * torch.tanh(scores / softcap)
    plain = (scores + bias).softmax(-1).nan_to_num() @ v
    kernel = plain if softcap else F.scaled_dot_product_attention(q, k, v, bias, scale=scale).nan_to_num()
    return kernel, plain


def pytorchs_error(q, k, v, exact, **opts):
    """The larger of the errors of PyTorch's kernel and of its plain formula: which kernel runs is not ours to say."""
    return max((x.double().cpu() - exact).abs().max() for x in pytorchs_own(q, k, v, **opts))


@pytest.mark.parametrize("dtype", HALVES)
@options
def test_half_precision_error_is_at_most_twice_pytorchs_own(dtype, opts):
    q, k, v = case(dtype=dtype)
    exact = reference.attention(q, k, v, **opts)
    ours = (attention(q, k, v, **opts).double().cpu() - exact).abs().max()
    assert ours <= 2 * pytorchs_error(q, k, v, exact, **opts)
    weights, exact = attention_weights(q, k, **opts), reference.weights(q, k, **opts)
    rounding = (exact.to(dtype).double() - exact).abs().max()
    assert weights.dtype == dtype
    assert (weights.double().cpu() - exact).abs().max() <= 2 * rounding


# queries that see nothing


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, *HALVES])
@pytest.mark.parametrize("how", ["mask", "bias", "mask and bias", "mask and softcap"])
@pytest.mark.parametrize("width", [D, 16])  # kernels for GPUs prefer multiples of 8
def test_query_with_no_key_gets_zeros_and_finite_gradients(dtype, how, width):
    q, k, v = (x.requires_grad_() for x in case(dtype=dtype, D=width, Dv=width))
    mask = some_mask(blind_row=2)
    opts = {
        "mask": {"mask": mask},
        "bias": {"bias": torch.zeros(mask.shape, device=DEVICE).masked_fill(~mask, -math.inf).to(dtype)},
        "mask and bias": {"mask": mask, "bias": some_bias().to(dtype)},
        "mask and softcap": {"mask": mask, "softcap": 3.0},
    }[how]
    out, weights = attention(q, k, v, **opts), attention_weights(q, k, **opts)
    assert not out[:, :, 2].any()
    assert not weights[:, :, 2].any()
    for result in (out, weights @ v):
        for grad in torch.autograd.grad(result.float().square().sum(), (q, k, v)):
            assert grad.isfinite().all()
            assert grad.any()
    assert not torch.autograd.grad(attention(q, k, v, **opts).sum(), q)[0][:, :, 2].any()


def test_no_keys_at_all_give_zeros():
    q, k, v = case(S=0)
    assert attention_weights(q, k).shape == (B, H, T, 0)
    assert attention(q, k, v).shape == (B, H, T, Dv)
    assert not attention(q, k, v).any()


def test_no_queries_give_an_empty_output():
    q, k, v = case(T=0)
    assert attention(q, k, v, causal=True).shape == (B, H, 0, Dv)


# leading axes


@pytest.mark.parametrize(
    ("q_lead", "k_lead", "v_lead"),
    [
        ((), (), ()),
        ((3,), (3,), (3,)),
        ((3,), (), ()),
        ((), (2, 3), (2, 3)),
        ((2, 3), (1, 3), (3,)),
        ((2, 1), (2, 3), (1, 1)),
        ((2, 6), (2, 3), (2, 3)),
        ((6,), (3,), (3,)),
        ((2, 6), (3,), (1, 3)),
        ((5, 2, 6), (2, 3), (5, 1, 3)),
        ((5, 2, 3), (5, 2, 3), (5, 2, 3)),
    ],
)
def test_leading_axes_broadcast_and_heads_group(q_lead, k_lead, v_lead):
    g = torch.Generator().manual_seed(0)
    q, k, v = (
        torch.randn(*lead, *size, generator=g, dtype=torch.float64).to(DEVICE)
        for lead, size in ((q_lead, (T, D)), (k_lead, (S, D)), (v_lead, (S, Dv)))
    )
    out, weights = attention(q, k, v), attention_weights(q, k)
    if q_lead[-1:] == (6,):
        k, v = k.repeat_interleave(2, -3), v.repeat_interleave(2, -3)
    expected = (q @ k.transpose(-2, -1) / math.sqrt(D)).softmax(-1)
    assert weights.shape == expected.shape
    assert_close(weights, expected)
    assert out.shape == (expected @ v).shape
    assert_close(out, expected @ v)


@pytest.mark.parametrize("mask_shape", [(S,), (T, 1), (1, S), (T, S), (H, 1, 1), (B, 1, 1, S)])
def test_masks_and_biases_of_every_rank_broadcast(mask_shape):
    q, k, v = case()
    g = torch.Generator().manual_seed(4)
    mask = (torch.rand(mask_shape, generator=g) > 0.3).to(DEVICE)
    bias = torch.randn(mask_shape, generator=g, dtype=torch.float64).to(DEVICE)
    for opts in ({"mask": mask}, {"bias": bias}, {"mask": mask, "bias": bias}):
        assert_close(attention(q, k, v, **opts), reference.attention(q, k, v, **opts))


# properties


@given(st.integers(0, 10**6), st.floats(-1e4, 1e4), st.booleans())
@settings(max_examples=60, deadline=None)
def test_rows_sum_to_one_or_zero_and_a_shift_changes_nothing(seed, shift, causal):
    q, k, _ = case(seed=seed % 1000)
    mask = some_mask(blind_row=seed % T, seed=seed)
    weights = attention_weights(q, k, mask, causal=causal)
    seen = mask & causal_mask(T, S, device=DEVICE) if causal else mask
    assert_close(weights.sum(-1), seen.any(-1).double().expand(B, H, T))
    assert not weights[~seen.expand(B, H, T, S)].any()
    bias = torch.full((T, 1), shift, dtype=torch.float64, device=DEVICE)
    assert_close(attention_weights(q, k, mask, causal=causal, bias=bias), weights)


@given(st.permutations(range(S)), st.permutations(range(T)))
@settings(max_examples=30, deadline=None)
def test_permuting_keys_changes_nothing_and_permuting_queries_permutes_outputs(keys, queries):
    q, k, v = case()
    out = attention(q, k, v)
    assert_close(attention(q, k[:, :, keys], v[:, :, keys]), out)
    assert_close(attention(q[:, :, queries], k, v), out[:, :, queries])


@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_huge_and_tiny_scores_stay_finite(size):
    q, k, v = case(dtype=torch.float32)
    assert attention(q * size, k, v).isfinite().all()
    assert_close(attention_weights(q * size, k).sum(-1), torch.ones(B, H, T), rtol=1e-5, atol=1e-5)


def test_the_future_changes_nothing():
    q, k, v = case(S=T)
    out = attention(q, k, v, causal=True)
    k[:, :, 3:], v[:, :, 3:] = 99.0, -99.0
    assert_close(attention(q, k, v, causal=True)[:, :, :3], out[:, :, :3], rtol=0, atol=0)


def test_no_argument_is_changed():
    tensors = [*case(), some_mask(), some_bias()]
    before = [x.clone() for x in tensors]
    q, k, v, mask, bias = tensors
    attention(q, k, v, mask, bias=bias, causal=True)
    attention_weights(q, k, mask, bias=bias, causal=True, softcap=1.0)
    assert all(torch.equal(a, b) for a, b in zip(tensors, before, strict=True))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: masked_softmax([1.0]),
            TypeError,
            "scores must be a torch.Tensor, got list; wrap it in torch.as_tensor",
        ),
        (
            lambda: masked_softmax(torch.zeros(2, 3), torch.ones(3, 2, dtype=torch.bool)),
            ValueError,
            "mask must broadcast to the scores' shape (..., T, S) = (2, 3), got (3, 2)",
        ),
        (
            lambda: attention_scores(torch.zeros(2, 3), torch.zeros(2, 4)),
            ValueError,
            "q and k must have the same width D, got q (2, 3) and k (2, 4); "
            "project one, or use bilinear_scores or additive_scores",
        ),
        (
            lambda: attention_scores(torch.zeros(2, 3), torch.zeros(2, 3), scale=math.inf),
            ValueError,
            "scale must be a finite number, got inf",
        ),
    ],
)
def test_weights_and_scores_say_what_is_wrong_too(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message


def test_masked_softmax_alone():
    scores = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    mask = torch.tensor([[True, False], [False, False]])
    assert masked_softmax(scores, mask).tolist() == [[1.0, 0.0], [0.0, 0.0]]
    assert_close(masked_softmax(scores), scores.softmax(-1))


# bad input


def rand(*shape, dtype=torch.float32):
    return torch.zeros(shape, dtype=dtype)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: attention([[1.0]], rand(2, 3), rand(2, 3)),
            TypeError,
            "q must be a torch.Tensor, got list; wrap it in torch.as_tensor",
        ),
        (
            lambda: attention_weights(rand(5, 3), rand(7, 4)),
            ValueError,
            "q and k must have the same width D, got q (5, 3) and k (7, 4); "
            "project one, or use bilinear_scores or additive_scores",
        ),
        (
            lambda: attention(rand(2, 3, 5, 11), rand(2, 3, 7, 11), rand(2, 3, 6, 11)),
            ValueError,
            "k and v must have the same length S, got k (2, 3, 7, 11) and v (2, 3, 6, 11)",
        ),
        (
            lambda: attention(rand(2, 5, 5, 11), rand(2, 3, 7, 11), rand(2, 3, 7, 11)),
            ValueError,
            "the number of key heads Hkv must divide the number of query heads H, got H = 5 "
            "and Hkv = 3 from q (2, 5, 5, 11) and k (2, 3, 7, 11)",
        ),
        (
            lambda: attention(rand(2, 6, 5, 11), rand(2, 3, 7, 11), rand(2, 2, 7, 11)),
            ValueError,
            "k and v must have the same number of heads Hkv, got k (2, 3, 7, 11) and v (2, 2, 7, 11)",
        ),
        (
            lambda: attention(rand(2, 3, 5, 11), rand(5, 3, 7, 11), rand(5, 3, 7, 11)),
            ValueError,
            "the leading axes of q and k must broadcast, got q (2, 3, 5, 11) and k (5, 3, 7, 11)",
        ),
        (
            lambda: attention(rand(2, 3, 5, 11), rand(2, 3, 7, 11), rand(5, 3, 7, 11)),
            ValueError,
            "the leading axes of q, k and v must broadcast, "
            "got q (2, 3, 5, 11), k (2, 3, 7, 11) and v (5, 3, 7, 11)",
        ),
        (
            lambda: attention(rand(11), rand(7, 11), rand(7, 11)),
            ValueError,
            "q must have at least two axes (..., length, width), got shape (11,); a single vector is q[None]",
        ),
        (
            lambda: attention(rand(5, 0), rand(7, 0), rand(7, 2)),
            ValueError,
            "the width D of q and k must be at least 1, got q (5, 0)",
        ),
        (
            lambda: attention(rand(5, 3, dtype=torch.int64), rand(7, 3), rand(7, 3)),
            TypeError,
            "q must be a floating-point tensor, got torch.int64; use .float()",
        ),
        (
            lambda: attention(rand(5, 3), rand(7, 3), rand(7, 3, dtype=torch.float64)),
            TypeError,
            "q and v must have the same dtype, got torch.float32 and torch.float64; "
            "convert one with .to(dtype)",
        ),
        (
            lambda: attention(rand(5, 3), rand(7, 3).to("meta"), rand(7, 3)),
            ValueError,
            "q and k must be on the same device, got cpu and meta; move one with .to(device)",
        ),
        (
            lambda: attention(rand(5, 3), rand(7, 3), rand(7, 3), rand(5, 7)),
            TypeError,
            "mask must be boolean, True = may attend, got torch.float32; "
            "numbers to add to the scores go into bias",
        ),
        (
            lambda: attention(rand(5, 3), rand(7, 3), rand(7, 3), rand(7, 5).bool()),
            ValueError,
            "mask must broadcast to the scores' shape (..., T, S) = (5, 7), got (7, 5)",
        ),
        (
            lambda: attention(rand(5, 3), rand(7, 3), rand(7, 3), rand(2, 1, 5, 7).bool()),
            ValueError,
            "mask must broadcast to the scores' shape (..., T, S) = (5, 7), got (2, 1, 5, 7)",
        ),
        (
            lambda: attention(rand(5, 3), rand(7, 3), rand(7, 3), rand(5, 7).bool().to("meta")),
            ValueError,
            "mask must be on the device of q, cpu, got meta; use mask.to(q.device)",
        ),
        (
            lambda: attention(rand(5, 3), rand(7, 3), rand(7, 3), bias=rand(5, 7).bool()),
            TypeError,
            "bias must be a floating-point tensor that is added to the scores, got torch.bool; "
            "a boolean mask goes into mask",
        ),
        (
            lambda: attention(rand(5, 3), rand(7, 3), rand(7, 3), bias=rand(5, 6)),
            ValueError,
            "bias must broadcast to the scores' shape (..., T, S) = (5, 7), got (5, 6)",
        ),
        (
            lambda: attention(rand(5, 3), rand(7, 3), rand(7, 3), bias=rand(5, 7).to("meta")),
            ValueError,
            "bias must be on the device of q, cpu, got meta; use bias.to(q.device)",
        ),
        (
            lambda: attention(rand(5, 3), rand(7, 3), rand(7, 3), scale=math.nan),
            ValueError,
            "scale must be a finite number, got nan",
        ),
        (
            lambda: attention(rand(5, 3), rand(7, 3), rand(7, 3), softcap=0.0),
            ValueError,
            "softcap must be a finite number above zero, got 0.0",
        ),
    ],
)
def test_bad_input_gets_this_message(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.parametrize("scale", [-1.0, 0.0, -0.0])
@pytest.mark.parametrize("kv_heads", [1, 2, 4])
def test_a_scale_that_is_not_positive_keeps_the_causal_mask(scale, kv_heads):
    q, k, v = (randn(B, n, 5, D, seed=n + i) for i, n in enumerate((4, kv_heads, kv_heads)))
    expected = reference.attention(q, k, v, causal=True, scale=scale)
    assert_close(attention(q, k, v, causal=True, scale=scale), expected)
    assert attention(q.requires_grad_(), k, v, causal=True, scale=scale).isfinite().all()


@pytest.mark.parametrize("autocast", [False, True])
def test_a_bias_is_not_rounded_to_the_dtype_of_the_queries(autocast):
    q, k = (torch.zeros(1, 1, n, 4, device=DEVICE, dtype=torch.bfloat16) for n in (1, 2))
    v = torch.tensor([0.0, 1.0], device=DEVICE, dtype=torch.bfloat16).view(1, 1, 2, 1)
    bias = torch.tensor([1000.0, 1001.9], device=DEVICE)
    expected = 1 / (1 + math.exp(-1.9))
    with torch.autocast(DEVICE.type, torch.bfloat16, enabled=autocast):
        out = attention(q, k, v, bias=bias)
        masked = attention(q, k, v, torch.ones(2, device=DEVICE).bool(), bias=bias)
    assert out.dtype == torch.bfloat16
    assert out.item() == pytest.approx(expected, rel=2**-8)
    assert masked.item() == pytest.approx(expected, rel=2**-8)


def test_autocast_spares_float64_and_its_bias():
    q, k, v = randn(B, H, T, D), randn(B, H, S, D, seed=1), randn(B, H, S, Dv, seed=2)
    bias = randn(T, S, seed=3)
    with torch.autocast(DEVICE.type, torch.bfloat16):
        got = attention(q, k, v, bias=bias)
    assert_close(got, reference.attention(q, k, v, bias=bias))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("autocast", [False, True])
def test_weights_in_half_precision_are_rounded_once_also_under_autocast(dtype, autocast):
    q, k = (8 * randn(1, 2, 64, 64)).to(dtype), randn(1, 2, 64, 64, seed=1).to(dtype)
    with torch.autocast(DEVICE.type, torch.bfloat16, enabled=autocast):
        weights = attention_weights(q, k)
    exact = attention_weights(q.double(), k.double())
    # half a unit in the last place, and the error of float32 in scores of this size
    assert ((weights.double() - exact).abs() <= torch.finfo(dtype).eps / 2 * exact + 1e-4).all()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda x: masked_softmax(x.long()),
            TypeError,
            "scores must be a floating-point tensor, got torch.int64; use .float()",
        ),
        (
            lambda x: attention(x, x, x, [[True]]),
            TypeError,
            "mask must be a torch.Tensor, got list; wrap it in torch.as_tensor",
        ),
        (
            lambda x: attention(x, x, x, bias=[[1.0]]),
            TypeError,
            "bias must be a torch.Tensor, got list; wrap it in torch.as_tensor",
        ),
    ],
)
def test_what_is_no_tensor_or_no_number_gets_this_message(call, error, message):
    with pytest.raises(error) as caught:
        call(torch.ones(3, 3, device=DEVICE))
    assert str(caught.value) == message


@pytest.mark.parametrize("scale", [1e30, -1e30])
def test_a_scale_beyond_all_measure_has_finite_gradients(scale):
    q, k, v = (x.requires_grad_() for x in case())
    out = attention(q, k, v, scale=scale)
    assert_close(out, attention_weights(q, k, scale=scale) @ v)
    assert all(gradient.isfinite().all() for gradient in torch.autograd.grad(out.square().sum(), (q, k, v)))


# what the second edition got wrong

on_the_cpu = pytest.mark.skipif(DEVICE.type != "cpu", reason="a GPU does not look at the size of scores")


def tied(S=4, size=1e8, dtype=torch.float32):
    """A query whose scores are all the same and large: each key has weight 1 / S."""
    q, k, v = torch.ones(1, 1, S, 1), torch.full((1, 1, S, 1), size), torch.zeros(1, 1, S, 1)
    return [x.to(DEVICE, dtype).requires_grad_() for x in (q, k, v)]


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(attention, marks=on_the_cpu),
        pytest.param(lambda *x, **o: attention(*(t[0, 0] for t in x), **o), marks=on_the_cpu),
        lambda *x, **o: tiled_attention(*x, **o, block_size=2),
    ],
    ids=["attention", "attention, two axes", "tiled_attention"],
)
def test_tied_large_scores_share_the_gradient_of_the_values(run):
    q, k, v = tied()
    run(q, k, v, scale=1.0).sum().backward()
    assert_close(v.grad, torch.ones_like(v))
    q, k, v = tied()
    run(q, k, v, scale=torch.tensor(1.0, device=DEVICE)).sum().backward()
    assert_close(v.grad, torch.ones_like(v))


@pytest.mark.parametrize("run", [pytest.param(attention, marks=on_the_cpu), tiled_attention])
def test_a_row_of_large_negative_biases_shares_the_gradient_of_the_values(run):
    q, k, v = (randn(1, 1, 64, 8, seed=i).float() for i in range(3))
    bias = torch.zeros(64, 64, device=DEVICE)
    bias[5], bias[:, 7] = -1e9, -1e9
    v.requires_grad_()
    run(q, k, v, bias=bias).sum().backward()
    assert v.grad.sum().item() == pytest.approx(64 * 8, rel=1e-5)


@on_the_cpu
def test_a_bias_that_stands_for_a_mask_still_goes_to_the_kernel():
    q = randn(1, 1, 64, 8).float().requires_grad_()
    bias = torch.zeros(64, 64).masked_fill(~causal_mask(64), -1e9)
    assert "ScaledDotProduct" in type(attention(q, q, q, bias=bias).grad_fn).__name__
    assert "ScaledDotProduct" in type(attention(q, q, q).grad_fn).__name__
    assert "ScaledDotProduct" not in type(attention(q, q, q, bias=bias - 1e9).grad_fn).__name__


LEARNED = {
    "attention": attention,
    "a mask": lambda q, k, v, **o: attention(q, k, v, causal_mask(T, S, device=DEVICE), **o),
    "tiled_attention": lambda q, k, v, **o: tiled_attention(q, k, v, **o, block_size=3),
    "weights": lambda q, k, v, **o: attention_weights(q, k, **o) @ v,
    "window": lambda q, k, v, **o: sliding_window_attention(q, k, v, window=S, **o),
    "with lse": lambda q, k, v, **o: attention_with_lse(q, k, v, **o)[0],
}


@pytest.mark.parametrize("shape", [(), (1,), (H, 1, 1), (B, H, 1, 1)])
@pytest.mark.parametrize("name", ["scale", "softcap"])
@pytest.mark.parametrize("run", LEARNED.values(), ids=LEARNED)
def test_a_scale_and_a_softcap_learn_in_every_function(run, name, shape):
    q, k, v = (x.requires_grad_() for x in case())
    learned = (0.5 + randn(*shape, seed=3).abs()).requires_grad_()
    got = run(q, k, v, **{name: learned})
    scores = q @ k.mT * (learned if name == "scale" else D**-0.5)
    scores = scores if name == "scale" else learned * torch.tanh(scores / learned)
    hides = run in (LEARNED["a mask"], LEARNED["window"])
    scores = scores.masked_fill(~causal_mask(T, S, device=DEVICE), -math.inf) if hides else scores
    want = scores.softmax(-1) @ v
    assert_close(got, want)
    for a, b in zip(
        torch.autograd.grad(got.sin().sum(), (q, k, v, learned)),
        torch.autograd.grad(want.sin().sum(), (q, k, v, learned)),
        strict=True,
    ):
        assert_close(a, b)


@pytest.mark.parametrize("what", ["softcap", "hidden NaN", "negative scale", "sink", "plain", "mask"])
def test_the_dtype_under_autocast_does_not_hang_on_the_numbers(what):
    q, k, v = (randn(1, 2, 3, 4, seed=i).float() for i in range(3))
    mask = torch.tensor([True, False, True], device=DEVICE)
    if what == "hidden NaN":
        k[:, :, 1] = math.nan
    options = {"softcap": {"softcap": 2.0}, "negative scale": {"scale": -1.0}, "plain": {}}.get(
        what, {"mask": mask}
    )
    options = {"sink": torch.zeros(2, device=DEVICE)} if what == "sink" else options
    with torch.autocast(DEVICE.type, torch.bfloat16):
        assert (
            attention(q, k, v, **options).dtype
            == F.scaled_dot_product_attention(q, k, v).dtype
            == torch.bfloat16
        )


def four(run):
    """What a function of tensors holds at most, and what the quick kernel holds for four axes."""
    n = 1024
    q, k, v = (randn(2, 2, n, 16, seed=i).float() for i in range(3))
    plain = count_peak_bytes(lambda: F.scaled_dot_product_attention(q, k, v))
    return count_peak_bytes(lambda: run(q, k, v)), plain + n * n  # well below two tables of one head


@on_the_cpu
@pytest.mark.slow
@pytest.mark.parametrize(
    "run",
    [
        lambda q, k, v: attention(q[0], k[0], v[0], bias=BIAS),
        lambda q, k, v: attention(q, k, v, bias=BIAS),
        lambda q, k, v: attention(q[None], k[None], v[None], bias=BIAS),
        lambda q, k, v: attention(q[None], k[None], v[None]),
        lambda q, k, v: attention(q, k, v[..., :5]),
        lambda q, k, v: attention(q[..., :5], k[..., :5], v),
        lambda q, k, v: attention(q[0, 0], k[0, 0], v[0, 0]),
        lambda q, k, v: attention(q, k, v, padding_mask([900, 1024], 1024)),
        lambda q, k, v: attention(q, k, v, MaskRule(causal=True, window=64)),
        lambda q, k, v: attention(q, k, v, causal=True),
    ],
    ids=["three axes", "bias of three", "five and a bias", "five", "narrow values", "wide values", "two", "padding", "window", "causal"],
)  # fmt: skip
def test_no_table_is_held(run):
    global BIAS
    BIAS = torch.zeros(2, 1024, 1)  # a number for each query: it is the kernel that would make a table
    got, most = four(run)
    assert got < most


@on_the_cpu
def test_alibi_with_causal_makes_no_second_bias():
    n = 1024
    q, k, v = (randn(1, 8, n, 16, seed=i).float() for i in range(3))
    bias = alibi_bias(8, n)
    plain = count_peak_bytes(lambda: attention(q, k, v))
    assert count_peak_bytes(lambda: attention(q, k, v, bias=bias)) < plain + bias.nbytes / 8
    assert count_peak_bytes(lambda: attention(q, k, v, causal=True, bias=bias)) < bias.nbytes


@pytest.mark.parametrize("lead", [(), (3,), (2, 3), (4, 2, 3), (1, 4, 2, 3)])
@pytest.mark.parametrize(
    "more", ["nothing", "mask", "row", "bias", "bias with a gradient", "causal", "window"]
)
@pytest.mark.parametrize("width", [D, Dv])
def test_the_kernel_is_given_four_axes_always(lead, more, width):
    given = []

    class Watch(TorchFunctionMode):  # beside the kernel's own name, by which a causal bias knows it
        def __torch_function__(self, func, types, args=(), kwargs=None):
            if func is F.scaled_dot_product_attention:
                given.extend(args)
                mask = kwargs.get("attn_mask")
                given.extend([mask] if type(mask) is torch.Tensor else [])
            return func(*args, **(kwargs or {}))

    q, k, v = randn(*lead, T, D), randn(*lead, S, D, seed=1), randn(*lead, S, width, seed=2)
    options = {
        "nothing": {},
        "mask": {"mask": causal_mask(T, S, device=DEVICE)},
        "row": {"mask": torch.arange(S, device=DEVICE) > 2},
        "bias": {"bias": randn(T, S, seed=3)},
        "bias with a gradient": {"bias": randn(*lead[-1:], T, S, seed=3).requires_grad_()},
        "causal": {"causal": True},
        "window": {"mask": MaskRule(causal=True, window=3)},
    }[more]
    if "gradient" in more:
        q.requires_grad_()  # of a bias that alone learns the kernel for GPUs is not told
    with Watch():
        out = attention(q, k, v, **options)
    assert_close(out, attention_weights(q, k, **options) @ v)
    assert given
    assert all(x.ndim == 4 for x in given)
    assert DEVICE.type != "cpu" or given[1].shape[-1] == given[2].shape[-1]


def test_causal_aligns_with_the_last_key_and_pytorchs_is_causal_with_the_first():
    for T, S in ((5, 7), (7, 5), (5, 5)):
        q, k, v = case(T=T, S=S)
        last, first = (causal_mask(T, S, offset=n, device=DEVICE) for n in (S - T, 0))
        theirs = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        assert_close(attention(q, k, v, first), theirs)
        assert_close(attention(q, k, v, causal=True), attention(q, k, v, last))
        assert torch.allclose(attention(q, k, v, causal=True), theirs) == (T == S)


def test_a_mask_of_two_axes_is_told_from_one_of_keys_wherever_a_mask_is_taken():
    x, mask = torch.zeros(3, 2, 5, 4, device=DEVICE), torch.ones(3, 5, dtype=torch.bool, device=DEVICE)
    way_out = r"a mask of keys \(B, S\) is mask\[:, None, None, :\], as padding_mask makes it"
    for run in (
        lambda: attention(x, x, x, mask),
        lambda: attention_weights(x, x, mask),
        lambda: attention_scores(x, x, mask),
        lambda: tiled_attention(x, x, x, mask),
        lambda: sliding_window_attention(x, x, x, mask, window=2),
        lambda: attention_with_lse(x, x, x, mask),
        lambda: key_mass(x, x, mask),
        lambda: masked_softmax(x @ x.mT, mask),
    ):
        with pytest.raises(ValueError, match=way_out):
            run()
    square = torch.ones(
        5, 5, dtype=torch.bool, device=DEVICE
    )  # for B = T nobody can tell; the docstring does
    assert attention(x, x, x, square).shape == x.shape
    for function in (attention, attention_weights):
        assert "as `padding_mask` makes it" in function.__doc__


@on_the_cpu
def test_keys_are_not_read_again_for_a_single_query():
    read = []

    class Watch(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if func is torch.ops.aten.sum.default or func is torch.ops.aten.sum.dim_IntList:
                read.append(args[0].numel())
            return func(*args, **(kwargs or {}))

    q, k, v = randn(1, 2, 1, 8), randn(1, 2, 64, 8, seed=1), randn(1, 2, 64, 8, seed=2)
    mask = torch.ones(64, dtype=torch.bool)
    mask[7] = False
    with Watch():
        attention(q, k, v, mask)
    assert max(read) <= q.numel()
    want = attention(q, k, v, mask)
    for bad in (math.nan, math.inf, -math.inf):
        for i in range(2):
            hidden = [k.clone(), v.clone()]
            hidden[i][:, :, 7] = bad
            assert_close(attention(q, *hidden, mask), want)


@pytest.mark.parametrize(
    "run", [attention, tiled_attention, lambda q, k, v, m: attention_weights(q, k, m) @ v]
)
@on_the_cpu
def test_a_fully_masked_query_that_is_nan_has_no_effect(run):
    q, k, v = case()
    mask = some_mask(blind_row=2)
    clean = [x.clone().requires_grad_() for x in (q, k, v)]
    q[:, :, 2] = math.nan
    dirty = [x.clone().requires_grad_() for x in (q, k, v)]
    out, want = run(*dirty, mask), run(*clean, mask)
    assert_close(out, want)
    for got, expected in zip(
        torch.autograd.grad(out.square().sum(), dirty),
        torch.autograd.grad(want.square().sum(), clean),
        strict=True,
    ):
        assert_close(got, expected)


@pytest.mark.parametrize("name", ["scale", "softcap", "sink"])
@pytest.mark.parametrize(
    "run", [attention, tiled_attention, lambda q, k, v, m, **o: attention_weights(q, k, m, **o) @ v]
)
@on_the_cpu
def test_a_hidden_key_that_is_nan_has_no_effect_on_what_is_learned(run, name):
    q, k, v = case()
    mask = some_mask()
    mask[..., 3] = False
    k[:, :, 3] = math.nan
    learned = torch.full((H, 1, 1) if name != "sink" else (H,), 0.7, dtype=torch.float64, requires_grad=True)
    dirty, clean = (
        torch.autograd.grad(run(q, x, v, mask, **{name: learned}).sin().sum(), learned)[0]
        for x in (k, k.nan_to_num(0.0))
    )
    assert_close(dirty, clean)


def test_second_derivatives_are_refused_in_a_sentence():
    if DEVICE.type != "cpu":
        pytest.skip("PyTorch has second derivatives where it takes no quick kernel")
    q, k, v = (x.requires_grad_() for x in case(Dv=D))
    said = r"attention has first derivatives only; for second ones use attention_weights\(...\) @ v"
    for options in ({}, {"mask": some_mask()}, {"causal": True}):
        (dq,) = torch.autograd.grad(attention(q, k, v, **options).sum(), q, create_graph=True)
        with pytest.raises(RuntimeError, match=said):
            torch.autograd.grad(dq.sum(), k)

    def loss(q):
        return attention(q, k.detach(), v.detach()).sum()

    with pytest.raises(RuntimeError, match=said):
        torch.func.grad(lambda q: torch.func.grad(loss)(q).sum())(q.detach())
    first = torch.func.grad(loss)(q.detach())
    assert_close(first, torch.autograd.grad(loss(q), q)[0])


@pytest.mark.parametrize("options", [{}, {"causal": True}, {"mask": some_mask()}])
def test_forward_derivatives_are_the_formulas(options):
    q, k, v = case()
    tangents = case(seed=4)
    run = lambda *x: attention(*x, **options)  # noqa: E731
    formula = lambda q, k, v: attention_weights(q, k, **options) @ v  # noqa: E731
    for got, want in zip(
        torch.func.jvp(run, (q, k, v), tuple(tangents)),
        torch.func.jvp(formula, (q, k, v), tuple(tangents)),
        strict=True,
    ):
        assert_close(got, want)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"causal": "no"}, TypeError, "causal must be True or False, got str ('no')"),
        ({"causal": 1}, TypeError, "causal must be True or False, got int (1)"),
        ({"causal": None}, TypeError, "causal must be True or False, got NoneType (None)"),
        (
            {"causal": torch.ones(5, 7, dtype=torch.bool)},
            TypeError,
            "causal must be True or False, got a tensor; give it as mask=",
        ),
        ({"scale": "1"}, TypeError, "scale must be a number or a tensor, got str ('1')"),
        ({"softcap": "1"}, TypeError, "softcap must be a number or a tensor, got str ('1')"),
        (
            {"scale": torch.ones(3, device=DEVICE)},
            ValueError,
            "scale must be one number, or one for each head (H, 1, 1), for scores (2, 3, 5, 7), got (3,)",
        ),
        (
            {"softcap": torch.tensor(2, device=DEVICE)},
            TypeError,
            "softcap must be a number or a floating-point tensor, got torch.int64",
        ),
        (
            {"mask": torch.ones(2, 7, dtype=torch.bool, device=DEVICE)},
            ValueError,
            "mask must broadcast to the scores' shape (..., T, S) = (2, 3, 5, 7), got (2, 7); "
            "a mask of keys (B, S) is mask[:, None, None, :], as padding_mask makes it",
        ),
        ({"sink": 1.0}, TypeError, "sink must be a torch.Tensor, got float; wrap it in torch.as_tensor"),
        (
            {"sink": torch.ones(3, device=DEVICE).long()},
            TypeError,
            "sink must be a floating-point tensor of scores, got torch.int64",
        ),
        (
            {"sink": torch.ones(2, device=DEVICE)},
            ValueError,
            "sink must be one score for each head (H,), for scores (2, 3, 5, 7), got (2,)",
        ),
    ],
)
def test_wrong_options_get_this_message(options, error, message):
    q, k, v = case()
    for run in (attention, tiled_attention, attention_weights):
        with pytest.raises(error) as caught:
            run(q, k, **options) if run is attention_weights else run(q, k, v, **options)
        assert str(caught.value) == message


def test_numbers_of_numpy_are_numbers():
    q, k, v = case(T=S)
    for n in (np.int64(2), np.int32(2)):
        assert_close(tiled_attention(q, k, v, block_size=n), attention(q, k, v))
        assert_close(sliding_window_attention(q, k, v, window=n), sliding_window_attention(q, k, v, window=2))
        assert torch.equal(causal_mask(n, n + 1), causal_mask(2, 3))
        assert_close(MaskRule(causal=True, window=n).table(4), MaskRule(causal=True, window=2).table(4))
    assert_close(attention(q, k, v, scale=np.float32(0.5)), attention(q, k, v, scale=0.5))


# sinks, and attention in parts


SINKS = {
    "attention": attention,
    "weights": lambda q, k, v, mask=None, **o: attention_weights(q, k, mask, **o) @ v,
    "tiles": lambda *x, **o: tiled_attention(*x, **o, block_size=2),
    "with lse": lambda *x, **o: attention_with_lse(*x, **o)[0],
}


@pytest.mark.parametrize(
    "options", [{}, {"mask": some_mask(blind_row=1)}, {"causal": True}, {"softcap": 2.0}]
)
@pytest.mark.parametrize("run", SINKS.values(), ids=SINKS)
def test_a_sink_is_one_more_key_without_a_value(run, options):
    q, k, v = (x.requires_grad_() for x in case())
    sink = randn(H, seed=7).requires_grad_()
    got = run(q, k, v, **options, sink=sink)
    scores = attention_scores(q, k, **options)
    scores = torch.cat([scores, sink[:, None, None].expand(B, H, T, 1)], -1)
    want = scores.softmax(-1) @ torch.cat([v, torch.zeros_like(v[..., :1, :])], -2)
    assert_close(got, want)
    needs = (q, k, v, sink)
    for a, b in zip(
        torch.autograd.grad(got.sin().sum(), needs), torch.autograd.grad(want.sin().sum(), needs), strict=True
    ):
        assert_close(a, b)


@pytest.mark.parametrize("run", SINKS.values(), ids=SINKS)
def test_a_sink_of_minus_infinity_is_none(run):
    q, k, v = (x.requires_grad_() for x in case())
    mask = some_mask(blind_row=1)
    sink = torch.tensor([0.5, -math.inf, 1.0], dtype=torch.float64, device=DEVICE, requires_grad=True)
    out, without = run(q, k, v, mask, sink=sink), run(q, k, v, mask)
    assert_close(out[:, 1], without[:, 1])
    for grad in torch.autograd.grad(out.square().sum(), (q, k, v, sink)):
        assert grad.isfinite().all()


@pytest.mark.parametrize("run", SINKS.values(), ids=SINKS)
def test_the_gradient_of_a_softcap_is_rounded_once(run):
    q, k, v = (0.1 * x for x in case())  # small scores: the gradient is a small difference of two sums
    exact = torch.tensor(4.0, dtype=torch.float64, device=DEVICE, requires_grad=True)
    (want,) = torch.autograd.grad(run(q, k, v, softcap=exact).square().sum(), exact)
    half = exact.detach().bfloat16().requires_grad_()
    (got,) = torch.autograd.grad(run(q, k, v, softcap=half).square().sum(), half)
    assert got.double().item() == pytest.approx(want.item(), rel=2**-8)


@pytest.mark.parametrize("name", ["scale", "softcap", "sink", "bias"])
@pytest.mark.parametrize("run", SINKS.values(), ids=SINKS)
def test_what_is_learned_may_be_of_another_dtype(run, name):
    shape = {"sink": (H,), "bias": (H, T, S)}.get(name, (H, 1, 1))
    learned = (0.5 + randn(*shape, seed=3).abs()).requires_grad_()
    for dtype in (torch.float32, torch.bfloat16):
        q, k, v = case(dtype=dtype)
        for own in (torch.float64, torch.float32, torch.bfloat16):
            out = run(q, k, v, **{name: learned.to(own)})
            assert out.dtype == dtype or run is SINKS["weights"]
            assert_close(
                out.double(), run(*(x.double() for x in (q, k, v)), **{name: learned}), rtol=0.05, atol=0.05
            )
            (grad,) = torch.autograd.grad(out.sum(), learned)
            assert grad.isfinite().all()


def test_a_sink_beyond_a_few_scores_holds_no_table():
    q, k, v = (randn(1, 1, 600, 8, seed=i) for i in range(3))
    sink = randn(1, seed=3)
    want = SINKS["weights"](q, k, v, sink=sink)
    assert_close(attention(q, k, v, sink=sink), want)
    if DEVICE.type == "cpu":
        q, k, v = (randn(1, 1, 2048, 8, seed=i) for i in range(3))
        assert count_peak_bytes(lambda: attention(q, k, v, sink=sink)) < 2048 * 2048 * 8


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_lse_is_the_logarithm_of_the_sum(dtype):
    q, k, v = case(dtype=dtype)
    mask = some_mask(blind_row=3)
    out, lse = attention_with_lse(q, k, v, mask, softcap=3.0)
    assert lse.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
    scores = attention_scores(q.double(), k.double(), mask, softcap=3.0)
    assert_close(lse.double(), scores.logsumexp(-1), rtol=1e-3, atol=1e-3)
    assert (lse[:, :, 3] == -math.inf).all()
    assert_close(out, tiled_attention(q, k, v, mask, softcap=3.0), rtol=0, atol=0)


def test_parts_merge_into_the_whole_with_gradients():
    q, k, v = (x.requires_grad_() for x in case())
    mask = some_mask(blind_row=2)
    mask[:, :, 0, :3], mask[:, :, 1, 3:] = False, False  # nothing in the first part, nothing in the second
    parts = [attention_with_lse(q, k[:, :, s], v[:, :, s], mask[..., s]) for s in (slice(0, 3), slice(3, S))]
    out, lse = merge(*parts[0], *parts[1])
    want, want_lse = attention_with_lse(q, k, v, mask)
    assert_close(out, want)
    assert_close(lse, want_lse)
    some = torch.arange(T, device=DEVICE) != 2  # a fully masked query has no finite lse to differentiate
    for a, b in zip(
        torch.autograd.grad(out.sin().sum() + lse[..., some].cos().sum(), (q, k, v)),
        torch.autograd.grad(
            want.sin().sum() + attention_scores(q, k, mask)[:, :, some].logsumexp(-1).cos().sum(), (q, k, v)
        ),
        strict=True,
    ):
        assert_close(a, b)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda o, x: (o, x, o[..., 1:, :], x), ValueError, "out and other must be (..., T, Dv) and both lse (..., T), got out (2, 3, 5, 13), lse (2, 3, 5), other (2, 3, 4, 13) and other_lse (2, 3, 5)"),
        (lambda o, x: (o, x.float(), o, x), TypeError, "lse and other_lse must have the same dtype, got torch.float32 and torch.float64; convert one with .to(dtype)"),
        (lambda o, x: (o, x, o.float(), x), TypeError, "out and other must have the same dtype, got torch.float64 and torch.float32; convert one with .to(dtype)"),
    ],
)  # fmt: skip
def test_parts_that_do_not_fit_get_this_message(change, error, message):
    with pytest.raises(error) as caught:
        merge(*change(*attention_with_lse(*case())))
    assert str(caught.value) == message


@pytest.mark.parametrize("block_size", [1, 3, 64])
@options
def test_the_mass_of_keys_is_the_sum_of_their_weights(opts, block_size):
    q, k, _ = case()
    sink = randn(H, seed=7)
    for more in ({}, {"sink": sink}, {"scale": torch.tensor(0.7, device=DEVICE, dtype=torch.float64)}):
        if "scale" in more and "scale" in opts:
            continue
        got = key_mass(q, k, **opts, **more, block_size=block_size)
        assert_close(got, attention_weights(q, k, **opts, **more).sum(-2))


def test_the_mass_of_keys_and_parts_hold_no_table():
    n = 2048
    q, k, v = (randn(1, 1, n, 8, seed=i).float() for i in range(3))
    table = n * n * 4
    assert count_peak_bytes(lambda: attention_weights(q, k)) >= table
    assert count_peak_bytes(lambda: key_mass(q, k, block_size=64)) < table / 8
    assert count_peak_bytes(lambda: attention_with_lse(q, k, v)) < table / 2


def test_the_mass_of_keys_knows_groups_and_rules():
    q, k, _ = case(heads=6, kv_heads=2)
    rule = MaskRule(causal=True, window=2)
    assert_close(key_mass(q, k, rule, block_size=2), attention_weights(q, k, rule).sum(-2))
    assert key_mass(q.bfloat16(), k.bfloat16()).dtype == torch.float32
    with pytest.raises(ValueError, match="block_size must be at least 1, got 0"):
        key_mass(q, k, block_size=0)
