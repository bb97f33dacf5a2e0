"""Attention as the formula says it, with the ``(T, S)`` matrix in hand: what no kernel shows or does."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from attnlib._heads import head_groups, repeat_heads, widen
from attnlib._hidden import finite_rows, finite_where_seen, mix_seen, not_finite, softmax_or_zero
from attnlib._modes import longer, without_autocast
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
        return softmax_or_zero(torch.cat([scores, sink], -1))[..., :-1]
    all_see = plan.mask is None and plan.bias is None and _each_query_sees(plan)
    return scores.softmax(-1) if all_see else softmax_or_zero(scores)


def _each_query_sees(plan: Plan) -> bool:
    """Tell at a glance that the rule leaves no query without a key."""
    return plan.rule is None or (plan.rule.only_causal and not longer(plan.T, plan.S))


def dense_scores(plan: Plan) -> Tensor:
    """Return what the softmax is taken of, ``(..., T, S)`` in float32 or better."""
    seen = plan.seen()
    q, k = widen(plan.q), repeat_heads(widen(plan.k), head_groups(plan.q, plan.k))
    q = (q * plan.factor).to(q.dtype)  # a learned factor may be wider
    with without_autocast(q.device):
        scores = _products(q, k, seen)  # (..., T, S)
    if plan.softcap is not None:
        softcap = plan.softcap
        if isinstance(softcap, Tensor):  # its gradient is a difference of two sums
            softcap = softcap.to(torch.promote_types(softcap.dtype, scores.dtype))
        scores = softcap * torch.tanh(scores / softcap)
    if plan.bias is not None:
        scores = scores + plan.bias
    return scores if seen is None else scores.masked_fill(~seen, -math.inf)


def _products(q: Tensor, k: Tensor, seen: Tensor | None) -> Tensor:
    """Return ``q @ k.T``, in which what is not finite and hidden takes no part in the gradient.

    The mask takes its scores away, but on the way back zero times NaN would reach every query.
    """
    if seen is None:
        return q @ k.transpose(-2, -1)  # (..., T, S)
    q = finite_where_seen(q, seen)
    if not not_finite(k):
        return q @ k.transpose(-2, -1)
    finite = k.isfinite().all(-1)[..., None, :] | ~seen  # (..., T, S)
    return torch.where(finite, q @ finite_rows(k).transpose(-2, -1), (q @ k.transpose(-2, -1)).detach())
