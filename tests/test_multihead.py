import math
from functools import partial
from typing import Literal, get_overloads, get_type_hints

import pytest
import torch
from torch import nn

from attnlib import (
    KVCache,
    MaskRule,
    MultiHeadAttention,
    alibi_bias,
    attention,
    attention_weights,
    causal_mask,
    padding_mask,
    rotary,
)
from attnlib.masks import to_torch_mha
from tests import DEVICE, assert_close

pytestmark = pytest.mark.filterwarnings("ignore:mkldnn_matmul failed")  # a CPU without bfloat16 falls back

B, T, S, H, D = 2, 5, 7, 3, 11
C = H * D


def randn(*shape, seed=0, dtype=torch.float64):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype).to(DEVICE)


def pair(*, bias=True, batch_first=True):
    """PyTorch's module and our copy of it, with biases that are not zero."""
    torch.manual_seed(0)
    theirs = nn.MultiheadAttention(C, H, bias=bias, batch_first=batch_first, dtype=torch.float64).to(DEVICE)
    if bias:
        nn.init.normal_(theirs.in_proj_bias)
        nn.init.normal_(theirs.out_proj.bias)
    return theirs, MultiHeadAttention.from_torch(theirs)


CAUSAL, PADDING = causal_mask(T, S, device=DEVICE), padding_mask([7, 3], S).to(DEVICE)
MASKS = {
    "no mask": (None, {}),
    "causal mask": (CAUSAL, {"attn_mask": to_torch_mha(CAUSAL)}),
    "padding": (PADDING, {"key_padding_mask": to_torch_mha(PADDING)}),
}


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("mask", "theirs_mask"), MASKS.values(), ids=MASKS)
def test_equals_torch_values_weights_and_gradients(bias, mask, theirs_mask):
    theirs, ours = pair(bias=bias)
    x, context = randn(B, T, C).requires_grad_(), randn(B, S, C, seed=1).requires_grad_()
    expected, expected_weights = theirs(x, context, context, average_attn_weights=False, **theirs_mask)
    out, weights = ours(x, context, mask=mask, need_weights=True)
    fast = ours(x, context, mask=mask)
    assert_close(out, expected)
    assert_close(fast, expected)
    assert_close(weights, expected_weights)
    inputs = (x, context, theirs.in_proj_weight, theirs.out_proj.weight)
    gx, gc, g_in, g_out = torch.autograd.grad(expected.square().sum(), inputs)
    g_q, g_k, g_v = g_in.chunk(3)
    mine = (x, context, ours.q_proj.weight, ours.k_proj.weight, ours.v_proj.weight)
    for result in (out, fast):
        grads = torch.autograd.grad(result.square().sum(), (*mine, ours.out_proj.weight))
        for got, want in zip(grads, (gx, gc, g_q, g_k, g_v, g_out), strict=True):
            assert_close(got, want)


def test_causal_flag_is_the_causal_mask():
    _, ours = pair()
    x = randn(B, T, C)
    expected = ours(x, mask=causal_mask(T, device=DEVICE))
    assert_close(ours(x, causal=True), expected)
    out, weights = ours(x, causal=True, need_weights=True)
    assert_close(out, expected)
    assert not weights[..., ~causal_mask(T, device=DEVICE)].any()


@pytest.mark.parametrize("num_kv_heads", [1, 2, 3])
def test_grouped_heads_equal_full_heads_with_repeated_weights(num_kv_heads):
    H, C = 6, 12
    torch.manual_seed(0)
    grouped = MultiHeadAttention(C, H, num_kv_heads=num_kv_heads).double().to(DEVICE)
    full = MultiHeadAttention(C, H).double().to(DEVICE)
    state = grouped.state_dict()
    for name in ("k_proj", "v_proj"):
        for part in ("weight", "bias"):
            heads = state[f"{name}.{part}"].unflatten(0, (num_kv_heads, C // H))
            state[f"{name}.{part}"] = heads.repeat_interleave(H // num_kv_heads, 0).flatten(0, 1)
    full.load_state_dict(state)
    x = randn(B, T, C)
    assert_close(grouped(x), full(x))
    assert_close(grouped(x, need_weights=True)[1], full(x, causal=False, need_weights=True)[1])
    saved = 2 * (C + 1) * (C - C * num_kv_heads // H)
    count = [sum(p.numel() for p in m.parameters()) for m in (full, grouped)]
    assert count[0] - count[1] == saved


def test_copy_keeps_mode_dropout_and_takes_either_layout():
    torch.manual_seed(0)
    theirs = nn.MultiheadAttention(C, H, dropout=0.25, dtype=torch.float64).eval().to(DEVICE)
    ours = MultiHeadAttention.from_torch(theirs)
    assert (ours.training, ours.dropout) == (False, 0.25)
    x = randn(B, T, C)
    expected, _ = theirs(*[x.transpose(0, 1)] * 3)
    assert_close(ours(x), expected.transpose(0, 1))


def test_dropout_acts_in_training_only_and_returned_weights_still_sum_to_one():
    torch.manual_seed(0)
    module = MultiHeadAttention(C, H, dropout=0.5).double().to(DEVICE)
    x = randn(B, T, C)
    out, weights = module(x, need_weights=True)
    assert_close(weights.sum(-1), torch.ones(B, H, T, dtype=torch.float64))
    assert not torch.allclose(out, module(x))
    assert not torch.allclose(module(x), module(x))
    module.eval()
    assert_close(module(x, need_weights=True)[0], module(x))
    assert_close(module(x), module(x), rtol=0, atol=0)


def test_dropout_keeps_the_mean():
    torch.manual_seed(0)
    module = MultiHeadAttention(C, H, dropout=0.5).double().to(DEVICE)
    x = randn(1, T, C).expand(4096, T, C)
    for options in ({}, {"need_weights": True}):
        out = module(x, **options)
        mean = (out[0] if options else out).mean(0)
        assert_close(mean, module.eval()(x[:1])[0], rtol=0, atol=0.05)
        module.train()


def test_nothing_is_kept_on_the_module():
    module = MultiHeadAttention(C, H)
    before = set(vars(module))
    module(torch.randn(B, T, C), need_weights=True)
    assert set(vars(module)) == before


def test_sizes_are_printed_and_what_is_not_as_usual():
    module = MultiHeadAttention(C, H, num_kv_heads=1)
    assert module.extra_repr() == "embed_dim=33, num_heads=3, num_kv_heads=1"
    module = MultiHeadAttention(C, H, dropout=0.5, scale=1.0)
    assert module.extra_repr() == "embed_dim=33, num_heads=3, num_kv_heads=3, dropout=0.5, scale=1.0"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: MultiHeadAttention(10, 3),
            ValueError,
            "num_heads must divide embed_dim, got embed_dim 10, num_heads 3; or give head_dim",
        ),
        (
            lambda: MultiHeadAttention(12, 6, num_kv_heads=4),
            ValueError,
            "num_kv_heads must divide num_heads, got 4 and 6",
        ),
        (
            lambda: MultiHeadAttention(12, 0),
            ValueError,
            "num_heads must be at least 1, got 0",
        ),
        (
            lambda: MultiHeadAttention(12.0, 3),
            TypeError,
            "embed_dim must be an int, got float (12.0)",
        ),
        (
            lambda: MultiHeadAttention(12, 3, num_kv_heads=0),
            ValueError,
            "num_kv_heads must be at least 1, got 0",
        ),
        (
            lambda: MultiHeadAttention(C, H)([[1.0]]),
            TypeError,
            "x must be a torch.Tensor, got list; wrap it in torch.as_tensor",
        ),
        (
            lambda: MultiHeadAttention(C, H)(torch.zeros(B, T, C), torch.zeros(B, S, C).double()),
            TypeError,
            "context must have the layer's dtype torch.float32, got torch.float64; "
            "convert context, or the layer, with .to(dtype)",
        ),
        (
            lambda: MultiHeadAttention(C, H)(torch.zeros(B, T, C).double()),
            TypeError,
            "x must have the layer's dtype torch.float32, got torch.float64; "
            "convert x, or the layer, with .to(dtype)",
        ),
        (
            lambda: MultiHeadAttention(C, H)(torch.zeros(B, T, C), torch.zeros(B, S, C, device="meta")),
            ValueError,
            "x and context must be on the same device, got cpu and meta; move one with .to(device)",
        ),
        (
            lambda: MultiHeadAttention(C, H)(torch.zeros(B, T, C), mask=[[True] * T] * T),
            TypeError,
            "mask must be a torch.Tensor, got list; wrap it in torch.as_tensor",
        ),
        (
            lambda: MultiHeadAttention(C, H)(torch.zeros(B, T, C), bias=[[0.0] * T] * T),
            TypeError,
            "bias must be a torch.Tensor, got list; wrap it in torch.as_tensor",
        ),
        (
            lambda: MultiHeadAttention(C, H)(torch.zeros(B, T, C), bias=torch.zeros(B, T, T)),
            ValueError,
            "bias of three axes must be (H, T, S) with H = 3, got (2, 5, 5); "
            "for one bias a batch element write bias[:, None]",
        ),
        (
            lambda: MultiHeadAttention(C, H)(torch.zeros(B, T, C), bias=torch.zeros(T, S)),
            ValueError,
            "bias must broadcast to the scores' shape (..., T, S) = (2, 3, 5, 5), got (5, 7)",
        ),
        (
            lambda: MultiHeadAttention(C, H)(torch.zeros(B, T, C), bias=torch.ones(T, T).bool()),
            TypeError,
            "bias must be a floating-point tensor that is added to the scores, got torch.bool; "
            "a boolean mask goes into mask",
        ),
        (
            lambda: MultiHeadAttention(C, H)(torch.zeros(B, T, C), torch.zeros(B, S, C), rotary=rotary),
            ValueError,
            "rotary is for self-attention: give either context or rotary, got both",
        ),
        (
            lambda: MultiHeadAttention(C, H)(torch.zeros(B, T, C), rotary=True),
            TypeError,
            "rotary must be a function of heads and positions, got bool; "
            "use attnlib.rotary, or functools.partial(attnlib.rotary, base=...)",
        ),
        (
            lambda: MultiHeadAttention(C, H)(torch.zeros(B, T, C), rotary=lambda x, positions: x.double()),
            ValueError,
            "rotary must return the shape and dtype it is given, (2, 6, 5, 11) and torch.float32, "
            "got (2, 6, 5, 11) and torch.float64",
        ),
        (
            lambda: MultiHeadAttention(C, H)(torch.zeros(B, T, C), rotary=lambda x, positions: x[:, 1:]),
            ValueError,
            "rotary must return the shape and dtype it is given, (2, 6, 5, 11) and torch.float32, "
            "got (2, 5, 5, 11) and torch.float32",
        ),
        (
            lambda: MultiHeadAttention(C, H)(torch.zeros(B, T, C), rotary=lambda x, positions: None),
            TypeError,
            "what rotary returns must be a torch.Tensor, got NoneType; wrap it in torch.as_tensor",
        ),
        (
            lambda: MultiHeadAttention(C, H)(torch.zeros(B, T, C), cache=[]),
            TypeError,
            "cache must be a KVCache, got list; make_cache makes one",
        ),
        (
            lambda: MultiHeadAttention(C, H)(torch.zeros(B, T, C), cache=KVCache(3, H, S, D)),
            ValueError,
            "cache must be (B, Hkv, max_length, D) = (2, 3, 7, 11) for x (2, 5, 33), got (3, 3, 7, 11); "
            "make_cache(2, 7) makes one",
        ),
        (
            lambda: MultiHeadAttention(C, H)(torch.zeros(B, T, C).long()),
            TypeError,
            "x must be a floating-point tensor, got torch.int64; use .float()",
        ),
        (
            lambda: MultiHeadAttention(12, 3, dropout=1.0),
            ValueError,
            "dropout must be at least 0 and below 1, got 1.0",
        ),
        (
            lambda: MultiHeadAttention(C, H)(torch.zeros(T, C)),
            ValueError,
            "x must be (B, T, C) with C = 33, got (5, 33)",
        ),
        (
            lambda: MultiHeadAttention(C, H)(torch.zeros(B, T, C), torch.zeros(B, S, 7)),
            ValueError,
            "context must be (B, T, C) with C = 33, got (2, 7, 7)",
        ),
        (
            lambda: MultiHeadAttention(C, H)(torch.zeros(2, T, C), torch.zeros(3, S, C)),
            ValueError,
            "x and context must have the same batch B, got x (2, 5, 33) and context (3, 7, 33)",
        ),
        (
            lambda: MultiHeadAttention(C, H)(
                torch.zeros(H, T, C), mask=torch.ones(H, T, T, dtype=torch.bool)
            ),
            ValueError,
            "mask must be (T, S) or (B, H, T, S), got (3, 5, 5); "
            "for one mask a batch element write mask[:, None]",
        ),
        (
            lambda: MultiHeadAttention(C, H)(
                torch.zeros(B, T, C), mask=torch.ones(T, 1, 1, T, dtype=torch.bool)
            ),
            ValueError,
            "mask must broadcast to the scores' shape (..., T, S) = (2, 3, 5, 5), got (5, 1, 1, 5)",
        ),
        (
            lambda: MultiHeadAttention.from_torch(nn.Linear(2, 2)),
            TypeError,
            "module must be a nn.MultiheadAttention, got Linear",
        ),
        (
            lambda: MultiHeadAttention.from_torch(nn.MultiheadAttention(12, 3, kdim=5, vdim=7)),
            ValueError,
            "kdim and vdim must equal embed_dim = 12, got kdim 5 and vdim 7",
        ),
        (
            lambda: MultiHeadAttention.from_torch(nn.MultiheadAttention(12, 3, add_bias_kv=True)),
            ValueError,
            "add_bias_kv and add_zero_attn must be off, got one of them on",
        ),
    ],
)
def test_bad_input_gets_this_message(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message


def test_the_smallest_layer():
    assert MultiHeadAttention(1, 1)(torch.ones(1, 1, 1)).shape == (1, 1, 1)


def test_weights_start_as_xavier_says_and_biases_at_zero():
    torch.manual_seed(0)
    layer = MultiHeadAttention(64, 4, num_kv_heads=1)
    for projection in (layer.q_proj, layer.k_proj, layer.v_proj, layer.out_proj):
        bound = (6 / sum(projection.weight.shape)) ** 0.5
        assert 0.9 * bound < projection.weight.abs().max() <= bound
        assert not projection.bias.any()


@pytest.mark.parametrize(
    "make",
    [MultiHeadAttention, lambda *a, **o: MultiHeadAttention.from_torch(nn.MultiheadAttention(*a, **o))],
)
def test_without_a_bias_there_is_none(make):
    names = [name for name, _ in make(12, 3, bias=False).named_parameters()]
    assert len(names) == 4
    assert all(name.endswith("weight") for name in names)


@pytest.mark.parametrize("need_weights", [True, False])
def test_the_scale_is_the_one_given(need_weights):
    module = MultiHeadAttention(C, H, scale=0.5).double().to(DEVICE)
    x = randn(B, T, C)
    out = module(x, need_weights=need_weights)
    q, k, v = (
        p(x).unflatten(-1, (H, D)).transpose(1, 2) for p in (module.q_proj, module.k_proj, module.v_proj)
    )
    expected = module.out_proj(((0.5 * q @ k.mT).softmax(-1) @ v).transpose(1, 2).flatten(2))
    assert_close(out[0] if need_weights else out, expected)


def test_a_scale_must_be_finite():
    with pytest.raises(ValueError, match="scale must be a finite number, got nan"):
        MultiHeadAttention(C, H, scale=float("nan"))


# positions

WIDE = 6, 10  # heads of even width


def layer(num_kv_heads=6):
    torch.manual_seed(0)
    H, D = WIDE
    return MultiHeadAttention(H * D, H, num_kv_heads=num_kv_heads).double().to(DEVICE)


def heads_of(module, x):
    """Queries, keys and values ``(B, heads, T, D)``, from a module's own weights."""
    projections = module.q_proj, module.k_proj, module.v_proj
    return [p(x).unflatten(-1, (-1, module.head_dim)).transpose(1, 2) for p in projections]


def output_of(module, heads):
    return module.out_proj(heads.transpose(1, 2).flatten(2))


@pytest.mark.parametrize("num_kv_heads", [1, 2, 6])
def test_alibi_in_the_layer_is_attention_with_that_bias(num_kv_heads):
    module, x, bias = layer(num_kv_heads), randn(B, T, 60), alibi_bias(6, T, device=DEVICE)
    q, k, v = heads_of(module, x)
    expected = output_of(module, attention(q, k, v, causal=True, bias=bias))
    out, weights = module(x, causal=True, bias=bias, need_weights=True)
    assert_close(out, expected)
    assert_close(module(x, causal=True, bias=bias), expected)
    assert_close(weights, attention_weights(q, k, causal=True, bias=bias))
    assert not torch.allclose(expected, module(x, causal=True))


@pytest.mark.parametrize("sizes", [(), (S,), (T, S), (3, T, S), (1, T, S), (B, 1, T, S), (B, 3, T, S)])
def test_a_bias_broadcasts_to_every_head_and_gets_its_gradient(sizes):
    _, module = pair()
    x, context = randn(B, T, C), randn(B, S, C, seed=1)
    bias = (3 * randn(*sizes, seed=2)).requires_grad_()
    (q, _, _), (_, k, v) = heads_of(module, x), heads_of(module, context)
    full = bias.expand(B, H, T, S).detach().clone().requires_grad_()
    expected = output_of(module, attention(q, k, v, PADDING, bias=full))
    (wanted,) = torch.autograd.grad(expected.square().sum(), full)
    wanted = wanted.sum_to_size(sizes) if sizes else wanted.sum()
    for need_weights in (True, False):
        out = module(x, context, mask=PADDING, bias=bias, need_weights=need_weights)
        out = out[0] if need_weights else out
        assert_close(out, expected)
        (got,) = torch.autograd.grad(out.square().sum(), bias)
        assert_close(got, wanted)


def test_three_axes_of_a_bias_are_heads_even_where_the_batch_is_as_large():
    _, module = pair()
    x, bias = randn(H, T, C), randn(H, T, T, seed=1)
    assert_close(module(x, bias=bias), module(x, bias=bias[None]))
    assert not torch.allclose(module(x, bias=bias), module(x, bias=bias[:, None]))


ROTARIES = {
    "plain": rotary,
    "another base": partial(rotary, base=7.0),
    "a part": partial(rotary, dim=4),
    "neighbours": partial(rotary, interleaved=True),
}


@pytest.mark.parametrize("turn", ROTARIES.values(), ids=ROTARIES)
@pytest.mark.parametrize("num_kv_heads", [1, 2, 6])
def test_rotary_turns_queries_and_keys_before_they_meet(turn, num_kv_heads):
    module, x = layer(num_kv_heads), randn(B, T, 60).requires_grad_()
    q, k, v = heads_of(module, x)
    expected = output_of(module, attention(turn(q), turn(k), v, causal=True))
    (wanted,) = torch.autograd.grad(expected.square().sum(), x)
    out, weights = module(x, causal=True, rotary=turn, need_weights=True)
    assert_close(weights, attention_weights(turn(q), turn(k), causal=True), atol=1e-6, rtol=0)
    for got in (out, module(x, causal=True, rotary=turn)):
        assert_close(got, expected, atol=1e-6, rtol=0)
        (grad,) = torch.autograd.grad(got.square().sum(), x)
        assert_close(grad, wanted, atol=1e-5, rtol=0)
    assert not torch.allclose(expected, module(x, causal=True), atol=1e-3)


def test_two_turned_tokens_by_hand():
    module = MultiHeadAttention(2, 1, scale=1.0).to(DEVICE)
    with torch.no_grad():
        for projection in (module.q_proj, module.k_proj, module.v_proj, module.out_proj):
            projection.weight.copy_(torch.eye(2))
    x = torch.tensor([[[1.0, 0.0], [1.0, 0.0]]], device=DEVICE)
    _, weights = module(x, rotary=rotary, need_weights=True)
    near, far = math.exp(1.0), math.exp(math.cos(1.0))  # alike, and one radian apart
    expected = torch.tensor([[near, far], [far, near]]) / (near + far)
    assert_close(weights[0, 0], expected)


def test_only_the_distance_counts():
    module, x = layer(2), randn(B, T, 60)
    shifted = module(x, causal=True, rotary=lambda y, positions: rotary(y, positions + 97))
    assert_close(shifted, module(x, causal=True, rotary=rotary), atol=1e-4, rtol=0)
    assert not torch.allclose(
        module(x[:, [1, 0, 2, 3, 4]], rotary=rotary)[:, 2:], module(x, rotary=rotary)[:, 2:]
    )


def test_the_angles_are_computed_once_and_positions_go_on_after_a_cache():
    module, x, seen = layer(2), randn(B, T, 60), []

    def turn(heads, positions):
        seen.append((tuple(heads.shape), positions.tolist(), positions.device.type))
        return heads

    cache = module.make_cache(B, S)
    for part in x.split([3, 2], 1):
        module(part, rotary=turn, cache=cache)
    assert seen == [((B, 8, 3, 10), [0, 1, 2], DEVICE.type), ((B, 8, 2, 10), [3, 4], DEVICE.type)]


def test_grouped_heads_turn_as_repeated_ones():
    grouped, full = layer(2), layer(6)
    state = grouped.state_dict()
    for name in ("k_proj.weight", "k_proj.bias", "v_proj.weight", "v_proj.bias"):
        state[name] = state[name].unflatten(0, (2, 10)).repeat_interleave(3, 0).flatten(0, 1)
    full.load_state_dict(state)
    x, bias = randn(B, T, 60), alibi_bias(6, T, device=DEVICE)
    assert_close(grouped(x, bias=bias, rotary=rotary), full(x, bias=bias, rotary=rotary))


@pytest.mark.parametrize("need_weights", [True, False])
def test_gradients_through_bias_and_rotary_are_right(need_weights):
    torch.manual_seed(0)
    module = MultiHeadAttention(12, 3, num_kv_heads=1).double().to(DEVICE)
    angles = randn(T, 2, seed=3)

    def turn(y, positions):  # in float64 throughout
        a, b = y.unflatten(-1, (2, 2)).unbind(-2)
        cos, sin = angles[positions].cos(), angles[positions].sin()
        return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)

    def run(x, bias):
        out = module(x, causal=True, bias=bias, rotary=turn, need_weights=need_weights)
        return out[0] if need_weights else out

    inputs = randn(2, T, 12).requires_grad_(), randn(3, T, T, seed=1).requires_grad_()
    assert torch.autograd.gradcheck(run, inputs)


# what may be empty, and what is rounded


@pytest.mark.parametrize(("B", "T"), [(0, 5), (2, 0), (0, 0)])
@pytest.mark.parametrize("need_weights", [True, False])
def test_empty_batches_and_sequences_give_empty_outputs(B, T, need_weights):
    module, x = layer(2), randn(B, T, 60)
    out = module(
        x, causal=True, bias=alibi_bias(6, T, device=DEVICE), rotary=rotary, need_weights=need_weights
    )
    assert (out[0] if need_weights else out).shape == (B, T, 60)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_in_half_precision_asking_for_weights_costs_no_digits(dtype):
    q, k, v = (2 * randn(B, H, 97, D, seed=seed, dtype=torch.float32).to(dtype) for seed in range(3))
    expected = attention_weights(q.double(), k.double()) @ v.double()
    attend = MultiHeadAttention(C, H).attend
    heads, weights = attend(q, k, v, 0.0, True)
    fused, _ = attend(q, k, v, 0.0, False)
    assert heads.dtype == weights.dtype == dtype
    error, allowed = ((out.double() - expected).abs().mean() for out in (heads, fused))
    assert error <= 1.1 * allowed


def test_under_autocast_x_and_context_may_be_of_any_width_but_float64():
    _, module = pair()
    module.float()
    x, context = randn(B, T, C, dtype=torch.float32), randn(B, S, C, seed=1, dtype=torch.float32)
    expected = module(x, context)
    with torch.autocast(DEVICE.type, torch.bfloat16):
        out = module(x, context.bfloat16())
        with pytest.raises(
            TypeError, match=r"x must have the layer's dtype torch.float32, got torch.float64"
        ):
            module(x.double())
    assert out.dtype == torch.bfloat16
    assert_close(out.float(), expected, atol=0.05, rtol=0.05)


def test_a_projection_put_in_place_decides_itself_what_it_takes():
    class Stored(nn.Linear):
        """Weights kept in another dtype than they are used in, as quantised ones are."""

        def forward(self, x):
            return nn.functional.linear(x, self.weight.to(x.dtype))

    module, x = MultiHeadAttention(C, H, bias=False), torch.randn(B, T, C)
    expected = module.bfloat16().float()(x)
    for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
        stored = Stored(C, C, bias=False)
        stored.load_state_dict(getattr(module, name).state_dict())
        setattr(module, name, stored.bfloat16())
    torch.testing.assert_close(module(x), expected)


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.skipif(DEVICE.type != "cpu", reason="a GPU does not look, as the docstring of attention says")
def test_what_is_hidden_cannot_be_felt_not_even_a_nan(need_weights):
    module, x = layer(2), randn(B, T, 60)
    mask = padding_mask([5, 3], T).to(DEVICE)
    expected, broken = module(x, mask=mask), x.clone()
    broken[1, 3:] = math.nan
    out = module(broken, mask=mask, need_weights=need_weights)
    out = out[0] if need_weights else out
    assert_close(out[0], expected[0])
    assert_close(out[1, :3], expected[1, :3])


def test_cached_steps_compile_to_whole_graphs():
    module, x = layer(2), randn(B, T, 60)
    torch._dynamo.reset()
    compiled, cache = torch.compile(module, fullgraph=True, backend="eager"), module.make_cache(B, T)
    with torch.no_grad():
        steps = [compiled(part, causal=True, rotary=rotary, cache=cache) for part in x.split(1, 1)]
    assert_close(torch.cat(steps, 1), module(x, causal=True, rotary=rotary))


def test_dropout_reaches_the_output_also_when_the_weights_are_wanted():
    torch.manual_seed(0)
    module = MultiHeadAttention(12, 3, dropout=0.5).to(DEVICE).train()
    x = torch.randn(2, 5, 12, generator=torch.Generator().manual_seed(0)).to(DEVICE)
    (first, weights), (again, same) = (module(x, need_weights=True) for _ in range(2))
    assert not torch.equal(first, again)
    assert torch.equal(weights, same)  # those before dropout


@pytest.mark.parametrize("scale", [-1.0, 0.0])
def test_heads_of_width_one_take_any_scale_in_half_precision(scale):
    layer = MultiHeadAttention(3, 3, scale=scale).to(DEVICE, torch.bfloat16)
    x = torch.randn(2, 7, 3, generator=torch.Generator().manual_seed(0)).to(DEVICE, torch.bfloat16)
    with torch.no_grad():
        assert_close(layer(x), layer(x, need_weights=True)[0], rtol=0.02, atol=0.02)


@pytest.mark.parametrize("frozen", ["in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"])
def test_what_is_frozen_in_the_original_is_frozen_in_the_copy(frozen):
    theirs = nn.MultiheadAttention(12, 3)
    theirs.get_parameter(frozen).requires_grad_(False)
    copied = MultiHeadAttention.from_torch(theirs)
    kind = frozen.rpartition("_" if frozen.startswith("in") else ".")[2]
    expected = {f"{part}_proj.{kind}" for part in ("q", "k", "v")} if "in_" in frozen else {frozen}
    assert {name for name, p in copied.named_parameters() if not p.requires_grad} == expected


class Quantised(nn.Module):
    """Weights as whole numbers and a factor; there is no ``weight`` to read."""

    def __init__(self, linear):
        super().__init__()
        self.register_buffer("factor", linear.weight.detach().abs().amax() / 127)
        self.register_buffer("whole", (linear.weight.detach() / self.factor).round().to(torch.int8))

    def forward(self, x):
        return x @ (self.whole.to(x.dtype) * self.factor.to(x.dtype)).mT


class Adapted(nn.Module):
    """A frozen projection and a small product that learns, in float32 (LoRA)."""

    def __init__(self, linear):
        super().__init__()
        self.down = nn.Linear(linear.in_features, 2, bias=False).to(linear.weight.device)
        self.up = nn.Linear(2, linear.out_features, bias=False).to(linear.weight.device)
        self.base = linear

    def forward(self, x):
        return self.base(x) + self.up(self.down(x.float())).to(x.dtype)


@pytest.mark.parametrize("kind", [Quantised, Adapted])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_cache_fits_the_keys_of_projections_that_were_put_in_place(kind, dtype):
    torch.manual_seed(0)
    module = MultiHeadAttention(12, 3, bias=False).to(DEVICE, dtype)
    for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
        setattr(module, name, kind(getattr(module, name)))
    x = randn(B, T, 12, dtype=torch.float32).to(dtype)
    cache = module.make_cache(B, T, dtype=dtype, device=DEVICE)
    assert (cache.dtype, cache.device.type) == (dtype, DEVICE.type)
    with torch.no_grad():
        steps = [module(part, causal=True, cache=cache) for part in x.split(1, 1)]
        assert_close(torch.cat(steps, 1), module(x, causal=True), rtol=2e-2, atol=2e-2)
    if dtype == torch.float32:
        assert module.make_cache(B, T).dtype == dtype


# what a layer may have besides


def options_of(module):
    return {"scale": module.scale, "softcap": module.softcap}


@pytest.mark.parametrize("kv_heads", [1, 3])
@pytest.mark.parametrize("head_dim", [2, 8])
def test_heads_may_be_of_any_width(head_dim, kv_heads):
    torch.manual_seed(0)
    module = MultiHeadAttention(10, 3, num_kv_heads=kv_heads, head_dim=head_dim).double().to(DEVICE)
    x = randn(B, T, 10)
    q, k, v = heads_of(module, x)
    assert (q.shape[-1], module.out_proj.in_features) == (head_dim, 3 * head_dim)
    assert_close(module(x, causal=True), output_of(module, attention(q, k, v, causal=True)))
    cache = module.make_cache(B, T)
    steps = [module(part, causal=True, cache=cache) for part in x.split(1, 1)]
    assert_close(torch.cat(steps, 1), module(x, causal=True))
    assert f"head_dim={head_dim}" in module.extra_repr()


@pytest.mark.parametrize("need_weights", [True, False])
def test_normed_queries_and_keys_are_turned_after_and_the_cache_keeps_both(need_weights):
    torch.manual_seed(0)
    module = MultiHeadAttention(60, 6, num_kv_heads=2, qk_norm=True).double().to(DEVICE)
    for norm in (module.q_norm, module.k_norm):
        nn.init.normal_(norm.weight)
    x = randn(B, T, 60)
    q, k, v = heads_of(module, x)
    length = lambda y: (y.square().mean(-1, keepdim=True) + 1e-5).sqrt()  # noqa: E731
    q, k = q / length(q) * module.q_norm.weight, k / length(k) * module.k_norm.weight
    expected = output_of(module, attention(rotary(q), rotary(k), v, causal=True))
    out = module(x, causal=True, rotary=rotary, need_weights=need_weights)
    assert_close(out[0] if need_weights else out, expected)
    cache = module.make_cache(B, T)
    steps = [module(part, causal=True, rotary=rotary, cache=cache) for part in x.split([2, 1, 2], 1)]
    assert_close(torch.cat(steps, 1), expected)
    # longer inputs make scores no larger
    assert_close(*(module(f * x, need_weights=True)[1] for f in (10.0, 1000.0)), rtol=1e-2, atol=1e-3)


def test_normed_queries_and_keys_keep_the_dtype_under_autocast():
    module, x = MultiHeadAttention(60, 6, qk_norm=True).to(DEVICE), randn(B, T, 60, dtype=torch.float32)
    with torch.no_grad(), torch.autocast(DEVICE.type, torch.bfloat16):
        cache = module.make_cache(B, T)
        steps = [module(part, causal=True, rotary=rotary, cache=cache) for part in x.split(1, 1)]
        full = module(x, causal=True, rotary=rotary)
    assert cache.dtype == full.dtype == torch.bfloat16
    assert_close(torch.cat(steps, 1).float(), full.float(), rtol=0.05, atol=0.05)


@pytest.mark.parametrize("name", ["scale", "softcap"])
@pytest.mark.parametrize("sizes", [(), (6, 1, 1)])
def test_a_scale_or_a_softcap_that_is_learned_gets_its_gradient(name, sizes):
    torch.manual_seed(0)
    number = nn.Parameter(1.0 + torch.rand(sizes, dtype=torch.float64))
    module = MultiHeadAttention(60, 6, num_kv_heads=2, **{name: number}).double().to(DEVICE)
    x, number = randn(B, T, 60), getattr(module, name)
    assert name in dict(module.named_parameters())
    q, k, v = heads_of(module, x)
    scores = q @ k.repeat_interleave(3, 1).mT
    scores = number * scores if name == "scale" else number * (scores / 10**0.5 / number).tanh()
    weights = scores.masked_fill(~causal_mask(T, device=DEVICE), -math.inf).softmax(-1)
    expected = output_of(module, weights @ v.repeat_interleave(3, 1))
    (wanted,) = torch.autograd.grad(expected.square().sum(), number)
    for need_weights in (True, False):
        out = module(x, causal=True, need_weights=need_weights)
        out = out[0] if need_weights else out
        assert_close(out, expected)
        assert_close(torch.autograd.grad(out.square().sum(), number)[0], wanted)
    assert f"{name}=learned" in module.extra_repr()


def test_a_softcap_bounds_the_scores():
    torch.manual_seed(0)
    module, x = MultiHeadAttention(60, 6, softcap=0.5).double().to(DEVICE), 100 * randn(B, T, 60)
    q, k, v = heads_of(module, x)
    assert_close(module(x), output_of(module, attention(q, k, v, softcap=0.5)))
    weights = module(x, need_weights=True)[1]
    assert_close(weights, attention_weights(q, k, softcap=0.5))
    assert weights.max() <= math.e / (math.e + T - 1)
    assert "softcap=0.5" in module.extra_repr()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"head_dim": 0}, ValueError, "head_dim must be at least 1, got 0"),
        ({"qk_norm": "rms"}, TypeError, "qk_norm must be True or False, got str"),
        ({"sink": 1}, TypeError, "sink must be True or False, got int"),
        ({"bias": "no"}, TypeError, "bias must be True or False, got str"),
        ({"dropout": "0.1"}, TypeError, "dropout must be a number, got str ('0.1')"),
        ({"dropout": True}, TypeError, "dropout must be a number, got bool (True)"),
        ({"softcap": 0.0}, ValueError, "softcap must be a finite number above zero, got 0.0"),
        *(
            item
            for name in ("scale", "softcap")
            for item in (
                (
                    {name: torch.ones(())},
                    TypeError,
                    f"{name} must be a number, or a torch.nn.Parameter to be learned, got Tensor",
                ),
                (
                    {name: "1"},
                    TypeError,
                    f"{name} must be a number, or a torch.nn.Parameter to be learned, got str",
                ),
                (
                    {name: nn.Parameter(torch.ones(2))},
                    ValueError,
                    f"a learned {name} must be one floating-point number, or one for each head, (3, 1, 1), "
                    f"got (2,) of torch.float32",
                ),
            )
        ),
    ],
)
def test_options_that_make_no_sense_get_this_message(options, error, message):
    with pytest.raises(error) as caught:
        MultiHeadAttention(12, 3, **options)
    assert str(caught.value) == message


@pytest.mark.parametrize("causal", ["no", 1, torch.ones(T, T).bool()])
def test_causal_is_a_bool(causal):
    with pytest.raises(TypeError, match="causal must be True or False, got"):
        MultiHeadAttention(C, H)(torch.zeros(B, T, C), causal=causal)


@pytest.mark.parametrize("wanted", ["no", 1, None])
def test_whether_weights_are_wanted_is_a_bool(wanted):
    with pytest.raises(TypeError, match="need_weights must be True or False, got"):
        MultiHeadAttention(C, H)(torch.zeros(B, T, C), need_weights=wanted)


@pytest.mark.parametrize("bias", [True, False])
def test_there_and_back_again_is_the_same_layer(bias):
    _, ours = pair(bias=bias)
    ours.dropout, ours.out_proj.weight.requires_grad = 0.25, False
    back = ours.eval().to_torch()
    assert (back.dropout, back.training, back.batch_first) == (0.25, False, True)
    assert [name for name, p in back.named_parameters() if not p.requires_grad] == ["out_proj.weight"]
    x, context = randn(B, T, C), randn(B, S, C, seed=1)
    expected, weights = back(x, context, context, average_attn_weights=False)
    out, own = ours(x, context, need_weights=True)
    assert_close(out, expected)
    assert_close(own, weights)
    state, again = ours.state_dict(), MultiHeadAttention.from_torch(back).state_dict()
    assert all(torch.equal(state[name], again[name]) for name in state)
    back.in_proj_weight.data.zero_()
    assert ours.q_proj.weight.any()


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"num_kv_heads": 1}, "num_kv_heads"),
        ({"head_dim": 5}, "head_dim"),
        ({"scale": 1.0, "softcap": 2.0}, "scale, softcap"),
        ({"qk_norm": True, "sink": True}, "qk_norm, sink"),
    ],
)
def test_what_pytorch_has_not_is_not_handed_to_it(options, named):
    with pytest.raises(ValueError, match=f"must compute the same, and knows no {named}$"):
        MultiHeadAttention(12, 3, **options).to_torch()


def test_projections_frozen_in_part_are_not_joined():
    module = MultiHeadAttention(12, 3)
    module.k_proj.weight.requires_grad_(False)
    with pytest.raises(ValueError, match="q_proj, k_proj and v_proj must be frozen or learn together"):
        module.to_torch()


# rules in place of masks

RULES = {
    "window": MaskRule(causal=True, window=3),
    "prefix": MaskRule(causal=True, prefix=2),
    "window and prefix": MaskRule(causal=True, window=2, prefix=1),
    "documents": MaskRule(documents=torch.tensor([[0, 0, 0, 1, 1], [0, 1, 1, 1, 1]], device=DEVICE)),
    "lengths": MaskRule(lengths=torch.tensor([5, 3], device=DEVICE)),
}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("need_weights", [True, False])
def test_a_rule_is_the_mask_that_it_writes_down(rule, causal, need_weights):
    module, x = layer(2), randn(B, T, 60)
    options = {"causal": causal, "rotary": rotary, "need_weights": need_weights}
    out, expected = (module(x, mask=mask, **options) for mask in (rule, rule.table(T, device=DEVICE)))
    for got, wanted in zip(out, expected, strict=True) if need_weights else ((out, expected),):
        assert_close(got, wanted)


@pytest.mark.parametrize("name", ["window", "prefix", "window and prefix"])
@pytest.mark.parametrize("cuts", [[2, 1, 1, 1], [2, 1, 2], [5]])  # a prefix is there from the first step on
def test_a_rule_holds_in_cached_steps(name, cuts):
    module, x = layer(2), randn(B, T, 60)
    expected, cache = module(x, mask=RULES[name], rotary=rotary), module.make_cache(B, T)
    steps = [module(part, mask=RULES[name], rotary=rotary, cache=cache) for part in x.split(cuts, 1)]
    assert_close(torch.cat(steps, 1), expected)


@pytest.mark.parametrize("cuts", [[1] * 11, [2, 1, 5, 3], [11]])
def test_a_rule_counts_positions_in_a_window_that_rolls(cuts):
    module, x = layer(2), randn(B, 11, 60)
    cache, rule = module.make_cache(B, 6, keep_first=2), MaskRule(causal=True, window=3, prefix=1)
    steps = [module(part, mask=rule, causal=True, rotary=rotary, cache=cache) for part in x.split(cuts, 1)]
    assert_close(torch.cat(steps, 1), module(x, mask=rule, rotary=rotary))
    with pytest.raises(
        ValueError, match="a rule with documents or lengths names every key from the first on"
    ):
        module(x[:, :1], mask=MaskRule(lengths=torch.tensor([1, 1], device=DEVICE)), causal=True, cache=cache)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (
            MaskRule(documents=torch.zeros(1, 4).long()),
            "documents must name one for each of S = 5 keys, got shape",
        ),
        (MaskRule(lengths=torch.tensor([5, 6])), "lengths must lie between 0 and S = 5"),
        (MaskRule(lengths=torch.tensor([5, 5, 5])), "a rule for B = 3 sequences must fit scores"),
    ],
)
def test_a_rule_that_does_not_fit_gets_this_message(rule, message):
    with pytest.raises(ValueError, match=message):
        MultiHeadAttention(12, 3)(torch.zeros(2, 5, 12), mask=rule)


# sinks


@pytest.mark.parametrize("kv_heads", [1, 2, 6])
def test_a_sink_takes_weight_and_brings_no_value(kv_heads):
    torch.manual_seed(0)
    module = MultiHeadAttention(60, 6, num_kv_heads=kv_heads, sink=True).double().to(DEVICE)
    nn.init.normal_(module.sink, std=2.0)
    x = randn(B, T, 60)
    q, k, v = heads_of(module, x)
    k, v = (y.repeat_interleave(6 // kv_heads, 1) for y in (k, v))
    scores = (q @ k.mT / 10**0.5).masked_fill(~causal_mask(T, device=DEVICE), -math.inf)
    beside = module.sink[:, None, None].expand(B, 6, T, 1)
    wanted = torch.cat([scores, beside], -1).softmax(-1)[..., :-1]
    expected = output_of(module, wanted @ v)
    out, weights = module(x, causal=True, need_weights=True)
    assert_close(weights, wanted)
    assert (weights.sum(-1) < 1).all()
    (gradient,) = torch.autograd.grad(expected.square().sum(), module.sink)
    for got in (out, module(x, causal=True)):
        assert_close(got, expected)
        assert_close(torch.autograd.grad(got.square().sum(), module.sink)[0], gradient)
    cache = module.make_cache(B, T)
    steps = [module(part, causal=True, cache=cache) for part in x.split([2, 1, 2], 1)]
    assert_close(torch.cat(steps, 1), expected)
    assert "sink=True" in module.extra_repr()


def test_a_fresh_sink_weighs_as_a_score_of_zero():
    module, x = MultiHeadAttention(12, 3, sink=True).to(DEVICE), torch.zeros(1, 4, 12, device=DEVICE)
    assert_close(module(x, need_weights=True)[1], torch.full((1, 3, 4, 4), 0.2))


def test_a_type_checker_is_told_what_comes_back():
    said = {
        get_type_hints(f).get("need_weights"): get_type_hints(f)["return"]
        for f in get_overloads(MultiHeadAttention.forward)
    }
    assert said == {
        Literal[False]: torch.Tensor,
        Literal[True]: tuple[torch.Tensor, torch.Tensor],
        bool: torch.Tensor | tuple[torch.Tensor, torch.Tensor],
    }
