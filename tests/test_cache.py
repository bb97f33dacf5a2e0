import pytest
import torch

from attnlib import KVCache, MultiHeadAttention
from tests import DEVICE, assert_close

B, T, H, D = 2, 7, 6, 5
C = H * D


@pytest.fixture(params=[6, 3, 2, 1], ids=lambda n: f"{n} kv heads")
def module(request):
    torch.manual_seed(0)
    return MultiHeadAttention(C, H, num_kv_heads=request.param).double().to(DEVICE)


def tokens(seed=0):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(B, T, C, generator=g, dtype=torch.float64).to(DEVICE)


@pytest.mark.parametrize("steps", [[1] * 7, [3, 4], [5, 1, 1], [7], [2, 3, 2]])
def test_cached_equals_uncached_in_any_steps(module, steps):
    x, cache = tokens(), module.make_cache(B, T)
    expected, expected_weights = module(x, causal=True, need_weights=True)
    start = 0
    for n in steps:
        out, weights = module(x[:, start : start + n], causal=True, cache=cache, need_weights=True)
        assert_close(out, expected[:, start : start + n])
        assert_close(weights, expected_weights[:, :, start : start + n, : start + n])
        start += n
    assert cache.length == T
    cache.reset()
    assert_close(module(x, causal=True, cache=cache), expected)


def test_a_mask_covers_what_is_kept_too(module):
    x, cache = tokens(), module.make_cache(B, T)
    module(x[:, :5], causal=True, cache=cache)
    mask = torch.rand(2, T, generator=torch.Generator().manual_seed(3)).to(DEVICE) > 0.4
    mask[:, 0] = True
    out = module(x[:, 5:], mask=mask, cache=cache)
    k, v = (p(x).unflatten(-1, (-1, D)).transpose(1, 2) for p in (module.k_proj, module.v_proj))
    fresh = module.make_cache(B, T)
    fresh.append(k[:, :, :5], v[:, :, :5])
    assert_close(out, module(x[:, 5:], mask=mask, cache=fresh))
    assert_close(out, module(x[:, 5:], context=x, mask=mask))


def test_what_is_kept_is_returned_and_carries_no_gradient():
    cache = KVCache(1, 2, 3, 5)
    k = torch.ones(1, 2, 2, 5, requires_grad=True)
    keys, values = cache.append(k, 2 * k)
    assert keys.shape == values.shape == (1, 2, 2, 5)
    assert not keys.requires_grad
    keys, values = cache.append(3 * k[:, :, :1], 4 * k[:, :, :1])
    assert keys[0, 0, :, 0].tolist() == [1, 1, 3]
    assert values[0, 0, :, 0].tolist() == [2, 2, 4]
    assert repr(cache) == "KVCache((1, 2, 3, 5), length=3)"
    assert cache.max_length == 3


def zeros(*shape, dtype=torch.float32):
    return torch.zeros(shape, dtype=dtype)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: KVCache(1, 2, 3, 5).append(zeros(1, 2, 4, 5), zeros(1, 2, 4, 5)),
            ValueError,
            "the cache has room for 3 positions, got 4 more after 0; "
            "make it with a larger max_length, or reset it",
        ),
        (
            lambda: KVCache(1, 2, 3, 5).append(zeros(1, 3, 1, 5), zeros(1, 3, 1, 5)),
            ValueError,
            "k must be (B, Hkv, T, D) = (1, 2, T, 5), got (1, 3, 1, 5)",
        ),
        (
            lambda: KVCache(1, 2, 3, 5).append(zeros(1, 2, 1, 5), zeros(2, 1, 5)),
            ValueError,
            "v must be (B, Hkv, T, D) = (1, 2, T, 5), got (2, 1, 5)",
        ),
        (
            lambda: KVCache(1, 2, 3, 5).append(zeros(1, 2, 1, 5), zeros(1, 2, 2, 5)),
            ValueError,
            "k and v must have the same shape, got k (1, 2, 1, 5) and v (1, 2, 2, 5)",
        ),
        (
            lambda: KVCache(1, 2, 3, 5).append(zeros(1, 2, 1, 5).half(), zeros(1, 2, 1, 5).half()),
            TypeError,
            "k must have the cache's dtype torch.float32, got torch.float16",
        ),
        (lambda: KVCache(1, 2, 0, 5), ValueError, "max_length must be at least 1, got 0"),
        (lambda: KVCache(1, 2.0, 3, 5), TypeError, "num_kv_heads must be an int, got float (2.0)"),
        (
            lambda: MultiHeadAttention(6, 2)(
                zeros(1, 3, 6), zeros(1, 3, 6), cache=MultiHeadAttention(6, 2).make_cache(1, 5)
            ),
            ValueError,
            "a cache is for self-attention: give either context or cache, got both",
        ),
    ],
)
def test_bad_input_gets_this_message(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message


def test_an_overflow_loses_nothing():
    cache = KVCache(1, 1, 2, 1)
    cache.append(zeros(1, 1, 1, 1), zeros(1, 1, 1, 1))
    with pytest.raises(ValueError, match="room for 2 positions, got 2 more after 1"):
        cache.append(zeros(1, 1, 2, 1), zeros(1, 1, 2, 1))
    assert cache.length == 1
