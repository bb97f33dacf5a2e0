"""Right answers written differently, and the wrong ones people give, each with words of the mistake it must name."""

import math
from fractions import Fraction

import numpy as np
import torch
from torch.nn import functional as F

from attnlib.instruments.cost import cache_bytes
from attnlib.linear import elu_plus_one

AGAIN = {"once": 2, "rounds": 6, "nine": 3, "statement": False}
BOOK = {"texts": 2, "length": 100_000, "layers": 31, "heads": 32, "kv_heads": 4, "cache_bytes": 2}


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


def with_mean_shift(m1, l1, o1, m2, l2, o2):
    m = (m1 + m2) / 2
    a, b = (m1 - m).exp() * l1, (m2 - m).exp() * l2
    return (a * o1 + b * o2) / (a + b)


def with_clamp(m1, l1, o1, m2, l2, o2):
    return overflowing(m1.clamp(max=80), l1, o1, m2.clamp(max=80), l2, o2)


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


def online_by_block_maximum(blocks):
    top, total, mixed = -math.inf, 0.0, 0.0
    for scores, values in blocks:
        new = scores.max()
        e, shrink = (scores - new).exp(), (top - new).exp()
        total, mixed, top = total * shrink + e.sum(), mixed * shrink + e @ values, new
    return mixed / total


def online_by_own_maxima(blocks):
    total, mixed = 0.0, 0.0
    for scores, values in blocks:
        e = (scores - scores.max()).exp()
        total, mixed = total + e.sum(), mixed + e @ values
    return mixed / total


def dividing_each_time(again):
    def answer(blocks):
        top, total, mixed = -math.inf, 0.0, 0.0
        for scores, values in blocks:
            new = max(top, scores.max().item())
            shrink, e = math.exp(top - new), torch.exp(scores - new)
            total = total * shrink + e.sum()
            mixed, top = (mixed * shrink + e @ values) / total, new
        return mixed / total if again else mixed

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


def with_log_softmax(log_softmax):
    def answer(blocks):
        log_sum, out = torch.tensor(-math.inf).double(), 0.0
        for scores, values in blocks:
            own = scores.logsumexp(0)
            new = torch.logaddexp(log_sum, own)
            part = log_softmax(scores, 0).exp() @ values
            out, log_sum = out * (log_sum - new).exp() + part * (own - new).exp(), new
        return out

    return answer


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


def in_two_passes(blocks):
    top = max(s.max() for s, v in blocks)
    parts = [((s - top).exp().sum(), (s - top).exp() @ v) for s, v in blocks]
    return sum(o for _, o in parts) / sum(total for total, _ in parts)


def each_block(join):
    return lambda blocks: join(torch.stack([s.softmax(0) @ v for s, v in blocks]))


def cached(B, layers, d, H, Hkv, n, width):
    return 2 * B * layers * Hkv * (d // H) * n * width


def windowed(n, window):
    return sum(min(i + 1, window) for i in range(n))


def with_the_first_maximum(blocks):
    top, total, mixed = None, 0.0, 0.0
    for scores, values in blocks:
        top = scores.max() if top is None else top
        weights = (scores - top).exp()
        total, mixed = total + weights.sum(), mixed + weights @ values
    return mixed / total


def features(*, one=1.0, plain=1.0, square=0.5**0.5, mixed=1.0):
    """Features of 1, x, x_i² and x_i x_j, each with a factor."""

    def f(x):
        i, j = torch.triu_indices(x.shape[1], x.shape[1], 1)
        parts = [one * torch.ones(len(x), 1), plain * x, square * x**2, mixed * x[:, i] * x[:, j]]
        return torch.cat(parts, 1)

    return f


def features_in_a_loop(x):
    rows = []
    for vector in x.tolist():
        row = [1.0, *vector]
        for i in range(len(vector)):
            row += [vector[i] * vector[j] / (math.sqrt(2) if i == j else 1) for j in range(i, len(vector))]
        rows.append(row)
    return rows


def features_by_combinations(x):
    pairs = torch.combinations(torch.arange(x.shape[-1]), with_replacement=True)
    both = x[..., pairs].prod(-1)
    return torch.cat(
        [x.new_ones(*x.shape[:-1], 1), x, both * torch.where(pairs[:, 0] == pairs[:, 1], 0.5, 1.0).sqrt()], -1
    )


def features_numpy(x):
    x = x.numpy().astype(float)
    i, j = np.triu_indices(x.shape[1])
    return np.hstack([np.ones((len(x), 1)), x, x[:, i] * x[:, j] * np.where(i == j, np.sqrt(0.5), 1)])


def features_turned(x):
    made = features()(x).double()
    turn = torch.linalg.qr(
        torch.randn(made.shape[1], made.shape[1], generator=torch.Generator().manual_seed(1)).double()
    )[0]
    return made @ turn


def features_of_the_outer_table(x):
    one = torch.cat([torch.ones(len(x), 1), x], 1)
    table = one[:, :, None] * one[:, None]  # (T, D + 1, D + 1): 1, x and all products
    factor = torch.ones(table.shape[1:]) + torch.diag(torch.tensor([0.0] + [0.5**0.5 - 1] * x.shape[1]))
    return (table * factor)[:, torch.ones(table.shape[1:]).triu().bool()]


def features_of_all_pairs(factor=0.5**0.5, one=1.0):
    def f(x):
        return torch.cat(
            [one * torch.ones(len(x), 1), x, factor * (x[:, :, None] * x[:, None]).flatten(1)], 1
        )

    return f


def features_with_two_constants(x):
    one = torch.cat([torch.ones(len(x), 1), x], 1)
    i, j = torch.triu_indices(one.shape[1], one.shape[1])
    factor = torch.where(i == j, 0.5, 1.0).sqrt()
    return torch.cat([torch.full((len(x), 1), 0.5**0.5), one[:, i] * one[:, j] * factor], 1)


def features_from_a_fixed_width(x):
    i, j = torch.triu_indices(3, 3, 1)
    return torch.cat([torch.ones(len(x), 1), x, x**2 / 2**0.5, x[:, i] * x[:, j]], 1)


def merging_blocks(q, k, v, lengths, size):
    m = total = o = None
    for start in range(0, k.shape[1], size):
        s = q @ k[:, start : start + size].mT / math.sqrt(q.shape[-1])
        seen = torch.arange(start, start + s.shape[-1]) < lengths.view(-1, 1, 1)
        own = s.masked_fill(~seen, -1e30).amax(-1, keepdim=True)
        e = ((s - own) * seen).exp() * seen
        part = e.sum(-1, keepdim=True), e @ v[:, start : start + size]
        if m is None:
            m, total, o = own, *part
            continue
        new = torch.maximum(m, own)
        a, b = (m - new).exp(), (own - new).exp()
        m, total, o = new, total * a + part[0] * b, o * a + part[1] * b
    return o / total


def blocks_query_by_query(q, k, v, lengths, size):
    out = torch.zeros(*q.shape[:2], v.shape[-1])
    for b, n in enumerate(lengths.tolist()):
        for t, query in enumerate(q[b]):
            m, total, mixed = -math.inf, 0.0, 0.0
            for start in range(0, n, size):
                at = slice(start, min(start + size, n))
                s = k[b, at] @ query / q.shape[-1] ** 0.5
                new = max(m, s.max().item())
                shrink, e = math.exp(m - new), (s - new).exp()
                total, mixed, m = total * shrink + e.sum(), mixed * shrink + e @ v[b, at], new
            out[b, t] = mixed / total
    return out


def keys_one_by_one(q, k, v, lengths, size):
    q, k, v, out = q.tolist(), k.tolist(), v.tolist(), []
    for b, n in enumerate(lengths.tolist()):
        out.append([])
        for query in q[b]:
            m, total, mixed = -math.inf, 0.0, [0.0] * len(v[b][0])
            for key, value in zip(k[b][:n], v[b][:n], strict=True):
                s = sum(x * y for x, y in zip(query, key, strict=True)) / math.sqrt(len(query))
                new = max(m, s)
                shrink, e = math.exp(m - new), math.exp(s - new)
                mixed = [x * shrink + e * y for x, y in zip(mixed, value, strict=True)]
                total, m = total * shrink + e, new
            out[-1].append([x / total for x in mixed])
    return out


def in_padded_blocks(
    *,
    end=lambda S, size: S,
    from_start=True,
    hide=lambda place, ends: place >= ends,
    fill=-torch.inf,
    start=-torch.inf,
    shrink_sum=lambda x: x.exp(),
    shrink_mix=lambda x: x.exp(),
    scale=lambda D: D**-0.5,
):
    """The code of the exercise, right but for what is changed."""

    def answer(q, k, v, lengths, size):
        S, m, total, o = k.shape[1], torch.tensor(start), 0.0, 0.0
        for first in range(0, end(S, size), size):
            at = slice(first, first + size)
            s = q @ k[:, at].mT * scale(q.shape[-1])
            place = torch.arange(s.shape[-1]) + (first if from_start else 0)
            s = s.masked_fill(hide(place, lengths[:, None, None]), fill)
            new = torch.maximum(m, s.amax(-1, keepdim=True))
            e = (s - new).exp()
            total = total * shrink_sum(m - new) + e.sum(-1, keepdim=True)
            o = o * shrink_mix(m - new) + e @ v[:, at]
            m = new
        return o / total

    return answer


def whole_blocks(S, size):
    return S // size * size


def never(x):
    return 1.0


def as_found(q, k, v, lengths, size):
    m, total, o = torch.tensor(-torch.inf), 0.0, 0.0
    for block in range(k.shape[1] // size):
        at = slice(block * size, (block + 1) * size)
        s = q @ k[:, at].mT * q.shape[-1] ** -0.5
        padding = torch.arange(size) >= lengths[:, None, None]
        s = s.masked_fill(padding, -torch.inf)
        new = torch.maximum(m, s.amax(-1, keepdim=True))
        e = (s - new).exp()
        total = total * (m - new).exp() + e.sum(-1, keepdim=True)
        m = new
        o = o * (m - new).exp() + e @ v[:, at]
    return o / total


def blocks_of_whole_size(q, k, v, lengths, size):
    S = k.shape[1]
    k, v = (F.pad(x, (0, 0, 0, -S % size)) for x in (k, v))
    m = torch.full((*q.shape[:2], 1), -torch.inf)
    total, o = torch.zeros_like(m), torch.zeros(*q.shape[:2], v.shape[2])
    for block in range(k.shape[1] // size):
        at = torch.arange(block * size, (block + 1) * size)
        s = (q @ k[:, at].mT / q.shape[-1] ** 0.5).masked_fill(at >= lengths[:, None, None], -torch.inf)
        old, m = m, torch.maximum(m, s.amax(-1, keepdim=True))
        e = (s - m).exp()
        total = total * (old - m).exp() + e.sum(-1, keepdim=True)
        o = o * (old - m).exp() + e @ v[:, at]
    return o / total


def blocks_text_by_text(q, k, v, lengths, size):
    out = []
    for b, n in enumerate(lengths.tolist()):
        log_sum, o = torch.full((q.shape[1], 1), -torch.inf), 0.0
        for key, value in zip(k[b, :n].split(size), v[b, :n].split(size), strict=True):
            s = q[b] @ key.T / math.sqrt(q.shape[-1])
            new = torch.logaddexp(log_sum, s.logsumexp(-1, keepdim=True))
            o, log_sum = o * (log_sum - new).exp() + (s - new).exp() @ value, new
        out.append(o)
    return torch.stack(out)


def blocks_numpy(q, k, v, lengths, size):
    q, k, v, lengths = (x.numpy() for x in (q, k, v, lengths))
    m, total, o = -np.inf, 0.0, 0.0
    for start in range(0, k.shape[1], size):
        key, value = k[:, start : start + size], v[:, start : start + size]
        s = q @ key.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
        hidden = np.arange(start, start + key.shape[1]) >= lengths[:, None, None]
        s = np.where(hidden, -np.inf, s)
        new = np.maximum(m, s.max(-1, keepdims=True))
        e, shrink = np.exp(s - new), np.exp(m - new)
        total, o, m = total * shrink + e.sum(-1, keepdims=True), o * shrink + e @ value, new
    return o / total


def blocks_by_maximum(q, k, v, lengths, size):
    m = torch.full((*q.shape[:2], 1), -torch.inf)
    for start in range(0, k.shape[1], size):  # once for the maximum, once more for the rest
        s = _visible(q, k, lengths, start, size)
        m = torch.maximum(m, s.amax(-1, keepdim=True))
    total, o = 0.0, 0.0
    for start in range(0, k.shape[1], size):
        e = (_visible(q, k, lengths, start, size) - m).exp()
        total, o = total + e.sum(-1, keepdim=True), o + e @ v[:, start : start + size]
    return o / total


def _visible(q, k, lengths, start, size):
    s = q @ k[:, start : start + size].mT * q.shape[-1] ** -0.5
    return s.masked_fill(torch.arange(start, start + s.shape[-1]) >= lengths[:, None, None], -torch.inf)


def without_blocks(q, k, v, lengths, size):
    s = q @ k.mT * q.shape[-1] ** -0.5
    return s.masked_fill(torch.arange(k.shape[1]) >= lengths[:, None, None], -torch.inf).softmax(-1) @ v


def without_blocks_numpy(q, k, v, lengths, size):
    q, k, v, lengths = (x.numpy() for x in (q, k, v, lengths))
    s = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
    e = np.where(np.arange(k.shape[1]) < lengths[:, None, None], s, -np.inf)
    e = np.exp(e - e.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ v


def hidden_after_the_maximum(q, k, v, lengths, size):
    m, total, o = torch.tensor(-torch.inf), 0.0, 0.0
    for start in range(0, k.shape[1], size):
        s = q @ k[:, start : start + size].mT * q.shape[-1] ** -0.5
        new = torch.maximum(m, s.amax(-1, keepdim=True))
        seen = torch.arange(start, start + s.shape[-1]) < lengths[:, None, None]
        shrink, e = (m - new).exp(), (s - new).exp() * seen
        total = total * shrink + e.sum(-1, keepdim=True)
        m, o = new, o * shrink + e @ v[:, start : start + size]
    return o / total


def backwards(
    *,
    weights=lambda s, lse: (s - lse[:, None]).exp(),
    slope=lambda p, dp, do, o: p * (dp - (do * o).sum(-1, keepdim=True)),
    scale=1.0,
    add=True,
    score=1.0,
):
    """The gradients in blocks of keys, right but for what is changed; ``scale`` and ``score`` multiply 1/√D."""

    def answer(q, k, v, o, lse, do, size):
        root = q.shape[-1] ** -0.5
        dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
        for start in range(0, len(k), size):
            at = slice(start, start + size)
            p = weights(q @ k[at].T * root**score, lse)
            ds = slope(p, do @ v[at].T, do, o) * root**scale
            dq = (dq if add else 0) + ds @ k[at]
            dk[at], dv[at] = ds.T @ q, p.T @ do
        return dq, dk, dv

    return answer


def backwards_by_einsum(q, k, v, o, lse, do, size):
    D, dq, dk, dv = q.shape[1], 0.0, [], []
    rows = torch.einsum("td,td->t", do, o)
    for some_k, some_v in zip(k.split(size), v.split(size), strict=True):
        p = torch.exp(torch.einsum("td,sd->ts", q, some_k) / math.sqrt(D) - lse.unsqueeze(1))
        ds = p * (torch.einsum("td,sd->ts", do, some_v) - rows.unsqueeze(1)) / math.sqrt(D)
        dq = dq + torch.einsum("ts,sd->td", ds, some_k)
        dk.append(torch.einsum("ts,td->sd", ds, q))
        dv.append(torch.einsum("ts,td->sd", p, do))
    return [dq, torch.cat(dk), torch.cat(dv)]


def backwards_numpy(q, k, v, o, lse, do, size):
    q, k, v, o, lse, do = (x.numpy() for x in (q, k, v, o, lse, do))
    dq, dk, dv, root = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape), q.shape[1] ** 0.5
    mean = (do * o).sum(1, keepdims=True)
    for start in range(0, len(k), size):
        at = slice(start, start + size)
        p = np.exp(q @ k[at].T / root - lse[:, None])
        ds = p * (do @ v[at].T - mean) / root
        dq += ds @ k[at]
        dk[at] = ds.T @ q
        dv[at] = p.T @ do
    return dq, dk, dv


def backwards_query_by_query(q, k, v, o, lse, do, size):
    dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    for t in range(len(q)):
        p = (k @ q[t] / q.shape[1] ** 0.5 - lse[t]).exp()
        ds = p * (v @ do[t] - do[t] @ o[t]) / q.shape[1] ** 0.5
        dq[t] = ds @ k
        dk += ds[:, None] * q[t]
        dv += p[:, None] * do[t]
    return dq, dk, dv


def backwards_in_two_passes(q, k, v, o, lse, do, size):
    """The row's average as a first pass over the blocks."""
    root, blocks = q.shape[1] ** 0.5, [slice(n, n + size) for n in range(0, len(k), size)]
    mean = torch.zeros(len(q), 1).double()
    for at in blocks:
        p = (q @ k[at].T / root - lse[:, None]).exp()
        mean = mean + (p * (do @ v[at].T)).sum(1, keepdim=True)
    dq, dk, dv = 0, [], []
    for at in blocks:
        p = (q @ k[at].T / root - lse[:, None]).exp()
        ds = p * (do @ v[at].T - mean) / root
        dq, dk, dv = dq + ds @ k[at], [*dk, ds.T @ q], [*dv, p.T @ do]
    return dq, torch.cat(dk), torch.cat(dv)


def backwards_by_autograd(q, k, v, o, lse, do, size):
    q, k, v = (x.clone().requires_grad_() for x in (q, k, v))
    return torch.autograd.grad((q @ k.T / q.shape[1] ** 0.5).softmax(-1) @ v, (q, k, v), do)


def backwards_with_the_table(q, k, v, o, lse, do, size):
    return backwards()(q, k, v, o, lse, do, len(k))


def with_root_of_value_width(q, k, v, o, lse, do, size):
    dq, dk, dv = backwards()(q, k, v, o, lse, do, size)
    factor = (q.shape[1] / v.shape[1]) ** 0.5
    return dq * factor, dk * factor, dv


def whole_blocks_alone(q, k, v, o, lse, do, size):
    dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    for block in range(len(k) // size):
        at = slice(block * size, (block + 1) * size)
        p = (q @ k[at].T / q.shape[1] ** 0.5 - lse[:, None]).exp()
        ds = p * (do @ v[at].T - (do * o).sum(-1, keepdim=True)) / q.shape[1] ** 0.5
        dq, dk[at], dv[at] = dq + ds @ k[at], ds.T @ q, p.T @ do
    return dq, dk, dv


def last_of(n):
    """Only the last block of the n-th gradient is kept."""

    def answer(q, k, v, o, lse, do, size):
        found = list(backwards()(q, k, v, o, lse, do, size))
        found[n][: (len(k) - 1) // size * size] = 0
        return found

    return answer


RIGHT = {
    "7.1": [
        BOOK,
        BOOK | {"layers": 40, "cache_bytes": 1},
        {"texts": 3, "length": np.int64(100_000), "layers": 24, "heads": 36, "kv_heads": 4, "cache_bytes": 1},
        {"texts": 2, "length": 120_000, "layers": 24, "heads": 36, "kv_heads": 4, "cache_bytes": 2},
        BOOK | {"heads": 40, "kv_heads": 5, "layers": 24, "cache_bytes": 1},
    ],
    "7.2": [
        lambda d, H, Hkv: d * (1 + Hkv / H),
        lambda d, H, Hkv: d + d // H * Hkv,
        lambda d, H, Hkv: d * (1 + Fraction(Hkv, H)),
        lambda d, H, Hkv: torch.tensor(float(d + Hkv * d / H)),
    ],
    "7.3": [
        cached,
        lambda B, layers, d, H, Hkv, n, width: B * layers * n * (d / H * Hkv) * 2 * width,
        lambda *sizes: np.float64(cached(*sizes)),
        lambda B, layers, d, H, Hkv, n, width: cache_bytes(B, Hkv, n, d // H, layers=layers) // 4 * width,
    ],
    "7.4": [
        windowed,
        lambda n, w: n * min(n, w) - min(n, w) * (min(n, w) - 1) // 2,
        lambda n, w: int((torch.ones(n, n).tril() - torch.ones(n, n).tril(-w)).sum()),
        lambda n, w: np.minimum(np.arange(1, n + 1), w).sum(),
    ],
    "7.5": [
        lambda group, width: 2 * group / width,
        lambda group, width: (4 * 64 * group) / (2 * 64 * width),
        lambda group, width: Fraction(2 * group, width),
        lambda group, width: torch.tensor(2.0 * group / width),
    ],
    "7.6": [merged(lambda m, n: m.exp() * n), merged_logs, merged_numpy, merged_by_softmax],
    "7.7": [online(), online_numpy, online_merging, online_plainly],
    "7.8": [
        backwards(),
        backwards_by_einsum,
        backwards_numpy,
        backwards_query_by_query,
        backwards_in_two_passes,
    ],
    "7.9": [
        [1.0, 0.5, 0.25],
        (1, 1 / 2, 1 / 4),
        torch.tensor([256 / 256, 1024 / 2048, 1024 / 4096]),
        np.array([1, 0.5, 0.25]),
        [1, Fraction(1, 2), 0.25],
    ],
    "7.10": [
        AGAIN,
        {name: float(x) for name, x in AGAIN.items()},
        {"statement": False, "nine": torch.tensor(3), "rounds": np.int64(6), "once": np.float32(2)},
        {"once": Fraction(2), "rounds": [6], "nine": 3.0, "statement": np.bool_(False)},
    ],
    "7.11": [
        features(),
        features_in_a_loop,
        features_by_combinations,
        features_numpy,
        features_turned,
        features_of_the_outer_table,
        lambda x: list(-features()(x)),
        lambda x: features()(x).half(),
    ],
    "7.12": [
        in_padded_blocks(),
        blocks_of_whole_size,
        blocks_text_by_text,
        blocks_numpy,
        blocks_by_maximum,
        merging_blocks,
        blocks_query_by_query,
        keys_one_by_one,
    ],
}

WRONG = [
    ("7.1", BOOK | {"layers": 32}, "It would fit into 24 GiB"),
    ("7.1", BOOK | {"layers": 38}, "if the cache had keys alone"),
    ("7.1", BOOK | {"texts": 8}, "It would fit with one text"),
    ("7.1", BOOK | {"layers": 65, "cache_bytes": 1}, "the weights take"),
    ("7.1", BOOK | {"heads": 48, "layers": 28}, "if a weight took one byte"),
    ("7.1", BOOK | {"length": 1_000_000}, "every layer has its own"),
    ("7.1", BOOK | {"kv_heads": 8}, "do 4 operations for each byte"),
    ("7.1", BOOK | {"kv_heads": 32}, "at least 8 are asked"),
    ("7.1", BOOK | {"kv_heads": 3}, "evenly"),
    ("7.1", BOOK | {"kv_heads": 2}, "at least 4 key/value heads"),
    ("7.1", BOOK | {"cache_bytes": 4}, "1 byte or 2, not 4"),
    ("7.1", BOOK | {"texts": 1}, "texts: 1 is too few"),
    ("7.1", BOOK | {"length": 99_999}, "length: 99,999 is too few"),
    ("7.1", BOOK | {"layers": 23}, "layers: 23 is too few"),
    ("7.1", BOOK | {"layers": 24}, "4.13 billion weights where 5 are asked"),
    ("7.1", BOOK | {"layers": 30.5}, "must be a whole number"),
    ("7.1", list(BOOK.values()), "keep the dict"),
    ("7.2", lambda d, H, Hkv: 2 * d, "as many key heads as query heads"),
    ("7.2", lambda d, H, Hkv: d, "at n = d the core is the smaller"),
    ("7.2", lambda d, H, Hkv: 2 * d * Hkv / H, "queries and output do not shrink"),
    ("7.2", lambda d, H, Hkv: d * (1 + Hkv / H) / 2, "a multiply-add was counted once, or two of the four"),
    ("7.2", lambda d, H, Hkv: 2 * d * (1 + Hkv / H), "twice too much"),
    ("7.2", lambda d, H, Hkv: d * (1 + Hkv // H), "A whole division `Hkv // H`"),
    ("7.2", lambda d, H, Hkv: d * (0.5 + Hkv / H), "the projection of the output is missing"),
    ("7.2", lambda d, H, Hkv: d * (3 + Hkv / H) / 2, "K and V both do"),
    ("7.2", lambda d, H, Hkv: d * (1 + H / Hkv), "upside down"),
    ("7.2", lambda d, H, Hkv: 960 if d == 768 else d, "at n = d the core is the smaller"),
    ("7.2", lambda d, H, Hkv: 5, "5 is too small"),
    ("7.3", lambda *a: cached(*a) / 2, "keys and values are both kept"),
    ("7.3", lambda B, layers, d, H, Hkv, n, w: 2 * B * layers * d * n * w, "you count the query heads"),
    ("7.3", lambda B, layers, d, H, Hkv, n, w: 2 * B * layers * Hkv * (d // Hkv) * n * w, "a head to be d / Hkv wide"),
    ("7.3", lambda B, layers, d, H, Hkv, n, w: B * layers * d * n * w, "only Hkv heads of each"),
    ("7.3", lambda B, layers, *a: cached(B, 1, *a), "that is one layer"),
    ("7.3", lambda B, layers, d, H, Hkv, n, w: 2 * B * layers * d * H // Hkv * n * w, "H / Hkv is upside down"),
    ("7.3", lambda B, *a: cached(1, *a), "that is one sequence"),
    ("7.3", lambda *a: 8 * cached(*a), "in bits"),
    ("7.3", lambda *a: cached(*a[:-1], 1), "each takes `width` bytes"),
    ("7.3", lambda B, layers, d, H, Hkv, n, w: 2 * B * layers * Hkv * d * n * w, "each head is d / H wide"),
    ("7.3", lambda B, layers, d, H, Hkv, n, w: 2 * B * layers * Hkv * d // H * n * n * w, "it grows with n, not n²"),
    ("7.3", lambda B, layers, d, H, Hkv, n, w: 2 * B * layers * Hkv * n * w, "d / H numbers for a token"),
    ("7.3", lambda *a: 1, "1 is too small"),
    ("7.3", lambda *a: cached(*a[:-1], 2), "`width` is not used"),
    ("7.3", lambda *a: cached(*a[:-1], 4), "`width` is not used"),
    ("7.3", lambda B, layers, d, H, Hkv, n, w: 2 * B * layers * d * n, "is too"),
    ("7.4", lambda n, w: n * n, "that is every pair"),
    ("7.4", lambda n, w: n * w, "the first attends to itself alone"),
    ("7.4", lambda n, w: windowed(n, w) - n, "own position is in its window"),
    ("7.4", lambda n, w: sum(min(i, w) for i in range(n)), "own position is left out"),
    ("7.4", lambda n, w: windowed(n, w + 1), "one key too many"),
    ("7.4", lambda n, w: sum(min(n, i + w) - max(0, i - w + 1) for i in range(n)), "has later keys too"),
    ("7.4", lambda n, w: n * (n + 1) // 2, "the whole triangle"),
    ("7.4", lambda n, w: n * w - w * (w - 1) // 2, "a window longer than the text"),
    ("7.4", lambda n, w: 1, "1 is too small"),
    ("7.4", lambda n, w: (n - w + 1) * w, "are left out: they have pairs too"),
    ("7.4", lambda n, w: n * w - w, "a whole window is taken away"),
    ("7.5", lambda group, width: 2 * group**2 / width, "the group comes in twice"),
    ("7.5", lambda group, width: 2 * group // width, "`//` leaves the fraction out"),
    ("7.5", lambda g, w: w / (2 * g), "upside down"),
    ("7.5", lambda g, w: 4 * g / w, "both read"),
    ("7.5", lambda g, w: g / w, "half of it"),
    ("7.5", lambda g, w: 2 / w, "uses the same keys"),
    ("7.5", lambda g, w: 2 / (w * g), "it does not share the work"),
    ("7.5", lambda g, w: 2 * g / (8 * w), "in bytes already"),
    ("7.5", lambda g, w: 2 * g, "operations a number"),
    ("7.5", lambda g, w: g, "a multiply-add is two operations"),
    ("7.5", lambda g, w: 4 * g, "`width` is not used: a number takes so many bytes. And it is twice"),
    ("7.5", lambda g, w: 2 * g * w, "multiplied by the width"),
    ("7.5", lambda g, w: 100, "100 is too large"),
    ("7.6", merged(lambda m, n: n), "relative to different maxima"),
    ("7.6", lambda m1, l1, o1, m2, l2, o2: (o1 + o2) / 2, "a plain average"),
    ("7.6", lambda m1, l1, o1, m2, l2, o2: o1 + o2, "a sum of two averages"),
    ("7.6", merged(lambda m, n: m.exp()), "the largest score of each block alone"),
    ("7.6", with_mean_shift, "m1 near 1000 and m2 near -1000 `exp` overflows"),
    ("7.6", with_clamp, "A clamp makes different maxima alike"),
    ("7.6", lambda m1, l1, o1, m2, l2, o2: o1 if m1 > m2 else o2, "the block with the larger score alone"),
    ("7.6", lambda m1, l1, o1, m2, l2, o2: o1 if m1 < m2 else o2, "the block with the smaller score alone"),
    ("7.6", lambda m1, l1, o1, m2, l2, o2: merged_logs(m1, l1, o2, m2, l2, o1), "the weight of the other block"),
    ("7.6", lambda m1, l1, o1, m2, l2, o2: merged_logs(m1, l2, o1, m2, l1, o2), "l1 and l2 are swapped"),
    ("7.6", merged(lambda m, n: m.exp() * n, divide=False), "divide by the sum of the two weights"),
    ("7.6", merged(lambda m, n: (-m).exp() * n), "the wrong sign"),
    ("7.6", swapped, "the factors are swapped"),
    ("7.6", means_as_sums, "averages already"),
    ("7.6", overflowing, "`exp` overflows"),
    ("7.6", subtracting(1), "m1 near 0 and m2 near 1000 `exp` overflows"),
    ("7.6", subtracting(2), "subtract the larger of m1 and m2"),
    ("7.6", lambda m1, l1, o1, m2, l2, o2: (m1, l1), "the shape should be (3,)"),
    ("7.7", online(shrink_sum=False, shrink_mix=False), "relative to an older maximum"),
    ("7.7", with_the_first_maximum, "when a later block is near 1000"),
    ("7.7", online(shrink_mix=False), "that of the values is not"),
    ("7.7", online(shrink_sum=False), "that of the exponentials is not"),
    ("7.7", online(divide=False), "divide by the sum"),
    ("7.7", 42, "must be a function"),
    ("7.7", each_block(lambda x: x.mean(0)), "an average of the blocks' own outputs"),
    ("7.7", each_block(lambda x: x.sum(0)), "a softmax for each block"),
    ("7.7", each_block(lambda x: x[-1]), "the last block alone"),
    ("7.7", with_softmax, "it calls softmax"),
    ("7.7", with_log_softmax(torch.log_softmax), "it calls softmax, or a function that contains it"),
    ("7.7", with_log_softmax(torch.special.log_softmax), "it calls softmax"),
    ("7.7", with_log_softmax(F.log_softmax), "it calls softmax"),
    ("7.7", with_log_softmax(lambda s, dim: F.softmin(-s, dim).log()), "it calls softmax"),
    ("7.7", all_at_once, "use each as it comes"),
    ("7.7", in_two_passes, "you go through the blocks a second time"),
    ("7.7", no_maximum, "`exp` overflows"),
    ("7.7", online_by(torch.max, start=0.0), "does your maximum start at 0"),
    ("7.7", online_by(torch.mean), "in one block"),
    ("7.7", online_by(lambda s: s[0]), "in one block"),
    ("7.7", online_by_block_maximum, "may be lower than that of earlier ones"),
    ("7.7", online_by_own_maxima, "relative to its own largest score"),
    ("7.7", dividing_each_time(False), "you divide by the sum in every round"),
    ("7.7", dividing_each_time(True), "you divide by the sum in every round"),
    ("7.7", keeping(lambda s: s, lambda kept, top: (torch.cat(kept) - top).exp().sum()), "or their scores"),
    ("7.7", keeping(torch.clone, lambda kept, top: (torch.cat(kept) - top).exp().sum()), "or their scores"),
    ("7.7", keeping(torch.Tensor.tolist, lambda kept, top: sum(math.exp(x - top) for s in kept for x in s)), "or their scores"),
    ("7.8", backwards_by_autograd, "a table of all pairs is held"),
    ("7.8", backwards_with_the_table, "a table of all pairs is held"),
    ("7.8", backwards(weights=lambda s, lse: s.softmax(-1)), "dv: each block has a softmax of its own"),
    ("7.8", backwards(weights=lambda s, lse: s.exp()), "dv: the weights are not divided by the sum"),
    ("7.8", backwards(weights=lambda s, lse: s.exp() / lse[:, None]), "dv: `lse` is the logarithm"),
    ("7.8", backwards(weights=lambda s, lse: s.exp() / lse[:, None].exp()), "dv: right for small scores, but near 1000"),
    ("7.8", backwards(score=0.0), "dv: the scores are not divided by √D"),
    ("7.8", whole_blocks_alone, "dv: the last keys are never read"),
    ("7.8", last_of(2), "dv: only the last block"),
    ("7.8", last_of(1), "dk: only the last block"),
    ("7.8", backwards(add=False), "dq: only the last block"),
    ("7.8", backwards(slope=lambda p, dp, do, o: p * dp), "if one grows, the others shrink"),
    ("7.8", backwards(slope=lambda p, dp, do, o: p * (dp - (p * dp).sum(-1, keepdim=True))), "over the block alone"),
    ("7.8", backwards(slope=lambda p, dp, do, o: p * (dp + (do * o).sum(-1, keepdim=True))), "the average is added"),
    ("7.8", backwards(slope=lambda p, dp, do, o: dp - (do * o).sum(-1, keepdim=True)), "not multiplied by the weight"),
    ("7.8", backwards(slope=lambda p, dp, do, o: p * (1 - p) * dp), "those of the other keys change as well"),
    ("7.8", backwards(slope=lambda p, dp, do, o: p * (dp - o.sum(-1, keepdim=True))), "multiplied by `do`"),
    ("7.8", backwards(scale=0.0), "1/√D comes in once more on the way back"),
    ("7.8", backwards(scale=2.0), "comes in twice"),
    ("7.8", with_root_of_value_width, "not of values"),
    ("7.8", lambda *a: backwards()(*a)[::-1], "in another order"),
    ("7.8", lambda *a: backwards()(*a)[0], "return three gradients"),
    ("7.8", lambda *a: [-x if n < 2 else x for n, x in enumerate(backwards()(*a))], "the wrong sign"),
    ("7.8", lambda q, k, v, o, lse, do, size: backwards()(q, k, v, o, lse, o, size), "multiplied with `o`"),
    ("7.8", lambda *a: [*backwards()(*a)[:2], backwards()(*a)[2] / a[0].shape[1] ** 0.5], "values do not go through the scale"),
    ("7.8", lambda *a: [x.float().abs() for x in backwards()(*a)], "is too large"),
    ("7.9", [0.25, 0.25, 0.25], "that is the exact average"),
    ("7.9", [25, 25, 25], "not per cents"),
    ("7.9", [0.25, 0.5, 1], "the other way round"),
    ("7.9", [1, 1, 1], "depends on what is added"),
    ("7.9", [256, 2048, 4096], "those are sums of exponentials"),
    ("7.9", [0.25, 0.5, 0.25], "never gets to 4,096 in steps of 1"),
    ("7.9", [4, 0.5, 0.25], "cannot be 4"),
    ("7.9", [0.0625, 0.5, 0.25], "o stands still"),
    ("7.9", [0, 0.5, 0.25], "the ones come late"),
    ("7.9", [1, 1, 0.25], "How far does o have to go"),
    ("7.9", [1, 0.25, 0.25], "Up to which sum does 8 make a difference"),
    ("7.9", [1, 0.125, 0.25], "in steps of 8 it gets there"),
    ("7.9", [1, 0.5, 0.5], "Does a sum get that far"),
    ("7.9", [1, 0.5, 0], "neither sum comes to where 64 is lost"),
    ("7.9", [1, 0.75, 0.25], "Which of the two sums wants to go further"),
    ("7.9", 0.25, "one number each is asked"),
    ("7.10", {"once": 8, "rounds": 1, "nine": 8, "statement": False}, "run it, and count"),
    ("7.10", AGAIN | {"once": 8}, "each write disturbs what was written before"),
    ("7.10", AGAIN | {"once": 1}, "a few more are right"),
    ("7.10", AGAIN | {"once": 5}, "after more than one round"),
    ("7.10", AGAIN | {"once": 0.25}, "not their share"),
    ("7.10", AGAIN | {"once": 4}, "only then ask for all eight"),
    ("7.10", AGAIN | {"rounds": 5}, "The first round counts as 1"),
    ("7.10", AGAIN | {"rounds": 8}, "were so earlier"),
    ("7.10", AGAIN | {"rounds": 48}, "those are writes"),
    ("7.10", AGAIN | {"rounds": 2}, "not all eight are right there yet"),
    ("7.10", AGAIN | {"rounds": 16}, "far smaller than needed"),
    ("7.10", AGAIN | {"rounds": 0}, "not begin with zeros each time"),
    ("7.10", AGAIN | {"rounds": 100}, "one round writes all eight pairs"),
    ("7.10", AGAIN | {"nine": 8}, "one too many does not spoil only its own digit"),
    ("7.10", AGAIN | {"nine": 2}, "1,000 are asked"),
    ("7.10", AGAIN | {"nine": 0}, "not by adding"),
    ("7.10", AGAIN | {"nine": 5}, "take `letters(9)` and zeros"),
    ("7.10", AGAIN | {"statement": True}, "it holds for what is added once"),
    ("7.11", features(one=0.0), "a feature that is the same for every x is missing"),
    ("7.11", features(plain=0.0), "s itself is missing"),
    ("7.11", features(square=0.0, mixed=0.0), "that is 1 + s; the square is missing"),
    ("7.11", features(mixed=0.0), "has mixed terms"),
    ("7.11", features(square=1.0, mixed=0.0), "has mixed terms"),
    ("7.11", features(square=1.0), "count as much as the pairs"),
    ("7.11", features(square=0.0), "the squares x_i² are missing"),
    ("7.11", features(mixed=0.5**0.5), "in s² it comes twice"),
    ("7.11", features(square=1.0, mixed=2**0.5), "s² counts whole"),
    ("7.11", features(square=0.5, mixed=0.5**0.5), "s² counts a quarter"),
    ("7.11", features(square=0.5), "q_i² k_i² counts 0.25"),
    ("7.11", features(mixed=2.0), "with i < j 4"),
    ("7.11", features(plain=2**0.5, square=1.0, mixed=2**0.5), "that is (1 + s)²"),
    ("7.11", features(one=0.5**0.5), "which begins with a half"),
    ("7.11", features(one=2.0), "the constant is 4"),
    ("7.11", features(plain=0.5), "s counts 0.25 times"),
    ("7.11", features(one=0.0, plain=0.0), "that is s²/2 alone"),
    ("7.11", features_of_all_pairs(), "13 features for vectors 3 wide, where 10 do"),
    ("7.11", features_of_all_pairs(1.0), "s² counts whole"),
    ("7.11", features_of_all_pairs(0.5), "s² counts a quarter"),
    ("7.11", features_with_two_constants, "11 features for vectors 3 wide, where 10 do"),
    ("7.11", features_from_a_fixed_width, "right at first, but not for vectors 5 wide"),
    ("7.11", lambda x: features()(x / x.shape[1] ** 0.25), "divided by the width or its root"),
    ("7.11", lambda x: features()(x / x.shape[1] ** 0.5), "divided by the width or its root"),
    ("7.11", elu_plus_one, "that is the f of chapter 7"),
    ("7.11", torch.exp, "exponentials of each number"),
    ("7.11", torch.relu, "where x is negative nothing is left"),
    ("7.11", lambda x: x.softmax(-1), "a softmax of each vector"),
    ("7.11", lambda x: 1 + x + x**2 / 2, "for each number of x"),
    ("7.11", lambda x: features()(elu_plus_one(x)), "x goes through the f of chapter 7 first"),
    ("7.11", lambda x: features()(F.normalize(x)), "here their lengths count"),
    ("7.11", lambda x: features()(x)[:, :-1], "not all x_i x_j count alike: that of i = 1 and j = 2"),
    ("7.11", lambda x: features()(x).abs(), "no more than two numbers of x"),
    ("7.11", lambda x: features()(x).T, "Vectors are rows"),
    ("7.11", lambda x: (x[:, :, None] * x[:, None]), "Lay the products of each vector out in one row"),
    ("7.11", lambda x: features()(x).flatten(), "the features should be (5, F)"),
    ("7.11", lambda x: features()(x).log(), "must be finite"),
    ("7.11", lambda x: x @ x.T, "each vector has its own"),
    ("7.11", lambda x: torch.cat([features()(x), x**3], 1), "no more than two numbers of x"),
    ("7.11", lambda x: torch.ones(len(x), 1), "s itself is missing"),
    ("7.12", as_found, "it still does what it did"),
    ("7.12", in_padded_blocks(end=whole_blocks, from_start=False), "2 mistakes are in it, one of them: a key is hidden by its position in its block"),
    ("7.12", in_padded_blocks(end=whole_blocks, shrink_mix=never), "2 mistakes are in it, one of them: `total` is brought to the new maximum"),
    ("7.12", in_padded_blocks(from_start=False, shrink_mix=never), "2 mistakes are in it, one of them: `total` is brought to the new maximum"),
    ("7.12", lambda q, k, v, n, size: as_found(q, *(F.pad(x, (0, 0, 0, -k.shape[1] % size)) for x in (k, v)), n, size), "2 mistakes are in it"),
    ("7.12", in_padded_blocks(end=whole_blocks), "some keys are never read"),
    ("7.12", in_padded_blocks(end=lambda S, size: S - 1), "some keys are never read"),
    ("7.12", in_padded_blocks(from_start=False), "a length counts from the start of the text"),
    ("7.12", in_padded_blocks(shrink_mix=never), "which `m` is it that is subtracted"),
    ("7.12", in_padded_blocks(shrink_sum=never), "`total` is not"),
    ("7.12", in_padded_blocks(shrink_sum=never, shrink_mix=never), "neither `total` nor `o`"),
    ("7.12", in_padded_blocks(shrink_sum=lambda x: (-x).exp(), shrink_mix=lambda x: (-x).exp()), "Which way round is its exponent"),
    ("7.12", in_padded_blocks(hide=lambda place, ends: place > ends), "one key too many"),
    ("7.12", in_padded_blocks(hide=lambda place, ends: place >= ends - 1), "one key too few"),
    ("7.12", in_padded_blocks(hide=lambda place, ends: place < ends), "it is turned round"),
    ("7.12", in_padded_blocks(hide=lambda place, ends: place < 0), "no padding is hidden any more"),
    ("7.12", lambda q, k, v, n, size: F.scaled_dot_product_attention(q, k, v), "no padding is hidden any more"),
    ("7.12", in_padded_blocks(hide=lambda place, ends: place >= ends.max()), "each text ends at its own length"),
    ("7.12", in_padded_blocks(fill=0.0), "a score of 0 is not hidden"),
    ("7.12", in_padded_blocks(fill=-1000.0), "the number you fill in is larger"),
    ("7.12", in_padded_blocks(start=0.0), "must start at minus infinity, not at 0"),
    ("7.12", in_padded_blocks(scale=lambda D: 1), "not divided by √D any more"),
    ("7.12", in_padded_blocks(scale=lambda D: 1 / D), "divided by D"),
    ("7.12", lambda q, k, v, n, size: in_padded_blocks(scale=lambda D: size**-0.5)(q, k, v, n, size), "root of"),
    ("7.12", lambda q, k, v, n, size: in_padded_blocks()(q, k, v, n, size).sum(1), "the shape should be (3, 2, 7)"),
    ("7.12", hidden_after_the_maximum, "taken over hidden keys too"),
    ("7.12", without_blocks, "repair the blocks instead of leaving them"),
    ("7.12", without_blocks_numpy, "repair the blocks instead of leaving them"),
    ("7.12", lambda q, k, v, n, size: F.scaled_dot_product_attention(q, k, v, torch.arange(k.shape[1]) < n[:, None, None]), "repair the blocks"),
]  # fmt: skip
