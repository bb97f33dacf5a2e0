"""The explorable of chapter 6: a mask to paint on."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from attnlib.functional import masked_softmax
from attnlib.masks import causal_mask, document_mask, padding_mask, prefix_mask, sliding_window_mask
from attnlib.widgets._base import anywidget, front_end, traitlets

WORDS = ["The", "cat", "sat", "on", "the", "mat"]
SCORES = [
    [1.0, 1.5, 0.2, 0.0, 0.8, 1.1],
    [0.9, 1.2, 1.6, 0.3, 0.1, 0.7],
    [0.2, 2.0, 0.9, 0.6, 0.0, 1.3],
    [0.1, 0.4, 1.7, 0.5, 0.3, 1.9],
    [0.8, 0.3, 0.2, 1.0, 0.7, 1.4],
    [0.4, 1.3, 1.1, 1.2, 1.5, 0.9],
]  # the score of each word with each, made up
PRESETS = {
    "full": torch.ones(6, 6, dtype=torch.bool),
    "causal": causal_mask(6),
    "window of 2": sliding_window_mask(6, window=2),
    "prefix of 3": prefix_mask(6, prefix=3),
    "two documents": document_mask(torch.tensor([0, 0, 0, 1, 1, 1])) & causal_mask(6),
    "padding": padding_mask([4], 6)[0, 0].expand(6, 6),
    "nothing": torch.zeros(6, 6, dtype=torch.bool),
}


class MaskPainter(anywidget.AnyWidget):
    """A sentence and a mask to paint on: weights, row sums and leaks follow.

    Attributes:
        words: The sentence.
        scores: Of each word against each, before the softmax.
        mask: For each word, which words it may attend to.
        after: Whether weights are set to zero after the softmax, instead of scores to minus infinity before.
        layers: How many layers with this mask stand on each other; each adds to what it is given.
        presets: Masks to start from, by name.
    """

    _esm, _css = front_end("masks")

    words = traitlets.List(traitlets.Unicode()).tag(sync=True)
    scores = traitlets.List().tag(sync=True)
    mask = traitlets.List().tag(sync=True)
    after = traitlets.Bool(False).tag(sync=True)
    layers = traitlets.Int(1).tag(sync=True)
    presets = traitlets.List().tag(sync=True)

    def __init__(self, preset: str = "causal", **state: Any) -> None:
        if preset not in PRESETS:
            raise ValueError(f"preset must be one of {', '.join(PRESETS)}, got {preset!r}")
        presets = [{"name": name, "mask": mask.tolist()} for name, mask in PRESETS.items()]
        first = {"words": WORDS, "scores": SCORES, "mask": PRESETS[preset].tolist()}
        super().__init__(presets=presets, **(first | state))

    def weights(self) -> Tensor:
        """Return the weights ``(T, T)`` that `attnlib` computes for the state shown, in float64."""
        scores, mask = torch.tensor(self.scores, dtype=torch.float64), torch.tensor(self.mask)
        return masked_softmax(scores) * mask if self.after else masked_softmax(scores, mask)

    def dependencies(self) -> Tensor:
        """Return which word (row) depends on which (column) through all layers, boolean ``(T, T)``."""
        mask = torch.tensor(self.mask)
        own = torch.eye(len(self.words), dtype=torch.bool)
        one = own | (mask.any(-1, keepdim=True) if self.after else mask)
        depends = own
        for _ in range(self.layers):
            depends = (one.double() @ depends.double()) > 0
        return depends

    def leaks(self) -> Tensor:
        """Return which word depends on which later word, boolean ``(T, T)``."""
        return self.dependencies() & ~causal_mask(len(self.words))

    def __repr__(self) -> str:
        open_cells = sum(map(sum, self.mask))
        return f"MaskPainter({' '.join(self.words)!r}, {open_cells} pairs, leaks={int(self.leaks().sum())})"
