"""Numbers against numbers: training curves, and lines over one axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from torch import Tensor

from attnlib.plotting._style import COLOURS, INK, array, plt


def curves(
    runs: Mapping[str, Tensor | np.ndarray],
    *,
    xlabel: str = "step",
    ylabel: str = "loss",
    ax: Axes | None = None,
) -> Axes:
    """Draw training curves: the median of several seeds, and the spread between them.

    Args:
        runs: For each label, numbers of every seed and step, ``(seeds, steps)``.
        xlabel: Label of the steps.
        ylabel: Label of the numbers.
        ax: Where to draw.

    Returns:
        The axes.
    """
    if ax is None:
        _, ax = plt.subplots()
    for (label, values), colour in zip(runs.items(), COLOURS, strict=False):
        y = np.atleast_2d(array(values))
        x = np.arange(y.shape[1])
        ax.fill_between(x, y.min(0), y.max(0), color=colour, alpha=0.2, linewidth=0)
        ax.plot(x, np.median(y, 0), color=colour)
        ax.annotate(
            label,
            (x[-1], np.median(y, 0)[-1]),
            (6, 0),
            textcoords="offset points",
            color=colour,
            va="center",
        )
    ax.set(xlabel=xlabel, ylabel=ylabel)
    return ax


def lines(
    x: Sequence[float],
    series: Mapping[str, Tensor | np.ndarray],
    *,
    points: tuple[Sequence[float], Sequence[float]] | None = None,
    xlabel: str = "",
    ylabel: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw named lines over one axis, and known points if there are any.

    Args:
        x: Where the lines are known.
        series: Each line by its name.
        points: Known points, as their x and their y.
        xlabel: Label of x.
        ylabel: Label of y.
        ax: Where to draw.

    Returns:
        The axes.
    """
    if ax is None:
        _, ax = plt.subplots()
    styles = ("-", "--", "-.", ":")
    for (label, y), colour, style in zip(series.items(), COLOURS, styles, strict=False):
        ax.plot(array(x), array(y), style, color=colour, label=label)
    if points is not None:
        ax.plot(array(points[0]), array(points[1]), "o", color=INK, markersize=7, zorder=3)
    ax.legend()
    ax.set(xlabel=xlabel, ylabel=ylabel)
    return ax
