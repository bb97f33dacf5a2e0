"""PyTorch's fused kernel, told what our arguments mean: it holds no ``(T, S)`` matrix."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from attnlib._heads import as_batches, fits_kernel
from attnlib.masks import both, causal_mask


def fused_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    *,
    causal: bool = False,
    bias: Tensor | None = None,
    scale: float | None = None,
    dropout: float = 0.0,
) -> Tensor:
    """Translate arguments that were checked already for PyTorch's fused kernel, and call it."""
    T, S = q.shape[-2], k.shape[-2]
    if mask is None and bias is None and (T == S or not causal) and fits_kernel(q, k, v):
        grouped = q.shape[1] != k.shape[1]
        return F.scaled_dot_product_attention(
            q, k, v, dropout_p=dropout, is_causal=causal, scale=scale, enable_gqa=grouped
        )
    # PyTorch takes no mask beside its causal flag, and aligns it with the first key. For fewer queries
    # than keys its kernels for GPUs can be told to align it with the last; the one for CPUs reads a mask.
    if causal and (mask is not None or bias is not None or (1 < T < S and not q.is_cuda)):
        mask, causal = both(mask, causal_mask(T, S, device=q.device)), False
    if causal and T > S:  # the first T - S queries see nothing
        seen = fused_attention(
            q[..., T - S :, :], k, v, causal=True, scale=scale, dropout=dropout
        )  # (..., S, Dv)
        return F.pad(seen, (0, 0, T - S, 0))  # (..., T, Dv)
    bias = None if bias is None else bias.to(q.dtype)
    if bias is not None and mask is not None:
        bias = bias.masked_fill(~mask, -math.inf)
    attn_mask = mask if bias is None else bias
    if attn_mask is not None:
        attn_mask = attn_mask.expand(*attn_mask.shape[:-2], T, S)
    elif causal and 1 < T < S:
        attn_mask = _aligned_with_the_last_key(T, S, q.device)
    (q, k, v), missing = as_batches(q, k, v)
    out = F.scaled_dot_product_attention(
        q,
        k,
        v,
        attn_mask=attn_mask,
        dropout_p=dropout,
        is_causal=causal and T == S,
        scale=scale,
        enable_gqa=q.shape[-3] != k.shape[-3],
    )[(0,) * missing]
    if mask is None:
        return out
    # in half precision a CUDA kernel answers a query that sees nothing with a mean of all values
    return out.masked_fill(~mask.any(-1, keepdim=True), 0.0)


def _aligned_with_the_last_key(T: int, S: int, device: torch.device) -> Tensor:
    """Return what tells a kernel for GPUs of a causal mask that it need not read."""
    from torch.nn.attention.bias import causal_lower_right  # doubles the time of importing torch

    try:
        return causal_lower_right(T, S)
    except RuntimeError:  # it cannot be made while a counter watches every operation
        return causal_mask(T, S, device=device)
