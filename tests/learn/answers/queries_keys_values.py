"""Right answers written differently, and the wrong ones people give, each with words of the mistake it must name."""

import functools
import math

import numpy as np
import torch

from attnlib import attention
from attnlib.experiments.queries_keys_values.black_boxes import BOXES
from attnlib.scoring import additive_scores, dot_scores


def naive_softmax(s):
    e = torch.exp(s)
    return e / e.sum(-1, keepdim=True)


def shifted_softmax(s):
    e = torch.exp(s - s.max(dim=-1, keepdim=True).values)
    return e / e.sum(dim=-1, keepdim=True)


def squared(q, k):
    return ((q - k) ** 2).sum(-1)


def gaussian(q, k, v, w):
    e = torch.exp(-squared(q, k) / (2 * w**2))
    return (e * v).sum() / e.sum()


def loop_attention(q, k, v):
    if q.ndim > 2:
        return torch.stack([loop_attention(*x) for x in zip(q, k, v, strict=True)])
    rows = []
    for query in q:
        w = torch.softmax(torch.stack([query @ key for key in k]) / math.sqrt(len(query)), 0)
        rows.append(sum(a * x for a, x in zip(w, v, strict=True)))
    return torch.stack(rows)


def in_place_attention(q, k, v):
    q /= q.shape[-1] ** 0.5
    return torch.softmax(q @ k.mT, -1) @ v


def shifted_by(how):
    def softmax(s):
        e = torch.exp(s - how(s))
        return e / e.sum(-1, keepdim=True)

    return softmax


def scored(change, axis=-1):
    return lambda q, k, v: change(q @ k.transpose(-2, -1), q.shape[-1]).softmax(axis) @ v


def hidden(q, k, w_q, w_k):
    return (q @ w_q)[:, :, None] + (k @ w_k)[:, None]


def loop_additive(q, k, w_q, w_k, v):
    return torch.stack(
        [
            torch.stack([torch.stack([v @ torch.tanh(i @ w_q + j @ w_k) for j in kb]) for i in qb])
            for qb, kb in zip(q, k, strict=True)
        ]
    )


def shuffled_both(layer, x):
    p = torch.randperm(len(x), generator=torch.Generator().manual_seed(5))
    return not torch.allclose(layer(x[p]), layer(x)[p], atol=1e-5)


def unshuffled_back(layer, x):
    p = torch.tensor([3, 1, 6, 0, 2, 5, 4])
    back = torch.argsort(p)
    return (layer(x[p])[back] - layer(x)).abs().max() > 1e-4


def swapped(i, j):
    def order_matters(layer, x):
        p = torch.arange(len(x))
        p[[i, j]] = p[[j, i]]
        return not torch.allclose(layer(x[p]), layer(x)[p], atol=1e-5)

    return order_matters


def every_swap(layer, x):
    return any(swapped(i, j)(layer, x) for i in range(len(x)) for j in range(i))


def every_shift(layer, x):
    shifts = range(1, len(x))
    return any((layer(x.roll(n, 0)) - layer(x).roll(n, 0)).norm() > 1e-4 for n in shifts)


def several_shuffles(layer, x):
    moved = [(layer(x[p]) - layer(x)[p]).norm() for p in map(torch.randperm, [len(x)] * 20)]
    return np.bool_(max(moved) > 1e-4)


def seeded(seed):
    def order_matters(layer, x):
        p = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))
        return not torch.allclose(layer(x[p]), layer(x)[p], atol=1e-5)

    return order_matters


def seeded_everywhere(layer, x):
    torch.manual_seed(1)
    return unseeded(layer, x)


def unseeded(layer, x):
    p = torch.randperm(len(x))
    return not torch.allclose(layer(x[p]), layer(x)[p], atol=1e-5)


def same_sum(layer, x):
    p = torch.tensor([3, 1, 6, 0, 2, 5, 4])
    return not torch.allclose(layer(x[p]).sum(), layer(x).sum(), atol=1e-4)


def coarse(layer, x):
    p = torch.tensor([3, 1, 6, 0, 2, 5, 4])
    return bool((layer(x[p]) - layer(x)[p]).abs().max() > 0.2)


def shuffled_input_only(layer, x):
    p = torch.tensor([3, 1, 6, 0, 2, 5, 4])
    return not torch.allclose(layer(x[p]), layer(x))


def by_norm(tolerance):
    p = torch.tensor([3, 1, 6, 0, 2, 5, 4])
    return lambda layer, x: (layer(x[p]) - layer(x)[p]).norm() > tolerance


def alike_when_shuffled(layer, x):
    p = torch.randperm(len(x))
    return torch.allclose(layer(x[p]), layer(x)[p], atol=1e-4)


def shuffled_twice(layer, x):
    p = torch.tensor([3, 1, 6, 0, 2, 5, 4])
    return not torch.allclose(layer(x[p])[p], layer(x), atol=1e-5)


def first_four(layer, x):
    longer = torch.cat([x[:4], x[:3] + 1])
    return not torch.allclose(layer(longer)[:4], layer(x)[:4], atol=1e-5)


def exact(layer, x):
    p = torch.tensor([3, 1, 6, 0, 2, 5, 4])
    return not torch.equal(layer(x[p]), layer(x)[p])


def flipped(layer, x):
    return not torch.allclose(layer(x.flip(0)), layer(x).flip(0), atol=1e-5)


def over_table(s):
    e = torch.exp(s - s.amax(-1, keepdim=True))
    return e / e.sum()


def with_epsilon(s):
    e = torch.exp(s - s.amax(-1, keepdim=True))
    return e / (e.sum(-1, keepdim=True) + 1e-2)


def causal_attention(q, k, v):
    scores = q @ k.mT / q.shape[-1] ** 0.5
    return scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -math.inf).softmax(-1) @ v


def rolled_once(layer, x):
    return not torch.allclose(layer(x.roll(1, 0)), layer(x).roll(1, 0), atol=1e-5)


def features_shuffled(layer, x):
    p = torch.randperm(x.shape[1])
    return not torch.allclose(layer(x[:, p]), layer(x)[:, p], atol=1e-5)


def later_alone(layer, x):
    swap = torch.tensor([1, 0, 2, 3, 4, 5, 6])
    return not torch.allclose(layer(x[swap])[2:], layer(x)[2:], atol=1e-5)


def tolerance_of(atol):
    def order_matters(layer, x):
        p = torch.randperm(len(x))
        return not torch.allclose(layer(x[p]), layer(x)[p], atol=atol)

    return order_matters


MONTHS = {"statement": False, "width": 2, "months": 2}
AGAIN = 2**0.5 / 1.5**2  # what makes up for √2, and the bandwidth
KEYS = [[1, 0], [0, -0.5], [0, 0]]


def as_query(*factors):
    """Return w_q for a query (h, 1), times these factors."""
    return [[factors[0], 0], [0, 0], [0, factors[-1]]]


def crossing(turn=lambda k: k.mT, size=lambda x, h, q, v: q.shape[-1], axis=-1, mixed=lambda v, k, h: v):
    def cross_attention(x, context, w_q, w_k, w_v):
        q, k, v = x @ w_q, context @ w_k, context @ w_v
        scores = q @ turn(k) / size(x, context, q, v) ** 0.5
        return scores.softmax(axis) @ mixed(v, k, context)

    return cross_attention


def reshaped(k):
    return k.reshape(len(k), -1, k.shape[1])


def one_by_one(x, context, w_q, w_k, w_v):
    rows = []
    for words, others in zip(x, context, strict=True):
        keys, values = others @ w_k, others @ w_v
        for word in words:
            e = torch.exp(torch.stack([(word @ w_q).dot(key) for key in keys]) / math.sqrt(w_k.shape[1]))
            rows.append((e / e.sum()) @ values)
    return torch.stack(rows).reshape(*x.shape[:2], -1)


def in_place_crossing(x, context, w_q, w_k, w_v):
    w_q /= w_q.shape[1] ** 0.5
    return (x @ w_q @ (context @ w_k).mT).softmax(-1) @ (context @ w_v)


def probes(box, count=12):
    """Return whether order does not matter, whether all tokens twice change nothing, and whether two are averaged."""
    x = torch.randn(count, 3, generator=torch.Generator().manual_seed(2))
    p = torch.randperm(count, generator=torch.Generator().manual_seed(3))
    one, other, both = box(x[:1])[0], box(x[1:2])[0], box(x[:2])
    way = other - one
    shares = (both - one) @ way / (way @ way)
    return (
        torch.allclose(box(x[p]), box(x)[p], atol=1e-4),
        torch.allclose(box(torch.cat([x[:2], x[:2]])), torch.cat([both, both]), atol=1e-4),
        torch.allclose(both, one + shares[:, None] * way, atol=1e-4)
        and bool(((shares > -1e-4) & (shares < 1.0001)).all()),
    )


RIGHT = {
    "3.1": [
        [-2, -2.5, 1.5],
        [-2, [-2.5, 1.5]],
        {"apple": -2, "first": -2.5, "second": 1.5},
        (2 * -1.0, -1 - 6 / 4, 6 / 4),
        np.linalg.solve([[1, 0, 0], [0, 1, 1], [0, 0, 4]], [-2, -1, 6]),
        torch.tensor([-2.0, -2.5, 1.5]),
    ],
    "3.2": [
        shifted_softmax,
        lambda s: torch.exp2((s - s.amax(-1, keepdim=True)) / math.log(2)) / torch.exp2((s - s.amax(-1, keepdim=True)) / math.log(2)).sum(-1, keepdim=True),
        lambda s: np.exp(s.numpy() - s.numpy().max(-1, keepdims=True))
        / np.exp(s.numpy() - s.numpy().max(-1, keepdims=True)).sum(-1, keepdims=True),
        lambda s: 1 / (s[..., None, :] - s[..., :, None]).exp().sum(-1),
    ],
    "3.3": [
        gaussian,
        lambda q, k, v, w: (-squared(q, k) / (2 * w * w)).softmax(0) @ v,
        lambda q, k, v, w: (-torch.cdist(q[None], k)[0] ** 2 / (2 * w**2)).softmax(0).dot(v).item(),
        lambda q, k, v, w: sum(
            float(torch.exp(-(q - a).norm() ** 2 / 2 / w**2)) * float(b) for a, b in zip(k, v, strict=True)
        ) / sum(float(torch.exp(-(q - a).norm() ** 2 / 2 / w**2)) for a in k),
        lambda q, k, v, w: gaussian(q, k, v, w).reshape(1),
    ],
    "3.4": [
        scored(lambda s, d: s / math.sqrt(d)),
        loop_attention,
        lambda q, k, v: torch.einsum(
            "...ts,...sd->...td",
            torch.softmax(torch.einsum("...td,...sd->...ts", q, k) * q.shape[-1] ** -0.5, -1),
            v,
        ),
        lambda q, k, v: shifted_softmax((q * q.shape[-1] ** -0.5) @ k.mT).numpy() @ v.numpy(),
    ],
    "3.5": [
        [[-4, 1], [3, 0]],
        torch.tensor([[-8.0, 2.0], [6.0, 0.0]]),
        np.array([[-3.5, 1.0], [2.5, 0.0]]),
        [torch.tensor([-4.0, 1.0]), torch.tensor([3.0, 0.0])],
    ],
    "3.6": [
        [[1, 0], [2, 2], [1, 6]],
        torch.tensor([[0.1, 0.0], [1.0, 1.0], [0.0, 5.0]]),
        [torch.tensor([1.0, 0]), torch.tensor([2.0, 2]), torch.tensor([1.0, 6])],
        np.array([[1, 0], [2, 2], [1, 6]], dtype=np.float16),
    ],
    "3.7": [
        lambda q, k, w_q, w_k, v: torch.tanh(hidden(q, k, w_q, w_k)) @ v,
        additive_scores,
        loop_additive,
        lambda q, k, w_q, w_k, v: torch.einsum(
            "btsd,d->bts", torch.tanh((q @ w_q).unsqueeze(2) + (k @ w_k).unsqueeze(1)), v
        ),
    ],
    "3.8": [shuffled_both, unshuffled_back, every_swap, several_shuffles, seeded_everywhere, *map(seeded, range(20))],
    "3.9": [
        [0.142, 2.39],
        (math.exp(8**0.5) / (102 + math.exp(8**0.5)), 1 + math.log(51) / 8**0.5),
        np.array([0.15, 2.5]),
        {"share": 0.13, "times": 2.2},
        torch.tensor([[0.14, 2.4]]),
        [16.9 / 119, 6.76 / 2.83],
    ],
    "3.10": [
        MONTHS,
        {"statement": False, "width": 2.0, "months": np.int64(2)},
        {"months": torch.tensor(2), "statement": np.bool_(False), "width": 2},
        {"statement": torch.tensor(False), "width": [2], "months": torch.tensor([2])},
        {"statement": 0, "width": 2, "months": 2},
    ],
    "3.11": [
        [as_query(AGAIN), KEYS],
        (torch.tensor(as_query(0.63)), np.array(KEYS)),
        [as_query(1), (torch.tensor(KEYS) * AGAIN).tolist()],
        {"w_q": as_query(-0.8, 0.8), "w_k": [[-math.pi / 4, 0], [0, -math.pi / 8], [0, 0]]},
        [[[1, 0, 0], [0, 0, 1], [0, 1, 0]], torch.tensor([[1, 0, 0], [0, -0.5, 0], [0, 0, -0.5]]) * 3**0.5 / 2.25],
        np.array([as_query(1), KEYS]) * AGAIN**0.5,
        [[[2, 0, 0, 0], [0, 0, 0, 0], [0, 2, 0, 0]], [[1 / 2.25, 0, 0, 0], [0, -0.5 / 2.25, 0, 0], [0, 0, 5, 7]]],
    ],
    "3.12": [
        crossing(),
        lambda x, context, w_q, w_k, w_v: attention(x @ w_q, context @ w_k, context @ w_v),
        crossing(turn=lambda k: k.transpose(1, 2), axis=2),
        lambda x, context, w_q, w_k, w_v: torch.einsum(
            "bts,bse,ev->btv",
            torch.softmax(torch.einsum("btc,cd,ed,bse->bts", x, w_q, w_k, context) / w_q.shape[1] ** 0.5, -1),
            context,
            w_v,
        ),
        one_by_one,
        crossing(turn=lambda k: k.permute(0, 2, 1).reshape(len(k), -1, k.shape[1])),
        lambda x, context, w_q, w_k, w_v: shifted_softmax(
            (x @ w_q @ (context @ w_k).mT) * w_k.shape[-1] ** -0.5
        ).numpy() @ (context @ w_v).numpy(),
    ],
    "3.13": [
        ["b", "d", "f", "g"],
        {"g", "f", "d", "b"},
        ("G", "d", " b", "f"),
        "bdfg",
        "b, d, f and g".replace("and ", ""),
        {name: name in "bdfg" for name in "abcdefg"},
        [name for name, box in BOXES.items() if not all(probes(box))],
    ],
}  # fmt: skip

WRONG = [
    ("3.1", [-2, 1.5, -2.5], "the two numbers of the query are exchanged"),
    ("3.1", [-2, -1, 6], "−1 and 6 are scores"),
    ("3.1", [-2, -7, 6], "four times the second number"),
    ("3.1", [2, 2.5, -1.5], "every sign is turned round"),
    ("3.1", [-(2**0.5), -2.5, 1.5], "these are raw scores"),
    ("3.1", [2, -2.5, 1.5], "Can the one score be above 0"),
    ("3.1", [-1, -2.5, 1.5], "but it is longer"),
    ("3.1", [-4, -2.5, 1.5], "its length counts once"),
    ("3.1", [2.5, -2.5, 1.5], "not between buy and phone"),
    ("3.1", [1, -2.5, 1.5], "not one more each"),
    ("3.1", [-2, -2.5, 24], "second: phone is (0, 4)"),
    ("3.1", [-2, -2.5, -1.5], "second: phone scores above 0"),
    ("3.1", [-2, 2.5, 1.5], "first: a sign is turned round"),
    ("3.1", [-2, 0.5, 1.5], "the sum of the two numbers"),
    ("3.1", [-2, -1, 1.5], "if buy were (1, 0)"),
    ("3.1", [-3, -2.5, 1.5], "Which way does apple point"),
    ("3.1", [-2, -2.5, 2], "their product with phone should be 6"),
    ("3.1", [-2, -3, 1.5], "their product with buy should be −1"),
    ("3.1", [-2, -2.5], "the shape should be (3,), yours is (2,)"),
    ("3.1", "-2 -2.5 1.5", "must hold numbers"),
    ("3.2", naive_softmax, "[[1000.0, 1001.0]] gives NaN"),
    ("3.2", shifted_by(lambda s: s.mean(-1, keepdim=True)), "[[1000.0, 0.0], [1.0, 2.0]] gives NaN"),
    ("3.2", shifted_by(lambda s: s.amin(-1, keepdim=True)), "[[1000.0, 0.0], [1.0, 2.0]] gives NaN"),
    ("3.2", shifted_by(lambda s: s.max()), "[[1000.0, 0.0], [1.0, 2.0]] gives NaN"),
    ("3.2", shifted_by(lambda s: s.abs().amax(-1, keepdim=True)), "[-1000.0, -1001.0]] gives NaN"),
    ("3.2", lambda s: shifted_softmax(s.mT).mT if s.ndim > 2 else shifted_softmax(s), "with more axes"),
    ("3.2", lambda s: torch.softmax(s, -1), "ready-made"),
    ("3.2", torch.nn.Softmax(-1), "ready-made"),
    ("3.2", lambda s: (s - s.logsumexp(-1, keepdim=True)).exp(), "a function that takes the exponentials and their sum"),
    ("3.2", lambda s: torch.nn.functional.softmin(-s, -1), "ready-made"),
    ("3.2", lambda s: torch.special.softmax(s, -1), "ready-made"),
    ("3.2", lambda s: torch.special.log_softmax(s, -1).exp(), "ready-made"),
    ("3.2", lambda s: (s - torch.special.logsumexp(s, -1, keepdim=True)).exp(), "ready-made"),
    ("3.2", lambda s: (s - s.logcumsumexp(-1)[..., -1:]).exp(), "ready-made"),
    ("3.2", lambda s: (s - functools.reduce(torch.logaddexp, s.unbind(-1))[..., None]).exp(), "ready-made"),
    ("3.2", lambda s: torch.exp(s - s.amax(-1, keepdim=True)), "divided by their sum"),
    ("3.2", lambda s: (shifted_softmax(s), s), "returns a tuple of 2"),
    ("3.2", lambda s: s.softmax(0), "the columns sum to one"),
    ("3.2", lambda s: s.flatten().softmax(0).reshape(s.shape), "the whole table sums to one"),
    ("3.2", lambda s: s / s.sum(-1, keepdim=True), "the exponential is missing"),
    ("3.2", torch.exp, "divided by their sum"),
    ("3.2", lambda s: s.log_softmax(-1), "the logarithm"),
    ("3.2", lambda s: naive_softmax(s.clamp(max=50)), "[[1000.0, 1001.0]] gives equal weights"),
    ("3.2", lambda s: shifted_softmax(s * 0.99 if s.max() > 999 else s), "but not for [[1000.0, 1001.0]]"),
    ("3.2", over_table, "the whole table sums to one"),
    ("3.2", with_epsilon, "nothing should be added to the sum"),
    ("3.2", lambda s: torch.softmax(s, 1), "right for a table, but not with more axes"),
    ("3.2", lambda s: None, "returns None: the return is missing"),
    ("3.2", lambda: 1, "it stopped with `TypeError"),
    ("3.2", 3.0, "must be a function"),
    ("3.3", lambda q, k, v, w: (torch.exp(-squared(q, k) / (2 * w**2)) * v).sum(), "do not sum to one"),
    ("3.3", lambda q, k, v, w: (-squared(q, k) / (2 * w**2)).softmax(0), "these are the weights"),
    ("3.3", lambda q, k, v, w: gaussian(q, k, v, w**0.5), "the bandwidth is not squared"),
    ("3.3", lambda q, k, v, w: gaussian(q, k, v, w / 2**0.5), "the 2 is missing"),
    ("3.3", lambda q, k, v, w: (-squared(q, k).sqrt() / (2 * w**2)).softmax(0) @ v, "the distance is not squared"),
    ("3.3", lambda q, k, v, w: (squared(q, k) / (2 * w**2)).softmax(0) @ v, "the sign is missing"),
    ("3.3", lambda q, k, v, w: (-((q - k).sum(-1) ** 2) / (2 * w**2)).softmax(0) @ v, "square each difference"),
    ("3.3", lambda q, k, v, w: (-squared(q, k) / 2 * w**2).softmax(0) @ v, "put the 2 bandwidth² in brackets"),
    ("3.3", lambda q, k, v, w: (-squared(q, k)).softmax(0) @ v, "the bandwidth is missing"),
    ("3.3", lambda q, k, v, w: (-squared(q, k) / 2).softmax(0) @ v, "the bandwidth is missing"),
    ("3.3", lambda q, k, v, w: gaussian(q, k, v, w * 2**0.5), "the 2 is squared as well"),
    ("3.3", lambda q, k, v, w: (-2 * squared(q, k) / w**2).softmax(0) @ v, "the 2 stands below the line"),
    ("3.3", lambda q, k, v, w: (-(squared(q, k) ** 2) / (2 * w**2)).softmax(0) @ v, "squared twice"),
    ("3.3", lambda q, k, v, w: (-(q - k).abs().sum(-1) / w).softmax(0) @ v, "absolute differences"),
    ("3.3", lambda q, k, v, w: (-(q - k).norm(dim=-1) / w).softmax(0) @ v, "the distance is not squared"),
    ("3.3", lambda q, k, v, w: (-squared(q, k) / (2 * w**2)) @ v, "the exponential is missing"),
    ("3.3", lambda q, k, v, w: (1 / squared(q, k)) @ v / (1 / squared(q, k)).sum(), "the exponential is missing"),
    ("3.3", lambda q, k, v, w: (-squared(q, k) / (2 * w**2)).softmax(0) @ k, "you mix the keys"),
    ("3.3", lambda q, k, v, w: (-squared(q, k) * w).softmax(0) @ v, "you multiply by the bandwidth"),
    ("3.3", lambda q, k, v, w: (torch.exp(-squared(q, k) / (2 * w**2)) * v).mean(), "do not sum to one"),
    ("3.3", lambda q, k, v, w: torch.exp(-squared(q, k) / (2 * w**2)) @ v / (w * (2 * math.pi) ** 0.5), "do not sum to one"),
    ("3.3", lambda q, k, v, w: v[squared(q, k).argmin()], "nearest value alone"),
    ("3.3", lambda q, k, v, w: (-((q - k) ** 2).mean(-1) / (2 * w**2)).softmax(0) @ v, "the mean of the squared"),
    ("3.3", lambda q, k, v, w: (-((q - k) ** 2).sum(0) / (2 * w**2)).softmax(0) @ v, "you add up over the keys"),
    ("3.3", lambda q, k, v, w: (k @ q / (2 * w**2)).softmax(0) @ v, "these are dot products"),
    ("3.3", lambda q, k, v, w: (k @ q / len(q) ** 0.5).softmax(0) @ v, "these are dot products"),
    ("3.4", in_place_attention, "right, but it changes `q`"),
    ("3.4", scored(lambda s, d: s), "not divided by √D"),
    ("3.4", scored(lambda s, d: s / d), "its square root is enough"),
    ("3.4", scored(lambda s, d: s / math.sqrt(s.shape[-1])), "the number of keys"),
    ("3.4", scored(lambda s, d: s / math.sqrt(d), axis=-2), "the softmax runs over the queries"),
    ("3.4", lambda q, k, v: (q @ k.mT).softmax(-1) / math.sqrt(q.shape[-1]) @ v, "you divide the weights"),
    ("3.4", lambda q, k, v: (q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1) @ k, "you mix the keys"),
    ("3.4", lambda q, k, v: q @ k.mT / math.sqrt(q.shape[-1]) @ v, "the softmax is missing"),
    ("3.4", scored(lambda s, d: s * math.sqrt(d)), "you multiply by √D"),
    ("3.4", lambda q, k, v: (q @ k.T / math.sqrt(q.shape[-1])).softmax(-1) @ v, "right at first, but not for"),
    ("3.4", lambda q, k, v: (q @ k.mT / math.sqrt(v.shape[-1])).softmax(-1) @ v, "the width of v"),
    ("3.4", lambda q, k, v: (q @ k.mT / math.sqrt(q.shape[-1])).softmax(1) @ v, "axis 1 is the heads"),
    ("3.4", lambda q, k, v: (q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1), "these are the weights"),
    ("3.4", lambda q, k, v: (q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1).softmax(-1) @ v, "two softmaxes"),
    ("3.4", lambda q, k, v: (attention(q, k, v), q), "returns a tuple of 2"),
    ("3.4", attention, "the ready-made function"),
    ("3.4", torch.nn.functional.scaled_dot_product_attention, "the ready-made function"),
    ("3.4", scored(lambda s, d: s / math.sqrt(5)), "right at first, but not for"),
    ("3.4", lambda q, k, v: (k @ q.mT / math.sqrt(q.shape[-1])).softmax(-1) @ v, "queries and keys are exchanged"),
    ("3.4", scored(lambda s, d: s / math.sqrt(d), axis=2), "count it from the end"),
    ("3.4", scored(lambda s, d: s / 8), "the root of 64"),
    ("3.4", causal_attention, "you mask what comes later"),
    ("3.5", [[3, 0], [-4, 1]], "its two rows exchanged"),
    ("3.5", [[1, -4], [0, 3]], "its two columns exchanged"),
    ("3.5", [[1, 0], [0, 1]], "apple gives phone 0.495"),
    ("3.5", [[0, 1], [-1, 0]], "phone gives apple 0.000 and itself 0.982"),
    ("3.5", [[-4, 3], [1, 0]], "transpose it"),
    ("3.5", [[-0.4, 0.1], [0.3, 0]], "both queries point the right way, but they are too short"),
    ("3.5", [[-3.5, 0.5], [3, 0]], "one of them, that of apple, is too short"),
    ("3.5", [[9, -9], [9, -9]], "apple gives phone 0.000 and buy 0.500"),
    ("3.5", [1, 2], "2 by 2"),
    ("3.5", [[0, 0], [0, 0]], "The query of apple is [0.0, 0.0]"),
    ("3.5", [[4, -1], [-3, 0]], "every sign turned round"),
    ("3.5", [[float("nan"), 0], [0, 1]], "the numbers of w_q must be finite"),
    ("3.5", [[1e308, 1e308], [1e308, 1e308]], "so large that the scores overflow"),
    ("3.6", [[1, 0], [2, 1], [0, 5]], "but itself ties with it at 5"),
    ("3.6", [[1, 0], [2, 2], [float("nan"), 5]], "finite"),
    ("3.6", [[1, 0], [1, 0], [1, 0]], "b is not longer than a"),
    ("3.6", [[1, 0], [2, 0], [4, 0]], "a should score highest with b (2), but c reaches 4"),
    ("3.6", [[1, 0], [2, 2], [0, 1]], "c is not longer than b"),
    ("3.6", [[3, 0], [2, 0], [1, 0]], "b is not longer than a"),
    ("3.6", [[1, 0], [0, 2], [-3, 0]], "a should score highest with b (0), but itself reaches 1"),
    ("3.6", [1, 2, 3], "three vectors of two numbers"),
    ("3.6", [[1, 6], [2, 1], [1, 0]], "in the opposite order"),
    ("3.7", lambda *a: additive_scores(*a) / math.sqrt(len(a[-1])), "you divide by √D"),
    ("3.7", lambda q, k, w_q, w_k, v: torch.tanh(hidden(q, -k, w_q, w_k)) @ v, "you subtract one part"),
    ("3.7", lambda q, k, w_q, w_k, v: torch.tanh(q @ w_q + k @ w_k) @ v, "only the key at the same position"),
    ("3.7", lambda q, k, w_q, w_k, v: torch.tanh(hidden(q, k, w_q, w_k)) * v, "they still have to be added up"),
    ("3.7", lambda q, k, w_q, w_k, v: hidden(q, k, w_q, w_k) @ v, "the tanh is missing"),
    ("3.7", lambda q, k, w_q, w_k, v: ((q @ w_q)[:, :, None] * (k @ w_k)[:, None]).tanh() @ v, "are multiplied before the tanh"),
    ("3.7", lambda q, k, w_q, w_k, v: torch.tanh(hidden(q, k, w_q, w_k) @ v), "the tanh comes before u"),
    ("3.7", lambda q, k, w_q, w_k, v: (torch.tanh(q @ w_q)[:, :, None] + torch.tanh(k @ w_k)[:, None]) @ v, "after the sum"),
    ("3.7", lambda *a: additive_scores(*a).transpose(1, 2), "yours is turned round"),
    ("3.7", lambda q, k, w_q, w_k, v: torch.tanh(hidden(q, k, w_q, w_k)).sum(-1), "u weighs them"),
    ("3.7", lambda q, k, w_q, w_k, v: torch.tanh(hidden(q, k, w_q, w_k)), "u turns them into one score"),
    ("3.7", lambda *a: additive_scores(*a).softmax(-1), "these are weights"),
    ("3.7", lambda q, k, w_q, w_k, v: dot_scores(q @ w_q, k @ w_k), "these are dot products"),
    ("3.8", lambda layer, x: not shuffled_both(layer, x), "turned round"),
    ("3.8", shuffled_input_only, "what you compare stands in different orders"),
    ("3.8", shuffled_twice, "what you compare stands in different orders"),
    ("3.8", by_norm(1e-9), "and you allow for less"),
    ("3.8", first_four, "give the layer the same tokens, all of them"),
    ("3.8", exact, "by rounding alone, about 1e-7, and you allow for less"),
    ("3.8", flipped, "from both ends"),
    ("3.8", lambda layer, x: False, "it always says False"),
    ("3.8", lambda layer, x: True, "it always says True"),
    ("3.8", alike_when_shuffled, "turned round: return True if the order matters"),
    ("3.8", lambda layer, x: (layer(x) - layer(x.flip(0)).flip(0)).abs().max(), "True or False, not Tensor"),
    ("3.8", lambda layer, x: str(shuffled_both(layer, x)), "True or False, not str"),
    ("3.8", swapped(0, 1), "puts 2 of the 7 tokens at other positions"),
    ("3.8", swapped(0, -1), "a layer that marks token 1, counted from 0: yours puts 2"),
    ("3.8", swapped(2, 3), "a layer that marks token 0"),
    ("3.8", every_shift, "rolled round, each token keeps the one before"),
    ("3.8", same_sum, "not sums or means"),
    ("3.8", coarse, "Compare with a smaller tolerance"),
    ("3.8", tolerance_of(1.0), "Compare with a smaller tolerance"),
    ("3.8", tolerance_of(2.0), "Compare with a smaller tolerance"),
    ("3.8", rolled_once, "rolled round, each token keeps the one before"),
    ("3.8", features_shuffled, "not the numbers in each"),
    ("3.8", later_alone, "also of those that moved"),
    ("3.9", [0.894, 1], "these words do count"),
    ("3.9", [0.894, 2.39], "these words do count"),
    ("3.9", [1.0, 51], "these words do count"),
    ("3.9", [14, 2.39], "write a share"),
    ("3.9", [0.35, 2], "divided by √2"),
    ("3.9", [1 / 103, 51], "everybody alike"),
    ("3.9", [0.894 / 51, 51], "not handed out in equal parts"),
    ("3.9", [0.0, 100], "never quite zero"),
    ("3.9", [0.5, 2.4], "Count the exponentials"),
    ("3.9", [0.142, 51], "the exponential be"),
    ("3.9", [0.142, 34.3], "how the crowd has grown"),
    ("3.9", [0.142, 100], "how the crowd has grown"),
    ("3.9", [0.142, math.log(102)], "as much as the hundred together"),
    ("3.9", [0.142, 2], "By how much must the score"),
    ("3.9", [0.142, math.log(51)], "added to the score"),
    ("3.9", [0.142, 6.76], "How many times the old one"),
    ("3.9", [0.142, 0.894 / 0.142], "no multiple of the query"),
    ("3.9", [0.142, 51**0.5], "not what undoes an exponential"),
    ("3.9", [0.142, 1 + math.log(51) / 4], "divided by √2"),
    ("3.9", [0.142, 1], "with the old query"),
    ("3.9", [0.142, 20], "By how much must the score"),
    ("3.9", [0.142], "the shape should be (2,)"),
    ("3.10", {"statement": True, "width": 12, "months": 11}, "what one would think"),
    ("3.10", MONTHS | {"statement": True}, "Does that happen at width 11"),
    ("3.10", MONTHS | {"width": 4}, "is it the smallest?"),
    ("3.10", MONTHS | {"width": 12}, "is it the smallest?"),
    ("3.10", MONTHS | {"width": 1}, "not all twelve are right"),
    ("3.10", MONTHS | {"width": 3, "months": 12}, "is it the smallest?"),
    ("3.10", MONTHS | {"months": 0}, "is it `tied=True` that you counted"),
    ("3.10", MONTHS | {"months": 1}, "a few more are right"),
    ("3.10", MONTHS | {"months": 11}, "with one number less, from any start"),
    ("3.10", MONTHS | {"months": 6}, "with one number less, from any start"),
    ("3.10", MONTHS | {"months": 3}, "one number below your width"),
    ("3.10", MONTHS | {"months": 2 / 12}, "not their share"),
    ("3.10", {"width": 2, "months": 2}, "keep the dict"),
    ("3.10", MONTHS | {"statement": "false"}, "statement: the answer must hold numbers"),
    ("3.11", [as_query(1 / 2.25), KEYS], "make up for it"),
    ("3.11", [as_query(2 / 2.25), KEYS], "made up for twice"),
    ("3.11", [as_query(AGAIN), [[1, 0], [0, 0], [0, 0]]], "What holds long keys back?"),
    ("3.11", [as_query(AGAIN), [[1, 0], [0, 0.5], [0, 0]]], "the other sign"),
    ("3.11", [as_query(AGAIN), [[1, 0], [0, -1], [0, 0]]], "of the product you need two"),
    ("3.11", [as_query(-AGAIN), KEYS], "the farthest key wins"),
    ("3.11", [as_query(2**0.5), KEYS], "its bandwidth is 1.00 hours"),
    ("3.11", [as_query(2**0.5 / 1.5), KEYS], "its bandwidth is 1.22 hours"),
    ("3.11", [[[0, 0], [0, 0], [0, AGAIN]], KEYS], "does not contain the hour"),
    ("3.11", [KEYS, as_query(AGAIN)], "Whose square makes the difference?"),
    ("3.11", [[[1, 0], [0, 0], [0, 0]], [[1, 0], [0, 0], [0, 0]]], "What holds long keys back?"),
    ("3.11", [[[0.0]] * 3, [[0.0]] * 3], "with D = 1"),
    ("3.11", [[[0.0] * 2] * 3, KEYS], "all scores are alike"),
    ("3.11", [np.array(as_query(AGAIN)).T, np.array(KEYS).T], "(3, D)"),
    ("3.11", [as_query(AGAIN), [[1], [-0.5], [0]]], "one width D"),
    ("3.11", as_query(AGAIN), "two matrices"),
    ("3.11", [as_query(float("nan")), KEYS], "finite"),
    ("3.11", [as_query(1e200), [[1e200, 0], [0, 1e200], [0, 0]]], "so large that the scores overflow"),
    ("3.11", [[[0, AGAIN], [AGAIN, 0], [0, 0]], [[0, 0], [1, 0], [0, -0.5]]], "here it is (h, h², 1)"),
    ("3.11", [[[1, 0, 0], [0, 0, 1], [0, 0, 0]], [[3**0.5 / 2.25, 0, 0], [0, -(3**0.5) / 4.5, 0], [0, 0, 0]]], "transpose both"),
    ("3.11", [as_query(AGAIN), [[1, 0], [-0.5, 0], [0, 0]]], "only its 1 should"),
    ("3.12", crossing(reshaped, lambda x, h, q, v: x.shape[-1], 1), "it still does what it did"),
    ("3.12", crossing(reshaped), "A reshape reads on row by row"),
    ("3.12", crossing(axis=1), "do not sum to one"),
    ("3.12", crossing(size=lambda x, h, q, v: x.shape[-1]), "divided by √C"),
    ("3.12", crossing(reshaped, axis=1), "2 mistakes are in it, one of them: look at the weights"),
    ("3.12", crossing(reshaped, lambda x, h, q, v: x.shape[-1]), "2 mistakes are in it, one of them: put the words"),
    ("3.12", crossing(size=lambda x, h, q, v: x.shape[-1], axis=1), "2 mistakes are in it"),
    ("3.12", crossing(axis=0), "over the batch"),
    ("3.12", crossing(size=lambda *a: 1), "not divided by anything"),
    ("3.12", crossing(size=lambda x, h, q, v: q.shape[-1] ** 2), "its square root is enough"),
    ("3.12", crossing(size=lambda x, h, q, v: h.shape[1]), "the number of keys"),
    ("3.12", crossing(size=lambda x, h, q, v: h.shape[2]), "before it is projected"),
    ("3.12", crossing(size=lambda x, h, q, v: v.shape[2]), "the width of the values"),
    ("3.12", crossing(mixed=lambda v, k, h: k), "the keys are averaged"),
    ("3.12", crossing(size=lambda x, h, q, v: q.shape[2] ** 0.5), "the root of D is taken twice"),
    ("3.12", lambda x, h, w_q, w_k, w_v: (x @ w_q @ (h @ w_k).mT / w_q.shape[1] ** 0.5).softmax(1).softmax(2) @ (h @ w_v), "two softmaxes"),
    ("3.12", lambda x, h, w_q, w_k, w_v: (x @ w_q @ (h @ w_k).mT / w_q.shape[1] ** 0.5).flatten(1).softmax(-1).view(len(x), -1, h.shape[1]) @ (h @ w_v), "of all words together"),
    ("3.12", crossing(size=lambda x, h, q, v: q.shape[1]), "the number of queries"),
    ("3.12", crossing(size=lambda x, h, q, v: 1 / q.shape[2]), "multiplied by √D"),
    ("3.12", lambda x, h, w_q, w_k, w_v: (x @ w_q @ (w_k.T @ reshaped(h)) / w_q.shape[1] ** 0.5).softmax(-1) @ (h @ w_v), "A reshape reads on"),
    ("3.12", lambda x, h, w_q, w_k, w_v: (x @ w_q @ (h @ w_k).mT).softmax(-1) / w_q.shape[1] ** 0.5 @ (h @ w_v), "the weights are divided"),
    ("3.12", crossing(mixed=lambda v, k, h: h), "it has to go through w_v"),
    ("3.12", lambda x, h, w_q, w_k, w_v: (x @ w_q @ (h @ w_k).mT / w_q.shape[1] ** 0.5).softmax(-1), "these are the weights"),
    ("3.12", lambda x, h, w_q, w_k, w_v: x @ w_q @ (h @ w_k).mT / w_q.shape[1] ** 0.5 @ (h @ w_v), "the softmax is gone"),
    ("3.12", crossing(turn=lambda k: k.T), "it stopped"),
    ("3.12", in_place_crossing, "right, but it changes `w_q`"),
    ("3.13", set(), "at least one of them"),
    ("3.13", {"a": False}, "at least one of them"),
    ("3.13", "", "at least one of them"),
    ("3.13", "abcdefg", "not all"),
    ("3.13", ["a", "c", "e"], "give the others"),
    ("3.13", ["b", "c", "d", "f", "g"], "Is there a W_Q with which"),
    ("3.13", ["b", "d", "e", "f", "g"], "if its queries are very long"),
    ("3.13", ["a", "b", "d", "f", "g"], "allow for it"),
    ("3.13", ["b", "d", "f"], "who stands next to whom"),
    ("3.13", ["d", "f", "g"], "as long as the input is short"),
    ("3.13", ["b", "d", "g"], "Give it every token twice"),
    ("3.13", ["b", "f", "g"], "one token alone, then the other, then both"),
    ("3.13", [name for name, box in BOXES.items() if not probes(box)[0]], "Give it every token twice"),
    ("3.13", [name for name, box in BOXES.items() if not all(probes(box, 5))], "try more tokens"),
    ("3.13", ["b", "h"], "there is no box h"),
    ("3.13", [1, 3, 5, 6], "the letters of the boxes"),
    ("3.13", list(BOXES.values())[3:], "the letters of the boxes"),
    ("3.13", dict.fromkeys(BOXES, True), "not all"),
]  # fmt: skip
