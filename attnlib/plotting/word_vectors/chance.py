"""Named numbers against what chance gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from torch import Tensor

from attnlib.plotting.kit.style import INK, MUTED, SERIES, array, axes_or_new

BINS = 60


def against_chance(
    chance: Tensor | np.ndarray | Sequence[float],
    named: Mapping[str, float],
    *,
    name: str = "at random",
    mean: float | None = None,
    xlabel: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw how numbers lie that come about by chance, and over them some that have a name.

    Args:
        chance: Many numbers.
        named: Numbers with a name; each gets a row of its own, in this order from the top.
        name: What the many numbers are.
        mean: Their mean, if a line shall mark it.
        xlabel: What all of the numbers are.
        ax: Where to draw.

    Returns:
        The axes.
    """
    many = array(chance).ravel()
    ax = axes_or_new(ax, (5.6, 1.6 + 0.24 * len(named)))
    counts, edges = np.histogram(many, BINS)
    high = counts / counts.max() * 4  # as high as four rows
    ax.stairs(high, edges, fill=True, color=MUTED, alpha=0.25)
    ax.stairs(high, edges, color=MUTED, lw=1.2)
    centre = edges[int(counts.argmax())]
    if mean is not None:  # the line stands on the name
        centre, name = mean, f"{name},\nmean {mean:.2f}"
        top = np.interp(mean, (edges[1:] + edges[:-1]) / 2, high)
        ax.vlines(mean, 1.9, max(top, 2.4), color=INK, lw=1.6, ls=(0, (1, 1.5)))
    ax.annotate(name, (centre, 0.2 if mean is not None else 0.35), ha="center", va="bottom", color=INK)
    low, far = min(edges[0], *named.values()), max(edges[-1], *named.values())
    for i, (text, value) in enumerate(named.items()):
        row = 4.2 + len(named) - i
        hill = np.interp(value, (edges[1:] + edges[:-1]) / 2, high, left=0, right=0)  # whose name stays free
        ax.vlines(value, hill, row, color=SERIES[0], lw=1, alpha=0.5)
        ax.plot(value, row, "o", color=SERIES[0], markersize=6)
        left = value > low + 0.6 * (far - low)  # or the name would leave the frame
        ax.annotate(
            f"{text}  {value:.2f}",
            (value, row),
            (-8 if left else 8, 0),
            textcoords="offset points",
            ha="right" if left else "left",
            va="center",
        )
    ax.set(yticks=[], ylim=(0, 4.9 + len(named)), xlabel=xlabel)
    ax.spines["left"].set_visible(False)
    ax.grid(axis="y", visible=False)
    return ax
