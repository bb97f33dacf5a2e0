"""Numbers against numbers: training curves, and lines over one axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from torch import Tensor

from attnlib.plotting.kit.labels import End, draw_level, draw_region, name_ends
from attnlib.plotting.kit.style import INK, SERIES, array, axes_or_new
from attnlib.plotting.kit.ticks import plain_powers


def _look(i: int, colours: Sequence[str] | None = None) -> tuple[str, str]:
    """Return colour and dashes of the line with this number; after the last colour the dashes change."""
    chosen = SERIES if colours is None else colours
    return chosen[i % len(chosen)], ("-", "--", ":")[i // len(chosen) % 3]


def curves(
    runs: Mapping[str, Tensor | np.ndarray],
    *,
    x: Sequence[float] | None = None,
    level: tuple[float, str] | None = None,
    region: tuple[Sequence[float], Sequence[float], str] | None = None,
    colours: Sequence[str] | None = None,
    log: bool = False,
    xlabel: str = "step",
    ylabel: str = "loss",
    ax: Axes | None = None,
) -> Axes:
    """Draw what several seeds gave: the median, and the spread between them.

    Args:
        runs: For each label, numbers of every seed and step, ``(seeds, steps)``.
        x: Where the steps lie; 0, 1, 2 and so on if not given. Points are marked if it is.
        level: A height to draw across, such as chance, and its name.
        region: A region that cannot be entered: places, the heights below which it lies, and its name.
        colours: A colour for each label, where it has a meaning; those of the series if not given.
        log: Whether the numbers go on a logarithmic axis.
        xlabel: Label of the steps.
        ylabel: Label of the numbers.
        ax: Where to draw.

    Returns:
        The axes.
    """
    ax = axes_or_new(ax)
    if log:
        ax.set_yscale("log")
        plain_powers(ax)
    if region is not None:
        draw_region(ax, region)
    ends = []
    for i, (label, values) in enumerate(runs.items()):
        colour, dashes = _look(i, colours)
        y = np.atleast_2d(array(values))
        place = np.arange(y.shape[1]) if x is None else array(x)
        ax.fill_between(place, y.min(0), y.max(0), color=colour, alpha=0.2, linewidth=0)
        middle = np.median(y, 0)
        ax.plot(place, middle, dashes, color=colour, marker="" if x is None else "o", markersize=4)
        ends.append(End(float(place[-1]), float(middle[-1]), label, colour))
    ax.set(xlabel=xlabel, ylabel=ylabel)
    name_ends(ax, ends)
    if level is not None:
        draw_level(ax, level)
    return ax


def lines(
    x: Sequence[float],
    series: Mapping[str, Tensor | np.ndarray],
    *,
    points: tuple[Sequence[float], Sequence[float]] | None = None,
    level: tuple[float, str] | None = None,
    region: tuple[Sequence[float], Sequence[float], str] | None = None,
    colours: Sequence[str] | None = None,
    xlabel: str = "",
    ylabel: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw named lines over one axis, and known points if there are any.

    Args:
        x: Where the lines are known.
        series: Each line by its name.
        points: Known points, as their x and their y.
        level: A height to draw across, such as chance, and its name.
        region: A region that cannot be entered: places, the heights below which it lies, and its name.
        colours: A colour for each line, where it has a meaning; those of the series if not given.
        xlabel: Label of x.
        ylabel: Label of y.
        ax: Where to draw.

    Returns:
        The axes.
    """
    ax = axes_or_new(ax)
    if region is not None:
        draw_region(ax, region)
    ends = []
    for i, (label, values) in enumerate(series.items()):
        colour, dashes = _look(i, colours)
        place, y = array(x), array(values)
        ax.plot(place, y, dashes, color=colour)
        ends.append(End(float(place[-1]), float(y[-1]), label, colour))
    if points is not None:
        ax.plot(array(points[0]), array(points[1]), "o", color=INK, markersize=7, zorder=3)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    name_ends(ax, ends)
    if level is not None:
        draw_level(ax, level)
    return ax
