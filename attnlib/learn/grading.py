"""What a grader is made of: the exercise it belongs to, calling an answer, reading and comparing numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode


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


class NotWrittenError(Exception):
    """The learner's function returns nothing yet."""


def call(function: object, *arguments: object) -> object:
    """Call a learner's function for a grader; an empty one counts as not attempted.

    Raises:
        TypeError: If it is not a function, or takes other arguments.
    """
    if not callable(function):
        raise TypeError(f"the answer must be a function, got {type(function).__name__}")
    try:
        result = function(*arguments)
    except NotImplementedError as error:
        if str(error):  # PyTorch's own, from code that was written
            raise
        raise NotWrittenError from None
    if result is ...:
        raise NotWrittenError
    if result is None:
        raise TypeError("your function returns None: the return is missing")
    if isinstance(result, tuple):
        raise TypeError(f"your function returns a tuple of {len(result)}: return the result alone")
    return result


def explain(error: BaseException) -> str:
    """Return an error in one line, fit to stand between backticks. Never raises."""
    try:
        text = " ".join(str(error).split()).replace("`", "'").rstrip(".")
    except BaseException:  # an error that cannot even say what it is
        text = ""
    return f"{class_name(error)}: {text}" if text else class_name(error)


def describe(thing: object) -> str:
    """Return what came, for a sentence: its class, and a number's value where it is short. Never raises."""
    short = type(thing) in (int, float) and abs(thing) < 1000
    return f"{class_name(thing)} {thing}" if short else class_name(thing)


def class_name(thing: object) -> str:
    """Return what a thing's class is called. Never raises."""
    try:
        return str(type(thing).__name__)
    except BaseException:  # a class of a class that keeps it to itself
        return "Nameless"


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
