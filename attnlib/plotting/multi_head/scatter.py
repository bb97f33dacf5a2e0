"""Every single number as a point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from attnlib.plotting.kit.labels import draw_level
from attnlib.plotting.kit.style import SERIES, array, axes_or_new


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
        groups: For each position on the horizontal axis, its numbers.
        level: A height to draw across, such as chance, and its name.
        xlabel: Label of the horizontal axis.
        ylabel: Label of the numbers.
        ax: Where to draw.

    Returns:
        The axes.
    """
    ax = axes_or_new(ax)
    ax.plot(list(groups), [np.median(array(y)) for y in groups.values()], color=SERIES[0], lw=1.2, alpha=0.6)
    for x, y in groups.items():
        ax.plot([x] * len(y), array(y), "o", color=SERIES[0], markersize=6)
    ax.set_xticks(list(groups))
    ax.set(xlabel=xlabel, ylabel=ylabel)
    if level is not None:
        draw_level(ax, level)
    return ax
