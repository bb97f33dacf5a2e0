"""Three ways to score a query against a key. Each returns ``(..., T, S)``, before any softmax.

Chapter 3 of the book compares what they cost and what they can say.
"""

from __future__ import annotations

import torch
from torch import Tensor

from attnlib._check import require_rank, require_same_kind, scores_shape, shape
from attnlib._heads import head_groups, repeat_heads


def dot_scores(q: Tensor, k: Tensor) -> Tensor:
    """Score by the dot product ``q . k``: no parameters, one width.

    Args:
        q: Queries ``(..., H, T, D)``.
        k: Keys ``(..., Hkv, S, D)``, where Hkv divides H. Leading axes broadcast.

    Returns:
        Scores ``(..., H, T, S)``.

    Raises:
        TypeError: If the dtypes differ or are not floating.
        ValueError: If the widths differ or the leading axes do not broadcast.
    """
    scores_shape(q, k)
    return q @ repeat_heads(k, head_groups(q, k)).transpose(-2, -1)


def bilinear_scores(q: Tensor, k: Tensor, weight: Tensor) -> Tensor:
    """Score by ``q W k``: a learned matrix in the middle, and the widths may differ.

    Args:
        q: Queries ``(..., T, Dq)``.
        k: Keys ``(..., S, Dk)``.
        weight: ``(Dq, Dk)``.

    Returns:
        Scores ``(..., T, S)``.

    Raises:
        TypeError: If the dtypes differ or are not floating.
        ValueError: If the matrix does not fit the widths.
    """
    require_same_kind(q=q, k=k, weight=weight)
    require_rank(q=q, k=k)
    if shape(weight) != (q.shape[-1], k.shape[-1]):
        raise ValueError(f"weight must be (Dq, Dk) = {(q.shape[-1], k.shape[-1])}, got {shape(weight)}")
    return q @ weight @ k.transpose(-2, -1)


def additive_scores(q: Tensor, k: Tensor, w_q: Tensor, w_k: Tensor, u: Tensor) -> Tensor:
    """Score by ``u . tanh(q W_q + k W_k)``, a small network applied to every pair.

    Args:
        q: Queries ``(..., T, Dq)``.
        k: Keys ``(..., S, Dk)``.
        w_q: ``(Dq, D)``.
        w_k: ``(Dk, D)``.
        u: ``(D,)``.

    Returns:
        Scores ``(..., T, S)``. On the way it holds ``(..., T, S, D)`` numbers.

    Raises:
        TypeError: If the dtypes differ or are not floating.
        ValueError: If the matrices do not fit the widths or each other.
    """
    require_same_kind(q=q, k=k, w_q=w_q, w_k=w_k, u=u)
    require_rank(q=q, k=k)
    D = u.shape[-1] if u.ndim == 1 else -1
    if shape(w_q) != (q.shape[-1], D) or shape(w_k) != (k.shape[-1], D):
        raise ValueError(
            f"w_q must be (Dq, D), w_k (Dk, D) and u (D,) for q {shape(q)} and k {shape(k)}, "
            f"got w_q {shape(w_q)}, w_k {shape(w_k)} and u {shape(u)}"
        )
    pairs = (q @ w_q)[..., :, None, :] + (k @ w_k)[..., None, :, :]  # (..., T, S, D)
    return torch.tanh(pairs) @ u  # (..., T, S)
