"""What PyTorch's modes change: autocast rounds matrix products, and a traced tensor cannot be looked at."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor


def autocast_is_on(device: torch.device) -> bool:
    """Tell whether autocast is on for a device; meta tensors know no such thing."""
    return device.type != "meta" and torch.is_autocast_enabled(device.type)


def product_dtype(x: Tensor) -> torch.dtype:
    """Return the dtype that a matrix product takes ``x`` in: its own, or autocast's, which spares float64."""
    if x.dtype == torch.float64 or not autocast_is_on(x.device):
        return x.dtype
    return torch.get_autocast_dtype(x.device.type)


def without_autocast(device: torch.device) -> AbstractContextManager[object]:
    """Keep autocast from rounding what is computed in float32 on purpose."""
    return torch.autocast(device.type, enabled=False) if autocast_is_on(device) else nullcontext()


def same_length(T: int, S: int) -> bool:
    """Tell that two lengths are equal; symbols of an exported program only if they are the same symbol."""
    if isinstance(T, torch.SymInt) or isinstance(S, torch.SymInt):
        from torch.fx.experimental.symbolic_shapes import statically_known_true

        return statically_known_true(T == S)
    return T == S


def longer(T: int, S: int) -> bool:
    """Tell that the first length may be larger; of symbols nobody knows."""
    return isinstance(T, torch.SymInt) or isinstance(S, torch.SymInt) or T > S


def flag(condition: bool) -> bool:
    """Decide a condition on sizes: a kernel takes True or False, not a symbol of a compiled program."""
    return True if condition else False  # noqa: SIM210 - bool() of a symbol stays a symbol


def transformed() -> bool:
    """Tell whether `torch.func` or `vmap` is at work, for which few kernels have rules."""
    return torch._C._functorch.maybe_current_level() is not None


def finite(x: Tensor) -> bool | None:
    """Look whether a sum is finite, which a single NaN or infinity prevents; None where nobody can."""
    if torch.compiler.is_compiling() or x.is_meta:
        return None
    try:
        return math.isfinite(x.detach().sum(dtype=torch.float32).item())
    except RuntimeError:  # as for `truth`
        return None


def truth(condition: Tensor) -> bool | None:
    """Look at a single boolean; None where nobody can: while compiling or exporting, under vmap, on meta."""
    if torch.compiler.is_compiling() or condition.is_meta:
        return None
    try:
        return bool(condition)
    except RuntimeError:  # under vmap it differs from call to call, and a fake tensor has no numbers
        return None


class _First(torch.autograd.Function):
    """The identity, of which no second derivative is taken without a sentence."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        return x.view_as(x)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass  # there is nothing to come back for

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        raise RuntimeError(
            "attention has first derivatives only; for second ones use attention_weights(...) @ v"
        )


def first_derivatives_only(out: Tensor) -> Tensor:
    """Let a kernel that has no second derivative say so in a sentence, when one is taken."""
    if out.requires_grad and not torch.compiler.is_compiling():
        node = out.grad_fn
        if node is not None and type(node).__name__.startswith("ScaledDotProduct"):
            node.register_hook(_refuse_second)
    return out


def _refuse_second(found: tuple[Tensor | None, ...], given: object) -> tuple[Tensor | None, ...] | None:
    if not torch.is_grad_enabled():  # nobody keeps a graph of this backward pass
        return None
    return tuple(g if g is None else _First.apply(g) for g in found)  # type: ignore[no-untyped-call]
