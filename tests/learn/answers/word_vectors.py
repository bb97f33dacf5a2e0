"""Right answers written differently, and the wrong ones people give, each with words of the mistake it must name."""

import math
from collections import Counter

import numpy as np
import torch
import torch.nn.functional as F


def unit(x):
    return x / x.norm(dim=-1, keepdim=True)


def loop_cosines(x, y):
    return [[float(a @ b) / math.sqrt(float(a @ a) * float(b @ b)) for b in y] for a in x]


def ranked(score, n, exclude=()):
    score = score.clone()
    score[list(exclude)] = -torch.inf
    return score.topk(n).indices.tolist()


def cosines(vectors, target):
    return unit(vectors) @ unit(target)


def loop_nearest(vectors, target, n, exclude):
    c = cosines(vectors, target).tolist()
    rows = sorted((i for i in range(len(c)) if i not in exclude), key=lambda i: -c[i])
    return rows[:n]


def analogy(sum_of, keep=0, by=cosines):
    def solve(vectors, a, b, c):
        score = by(vectors, sum_of(vectors[a], vectors[b], vectors[c]))
        return ranked(score, 1, [a, b, c][: 3 - keep])[0]

    return solve


def without(names):
    def solve(vectors, a, b, c):
        rows = {"a": a, "b": b, "c": c}
        return ranked(
            cosines(vectors, right_sum(vectors[a], vectors[b], vectors[c])), 1, [rows[n] for n in names]
        )

    return solve


def right_sum(a, b, c):
    return a - b + c


def loop_counts(ids, size, window):
    n = torch.zeros(size, size)
    for i, word in enumerate(ids.tolist()):
        for j in range(max(0, i - window), min(len(ids), i + window + 1)):
            if j != i:
                n[word, ids[j]] += 1
    return n


def bincounts(ids, size, window):
    n = torch.zeros(size * size, dtype=torch.long)
    for d in range(1, window + 1):
        n += torch.bincount(ids[:-d] * size + ids[d:], minlength=size * size)
    n = n.view(size, size)
    return n + n.T


def one_sided(ids, size, window):
    n = np.zeros((size, size))
    for d in range(1, window + 1):
        np.add.at(n, (ids[:-d].numpy(), ids[d:].numpy()), 1)
    return n


def counter(ids, size, window):
    words = ids.tolist()
    pairs = Counter(p for d in range(1, window + 1) for p in zip(words, words[d:], strict=False))
    return [[pairs[i, j] + pairs[j, i] for j in range(size)] for i in range(size)]


def rolled(ids, size, window):
    n = torch.zeros(size, size)
    for d in range(1, window + 1):
        for other in (ids.roll(d), ids.roll(-d)):
            n.index_put_((ids, other), torch.ones(len(ids)), accumulate=True)
    return n


def forgetful(ids, size, window):
    n = torch.zeros(size, size)
    for d in range(1, window + 1):
        n[ids[:-d], ids[d:]] = 1
        n[ids[d:], ids[:-d]] = 1
    return n


def weighed(ids, size, window):
    return sum(
        loop_counts(ids, size, d) / d - loop_counts(ids, size, d - 1) / d for d in range(1, window + 1)
    )


def with_itself(ids, size, window):
    return loop_counts(ids, size, window) + torch.diag(torch.bincount(ids, minlength=size).float())


def expected(n):
    return n.sum(1, keepdim=True) * n.sum(0) / n.sum()


def beyond_chance(n):
    common = n.sum(0) ** 0.75
    chance = n.sum(1, keepdim=True) * common / common.sum()
    return (n / chance).log().nan_to_num(0, 0, 0).clamp(min=0)


def loop_ppmi(n):
    out = torch.zeros_like(n)
    for i in range(len(n)):
        for j in range(len(n)):
            if n[i, j] > 0:
                out[i, j] = max(0.0, math.log(n[i, j] * n.sum() / n[i].sum() / n[:, j].sum()))
    return out


def log_of(f):
    return lambda n: torch.where(n > 0, f(n).log(), torch.zeros(())).clamp(min=0)


def products(x, y, n):
    return (x * y).sum(-1), (n @ x[:, :, None]).squeeze(-1)


def loss(change):
    return lambda x, y, n: change(*products(x, y, n))


RIGHT = {
    "2.1": [[0.96, 1, 0], (24 / 25, 1.0, 0.0), np.array([0.96, 1, 0]), torch.tensor([[0.96, 1, 0]])],
    "2.2": [
        lambda x, y: unit(x) @ unit(y).T,
        lambda x, y: F.normalize(x, dim=-1) @ F.normalize(y, dim=-1).T,
        lambda x, y: torch.einsum("nd,md->nm", x, y) / torch.outer(x.norm(dim=1), y.norm(dim=1)),
        loop_cosines,
    ],
    "2.3": [[0, 6], (-1.0, 8.0), torch.tensor([4.0, -2.9]), np.array([0.0, 5.1])],
    "2.4": [
        lambda v, t, n, exclude: ranked(cosines(v, t), n, exclude),
        loop_nearest,
        lambda v, t, n, exclude: torch.tensor(loop_nearest(v, t, n, exclude)),
        lambda v, t, n, exclude: ranked(v @ t / v.norm(dim=1), n, exclude),  # the target's length does not matter
    ],
    "2.5": [
        analogy(right_sum),
        lambda v, a, b, c: torch.tensor([analogy(right_sum)(v, a, b, c)]),
        lambda v, a, b, c: next(
            i for i in cosines(v, v[a] - v[b] + v[c]).argsort(descending=True).tolist() if i not in (a, b, c)
        ),
        lambda v, a, b, c: np.int64(loop_nearest(v, v[a] - v[b] + v[c], 1, {a, b, c})[0]),
    ],
    "2.6": [[5, 0], (3.0, 0.0), np.array([9, 1]), torch.tensor([6.0, -6.0])],
    "2.7": [loop_counts, bincounts, lambda *a: one_sided(*a) + one_sided(*a).T, counter],
    "2.8": [
        lambda n: (n / expected(n)).log().clamp(min=0),
        loop_ppmi,
        lambda n: torch.relu(torch.log(n) + n.sum().log() - n.sum(1, keepdim=True).log() - n.sum(0).log()),
        lambda n: np.log(np.maximum((n / expected(n)).numpy(), 1)),
    ],
    "2.9": [
        loss(lambda p, q: -(F.logsigmoid(p) + F.logsigmoid(-q).sum(-1)).mean()),
        loss(lambda p, q: F.softplus(-p).mean() + F.softplus(q).sum(-1).mean()),
        loss(lambda p, q: (F.softplus(-p).sum() + F.softplus(q).sum()).item() / len(p)),
        loss(lambda p, q: torch.logaddexp(torch.zeros(()), torch.cat([-p[:, None], q], 1)).sum(1).mean()),
    ],
}  # fmt: skip

WRONG = [
    ("2.1", [24, 50, 0], "these are the dot products"),
    ("2.1", [4.8, 10, 0], "of (3, 4) alone"),
    ("2.1", [4.8, 5, 0], "the other length alone"),
    ("2.1", [0.0384, 0.02, 0], "squared lengths"),
    ("2.1", [16.26, 0, 90], "these are angles"),
    ("2.1", [0.2838, 0, 1.5708], "these are angles"),
    ("2.1", [1.414, 5, 7.071], "these are distances"),
    ("2.1", [0, 1, 0.96], "in the opposite order"),
    ("2.1", [0.96, 1], "the shape should be (3,)"),
    ("2.1", "0.96", "must hold numbers"),
    ("2.2", lambda x, y: x @ y.T, "these are dot products"),
    ("2.2", lambda x, y: unit(x) @ y.T, "those of y do not yet"),
    ("2.2", lambda x, y: x @ unit(y).T, "those of x do not yet"),
    ("2.2", lambda x, y: x @ y.T / (x**2).sum(1)[:, None] / (y**2).sum(1), "squared lengths"),
    ("2.2", lambda x, y: x @ y.T / torch.outer(x.norm(dim=1), y.norm(dim=1)).sqrt(), "one root too many"),
    ("2.2", lambda x, y: F.normalize(x, dim=0) @ F.normalize(y, dim=0).T, "each word is a row"),
    ("2.2", lambda x, y: x @ y.T / x.norm() / y.norm(), "the length of the whole table"),
    ("2.2", lambda x, y: unit(y) @ unit(x).T, "yours is turned round"),
    ("2.2", lambda x, y: 1 - unit(x) @ unit(y).T, "one minus the cosine"),
    ("2.2", lambda x, y: F.cosine_similarity(x[:, None], y[None], dim=-1), "ready-made"),
    ("2.2", lambda x, y: None, "the return is missing"),
    ("2.3", [2, 1], "make it longer"),
    ("2.3", [0, 1], "make it longer; that leaves the cosine as it is"),
    ("2.3", [-5, -5], "it points away"),
    ("2.3", [4, 2], "turn it further away"),
    ("2.3", [5, -1], "the cosine is 0.789: turn it further away"),
    ("2.3", [0, 0], "no direction"),
    ("2.3", [1, 2, 3], "two finite numbers"),
    ("2.3", [float("inf"), 0], "two finite numbers"),
    ("2.4", lambda v, t, n, exclude: ranked(cosines(v, t), n), "are still there"),
    ("2.4", lambda v, t, n, exclude: ranked(v @ t, n, exclude), "ranks by dot product, which"),
    ("2.4", lambda v, t, n, exclude: ranked(v @ t, n), "by dot product, and the rows"),
    ("2.4", lambda v, t, n, exclude: ranked(-cosines(v, t), n, exclude), "farthest"),
    ("2.4", lambda v, t, n, exclude: ranked(-(v - t).norm(dim=1), n, exclude), "ranks by distance"),
    ("2.4", lambda v, t, n, exclude: [i for i in ranked(cosines(v, t), n) if i not in exclude], "too few"),
    ("2.4", lambda v, t, n, exclude: loop_nearest(v, t, n, exclude)[::-1], "the nearest should come first"),
    ("2.4", lambda v, t, n, exclude: sorted(loop_nearest(v, t, n, exclude)), "sorted by number"),
    ("2.4", lambda v, t, n, exclude: cosines(v, t), "four rows were asked for"),
    ("2.4", lambda v, t, n, exclude: list(range(n)), "is none of the four nearest"),
    ("2.4", lambda v, t, n, exclude: loop_nearest(v, t, n, exclude) if exclude else [0, 0], "an empty list"),
    ("2.5", analogy(right_sum, keep=3), "the inputs are not left out"),
    ("2.5", without("ac"), "b is not left out"),
    ("2.5", without("ab"), "c is not left out"),
    ("2.5", without("bc"), "a is not left out"),
    ("2.5", analogy(right_sum, keep=2), "only a is left out"),
    ("2.5", analogy(lambda a, b, c: a + b - c), "the signs are wrong"),
    ("2.5", analogy(lambda a, b, c: b - a + c), "the signs are wrong"),
    ("2.5", analogy(right_sum, by=lambda v, t: v @ t), "favours long vectors"),
    ("2.5", analogy(lambda a, b, c: a), "nearest to a"),
    ("2.5", analogy(lambda a, b, c: c), "nearest to c"),
    ("2.5", lambda v, a, b, c: 0, "another row than 0"),
    ("2.5", lambda v, a, b, c: v[a] - v[b] + v[c], "one number is asked, yours are 3"),
    ("2.6", [1.5, 0], "points where queen lies, but does not go far enough"),
    ("2.6", [1, 0], "yours from man to woman is (0, 0): let it point the same way"),
    ("2.6", [-4, 0], "yours from man to woman is (-5, 0): let it point the same way"),
    ("2.6", [3, 9], "it is too steep"),
    ("2.6", [3, 0.9], "too steep"),
    ("2.6", [1, -4], "has no direction"),
    ("2.6", [0, 4], "yours from man to woman is (-1, 4): let it point the same way"),
    ("2.6", [1, 2, 3], "two finite numbers"),
    ("2.7", one_sided, "what follows only"),
    ("2.7", lambda *a: one_sided(*a).T, "what stands before only"),
    ("2.7", lambda ids, size, window: loop_counts(ids, size, window - 1), "does not reach far enough"),
    ("2.7", lambda ids, size, window: loop_counts(ids, size, window + 1), "it reaches too far"),
    ("2.7", lambda ids, size, window: loop_counts(ids, size, window) / 2, "counted half"),
    ("2.7", lambda *a: loop_counts(*a).fill_diagonal_(0), "another copy of itself counts too"),
    ("2.7", weighed, "nearer words count for more"),
    ("2.7", with_itself, "its own neighbour"),
    ("2.7", forgetful, "adds 1 once"),
    ("2.7", rolled, "`roll` does that"),
    ("2.7", lambda *a: 2 * loop_counts(*a), "twice over"),
    ("2.7", lambda ids, size, window: loop_counts(ids, size, 2), "right at first, but not for"),
    ("2.7", lambda ids, size, window: loop_counts(ids, size - 1, window), "the shape should be (7, 7)"),
    ("2.8", lambda n: torch.where(n > 0, (n / expected(n)).log(), torch.zeros(())), "negative values are still there"),
    ("2.8", beyond_chance, "the power 3/4"),
    ("2.8", lambda n: (n / expected(n)).log(), "minus infinity"),
    ("2.8", lambda n: n / n * loop_ppmi(n), "NaN"),
    ("2.8", lambda n: torch.where(n > 0, (n / expected(n)).log().abs(), torch.zeros(())), "absolute value"),
    ("2.8", lambda n: (n / expected(n)).log2().clamp(min=0), "base 2"),
    ("2.8", lambda n: n / expected(n), "the logarithm is missing"),
    ("2.8", log_of(lambda n: n * n.sum() / n.sum(1, keepdim=True)), "compares with the row alone"),
    ("2.8", log_of(lambda n: n / n.sum(1, keepdim=True) / n.sum(0)), "The total is missing"),
    ("2.8", log_of(lambda n: n / n.sum()), "the logarithm of a share is negative"),
    ("2.8", lambda n: (n + 1).log(), "the logarithm of the counts"),
    ("2.8", lambda n: [math.log(x) for x in n.flatten().tolist()], "math.log takes one number"),
    ("2.9", loss(lambda p, q: -(F.logsigmoid(p) + F.logsigmoid(q).sum(-1)).mean()), "turn their sign round"),
    ("2.9", loss(lambda p, q: -(F.logsigmoid(-p) + F.logsigmoid(-q).sum(-1)).mean()), "pushed away"),
    ("2.9", loss(lambda p, q: (F.logsigmoid(p) + F.logsigmoid(-q).sum(-1)).mean()), "to be made larger"),
    ("2.9", loss(lambda p, q: -F.logsigmoid(p).mean() - F.logsigmoid(-q).mean()), "average over the negatives"),
    ("2.9", loss(lambda p, q: -F.logsigmoid(p).mean() - 5 * F.logsigmoid(-q).mean()), "five times a mean"),
    ("2.9", loss(lambda p, q: -F.logsigmoid(p).mean() + F.logsigmoid(-q).sum(-1).mean()), "different signs"),
    ("2.9", lambda x, y, n: loss(lambda p, q: -(F.logsigmoid(p) + F.logsigmoid(-q).sum(-1)).mean())(x, y, n.flatten(0, 1).expand(len(x), -1, -1)), "the negatives of all"),
    ("2.9", loss(lambda p, q: -(F.logsigmoid(p) + F.logsigmoid(-q).sum(-1)).sum()), "sum over the batch"),
    ("2.9", loss(lambda p, q: -(F.logsigmoid(p) + F.logsigmoid(-q).sum(-1))), "one number for each example"),
    ("2.9", loss(lambda p, q: -F.logsigmoid(p).mean()), "the negatives take no part"),
    ("2.9", loss(lambda p, q: -F.logsigmoid(-q).sum(-1).mean()), "the true context takes no part"),
    ("2.9", loss(lambda p, q: -(p.sigmoid() + (-q).sigmoid().sum(-1)).mean()), "the logarithm is missing"),
    ("2.9", loss(lambda p, q: -(p.sigmoid().log() + (-q).sigmoid().log().sum(-1)).mean()), "underflows"),
    ("2.9", loss(lambda p, q: F.softplus(-p.clamp(-20, 20)).mean() + F.softplus(q.clamp(-20, 20)).sum(-1).mean()), "do not cut them off"),
]  # fmt: skip
