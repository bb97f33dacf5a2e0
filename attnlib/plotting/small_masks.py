"""Masks side by side, small: what each of some rules opens and closes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from torch import Tensor

from attnlib.plotting.kit.drawing import Drawing, column, text_width
from attnlib.plotting.kit.style import GRID, INK, KEY, MUTED, QUERY, SERIES, WEIGHT_FILL, array

EDGE = 8  # margins
CELL = 19  # a cell
HEAD = 26  # the line above
FOOT = 22  # the line below
ROOM = 14  # between two masks
NAMES = 18  # for names over their columns


def small_masks(
    masks: Mapping[str, tuple[Tensor | np.ndarray, str]],
    *,
    words: Sequence[str] = (),
    columns: Sequence[str] = (),
) -> Drawing:
    """Draw masks in a row, each under its name and over its rule; what is open above the diagonal is framed.

    Args:
        masks: By name, each ``(T, S)``, True = may attend, and its rule in a few signs.
        words: Names of the rows, written once on the left.
        columns: Names of the columns, written over each mask.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If a mask has not two axes, or not a name for each column, or the row would be too wide.
    """
    tables = {name: array(mask) > 0 for name, (mask, _) in masks.items()}
    for name, table in tables.items():
        if table.ndim != 2:
            raise ValueError(f"{name} must be a mask (T, S), got shape {table.shape}")
        if columns and table.shape[1] != len(columns):
            raise ValueError(f"each of {table.shape[1]} columns of {name} needs a name, got {len(columns)}")
    cell = column(columns, least=CELL, room=5)  # how wide; CELL is how high
    wide = [
        max(table.shape[1] * cell, text_width(name), text_width(masks[name][1])) + ROOM
        for name, table in tables.items()
    ]
    tall = max(len(table) for table in tables.values()) * CELL
    start = EDGE + (column(words, room=0) if words else 0)
    top = EDGE + HEAD + (NAMES if columns else 0)
    picture = Drawing(start + sum(wide) + EDGE, top + tall + FOOT + EDGE)
    for i, word in enumerate(words):
        picture.text(start, top + (i + 0.5) * CELL, word, anchor="end", colour=QUERY)
    for n, (name, table) in enumerate(tables.items()):
        middle = start + sum(wide[:n]) + wide[n] / 2
        left = middle - table.shape[1] * cell / 2
        picture.text(middle, EDGE + 8, name, colour=INK, bold=True)
        for j, word in enumerate(columns):
            picture.text(left + (j + 0.5) * cell, top - NAMES / 2, word, colour=KEY)
        for (i, j), may in np.ndenumerate(table):
            fill, opacity = (WEIGHT_FILL, 1) if may else (GRID, 0.6)
            edge = SERIES[3] if may and j > i else "none"
            x, y = left + j * cell, top + i * CELL
            picture.rect(
                x + 1, y + 1, cell - 2, CELL - 2, fill=fill, opacity=opacity, edge=edge, thick=1.8, round=3
            )
        picture.text(middle, top + tall + FOOT / 2 + 4, masks[name][1], colour=MUTED)
    return picture
