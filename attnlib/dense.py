"""Attention as the formula says it, with the ``(T, S)`` matrix in hand: what no kernel shows or does."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from attnlib._heads import head_groups, repeat_heads, widen
from attnlib._modes import truth, without_autocast
from attnlib.masks import both, causal_mask


def dense_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    *,
    causal: bool = False,
    bias: Tensor | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    dropout: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """Compute `attention` of arguments that were checked already, in float32 or better, rounded once.

    Returns the output ``(..., T, Dv)`` in the dtype of ``q``, and the weights ``(..., T, S)`` before dropout.
    """
    weights = dense_weights(q, k, mask, causal=causal, bias=bias, scale=scale, softcap=softcap)
    values = repeat_heads(v.to(weights.dtype), head_groups(q, v))
    with without_autocast(q.device):
        out = mix_seen(F.dropout(weights, dropout), values, _seen(q, k, mask, causal))  # (..., T, Dv)
    return out.to(q.dtype), weights


def dense_weights(
    q: Tensor,
    k: Tensor,
    mask: Tensor | None = None,
    *,
    causal: bool = False,
    bias: Tensor | None = None,
    scale: float | None = None,
    softcap: float | None = None,
) -> Tensor:
    """Return the weights ``(..., T, S)`` in float32 or better."""
    scores = dense_scores(q, k, mask, causal=causal, bias=bias, scale=scale, softcap=softcap)
    can_be_blind = mask is not None or bias is not None or (causal and q.shape[-2] > k.shape[-2])
    return softmax_or_zero(scores) if can_be_blind else scores.softmax(-1)


def dense_scores(
    q: Tensor,
    k: Tensor,
    mask: Tensor | None = None,
    *,
    causal: bool = False,
    bias: Tensor | None = None,
    scale: float | None = None,
    softcap: float | None = None,
) -> Tensor:
    """Return what the softmax is taken of, ``(..., T, S)`` in float32 or better."""
    seen, factor = _seen(q, k, mask, causal), q.shape[-1] ** -0.5 if scale is None else scale
    q, k = widen(q) * factor, repeat_heads(widen(k), head_groups(q, k))  # D numbers a query, not S scores
    with without_autocast(q.device):
        scores = _products(q, k, seen)  # (..., T, S)
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    if bias is not None:
        scores = scores + bias
    return scores if seen is None else scores.masked_fill(~seen, -math.inf)


def softmax_or_zero(scores: Tensor) -> Tensor:
    """Take the softmax of each row; a row of minus infinity has nothing to attend to and gets zeros."""
    # softmax of a row of -inf is NaN, forward and backward: give such a row any finite scores,
    # and take its weights away again
    blind = (scores == -math.inf).all(-1, keepdim=True)  # (..., T, 1)
    return scores.masked_fill(blind, 0.0).softmax(-1).masked_fill(blind, 0.0)


def not_finite(x: Tensor) -> bool:
    """Tell that there is a NaN or an infinity, where looking costs little: on the CPU, in eager mode."""
    return x.device.type == "cpu" and truth(x.detach().sum(dtype=torch.float32).isfinite()) is False


def finite_rows(x: Tensor) -> Tensor:
    """Put zeros in place of rows ``(..., S, D)`` that hold a NaN or an infinity."""
    return x.masked_fill(~x.isfinite().all(-1, keepdim=True), 0.0) if not_finite(x) else x


def mix_seen(weights: Tensor, v: Tensor, seen: Tensor | None) -> Tensor:
    """Return ``weights @ v``, in which a value that is not finite reaches only the queries that see it."""
    if seen is None or not not_finite(v):
        return weights @ v  # (..., T, Dv)
    felt = (seen & ~v.isfinite().all(-1)[..., None, :]).any(-1, keepdim=True)  # (..., T, 1)
    return torch.where(felt, (weights @ v).detach(), weights @ finite_rows(v))


def _seen(q: Tensor, k: Tensor, mask: Tensor | None, causal: bool) -> Tensor | None:
    """Return the mask and the causal mask in one."""
    return both(mask, causal_mask(q.shape[-2], k.shape[-2], device=q.device)) if causal else mask


def _products(q: Tensor, k: Tensor, seen: Tensor | None) -> Tensor:
    """Return ``q @ k.T``, in which a key that is not finite takes no part in the gradient.

    The mask takes its scores away, but on the way back zero times NaN would reach every query.
    """
    if seen is None or not not_finite(k):
        return q @ k.transpose(-2, -1)  # (..., T, S)
    finite = k.isfinite().all(-1)[..., None, :]  # (..., 1, S)
    return torch.where(finite, q @ finite_rows(k).transpose(-2, -1), (q @ k.transpose(-2, -1)).detach())
