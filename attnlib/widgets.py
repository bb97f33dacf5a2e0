"""Explorables and quizzes: ipywidgets in Jupyter, and live on the published page without a kernel.

Each front end (``static/*.js``) does its own arithmetic; here is the state it shares with Python, and
the same numbers by `attnlib`, for comparison and for tests.
"""

from __future__ import annotations

import math
from importlib import resources
from typing import Any

import torch
from torch import Tensor

from attnlib.functional import attention, attention_weights

try:
    import anywidget
    import traitlets
except ImportError as error:
    raise ImportError(
        "the explorables need anywidget and ipywidgets: pip install 'attnlib[widgets]'"
    ) from error


def _static(*names: str) -> str:
    """Join files of ``static/`` into one text, since a front end cannot import another file."""
    folder = resources.files("attnlib") / "static"
    return "\n".join((folder / name).read_text("utf8") for name in names)


class AttentionPlane(anywidget.AnyWidget):
    """Words as points in the plane: drag one, and scores, weights and the new vector follow.

    Keys and values are the words themselves. So are the queries, unless ``separate``: then a query is
    the word turned by ``turn`` degrees, the simplest projection of its own.

    Attributes:
        words: The sentence.
        points: Where each word lies.
        query: The word that listens, by its place in the sentence.
        scaled: Whether scores are divided by sqrt(2).
        separate: Whether queries have a projection of their own.
        turn: What that projection does, in degrees.
        axes: What the two axes stand for.
        presets: Sentences to choose from, each with ``name``, ``words``, ``points`` and ``query``.
    """

    _esm = _static("common.js", "plane.js")
    _css = _static("common.css", "plane.css")

    words = traitlets.List(traitlets.Unicode()).tag(sync=True)
    points = traitlets.List().tag(sync=True)
    query = traitlets.Int(0).tag(sync=True)
    scaled = traitlets.Bool(False).tag(sync=True)
    separate = traitlets.Bool(False).tag(sync=True)
    turn = traitlets.Float(60.0).tag(sync=True)
    axes = traitlets.List(["fruit", "technology"]).tag(sync=True)
    presets = traitlets.List().tag(sync=True)

    def __init__(self, presets: list[dict] | None = None, **state: Any) -> None:
        presets = SENTENCES if presets is None else presets
        first = {k: presets[0][k] for k in ("words", "points", "query")}
        super().__init__(presets=presets, **(first | state))

    def projections(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, keys and values as the front end has them, each ``(T, 2)`` in float64."""
        x = torch.tensor(self.points, dtype=torch.float64)
        angle = math.radians(self.turn) if self.separate else 0.0
        turn = torch.tensor(
            [[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]],
            dtype=torch.float64,
        )
        return x @ turn, x, x

    def weights(self) -> Tensor:
        """Return the weights ``(T, T)`` that `attnlib` computes for the state shown."""
        q, k, _ = self.projections()
        return attention_weights(q, k, scale=None if self.scaled else 1.0)

    def output(self) -> Tensor:
        """Return the new vectors ``(T, 2)`` that `attnlib` computes for the state shown."""
        return attention(*self.projections(), scale=None if self.scaled else 1.0)

    def __repr__(self) -> str:
        return f"AttentionPlane({' '.join(self.words)!r}, query={self.words[self.query]!r})"


SENTENCES = [
    {
        "name": "Buy apple phone",
        "words": ["buy", "apple", "phone"],
        "points": [[1.0, 1.0], [2.0, 2.0], [0.0, 4.0]],
        "query": 1,
    },
    {
        "name": "Buy green apple",
        "words": ["buy", "green", "apple"],
        "points": [[1.0, 1.0], [2.0, 0.0], [2.0, 2.0]],
        "query": 2,
    },
    {
        "name": "Buy apple fruit",
        "words": ["buy", "apple", "fruit"],
        "points": [[1.0, 1.0], [2.0, 2.0], [4.0, 0.0]],
        "query": 1,
    },
]


class Quiz(anywidget.AnyWidget):
    """Questions with one right option each, and a word on every option.

    Attributes:
        chapter: The number of the chapter.
        title: Its heading.
        questions: Each with ``text`` and ``option``, a list of ``text``, ``feedback`` and ``right``.
        score: How many were right at the first try.
    """

    _esm = _static("common.js", "quiz.js")
    _css = _static("common.css", "quiz.css")

    chapter = traitlets.Unicode().tag(sync=True)
    title = traitlets.Unicode().tag(sync=True)
    questions = traitlets.List().tag(sync=True)
    score = traitlets.Int(0).tag(sync=True)

    def __repr__(self) -> str:
        return f"Quiz({self.title!r}, {len(self.questions)} questions)"
