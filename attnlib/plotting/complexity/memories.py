"""The two memories of a GPU: one large and slow, and one in each processor, small and fast."""

from __future__ import annotations

from attnlib.plotting.kit.drawing import Drawing
from attnlib.plotting.kit.style import GRID, INK, MUTED

EDGE = 8  # margins
SHELF = 100  # slow memory
BUS = 84  # between slow memory and the chip
GAP = 6  # between processors
CELL = 94  # the width of a processor
HIGH = 74  # its height
ACROSS = 3  # processors that are drawn in a row
DOWN = 2  # rows of them
TITLE = 26  # for the name of the chip
INSIDE = 10  # around its processors


def two_memories(slow: str, fast: str) -> Drawing:
    """Draw a GPU as processors, each with fast memory of its own, and a narrow bus to slow memory.

    Args:
        slow: How large the slow memory is.
        fast: How large the fast memory of a processor is.

    Returns:
        The drawing, as the last expression of a cell.
    """
    left = EDGE + SHELF + BUS
    wide = 2 * INSIDE + ACROSS * (CELL + GAP) - GAP
    high = TITLE + INSIDE + DOWN * (HIGH + GAP) - GAP
    picture = Drawing(left + wide + EDGE, high + 2 * EDGE)
    middle = EDGE + high / 2
    picture.rect(EDGE, EDGE, SHELF, high, fill=GRID, opacity=0.7)
    picture.text(EDGE + SHELF / 2, middle - 9, "slow memory", bold=True)
    picture.text(EDGE + SHELF / 2, middle + 10, slow, colour=MUTED)
    for y, far, near in ((middle - 4, 4, BUS - 4), (middle + 4, BUS - 4, 4)):
        picture.arrow((EDGE + SHELF + far, y), (EDGE + SHELF + near, y))
    picture.text(EDGE + SHELF + BUS / 2, middle - 20, "memory bus", colour=MUTED)
    picture.rect(left, EDGE, wide, high, edge=INK, thick=1.6, round=8)
    picture.text(left + wide / 2, EDGE + TITLE / 2 + 2, "GPU chip", bold=True)
    for n in range(ACROSS * DOWN):
        x = left + INSIDE + n % ACROSS * (CELL + GAP)
        y = EDGE + TITLE + n // ACROSS * (HIGH + GAP)
        if n == ACROSS * DOWN - 1:
            picture.text(x + CELL / 2, y + HIGH / 2, "…", bold=True)
        else:
            _processor(picture, x, y, fast)
    return picture


def _processor(picture: Drawing, x: float, y: float, fast: str) -> None:
    """Draw one processor around its own fast memory."""
    picture.rect(x, y, CELL, HIGH, edge=MUTED)
    picture.text(x + CELL / 2, y + 13, "processor", colour=MUTED)
    picture.rect(x + 5, y + 26, CELL - 10, HIGH - 31, edge=INK, thick=1.6, round=6)
    picture.text(x + CELL / 2, y + 39, "fast memory")
    picture.text(x + CELL / 2, y + 56, fast, colour=MUTED)
