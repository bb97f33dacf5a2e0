"""Right answers written differently, and the wrong ones people give, each with words of the mistake it must name."""

import math

import numpy as np
import torch
from torch.nn.functional import cosine_similarity, layer_norm, normalize, pad, rms_norm


def from_two_keys(weights, q, k, query=0):
    """Read it off the two keys of a query whose weights differ most."""
    high, low = weights[query].argmax(), weights[query].argmin()
    return q[query] @ (k[high] - k[low]) / (weights[query, high] / weights[query, low]).log()


def from_all_keys(weights, q, k):
    scores, logs = (x - x.mean(-1, keepdim=True) for x in (q @ k.T, weights.log()))
    return (scores * logs).sum() / (logs * logs).sum()


def by_halving(weights, q, k):
    """Look for the divisor that gives the first query its largest weight."""
    scores, low, high = q[0] @ k.T, 1e-3, 1e4
    for _ in range(60):
        middle = (low * high) ** 0.5
        low, high = (
            (middle, high) if (scores / middle).softmax(-1).max() > weights[0].max() else (low, middle)
        )
    return low


def with_an_unknown_sum(weights, q, k):
    """Solve score = divisor · logarithm + constant for the first query, by least squares in plain Python."""
    s, logs = (q[0] @ k.T).tolist(), [math.log(w) for w in weights[0].tolist()]
    n, s_mean, l_mean = len(s), sum(s) / len(s), sum(logs) / len(logs)
    top = sum((s[i] - s_mean) * (logs[i] - l_mean) for i in range(n))
    return top / sum((x - l_mean) ** 2 for x in logs)


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


def unswapped(x, w_q, w_k, heads):
    q, k = ((x @ w).unflatten(-1, (heads, -1)) for w in (w_q, w_k))
    return q @ k.mT / q.shape[-1] ** 0.5


def tokens_dealt(x, w_q, w_k, heads):
    q, k = ((x @ w).view(len(x), heads, x.shape[1], -1) for w in (w_q, w_k))
    return q @ k.mT / math.sqrt(q.shape[-1])


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
    grid = np.exp(np.linspace(-7, 7, 200_001))
    e = np.exp((s - s.max())[:, None] / grid)
    return torch.tensor(grid[np.abs(1 / e.sum(0) - top).argmin()])


def unit(x, dim=-1):
    return x / x.norm(dim=dim, keepdim=True)


def both_ways(row):
    """Return a vector and its opposite."""
    return [list(row), [-x for x in row]]


def agreeing(d, spread):
    """Let some coordinates agree and the others disagree."""
    return [both_ways([1] * d), both_ways([1] * ((d + spread) // 2) + [-1] * ((d - spread) // 2))]


def in_pairs(d, spread):
    """March on the first coordinates, and cancel the others two by two."""
    q = torch.ones(2, d) * torch.tensor([[1.0], [-1.0]])
    k = q.clone()
    k[:, spread + 1 :: 2] *= -1
    return q, k


def three_rows(d, spread):
    """Use other numbers than signs, and more queries than keys."""
    size = np.sqrt(1.5)
    q = np.array([[size] * d, [-size] * d, [0] * d])
    return [q, np.array(agreeing(d, spread)[1])]


def on_circles(d, spread):
    """Turn q and k through a whole circle each, by steps of 30 degrees, every coordinate with its phase."""
    turn = torch.arange(12)[:, None] * torch.pi / 6
    phases = torch.cat([torch.zeros((d + spread) // 2), torch.full(((d - spread) // 2,), torch.pi)])
    return {"q": (turn + 0 * phases).cos() * 2**0.5, "k": both_ways(phases.cos().tolist())}


def mixed(d, spread):
    """Mix keys that march with keys that cancel, so many of each that the mean square fits."""
    march, cancel = [1] * d, [1, -1] * (d // 2)
    k = both_ways(march) * spread**2 + both_ways(cancel) * (d**2 - spread**2)
    return [both_ways([1] * d), torch.tensor(k, dtype=torch.float32)]


def sampled(d, spread, rows=1000):
    q, k = torch.randn(2, rows, d, generator=torch.Generator().manual_seed(0))
    return [q, k]


def listed(d):
    """List all vectors of +1 and −1 in d dimensions."""
    return torch.cartesian_prod(*[torch.tensor([1.0, -1.0])] * d)


def partly(d, spread):
    """March on the first coordinates, and let each of the others move on its own."""
    free = listed(d - spread).reshape(2 ** (d - spread), -1)
    both = torch.cat([free, free])
    march = torch.ones(len(free), spread)
    x = torch.cat([torch.cat([march, -march]), both], 1)
    return [x, x]


def through(lengths="before", scale="D"):
    """Return attention through the kernel, normed before or after the padding, with one of several scales."""

    def attend(q, k, v, kernel):
        D = q.shape[-1]
        if lengths == "before":
            q, k = rms_norm(q, (D,)), rms_norm(k, (D,))
        if lengths == "only q":
            q = rms_norm(q, (D,))
        if lengths == "only k":
            k = rms_norm(k, (D,))
        if lengths == "tokens":
            q, k = (x / x.square().mean(-2, keepdim=True).sqrt() for x in (q, k))
        q, k = (pad(x, (0, -D % 8)) for x in (q, k))
        if lengths == "after":
            q, k = (rms_norm(x, x.shape[-1:]) for x in (q, k))
        if lengths == "one":
            q, k = unit(q), unit(k)
        scales = {"D": D**-0.5, "P": None, "1": 1.0, "/D": 1 / D, "*D": D, "*": D**0.5, "20": 20**-0.5}
        scales |= {"Dv": v.shape[-1] ** -0.5, "S": k.shape[-2] ** -0.5}
        return kernel(q, k, v, scale=scales[scale])

    return attend


def spelled_out(q, k, v, kernel):
    D = q.shape[-1]
    q, k = (x * (D / x.pow(2).sum(-1, keepdim=True)).sqrt() for x in (q, k))
    zeros = [torch.zeros(*x.shape[:-1], -D % 8) for x in (q, k)]
    q, k = (torch.cat([x, zero], -1) for x, zero in zip((q, k), zeros, strict=True))
    return kernel(q * (q.shape[-1] / D) ** 0.5, k, v)


def shortened(q, k, v, kernel):
    """Keep the norm behind the padding, and take back what it adds."""
    D = q.shape[-1]
    q, k = (pad(x, (0, -D % 8)) for x in (q, k))
    P = q.shape[-1]
    q, k = (rms_norm(x, (P,)) * (D / P) ** 0.5 for x in (q, k))
    return kernel(q, k, v, scale=D**-0.5)


def twice(q, k, v, kernel):
    D = q.shape[-1]
    q, k = (pad(normalize(x, dim=-1) * D**0.5, (0, -D % 8)) for x in (q, k))
    return kernel(q / D**0.5, k, v)


def by_hand(q, k, v, kernel):
    D = q.shape[-1]
    return (D**0.5 * unit(q) @ unit(k).mT).softmax(-1) @ v


def searched_up_to_ten(scores, top):
    low, high = 0.01, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if (scores / middle).softmax(-1).max() > top else (low, middle)
    return middle


def searched_the_wrong_way(scores, top, low=1e-4, high=1e4):
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (low, middle) if (scores / middle).softmax(-1).max() > top else (middle, high)
    return middle


def padded_by(amount):
    """Return attention that appends another number of zeros, right in all else."""

    def attend(q, k, v, kernel):
        D = q.shape[-1]
        q, k = (pad(rms_norm(x, (D,)), (0, amount(D))) for x in (q, k))
        return kernel(q, k, v, scale=D**-0.5)

    return attend


RIGHT = {
    "4.1": [[0, 5], (0.0, 5.0), np.array([0, 5]), torch.tensor([[0.0, 5.0]])],
    "4.2": [
        from_two_keys,
        from_all_keys,
        lambda w, q, k: ((q @ k.T).std(-1) / w.log().std(-1)).mean(),
        by_halving,
        with_an_unknown_sum,
        lambda w, q, k: np.ptp((q @ k.T).numpy()[0]) / np.log(w[0].numpy().max() / w[0].numpy().min()),
    ],
    "4.3": [
        lambda m, d: d * (1 + 2 * m**2),
        lambda m, d: d * ((1 + m * m) ** 2 - m**4),
        lambda m, d: torch.tensor(d + 2.0 * d * m * m),
        lambda m, d: sum((1 + m**2) ** 2 - (m * m) ** 2 for _ in range(d)),
    ],
    "4.4": [
        lambda a, b: (a * b).norm(),
        lambda a, b: (a**2 * b**2).sum() ** 0.5,
        lambda a, b: math.sqrt(sum((x * y) ** 2 for x, y in zip(a.tolist(), b.tolist(), strict=True))),
        lambda a, b: np.sqrt(a.numpy() ** 2 @ b.numpy() ** 2),
    ],
    "4.5": [
        repaired(0.5),
        by_slices,
        lambda x, a, b, h: heads_of(x, a, h) @ heads_of(x, b, h).mT * (x.shape[-1] // h) ** -0.5,
        lambda x, a, b, h: torch.einsum(
            "bhtd,bhsd->bhts", *(heads_of(x, w, h) / (x.shape[-1] // h) ** 0.25 for w in (a, b))
        ),
    ],
    "4.6": [halving, by_table, lambda s, top: float(halving(s, top)), by_factor],
    "4.7": [
        lambda q, k, g: g * unit(q) @ unit(k).T,
        lambda q, k, g: g * normalize(q, dim=-1) @ normalize(k, dim=-1).T,
        lambda q, k, g: g * cosine_similarity(q[:, None], k[None], dim=-1),
        lambda q, k, g: g * (q @ k.T) / (q.norm(dim=1)[:, None] * k.norm(dim=1)),
    ],
    "4.8": [
        [[0.05, 0.75, 1], [0.003, 0.003, 0.003]],
        torch.tensor([[0.064, 0.612, 0.9996], [0.0027, 0.0027, 0.0027]]),
        np.array([[0.03, 0.64, 1.0], [0.002, 0.002, 0.004]]),
        [[math.exp(r) / (math.exp(r) + 1647) for r in (4, 8, 16)], [math.e / 1650] * 3],
        ([0.1, 0.5, 0.95], [0.004, 0.003, 0.002]),
    ],
    "4.9": [
        {"batches": 47, "weight": 1 / 9, "loss": 1.743, "holds": False},
        {"batches": 45, "weight": torch.tensor(0.1111), "loss": 1.8, "holds": np.bool_(False)},
        {"holds": 0, "loss": np.float32(1.72), "weight": 0.111, "batches": torch.tensor(46)},
        {"batches": [44], "weight": 0.11, "loss": 1.7, "holds": torch.tensor(False)},
    ],
    "4.10": [agreeing, in_pairs, three_rows, on_circles, mixed, lambda *c: torch.tensor(agreeing(*c))],
    "4.11": [
        through(),
        padded_by(lambda D: 8 - D % 8),
        spelled_out,
        shortened,
        lambda q, k, v, kernel: through()(q, k, pad(v, (0, 5)), kernel)[..., : v.shape[-1]],
        lambda q, k, v, kernel: through()(q.double(), k.double(), v.double(), kernel),
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
    ("4.1", [3, 5], "the score of the key (1, 1)"),
    ("4.1", [2, 5], "scores keep their sign"),
    ("4.1", [5, 5], "mean: that is the squared length"),
    ("4.1", [0.5, 5], "scores of two opposite keys"),
    ("4.1", [0, 10], "the squares of two keys"),
    ("4.1", [0, 0], "the deviations themselves"),
    ("4.1", [0, 25], "square once too often"),
    ("4.1", [0, 4], "one of the two products"),
    ("4.1", [0, 9], "the square of one score"),
    ("4.1", [0, 3], "enters squared"),
    ("4.1", [0, 7], "the mean of the four squared scores"),
    ("4.1", 5, "the shape should be (2,)"),
    ("4.2", lambda w, q, k: q.shape[-1] ** 0.5, "what the scores should have been divided by"),
    ("4.2", lambda w, q, k: q.shape[-1], "you return D"),
    ("4.2", lambda w, q, k: 1.0, "divided by 1 the scores would give other weights"),
    (
        "4.2",
        lambda w, q, k: 7.5,
        "right at first, but not for 5 queries and 3 keys of width 16: q · k divided by 7.5 would",
    ),
    ("4.2", lambda w, q, k: from_all_keys(w, q, k) ** 2, "the square of the divisor"),
    ("4.2", lambda w, q, k: from_all_keys(w, q, k) ** 0.5, "the root of the divisor"),
    ("4.2", lambda w, q, k: 1 / from_all_keys(w, q, k), "what to multiply by"),
    ("4.2", lambda w, q, k: -from_all_keys(w, q, k), "a sign is turned round"),
    ("4.2", lambda w, q, k: (q @ k.T / w.log()).mean(), "the logarithm of its row's sum"),
    ("4.2", lambda w, q, k: (q[0] @ k[0]) / w[0, 0].log(), "the logarithm of its row's sum"),
    ("4.2", lambda w, q, k: (q @ k.T).std() / w.log().std(), "the logarithm of its row's sum"),
    ("4.2", lambda w, q, k: (q[0] @ k[0] - q[1] @ k[0]) / (w[0, 0] / w[1, 0]).log(), "a sum of its own"),
    ("4.2", lambda w, q, k: q[0] @ (k[0] - k[1]) / (w[0, 0] - w[0, 1]), "Take the logarithm of the weights"),
    ("4.2", lambda w, q, k: (q @ k.T).std() / w.std(), "Take the logarithm of the weights"),
    ("4.2", lambda w, q, k: q[0] @ (k[0] - k[1]) / (w[0, 0] / w[0, 1]).log2(), "another base"),
    ("4.2", lambda w, q, k: from_two_keys(w, q / q.shape[-1] ** 0.5, k), "divided by √D before you compare"),
    ("4.2", lambda w, q, k: (q @ k.T).std(), "the standard deviation of the scores"),
    (
        "4.2",
        lambda w, q, k: (q @ k.T - (q @ k.T)[:, :1]) / (w / w[:, :1]).log(),
        "one number is asked, yours are 12",
    ),
    ("4.2", lambda w, q, k: q[0] @ (k[0] - k[0]) / (w[0, 0] / w[0, 0]).log(), "with itself"),
    ("4.2", lambda w, q, k: from_two_keys(w, q, k, 0, 1, 2), "it stopped in line"),
    ("4.2", lambda w, q, k: 0.0, "q · k divided by 0 would give"),
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
    ("4.3", lambda m, d: 1 + 2 * m**2, "one product"),
    ("4.3", lambda m, d: 8.0, "the number is too small"),
    ("4.3", lambda m, d: d * (1 + m * m) ** 2 - m**4, "each of the d products has it"),
    ("4.3", lambda m, d: d * ((1 + m * m) ** 2 - m * m), "so its square is mean⁴"),
    ("4.3", lambda m, d: d * (1 + m * m) ** 2 - (d * m) ** 2, "so its square is mean⁴"),
    ("4.3", lambda m, d: d * (1 + 2 * m * m) + d * d * m**4 - d * m**4, "the mean of the whole sum"),
    ("4.3", lambda m, d: d * m**4, "what is taken away; from what"),
    ("4.3", lambda m, d: d + m * m, "each of the d products adds"),
    ("4.3", lambda m, d: d * (1 + m * m) - m * m, "both"),
    ("4.3", lambda m, d: d * m * m, "the mean of the score"),
    ("4.3", lambda m, d: 2 * d * m * m, "what the mean adds"),
    ("4.3", lambda m, d: d * (1 + m * m + 1 + m * m), "you add E[q²] and E[k²]"),
    ("4.3", lambda m, d: d * (1 + m) ** 2, "before they are squared"),
    ("4.3", lambda m, d: d * d * (1 + 2 * m * m), "multiply by d twice"),
    ("4.3", lambda m, d: d * (1 - m * m) ** 2, "not 1 − mean²"),
    ("4.3", lambda m, d: d * (1 + 2 * m), "only the square"),
    ("4.4", lambda a, b: len(a) ** 0.5, "those of q and k count too"),
    ("4.4", lambda a, b: (a * b).square().sum(), "the variance of the score"),
    ("4.4", lambda a, b: (a * b).sum(), "do not add; their squares do"),
    ("4.4", lambda a, b: (a * b).sum().sqrt(), "square the standard deviations"),
    ("4.4", lambda a, b: a.norm() * b.norm(), "you sum over q and over k first"),
    (
        "4.4",
        lambda a, b: (a.square().mean() * b.square().mean() * len(a)) ** 0.5,
        "you average the variances",
    ),
    ("4.4", lambda a, b: a.mean() * b.mean() * len(a) ** 0.5, "mean standard deviations"),
    ("4.4", lambda a, b: (a.square() + b.square()).sum().sqrt(), "variances of q and k multiply"),
    ("4.4", lambda a, b: (a + b).norm(), "standard deviations of q and k multiply"),
    ("4.4", lambda a, b: a.norm(), "the keys are missing"),
    ("4.4", lambda a, b: a.mean() * len(a) ** 0.5, "the keys are missing"),
    ("4.4", lambda a, b: b.norm(), "the queries are missing"),
    ("4.4", lambda a, b: (a * b).square().mean().sqrt(), "no mean"),
    ("4.4", lambda a, b: (a * b).norm() * len(a) ** 0.5, "no further factor"),
    ("4.4", lambda a, b: 1 / (a * b).norm(), "what to multiply by"),
    ("4.4", lambda a, b: a * b * len(a) ** 0.5, "a number for each coordinate"),
    ("4.4", lambda a, b: a * b, "a number for each coordinate"),
    ("4.4", lambda a, b: a, "the shape should be ()"),
    ("4.5", repaired(0.5, lambda q: 24), "the model's width"),
    ("4.5", repaired(1), "take its root"),
    ("4.5", repaired(0), "the division is gone"),
    ("4.5", repaired(0.5, lambda q: q.shape[1]), "number of heads"),
    ("4.5", repaired(0.5, lambda q: q.shape[2]), "number of tokens"),
    ("4.5", repaired(1, lambda q: 24**0.5 / q.shape[1]), "divide C by it first"),
    ("4.5", repaired(0.5, lambda q: 6), "take it from what comes"),
    ("4.5", lambda x, a, b, h: repaired(0.5)(x.reshape(2, 5, 24), a, b, 4), "right at first, but not for"),
    ("4.5", lambda *a: repaired(0.5)(*a).softmax(-1), "return the scores"),
    ("4.5", lambda *a: repaired(0)(*a) / repaired(0)(*a).std(), "happen to have"),
    ("4.5", lambda *a: repaired(0)(*a) / repaired(0)(*a).std((1, 2, 3), keepdim=True), "happen to have"),
    ("4.5", lambda *a: repaired(0)(*a) / repaired(0)(*a).std((2, 3), keepdim=True), "happen to have"),
    ("4.5", lambda *a: repaired(0)(*a) / repaired(0)(*a).std(-1, keepdim=True), "happen to have"),
    ("4.5", repaired(-0.5), "you multiply by the root"),
    ("4.5", repaired(0.25), "the fourth root"),
    ("4.5", repaired(0.5, lambda q: 24 * 6), "over the root of the number of heads"),
    ("4.5", repaired(1, lambda q: 24 / 4**0.5), "over the root of the number of heads"),
    ("4.5", repaired(0.5, lambda q: len(q)), "the batch size"),
    ("4.5", lambda *a: repaired(0.5)(*a).mT, "the transpose"),
    ("4.5", lambda *a: repaired(0.5)(*a).mean(1) * a[-1], "one table of scores for all heads"),
    ("4.5", lambda x, a, b, h: repaired(0.5)(x, a.T, b.T, h), "the matrices are transposed"),
    ("4.5", lambda x, a, b, h: repaired(0.5)(x, a, a, h), "from the same matrix"),
    ("4.5", lambda x, a, b, h: x @ a @ (x @ b).mT / 24**0.5, "one table of scores for all heads"),
    ("4.5", lambda x, a, b, h: repaired(0.5)(x, a, b, 1), "the shape should be"),
    ("4.5", unswapped, "each token's heads meet"),
    ("4.5", cut_wrongly, "a block of neighbouring numbers"),
    ("4.5", tokens_dealt, "deals tokens out to heads"),
    ("4.5", repaired(1, lambda q: 4), "a fixed number or the number of heads"),
    ("4.5", repaired(1, lambda q: q.shape[1]), "a fixed number or the number of heads"),
    ("4.6", searched_up_to_ten, "a larger divisor gets closer"),
    ("4.6", lambda s, top: min(100.0, float(halving(s, top))), "for scores [900.0, 400.0, 0.0]"),
    ("4.6", lambda s, top: max(0.01, float(halving(s, top))), "for scores [0.009, 0.004, 0.0]"),
    ("4.6", lambda s, top: (s.max() - s.mean()) / math.log(top * (len(s) - 1) / (1 - top)), "at their mean"),
    (
        "4.6",
        lambda s, top: (s.max() - s.sort().values[:-1].mean()) / math.log(top * (len(s) - 1) / (1 - top)),
        "at their mean",
    ),
    ("4.6", lambda s, top: round(4 * float(halving(s, top))) / 4, "not to a thousandth"),
    ("4.6", lambda s, top: 1.0, "leaves the largest weight at"),
    ("4.6", lambda s, top: 1 / halving(s, top), "what to multiply by"),
    ("4.6", lambda s, top: halving(s, top, 0), "The largest may stand anywhere"),
    ("4.6", lambda s, top: -1.0, "a number above 0"),
    ("4.6", lambda s, top: len(s) ** 0.5, "a larger divisor gets closer"),
    ("4.6", lambda s, top: halving(s, top + 0.0015), "close, but not to a thousandth"),
    ("4.6", lambda s, top: halving(s, min(top + 0.05, 0.99)), "a larger divisor"),
    ("4.6", lambda s, top: 50.0, "a smaller divisor"),
    ("4.6", lambda s, top: 0.01, "a larger divisor"),
    ("4.6", lambda s, top: (s[0] - s[1]) / math.log(top / (1 - top)), "the formula for two keys; here are 4"),
    ("4.6", searched_the_wrong_way, "a smaller divisor gets closer. If that is an end of your search"),
    ("4.6", lambda s, top: 1e-4, "a larger divisor gets closer. If that is an end of your search"),
    ("4.6", lambda s, top: 1e-320, "larger than any number: a larger divisor"),
    ("4.6", lambda s, top: (s / halving(s, top)).softmax(-1), "one number is asked, yours are 2"),
    ("4.7", lambda q, k, g: unit(q) @ unit(k).T, "the factor is missing"),
    ("4.7", lambda q, k, g: g * q @ k.T, "the lengths still count"),
    ("4.7", lambda q, k, g: g * q @ k.T / 6**0.5, "the lengths still count"),
    ("4.7", lambda q, k, g: q @ k.T / 6**0.5, "scaled dot products"),
    ("4.7", lambda q, k, g: g * unit(q) @ k.T, "the keys keep"),
    ("4.7", lambda q, k, g: g * q @ unit(k).T, "the queries keep"),
    ("4.7", lambda q, k, g: g * unit(q) @ unit(k).T / 6**0.5, "not needed any more"),
    ("4.7", lambda q, k, g: g * (q / q.norm()) @ (k / k.norm()).T, "the whole matrix"),
    ("4.7", lambda q, k, g: g * unit(q, 0) @ unit(k, 0).T, "columns"),
    ("4.7", lambda q, k, g: g * normalize(q, p=1) @ normalize(k, p=1).T, "absolute values"),
    ("4.7", lambda q, k, g: (q @ k.T).clamp(-g, g), "clamping bounds"),
    ("4.7", lambda q, k, g: g * (q @ k.T / g).tanh(), "tanh bounds"),
    ("4.7", lambda q, k, g: unit(q) @ unit(k).T / g, "you divide by g"),
    ("4.7", lambda q, k, g: (g * unit(q) @ unit(k).T).softmax(-1), "leave out the softmax"),
    ("4.7", lambda q, k, g: g * unit(k) @ unit(q).T, "the transpose"),
    ("4.7", lambda q, k, g: g * rms_norm(q, q.shape[-1:]) @ rms_norm(k, k.shape[-1:]).T, "are √D long"),
    ("4.7", lambda q, k, g: g * rms_norm(q, q.shape[-1:]) @ unit(k).T, "√D times too large"),
    ("4.7", lambda q, k, g: (g * unit(q)) @ (g * unit(k)).T, "g counts twice"),
    ("4.7", lambda q, k, g: g * (q @ k.T).clamp(-1, 1), "clamping bounds"),
    ("4.7", lambda q, k, g: normalize(g * q) @ normalize(k).T, "it is divided out again"),
    ("4.7", lambda q, k, g: (g * unit(q) @ unit(k).T).clamp(-1, 1), "scores go from −g to g"),
    (
        "4.7",
        lambda q, k, g: g * layer_norm(q, q.shape[-1:]) @ layer_norm(k, k.shape[-1:]).T,
        "you take the mean away",
    ),
    ("4.7", lambda q, k, g: q @ k.T, "plain dot products"),
    ("4.7", lambda q, k, g: unit(q) @ k.T, "the keys keep their lengths, and g is missing"),
    ("4.7", lambda q, k, g: q @ unit(k).T, "the queries keep their lengths, and g is missing"),
    ("4.7", lambda q, k, g: g * normalize(q @ k.T), "you bring the scores to length 1"),
    ("4.7", lambda q, k, g: g * (q @ k.T) / (q @ k.T).abs().max(), "you divide by the largest score"),
    ("4.7", lambda q, k, g: g * (unit(q) @ unit(k).T).tanh(), "bounded already"),
    ("4.7", lambda q, k, g: g * (unit(q) @ unit(k).T).abs(), "the sign is lost"),
    ("4.7", lambda q, k, g: g * (unit(q) @ unit(k).T).softmax(-1), "leave out the softmax"),
    ("4.7", lambda q, k, g: g * q.T.corrcoef(), "the shape should be"),
    ("4.8", [[0.001] * 3] * 2, "(I) does not hold for this one score"),
    ("4.8", [[0.001, 0.001, 0.001], [0, 0, 0]], "(I) does not hold for this one score"),
    ("4.8", [[0.25] * 3, [0.07] * 3], "among 16 random keys"),
    ("4.8", [[0.003] * 3, [0.05, 0.75, 1]], "the rows are swapped"),
    ("4.8", [[1, 0.7, 0.05], [0.003] * 3], "the other way round"),
    ("4.8", [[0.05, 0.7, 1], [0.05, 0.7, 1]], "is the own score still larger"),
    ("4.8", [[1] * 3] * 2, "that is so undivided"),
    ("4.8", [[1, 1, 1], [0.05, 0.75, 1]], "one division too few"),
    ("4.8", [[0.5, 0.75, 1], [0.003] * 3], "row 1, column 1: the own score is only about 4"),
    ("4.8", [[0.05, 0.2, 1], [0.003] * 3], "row 1, column 2: the own score is about 8"),
    ("4.8", [[0.05, 1, 1], [0.003] * 3], "999 exponentials of about 1 or 2"),
    ("4.8", [[0.05, 0.5, 0.7], [0.003] * 3], "row 1, column 3"),
    ("4.8", [[0.05, 0.6, 1], [0.15, 0.1, 0.05]], "row 2, column 1: compare the exponential"),
    ("4.8", [[0.05, 0.6, 1], [0.003, 0.003, 0.006]], "row 2, column 3: compare the exponential"),
    ("4.8", [[0.05, 0.6, 1], [0.001, 0.001, 0.001]], "row 2: 0.001 is the even share"),
    ("4.8", [[0.05, 0.6, 1], [0, 0, 0]], "row 2, column 1"),
    ("4.8", [[0.05, 0.6, 1], [0.5, 0.5, 0.5]], "row 2: the own score is about d, divided by d"),
    ("4.8", [[4, 8, 16], [1, 1, 1]], "those are the own scores"),
    ("4.8", [[5, 75, 100], [0.3, 0.3, 0.3]], "not per cents"),
    ("4.8", [0.05, 0.6, 1], "the shape should be (2, 3)"),
    ("4.9", {"batches": 60, "weight": 0.111, "loss": 1.75, "holds": False}, "the usual start"),
    ("4.9", {"batches": 90, "weight": 0.111, "loss": 1.75, "holds": False}, "division by d takes"),
    ("4.9", {"batches": 120, "weight": 0.111, "loss": 1.75, "holds": False}, "this model does learn"),
    ("4.9", {"batches": None, "weight": 0.111, "loss": 1.75, "holds": False}, "batches: it is None"),
    ("4.9", {"batches": 30, "weight": 0.111, "loss": 1.75, "holds": False}, "batches is too small"),
    ("4.9", {"batches": 46, "weight": 0.125, "loss": 1.75, "holds": False}, "the question itself is a key"),
    ("4.9", {"batches": 46, "weight": 0.911, "loss": 1.75, "holds": False}, "a model that has learned"),
    ("4.9", {"batches": 46, "weight": 0, "loss": 1.75, "holds": False}, "a softmax of equal scores"),
    ("4.9", {"batches": 46, "weight": 1, "loss": 1.75, "holds": False}, "does not attend to the right pair"),
    ("4.9", {"batches": 46, "weight": 1 / 9, "loss": math.log(8), "holds": False}, "that is log 8"),
    ("4.9", {"batches": 46, "weight": 1 / 9, "loss": math.log(9), "holds": False}, "that is log 9"),
    ("4.9", {"batches": 46, "weight": 1 / 9, "loss": 0.001, "holds": False}, "knows recall"),
    ("4.9", {"batches": 46, "weight": 1 / 9, "loss": 1.75, "holds": True}, "do both models learn"),
    ("4.9", {"batches": 46, "weight": 1 / 9, "loss": 17.4, "holds": False}, "the sum of ten batches"),
    ("4.9", {"batches": 46, "weight": 22.2, "loss": 1.75, "holds": False}, "the sum over 200 questions"),
    ("4.9", {"batches": 46, "weight": 11.1, "loss": 1.75, "holds": False}, "not per cents"),
    ("4.9", {"batches": 46, "weight": 1 / 9, "holds": False}, "keep the dict with its keys"),
    ("4.10", lambda d, s: agreeing(d, d), "all d coordinates add up"),
    ("4.10", lambda d, s: [listed(d)] * 2, "(I) holds still"),
    ("4.10", lambda d, s: agreeing(d, abs(2 * s - d)), "each takes 1 away"),
    ("4.10", partly, "add to the variance too"),
    (
        "4.10",
        lambda d, s: [listed(d), listed(d) * torch.tensor(agreeing(d, s)[1][0])],
        "every query meets every key",
    ),
    (
        "4.10",
        lambda d, s: [
            both_ways([1] * d),
            both_ways([1] * ((d + s * s // d) // 2) + [-1] * (d - (d + s * s // d) // 2)),
        ],
        "the scores have the standard deviation 4",
    ),
    ("4.10", lambda d, s: agreeing(d, d - s), "less the number of those that do not"),
    ("4.10", lambda d, s: agreeing(d, 0), "all scores are 0"),
    ("4.10", lambda d, s: agreeing(d, 10 if d > 6 else d), "the scores have the standard deviation 10"),
    ("4.10", lambda d, s: agreeing(d, min(d, 8)), "right at first, but not for d = 10"),
    ("4.10", sampled, "A few vectors, written out"),
    ("4.10", lambda d, s: [[[s / d**0.5] * d] * 2, both_ways([1] * d)], "(Z) wants 0"),
    ("4.10", lambda d, s: [both_ways([s / d] * d), both_ways([1] * d)], "(U) wants 1"),
    ("4.10", lambda d, s: [both_ways([0.5**0.5] * d), both_ways([1] * d)], "the squares sum to N − 1"),
    ("4.10", lambda d, s: [[1] * d, both_ways([1] * d)], "should have shape (N, 14), yours is (14,)"),
    ("4.10", lambda d, s: [[[1] * d], both_ways([1] * d)], "give at least two"),
    ("4.10", lambda d, s: [torch.ones(d, 2), torch.ones(d, 2)], "Vectors are rows"),
    ("4.10", lambda d, s: both_ways([1] * d), "should have shape (N, 14), yours is (14,)"),
    ("4.10", lambda d, s: 1.0, "two matrices in a list"),
    ("4.11", through("after", "P"), "the padded width still counts"),
    ("4.11", through("after", "D"), "counts the zeros as well"),
    ("4.11", through("before", "P"), "if nobody tells it"),
    ("4.11", twice, "divided twice"),
    ("4.11", through("before", "1"), "the division is gone"),
    ("4.11", through("after", "1"), "the division is gone, and"),
    ("4.11", through("before", "/D"), "you divide by D"),
    ("4.11", through("before", "*D"), "you multiply by D"),
    ("4.11", through("before", "20"), "20 is one width"),
    ("4.11", through("before", "Dv"), "the values' width"),
    ("4.11", through("before", "S"), "the number of keys"),
    ("4.11", through("only q", "D"), "only the queries are normed"),
    ("4.11", through("only k", "P"), "only the keys are normed"),
    ("4.11", through("before", "*"), "you multiply by the root"),
    ("4.11", through("none", "D"), "the norm is gone"),
    ("4.11", through("none", "P"), "what does the kernel divide by"),
    ("4.11", through("tokens", "D"), "along the tokens"),
    ("4.11", through("one", "D"), "are 1 long"),
    ("4.11", lambda q, k, v, kernel: kernel(q, k, v), "leave the padding in"),
    ("4.11", padded_by(lambda D: D % 8), "for D = 11 it got 14: append as many zeros as are missing"),
    ("4.11", padded_by(lambda D: 8), "for D = 11 it got 19: append as many zeros as are missing"),
    ("4.11", padded_by(lambda D: 24 - D), "for D = 131 the kernel got queries and keys 24 wide"),
    ("4.11", padded_by(lambda D: 32 - D), "take it from D"),
    ("4.11", padded_by(lambda D: 128 - D), "take it from D"),
    ("4.11", padded_by(lambda D: 0), "leave the padding in"),
    ("4.11", by_hand, "from the kernel"),
    ("4.11", lambda q, k, v, kernel: through()(q, k, pad(v, (0, 5)), kernel), "columns of padding"),
]
