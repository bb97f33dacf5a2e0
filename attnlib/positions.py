"""Putting order into attention: sinusoidal vectors, rotary embeddings, ALiBi.

Attention alone sees a set. Chapter 8 of the book tells how it gets to know the order.
"""

from __future__ import annotations

import functools
import math
from contextlib import nullcontext

import torch
from torch import Tensor

from attnlib._check import broadcasts, require_tensor, require_whole, shape


def sinusoidal(
    T: int,
    dim: int,
    *,
    base: float = 10000.0,
    device: torch.device | str | None = None,
) -> Tensor:
    """Return one vector for each position, made of sines and cosines of falling frequency.

    Args:
        T: Number of positions.
        dim: Width, even. Sines stand in the even places, cosines in the odd ones.
        base: Above zero; the slowest frequency is about ``1 / base``.
        device: Where to put them.

    Returns:
        ``(T, dim)``, to be added to the embeddings.

    Raises:
        TypeError: If a size is not an int.
        ValueError: If the width is odd, or the base is not a finite number above zero.
    """
    require_whole("T", T, 0)
    _check_frequencies(dim, base)
    angles = torch.arange(T, device=device)[:, None] * _frequencies(dim, base, device)  # (T, dim / 2)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(-2)  # (T, dim)


def rotary(
    x: Tensor,
    positions: Tensor | None = None,
    *,
    dim: int | None = None,
    base: float = 10000.0,
    interleaved: bool = False,
) -> Tensor:
    """Turn pairs of features of queries or keys by an angle that grows with the position.

    The dot product of a turned query and a turned key depends on how far apart they are, not on where.
    Angles are computed in float32, in float64 for float64. Half precision is turned in float32 and rounded
    once, at the end: in bfloat16 itself there would be no position 257.

    Args:
        x: Queries or keys ``(..., T, D)``.
        positions: Their positions, whole numbers: ``(T,)``, or as many axes as ``(..., T)`` that broadcast
            to it; 0 to T - 1 if not given. For heads ``(B, H, T, D)``, positions ``(B, T)`` of each
            sequence are ``positions[:, None]``.
        dim: How many features to turn, even, from the first on; all D if not given.
        base: Above zero; the slowest frequency is about ``1 / base``.
        interleaved: Pair neighbours (0 with 1, 2 with 3); else the first half with the second half.

    Returns:
        The same shape and dtype, turned.

    Raises:
        TypeError: If x is not floating, or positions are not a tensor of whole numbers.
        ValueError: If the width to turn is odd or larger than D, the positions do not fit, or the base is
            not a finite number above zero.
    """
    require_tensor("x", x)
    if not x.is_floating_point():
        raise TypeError(f"x must be a floating-point tensor, got {x.dtype}; use .float()")
    if x.ndim < 2:
        raise ValueError(f"x must have at least two axes (..., T, D), got shape {shape(x)}")
    T, D = x.shape[-2:]
    dim = D if dim is None else dim
    if dim > D:
        raise ValueError(f"dim must be at most the width D = {D}, got {dim}")
    if positions is None:
        positions = torch.arange(T, device=x.device)
    else:
        _check_positions(positions, x)
    dtype = torch.float64 if x.dtype == torch.float64 else torch.float32
    angles = positions[..., None] * _signed_frequencies(dim, base, x, dtype, interleaved)  # (..., T, dim)
    whole = x if dim == D else x[..., :dim]
    turned = whole.to(dtype)
    # the pair (a, b) becomes (a cos - b sin, b cos + a sin): the other of each pair times a signed sine
    swapped = turned.roll(dim // 2, -1) if not interleaved else _neighbours_swapped(turned)
    turned = (turned * angles.cos() + swapped * angles.sin()).to(x.dtype)  # (..., T, dim)
    return turned if dim == D else torch.cat([turned, x[..., dim:]], -1)


def _neighbours_swapped(x: Tensor) -> Tensor:
    pairs: Tensor = x.unflatten(-1, (-1, 2))
    return pairs.flip(-1).flatten(-2)


def _signed_frequencies(dim: int, base: float, x: Tensor, dtype: torch.dtype, interleaved: bool) -> Tensor:
    """Return a frequency for each feature ``(dim,)``, negative for the first of each pair.

    They are kept, since a decoding step takes as long to find them as to use them; not where tensors belong
    to somebody: to a compiled program, a transform, a fake or a captured run.
    """
    _check_frequencies(dim, base)
    key = (dim, base, x.device, dtype, interleaved)
    keep = _is_ordinary(x) and isinstance(base, int | float)
    if keep and key in _KEPT:
        return _KEPT[key]
    with torch.inference_mode(False) if keep else nullcontext():
        f = _frequencies(dim, base, x.device, dtype)  # (dim / 2,)
        signed = torch.stack([-f, f], -1).flatten() if interleaved else torch.cat([-f, f])
    if keep:
        if len(_KEPT) >= 64:  # nobody has so many kinds of rotary at once
            _KEPT.clear()
        _KEPT[key] = signed
    return signed


_KEPT: dict[tuple[int, float, torch.device, torch.dtype, bool], Tensor] = {}


def _is_ordinary(x: Tensor) -> bool:
    """Tell that a tensor made now is as good later: no tracing, no transform, no captured graph."""
    if torch.compiler.is_compiling() or type(x) not in (Tensor, torch.nn.Parameter):
        return False
    if torch._C._functorch.peek_interpreter_stack() is not None:
        return False
    return not (x.is_cuda and torch.cuda.is_current_stream_capturing())


def _check_positions(positions: Tensor, x: Tensor) -> None:
    require_tensor("positions", positions)
    if positions.is_floating_point() or positions.is_complex() or positions.dtype == torch.bool:
        raise TypeError(f"positions must be whole numbers, got {positions.dtype}")
    if positions.device != x.device:
        raise ValueError(f"positions must be on the device of x, {x.device}, got {positions.device}")
    if positions.ndim == 1 and positions.shape[0] == x.shape[-2]:
        return
    if not broadcasts(positions.shape, x.shape[:-1]):
        raise ValueError(f"positions must broadcast to (..., T) = {shape(x)[:-1]}, got {shape(positions)}")
    if 1 < positions.ndim < x.ndim - 1 and any(n != 1 for n in positions.shape[:-1]):
        raise ValueError(
            f"positions must be (T,) or have one axis for each of (..., T) = {shape(x)[:-1]}, "
            f"got {shape(positions)}; for heads (B, H, T, D), positions (B, T) are positions[:, None]"
        )


def check_turned_width(turn: object, head_dim: int) -> None:
    """Refuse heads whose width `rotary` cannot turn, before the first of them is made.

    Args:
        turn: `rotary`, a `functools.partial` of it, or any other function, of which nothing is known.
        head_dim: Width D of a head.

    Raises:
        ValueError: If features are left over, or fewer than are to be turned.
    """
    options: dict[str, object] = {}
    while isinstance(turn, functools.partial):
        options, turn = {**turn.keywords, **options}, turn.func
    if turn is not rotary:
        return
    dim = options.get("dim")
    if dim is None and head_dim % 2:
        raise ValueError(
            f"heads must be of even width for rotary, which turns features in pairs, got {head_dim}; "
            f"functools.partial(rotary, dim={head_dim - 1}) turns all but the last"
            if head_dim > 1
            else "heads must be of even width for rotary, which turns features in pairs, got 1"
        )
    if isinstance(dim, int) and dim > head_dim:
        raise ValueError(f"dim of rotary must be at most the width D = {head_dim} of a head, got {dim}")


def check_own_positions(positions: object, B: int, T: int, device: torch.device) -> None:
    """Refuse what is not the positions of ``B`` sequences of ``T`` tokens, together or each for itself."""
    require_tensor("positions", positions)
    assert isinstance(positions, Tensor)
    if positions.is_floating_point() or positions.is_complex() or positions.dtype == torch.bool:
        raise TypeError(f"positions must be whole numbers, got {positions.dtype}")
    # axis by axis: to compare (B, T) with (T,) Python compares B with T, and what is exported is tied to it
    each = positions.ndim == 1 or (positions.ndim == 2 and positions.shape[0] in (1, B))
    if not each or positions.shape[-1] != T:
        raise ValueError(f"positions must be (T,) or (B, T) = ({B}, {T}), got {shape(positions)}")
    if positions.device != device:
        raise ValueError(f"positions must be on the device of x, {device}, got {positions.device}")


def rotate(x: Tensor, cos: Tensor, sin: Tensor, *, interleaved: bool = False) -> Tensor:
    """Turn pairs of features by angles whose cosines and sines are given.

    Args:
        x: ``(..., D)``.
        cos: ``(..., n)``, broadcast against x; the first 2n features are turned.
        sin: Likewise.
        interleaved: As in `rotary`.

    Returns:
        The same shape and dtype as x.
    """
    n = cos.shape[-1]
    turned, rest = x[..., : 2 * n].to(torch.promote_types(x.dtype, cos.dtype)), x[..., 2 * n :]
    pairs = turned.unflatten(-1, (n, 2) if interleaved else (2, n))
    a, b = pairs.unbind(-1 if interleaved else -2)  # (..., n) each
    both = torch.stack([a * cos - b * sin, a * sin + b * cos], -1 if interleaved else -2)
    return torch.cat([both.flatten(-2).to(x.dtype), rest.expand(*both.shape[:-2], -1)], -1)


def alibi_bias(
    num_heads: int,
    T: int,
    S: int | None = None,
    *,
    device: torch.device | str | None = None,
) -> Tensor:
    """Return a bias that falls with distance, with another slope in each head.

    For a number of heads that is a power of two the slopes are ``2 ** (-8 h / H)`` for h from 1 to H; for
    others they are filled up with every second slope of the next power of two, as the paper does.

    Args:
        num_heads: Heads H.
        T: Number of queries.
        S: Number of keys, T if not given; the last query is aligned with the last key.
        device: Where to put it.

    Returns:
        Bias ``(H, T, S)``: minus slope times distance, for keys behind and ahead alike.

    Raises:
        TypeError: If a size is not an int.
        ValueError: If a size is too small.
    """
    require_whole("num_heads", num_heads, 1)
    require_whole("T", T, 0)
    S = T if S is None else S
    require_whole("S", S, 0)
    i = torch.arange(T, device=device) + (S - T)
    return alibi_between(num_heads, i, torch.arange(S, device=device))


def alibi_between(num_heads: int, queries: Tensor, keys: Tensor) -> Tensor:
    """Return `alibi_bias` for positions that are given.

    Args:
        num_heads: Heads H.
        queries: Their positions, whole numbers ``(T,)``, or ``(B, T)`` where each sequence has its own.
        keys: Likewise, ``(S,)`` or ``(B, S)``.

    Returns:
        Bias ``(H, T, S)``, or ``(B, H, T, S)``.
    """
    distance = (queries[..., :, None] - keys[..., None, :]).abs()  # (T, S) or (B, T, S)
    slopes = torch.tensor(_slopes(num_heads), device=queries.device)
    return -slopes[:, None, None] * distance[..., None, :, :]


def _slopes(num_heads: int) -> list[float]:
    whole = 2 ** math.floor(math.log2(num_heads))
    slopes = [2 ** (-8 * h / whole) for h in range(1, whole + 1)]
    extra = [2 ** (-8 * h / (2 * whole)) for h in range(1, 2 * whole + 1, 2)]
    return slopes + extra[: num_heads - whole]


def _check_frequencies(dim: int, base: float) -> None:
    require_whole("dim", dim, 2)
    if dim % 2:
        raise ValueError(f"dim must be even, since features are turned in pairs, got {dim}")
    if not 0 < base < math.inf:  # NaN is neither
        raise ValueError(f"base must be a finite number above zero, got {base}")


def _frequencies(
    dim: int, base: float, device: torch.device | str | None, dtype: torch.dtype = torch.float32
) -> Tensor:
    return base ** (-torch.arange(0, dim, 2, device=device, dtype=dtype) / dim)  # (dim / 2,)
