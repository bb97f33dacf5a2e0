"""The online softmax, tile by tile: exact attention that never holds a ``(T, S)`` matrix.

Chapter 7 of the book derives it in three lines.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attnlib._check import broadcasts, shape
from attnlib._heads import full_heads, widen
from attnlib._hidden import finite_rows, finite_where_seen, mix_seen
from attnlib._modes import truth, without_autocast
from attnlib._plan import Plan
from attnlib.mask_rules import MaskRule
from attnlib.masks import both

MaskFunction = Callable[[Tensor, Tensor], Tensor]


def tiled(plan: Plan, block_size: int, function: MaskFunction | None = None) -> tuple[Tensor, Tensor]:
    """Compute a plan in tiles.

    Args:
        plan: Without dropout.
        block_size: Rows and columns of a tile.
        function: A mask as a function of positions, in place of the plan's.

    Returns:
        The output ``(..., T, Dv)``, and the logarithm of the sum of the exponentials of each query's
        scores ``(..., T)``, sink included: minus infinity for a query that may attend to nothing.
    """
    q, k, v = full_heads(plan.q, plan.k, plan.v)
    scale = plan.factor
    if isinstance(scale, Tensor):
        q, scale = (widen(q) * scale).to(widen(q).dtype), 1.0
    tiles = _Tiles(plan.T, plan.S, block_size, function, plan.rule, scale)
    out, log_sum, _, _ = _Tiled.run(q, k, v, plan.bias, plan.mask, _as_tensor(plan), plan.sinks, tiles)
    return out, log_sum


@torch.no_grad()
def tiled_mass(plan: Plan, block_size: int) -> Tensor:
    """Return how much weight each key gets from all queries, ``(..., S)``, in float32 or better."""
    q, k, v = full_heads(plan.q, plan.k, plan.k)
    mass = widen(k).new_zeros(k.shape[:-1])
    scale = plan.factor
    if isinstance(scale, Tensor):
        q, scale = (widen(q) * scale).to(widen(q).dtype), 1.0
    tiles = _Tiles(plan.T, plan.S, block_size, None, plan.rule, scale)
    softcap = _as_tensor(plan)
    _, _, top, total = _Tiled.run(q, k, v[..., :0], plan.bias, plan.mask, softcap, plan.sinks, tiles)
    with without_autocast(q.device):
        for rows in tiles.rows():
            shift = top[..., rows, None].masked_fill(top[..., rows, None] == -math.inf, 0.0)
            sums = total[..., rows, None].masked_fill(total[..., rows, None] == 0, 1.0)
            for columns, seen in tiles.columns(rows, plan.mask, q.device):
                query, key = widen(q[..., rows, :]), widen(k[..., columns, :])
                scores, _, _ = tiles.scores(query, key, _tile(plan.bias, rows, columns), seen, softcap)
                mass[..., columns] += (torch.exp(scores - shift) / sums).sum(-2)
    return mass


def _as_tensor(plan: Plan) -> Tensor | None:
    """Return the softcap as a tensor, which may be learned."""
    if plan.softcap is None:
        return None
    dtype = widen(plan.q).dtype
    if isinstance(plan.softcap, Tensor):
        return plan.softcap.to(dtype)
    return torch.tensor(plan.softcap, dtype=dtype, device=plan.device)


class _Tiles(NamedTuple):
    """Which keys each block of queries has to look at, and what becomes of their scores."""

    T: int
    S: int
    size: int
    function: MaskFunction | None
    rule: MaskRule | None
    scale: float

    def rows(self) -> Iterator[slice]:
        """Go through the blocks of queries."""
        return (slice(i, min(i + self.size, self.T)) for i in range(0, self.T, self.size))

    def columns(
        self, rows: slice, mask: Tensor | None, device: torch.device
    ) -> Iterator[tuple[slice, Tensor | None]]:
        """Go through the blocks of keys that some query of ``rows`` sees, with a mask where one is needed."""
        offset = self.S - self.T
        i = torch.arange(rows.start, rows.stop, device=device)  # (n,)
        for start in range(0, self._end(rows), self.size):
            columns = slice(start, min(start + self.size, self._end(rows)))
            j = torch.arange(columns.start, columns.stop, device=device)  # (m,)
            seen = _tile(mask, rows, columns) if self.function is None else self._ask(i[:, None], j)
            if seen is not None and truth(seen.any()) is False:
                continue
            if self.rule is not None and not self._open(rows, columns):
                first, last = self.rule.keys_of(rows.start + offset, rows.stop + offset, self.S)
                if columns.stop <= first or columns.start >= last:
                    continue
                seen = both(seen, self.rule.tile(i + offset, j))
                if not self.rule.only_causal and truth(seen.any()) is False:
                    continue
            yield columns, seen

    def _end(self, rows: slice) -> int:
        """Return the last key that the rule lets some query of ``rows`` see, plus one."""
        if self.rule is None:
            return self.S
        offset = self.S - self.T
        return self.rule.keys_of(rows.start + offset, rows.stop + offset, self.S)[1]

    def _open(self, rows: slice, columns: slice) -> bool:
        """Tell whether a tile lies below the diagonal of a rule that hides nothing there."""
        assert self.rule is not None
        return self.rule.only_causal and columns.stop - 1 <= rows.start + self.S - self.T

    def _ask(self, i: Tensor, j: Tensor) -> Tensor:
        """Call the mask function and check what it says."""
        assert self.function is not None
        seen = self.function(i, j)
        if not isinstance(seen, Tensor) or seen.dtype != torch.bool:
            came = seen.dtype if isinstance(seen, Tensor) else type(seen).__name__
            raise TypeError(f"the mask function must return a boolean tensor, True = may attend, got {came}")
        size = (len(i), len(j))
        if not broadcasts(seen.shape[-2:], size):
            raise ValueError(
                f"the mask function must return what broadcasts to (n, m) = {size} for queries "
                f"{shape(i)} and keys {shape(j)}, got {shape(seen)}"
            )
        return seen

    def scores(
        self, q: Tensor, k: Tensor, bias: Tensor | None, seen: Tensor | None, softcap: Tensor | None
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """Return the scores of one tile ``(..., n, m)``, in float32 or better, and the softcap's slopes.

        The slopes are those by the score and by the softcap itself.
        """
        scores, slope, own = q @ k.transpose(-2, -1) * self.scale, None, None
        if softcap is not None:
            share = scores / softcap
            tanh = torch.tanh(share)
            scores, slope = softcap * tanh, 1 - tanh * tanh
            own = tanh - share * slope
        if bias is not None:
            scores = scores + bias.to(scores.dtype)
        return (scores if seen is None else scores.masked_fill(~seen, -math.inf)), slope, own


def _tile(x: Tensor | None, rows: slice, columns: slice) -> Tensor | None:
    """Cut a tile out of something that broadcasts to ``(..., T, S)``, without making it larger."""
    if x is None:
        return None
    if x.ndim > 1 and x.shape[-2] > 1:
        x = x[..., rows, :]
    return x[..., columns] if x.ndim > 0 and x.shape[-1] > 1 else x


class _Tiled(torch.autograd.Function):
    """The forward pass: the output and, for the way back, two numbers for each query.

    These are its largest score and the sum of the exponentials relative to it. In one number, the logarithm
    of that sum, what tells tied scores of 1e8 from a single one would be rounded away.
    """

    @classmethod
    def run(
        cls,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        bias: Tensor | None,
        mask: Tensor | None,
        softcap: Tensor | None,
        sink: Tensor | None,
        tiles: _Tiles,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Apply it, with types: output, logarithm of the sum, largest score and sum of each query."""
        results: tuple[Tensor, Tensor, Tensor, Tensor]
        results = cls.apply(q, k, v, bias, mask, softcap, sink, tiles)  # type: ignore[no-untyped-call]
        return results

    @staticmethod
    def forward(
        q: Tensor,
        k: Tensor,
        v: Tensor,
        bias: Tensor | None,
        mask: Tensor | None,
        softcap: Tensor | None,
        sink: Tensor | None,
        tiles: _Tiles,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        out = v.new_zeros(*q.shape[:-1], v.shape[-1])  # (..., T, Dv)
        tops = widen(q).new_full(q.shape[:-1], -math.inf)  # (..., T), the largest score
        totals = torch.zeros_like(tops)  # (..., T), the sum of exponentials of scores less the largest
        with without_autocast(q.device):
            for rows in tiles.rows():
                query = widen(q[..., rows, :])
                top, total = tops[..., rows, None], totals[..., rows, None]  # (..., n, 1), so far
                mixed = widen(out[..., rows, :])
                if sink is not None:
                    top = torch.maximum(top, sink.to(top.dtype))
                    total = torch.exp(sink.to(top.dtype) - top.masked_fill(top == -math.inf, 0.0))
                for columns, seen in tiles.columns(rows, mask, q.device):
                    key, value = widen(k[..., columns, :]), widen(v[..., columns, :])
                    scores, _, _ = tiles.scores(query, key, _tile(bias, rows, columns), seen, softcap)
                    new_top = torch.maximum(top, scores.amax(-1, keepdim=True))
                    shift = new_top.masked_fill(new_top == -math.inf, 0.0)
                    e = torch.exp(scores - shift)
                    shrink = torch.exp(top - shift)  # what was summed so far was relative to the old top
                    total = total * shrink + e.sum(-1, keepdim=True)
                    mixed = mixed * shrink + mix_seen(e, value, seen)
                    top = new_top
                out[..., rows, :] = (mixed / total.masked_fill(total == 0, 1.0)).to(out.dtype)
                tops[..., rows], totals[..., rows] = top[..., 0], total[..., 0]
        return out, tops + totals.log(), tops, totals

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        *tensors, ctx.tiles = inputs
        out, _, tops, totals = output
        ctx.mark_non_differentiable(tops, totals)
        ctx.save_for_backward(*tensors, out, tops, totals)  # PyTorch says if one was changed since

    @staticmethod
    def backward(ctx: Any, grad: Tensor, grad_log: Tensor, *_: Tensor) -> tuple[Tensor | None, ...]:
        given = (grad, grad_log, *ctx.saved_tensors, ctx.tiles)
        dq, dk, dv, dbias, dsoftcap, dsink = _TiledBackward.apply(*given)  # type: ignore[no-untyped-call]
        return dq, dk, dv, dbias, None, dsoftcap, dsink, None

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *inputs: Any) -> tuple[Any, tuple[int, ...]]:
        q, k, v = (_in_front(info, in_dims[i], inputs[i]) for i in range(3))
        bias, mask, softcap, sink = (
            _maybe_in_front(info, in_dims[i], inputs[i], axes=q.ndim) for i in (3, 4, 5, 6)
        )
        return _Tiled.run(q, k, v, bias, mask, softcap, sink, inputs[7]), (0, 0, 0, 0)


class _TiledBackward(torch.autograd.Function):
    """The way back: the weights again, tile by tile, and from them the gradients."""

    @staticmethod
    def forward(
        grad: Tensor,
        grad_log: Tensor,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        bias: Tensor | None,
        mask: Tensor | None,
        softcap: Tensor | None,
        sink: Tensor | None,
        out: Tensor,
        tops: Tensor,
        totals: Tensor,
        tiles: _Tiles,
    ) -> tuple[Tensor | None, ...]:
        dq, dk, dv = (torch.zeros_like(widen(x)) for x in (q, k, v))
        dbias, dsoftcap, dsink = (
            None if x is None else torch.zeros_like(widen(x), dtype=_wider(x, dq))
            for x in (bias, softcap, sink)
        )
        with without_autocast(q.device):
            for rows in tiles.rows():
                query, g = widen(q[..., rows, :]), widen(grad[..., rows, :])
                own = (g * out[..., rows, :]).sum(-1, keepdim=True)  # (..., n, 1)
                own = own - grad_log[..., rows, None].to(own.dtype)
                top, total = tops[..., rows, None], totals[..., rows, None]
                top, total = top.masked_fill(top == -math.inf, 0.0), total.masked_fill(total == 0, 1.0)
                if sink is not None and dsink is not None:  # it brings no value
                    taken = torch.exp(sink.to(top.dtype) - top) / total
                    dsink -= (taken * own).sum_to_size(dsink.shape)
                for columns, seen in tiles.columns(rows, mask, q.device):
                    key, value = widen(k[..., columns, :]), widen(v[..., columns, :])
                    scores, slope, by_cap = tiles.scores(
                        query, key, _tile(bias, rows, columns), seen, softcap
                    )
                    weights = torch.exp(scores - top) / total  # (..., n, m)
                    dscores = weights * (g @ value.transpose(-2, -1) - own)
                    source = query
                    if seen is not None:  # what is hidden has no effect on the way back either
                        dscores, key = dscores.masked_fill(~seen, 0.0), finite_rows(key)
                        slope = None if slope is None else slope.masked_fill(~seen, 0.0)
                        by_cap = None if by_cap is None else by_cap.masked_fill(~seen, 0.0)
                        source = finite_where_seen(query, seen)
                    if (part := _tile(dbias, rows, columns)) is not None:
                        part += dscores.sum_to_size(part.shape)
                    if dsoftcap is not None and by_cap is not None:
                        dsoftcap += (dscores * by_cap).sum_to_size(dsoftcap.shape)
                    dscores = dscores * (tiles.scale if slope is None else slope * tiles.scale)
                    dq[..., rows, :] += dscores @ key
                    dk[..., columns, :] += dscores.transpose(-2, -1) @ source
                    dv[..., columns, :] += weights.transpose(-2, -1) @ g
        given = (q, k, v, bias, softcap, sink)
        found = (dq, dk, dv, dbias, dsoftcap, dsink)
        return tuple(
            None if d is None or x is None else d.to(x.dtype) for d, x in zip(found, given, strict=True)
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass  # there is nothing to come back for

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> None:
        raise RuntimeError(
            "tiled_attention has first derivatives only; for second ones use attention_weights(...) @ v"
        )

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[int | None, ...], *inputs: Any
    ) -> tuple[tuple[Tensor | None, ...], tuple[int | None, ...]]:
        tensors = [_maybe_in_front(info, in_dims[i], inputs[i]) for i in range(12)]
        given = [tensors[i] for i in (2, 3, 4, 5, 7, 8)]
        axes, small = inputs[2].ndim + (in_dims[2] is None), range(5, 9)
        # bias, mask, softcap and sink may have fewer axes than the queries
        tensors[5:9] = (_maybe_in_front(info, in_dims[i], inputs[i], axes=axes) for i in small)
        found = _TiledBackward.apply(*tensors, inputs[12])  # type: ignore[no-untyped-call]
        shaped = tuple(
            None if d is None or x is None else d.reshape(x.shape) for d, x in zip(found, given, strict=True)
        )
        return shaped, tuple(None if d is None else 0 for d in found)


def _wider(bias: Tensor, x: Tensor) -> torch.dtype:
    return torch.promote_types(bias.dtype, x.dtype)


def _maybe_in_front(info: Any, dim: int | None, x: Tensor | None, *, axes: int = 0) -> Tensor | None:
    return None if x is None else _in_front(info, dim, x, axes=axes)


def _in_front(info: Any, dim: int | None, x: Tensor, *, axes: int = 0) -> Tensor:
    """Give a tensor vmap's axis in front, and behind it what it lacks to ``axes`` axes."""
    x = x.expand(info.batch_size, *x.shape) if dim is None else x.movedim(dim, 0)
    return x[(slice(None), *(None,) * (axes - x.ndim))]
