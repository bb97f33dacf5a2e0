"""One product of three matrices, grouped in two ways: a table of all pairs, or a small sum."""

from __future__ import annotations

from attnlib.plotting.kit.drawing import Drawing
from attnlib.plotting.kit.style import INK, KEY, OUTPUT, QUERY, VALUE, WEIGHT

EDGE = 10  # margins
TITLE = 16  # for a title
HEAD = 30  # for the names of matrices
ROW = 30  # between the two groupings
CELL = 8  # a number
APART = 26  # between matrices
WAY = 60  # along the arrow


def two_groupings(n: int, F: int, D: int) -> Drawing:
    """Draw how f(Q) f(K)ᵀ V is computed: the table of all pairs first, or the sum of keys times values first.

    Args:
        n: Tokens.
        F: Features of a query and a key.
        D: Width of a value.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If it would be too wide for a phone.
    """
    left = (F + n + D) * CELL + 2 * APART
    right = max(n + D, 2 * F + D) * CELL + APART
    tall = HEAD + max(n, F) * CELL
    picture = Drawing(2 * EDGE + left + WAY + right, 2 * (TITLE + tall) + ROW + 2 * EDGE)
    q, k, v = ("f(Q)", n, F, QUERY), ("f(K)ᵀ", F, n, KEY), ("V", n, D, VALUE)
    table, total = (f"{n} × {n}", n, n, WEIGHT), (f"{F} × {D}", F, D, OUTPUT)
    lines = (("the table of all pairs first", (0, 1), [table, v]), ("the sum first", (1, 2), [q, total]))
    for i, (title, first, then) in enumerate(lines):
        top = EDGE + i * (TITLE + tall + ROW)
        middle = top + TITLE + HEAD + max(n, F) * CELL / 2
        picture.text(EDGE, top + 6, title, bold=True, anchor="start", colour=INK)
        _frame(picture, EDGE, middle, (q, k, v), first)
        _matrices(picture, EDGE, middle, (q, k, v))
        at = EDGE + left
        picture.arrow((at + 14, middle), (at + WAY - 10, middle), thick=2)
        _matrices(picture, at + WAY, middle, then)
    return picture


def _frame(picture: Drawing, x: float, middle: float, parts: tuple, first: tuple[int, int]) -> None:
    """Frame the two matrices that are multiplied first."""
    starts = [x + sum(wide * CELL + APART for _, _, wide, _ in parts[:i]) for i in range(len(parts))]
    tall = max(parts[i][1] for i in first) * CELL
    begin, end = starts[first[0]], starts[first[1]] + parts[first[1]][2] * CELL
    box = (begin - 7, middle - tall / 2 - 24, end - begin + 14, tall + 31)
    picture.rect(*box, edge=INK, dashed=True, round=8)


def _matrices(picture: Drawing, x: float, middle: float, parts: tuple | list) -> None:
    """Draw matrices in a row, each with its name above and a dot between them."""
    for i, (name, tall, wide, colour) in enumerate(parts):
        y = middle - tall * CELL / 2
        picture.text(x + wide * CELL / 2, y - 12, name, colour=colour, bold=True)
        for row in range(tall):
            for column in range(wide):
                box = (x + column * CELL, y + row * CELL, CELL - 1, CELL - 1)
                picture.rect(*box, fill=colour, opacity=0.55, round=1)
        x += wide * CELL
        if i < len(parts) - 1:
            picture.text(x + APART / 2, middle, "·", bold=True)
        x += APART
