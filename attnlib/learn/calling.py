"""Calling a learner's function: with a limit of time, on arguments that must stay as they were.

A thread cannot be killed, and a function of a notebook cannot be handed to another process. So it runs right
here, and when its time is up an exception is raised in it from a second thread: at its next line of Python.
"""

from __future__ import annotations

import copy
import ctypes
import functools
import inspect
import linecache
import queue
import re
import threading
import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar

import torch
from torch import Tensor, nn

SECONDS = 5.0  # of computing for one call; those of the solutions take milliseconds
PATIENCE = 4  # how many times as long a call may take by the clock: on a busy machine, or when it waits
LONGEST = 160  # letters of an error or of a line that are repeated to the learner


class NotWrittenError(Exception):
    """The learner's function returns nothing yet."""


class AnswerError(Exception):
    """The learner's function did what can be told in a sentence, which is the text of this error."""


class OutOfTimeError(BaseException):
    """Raised in the learner's code when its time is up; not an `Exception`, which the code might catch."""


def call(function: object, *arguments: object) -> object:
    """Call a learner's function for a grader; an empty one counts as not attempted.

    What it changes among its arguments is noted for `changed_arguments`.

    Args:
        function: The answer.
        *arguments: What it is called with, and must leave as it was: tensors and weights of layers too.

    Returns:
        What it returns.

    Raises:
        NotWrittenError: If it returns `...` or raises `NotImplementedError`.
        AnswerError: If it is no function, does not end, or returns nothing or several results.
        BaseException: Whatever it raises itself.
    """
    if not callable(function):
        raise AnswerError(f"the answer must be a function, got {class_name(function)}.")
    load_late_parts()
    before = snapshot(arguments)
    try:
        result = in_time(SECONDS, function, arguments)
    except OutOfTimeError:
        raise AnswerError(
            f"`{spell_call(function, arguments)}` did not finish in {SECONDS:g} s: "
            "look for a loop that nothing stops."
        ) from None
    except NotImplementedError as error:
        if str(error):  # PyTorch's own, from code that was written
            raise
        raise NotWrittenError from None
    if result is ...:
        raise NotWrittenError
    if result is None:
        raise AnswerError("your function returns None: the return is missing.")
    if isinstance(result, tuple) and _is_several(result):
        raise AnswerError(f"your function returns a tuple of {len(result)}: return the result alone.")
    for name, old, new in zip(names_of(function, arguments), before, arguments, strict=True):
        if not same(old, snapshot(new)):
            _changed.get().append(name)
    return result


@functools.cache
def load_late_parts() -> None:
    """Let PyTorch load now what it loads at its first use: seconds on a slow machine, not the learner's own.

    An import that the limit stops would stay half done, and every later call would fail.
    """
    torch.broadcast_shapes((1,), (1,))


def changed_arguments(grade: Callable[[object], str | None], answer: object) -> tuple[str | None, list[str]]:
    """Grade an answer, and tell which of their arguments the calls have changed."""
    noted = _changed.set([])
    try:
        return grade(answer), _changed.get()
    finally:
        _changed.reset(noted)


_changed: ContextVar[list[str]] = ContextVar("changed", default=[])  # noqa: B039, read only inside a grading


def _is_several(result: tuple) -> bool:
    """Tell whether a tuple holds several results rather than the rows of one."""
    shapes = {tuple(getattr(one, "shape", ())) for one in result}
    return len(shapes) > 1 or any(len(shape) > 1 for shape in shapes)


class Watch:
    """A second thread that raises `OutOfTimeError` in this one when the time is up, then every second.

    The time is what this thread computes, where the system tells it: so a busy machine fails no right answer.
    What it raises can arrive at any line of this thread, also while the watch is being ended. So nothing here
    holds a lock, and `end` can be interrupted and called again.
    """

    def __init__(self, seconds: float) -> None:
        self.over = False
        self._watched = threading.get_ident()
        self._leave, self._speaks = queue.SimpleQueue(), False
        self._thread = threading.Thread(target=self._watch, args=(seconds,), daemon=True)

    def start(self) -> None:
        """Let the time run."""
        self._thread.start()

    def _watch(self, seconds: float) -> None:
        self._speaks = True
        computed = computing_time(self._watched)
        end, latest = computed() + seconds, time.monotonic() + PATIENCE * seconds
        pause = seconds
        while self._speaks:
            try:
                self._leave.get(timeout=pause)
                self._speaks = False
            except queue.Empty:
                pause = end - computed()
                if pause <= 0 or time.monotonic() >= latest:
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(
                        ctypes.c_ulong(self._watched), ctypes.py_object(OutOfTimeError)
                    )
                    pause = 1.0

    def end(self) -> None:
        """Raise nothing from now on; what was raised before arrives in here at the latest."""
        self._leave.put(None)
        while self._speaks:
            time.sleep(0.0002)
        for _ in range(2):  # Python looks for it whenever a loop turns
            pass
        self.over = True


def computing_time(thread: int) -> Callable[[], float]:
    """Return a clock that runs while a thread computes; on macOS, which has none, the wall clock."""
    if not hasattr(time, "pthread_getcpuclockid"):
        return time.monotonic
    return functools.partial(time.clock_gettime, time.pthread_getcpuclockid(thread))


def in_time(seconds: float, function: Callable, arguments: tuple) -> object:
    """Call a function, and return what it returns.

    Raises:
        OutOfTimeError: If it did not end in time, or in the very moment in which its time was up.
    """
    watch = Watch(seconds)
    try:
        try:
            watch.start()
            return function(*arguments)
        finally:
            watch.end()
    finally:
        while not watch.over:  # it was interrupted while it ended
            watch.end()


def snapshot(thing: object) -> object:
    """Return a copy of what a function could change: of tensors, lists, dicts and weights of layers."""
    if isinstance(thing, Tensor):
        return thing.detach().clone()
    if isinstance(thing, nn.Module):
        return snapshot(thing.state_dict())
    if isinstance(thing, Mapping):
        return {key: snapshot(value) for key, value in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [snapshot(one) for one in thing]
    if isinstance(thing, set):
        return copy.copy(thing)
    return thing


def same(old: object, new: object) -> bool:
    """Tell whether two snapshots hold the same; NaN is the same as NaN."""
    if isinstance(old, Tensor):
        return (
            isinstance(new, Tensor)
            and old.shape == new.shape
            and old.dtype == new.dtype
            and bool(((old == new) | ((old != old) & (new != new))).all())
        )
    if isinstance(old, dict):
        return (
            isinstance(new, dict) and list(old) == list(new) and all(same(old[key], new[key]) for key in old)
        )
    if isinstance(old, list):
        return isinstance(new, list) and len(old) == len(new) and all(map(same, old, new))
    return old is new or bool(old == new)


def names_of(function: Callable, arguments: tuple) -> list[str]:
    """Return what a function calls its arguments; where it does not say, their places."""
    try:
        named = list(inspect.signature(function).bind(*arguments).arguments)
    except (TypeError, ValueError):
        named = []
    return named if len(named) == len(arguments) else [f"argument {n}" for n in range(1, len(arguments) + 1)]


def spell_call(function: Callable, arguments: tuple) -> str:
    """Write a call as the learner would."""
    return f"{getattr(function, '__name__', 'your function')}({', '.join(map(spell, arguments))})"


def spell(thing: object) -> str:
    """Write an argument: numbers as they are, tensors by their shape."""
    if isinstance(thing, Tensor):
        return f"tensor of {tuple(thing.shape)}" if thing.ndim else f"tensor({thing.item():g})"
    return (
        shorten(repr(thing), 40) if isinstance(thing, (int, float, str, list, tuple)) else class_name(thing)
    )


def tell_error(error: BaseException, function: Callable) -> str:
    """Tell an error of the learner's code: where it stopped, with what, what it may mean. Never raises."""
    try:
        number, line = line_of(error, function)
        advice = translate(str(error), line) if isinstance(error, RuntimeError) else ""
    except BaseException:  # an answer that lets nobody look at it
        number, line, advice = 0, "", ""
    where = f" in line {number}, `{shorten(line)}`," if line else ""
    return f"it stopped{where} with `{explain(error)}`." + (f" {advice}" if advice else "")


def line_of(error: BaseException, function: Callable) -> tuple[int, str]:
    """Return the number and the text of the learner's line at which an error arose; no text if unknown."""
    file = getattr(getattr(inspect.unwrap(function), "__code__", None), "co_filename", None)
    step, found = error.__traceback__, (0, "")
    while step is not None:
        code = step.tb_frame.f_code
        text = linecache.getline(code.co_filename, step.tb_lineno).strip()
        if code.co_filename == file and text:
            found = step.tb_lineno, text
        step = step.tb_next
    return found


def translate(text: str, line: str) -> str:
    """Say what PyTorch's words about sizes most often mean; nothing for other errors."""
    if "must match the size of tensor b" in text:
        axis = re.search(r"dimension (\d+)", text)
        if re.search(r"[\w)\]]\.T\b", line) and axis and int(axis[1]) > 1:  # with two axes `.T` is right
            return "With more than two axes `.T` turns every axis; `.mT` turns the last two."
        drops = re.search(r"\b(sum|mean|max|amax|norm|std|var)\(", line)  # softmax drops nothing
        if drops and "keepdim" not in line:
            return "A sum or a maximum along an axis drops that axis; `keepdim=True` keeps it."
        return "The two have different sizes along one axis: look at their `.shape`, the last axes first."
    if "cannot be multiplied" in text or "to have same size" in text or "Expected size for first two" in text:
        return _advise_product(text)
    if "same dtype" in text or "to have the same dtype" in text:
        return "One is of whole numbers or of another precision: `x.float()` turns it."
    return ""


def _advise_product(text: str) -> str:
    """Say what a product of two tables needs, and to transpose one only where that helps."""
    must = "In `a @ b` the last axis of `a` must be as long as the last but one of `b`"
    sizes = re.search(r"\((\d+)x(\d+) and (\d+)x(\d+)\)", text)
    if not sizes:
        return f"{must}: look at their `.shape`."
    rows, inner, other, columns = map(int, sizes.groups())
    if inner == columns:
        return f"{must}: transpose `b`?"
    if rows == other:
        return f"{must}: transpose `a`?"
    return (
        f"{must}, {inner} and {other} here. Transposing one does not make them alike: "
        "which of the two has another size than you meant?"
    )


def explain(error: BaseException) -> str:
    """Return an error in one line, fit to stand between backticks. Never raises."""
    try:
        text = " ".join(str(error).split()).replace("`", "'").rstrip(".")
    except BaseException:  # an error that cannot even say what it is
        text = ""
    return f"{class_name(error)}: {shorten(text)}" if text else class_name(error)


def shorten(text: str, longest: int = LONGEST) -> str:
    """Cut a text to a length that fits into a sentence."""
    text = text.replace("`", "'")
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def class_name(thing: object) -> str:
    """Return what a thing's class is called. Never raises."""
    try:
        return str(type(thing).__name__)
    except BaseException:  # a class of a class that keeps it to itself
        return "Nameless"
