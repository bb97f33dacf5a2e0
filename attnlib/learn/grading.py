"""Small helpers that graders share."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode


def numbers(answer: object) -> Tensor:
    """Read a number, or a list, tuple, array or tensor of numbers, as a float64 tensor. Fractions count.

    Raises:
        TypeError: If it does not hold numbers.
    """
    if isinstance(answer, dict):
        answer = list(answer.values())
    if isinstance(answer, (list, tuple)):
        answer = [a.tolist() if hasattr(a, "tolist") else _plain(a) for a in answer]
    try:
        tensor = torch.as_tensor(_plain(answer)).detach().cpu()
    except (TypeError, ValueError, RuntimeError):
        tensor = None
    if tensor is None or tensor.is_complex():
        raise TypeError(f"the answer must hold numbers, got {type(answer).__name__}")
    return tensor.double()


def _plain(answer: object) -> object:
    """Turn a fraction, which PyTorch cannot read, into a float; leave everything else."""
    return float(answer) if isinstance(answer, Fraction) else answer


class Calls(TorchFunctionMode):
    """Note the names of the PyTorch functions that are called inside it."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def __torch_function__(self, function, types, arguments=(), keywords=None):
        """Note the name, and go on."""
        self.names.add(getattr(function, "__name__", ""))
        return function(*arguments, **(keywords or {}))


def close(a: Tensor, b: Tensor, tolerance: float = 1e-4) -> bool:
    """Tell whether two tensors have one shape and the same numbers, NaN nowhere."""
    return a.shape == b.shape and bool(((a - b).abs() <= tolerance).all())


def compare(
    got: Tensor,
    right: Tensor,
    mistakes: Iterable[tuple[Tensor, str]] = (),
    *,
    tolerance: float = 1e-4,
) -> str | None:
    """Return None if ``got`` is right, else the mistake it shows.

    Args:
        got: The learner's numbers.
        right: The right ones.
        mistakes: What known mistakes would give, each with the words for it.
        tolerance: How far a right number may be off.
    """
    if close(got, right, tolerance):
        return None
    for wrong, words in mistakes:
        if close(got, wrong, tolerance):
            return words
    if got.shape != right.shape:
        return f"the shape should be {tuple(right.shape)}, yours is {tuple(got.shape)}."
    if got.isnan().any():
        return "there is a NaN in it; a division by zero or an exp that overflows makes one."
    off = (got - right).abs()
    if off.ndim == 0:
        return f"the shape is right, but the number is off by {off.item():.3g}."
    where = [int(i) for i in torch.unravel_index(off.argmax(), off.shape)]
    worst = off.max().item()
    return f"the shape is right, but the number at {where}, counted from 0, is off by {worst:.3g}."
