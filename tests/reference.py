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
