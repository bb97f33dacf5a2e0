"""The explorable under the training of *Putting it together*: what the model does after each stored step."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnlib.experiments.putting_it_together.two_layers import stored
from attnlib.widgets._base import anywidget, front_end, traitlets


def packed(thousandths: np.ndarray) -> str:
    """Return whole numbers as base64 of little-endian uint16."""
    return base64.b64encode(thousandths.astype("<u2").tobytes()).decode()


class LearningSteps(anywidget.AnyWidget):
    """What the stored model did while it learned: its loss, and the attention weights in two lines.

    Attributes:
        step: After how many training steps.
        line: Which of the two lines, which differ in the reason.
        lines: Their words.
        names: The two names in them.
        steps: The S steps that are stored.
        losses: The loss after each, ``(S,)``, as `packed` gives it, like all that follows.
        rows: For each step and line the weights of *meaning* in both layers, ``(S, 2, 2, T)``.
        chances: For each step and line the probability of each name, ``(S, 2, 2)``.
    """

    _esm, _css = front_end("learning", "two_rows")

    step = traitlets.Int(20).tag(sync=True)
    line = traitlets.Int(0).tag(sync=True)
    lines = traitlets.List().tag(sync=True)
    names = traitlets.List(traitlets.Unicode()).tag(sync=True)
    steps = traitlets.List(traitlets.Int()).tag(sync=True)
    losses = traitlets.Unicode().tag(sync=True)
    rows = traitlets.Unicode().tag(sync=True)
    chances = traitlets.Unicode().tag(sync=True)

    def __init__(self, step: int = 20, **state: Any) -> None:
        kept = stored()
        snapshots, names = kept["snapshots"], kept["names"]
        given = {
            "step": step,
            "lines": [
                [word.capitalize() if word in names else word for word in line.split()]
                for line in kept["lines"]
            ],
            "names": [name.capitalize() for name in names],
            "steps": [int(step) for step in snapshots],
        }
        given |= {
            name: packed(np.array([one[key] for one in snapshots.values()]))
            for name, key in (("losses", "loss"), ("rows", "rows"), ("chances", "chances"))
        }
        super().__init__(**(given | state))

    def numbers(self) -> dict[str, Tensor]:
        """Return what is stored of the step and the line shown.

        Returns:
            ``loss``, a scalar; ``rows``, the weights of *meaning* in both layers ``(2, T)``; ``chances``, the
            probability of each name ``(2,)``; in float64, to three decimals.
        """
        one = stored()["snapshots"][str(self.step)]
        found = {"loss": one["loss"], "rows": one["rows"][self.line], "chances": one["chances"][self.line]}
        return {name: torch.tensor(value, dtype=torch.float64) / 1000 for name, value in found.items()}

    def __repr__(self) -> str:
        return f"LearningSteps(step={self.step})"
