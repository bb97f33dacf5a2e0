"""Seven functions on tokens, some of them attention: an exercise of chapter 3 asks which are not.

Whoever reads on here knows the answer.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

WIDTH = 3
NEAR = 5  # up to here, box b does not know of distances


def _projections(box: int) -> list[Tensor]:
    """Return W_Q, W_K and W_V of a box, the same with every generator of random numbers."""
    angles = torch.arange(1.0, 3 * WIDTH**2 + 1).reshape(3, WIDTH, WIDTH)
    return list((angles * (1 + 0.37 * box) + angles**2).sin())


def _scores_and_values(x: Tensor, box: int) -> tuple[Tensor, Tensor]:
    w_q, w_k, w_v = (w.to(x.dtype) for w in _projections(box))
    return x @ w_q @ (x @ w_k).mT / WIDTH**0.5, x @ w_v


def soft(x: Tensor) -> Tensor:
    """Attention."""
    scores, values = _scores_and_values(x, 0)
    return scores.softmax(-1) @ values


def soft_while_short(x: Tensor) -> Tensor:
    """Attention in which far tokens count for less, from a distance on that short inputs do not have."""
    scores, values = _scores_and_values(x, 1)
    at = torch.arange(len(x))
    return (scores - ((at[:, None] - at).abs() - NEAR).clamp(min=0)).softmax(-1) @ values


def equal_weights(x: Tensor) -> Tensor:
    """The mean of the values, for each token: attention whose queries are zero."""
    scores, values = _scores_and_values(x, 2)
    return (0 * scores).softmax(-1) @ values


def over_queries(x: Tensor) -> Tensor:
    """What attention becomes with its softmax over the queries: the weights of a query do not sum to one."""
    scores, values = _scores_and_values(x, 3)
    return scores.softmax(-2) @ values


def sharp(x: Tensor) -> Tensor:
    """Attention with long queries: nearly the value of a single token."""
    scores, values = _scores_and_values(x, 4)
    return (40 * scores).softmax(-1) @ values


def not_divided(x: Tensor) -> Tensor:
    """Exponentials of the scores that are not divided by their sum."""
    scores, values = _scores_and_values(x, 5)
    return scores.exp() @ values


def convolution(x: Tensor) -> Tensor:
    """Of each token half, and a quarter of each neighbour; the ends are their own neighbours."""
    _, values = _scores_and_values(x, 6)
    padded = torch.cat([values[:1], values, values[-1:]])
    return (padded[:-2] + 2 * values + padded[2:]) / 4


BOXES: dict[str, Callable[[Tensor], Tensor]] = {
    "a": soft,
    "b": soft_while_short,
    "c": equal_weights,
    "d": over_queries,
    "e": sharp,
    "f": not_divided,
    "g": convolution,
}
