"""Masks side by side, small: what each of some rules opens and closes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from torch import Tensor

from attnlib.plotting._style import GRID, INK, KEY, MUTED, QUERY, WEIGHT_FILL, array
from attnlib.plotting.drawing import Drawing, column, text_width

EDGE, CELL, HEAD, FOOT = 8, 19, 26, 22  # margins, cells, and the lines above and below, in pixels
ROOM = 14  # between two masks


def small_masks(
    masks: Mapping[str, tuple[Tensor | np.ndarray, str]], *, words: Sequence[str] = ()
) -> Drawing:
    """Draw masks in a row, each under its name and over its rule; what is open above the diagonal stands out.

    Args:
        masks: By name, each ``(T, S)``, True = may attend, and its rule in a few signs.
        words: Names of the rows, written once on the left.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If a mask has not two axes, or the row would be too wide.
    """
    tables = {name: array(mask) > 0 for name, (mask, _) in masks.items()}
    for name, table in tables.items():
        if table.ndim != 2:
            raise ValueError(f"{name} must be a mask (T, S), got shape {table.shape}")
    wide = [
        max(table.shape[1] * CELL, text_width(name), text_width(masks[name][1])) + ROOM
        for name, table in tables.items()
    ]
    tall = max(len(table) for table in tables.values()) * CELL
    start = EDGE + (column(words, room=0) if words else 0)
    picture = Drawing(start + sum(wide) + EDGE, EDGE + HEAD + tall + FOOT + EDGE)
    for i, word in enumerate(words):
        picture.text(start, EDGE + HEAD + (i + 0.5) * CELL, word, anchor="end", colour=QUERY)
    for n, (name, table) in enumerate(tables.items()):
        middle = start + sum(wide[:n]) + wide[n] / 2
        left, top = middle - table.shape[1] * CELL / 2, EDGE + HEAD
        picture.text(middle, EDGE + 8, name, colour=INK, bold=True)
        for (i, j), may in np.ndenumerate(table):
            fill, opacity = (GRID, 0.6) if not may else (KEY, 0.55) if j > i else (WEIGHT_FILL, 1)
            x, y = left + j * CELL, top + i * CELL
            picture.rect(x + 1, y + 1, CELL - 2, CELL - 2, fill=fill, opacity=opacity, round=3)
        picture.text(middle, top + tall + FOOT / 2 + 4, masks[name][1], colour=MUTED)
    return picture
