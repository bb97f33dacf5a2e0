"""Where the deviation of scores comes from, and what a softmax makes of it: scores over weights, products."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from torch import Tensor

from attnlib.plotting.kit.drawing import Drawing
from attnlib.plotting.kit.style import GRID, INK, MUTED, SERIES, WEIGHT, array, plt

CELL = 30  # a cell
BETWEEN = 44  # between tables
EDGE = 6  # margins


def scores_over_weights(
    scores: Mapping[str, Tensor | np.ndarray],
    *,
    edge: float,
    bins: int = 41,
) -> list[Axes]:
    """Draw scores as histograms, side by side on one scale, and under each the weights they make.

    Args:
        scores: For each name, scores ``(queries, keys)`` before the softmax.
        edge: The histograms reach from minus this to this; what lies beyond is not drawn.
        bins: How many bars each histogram has.

    Returns:
        The axes, those of the histograms first.
    """
    wide = min(6.2, 0.6 + 1.75 * len(scores))
    _, rows = plt.subplots(
        2, len(scores), figsize=(wide, 4.1), height_ratios=(2.1, 2), sharey="row", squeeze=False
    )
    for i, (name, given) in enumerate(scores.items()):
        numbers = array(given)
        _draw_scores(rows[0, i], numbers, name, edge, bins)
        _draw_weights(rows[1, i], numbers)
    _draw_equal_weight(rows[1], len(numbers[0]))
    rows[1, 0].set_ylabel("weight")
    return [*rows.flat]


def _draw_scores(ax: Axes, scores: np.ndarray, name: str, edge: float, bins: int) -> None:
    shares, edges = np.histogram(scores, np.linspace(-edge, edge, bins + 1))
    ax.bar(edges[:-1], shares / shares.max(), np.diff(edges), align="edge", color=SERIES[0], linewidth=0)
    ax.set(xlim=(-edge, edge), ylim=(0, 1.45), xticks=[-edge / 2, 0, edge / 2], yticks=[])
    ax.set_xlabel("score")
    ax.grid(False)
    ax.spines["left"].set_visible(False)
    said = f"{name}\nstd {scores.std():.0f}"
    ax.text(0.5, 1, said, transform=ax.transAxes, ha="center", va="top", color=INK)


def _draw_weights(ax: Axes, scores: np.ndarray) -> None:
    away = np.exp(scores - scores.max(-1, keepdims=True))
    weights = np.sort(away / away.sum(-1, keepdims=True), -1).mean(0)  # the largest last
    n = len(weights)
    ax.bar(np.arange(n), weights, 0.8, color=WEIGHT, linewidth=0)
    ax.text(n - 1.7, weights[-1], f"{weights[-1]:.2f}", ha="right", va="top", color=WEIGHT)
    ax.set(xlim=(-0.8, n - 0.2), ylim=(0, 1), xticks=[], yticks=[0, 0.5, 1])
    ax.set_xlabel(f"{n} keys, by score")


def _draw_equal_weight(row: np.ndarray, n: int) -> None:
    """Draw the weight of each of ``n`` keys if all are equal, and name it once."""
    for ax in row:
        ax.axhline(1 / n, color=MUTED, lw=1.2, ls=(0, (1, 2)))
    row[-1].text(-0.5, 1 / n + 0.03, f"1/{n}", color=MUTED)


def product_tables(tables: Mapping[str, Tensor | np.ndarray], *, across: int = 2) -> Drawing:
    """Draw square tables of whole numbers, each over its name and the sum of its cells; a zero is left empty.

    In row i and column j stands the covariance of the i-th and the j-th product of a score; the sum of all
    cells is the variance of the score.

    Args:
        tables: For each name, a table ``(d, d)``; a name may have two lines.
        across: How many stand side by side.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If a table is not square, or not of whole numbers.
    """
    read = {name: array(table) for name, table in tables.items()}
    for name, table in read.items():
        if table.ndim != 2 or table.shape[0] != table.shape[1]:
            raise ValueError(f"{name} must be a square table, got {table.shape}")
        if np.abs(table - table.round()).max() > 1e-4:
            raise ValueError(f"{name} must hold whole numbers, got {table.flat[0]:.3f} and others")
    side = CELL * max(len(table) for table in read.values())
    most = max(table.max() for table in read.values())
    across, high = min(across, len(read)), side + 84
    lines = -(-len(read) // across)
    picture = Drawing(across * (side + BETWEEN) - BETWEEN + 2 * EDGE, lines * high - 20 + 2 * EDGE)
    for i, (name, table) in enumerate(read.items()):
        left, top = EDGE + i % across * (side + BETWEEN), EDGE + i // across * high
        _draw_table(picture, left, top, table, most)
        for line, said in enumerate(name.split("\n")):
            picture.text(left + side / 2, top + side + 14 + 17 * line, said, bold=line == 0)
        picture.text(left + side / 2, top + side + 52, f"sum {table.sum():.0f}", colour=SERIES[0], bold=True)
    return picture


def _draw_table(picture: Drawing, left: float, top: float, table: np.ndarray, most: float) -> None:
    for (i, j), number in np.ndenumerate(table.round()):
        box = (left + j * CELL + 1, top + i * CELL + 1, CELL - 2, CELL - 2)
        if number > 0:
            share = 0.25 + (0.5 * np.log(number) / np.log(most) if most > 1 else 0)
            picture.rect(*box, fill=SERIES[0], opacity=round(float(share), 3), round=3)
        picture.rect(*box, edge=GRID, thick=1, round=3)
        if number:
            middle = box[0] + box[2] / 2, box[1] + box[3] / 2
            picture.text(*middle, f"{number:.0f}", colour=INK if number > 0 else MUTED)
