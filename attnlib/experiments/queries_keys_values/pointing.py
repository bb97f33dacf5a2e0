"""Things that point at each other: can tied queries and keys learn it? Chapter 3 of the book asks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from attnlib.functional import attention_weights
from attnlib.instruments.settings import Setting


class Pointing(NamedTuple):
    """What a run has learned.

    Attributes:
        losses: The loss of each step.
        weights: Who attends to whom in the end, ``(N, N)``.
        lengths: How long each query is in the end, ``(N,)``.
        setting: What it was measured on.
    """

    losses: list[float]
    weights: Tensor
    lengths: Tensor
    setting: Setting


def train_pointing(
    target: Sequence[int], *, tied: bool, seed: int, steps: int = 400, width: int = 4
) -> Pointing:
    """Learn queries and keys such that each of N things gives its weight to its target.

    Every thing is a one-hot vector, so that its query is one row of the projection. The loss is minus the
    logarithm of the weight on the target, averaged over the things; the optimizer is Adam.

    Args:
        target: For each thing, the one it should attend to.
        tied: Whether queries and keys share one projection.
        seed: Of the start.
        steps: How many.
        width: How many numbers a query and a key have.

    Returns:
        Losses, weights and lengths.
    """
    N = len(target)
    generator = torch.Generator().manual_seed(seed)
    w_q, w_k = (torch.randn(N, width, generator=generator) for _ in range(2))
    if tied:
        w_k = w_q
    learned = [w.requires_grad_() for w in ([w_q] if tied else [w_q, w_k])]
    optimizer = torch.optim.Adam(learned, lr=0.05)
    losses = []
    for _ in range(steps):
        weights = attention_weights(w_q, w_k)  # (N, N)
        loss = -weights[range(N), list(target)].log().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    setting = Setting(
        model=f"{'one projection' if tied else 'two projections'} of {N} one-hot vectors",
        width=width,
        weights=sum(w.numel() for w in learned),
        optimizer="Adam",
        rate=0.05,
        steps=steps,
        seeds=(seed,),
    )
    return Pointing(losses, weights.detach(), w_q.detach().norm(dim=-1), setting)
