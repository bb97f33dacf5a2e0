"""Checks on arguments: each error says what must hold, what came and what to do."""

from __future__ import annotations

import math
import numbers

import torch
from torch import Tensor

from attnlib._heads import head_groups


def shape(x: Tensor) -> tuple[int, ...]:
    """Return the shape as a plain tuple, which reads better in a message."""
    return tuple(x.shape)


def require_tensor(name: str, x: object) -> None:
    """Raise unless ``x`` is a tensor."""
    if not isinstance(x, Tensor):
        raise TypeError(f"{name} must be a torch.Tensor, got {type(x).__name__}; wrap it in torch.as_tensor")


def require_whole(name: str, n: object, least: int) -> None:
    """Raise unless ``n`` is a whole number of at least ``least``; one of NumPy is one."""
    if isinstance(n, bool) or not isinstance(n, (int, torch.SymInt, numbers.Integral)):  # exported: a symbol
        raise TypeError(f"{name} must be an int, got {type(n).__name__} ({n!r})")
    if n < least:
        raise ValueError(f"{name} must be at least {least}, got {n}")


def plain(n: int) -> int:
    """Return a whole number that passed `require_whole` as one that `torch.compile` can read."""
    return n if isinstance(n, (int, torch.SymInt)) else int(n)  # one of NumPy would break its graph


def require_bool(name: str, x: object) -> None:
    """Raise unless ``x`` is True or False."""
    if not isinstance(x, bool):
        raise TypeError(f"{name} must be True or False, got {type(x).__name__}")


def require_number(name: str, x: object) -> None:
    """Raise unless ``x`` is a number."""
    if isinstance(x, bool) or not isinstance(x, numbers.Real):
        raise TypeError(f"{name} must be a number, got {type(x).__name__} ({x!r})")


def whole_numbers(name: str, x: object, axes: tuple[int, ...]) -> Tensor:
    """Return ``x`` as a tensor of whole numbers, or raise unless it has one of these numbers of axes."""
    numbers = torch.as_tensor(x)
    numbers = numbers.long() if numbers.shape == (0,) else numbers  # an empty list has no dtype of its own
    if numbers.is_floating_point() or numbers.is_complex() or numbers.dtype == torch.bool:
        raise TypeError(f"{name} must be whole numbers, got {numbers.dtype}")
    if numbers.ndim not in axes:
        wanted = " or ".join({1: "(S,)", 2: "(B, S)"}[n] for n in axes) if 2 in axes else "one axis (B,)"
        raise ValueError(
            f"{name} must have {'the shape ' if 2 in axes else ''}{wanted}, got shape {shape(numbers)}"
        )
    return numbers


def require_same_kind(**tensors: Tensor) -> None:
    """Raise unless the tensors are floating, of one dtype and on one device."""
    first, reference = next(iter(tensors.items()))
    for name, x in tensors.items():
        require_tensor(name, x)
        if not x.is_floating_point():
            raise TypeError(f"{name} must be a floating-point tensor, got {x.dtype}; use .float()")
        if x.dtype != reference.dtype:
            raise TypeError(
                f"{first} and {name} must have the same dtype, "
                f"got {reference.dtype} and {x.dtype}; convert one with .to(dtype)"
            )
        if x.device != reference.device:
            raise ValueError(
                f"{first} and {name} must be on the same device, "
                f"got {reference.device} and {x.device}; move one with .to(device)"
            )


def require_rank(**tensors: Tensor) -> None:
    """Raise unless each tensor has a sequence axis and a feature axis."""
    for name, x in tensors.items():
        if x.ndim < 2:
            raise ValueError(
                f"{name} must have at least two axes (..., length, width), got shape {shape(x)}; "
                f"a single vector is {name}[None]"
            )


def scores_shape(q: Tensor, k: Tensor) -> tuple[int, ...]:
    """Check queries against keys and return the shape ``(..., T, S)`` of their scores."""
    require_same_kind(q=q, k=k)
    require_rank(q=q, k=k)
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(
            f"q and k must have the same width D, got q {shape(q)} and k {shape(k)}; "
            f"project one, or use bilinear_scores or additive_scores"
        )
    if q.shape[-1] == 0:
        raise ValueError(f"the width D of q and k must be at least 1, got q {shape(q)}")
    lead_q, lead_k = q.shape[:-2], k.shape[:-2]
    if head_groups(q, k) > 1:
        lead_q, lead_k = q.shape[:-3], k.shape[:-3]
    try:
        lead = torch.broadcast_shapes(lead_q, lead_k)
    except RuntimeError:
        raise ValueError(
            f"the leading axes of q and k must broadcast, got q {shape(q)} and k {shape(k)}"
        ) from None
    if head_groups(q, k) > 1:
        lead = (*lead, q.shape[-3])
    return (*lead, q.shape[-2], k.shape[-2])


def check_causal(causal: object) -> None:
    """Raise unless ``causal`` is True or False: any text, and most masks, would pass for True."""
    if isinstance(causal, bool):
        return
    if isinstance(causal, Tensor):
        raise TypeError("causal must be True or False, got a tensor; give it as mask=")
    raise TypeError(f"causal must be True or False, got {type(causal).__name__} ({causal!r})")


def check_numbers(
    scale: float | Tensor | None,
    softcap: float | Tensor | None,
    target: tuple[int, ...],
    device: torch.device,
) -> None:
    """Raise unless the scale is finite and the softcap finite and above zero, or learned ones that fit."""
    for name, x in (("scale", scale), ("softcap", softcap)):
        if isinstance(x, Tensor):
            _check_learned(name, x, target, device)
        elif x is not None and not isinstance(x, (numbers.Real, torch.SymFloat, torch.SymInt)):
            raise TypeError(f"{name} must be a number or a tensor, got {type(x).__name__} ({x!r})")
    if not isinstance(scale, Tensor) and scale is not None and not math.isfinite(scale):
        raise ValueError(f"scale must be a finite number, got {scale}")
    if not isinstance(softcap, Tensor) and softcap is not None and not 0 < softcap < math.inf:
        raise ValueError(f"softcap must be a finite number above zero, got {softcap}")


def _check_learned(name: str, x: Tensor, target: tuple[int, ...], device: torch.device) -> None:
    """Raise unless ``x`` is one floating-point number, or one for each head ``(H, 1, 1)``."""
    if not x.is_floating_point():
        raise TypeError(f"{name} must be a number or a floating-point tensor, got {x.dtype}")
    if not broadcasts(x.shape, (*target[:-2], 1, 1)):
        raise ValueError(
            f"{name} must be one number, or one for each head (H, 1, 1), for scores {target}, got {shape(x)}"
        )
    if x.device != device and x.ndim:
        raise ValueError(f"{name} must be on the device of q, {device}, got {x.device}")


def check_values(q: Tensor, k: Tensor, v: Tensor) -> None:
    """Check values against queries and keys that already passed `scores_shape`."""
    require_same_kind(q=q, v=v)
    require_rank(v=v)
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(f"k and v must have the same length S, got k {shape(k)} and v {shape(v)}")
    grouped = head_groups(q, k) > 1
    if grouped != (head_groups(q, v) > 1) or (grouped and k.shape[-3] != v.shape[-3]):
        raise ValueError(f"k and v must have the same number of heads Hkv, got k {shape(k)} and v {shape(v)}")
    lead_k, lead_v = (x.shape[:-3] if grouped else x.shape[:-2] for x in (k, v))
    lead_q = q.shape[:-3] if grouped else q.shape[:-2]
    try:
        torch.broadcast_shapes(lead_q, lead_k, lead_v)
    except RuntimeError:
        raise ValueError(
            f"the leading axes of q, k and v must broadcast, got q {shape(q)}, k {shape(k)} and v {shape(v)}"
        ) from None


def broadcasts(sizes: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Tell whether a shape broadcasts to ``target`` without enlarging it."""
    if len(sizes) > len(target):
        return False
    return all(a in (1, b) for a, b in zip(reversed(sizes), reversed(target), strict=False))


def check_fits(name: str, x: Tensor, target: tuple[int, ...]) -> None:
    """Raise unless ``x`` broadcasts to ``target``, the shape of the scores, without enlarging it."""
    if not broadcasts(x.shape, target):
        way_out = ""
        if x.ndim == 2 and x.dtype == torch.bool and x.shape[-1] == target[-1]:
            way_out = "; a mask of keys (B, S) is mask[:, None, None, :], as padding_mask makes it"
        raise ValueError(
            f"{name} must broadcast to the scores' shape (..., T, S) = {target}, got {shape(x)}{way_out}"
        )


def check_mask(mask: Tensor, target: tuple[int, ...], device: torch.device) -> None:
    """Raise unless ``mask`` is a boolean mask for scores of shape ``target`` on ``device``."""
    require_tensor("mask", mask)
    if mask.dtype != torch.bool:
        raise TypeError(
            f"mask must be boolean, True = may attend, got {mask.dtype}; "
            f"numbers to add to the scores go into bias"
        )
    if mask.device != device:
        raise ValueError(
            f"mask must be on the device of q, {device}, got {mask.device}; use mask.to(q.device)"
        )
    check_fits("mask", mask, target)


def check_bias(bias: Tensor, target: tuple[int, ...], device: torch.device) -> None:
    """Raise unless ``bias`` can be added to scores of shape ``target`` on ``device``."""
    require_tensor("bias", bias)
    if not bias.is_floating_point():
        raise TypeError(
            f"bias must be a floating-point tensor that is added to the scores, got {bias.dtype}; "
            f"a boolean mask goes into mask"
        )
    if bias.device != device:
        raise ValueError(
            f"bias must be on the device of q, {device}, got {bias.device}; use bias.to(q.device)"
        )
    check_fits("bias", bias, target)


def check_sink(sink: Tensor, target: tuple[int, ...], device: torch.device) -> None:
    """Raise unless ``sink`` is a score for each head of scores of shape ``target``."""
    require_tensor("sink", sink)
    if not sink.is_floating_point():
        raise TypeError(f"sink must be a floating-point tensor of scores, got {sink.dtype}")
    if not broadcasts(sink.shape, target[:-2]):
        raise ValueError(f"sink must be one score for each head (H,), for scores {target}, got {shape(sink)}")
    if sink.device != device:
        raise ValueError(f"sink must be on the device of q, {device}, got {sink.device}")


def check_rotary(rotary: object) -> None:
    """Refuse what cannot turn queries and keys."""
    if rotary is not None and not callable(rotary):
        raise TypeError(
            f"rotary must be a function of heads and positions, got {type(rotary).__name__}; "
            f"use attnlib.rotary, or functools.partial(attnlib.rotary, base=...)"
        )
