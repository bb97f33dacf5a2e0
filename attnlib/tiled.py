"""Exact attention that never holds a ``(T, S)`` matrix: the online softmax, tile by tile.

Chapter 7 of the book derives it in three lines.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from attnlib._heads import full_heads, widen
from attnlib._validate import check_bias, check_mask, check_values, require_whole, scores_shape

MaskFunction = Callable[[Tensor, Tensor], Tensor]


def tiled_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | MaskFunction | None = None,
    *,
    causal: bool = False,
    bias: Tensor | None = None,
    scale: float | None = None,
    block_size: int = 512,
) -> Tensor:
    """Compute `attention` in tiles, with memory that grows with T + S and not with T * S.

    Forward and backward go through the tiles one at a time; backward computes the weights again
    instead of having kept them. Tiles that a mask hides entirely are skipped.

    Args:
        q: Queries ``(..., H, T, D)``.
        k: Keys ``(..., Hkv, S, D)``, where Hkv divides H. Leading axes broadcast.
        v: Values ``(..., Hkv, S, Dv)``.
        mask: Boolean, True = may attend, broadcast to ``(..., H, T, S)``; or a function of the
            positions of queries ``(n, 1)`` and of keys ``(m,)`` that returns a boolean ``(n, m)``, which
            costs nothing to hold.
        causal: Also apply `causal_mask` ``(T, S)``.
        bias: Numbers added to the scores, broadcast to ``(..., H, T, S)``.
        scale: Factor on the scores, ``1 / sqrt(D)`` if not given.
        block_size: Rows and columns of a tile.

    Returns:
        Output ``(..., H, T, Dv)``. A query that may attend to nothing gets zeros.

    Raises:
        TypeError: If a dtype is wrong.
        ValueError: If shapes, devices or numbers do not fit.
    """
    target = scores_shape(q, k)
    check_values(q, k, v)
    if isinstance(mask, Tensor):
        check_mask(mask, target, q.device)
    elif mask is not None and not callable(mask):
        raise TypeError(f"mask must be a tensor or a function of positions, got {type(mask).__name__}")
    if bias is not None:
        check_bias(bias, target, q.device)
    if scale is not None and not math.isfinite(scale):
        raise ValueError(f"scale must be a finite number, got {scale}")
    require_whole("block_size", block_size, 1)
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    q, k, v = full_heads(q, k, v)
    tiles = _Tiles(target[-2], target[-1], block_size, mask, causal, q.device)
    return _Tiled.apply(q, k, v, bias, tiles, scale)


class _Tiles(NamedTuple):
    """Which keys each block of queries has to look at."""

    T: int
    S: int
    size: int
    mask: Tensor | MaskFunction | None
    causal: bool
    device: torch.device

    def rows(self) -> Iterator[slice]:
        """Go through the blocks of queries."""
        return (slice(i, min(i + self.size, self.T)) for i in range(0, self.T, self.size))

    def columns(self, rows: slice) -> Iterator[tuple[slice, Tensor | None]]:
        """Go through the blocks of keys that some query of ``rows`` sees, with a mask where one is needed."""
        offset = self.S - self.T
        end = min(self.S, rows.stop + offset) if self.causal else self.S
        for j in range(0, end, self.size):
            columns = slice(j, min(j + self.size, end))
            seen = self._mask(rows, columns)
            if self.causal and columns.stop - 1 > rows.start + offset:  # the diagonal crosses this tile
                i = torch.arange(rows.start, rows.stop, device=self.device)[:, None] + offset
                below = torch.arange(columns.start, columns.stop, device=self.device) <= i
                seen = below if seen is None else seen & below
            if seen is None or seen.any():
                yield columns, seen

    def _mask(self, rows: slice, columns: slice) -> Tensor | None:
        if self.mask is None or isinstance(self.mask, Tensor):
            return _tile(self.mask, rows, columns)
        i = torch.arange(rows.start, rows.stop, device=self.device)[:, None]
        return self.mask(i, torch.arange(columns.start, columns.stop, device=self.device))


def _tile(x: Tensor | None, rows: slice, columns: slice) -> Tensor | None:
    """Cut a tile out of something that broadcasts to ``(..., T, S)``, without making it larger."""
    if x is None:
        return None
    if x.ndim > 1 and x.shape[-2] > 1:
        x = x[..., rows, :]
    return x[..., columns] if x.shape[-1] > 1 else x


def _scores(q: Tensor, k: Tensor, bias: Tensor | None, seen: Tensor | None, scale: float) -> Tensor:
    """Return the scores of one tile in float32 or better, ``(..., n, m)``."""
    scores = q @ k.transpose(-2, -1) * scale
    if bias is not None:
        scores = scores + bias.to(scores.dtype)
    return scores if seen is None else scores.masked_fill(~seen, -math.inf)


class _Tiled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, bias, tiles, scale):
        out = q.new_zeros(*q.shape[:-1], v.shape[-1])  # (..., T, Dv)
        log_sum = widen(q).new_full(q.shape[:-1], -math.inf)  # (..., T), of exponentials of scores
        for rows in tiles.rows():
            query = widen(q[..., rows, :])
            top = log_sum[..., rows, None]  # (..., n, 1), the largest score so far
            total, mixed = torch.zeros_like(top), widen(out[..., rows, :])
            for columns, seen in tiles.columns(rows):
                key, value = widen(k[..., columns, :]), widen(v[..., columns, :])
                scores = _scores(query, key, _tile(bias, rows, columns), seen, scale)
                new_top = torch.maximum(top, scores.amax(-1, keepdim=True))
                shift = new_top.masked_fill(new_top == -math.inf, 0.0)
                e = torch.exp(scores - shift)
                shrink = torch.exp(top - shift)  # what was summed so far was relative to the old top
                total = total * shrink + e.sum(-1, keepdim=True)
                mixed = mixed * shrink + e @ value
                top = new_top
            out[..., rows, :] = (mixed / total.masked_fill(total == 0, 1.0)).to(out.dtype)
            log_sum[..., rows] = (top + total.log())[..., 0]
        ctx.save_for_backward(q, k, v, bias, out, log_sum)
        ctx.tiles, ctx.scale = tiles, scale
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        q, k, v, bias, out, log_sum = ctx.saved_tensors
        dq, dk, dv = (torch.zeros_like(widen(x)) for x in (q, k, v))
        dbias = torch.zeros_like(bias) if bias is not None and ctx.needs_input_grad[3] else None
        for rows in ctx.tiles.rows():
            query, g = widen(q[..., rows, :]), widen(grad[..., rows, :])
            own = (g * out[..., rows, :]).sum(-1, keepdim=True)  # (..., n, 1)
            norm = log_sum[..., rows, None]
            norm = norm.masked_fill(norm == -math.inf, 0.0)
            for columns, seen in ctx.tiles.columns(rows):
                key, value = widen(k[..., columns, :]), widen(v[..., columns, :])
                scores = _scores(query, key, _tile(bias, rows, columns), seen, ctx.scale)
                weights = torch.exp(scores - norm)  # (..., n, m)
                dscores = weights * (g @ value.transpose(-2, -1) - own)
                dq[..., rows, :] += dscores @ key * ctx.scale
                dk[..., columns, :] += dscores.transpose(-2, -1) @ query * ctx.scale
                dv[..., columns, :] += weights.transpose(-2, -1) @ g
                if dbias is not None:
                    part = _tile(dbias, rows, columns)
                    part += dscores.sum_to_size(part.shape).to(part.dtype)
        return dq.to(q.dtype), dk.to(k.dtype), dv.to(v.dtype), dbias, None, None
