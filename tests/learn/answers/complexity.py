"""Right answers written differently, and the wrong ones people give, each with words of the mistake it must name."""

import math
from fractions import Fraction

import numpy as np
import torch

from attnlib import linear_attention
from attnlib.instruments.cost import attention_flops, cache_bytes, projection_flops, score_bytes
from attnlib.linear import linear_attention_step

LAYER = {"projections": 8 * 100 * 64**2, "core": 4 * 100**2 * 64}


def merged(weigh, divide=True):
    def answer(m1, l1, o1, m2, l2, o2):
        m = torch.maximum(m1, m2)
        a, b = weigh(m1 - m, l1), weigh(m2 - m, l2)
        return (a * o1 + b * o2) / (a + b) if divide else a * o1 + b * o2

    return answer


def merged_logs(m1, l1, o1, m2, l2, o2):
    share = torch.sigmoid((m1 + l1.log()) - (m2 + l2.log()))
    return share * o1 + (1 - share) * o2


def merged_numpy(m1, l1, o1, m2, l2, o2):
    m = max(float(m1), float(m2))
    a, b = float(l1) * math.exp(m1 - m), float(l2) * math.exp(m2 - m)
    return (a * np.asarray(o1) + b * np.asarray(o2)) / (a + b)


def merged_by_softmax(m1, l1, o1, m2, l2, o2):
    logs = torch.stack([m1 + l1.log(), m2 + l2.log()])
    return logs.softmax(0) @ torch.stack([o1, o2])


def subtracting(which):
    def answer(m1, l1, o1, m2, l2, o2):
        m = m1 if which == 1 else m2
        a, b = (m1 - m).exp() * l1, (m2 - m).exp() * l2
        return (a * o1 + b * o2) / (a + b)

    return answer


def overflowing(m1, l1, o1, m2, l2, o2):
    a, b = m1.exp() * l1, m2.exp() * l2
    return (a * o1 + b * o2) / (a + b)


def swapped(m1, l1, o1, m2, l2, o2):
    m = torch.maximum(m1, m2)
    a, b = (m2 - m).exp() * l1, (m1 - m).exp() * l2
    return (a * o1 + b * o2) / (a + b)


def means_as_sums(m1, l1, o1, m2, l2, o2):
    m = torch.maximum(m1, m2)
    a, b = (m1 - m).exp(), (m2 - m).exp()
    return (a * o1 + b * o2) / (a * l1 + b * l2)


def online(*, shrink_sum=True, shrink_mix=True, divide=True):
    def answer(blocks):
        top, total, mixed = -math.inf, 0.0, 0.0
        for scores, values in blocks:
            new = max(top, scores.max().item())
            shrink, e = math.exp(top - new), torch.exp(scores - new)
            total = total * (shrink if shrink_sum else 1) + e.sum()
            mixed = mixed * (shrink if shrink_mix else 1) + e @ values
            top = new
        return mixed / total if divide else mixed

    return answer


def online_numpy(blocks):
    top, total, mixed = -np.inf, 0.0, 0.0
    for scores, values in blocks:
        s, v = scores.numpy(), values.numpy()
        new = max(top, s.max())
        e = np.exp(s - new)
        total, mixed, top = total * np.exp(top - new) + e.sum(), mixed * np.exp(top - new) + e @ v, new
    return mixed / total


def online_plainly(blocks):
    top, total, mixed = -math.inf, 0.0, None
    for scores, values in blocks:
        for score, value in zip(scores.tolist(), values.tolist(), strict=True):
            new = max(top, score)
            shrink, weight = math.exp(top - new), math.exp(score - new)
            total = total * shrink + weight
            mixed = [x * shrink + weight * y for x, y in zip(mixed or [0.0] * len(value), value, strict=True)]
            top = new
    return [x / total for x in mixed]


def online_merging(blocks):
    log_sum, out = torch.tensor(-math.inf).double(), 0.0
    for scores, values in blocks:
        own = scores.logsumexp(0)
        new = torch.logaddexp(log_sum, own)
        out = out * (log_sum - new).exp() + (scores - new).exp() @ values
        log_sum = new
    return out


def no_maximum(blocks):
    total, mixed = 0.0, 0.0
    for scores, values in blocks:
        total, mixed = total + scores.exp().sum(), mixed + scores.exp() @ values
    return mixed / total


def all_at_once(blocks):
    pairs = list(blocks)
    scores, values = torch.cat([s for s, _ in pairs]), torch.cat([v for _, v in pairs])
    e = (scores - scores.max()).exp()
    return e @ values / e.sum()


def with_softmax(blocks):
    log_sum, out = torch.tensor(-math.inf).double(), 0.0
    for scores, values in blocks:
        new = torch.logaddexp(log_sum, scores.logsumexp(0))
        out = out * (log_sum - new).exp() + (scores.logsumexp(0) - new).exp() * (scores.softmax(0) @ values)
        log_sum = new
    return out


def online_by(shift, start=-math.inf):
    """Subtracts another number than the largest score so far."""

    def answer(blocks):
        top, total, mixed = start, 0.0, 0.0
        for scores, values in blocks:
            new = max(top, shift(scores).item())
            e, shrink = (scores - new).exp(), math.exp(top - new)
            total, mixed, top = total * shrink + e.sum(), mixed * shrink + e @ values, new
        return mixed / total

    return answer


def keeping(keep, total):
    def answer(blocks):
        kept, top, mixed = [], -math.inf, 0.0
        for scores, values in blocks:
            kept.append(keep(scores))
            new = max(top, scores.max().item())
            mixed, top = mixed * math.exp(top - new) + (scores - new).exp() @ values, new
        return mixed / total(kept, top)

    return answer


def each_block(join):
    return lambda blocks: join(torch.stack([s.softmax(0) @ v for s, v in blocks]))


def recurrent(*, read_first=False, divide="sum", add=True):
    def answer(q, k, v):
        table, total, out = torch.zeros(k.shape[1], v.shape[1]), torch.zeros(k.shape[1]), []
        for t, (query, key, value) in enumerate(zip(q, k, v, strict=True)):
            if not read_first:
                table = (table if add else 0) + torch.outer(key, value)
                total = (total if add else 0) + key
            by = query @ (k.sum(0) if divide == "all" else total) if divide in ("sum", "all") else 1
            by = t + 1 if divide == "count" else by
            out.append(query @ table / by)
            if read_first:
                table, total = table + torch.outer(key, value), total + key
        return torch.stack(out)

    return answer


def by_steps(q, k, v):
    state, out = None, []
    for query, key, value in zip(q, k, v, strict=True):
        row, state = linear_attention_step(query, key, value, state, feature_map=lambda x: x)
        out.append(row)
    return torch.stack(out)


def cumulative(q, k, v):
    tables = torch.einsum("tf,td->tfd", k, v).cumsum(0)
    return torch.einsum("tf,tfd->td", q, tables) / (q * k.cumsum(0)).sum(-1, keepdim=True)


def recurrent_numpy(q, k, v):
    q, k, v = (x.numpy() for x in (q, k, v))
    table, total, out = np.zeros((k.shape[1], v.shape[1])), np.zeros(k.shape[1]), []
    for query, key, value in zip(q, k, v, strict=True):
        table, total = table + np.outer(key, value), total + key
        out.append(query @ table / (query @ total))
    return np.stack(out)


def recurrent_in_double(q, k, v):
    return recurrent_numpy(q.double(), k.double(), v.double())


def rows_kept(q, k, v):
    rows = [k[: t + 1] @ q[t] for t in range(len(q))]
    return torch.stack([row @ v[: len(row)] / row.sum() for row in rows])


def rows_again(q, k, v):
    rows = ((k[: t + 1] @ q[t], v[: t + 1]) for t in range(len(q)))
    return torch.stack([row @ values / row.sum() for row, values in rows])


def rows_of_blocks(q, k, v, size=256):
    out = []
    for t in range(0, len(q), size):
        weights = (q[t : t + size] @ k.T).tril(t)
        out.append(weights @ v / weights.sum(-1, keepdim=True))
    return torch.cat(out)


def growing(q, k, v):
    table, total, out = torch.zeros(k.shape[1], v.shape[1]), 0, torch.empty(0, v.shape[1])
    for t in range(len(q)):
        table, total = table + k[t, :, None] * v[t], total + k[t]
        out = torch.cat([out, (q[t] @ table / (q[t] @ total))[None]])
    return out


def all_pairs(q, k, v):
    weights = (q @ k.T).tril()
    return weights @ v / weights.sum(-1, keepdim=True)


def all_pairs_numpy(q, k, v):
    q, k, v = (x.numpy() for x in (q, k, v))
    weights = np.tril(q @ k.T)
    return weights @ v / weights.sum(1, keepdims=True)


def cached(B, layers, d, H, Hkv, n, width):
    return 2 * B * layers * Hkv * (d // H) * n * width


def fits(memory, layers, Hkv, D, width):
    return memory // (2 * layers * Hkv * D * width)


def windowed(n, window):
    return sum(min(i + 1, window) for i in range(n))


def with_the_first_maximum(blocks):
    top, total, mixed = None, 0.0, 0.0
    for scores, values in blocks:
        top = scores.max() if top is None else top
        weights = (scores - top).exp()
        total, mixed = total + weights.sum(), mixed + weights @ values
    return mixed / total


RIGHT = {
    "7.1": [770, 2 * 5 * 7 * 11, 770.0, torch.tensor(770), np.int64(770)],
    "7.2": [
        LAYER,
        {name: float(x) for name, x in LAYER.items()},
        {name: Fraction(x) for name, x in LAYER.items()},
        {"projections": projection_flops(1, 100, 64), "core": attention_flops(1, 16, 100, 100, 4)},
    ],
    "7.3": [
        lambda d, H, Hkv: d * (1 + Hkv / H),
        lambda d, H, Hkv: d + d // H * Hkv,
        lambda d, H, Hkv: d * (1 + Fraction(Hkv, H)),
        lambda d, H, Hkv: torch.tensor(float(d + Hkv * d / H)),
    ],
    "7.4": [2 * 16 * 8192**2, 2**31, 2147483648.0, score_bytes(1, 16, 8192, 8192, torch.bfloat16)],
    "7.5": [
        cached,
        lambda B, layers, d, H, Hkv, n, width: B * layers * n * (d / H * Hkv) * 2 * width,
        lambda *sizes: np.float64(cached(*sizes)),
        lambda B, layers, d, H, Hkv, n, width: cache_bytes(B, Hkv, n, d // H, layers=layers) // 4 * width,
    ],
    "7.6": [
        fits,
        lambda m, layers, Hkv, D, w: int(m / (2 * w * layers * Hkv * D)),
        lambda *a: np.int64(fits(*a)),
        lambda m, layers, Hkv, D, w: math.floor(Fraction(m, 2 * layers * Hkv * D * w)),
    ],
    "7.7": [
        windowed,
        lambda n, w: n * min(n, w) - min(n, w) * (min(n, w) - 1) // 2,
        lambda n, w: int((torch.ones(n, n).tril() - torch.ones(n, n).tril(-w)).sum()),
        lambda n, w: np.minimum(np.arange(1, n + 1), w).sum(),
    ],
    "7.8": [
        lambda group, width: 2 * group / width,
        lambda group, width: (4 * 64 * group) / (2 * 64 * width),
        lambda group, width: Fraction(2 * group, width),
        lambda group, width: torch.tensor(2.0 * group / width),
    ],
    "7.9": [merged(lambda m, n: m.exp() * n), merged_logs, merged_numpy, merged_by_softmax],
    "7.10": [online(), online_numpy, online_merging, online_plainly],
    "7.11": [
        recurrent(),
        by_steps,
        growing,
        cumulative,
        recurrent_numpy,
        recurrent_in_double,
        lambda q, k, v: linear_attention(q, k, v, causal=True, feature_map=lambda x: x),
    ],
}

WRONG = [
    ("7.1", 385, "each comes with an addition"),
    ("7.1", 55, "the numbers of the result"),
    ("7.1", 110, "each takes 7 multiplications"),
    ("7.1", 112, "the numbers of the two matrices"),
    ("7.1", 715, "by convention"),
    ("7.1", 2 * 5 * 7, "it is too small"),
    ("7.1", 7, "it is too small"),
    ("7.1", [5, 7], "one number"),
    ("7.2", LAYER | {"projections": 4 * 100 * 64**2}, "A multiplication and an addition are two"),
    ("7.2", LAYER | {"projections": 6 * 100 * 64**2}, "the output is the fourth"),
    ("7.2", LAYER | {"projections": 3 * 100 * 64**2}, "there are four of them"),
    ("7.2", LAYER | {"projections": 2 * 100 * 64**2}, "that is one of them"),
    ("7.2", LAYER | {"projections": 8 * 100**2 * 64}, "n and d are swapped"),
    ("7.2", LAYER | {"projections": 8 * 100 * 64**2 * 16}, "H does not multiply it"),
    ("7.2", LAYER | {"core": 2 * 100**2 * 64}, "the product with the values is missing"),
    ("7.2", LAYER | {"core": 100**2 * 64}, "a quarter of it"),
    ("7.2", LAYER | {"core": 4 * 100**2 * 4}, "that is one head"),
    ("7.2", LAYER | {"core": 4 * 100**2 * 64 * 16}, "each head is d / H wide"),
    ("7.2", LAYER | {"core": 4 * 100 * 64**2}, "core: n and d are swapped"),
    ("7.2", LAYER | {"core": 1}, "core is too small"),
    ("7.2", {"core": LAYER["projections"], "projections": LAYER["core"]}, "are the two keys swapped"),
    ("7.2", [1, 2], "keep the dict"),
    ("7.3", lambda d, H, Hkv: 2 * d, "as many key heads as query heads"),
    ("7.3", lambda d, H, Hkv: d, "at n = d the core is the smaller"),
    ("7.3", lambda d, H, Hkv: 2 * d * Hkv / H, "queries and output do not shrink"),
    ("7.3", lambda d, H, Hkv: d * (1 + Hkv / H) / 2, "half of it"),
    ("7.3", lambda d, H, Hkv: d * (3 + Hkv / H) / 2, "K and V both do"),
    ("7.3", lambda d, H, Hkv: d * (1 + H / Hkv), "upside down"),
    ("7.3", lambda d, H, Hkv: 960 if d == 768 else d, "at n = d the core is the smaller"),
    ("7.3", lambda d, H, Hkv: 5, "5 is too small"),
    ("7.4", 2**34, "in bits"),
    ("7.4", 16 * 8192**2, "One of the two is missing"),
    ("7.4", 2 * 8192**2, "that is one head"),
    ("7.4", 4 * 16 * 8192**2, "bfloat16 has 2 bytes, and the scores alone"),
    ("7.4", 2 * 16 * 8192, "a score for every key"),
    ("7.4", 2, "in GiB"),
    ("7.4", 16 * 8192 * 8193, "lower triangle"),
    ("7.4", 3, "it is too small"),
    ("7.5", lambda *a: cached(*a) / 2, "keys and values are both kept"),
    ("7.5", lambda B, layers, d, H, Hkv, n, w: 2 * B * layers * d * n * w, "you count the query heads"),
    ("7.5", lambda B, layers, d, H, Hkv, n, w: 2 * B * layers * Hkv * (d // Hkv) * n * w, "a head to be d / Hkv wide"),
    ("7.5", lambda B, layers, d, H, Hkv, n, w: B * layers * d * n * w, "only Hkv heads of each"),
    ("7.5", lambda B, layers, *a: cached(B, 1, *a), "that is one layer"),
    ("7.5", lambda B, *a: cached(1, *a), "that is one sequence"),
    ("7.5", lambda *a: 8 * cached(*a), "in bits"),
    ("7.5", lambda *a: cached(*a[:-1], 1), "each takes `width` bytes"),
    ("7.5", lambda B, layers, d, H, Hkv, n, w: 2 * B * layers * Hkv * d * n * w, "each head is d / H wide"),
    ("7.5", lambda B, layers, d, H, Hkv, n, w: 2 * B * layers * Hkv * d // H * n * n * w, "it grows with n, not n²"),
    ("7.5", lambda B, layers, d, H, Hkv, n, w: 2 * B * layers * Hkv * n * w, "d / H numbers for a token"),
    ("7.5", lambda *a: 1, "1 is too small"),
    ("7.6", lambda m, layers, Hkv, D, w: m / (2 * layers * Hkv * D * w), "whole tokens only"),
    ("7.6", lambda *a: fits(*a) + 1, "that many would not fit"),
    ("7.6", lambda m, layers, Hkv, D, w: round(m / (2 * layers * Hkv * D * w)), "that many would not fit"),
    ("7.6", lambda m, layers, Hkv, D, w: m // (layers * Hkv * D * w), "twice too long"),
    ("7.6", lambda m, layers, Hkv, D, w: m // (2 * Hkv * D * w), "every layer keeps"),
    ("7.6", lambda m, layers, Hkv, D, w: m // (16 * layers * Hkv * D * w), "eight times too short"),
    ("7.6", lambda m, layers, Hkv, D, w: 8 * m // (2 * layers * Hkv * D * w), "eight times too long"),
    ("7.6", lambda m, layers, Hkv, D, w: m // (2 * layers * Hkv * D), "a number takes `width` bytes"),
    ("7.6", lambda m, layers, Hkv, D, w: m // (2 * layers * D * w), "each of the Hkv heads"),
    ("7.6", lambda m, layers, Hkv, D, w: m // (2 * layers * Hkv * w), "a key has D numbers"),
    ("7.6", lambda *a: math.isqrt(fits(*a)), "no root"),
    ("7.6", lambda m, layers, Hkv, D, w: 2 * layers * Hkv * D * w, "what one token takes"),
    ("7.6", lambda *a: 5, "5 is too small"),
    ("7.7", lambda n, w: n * n, "that is every pair"),
    ("7.7", lambda n, w: n * w, "the first sees itself alone"),
    ("7.7", lambda n, w: windowed(n, w) - n, "the query itself is one of the keys"),
    ("7.7", lambda n, w: sum(min(i, w) for i in range(n)), "the query itself is left out"),
    ("7.7", lambda n, w: windowed(n, w + 1), "one key too many"),
    ("7.7", lambda n, w: sum(min(n, i + w) - max(0, i - w + 1) for i in range(n)), "looks ahead"),
    ("7.7", lambda n, w: n * (n + 1) // 2, "the whole triangle"),
    ("7.7", lambda n, w: n * w - w * (w - 1) // 2, "a window longer than the text"),
    ("7.7", lambda n, w: 1, "1 is too small"),
    ("7.8", lambda g, w: w / (2 * g), "upside down"),
    ("7.8", lambda g, w: 4 * g / w, "both read"),
    ("7.8", lambda g, w: g / w, "half of it"),
    ("7.8", lambda g, w: 2 / w, "uses the same keys"),
    ("7.8", lambda g, w: 2 / (w * g), "it does not share the work"),
    ("7.8", lambda g, w: 2 * g / (8 * w), "in bytes already"),
    ("7.8", lambda g, w: 2 * g, "operations a number"),
    ("7.8", lambda g, w: 100, "100 is too large"),
    ("7.9", merged(lambda m, n: n), "relative to different maxima"),
    ("7.9", lambda m1, l1, o1, m2, l2, o2: (o1 + o2) / 2, "a plain mean"),
    ("7.9", lambda m1, l1, o1, m2, l2, o2: o1 + o2, "a sum of two means"),
    ("7.9", merged(lambda m, n: m.exp()), "the largest score of each block alone"),
    ("7.9", merged(lambda m, n: m.exp() * n, divide=False), "divide by the sum of the two weights"),
    ("7.9", merged(lambda m, n: (-m).exp() * n), "the wrong sign"),
    ("7.9", swapped, "the factors are swapped"),
    ("7.9", means_as_sums, "means already"),
    ("7.9", overflowing, "`exp` overflows"),
    ("7.9", subtracting(1), "m1 near 0 and m2 near 1000 `exp` overflows"),
    ("7.9", subtracting(2), "subtract the larger of m1 and m2"),
    ("7.9", lambda m1, l1, o1, m2, l2, o2: (m1, l1), "the shape should be (3,)"),
    ("7.10", online(shrink_sum=False, shrink_mix=False), "relative to an older maximum"),
    ("7.10", with_the_first_maximum, "when a later block is near 1000"),
    ("7.10", online(shrink_mix=False), "the mixed values are not"),
    ("7.10", online(shrink_sum=False), "the sum is not"),
    ("7.10", online(divide=False), "divide by the sum"),
    ("7.10", each_block(lambda x: x.mean(0)), "a mean of the blocks' own results"),
    ("7.10", each_block(lambda x: x.sum(0)), "a softmax for each block"),
    ("7.10", each_block(lambda x: x[-1]), "the last block alone"),
    ("7.10", with_softmax, "it calls softmax"),
    ("7.10", all_at_once, "use each as it comes"),
    ("7.10", no_maximum, "`exp` overflows"),
    ("7.10", online_by(torch.max, start=0.0), "does your maximum start at 0"),
    ("7.10", online_by(torch.mean), "in one block"),
    ("7.10", online_by(lambda s: s[0]), "in one block"),
    ("7.10", keeping(lambda s: s, lambda kept, top: (torch.cat(kept) - top).exp().sum()), "or their scores"),
    ("7.10", keeping(torch.clone, lambda kept, top: (torch.cat(kept) - top).exp().sum()), "or their scores"),
    ("7.10", keeping(torch.Tensor.tolist, lambda kept, top: sum(math.exp(x - top) for s in kept for x in s)), "or their scores"),
    ("7.11", recurrent(divide="none"), "divide by the sum of the weights"),
    ("7.11", recurrent(divide="count"), "not by their number"),
    ("7.11", recurrent(divide="all"), "the sum over all keys"),
    ("7.11", recurrent(read_first=True), "you read before you write"),
    ("7.11", recurrent(add=False), "has to be added up"),
    ("7.11", lambda q, k, v: (q @ k.T) @ v / (q @ k.T).sum(-1, keepdim=True), "sees the whole text"),
    ("7.11", lambda q, k, v: (q @ k.T).masked_fill(torch.ones(6, 6).triu(1).bool(), -math.inf).softmax(-1) @ v, "softmax attention"),
    ("7.11", rows_kept, "row by row"),
    ("7.11", rows_of_blocks, "row by row"),
    ("7.11", rows_again, "goes through the keys before it again"),
    ("7.11", all_pairs, "a table of all pairs"),
    ("7.11", all_pairs_numpy, "a table of all pairs"),
    ("7.11", lambda *a: recurrent()(*a)[-1], "that is the last output"),
]  # fmt: skip
