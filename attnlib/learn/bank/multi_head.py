"""Exercises on many heads."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import one_hot

from attnlib.functional import attention, attention_scores, attention_weights
from attnlib.instruments.cost import multihead_parameters
from attnlib.learn.calling import AnswerError, call
from attnlib.learn.grading import Exercise, by_cases, close, listed, name_number, normal, numbers, single


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


PAIRS = torch.tensor([(a, b) for a in range(4) for b in range(4) if a != b])  # the 12 questions
AGES = torch.cartesian_prod(*[torch.arange(4)] * 4)  # of the four children, (256, 4)
THERE = torch.stack([torch.ones(12, 4).bool(), one_hot(PAIRS, 4).sum(1).bool()])  # all, or who is asked for


def _four_matrices(answer: object) -> Tensor:
    """Read w_q, w_k, w_v and w_o, (4, 8, 8).

    Raises:
        AnswerError: If they have another form.
    """
    names = "w_q", "w_k", "w_v", "w_o"
    if isinstance(answer, Mapping) and set(answer) == set(names):
        answer = [answer[name] for name in names]
    if not isinstance(answer, (list, tuple, Tensor, np.ndarray)) or len(answer) != 4:
        raise AnswerError("four matrices are asked, w_q, w_k, w_v and w_o, in a list.")
    matrices = [numbers(one) for one in answer]
    for name, w in zip(names, matrices, strict=True):
        if w.shape != (8, 8):
            raise AnswerError(f"{name} should be (8, 8), it is {tuple(w.shape)}.")
        if not w.isfinite().all():
            raise AnswerError(f"the numbers of {name} must be finite.")
    return torch.stack(matrices)


def _ask_two_heads(matrices: Tensor, scale: float = 0.5) -> tuple[Tensor, Tensor]:
    """Put all questions to all families: what the layer returns, (2, 256, 12, 8), and weights (2, 256, 12, 2, 4)."""
    w_q, w_k, w_v, w_o = matrices
    children = torch.cat([torch.eye(4).expand(256, 4, 4), one_hot(AGES, 4)], -1).double()
    q = (one_hot(PAIRS, 4).flatten(1).double() @ w_q).unflatten(-1, (2, 4))  # (12, 2, 4)
    k, v = ((children @ w).unflatten(-1, (2, 4)) for w in (w_k, w_v))  # (256, 4, 2, 4)
    scores = torch.einsum("qhd,fshd->fqhs", q, k) * scale
    weights = scores.masked_fill(~THERE[:, None, :, None], -torch.inf).softmax(-1)
    return torch.einsum("pfqhs,fshd->pfqhd", weights, v).flatten(-2) @ w_o, weights


def _other_halves(first: Tensor, second: Tensor) -> list[tuple[Tensor, str]]:
    """Return what known mistakes make of the two halves of the output, each with its words."""
    none, middle, both = torch.zeros_like(first), (first + second) / 2, first + second
    names = one_hot(PAIRS, 4).double().flatten(1).expand(256, 12, 8)
    shares = THERE.double() / THERE.sum(-1, keepdim=True)
    even = torch.einsum("pqs,fsa->pfqa", shares, one_hot(AGES, 4).double())
    halves = [
        (second, first, "the ages have changed places: that of the first child stands first."),
        (first, first, "both halves hold the age of the first child: do both heads ask for the first name, or is one head read twice?"),
        (second, second, "both halves hold the age of the second child: do both heads ask for the second name, or is one head read twice?"),
        (first, none, "the second half stays empty: what head 2 brings gets lost, in w_v or in w_o."),
        (none, second, "the first half stays empty: what head 1 brings gets lost, in w_v or in w_o."),
        (second, none, "only the age of the second child arrives, and in the first half."),
        (none, first, "only the age of the first child arrives, and in the second half."),
        (middle, middle, "both halves hold the mean of the two ages: a head that asks for two names at once brings one average. Let each ask for one."),
        (both, both, "each half holds both ages, added up: w_o puts both heads into both halves."),
        (both, none, "both ages arrive in the first half, added up: w_o should put head 2 into the second."),
        (none, both, "both ages arrive in the second half, added up: w_o should put head 1 into the first."),
        (none, none, "the layer returns zeros: is there an age in the values, and a way through w_o?"),
        (even, even, "every child gets the same weight: a score must be larger where the name asked for is the child's. Do the two meet in the same columns?"),
    ]  # fmt: skip
    return [
        (names, "these are names: the values should hold ages, the last four numbers of a child."),
        *((torch.cat([a, b], -1), words) for a, b, words in halves),
    ]


def _where_two_heads_look(out: Tensor, weights: Tensor, right: Tensor) -> str:
    """Say what is wrong with the weights of two heads; if nothing is, that it lies in what they bring."""
    if (weights - weights[:, :1]).abs().max() > 1e-3:
        return "the weights change with the ages of the children: a key should hold the name alone."
    weights = weights[0, 0]  # (12, 2, 4), with all four children
    on = torch.stack([weights[range(12), :, PAIRS[:, n]] for n in (0, 1)])  # (2 asked for, 12, 2 heads)
    most, next_most = weights.topk(2).values.unbind(-1)
    looks = ((on >= most) & (most > next_most + 1e-6)).all(1)  # (2 asked for, 2 heads): always there most
    for n, name in enumerate(("first", "second")):
        if looks[n].all() and not looks[1 - n].any():
            return f"both heads look at the child that is asked for {name}."
    if not (looks.any(0).all() and looks.any(1).all()):
        (a, b), (c, d) = weights[0, :, :2].tolist()  # asked for the first two names
        return f"with four children, asked for the first two names: head 1 gives them {a:.2f} and {b:.2f} of its weight, head 2 {c:.2f} and {d:.2f}. One head should look at each."
    least = on.amax(0).min().item()
    if least < 0.95:
        return f"the heads look at the right children, but not firmly: a weight of {least:.2f} leaves too much for the others. Make the scores larger."
    if (out.unflatten(-1, (2, 4)).argmax(-1) == right.unflatten(-1, (2, 4)).argmax(-1)).all():
        return "both heads look where they should, and the largest number of each half is right; but an age should arrive as a 1 and three zeros."
    return "both heads look where they should, one at each child. What they bring (w_v) or where it is put (w_o) is not right yet."


def both_ages(answer: object) -> str | None:
    """Grade the matrices of two heads that look two ages up at once."""
    matrices = _four_matrices(answer)
    out, weights = _ask_two_heads(matrices)
    first, second = (one_hot(AGES, 4).double()[:, PAIRS[:, n]] for n in (0, 1))  # (256, 12, 4)
    right = torch.cat([first, second], -1)

    def gives(found: Tensor, other: Tensor = right) -> bool:
        return bool((found - other).abs().max() <= 0.05)

    if gives(out):
        return None
    if not out.isfinite().all():
        return "the scores overflow: smaller numbers in w_q and w_k are enough."
    for wrong, words in _other_halves(first, second):
        if gives(out, wrong):
            return words
    if gives(_ask_two_heads(matrices.mT)[0]):
        return "it would be right as w @ x, but here it is x @ w: transpose all four."
    for n, name in enumerate(("w_q", "w_k", "w_v", "w_o")):
        if gives(_ask_two_heads(torch.stack([w.T if n == m else w for m, w in enumerate(matrices)]))[0]):
            return f"it would be right with {name} transposed: here it is x @ w, a row for each number of x."
    w_q, w_k, w_v, w_o = matrices
    if gives(_ask_two_heads(torch.stack([-w_q, w_k, w_v, w_o]))[0]):
        return "a sign is turned round: the child that is asked for gets the least weight."
    dealt = torch.arange(8).reshape(4, 2).T.flatten()  # as if head 1 had every second column
    if gives(_ask_two_heads(torch.stack([w_q[:, dealt], w_k[:, dealt], w_v[:, dealt], w_o[dealt]]))[0]):
        return "it would be right if columns were dealt out in turn; head 1 has the first four, head 2 the last four."
    if gives(_ask_two_heads(matrices, scale=1.0)[0]):
        return "it would be right if the scores were not divided by √4: make up for it."
    return _where_two_heads_look(out, weights, right)


def _columns(order: tuple[int, ...] = (0, 1, 2), step: str = "near") -> Callable:
    """Return how a machine takes its columns of queries, keys and values."""

    def cut(w_qkv: Tensor, H: int, n: int, r: int) -> list[Tensor]:
        three = w_qkv.chunk(3, dim=1)
        return [three[part][:, r::n] if step == "dealt" else three[part].chunk(n, dim=1)[r] for part in order]

    return cut


_own = _columns()


def _straight(w_qkv: Tensor, H: int, n: int, r: int) -> tuple[Tensor, ...]:
    return w_qkv.chunk(n, dim=1)[r].chunk(3, dim=1)


def _head_by_head(w_qkv: Tensor, H: int, n: int, r: int) -> list[Tensor]:
    mine = w_qkv.unflatten(1, (H, 3, -1)).chunk(n, dim=1)[r]  # (C, H / n, 3, D)
    return [mine[:, :, part].flatten(1) for part in range(3)]


def _machines(
    cut: Callable = _own,
    heads: Callable = lambda H, n: H // n,
    rows: Callable = lambda w_o, n, r: w_o.chunk(n)[r],
    mix: Callable = lambda q, k, v, C, n: attention(q, k, v),
    take: Callable = _heads,
    flat: Callable = _merged,
) -> Callable:
    """Return what n machines send that share a layer, (n, B, T, C) and without the bias, with a mistake."""

    def send(x: Tensor, w_qkv: Tensor, w_o: Tensor, b_o: Tensor, H: int, n: int) -> Tensor:
        parts = []
        for r in range(n):
            q, k, v = (take(x @ w, heads(H, n)) for w in cut(w_qkv, H, n, r))
            parts.append(flat(mix(q, k, v, x.shape[-1], n)) @ rows(w_o, n, r))
        return torch.stack(parts)

    return send


def _flattened(mixed: Tensor) -> Tensor:
    return mixed.reshape(mixed.shape[0], mixed.shape[2], -1)


def _viewed(x: Tensor, H: int) -> Tensor:
    return x.reshape(x.shape[0], H, x.shape[1], -1)


def _over(width: Callable) -> Callable:
    """Return attention whose scores are divided by the root of ``width(D, C, n)``."""
    return lambda q, k, v, C, n: attention(q, k, v, scale=width(q.shape[-1], C, n) ** -0.5)


def machines(answer: object) -> str | None:
    """Grade the repair of a layer whose heads are shared out among machines."""
    answer, cases = listed(answer), []
    for B, T, H, n, D in ((3, 5, 4, 2, 6), (2, 7, 12, 3, 3), (5, 3, 3, 1, 11), (2, 3, 5, 5, 7)):
        C = H * D
        w_qkv, w_o = normal(C, 3 * C, seed=1) * 2 / C**0.5, normal(C, C, seed=2) / C**0.5
        cases.append((normal(B, T, C, seed=0), w_qkv, w_o, torch.zeros(C), H, n))
    right = _machines()
    whole = _machines(lambda w, H, n, r: w.chunk(3, dim=1), lambda H, n: H, lambda w, n, r: w)
    straight = "cut straight into n, `w_qkv` gives the first machine queries and the last one values: it holds three matrices side by side, and a machine needs its columns of each."
    many = "H heads on each machine: there are H in all, so these are too many, and too narrow."
    swapped = "the heads are merged without swapping the axes of heads and tokens first."
    dealt = "`view(B, H, T, D)` deals the tokens out to the heads: split the last axis, then swap tokens and heads."
    mistakes = [
        (_machines(_straight, lambda H, n: H), "it still does what it did. Take n = 2: which of the 3C columns of `w_qkv` does machine 0 get, and what do they make?"),
        (_machines(_straight), f"the number of heads is right now. But {straight}"),
        (_machines(heads=lambda H, n: H), f"the columns are right now. But see the shapes: {many}"),
        (_machines(heads=lambda H, n: n), "n heads on each machine: it should be H / n."),
        (_machines(heads=lambda H, n: 1), "each machine has one wide head: its H / n heads are still to be split."),
        (_machines(_straight, lambda H, n: 1), straight),
        (_machines(_straight, lambda H, n: n), straight),
        (_machines(_head_by_head), "the columns of `w_qkv` are read head by head, with q, k and v of each; here all queries come first, then all keys, then all values."),
        (_machines(_columns(step="dealt")), "the columns are dealt out to the machines in turn; neighbouring columns make a head."),
        (_machines(_columns(step="dealt"), rows=lambda w, n, r: w[r::n]), "columns and rows are dealt out to the machines in turn; neighbouring ones make a head."),
        (_machines(rows=lambda w, n, r: w[r::n]), "the rows of `w_o` are dealt out in turn; neighbouring rows belong to a head."),
        (_machines(_straight, rows=lambda w, n, r: w[r::n]), straight),
        (_machines(rows=lambda w, n, r: torch.eye(len(w)).chunk(n)[r]), "`w_o` is missing: what a machine has found goes through its rows of it."),
        (lambda *a: right(*a).cumsum(0), "each machine sends the sum of all before it as well; each should send its own part."),
        (lambda *a: right(*a)[:1].expand(a[-1], -1, -1, -1), "every machine sends what machine 0 found."),
        (_machines(rows=lambda w, n, r: w.chunk(n)[0]), "every machine takes the first rows of `w_o`; they belong to the heads of machine 0."),
        (_machines(rows=lambda w, n, r: w.T.chunk(n)[r]), "these are columns of `w_o`, numbers of the output; its rows belong to the heads."),
        (_machines(lambda w, H, n, r: _own(w, H, n, 0)), "every machine computes the heads of machine 0."),
        (_machines(lambda w, H, n, r: _own(w, H, n, n - 1 - r)), "the machines have changed places: machine 0 has the first heads."),
        (_machines(lambda w, H, n, r: _own(w, H, n, n - 1 - r), rows=lambda w, n, r: w.chunk(n)[n - 1 - r]), "the machines have changed places: machine 0 has the first heads."),
        (_machines(_columns((1, 0, 2))), "queries and keys are swapped: the first C columns make queries."),
        (_machines(_columns((0, 2, 1))), "keys and values are swapped: the last C columns make values."),
        (_machines(_columns((0, 1, 1))), "the keys are mixed; what is handed over are the values, the last C columns."),
        (_machines(take=_viewed), dealt),
        (_machines(take=_viewed, flat=_flattened), dealt),
        (_machines(_straight, take=_viewed), dealt),
        (_machines(mix=lambda q, k, v, C, n: attention_scores(q, k).softmax(-2) @ v), "the softmax runs over the queries; it should run over the keys, the last axis."),
        (_machines(flat=_flattened), swapped),
        (_machines(_straight, flat=_flattened), swapped),
        (_machines(mix=_over(lambda D, C, n: C)), "the scores are divided by √C; a head is still D wide, on any machine."),
        (_machines(mix=_over(lambda D, C, n: C / n)), "the scores are divided by the root of C / n, all that a machine holds; a head is D wide."),
        (_machines(mix=_over(lambda D, C, n: D / n)), "the root under the scores has n in it; a head is as wide as before, D."),
        (_machines(mix=_over(lambda D, C, n: D * n)), "the root under the scores has n in it; a head is as wide as before, D."),
        (_machines(mix=_over(lambda D, C, n: 1)), "the scores are not divided by √D."),
        (lambda *a: right(*a).sum(0), "this is the sum, the whole layer; what each machine sends is asked, (n, B, T, C)."),
        (lambda *a: right(*a).sum(0, keepdim=True), "this is the sum, the whole layer; what each machine sends is asked, (n, B, T, C)."),
        (lambda *a: right(*a).mean(0), "this is a mean; what each machine sends is asked, (n, B, T, C)."),
        (lambda *a: right(*a).transpose(0, 1), "the machines should be the first axis: (n, B, T, C)."),
        (lambda *a: right(*a).flatten(0, 1), "put what the machines send behind one another on an axis of its own: `torch.stack`, not `cat`."),
        (lambda *a: right(*a) / a[-1], "each part is divided by n; parts of a sum are not."),
        (whole, "every machine computes all the heads: the sum is n times the layer."),
        (lambda *a: whole(*a) / a[-1], "every machine computes all the heads and sends an n-th: the sum is right, but no work is shared."),
    ]  # fmt: skip
    return by_cases(answer, right, cases, mistakes) or _bias_once(answer, right, cases)


def _bias_once(answer: Callable, right: Callable, cases: list[tuple]) -> str | None:
    """Say whether the bias is once in the sum of what the machines send, on whichever it is."""
    for x, w_qkv, w_o, none, H, n in cases:
        b_o = normal(len(none), seed=3)
        sent = numbers(call(answer, *(part.clone() for part in (x, w_qkv, w_o, b_o)), H, n))
        found = (sent - numbers(right(x, w_qkv, w_o, none, H, n))).sum(0)  # (B, T, C)
        once = numbers(b_o).expand_as(found)
        known = [
            (n * once, f"the heads are right. But add up what {n} machines send: what is in it {n} times?"),
            (0 * once, "the heads are right, but the bias got lost: it belongs into the sum, once."),
            (once / n, "the heads are right, but only a part of the bias arrives: all of it belongs into the sum, once."),
            (-once, "the heads are right; the bias should be added, not subtracted."),
            ((n - 1) * once, f"the heads are right. But the bias is in the sum {n - 1} times; once is enough."),
        ]  # fmt: skip
        if not close(found, once):
            other = "the heads are right, the bias is not: it should be in the sum of what the machines send once, for every token."
            return next((words for wrong, words in known if close(found, wrong)), other)
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
        "5.5", "Merge what was dealt", "medium", 8,
        (
            "In the result, which head does coordinate 0 of a token come from? And 1, 2, 3?",
            "Of two axes that are joined, the last one changes fastest. Here that must be the axis of heads.",
        ),
        merge,
        "Blocks or dealt out in turn: both are used, and the shape does not tell which.",
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
    Exercise(
        "5.14", "Both ages by hand", "hard", 12,
        (
            "Begin with the keys: what must a key hold for a question to find its child, and what would only disturb it? Both heads may have the same.",
            "Head 1 is to ask for the first name, head 2 for the second. Which four rows of `w_q` may head 1's columns use?",
            "Write each matrix as four blocks of (4, 4): two for the first four rows, two for the last four. Zeros and multiples of the identity are enough.",
        ),
        both_ages,
        "The queries differ, and nothing else has to: both heads have the same keys and the same values, as in multi-query attention. What training took two hundred batches to find are four matrices of ones and zeros, one of them enlarged.",
    ),
    Exercise(
        "5.15", "One layer, several machines", "hard", 12,
        (
            "Take n = 2 and number the 3C columns of `w_qkv`. Which of them does machine 0 need, for the first half of the heads? Which does it get?",
            "How wide is a head in the whole layer, and how wide is it in what a machine computes here?",
            "Write down the sum of what n machines send. Everything in it that is not a head stands there how often?",
        ),
        machines,
        "With n = 1 all three vanish, so that a test on one machine sees none of them. A layer is a sum over heads, and heads can be computed anywhere; what belongs to no head, the bias, belongs to the sum.",
    ),
]  # fmt: skip
