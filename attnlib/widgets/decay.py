"""The explorable of chapter 1: what a recurrence leaves of a gradient."""

from __future__ import annotations

import torch
from torch import Tensor

from attnlib.widgets._base import anywidget, front_end, traitlets


class GradientDecay(anywidget.AnyWidget):
    """A recurrence of a single number, and how strongly its last state depends on the first.

    Each step multiplies the state by a weight and, if ``squash``, takes the tanh. The first state is 0.5.

    Attributes:
        weight: What the state is multiplied by.
        length: How many steps.
        squash: Whether the tanh is taken.
    """

    _esm, _css = front_end("decay")

    weight = traitlets.Float(0.9).tag(sync=True)
    length = traitlets.Int(50).tag(sync=True)
    squash = traitlets.Bool(False).tag(sync=True)

    def gradients(self) -> Tensor:
        """Return the derivative of the state after 0, 1, ..., ``length`` steps by the first, in float64."""
        first = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
        state, found = first, [1.0]
        for _ in range(self.length):
            state = torch.tanh(self.weight * state) if self.squash else self.weight * state
            found.append(torch.autograd.grad(state, first, retain_graph=True)[0].item())
        return torch.tensor(found, dtype=torch.float64)

    def __repr__(self) -> str:
        return f"GradientDecay(weight={self.weight:g}, length={self.length}, squash={self.squash})"
