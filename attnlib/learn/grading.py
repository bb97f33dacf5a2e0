"""What a grader is made of: the exercise it belongs to, reading and comparing numbers."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from attnlib.learn.calling import AnswerError, NotWrittenError, call, class_name, spell_call, tell_error


@dataclass(frozen=True)
class Exercise:
    """One exercise.

    Attributes:
        id: Chapter and number, like ``3.4``; it changes when exercises come or go before it.
        name: What progress calls it, like ``soft-dictionary``; it never changes.
        title: What it is called on the page.
        difficulty: ``easy``, ``medium`` or ``hard``.
        minutes: How long it takes.
        hints: Two or more, each giving away a little more.
        grade: Takes the answer and returns None if it is right, else the mistake in words.
        lesson: What to take away, told after it is solved.
    """

    id: str
    name: str
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


NUMBER = "the number", "too large", "too small"


def close(a: Tensor, b: Tensor, tolerance: float = 1e-4) -> bool:
    """Tell whether two tensors have one shape and the same numbers; NaN is the same as NaN."""
    if a.shape != b.shape:
        return False
    return bool((((a - b).abs() <= tolerance) | (a == b) | (a.isnan() & b.isnan())).all())


def compare(
    got: Tensor,
    right: Tensor,
    mistakes: Iterable[tuple[Tensor, str]] = (),
    *,
    tolerance: float = 1e-4,
    called: tuple[str, str, str] = NUMBER,
) -> str | None:
    """Return None if ``got`` is right, else the mistake it shows.

    Args:
        got: The learner's numbers.
        right: The right ones.
        mistakes: What known mistakes would give, each with the words for it.
        tolerance: How far a right number may be off.
        called: What one of them is called, and what it is where it lies above the right one, and below.
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
    name, above, below = called
    side = above if got.flatten()[off.argmax()] > right.flatten()[off.argmax()] else below
    if off.ndim == 0:
        return f"{name} is {side}."
    where = [int(i) for i in torch.unravel_index(off.argmax(), off.shape)]
    return f"the shape is right, but {name} at {where}, counted from 0, is {side}."


def _made(mistakes: Iterable[tuple[Callable, str]], case: tuple) -> Iterator[tuple[Tensor, str]]:
    """Return what each mistake gives in a case, with its words; one that stops there gives nothing."""
    for wrong, words in mistakes:
        with suppress(ArithmeticError, IndexError, RuntimeError, ValueError, AnswerError):
            yield numbers(wrong(*case)), words


def fresh(thing: object) -> object:
    """Return a copy of what an answer could change: tensors, and lists, tuples, dicts and sets of them."""
    if isinstance(thing, Tensor):
        return thing.clone()
    if isinstance(thing, dict):
        return {key: fresh(value) for key, value in thing.items()}
    if type(thing) in (list, tuple, set):
        return type(thing)(map(fresh, thing))
    return thing


def by_cases(
    answer: object,
    reference: Callable,
    cases: Iterable[tuple],
    mistakes: Sequence[tuple[Callable, str]] = (),
    *,
    ready_made: tuple[set[str], str] = (set(), ""),
    read: Callable[[object], Tensor] = numbers,
    tolerance: float = 1e-4,
    called: tuple[str, str, str] = NUMBER,
) -> str | None:
    """Grade a function on several cases: None if it is right on all, else the mistake it shows.

    Args:
        answer: The learner's function.
        reference: What it should do.
        cases: The arguments of each call, which are copied for it (`fresh`). An answer that fits the first
            alone is told where it fails.
        mistakes: Functions that make known mistakes, each with the words for it.
        ready_made: PyTorch functions that a right answer may not call, and what is said of it.
        read: Makes a tensor of what the learner's function returns.
        tolerance: How far a right number may be off.
        called: As in `compare`.
    """
    for n, case in enumerate(cases):
        where = f"right at first, but not for `{spell_call(answer, case)}`: " if n else ""
        try:
            with Calls() as calls, warnings.catch_warnings():
                warnings.filterwarnings("ignore", r"The use of `x\.T`")  # a sentence says it
                result = call(answer, *map(fresh, case))
            got = read(result)
        except Exception as error:
            if not n or isinstance(error, (AnswerError, NotWrittenError)):
                raise
            return f"{where}{tell_error(error, answer)}"
        known = _made(mistakes, case)
        coarse = str(getattr(result, "dtype", "")).endswith("float16")  # bfloat16 too
        allowed = max(tolerance, 2e-2) if coarse else tolerance
        words = compare(got, numbers(reference(*case)), known, tolerance=allowed, called=called)
        if words:
            return f"{where}{words}"
        if calls.names & ready_made[0]:
            return f"right, but {ready_made[1]}"
    return None


def listed(function: object) -> object:
    """Return a learner's function with a tuple as a list: where several tensors are asked, it is as good."""
    if not callable(function):
        return function

    @functools.wraps(function)
    def answer(*arguments: object) -> object:
        result = function(*arguments)
        return list(result) if isinstance(result, tuple) else result

    return answer


def single(answer: object) -> float:
    """Read a single number.

    Raises:
        AnswerError: If it does not hold exactly one.
    """
    got = numbers(answer)
    if got.numel() != 1:
        raise AnswerError(f"one number is asked, yours are {got.numel()}.")
    return got.item()


def scalar(answer: object) -> Tensor:
    """Read numbers; a single one as a tensor without axes, however it is packed."""
    got = numbers(answer)
    return got.reshape(()) if got.numel() == 1 else got


def name_number(got: float, right: float, known: Iterable[tuple[float, str]], where: str = "") -> str | None:
    """Return None if a number is right, else the mistake that leads to it; ``where`` says for which case."""
    if math.isclose(got, right, rel_tol=1e-6):
        return None
    for wrong, words in known:
        if math.isclose(got, wrong, rel_tol=1e-6):
            return where + words
    return f"{where}{got:,.12g} is too {'large' if got > right else 'small'}."


def unit(x: Tensor, dim: int = -1) -> Tensor:
    """Return the rows (or what lies along `dim`) with length one."""
    return x / x.norm(dim=dim, keepdim=True)


def normal(*shape: int, seed: int) -> Tensor:
    """Return the same normal numbers at every call."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), device="cpu")
