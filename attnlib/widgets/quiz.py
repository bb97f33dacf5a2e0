"""The quiz at the end of a chapter."""

from __future__ import annotations

from attnlib.widgets._base import anywidget, front_end, traitlets


class Quiz(anywidget.AnyWidget):
    """Questions with one right option each, and a word on every option.

    Attributes:
        chapter: The number of the chapter.
        title: Its heading.
        questions: Each with ``text`` and ``option``, a list of ``text``, ``feedback`` and ``right``.
        score: How many were right at the first try.
    """

    _esm, _css = front_end("quiz")

    chapter = traitlets.Unicode().tag(sync=True)
    title = traitlets.Unicode().tag(sync=True)
    questions = traitlets.List().tag(sync=True)
    score = traitlets.Int(0).tag(sync=True)

    def __repr__(self) -> str:
        return f"Quiz({self.title!r}, {len(self.questions)} questions)"
