"""Exercises that grade themselves: they name the mistake, give hints and keep progress."""

from __future__ import annotations

from attnlib.learn import bank
from attnlib.learn._show import inline, line, plain, show
from attnlib.learn.grading import Exercise, NotWrittenError, explain
from attnlib.learn.record import save_attempt

_given: dict[str, int] = {}  # hints given so far in this session


def check(id: str, answer: object, *, record: bool = True) -> None:
    """Grade an answer and say what is wrong with it. Never raises.

    Args:
        id: The exercise, like ``"3.4"``.
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
    note = save_attempt(exercise.id, passed=result is None) if record else ""
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
        return NOT_ATTEMPTED if _blank(answer) else exercise.grade(answer)
    except NotWrittenError:
        return NOT_ATTEMPTED
    except (Exception, SystemExit) as error:  # the learner's code may do anything
        return f"it stopped with `{explain(error)}`."


def _blank(answer: object) -> bool:
    if answer is None or answer is ...:
        return True
    if isinstance(answer, dict):
        answer = list(answer.values())
    return isinstance(answer, (list, tuple)) and (len(answer) == 0 or any(map(_blank, answer)))


def _find(id: str) -> Exercise | None:
    found = bank.exercises().get(str(id))
    if found is None:
        known = ", ".join(bank.exercises())
        body = f"There is no exercise `{id}`. There are {known}."
        show(line("bad", "✗", "Not found.", inline(body)), f"✗ Not found. {plain(body)}")
    return found
