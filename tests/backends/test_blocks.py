import math

import pytest
import torch

from attnlib import (
    KVCache,
    MaskRule,
    attention,
    attention_scores,
    attention_weights,
    sliding_window_attention,
    sliding_window_mask,
    tiled_attention,
)
from attnlib._plan import Plan, check
from attnlib.backends import blocks
from attnlib.backends.choose import compute as compute_one
from attnlib.functional import key_mass
from attnlib.instruments.counters import count_flops, count_peak_bytes
from tests import DEVICE, assert_close, randn
from tests.test_functional import case
from tests.test_mask_rules import RULES, some_rule


@pytest.mark.parametrize("window", [1, 2, 3, 5, 11, 13])
@pytest.mark.parametrize("T", [1, 2, 7, 10, 11])
def test_equals_attention_with_the_window_mask_values_and_gradients(window, T):
    q, k, v = (x.requires_grad_() for x in case(T=T, S=T))
    got = sliding_window_attention(q, k, v, window=window)
    want = attention(q, k, v, sliding_window_mask(T, window=window, device=DEVICE))
    assert_close(got, want)
    for a, b in zip(
        torch.autograd.grad(got.square().sum(), (q, k, v)),
        torch.autograd.grad(want.square().sum(), (q, k, v)),
        strict=True,
    ):
        assert_close(a, b)


@pytest.mark.parametrize("kv_heads", [1, 2, 6])
def test_grouped_heads_scale_and_broadcasting(kv_heads):
    q, k, v = case(heads=6, kv_heads=kv_heads, T=7, S=7)
    mask = sliding_window_mask(7, window=3, device=DEVICE)
    got = sliding_window_attention(q, k, v, window=3, scale=0.3)
    assert_close(got, attention(q, k, v, mask, scale=0.3))
    assert_close(sliding_window_attention(q, k[:1], v[:1], window=3), attention(q, k[:1], v[:1], mask))


def test_an_empty_sequence_stays_empty():
    q, k, v = case(T=0, S=0)
    assert sliding_window_attention(q, k, v, window=3).shape == v.shape


def test_no_matrix_of_queries_by_keys_is_made():
    T, window = 4096, 16
    q, k, v = case(T=T, S=T, dtype=torch.float32)
    mask = sliding_window_mask(T, window=window, device=DEVICE)
    peak = count_peak_bytes(lambda: sliding_window_attention(q, k, v, window=window))
    assert peak < 0.5 * count_peak_bytes(lambda: attention(q, k, v, mask))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"window": 0}, ValueError, "window must be at least 1, got 0"),
        ({"window": 2.0}, TypeError, "window must be an int, got float (2.0)"),
    ],
)
def test_bad_input_gets_this_message(options, error, message):
    with pytest.raises(error) as caught:
        sliding_window_attention(*case(), **options)
    assert str(caught.value) == message


@pytest.mark.parametrize("scale", [math.nan, math.inf])
def test_a_scale_that_is_no_number_gets_this_message(scale):
    x = torch.zeros(5, 3, device=DEVICE)
    with pytest.raises(ValueError, match=f"scale must be a finite number, got {scale}"):
        sliding_window_attention(x, x, x, window=2, scale=scale)


def test_keys_and_values_must_be_equally_many():
    x = torch.zeros(5, 3, device=DEVICE)
    with pytest.raises(
        ValueError, match=r"k and v must have the same length S, got k \(5, 3\) and v \(4, 3\)"
    ):
        sliding_window_attention(x, x, x[:4], window=2)


# rules, block by block


@pytest.fixture(params=[1, 2, 3, 64])
def blocks_of(request, monkeypatch):
    """Blocks so small that a short sequence has several, whatever they save."""
    monkeypatch.setattr(blocks, "SMALL", 0)
    monkeypatch.setattr(blocks, "WORTH", 1.0)
    monkeypatch.setattr(blocks, "ROWS", request.param)
    monkeypatch.setattr(blocks, "LEAST", 1)
    monkeypatch.setattr(blocks, "ALIGN", request.param)
    return request.param


def gradients(out, inputs):
    return torch.autograd.grad(out.sin().sum(), inputs)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"softcap": 2.0}, {"scale": -0.5}, {"sink": True}, {"both": True}])
@pytest.mark.parametrize("lengths", [(9, 9), (4, 9), (9, 4)])
@pytest.mark.parametrize("name", RULES)
def test_a_rule_is_its_table_with_its_gradients(name, lengths, options, blocks_of):
    T, S = lengths
    rule = some_rule(name, S)
    q, k, v = (x.requires_grad_() for x in case(heads=6, kv_heads=2, T=T, S=S))
    options = dict(options)
    if "sink" in options:
        options["sink"] = randn(6, seed=8).requires_grad_()
    if options.pop("both", False):
        options |= {"bias": randn(6, T, S, seed=9).requires_grad_(), "causal": True}
    needs = (q, k, v, *(x for x in options.values() if isinstance(x, torch.Tensor)))
    got = attention(q, k, v, rule, **options)
    want = attention(q, k, v, rule.table(T, S, device=DEVICE), **options)
    assert_close(got, want)
    for one, two in zip(gradients(got, needs), gradients(want, needs), strict=True):
        assert_close(one, two)


@pytest.mark.parametrize("name", RULES)
def test_tiles_and_weights_know_rules(name):
    rule, (q, k, v) = some_rule(name, 9), case(T=6, S=9)
    table = rule.table(6, 9, device=DEVICE)
    assert_close(tiled_attention(q, k, v, rule, block_size=2), attention(q, k, v, table))
    assert_close(attention_weights(q, k, rule, causal=True), attention_weights(q, k, table, causal=True))
    assert_close(attention_scores(q, k, rule), attention_scores(q, k, table))


def test_a_window_with_other_lengths_a_mask_a_bias_and_a_softcap(blocks_of):
    q, k, v = (x.requires_grad_() for x in case(T=5, S=8))
    mask, bias = randn(2, 1, 5, 8) > 0, randn(3, 5, 8, seed=4)
    got = sliding_window_attention(q, k, v, mask, window=3, bias=bias, softcap=2.0)
    table = mask & sliding_window_mask(5, 8, window=3, device=DEVICE)
    want = attention(q, k, v, table, bias=bias, softcap=2.0)
    assert_close(got, want)
    for one, two in zip(gradients(got, (q, k, v)), gradients(want, (q, k, v)), strict=True):
        assert_close(one, two)
    both = sliding_window_attention(q, k, v, MaskRule(prefix=2, causal=True), window=3)
    assert_close(
        both,
        attention(
            q,
            k,
            v,
            (
                MaskRule(prefix=2, causal=True).table(5, 8, device=DEVICE)
                & sliding_window_mask(5, 8, window=3, device=DEVICE)
            ),
        ),
    )


@pytest.mark.parametrize("cuts", [[1] * 9, [4, 1, 1, 3], [9], [2, 7]])
def test_a_window_goes_on_where_a_cache_ends(cuts):
    q, k, v = (x[:, :, :9] for x in case(T=9, S=9))
    cache, parts = KVCache(2, 3, 9, k.shape[-1], dtype=k.dtype, device=DEVICE), []
    wide = v[..., : k.shape[-1]]
    for part in torch.arange(9).split(cuts):
        keys, values = cache.append(k[:, :, part], wide[:, :, part])
        parts.append(sliding_window_attention(q[:, :, part], keys, values, window=3))
    assert_close(torch.cat(parts, 2), sliding_window_attention(q, k, wide, window=3))


@pytest.mark.parametrize("rule", [{"causal": True, "window": 8}, {"documents": True}, {"lengths": [16, 8]}])
def test_tiles_that_a_rule_rules_out_are_not_computed(rule):
    S = 64
    if "documents" in rule:
        rule = {"documents": torch.arange(S, device=DEVICE) // 8}
    if "lengths" in rule:
        rule = {"lengths": torch.tensor(rule["lengths"], device=DEVICE)}
    q, k, v = case(T=S, S=S)
    rule = MaskRule(**rule)
    for run in (
        lambda m: tiled_attention(q, k, v, m, block_size=8),
        lambda m: key_mass(q, k, m, block_size=8),
    ):
        assert count_flops(lambda: run(rule)) <= 0.26 * count_flops(lambda: run(None))  # noqa: B023


@pytest.mark.parametrize("name", ["window", "documents", "lengths", "window and prefix"])
def test_what_a_rule_rules_out_is_not_read(name, monkeypatch):
    S, read = 64, []
    rule = {
        "window": MaskRule(causal=True, window=8),
        "documents": MaskRule(documents=torch.arange(S, device=DEVICE) // 8),
        "lengths": MaskRule(lengths=torch.tensor([16, 8], device=DEVICE), causal=True),
        "window and prefix": MaskRule(causal=True, window=8, prefix=2),
    }[name]
    if DEVICE.type != "cpu" and name in ("documents", "lengths"):
        pytest.skip("reading documents back from a GPU takes longer than it saves")
    monkeypatch.setattr(blocks, "SMALL", 0)
    monkeypatch.setattr(blocks, "ROWS", 8)
    monkeypatch.setattr(blocks, "LEAST", 8)
    monkeypatch.setattr(blocks, "ALIGN", 1)
    q, k, v = case(T=S, S=S)
    plan = check(Plan.of(q, k, v, rule))
    assert blocks.saves(plan)

    def compute(part):
        read.append(part.S)
        return compute_one(part)

    assert_close(blocks.in_blocks(plan, compute), attention(q, k, v, rule.table(S, device=DEVICE)))
    assert max(read) <= {"lengths": 16, "window and prefix": 17}.get(name, 15)


@pytest.mark.parametrize("name", ["k", "v", "bias", "softcap", "sink"])
def test_gradients_of_what_blocks_share_are_summed_in_float32(name, monkeypatch):
    monkeypatch.setattr(blocks, "SMALL", 0)
    monkeypatch.setattr(blocks, "ROWS", 1)
    T = 512
    g = torch.Generator().manual_seed(0)

    def inputs(dtype):
        q, k, v = (x.to(DEVICE, dtype) for x in (torch.zeros(1, 1, T, 8), torch.zeros(1, 1, T, 8), ones))
        more = {"bias": torch.zeros(T), "softcap": torch.tensor(2.0), "sink": torch.zeros(1)}
        given = {"q": q, "k": k, "v": v} | {n: x.to(DEVICE, dtype) for n, x in more.items() if n == name}
        if name in ("k", "softcap"):
            given["q"] = given["q"] + 0.5
        if name == "softcap":
            given["k"] = given["k"] + v
        given[name] = given[name].requires_grad_()
        return given

    ones = 1 + 0.1 * torch.rand(1, 1, T, 8, generator=g)
    rule = MaskRule(causal=True, prefix=4, window=4)  # the first keys are seen by all queries
    found = {}
    for dtype in (torch.float64, torch.bfloat16):
        given = inputs(torch.bfloat16)
        given = {n: x.detach().to(dtype).requires_grad_(n == name) for n, x in given.items()}
        out = attention(
            given.pop("q"), given["k"], given["v"], rule, **{n: x for n, x in given.items() if n not in "kv"}
        )
        found[dtype] = torch.autograd.grad(out.double().square().sum(), given[name])[0]
    want, got = found[torch.float64], found[torch.bfloat16].double()
    assert (got - want).abs().max() <= 2**-6 * want.abs().max()


def test_blocks_without_a_key_are_zero_and_have_gradients(monkeypatch):
    monkeypatch.setattr(blocks, "SMALL", 0)
    monkeypatch.setattr(blocks, "ROWS", 2)
    q, k, v = (x.requires_grad_() for x in case(T=6, S=6))
    out = attention(q, k, v, MaskRule(lengths=torch.zeros(2, dtype=torch.int64, device=DEVICE)))
    assert not out.any()
    assert all(not g.any() for g in torch.autograd.grad(out.sum(), (q, k, v)))


def test_a_window_holds_less_than_half_of_what_its_table_takes():
    T = 4096
    q, k, v = (randn(1, 2, T, 16, seed=i).float() for i in range(3))
    mask = sliding_window_mask(T, window=256, device=DEVICE)
    peak = count_peak_bytes(lambda: attention(q, k, v, MaskRule(causal=True, window=256)))
    assert peak < 0.5 * count_peak_bytes(lambda: attention(q, k, v, mask))
