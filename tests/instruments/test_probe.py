import math

import pytest
import torch
from torch import nn

from attnlib import Decoder, MultiHeadAttention, TransformerBlock, attention_scores, causal_mask, rotary
from attnlib.instruments.probe import ScoreProbe, ScoreStatistics, score_statistics, score_table
from tests import DEVICE

B, T, S, H, D = 2, 5, 7, 3, 11
C = H * D


def randn(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(DEVICE)


def make(**options):
    torch.manual_seed(0)
    return MultiHeadAttention(C, H, **options).to(DEVICE)


def by_hand(scores):
    """The same numbers for ``(B, T, S)`` scores of one head, row by row."""
    rows = [[s for s in row if s > -math.inf] for batch in scores.tolist() for row in batch]
    rows = [row for row in rows if len(row) > 1]
    count = sum(map(len, rows))
    means = [sum(row) / len(row) for row in rows]
    squares = sum((s - m) ** 2 for row, m in zip(rows, means, strict=True) for s in row)
    weights = []
    for row in rows:
        e = [math.exp(s - max(row)) for s in row]
        weights.append([x / sum(e) for x in e])
    shares = [-sum(w * math.log(w) for w in row if w) / math.log(len(row)) for row in weights]
    return {
        "rows": len(rows),
        "mean": sum(map(sum, rows)) / count,
        "std": math.sqrt(squares / (count - len(rows))),
        "largest": max(map(max, rows)),
        "top": sum(map(max, weights)) / len(rows),
        "entropy": sum(shares) / len(rows),
        "saturated": sum(max(row) > 0.99 for row in weights) / len(rows),
    }


def assert_by_hand(found, scores):
    for name, value in by_hand(scores).items():
        assert getattr(found, name) == pytest.approx(value, rel=1e-4, abs=1e-6), name


def test_two_scores_by_hand():
    (head,) = score_statistics(torch.tensor([[[[0.0, math.log(3)]]]], dtype=torch.float64))
    assert (head.rows, head.head, head.module) == (1, 0, "scores")
    assert head.mean == pytest.approx(math.log(3) / 2)
    assert head.std == pytest.approx(math.log(3) / math.sqrt(2))
    assert head.top == pytest.approx(0.75)
    assert head.entropy == pytest.approx((0.25 * math.log(4) + 0.75 * math.log(4 / 3)) / math.log(2))
    assert head.saturated == 0


def test_what_a_row_has_in_common_does_not_count():
    scores = randn(B, H, T, S)
    (a, *_), (b, *_) = score_statistics(scores), score_statistics(scores + 100 * randn(B, H, T, 1, seed=1))
    assert (a.std, a.top, a.entropy) == pytest.approx((b.std, b.top, b.entropy), rel=1e-3)
    assert a.mean != pytest.approx(b.mean)


def test_a_saturated_row_and_a_row_alone():
    scores = torch.full((1, 1, 3, 4), -math.inf)
    scores[0, 0, 0] = torch.tensor([20.0, 0.0, 0.0, 0.0])
    scores[0, 0, 1, 0] = 5.0  # a single key: nothing to choose
    (head,) = score_statistics(scores)  # and a row with none
    assert (head.rows, head.largest, head.saturated) == (1, 20.0, 1.0)
    assert head.entropy < 1e-6


@pytest.mark.parametrize("scale", [None, 1.0, 0.02])
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("case", ["plain", "causal", "mask", "context"])
def test_equals_a_count_by_hand(scale, need_weights, case):
    module, x, context = make(scale=scale), 3 * randn(B, T, C), randn(B, S, C, seed=1)
    mask = torch.rand(T, T, generator=torch.Generator().manual_seed(2)).to(DEVICE) > 0.3
    call = {"plain": {}, "causal": {"causal": True}, "mask": {"mask": mask}, "context": {"context": context}}
    with ScoreProbe(module) as probe:
        module(x, need_weights=need_weights, **call[case])
    q, k = module.q_proj(x), module.k_proj(context if case == "context" else x)
    for head, found in enumerate(probe.heads()):
        part = slice(head * D, (head + 1) * D)
        scores = q[..., part] @ k[..., part].mT * (D**-0.5 if scale is None else scale)
        hidden = {"causal": ~causal_mask(T).to(DEVICE), "mask": ~mask}.get(case)
        scores = scores if hidden is None else scores.masked_fill(hidden, -math.inf)
        assert found.module == "MultiHeadAttention"
        assert found.head == head
        assert_by_hand(found, scores)


def test_outputs_and_gradients_are_the_same_to_the_bit():
    module, x = make(dropout=0.2), randn(B, T, C).requires_grad_()

    def run():
        torch.manual_seed(3)
        out = module(x, causal=True)
        (grad,) = torch.autograd.grad(out.square().sum(), x)
        return out, grad

    out, grad = run()
    with ScoreProbe(module):
        watched_out, watched_grad = run()
    assert torch.equal(out, watched_out)
    assert torch.equal(grad, watched_grad)


def test_nothing_is_left_on_the_module_even_after_an_error():
    block = TransformerBlock(C, H).to(DEVICE)
    before = {name: set(vars(module)) for name, module in block.named_modules()}
    with pytest.raises(ValueError, match="x must be"), ScoreProbe(block) as probe:
        block.attention(randn(B, T, C + 1))
    assert not probe._hooks
    assert not block.attention.attend._forward_hooks
    assert {name: set(vars(module)) for name, module in block.named_modules()} == before


def scores_of(module, x, turn=None, **options):
    """What the softmax of a module is taken of, from its weights."""
    q, k = (p(x).unflatten(-1, (-1, module.head_dim)).transpose(1, 2) for p in (module.q_proj, module.k_proj))
    q, k = (q, k) if turn is None else (turn(q), turn(k))
    return attention_scores(q, k, scale=module.scale, **options).detach()


def assert_seen(probe, scores):
    for head, found in enumerate(probe.heads()):
        assert_by_hand(found, scores[:, head])


class OnlyTheFirst(MultiHeadAttention):
    """A subclass that brings its own mask, and arguments of its own."""

    def forward(self, x, first, **options):
        mask = torch.arange(x.shape[1], device=x.device) < first
        return super().forward(x, mask=mask, **options)


@pytest.mark.parametrize("need_weights", [True, False])
def test_a_subclass_that_masks_inside_is_measured_masked(need_weights):
    torch.manual_seed(0)
    module, x = OnlyTheFirst(C, H).to(DEVICE), 3 * randn(B, T, C)
    with ScoreProbe(module) as probe:
        module(x, 3, causal=True, need_weights=need_weights)
    mask = torch.arange(T, device=DEVICE) < 3
    assert_seen(probe, scores_of(module, x, mask=mask, causal=True))


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("num_kv_heads", [1, 3])
def test_bias_rotary_and_cache_are_seen_as_they_were_used(need_weights, num_kv_heads):
    torch.manual_seed(0)
    module = MultiHeadAttention(H * 10, H, num_kv_heads=num_kv_heads, scale=0.7).to(DEVICE)
    x, bias = randn(B, T, H * 10), 3 * randn(H, T, T, seed=1)
    cache = module.make_cache(B, T)
    with torch.no_grad(), ScoreProbe(module) as full:
        module(x, causal=True, bias=bias, rotary=rotary, need_weights=need_weights)
    with torch.no_grad(), ScoreProbe(module) as steps:
        for a, b in ((0, 3), (3, 5)):
            options = {"bias": bias[:, a:b, :b], "rotary": rotary, "need_weights": need_weights}
            module(x[:, a:b], causal=True, cache=cache, **options)
    scores = scores_of(module, x, rotary, causal=True, bias=bias)
    assert_seen(full, scores)
    assert_seen(steps, scores)


def test_probes_nest_and_may_end_in_any_order():
    module, x = make(), randn(B, T, C)
    outer, inner = ScoreProbe(module), ScoreProbe(module)
    outer.__enter__()
    module(x)
    inner.__enter__()
    module(x)
    outer.__exit__(None, None, None)
    module(x)
    inner.__exit__(None, None, None)
    module(x)
    assert outer.heads() == inner.heads()
    assert outer.heads()[0].rows == 2 * B * T
    assert not module.attend._forward_hooks


@pytest.mark.filterwarnings("ignore:mkldnn_matmul failed")
def test_under_autocast_the_scores_are_those_of_its_dtype():
    module, x = make(), randn(B, T, C)
    with torch.autocast(DEVICE.type, torch.bfloat16), ScoreProbe(module) as probe:
        plain = module(x)
    with torch.autocast(DEVICE.type, torch.bfloat16):
        assert torch.equal(module(x), plain)
    exact = score_statistics(scores_of(module, x))
    for found, wanted in zip(probe.heads(), exact, strict=True):
        assert found.std == pytest.approx(wanted.std, rel=0.02)


def test_an_empty_batch_is_no_news():
    module, x = make(), randn(B, T, C)
    with ScoreProbe(module) as probe:
        for some in (x, x[:0], x[:, :0]):
            assert module(some).shape == some.shape
    assert probe.heads()[0].rows == B * T


def test_modules_are_named_by_their_path_and_several_batches_are_pooled():
    torch.manual_seed(0)
    model = nn.ModuleDict({"first": TransformerBlock(C, H), "second": TransformerBlock(C, 1)}).to(DEVICE)
    x, y = randn(B, T, C), randn(3, S, C, seed=1)
    with ScoreProbe(model) as probe:
        for batch in (x, y):
            model["second"](model["first"](batch))
    heads = probe.heads()
    assert [(h.module, h.head) for h in heads] == [("first.attention", h) for h in range(H)] + [
        ("second.attention", 0)
    ]
    assert heads[0].rows == B * T + 3 * S
    assert str(probe).splitlines()[4].startswith("second.attention    0")


def test_a_step_with_a_cache_sees_the_keys_before_it():
    module, x = make(), randn(B, T, C)
    with ScoreProbe(module) as full:
        module(x, causal=True)
    cache = module.make_cache(B, T)
    with ScoreProbe(module) as steps:
        for t in range(T):
            module(x[:, t : t + 1], causal=True, cache=cache)
    assert cache.length == T
    for a, b in zip(full.heads(), steps.heads(), strict=True):
        assert (a.rows, a.std, a.entropy) == pytest.approx((b.rows, b.std, b.entropy), rel=1e-4)


def test_a_decoder_has_a_line_for_each_layer_and_head():
    model = Decoder(13, T, 22, 2, 2).to(DEVICE)
    with ScoreProbe(model) as probe:
        model(torch.zeros(1, T, dtype=torch.long, device=DEVICE))
    assert len(probe.heads()) == 4


def test_the_table_is_rounded():
    head = ScoreStatistics("a.b", 1, 10, -0.0001, 1.004, 3.5, 0.25, 0.5, 0.125)
    assert score_table([head]).splitlines()[1].split() == [
        *("a.b", "1", "0.00", "1.00", "3.50", "0.25", "0.50", "0.12")
    ]


def test_errors_say_what_must_hold():
    with pytest.raises(TypeError, match=r"model must be a torch.nn.Module, got list"):
        ScoreProbe([])
    with pytest.raises(ValueError, match="must hold a MultiHeadAttention to watch, got none in Linear; copy"):
        ScoreProbe(nn.Linear(2, 2))
    with pytest.raises(RuntimeError, match="nothing was seen: run the model inside"):
        ScoreProbe(make()).heads()
    with pytest.raises(ValueError, match=r"scores must be \(B, H, T, S\), got \(2, 3\)"):
        score_statistics(torch.zeros(2, 3))
    with pytest.raises(TypeError, match=r"scores must be a torch.Tensor"):
        score_statistics([1.0])
    with pytest.raises(ValueError, match="a head of scores must have a row with two visible keys, got none"):
        score_statistics(torch.zeros(1, 1, 1, 1))


def test_a_sink_is_no_score_of_a_key():
    torch.manual_seed(0)
    layer, x = MultiHeadAttention(12, 3, sink=True), torch.randn(2, 5, 12)
    with ScoreProbe(layer) as probe:
        layer(x)
    layer.sink = None
    with ScoreProbe(layer) as plain:
        layer(x)
    assert str(probe) == str(plain)
