"""The explorable of chapter 8: positions as the hands of a clock, and what they do to a score."""

from __future__ import annotations

import torch
from torch import Tensor

from attnlib.positions import alibi_bias, rotary
from attnlib.widgets._base import anywidget, front_end, traitlets

KINDS = ("sinusoid", "rotary", "alibi")
BASES = (10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000, 1_000_000)
HANDS = 4  # pairs of numbers that turn
HEADS = 8  # each with its own slope of ALiBi
FARTHEST = 64  # the largest distance
PLACES = 100  # the last position of the key
BACK = 16  # the largest offset to an earlier token


class PositionClock(anywidget.AnyWidget):
    """A query and a key, each with four pairs of features, and their score by their distance.

    Both point upwards in every pair, with length 1; their positions alone change the score. The query's
    projection may turn its pairs backwards, so that its score is largest for a key some positions before it.

    Attributes:
        kind: ``sinusoid`` (added to the embeddings), ``rotary`` or ``alibi``.
        place: The key's position; the query's is ``distance`` more.
        distance: From the key to the query.
        base: The hands turn by ``base ** (-2 i / 8)`` per position, for i from 0 to 3.
        back: How many positions back the query attends; ALiBi cannot.
        head: Of eight, which sets the slope of ALiBi.
    """

    _esm, _css = front_end("clock")

    kind = traitlets.Enum(KINDS, "rotary").tag(sync=True)
    place = traitlets.Int(3).tag(sync=True)
    distance = traitlets.Int(5).tag(sync=True)
    base = traitlets.Int(10_000).tag(sync=True)
    back = traitlets.Int(0).tag(sync=True)
    head = traitlets.Int(2).tag(sync=True)

    def hands(self) -> tuple[Tensor, Tensor]:
        """Return query and key ``(4, 2)`` as the clocks show them, in float64.

        Raises:
            ValueError: If a part of the state is outside what the page can show; so do the others.
        """
        self._check()
        q, k = self._queries([self.place + self.distance]), self._keys([self.place])
        return q.view(HANDS, 2), k.view(HANDS, 2)

    def scores(self) -> Tensor:
        """Return the scores ``(65,)`` for the distances 0 to 64 at the key's position, undivided."""
        return self._table()[self.place]

    def band(self) -> Tensor:
        """Return the lowest and the highest score ``(2, 65)`` of each distance, over all positions."""
        table = self._table()
        return torch.stack([table.amin(0), table.amax(0)])

    def _table(self) -> Tensor:
        """Return the score for each position of the key and each distance, ``(101, 65)``."""
        self._check()
        k = self._keys(range(PLACES + 1))
        q = self._queries(range(PLACES + FARTHEST + 1))
        scores = q @ k.T  # (165, 101)
        if self.kind == "alibi":
            scores = scores + self._falling()
        return torch.stack([scores[n : n + FARTHEST + 1, n] for n in range(PLACES + 1)])

    def _check(self) -> None:
        bounds = {"place": (0, PLACES), "distance": (0, FARTHEST), "back": (0, BACK), "head": (1, HEADS)}
        for name, (low, high) in bounds.items():
            if not low <= getattr(self, name) <= high:
                raise ValueError(f"{name} must be from {low} to {high}, got {getattr(self, name)}")
        if self.base not in BASES:
            raise ValueError(f"base must be one of {', '.join(map(str, BASES))}, got {self.base}")

    def _falling(self) -> Tensor:
        """Return the bias of ALiBi for every position of the query and of the key, ``(165, 101)``."""
        places = PLACES + FARTHEST + 1
        return alibi_bias(HEADS, places)[self.head - 1, :, : PLACES + 1].double()

    def _words(self, places: list[int] | range) -> tuple[Tensor, Tensor]:
        """Return vectors ``(n, 8)`` that point upwards, and their positions."""
        up = torch.tensor([1.0, 0.0] * HANDS, dtype=torch.float64)
        return up.expand(len(places), -1), torch.tensor(places)

    def _keys(self, places: list[int] | range) -> Tensor:
        words, at = self._words(places)
        if self.kind == "alibi":
            return words
        turned = rotary(words, at, base=self.base, interleaved=True)
        return words + turned if self.kind == "sinusoid" else turned

    def _queries(self, places: list[int] | range) -> Tensor:
        keys = self._keys(places)
        if self.kind == "alibi":
            return keys
        back = torch.full((len(places),), -self.back)
        return rotary(keys, back, base=self.base, interleaved=True)

    def __repr__(self) -> str:
        where = f"query at {self.place + self.distance}, key at {self.place}"
        how = f"head={self.head}" if self.kind == "alibi" else f"base={self.base}, back={self.back}"
        return f"PositionClock({self.kind!r}, {where}, {how})"
