import math

import pytest
import torch

from attnlib import attention, causal_mask, tiled_attention
from tests import DEVICE, assert_close, randn, reference
from tests.test_functional import HALVES, OPTIONS, B, D, Dv, H, S, T, case, some_bias, some_mask

PLAIN = {name: opts for name, opts in OPTIONS.items() if "softcap" not in opts}
options = pytest.mark.parametrize("opts", PLAIN.values(), ids=PLAIN)
blocks = pytest.mark.parametrize("block_size", [1, 2, 3, 100])


@options
@blocks
def test_equals_the_loop_reference_and_attentions_gradients(opts, block_size):
    q, k, v = (x.requires_grad_() for x in case())
    out = tiled_attention(q, k, v, **opts, block_size=block_size)
    assert_close(out, reference.attention(q.detach(), k.detach(), v.detach(), **opts))
    grad = case(seed=5)[0][..., :1].expand_as(out)
    for got, want in zip(
        torch.autograd.grad(out, (q, k, v), grad),
        torch.autograd.grad(attention(q, k, v, **opts), (q, k, v), grad),
        strict=True,
    ):
        assert_close(got, want)


@options
def test_gradients_by_finite_differences(opts):
    q, k, v = (x[:1, :1].requires_grad_() for x in case())
    opts = {n: x[:1, :1] if n == "mask" else x[:1] if n == "bias" else x for n, x in opts.items()}
    assert torch.autograd.gradcheck(lambda *x: tiled_attention(*x, **opts, block_size=3), (q, k, v))


@pytest.mark.parametrize("shape", [(H, T, S), (1, T, 1), (S,), (T, S)])
def test_bias_gets_its_gradient_in_its_own_shape(shape):
    q, k, v = case()
    bias = torch.randn(shape, dtype=torch.float64).to(DEVICE).requires_grad_()
    got, want = (
        torch.autograd.grad(f(q, k, v, bias=bias).square().sum(), bias)[0]
        for f in (lambda *x, **o: tiled_attention(*x, **o, block_size=2), attention)
    )
    assert_close(got, want)


@pytest.mark.parametrize("kv_heads", [1, 2, 3, 6])
@pytest.mark.parametrize("sizes", [(5, 7), (7, 5), (1, 7), (6, 6), (0, 3), (3, 0)])
def test_grouped_heads_and_any_lengths_with_a_causal_mask(kv_heads, sizes):
    q, k, v = case(heads=6, kv_heads=kv_heads, T=sizes[0], S=sizes[1])
    got = tiled_attention(q, k, v, causal=True, block_size=2)
    assert_close(got, attention(q, k, v, causal=True))


@pytest.mark.parametrize("lead", [(), (2,), (2, 3, 2)])
@pytest.mark.parametrize("sizes", [(2, 2), (5, 7), (7, 5)])
def test_any_leading_axes_and_two_of_everything(lead, sizes):
    g = torch.Generator().manual_seed(0)
    T, S = sizes
    q, k, v = (
        torch.randn(*lead, n, 3, generator=g, dtype=torch.float64).to(DEVICE).requires_grad_()
        for n in (T, S, S)
    )
    mask = (torch.rand(T, S, generator=g) > 0.3).to(DEVICE)
    bias = torch.randn(T, S, generator=g, dtype=torch.float64).to(DEVICE).requires_grad_()
    got = tiled_attention(q, k, v, mask, causal=True, bias=bias, block_size=1)
    want = attention(q, k, v, mask, causal=True, bias=bias)
    assert_close(got, want)
    for a, b in zip(
        torch.autograd.grad(got.square().sum(), (q, k, v, bias)),
        torch.autograd.grad(want.square().sum(), (q, k, v, bias)),
        strict=True,
    ):
        assert_close(a, b)


def test_a_function_of_positions_is_a_mask():
    q, k, v = (x.requires_grad_() for x in case())
    near = lambda i, j: (i - j).abs() <= 1  # noqa: E731
    mask = near(torch.arange(T)[:, None], torch.arange(S)).to(DEVICE)
    got, want = tiled_attention(q, k, v, near, block_size=2), attention(q, k, v, mask)
    assert_close(got, want)
    assert_close(torch.autograd.grad(got.sum(), k)[0], torch.autograd.grad(want.sum(), k)[0])
    assert_close(
        tiled_attention(q, k, v, near, causal=True, block_size=2),
        attention(q, k, v, mask & causal_mask(T, S, device=DEVICE)),
    )


def test_hidden_tiles_are_not_looked_at():
    q, k, v = case(T=8, S=8)
    asked = []

    def mask(i, j):
        asked.append((i[0, 0].item(), j[0].item()))
        return j <= i

    tiled_attention(q, k, v, mask, causal=True, block_size=4)
    assert asked == [(0, 0), (4, 0), (4, 4)]


def test_no_matrix_of_queries_by_keys_is_ever_made():
    T, block = 64, 8
    q, k, v = (x.requires_grad_() for x in case(T=T, S=T))
    largest = 0

    class Watch(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            nonlocal largest
            out = func(*args, **(kwargs or {}))
            for x in out if isinstance(out, (tuple, list)) else [out]:
                if isinstance(x, torch.Tensor):
                    largest = max(largest, x.numel())
            return out

    with Watch():
        tiled_attention(q, k, v, causal=True, block_size=block).sum().backward()
    assert largest <= B * H * T * max(D, Dv, block)


@pytest.mark.parametrize("dtype", HALVES)
@options
def test_half_precision_is_as_good_as_attentions(dtype, opts):
    q, k, v = case(dtype=dtype)
    exact = reference.attention(q, k, v, **opts)
    error = (tiled_attention(q, k, v, **opts, block_size=3).double().cpu() - exact).abs().max()
    assert error <= 2 * (attention(q, k, v, **opts).double().cpu() - exact).abs().max()


def test_query_with_no_key_gets_zeros_and_finite_gradients():
    q, k, v = (x.requires_grad_() for x in case())
    out = tiled_attention(q, k, v, some_mask(blind_row=2), bias=some_bias(), block_size=3)
    assert not out[:, :, 2].any()
    for grad in torch.autograd.grad(out.square().sum(), (q, k, v)):
        assert grad.isfinite().all()


def test_huge_scores_stay_finite():
    q, k, v = case(dtype=torch.float32)
    assert tiled_attention(q * 1e30, k, v, block_size=2).isfinite().all()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"block_size": 0}, ValueError, "block_size must be at least 1, got 0"),
        ({"scale": math.inf}, ValueError, "scale must be a finite number, got inf"),
        ({"mask": 3}, TypeError, "mask must be a tensor, a rule or a function of positions, got int"),
        (
            {"mask": torch.ones(S, T, dtype=torch.bool, device=DEVICE)},
            ValueError,
            "mask must broadcast to the scores' shape (..., T, S) = (2, 3, 5, 7), got (7, 5)",
        ),
        (
            {"bias": torch.ones(S, T, device=DEVICE)},
            ValueError,
            "bias must broadcast to the scores' shape (..., T, S) = (2, 3, 5, 7), got (7, 5)",
        ),
    ],
)
def test_bad_input_gets_this_message(options, error, message):
    with pytest.raises(error) as caught:
        tiled_attention(*case(), **options)
    assert str(caught.value) == message


def test_keys_and_values_must_be_as_many():
    q, k, v = case()
    with pytest.raises(ValueError, match="k and v must have the same length S"):
        tiled_attention(q, k, v[:, :, 1:])


# what the first edition got wrong


def test_second_derivatives_are_refused_and_not_wrong():
    q, k, v = (randn(5, 3, seed=i).requires_grad_() for i in range(3))
    out = tiled_attention(q, k, v, block_size=2)
    (dq,) = torch.autograd.grad(out.sum(), q, create_graph=True)  # the incoming gradient needs none
    with pytest.raises(RuntimeError, match="tiled_attention has first derivatives only"):
        dq.sum().backward()

    def loss(q):
        return tiled_attention(q, k.detach(), v.detach(), block_size=2).sum()

    with pytest.raises(RuntimeError, match="tiled_attention has first derivatives only"):
        torch.func.grad(lambda q: torch.func.grad(loss)(q).sum())(q.detach())


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (lambda i, j: None, TypeError, "the mask function must return a boolean tensor, True = may attend, got NoneType"),
        (lambda i, j: True, TypeError, "the mask function must return a boolean tensor, True = may attend, got bool"),
        (lambda i, j: (i - j).float(), TypeError, "the mask function must return a boolean tensor, True = may attend, got torch.float32"),
        (
            lambda i, j: torch.ones(5, 4, device=DEVICE).bool(),
            ValueError,
            "the mask function must return what broadcasts to (n, m) = (2, 2) for queries (2, 1) and keys (2,), got (5, 4)",
        ),
    ],
)  # fmt: skip
def test_a_mask_function_that_answers_wrongly_gets_this_message(answer, error, message):
    x = randn(5, 3)
    with pytest.raises(error) as caught:
        tiled_attention(x, x, x, answer, block_size=2)
    assert str(caught.value) == message


def test_a_mask_and_a_bias_may_be_single_numbers():
    q, k, v = randn(5, 3), randn(7, 3, seed=1), randn(7, 2, seed=2)
    yes = torch.tensor(True, device=DEVICE)
    bias = torch.tensor(0.5, device=DEVICE, dtype=torch.float64, requires_grad=True)
    out = tiled_attention(q, k, v, yes, bias=bias, block_size=2)
    assert_close(out, attention(q, k, v))
    out.square().sum().backward()
    assert bias.grad.item() == pytest.approx(0.0, abs=1e-12)  # a shift of every score moves nothing
    assert not tiled_attention(q, k, v, ~yes, block_size=2).any()


def test_the_gradient_of_a_bias_is_summed_in_float32():
    T, S = 4096, 16
    q, k, v = (torch.zeros(n, 1, dtype=torch.bfloat16, device=DEVICE) for n in (T, S, S))
    v[0] = 1.0
    bias = torch.zeros(S, dtype=torch.bfloat16, device=DEVICE, requires_grad=True)
    tiled_attention(q, k, v, bias=bias, block_size=16).sum().backward()
    exact = torch.full((S,), -T / S**2, dtype=torch.float64)  # T queries, each with weight 1 / S for each key
    exact[0] += T / S
    assert_close(bias.grad.double(), exact, rtol=2**-7, atol=0)


@pytest.mark.parametrize("causal", [False, True])
def test_a_softcap_is_that_of_the_formula_with_its_gradients(causal):
    q, k, v = (
        3 * randn(2, 3, 5, 7).requires_grad_(),
        randn(2, 3, 7, 7, seed=1).requires_grad_(),
        randn(2, 3, 7, 2, seed=2).requires_grad_(),
    )
    bias = randn(3, 1, 7, seed=3).requires_grad_()
    got, expected = (
        run(q, k, v, causal=causal, bias=bias, softcap=1.5, **options)
        for run, options in ((tiled_attention, {"block_size": 2}), (attention, {}))
    )
    assert_close(got, expected)
    for a, b in zip(
        *(torch.autograd.grad(x.sin().sum(), (q, k, v, bias)) for x in (got, expected)), strict=True
    ):
        assert_close(a, b)


@pytest.mark.skipif(DEVICE.type != "cpu", reason="a GPU does not look for NaN")
def test_a_hidden_nan_is_not_felt_through_a_softcap():
    q, v = torch.ones(2, 2, 1, dtype=torch.float64).unbind()
    k = torch.tensor([[1.0], [math.nan]], dtype=torch.float64)
    out = tiled_attention(q.requires_grad_(), k, v, torch.tensor([True, False]), softcap=1.0)
    assert torch.autograd.grad(out.sum(), q)[0].isfinite().all()
