"""Exercises on many heads."""

from __future__ import annotations

import torch
from torch import Tensor

from attnlib.functional import attention
from attnlib.instruments.cost import multihead_flops, multihead_parameters
from attnlib.learn.calling import call
from attnlib.learn.grading import Calls, Exercise, compare, numbers


def _random(*shape: int, seed: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), device="cpu")


def _whole(answer: object) -> float:
    """Read a single number."""
    got = numbers(answer)
    if got.numel() != 1:
        raise TypeError(f"a single number is asked, got {got.numel()} of them")
    return got.item()


def parameters(answer: object) -> str | None:
    """Grade the number of parameters."""
    for C, H, Hkv, bias in ((12, 3, 3, False), (12, 3, 3, True), (12, 4, 2, False), (512, 8, 1, True)):
        kv = C // H * Hkv
        right = multihead_parameters(C, H, Hkv=Hkv, bias=bias)
        got = _whole(call(answer, C, H, Hkv, bias))
        known = {
            H * right: "you count C² for each head; the heads share out one C by C matrix, whatever H is.",
            H
            * 4
            * C
            * C: "you count C² for each head; the heads share out one C by C matrix, whatever H is.",
            right - C * C - (C if bias else 0): "the matrix on the way out, W_O, is missing.",
            3 * C * C: "the matrix on the way out, W_O, is missing.",
            4
            * (C // H) ** 2
            * H: "each head projects the whole vector: its matrices are C by D, not D by D.",
            3 * (C // H) ** 2 * H
            + C * C: "each head projects the whole vector: its matrices are C by D, not D by D.",
        }
        if bias:
            known |= {
                right
                - 2 * C
                - 2 * kv: "the biases are missing: one for each number that a projection gives.",
                right
                - 2 * C
                - 2 * kv
                + 4 * C: "the biases of keys and values are as wide as those are, Hkv · D.",
                right - C: "there are four biases, one for each projection.",
            }
        if Hkv != H:
            known[4 * C * C + (4 * C if bias else 0)] = (
                "W_K and W_V are narrower when keys are shared: Hkv · D wide."
            )
            known[2 * C * C + 2 * C * Hkv + (2 * C + 2 * Hkv if bias else 0)] = (
                "W_K and W_V are Hkv · D wide: there are Hkv heads, and each is D = C / H wide."
            )  # fmt: skip
        if got != right:
            where = f"with C = {C}, H = {H}, Hkv = {Hkv}, bias = {bias}: "
            return where + known.get(got, f"it should be {right}, yours is {got:g}.")
    return None


def operations(answer: object) -> str | None:
    """Grade the floating-point operations of a forward pass."""
    for T, C, H in ((10, 12, 3), (100, 512, 8)):
        right, projections, mixing = multihead_flops(1, T, C, H), 8 * T * C * C, 4 * T * T * C
        got = _whole(call(answer, T, C, H))
        known = {
            right / 2: "a multiplication and an addition are two operations.",
            projections: "these are the four projections; scores and mixing are missing.",
            mixing: "these are scores and mixing; the four projections are missing.",
            projections * 3 / 4 + mixing: "the fourth projection, W_O, is missing.",
            projections + mixing / 2: "scores and mixing cost 2 T² C each; one of them is missing.",
            projections + H * mixing: "a head is D = C / H wide, so H heads cost as much as one of width C.",
            H * right: "a head is D = C / H wide, so H heads cost as much as one of width C.",
            H * projections + mixing: "the projections are C by C for all heads together.",
            projections + mixing / H: "that is one head's part of scores and mixing; there are H.",
            projections / T + mixing: "each of the T tokens is projected.",
        }
        if got != right:
            where = f"with T = {T}, C = {C}, H = {H}: "
            return where + known.get(got, f"it should be {right:,}, yours is {got:,.0f}.")
    return None


def merge(answer: object) -> str | None:
    """Grade the merging of heads to which the coordinates were dealt out in turn."""
    B, T, D, H = 2, 5, 4, 3
    x = _random(B, T, D * H, seed=0)
    heads = x.view(B, T, D, H).permute(0, 3, 1, 2).contiguous()  # (B, H, T, D)
    return compare(
        numbers(call(answer, heads.clone())),
        x.double(),
        [
            (heads.transpose(1, 2).flatten(2).double(), "this puts head after head; here neighbouring coordinates lie in different heads."),
            (heads.reshape(B, T, H * D).double(), "the shape is right, but `view` or `reshape` alone mixes the tokens: bring the axes in order first."),
            (x.mT.double(), "tokens and coordinates are turned round: (B, T, C)."),
            (x.view(B, T, D, H).double(), "the order is right; now join the last two axes."),
            (heads.transpose(1, 2).double(), "the heads are still an axis of their own: (B, T, C) is asked."),
            (heads.double(), "nothing is merged yet."),
            (heads.sum(1).double(), "the heads are added up; they hold different coordinates."),
        ],
    )  # fmt: skip


def repeat(answer: object) -> str | None:
    """Grade the repetition of shared heads."""
    k, H = _random(2, 3, 5, 4, seed=0), 6
    return compare(
        numbers(call(answer, k.clone(), H)),
        k.repeat_interleave(2, dim=1).double(),
        [
            (k.repeat(1, 2, 1, 1).double(), "the heads come as 0, 1, 2, 0, 1, 2: query heads 0 and 1 should share head 0. `repeat_interleave` does that."),
            (k.repeat_interleave(6, dim=1).double(), "each head is repeated H times; there are Hkv already, so H / Hkv are enough."),
            (k.repeat_interleave(2, dim=2).double(), "the keys are repeated; the heads are axis 1."),
            (k.repeat_interleave(2, dim=0).double(), "the batch is repeated; the heads are axis 1."),
            (k.double(), "nothing is repeated yet."),
        ],
    )  # fmt: skip


def score(answer: object) -> str | None:
    """Grade the score of each head for a relation."""
    weights = _random(3, 6, 6, seed=0).mul(2).softmax(-1)
    relation = torch.zeros(6, 6, dtype=torch.bool)
    relation[[1, 2, 4, 5], [0, 0, 3, 1]] = True
    found = (weights * relation).sum(-1).double()  # (3, 6)
    top = (weights.argmax(-1)[:, relation.any(-1)] == relation.float().argmax(-1)[relation.any(-1)]).double()
    right = found.sum(-1) / 4
    return compare(
        numbers(call(answer, weights.clone(), relation.clone())),
        right,
        [
            (found.mean(-1), "you average over all queries; for two of them the relation points nowhere, and they do not count."),
            (found.sum(-1), "you add up; divide by the number of queries for which the relation points somewhere."),
            ((weights * relation).mean((-1, -2)).double(), "you average over all pairs; each query counts once."),
            (top.mean(-1), "you count how often the largest weight is in the right place; the score is the weight itself."),
            (right.mean(), "you average over the heads too; each head has a score of its own."),
            (found, "these are the scores of each query; average over those for which it points somewhere."),
            (found[:, relation.any(-1)], "these are the scores of each query; average over them."),
            ((weights.mT * relation).sum((-1, -2)).double() / 4, "rows and columns are turned round: queries are rows."),
        ],
    )  # fmt: skip


def without(answer: object) -> str | None:
    """Grade the output of the layer without one of its heads."""
    heads, w_o, h = _random(2, 3, 5, 4, seed=0), _random(12, 12, seed=1), 1
    merged = heads.transpose(1, 2).flatten(2)
    keep = torch.ones(12)
    keep[4:8] = 0
    right = ((merged * keep) @ w_o).double()
    given = heads.clone()
    got = numbers(call(answer, given, w_o.clone(), h))
    unturned = heads.clone()
    unturned[:, h] = 0
    wrong = compare(
        got,
        right,
        [
            ((merged @ w_o).double(), "this is the output with every head."),
            ((merged * (1 - keep) @ w_o).double(), "this is what head h alone gives; it should be what the others give."),
            (right * 3 / 2, "the others are scaled up; a head that is removed leaves only its own part out."),
            ((merged @ (w_o * keep)).double(), "you clear columns of `w_o`, numbers of the output; the rows of `w_o` belong to the heads."),
            ((merged * keep).double(), "W_O is missing: the heads still have to be mixed by it."),
            (((merged * keep) @ w_o.T).double(), "`w_o` is transposed: vectors are rows, so it is `merged @ w_o`."),
            ((unturned.reshape(2, 5, 12) @ w_o).double(), "the heads are merged without swapping the axes of heads and tokens first."),
            (((merged * keep.roll(4)) @ w_o).double(), "this is without the next head: counting starts from 0."),
            (((merged * keep.roll(-4)) @ w_o).double(), "this is without the head before: counting starts from 0."),
        ],
    )  # fmt: skip
    if wrong is None and not torch.equal(given, heads):
        return "right, but it changes the tensor it was given: work on a copy."
    return wrong


def multi_head(answer: object) -> str | None:
    """Grade multi-head attention from four matrices."""
    B, T, C, H = 2, 6, 12, 3
    D = C // H
    x = _random(B, T, C, seed=0)
    w_q, w_k, w_v, w_o = (_random(C, C, seed=n) / 2 for n in (1, 2, 3, 4))

    def heads(y: Tensor, *, view: bool = False) -> Tensor:
        return y.view(B, H, T, D) if view else y.view(B, T, H, D).transpose(1, 2)

    def run(*, scale=D**-0.5, axis=-1, view=False, merge=True, out=True, turned="") -> Tensor:
        q, k, v = (heads(x @ (w.T if "in" in turned else w), view=view) for w in (w_q, w_k, w_v))
        mixed = (q @ k.mT * scale).softmax(axis) @ v
        mixed = mixed.transpose(1, 2).flatten(2) if merge else mixed.reshape(B, T, C)
        return (mixed @ (w_o.T if "out" in turned else w_o) if out else mixed).double()

    with Calls() as calls:
        got = numbers(call(answer, *(t.clone() for t in (x, w_q, w_k, w_v, w_o)), H))
    q, k, v = (heads(x @ w) for w in (w_q, w_k, w_v))
    sliced = attention(heads(x), heads(x), heads(x)).transpose(1, 2).flatten(2) @ w_o
    wrong = compare(
        got,
        run(),
        [
            (run(scale=C**-0.5), "you divide by √C, the width of the model; a head is D = C / H wide, so it is √D."),
            (run(scale=1.0), "the scores are not divided by √D."),
            (run(scale=1 / D), "you divide by D; its square root is enough."),
            (run(axis=-2), "the softmax runs over the queries; it should run over the keys, the last axis."),
            (run(axis=1), "the softmax runs over the heads; it should run over the keys, the last axis."),
            (run(view=True), "`view(B, H, T, D)` deals the tokens out to the heads: split the last axis, then swap tokens and heads."),
            (run(view=True, merge=False), "`view(B, H, T, D)` deals the tokens out to the heads: split the last axis, then swap tokens and heads."),
            (run(merge=False), "the heads are merged without swapping the axes of heads and tokens first."),
            *((run(turned=t), "a matrix is transposed: they stand on the right, `x @ w`, not `x @ w.T`.") for t in ("in, out", "in", "out")),
            (run(out=False), "W_O is missing: the merged heads are still to be mixed by it."),
            ((attention(x @ w_q, x @ w_k, x @ w_v) @ w_o).double(), "this is one head of width C; split into H heads first."),
            (sliced.double(), "these heads are slices of x; each should be a slice of a projection, `x @ w_q`."),
            ((attention(q, k, v).sum(1)).double(), "the heads are added up; they are to be put side by side."),
            (((q @ k.mT / D**0.5).softmax(-1)).double(), "these are the weights; mix the values with them, merge, and apply w_o."),
        ],
    )  # fmt: skip
    if wrong:
        return wrong
    if calls.names & {"multi_head_attention_forward", "_native_multi_head_attention"}:
        return "right, but it calls PyTorch's own; write out the steps."
    return None


def effect(answer: object) -> str | None:
    """Grade how far the output moves when a key is removed and the other weights fill the gap."""
    weights, values, j = _random(5, 4, seed=0).softmax(-1), _random(4, 3, seed=1), 2
    rest = weights.clone()
    rest[:, j] = 0
    out, holed = weights @ values, rest @ values
    kept = holed / rest.sum(-1, keepdim=True)
    given = weights.clone()
    got = numbers(call(answer, given, values.clone(), j))
    cleared = weights.clone()
    cleared[j] = 0
    others = torch.arange(4) != j
    by_column = weights[:, others] / weights[:, others].sum(0)
    if got.isnan().all():
        return "you divide by a sum of 0: that of column j. Each row, one query, is divided by its own sum."
    if got.shape[:1] == (5,) and got.isnan().reshape(5, -1).any(-1).tolist() == [n == j for n in range(5)]:
        return "you clear row j, which is a query; the keys are the columns."
    wrong = compare(
        got.squeeze(-1) if got.shape == (5, 1) else got,
        (out - kept).norm(dim=-1).double(),
        [
            ((out - holed).norm(dim=-1).double(), "the other weights no longer sum to one: divide them by their sum."),
            ((out - by_column @ values[others]).norm(dim=-1).double(), "you divide by the sums of columns; each row, one query, is divided by its own sum."),
            ((out - cleared @ values).norm(dim=-1).double(), "you clear row j, which is a query; the keys are the columns."),
            (kept.norm(dim=-1).double(), "this is the length of the new output; how far is it from the old one?"),
            (kept.double(), "this is the new output; how far is it from the old one?"),
            ((out - kept).double(), "this is the difference; its length is asked, one number for each query."),
            ((out - kept).square().sum(-1).double(), "this is the squared length; take the root."),
            (weights[:, j].double(), "this is the weight of the key; how far does the output move without it?"),
            ((out - kept).norm().double(), "this is one length for all queries; each has its own, over the last axis."),
            ((out - rest.softmax(-1) @ values).norm(dim=-1).double(), "weights are not scores: divide the rest by their sum, without a softmax."),
        ],
    )  # fmt: skip
    if wrong is None and not torch.equal(given, weights):
        return "right, but it changes the weights it was given: work on a copy."
    return wrong


def previous(answer: object) -> str | None:
    """Grade the matrix with which every place looks at the one before."""
    for T in (4, 7):
        w_q = numbers(call(answer, T))
        if w_q.shape != (T, T):
            return f"with T = {T}: the matrix should be {(T, T)}, a row for each place, yours is {tuple(w_q.shape)}."
        weights = (w_q / T**0.5).softmax(-1)  # places are one-hot, so row i is the query of place i
        if weights.isnan().any():
            return "there is a NaN in the weights: the matrix must hold finite numbers."
        found, places = weights.diagonal(-1), torch.arange(1, T)
        if found.min() >= 0.99:
            continue
        if (weights.diagonal(1).min() >= 0.5) or (weights.argmax(-1)[:-1] == places).all():
            return "every place looks at the next one: row i of `w_q` is what place i asks for, and it wants column i - 1."
        if (weights.argmax(-1)[1:] == places).all():
            return "every place looks at itself: the 1 in row i must stand in column i - 1."
        if (weights.argmax(-1)[1:] == places - 1).all():
            least = found.min().item()
            return f"with T = {T}: the right places, but not firmly: a weight of {least:.2f} instead of 0.99. Make the scores larger."
        off = int(places[weights.argmax(-1)[1:] != places - 1][0])
        seen = int(weights.argmax(-1)[off])
        return f"with T = {T}: place {off}, counted from 0, looks most at place {seen}, not at {off - 1}."
    return None


EXERCISES = [
    Exercise(
        "5.2", "Count the parameters", "easy", 6,
        (
            "Four projections: W_Q and W_O are C by C; W_K and W_V are C by Hkv · D, with D = C // H.",
            "A projection with a bias has one more number for each number it gives.",
        ),
        parameters,
        "With Hkv = H it is 4 C², however many heads there are; sharing keys and values makes two of the four smaller.",
    ),
    Exercise(
        "5.3", "Count the operations", "easy", 6,
        (
            "A product of (n, k) and (k, m) takes 2 n k m operations.",
            "Four projections of T tokens: 2 T C² each. One head's scores: 2 T² D, and as many for mixing the values.",
            "H heads of width D = C / H: add up, and H is gone.",
        ),
        operations,
        "H cancels: more heads are narrower heads.",
    ),
    Exercise(
        "5.5", "Merge what was dealt", "medium", 8,
        (
            "In the result, which head does coordinate 0 of a token come from? And 1, 2, 3?",
            "Of two axes that are joined, the last one changes fastest. Here that must be the axis of heads.",
        ),
        merge,
        "Blocks or dealt out in turn: both are used, and the shape does not tell which.",
    ),
    Exercise(
        "5.6", "Repeat the keys", "medium", 5,
        (
            "Each head is needed H // Hkv times, one after the other: 0, 0, 1, 1, 2, 2.",
            "`repeat_interleave` repeats each; `repeat` repeats the whole.",
        ),
        repeat,
        "Which query head shares with which is a convention, and the wrong one runs without a word.",
    ),
    Exercise(
        "5.7", "Score a head", "medium", 8,
        (
            "`weights * relation` keeps what lies where the relation points; add up over the keys.",
            "`relation.any(-1)` says for which queries it points somewhere; divide by how many those are.",
        ),
        score,
        "A score of 1 says where a head looks. What the layer makes of it is another question.",
    ),
    Exercise(
        "5.8", "Without one head", "medium", 8,
        (
            "The output is a sum with one summand a head: leave one out, or make it zero.",
            "A head of zeros adds nothing. Work on a copy, then merge as the layer does.",
        ),
        without,
        "The output of the layer is a sum with one summand a head. Removing a head leaves one summand out.",
    ),
    Exercise(
        "5.9", "Multi-head attention from nothing", "hard", 15,
        (
            "Project the whole x three times, split each into heads (B, H, T, D), attend, merge, project once more.",
            "The scores are `q @ k.transpose(-2, -1) / D ** 0.5` with D = C // H; the softmax runs over the last axis.",
            "Merge with `.transpose(1, 2).flatten(2)` and finish with `@ w_o`.",
        ),
        multi_head,
        "That is the layer of every transformer.",
    ),
    Exercise(
        "5.10", "What a key moves", "hard", 12,
        (
            "Copy the weights, set column j to zero, divide each row by its sum.",
            "The old output is `weights @ values`, the new one `rest @ values`; `(old - new).norm(dim=-1)`.",
        ),
        effect,
        "It is w / (1 - w) times the distance of that value from the output: the weight alone does not decide.",
    ),
    Exercise(
        "5.11", "A head that looks back", "medium", 10,
        (
            "Row i of `w_q` is the query of place i. Its score with place j is its number in column j, over √T.",
            "So put a large number into column i - 1 of row i: one below the diagonal.",
            "With s the score, the weight is e^s / (e^s + T - 1): s = 10 is enough for both lengths. That is before dividing by √T.",
        ),
        previous,
        "Content plays no part in it: such a head copies from its left neighbour whatever stands there. Two layers later that is half of a rule that repeats what it has seen.",
    ),
]  # fmt: skip
