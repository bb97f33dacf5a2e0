"""Words as points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from attnlib.plotting._style import INK, MUTED, OUTPUT, plt


def plane(
    points: Mapping[str, Sequence[float]],
    moved: Mapping[str, Sequence[float]] | None = None,
    *,
    axes: tuple[str, str] = ("", ""),
    ax: Axes | None = None,
) -> Axes:
    """Draw words as points in the plane, and arrows to where some of them move.

    Args:
        points: Where each word lies.
        moved: Where some of them go.
        axes: What the two axes stand for.
        ax: Where to draw.

    Returns:
        The axes.
    """
    if ax is None:
        _, ax = plt.subplots(figsize=(3.9, 3.7))
    for word, (x, y) in points.items():
        ax.plot(x, y, "o", color=INK, markersize=6)
        ax.annotate(word, (x, y), (6, 6), textcoords="offset points", color=INK, weight="bold")
    for word, (x, y) in (moved or {}).items():
        ax.annotate(
            "",
            (x, y),
            tuple(points[word]),
            arrowprops={"arrowstyle": "-|>", "color": OUTPUT, "lw": 1.6},
        )
        ax.plot(x, y, "D", color=OUTPUT, markersize=5)
        left = x < points[word][0]  # name it on the side away from the word
        ax.annotate(
            f"new {word}",
            (x, y),
            (-8 if left else 8, -4),
            textcoords="offset points",
            color=OUTPUT,
            va="top",
            ha="right" if left else "left",
        )
    every = np.array([*points.values(), *(moved or {}).values()], dtype=float)
    low, high = min(0.0, every.min()) - 0.8, every.max() + 0.9
    ax.set(xlim=(low, high), ylim=(low, high), aspect="equal", xlabel=axes[0], ylabel=axes[1])
    ax.axhline(0, color=MUTED, lw=0.8, zorder=0)
    ax.axvline(0, color=MUTED, lw=0.8, zorder=0)
    return ax
