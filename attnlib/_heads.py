"""Bringing queries, keys and values to one shape before they meet."""

from __future__ import annotations

import torch
from torch import Tensor


def head_groups(q: Tensor, k: Tensor) -> int:
    """Return how many query heads share one key head; 1 when the heads broadcast as they are."""
    if q.ndim < 3 or k.ndim < 3:
        return 1
    H, Hkv = q.shape[-3], k.shape[-3]
    if Hkv in (1, H) or H == 1:
        return 1
    if Hkv == 0 or H % Hkv:
        raise ValueError(
            f"the number of key heads Hkv must divide the number of query heads H, "
            f"got H = {H} and Hkv = {Hkv} from q {tuple(q.shape)} and k {tuple(k.shape)}"
        )
    return H // Hkv


def fits_kernel(q: Tensor, k: Tensor, v: Tensor) -> bool:
    """Tell at a glance that q, k and v are ``(B, H, T, D)`` of one kind, with nothing to broadcast.

    The full checks say what is wrong, and take as long as a small kernel; the ordinary case needs neither.
    Grouped heads are ordinary: more than one for keys and values, which divides those for queries.
    """
    if not (isinstance(q, Tensor) and isinstance(k, Tensor) and isinstance(v, Tensor)):
        return False
    if not (q.ndim == k.ndim == v.ndim == 4 and q.dtype == k.dtype == v.dtype and q.is_floating_point()):
        return False
    (B, H, _, D), k_shape, v_shape = q.shape, k.shape, v.shape
    Hkv = k_shape[1]
    same_lead = (B, Hkv) == k_shape[:2] == v_shape[:2] and (Hkv == H or (Hkv > 1 and H % Hkv == 0))
    same_sizes = k_shape[2] == v_shape[2] and D == k_shape[3] > 0
    return same_lead and same_sizes and q.device == k.device == v.device


def repeat_heads(x: Tensor, groups: int) -> Tensor:
    """Give every query head its own copy of the key or value head that its group shares."""
    return x if groups == 1 else x.repeat_interleave(groups, dim=-3)  # (..., Hkv * groups, S, D)


def full_heads(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Repeat grouped heads and broadcast leading axes, so that q, k and v have the same ones."""
    groups = head_groups(q, k)
    k, v = repeat_heads(k, groups), repeat_heads(v, groups)
    lead = torch.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    q, k, v = (x.expand(*lead, *x.shape[-2:]) for x in (q, k, v))
    return q, k, v


def four_axes(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor, tuple[int, ...]]:
    """Give q, k and v the four axes ``(N, H, T, D)``, of one size each.

    PyTorch takes its slow path for fewer axes, for more, and for axes that broadcast. Grouped heads stay
    grouped. Returns the tensors, and the sizes of all axes before the heads, of which N is the product.
    """
    if fits_kernel(q, k, v):
        return q, k, v, (q.shape[0],)
    own = -3 if head_groups(q, k) > 1 else -2  # from which axis on each keeps its own size
    q, k, v = (x[(None,) * (4 - x.ndim)] if x.ndim < 4 else x for x in (q, k, v))
    batch = torch.broadcast_shapes(*(x.shape[:own] for x in (q, k, v)))
    lead = tuple(batch if own == -3 else batch[:-1])
    q, k, v = (x.expand(*batch, *x.shape[own:]) for x in (q, k, v))
    if len(lead) > 1:
        q, k, v = (x.flatten(0, len(lead) - 1) for x in (q, k, v))
    return q, k, v, lead


def lead_of(q: Tensor, k: Tensor, v: Tensor) -> tuple[int, ...]:
    """Return the axes of the output before ``(T, Dv)``, heads included."""
    if head_groups(q, k) > 1:
        return (*torch.broadcast_shapes(*(x.shape[:-3] for x in (q, k, v))), q.shape[-3])
    return tuple(torch.broadcast_shapes(*(x.shape[:-2] for x in (q, k, v))))


def in_front(x: Tensor, lead: tuple[int, ...]) -> Tensor:
    """Give what broadcasts to ``(*lead, H, T, S)`` the four axes ``(N or 1, H or 1, ...)``."""
    missing = 3 + len(lead) - x.ndim
    x = x[(None,) * missing] if missing else x
    if len(lead) == 1:
        return x
    if all(size == 1 for size in x.shape[:-3]):
        return x.flatten(0, len(lead) - 1)
    return x.expand(*lead, *x.shape[-3:]).flatten(0, len(lead) - 1)


def widen(x: Tensor) -> Tensor:
    """Half precision rounds every step; float32 in between rounds once, at the end."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
