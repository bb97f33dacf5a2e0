"""Exercises on many heads."""

from __future__ import annotations

import torch
from torch import Tensor

from attnlib.functional import attention, attention_weights
from attnlib.instruments.cost import multihead_flops, multihead_parameters
from attnlib.learn.calling import AnswerError, call
from attnlib.learn.grading import Exercise, by_cases, name_number, normal, numbers, single


def _wrong_parameters(C: int, H: int, Hkv: int, bias: bool) -> list[tuple[float, str]]:
    """Return the mistakes people make in counting parameters."""
    D, kv, right = C // H, C // H * Hkv, multihead_parameters(C, H, Hkv=Hkv, bias=bias)
    each = "you count C² for each head; the heads share out one C by C matrix, whatever H is."
    out = "the matrix on the way out, W_O, is missing."
    small = "each head projects the whole vector: its matrices are C by D, not D by D."
    known = [
        (H * right, each),
        (H * 4 * C * C, each),
        (right - C * C - (C if bias else 0), out),
        (3 * C * C, out),
        (4 * D**2 * H, small),
        (3 * D**2 * H + C * C, small),
    ]
    if bias:
        known += [
            (right - 2 * C - 2 * kv, "the biases are missing: one for each number that a projection gives."),
            (right + 2 * C - 2 * kv, "the biases of keys and values are as wide as those are, Hkv · D."),
            (right - C, "there are four biases, one for each projection."),
        ]
    if Hkv != H:
        known += [
            (4 * C * (C + bias), "W_K and W_V are narrower when keys are shared: Hkv · D wide."),
            (2 * (C + Hkv) * (C + bias), "W_K and W_V are Hkv · D wide: there are Hkv heads, and each is D = C / H wide."),
        ]  # fmt: skip
    return known


def parameters(answer: object) -> str | None:
    """Grade the number of parameters."""
    for C, H, Hkv, bias in ((12, 3, 3, False), (12, 3, 3, True), (12, 4, 2, False), (512, 8, 1, True)):
        right = multihead_parameters(C, H, Hkv=Hkv, bias=bias)
        where = f"with C = {C}, H = {H}, Hkv = {Hkv}, bias = {bias}: "
        got = single(call(answer, C, H, Hkv, bias))
        wrong = name_number(got, right, _wrong_parameters(C, H, Hkv, bias), where)
        if wrong:
            return wrong
    return None


def operations(answer: object) -> str | None:
    """Grade the floating-point operations of a forward pass."""
    for T, C, H in ((10, 12, 3), (100, 512, 8), (7, 22, 2)):
        right, projections, mixing = multihead_flops(1, T, C, H), 8 * T * C * C, 4 * T * T * C
        narrow = "a head is D = C / H wide, so H heads cost as much as one of width C."
        known = [
            (right / 2, "a multiplication and an addition are two operations."),
            (projections, "these are the four projections; scores and mixing are missing."),
            (mixing, "these are scores and mixing; the four projections are missing."),
            (projections * 3 / 4 + mixing, "the fourth projection, W_O, is missing."),
            (projections + mixing / 2, "scores and mixing cost 2 T² C each; one of them is missing."),
            (projections + H * mixing, narrow),
            (H * right, narrow),
            (H * projections + mixing, "the projections are C by C for all heads together."),
            (projections + mixing / H, "that is one head's part of scores and mixing; there are H."),
            (projections / T + mixing, "each of the T tokens is projected."),
        ]
        wrong = name_number(single(call(answer, T, C, H)), right, known, f"with T = {T}, C = {C}, H = {H}: ")
        if wrong:
            return wrong
    return None


def _dealt(heads: Tensor) -> Tensor:
    return heads.permute(0, 2, 3, 1).flatten(2)


def merge(answer: object) -> str | None:
    """Grade the merging of heads to which the coordinates were dealt out in turn."""
    cases = [(normal(*shape, seed=0),) for shape in ((2, 3, 5, 4), (3, 2, 7, 5), (5, 7, 2, 3))]
    mistakes = [
        (lambda x: x.transpose(1, 2).flatten(2), "this puts head after head; here neighbouring coordinates lie in different heads."),
        (lambda x: x.reshape(x.shape[0], x.shape[2], -1), "the shape is right, but `view` or `reshape` alone mixes the tokens: bring the axes in order first."),
        (lambda x: _dealt(x).mT, "tokens and coordinates are turned round: (B, T, C)."),
        (lambda x: x.permute(0, 2, 3, 1), "the order is right; now join the last two axes."),
        (lambda x: x.transpose(1, 2), "the heads are still an axis of their own: (B, T, C) is asked."),
        (lambda x: x, "nothing is merged yet."),
        (lambda x: x.sum(1), "the heads are added up; they hold different coordinates."),
    ]  # fmt: skip
    return by_cases(answer, _dealt, cases, mistakes)


def repeat(answer: object) -> str | None:
    """Grade the repetition of shared heads."""
    cases = [
        (normal(*shape, seed=0), H) for shape, H in (((2, 3, 5, 4), 6), ((3, 2, 7, 5), 10), ((2, 7, 3, 2), 7))
    ]
    mistakes = [
        (lambda k, H: k.repeat(1, H // k.shape[1], 1, 1), "the heads come as 0, 1, 2, 0, 1, 2: query heads 0 and 1 should share head 0. `repeat_interleave` does that."),
        (lambda k, H: k.repeat_interleave(H, dim=1), "each head is repeated H times; there are Hkv already, so H / Hkv are enough."),
        (lambda k, H: k.repeat_interleave(2, dim=1), "each head is repeated twice, whatever H is: it is needed H / Hkv times."),
        (lambda k, H: k.repeat_interleave(H // k.shape[1], dim=2), "the keys are repeated; the heads are axis 1."),
        (lambda k, H: k.repeat_interleave(H // k.shape[1], dim=0), "the batch is repeated; the heads are axis 1."),
        (lambda k, H: k, "nothing is repeated yet."),
        (lambda k, H: k.repeat(1, H, 1, 1), "all heads are repeated H times; there are Hkv already, so H / Hkv are enough."),
        (lambda k, H: k.repeat_interleave(H // k.shape[1], dim=-1), "the numbers of a key are repeated; the heads are axis 1."),
        (lambda k, H: k[:, :1].expand(-1, H, -1, -1), "all query heads share head 0; each of the Hkv heads serves H / Hkv of them."),
        (lambda k, H: k.mean(1, keepdim=True).expand(-1, H, -1, -1), "you average the heads; each serves H / Hkv query heads as it is."),
    ]  # fmt: skip
    return by_cases(answer, lambda k, H: k.repeat_interleave(H // k.shape[1], dim=1), cases, mistakes)


def _found(weights: Tensor, relation: Tensor) -> Tensor:
    return (weights * relation).sum(-1)


def _score(weights: Tensor, relation: Tensor) -> Tensor:
    return _found(weights, relation)[:, relation.any(-1)].mean(-1)


def _hits(weights: Tensor, relation: Tensor) -> Tensor:
    return (weights.argmax(-1) == relation.float().argmax(-1))[:, relation.any(-1)].float().mean(-1)


def score(answer: object) -> str | None:
    """Grade the score of each head for a relation."""
    cases = []
    for H, T, S, pairs in (
        (3, 6, 6, [(1, 0), (2, 0), (4, 3), (5, 1)]),
        (2, 5, 7, [(0, 6), (0, 1), (3, 2)]),
        (5, 3, 2, [(2, 1)]),
    ):
        relation = torch.zeros(T, S, dtype=torch.bool)
        relation[tuple(zip(*pairs, strict=True))] = True
        cases.append((normal(H, T, S, seed=0).mul(2).softmax(-1), relation))
    mistakes = [
        (lambda w, r: _found(w, r).mean(-1), "you average over all queries; for two of them the relation points nowhere, and they do not count."),
        (lambda w, r: _found(w, r).sum(-1), "you add up; divide by the number of queries for which the relation points somewhere."),
        (lambda w, r: (w * r).mean((-1, -2)), "you average over all pairs; each query counts once."),
        (_hits, "you count how often the largest weight is in the right place; the score is the weight itself."),
        (lambda w, r: _score(w, r).mean(), "you average over the heads too; each head has a score of its own."),
        (_found, "these are the scores of each query; average over those for which it points somewhere."),
        (lambda w, r: _found(w, r)[:, r.any(-1)], "these are the scores of each query; average over them."),
        (lambda w, r: (w.mT * r).sum((-1, -2)) / r.any(-1).sum(), "rows and columns are turned round: queries are rows."),
        (lambda w, r: _found(w, r).sum(-1) / r.sum(), "you divide by the number of pairs; a query that may look at two keys counts once."),
        (lambda w, r: _score(w, ~r), "you add up the weights where the relation does not point."),
    ]  # fmt: skip
    return by_cases(answer, _score, cases, mistakes)


def _cleared(heads: Tensor, h: int) -> Tensor:
    heads = heads.clone()
    heads[:, h % heads.shape[1]] = 0
    return heads


def _merged(heads: Tensor) -> Tensor:
    return heads.transpose(1, 2).flatten(2)


def _without(heads: Tensor, w_o: Tensor, h: int) -> Tensor:
    return _merged(_cleared(heads, h)) @ w_o


def _columns_cleared(heads: Tensor, w_o: Tensor, h: int) -> Tensor:
    out = _merged(heads) @ w_o
    out.unflatten(-1, (heads.shape[1], -1))[:, :, h] = 0
    return out


def without(answer: object) -> str | None:
    """Grade the output of the layer without one of its heads."""
    cases = [
        (normal(B, H, T, D, seed=0), normal(H * D, H * D, seed=1), h)
        for B, H, T, D, h in ((2, 3, 5, 4, 1), (3, 2, 7, 5, 0), (2, 5, 3, 2, 4))
    ]
    mistakes = [
        (lambda x, w, h: _merged(x) @ w, "this is the output with every head."),
        (lambda x, w, h: _merged(x) @ w - _without(x, w, h), "this is what head h alone gives; it should be what the others give."),
        (lambda x, w, h: _without(x, w, h) * x.shape[1] / (x.shape[1] - 1), "the others are scaled up; a head that is removed leaves only its own part out."),
        (_columns_cleared, "you clear columns of `w_o`, numbers of the output; the rows of `w_o` belong to the heads."),
        (lambda x, w, h: _merged(_cleared(x, h)), "W_O is missing: the heads still have to be mixed by it."),
        (lambda x, w, h: _without(x, w.T, h), "`w_o` is transposed: vectors are rows, so it is `merged @ w_o`."),
        (lambda x, w, h: _cleared(x, h).reshape(len(x), x.shape[2], -1) @ w, "the heads are merged without swapping the axes of heads and tokens first."),
        (lambda x, w, h: _without(x, w, h + 1), "this is without the next head: counting starts from 0."),
        (lambda x, w, h: _without(x, w, h - 1), "this is without the head before: counting starts from 0."),
    ]  # fmt: skip
    return by_cases(answer, _without, cases, mistakes)


def _layer(*, scale=None, axis=-1, view=False, merge=True, out=True, turned="") -> object:
    """Return multi-head attention from four matrices, with a mistake."""

    def run(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor, H: int) -> Tensor:
        B, T, C = x.shape
        D = C // H
        q, k, v = (x @ (w.T if "in" in turned else w) for w in (w_q, w_k, w_v))
        q, k, v = (y.view(B, H, T, D) if view else y.view(B, T, H, D).transpose(1, 2) for y in (q, k, v))
        mixed = (q @ k.mT * (scale(C, D) if scale else D**-0.5)).softmax(axis) @ v
        mixed = _merged(mixed) if merge else mixed.reshape(B, T, C)
        return mixed @ (w_o.T if "out" in turned else w_o) if out else mixed

    return run


def _heads(x: Tensor, H: int) -> Tensor:
    return x.unflatten(-1, (H, -1)).transpose(1, 2)


def multi_head(answer: object) -> str | None:
    """Grade multi-head attention from four matrices."""
    cases = [
        (normal(B, T, C, seed=0), *(normal(C, C, seed=n) / 2 for n in (1, 2, 3, 4)), H)
        for B, T, C, H in ((2, 6, 12, 3), (3, 5, 14, 2), (2, 3, 10, 5))
    ]
    dealt = "`view(B, H, T, D)` deals the tokens out to the heads: split the last axis, then swap tokens and heads."
    mistakes = [
        (_layer(scale=lambda C, D: C**-0.5), "you divide by √C, the width of the model; a head is D = C / H wide, so it is √D."),
        (_layer(scale=lambda C, D: 1.0), "the scores are not divided by √D."),
        (_layer(scale=lambda C, D: 1 / D), "you divide by D; its square root is enough."),
        (_layer(axis=-2), "the softmax runs over the queries; it should run over the keys, the last axis."),
        (_layer(axis=1), "the softmax runs over the heads; it should run over the keys, the last axis."),
        (_layer(view=True), dealt),
        (_layer(view=True, merge=False), dealt),
        (_layer(merge=False), "the heads are merged without swapping the axes of heads and tokens first."),
        *((_layer(turned=t), "a matrix is transposed: they stand on the right, `x @ w`, not `x @ w.T`.") for t in ("in, out", "in", "out")),
        (_layer(out=False), "W_O is missing: the merged heads are still to be mixed by it."),
        (lambda x, a, b, c, d, H: attention(x @ a, x @ b, x @ c) @ d, "this is one head of width C; split into H heads first."),
        (lambda x, a, b, c, d, H: _merged(attention(*[_heads(x, H)] * 3)) @ d, "these heads are slices of x; each should be a slice of a projection, `x @ w_q`."),
        (lambda x, a, b, c, d, H: attention(*(_heads(x @ w, H) for w in (a, b, c))).sum(1), "the heads are added up; they are to be put side by side."),
        (lambda x, a, b, c, d, H: attention_weights(_heads(x @ a, H), _heads(x @ b, H)), "these are the weights; mix the values with them, merge, and apply w_o."),
    ]  # fmt: skip
    own = (
        {"multi_head_attention_forward", "_native_multi_head_attention"},
        "it calls PyTorch's own; write out the steps.",
    )
    return by_cases(answer, _layer(), cases, mistakes, ready_made=own)


def _rest(weights: Tensor, j: int) -> Tensor:
    weights = weights.clone()
    weights[:, j] = 0
    return weights


def _row_cleared(weights: Tensor, j: int) -> Tensor:
    return _rest(weights.T, j).T


def _kept(weights: Tensor, values: Tensor, j: int) -> Tensor:
    rest = _rest(weights, j)
    return rest / rest.sum(-1, keepdim=True) @ values


def _moved(new: object) -> object:
    """Return how far outputs ``new(weights, values, j)`` are from the old ones."""
    return lambda w, v, j: (w @ v - new(w, v, j)).norm(dim=-1)


def _by_columns(weights: Tensor, values: Tensor, j: int) -> Tensor:
    others = torch.arange(len(values)) != j
    return weights[:, others] / weights[:, others].sum(0) @ values[others]


def _per_query(got: object) -> Tensor:
    """Read a length for each query, and name the two mistakes that end in NaN."""
    got = numbers(got)
    if got.isnan().all():
        raise AnswerError(
            "you divide by a sum of 0: that of column j. Each row, one query, is divided by its own sum."
        )
    if got.isnan().any():
        raise AnswerError(
            "a row was divided by its sum, which is 0. Did you clear row j? It is a query; the keys are the columns."
        )
    return got.squeeze(-1) if got.ndim == 2 else got


def effect(answer: object) -> str | None:
    """Grade how far the output moves when a key is removed and the other weights fill the gap."""
    cases = [
        (normal(T, S, seed=0).softmax(-1), normal(S, D, seed=1), j)
        for T, S, D, j in ((5, 4, 3, 2), (3, 7, 2, 0), (2, 3, 11, 1))
    ]
    mistakes = [
        (_moved(lambda w, v, j: _rest(w, j) @ v), "the other weights no longer sum to one: divide them by their sum."),
        (_moved(_by_columns), "you divide by the sums of columns; each row, one query, is divided by its own sum."),
        (_moved(lambda w, v, j: _row_cleared(w, j) @ v), "you clear row j, which is a query; the keys are the columns."),
        (lambda w, v, j: _kept(w, v, j).norm(dim=-1), "this is the length of the new output; how far is it from the old one?"),
        (_kept, "this is the new output; how far is it from the old one?"),
        (lambda w, v, j: w @ v - _kept(w, v, j), "this is the difference; its length is asked, one number for each query."),
        (lambda w, v, j: _moved(_kept)(w, v, j) ** 2, "this is the squared length; take the root."),
        (lambda w, v, j: w[:, j], "this is the weight of the key; how far does the output move without it?"),
        (lambda w, v, j: (w @ v - _kept(w, v, j)).norm(), "this is one length for all queries; each has its own, over the last axis."),
        (_moved(lambda w, v, j: _rest(w, j).softmax(-1) @ v), "weights are not scores: divide the rest by their sum, without a softmax."),
    ]  # fmt: skip
    return by_cases(answer, _moved(_kept), cases, mistakes, read=_per_query)


def previous(answer: object) -> str | None:
    """Grade the matrix with which every place looks at the one before."""
    for T in (4, 7, 13):
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
