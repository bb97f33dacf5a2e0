"""Attention in float64 as loops over single numbers: slow, obvious, and free of attnlib."""

import math

import torch


def softmax(scores):
    top = max(scores, default=-math.inf)
    if top == -math.inf:
        return [0.0] * len(scores)
    e = [math.exp(s - top) for s in scores]
    return [x / sum(e) for x in e]


def weights_one_head(q, k, visible, bias, scale, softcap):
    """Weights of one head: q (T, D), k (S, D), visible and bias (T, S), as nested lists."""
    rows = []
    for i, query in enumerate(q):
        scores = []
        for j, key in enumerate(k):
            s = sum(a * b for a, b in zip(query, key, strict=True)) * scale
            if softcap is not None:
                s = softcap * math.tanh(s / softcap)
            s += bias[i][j]
            scores.append(s if visible[i][j] else -math.inf)
        rows.append(softmax(scores))
    return rows


def weights(q, k, mask=None, *, causal=False, bias=None, scale=None, softcap=None):
    """Weights (B, H, T, S) for q (B, H, T, D) and k (B, Hkv, S, D), in float64."""
    q, k, mask, bias = (None if x is None else x.cpu() for x in (q, k, mask, bias))
    B, H, T, D = q.shape
    Hkv, S = k.shape[1], k.shape[2]
    scale = 1 / math.sqrt(D) if scale is None else scale
    mask = torch.ones(T, S, dtype=torch.bool) if mask is None else mask
    bias = torch.zeros(T, S) if bias is None else bias
    mask, bias = mask.expand(B, H, T, S), bias.double().expand(B, H, T, S)
    out = []
    for b in range(B):
        for h in range(H):
            visible = mask[b, h].tolist()
            if causal:
                visible = [[visible[i][j] and j <= i + S - T for j in range(S)] for i in range(T)]
            key = k[b, h * Hkv // H].double().tolist()
            out.append(
                weights_one_head(q[b, h].double().tolist(), key, visible, bias[b, h].tolist(), scale, softcap)
            )
    return torch.tensor(out, dtype=torch.float64).reshape(B, H, T, S)


def attention(q, k, v, mask=None, **options):
    """Output (B, H, T, Dv) in float64."""
    groups = q.shape[1] // v.shape[1]
    return weights(q, k, mask, **options) @ v.cpu().double().repeat_interleave(groups, dim=1)


def linear_attention(q, k, v, features, *, causal=False, normalize=True):
    """Output (N, T, Dv) for q (N, T, D), k (N, S, D) and v (N, S, Dv); features maps a number to a number."""
    out = torch.zeros(*q.shape[:2], v.shape[-1], dtype=torch.float64)
    for n in range(q.shape[0]):
        queries, keys, values = (x[n].cpu().double().tolist() for x in (q, k, v))
        for i, query in enumerate(queries):
            total, mixed = 0.0, [0.0] * v.shape[-1]
            for j, key in enumerate(keys):
                if causal and j > i:
                    continue
                weight = sum(features(a) * features(b) for a, b in zip(query, key, strict=True))
                total += weight
                mixed = [m + weight * x for m, x in zip(mixed, values[j], strict=True)]
            for d, m in enumerate(mixed):
                out[n, i, d] = m / total if normalize and total else m
    return out


def frequency(pair, dim, base):
    return base ** (-2 * pair / dim)


def rotary(x, positions, *, dim, base, interleaved):
    """Turn one sequence: x (T, D), positions a list of T whole numbers."""
    out = x.cpu().double().clone()
    for t, position in enumerate(positions):
        for pair in range(dim // 2):
            one, two = (2 * pair, 2 * pair + 1) if interleaved else (pair, pair + dim // 2)
            angle = position * frequency(pair, dim, base)
            a, b = float(x[t, one]), float(x[t, two])
            out[t, one] = a * math.cos(angle) - b * math.sin(angle)
            out[t, two] = a * math.sin(angle) + b * math.cos(angle)
    return out


def sinusoidal(T, dim, base):
    """Vectors (T, dim)."""
    rows = [
        [(math.cos if d % 2 else math.sin)(t * frequency(d // 2, dim, base)) for d in range(dim)]
        for t in range(T)
    ]
    return torch.tensor(rows, dtype=torch.float64).reshape(T, dim)


def alibi_slopes(heads):
    """Return the slopes as the authors' code computes them, recursively."""
    if math.log2(heads).is_integer():
        start = 2 ** (-(2 ** -(math.log2(heads) - 3)))
        return [start * start**h for h in range(heads)]
    whole = 2 ** math.floor(math.log2(heads))
    return alibi_slopes(whole) + alibi_slopes(2 * whole)[0::2][: heads - whole]


def alibi_bias(heads, T, S):
    """Bias (H, T, S)."""
    rows = [
        [[-slope * abs(i + S - T - j) for j in range(S)] for i in range(T)] for slope in alibi_slopes(heads)
    ]
    return torch.tensor(rows, dtype=torch.float64).reshape(heads, T, S)


def mask_from(T, S, may_attend):
    """Boolean mask (T, S) from a function of the two positions."""
    rows = [[bool(may_attend(i, j)) for j in range(S)] for i in range(T)]
    return torch.tensor(rows, dtype=torch.bool).reshape(T, S)
