"""A sentence that goes on in several ways."""

from __future__ import annotations

from collections.abc import Sequence

from attnlib.plotting.kit.drawing import SIZE, Drawing, text_width
from attnlib.plotting.kit.style import INK, MUTED, QUERY, SERIES

EDGE = 10  # margins
TEXT = 14  # the size of the text
LINE = 40  # from one end to the next
FORK = 46  # the width of the branches
BOX = 26  # the frame at an end


def forked(start: Sequence[str], ends: Sequence[tuple[str, str]], *, mark: str = "?") -> Drawing:
    """Draw the lines that all have in common, and branches from the last of them to each end.

    Args:
        start: The lines in common.
        ends: For each branch the words in which it differs, and those after it.
        mark: What stands in the frame at each end.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If there is no line to begin with, or there are fewer than two ends.
    """
    if not start or len(ends) < 2:
        raise ValueError(f"a fork needs a line and at least two ends, got {len(start)} and {len(ends)}")
    *above, stem = start
    leaves = EDGE + _wide(stem) + 8
    arrives = leaves + FORK
    rights = [arrives + _wide(f"{differs} {after}") + 24 for differs, after in ends]
    head = 30 * len(above) + 6
    middle = head + LINE * len(ends) / 2
    wide = max(*rights, *(2 * EDGE + _wide(line) for line in above)) + BOX / 2 + EDGE
    picture = Drawing(wide, head + LINE * len(ends))
    for n, line in enumerate(above):
        picture.text(EDGE, 18 + 30 * n, line, anchor="start", size=TEXT)
    picture.text(EDGE, middle, stem, anchor="start", size=TEXT)
    for n, ((differs, after), right) in enumerate(zip(ends, rights, strict=True)):
        y = head + LINE * (n + 0.5)
        bend = f"C{leaves + FORK / 2:.1f} {middle:.1f} {arrives - FORK / 2:.1f} {y:.1f}"
        picture.path(f"M{leaves:.1f} {middle:.1f} {bend} {arrives - 8:.1f} {y:.1f}", colour=MUTED, thick=1.6)
        picture.text(arrives, y, differs, anchor="start", size=TEXT, bold=True, colour=SERIES[n % 2])
        picture.text(right - 24, y, after, anchor="end", size=TEXT, colour=INK)
        picture.rect(right - BOX / 2, y - BOX / 2, BOX, BOX, edge=QUERY, thick=2)
        picture.text(right, y, mark, bold=True, size=TEXT, colour=QUERY)
    return picture


def _wide(text: str) -> float:
    """Return how wide a text of this size is."""
    return 0.9 * text_width(text) * TEXT / SIZE
