"""Right answers written differently, and the wrong ones people give, each with words of the mistake it must name."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import torch

from attnlib import MultiHeadAttention, attention
from attnlib.instruments.counters import count_parameters


def counted(C, H, Hkv, bias):
    return count_parameters(MultiHeadAttention(C, H, num_kv_heads=Hkv, bias=bias))


def sizes(C, H, Hkv, bias):
    D = C // H
    return sum(C * n + bias * n for n in (C, Hkv * D, Hkv * D)) + C * C + bias * C


def in_all_company(share_right, H):
    """Try each head that costs nothing alone with every choice of others."""
    found = []
    for head in range(H):
        if share_right([head]) < share_right([]):
            continue
        others = [h for h in range(H) if h != head]
        choices = [gone for n in range(H) for gone in combinations(others, n)]
        if any(share_right([*gone, head]) < share_right(gone) for gone in choices):
            found.append(head)
    return found


def by_bits(share_right, H):
    share = [share_right([h for h in range(H) if n >> h & 1]) for n in range(2**H)]
    never = [all(share[n | 1 << h] >= share[n] for n in range(2**H)) for h in range(H)]
    return np.array([h for h in range(H) if share[1 << h] >= share[0] and not never[h]], dtype=int)


def by_what_is_kept(share_right, H):
    """A head does something if some smallest set of heads that is as good as all of them, or some of them, has it."""

    def helps(head, kept):
        without = [h for h in range(H) if h not in kept]
        if share_right([*without, head]) < share_right(without):
            return True
        return any(helps(head, kept - {h}) for h in kept - {head})

    return [h for h in range(H) if share_right([h]) >= share_right([]) and helps(h, set(range(H)))]


def in_company(most=5, alone=float.__ge__, costs=float.__lt__, among_all=True):
    """Try each head with so many others at most; a comparison that is not the right one is a mistake."""

    def found(share_right, H):
        free = [h for h in range(H) if alone(float(share_right([h])), float(share_right([])))]
        choices = [gone for n in range(most + 1) for gone in combinations(range(H) if among_all else free, n)]
        return [
            h
            for h in free
            if any(
                costs(float(share_right([*gone, h])), float(share_right(gone)))
                for gone in choices
                if h not in gone
            )
        ]

    return found


def in_pairs(share_right, H):
    """Remove two at a time."""
    free = [h for h in range(H) if share_right([h]) == share_right([])]
    pairs = [pair for pair in combinations(free, 2) if share_right(pair) < share_right([])]
    return sorted({h for pair in pairs for h in pair})


def by_itself(share_right, H):
    """Remove all others at once."""
    free = [h for h in range(H) if share_right([h]) == share_right([])]
    return [h for h in free if share_right([g for g in range(H) if g != h]) > share_right(range(H))]


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


def dealt_split(x, H):
    return torch.stack([x[..., h::H] for h in range(H)], dim=1)


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


def others_of(heads, h):
    return torch.cat([heads[:, :h], heads[:, h + 1 :]], 1)


def in_place(heads, w_o, h):
    heads[:, h] = 0
    return merge(heads) @ w_o


def position_cleared(heads, w_o, h):
    heads = heads.clone()
    heads[:, :, h] = 0
    return merge(heads) @ w_o


def mean_instead(heads, w_o, h, mean):
    heads = heads.clone()
    heads[:, h] = mean
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


def looking_back(q, k, v):
    scores = q @ k.mT / q.shape[-1] ** 0.5
    later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    return scores.masked_fill(later, -torch.inf).softmax(-1) @ v


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


def effect_spoiled(weights, values, j):
    weights[:, j] = 0
    rest = weights / weights.sum(-1, keepdim=True)
    return (weights @ values - rest @ values).norm(dim=-1)


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


def attends_back(size=200.0, by=1):
    def w_q(T):
        return size * torch.eye(T).roll(-by, 1)  # row i has its number in column i - by

    return w_q


def some_elsewhere(T):
    w_q = attends_back()(T)
    w_q[2] = w_q[2].roll(2)
    return w_q


I4, O4 = torch.eye(4), torch.zeros(4, 4)


def blocks(a, b, c, d):  # of a matrix (8, 8), row by row
    return torch.cat([torch.cat([a, b], 1), torch.cat([c, d], 1)])


ASK = 20 * torch.eye(8)
NAME = blocks(I4, I4, O4, O4)  # into both heads
AGE = blocks(O4, O4, I4, I4)
HANDED = torch.eye(8)
BY_HAND = [ASK, NAME, AGE, HANDED]
LATER = torch.arange(8).roll(4)  # the other head first
MIXED = torch.linalg.qr(torch.randn(4, 4, generator=torch.Generator().manual_seed(0)))[0]
TURNED = torch.block_diag(MIXED, MIXED)


def by_hand(**changed):
    made = dict(zip(("w_q", "w_k", "w_v", "w_o"), BY_HAND, strict=True))
    return list((made | changed).values())


def centred(size):  # a name less the mean of all names, and scores below zero
    less = I4 - 0.25
    return [size * torch.block_diag(less, less), blocks(less, less, O4, O4), AGE, HANDED]


def columns_of(w_qkv, n, r):
    return [w.chunk(n, dim=1)[r] for w in w_qkv.chunk(3, dim=1)]


def straight(w_qkv, n, r):
    return w_qkv.chunk(n, dim=1)[r].chunk(3, dim=1)


def sends(
    cut=columns_of,
    heads=lambda H, n: H // n,
    bias=lambda b, n, r: b / n,
    rows=lambda w, n, r: w.chunk(n)[r],
    split=split,
    merge=merge,
    attend=attention,
):
    def machines(x, w_qkv, w_o, b_o, H, n):
        parts = []
        for r in range(n):
            q, k, v = (split(x @ w, heads(H, n)) for w in cut(w_qkv, n, r))
            parts.append(merge(attend(q, k, v)) @ rows(w_o, n, r) + bias(b_o, n, r))
        return torch.stack(parts)

    return machines


def first_only(b_o, n, r):
    return b_o if r == 0 else torch.zeros_like(b_o)


def sent_by_slices(x, w_qkv, w_o, b_o, H, n):
    C = x.shape[-1]
    D, out = C // H, []
    for r in range(n):
        part = 0
        for h in range(r * H // n, (r + 1) * H // n):
            q, k, v = (x @ w_qkv[:, j * C + h * D : j * C + (h + 1) * D] for j in range(3))
            part = part + (q @ k.mT / D**0.5).softmax(-1) @ v @ w_o[h * D : (h + 1) * D]
        out.append(part)
    out[-1] = out[-1] + b_o
    return tuple(out)


def sent_at_once(x, w_qkv, w_o, b_o, H, n):
    q, k, v = (x @ w_qkv).unflatten(-1, (3, H, -1)).permute(2, 0, 3, 1, 4)  # (B, H, T, D) each
    each = attention(q, k, v) @ w_o.unflatten(0, (H, -1))  # (B, H, T, C)
    parts = each.unflatten(1, (n, -1)).sum(2).transpose(0, 1)
    return torch.cat([parts[:1] + b_o, parts[1:]])


def sent_regrouped(x, w_qkv, w_o, b_o, H, n):
    C = x.shape[-1]
    regrouped = w_qkv.unflatten(1, (3, n, C // n)).transpose(1, 2).flatten(1)  # now a straight cut is right
    return sends(cut=straight)(x, regrouped, w_o, b_o, H, n)


def sent_numpy(x, w_qkv, w_o, b_o, H, n):
    return sends(bias=first_only)(x, w_qkv, w_o, b_o, H, n).double().numpy()


def sent_in_place(x, w_qkv, w_o, b_o, H, n):
    b_o /= n
    return sends(bias=lambda b, n, r: b)(x, w_qkv, w_o, b_o, H, n)


def heads_in_turn(x, w_qkv, w_o, b_o, H, n):
    D, out = len(w_o) // H, []
    for r in range(n):
        mine = torch.cat([torch.arange(h * D, (h + 1) * D) for h in range(r, H, n)])
        q, k, v = (split(x @ w[:, mine], H // n) for w in w_qkv.chunk(3, dim=1))
        out.append(merge(attention(q, k, v)) @ w_o[mine] + b_o / n)
    return torch.stack(out)


def all_spoiled(x, w_qkv, w_o, b_o, H, n):
    parts = sends()(x, w_qkv, w_o, b_o, H, n)
    w_o.zero_()
    return parts


def all_heads(x, w_qkv, w_o, b_o, H, n):
    layer = sends()(x, w_qkv, w_o, b_o, H, 1)
    return layer.expand(n, -1, -1, -1)


RIGHT = {
    "5.1": [[4, 8, 0.5], (4.0, 8.0, 1 / 2), [4, 8, Fraction(1, 2)], np.array([4, 8, 0.5]), torch.tensor([4, 8, 0.5])],
    "5.2": [counted, sizes, lambda C, H, G, b: 2 * C * (C + b) + 2 * C // H * G * (C + b), lambda C, H, G, b: torch.tensor(sizes(C, H, G, b))],
    "5.3": [
        in_all_company,
        lambda right, H: tuple(in_all_company(right, H)),
        lambda right, H: set(in_all_company(right, H)),
        lambda right, H: torch.tensor(in_all_company(right, H)),
        lambda right, H: [h in in_all_company(right, H) for h in range(H)],
        by_bits,
        by_what_is_kept,
        in_company(),
    ],
    "5.4": [
        undeal,
        undeal_loop,
        lambda x: torch.stack(x.unbind(1), -1).flatten(-2),
        lambda x: torch.einsum("bhtd->btdh", x).reshape(*x.shape[::2], -1).double(),
        lambda x: x.numpy().transpose(0, 2, 3, 1).reshape(x.shape[0], x.shape[2], -1),
    ],
    "5.5": [score, loop_score, lambda w, r: (w * r).sum(-1)[:, r.any(-1)].mean(-1), lambda w, r: score(w, r).tolist(), lambda w, r: w[:, r].mean(-1), lambda w, r: (w * r).sum((-1, -2)) / r.sum()],
    "5.6": [without, by_sum, lambda x, w, h: merge(x) @ w - x[:, h] @ w.unflatten(0, (x.shape[1], -1))[h], rows_cleared],
    "5.7": [mha(), by_head, einsums, in_double, mha(split=loop_split)],
    "5.9": [
        attends_back(),
        lambda T: torch.diag(torch.full((T - 1,), 13.0 * T**0.5), -1),
        lambda T: math.log(99 * (T - 1)) * T**0.5 * torch.eye(T).roll(-1, 1),
        lambda T: math.log(99 * (T - 1)) * T**0.5 * np.eye(T, k=-1),
        lambda T: [[300.0 if j == i - 1 else 0.0 for j in range(T)] for i in range(T)],
        lambda T: 400 * np.eye(T, k=-1),
        lambda T: -9.0 * T**0.5 * (torch.arange(T)[:, None] - 1 - torch.arange(T)).abs(),
    ],
    "5.8": [effect, by_formula, effect_numpy, lambda w, v, j: effect(w, v, j)[:, None]],
    "5.10": [
        {"one_both": 1 / 8, "half_right": 9 / 16, "half_both": 9 / 16},
        {"one_both": 0.13, "half_right": 0.56, "half_both": 0.56},
        {"one_both": Fraction(1, 8), "half_right": Fraction(36, 64), "half_both": Fraction(36, 64)},
        {"one_both": torch.tensor(0.125), "half_right": np.float32(0.5625), "half_both": torch.tensor([0.5625])},
        {"half_both": 0.57, "half_right": 0.55, "one_both": 0.12},
    ],
    "5.11": [
        {"statement": False, "ways": 6, "cache": 24},
        {"ways": 6.0, "cache": 12 + 12, "statement": np.bool_(False)},
        {"statement": torch.tensor(False), "ways": torch.tensor(6), "cache": np.int64(24)},
        {"statement": 0, "ways": len([1] * 6), "cache": Fraction(48, 2)},
    ],
    "5.12": [
        BY_HAND,
        tuple(w.numpy() for w in BY_HAND),
        {"w_o": HANDED, "w_q": ASK, "w_k": NAME, "w_v": AGE},
        torch.stack(BY_HAND).tolist(),
        by_hand(w_q=ASK[:, LATER], w_k=NAME[:, LATER], w_o=HANDED[LATER]),  # head 2 answers first
        by_hand(w_q=ASK @ TURNED, w_k=NAME @ TURNED),
        by_hand(w_v=AGE @ TURNED / 7, w_o=7 * TURNED.T),
        by_hand(w_q=-ASK / 2, w_k=-2 * NAME),
        centred(20.0),
        by_hand(w_q=-ASK, w_k=blocks(1 - I4, 1 - I4, O4, O4)),  # whoever has another name loses
        by_hand(w_q=20 * blocks(I4, 0.3 * I4, 0.3 * I4, I4)),
        torch.stack(BY_HAND).int(),
    ],
    "5.13": [sends(), sends(bias=first_only), sent_by_slices, sent_at_once, sent_regrouped, sent_numpy, lambda *a: list(sends()(*a)), lambda *a: dict(enumerate(sends()(*a)))],
}  # fmt: skip

WRONG = [
    ("5.1", [6, 6, 0.5], "6 is the plain mean"),
    ("5.1", [8, 4, 0.5], "swapped"),
    ("5.1", [12, 8, 0.5], "that is the plain sum"),
    ("5.1", [4, 4, 0.5], "the weights stay as they are"),
    ("5.1", [4, 12, 0.5], "second average: the values are exchanged"),
    ("5.1", [4, 8, 1.0], "one of the two values"),
    ("5.1", [4, 8, 0.75], "they can be told apart"),
    ("5.1", [4, 8, 0.25], "the two still differ"),
    ("5.1", [4, 8, [0.5, 0.5]], "weight on the first value: one number is asked"),
    ("5.1", [4, 8], "one number each is asked"),
    ("5.2", lambda C, H, G, b: 4 * C * C * H, "you count C² for each head"),
    ("5.2", lambda C, H, G, b: 3 * C * C, "these are three matrices"),
    ("5.2", lambda C, H, G, b: sizes(C, H, G, b) - C * (C + b), "W_O, is missing"),
    ("5.2", lambda C, H, G, b: 2 * C * C + C * (C // H * G) + (2 * C + C // H * G) * b, "values have one, W_V"),
    ("5.2", lambda C, H, G, b: 2 * C * (C + b), "two matrices are missing"),
    ("5.2", lambda C, H, G, b: 2 * C * C + 2 * C * G + (2 * C + 2 * G) * b, "each is D = C / H wide"),
    ("5.2", lambda C, H, G, b: sizes(C, H, G, True), "counted although there are none"),
    ("5.2", lambda C, H, G, b: 2 * (C // H) ** 2 * (H + G), "C by D, not D by D"),
    ("5.2", lambda C, H, G, b: 4 * (C // H) ** 2 * H, "C by D, not D by D"),
    ("5.2", lambda C, H, G, b: sizes(C, H, G, False), "the biases are missing"),
    ("5.2", lambda C, H, G, b: 4 * C * (C + b), "W_K and W_V are narrower"),
    ("5.2", lambda C, H, G, b: sizes(C, H, G, False) + 4 * C * b, "as wide as those are"),
    ("5.2", lambda C, H, G, b: sizes(C, H, G, b) - C * b, "four biases"),
    ("5.2", lambda C, H, G, b: sizes(C, H, G, b) - 2 * C // H * G * b, "keys and values have biases too"),
    ("5.2", lambda C, H, G, b: sizes(C, H, G, b) - C // H * G * b, "four biases"),
    ("5.2", lambda C, H, G, b: 4 * C * (C + b) if G == H else 2 * (C + G) * (C + b), "each is D = C / H wide"),
    ("5.2", lambda C, H, G, b: 1, "1 is too small"),
    ("5.2", lambda C, H, G, b: 2 * (C + C // G) * (C + b), "the size of a group"),
    ("5.2", lambda C, H, G, b: 4 * C // H * G * (C + b), "only W_K and W_V are"),
    ("5.2", lambda C, H, G, b: (3 * C + C // H * G) * (C + b), "keys and values are both shared"),
    ("5.2", lambda C, H, G, b: (C + 3 * C // H * G) * (C + b), "three matrices are narrower"),
    ("5.2", lambda C, H, G, b: [1, 2], "one number is asked"),
    ("5.3", lambda right, H: [h for h in range(H) if right([h]) == right([])], "head 2 does nothing"),
    ("5.3", lambda right, H: [h for h in range(H) if right([h]) < right([])], "head 0 does not hide"),
    ("5.3", lambda right, H: list(range(H)), "head 0 does not hide"),
    ("5.3", lambda right, H: [], "Removing one at a time cannot show it"),
    ("5.3", in_pairs, "for a model of 5 heads: head 0 is missing: more than one other head does the same"),
    ("5.3", lambda right, H: in_all_company(right, H) if H == 5 else in_pairs(right, H), "without head 0, which costs already by itself, it does"),
    ("5.3", in_company(2), "for a model of 6 heads: head 0 is missing: more than one other head does the same"),
    ("5.3", in_company(3), "for a model of 6 heads: head 0 is missing: more than one other head does the same"),
    ("5.3", in_company(4), "for a model of 6 heads: head 0 is missing: more than one other head does the same"),
    ("5.3", in_company(alone=float.__eq__), "head 1 is missing: removing it alone raises the share, which costs nothing"),
    ("5.3", in_company(costs=float.__ne__), "removing it changes some answers, but only for the better"),
    ("5.3", in_company(2, float.__eq__, float.__ne__), "for a model of"),
    ("5.3", in_company(among_all=False), "head 1 is missing: removing it alone costs nothing, but without head 0, which costs already by itself"),
    ("5.3", by_itself, "head 0 is missing: on its own"),
    ("5.3", lambda right, H: in_all_company(right, H)[:1], "head 3 is missing: removing it alone costs nothing, but without head 1 it does"),
    ("5.3", lambda right, H: in_all_company(right, H)[:2], "head 4 is missing: more than one other head does the same"),
    ("5.3", lambda right, H: [1, 3], "for a model of 5 heads: head 1 does not hide"),
    ("5.3", lambda right, H: [h + 1 for h in in_all_company(right, H)], "counted from 0 and below 4"),
    ("5.3", lambda right, H: [h for h in range(H) if right(h) == right([])], "takes a list of heads"),
    ("5.3", lambda right, H: [h for h in range(1, H + 1) if right([h]) == right([])], "without head 4, but there are 4 heads"),
    ("5.3", lambda right, H: [[1, 3]], "return one list of heads"),
    ("5.3", lambda right, H: [1, 4], "return one list of heads"),
    ("5.3", lambda right, H: "1, 3", "the answer must hold numbers"),
    ("5.3", lambda right, H: 2, "return one list of heads"),
    ("5.4", merge, "this puts head after head"),
    ("5.4", flat, "mixes the tokens"),
    ("5.4", lambda x: x.permute(0, 3, 2, 1).reshape(x.shape[0], x.shape[2], -1), "the tokens stand behind the coordinates"),
    ("5.4", lambda x: undeal(x.flip(1)), "in reverse order"),
    ("5.4", lambda x: x.permute(0, 2, 3, 1), "now join the last two axes"),
    ("5.4", lambda x: x.transpose(1, 2), "an axis of their own"),
    ("5.4", lambda x: x.permute(0, 2, 3, 1).reshape(2, 5, 12), "right at first, but not for"),
    ("5.4", lambda x: torch.stack([x[:, 0], x[:, 1], x[:, 2]], -1).flatten(-2), "right at first, but not for"),
    ("5.4", lambda x: x, "nothing is merged"),
    ("5.4", lambda x: undeal(x)[0], "the shape should be (2, 5, 12)"),
    ("5.4", lambda x: x.sum(1), "they hold different coordinates"),
    ("5.4", lambda x: undeal(x).mT, "turned round: (B, T, C)"),
    ("5.5", lambda w, r: (w * r).sum(-1).mean(-1), "they do not count"),
    ("5.5", lambda w, r: (w * r).sum((-1, -2)) / r.any(0).sum(), "the number of keys"),
    ("5.5", lambda w, r: score(w, ~r), "where the relation does not lead"),
    ("5.5", lambda w, r: (w * r).sum((-1, -2)), "divide by the number of queries"),
    ("5.5", lambda w, r: (w * r).mean((-1, -2)), "you average over all pairs"),
    ("5.5", lambda w, r: (w.argmax(-1) == r.float().argmax(-1))[:, r.any(-1)].float().mean(-1), "the score is the weight itself"),
    ("5.5", lambda w, r: score(w, r).mean(), "each head has a score of its own"),
    ("5.5", lambda w, r: (w * r).sum(-1), "average over those"),
    ("5.5", lambda w, r: (w * r).amax((-1, -2)), "the largest weight"),
    ("5.5", lambda w, r: torch.stack([one[r].max() for one in w]), "the largest weight"),
    ("5.5", lambda w, r: w[:, torch.arange(len(r)), r.int().argmax(-1)].mean(-1), "`argmax` gives 0 for them"),
    ("5.5", lambda w, r: (w.mT * r).sum((-1, -2)) / r.any(-1).sum(), "turned round"),
    ("5.6", lambda x, w, h: merge(x) @ w, "with every head"),
    ("5.6", lambda x, w, h: x[:, h] @ w.unflatten(0, (3, -1))[h], "what head h alone gives"),
    ("5.6", lambda x, w, h: 1.5 * without(x, w, h), "the others are scaled up"),
    ("5.6", columns, "you clear columns"),
    ("5.6", lambda x, w, h: without(x, torch.eye(12), h), "W_O is missing"),
    ("5.6", lambda x, w, h: without(x, w.T, h), "transposed"),
    ("5.6", lambda x, w, h: without(x, w, h + 1), "counting starts from 0"),
    ("5.6", lambda x, w, h: without(x, w, h - 1), "counting starts from 0"),
    ("5.6", lambda x, w, h: flat(torch.cat([x[:, :h], 0 * x[:, h:h + 1], x[:, h + 1:]], 1)) @ w, "without swapping"),
    ("5.6", position_cleared, "you clear token h"),
    ("5.6", lambda x, w, h: mean_instead(x, w, h, x.mean(1)), "a mean of heads"),
    ("5.6", lambda x, w, h: mean_instead(x, w, h, (x.sum(1) - x[:, h]) / (x.shape[1] - 1)), "a mean of heads"),
    ("5.6", lambda x, w, h: mean_instead(x, w, h, x[:, h].mean(0)), "its own mean"),
    ("5.6", lambda x, w, h: mean_instead(x, w, h, x[:, h].mean((0, 1))), "its own mean"),
    ("5.6", lambda x, w, h: mean_instead(x, w, h, x[:, h].mean(1, keepdim=True)), "its own mean"),
    ("5.6", lambda x, w, h: merge(others_of(x, h)) @ w[: -x.shape[-1]], "so the rows no longer belong"),
    ("5.6", lambda x, w, h: merge(others_of(x, h)) @ w[x.shape[-1] :], "so the rows no longer belong"),
    ("5.6", in_place, "it changes `heads`"),
    ("5.7", mha(attend=scored(12**-0.5)), "you divide by √C"),
    ("5.7", mha(attend=scored(1.0)), "not divided by √D"),
    ("5.7", mha(attend=scored(1 / 6)), "its square root is enough"),
    ("5.7", mha(attend=scored(axis=-2)), "runs over the queries"),
    ("5.7", mha(attend=scored(axis=1)), "runs over the heads"),
    ("5.7", mha(split=viewed), "deals the tokens out"),
    ("5.7", mha(split=viewed, merge=flat), "deals the tokens out"),
    ("5.7", mha(merge=flat), "merged without swapping"),
    ("5.7", mha(split=dealt_split), "dealt out to the heads in turn"),
    ("5.7", mha(split=dealt_split, merge=undeal), "dealt out to the heads in turn"),
    ("5.7", mha(attend=looking_back), "a causal mask"),
    ("5.7", lambda x, a, b, c, d, H: mha()(x, a.T, b.T, c.T, d.T, H), "not `x @ w.T`"),
    ("5.7", lambda x, a, b, c, d, H: mha()(x, a.T, b.T, c.T, d, H), "not `x @ w.T`"),
    ("5.7", lambda x, a, b, c, d, H: mha()(x, a, b, c, d.T, H), "not `x @ w.T`"),
    ("5.7", mha(out=False), "W_O is missing"),
    ("5.7", lambda x, a, b, c, d, H: mha()(x, a, b, c, d, 1), "this is one head of width C"),
    ("5.7", lambda x, a, b, c, d, H: merge(attention(*[split(x, H)] * 3)) @ d, "slices of x"),
    ("5.7", mha(merge=lambda x: x.sum(1), out=False), "side by side"),
    ("5.7", mha(merge=lambda x: x, attend=lambda q, k, v: (q @ k.mT / 6**0.5).softmax(-1), out=False), "these are the weights"),
    ("5.7", mha(attend=scored(2**-0.5)), "the root of the number of heads"),
    ("5.7", mha(attend=scored(5**-0.5)), "the root of the number of tokens"),
    ("5.7", mha(attend=scored(6**0.5)), "you multiply the scores"),
    ("5.7", mha(attend=lambda q, k, v: (q @ k.mT).softmax(-1) / 6**0.5 @ v), "after the softmax"),
    ("5.7", mha(attend=lambda q, k, v: q @ k.mT / 6**0.5 @ v), "the softmax is missing"),
    ("5.7", mha(attend=lambda q, k, v: attention(k, q, v)), "queries and keys are exchanged"),
    ("5.7", mha(attend=lambda q, k, v: attention(q, v, k)), "keys and values are exchanged"),
    ("5.7", mha(attend=lambda q, k, v: attention(v, k, q)), "queries and values are exchanged"),
    ("5.7", mha(attend=lambda q, k, v: attention(q, k, k)), "the keys are averaged"),
    ("5.7", mha(attend=lambda q, k, v: attention(q, q, v)), "from one matrix"),
    ("5.7", mha(merge=lambda x: merge(x.flip(1))), "in reverse order"),
    ("5.7", lambda x, a, b, c, d, H: merge(attention(split(x @ a, H), split(x @ b, H), split(x, H))) @ d, "`w_v` is not used"),
    ("5.7", lambda x, *rest: x + mha()(x, *rest), "the residual connection"),
    ("5.7", lambda x, a, b, c, d, H: mha()(x, a, b, c, d, x.shape[-1] // H), "number and width of the heads are exchanged"),
    ("5.7", lambda x, a, b, c, d, H: mha()(x, a, b, c, d, 4), "as if there were always 4 heads"),
    ("5.7", lambda x, a, b, c, d, H: mha()(x, a, b, c, d, 2), "right at first, but not for"),
    ("5.7", lambda x, a, b, c, d, H: mha()(x, a, b, c, d, 2), "as if there were always 2 heads"),
    ("5.7", torchs_own, "calls PyTorch's own"),
    ("5.8", lambda w, v, j: (w[:, j, None] * v[j]).norm(dim=-1), "no longer sum to one"),
    ("5.8", lambda w, v, j: (removed(w, j) @ v).norm(dim=-1), "how far is it from the old one"),
    ("5.8", lambda w, v, j: removed(w, j) @ v, "this is the new output"),
    ("5.8", lambda w, v, j: w @ v - removed(w, j) @ v, "its length is asked"),
    ("5.8", lambda w, v, j: effect(w, v, j) ** 2, "take the root"),
    ("5.8", lambda w, v, j: (w @ v - removed(w, j) @ v).abs().sum(-1), "absolute differences"),
    ("5.8", lambda w, v, j: (w[:, j, None] * (v[j] - w @ v)).norm(dim=-1), "the other weights grow"),
    ("5.8", lambda w, v, j: w[:, j], "this is the weight of the key"),
    ("5.8", lambda w, v, j: w[:, j] / (1 - w[:, j]), "how far is value j from the output"),
    ("5.8", lambda w, v, j: (w @ v - v[j]).norm(dim=-1) / (1 - w[:, j]), "the weight itself is missing"),
    ("5.8", lambda w, v, j: (w @ v - removed(w, j) @ v).norm(), "each has its own"),
    ("5.8", lambda w, v, j: (w @ v - holed(w, v, j).softmax(-1) @ v).norm(dim=-1), "without a softmax"),
    ("5.8", lambda w, v, j: (w @ v - holed(w, v, j) / holed(w, v, j).sum(0) @ v).norm(dim=-1), "a sum of 0: that of column j"),
    ("5.8", by_columns, "the sums of columns"),
    ("5.8", lambda w, v, j: (w @ v - row_cleared(w, j) @ v).norm(dim=-1), "you clear row j"),
    ("5.8", lambda w, v, j: (w @ v - row_cleared(w, j) / row_cleared(w, j).sum(-1, keepdim=True) @ v).norm(dim=-1), "Did you clear row j"),
    ("5.8", effect_in_place, "it changes `weights`"),
    ("5.8", effect_spoiled, "it changes `weights`, which it was given"),
    ("5.9", attends_back(by=-1), "attends to the next one"),
    ("5.9", lambda T: 20 * torch.eye(T).roll(-1, 1), "not firmly"),
    ("5.9", attends_back(by=0), "attends to itself"),
    ("5.9", attends_back(size=2.0), "not firmly"),
    *(("5.9", attends_back(size=size), "with T = 128: the right positions, but not firmly") for size in (30, 50, 100, 106)),
    ("5.9", lambda T: math.log(98 * (T - 1)) * T**0.5 * torch.eye(T).roll(-1, 1), "a weight of 0.9898 instead of 0.99"),
    ("5.9", lambda T: 9 * torch.eye(T).roll(-1, 1) * T**0.5, "with T = 128: the right positions, but not firmly: a weight of 0.9845"),
    ("5.9", attends_back(by=2), "position 1, counted from 0, attends most to position 3"),
    ("5.9", lambda T: 50 * torch.ones(T, T).tril(-1), "position 2, counted from 0, gives the same weight to positions 0, 1;"),
    ("5.9", lambda T: 50 * torch.ones(T, T).triu(1), "position 1, counted from 0, gives the same weight to positions 2, 3;"),
    ("5.9", lambda T: torch.zeros(T, T), "position 1, counted from 0, gives the same weight to positions 0, 1, 2, 3;"),
    ("5.9", lambda T: torch.eye(T).roll(1, 1).triu(), "attends to the next one"),
    ("5.9", some_elsewhere, "position 2, counted from 0, attends most to position 3"),
    ("5.9", lambda T: attends_back()(T)[1:], "a row for each position"),
    ("5.9", lambda T: attends_back()(T) * float("inf"), "a NaN in the weights"),
    ("5.10", {"one_both": 9 / 16, "half_right": 9 / 16, "half_both": 9 / 16}, "that is the share of right answers"),
    ("5.10", {"one_both": 1 / 64, "half_right": 9 / 16, "half_both": 9 / 16}, "two guesses"),
    ("5.10", {"one_both": 0, "half_right": 0.5, "half_both": 0.5}, "right sometimes"),
    ("5.10", {"one_both": 0.5, "half_right": 0.5, "half_both": 0.25}, "eight ages to guess from"),
    ("5.10", {"one_both": (9 / 16) ** 2, "half_right": 0.5, "half_both": 0.25}, "not equally good"),
    ("5.10", {"one_both": 1 / 8, "half_right": 0.5, "half_both": 0.5}, "half_right: almost"),
    ("5.10", {"one_both": 1 / 8, "half_right": 7 / 16, "half_both": 9 / 16}, "half of the 56 families"),
    ("5.10", {"one_both": 1 / 8, "half_right": 25 / 32, "half_both": 9 / 16}, "neither answer is right"),
    ("5.10", {"one_both": 1 / 8, "half_right": 0.75, "half_both": 0.5}, "half_right: that is too much"),
    ("5.10", {"one_both": 1 / 8, "half_right": 1 / 8, "half_both": 1 / 8}, "more often than a guess among eight"),
    ("5.10", {"one_both": 1 / 8, "half_right": 1, "half_both": 1}, "half_right: 3 and 7 give the same average"),
    ("5.10", {"one_both": 1 / 8, "half_right": 9 / 16, "half_both": 1 / 8}, "which is right sometimes"),
    ("5.10", {"one_both": 1 / 8, "half_right": 9 / 16, "half_both": (9 / 16) ** 2}, "guessed apart"),
    ("5.10", {"one_both": 1 / 8, "half_right": 9 / 16, "half_both": 11 / 32}, "guessed apart"),
    ("5.10", {"one_both": 1 / 8, "half_right": 9 / 16, "half_both": 7 / 16}, "in the 8 others both are right"),
    ("5.10", {"one_both": 1 / 8, "half_right": 9 / 16, "half_both": 0.5}, "half_both: almost"),
    ("5.10", {"one_both": 1 / 4, "half_right": 9 / 16, "half_both": 9 / 16}, "eight ages to guess from"),
    ("5.10", {"one_both": 12.5, "half_right": 56, "half_both": 56}, "not per cents"),
    ("5.10", {"one_both": 1 / 8, "half_right": 0.6, "half_both": 9 / 16}, "half_right: 8 of the 64"),
    ("5.11", {"statement": True, "ways": 4, "cache": 24}, "that is what the statement says"),
    ("5.11", {"statement": True, "ways": 6, "cache": 24}, "share nothing but those"),
    ("5.11", {"statement": False, "ways": 4, "cache": 24}, "do the others all fail"),
    ("5.11", {"statement": False, "ways": 7, "cache": 24}, "more than one fails"),
    ("5.11", {"statement": False, "ways": 5, "cache": 24}, "Sharing nothing counts too"),
    ("5.11", {"statement": False, "ways": 8, "cache": 24}, "the smaller of the two shares"),
    ("5.11", {"statement": False, "ways": 2, "cache": 24}, "the ways that fail"),
    ("5.11", {"statement": False, "ways": 3, "cache": 24}, "which makes eight"),
    ("5.11", {"statement": False, "ways": 6, "cache": 48}, "with nothing shared"),
    ("5.11", {"statement": False, "ways": 6, "cache": 36}, "can both be?"),
    ("5.11", {"statement": False, "ways": 6, "cache": 12}, "both are kept"),
    ("5.11", {"statement": False, "ways": 6, "cache": 72}, "queries are not kept"),
    ("5.11", {"statement": False, "ways": 6, "cache": 2}, "count numbers, not heads"),
    ("5.11", {"statement": False, "ways": 6, "cache": 7}, "cache: which of the ways"),
    ("5.11", {"statement": "no", "ways": 6, "cache": 24}, "statement: the answer must hold numbers"),
    ("5.12", by_hand(w_q=3 * HANDED), "not firmly: a weight of 0.60"),
    ("5.12", by_hand(w_q=8 * HANDED), "not divided by √4"),
    ("5.12", by_hand(w_q=ASK[LATER]), "the ages are exchanged"),
    ("5.12", by_hand(w_o=HANDED[LATER]), "the ages are exchanged"),
    ("5.12", by_hand(w_q=20 * blocks(I4, I4, O4, O4)), "both halves hold the age of the first child"),
    ("5.12", by_hand(w_q=20 * blocks(O4, O4, I4, I4)), "both halves hold the age of the second child"),
    ("5.12", by_hand(w_q=20 * blocks(I4, I4, I4, I4)), "the mean of the two ages"),
    ("5.12", by_hand(w_k=blocks(I4, O4, O4, O4)), "head 1 gives them 1.00 and 0.00 of its weight, head 2 0.25 and 0.25"),
    ("5.12", by_hand(w_k=HANDED), "the weights change with the ages"),
    ("5.12", by_hand(w_k=torch.zeros(8, 8)), "every child gets the same weight"),
    ("5.12", by_hand(w_k=blocks(O4, O4, I4, I4)), "the weights change with the ages"),
    ("5.12", by_hand(w_v=NAME), "these are names"),
    ("5.12", by_hand(w_v=HANDED), "the first half holds a name"),
    ("5.12", by_hand(w_v=blocks(O4, I4, I4, O4)), "the second half holds a name"),
    ("5.12", by_hand(w_v=blocks(O4, O4, I4.roll(1, 0), I4)), "What they average (w_v)"),
    ("5.12", by_hand(w_v=blocks(O4, O4, I4, O4)), "the second half stays empty"),
    ("5.12", by_hand(w_v=blocks(O4, O4, O4, I4)), "the first half stays empty"),
    ("5.12", by_hand(w_o=blocks(I4, I4, I4, I4)), "added up"),
    ("5.12", by_hand(w_o=0.5 * blocks(I4, I4, I4, I4)), "the mean of the two ages"),
    ("5.12", by_hand(w_o=blocks(I4, I4, O4, O4)), "both halves hold the age of the first child"),
    ("5.12", by_hand(w_o=blocks(I4, O4, I4, O4)), "in the first half, added up"),
    ("5.12", by_hand(w_k=NAME.T), "right with w_k transposed"),
    ("5.12", by_hand(w_v=AGE.T), "right with w_v transposed"),
    ("5.12", by_hand(w_o=torch.zeros(8, 8)), "the layer returns zeros"),
    ("5.12", by_hand(w_o=20 * HANDED), "a 1 and three zeros"),
    ("5.12", by_hand(w_q=-ASK), "gets the least weight"),
    ("5.12", by_hand(w_k=-NAME), "gets the least weight"),
    ("5.12", by_hand(w_q=20 * blocks(O4, I4, O4, I4)), "head 2 0.50 and 0.50"),
    ("5.12", [w.T for w in BY_HAND], "it is x @ w: transpose all four"),
    ("5.12", [w[:, torch.arange(8).reshape(2, 4).T.flatten()] for w in BY_HAND[:3]] + [HANDED[torch.arange(8).reshape(2, 4).T.flatten()]], "dealt out in turn"),
    ("5.12", by_hand(w_q=1e200 * HANDED.double(), w_k=1e200 * NAME.double()), "overflow"),
    ("5.12", by_hand(w_q=blocks(*[torch.diag(torch.tensor(x)) for x in ([80.0, 60, 40, 20], [20.0, 40, 60, 80])] * 2)), "exchange their jobs"),
    ("5.12", by_hand(w_q=float("nan") * HANDED), "must be finite"),
    ("5.12", by_hand(w_q=ASK[:, :4]), "w_q should be (8, 8), it is (8, 4)"),
    ("5.12", BY_HAND[:3], "four matrices are asked"),
    ("5.12", lambda: BY_HAND, "four matrices are asked"),
    ("5.13", sends(cut=straight, heads=lambda H, n: H, bias=lambda b, n, r: b), "it still does what it did"),
    ("5.13", sends(cut=straight, heads=lambda H, n: H), "the bias is right now"),
    ("5.13", sends(cut=straight, heads=lambda H, n: H, bias=first_only), "the bias is right now"),
    ("5.13", sends(cut=straight, bias=lambda b, n, r: b), "the number of heads is right now. But cut straight"),
    ("5.13", sends(heads=lambda H, n: H, bias=lambda b, n, r: b), "too many, and too narrow"),
    ("5.13", sends(bias=lambda b, n, r: b), "what is in it 2 times"),
    ("5.13", sends(bias=lambda b, n, r: 0), "the bias got lost"),
    ("5.13", sends(bias=lambda b, n, r: b * (r > 0)), "the bias is in the sum"),
    ("5.13", sends(bias=lambda b, n, r: b / n * (r == 0)), "only a part of the bias"),
    ("5.13", sends(cut=lambda w, n, r: [part[:, r::n] for part in w.chunk(3, dim=1)]), "the columns are dealt out"),
    ("5.13", heads_in_turn, "the heads are dealt out"),
    ("5.13", sends(rows=lambda w, n, r: w[r::n]), "the rows of `w_o` are dealt out"),
    ("5.13", sends(cut=straight, rows=lambda w, n, r: w[r::n]), "cut straight"),
    ("5.13", sends(rows=lambda w, n, r: torch.eye(len(w)).chunk(n)[r]), "`w_o` is missing"),
    ("5.13", lambda *a: sends()(*a).cumsum(0), "its own part"),
    ("5.13", lambda *a: sends()(*a)[:1].expand(a[-1], -1, -1, -1), "the part of machine 0"),
    ("5.13", sends(rows=lambda w, n, r: w.chunk(n)[0]), "the first rows of `w_o`"),
    ("5.13", sends(rows=lambda w, n, r: w.T.chunk(n)[r]), "these are columns of `w_o`"),
    ("5.13", sends(cut=lambda w, n, r: columns_of(w, n, 0)), "the heads of machine 0"),
    ("5.13", sends(cut=lambda w, n, r: columns_of(w, n, n - 1 - r)), "the machines are exchanged"),
    ("5.13", sends(heads=lambda H, n: 1), "one wide head"),
    ("5.13", sends(heads=lambda H, n: n), "n heads on each machine"),
    ("5.13", sends(heads=lambda H, n: 4), "right at first, but not for"),
    ("5.13", sends(attend=scored(48**-0.5)), "divided by √C"),
    ("5.13", sends(attend=scored(24**-0.5)), "the root of C / n"),
    ("5.13", sends(attend=scored(12**-0.5)), "has n in it"),
    ("5.13", sends(attend=scored(1.0)), "not divided by √D"),
    ("5.13", sends(merge=flat), "without swapping"),
    ("5.13", sends(heads=lambda H, n: 2), "n heads on each machine"),
    ("5.13", sends(split=viewed), "deals the tokens out"),
    ("5.13", sends(split=viewed, merge=flat), "deals the tokens out"),
    ("5.13", sends(attend=scored(axis=-2)), "runs over the queries"),
    ("5.13", sends(cut=lambda w, n, r: [columns_of(w, n, r)[part] for part in (0, 1, 1)]), "the keys are averaged"),
    ("5.13", lambda *a: sends()(*a).sum(0, keepdim=True), "this is the sum"),
    ("5.13", all_spoiled, "it changes `w_o`"),
    ("5.13", lambda *a: sends()(*a).sum(0), "this is the sum"),
    ("5.13", lambda *a: sends()(*a).transpose(0, 1), "the first axis"),
    ("5.13", lambda *a: sends()(*a).flatten(0, 1), "not `cat`"),
    ("5.13", all_heads, "all the heads"),
    ("5.13", lambda *a: all_heads(*a) / a[-1], "no work is shared"),
    ("5.13", lambda *a: all_heads(*a)[0], "this is the sum"),
    ("5.13", sent_in_place, "it changes `b_o`"),
]  # fmt: skip
