"""Numbers by name: bars side by side, and every run of a training as a point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from torch import Tensor

from attnlib.plotting._style import INK, MUTED, SERIES, array, plt


def grouped_bars(
    labels: Sequence[str],
    series: Mapping[str, Tensor | np.ndarray | Sequence[float]],
    *,
    xlabel: str = "",
    digits: int = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw horizontal bars, a group for each label, with their numbers.

    Args:
        labels: A name for each group, from the top.
        series: For each kind of bar, a number for each label.
        xlabel: What the numbers are.
        digits: Decimals to print beside the bars.
        ax: Where to draw.

    Returns:
        The axes.

    Raises:
        ValueError: If a series has not one number for each label.
    """
    if ax is None:
        _, ax = plt.subplots(figsize=(5.6, 0.9 + 0.24 * len(labels) * (len(series) + 0.8)))
    height = 0.8 / max(1, len(series))
    for i, (name, numbers) in enumerate(series.items()):
        values = array(numbers)
        if values.shape != (len(labels),):
            raise ValueError(
                f"{name} must have one number for each of {len(labels)} labels, got {values.shape}"
            )
        at = np.arange(len(labels)) + (i - (len(series) - 1) / 2) * height
        ax.barh(at, values, height * 0.9, color=SERIES[i % len(SERIES)], label=name)
        for y, value in zip(at, values, strict=True):
            ax.annotate(
                f"{value:.{digits}f}",
                (value, y),
                (3, 0),
                textcoords="offset points",
                va="center",
                color=INK,
            )
    ax.set_yticks(range(len(labels)), labels)
    ax.invert_yaxis()
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", visible=False)
    ax.set_xlabel(xlabel)
    if len(series) > 1:
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(series))
    return ax


def strips(
    groups: Mapping[str, Sequence[float]],
    *,
    level: tuple[float, str] | None = None,
    xlabel: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw every single number of some named groups, a row of points for each.

    Args:
        groups: The numbers of each group, from the top.
        level: A number to draw a line at, such as chance, and its name.
        xlabel: What the numbers are.
        ax: Where to draw.

    Returns:
        The axes.
    """
    if ax is None:
        _, ax = plt.subplots(figsize=(5.6, 0.9 + 0.42 * len(groups)))
    if level is not None:
        ax.axvline(level[0], color=MUTED, lw=1.2, ls=(0, (1, 2)))
        above = {"textcoords": "offset points", "ha": "center", "color": MUTED}
        ax.annotate(level[1], (level[0], 1), (0, 3), xycoords=("data", "axes fraction"), **above)
    for row, numbers in enumerate(groups.values()):
        ax.plot(array(numbers), [row] * len(numbers), "o", color=SERIES[0], alpha=0.6, markersize=7)
    ax.set_yticks(range(len(groups)), list(groups))
    ax.set_ylim(len(groups) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(xlabel)
    return ax
