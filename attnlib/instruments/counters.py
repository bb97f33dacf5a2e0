"""Counting what is there and what runs: parameters, operations, bytes kept, bytes at the peak.

`attnlib.instruments.cost` predicts the same numbers. Chapter 7 of the book puts both side by side.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

Size = tuple[int, ...]


def count_parameters(module: nn.Module) -> int:
    """Count the numbers that training adjusts.

    Args:
        module: Any module.

    Returns:
        How many there are.
    """
    return sum(p.numel() for p in module.parameters() if p.requires_grad)


def count_flops(work: Callable[[], object]) -> int:
    """Count the floating-point operations of all matrix products that ``work`` runs.

    PyTorch's own counter sees the products. Into a fused kernel it cannot look: there it takes a formula of
    the shapes, and for the CPU's kernel, which it does not know, it is given one of the same kind.

    Args:
        work: A function without arguments.

    Returns:
        Operations, two for a multiplication and an addition.
    """
    forward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward
    formulas = {forward: _fused_flops, backward: _fused_backward_flops}
    with FlopCounterMode(display=False, custom_mapping=formulas) as counter:
        work()
    flops: int = counter.get_total_flops()
    return flops


def _fused_flops(
    q: Size, k: Size, v: Size, *args: object, out_shape: Size | None = None, **kwargs: object
) -> int:
    """Count the CPU's fused kernel: the scores, and the mixing of the values."""
    B, H, T, D = q
    return 2 * B * H * T * k[-2] * (D + v[-1])


def _fused_backward_flops(
    grad: Size, q: Size, k: Size, v: Size, *args: object, out_shape: Size | None = None, **kwargs: object
) -> int:
    """Count its backward pass: the scores again, and the gradients of weights, values, queries and keys."""
    B, H, T, D = q
    return 2 * B * H * T * k[-2] * (3 * D + 2 * v[-1])


def count_kept_bytes(work: Callable[[], object], beside: Iterable[Tensor] = ()) -> int:
    """Count the bytes that ``work`` keeps for its backward pass.

    Args:
        work: A function without arguments.
        beside: Tensors that are there anyway and do not count: inputs, parameters.

    Returns:
        Bytes of memory, each piece counted once.
    """
    known = {x.untyped_storage().data_ptr() for x in beside}
    kept: dict[int, Tensor] = {}  # holding them keeps their addresses from being used again

    def keep(x: Tensor) -> Tensor:
        kept.setdefault(x.untyped_storage().data_ptr(), x)
        return x

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda x: x):
        result = work()
    total = sum(x.untyped_storage().nbytes() for at, x in kept.items() if at not in known)
    del result
    return total


def count_peak_bytes(work: Callable[[], object]) -> int:
    """Count the most bytes of tensors that ``work`` holds at once, beside what was there before.

    On a GPU the allocator tells, kernels' own workspace included. On a CPU every tensor is watched from
    the operation that makes it until it is gone; what a kernel holds inside is not seen.

    Args:
        work: A function without arguments.

    Returns:
        Bytes at the peak.
    """
    gc.collect()
    watch = _Watch()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        with watch:
            work()
        torch.cuda.synchronize()
        return max(int(torch.cuda.max_memory_allocated()) - before, watch.peak)
    with watch:
        work()
    return watch.peak


class _Watch(TorchDispatchMode):
    """Follow every piece of memory that an operation returns, from its making to its end."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.live: dict[int, int] = {}
        self.peak = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        given = {x.untyped_storage()._cdata for x in _tensors((args, kwargs or {}))}
        result = func(*args, **(kwargs or {}))
        for x in _tensors(result):
            storage = x.untyped_storage()
            if storage._cdata not in given and storage._cdata not in self.live:
                self.live[storage._cdata] = storage.nbytes()
                weakref.finalize(storage, self.live.pop, storage._cdata, 0)
        self.peak = max(self.peak, sum(self.live.values()))
        return result


def _tensors(x: object) -> Iterable[Tensor]:
    return (leaf for leaf in torch.utils._pytree.tree_leaves(x) if isinstance(leaf, Tensor))
