"""What PyTorch's modes change: autocast rounds matrix products, and a traced tensor cannot be looked at."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

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


def without_autocast(device: torch.device) -> AbstractContextManager:
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


def truth(condition: Tensor) -> bool | None:
    """Look at a single boolean; None where nobody can: while compiling or exporting, under vmap, on meta."""
    if torch.compiler.is_compiling() or condition.is_meta:
        return None
    try:
        return bool(condition)
    except RuntimeError:  # under vmap it differs from call to call, and a fake tensor has no numbers
        return None
