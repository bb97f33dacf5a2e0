import pytest
import torch
from torch import nn

from attnlib import MultiHeadAttention, causal_mask, padding_mask
from attnlib.masks import to_torch_mha
from tests import DEVICE, assert_close

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


def test_sizes_are_printed():
    module = MultiHeadAttention(C, H, num_kv_heads=1)
    assert "embed_dim=33, num_heads=3, num_kv_heads=1" in repr(module)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: MultiHeadAttention(10, 3),
            ValueError,
            "num_heads must divide embed_dim, got embed_dim 10, num_heads 3",
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
            "x and context must have the same dtype, got torch.float32 and torch.float64; convert one with .to(dtype)",
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
