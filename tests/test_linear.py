import math

import pytest
import torch

from attnlib.linear import elu_plus_one, linear_attention, linear_attention_step
from tests import DEVICE, assert_close, randn
from tests.test_functional import B, Dv, H, case


def loop(q, k, v, *, causal):
    """Each query by itself, in plain sums."""
    q, k, v = q.cpu(), k.cpu(), v.cpu()
    f = lambda x: torch.where(x > 0, x + 1, x.exp())  # noqa: E731
    out = torch.zeros(*q.shape[:-1], v.shape[-1], dtype=q.dtype)
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            group = h * k.shape[1] // q.shape[1]
            for i in range(q.shape[2]):
                last = i + 1 if causal else k.shape[2]
                w = [f(q[b, h, i]) @ f(k[b, group, j]) for j in range(last)]
                out[b, h, i] = sum(a * v[b, group, j] for j, a in enumerate(w)) / sum(w)
    return out


@pytest.mark.parametrize("block_size", [1, 3, 64])
@pytest.mark.parametrize(("causal", "T"), [(False, 5), (True, 7)])
@pytest.mark.parametrize("kv_heads", [1, 2, 6])
def test_equals_the_loop(causal, T, block_size, kv_heads):
    q, k, v = case(heads=6, kv_heads=kv_heads, T=T)
    got = linear_attention(q, k, v, causal=causal, block_size=block_size)
    assert_close(got, loop(q, k, v, causal=causal))


def test_the_recurrence_equals_the_parallel_form():
    q, k, v = case(T=7)
    parallel, state = linear_attention(q, k, v, causal=True, block_size=3), None
    for i in range(7):
        out, state = linear_attention_step(q[:, :, i], k[:, :, i], v[:, :, i], state)
        assert_close(out, parallel[:, :, i])
    assert state.kv.shape == (B, H, q.shape[-1], Dv)


@pytest.mark.parametrize("causal", [False, True])
def test_gradients_by_finite_differences(causal):
    q, k, v = (x[:1, :1].requires_grad_() for x in case(T=7))
    f = lambda *x: linear_attention(*x, causal=causal, block_size=3)  # noqa: E731
    assert torch.autograd.gradcheck(f, (q, k, v))


def test_another_feature_map_and_one_that_sees_nothing():
    q, k, v = case(T=7)
    squared = linear_attention(q, k, v, feature_map=torch.square)
    weights = q.square() @ k.square().mT
    assert_close(squared, weights / weights.sum(-1, keepdim=True) @ v)
    assert not linear_attention(q, k, v, feature_map=torch.zeros_like).any()


@pytest.mark.parametrize("causal", [False, True])
def test_without_division_it_is_a_sum(causal):
    q, k, v = case(T=7)
    options = {"feature_map": lambda x: x, "normalize": False}
    weights = (q @ k.mT).tril() if causal else q @ k.mT
    assert_close(linear_attention(q, k, v, causal=causal, block_size=3, **options), weights @ v)
    state = None
    for i in range(7 if causal else 0):
        out, state = linear_attention_step(q[:, :, i], k[:, :, i], v[:, :, i], state, **options)
        assert_close(out, (weights @ v)[:, :, i])


def test_features_are_positive_and_smooth():
    x = torch.linspace(-5, 5, 101, dtype=torch.float64)
    assert (elu_plus_one(x) > 0).all()
    assert_close(elu_plus_one(x[x < 0]), x[x < 0].exp())


def test_an_empty_sequence_stays_empty():
    q, k, v = case(T=0, S=0)
    assert linear_attention(q, k, v, causal=True).shape == v.shape


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: linear_attention(*case(), causal=True),
            "causal linear attention needs T = S, got T = 5 and S = 7",
        ),
        (
            lambda: linear_attention(*case(), block_size=0),
            "block_size must be at least 1, got 0",
        ),
        (
            lambda: linear_attention(randn(5, 4), randn(7, 4), randn(6, 11)),
            "k and v must have the same length S, got k (7, 4) and v (6, 11)",
        ),
        (
            lambda: linear_attention_step(torch.zeros(3), torch.zeros(4), torch.zeros(2)),
            "q and k must have the same width D, got q (3,) and k (4,)",
        ),
    ],
)
def test_bad_input_gets_this_message(call, message):
    with pytest.raises(ValueError) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_sums_over_many_keys_neither_overflow_nor_stall_in_half_precision(dtype):
    ones = torch.ones(1, 1, 512, 64, dtype=dtype, device=DEVICE)
    for causal in (False, True):
        assert_close(linear_attention(ones, ones, ones, causal=causal), ones)
    q, k, v = randn(3, 1, 1, 1024, 8).to(dtype)
    for causal in (False, True):
        out = linear_attention(q, k, v, causal=causal)
        exact = linear_attention(q.double(), k.double(), v.double(), causal=causal)
        assert out.dtype == dtype
        # one rounding of the output, and the features', each at most half a unit
        assert_close(out.double(), exact, rtol=0, atol=4 * torch.finfo(dtype).eps * exact.abs().max().item())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_state_of_many_steps_is_kept_in_float32(dtype):
    one, state = torch.ones(1, 64, dtype=dtype, device=DEVICE), None
    for _ in range(600):
        out, state = linear_attention_step(one, one, one, state)
    assert state.kv.dtype == state.k.dtype == torch.float32
    assert out.dtype == dtype
    assert_close(out, one)
    assert state.k[0, 0].item() == 1200.0  # bfloat16 stalls at 512, float16 sums overflow in the product


def test_small_features_are_not_rounded_away():
    x = torch.tensor([-30.0, -5.0, 0.0, 5.0])
    expected = torch.tensor([math.exp(-30), math.exp(-5), 1.0, 6.0])
    assert_close(elu_plus_one(x), expected, rtol=1e-6, atol=0)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda x: linear_attention_step(x, x.double(), x),
            TypeError,
            "q and k must have the same dtype, got torch.float32 and torch.float64; "
            "convert one with .to(dtype)",
        ),
        (
            lambda x: linear_attention_step(x, x, x.double()),
            TypeError,
            "q and v must have the same dtype, got torch.float32 and torch.float64; "
            "convert one with .to(dtype)",
        ),
        (
            lambda x: linear_attention_step([1.0], x, x),
            TypeError,
            "q must be a torch.Tensor, got list; wrap it in torch.as_tensor",
        ),
    ],
)
def test_a_step_with_bad_input_gets_this_message(call, error, message):
    with pytest.raises(error) as caught:
        call(torch.ones(3))
    assert str(caught.value) == message


def test_what_broadcasts_gets_its_gradient_summed_in_float32():
    q = torch.tensor([300.0, -299.0], device=DEVICE).half().view(1, 2, 1, 1)  # two heads, one key and value
    k = torch.ones(1, 1, 1, 1, dtype=torch.float16, device=DEVICE, requires_grad=True)
    out = linear_attention(q, k, 300 * k.detach(), feature_map=lambda x: x, normalize=False)
    (gradient,) = torch.autograd.grad(out, k, torch.ones_like(out))
    assert gradient.item() == 300  # 90,000 - 89,700: neither is a number of float16


def test_an_empty_sequence_stays_in_the_graph_of_all():
    q, k, v = (x.requires_grad_() for x in case(T=0, S=0))
    out = linear_attention(q, k, v, causal=True)
    assert out.shape == (B, H, 0, Dv)
    assert [g.shape for g in torch.autograd.grad(out.sum(), (q, k, v))] == [q.shape, k.shape, v.shape]


def test_causal_is_true_or_false():
    with pytest.raises(TypeError, match=r"causal must be True or False, got str \('no'\)"):
        linear_attention(*case(), causal="no")
