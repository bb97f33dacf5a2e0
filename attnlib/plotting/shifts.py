"""What something was and what it became, an arrow for each name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from torch import Tensor

from attnlib.plotting._style import MUTED, OUTPUT, array, plt

Numbers = Tensor | np.ndarray | Sequence[float]


def shifts(
    labels: Sequence[str],
    before: Numbers,
    after: Numbers,
    *,
    names: tuple[str, str] = ("before", "after"),
    xlabel: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw an arrow for each label from one number to another.

    Args:
        labels: A name for each arrow, from the top.
        before: Where each begins.
        after: Where each ends.
        names: What to call beginning and end, written over the first arrow.
        xlabel: What the numbers are.
        ax: Where to draw.

    Returns:
        The axes.

    Raises:
        ValueError: If there is not one number for each label.
    """
    starts, ends = array(before), array(after)
    for name, numbers in zip(names, (starts, ends), strict=True):
        if numbers.shape != (len(labels),):
            raise ValueError(
                f"{name} must have one number for each of {len(labels)} labels, got {numbers.shape}"
            )
    if ax is None:
        _, ax = plt.subplots(figsize=(5.6, 1.0 + 0.27 * len(labels)))
    rows = np.arange(len(labels))
    ax.plot(starts, rows, "o", color=MUTED, markersize=5)
    ax.plot(ends, rows, "o", color=OUTPUT, markersize=6)
    for row in rows:
        line = {"arrowstyle": "-", "color": OUTPUT, "lw": 1.6, "alpha": 0.6, "shrinkA": 3, "shrinkB": 3}
        ax.annotate("", (ends[row], row), (starts[row], row), arrowprops=line)
    for name, x, colour in zip(names, (starts[0], ends[0]), (MUTED, OUTPUT), strict=True):
        ax.annotate(name, (x, 0), (0, 7), textcoords="offset points", ha="center", color=colour)
    ax.set_yticks(rows, labels)
    ax.set_ylim(len(labels) - 0.5, -1.2)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(xlabel)
    return ax
