"""How FlashAttention over pieces is told of a rule. It needs CUDA; elsewhere loops over the pieces take its place."""

import pytest
import torch

from attnlib import MaskRule, attention
from attnlib._plan import Plan
from attnlib.backends import varlen
from tests import DEVICE, assert_close, randn
from tests.test_mask_rules import RULES, some_rule


def piece_by_piece(
    q, k, v, starts_q, starts_k, longest_q, longest_k, *, scale, window_size, enable_gqa=False
):
    """What `varlen_attn` says it computes: each piece alone, its last query aligned with its last key."""
    out = torch.full((*q.shape[:-1], v.shape[-1]), torch.nan, dtype=q.dtype, device=q.device)
    assert enable_gqa == (q.shape[1] != k.shape[1])
    before, after = window_size
    for n in range(len(starts_q) - 1):
        rows, columns = slice(*starts_q[n : n + 2].tolist()), slice(*starts_k[n : n + 2].tolist())
        one = [x[s].transpose(0, 1)[None] for x, s in ((q, rows), (k, columns), (v, columns))]
        T, S = one[0].shape[2], one[1].shape[2]
        assert longest_q >= T
        assert longest_k >= S
        i = torch.arange(T, device=q.device)[:, None] + S - T
        j = torch.arange(S, device=q.device)
        seen = (i - j <= (before if before >= 0 else S + T)) & (j - i <= (after if after >= 0 else S + T))
        out[rows] = attention(*one, seen, scale=scale)[0].transpose(0, 1)
    assert not out.isnan().any()
    return out


SAID = [
    name for name in RULES if "prefix" not in name and name not in ("everything", "documents in no order")
]


@pytest.mark.parametrize("kv_heads", [4, 2])
@pytest.mark.parametrize("lengths", [(7, 7), (4, 7), (7, 4)])
@pytest.mark.parametrize("name", SAID)
def test_pieces_and_a_window_say_what_the_rule_says(name, lengths, kv_heads, monkeypatch):
    (T, S), rule = lengths, some_rule(name, lengths[1])
    if rule.documents is not None:
        rule = MaskRule(causal=rule.causal, documents=rule.documents.sort(-1).values)
    plan = Plan(
        randn(2, 4, T, 8), randn(2, kv_heads, S, 8, seed=1), randn(2, kv_heads, S, 8, seed=2), None, rule
    )
    if rule.documents is not None and T != S:
        assert not varlen.says(rule, plan)
        return
    assert varlen.says(rule, plan)
    monkeypatch.setattr(varlen, "function", lambda: piece_by_piece)
    assert_close(varlen.run(plan), attention(plan.q, plan.k, plan.v, rule.table(T, S, device=DEVICE)))
    assert_close(
        varlen.run(plan._replace(scale=0.3)), attention(*plan[:3], rule.table(T, S, device=DEVICE), scale=0.3)
    )


@pytest.mark.parametrize(
    "rule",
    [
        MaskRule(causal=True, prefix=2),
        MaskRule(causal=True, also=(MaskRule(window=2),)),
        MaskRule(causal=True, lengths=[3, 7]),
        MaskRule(window=2, lengths=[3, 7]),
        MaskRule(ahead=2, lengths=[3, 7]),
        MaskRule(lengths=[3, 7], documents=[0] * 7),
        MaskRule(documents=[0, 0, 1, 1, 0, 0, 0]),
        MaskRule(documents=[[0, 0, 1, 1, 2, 2, 2], [0, 1, 0, 1, 1, 1, 1]]),
    ],
)
def test_what_pieces_cannot_say_is_known(rule):
    x = randn(2, 2, 7, 4)
    assert not varlen.says(rule, Plan(x, x, x, None, rule))


def test_pieces_of_documents_are_cut_once_and_again_when_they_change():
    documents = torch.tensor([[0, 0, 1, 2, 2], [5, 3, 3, 3, 3]], device=DEVICE)
    pieces = varlen.document_pieces(documents)
    assert pieces.q.tolist() == pieces.k.tolist() == [0, 2, 3, 5, 6, 10]
    assert pieces.q.dtype == torch.int32
    assert (pieces.longest_q, pieces.longest_k) == (4, 4)
    assert varlen.document_pieces(documents) is pieces
    documents[0, 1] = 1
    assert varlen.document_pieces(documents).q.tolist() == [0, 1, 3, 5, 6, 10]
    others = [torch.tensor([0, i], device=DEVICE) for i in range(20)]
    assert [len(varlen.document_pieces(x).q) for x in others] == [2] + [3] * 19
    assert len(varlen._kept) <= 8
    assert varlen.document_pieces(documents).q.tolist() == [0, 1, 3, 5, 6, 10]


@pytest.mark.parametrize(("B", "axes"), [(1, 1), (3, 1), (1, 2), (3, 2)])
def test_one_row_of_documents_serves_every_sequence(B, axes):
    documents = torch.tensor([0, 0, 1], device=DEVICE)
    rule = MaskRule(documents=documents if axes == 1 else documents[None])
    pieces = varlen.pieces_of(rule, B, 3, 3, DEVICE)
    want = [0] + [3 * b + n for b in range(B) for n in (2, 3)]
    assert pieces.q.tolist() == pieces.k.tolist() == want


def test_it_takes_what_it_computes_and_no_more():
    x = randn(2, 2, 7, 16)
    plan = Plan(x, x, x, None, MaskRule(causal=True, window=2))
    assert not varlen.can(plan)  # float64
    half = plan._replace(q=x.bfloat16(), k=x.bfloat16(), v=x.bfloat16())
    assert varlen.can(half) == (DEVICE.type == "cuda" and varlen.function() is not None)
    for change in ({"v": x[..., :8].bfloat16()}, {"rule": None}, {"rule": MaskRule(prefix=1, causal=True)}):
        assert not varlen.can(half._replace(**change))


@pytest.mark.skipif(DEVICE.type != "cuda", reason="its kernels need CUDA")
@pytest.mark.parametrize("name", SAID)
def test_pieces_on_a_gpu_are_right(name):
    rule = some_rule(name, 300)
    x = [randn(2, 4, 300, 64, seed=i).bfloat16().requires_grad_() for i in range(3)]
    plan = Plan(*x, None, rule)
    if not varlen.can(plan):
        pytest.skip("this PyTorch has no such kernel for it")
    got, want = varlen.run(plan), attention(*x, rule.table(300, device=DEVICE))
    assert_close(got, want, rtol=0.02, atol=0.02)
    for a, b in zip(torch.autograd.grad(got.sum(), x), torch.autograd.grad(want.sum(), x), strict=True):
        assert_close(a, b, rtol=0.05, atol=0.05)
