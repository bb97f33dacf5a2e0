"""FlashAttention over pieces of different lengths: windows, packed documents and padding, not compiled.

PyTorch has it as `torch.nn.attention.varlen`, on CUDA in half precision; where it is missing, or cannot be
told of a rule, `can` says so.
"""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attnlib._modes import product_dtype
from attnlib._plan import Plan
from attnlib.mask_rules import MaskRule, version_of

WIDEST = 256  # of a head


class Pieces(NamedTuple):
    """Where the pieces begin, ``(N + 1,)`` for queries and for keys, and how long the longest are."""

    q: Tensor
    k: Tensor
    longest_q: int
    longest_k: int


@functools.cache
def function() -> Callable[..., Any] | None:
    """Return PyTorch's function if it is there and takes a window."""
    try:
        from torch.nn.attention.varlen import varlen_attn
    except ImportError:
        return None
    return varlen_attn if "window_size" in inspect.signature(varlen_attn).parameters else None


def can(plan: Plan) -> bool:
    """Tell whether a plan has no more than a rule, and one that pieces and a window say."""
    found = function()
    if found is None or plan.device.type != "cuda" or torch.compiler.is_compiling():
        return False
    if product_dtype(plan.q) not in (torch.float16, torch.bfloat16) or not (plan.T and plan.S):
        return False
    grouped = plan.q.shape[1] != plan.k.shape[1]
    if grouped and "enable_gqa" not in inspect.signature(found).parameters:
        return False
    return plan.q.shape[-1] == plan.v.shape[-1] <= WIDEST and plan.rule is not None and says(plan.rule, plan)


def says(rule: MaskRule, plan: Plan) -> bool:
    """Tell whether pieces and a window say what a rule says."""
    if rule.also or rule.prefix:
        return False
    if rule.lengths is not None:  # a causal window would be aligned with the end of the keys that are left
        local = rule.causal or rule.window is not None or rule.ahead is not None
        return not local and rule.documents is None
    return rule.documents is None or (plan.T == plan.S and document_pieces(rule.documents) is not None)


def run(plan: Plan) -> Tensor:
    """Compute a plan of which `can` is true."""
    attend, rule = function(), plan.rule
    assert attend is not None
    assert rule is not None
    dtype = product_dtype(plan.q)
    B, H, T, _ = plan.q.shape
    q, k, v = (x.to(dtype).transpose(1, 2).flatten(0, 1) for x in (plan.q, plan.k, plan.v))  # (B * T, H, D)
    pieces = pieces_of(rule, B, T, plan.S, plan.device)
    options: dict[str, Any] = {} if k.shape[1] == H else {"enable_gqa": True}
    out = attend(
        q,
        k,
        v,
        pieces.q,
        pieces.k,
        pieces.longest_q,
        pieces.longest_k,
        scale=float(plan.factor),
        window_size=window_of(rule),
        **options,
    )
    heads: Tensor = out.unflatten(0, (B, T)).transpose(1, 2)  # (B, H, T, D)
    return heads


def window_of(rule: MaskRule) -> tuple[int, int]:
    """Return how many keys are seen before the query's own and after it, -1 for all."""
    ahead = 0 if rule.causal else -1 if rule.ahead is None else rule.ahead
    return (-1 if rule.window is None else rule.window - 1, ahead)


def pieces_of(rule: MaskRule, B: int, T: int, S: int, device: torch.device) -> Pieces:
    """Cut a batch into pieces that attend to themselves: sequences, documents, or what is not padding."""
    if rule.documents is not None:
        found = document_pieces(rule.documents)
        assert found is not None
        rows = 1 if rule.documents.ndim == 1 else len(rule.documents)
        starts = found.q if rows == B else _starts(torch.diff(found.q).repeat(B))
        return Pieces(starts, starts, found.longest_q, found.longest_k)
    if rule.lengths is not None:  # the padding of each sequence is a piece too, of keys without queries
        queries = torch.arange(1, 2 * B + 2, device=device, dtype=torch.int32) // 2 * T
        lengths = rule.lengths.to(device).expand(B)
        keys = torch.stack([lengths, S - lengths], -1).flatten()
        return Pieces(queries, _starts(keys), T, S)
    queries = _every(T, B, device)
    return Pieces(queries, queries if T == S else _every(S, B, device), T, S)


_kept: dict[int, tuple[Any, int, Pieces | None]] = {}


def document_pieces(documents: Tensor) -> Pieces | None:
    """Return the pieces of documents ``(S,)`` or ``(B, S)``, None if one comes again after another.

    Reading them waits for the GPU, so that the last few are kept.
    """
    now = version_of(documents)
    for key, (there, version, pieces) in list(_kept.items()):
        if there() is None:
            del _kept[key]
        elif there() is documents and version == now:
            return pieces
    while len(_kept) >= 8:
        del _kept[next(iter(_kept))]
    pieces = _cut(documents.reshape(-1, documents.shape[-1]))
    if now is not None:
        _kept[id(documents)] = weakref.ref(documents), now, pieces
    return pieces


def _cut(rows: Tensor) -> Pieces | None:
    new = torch.ones_like(rows, dtype=torch.bool)
    new[:, 1:] = rows[:, 1:] != rows[:, :-1]
    runs = int(new.sum())
    ordered = rows.sort(-1).values
    if runs != len(rows) + int((ordered[:, 1:] != ordered[:, :-1]).sum()):
        return None
    starts = new.flatten().nonzero()[:, 0]
    sizes = torch.diff(starts, append=starts.new_tensor([rows.numel()]))
    longest = int(sizes.max())
    return Pieces(_starts(sizes), _starts(sizes), longest, longest)


def _every(n: int, count: int, device: torch.device) -> Tensor:
    """Return where pieces of one size begin, and where the last one ends."""
    return torch.arange(0, (count + 1) * n, n, device=device, dtype=torch.int32)


def _starts(sizes: Tensor) -> Tensor:
    """Return where pieces of these sizes begin, and where the last one ends."""
    return torch.cat([sizes.new_zeros(1), sizes.cumsum(0)]).to(torch.int32)
