"""Linear attention: a kernel instead of the exponential, so that the sums can be kept as a state.

Chapter 7 of the book shows what it saves, and that the bottleneck of chapter 1 comes back with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from attnlib._check import check_causal, check_values, require_same_kind, require_whole, scores_shape, shape
from attnlib._heads import full_heads, widen
from attnlib._modes import without_autocast

FeatureMap = Callable[[Tensor], Tensor]


def elu_plus_one(x: Tensor) -> Tensor:
    """Map to positive features: ``elu(x) + 1``, which is ``exp(x)`` below zero and ``x + 1`` above."""
    return torch.where(x > 0, x + 1, x.clamp_max(0).exp())  # elu(x) + 1 would round small features to zero


def linear_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    causal: bool = False,
    feature_map: FeatureMap = elu_plus_one,
    normalize: bool = True,
    block_size: int = 64,
) -> Tensor:
    """Mix values with weights ``f(q) . f(k)``, divided by their sum; the cost grows with T, not T².

    Args:
        q: Queries ``(..., H, T, D)``.
        k: Keys ``(..., Hkv, S, D)``, where Hkv divides H. Leading axes broadcast.
        v: Values ``(..., Hkv, S, Dv)``.
        causal: Whether query i sees the keys up to i only; then T must equal S.
        feature_map: The function f, from ``(..., D)`` to features ``(..., F)``, positive if normalized.
        normalize: Whether to divide by the sum of the weights.
        block_size: With ``causal``, how many positions are computed at once between updates of the state.

    Returns:
        Output ``(..., H, T, Dv)``.

    Raises:
        TypeError: If a dtype is wrong.
        ValueError: If shapes do not fit.
    """
    T, S = scores_shape(q, k)[-2:]
    check_values(q, k, v)
    check_causal(causal)
    require_whole("block_size", block_size, 1)
    if causal and T != S:
        raise ValueError(f"causal linear attention needs T = S, got T = {T} and S = {S}")
    dtype = q.dtype
    # sums over many keys, and over what broadcasts in backward, overflow in float16 and stall in bfloat16
    q, k, v = full_heads(widen(feature_map(q)), widen(feature_map(k)), widen(v))
    with without_autocast(q.device):
        out = _causal(q, k, v, normalize, block_size) if causal else _everywhere(q, k, v, normalize)
    return out.to(dtype)


def _everywhere(q: Tensor, k: Tensor, v: Tensor, normalize: bool) -> Tensor:
    """Mix with all keys at once: two sums, whatever the length."""
    mixed = q @ (k.transpose(-2, -1) @ v)  # (..., T, Dv)
    return _divide(mixed, q @ k.sum(-2, keepdim=True).transpose(-2, -1)) if normalize else mixed


def _causal(q: Tensor, k: Tensor, v: Tensor, normalize: bool, block_size: int) -> Tensor:
    """Go through blocks of positions: the past as a state, the present as a small matrix."""
    T, state, out = q.shape[-2], None, []
    for i in range(0, T, block_size):
        query, key, value = (x[..., i : i + block_size, :] for x in (q, k, v))
        inside = (query @ key.transpose(-2, -1)).tril()  # (..., n, n), within the block
        mixed, total = inside @ value, inside.sum(-1, keepdim=True)  # (..., n, Dv), (..., n, 1)
        if state is not None:
            mixed, total = mixed + query @ state.kv, total + query @ state.k[..., None]
        out.append(_divide(mixed, total) if normalize else mixed)
        state = _update(state, key, value)
    return torch.cat(out, -2) if out else q @ (k.transpose(-2, -1) @ v)  # of no position, in the graph of all


class LinearState(NamedTuple):
    """All that linear attention remembers of the past: two sums of fixed size, in float32 or better.

    Attributes:
        kv: Sum of ``f(k) v`` over the positions so far, ``(..., F, Dv)``.
        k: Sum of ``f(k)``, ``(..., F)``.
    """

    kv: Tensor
    k: Tensor


def linear_attention_step(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    state: LinearState | None = None,
    *,
    feature_map: FeatureMap = elu_plus_one,
    normalize: bool = True,
) -> tuple[Tensor, LinearState]:
    """Take one step of causal linear attention as a recurrence: attention as an RNN.

    Args:
        q: The query of this position ``(..., D)``.
        k: Its key ``(..., D)``.
        v: Its value ``(..., Dv)``.
        state: What the step before returned, None at the start.
        feature_map: As in `linear_attention`.
        normalize: As in `linear_attention`.

    Returns:
        The output ``(..., Dv)``, equal to that row of `linear_attention`, and the new state.

    Raises:
        TypeError: If a dtype is wrong.
        ValueError: If the widths of q and k differ.
    """
    require_same_kind(q=q, k=k, v=v)
    if q.shape[-1:] != k.shape[-1:]:
        raise ValueError(f"q and k must have the same width D, got q {shape(q)} and k {shape(k)}")
    dtype = q.dtype
    q, k, v = widen(feature_map(q)), widen(feature_map(k)), widen(v)
    with without_autocast(q.device):
        state = _update(state, k[..., None, :], v[..., None, :])
        mixed = (q[..., None, :] @ state.kv)[..., 0, :]  # (..., Dv)
        out = _divide(mixed, (q * state.k).sum(-1, keepdim=True)) if normalize else mixed
    return out.to(dtype), state


def _update(state: LinearState | None, k: Tensor, v: Tensor) -> LinearState:
    kv, total = k.transpose(-2, -1) @ v, k.sum(-2)
    return LinearState(kv, total) if state is None else LinearState(state.kv + kv, state.k + total)


def _divide(mixed: Tensor, total: Tensor) -> Tensor:
    """Divide by the sum of the weights; where there is nothing to attend to, the answer is zero."""
    return mixed / total.masked_fill(total == 0, 1.0)
