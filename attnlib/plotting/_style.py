"""Colours, and reading numbers, for every figure. Sizes and fonts come from ``book/matplotlibrc``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch import Tensor

try:
    import matplotlib.pyplot as plt
    from matplotlib.colors import LinearSegmentedColormap, ListedColormap
except ImportError as error:
    raise ImportError("figures need matplotlib: pip install 'attnlib[plot]'") from error

__all__ = [
    "BLUE",
    "COLOURS",
    "GREEN",
    "INK",
    "MASK",
    "MUTED",
    "ORANGE",
    "PAPER",
    "PURPLE",
    "SIGNED",
    "WEIGHTS",
    "array",
    "plt",
]

INK, MUTED, PAPER = "#1f2730", "#6b7682", "#ffffff"
BLUE, ORANGE, GREEN, PURPLE = "#1d5c96", "#c2571a", "#2b8a6a", "#7d4e9e"
COLOURS = (BLUE, ORANGE, GREEN, PURPLE)

WEIGHTS = LinearSegmentedColormap.from_list("weights", [PAPER, "#b9d3ea", "#5f9bd1", BLUE, "#0c3358"])
SIGNED = LinearSegmentedColormap.from_list(
    "signed", ["#7a330c", ORANGE, "#eeb795", PAPER, "#9cc1e2", BLUE, "#0c3358"]
)
MASK = ListedColormap(["#e4e1da", BLUE])


def array(x: Tensor | np.ndarray | Sequence) -> np.ndarray:
    """Read numbers from wherever they are."""
    return x.detach().cpu().double().numpy() if isinstance(x, Tensor) else np.asarray(x, dtype=float)
