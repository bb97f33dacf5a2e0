import pytest
import torch

from attnlib import KVCache, MultiHeadAttention, alibi_bias, rotary
from tests import DEVICE, assert_close

pytestmark = pytest.mark.filterwarnings("ignore:mkldnn_matmul failed")  # a CPU without bfloat16 falls back

B, T, H, D = 2, 7, 6, 10
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


@pytest.mark.parametrize("steps", [[1] * 7, [3, 4], [5, 1, 1]])
def test_positions_go_on_where_the_cache_ends(module, steps):
    x, cache, start = tokens(), module.make_cache(B, T), 0
    bias = alibi_bias(H, T, device=DEVICE)
    expected, expected_weights = module(x, causal=True, bias=bias, rotary=rotary, need_weights=True)
    for n in steps:
        options = {"causal": True, "bias": alibi_bias(H, n, start + n, device=DEVICE), "rotary": rotary}
        twin = KVCache(*cache.shape, dtype=cache.dtype, device=DEVICE)
        if start:
            twin.append(*(y[:, :, :start] for y in (cache._k, cache._v)))
        out, weights = module(x[:, start : start + n], cache=cache, need_weights=True, **options)
        assert_close(out, expected[:, start : start + n])
        assert_close(weights, expected_weights[:, :, start : start + n, : start + n])
        assert_close(module(x[:, start : start + n], cache=twin, **options), out)
        start += n


def test_keys_are_kept_turned(module):
    x, cache = tokens(), module.make_cache(B, T)
    module(x, rotary=rotary, cache=cache)
    k = module.k_proj(x).unflatten(-1, (-1, D)).transpose(1, 2)
    assert_close(cache._k, rotary(k))


# autocast: keys come in its dtype


def autocast(dtype=torch.bfloat16):
    return torch.autocast(DEVICE.type, dtype)


@pytest.mark.parametrize("made_inside", [True, False])
@pytest.mark.parametrize("need_weights", [True, False])
@torch.no_grad()
def test_cached_equals_uncached_under_autocast(module, made_inside, need_weights):
    module, x = module.float(), tokens().float()
    cache = module.make_cache(B, T)
    with autocast():
        cache = module.make_cache(B, T) if made_inside else cache
        assert cache.dtype == (torch.bfloat16 if made_inside else torch.float32)
        expected = module(x, causal=True)
        steps = [
            module(part, causal=True, cache=cache, need_weights=need_weights)
            for part in x.split([3, 1, 3], 1)
        ]
    out = torch.cat([step[0] if need_weights else step for step in steps], 1)
    assert out.dtype == expected.dtype == torch.bfloat16
    assert_close(out.float(), expected.float(), atol=0.02, rtol=0.02)


@torch.no_grad()
def test_a_wider_cache_under_autocast_holds_the_same_numbers():
    torch.manual_seed(0)
    module, x = MultiHeadAttention(C, H).to(DEVICE), tokens().float()
    wide = module.make_cache(B, T)
    with autocast():
        narrow = module.make_cache(B, T)
        for part in x.split([3, 4], 1):
            assert torch.equal(*(module(part, causal=True, cache=cache) for cache in (wide, narrow)))
    assert torch.equal(wide._k.bfloat16(), narrow._k)


def test_a_cache_made_under_autocast_is_refused_where_it_would_round():
    module, x = MultiHeadAttention(C, H).to(DEVICE), tokens().float()
    with autocast():
        cache = module.make_cache(B, T)
    message = (
        "k must have the cache's dtype torch.bfloat16, got torch.float32; make the cache where it is used"
    )
    with pytest.raises(TypeError, match=message):
        module(x, cache=cache)
    with (
        pytest.raises(TypeError, match=r"cache's dtype torch.bfloat16, got torch.float16"),
        autocast(torch.float16),
    ):
        module(x, cache=cache)
    assert cache.length == 0


def test_autocast_leaves_float64_alone(module):
    x = tokens()
    with autocast():
        cache = module.make_cache(B, T)
        assert cache.dtype == torch.float64
        assert_close(module(x, causal=True, cache=cache), module(x, causal=True))


def test_a_cache_for_no_sequence_is_empty():
    assert KVCache(0, 2, 3, 5).append(zeros(0, 2, 1, 5), zeros(0, 2, 1, 5))[0].shape == (0, 2, 1, 5)


def test_sizes_dtype_and_device_can_be_asked_for():
    cache = KVCache(1, 2, 3, 5, dtype=torch.float16, device="meta")
    assert (cache.shape, cache.dtype, cache.device.type) == ((1, 2, 3, 5), torch.float16, "meta")
    assert cache.nbytes == 2 * 2 * 1 * 2 * 3 * 5  # keys and values, of two bytes each


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
            "k must have the cache's dtype torch.float32, got torch.float16; "
            "make the cache where it is used, with the same dtype and the same autocast",
        ),
        (
            lambda: KVCache(1, 2, 3, 5, device="meta").append(zeros(1, 2, 1, 5), zeros(1, 2, 1, 5)),
            ValueError,
            "k must be on the cache's device meta, got cpu; make the cache after the layer was moved",
        ),
        (lambda: KVCache(-1, 2, 3, 5), ValueError, "batch_size must be at least 0, got -1"),
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


def test_a_cache_made_in_inference_mode_serves_outside_too(module):
    x = tokens()
    with torch.inference_mode():
        cache = module.make_cache(B, T)
        module(x[:, :3], causal=True, cache=cache)
    with torch.no_grad():
        module(x[:, 3:4], causal=True, cache=cache)
    with torch.inference_mode():
        last = module(x[:, 4:], causal=True, cache=cache)
    assert_close(last, module(x, causal=True)[:, 4:])
