"""PyTorch's own layers, with copied weights: values, weights and gradients."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from attnlib import MultiHeadAttention, causal_mask, padding_mask
from attnlib.blocks import TransformerBlock
from attnlib.masks import to_torch_mha
from tests import DEVICE, assert_close

B, T, S, C, H = 2, 5, 7, 12, 3
CLOSE = {"rtol": 1e-4, "atol": 1e-5}
batch_first = pytest.mark.parametrize("batch_first", [True, False])
dtypes = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
modes = pytest.mark.parametrize("training", [True, False], ids=["training", "evaluation"])


def randn(*sizes, dtype, seed=0):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(sizes, generator=g, dtype=torch.float64).to(DEVICE, dtype).requires_grad_()


def turned(x, batch_first):
    return x if batch_first else x.transpose(0, 1)


def assert_same_gradients(ours, theirs, inputs, pairs):
    """Compare gradients with respect to inputs, and to parameters that correspond."""
    weight = torch.linspace(-1, 1, ours.numel(), dtype=ours.dtype, device=DEVICE).view_as(ours)
    mine = torch.autograd.grad((ours * weight).sum(), (*inputs, *(a for a, _ in pairs)))
    other = torch.autograd.grad((theirs * weight).sum(), (*inputs, *(b for _, b in pairs)))
    for a, b in zip(mine, other, strict=True):
        assert_close(a.flatten(), b.flatten(), **CLOSE)


@dtypes
@batch_first
@modes
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("what", ["plain", "causal", "padding", "cross"])
def test_multihead_attention(dtype, batch_first, training, bias, what, conformance):
    conformance("torch.nn.MultiheadAttention", "`MultiHeadAttention`: values, weights, gradients")
    torch.manual_seed(0)
    theirs = nn.MultiheadAttention(C, H, bias=bias, batch_first=batch_first).to(DEVICE, dtype).train(training)
    for parameter in theirs.parameters():
        nn.init.normal_(parameter, std=0.3)  # PyTorch starts biases at zero, which would hide a mistake
    ours = MultiHeadAttention.from_torch(theirs)
    x = randn(B, T, C, dtype=dtype)
    context = randn(B, S, C, dtype=dtype, seed=1) if what == "cross" else x
    mask = {"causal": causal_mask(T, device=DEVICE), "padding": padding_mask([3, 5], T).to(DEVICE)}.get(what)
    option = {"causal": "attn_mask", "padding": "key_padding_mask"}.get(what)
    options = {} if mask is None else {option: to_torch_mha(mask)}
    q, k = turned(x, batch_first), turned(context, batch_first)
    out, weights = theirs(q, k, k, average_attn_weights=False, **options)
    out = turned(out, batch_first)
    fast, (slow, own) = ours(x, context, mask=mask), ours(x, context, mask=mask, need_weights=True)
    for got, want in ((fast, out), (slow, out), (own, weights)):
        assert_close(got, want, **CLOSE)
    inputs = [x, context] if what == "cross" else [x]
    pairs = [(ours.out_proj.weight, theirs.out_proj.weight)]
    assert_same_gradients(fast, out, inputs, pairs)


@dtypes
@batch_first
@modes
@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("activation", [F.relu, F.gelu])
@pytest.mark.parametrize("what", ["plain", "causal", "padding"])
def test_transformer_encoder_layer(
    dtype, batch_first, training, norm_first, bias, activation, what, conformance
):
    conformance("torch.nn.TransformerEncoderLayer", "`TransformerBlock`: values, gradients")
    torch.manual_seed(0)
    theirs = nn.TransformerEncoderLayer(
        C,
        H,
        11,
        0.0,
        activation,
        batch_first=batch_first,
        norm_first=norm_first,
        bias=bias,
        layer_norm_eps=1e-3,
    ).to(DEVICE, dtype)
    theirs.train(training)
    for parameter in theirs.parameters():
        nn.init.normal_(parameter, std=0.3)
    ours = TransformerBlock.from_torch(theirs)
    assert ours.training == training
    x = randn(B, T, C, dtype=dtype)
    mask = {"causal": causal_mask(T, device=DEVICE), "padding": padding_mask([3, 5], T).to(DEVICE)}.get(what)
    option = {"causal": "src_mask", "padding": "src_key_padding_mask"}.get(what)
    options = {} if mask is None else {option: to_torch_mha(mask)}
    out = turned(theirs(turned(x, batch_first), **options), batch_first)
    got = ours(x, mask=mask)
    assert_close(got, out, **CLOSE)
    pairs = [
        (ours.up_proj.weight, theirs.linear1.weight),
        (ours.down_proj.weight, theirs.linear2.weight),
        (ours.attention_norm.weight, theirs.norm1.weight),
        (ours.network_norm.weight, theirs.norm2.weight),
        (ours.attention.out_proj.weight, theirs.self_attn.out_proj.weight),
    ]
    assert_same_gradients(got, out, [x], pairs)
