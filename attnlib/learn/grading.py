"""What a grader is made of: the exercise it belongs to, reading and comparing numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from attnlib.learn.calling import AnswerError, class_name


@dataclass(frozen=True)
class Exercise:
    """One exercise.

    Attributes:
        id: Chapter and number, like ``3.4``.
        title: What it is called on the page.
        difficulty: ``easy``, ``medium`` or ``hard``.
        minutes: How long it takes.
        hints: Two or more, each giving away a little more.
        grade: Takes the answer and returns None if it is right, else the mistake in words.
        lesson: What to take away, told after it is solved.
    """

    id: str
    title: str
    difficulty: str
    minutes: int
    hints: tuple[str, ...]
    grade: Callable[[object], str | None]
    lesson: str


def describe(thing: object) -> str:
    """Return what came, for a sentence: its class, and a number's value where it is short. Never raises."""
    short = type(thing) in (int, float) and abs(thing) < 1000
    return f"{class_name(thing)} {thing}" if short else class_name(thing)


def numbers(answer: object) -> Tensor:
    """Read a number, or any nesting of lists, tuples, dicts, arrays and tensors, as a float64 tensor.

    Fractions and decimals count, truth values too.

    Raises:
        AnswerError: If it does not hold numbers, or rows of different lengths.
    """
    try:
        return torch.tensor(_plain(answer), dtype=torch.float64)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        pass
    if isinstance(answer, tuple):
        raise AnswerError(
            f"it is a tuple of {len(answer)} that do not fit together: return the result alone."
        )
    raise AnswerError(f"the answer must hold numbers, got {describe(answer)}.")


def _plain(answer: object) -> object:
    """Turn what holds numbers into lists of Python's own."""
    if isinstance(answer, Mapping):
        answer = list(answer.values())
    if isinstance(answer, (list, tuple)):
        return [_plain(one) for one in answer]
    if isinstance(answer, (Fraction, Decimal)):
        return float(answer)
    if isinstance(answer, Tensor):
        answer = answer.detach().cpu().resolve_conj()
    if hasattr(answer, "tolist"):  # tensors, arrays, and single numbers of NumPy
        answer = answer.tolist()
    if isinstance(answer, (str, bytes)):
        raise TypeError("text is no number")
    return answer


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
