"""One call of attention as one object: queries, keys, values, and what becomes of their scores."""

from __future__ import annotations

from typing import NamedTuple, TypedDict, Unpack

import torch
from torch import Tensor

from attnlib._check import (
    check_bias,
    check_causal,
    check_mask,
    check_numbers,
    check_sink,
    check_values,
    scores_shape,
)
from attnlib._heads import fits_kernel
from attnlib.mask_rules import MaskRule, as_rule
from attnlib.masks import both


class Options(TypedDict, total=False):
    """What becomes of the scores, beside mask and rule: the fields of a `Plan` from ``bias`` on."""

    bias: Tensor | None
    scale: float | Tensor | None
    softcap: float | Tensor | None
    sink: Tensor | None
    dropout: float


class Plan(NamedTuple):
    """The arguments of `attention`, carried together from the function to the backend.

    Attributes:
        q: Queries ``(..., H, T, D)``.
        k: Keys ``(..., Hkv, S, D)``.
        v: Values ``(..., Hkv, S, Dv)``; the keys again where only scores or weights are asked for.
        mask: Boolean, True = may attend, broadcast to ``(..., H, T, S)``.
        rule: What holds beside the mask; ``causal=True`` is one.
        bias: Numbers added to the scores.
        scale: Factor on the scores; None is ``1 / sqrt(D)``.
        softcap: Bound on the size of the scaled scores.
        sink: A score beside those of the keys, which takes weight and brings no value.
        dropout: Share of the weights dropped.
        numbers: The mask as the kernel for CPUs reads it, where blocks share one.
    """

    q: Tensor
    k: Tensor
    v: Tensor
    mask: Tensor | None = None
    rule: MaskRule | None = None
    bias: Tensor | None = None
    scale: float | Tensor | None = None
    softcap: float | Tensor | None = None
    sink: Tensor | None = None
    dropout: float = 0.0
    numbers: Tensor | None = None

    @classmethod
    def of(
        cls,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        mask: Tensor | MaskRule | None = None,
        *,
        causal: bool = False,
        **options: Unpack[Options],
    ) -> Plan:
        """Make a plan of arguments as `attention` takes them; the options are the fields from ``bias`` on."""
        check_causal(causal)
        table, rule = as_rule(mask, causal=causal)
        return cls(q, k, v, table, rule, **options)

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
        """The factor on the scores, whatever was given."""
        return float(self.q.shape[-1] ** -0.5) if self.scale is None else self.scale

    @property
    def sinks(self) -> Tensor | None:
        """The sinks as ``(H, 1, 1)``, or with more axes in front, to stand beside the scores."""
        return None if self.sink is None else self.sink[..., None, None]

    def seen(self) -> Tensor | None:
        """Return mask and rule in one table, None if everything may be attended to."""
        if self.rule is None:
            return self.mask
        i = torch.arange(self.T, device=self.device) + (self.S - self.T)
        return both(self.mask, self.rule.tile(i, torch.arange(self.S, device=self.device)))

    def needs_gradient(self) -> bool:
        """Tell whether backward may be called on what comes out."""
        if not torch.is_grad_enabled():
            return False
        if self.q.requires_grad or self.k.requires_grad or self.v.requires_grad:
            return True
        given = (self.bias, self.scale, self.softcap, self.sink)
        return any(isinstance(x, Tensor) and x.requires_grad for x in given if x is not None)


def check(plan: Plan) -> Plan:
    """Return the plan, or raise what is wrong with it."""
    target: tuple[int, ...]
    if fits_kernel(plan.q, plan.k, plan.v):  # the ordinary case, seen at a glance
        target = (*plan.q.shape[:2], plan.T, plan.S)
    else:
        target = scores_shape(plan.q, plan.k)
        if plan.v is not plan.k:
            check_values(plan.q, plan.k, plan.v)
    if plan.mask is not None:
        check_mask(plan.mask, target, plan.device)
    if plan.rule is not None:
        plan.rule.check(plan.S, target, plan.device)
    if plan.bias is not None:
        check_bias(plan.bias, target, plan.device)
    check_numbers(plan.scale, plan.softcap, target, plan.device)
    if plan.sink is not None:
        check_sink(plan.sink, target, plan.device)
    return plan
