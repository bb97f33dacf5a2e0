"""Numbers by name: every run of a training as a point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from torch import Tensor

from attnlib.plotting.kit.style import INK, MUTED, SERIES, array, axes_or_new


def strips(
    groups: Mapping[str, Sequence[float]],
    *,
    level: tuple[float, str] | None = None,
    apart: float = 0.0,
    medians: str | None = None,
    xlabel: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw every single number of some named groups, a row of points for each.

    Args:
        groups: The numbers of each group, from the top.
        level: A number to draw a line at, such as chance, and its name.
        apart: How far the points of a row stand above each other, in rows, so that equal ones are seen.
        medians: How to write the median at the right of each row, ``".2f"`` say; not at all if not given.
        xlabel: What the numbers are.
        ax: Where to draw.

    Returns:
        The axes.
    """
    ax = axes_or_new(ax, (5.6, 0.9 + 0.42 * len(groups)))
    if level is not None:
        ax.axvline(level[0], color=MUTED, lw=1.2, ls=(0, (1, 2)))
        above = {"textcoords": "offset points", "ha": "center", "color": MUTED}
        ax.annotate(level[1], (level[0], 1), (0, 3), xycoords=("data", "axes fraction"), **above)
    for row, numbers in enumerate(groups.values()):
        x = array(numbers)
        heights = row + apart * (np.arange(len(x)) - (len(x) - 1) / 2)
        ax.plot(x, heights, "o", color=SERIES[0], alpha=0.6, markersize=5 if apart else 7)
        if medians is not None:
            ax.annotate(
                f"{np.median(x):{medians}}", (x.max(), row), (8, 0), textcoords="offset points", va="center"
            )
    ax.set_yticks(range(len(groups)), list(groups))
    ax.set_ylim(len(groups) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(xlabel)
    return ax


def dot_rows(
    labels: Sequence[str],
    series: Mapping[str, Tensor | np.ndarray | Sequence[float]],
    *,
    beside: tuple[str, Sequence[str]] | None = None,
    xlabel: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw a row for each label with a dot for each series, the first two joined by a line.

    Args:
        labels: A name for each row, from the top.
        series: For each kind of dot, a number for each label.
        beside: A column of texts at the right, one for each row: its head, and the texts.
        xlabel: What the numbers are.
        ax: Where to draw.

    Returns:
        The axes.

    Raises:
        ValueError: If a series, or the column, has not one entry for each label.
    """
    rows, numbers = np.arange(len(labels)), {name: array(x) for name, x in series.items()}
    for name, x in [*numbers.items(), *([(beside[0], np.asarray(beside[1]))] if beside else [])]:
        if x.shape != (len(labels),):
            raise ValueError(f"{name} must have one entry for each of {len(labels)} labels, got {x.shape}")
    ax = axes_or_new(ax, (5.6, 1.0 + 0.36 * len(labels)))
    joined = list(numbers.values())[:2]
    if len(joined) == 2:
        ax.hlines(rows, *joined, color=MUTED, lw=1.2)
    for i, (name, x) in enumerate(numbers.items()):
        colour, marker = SERIES[i % len(SERIES)], "osD^"[i % 4]
        ax.plot(x, rows, marker, color=colour, markersize=7 if i < 2 else 6, label=name, clip_on=False)
    if beside is not None:
        at = {"xycoords": ("axes fraction", "data"), "annotation_clip": False, "va": "center", "ha": "center"}
        for row, text in [(-1, beside[0]), *enumerate(beside[1])]:
            ax.annotate(text, (1.14, row), color=MUTED if row < 0 else INK, **at)
    ax.set_yticks(rows, labels)
    ax.set_ylim(len(labels) - 0.5, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", visible=False)
    ax.set_xlabel(xlabel)
    names = {"handletextpad": 0.1, "columnspacing": 1.2, "borderpad": 0.2}
    ax.legend(loc="lower left", bbox_to_anchor=(-0.26, 1.0), ncols=len(series), **names)
    return ax
