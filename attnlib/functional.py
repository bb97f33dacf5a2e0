"""Attention as two functions: the weights, readable, and the output, as fast as PyTorch.

Chapter 3 of the book builds both from nothing.
"""

from __future__ import annotations

import math

from torch import Tensor

from attnlib._check import check_mask, require_same_kind, shape
from attnlib._plan import Plan, check
from attnlib.backends.choose import at_once, attend
from attnlib.backends.dense import dense_scores, dense_weights, softmax_or_zero


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Turn scores into weights: each row sums to one, or to zero if it may attend to nothing.

    Args:
        scores: ``(..., T, S)``, after scaling and bias.
        mask: Boolean, True = may attend, broadcast to ``(..., T, S)``.

    Returns:
        Weights ``(..., T, S)``. A row with nothing to attend to is zero, and its gradient too.

    Raises:
        TypeError: If the scores are not floating, or the mask is not boolean.
        ValueError: If the mask does not fit the scores.

    Chapter 3 builds it, chapter 6 explains the empty rows.
    """
    require_same_kind(scores=scores)
    if mask is not None:
        check_mask(mask, shape(scores), scores.device)
        scores = scores.masked_fill(~mask, -math.inf)
    return softmax_or_zero(scores)


def attention_scores(
    q: Tensor,
    k: Tensor,
    mask: Tensor | None = None,
    *,
    causal: bool = False,
    bias: Tensor | None = None,
    scale: float | Tensor | None = None,
    softcap: float | Tensor | None = None,
) -> Tensor:
    """Compute what the softmax of `attention_weights` is taken of.

    Args:
        q: Queries ``(..., H, T, D)``.
        k: Keys ``(..., Hkv, S, D)``, where Hkv divides H. Leading axes broadcast.
        mask: As in `attention_weights`, like all that follow.
        causal: Also apply `causal_mask` ``(T, S)``.
        bias: Numbers added to the scores.
        scale: Factor on the scores, ``1 / sqrt(D)`` if not given.
        softcap: Bound on the size of the scaled scores.

    Returns:
        Scores ``(..., H, T, S)`` in the dtype of ``q``; minus infinity where the mask forbids to attend.

    Raises:
        TypeError: If a dtype is wrong; a float mask belongs into ``bias``.
        ValueError: If shapes, devices or numbers do not fit.

    Chapter 4 watches them.
    """
    return dense_scores(check(Plan(q, k, k, mask, causal, bias, scale, softcap))).to(q.dtype)


def attention_weights(
    q: Tensor,
    k: Tensor,
    mask: Tensor | None = None,
    *,
    causal: bool = False,
    bias: Tensor | None = None,
    scale: float | Tensor | None = None,
    softcap: float | Tensor | None = None,
) -> Tensor:
    """Compute how much each query takes from each key.

    The order is: scores ``q @ k.T``, times scale, softcap ``c * tanh(s / c)``, plus bias, mask, softmax.

    Args:
        q: Queries ``(..., H, T, D)``.
        k: Keys ``(..., Hkv, S, D)``, where Hkv divides H. Leading axes broadcast.
        mask: Boolean, True = may attend, broadcast to ``(..., H, T, S)``.
        causal: Also apply `causal_mask` ``(T, S)``.
        bias: Numbers added to the scores, broadcast to ``(..., H, T, S)``.
        scale: Factor on the scores, ``1 / sqrt(D)`` if not given.
        softcap: Bound on the size of the scaled scores.

    Returns:
        Weights ``(..., H, T, S)`` in the dtype of ``q``. Each row sums to one, or to zero if the
        query may attend to nothing. In half precision they are computed in float32, rounded once.

    Raises:
        TypeError: If a dtype is wrong; a float mask belongs into ``bias``.
        ValueError: If shapes, devices or numbers do not fit.

    Chapter 3 builds it, chapter 4 explains the scale, chapter 6 the mask.
    """
    return dense_weights(check(Plan(q, k, k, mask, causal, bias, scale, softcap))).to(q.dtype)


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    *,
    causal: bool = False,
    bias: Tensor | None = None,
    scale: float | Tensor | None = None,
    softcap: float | Tensor | None = None,
) -> Tensor:
    """Mix the values, each query with its own weights: ``attention_weights(...) @ v``.

    Runs PyTorch's fused kernel, which holds no ``(T, S)`` matrix, unless there is a softcap. A bias that is
    wider than ``q`` is not rounded: all is computed in its dtype, which takes a GPU longer.

    What a mask hides cannot be felt, not even a NaN or an infinity: on the CPU such keys and values are
    found before the kernel runs. Two roads do not look, since that would take too long: a mask on a GPU, and
    ``causal=True`` alone, for which PyTorch's kernel may multiply a hidden NaN by zero. There put zeros
    first, ``k.masked_fill(hidden, 0)`` and the same for ``v``, or on the CPU give ``mask=causal_mask(T, S)``.

    Backward, the kernel for GPUs finds the weights again from a rounded logarithm: in float32 gradients are
    rough from scores of a million on, and can be NaN from 1e9 on. `tiled_attention` has neither.

    Args:
        q: Queries ``(..., H, T, D)``.
        k: Keys ``(..., Hkv, S, D)``, where Hkv divides H. Leading axes broadcast.
        v: Values ``(..., Hkv, S, Dv)``.
        mask: Boolean, True = may attend, broadcast to ``(..., H, T, S)``.
        causal: Also apply `causal_mask` ``(T, S)``; the fused kernel is told instead of given it.
        bias: Numbers added to the scores, broadcast to ``(..., H, T, S)``.
        scale: Factor on the scores, ``1 / sqrt(D)`` if not given.
        softcap: Bound on the size of the scaled scores.

    Returns:
        Output ``(..., H, T, Dv)``. A query that may attend to nothing gets zeros.

    Raises:
        TypeError: If a dtype is wrong; a float mask belongs into ``bias``.
        ValueError: If shapes, devices or numbers do not fit.

    Chapter 3 builds it, chapter 7 counts its cost.
    """
    if mask is bias is scale is softcap is None:
        out = at_once(q, k, v, causal)
        if out is not None:
            return out
    return attend(check(Plan(q, k, v, mask, causal, bias, scale, softcap)))
