"""Matrices as coloured cells: weights and masks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap
from matplotlib.patches import Rectangle
from torch import Tensor

from attnlib.plotting.kit.style import INK, MASK, PAPER, SERIES, WEIGHTS, array, fading, plt

ACROSS = 2  # more panels cannot be read on a phone


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
        _, ax = plt.subplots(figsize=(min(6.2, 1.6 + 0.62 * len(columns)), 1.1 + 0.4 * len(rows)))
    fill_cells(ax, values, cmap=colours, vmin=0, vmax=1, edgecolor=PAPER, linewidth=1.5)
    ax.set_xticks(range(len(columns)), columns)
    ax.set_yticks(range(len(rows)), rows)
    ax.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    if max(map(len, columns), default=0) > 8:
        plt.setp(ax.get_xticklabels(), rotation=40, ha="left", rotation_mode="anchor")
    ax.grid(False)
    ax.spines[:].set_visible(False)
    ax.set_ylabel(labels[0])
    ax.set_xlabel(labels[1], labelpad=8, loc="left")
    ax.xaxis.set_label_position("top")
    return ax, values


def fill_cells(ax: Axes, values: np.ndarray, **look) -> None:
    """Fill a cell for each number, the first row on top; each stays a shape, so that it follows the theme."""
    T, S = values.shape
    ax.pcolormesh(np.arange(S + 1) - 0.5, np.arange(T + 1) - 0.5, values, **look)
    ax.set(xlim=(-0.5, S - 0.5), ylim=(T - 0.5, -0.5))


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
            ax.text(j, i, f"{w[i, j]:.{digits}f}", ha="center", va="center", color=INK)
    return ax


def grid_row(
    grids: Mapping[str, Tensor | np.ndarray],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    digits: int = 1,
    colours: Mapping[str, str] | None = None,
) -> list[Axes]:
    """Draw several small tables of numbers from 0 to 1, two across, on a figure of their own.

    Args:
        grids: For each name, numbers ``(len(rows), len(columns))``.
        rows: Labels of the rows, written once.
        columns: Labels of the columns, written over each table.
        digits: Decimals to print; 0 prints none.
        colours: For the name of a table, the colour of its cells; that of weights if not given.

    Returns:
        The axes, one for each table.

    Raises:
        ValueError: If the labels do not fit the numbers.
    """
    across = min(ACROSS, len(grids))
    down = -(-len(grids) // across)
    wide = min(6.2, 1.2 + across * (0.2 + 0.64 * len(columns)))
    size = wide, down * (1.2 + 0.3 * len(rows))
    figure, axes = plt.subplots(down, across, figsize=size, sharey=True, squeeze=False, layout="constrained")
    figure.get_layout_engine().set(hspace=0.08)
    for ax in axes.flat[len(grids) :]:
        ax.set_visible(False)
    for ax, (name, numbers) in zip(axes.flat, grids.items(), strict=False):
        heatmap(numbers, rows, columns, digits=digits, labels=("", ""), ax=ax)
        ax.set_title(name, weight="bold", pad=10)
        if colours and name in colours:
            darkest = 0.6 if digits else 0.9  # a number has to stand on it
            ax.collections[0].set_cmap(fading(name, (colours[name], 0), (colours[name], darkest)))
    return list(axes.flat[: len(grids)])


def mask_row(
    masks: Mapping[str, Tensor | np.ndarray],
    *,
    queries: Sequence[str] | None = None,
    keys: Sequence[str] | None = None,
    allowed: Tensor | np.ndarray | None = None,
    columns: int = 2,
    labels: tuple[str, str] = ("query", "key"),
    above: bool = False,
) -> np.ndarray:
    """Draw several masks of one size, two across, each with its name.

    Args:
        masks: By name, each ``(T, S)``, True = may attend; or what `leaks` found.
        queries: Labels of the rows; numbers if not given.
        keys: Labels of the columns; numbers if not given.
        allowed: ``(T, S)``; what is True in a mask and False here is drawn in another colour, with a cross.
        columns: How many stand side by side, two at most.
        labels: What to call rows and columns.
        above: Whether names stand over the masks instead of under them, and every mask has its labels.

    Returns:
        The axes, as many as there are masks.

    Raises:
        ValueError: If a mask does not fit the labels or ``allowed``.
    """
    T, S = array(next(iter(masks.values()))).shape
    queries = [str(i) for i in range(T)] if queries is None else queries
    keys = [str(j) for j in range(S)] if keys is None else keys
    columns = min(columns, ACROSS, len(masks))
    rows = -(-len(masks) // columns)
    turned = max(map(len, keys)) > 2
    wide = min(6.2, columns * (0.9 + 0.3 * S))
    size = (wide, rows * (0.85 + 0.4 * turned + 0.35 * above + 0.26 * T))
    _, grid = plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    for i, (ax, (name, mask)) in enumerate(zip(grid.flat, masks.items(), strict=False)):
        _cells(name, mask, queries, keys, MASK, labels if above or i == 0 else ("", ""), ax)
        if turned:
            plt.setp(ax.get_xticklabels(), rotation=60, ha="left", rotation_mode="anchor")
        if above:
            ax.set_title(name, loc="left", fontweight="bold", color=INK)
        else:
            ax.text(0.5, -0.05, name, transform=ax.transAxes, ha="center", va="top", color=INK)
        if allowed is not None:
            _cross(ax, array(mask), array(allowed))
    for ax in grid.flat[len(masks) :]:
        ax.set_visible(False)
    return grid.flat[: len(masks)]


def _cross(ax: Axes, found: np.ndarray, allowed: np.ndarray) -> None:
    """Draw over every cell that is True and must not be."""
    if found.shape != allowed.shape:
        raise ValueError(f"allowed must be {found.shape} like the masks, got {allowed.shape}")
    for i, j in np.argwhere((found > 0) & (allowed == 0)):
        ax.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, facecolor=SERIES[3], edgecolor=PAPER, linewidth=1.5))
        ax.plot(j, i, "x", color=PAPER, markersize=5, markeredgewidth=1.5)
