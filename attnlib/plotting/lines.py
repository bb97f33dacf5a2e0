"""Numbers against numbers: training curves, and lines over one axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from torch import Tensor

from attnlib.plotting._style import BLUE, COLOURS, INK, MUTED, array, plt


def curves(
    runs: Mapping[str, Tensor | np.ndarray],
    *,
    x: Sequence[float] | None = None,
    level: tuple[float, str] | None = None,
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
        log: Whether the numbers go on a logarithmic axis.
        xlabel: Label of the steps.
        ylabel: Label of the numbers.
        ax: Where to draw.

    Returns:
        The axes.
    """
    if ax is None:
        _, ax = plt.subplots()
    if log:
        ax.set_yscale("log")
    if level is not None:
        ax.axhline(level[0], color=MUTED, lw=1.2, ls=":")
    ends = []
    for (label, values), colour in zip(runs.items(), COLOURS, strict=False):
        y = np.atleast_2d(array(values))
        place = np.arange(y.shape[1]) if x is None else array(x)
        ax.fill_between(place, y.min(0), y.max(0), color=colour, alpha=0.2, linewidth=0)
        ax.plot(place, np.median(y, 0), color=colour, marker="" if x is None else "o", markersize=4)
        ends.append((float(np.median(y, 0)[-1]), label, colour))
    ax.set(xlabel=xlabel, ylabel=ylabel)
    _name_ends(ax, [*ends, (*level, MUTED)] if level else ends)
    return ax


def panels(
    figures: Mapping[str, Mapping[str, Tensor | np.ndarray]],
    *,
    x: Sequence[float] | None = None,
    base: int | None = None,
    log: bool | Sequence[bool] = False,
    xlabel: str = "step",
) -> list[Axes]:
    """Draw several `curves` one above the other, over the same places.

    Args:
        figures: For each panel, the label of its numbers, and its runs as in `curves`.
        x: Where the steps lie.
        base: If given, the places go on a logarithmic axis to this base.
        log: Whether the numbers go on a logarithmic axis: one answer, or one for each panel.
        xlabel: Label of the places.

    Returns:
        The axes, from the top.
    """
    logs = [log] * len(figures) if isinstance(log, bool) else log
    size = 5.6, 0.7 + 2.2 * len(figures)
    _, axes = plt.subplots(len(figures), 1, figsize=size, sharex=True, squeeze=False)
    for ax, (ylabel, runs), log_y in zip(axes[:, 0], figures.items(), logs, strict=True):
        if base is not None:
            ax.set_xscale("log", base=base)
        curves(runs, x=x, log=log_y, xlabel="", ylabel=ylabel, ax=ax)
    axes[-1, 0].set_xlabel(xlabel)
    return list(axes[:, 0])


def _name_ends(ax: Axes, ends: list[tuple[float, str, str]]) -> None:
    """Write each label to the right of its line, and move labels apart that would overlap."""
    ax.autoscale_view()  # until then the axes do not know how far the lines reach
    heights = ax.transAxes.inverted().transform(ax.transData.transform([(0.0, y) for y, *_ in ends]))[:, 1]
    lowest = -1.0
    for i in np.argsort(heights, kind="stable"):
        lowest = max(heights[i], lowest + 0.075)  # the height of a line of text
        ax.annotate(
            ends[i][1],
            (1.0, lowest),
            (6, 0),
            xycoords="axes fraction",
            textcoords="offset points",
            color=ends[i][2],
            va="center",
        )


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


def scatter(
    groups: Mapping[float, Sequence[float]],
    *,
    level: tuple[float, str] | None = None,
    xlabel: str = "",
    ylabel: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw every single number of some groups, and a line through their medians.

    Args:
        groups: For each place on the horizontal axis, its numbers.
        level: A height to draw across, such as chance, and its name.
        xlabel: Label of the places.
        ylabel: Label of the numbers.
        ax: Where to draw.

    Returns:
        The axes.
    """
    if ax is None:
        _, ax = plt.subplots()
    ax.plot(list(groups), [np.median(array(y)) for y in groups.values()], color=BLUE, lw=1.2, alpha=0.6)
    for x, y in groups.items():
        ax.plot([x] * len(y), array(y), "o", color=BLUE, markersize=6)
    ax.set_xticks(list(groups))
    ax.set(xlabel=xlabel, ylabel=ylabel)
    if level is not None:
        ax.axhline(level[0], color=MUTED, lw=1.2, ls=":")
        _name_ends(ax, [(*level, MUTED)])
    return ax


def cloud(
    x: Tensor | np.ndarray | Sequence[float],
    y: Tensor | np.ndarray | Sequence[float],
    *,
    xlabel: str = "",
    ylabel: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw many points, pale enough to see where they lie thick.

    Args:
        x: Numbers of any shape.
        y: As many.
        xlabel: Label of x.
        ylabel: Label of y.
        ax: Where to draw.

    Returns:
        The axes.

    Raises:
        ValueError: If there are not as many x as y.
    """
    across, up = array(x).ravel(), array(y).ravel()
    if across.shape != up.shape:
        raise ValueError(f"x and y must be as many, got {across.size} and {up.size}")
    if ax is None:
        _, ax = plt.subplots()
    ax.plot(across, up, "o", color=BLUE, alpha=0.15, markersize=4, markeredgewidth=0)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    return ax
