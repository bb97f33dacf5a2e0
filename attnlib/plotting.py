"""Figures of the book. Each helper draws on ``ax``, or on a new one, and returns it.

Sizes and fonts come from ``book/matplotlibrc``. Queries are rows, keys are columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from torch import Tensor

try:
    import matplotlib.pyplot as plt
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap, LinearSegmentedColormap, ListedColormap
except ImportError as error:
    raise ImportError("figures need matplotlib: pip install 'attnlib[plot]'") from error

INK, MUTED, PAPER = "#1f2730", "#6b7682", "#ffffff"
BLUE, ORANGE, GREEN, PURPLE = "#1d5c96", "#c2571a", "#2b8a6a", "#7d4e9e"
COLOURS = (BLUE, ORANGE, GREEN, PURPLE)

WEIGHTS = LinearSegmentedColormap.from_list("weights", [PAPER, "#b9d3ea", "#5f9bd1", BLUE, "#0c3358"])
MASK = ListedColormap(["#e4e1da", BLUE])


def _array(x: Tensor | np.ndarray | Sequence) -> np.ndarray:
    return x.detach().cpu().double().numpy() if isinstance(x, Tensor) else np.asarray(x, dtype=float)


def _cells(
    name: str,
    x: Tensor | np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    colours: Colormap,
    labels: tuple[str, str],
    ax: Axes | None,
) -> tuple[Axes, np.ndarray]:
    """Draw a matrix with values from 0 to 1 as labelled cells, thin lines between them."""
    values = _array(x)
    if values.shape != (len(rows), len(columns)):
        raise ValueError(f"{name} must be (queries, keys) = {(len(rows), len(columns))}, got {values.shape}")
    if ax is None:
        _, ax = plt.subplots(figsize=(1.6 + 0.62 * len(columns), 1.1 + 0.5 * len(rows)))
    ax.imshow(values, cmap=colours, vmin=0, vmax=1, aspect="auto")
    ax.set_xticks(range(len(columns)), columns)
    ax.set_yticks(range(len(rows)), rows)
    ax.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    if max(map(len, columns), default=0) > 8:
        plt.setp(ax.get_xticklabels(), rotation=40, ha="left", rotation_mode="anchor")
    ax.set_xticks(np.arange(len(columns) + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(len(rows) + 1) - 0.5, minor=True)
    ax.grid(False)
    ax.grid(which="minor", color=PAPER, linewidth=1.5)
    ax.tick_params(which="minor", length=0, top=False, bottom=False, left=False)
    ax.spines[:].set_visible(False)
    ax.set_ylabel(labels[0])
    ax.set_xlabel(labels[1], labelpad=8, loc="left")
    ax.xaxis.set_label_position("top")
    return ax, values


def heatmap(
    weights: Tensor | np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    digits: int = 2,
    labels: tuple[str, str] = ("query", "key"),
    ax: Axes | None = None,
) -> Axes:
    """Draw weights as a table of coloured cells with their numbers.

    Args:
        weights: ``(T, S)``, between 0 and 1.
        queries: Labels of the rows.
        keys: Labels of the columns.
        digits: Decimals to print; 0 prints none.
        labels: What to call rows and columns.
        ax: Where to draw.

    Returns:
        The axes.

    Raises:
        ValueError: If the labels do not fit the weights.
    """
    ax, w = _cells("weights", weights, queries, keys, WEIGHTS, labels, ax)
    if digits:
        for i, j in np.ndindex(w.shape):
            colour = PAPER if w[i, j] > 0.55 else INK
            ax.text(j, i, f"{w[i, j]:.{digits}f}", ha="center", va="center", color=colour)
    return ax


def mask_grid(
    mask: Tensor | np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw a mask: a coloured cell may be attended to, a pale one may not.

    Args:
        mask: ``(T, S)``, True = may attend.
        queries: Labels of the rows.
        keys: Labels of the columns.
        ax: Where to draw.

    Returns:
        The axes.

    Raises:
        ValueError: If the labels do not fit the mask.
    """
    ax, _ = _cells("mask", mask, queries, keys, MASK, ("query", "key"), ax)
    return ax


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
            arrowprops={"arrowstyle": "-|>", "color": ORANGE, "lw": 1.6},
        )
        ax.plot(x, y, "D", color=ORANGE, markersize=5)
        left = x < points[word][0]  # name it on the side away from the word
        ax.annotate(
            f"new {word}",
            (x, y),
            (-8 if left else 8, -4),
            textcoords="offset points",
            color=ORANGE,
            va="top",
            ha="right" if left else "left",
        )
    every = np.array([*points.values(), *(moved or {}).values()], dtype=float)
    low, high = min(0.0, every.min()) - 0.8, every.max() + 0.9
    ax.set(xlim=(low, high), ylim=(low, high), aspect="equal", xlabel=axes[0], ylabel=axes[1])
    ax.axhline(0, color=MUTED, lw=0.8, zorder=0)
    ax.axvline(0, color=MUTED, lw=0.8, zorder=0)
    return ax


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
        y = np.atleast_2d(_array(values))
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
        ax.plot(_array(x), _array(y), style, color=colour, label=label)
    if points is not None:
        ax.plot(_array(points[0]), _array(points[1]), "o", color=INK, markersize=7, zorder=3)
    ax.legend()
    ax.set(xlabel=xlabel, ylabel=ylabel)
    return ax
