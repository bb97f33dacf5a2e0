"""The attention table in strips, and in tiles on their way through fast memory."""

from __future__ import annotations

from attnlib.plotting.kit.drawing import Drawing
from attnlib.plotting.kit.style import GRID, INK, KEY, MUTED, OUTPUT, QUERY, VALUE, WEIGHT_FILL

EDGE = 8  # margins
CELL = 44  # a tile
PANEL = 152  # fast memory


def tiles(rows: int, columns: int, at: tuple[int, int]) -> Drawing:
    """Draw the attention table in tiles, one of which is in fast memory with what it needs.

    Args:
        rows: Blocks of queries, up to 8.
        columns: Blocks of keys and values, up to 6.
        at: Row and column of the tile that is worked on, counted from 0; those before it are done.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If there is no such tile, or there are too many.
    """
    if not (1 <= rows <= 8 and 1 <= columns <= 6):
        raise ValueError(f"rows must be 1 to 8 and columns 1 to 6, got {rows} and {columns}")
    i, j = at
    if not (0 <= i < rows and 0 <= j < columns):
        raise ValueError(f"at must be a tile of the {rows} by {columns}, got {at}")
    left, top = EDGE + CELL + 8, 30 + 22 + 8
    right, bottom = left + columns * CELL, top + rows * CELL
    panel = right + 16 + CELL + 28
    picture = Drawing(panel + PANEL + EDGE, max(bottom + 8 + 22 + 26, top + 212))
    _blocks_across(picture, "k", KEY, left, 30, columns, j)
    _blocks_across(picture, "v", VALUE, left, bottom + 8, columns, j)
    for row in range(rows):
        y = top + row * CELL
        _ends_of_row(picture, row, i, (y, CELL), right + 16, finished=row == i and j == columns - 1)
        for column in range(columns):
            box = (left + column * CELL + 2, y + 2, CELL - 4, CELL - 4)
            done = (row, column) < (i, j)
            picture.rect(*box, edge=GRID, dashed=not done)
            if (row, column) == (i, j):
                picture.rect(*box, fill=WEIGHT_FILL, edge=INK, thick=2)
            elif done:
                picture.text(box[0] + box[2] / 2, y + CELL / 2, "✓", colour=MUTED)
    _fast_memory(picture, panel, top, i + 1, j + 1)
    return picture


def table_in_strips(rows: int, at: int) -> Drawing:
    """Draw the attention table in strips, one of which is there while its outputs are made.

    Args:
        rows: Blocks of queries, up to 8.
        at: The strip that is worked on, counted from 0; those before it are done.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If there is no such strip, or there are too many.
    """
    if not (1 <= rows <= 8 and 0 <= at < rows):
        raise ValueError(f"rows must be 1 to 8 and at one of them, got {rows} and {at}")
    left, top, wide = EDGE + CELL + 8, 38, 4 * CELL
    right, bottom, high = left + wide, top + rows * 32, 32
    picture = Drawing(right + 16 + CELL + EDGE, bottom + 8 + 22 + 8)
    for name, colour, y in (("K", KEY, 8), ("V", VALUE, bottom + 8)):
        picture.rect(left + 2, y, wide - 4, 22, fill=colour, opacity=0.4)
        picture.text(left + wide / 2, y + 11, name, maths=True, colour=colour)
    for row in range(rows):
        y = top + row * high
        _ends_of_row(picture, row, at, (y, high), right + 16)
        strip = (left + 2, y + 2, wide - 4, high - 4)
        if row == at:
            picture.rect(*strip, fill=WEIGHT_FILL, edge=INK, thick=2)
        else:
            picture.rect(*strip, edge=GRID, dashed=row > at)
        if row < at:
            picture.text(left + wide / 2, y + high / 2, "✓", colour=MUTED)
    return picture


def _ends_of_row(picture, row, at, y_high, x, *, finished=False) -> None:
    """Draw the queries and the outputs of a row while row ``at`` is worked on, or has just been finished."""
    y, high = y_high
    finished |= row < at
    picture.rect(EDGE, y + 2, CELL, high - 4, fill=QUERY, opacity=0.4 if row == at else 0.12)
    picture.text(EDGE + CELL / 2, y + high / 2, f"q_{row + 1}", maths=True, colour=QUERY)
    shade = 0.4 if finished else 0.16 if row == at else 0.0
    edge = OUTPUT if row <= at else GRID
    picture.rect(x, y + 2, CELL, high - 4, fill=OUTPUT, opacity=shade, edge=edge, dashed=row > at)
    picture.text(x + CELL / 2, y + high / 2, f"o_{row + 1}", maths=True, colour=OUTPUT)


def _blocks_across(picture, letter, colour, left, y, columns, chosen) -> None:
    """Draw the blocks of keys or of values, each over or under its column."""
    for column in range(columns):
        x = left + column * CELL
        picture.rect(x + 2, y, CELL - 4, 22, fill=colour, opacity=0.4 if column == chosen else 0.12)
        picture.text(x + CELL / 2, y + 11, f"{letter}_{column + 1}", maths=True, colour=colour)


def _fast_memory(picture, x, y, row, column) -> None:
    """Draw what is held while a tile is worked on."""
    picture.rect(x, y - 26, PANEL, 226, edge=INK, thick=1.6, round=8)
    picture.text(x + PANEL / 2, y - 10, "fast memory", bold=True)
    held = ((f"q_{row}", QUERY, "queries"), (f"k_{column}", KEY, "keys"), (f"v_{column}", VALUE, "values"))
    for n, (name, colour, said) in enumerate(held):
        at = y + 8 + n * 36
        picture.rect(x + 14, at, CELL - 4, 28, fill=colour, opacity=0.4)
        picture.text(x + 14 + CELL / 2 - 2, at + 14, name, maths=True, colour=colour)
        picture.text(x + 66, at + 14, said, anchor="start")
    at = y + 116
    picture.rect(x + 14, at, CELL - 4, 36, fill=WEIGHT_FILL, edge=INK, thick=1.6)
    picture.text(x + 66, at + 18, "one tile", anchor="start")
    picture.rect(x + 14, at + 44, CELL - 4, 28, fill=OUTPUT, opacity=0.16, edge=OUTPUT)
    picture.text(x + 14 + CELL / 2 - 2, at + 58, f"o_{row}", maths=True, colour=OUTPUT)
    picture.text(x + 66, at + 58, "outputs", anchor="start")
