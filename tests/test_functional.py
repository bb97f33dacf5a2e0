import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlib import attention, attention_scores, attention_weights, causal_mask, masked_softmax
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
