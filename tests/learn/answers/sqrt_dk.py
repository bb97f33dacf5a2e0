"""Right answers written differently, and the wrong ones people give, each with words of the mistake it must name."""

import math

import numpy as np
import torch
from torch.nn.functional import cosine_similarity, normalize

P = torch.tensor([0.5, 0.3, 0.2])
JACOBIAN = [[0.25, -0.15, -0.10], [-0.15, 0.21, -0.06], [-0.10, -0.06, 0.16]]


def loop_scores(q, k):
    return [[sum(a * b for a, b in zip(x, y, strict=True)) / len(x) ** 0.5 for y in k] for x in q]


def heads_of(x, w, heads):
    return (x @ w).unflatten(-1, (heads, -1)).transpose(1, 2)


def repaired(power, what=lambda q: q.shape[-1]):
    def scores(x, w_q, w_k, heads):
        q, k = heads_of(x, w_q, heads), heads_of(x, w_k, heads)
        return q @ k.mT / what(q) ** power

    return scores


def by_slices(x, w_q, w_k, heads):
    D = x.shape[-1] // heads
    q, k = x @ w_q, x @ w_k
    parts = [slice(h * D, (h + 1) * D) for h in range(heads)]
    return torch.stack([q[..., p] @ k[..., p].mT / math.sqrt(D) for p in parts], 1)


def cut_wrongly(x, w_q, w_k, heads):
    q, k = ((x @ w).unflatten(-1, (-1, heads)).movedim(-1, 1) for w in (w_q, w_k))
    return q @ k.mT / math.sqrt(6)


def halving(scores, top, follow=None):
    low, high = 1e-3, 1e3
    for _ in range(80):
        middle = (low * high) ** 0.5
        weights = (scores.double() / middle).softmax(-1)
        if (weights.max() if follow is None else weights[follow]) > top:
            low = middle
        else:
            high = middle
    return low


def by_factor(scores, top):
    """Search for what to multiply by, in ever smaller steps, and turn it over."""
    factor, step = 0.0, 64.0
    while step > 1e-9:
        if (scores.double() * (factor + step)).softmax(-1).max() < top:
            factor += step
        else:
            step /= 2
    return 1 / factor


def by_table(scores, top):
    s = scores.double().numpy()
    grid = np.exp(np.linspace(-6, 6, 200_001))
    e = np.exp((s - s.max())[:, None] / grid)
    return torch.tensor(grid[np.abs(1 / e.sum(0) - top).argmin()])


def unit(x, dim=-1):
    return x / x.norm(dim=dim, keepdim=True)


RIGHT = {
    "4.1": [[0, 5], (0.0, 5.0), np.array([0, 5]), torch.tensor([[0.0, 5.0]])],
    "4.2": [[144, 12], (64 * 9 * 0.25, math.sqrt(144)), torch.tensor([144.0, 12.0]), np.array([144, 12])],
    "4.3": [
        lambda m, d: d * (1 + 2 * m**2),
        lambda m, d: d * ((1 + m * m) ** 2 - m**4),
        lambda m, d: torch.tensor(d + 2.0 * d * m * m),
        lambda m, d: sum((1 + m**2) ** 2 - (m * m) ** 2 for _ in range(d)),
    ],
    "4.4": [
        lambda q, k: q @ k.T / q.shape[-1] ** 0.5,
        lambda q, k: torch.einsum("td,sd->ts", q, k) * q.shape[1] ** -0.5,
        lambda q, k: q.numpy() @ k.numpy().T / np.sqrt(q.shape[1]),
        lambda q, k: (q.half() @ k.half().T) / q.shape[-1] ** 0.5,
        loop_scores,
    ],
    "4.5": [
        lambda a, b: (a * b).norm(),
        lambda a, b: (a**2 * b**2).sum() ** 0.5,
        lambda a, b: math.sqrt(sum((x * y) ** 2 for x, y in zip(a.tolist(), b.tolist(), strict=True))),
        lambda a, b: np.sqrt(a.numpy() ** 2 @ b.numpy() ** 2),
    ],
    "4.6": [JACOBIAN, torch.diag(P) - torch.outer(P, P), np.array(JACOBIAN), list(torch.tensor(JACOBIAN))],
    "4.7": [
        repaired(0.5),
        by_slices,
        lambda x, a, b, h: heads_of(x, a, h) @ heads_of(x, b, h).mT * (x.shape[-1] // h) ** -0.5,
        lambda x, a, b, h: torch.einsum(
            "bhtd,bhsd->bhts", *(heads_of(x, w, h) / (x.shape[-1] // h) ** 0.25 for w in (a, b))
        ),
    ],
    "4.8": [halving, by_table, lambda s, top: float(halving(s, top)), by_factor],
    "4.9": [
        lambda q, k, g: g * unit(q) @ unit(k).T,
        lambda q, k, g: g * normalize(q, dim=-1) @ normalize(k, dim=-1).T,
        lambda q, k, g: g * cosine_similarity(q[:, None], k[None], dim=-1),
        lambda q, k, g: g * (q @ k.T) / (q.norm(dim=1)[:, None] * k.norm(dim=1)),
    ],
}

WRONG = [
    ("4.1", [5, 0], "swapped"),
    ("4.1", [0, 20], "the sum of the squares"),
    ("4.1", [0, 6.667], "you divide by 3"),
    ("4.1", [0, 2.236], "the standard deviation"),
    ("4.1", [0, 2.582], "of a sample"),
    ("4.1", [0, 2], "a query of ones"),
    ("4.1", [0, 2.5], "all eight products"),
    ("4.1", [0, 1.25], "you divide the scores by d"),
    ("4.1", [0, 4], "variance is too small"),
    ("4.1", 5, "the shape should be (2,)"),
    ("4.2", [12, 144], "swapped"),
    ("4.2", [96, 9.798], "multiply by the standard deviations"),
    ("4.2", [64, 8], "standard deviations of 1"),
    ("4.2", [592, 24.33], "you add the two variances"),
    ("4.2", [2.25, 1.5], "one product"),
    ("4.2", [144, 18], "its root"),
    ("4.2", [144, 72], "no half"),
    ("4.2", [144, 96], "do not add. Take the root of 144"),
    ("4.2", [9216, 96], "it is the variances that add"),
    ("4.2", [224, 14.97], "you add the standard deviations 3 and 0.5"),
    ("4.2", [784, 28], "you add the standard deviations 3 and 0.5"),
    ("4.2", [96, 12], "the standard deviation is right"),
    ("4.3", lambda m, d: d, "it must depend on the mean"),
    ("4.3", lambda m, d: d * (1 + m * m) ** 2, "take away the square of the mean"),
    ("4.3", lambda m, d: d * (1 + m * m), "both"),
    ("4.3", lambda m, d: d * (1 + m * m) ** 2 - (d * m * m) ** 2, "leave out the mixed terms"),
    ("4.3", lambda m, d: d * (1 + m * m) ** 2 + d * (d - 1) * m**4, "that is E[s²]"),
    ("4.3", lambda m, d: d * (1 + 2 * abs(m)), "only the square"),
    ("4.3", lambda m, d: math.sqrt(d * (1 + 2 * m * m)), "leave out the root"),
    ("4.3", lambda m, d: d * (1 + m**4), "a middle term"),
    ("4.3", lambda m, d: d + 2 * m**2, "each of the d products"),
    ("4.3", lambda m, d: 3 * d, "a mean of 1"),
    ("4.3", lambda m, d: 8.0, "the number is too small"),
    ("4.4", lambda q, k: q @ k.T / 4, "take the root of whatever comes"),
    ("4.4", lambda q, k: q @ k.T, "plain dot products"),
    ("4.4", lambda q, k: q @ k.T / q.shape[-1], "you divide by d"),
    ("4.4", lambda q, k: q @ k.T * q.shape[-1] ** 0.5, "you multiply"),
    ("4.4", lambda q, k: q @ k.T / len(k) ** 0.5, "number of keys"),
    ("4.4", lambda q, k: q @ k.T / q.shape[0] ** 0.5, "number of queries"),
    ("4.4", lambda q, k: k @ q.T / 4, "the transpose"),
    ("4.4", lambda q, k: (q @ k.T / 4).softmax(-1), "leave out the softmax"),
    ("4.4", lambda q, k: (q @ k.T) / (q @ k.T).std(), "depend on D alone"),
    ("4.4", lambda q, k: (q @ k.T) / (q @ k.T).std(correction=0), "depend on D alone"),
    ("4.4", lambda q, k: (q @ k.T) / (q @ k.T).std(-1, keepdim=True), "depend on D alone"),
    ("4.5", lambda a, b: len(a) ** 0.5, "those of q and k count too"),
    ("4.5", lambda a, b: (a * b).square().sum(), "the variance of the score"),
    ("4.5", lambda a, b: (a * b).sum(), "do not add; their squares do"),
    ("4.5", lambda a, b: (a * b).sum().sqrt(), "square the standard deviations"),
    ("4.5", lambda a, b: a.norm() * b.norm(), "you sum over q and over k first"),
    (
        "4.5",
        lambda a, b: (a.square().mean() * b.square().mean() * len(a)) ** 0.5,
        "you average the variances",
    ),
    ("4.5", lambda a, b: a.mean() * b.mean() * len(a) ** 0.5, "mean standard deviations"),
    ("4.5", lambda a, b: (a.square() + b.square()).sum().sqrt(), "variances of q and k multiply"),
    ("4.5", lambda a, b: (a + b).norm(), "standard deviations of q and k multiply"),
    ("4.5", lambda a, b: a.norm(), "the keys are missing"),
    ("4.5", lambda a, b: a.mean() * len(a) ** 0.5, "the keys are missing"),
    ("4.5", lambda a, b: b.norm(), "the queries are missing"),
    ("4.5", lambda a, b: (a * b).square().mean().sqrt(), "no mean"),
    ("4.5", lambda a, b: (a * b).norm() * len(a) ** 0.5, "no further factor"),
    ("4.5", lambda a, b: 1 / (a * b).norm(), "what to multiply by"),
    ("4.5", lambda a, b: a * b * len(a) ** 0.5, "the shape should be ()"),
    ("4.6", torch.outer(P, P), "alone; it is taken away"),
    ("4.6", torch.outer(P, P) - torch.diag(P), "the wrong way round"),
    ("4.6", torch.diag(P), "the diagonal matrix alone"),
    ("4.6", torch.diag(P) + torch.outer(P, P), "taken away"),
    ("4.6", torch.diag(P * (1 - P)), "since the other weights shrink"),
    ("4.6", [0.25, 0.21, 0.16], "the shape should be (3, 3), yours is (3,)"),
    ("4.6", [[0.25, 0.15, 0.1], [0.15, 0.21, 0.06], [0.1, 0.06, 0.16]], "the sign is minus"),
    ("4.6", torch.autograd.functional.jacobian(lambda s: s.softmax(-1), P), "weights already"),
    ("4.7", repaired(0.5, lambda q: 24), "the model's width"),
    ("4.7", repaired(1), "take its root"),
    ("4.7", repaired(0), "the division is gone"),
    ("4.7", repaired(0.5, lambda q: q.shape[1]), "number of heads"),
    ("4.7", repaired(0.5, lambda q: q.shape[2]), "number of tokens"),
    ("4.7", repaired(1, lambda q: 24**0.5 / q.shape[1]), "divide C by it first"),
    ("4.7", repaired(0.5, lambda q: 6), "take it from what comes"),
    ("4.7", lambda x, a, b, h: repaired(0.5)(x.reshape(2, 5, 24), a, b, 4), "right at first, but not for"),
    ("4.7", lambda *a: repaired(0.5)(*a).softmax(-1), "return the scores"),
    ("4.7", cut_wrongly, "cut out wrongly"),
    ("4.8", lambda s, top: 1.0, "leaves the largest weight at"),
    ("4.8", lambda s, top: 1 / halving(s, top), "what to multiply by"),
    ("4.8", lambda s, top: halving(s, top, 0), "The largest may stand anywhere"),
    ("4.8", lambda s, top: -1.0, "a number above 0"),
    ("4.8", lambda s, top: len(s) ** 0.5, "a larger divisor gets closer"),
    ("4.8", lambda s, top: halving(s, top + 0.0015), "a larger divisor"),
    ("4.8", lambda s, top: 50.0, "a smaller divisor"),
    ("4.8", lambda s, top: 0.01, "a larger divisor"),
    ("4.8", lambda s, top: (s / halving(s, top)).softmax(-1), "one number is asked, yours are 2"),
    ("4.9", lambda q, k, g: unit(q) @ unit(k).T, "the factor is missing"),
    ("4.9", lambda q, k, g: g * q @ k.T, "the lengths still count"),
    ("4.9", lambda q, k, g: g * q @ k.T / 6**0.5, "the lengths still count"),
    ("4.9", lambda q, k, g: q @ k.T / 6**0.5, "scaled dot products"),
    ("4.9", lambda q, k, g: g * unit(q) @ k.T, "the keys keep"),
    ("4.9", lambda q, k, g: g * q @ unit(k).T, "the queries keep"),
    ("4.9", lambda q, k, g: g * unit(q) @ unit(k).T / 6**0.5, "not needed any more"),
    ("4.9", lambda q, k, g: g * (q / q.norm()) @ (k / k.norm()).T, "the whole matrix"),
    ("4.9", lambda q, k, g: g * unit(q, 0) @ unit(k, 0).T, "columns"),
    ("4.9", lambda q, k, g: g * normalize(q, p=1) @ normalize(k, p=1).T, "absolute values"),
    ("4.9", lambda q, k, g: (q @ k.T).clamp(-g, g), "clamping bounds"),
    ("4.9", lambda q, k, g: g * (q @ k.T / g).tanh(), "tanh bounds"),
    ("4.9", lambda q, k, g: unit(q) @ unit(k).T / g, "you divide by g"),
    ("4.9", lambda q, k, g: (g * unit(q) @ unit(k).T).softmax(-1), "leave out the softmax"),
    ("4.9", lambda q, k, g: g * unit(k) @ unit(q).T, "the transpose"),
]
