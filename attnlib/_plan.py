"""One call of attention as one object: queries, keys, values, and what becomes of their scores."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from attnlib._check import check_bias, check_causal, check_mask, check_numbers, check_values, scores_shape
from attnlib.masks import both, causal_mask


class Plan(NamedTuple):
    """The arguments of `attention`, carried together from the function to the backend.

    Attributes:
        q: Queries ``(..., H, T, D)``.
        k: Keys ``(..., Hkv, S, D)``.
        v: Values ``(..., Hkv, S, Dv)``; the keys again where only scores or weights are asked for.
        mask: Boolean, True = may attend, broadcast to ``(..., H, T, S)``.
        causal: Whether `causal_mask` holds too.
        bias: Numbers added to the scores.
        scale: Factor on the scores; None is ``1 / sqrt(D)``.
        softcap: Bound on the size of the scaled scores.
        dropout: Share of the weights dropped.
    """

    q: Tensor
    k: Tensor
    v: Tensor
    mask: Tensor | None = None
    causal: bool = False
    bias: Tensor | None = None
    scale: float | Tensor | None = None
    softcap: float | Tensor | None = None
    dropout: float = 0.0

    @property
    def T(self) -> int:  # noqa: N802
        """Number of queries."""
        return self.q.shape[-2]

    @property
    def S(self) -> int:  # noqa: N802
        """Number of keys."""
        return self.k.shape[-2]

    @property
    def device(self) -> torch.device:
        """Where everything is."""
        return self.q.device

    @property
    def factor(self) -> float | Tensor:
        """The factor on the scores as a number."""
        return self.q.shape[-1] ** -0.5 if self.scale is None else self.scale

    def seen(self) -> Tensor | None:
        """Return the mask and the causal mask in one, None if everything may be attended to."""
        if not self.causal:
            return self.mask
        return both(self.mask, causal_mask(self.T, self.S, device=self.device))

    def needs_gradient(self) -> bool:
        """Tell whether backward may be called on what comes out."""
        if not torch.is_grad_enabled():
            return False
        given = (self.q, self.k, self.v, self.bias, self.scale, self.softcap)
        return any(isinstance(x, Tensor) and x.requires_grad for x in given)


def check(plan: Plan) -> Plan:
    """Return the plan, or raise what is wrong with it."""
    target = scores_shape(plan.q, plan.k)
    check_causal(plan.causal)
    if plan.mask is not None:
        check_mask(plan.mask, target, plan.device)
    if plan.bias is not None:
        check_bias(plan.bias, target, plan.device)
    check_numbers(plan.scale, plan.softcap, target, plan.device)
    if plan.v is not plan.k:
        check_values(plan.q, plan.k, plan.v)
    return plan
