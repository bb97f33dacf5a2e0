"""FlexAttention, compiled: any rule at full speed on CUDA, after `compile_flex` was called once.

Compiling takes seconds and needs Triton, so it is done when asked for and never by itself.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from attnlib._modes import product_dtype
from attnlib._plan import Plan
from attnlib.mask_rules import MaskRule

KINDS = 1024  # of rules, sizes and dtypes, each compiled for itself; after 8 PyTorch would not, but run dense
_compiled: dict[str, Callable[..., Any]] = {}
_masks: weakref.WeakKeyDictionary[MaskRule, dict[tuple[object, ...], Any]] = weakref.WeakKeyDictionary()


def compile_flex() -> None:
    """Let rules on CUDA in half precision run by compiled FlexAttention, where it was measured as fastest.

    The first call of each kind of rule compiles, which takes seconds; later ones do not.
    """
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    _compiled["attend"] = torch.compile(flex_attention, dynamic=False)
    _compiled["mask"] = torch.compile(create_block_mask, dynamic=False)


def forget_flex() -> None:
    """Undo `compile_flex`."""
    _compiled.clear()


def can(plan: Plan) -> bool:
    """Tell whether FlexAttention was compiled, and a plan has no more than a rule."""
    if not _compiled or plan.device.type != "cuda" or torch.compiler.is_compiling():
        return False
    dtype, D = product_dtype(plan.q), plan.q.shape[-1]
    sizes = plan.v.shape[-1] == D and D >= 16 and D & (D - 1) == 0 and plan.T > 1 and plan.S > 0
    return dtype in (torch.float16, torch.bfloat16) and sizes and plan.rule is not None


def run(plan: Plan) -> Tensor:
    """Compute a plan of which `can` is true."""
    dtype = product_dtype(plan.q)
    q, k, v = (x.to(dtype) for x in (plan.q, plan.k, plan.v))
    assert plan.rule is not None
    with torch._dynamo.config.patch(recompile_limit=KINDS, accumulated_recompile_limit=KINDS):
        mask = block_mask(plan.rule, q.shape[0], plan.T, plan.S, plan.device)
        grouped = q.shape[1] != k.shape[1]
        attend = _compiled["attend"]
        out: Tensor = attend(q, k, v, block_mask=mask, scale=float(plan.factor), enable_gqa=grouped)
    return out


def block_mask(rule: MaskRule, B: int, T: int, S: int, device: torch.device) -> Any:
    """Make what FlexAttention reads of a rule, and keep it as long as the rule lives."""
    kept = _masks.setdefault(rule, {})
    key = (B, T, S, device)
    if key not in kept:
        each = B if any(x.ndim == 2 or x is rule.lengths for x in rule.tensors()) else None
        kept[key] = _compiled["mask"](rule.mask_mod(T, S), each, None, T, S, device=device.type)
    return kept[key]
