"""PyTorch's fused kernel, told what our arguments mean and given four axes: it holds no ``(T, S)`` matrix."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from attnlib._heads import four_axes, in_front
from attnlib._modes import first_derivatives_only, flag, product_dtype, same_length, without_autocast
from attnlib._plan import Plan
from attnlib.masks import as_numbers


def fused_attention(plan: Plan) -> Tensor:
    """Call the kernel for a plan that has no rule but `CAUSAL`.

    In the dtype of the bias if that is wider: 1000 and 1001.9 are one number in bfloat16.
    """
    dtype = product_dtype(plan.q)
    if plan.bias is None or (wide := torch.promote_types(plan.bias.dtype, dtype)) == dtype:
        return _kernel(plan)
    q, k, v = (x.to(dtype).to(wide) for x in (plan.q, plan.k, plan.v))
    with without_autocast(q.device):
        return _kernel(plan._replace(q=q, k=k, v=v, bias=plan.bias.to(wide))).to(dtype)


def _kernel(plan: Plan) -> Tensor:
    """Give the kernel four axes, and as many as came in to what it returns."""
    axes = max(plan.q.ndim, plan.k.ndim, plan.v.ndim)
    q, k, v, lead = four_axes(plan.q, plan.k, plan.v)
    mask = kernel_mask(plan)
    if mask is not None:
        mask = in_front(mask.expand(*mask.shape[:-2], plan.T, plan.S), lead)
    elif plan.rule is not None and not same_length(plan.T, plan.S) and plan.T > 1:
        mask = _aligned_with_the_last_key(plan)
    scale, width = plan.scale, v.shape[-1]
    assert not isinstance(scale, Tensor)  # `choose` multiplied the queries with it
    if q.device.type == "cpu" and q.shape[-1] != width:  # its quick kernel has one width for all three
        scale = float(q.shape[-1] ** -0.5) if scale is None else scale
        q, k, v = _padded(q, k, v)
    out: Tensor = F.scaled_dot_product_attention(
        q,
        k,
        v,
        attn_mask=mask,
        dropout_p=plan.dropout,
        is_causal=flag(plan.rule is not None and same_length(plan.T, plan.S)),
        scale=scale,
        enable_gqa=flag(q.shape[1] != k.shape[1]),
    )
    first_derivatives_only(out)
    if out.shape[-1] != width:
        out = out[..., :width]
    if plan.mask is not None and q.device.type != "cpu":
        # in half precision a CUDA kernel answers a query that may attend to nothing with a mean of all values
        out = out.masked_fill(~in_front(plan.mask.any(-1, keepdim=True), lead), 0.0)
    out = out.unflatten(0, lead) if len(lead) > 1 else out
    return out if axes >= 4 else out[(0,) * (4 - axes)]


def kernel_mask(plan: Plan) -> Tensor | None:
    """Return what the kernel reads, in the shape in which it came: a row for all queries stays one row."""
    if plan.numbers is not None:
        return plan.numbers
    if plan.mask is None:
        return plan.bias if plan.bias is None else plan.bias.to(plan.q.dtype)
    if plan.bias is not None:
        return plan.bias.to(plan.q.dtype).masked_fill(~plan.mask, -math.inf)
    one_row = plan.mask.ndim < 2 or plan.mask.shape[-2] == 1
    # the kernel for CPUs makes numbers of a mask itself, after one row was spread over all queries
    return (
        as_numbers(plan.mask, plan.q.dtype)
        if one_row and plan.T > 1 and plan.device.type == "cpu"
        else plan.mask
    )


def _padded(q: Tensor, k: Tensor, v: Tensor) -> list[Tensor]:
    """Give queries, keys and values one width by zeros, which change no score and are cut off the output."""
    wide = max(q.shape[-1], v.shape[-1])
    return [F.pad(x, (0, wide - x.shape[-1])) for x in (q, k, v)]


def _aligned_with_the_last_key(plan: Plan) -> Tensor | None:
    """Return what tells a kernel for GPUs of a causal mask that it need not read."""
    from torch.nn.attention.bias import causal_lower_right  # doubles the time of importing torch

    try:
        return causal_lower_right(plan.T, plan.S)
    except RuntimeError:  # it cannot be made while a counter watches every operation
        return plan.seen()
