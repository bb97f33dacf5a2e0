"""The explorable of chapter 7: attention tile by tile, and what is held in fast memory meanwhile."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from attnlib.widgets._base import anywidget, front_end, traitlets

QUERIES = [[1.0, 0.0], [0.0, 2.0], [2.0, 0.0], [-1.0, 2.0], [1.0, -2.0], [2.0, 2.0]]
KEYS = [[1.0, 0.0], [0.0, 1.0], [2.0, -1.0], [-1.0, 1.0], [1.0, 2.0], [2.0, 1.0]]
VALUES = [8.0, 4.0, 2.0, 0.0, 6.0, 1.0]
SIZES = (1, 2, 3, 6)


class TileStepper(anywidget.AnyWidget):
    """Six queries, six keys and values of one number: the table of scores, a tile after the other.

    Attributes:
        step: How many tiles have been worked on; they go along the keys, and then to the next queries.
        size: Rows and columns of a tile: 1, 2, 3 or 6.
        q: Six queries of two numbers.
        k: Six keys of two numbers.
        v: Six values of one number.
    """

    _esm, _css = front_end("tiles")

    step = traitlets.Int(3).tag(sync=True)
    size = traitlets.Int(2).tag(sync=True)
    q = traitlets.List(QUERIES).tag(sync=True)
    k = traitlets.List(KEYS).tag(sync=True)
    v = traitlets.List(VALUES).tag(sync=True)

    def scores(self) -> Tensor:
        """Return all scores ``(6, 6)`` in float64, divided by the root of two."""
        q, k = (torch.tensor(x, dtype=torch.float64) for x in (self.q, self.k))
        return q @ k.T / math.sqrt(2)

    def numbers(self) -> dict[str, list[float] | int]:
        """Return what the page shows after ``step`` tiles.

        Returns:
            For each query of the present block the largest score ``m``, the sum ``l`` of exponentials, the
            sum ``o`` of values times these, and the factor ``shrink`` by which this tile shrank both sums;
            the outputs ``done`` of the queries that are finished; how many numbers are ``held`` in
            fast memory, how many were ``moved`` between it and the slow one so far, and how many are at the
            ``end``.

        Raises:
            ValueError: If the tiles do not divide the table, or there are not so many.
        """
        n, size = len(self.v), self.size
        if size not in SIZES:
            raise ValueError(f"size must be one of {SIZES}, got {size}")
        across = n // size
        if not 0 <= self.step <= across**2:
            raise ValueError(f"step must be from 0 to {across**2}, the tiles of size {size}, got {self.step}")
        scores, values = self.scores(), torch.tensor(self.v, dtype=torch.float64)
        done, now = [], {name: [] for name in ("m", "l", "o", "shrink")}
        for block in range(0, self.step, across):  # one block of queries after the other
            rows = scores[block // across * size :][:size]
            m, total, o = torch.full((size,), -math.inf).double(), torch.zeros(size), torch.zeros(size)
            for tile in range(min(across, self.step - block)):
                s, v = (x[..., tile * size :][..., :size] for x in (rows, values))
                new = torch.maximum(m, s.amax(1))
                shrink, e = torch.exp(m - new), torch.exp(s - new[:, None])
                m, total, o = new, total * shrink + e.sum(1), o * shrink + e @ v
            now = {"m": m.tolist(), "l": total.tolist(), "o": o.tolist(), "shrink": shrink.tolist()}
            if self.step - block >= across:
                done += (o / total).tolist()
        return {**now, "done": done, **self._memory(across)}

    def _memory(self, across: int) -> dict[str, int]:
        """Count numbers: those held beside a tile, and those moved, where a query and a key have two."""
        n, size, begun = len(self.v), self.size, -(-self.step // across)
        moved = 2 * size * begun + 3 * size * self.step + size * (self.step // across)
        return {
            "held": size * size + 8 * size if self.step else 0,
            "moved": moved,
            "end": 3 * n + 3 * n * across,
        }

    def __repr__(self) -> str:
        return f"TileStepper(step={self.step}, size={self.size})"
