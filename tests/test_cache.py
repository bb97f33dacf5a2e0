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
            "make it with a larger max_length, or with keep_first to let it roll, or reset it",
        ),
        (lambda: KVCache(1, 2, 3, 5, keep_first=-1), ValueError, "keep_first must be at least 0, got -1"),
        (
            lambda: KVCache(1, 2, 3, 5, keep_first=3),
            ValueError,
            "keep_first must be below max_length = 3, got 3: there is no room for what is new",
        ),
        (lambda: KVCache(1, 2, 3, 5).crop(1), ValueError, "length must be at most what is kept, 0, got 1"),
        (lambda: KVCache(1, 2, 3, 5).crop(-1), ValueError, "length must be at least 0, got -1"),
        (
            lambda: KVCache(1, 2, 3, 5).reorder([0]),
            TypeError,
            "index must be a torch.Tensor, got list; wrap it in torch.as_tensor",
        ),
        (
            lambda: KVCache(1, 2, 3, 5).reorder(torch.zeros(1)),
            TypeError,
            "index must be whole numbers, got torch.float32",
        ),
        (
            lambda: KVCache(1, 2, 3, 5).reorder(torch.zeros(1, 1).long()),
            ValueError,
            "index must be (B',), one sequence for each of the new batch, got (1, 1)",
        ),
        (
            lambda: KVCache(1, 2, 3, 5).reorder(torch.zeros(1, device="meta").long()),
            ValueError,
            "index must be on the cache's device cpu, got meta",
        ),
        (
            lambda: KVCache(2, 2, 3, 5).reorder(torch.tensor([0, 2])),
            ValueError,
            "index must lie between 0 and 1, got 0 to 2",
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
        (
            lambda: KVCache(1, 2, 3, 5, dtype=torch.int64),
            TypeError,
            "dtype must be floating, as keys and values are, got torch.int64",
        ),
        (
            lambda: KVCache(1, 2, 3, 5).to(torch.int64),
            TypeError,
            "dtype must be floating, as keys and values are, got torch.int64",
        ),
        (
            lambda: KVCache(1, 2, 3, 5).to(torch.half, torch.double),
            TypeError,
            "to takes a device and a dtype, got the dtypes torch.float16 and torch.float64",
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


# what is done with a cache between steps


def filled(module, x):
    cache = module.make_cache(len(x), T)
    module(x, causal=True, rotary=rotary, cache=cache)
    return cache


def step(module, x, cache):
    return module(x, causal=True, rotary=rotary, cache=cache)


def test_its_length_is_that_of_a_list(module):
    cache = module.make_cache(B, T)
    assert (len(cache), bool(cache), cache.next_position) == (0, False, 0)
    step(module, tokens()[:, :3], cache)
    assert (len(cache), bool(cache), cache.next_position) == (3, True, 3)
    cache.reset()
    assert (len(cache), cache.next_position) == (0, 0)


@pytest.mark.parametrize("length", [0, 1, 4, 5])
def test_after_a_crop_it_goes_on_as_if_the_rest_had_never_come(module, length):
    x, other, cache = tokens(), tokens(1), module.make_cache(B, T)
    step(module, other[:, :5], cache)
    cache.crop(length)
    assert (cache.length, cache.next_position) == (length, length)
    assert_close(step(module, x[:, :2], cache), step(module, x[:, :2], filled(module, other[:, :length])))


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8])
@pytest.mark.parametrize("index", [[1, 0], [1, 1], [0], [1, 0, 1], []])
def test_reordered_it_goes_on_with_other_sequences(module, index, dtype):
    x, index = tokens(), torch.tensor(index, dtype=dtype, device=DEVICE)
    cache = filled(module, x[:, :4])
    cache.reorder(index)
    assert cache.shape == (len(index), module.num_kv_heads, T, D)
    chosen = x[index.long()]
    assert_close(
        step(module, chosen[:, 4:], cache), step(module, chosen[:, 4:], filled(module, chosen[:, :4]))
    )


def test_it_goes_to_another_dtype_and_device_with_the_layer(module):
    x, cache = tokens(), filled(module, tokens()[:, :4])
    assert cache.to(dtype=torch.float32) is cache
    assert (cache.dtype, cache.device.type, cache.length) == (torch.float32, DEVICE.type, 4)
    out = step(module.float(), x[:, 4:].float(), cache)
    assert_close(out.double(), step(module.double(), x, module.make_cache(B, T))[:, 4:], rtol=1e-4, atol=1e-4)
    assert cache.to(torch.bfloat16).dtype == torch.bfloat16
    assert cache.device.type == DEVICE.type
    assert cache.to("meta").device.type == "meta"
    assert cache.dtype == torch.bfloat16


# a window that rolls and keeps the first positions

LONG = 17


def long_tokens():
    g = torch.Generator().manual_seed(5)
    return torch.randn(B, LONG, C, generator=g, dtype=torch.float64).to(DEVICE)


def window_and_first(room, first):
    i, j = torch.arange(LONG)[:, None], torch.arange(LONG)
    return ((j <= i) & ((i - j < room - first) | (j < first))).to(DEVICE)


@pytest.mark.parametrize(("room", "first"), [(5, 0), (5, 2), (6, 5), (1, 0), (20, 3)])
@pytest.mark.parametrize("cuts", [[1] * 17, [3, 1, 7, 1, 5], [17], [12, 5], [5, 1, 1, 0, 10], [4, 3, 10]])
def test_a_rolling_cache_is_a_window_beside_the_first_positions(module, room, first, cuts):
    x, cache = long_tokens(), module.make_cache(B, room, keep_first=first)
    expected = module(x, mask=window_and_first(room, first), rotary=rotary)
    steps = [step(module, part, cache) for part in x.split(cuts, 1)]
    assert_close(torch.cat(steps, 1), expected)
    assert (cache.length, cache.next_position, cache.keep_first) == (min(room, LONG), LONG, first)


@pytest.mark.parametrize("cuts", [[1] * 17, [3, 1, 7, 1, 5]])
def test_the_positions_of_what_rolls_are_those_it_was_given(module, cuts):
    cache, end = module.make_cache(B, 6, keep_first=2), 0
    for part in long_tokens().split(cuts, 1):
        n, positions = part.shape[1], cache.positions_with(part.shape[1])
        end += n
        assert positions.tolist()[-n:] == list(range(end - n, end))
        assert len(positions) == cache.length_with(n)
        _, weights = module(part, causal=True, cache=cache, need_weights=True)
        assert weights.shape[-1] == len(positions)
        assert positions[:2].tolist() == [0, 1][: len(positions)]
    last = [0, 1, 13, 14, 15, 16]
    assert cache.positions_with(0).tolist() == last
    k = module.k_proj(long_tokens()[:, last]).unflatten(-1, (-1, D)).transpose(1, 2)
    assert_close(cache._k, k)


def test_a_mask_of_one_s_own_goes_with_a_window_that_rolls(module):
    x, cache = long_tokens(), module.make_cache(B, 6, keep_first=2)
    step(module, x[:, :5], cache)
    mask = torch.ones(1, 1, 1, cache.length_with(12), dtype=torch.bool, device=DEVICE)
    mask[..., 3] = False
    out = module(x[:, 5:], mask=mask, causal=True, rotary=rotary, cache=cache)
    hidden = window_and_first(6, 2)
    hidden[:, 3] = False
    assert_close(out, module(x, mask=hidden, rotary=rotary)[:, 5:])


def test_what_is_cropped_from_a_rolled_window_leaves_its_positions_right(module):
    cache = module.make_cache(B, 6, keep_first=2)
    step(module, long_tokens(), cache)
    cache.crop(4)
    assert (cache.length, cache.next_position) == (4, 15)
    assert cache.positions_with(1).tolist() == [0, 1, 13, 14, 15]
    cache.crop(2)
    assert (cache.length, cache.next_position) == (2, 2)
    assert repr(cache) == f"KVCache((2, {module.num_kv_heads}, 6, 10), length=2, keep_first=2)"
