"""Attention as the formula says it, with the ``(T, S)`` matrix in hand: what no kernel shows or does."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from attnlib._heads import head_groups, repeat_heads, widen
from attnlib._modes import finite, longer, without_autocast
from attnlib._plan import Plan


def dense_attention(plan: Plan) -> tuple[Tensor, Tensor]:
    """Compute a plan in float32 or better, rounded once.

    Returns the output ``(..., T, Dv)`` in the dtype of ``q``, and the weights ``(..., T, S)`` before dropout.
    """
    weights = dense_weights(plan)
    values = repeat_heads(plan.v.to(weights.dtype), head_groups(plan.q, plan.v))
    seen = plan.seen() if not_finite(plan.v) else None
    with without_autocast(plan.device):
        out = mix_seen(F.dropout(weights, plan.dropout), values, seen)  # (..., T, Dv)
    return out.to(plan.q.dtype), weights


def dense_weights(plan: Plan) -> Tensor:
    """Return the weights ``(..., T, S)`` in float32 or better, without what a sink takes."""
    scores, sink = dense_scores(plan), plan.sinks
    if sink is not None:
        sink = sink.to(scores.dtype).expand(*scores.shape[:-1], 1)
        return torch.cat([scores, sink], -1).softmax(-1)[..., :-1]
    all_see = plan.mask is None and plan.bias is None and _each_query_sees(plan)
    return scores.softmax(-1) if all_see else softmax_or_zero(scores)


def _each_query_sees(plan: Plan) -> bool:
    """Tell at a glance that the rule leaves no query without a key."""
    return plan.rule is None or (plan.rule.only_causal and not longer(plan.T, plan.S))


def dense_scores(plan: Plan) -> Tensor:
    """Return what the softmax is taken of, ``(..., T, S)`` in float32 or better."""
    seen = plan.seen()
    q, k = widen(plan.q) * plan.factor, repeat_heads(widen(plan.k), head_groups(plan.q, plan.k))
    with without_autocast(q.device):
        scores = _products(q, k, seen)  # (..., T, S)
    if plan.softcap is not None:
        scores = plan.softcap * torch.tanh(scores / plan.softcap)
    if plan.bias is not None:
        scores = scores + plan.bias
    return scores if seen is None else scores.masked_fill(~seen, -math.inf)


def softmax_or_zero(scores: Tensor) -> Tensor:
    """Take the softmax of each row; a row of minus infinity has nothing to attend to and gets zeros."""
    # softmax of a row of -inf is NaN, forward and backward: give such a row any finite scores,
    # and take its weights away again
    blind = (scores == -math.inf).all(-1, keepdim=True)  # (..., T, 1)
    return scores.masked_fill(blind, 0.0).softmax(-1).masked_fill(blind, 0.0)


def not_finite(x: Tensor) -> bool:
    """Tell that there is a NaN or an infinity, where looking costs little: on the CPU, in eager mode."""
    return x.device.type == "cpu" and finite(x) is False


def finite_rows(x: Tensor) -> Tensor:
    """Put zeros in place of rows ``(..., S, D)`` that hold a NaN or an infinity."""
    return x.masked_fill(~x.isfinite().all(-1, keepdim=True), 0.0) if not_finite(x) else x


def mix_seen(weights: Tensor, v: Tensor, seen: Tensor | None) -> Tensor:
    """Return ``weights @ v``, in which a value that is not finite reaches only the queries that see it."""
    if seen is None or not not_finite(v):
        return weights @ v  # (..., T, Dv)
    felt = (seen & ~v.isfinite().all(-1)[..., None, :]).any(-1, keepdim=True)  # (..., T, 1)
    return torch.where(felt, (weights @ v).detach(), weights @ finite_rows(v))


def _products(q: Tensor, k: Tensor, seen: Tensor | None) -> Tensor:
    """Return ``q @ k.T``, in which what is not finite and hidden takes no part in the gradient.

    The mask takes its scores away, but on the way back zero times NaN would reach every query.
    """
    if seen is not None and not_finite(q):  # a query that may attend to nothing reaches no key
        q = torch.where(seen.any(-1, keepdim=True) | q.isfinite(), q, 0.0)
    if seen is None or not not_finite(k):
        return q @ k.transpose(-2, -1)  # (..., T, S)
    finite = k.isfinite().all(-1)[..., None, :]  # (..., 1, S)
    return torch.where(finite, q @ finite_rows(k).transpose(-2, -1), (q @ k.transpose(-2, -1)).detach())
