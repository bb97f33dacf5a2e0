"""What a mask hides has no effect: rows that see nothing are zero, and a hidden NaN reaches nobody.

Every backend that works with scores takes these from here.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from attnlib._modes import finite


def softmax_or_zero(scores: Tensor) -> Tensor:
    """Take the softmax of each row; a row of minus infinity has nothing to attend to and gets zeros."""
    # softmax of a row of -inf is NaN, forward and backward: give such a row any finite scores,
    # and take its weights away again
    empty = (scores == -math.inf).all(-1, keepdim=True)  # (..., T, 1)
    return scores.masked_fill(empty, 0.0).softmax(-1).masked_fill(empty, 0.0)


def not_finite(x: Tensor) -> bool:
    """Tell that there is a NaN or an infinity, where looking costs little: on the CPU, in eager mode."""
    return x.device.type == "cpu" and finite(x) is False


def finite_rows(x: Tensor) -> Tensor:
    """Put zeros in place of rows ``(..., S, D)`` that hold a NaN or an infinity."""
    return x.masked_fill(~x.isfinite().all(-1, keepdim=True), 0.0) if not_finite(x) else x


def finite_where_seen(q: Tensor, seen: Tensor) -> Tensor:
    """Put zeros in place of what is not finite in a query that sees no key: it reaches none."""
    if not not_finite(q):
        return q
    return torch.where(seen.any(-1, keepdim=True) | q.isfinite(), q, 0.0)


def mix_seen(weights: Tensor, v: Tensor, seen: Tensor | None) -> Tensor:
    """Return ``weights @ v``, in which a value that is not finite reaches only the queries that see it."""
    if seen is None or not not_finite(v):
        return weights @ v  # (..., T, Dv)
    reached = (seen & ~v.isfinite().all(-1)[..., None, :]).any(-1, keepdim=True)  # (..., T, 1)
    return torch.where(reached, (weights @ v).detach(), weights @ finite_rows(v))
