"""Right answers written differently, and the wrong ones people give, each with words of the mistake it must name."""

from fractions import Fraction

import numpy as np
import torch

from attnlib import MultiHeadAttention, attention
from attnlib.instruments.counters import count_parameters


def counted(C, H, Hkv, bias):
    return count_parameters(MultiHeadAttention(C, H, num_kv_heads=Hkv, bias=bias))


def sizes(C, H, Hkv, bias):
    D = C // H
    return sum(C * n + bias * n for n in (C, Hkv * D, Hkv * D)) + C * C + bias * C


def flops(T, C, H):
    return 8 * T * C**2 + 4 * T**2 * C


CACHE = {"own": 2 * 24 * 4096 * 32 * 128 * 2, "grouped": 3 * 2**27, "one": 3 * 2**24}


def split(x, H):
    B, T, C = x.shape
    return x.view(B, T, H, C // H).transpose(1, 2)


def loop_split(x, H):
    return torch.stack(x.chunk(H, dim=-1), dim=1)


def merge(x):
    return x.transpose(1, 2).flatten(2)


def undeal(heads):
    return heads.permute(0, 2, 3, 1).flatten(2)


def undeal_loop(heads):
    B, H, T, D = heads.shape
    out = torch.empty(B, T, H * D)
    for h in range(H):
        out[..., h::H] = heads[:, h]
    return out


def viewed(x, H):
    B, T, C = x.shape
    return x.view(B, H, T, C // H)


def score(weights, relation):
    return (weights * relation).sum((-1, -2)) / relation.any(-1).sum()


def loop_score(weights, relation):
    found = []
    for head in weights:
        rows = [head[i][relation[i]].sum() for i in range(len(head)) if relation[i].any()]
        found.append(sum(rows) / len(rows))
    return torch.stack(found)


def without(heads, w_o, h):
    heads = heads.clone()
    heads[:, h] = 0
    return merge(heads) @ w_o


def by_sum(heads, w_o, h):
    D = heads.shape[-1]
    return sum(heads[:, n] @ w_o[n * D : (n + 1) * D] for n in range(heads.shape[1]) if n != h)


def rows_cleared(heads, w_o, h):
    D = heads.shape[-1]
    rows = torch.arange(len(w_o)) // D != h
    return (merge(heads) @ (w_o * rows[:, None])).tolist()


def in_place(heads, w_o, h):
    heads[:, h] = 0
    return merge(heads) @ w_o


def columns(heads, w_o, h):
    D = heads.shape[-1]
    w_o[:, h * D : (h + 1) * D] = 0
    return merge(heads) @ w_o


def mha(split=split, merge=merge, attend=attention, out=True):
    def run(x, w_q, w_k, w_v, w_o, H):
        mixed = merge(attend(*(split(x @ w, H) for w in (w_q, w_k, w_v))))
        return mixed @ w_o if out else mixed

    return run


def by_head(x, w_q, w_k, w_v, w_o, H):
    D = x.shape[-1] // H
    out = 0
    for h in range(H):
        at = slice(h * D, (h + 1) * D)
        out = out + attention(x @ w_q[:, at], x @ w_k[:, at], x @ w_v[:, at]) @ w_o[at]
    return out


def einsums(x, w_q, w_k, w_v, w_o, H):
    q, k, v = (torch.einsum("btc,chd->bhtd", x, w.unflatten(1, (H, -1))) for w in (w_q, w_k, w_v))
    weights = torch.einsum("bhtd,bhsd->bhts", q, k).div(q.shape[-1] ** 0.5).softmax(-1)
    return torch.einsum("bhts,bhsd,hdc->btc", weights, v, w_o.unflatten(0, (H, -1)))


def in_double(*arguments):
    *tensors, H = arguments
    return mha()(*(t.double() for t in tensors), H)


def scored(scale=None, axis=-1):
    def attend(q, k, v):
        by = q.shape[-1] ** -0.5 if scale is None else scale
        return (q @ k.mT * by).softmax(axis) @ v

    return attend


def flat(x):
    B, H, T, D = x.shape
    return x.reshape(B, T, H * D)


def torchs_own(x, w_q, w_k, w_v, w_o, H):
    module = torch.nn.MultiheadAttention(x.shape[-1], H, bias=False, batch_first=True)
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.cat([w_q.T, w_k.T, w_v.T]))
        module.out_proj.weight.copy_(w_o.T)
    return module(x, x, x, need_weights=False)[0]


def removed(weights, j):
    rest = weights.clone()
    rest[:, j] = 0
    return rest / rest.sum(-1, keepdim=True)


def effect(weights, values, j):
    return (weights @ values - removed(weights, j) @ values).norm(dim=-1)


def by_formula(weights, values, j):
    w = weights[:, j, None]
    return (w / (1 - w) * (values[j] - weights @ values)).norm(dim=-1)


def effect_numpy(weights, values, j):
    w, v = weights.numpy(), values.numpy()
    others = [n for n in range(len(v)) if n != j]
    rest = w[:, others] / w[:, others].sum(1, keepdims=True)
    return np.sqrt(((w @ v - rest @ v[others]) ** 2).sum(1))


def effect_in_place(weights, values, j):
    before = weights @ values
    weights[:, j] = 0
    return (before - weights / weights.sum(-1, keepdim=True) @ values).norm(dim=-1)


def holed(weights, values, j):
    rest = weights.clone()
    rest[:, j] = 0
    return rest


def by_columns(weights, values, j):
    others = [n for n in range(len(values)) if n != j]
    rest = weights[:, others] / weights[:, others].sum(0)
    return (weights @ values - rest @ values[others]).norm(dim=-1)


def row_cleared(weights, j):
    rest = weights.clone()
    rest[j] = 0
    return rest


def looks_back(size=50.0, by=1):
    def w_q(T):
        return size * torch.eye(T).roll(-by, 1)  # row i has its number in column i - by

    return w_q


def some_elsewhere(T):
    w_q = looks_back()(T)
    w_q[2] = w_q[2].roll(2)
    return w_q


RIGHT = {
    "5.1": [[4, 8, 0.5], (4.0, 8.0, 1 / 2), [4, 8, Fraction(1, 2)], np.array([4, 8, 0.5]), torch.tensor([4, 8, 0.5])],
    "5.2": [counted, sizes, lambda C, H, G, b: 2 * C * (C + b) + 2 * C // H * G * (C + b), lambda C, H, G, b: torch.tensor(sizes(C, H, G, b))],
    "5.3": [flops, lambda T, C, H: 4 * 2 * T * C * C + H * 2 * (2 * T * T * (C // H)), lambda T, C, H: float(flops(T, C, H)), lambda T, C, H: np.int64(4 * T * C) * (2 * C + T)],
    "5.4": [CACHE, {n: float(x) for n, x in CACHE.items()}, {n: torch.tensor(x) for n, x in CACHE.items()}, {n: np.float64(x) for n, x in CACHE.items()}],
    "5.5": [
        undeal,
        undeal_loop,
        lambda x: torch.stack(x.unbind(1), -1).flatten(-2),
        lambda x: torch.einsum("bhtd->btdh", x).reshape(*x.shape[::2], -1).double(),
        lambda x: x.numpy().transpose(0, 2, 3, 1).reshape(x.shape[0], x.shape[2], -1),
    ],
    "5.6": [
        lambda k, H: k.repeat_interleave(H // k.shape[1], dim=1),
        lambda k, H: k[:, torch.arange(H) // (H // k.shape[1])],
        lambda k, H: k[:, :, None].expand(-1, -1, H // k.shape[1], -1, -1).flatten(1, 2),
        lambda k, H: np.repeat(k.numpy(), H // k.shape[1], axis=1),
    ],
    "5.7": [score, loop_score, lambda w, r: (w * r).sum(-1)[:, r.any(-1)].mean(-1), lambda w, r: score(w, r).tolist()],
    "5.8": [without, by_sum, lambda x, w, h: merge(x) @ w - x[:, h] @ w.unflatten(0, (x.shape[1], -1))[h], rows_cleared],
    "5.9": [mha(), by_head, einsums, in_double, mha(split=loop_split)],
    "5.11": [
        looks_back(),
        lambda T: torch.diag(torch.full((T - 1,), 40.0), -1),
        lambda T: [[30.0 if j == i - 1 else 0.0 for j in range(T)] for i in range(T)],
        lambda T: 100 * np.eye(T, k=-1),
        lambda T: -9.0 * T**0.5 * (torch.arange(T)[:, None] - 1 - torch.arange(T)).abs(),
    ],
    "5.10": [effect, by_formula, effect_numpy, lambda w, v, j: effect(w, v, j)[:, None]],
}  # fmt: skip

WRONG = [
    ("5.1", [6, 6, 0.5], "6 is the plain mean"),
    ("5.1", [8, 4, 0.5], "swapped"),
    ("5.1", [12, 8, 0.5], "that is the plain sum"),
    ("5.1", [4, 4, 0.5], "the weights stay where they are"),
    ("5.1", [4, 12, 0.5], "second mixture: the values have changed places"),
    ("5.1", [4, 8, 1.0], "one of the two values"),
    ("5.1", [4, 8, 0.75], "they can be told apart"),
    ("5.1", [4, 8, 0.25], "the two still differ"),
    ("5.1", [4, 8, [0.5, 0.5]], "weight on the first value: one number is asked"),
    ("5.1", [4, 8], "one number each is asked"),
    ("5.2", lambda C, H, G, b: 4 * C * C * H, "you count C² for each head"),
    ("5.2", lambda C, H, G, b: 3 * C * C, "W_O, is missing"),
    ("5.2", lambda C, H, G, b: 4 * (C // H) ** 2 * H, "C by D, not D by D"),
    ("5.2", lambda C, H, G, b: sizes(C, H, G, False), "the biases are missing"),
    ("5.2", lambda C, H, G, b: 4 * C * (C + b), "W_K and W_V are narrower"),
    ("5.2", lambda C, H, G, b: sizes(C, H, G, False) + 4 * C * b, "as wide as those are"),
    ("5.2", lambda C, H, G, b: sizes(C, H, G, b) - C * b, "four biases"),
    ("5.2", lambda C, H, G, b: 4 * C * (C + b) if G == H else 2 * (C + G) * (C + b), "each is D = C / H wide"),
    ("5.2", lambda C, H, G, b: 1, "1 is too small"),
    ("5.2", lambda C, H, G, b: [1, 2], "one number is asked"),
    ("5.3", lambda T, C, H: flops(T, C, H) // 2, "two operations"),
    ("5.3", lambda T, C, H: 8 * T * C * C, "scores and mixing are missing"),
    ("5.3", lambda T, C, H: 4 * T * T * C, "the four projections are missing"),
    ("5.3", lambda T, C, H: 6 * T * C * C + 4 * T * T * C, "W_O, is missing"),
    ("5.3", lambda T, C, H: 8 * T * C * C + 2 * T * T * C, "one of them is missing"),
    ("5.3", lambda T, C, H: 8 * T * C * C + 4 * T * T * C * H, "as much as one of width C"),
    ("5.3", lambda T, C, H: 8 * T * C * C + 4 * T * T * (C // H), "there are H"),
    ("5.3", lambda T, C, H: 8 * C * C + 4 * T * T * C, "each of the T tokens"),
    ("5.3", lambda T, C, H: 7, "7 is too small"),
    ("5.4", {n: x // 2 for n, x in CACHE.items()}, "a factor of 2 is missing"),
    ("5.4", {n: x // 4 for n, x in CACHE.items()}, "both factors are missing"),
    ("5.4", {n: x * 2 for n, x in CACHE.items()}, "a factor of 2 is too much"),
    ("5.4", CACHE | {"grouped": 3 * 2**29}, "queries are not kept"),
    ("5.4", CACHE | {"grouped": 3 * 2**24}, "that is one head"),
    ("5.4", CACHE | {"one": 3 * 2**12}, "that is one position"),
    ("5.4", CACHE | {"one": 2**21}, "that is one layer"),
    ("5.4", CACHE | {"own": 2**26}, "own: that is one layer"),
    ("5.4", CACHE | {"own": 3 * 2**24}, "own: that is one head"),
    ("5.4", CACHE | {"grouped": 3 * 2**26}, "32 / 8 = 4 heads"),
    ("5.4", CACHE | {"one": 5}, "one: multiply what is kept"),
    ("5.4", list(CACHE.values()), "keep the dict"),
    ("5.5", merge, "this puts head after head"),
    ("5.5", flat, "mixes the tokens"),
    ("5.5", lambda x: x.permute(0, 2, 3, 1), "now join the last two axes"),
    ("5.5", lambda x: x.transpose(1, 2), "an axis of their own"),
    ("5.5", lambda x: x.permute(0, 2, 3, 1).reshape(2, 5, 12), "right at first, but not for"),
    ("5.5", lambda x: torch.stack([x[:, 0], x[:, 1], x[:, 2]], -1).flatten(-2), "right at first, but not for"),
    ("5.5", lambda x: x, "nothing is merged"),
    ("5.5", lambda x: undeal(x)[0], "the shape should be (2, 5, 12)"),
    ("5.5", lambda x: x.sum(1), "they hold different coordinates"),
    ("5.5", lambda x: undeal(x).mT, "turned round: (B, T, C)"),
    ("5.6", lambda k, H: k.repeat(1, H // k.shape[1], 1, 1), "0, 1, 2, 0, 1, 2"),
    ("5.6", lambda k, H: k.repeat_interleave(2, dim=1), "whatever H is"),
    ("5.6", lambda k, H: k.repeat_interleave(H, dim=1), "repeated H times"),
    ("5.6", lambda k, H: k.repeat_interleave(2, dim=2), "the keys are repeated"),
    ("5.6", lambda k, H: k.repeat_interleave(2, dim=0), "the batch is repeated"),
    ("5.6", lambda k, H: k, "nothing is repeated"),
    ("5.6", lambda k, H: k.repeat(1, H, 1, 1), "all heads are repeated H times"),
    ("5.6", lambda k, H: k[:, :1].expand(-1, H, -1, -1), "all query heads share head 0"),
    ("5.6", lambda k, H: k.mean(1, keepdim=True).expand(-1, H, -1, -1), "you average the heads"),
    ("5.6", lambda k, H: k.repeat_interleave(H // k.shape[1], dim=-1), "the numbers of a key"),
    ("5.7", lambda w, r: (w * r).sum(-1).mean(-1), "they do not count"),
    ("5.7", lambda w, r: (w * r).sum((-1, -2)) / r.sum(), "the number of pairs"),
    ("5.7", lambda w, r: score(w, ~r), "where the relation does not point"),
    ("5.7", lambda w, r: (w * r).sum((-1, -2)), "divide by the number of queries"),
    ("5.7", lambda w, r: (w * r).mean((-1, -2)), "you average over all pairs"),
    ("5.7", lambda w, r: (w.argmax(-1) == r.float().argmax(-1))[:, r.any(-1)].float().mean(-1), "the score is the weight itself"),
    ("5.7", lambda w, r: score(w, r).mean(), "each head has a score of its own"),
    ("5.7", lambda w, r: (w * r).sum(-1), "average over those"),
    ("5.7", lambda w, r: (w.mT * r).sum((-1, -2)) / r.any(-1).sum(), "turned round"),
    ("5.8", lambda x, w, h: merge(x) @ w, "with every head"),
    ("5.8", lambda x, w, h: x[:, h] @ w.unflatten(0, (3, -1))[h], "what head h alone gives"),
    ("5.8", lambda x, w, h: 1.5 * without(x, w, h), "the others are scaled up"),
    ("5.8", columns, "you clear columns"),
    ("5.8", lambda x, w, h: without(x, torch.eye(12), h), "W_O is missing"),
    ("5.8", lambda x, w, h: without(x, w.T, h), "transposed"),
    ("5.8", lambda x, w, h: without(x, w, h + 1), "counting starts from 0"),
    ("5.8", lambda x, w, h: without(x, w, h - 1), "counting starts from 0"),
    ("5.8", lambda x, w, h: flat(torch.cat([x[:, :h], 0 * x[:, h:h + 1], x[:, h + 1:]], 1)) @ w, "without swapping"),
    ("5.8", in_place, "it changes `heads`"),
    ("5.9", mha(attend=scored(12**-0.5)), "you divide by √C"),
    ("5.9", mha(attend=scored(1.0)), "not divided by √D"),
    ("5.9", mha(attend=scored(1 / 4)), "its square root is enough"),
    ("5.9", mha(attend=scored(axis=-2)), "runs over the queries"),
    ("5.9", mha(attend=scored(axis=1)), "runs over the heads"),
    ("5.9", mha(split=viewed), "deals the tokens out"),
    ("5.9", mha(split=viewed, merge=flat), "deals the tokens out"),
    ("5.9", mha(merge=flat), "merged without swapping"),
    ("5.9", lambda x, a, b, c, d, H: mha()(x, a.T, b.T, c.T, d.T, H), "not `x @ w.T`"),
    ("5.9", lambda x, a, b, c, d, H: mha()(x, a.T, b.T, c.T, d, H), "not `x @ w.T`"),
    ("5.9", lambda x, a, b, c, d, H: mha()(x, a, b, c, d.T, H), "not `x @ w.T`"),
    ("5.9", mha(out=False), "W_O is missing"),
    ("5.9", lambda x, a, b, c, d, H: mha()(x, a, b, c, d, 1), "this is one head of width C"),
    ("5.9", lambda x, a, b, c, d, H: merge(attention(*[split(x, H)] * 3)) @ d, "slices of x"),
    ("5.9", mha(merge=lambda x: x.sum(1), out=False), "side by side"),
    ("5.9", mha(merge=lambda x: x, attend=lambda q, k, v: (q @ k.mT / 2).softmax(-1), out=False), "these are the weights"),
    ("5.9", torchs_own, "calls PyTorch's own"),
    ("5.10", lambda w, v, j: (w[:, j, None] * v[j]).norm(dim=-1), "no longer sum to one"),
    ("5.10", lambda w, v, j: (removed(w, j) @ v).norm(dim=-1), "how far is it from the old one"),
    ("5.10", lambda w, v, j: removed(w, j) @ v, "this is the new output"),
    ("5.10", lambda w, v, j: w @ v - removed(w, j) @ v, "its length is asked"),
    ("5.10", lambda w, v, j: effect(w, v, j) ** 2, "take the root"),
    ("5.10", lambda w, v, j: w[:, j], "this is the weight of the key"),
    ("5.10", lambda w, v, j: (w @ v - removed(w, j) @ v).norm(), "each has its own"),
    ("5.10", lambda w, v, j: (w @ v - holed(w, v, j).softmax(-1) @ v).norm(dim=-1), "without a softmax"),
    ("5.10", lambda w, v, j: (w @ v - holed(w, v, j) / holed(w, v, j).sum(0) @ v).norm(dim=-1), "a sum of 0: that of column j"),
    ("5.10", by_columns, "the sums of columns"),
    ("5.10", lambda w, v, j: (w @ v - row_cleared(w, j) @ v).norm(dim=-1), "you clear row j"),
    ("5.10", lambda w, v, j: (w @ v - row_cleared(w, j) / row_cleared(w, j).sum(-1, keepdim=True) @ v).norm(dim=-1), "Did you clear row j"),
    ("5.10", effect_in_place, "it changes `weights`"),
    ("5.11", looks_back(by=-1), "looks at the next one"),
    ("5.11", lambda T: 20 * torch.eye(T).roll(-1, 1), "not firmly"),
    ("5.11", looks_back(by=0), "looks at itself"),
    ("5.11", looks_back(size=2.0), "not firmly"),
    ("5.11", looks_back(by=2), "place 1, counted from 0, looks most at place 3"),
    ("5.11", lambda T: 50 * torch.ones(T, T).tril(-1), "place 2, counted from 0, looks most at place 0"),
    ("5.11", some_elsewhere, "place 2, counted from 0, looks most at place 3"),
    ("5.11", lambda T: looks_back()(T)[1:], "a row for each place"),
    ("5.11", lambda T: looks_back()(T) * float("inf"), "a NaN in the weights"),
]  # fmt: skip
