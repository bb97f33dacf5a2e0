"""Instruments: what reaches the past, how sharp weights are, what gradient a softmax lets through."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from attnlib._check import check_fits, require_tensor, shape


def gradient_by_distance(reads: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Measure how strongly the last output depends on each input, by how far back the input lies.

    Args:
        reads: A function from sequences ``(B, T, C)`` to outputs ``(B, T, F)``, or to the last ``(B, F)``,
            which treats each sequence of a batch by itself.
        x: The sequence ``(B, T, C)``.

    Returns:
        ``(T,)``: at place d, the Frobenius norm of the Jacobian of the last output with respect to the
        input d steps before it, averaged over the batch.

    Raises:
        ValueError: If a shape is wrong.

    Chapter 1 compares recurrence and attention with it.
    """
    if x.ndim != 3:
        raise ValueError(f"x must be (B, T, C), got {shape(x)}")
    with torch.no_grad():
        features = _last(reads(x), len(x)).shape[1]
    # a copy of the batch for each feature of the output: one backward pass gives the whole Jacobian
    copies = x.detach().repeat(features, 1, 1).requires_grad_()  # (F * B, T, C)
    last = _last(reads(copies), len(copies)).unflatten(0, (features, len(x)))  # (F, B, F)
    (rows,) = torch.autograd.grad(last.diagonal(dim1=0, dim2=2).sum(), copies)
    squares = rows.unflatten(0, (features, len(x))).square().sum((0, 3))  # (B, T)
    lengths: Tensor = squares.sqrt().mean(0).flip(0)  # (T,)
    return lengths


def _last(out: Tensor, B: int) -> Tensor:
    """Return the last of the outputs ``(B, F)``."""
    last = out[:, -1] if out.ndim == 3 else out
    if last.ndim != 2 or len(last) != B:
        raise ValueError(f"reads must return (B, T, F) or (B, F) with B = {B}, got {shape(last)}")
    return last


def decay_rate(norms: Tensor) -> float:
    """Fit ``norm = constant * rate ** distance`` and return the rate.

    Args:
        norms: By distance, ``(T,)``, from `gradient_by_distance`; zeros are left out.

    Returns:
        The factor per step: below 1 it vanishes, above 1 it explodes.

    Raises:
        ValueError: If fewer than two norms are above zero.
    """
    distance = torch.arange(len(norms), device=norms.device)[norms > 0]
    if len(distance) < 2:
        raise ValueError(f"norms must have two numbers above zero to fit a rate, got {len(distance)}")
    return float(_slope(distance.double(), norms[norms > 0].double().log()).exp())


def exponent(x: Sequence[float] | Tensor, y: Sequence[float] | Tensor) -> float:
    """Fit ``y = constant * x ** exponent`` and return the exponent: the slope on double logarithmic paper.

    Args:
        x: Two or more numbers above zero.
        y: As many, above zero.

    Returns:
        The exponent.

    Raises:
        ValueError: If the numbers do not come in two or more pairs, or one is not above zero.
    """
    x, y = (torch.as_tensor(values, dtype=torch.float64).cpu() for values in (x, y))
    if x.ndim != 1 or x.shape != y.shape or len(x) < 2:
        raise ValueError(f"x and y must be two or more pairs, got {shape(x)} and {shape(y)}")
    if not (x.gt(0).all() and y.gt(0).all()):
        raise ValueError("x and y must be above zero to have logarithms, got one that is not")
    return float(_slope(x.log(), y.log()))


def _slope(x: Tensor, y: Tensor) -> Tensor:
    x, y = x - x.mean(), y - y.mean()
    return (x * y).sum() / (x * x).sum()


def entropy(weights: Tensor) -> Tensor:
    """Measure how spread out weights are: 0 for one key alone, ``log(n)`` for n keys alike.

    Args:
        weights: ``(..., S)``, rows that sum to one; a row of zeros has entropy 0.

    Returns:
        ``(...)``, in natural units.
    """
    spread: Tensor = torch.special.entr(weights).sum(-1)
    return spread


def softmax_jacobian(weights: Tensor) -> Tensor:
    """Return how weights move with their scores: ``diag(p) - p pᵀ``.

    Args:
        weights: ``(..., S)``, as softmax returned them.

    Returns:
        ``(..., S, S)``.
    """
    return torch.diag_embed(weights) - weights[..., :, None] * weights[..., None, :]


def jacobian_norm(weights: Tensor) -> Tensor:
    """Return the Frobenius norm of `softmax_jacobian`, without making the matrix.

    Args:
        weights: ``(..., S)``, as softmax returned them.

    Returns:
        ``(...)``: zero when one weight is 1, and no gradient reaches the scores.
    """
    square, cube = weights.square().sum(-1), weights.pow(3).sum(-1)
    return (square - 2 * cube + square.square()).clamp_min(0.0).sqrt()


def relation_share(weights: Tensor, relation: Tensor) -> Tensor:
    """Score each head for a relation: how much of a query's weight goes where the relation points.

    Args:
        weights: ``(B, H, T, S)``.
        relation: Boolean, broadcast to ``(B, 1, T, S)``: True where key j stands in the relation to query i.

    Returns:
        ``(H,)``, from 0 to 1, averaged over the queries for which the relation points somewhere.

    Raises:
        TypeError: If the relation is not boolean.
        ValueError: If the shapes do not fit, or the relation points nowhere.
    """
    require_tensor("relation", relation)
    if relation.dtype != torch.bool:
        raise TypeError(f"relation must be boolean, got {relation.dtype}")
    if weights.ndim != 4:
        raise ValueError(f"weights must be (B, H, T, S), got {shape(weights)}")
    B, _, T, S = weights.shape
    check_fits("relation", relation, (B, 1, T, S))
    relation = relation.expand(B, 1, T, S)
    points = relation.any(-1)  # (B, 1, T)
    if not points.any():
        raise ValueError("relation must point somewhere, got no True at all")
    found = (weights * relation).sum(-1)  # (B, H, T)
    return found.sum((0, 2)) / points.sum()  # (H,)
