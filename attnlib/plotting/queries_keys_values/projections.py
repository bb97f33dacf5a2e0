"""Three views of every word: X through three matrices to Q, K and V."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from attnlib.plotting.kit.drawing import Drawing, column, text_width
from attnlib.plotting.kit.style import INK, KEY, QUERY, VALUE

CELL = 36  # the width of a number
ROW = 22  # its height
ROLES = (
    ("Q", QUERY, "what it looks for"),
    ("K", KEY, "what it is found by"),
    ("V", VALUE, "what it passes on"),
)


def project(
    words: Sequence[str],
    x: ArrayLike,
    w_q: ArrayLike,
    w_k: ArrayLike,
    w_v: ArrayLike,
    *,
    row: int | None = None,
) -> Drawing:
    """Draw how every word's vector becomes a query, a key and a value, with their numbers.

    Args:
        words: One for each row of ``x``; up to about 8.
        x: Their vectors, ``(T, C)``, C up to about 4.
        w_q: The matrix of the queries, ``(C, D)``.
        w_k: That of the keys, ``(C, D)``.
        w_v: That of the values, ``(C, Dv)``.
        row: The word to follow; its vector is framed wherever it stands.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If there is no word, or not one for each row, or not the one to follow.
    """
    x = np.asarray(x, dtype=float)
    if not words:
        raise ValueError("words must hold at least one word, got none")
    if x.ndim != 2 or len(x) != len(words):
        raise ValueError(f"x must have a row for each of {len(words)} words, got shape {x.shape}")
    if row is not None and not 0 <= row < len(words):
        raise ValueError(f"row must be one of the {len(words)} words, from 0 to {len(words) - 1}, got {row}")
    matrices = [np.asarray(w, dtype=float) for w in (w_q, w_k, w_v)]
    results = [x @ w for w in matrices]
    side, tall = column(words, room=10), len(words) * ROW
    high = x.shape[1] * ROW  # of each matrix
    lane = max(tall + 40, high + 40)
    x0, matrix = 8 + side, 8 + side + x.shape[1] * CELL + 52
    widest = max(r.shape[1] for r in results) * CELL
    result = matrix + widest + 44
    roles = [f"{letter}: {said}" for letter, _, said in ROLES]
    right = max(widest + 8 + side, max(map(text_width, roles)) + 4)
    picture = Drawing(result + right, 3 * lane)
    middle = 3 * lane / 2 + 10
    picture.text(x0 + x.shape[1] * CELL / 2, middle - tall / 2 - 14, "X", maths=True)
    _numbers(picture, x0, middle - tall / 2, x, INK, row)
    for i, word in enumerate(words):
        picture.text(x0 - 6, middle - tall / 2 + (i + 0.5) * ROW, word, anchor="end", bold=i == row)
    for n, (letter, colour, said) in enumerate(ROLES):
        y, end = (n + 0.5) * lane + 10, matrix - 4
        start, height = x0 + x.shape[1] * CELL + 6, middle + (n - 1) * 8
        bend = (start + end) / 2
        picture.path(
            f"M{start:g} {height:g} C{bend:g} {height:g} {bend:g} {y:g} {end - 6:g} {y:g}", colour=colour
        )
        picture.arrow((end - 8, y), (end, y), colour=colour)
        broad = matrices[n].shape[1] * CELL
        picture.rect(matrix - 1, y - high / 2 - 2, broad + 4, high + 4, edge=colour, round=5)
        picture.text(matrix + 1 + broad / 2, y - high / 2 - 14, f"W_{letter}", maths=True, colour=colour)
        _numbers(picture, matrix + 2, y - high / 2 + 0.5, matrices[n], colour)
        picture.arrow((matrix + broad + 8, y), (result - 6, y), colour=colour)
        top, beside = y - tall / 2, result + results[n].shape[1] * CELL + 8
        picture.text(result, top - 13, letter, maths=True, colour=colour, anchor="start")
        picture.text(result + 14, top - 13, said, colour=colour, anchor="start")
        _numbers(picture, result, top, results[n], colour, row)
        for i, word in enumerate(words):
            picture.text(beside, top + (i + 0.5) * ROW, word, colour=colour, anchor="start", bold=i == row)
    return picture


def _numbers(
    picture: Drawing, x: float, y: float, table: np.ndarray, colour: str, row: int | None = None
) -> None:
    """Draw a matrix, a cell for each of its numbers and a frame round one row."""
    for (i, j), number in np.ndenumerate(table):
        left, top = x + j * CELL, y + i * ROW
        picture.rect(left, top + 1, CELL - 2, ROW - 3, fill=colour, opacity=0.14, round=2)
        said = f"{number + 0:.3g}".replace("-", "−")  # + 0 makes -0 a 0
        picture.text(left + CELL / 2 - 1, top + ROW / 2, said, colour=colour, bold=i == row)
    if row is not None:
        wide = table.shape[1] * CELL
        picture.rect(x - 2, y + row * ROW - 1, wide + 2, ROW + 1, edge=colour, thick=1.6)
