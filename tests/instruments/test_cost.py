"""Predicted equals counted, exactly."""

import pytest
import torch

from attnlib import MultiHeadAttention, attention, attention_weights, tiled_attention
from attnlib.instruments.cost import (
    attention_flops,
    cache_bytes,
    multihead_flops,
    multihead_parameters,
    projection_flops,
    score_bytes,
)
from attnlib.instruments.counters import count_flops, count_kept_bytes, count_parameters
from attnlib.model import Decoder
from tests import DEVICE

B, H, T, S, D, Dv = 2, 3, 5, 7, 11, 13


def case(Dv=D, dtype=torch.float32, kv_heads=H):
    sizes = (B, H, T, D), (B, kv_heads, S, D), (B, kv_heads, S, Dv)
    return [torch.randn(size, dtype=dtype).to(DEVICE).requires_grad_() for size in sizes]


# by hand


def test_the_books_example_by_hand():
    n, d = 128, 768
    assert projection_flops(1, n, d) == 8 * n * d**2 == 603_979_776
    assert attention_flops(1, 12, n, n, d // 12) == 4 * n**2 * d == 50_331_648
    assert multihead_flops(1, n, d, 12) == 603_979_776 + 50_331_648


def test_core_equals_projections_at_twice_the_width():
    d = 64
    assert attention_flops(1, 4, 2 * d, 2 * d, d // 4) == projection_flops(1, 2 * d, d)


def test_more_heads_cost_the_same():
    assert len({multihead_flops(B, T, 24, heads) for heads in (1, 2, 3, 4, 6, 8, 12, 24)}) == 1
    assert {multihead_parameters(512, heads) for heads in (1, 8, 512)} == {4 * 512**2 + 4 * 512}


def test_bytes_by_hand():
    assert score_bytes(1, 1, 1000, 1000) == 4_000_000
    assert score_bytes(1, 1, 1000, 1000, torch.bfloat16) == 2_000_000
    assert cache_bytes(1, 8, 1000, 64, layers=2, dtype=torch.float16) == 2 * 8 * 1000 * 64 * 2 * 2


# against the counters


@pytest.mark.parametrize(
    "run",
    [
        attention,
        lambda q, k, v: attention(q, k, v, causal=True),
        lambda q, k, v: attention(q, k, v, torch.rand(T, S).to(DEVICE) > 0.3),
        lambda q, k, v: attention(q, k, v, softcap=2.0),
        lambda q, k, v: attention_weights(q, k) @ v,
        lambda q, k, v: tiled_attention(q, k, v, block_size=3),
    ],
    ids=["attention", "causal", "mask", "softcap", "weights", "tiled"],
)
@pytest.mark.parametrize("width", [D, Dv])
def test_operations_of_attention(run, width, request):
    q, k, v = case(width)
    name = request.node.callspec.id.split("-")[1]
    # the quick kernel for CPUs has one width for keys and values: the narrower ones are filled with zeros
    padded = DEVICE.type == "cpu" and name in ("attention", "causal", "mask")
    sizes = (max(D, width), max(D, width)) if padded else (D, width)
    assert count_flops(lambda: run(q, k, v)) == attention_flops(B, H, T, S, *sizes)


@pytest.mark.parametrize(("heads", "kv_heads"), [(6, 6), (6, 3), (6, 1), (1, 1)])
@pytest.mark.parametrize("need_weights", [False, True])
@pytest.mark.parametrize("cross", [False, True])
def test_operations_and_parameters_of_multihead_attention(heads, kv_heads, need_weights, cross):
    C = 24
    layer = MultiHeadAttention(C, heads, num_kv_heads=kv_heads).to(DEVICE)
    x, context = torch.randn(B, T, C).to(DEVICE), torch.randn(B, S, C).to(DEVICE) if cross else None
    counted = count_flops(lambda: layer(x, context, need_weights=need_weights))
    assert counted == multihead_flops(B, T, C, heads, Hkv=kv_heads, S=S if cross else None)
    assert count_parameters(layer) == multihead_parameters(C, heads, Hkv=kv_heads)
    bare = MultiHeadAttention(C, heads, num_kv_heads=kv_heads, bias=False)
    assert count_parameters(bare) == multihead_parameters(C, heads, Hkv=kv_heads, bias=False)


def test_frozen_parameters_are_not_counted():
    layer = MultiHeadAttention(4, 1, bias=False)
    layer.q_proj.weight.requires_grad_(False)
    assert count_parameters(layer) == 3 * 16


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("causal", [False, True])
def test_bytes_kept_for_backward_with_the_weights(dtype, causal):
    q, k, v = case(dtype=dtype)
    counted = count_kept_bytes(lambda: attention_weights(q, k, causal=causal) @ v, (q, k, v))
    queries, mask = B * H * T * D * dtype.itemsize, T * S if causal else 0  # the scaled queries are kept too
    assert counted == score_bytes(B, H, T, S, dtype) + queries + mask


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("run", [attention, tiled_attention])
def test_bytes_kept_for_backward_without_the_weights(run, causal):
    if DEVICE.type != "cpu" and run is attention:
        pytest.skip("kernels of GPUs pad what they keep")
    T = S
    q, k, v = (torch.randn(B, H, S, D).to(DEVICE).requires_grad_() for _ in range(3))
    counted = count_kept_bytes(lambda: run(q, k, v, causal=causal), (q, k, v))
    numbers = 1 if run is attention else 2  # the logarithm of a sum; or the sum, and the largest score
    assert counted == B * H * T * (D + numbers) * 4  # and the output


def test_bytes_of_a_decoders_caches():
    model = Decoder(11, 13, 24, 6, 2, num_kv_heads=3).to(DEVICE)
    caches = model.make_caches(B)
    assert sum(cache.nbytes for cache in caches) == cache_bytes(B, 3, 13, 4, layers=2)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: attention_flops(1, 2, 3, 4, 0), ValueError, "D must be at least 1, got 0"),
        (lambda: attention_flops(1, 2, 3, 4, 5, 0), ValueError, "Dv must be at least 1, got 0"),
        (lambda: attention_flops(1, 2.0, 3, 4, 5), TypeError, "H must be an int, got float (2.0)"),
        (lambda: projection_flops(1, -1, 3), ValueError, "T must be at least 0, got -1"),
        (lambda: projection_flops(1, 1, 3, kv_dim=0), ValueError, "kv_dim must be at least 1, got 0"),
        (lambda: multihead_flops(1, 2, 10, 3), ValueError, "H must divide C, got C = 10 and H = 3"),
        (lambda: multihead_flops(1, 2, 12, 6, Hkv=4), ValueError, "Hkv must divide H, got H = 6 and Hkv = 4"),
        (lambda: multihead_parameters(12, 0), ValueError, "H must be at least 1, got 0"),
        (lambda: score_bytes(1, 0, 3, 4), ValueError, "H must be at least 1, got 0"),
        (lambda: cache_bytes(1, 2, 3, 4, layers=0), ValueError, "layers must be at least 1, got 0"),
        (lambda: cache_bytes(1, 2, -3, 4), ValueError, "length must be at least 0, got -3"),
    ],
)
def test_sizes_that_no_layer_has_get_this_message(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message
