"""Bringing queries, keys and values to one shape before they meet."""

from __future__ import annotations

import torch
from torch import Tensor

from attnlib._validate import head_groups


def repeat_heads(x: Tensor, groups: int) -> Tensor:
    """Give every query head its own copy of the key or value head that its group shares."""
    return x if groups == 1 else x.repeat_interleave(groups, dim=-3)  # (..., Hkv * groups, S, D)


def full_heads(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Repeat grouped heads and broadcast leading axes, so that q, k and v have the same ones."""
    groups = head_groups(q, k)
    k, v = repeat_heads(k, groups), repeat_heads(v, groups)
    lead = torch.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    q, k, v = (x.expand(*lead, *x.shape[-2:]) for x in (q, k, v))
    return q, k, v


def as_batches(q: Tensor, k: Tensor, v: Tensor) -> tuple[list[Tensor], int]:
    """Give q, k and v the axes ``(..., B, H, T, D)`` of one size each, without copying.

    PyTorch takes its slow path for fewer axes and for axes that broadcast. Grouped heads stay grouped.
    Returns the tensors and the number of axes that were added in front.
    """
    missing = max(0, 4 - max(q.ndim, k.ndim, v.ndim))
    tensors = [x[(None,) * (4 - x.ndim)] if x.ndim < 4 else x for x in (q, k, v)]
    own = -3 if head_groups(q, k) > 1 else -2  # from which axis on each keeps its own size
    batch = torch.broadcast_shapes(*(x.shape[:own] for x in tensors))
    return [x.expand(*batch, *x.shape[own:]) for x in tensors], missing


def widen(x: Tensor) -> Tensor:
    """Half precision rounds every step; float32 in between rounds once, at the end."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
