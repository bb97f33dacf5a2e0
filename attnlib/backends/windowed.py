"""Attention to a window of recent keys, at a cost that grows with ``T * window``.

Chapter 7 of the book measures what it saves and what it gives up.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from attnlib._check import check_numbers, check_values, require_whole, scores_shape, shape
from attnlib._heads import full_heads
from attnlib._plan import Plan
from attnlib.backends.choose import attend


def sliding_window_attention(
    q: Tensor, k: Tensor, v: Tensor, *, window: int, scale: float | None = None
) -> Tensor:
    """Let each query attend to the last ``window`` keys up to its own position, itself included.

    Equals `attention` with `sliding_window_mask`, without the full matrix: queries go in blocks of
    ``window``, and each block looks at itself and at the block before.

    Args:
        q: Queries ``(..., H, T, D)``.
        k: Keys ``(..., Hkv, T, D)``, where Hkv divides H. Leading axes broadcast.
        v: Values ``(..., Hkv, T, Dv)``.
        window: How many keys a query sees at most.
        scale: Factor on the scores, ``1 / sqrt(D)`` if not given.

    Returns:
        Output ``(..., H, T, Dv)``.

    Raises:
        TypeError: If a dtype is wrong, or the window is not an int.
        ValueError: If shapes do not fit, the window is below 1, or the scale is not finite.
    """
    target = scores_shape(q, k)
    T, S = target[-2:]
    check_values(q, k, v)
    require_whole("window", window, 1)
    check_numbers(scale, None, target, q.device)
    if T != S:
        raise ValueError(f"q and k must have the same length, got q {shape(q)} and k {shape(k)}")
    q, k, v = full_heads(q, k, v)
    if T == 0:
        return v
    window = min(window, T)
    blocks = -(-T // window)
    behind = blocks * window - T  # what the last block lacks
    q = F.pad(q, (0, 0, 0, behind)).unflatten(-2, (blocks, window))  # (..., n, w, D)
    k, v = (F.pad(x, (0, 0, window, behind)).unfold(-2, 2 * window, window).mT for x in (k, v))
    i = torch.arange(window, device=q.device)[:, None] + window  # (w, 1), places in k's blocks
    j = torch.arange(2 * window, device=q.device)  # (2w,)
    seen = (j <= i) & (j > i - window)  # (w, 2w)
    first = torch.arange(blocks, device=q.device)[:, None, None] * window + j >= window  # (n, 1, 2w)
    out = attend(Plan(q, k, v, seen & first, scale=scale))  # (..., n, w, Dv)
    return out.flatten(-3, -2)[..., :T, :]
