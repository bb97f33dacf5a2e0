"""Exercises that grade themselves: they name the mistake, give hints and keep progress."""

from __future__ import annotations

import sys

from attnlib.learn import bank
from attnlib.learn._show import inline, line, plain, show
from attnlib.learn.calling import AnswerError, NotWrittenError, OutOfTimeError, changed_arguments, tell_error
from attnlib.learn.grading import Exercise, describe
from attnlib.learn.record import former_names, save_attempt

_given: dict[str, int] = {}  # hints given so far in this session


def check(id: str, answer: object, *, record: bool = True) -> None:
    """Grade an answer and say what is wrong with it.

    Never raises: whatever the answer does is told in a sentence, and so is an interruption of an endless one.

    Args:
        id: The exercise, like ``"3.4"``: text, since 6.10 is 6.1 as a number.
        answer: What it asks for: a number, a tensor or a function.
        record: Whether to keep the result as progress; the solutions pages do not.
    """
    exercise = _find(id)
    if exercise is None:
        return
    result = _grade(exercise, answer)
    if result is NOT_ATTEMPTED:
        hints = "".join(
            f"<details><summary>Hint {n}</summary>{inline(h)}</details>"
            for n, h in enumerate(exercise.hints, 1)
        )
        body = "Not attempted yet: put your answer in place of <code>...</code> and run the cell."
        show(
            line("todo", "○", f"Exercise {exercise.id}.", body, rest=hints),
            f"○ Exercise {exercise.id}. Not attempted yet: put your answer in place of ... "
            f'and run the cell. Stuck? hint("{exercise.id}")',
        )
        return
    # who grades a class listens to this, whatever the notebook does to what is printed (learn/classroom)
    sys.audit("attnlib.check", exercise.id, result is None, "" if result is None else plain(str(result)))
    note = save_attempt(exercise.name, passed=result is None) if record else ""
    kind, mark, label, words = (
        ("good", "✓", "passed.", exercise.lesson)
        if result is None
        else ("bad", "✗", "not yet:", f'{result} Stuck? `hint("{exercise.id}")`')
    )
    text = " ".join(filter(None, [words, note]))
    show(
        line(kind, mark, f"Exercise {exercise.id} {label}", inline(text)),
        f"{mark} Exercise {exercise.id} {label} {plain(text)}",
    )


def hint(id: str) -> None:
    """Give one more hint to an exercise each time it is called.

    Args:
        id: The exercise, like ``"3.4"``.
    """
    exercise = _find(id)
    if exercise is None:
        return
    total = len(exercise.hints)
    n = _given[exercise.id] = min(_given.get(exercise.id, 0) + 1, total)
    last = " (The last hint; the solutions page has a worked answer.)" if n == total else ""
    text = exercise.hints[n - 1] + last
    show(
        line("todo", "○", f"Exercise {exercise.id}, hint {n} of {total}.", inline(text)),
        f"○ Exercise {exercise.id}, hint {n} of {total}. {plain(text)}",
    )


NOT_ATTEMPTED = object()


def _grade(exercise: Exercise, answer: object) -> object:
    """Return None if right, the mistake as a string, or NOT_ATTEMPTED."""
    try:
        if _blank(answer):
            return NOT_ATTEMPTED
        mistake, changed = changed_arguments(exercise.grade, answer)
        if mistake is None and changed:
            return (
                f"the numbers are right, but it changes `{changed[0]}`, which it was given: work on a copy. "
                "`+=`, names ending in `_` and `x[0] = ...` change what is there, `x = x + 1` does not."
            )
        if changed:
            return (
                f"it changes `{changed[0]}`, which it was given, and what comes after may be wrong for that: "
                f"work on a copy. Apart from that: {mistake}"
            )
        return mistake
    except NotWrittenError:
        return NOT_ATTEMPTED
    except AnswerError as error:
        return str(error)
    except OutOfTimeError:  # it came while the call was being left
        return "it did not finish in time: look for a loop that nothing stops."
    except KeyboardInterrupt:
        return (
            "you interrupted it before it had an answer. "
            "If it would not have ended by itself, look for a loop that nothing stops."
        )
    except BaseException as error:  # the learner's code may do anything
        return tell_error(error, answer)


def _blank(answer: object) -> bool:
    return answer is None or _has_gap(answer)


def _has_gap(answer: object) -> bool:
    if answer is ...:
        return True
    if isinstance(answer, dict):
        answer = list(answer.values())
    return isinstance(answer, (list, tuple)) and (len(answer) == 0 or any(map(_has_gap, answer)))


def _find(id: object) -> Exercise | None:
    """Return the exercise, or say what is wrong with its name."""
    if type(id) is str:
        if id in bank.exercises():
            return bank.exercises()[id]
        body = _where_now(id) or f"There is no exercise `{id}`. There are {', '.join(bank.exercises())}."
    else:
        body = (
            f'The exercise must be text, like `"6.10"`, got {describe(id)}. '
            "Put it in quotes: as numbers, 6.10 and 6.1 are the same."
        )
    show(line("bad", "✗", "Not found.", inline(body)), f"✗ Not found. {plain(body)}")
    return None


def _where_now(id: str) -> str:
    """Say under which number an exercise stands that had this one formerly; nothing if none had or has."""
    numbers = {exercise.name: exercise.id for exercise in bank.exercises().values()}
    now = numbers.get(former_names().get(id, ""))
    return f"There is no exercise `{id}` any more: it is `{now}` now." if now else ""
