"""Every computing function of the library by everything that PyTorch may do to it: a table, and what must hold.

What a function does not support raises a sentence, and never a wrong number.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from attnlib import (
    Decoder,
    MaskRule,
    MultiHeadAttention,
    TransformerBlock,
    alibi_bias,
    attention,
    attention_scores,
    attention_weights,
    causal_mask,
    document_mask,
    linear_attention,
    masked_softmax,
    padding_mask,
    prefix_mask,
    rotary,
    sinusoidal,
    sliding_window_attention,
    sliding_window_mask,
    tiled_attention,
)
from attnlib.functional import attention_with_lse, merge
from attnlib.linear import linear_attention_step
from attnlib.masks import to_torch_mha
from attnlib.positions import rotate
from attnlib.scoring import additive_scores, bilinear_scores, dot_scores
from tests import DEVICE, assert_close

B, H, T, S, D, Dv, C = 2, 3, 5, 7, 4, 11, 12
EPS = {torch.float16: 2**-10, torch.bfloat16: 2**-7, torch.float32: 2**-23, torch.float64: 2**-52}


@dataclass(frozen=True)
class Case:
    """A function of some tensors, and which axis of each is a length that may change."""

    run: Callable[..., Tensor]
    sizes: tuple[tuple[int, ...], ...]  # of the floating-point inputs
    masked: bool = False  # whether a boolean mask (T, S) comes last
    roundings: int = 4  # how often half precision may round on the way, at the size of the largest output
    lengths: tuple[dict[int, str], ...] = ()  # for each input, its axes that are lengths

    def inputs(self, dtype=torch.float32, seed=0, device=DEVICE):
        g = torch.Generator().manual_seed(seed)
        made = [torch.randn(size, generator=g, dtype=torch.float64).to(device, dtype) for size in self.sizes]
        if self.masked:
            made.append(MASK.to(device))
        return made


# some keys hidden from some queries, one from all, and one query that may attend to nothing
MASK = torch.rand(T, S, generator=torch.Generator().manual_seed(1)) > 0.4
MASK[:, 2], MASK[3] = False, False

Q, K, V = (B, H, T, D), (B, H, S, D), (B, H, S, Dv)
SAME = (B, H, S, D), (B, H, S, D), (B, H, S, Dv)
TS = ({2: "T"}, {2: "S"}, {2: "S"})
ONE = ({2: "S"}, {2: "S"}, {2: "S"})


def grouped(run, **options):
    return Case(run, (Q, (B, 1, S, D), (B, 1, S, Dv)), lengths=TS, **options)


def modules(kind, **options):
    """One module for each dtype, with the same weights, made before anything is traced."""
    torch.manual_seed(0)
    made = kind(C, 6, num_kv_heads=2, **options).eval()
    return {dtype: copy.deepcopy(made).to(DEVICE, dtype) for dtype in EPS}


LAYER, BLOCK = modules(MultiHeadAttention), modules(TransformerBlock)
TODAY = {"norm": "rms", "gated": True, "activation": F.silu, "bias": False}
GATED, LAST = modules(TransformerBlock, **TODAY), modules(TransformerBlock, norm_first=False)
OWN = modules(MultiHeadAttention, head_dim=4, qk_norm=True, softcap=3.0, sink=True)
READER = modules(TransformerBlock, context=True)


def weighed_by_lse(q, k, v):
    """Both results of `attention_with_lse` in one tensor."""
    out, lse = attention_with_lse(q, k, v)
    return out * torch.sigmoid(lse).to(out.dtype)[..., None]


CASES = {
    "masked_softmax": Case(masked_softmax, ((B, H, T, S),), masked=True, lengths=({2: "T", 3: "S"},)),
    "attention_scores": Case(attention_scores, (Q, K), lengths=TS[:2]),
    "attention_scores, causal": Case(
        lambda q, k: attention_scores(q, k, causal=True).exp(), (Q, K), lengths=TS[:2], roundings=32
    ),
    "attention_weights": Case(attention_weights, (Q, K), masked=True, lengths=TS[:2]),
    "attention_weights, causal": Case(
        lambda q, k: attention_weights(q, k, causal=True), (Q, K), lengths=TS[:2]
    ),
    "attention_weights, softcap and bias": Case(
        lambda q, k, b: attention_weights(q, k, bias=b, softcap=2.0), (Q, K, (H, 1, 1)), lengths=(*TS[:2], {})
    ),
    "attention": Case(attention, (Q, K, V), lengths=TS),
    "attention, mask": Case(attention, (Q, K, V), masked=True, lengths=TS),
    "attention, causal": Case(lambda *x: attention(*x, causal=True), SAME, lengths=ONE),
    "attention, causal, T != S": Case(lambda *x: attention(*x, causal=True), (Q, K, V), lengths=TS),
    "attention, causal, negative scale": Case(
        lambda *x: attention(*x, causal=True, scale=-1.0), SAME, lengths=ONE
    ),
    "attention, bias": Case(
        lambda q, k, v, b: attention(q, k, v, bias=b), (Q, K, V, (H, 1, 1)), lengths=(*TS, {})
    ),
    "attention, softcap": Case(
        lambda q, k, v, m: attention(q, k, v, m, softcap=2.0), (Q, K, V), masked=True, lengths=TS
    ),
    "attention, one key head": grouped(attention),
    "tiled_attention": Case(lambda *x: tiled_attention(*x, block_size=3), (Q, K, V), lengths=TS),
    "tiled_attention, mask": Case(
        lambda q, k, v, m: tiled_attention(q, k, v, m, block_size=4), (Q, K, V), masked=True, lengths=TS
    ),
    "tiled_attention, causal, softcap": Case(
        lambda *x: tiled_attention(*x, causal=True, softcap=2.0, block_size=4), (Q, K, V), lengths=TS
    ),
    "tiled_attention, bias": Case(
        lambda q, k, v, b: tiled_attention(q, k, v, bias=b, block_size=4),
        (Q, K, V, (H, 1, 1)),
        lengths=(*TS, {}),
    ),
    "attention, sink": Case(
        lambda q, k, v, x, m: attention(q, k, v, m, sink=x), (Q, K, V, (H,)), masked=True, lengths=(*TS, {})
    ),
    "attention, learned scale": Case(
        lambda q, k, v, x: attention(q, k, v, scale=x), (Q, K, V, (H, 1, 1)), lengths=(*TS, {})
    ),
    "attention, rule": Case(lambda *x: attention(*x, MaskRule(causal=True, window=3, prefix=1)), (Q, K, V), lengths=TS),
    "attention_with_lse": Case(weighed_by_lse, (Q, K, V), lengths=TS),
    "tiled_attention, sink": Case(
        lambda q, k, v, x: tiled_attention(q, k, v, sink=x, block_size=4), (Q, K, V, (H,)), lengths=(*TS, {})
    ),
    "tiled_attention, learned softcap": Case(
        lambda q, k, v, x: tiled_attention(q, k, v, softcap=1 + x * x, block_size=4),
        (Q, K, V, (H, 1, 1)),
        lengths=(*TS, {}),
    ),
    "merge": Case(
        lambda a, x, b, y: merge(a, x, b, y)[0],
        (V, (B, H, S), V, (B, H, S)),
        lengths=({2: "S"}, {2: "S"}, {2: "S"}, {2: "S"}),
    ),
    "linear_attention": Case(linear_attention, (Q, K, V), lengths=TS),
    "linear_attention, causal": Case(
        lambda *x: linear_attention(*x, causal=True, block_size=3), SAME, lengths=ONE
    ),
    "linear_attention_step": Case(lambda *x: linear_attention_step(*x)[0], ((B, D), (B, D), (B, Dv))),
    "sliding_window_attention, T != S": Case(
        lambda *x: sliding_window_attention(*x, window=3), (Q, K, V), lengths=TS
    ),
    "sliding_window_attention": Case(lambda *x: sliding_window_attention(*x, window=3), SAME, lengths=ONE),
    "rotary": Case(rotary, (Q,), lengths=({2: "T"},)),
    "rotary, neighbours": Case(lambda x: rotary(x, dim=2, interleaved=True), (Q,), lengths=({2: "T"},)),
    "rotate": Case(rotate, (Q, (T, D // 2), (T, D // 2)), lengths=({2: "T"}, {0: "T"}, {0: "T"})),
    "dot_scores": Case(dot_scores, (Q, K), lengths=TS[:2], roundings=8),
    "bilinear_scores": Case(
        bilinear_scores, (Q, (B, H, S, Dv), (D, Dv)), lengths=(*TS[:2], {}), roundings=8
    ),
    "additive_scores": Case(
        additive_scores, (Q, K, (D, Dv), (D, Dv), (Dv,)), lengths=(*TS[:2], {}, {}, {}), roundings=8
    ),
    "MultiHeadAttention": Case(lambda x: LAYER[x.dtype](x), ((B, T, C),), lengths=({1: "T"},), roundings=16),
    "MultiHeadAttention, causal, weights": Case(
        lambda x: LAYER[x.dtype](x, causal=True, need_weights=True)[1], ((B, T, C),), lengths=({1: "T"},), roundings=16
    ),
    "MultiHeadAttention, a window, widths, norms, softcap and sinks of its own": Case(
        lambda x: OWN[x.dtype](x, mask=MaskRule(causal=True, window=3), rotary=rotary), ((B, T, C),), lengths=({1: "T"},), roundings=16
    ),
    "TransformerBlock, a context": Case(
        lambda x, y: READER[x.dtype](x, y, causal=True), ((B, T, C), (B, S, C)), lengths=({1: "T"}, {}), roundings=16
    ),
    "TransformerBlock": Case(lambda x: BLOCK[x.dtype](x, causal=True), ((B, T, C),), lengths=({1: "T"},), roundings=16),
    "TransformerBlock, rms, gated, rotary": Case(
        lambda x: GATED[x.dtype](x, causal=True, rotary=rotary), ((B, T, C),), lengths=({1: "T"},), roundings=16
    ),
    "TransformerBlock, norm last": Case(
        lambda x: LAST[x.dtype](x, causal=True), ((B, T, C),), lengths=({1: "T"},), roundings=16
    ),
}  # fmt: skip

every = pytest.mark.parametrize("name", CASES)
HALF = [torch.float16, torch.bfloat16]

# loops over blocks of a length cannot be exported for any length; PyTorch says so, and a fixed length works
FIXED = [
    name for name in CASES if name.startswith(("tiled", "attention_with_lse", "linear_attention, causal"))
]


def close_in_half(got, exact, roundings, dtype):
    """Compare with float64 at the size of the largest output."""
    size = exact.abs().max().clamp_min(1.0).item() if exact.numel() else 1.0
    assert_close(got.double(), exact, rtol=0, atol=roundings * EPS[dtype] * size)


def gradients(case, inputs):
    """The gradients of a fixed mixture of the outputs."""
    floats = [x.detach().clone().requires_grad_() for x in inputs if x.is_floating_point()]
    out = case.run(*floats, *inputs[len(floats) :])
    mixture = torch.linspace(-1, 1, out.numel(), dtype=torch.float64).to(out).view(out.shape)
    finite = out.masked_fill(out == float("-inf"), 0.0)
    return torch.autograd.grad((finite * mixture).sum(), floats)


@every
@pytest.mark.parametrize("dtype", HALF)
def test_half_precision_is_close_to_float64(name, dtype):
    case = CASES[name]
    inputs = case.inputs(dtype)
    exact = case.run(*(x.double() if x.is_floating_point() else x for x in inputs))
    got = case.run(*inputs)
    assert got.dtype == dtype
    close_in_half(got, exact, case.roundings, dtype)


@every
@pytest.mark.parametrize("dtype", HALF)
def test_gradients_in_half_precision_are_close_to_float64(name, dtype):
    case = CASES[name]
    inputs = case.inputs(dtype)
    exact = gradients(case, [x.double() if x.is_floating_point() else x for x in inputs])
    for got, e in zip(gradients(case, inputs), exact, strict=True):
        assert got.dtype == dtype
        close_in_half(got, e, 4 * case.roundings, dtype)


@every
def test_gradients_in_float64_by_finite_differences(name):
    case = CASES[name]
    inputs = case.inputs(torch.float64)
    floats = [x[:1] if x.shape[:1] == (B,) else x for x in inputs if x.is_floating_point()]
    floats = [x.detach().requires_grad_() for x in floats]
    assert torch.autograd.gradcheck(
        lambda *x: case.run(*x, *inputs[len(x) :]).nan_to_num(neginf=0.0), floats, fast_mode=True
    )


@every
def test_autocast_rounds_no_more_than_half_precision_does(name):
    case = CASES[name]
    inputs = case.inputs(torch.float32)
    exact = case.run(*(x.double() if x.is_floating_point() else x for x in inputs))
    with torch.autocast(DEVICE.type, torch.bfloat16):
        got = case.run(*inputs)
    close_in_half(got, exact, max(8, case.roundings), torch.bfloat16)


@every
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
def test_compile_in_one_graph_with_lengths_that_change(name):
    case = CASES[name]
    torch._dynamo.reset()
    compiled = torch.compile(case.run, backend="eager", fullgraph=True, dynamic=True)
    assert_close(compiled(*case.inputs()), case.run(*case.inputs()), equal_nan=True)
    longer = with_lengths(case, T=6, S=9)
    assert_close(compiled(*longer), case.run(*longer), equal_nan=True)


@every
def test_export_with_lengths_that_change(name):
    case = CASES[name]
    if not case.lengths:
        pytest.skip("it has no length")
    if ("Multi" in name or "Block" in name) and torch.__version__ < "2.12":
        pytest.skip("PyTorch tied the strides of heads to their length before 2.12")

    class Module(torch.nn.Module):
        def forward(self, inputs):
            return case.run(*inputs)

    dims = {n: torch.export.Dim(n, min=4, max=64) for axes in case.lengths for n in axes.values()}
    dynamic = [{axis: dims[n] for axis, n in axes.items()} for axes in case.lengths]
    if case.masked:
        dynamic.append({0: dims["T"], 1: dims["S"]})
    if name in FIXED:
        with pytest.raises(Exception, match="Constraints violated"):
            torch.export.export(Module(), (case.inputs(),), dynamic_shapes=(dynamic,), strict=False)
        program, others = torch.export.export(Module(), (case.inputs(),), strict=False), [case.inputs(seed=5)]
    else:
        program = torch.export.export(Module(), (case.inputs(),), dynamic_shapes=(dynamic,), strict=False)
        others = [with_lengths(case, T=6, S=9), with_lengths(case, T=9, S=6)]  # more keys, and more queries
    for given in others:
        assert_close(program.module()(given), case.run(*given), equal_nan=True)


def with_lengths(case, **lengths):
    """Make inputs of other lengths."""
    g = torch.Generator().manual_seed(3)
    made = []
    for i, size in enumerate(case.sizes):
        axes = case.lengths[i] if case.lengths else {}
        size = [lengths[axes[axis]] if axis in axes else n for axis, n in enumerate(size)]
        made.append(torch.randn(size, generator=g).to(DEVICE))
    if case.masked:
        made.append((torch.rand(lengths["T"], lengths["S"], generator=g) > 0.4).to(DEVICE))
    return made


@every
@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_vmap_over_each_input_and_over_all(name):
    case = CASES[name]
    inputs = case.inputs()
    many = [torch.stack([x, x.flip(0), x.roll(1, -1)]) for x in inputs]
    for mapped in [[i] for i in range(len(inputs))] + [range(len(inputs))]:
        given = [many[i] if i in mapped else x for i, x in enumerate(inputs)]
        dims = tuple(0 if i in mapped else None for i in range(len(inputs)))
        got = torch.vmap(case.run, dims)(*given)
        for n in range(3):
            one = case.run(*(x[n] if i in mapped else x for i, x in enumerate(given)))
            assert_close(got[n], one, rtol=1e-4, atol=1e-5)


@every
def test_torch_func_gives_the_same_gradients(name):
    case = CASES[name]
    inputs = case.inputs(torch.float64)
    n = len(case.sizes)
    expected = gradients(case, inputs)

    def loss(*floats):
        out = case.run(*floats, *inputs[n:])
        mixture = torch.linspace(-1, 1, out.numel(), dtype=torch.float64).to(out.device).view(out.shape)
        return (out.masked_fill(out == float("-inf"), 0.0) * mixture).sum()

    for got, e in zip(torch.func.grad(loss, tuple(range(n)))(*inputs[:n]), expected, strict=True):
        assert_close(got, e)


@every
@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_gradients_of_each_sample_by_vmap_of_grad(name):
    case = CASES[name]
    inputs = case.inputs(torch.float64)
    many = torch.stack([inputs[0], inputs[0].flip(0)])

    def first(x):
        out = case.run(x, *inputs[1:])
        return out.masked_fill(out == float("-inf"), 0.0).square().sum()

    got = torch.vmap(torch.func.grad(first))(many)
    for n in range(2):
        assert_close(got[n], torch.func.grad(first)(many[n]))


@every
def test_meta_tensors_have_the_shape_and_dtype_of_the_result(name):
    case = CASES[name]
    if "Multi" in name or "Block" in name:
        pytest.skip("its weights are on another device; a model on meta is tested below")
    real = case.run(*case.inputs(torch.bfloat16))
    got = case.run(*case.inputs(torch.bfloat16, device="meta"))
    assert got.is_meta
    assert (got.shape, got.dtype) == (real.shape, real.dtype)


def test_a_model_on_meta_has_the_shape_of_its_logits():
    with torch.device("meta"):
        for options in ({}, {"rotary": rotary, "tied": True, **TODAY}):
            model = Decoder(11, 13, C, 3, 2, **options)
            assert model(torch.zeros(B, T, dtype=torch.int64)).shape == (B, T, 11)


@pytest.mark.parametrize("name", [name for name in CASES if CASES[name].masked])
def test_a_mask_that_is_changed_before_backward_is_not_read_again(name):
    case = CASES[name]
    *inputs, mask = case.inputs(torch.float64)
    expected = gradients(case, [*inputs, mask])
    floats, changed = [x.requires_grad_() for x in inputs], mask.clone()
    out = case.run(*floats, changed)
    changed.fill_(True)
    mixture = torch.linspace(-1, 1, out.numel(), dtype=torch.float64).to(out).view(out.shape)
    if name.startswith("tiled"):  # which keeps the mask itself, and says so
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            torch.autograd.grad((out * mixture).sum(), floats)
        return
    for got, e in zip(torch.autograd.grad((out * mixture).sum(), floats), expected, strict=True):
        assert_close(got, e)


HIDES = [name for name in CASES if CASES[name].masked and len(CASES[name].sizes) > 1]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("place", [2, 4])  # hidden from all, hidden from some
@pytest.mark.parametrize("which", [1, 2])
@pytest.mark.parametrize("name", HIDES)
def test_what_is_hidden_cannot_be_felt(name, which, place, bad):
    case = CASES[name]
    if which >= len(case.sizes):
        pytest.skip("it has no values")
    if DEVICE.type != "cpu" and name == "attention, mask":
        pytest.skip("a kernel of a GPU adds the mask to NaN, as the docstring says")
    if DEVICE.type != "cpu" and which == 2:
        pytest.skip("zero times NaN is NaN on a GPU, as the docstring says")
    *inputs, mask = case.inputs(torch.float64)
    clean = [x.clone().requires_grad_() for x in inputs]
    inputs[which][:, :, place] = bad
    floats = [x.requires_grad_() for x in inputs]
    unseen = ~mask[:, place]  # (T,), queries that may not see the place
    out, expected = case.run(*floats, mask)[:, :, unseen], case.run(*clean, mask)[:, :, unseen]
    assert_close(out, expected)
    if DEVICE.type == "cpu":
        if place != 2:  # a query that sees it has no gradient to speak of
            return
        got, wanted = (torch.autograd.grad(y.sin().sum(), x) for y, x in ((out, floats), (expected, clean)))
        for i, (g, w) in enumerate(zip(got, wanted, strict=True)):
            rest = [j for j in range(S) if i != which or j != place]
            assert_close(*((x[:, :, rest] if i in (1, 2) else x) for x in (g, w)))


EMPTY = {"no query": {"T": 0}, "no key": {"S": 0}, "nothing at all": {"T": 0, "S": 0}}


@every
@pytest.mark.parametrize("what", EMPTY)
def test_empty_lengths_have_empty_or_zero_results(name, what):
    case = CASES[name]
    if not set(EMPTY[what]) <= {n for axes in case.lengths for n in axes.values()}:
        pytest.skip("it has no such length")
    lengths = {"T": T, "S": S} | EMPTY[what]
    out = case.run(*with_lengths(case, **lengths))
    assert not out.numel() or (lengths["S"] == 0 and not out.any())


@every
def test_an_empty_batch_has_an_empty_result(name):
    case = CASES[name]
    inputs = [x[:0] if x.shape[:1] == (B,) else x for x in case.inputs()]
    assert case.run(*inputs).shape[0] == 0


# what makes tensors from numbers

MAKES = {
    "causal_mask": lambda x: causal_mask(x.shape[0], x.shape[1]),
    "sliding_window_mask": lambda x: sliding_window_mask(x.shape[0], x.shape[1], window=3),
    "prefix_mask": lambda x: prefix_mask(x.shape[0], x.shape[1], prefix=2),
    "padding_mask": lambda x: padding_mask(torch.arange(x.shape[0]) % 3, x.shape[1]),
    "document_mask": lambda x: document_mask(torch.arange(x.shape[0]) // 2),
    "to_torch_mha": lambda x: to_torch_mha(causal_mask(x.shape[0], x.shape[1])),
    "alibi_bias": lambda x: alibi_bias(3, x.shape[0], x.shape[1]),
    "sinusoidal": lambda x: sinusoidal(x.shape[0], 6),
}


@pytest.mark.parametrize("name", MAKES)
def test_what_makes_tensors_compiles_and_exports_with_lengths_that_change(name):
    class Module(torch.nn.Module):
        def forward(self, x):
            return MAKES[name](x)

    torch._dynamo.reset()
    compiled = torch.compile(Module(), backend="eager", fullgraph=True, dynamic=True)
    dims = {0: torch.export.Dim("T", min=4, max=64), 1: torch.export.Dim("S", min=4, max=64)}
    program = torch.export.export(Module(), (torch.zeros(5, 7),), dynamic_shapes=(dims,), strict=False)
    for sizes in ((5, 7), (6, 9), (9, 6)):
        x = torch.zeros(sizes)
        assert_close(compiled(x), MAKES[name](x))
        assert_close(program.module()(x), MAKES[name](x))
