"""Attention as two functions: the weights, readable, and the output, as fast as PyTorch.

Chapter 3 of the book builds both from nothing.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from attnlib._heads import fits_kernel, head_groups, repeat_heads, widen
from attnlib._validate import check_bias, check_mask, check_values, require_tensor, scores_shape
from attnlib.fused import fused_attention
from attnlib.masks import both, causal_mask


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Turn scores into weights: each row sums to one, or to zero if it may attend to nothing.

    Args:
        scores: ``(..., T, S)``, after scaling and bias.
        mask: Boolean, True = may attend, broadcast to ``(..., T, S)``.

    Returns:
        Weights ``(..., T, S)``. A row with nothing to attend to is zero, and its gradient too.

    Raises:
        TypeError: If the mask is not boolean.
        ValueError: If the mask does not fit the scores.

    Chapter 3 builds it, chapter 6 explains the empty rows.
    """
    require_tensor("scores", scores)
    if mask is not None:
        check_mask(mask, tuple(scores.shape), scores.device)
        scores = scores.masked_fill(~mask, -math.inf)
    # softmax of a row of -inf is NaN, forward and backward: give such a row any finite scores,
    # and take its weights away again
    blind = (scores == -math.inf).all(-1, keepdim=True)  # (..., T, 1)
    return scores.masked_fill(blind, 0.0).softmax(-1).masked_fill(blind, 0.0)


def attention_scores(
    q: Tensor,
    k: Tensor,
    mask: Tensor | None = None,
    *,
    causal: bool = False,
    bias: Tensor | None = None,
    scale: float | None = None,
    softcap: float | None = None,
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
    _check(q, k, mask, bias, scale, softcap)
    return _scores(q, k, mask, causal, bias, scale, softcap).to(q.dtype)


def attention_weights(
    q: Tensor,
    k: Tensor,
    mask: Tensor | None = None,
    *,
    causal: bool = False,
    bias: Tensor | None = None,
    scale: float | None = None,
    softcap: float | None = None,
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
    _check(q, k, mask, bias, scale, softcap)
    return _weights(q, k, mask, causal, bias, scale, softcap).to(q.dtype)


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    *,
    causal: bool = False,
    bias: Tensor | None = None,
    scale: float | None = None,
    softcap: float | None = None,
) -> Tensor:
    """Mix the values, each query with its own weights: ``attention_weights(...) @ v``.

    Runs PyTorch's fused kernel, which holds no ``(T, S)`` matrix, unless there is a softcap.

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
    if mask is bias is scale is softcap is None and fits_kernel(q, k, v):
        return fused_attention(q, k, v, causal=causal)
    _check(q, k, mask, bias, scale, softcap)
    check_values(q, k, v)
    if softcap is None:
        return fused_attention(q, k, v, mask, causal=causal, bias=bias, scale=scale)
    weights = _weights(q, k, mask, causal, bias, scale, softcap)
    return (weights @ widen(repeat_heads(v, head_groups(q, v)))).to(q.dtype)


def _check(
    q: Tensor,
    k: Tensor,
    mask: Tensor | None,
    bias: Tensor | None,
    scale: float | None,
    softcap: float | None,
) -> None:
    target = scores_shape(q, k)
    if mask is not None:
        check_mask(mask, target, q.device)
    if bias is not None:
        check_bias(bias, target, q.device)
    if scale is not None and not math.isfinite(scale):
        raise ValueError(f"scale must be a finite number, got {scale}")
    if softcap is not None and not (math.isfinite(softcap) and softcap > 0):
        raise ValueError(f"softcap must be a finite number above zero, got {softcap}")


def _scores(
    q: Tensor,
    k: Tensor,
    mask: Tensor | None,
    causal: bool,
    bias: Tensor | None,
    scale: float | None,
    softcap: float | None,
) -> Tensor:
    T, S, D = q.shape[-2], k.shape[-2], q.shape[-1]
    q, k = widen(q), widen(repeat_heads(k, head_groups(q, k)))
    q = q * (D**-0.5 if scale is None else scale)  # D numbers a query, where the scores are S
    scores = q @ k.transpose(-2, -1)  # (..., T, S)
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    if bias is not None:
        scores = scores + bias.to(scores.dtype)
    mask = both(mask, causal_mask(T, S, device=q.device)) if causal else mask
    return scores if mask is None else scores.masked_fill_(~mask, -math.inf)


def _weights(q: Tensor, k: Tensor, mask: Tensor | None, causal: bool, bias: Tensor | None, *rest) -> Tensor:
    scores = _scores(q, k, mask, causal, bias, *rest)
    can_be_blind = mask is not None or bias is not None or (causal and q.shape[-2] > k.shape[-2])
    return masked_softmax(scores) if can_be_blind else scores.softmax(-1)
