"""Figures of the book. Each helper draws on ``ax``, or on a new one, and returns it.

Sizes and fonts come from ``book/matplotlibrc``. Queries are rows, keys are columns.
"""

from attnlib.plotting._style import BLUE, COLOURS, GREEN, INK, MASK, MUTED, ORANGE, PAPER, PURPLE, WEIGHTS
from attnlib.plotting.bars import grouped_bars
from attnlib.plotting.grids import heatmap, mask_grid
from attnlib.plotting.lines import curves, lines, scatter
from attnlib.plotting.maps import parallelogram, word_map
from attnlib.plotting.matrices import matrices
from attnlib.plotting.planes import plane

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
    "WEIGHTS",
    "curves",
    "grouped_bars",
    "heatmap",
    "lines",
    "mask_grid",
    "matrices",
    "parallelogram",
    "plane",
    "scatter",
    "word_map",
]
