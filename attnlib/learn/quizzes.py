"""Quizzes, scored in the front end: they work on the published page and in Jupyter alike."""

from __future__ import annotations

from typing import Any

from attnlib.learn.bank import quiz_data
from attnlib.learn.record import save_quiz


def quiz(chapter: str) -> Any:
    """Return the quiz of a chapter, to be the last line of a cell.

    Args:
        chapter: Its number, like ``"3"``.

    Returns:
        A widget. With a kernel, the best score is kept as progress.

    Raises:
        ImportError: If the widgets are not installed, with what to install.
        TypeError: If the chapter is not text.
        ValueError: If there is no such quiz.
    """
    from attnlib.widgets import Quiz

    data = quiz_data(chapter)
    widget = Quiz(chapter=chapter, title=data["title"], questions=data["question"])
    widget.observe(lambda change: save_quiz(chapter, change["new"]), names="score")
    return widget
