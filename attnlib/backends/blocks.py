"""Blocks of queries, each with the keys that a rule lets it see: what the rule rules out is not computed."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from attnlib._heads import lead_of, widen
from attnlib._modes import product_dtype
from attnlib._plan import Plan
from attnlib.masks import as_numbers, both

ROWS = 512  # queries of a block, at most
LEAST = 128  # and at least, where a window is smaller
ALIGN = 64  # keys are cut at multiples of it: kernels are slower for 511 keys than for 512
SMALL = 2**16  # scores of a head, of which a table costs less than the calls
WORTH = 0.75  # share of the scores above which nothing is gained


def rows_of_a_block(plan: Plan) -> int:
    """Choose how many queries go together: few against a window, so that few hidden keys come along."""
    window = None if plan.rule is None else plan.rule.window
    return ROWS if window is None else min(ROWS, max(LEAST, window // 4))


def spans_of(plan: Plan, first: int, last: int) -> list[tuple[int, int]]:
    """Return the ranges of keys that a block of queries is given: those that it may see, and a few hidden."""
    assert plan.rule is not None
    spans = plan.rule.spans(first + plan.S - plan.T, last + plan.S - plan.T, plan.S)
    before, aligned = 0, []
    for start, end in spans:
        aligned.append((max(before, start - start % ALIGN), end))
        before = end
    return aligned


def saves(plan: Plan) -> bool:
    """Tell whether blocks leave out enough of the scores to be worth their calls."""
    T, S = plan.T, plan.S
    if plan.rule is None or isinstance(T, torch.SymInt) or isinstance(S, torch.SymInt) or T * S < SMALL:
        return False
    computed = sum(
        (last - first) * sum(b - a for a, b in spans_of(plan, first, last)) for first, last in _blocks(plan)
    )
    return computed <= WORTH * T * S


def in_blocks(plan: Plan, compute: Callable[[Plan], Tensor]) -> Tensor:
    """Compute a plan block by block; each is a plan without a rule, with the table of its own keys."""
    assert plan.rule is not None
    i = torch.arange(plan.T, device=plan.device) + (plan.S - plan.T)
    j = torch.arange(plan.S, device=plan.device)
    parts, tables = [], _Tables(plan)
    shared, plan = plan, _summed_wide(plan)
    for first, last in _blocks(plan):
        spans = spans_of(plan, first, last)
        q = plan.q[..., first:last, :]
        if not spans:
            parts.append(_nothing(plan._replace(q=q)))
            continue
        seen, numbers = tables.get(i[first:last], _columns(j, spans), spans[0][0] - first)
        part = plan._replace(
            q=q,
            k=_columns(plan.k.mT, spans).mT.to(shared.k.dtype),
            v=_columns(plan.v.mT, spans).mT.to(shared.v.dtype),
            mask=seen if plan.mask is None else both(_cut(plan.mask, first, last, spans), seen),
            bias=_bias(shared, plan.bias, first, last, spans),
            rule=None,
            numbers=numbers,
        )
        parts.append(compute(part))
    return torch.cat(parts, -2)


def _summed_wide(plan: Plan) -> Plan:
    """Take what blocks share in float32, if it needs a gradient: that is summed block by block."""
    if not plan.needs_gradient():
        return plan
    softcap, sink = plan.softcap, plan.sink
    return plan._replace(
        k=widen(plan.k),
        v=widen(plan.v),
        bias=None if plan.bias is None else _as_wide(plan.bias, plan.q),
        softcap=_as_wide(softcap, plan.q) if isinstance(softcap, Tensor) else softcap,
        sink=None if sink is None else _as_wide(sink, plan.q),
    )


def _as_wide(x: Tensor, q: Tensor) -> Tensor:
    return x.to(torch.promote_types(x.dtype, widen(q).dtype))


def _bias(
    plan: Plan, wide: Tensor | None, first: int, last: int, spans: list[tuple[int, int]]
) -> Tensor | None:
    """Return a block's bias, no wider than it was given: the kernel computes in its dtype."""
    if wide is None or plan.bias is None:
        return None
    return _cut(wide, first, last, spans).to(torch.promote_types(plan.bias.dtype, plan.q.dtype))


class _Tables:
    """The tables of blocks: one for all that are alike, if the rule knows distances only."""

    def __init__(self, plan: Plan) -> None:
        assert plan.rule is not None
        self.plan, self.rule = plan, plan.rule
        self.made: dict[tuple[int, ...], tuple[Tensor, Tensor | None]] = {}

    def get(self, i: Tensor, j: Tensor, lag: int) -> tuple[Tensor, Tensor | None]:
        """Return the table of queries and keys at these positions, and it as numbers if it serves again."""
        if not self.rule.only_distances:
            return self.rule.tile(i, j), None
        key = (len(i), len(j), lag)
        if key not in self.made:
            seen = self.rule.tile(i, j)
            alone = self.plan.mask is self.plan.bias is None and self.plan.device.type == "cpu"
            self.made[key] = seen, as_numbers(seen, self.plan.q.dtype) if alone else None
        return self.made[key]


def _blocks(plan: Plan) -> list[tuple[int, int]]:
    size = rows_of_a_block(plan)
    return [(first, min(first + size, plan.T)) for first in range(0, plan.T, size)]


def _columns(x: Tensor, spans: list[tuple[int, int]]) -> Tensor:
    """Cut ranges out of the last axis: one without a copy."""
    cut = [x[..., a:b] for a, b in spans]
    return cut[0] if len(cut) == 1 else torch.cat(cut, -1)


def _cut(x: Tensor, first: int, last: int, spans: list[tuple[int, int]]) -> Tensor:
    """Cut rows and columns out of what broadcasts to ``(..., T, S)``, without making it larger."""
    if x.ndim > 1 and x.shape[-2] > 1:
        x = x[..., first:last, :]
    return _columns(x, spans) if x.ndim and x.shape[-1] > 1 else x


def _nothing(plan: Plan) -> Tensor:
    """Return zeros for queries that see no key, in the graph of what was given, with a gradient of zero."""
    given = (x for x in plan if isinstance(x, Tensor) and x.is_floating_point())
    zero = torch.stack([(x[..., :0] if x.ndim else x[None][:0]).sum().to(plan.q.dtype) for x in given]).sum()
    size = (*lead_of(plan.q, plan.k, plan.v), plan.T, plan.v.shape[-1])
    return zero.to(product_dtype(plan.q)).expand(size)
