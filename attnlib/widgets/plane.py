"""The explorable of chapter 3: attention in the plane."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from attnlib.functional import attention, attention_weights
from attnlib.widgets._base import anywidget, front_end, traitlets


class AttentionPlane(anywidget.AnyWidget):
    """Words as points in the plane: drag one, and scores, weights and the new vector follow.

    Keys and values are the words themselves. So are the queries, unless ``separate``: then a query is
    the word turned by ``turn`` degrees, the simplest projection of its own.

    Attributes:
        words: The sentence.
        points: Where each word lies.
        query: The word whose query is shown, by its position in the sentence.
        scaled: Whether scores are divided by sqrt(2).
        separate: Whether queries have a projection of their own.
        turn: What that projection does, in degrees.
        axes: What the two axes stand for.
        presets: Sentences to choose from, each with ``name``, ``words``, ``points`` and ``query``.
    """

    _esm, _css = front_end("plane")

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
