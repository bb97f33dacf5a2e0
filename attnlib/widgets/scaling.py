"""The explorable of chapter 4: what the width and the scaling do to a softmax."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator

import torch
from torch import Tensor

from attnlib.functional import attention_weights
from attnlib.widgets._base import anywidget, front_end, traitlets

KEYS = 16
WIDEST = 1024  # the largest width of a key
SCALINGS = ("none", "root", "full")


def _uniform(seed: int) -> Iterator[float]:
    """Yield numbers between 0 and 1, the same as the front end's: 32-bit arithmetic (mulberry32)."""
    state = seed
    while True:
        state = (state + 0x6D2B79F5) & 0xFFFFFFFF
        t = ((state ^ (state >> 15)) * (state | 1)) & 0xFFFFFFFF
        t ^= (t + ((t ^ (t >> 7)) * (t | 61))) & 0xFFFFFFFF
        yield ((t ^ (t >> 14)) + 0.5) / 2**32


@functools.lru_cache(maxsize=8)
def _normals(draw: int) -> Tensor:
    """Return a query and its keys, ``(1 + KEYS, WIDEST)`` standard normal numbers (Box and Muller)."""
    source, found = _uniform(draw), []
    while len(found) < (1 + KEYS) * WIDEST:
        radius, angle = math.sqrt(-2 * math.log(next(source))), 2 * math.pi * next(source)
        found += [radius * math.cos(angle), radius * math.sin(angle)]
    return torch.tensor(found, dtype=torch.float64).reshape(1 + KEYS, WIDEST)


class ScalingLab(anywidget.AnyWidget):
    """One random query and sixteen random keys: choose the width and what scores are divided by.

    Attributes:
        power: The width is 2 to this power, from 1 to 10.
        scaling: ``none``, ``root`` (divide by the square root of the width) or ``full`` (by the width).
        spread: Standard deviation of each number in the query and the keys.
        draw: Which random vectors.
    """

    _esm, _css = front_end("scaling")

    power = traitlets.Int(2).tag(sync=True)
    scaling = traitlets.Enum(SCALINGS, "none").tag(sync=True)
    spread = traitlets.Float(1.0).tag(sync=True)
    draw = traitlets.Int(1).tag(sync=True)

    @property
    def scale(self) -> float:
        """The factor on the scores."""
        d = 2**self.power
        return {"none": 1.0, "root": d**-0.5, "full": 1.0 / d}[self.scaling]

    def vectors(self) -> tuple[Tensor, Tensor]:
        """Return the query ``(1, D)`` and the keys ``(16, D)`` in float64."""
        both = self.spread * _normals(self.draw)[:, : 2**self.power]
        return both[:1], both[1:]

    def scores(self) -> Tensor:
        """Return the scores ``(16,)`` of the keys, scaled."""
        q, k = self.vectors()
        return self.scale * (q @ k.T)[0]

    def weights(self) -> Tensor:
        """Return the weights ``(16,)`` that `attnlib` computes for the state shown."""
        q, k = self.vectors()
        return attention_weights(q, k, scale=self.scale)[0]

    def numbers(self) -> dict[str, float]:
        """Return what the table shows: ``std`` of the scores, and the largest weight, ``top``."""
        return {"std": self.scores().std(correction=0).item(), "top": self.weights().max().item()}

    def __repr__(self) -> str:
        return f"ScalingLab(d={2**self.power}, {self.scaling!r}, spread={self.spread:g}, draw={self.draw})"
