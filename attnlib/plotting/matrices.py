"""Several matrices beside each other: what a layer makes of a sentence, step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from torch import Tensor

from attnlib.plotting._style import SIGNED, WEIGHTS, array, plt
from attnlib.plotting.grids import ACROSS, fill_cells

SHAPES = 650  # more cells than these are drawn as pixels: a file for each figure of at most 150 kB


def matrices(
    named: Mapping[str, Tensor | np.ndarray],
    rows: Sequence[str],
    columns: Sequence[str] | None = None,
    *,
    across: int = 2,
    signed: bool = True,
) -> list[Axes]:
    """Draw matrices under their names, on a figure of their own, all in the same colours.

    Args:
        named: For each name a matrix ``(len(rows), n)``.
        rows: Labels of the rows, written at the left.
        columns: Labels of the columns, if they have any.
        across: How many stand side by side, two at most.
        signed: Whether the numbers lie on both sides of 0, which is drawn white; if not, they go from 0 to 1.

    Returns:
        The axes, as many as there are matrices.

    Raises:
        ValueError: If the labels do not fit a matrix.
    """
    drawn = {name: array(x) for name, x in named.items()}
    for name, x in drawn.items():
        wide = x.shape[-1] if columns is None else len(columns)
        if x.shape != (len(rows), wide):
            raise ValueError(f"{name} must be (rows, columns) = {(len(rows), wide)}, got {x.shape}")
    largest = max(float(np.abs(x[np.isfinite(x)]).max()) for x in drawn.values())
    scale = (
        {"cmap": SIGNED, "vmin": -largest, "vmax": largest}
        if signed
        else {"cmap": WEIGHTS, "vmin": 0, "vmax": 1}
    )
    across = min(across, ACROSS)
    down = -(-len(drawn) // across)
    size = 6.2, down * (0.5 + 0.2 * len(rows) + (0.6 if columns else 0))
    many = sum(x.size for x in drawn.values()) > SHAPES
    _, axes = plt.subplots(down, across, figsize=size, squeeze=False, sharey=True)
    for ax in axes.flat[len(drawn) :]:
        ax.set_visible(False)
    for ax, (name, x) in zip(axes.flat, drawn.items(), strict=False):
        if many:
            ax.imshow(x, aspect="auto", interpolation="nearest", **scale)
        else:
            fill_cells(ax, x, **scale)
        ax.set_yticks(range(len(rows)), rows)
        ax.set_xticks(
            range(len(columns or [])),
            columns or [],
            rotation=60,
            ha="left",
            rotation_mode="anchor",
        )
        ax.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
        ax.grid(False)
        ax.spines[:].set_visible(False)
        ax.set_xlabel(name)
    return list(axes.flat[: len(drawn)])
