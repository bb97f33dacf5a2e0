"""Three views of every word: X through three matrices to Q, K and V."""

from __future__ import annotations

from collections.abc import Sequence

from attnlib.plotting._style import INK, KEY, QUERY, VALUE
from attnlib.plotting.drawing import Drawing, column

CELL, ROW = 15, 17  # a number of a vector, in pixels
ROLES = (("Q", QUERY, "what it asks"), ("K", KEY, "how it is found"), ("V", VALUE, "what it tells"))


def project(words: Sequence[str], *, width: int = 4, head: int = 3, value: int | None = None) -> Drawing:
    """Draw how every word's vector becomes a query, a key and a value.

    Args:
        words: One for each row of X; up to about 8.
        width: How many numbers a word's vector has in the drawing.
        head: How many a query or a key has.
        value: How many a value has; None means as many as a query.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If there is no word.
    """
    if not words:
        raise ValueError("words must hold at least one word, got none")
    side, tall = column(words, room=10), len(words) * ROW
    lane = max(tall + 30, 74)
    x0, matrix = 8 + side, 8 + side + width * CELL + 70
    result = matrix + 60 + 60
    wide = (head, head, head if value is None else value)
    picture = Drawing(result + max(wide) * CELL + 112, 3 * lane + 14)
    middle = 8 + 3 * lane / 2
    picture.text(x0 + width * CELL / 2, middle - tall / 2 - 14, "X", maths=True)
    rows_of_cells(picture, x0, middle - tall / 2, len(words), width, INK)
    for i, word in enumerate(words):
        picture.text(x0 - 6, middle - tall / 2 + (i + 0.5) * ROW, word, anchor="end")
    for n, (letter, colour, said) in enumerate(ROLES):
        y = 8 + (n + 0.5) * lane
        start, end = (x0 + width * CELL + 6, middle + (n - 1) * 8), (matrix - 4, y)
        bend = (start[0] + end[0]) / 2
        picture.path(
            f"M{start[0]:g} {start[1]:g} C{bend:g} {start[1]:g} {bend:g} {y:g} {end[0] - 6:g} {y:g}",
            colour=colour,
        )
        picture.arrow((end[0] - 8, y), end, colour=colour)
        picture.rect(matrix, y - 22, 60, 44, fill=colour, opacity=0.14, edge=colour, round=6)
        picture.text(matrix + 30, y, f"W_{letter}", maths=True, colour=colour)
        picture.arrow((matrix + 64, y), (result - 6, y), colour=colour)
        rows_of_cells(picture, result, y - tall / 2, len(words), wide[n], colour, other=n + 1)
        picture.text(result + wide[n] * CELL + 10, y - 9, letter, maths=True, colour=colour, anchor="start")
        picture.text(result + wide[n] * CELL + 10, y + 9, said, colour=colour, anchor="start")
    return picture


def rows_of_cells(
    picture: Drawing, x: float, y: float, rows: int, columns: int, colour: str, *, other: int = 0
) -> None:
    """Draw a matrix whose numbers are cells of one hue, some darker than others, as ``other`` has it."""
    for i in range(rows):
        for j in range(columns):
            shade = 0.14 + 0.5 * (((3 + other) * i + 5 * j + i * j + 2 * other) % 7) / 7
            picture.rect(
                x + j * CELL, y + i * ROW + 1, CELL - 1.5, ROW - 3, fill=colour, opacity=shade, round=2
            )
