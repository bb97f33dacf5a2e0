"""PyTorch's fused kernel, told what our arguments mean: it holds no ``(T, S)`` matrix."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from attnlib._heads import as_batches, fits_kernel
from attnlib._modes import flag, product_dtype, same_length, without_autocast
from attnlib.dense import dense_attention, not_finite
from attnlib.masks import both, causal_mask

# backward, kernels find weights again from the logarithm of a sum, which rounds such scores by more than 1
LARGEST_SCALE = 1e6


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
    if scale is not None and abs(scale) > LARGEST_SCALE:
        return dense_attention(q, k, v, mask, causal=causal, bias=bias, scale=scale, dropout=dropout)[0]
    if scale is not None and scale <= 0:  # kernels look for the largest score, and hide, before they scale
        q = q.clone(memory_format=torch.contiguous_format)  # kernels for GPUs want the last stride to be 1
        q, scale = (-q, -scale) if scale < 0 else (q * 0.0, 1.0)
    if mask is None and bias is None and (not causal or same_length(T, S)) and fits_kernel(q, k, v):
        grouped = flag(q.shape[1] != k.shape[1])
        return F.scaled_dot_product_attention(
            q, k, v, dropout_p=dropout, is_causal=causal, scale=scale, enable_gqa=grouped
        )
    # PyTorch takes no mask beside its causal flag, and aligns it with the first key. For fewer queries
    # than keys its kernels for GPUs can be told to align it with the last; the one for CPUs reads a mask.
    if causal and (mask is not None or bias is not None or not _can_be_told(T, S, q.device)):
        mask, causal = both(mask, causal_mask(T, S, device=q.device)), False
    if causal and T > S:  # the first T - S queries see nothing
        seen = fused_attention(
            q[..., T - S :, :], k, v, causal=True, scale=scale, dropout=dropout
        )  # (..., S, Dv)
        return F.pad(seen, (0, 0, T - S, 0))  # (..., T, Dv)
    no_graph = S == 0 and bias is not None  # the kernel answers at once, without a gradient for the bias
    if no_graph or (mask is not None and (not_finite(k) or not_finite(v))):
        return dense_attention(q, k, v, mask, bias=bias, scale=scale, dropout=dropout)[0]
    if bias is not None and _rounds(bias, q):
        return _in_the_dtype_of_the_bias(q, k, v, mask, bias, scale, dropout)
    attn_mask = mask if bias is None else bias.to(q.dtype)
    if bias is not None and mask is not None:
        attn_mask = attn_mask.masked_fill(~mask, -math.inf)
    if attn_mask is not None:
        attn_mask = attn_mask.expand(*attn_mask.shape[:-2], T, S)
    elif causal and T < S and T > 1:
        attn_mask = _aligned_with_the_last_key(T, S, q.device)
    (q, k, v), missing = as_batches(q, k, v)
    out = F.scaled_dot_product_attention(
        q,
        k,
        v,
        attn_mask=attn_mask,
        dropout_p=dropout,
        is_causal=flag(causal and same_length(T, S)),
        scale=scale,
        enable_gqa=flag(q.shape[-3] != k.shape[-3]),
    )[(0,) * missing]
    if mask is None:
        return out
    # in half precision a CUDA kernel answers a query that sees nothing with a mean of all values
    return out.masked_fill(~mask.any(-1, keepdim=True), 0.0)


def _can_be_told(T: int, S: int, device: torch.device) -> bool:
    """Tell whether a kernel knows a causal mask of these lengths without reading it."""
    if same_length(T, S):
        return True
    if isinstance(T, torch.SymInt) or isinstance(S, torch.SymInt):
        return False  # nobody knows which is longer
    aligns = device.type == "cuda" and not torch.compiler.is_compiling()  # the compiler cannot pass it on
    return T == 1 or T > S or aligns


def _rounds(bias: Tensor, q: Tensor) -> bool:
    """Tell whether the kernel would round a bias to the dtype of the queries, its own or autocast's."""
    dtype = product_dtype(q)
    return torch.promote_types(bias.dtype, dtype) != dtype


def _in_the_dtype_of_the_bias(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, bias: Tensor, scale: float | None, dropout: float
) -> Tensor:
    """Compute in the wider dtype and round once: 1000 and 1001.9 are one number in bfloat16."""
    dtype = product_dtype(q)
    wide = torch.promote_types(bias.dtype, dtype)
    q, k, v = (x.to(dtype).to(wide) for x in (q, k, v))
    with without_autocast(q.device):
        out = fused_attention(q, k, v, mask, bias=bias.to(wide), scale=scale, dropout=dropout)
    return out.to(dtype)


def _aligned_with_the_last_key(T: int, S: int, device: torch.device) -> Tensor:
    """Return what tells a kernel for GPUs of a causal mask that it need not read."""
    from torch.nn.attention.bias import causal_lower_right  # doubles the time of importing torch

    try:
        return causal_lower_right(T, S)
    except RuntimeError:  # it cannot be made while a counter watches every operation
        return causal_mask(T, S, device=device)
