"""Which backend computes a plan: decided here, once.

A plan is settled first, so that each backend only sees what it can be told of.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import forward_ad

from attnlib._heads import fits_kernel
from attnlib._hidden import not_finite
from attnlib._modes import first_derivatives_only, flag, product_dtype, same_length, transformed, truth
from attnlib._plan import Plan
from attnlib.backends import flex, measured, varlen
from attnlib.backends.blocks import SMALL, in_blocks, saves
from attnlib.backends.dense import dense_attention
from attnlib.backends.fused import fused_attention, kernel_mask
from attnlib.backends.tiled import tiled
from attnlib.mask_rules import MaskRule

# backward, kernels find weights again from the logarithm of a sum, which rounds such scores by more than 1
LARGEST_SCALE = 1e6
# by how much that rounding may change a weight, as a share of it
ROUNDING = 2**-7
STRUCTURED = {"varlen": varlen, "flex": flex}  # what reads a rule without its table, on CUDA
TILE = 512  # rows and columns of a tile


def at_once(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | MaskRule | None, causal: bool) -> Tensor | None:
    """Compute the ordinary cases, which need no check that takes as long as a small kernel; else None."""
    if mask is not None:
        return _one_query(q, k, v, mask, causal)
    if not fits_kernel(q, k, v) or not (
        causal is False or (causal is True and same_length(q.shape[2], k.shape[2]))
    ):
        return None
    if _forward_ad() or (q.device.type == "cpu" and (v.shape[3] != q.shape[3] or _coarse(Plan(q, k, v)))):
        return None
    grouped = flag(q.shape[1] != k.shape[1])
    return first_derivatives_only(
        F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=grouped)
    )


def _one_query(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | MaskRule, causal: bool) -> Tensor | None:
    """Compute a step of decoding on the CPU behind a mask, if there is nothing else to it."""
    if (
        not isinstance(mask, Tensor)
        or mask.dtype != torch.bool
        or mask.ndim != 4
        or torch.compiler.is_compiling()
    ):
        return None
    if not (fits_kernel(q, k, v) and q.device.type == mask.device.type == "cpu" and isinstance(causal, bool)):
        return None
    (B, H, T, D), S = q.shape, k.shape[2]
    if T != 1 or S == 0 or v.shape[3] != D or mask.shape[2:] != (1, S) or _forward_ad():
        return None
    if mask.shape[0] not in (1, B) or mask.shape[1] not in (1, H) or Plan(q, k, v).needs_gradient():
        return None
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=k.shape[1] != H)
    return None if not_finite(out) else out  # what a mask hides may have reached it


def attend(plan: Plan) -> Tensor:
    """Compute a plan: whole where a backend can be told of its rule, else in blocks, else by a table."""
    plan = settled(plan)
    if plan.rule is None or _can_be_told(plan):
        return compute(plan)
    fastest = _fastest(plan)
    if fastest in STRUCTURED:
        return first_derivatives_only(STRUCTURED[fastest].run(plan))
    if fastest != "table" and saves(plan):
        return in_blocks(plan, compute)
    return compute(plan._replace(mask=plan.seen(), rule=None))


def _fastest(plan: Plan) -> str | None:
    """Name what was measured to be the fastest for a plan's rule, of what can compute it."""
    if plan.device.type != "cuda" or torch.compiler.is_compiling() or not _structured(plan):
        return None  # a compiler cannot follow the look into the table
    can = (name for name in measured.order(plan) if name not in STRUCTURED or STRUCTURED[name].can(plan))
    return next(can, None)


def _structured(plan: Plan) -> bool:
    """Tell whether a plan has no more than four axes of one kind, and a rule."""
    more = (plan.mask, plan.bias, plan.softcap, plan.sink)
    if any(x is not None for x in more) or plan.dropout or _forward_ad() or transformed():
        return False
    scale = plan.scale is None or bool(0 < plan.scale <= LARGEST_SCALE)
    return scale and fits_kernel(plan.q, plan.k, plan.v)


def settled(plan: Plan) -> Plan:
    """Leave out a rule that hides nothing, and turn a learned scale into the queries."""
    if isinstance(plan.scale, Tensor):
        q = (plan.q.to(torch.promote_types(plan.q.dtype, plan.scale.dtype)) * plan.scale).to(plan.q.dtype)
        plan = plan._replace(q=q, scale=1.0)
    if (
        plan.rule is not None
        and plan.rule.only_causal
        and not isinstance(plan.T, torch.SymInt)
        and plan.T == 1
    ):
        plan = plan._replace(rule=None)
    return plan


def _can_be_told(plan: Plan) -> bool:
    """Tell whether the kernel knows the rule without reading a table."""
    T, S = plan.T, plan.S
    if plan.rule is None or not plan.rule.only_causal or plan.mask is not None or plan.bias is not None:
        return False
    if same_length(T, S):
        return True
    if isinstance(T, torch.SymInt) or isinstance(S, torch.SymInt):
        return False  # nobody knows which is longer
    return T < S and plan.device.type == "cuda" and not torch.compiler.is_compiling()  # it cannot pass it on


def compute(plan: Plan) -> Tensor:
    """Compute a plan that is settled: by the kernel if it can, else by the formula."""
    if kernel_can(plan):
        out = fused_attention(plan)
        if not hidden_is_felt(plan, out):
            return out
    if plan.sink is not None and plan.dropout == 0 and not _forward_ad() and _large(plan):
        out = tiled(plan, TILE)[0]  # the kernel knows no sink, and this holds no table
    else:
        out = dense_attention(plan)[0]
    return out.to(product_dtype(plan.q))  # the kernel's dtype under autocast


def attend_with_lse(plan: Plan) -> tuple[Tensor, Tensor]:
    """Compute a plan and the logarithm of the sum of each query's exponentials, which no kernel gives out."""
    return tiled(plan, TILE)


def _large(plan: Plan) -> bool:
    return not isinstance(plan.T * plan.S, torch.SymInt) and plan.T * plan.S > SMALL


def kernel_can(plan: Plan) -> bool:
    """Tell whether the kernel computes a settled plan as `attention` promises it."""
    if plan.softcap is not None or plan.sink is not None:
        return False
    if plan.scale is not None and not 0 < plan.scale <= LARGEST_SCALE:
        return False  # kernels look for the largest score, and hide, before they scale
    if plan.bias is not None and plan.S == 0:
        return False  # it answers at once, without a gradient for the bias
    if _bias_alone_learns(plan):
        return (
            False  # PyTorch's kernel for GPUs reads outside of its memory, which ends all that uses the GPU
        )
    if _forward_ad():
        return False  # it has no derivative forward
    if not plan.needs_gradient():
        return True  # a hidden NaN is found in the output
    hides = plan.mask is not None  # it multiplies a hidden NaN by zero
    if hides and (not_finite(plan.k) or not_finite(plan.v) or not_finite(plan.q)):
        return False
    return not _coarse(plan)


def _bias_alone_learns(plan: Plan) -> bool:
    given = (plan.q, plan.k, plan.v)
    return (
        plan.device.type == "cuda"
        and plan.bias is not None
        and plan.bias.requires_grad
        and not any(x.requires_grad for x in given)
    )


def hidden_is_felt(plan: Plan, out: Tensor) -> bool:
    """Tell whether a NaN or an infinity that the mask hides may have reached the output.

    The output is looked at, not the keys: for one query reading all keys again would double the time.
    """
    return plan.mask is not None and not plan.needs_gradient() and not_finite(out)


def _forward_ad() -> bool:
    return forward_ad._current_level >= 0


def _coarse(plan: Plan) -> bool:
    """Tell whether scores are so large that the logarithm of their sum rounds the weights, on the CPU."""
    if plan.device.type != "cpu" or torch.compiler.is_compiling() or not plan.needs_gradient():
        return False
    if not (plan.q.numel() and plan.k.numel()):
        return False
    largest = ROUNDING / torch.finfo(torch.promote_types(plan.q.dtype, torch.float32)).eps
    q, k = (_largest(x.detach()) for x in (plan.q, plan.k))
    if truth(q * k * (plan.q.shape[-1] * plan.factor) > largest):
        return True
    if plan.bias is None or truth(_largest(plan.bias.detach()) > largest) is not True:
        return False
    # a bias of -1e9 may stand for a mask: then only a query that sees nothing else has such scores
    scores = kernel_mask(plan)
    assert scores is not None
    top = scores.detach().amax(-1)  # (..., T), of each query
    return truth((top.masked_fill(top == -math.inf, 0.0).abs() > largest).any()) is True


def _largest(x: Tensor) -> Tensor:
    """Return the largest size of a number."""
    low, high = x.aminmax()
    return torch.maximum(-low, high).double()
