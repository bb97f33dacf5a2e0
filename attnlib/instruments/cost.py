"""What attention costs, as formulas: operations, parameters, bytes.

A multiplication and an addition are two floating-point operations. `counters`, beside this, counts the
same on what runs, and the two agree to the last unit. Chapter 7 of the book counts by hand.
"""

from __future__ import annotations

import torch

from attnlib._check import require_whole


def attention_flops(B: int, H: int, T: int, S: int, D: int, Dv: int | None = None) -> int:
    """Count the operations of `attention` itself: the scores, and the mixing of the values.

    A causal mask does not lower the count: it says what must not be used, and kernels differ in
    what they skip.

    Args:
        B: Sequences.
        H: Query heads.
        T: Queries.
        S: Keys.
        D: Width of queries and keys.
        Dv: Width of values, D if not given.

    Returns:
        ``2 B H T S (D + Dv)``.

    Raises:
        TypeError: If a size is not an int.
        ValueError: If a size is too small.
    """
    _check_sizes(B=B, H=H, T=T, S=S, D=D, Dv=Dv)
    return 2 * B * H * T * S * (D + (D if Dv is None else Dv))


def projection_flops(B: int, T: int, C: int, *, kv_dim: int | None = None, S: int | None = None) -> int:
    """Count the operations of the four projections of `MultiHeadAttention`.

    Args:
        B: Sequences.
        T: Queries.
        C: Model width.
        kv_dim: Width ``Hkv * D`` of all keys of a position, C if not given.
        S: Keys, T if not given.

    Returns:
        ``4 B T C² + 4 B S C kv_dim``, which is ``8 B T C²`` when keys are as many and as wide as queries.

    Raises:
        TypeError: If a size is not an int.
        ValueError: If a size is too small.
    """
    _check_sizes(B=B, T=T, C=C, kv_dim=kv_dim, S=S)
    return 4 * B * T * C * C + 4 * B * (T if S is None else S) * C * (C if kv_dim is None else kv_dim)


def multihead_flops(B: int, T: int, C: int, H: int, *, Hkv: int | None = None, S: int | None = None) -> int:
    """Count the operations of a forward pass of `MultiHeadAttention`.

    Args:
        B: Sequences.
        T: Queries.
        C: Model width.
        H: Query heads.
        Hkv: Key and value heads, H if not given.
        S: Keys, T if not given.

    Returns:
        `projection_flops` plus `attention_flops`; at ``Hkv = H`` and ``S = T`` it does not depend on H.

    Raises:
        TypeError: If a size is not an int.
        ValueError: If a size is too small, or the heads do not divide.
    """
    _check_heads(C, H, Hkv)
    D, S = C // H, T if S is None else S
    kv_dim = D * (H if Hkv is None else Hkv)
    return projection_flops(B, T, C, kv_dim=kv_dim, S=S) + attention_flops(B, H, T, S, D)


def multihead_parameters(C: int, H: int, *, Hkv: int | None = None, bias: bool = True) -> int:
    """Count the parameters of `MultiHeadAttention`.

    Args:
        C: Model width.
        H: Query heads.
        Hkv: Key and value heads, H if not given.
        bias: Whether the projections have a bias.

    Returns:
        ``4 C²`` and ``4 C`` of biases when ``Hkv = H``, whatever H is.

    Raises:
        TypeError: If a size is not an int.
        ValueError: If a size is too small, or the heads do not divide.
    """
    _check_heads(C, H, Hkv)
    kv_dim = C // H * (H if Hkv is None else Hkv)
    return 2 * C * C + 2 * C * kv_dim + (2 * C + 2 * kv_dim if bias else 0)


def score_bytes(B: int, H: int, T: int, S: int, dtype: torch.dtype = torch.float32) -> int:
    """Count the bytes of all scores, or of all weights, when they are held at once.

    Args:
        B: Sequences.
        H: Query heads.
        T: Queries.
        S: Keys.
        dtype: Of a score.

    Returns:
        ``B H T S`` times the bytes of a number.

    Raises:
        TypeError: If a size is not an int.
        ValueError: If a size is too small.
    """
    _check_sizes(B=B, H=H, T=T, S=S)
    return B * H * T * S * dtype.itemsize


def cache_bytes(
    B: int, Hkv: int, length: int, D: int, *, layers: int = 1, dtype: torch.dtype = torch.float32
) -> int:
    """Count the bytes of the keys and values of every position and layer.

    Args:
        B: Sequences.
        Hkv: Key and value heads.
        length: Positions.
        D: Width of a head.
        layers: Attention layers.
        dtype: Of keys and values.

    Returns:
        ``2 B Hkv length D layers`` times the bytes of a number.

    Raises:
        TypeError: If a size is not an int.
        ValueError: If a size is too small.
    """
    _check_sizes(B=B, Hkv=Hkv, length=length, D=D, layers=layers)
    return 2 * B * Hkv * length * D * layers * dtype.itemsize


def _check_sizes(**sizes: int | None) -> None:
    """Raise unless all are whole numbers, and heads and widths above zero."""
    for name, size in sizes.items():
        if size is not None:
            require_whole(name, size, 0 if name in ("B", "T", "S", "length") else 1)


def _check_heads(C: int, H: int, Hkv: int | None) -> None:
    _check_sizes(C=C, H=H, Hkv=Hkv)
    if C % H:
        raise ValueError(f"H must divide C, got C = {C} and H = {H}")
    if Hkv is not None and H % Hkv:
        raise ValueError(f"Hkv must divide H, got H = {H} and Hkv = {Hkv}")
