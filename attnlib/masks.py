"""Boolean masks. True in row i, column j means: query i may attend to key j.

Masks combine with ``&``. Key j is visible to query i of a causal mask when ``j <= i + offset``; the
offset defaults to ``S - T``, which lines up the last query with the last key.

Chapter 6 of the book explains them.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence

import torch
from torch import Tensor

from attnlib._check import require_tensor, require_whole, shape, whole_numbers
from attnlib._modes import truth


def _sizes(T: int, S: int | None, offset: int | None) -> tuple[int, int]:
    """Check two lengths and an offset; return the number of keys and by how much queries come later."""
    require_whole("T", T, 0)
    S = T if S is None else S
    require_whole("S", S, 0)
    offset = S - T if offset is None else offset
    if isinstance(offset, bool) or not isinstance(offset, (int, torch.SymInt, numbers.Integral)):
        raise TypeError(f"offset must be an int, got {type(offset).__name__} ({offset!r})")
    return S, offset


def _up_to(T: int, S: int, last: int, device: torch.device | str | None) -> Tensor:
    """Return for T queries and S keys whether ``j <= i + last``."""
    if any(isinstance(n, torch.SymInt) for n in (T, S, last)):
        return torch.arange(S, device=device) <= torch.arange(T, device=device)[:, None] + last
    return torch.ones(T, S, dtype=torch.bool, device=device).tril_(last)


def both(mask: Tensor | None, other: Tensor) -> Tensor:
    """Combine a mask that may be missing with one that is there."""
    return other if mask is None else mask & other


def as_numbers(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """Return a mask as numbers to add to scores: zero, or minus infinity where it hides."""
    return torch.zeros_like(mask, dtype=dtype).masked_fill_(~mask, -math.inf)


def causal_mask(
    T: int,
    S: int | None = None,
    *,
    offset: int | None = None,
    device: torch.device | str | None = None,
) -> Tensor:
    """Let each query see the keys up to its own position.

    For ``T = 3`` and ``S = 5``, where two keys came earlier (from a cache, say)::

        1 1 1 . .
        1 1 1 1 .
        1 1 1 1 1

    Args:
        T: Number of queries.
        S: Number of keys, ``T`` if not given.
        offset: Key j is visible to query i when ``j <= i + offset``; ``S - T`` if not given, so
            that the last query sees every key. ``offset=0`` aligns the first query with the first key.
        device: Where to put the mask.

    Returns:
        Boolean mask ``(T, S)``.

    Raises:
        TypeError: If a size or the offset is not an int.
        ValueError: If a size is negative.
    """
    S, offset = _sizes(T, S, offset)
    return _up_to(T, S, offset, device)


def sliding_window_mask(
    T: int,
    S: int | None = None,
    *,
    window: int,
    ahead: int = 0,
    offset: int | None = None,
    device: torch.device | str | None = None,
) -> Tensor:
    """Let each query see the last ``window`` keys up to its own position, itself included, and some ahead.

    For ``T = S = 5`` and ``window = 3``::

        1 . . . .
        1 1 . . .
        1 1 1 . .
        . 1 1 1 .
        . . 1 1 1

    Args:
        T: Number of queries.
        S: Number of keys, ``T`` if not given.
        window: How many keys a query sees at most, up to its own position.
        ahead: How many it sees beyond its own position.
        offset: As in `causal_mask`.
        device: Where to put the mask.

    Returns:
        Boolean mask ``(T, S)``.

    Raises:
        TypeError: If a number is not an int.
        ValueError: If a size or ``ahead`` is negative, or the window is below 1.
    """
    require_whole("window", window, 1)
    require_whole("ahead", ahead, 0)
    S, offset = _sizes(T, S, offset)
    return _up_to(T, S, offset + ahead, device) & ~_up_to(T, S, offset - window, device)


def prefix_mask(
    T: int,
    S: int | None = None,
    *,
    prefix: int,
    offset: int | None = None,
    device: torch.device | str | None = None,
) -> Tensor:
    """Let every query see the first ``prefix`` keys, and the rest causally.

    For ``T = S = 5`` and ``prefix = 3``::

        1 1 1 . .
        1 1 1 . .
        1 1 1 . .
        1 1 1 1 .
        1 1 1 1 1

    Args:
        T: Number of queries.
        S: Number of keys, ``T`` if not given.
        prefix: How many keys at the start everyone sees.
        offset: As in `causal_mask`.
        device: Where to put the mask.

    Returns:
        Boolean mask ``(T, S)``.

    Raises:
        TypeError: If a size, the prefix or the offset is not an int.
        ValueError: If a size or the prefix is negative, or the prefix is longer than ``S``.
    """
    require_whole("prefix", prefix, 0)
    S, offset = _sizes(T, S, offset)
    if prefix > S:
        raise ValueError(f"prefix must be at most the number of keys S = {S}, got {prefix}")
    return _up_to(T, S, offset, device) | (torch.arange(S, device=device) < prefix)


def padding_mask(lengths: Tensor | Sequence[int], S: int) -> Tensor:
    """Hide the padding behind sequences of different lengths from every query.

    For ``lengths = (2, 3)`` and ``S = 3``, the rows of the batch are ``1 1 .`` and ``1 1 1``.

    Args:
        lengths: How many keys of each sequence are real, ``(B,)``, as whole numbers.
        S: Number of keys after padding.

    Returns:
        Boolean mask ``(B, 1, 1, S)``, the same for every head and query.

    Raises:
        TypeError: If the lengths are not whole numbers.
        ValueError: If the lengths are not one axis of numbers from 0 to ``S``.
    """
    require_whole("S", S, 0)
    lengths = whole_numbers("lengths", lengths, (1,))
    if lengths.numel() and truth((lengths < 0).any() | (lengths > S).any()):
        raise ValueError(f"lengths must lie between 0 and S = {S}, got {lengths.tolist()}")
    mask = torch.arange(S, device=lengths.device) < lengths[:, None]  # (B, S)
    return mask[:, None, None, :]  # (B, 1, 1, S)


def document_mask(documents: Tensor) -> Tensor:
    """Let tokens packed into one row see only their own document.

    For ``documents = (0, 0, 1, 1, 1)``::

        1 1 . . .
        1 1 . . .
        . . 1 1 1
        . . 1 1 1
        . . 1 1 1

    For a language model combine it: ``document_mask(documents) & causal_mask(T)``.

    Args:
        documents: The number of the document that each token belongs to, ``(T,)`` or ``(B, T)``.

    Returns:
        Boolean mask ``(T, T)`` or ``(B, 1, T, T)``.

    Raises:
        TypeError: If the numbers are not whole.
        ValueError: If there are not one or two axes.
    """
    require_tensor("documents", documents)
    if documents.is_floating_point() or documents.is_complex():
        raise TypeError(f"documents must be whole numbers, got {documents.dtype}")
    if documents.ndim not in (1, 2):
        raise ValueError(f"documents must be (T,) or (B, T), got shape {shape(documents)}")
    mask = documents[..., :, None] == documents[..., None, :]  # (T, T) or (B, T, T)
    return mask if documents.ndim == 1 else mask[:, None]  # (B, 1, T, T)


def to_torch_mha(mask: Tensor, num_heads: int | None = None) -> Tensor:
    """Convert a mask to what `torch.nn.MultiheadAttention` expects, where True means *ignore*.

    Args:
        mask: Boolean, True = may attend: ``(T, S)``, ``(B, 1, 1, S)``, ``(B, 1, T, S)`` or ``(B, H, T, S)``.
        num_heads: Heads H of that module, needed for ``(B, 1, T, S)``: it takes a copy for each head.

    Returns:
        The opposite mask in the shape that module takes: ``(T, S)`` or ``(B * H, T, S)`` for its
        ``attn_mask``, and ``(B, S)`` for its ``key_padding_mask`` when the mask is ``(B, 1, 1, S)``.

    Raises:
        TypeError: If the mask is not boolean, or the number of heads not an int.
        ValueError: If the mask has neither two nor four axes, or the number of heads is missing or another.
    """
    require_tensor("mask", mask)
    if mask.dtype != torch.bool:
        raise TypeError(f"mask must be boolean, True = may attend, got {mask.dtype}")
    if mask.ndim == 2:
        return ~mask
    if mask.ndim != 4:
        raise ValueError(f"mask must have two axes (T, S) or four (B, H, T, S), got {shape(mask)}")
    if mask.shape[1:3] == (1, 1):
        return ~mask[:, 0, 0]  # (B, S)
    H = mask.shape[1] if num_heads is None and mask.shape[1] > 1 else num_heads
    if H is None:
        raise ValueError(f"a mask for every head, got {shape(mask)}, must be told num_heads, got None")
    require_whole("num_heads", H, 1)
    if mask.shape[1] not in (1, H):
        raise ValueError(f"mask must have 1 or num_heads = {H} heads, got {shape(mask)}")
    return ~mask.expand(-1, H, -1, -1).flatten(0, 1)  # (B * H, T, S)
