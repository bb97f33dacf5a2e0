"""Matrices as coloured cells: weights and masks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap
from torch import Tensor

from attnlib.plotting._style import INK, MASK, PAPER, WEIGHTS, array, plt


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
    values = array(x)
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


def mask_row(masks: Mapping[str, Tensor | np.ndarray]) -> list[Axes]:
    """Draw masks side by side, without labels of rows and columns, each with its name below.

    Args:
        masks: Each ``(T, S)``, True = may attend, by its name.

    Returns:
        The axes, one for each mask.
    """
    _, axes = plt.subplots(1, len(masks), figsize=(7.2, 2.9), squeeze=False)
    for ax, (name, mask) in zip(axes[0], masks.items(), strict=True):
        rows, columns = mask.shape
        mask_grid(mask, [""] * rows, [""] * columns, ax=ax)
        ax.set(xlabel="", ylabel="", aspect="equal")
        ax.set_xlabel(name, loc="center")
        ax.xaxis.set_label_position("bottom")
    return list(axes[0])
