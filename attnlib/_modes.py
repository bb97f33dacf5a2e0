"""What PyTorch's modes change: autocast rounds matrix products, and a traced tensor cannot be looked at."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor


def autocast_dtype(device: torch.device) -> torch.dtype | None:
    """Return the dtype to which autocast rounds on this device now, None if it is off."""
    kind = device.type
    if not torch.amp.is_autocast_available(kind) or not torch.is_autocast_enabled(kind):
        return None
    return torch.get_autocast_dtype(kind)


def without_autocast(device: torch.device) -> AbstractContextManager:
    """Keep autocast from rounding what is computed in float32 on purpose."""
    if autocast_dtype(device) is None:
        return nullcontext()
    return torch.autocast(device.type, enabled=False)


def same_length(T: int, S: int) -> bool:
    """Tell that two lengths are equal; symbols of an exported program only if they are the same symbol."""
    if isinstance(T, torch.SymInt) or isinstance(S, torch.SymInt):
        from torch.fx.experimental.symbolic_shapes import statically_known_true

        return statically_known_true(T == S)
    return T == S


def flag(condition: bool) -> bool:
    """Decide a condition on sizes: kernels take True or False, and none takes a symbol of a compiled program."""
    return True if condition else False  # noqa: SIM210 - bool() of a symbol stays a symbol


def truth(condition: Tensor) -> bool | None:
    """Look at a single boolean; None where nobody can: while compiling or exporting, under vmap, on meta."""
    if torch.compiler.is_compiling() or condition.is_meta:
        return None
    try:
        return bool(condition)
    except RuntimeError:  # under vmap it differs from call to call, and a fake tensor has no numbers
        return None
