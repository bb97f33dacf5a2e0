"""Exact attention that never holds a ``(T, S)`` matrix: the online softmax, tile by tile.

Chapter 7 of the book derives it in three lines.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from attnlib._check import (
    broadcasts,
    check_bias,
    check_causal,
    check_mask,
    check_numbers,
    check_values,
    require_whole,
    scores_shape,
    shape,
)
from attnlib._heads import full_heads, widen
from attnlib._modes import truth, without_autocast
from attnlib.backends.dense import finite_rows, mix_seen

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
    softcap: float | None = None,
    block_size: int = 512,
) -> Tensor:
    """Compute `attention` in tiles, with memory that grows with T + S and not with T * S.

    Forward and backward go through the tiles one at a time; backward computes the weights again
    instead of having kept them, so it has first derivatives only: differentiate
    ``attention_weights(...) @ v`` twice. Tiles that a mask hides entirely are skipped.

    Args:
        q: Queries ``(..., H, T, D)``.
        k: Keys ``(..., Hkv, S, D)``, where Hkv divides H. Leading axes broadcast.
        v: Values ``(..., Hkv, S, Dv)``.
        mask: Boolean, True = may attend, broadcast to ``(..., H, T, S)``; or a function of the
            positions of queries ``(n, 1)`` and of keys ``(m,)`` that returns a boolean ``(n, m)``, which
            costs nothing to hold. Backward asks the function again, and it must answer the same.
        causal: Also apply `causal_mask` ``(T, S)``.
        bias: Numbers added to the scores, broadcast to ``(..., H, T, S)``.
        scale: Factor on the scores, ``1 / sqrt(D)`` if not given.
        softcap: Bound on the size of the scaled scores.
        block_size: Rows and columns of a tile.

    Returns:
        Output ``(..., H, T, Dv)``. A query that may attend to nothing gets zeros.

    Raises:
        TypeError: If a dtype is wrong, or the mask function returns no boolean tensor.
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
    check_causal(causal)
    check_numbers(scale, softcap, target, q.device)
    require_whole("block_size", block_size, 1)
    q, k, v = full_heads(q, k, v)
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    given, function = (mask, None) if isinstance(mask, Tensor) else (None, mask)
    tiles = _Tiles(*target[-2:], block_size, function, causal, scale, softcap)
    return _Tiled.apply(q, k, v, bias, given, tiles)[0]


class _Tiles(NamedTuple):
    """Which keys each block of queries has to look at, and what becomes of their scores."""

    T: int
    S: int
    size: int
    function: MaskFunction | None
    causal: bool
    scale: float
    softcap: float | None

    def rows(self) -> Iterator[slice]:
        """Go through the blocks of queries."""
        return (slice(i, min(i + self.size, self.T)) for i in range(0, self.T, self.size))

    def columns(
        self, rows: slice, mask: Tensor | None, device: torch.device
    ) -> Iterator[tuple[slice, Tensor | None]]:
        """Go through the blocks of keys that some query of ``rows`` sees, with a mask where one is needed."""
        offset = self.S - self.T
        end = min(self.S, rows.stop + offset) if self.causal else self.S
        i = torch.arange(rows.start, rows.stop, device=device)[:, None]  # (n, 1)
        for start in range(0, end, self.size):
            columns = slice(start, min(start + self.size, end))
            j = torch.arange(columns.start, columns.stop, device=device)  # (m,)
            seen = _tile(mask, rows, columns) if self.function is None else self._ask(i, j)
            if seen is not None and truth(seen.any()) is False:
                continue
            if self.causal and columns.stop - 1 > rows.start + offset:  # the diagonal crosses this tile
                seen = j <= i + offset if seen is None else seen & (j <= i + offset)
            yield columns, seen

    def _ask(self, i: Tensor, j: Tensor) -> Tensor:
        """Call the mask function and check what it says."""
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
        self, q: Tensor, k: Tensor, bias: Tensor | None, seen: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        """Return the scores of one tile ``(..., n, m)``, in float32 or better, and the softcap's slope."""
        scores, slope = q @ k.transpose(-2, -1) * self.scale, None
        if self.softcap is not None:
            tanh = torch.tanh(scores / self.softcap)
            scores, slope = self.softcap * tanh, 1 - tanh * tanh
        if bias is not None:
            scores = scores + bias.to(scores.dtype)
        return (scores if seen is None else scores.masked_fill(~seen, -math.inf)), slope


def _tile(x: Tensor | None, rows: slice, columns: slice) -> Tensor | None:
    """Cut a tile out of something that broadcasts to ``(..., T, S)``, without making it larger."""
    if x is None:
        return None
    if x.ndim > 1 and x.shape[-2] > 1:
        x = x[..., rows, :]
    return x[..., columns] if x.ndim > 0 and x.shape[-1] > 1 else x


class _Tiled(torch.autograd.Function):
    """The forward pass: the output and, for the way back, one number for each query."""

    @staticmethod
    def forward(q, k, v, bias, mask, tiles):
        out = q.new_zeros(*q.shape[:-1], v.shape[-1])  # (..., T, Dv)
        log_sum = widen(q).new_full(q.shape[:-1], -math.inf)  # (..., T), of exponentials of scores
        with without_autocast(q.device):
            for rows in tiles.rows():
                query = widen(q[..., rows, :])
                top = log_sum[..., rows, None]  # (..., n, 1), the largest score so far
                total, mixed = torch.zeros_like(top), widen(out[..., rows, :])
                for columns, seen in tiles.columns(rows, mask, q.device):
                    key, value = widen(k[..., columns, :]), widen(v[..., columns, :])
                    scores, _ = tiles.scores(query, key, _tile(bias, rows, columns), seen)
                    new_top = torch.maximum(top, scores.amax(-1, keepdim=True))
                    shift = new_top.masked_fill(new_top == -math.inf, 0.0)
                    e = torch.exp(scores - shift)
                    shrink = torch.exp(top - shift)  # what was summed so far was relative to the old top
                    total = total * shrink + e.sum(-1, keepdim=True)
                    mixed = mixed * shrink + mix_seen(e, value, seen)
                    top = new_top
                out[..., rows, :] = (mixed / total.masked_fill(total == 0, 1.0)).to(out.dtype)
                log_sum[..., rows] = (top + total.log())[..., 0]
        return out, log_sum

    @staticmethod
    def setup_context(ctx, inputs, output):
        q, k, v, bias, mask, ctx.tiles = inputs
        out, log_sum = output
        ctx.mark_non_differentiable(log_sum)
        ctx.save_for_backward(q, k, v, bias, mask, out, log_sum)  # PyTorch says if one was changed since

    @staticmethod
    def backward(ctx, grad, _):
        return *_TiledBackward.apply(grad, *ctx.saved_tensors, ctx.tiles), None, None

    @staticmethod
    def vmap(info, in_dims, *inputs):
        q, k, v = (_in_front(info, dim, x) for dim, x in zip(in_dims[:3], inputs[:3], strict=True))
        bias, mask = (_in_front(info, in_dims[i], inputs[i], axes=q.ndim) for i in (3, 4))
        return _Tiled.apply(q, k, v, bias, mask, inputs[5]), (0, 0)


class _TiledBackward(torch.autograd.Function):
    """The way back: the weights again, tile by tile, and from them the gradients."""

    @staticmethod
    def forward(grad, q, k, v, bias, mask, out, log_sum, tiles):
        dq, dk, dv = (torch.zeros_like(widen(x)) for x in (q, k, v))
        dbias = None if bias is None else torch.zeros_like(widen(bias), dtype=_wider(bias, dq))
        with without_autocast(q.device):
            for rows in tiles.rows():
                query, g = widen(q[..., rows, :]), widen(grad[..., rows, :])
                own = (g * out[..., rows, :]).sum(-1, keepdim=True)  # (..., n, 1)
                norm = log_sum[..., rows, None]
                norm = norm.masked_fill(norm == -math.inf, 0.0)
                for columns, seen in tiles.columns(rows, mask, q.device):
                    key, value = widen(k[..., columns, :]), widen(v[..., columns, :])
                    scores, slope = tiles.scores(query, key, _tile(bias, rows, columns), seen)
                    weights = torch.exp(scores - norm)  # (..., n, m)
                    dscores = weights * (g @ value.transpose(-2, -1) - own)
                    if seen is not None:  # what is hidden cannot be felt on the way back either
                        dscores, key = dscores.masked_fill(~seen, 0.0), finite_rows(key)
                        slope = None if slope is None else slope.masked_fill(~seen, 0.0)
                    if dbias is not None:
                        part = _tile(dbias, rows, columns)
                        part += dscores.sum_to_size(part.shape)
                    dscores = dscores * (tiles.scale if slope is None else slope * tiles.scale)
                    dq[..., rows, :] += dscores @ key
                    dk[..., columns, :] += dscores.transpose(-2, -1) @ query
                    dv[..., columns, :] += weights.transpose(-2, -1) @ g
        dbias = None if bias is None else dbias.to(bias.dtype)
        return dq.to(q.dtype), dk.to(k.dtype), dv.to(v.dtype), dbias

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass  # there is nothing to come back for

    @staticmethod
    def backward(ctx, *grads):
        raise RuntimeError(
            "tiled_attention has first derivatives only; for second ones use attention_weights(...) @ v"
        )

    @staticmethod
    def vmap(info, in_dims, *inputs):
        tensors = [_in_front(info, in_dims[i], inputs[i]) for i in range(8)]
        axes, bias, tiles = tensors[1].ndim, tensors[4], inputs[8]
        tensors[4:6] = (_in_front(info, in_dims[i], inputs[i], axes=axes) for i in (4, 5))
        *gradients, dbias = _TiledBackward.apply(*tensors, tiles)
        if bias is None:
            return (*gradients, None), (0, 0, 0, None)
        return (*gradients, dbias.reshape(bias.shape)), (0, 0, 0, 0)


def _wider(bias: Tensor, x: Tensor) -> torch.dtype:
    return torch.promote_types(bias.dtype, x.dtype)


def _in_front(info, dim: int | None, x: Tensor | None, *, axes: int = 0) -> Tensor | None:
    """Give a tensor vmap's axis in front, and behind it what it lacks to ``axes`` axes."""
    if x is None:
        return None
    x = x.expand(info.batch_size, *x.shape) if dim is None else x.movedim(dim, 0)
    return x[(slice(None), *(None,) * (axes - x.ndim))]
