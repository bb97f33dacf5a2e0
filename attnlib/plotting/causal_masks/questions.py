"""A text as inputs and targets: at each position, the word that comes next."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from attnlib.plotting.kit.drawing import Drawing, column
from attnlib.plotting.kit.style import GRID, INK, KEY, MUTED, OUTPUT, QUERY

EDGE = 8  # margins
HIGH = 28  # boxes
BETWEEN = 34  # between the two rows
TOP = 34  # where the rows begin


def questions(
    words: Sequence[str], position: int, *, names: tuple[str, str] = ("input", "answer")
) -> Drawing:
    """Draw the words that are read above those that should be predicted, each target under its input.

    Args:
        words: A text. All but the last are read; all but the first should be predicted.
        position: One to mark: an arrow shows that its target is also the next word that is read.
        names: What to call the two rows.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If the position has no next word that is read.
    """
    if not 0 <= position < len(words) - 2:
        raise ValueError(
            f"position must have a word after it that is read, got {position} of {len(words)} words"
        )
    left = EDGE + column(names, room=12)
    wide = column(words, least=52, room=20)
    low = TOP + HIGH + BETWEEN
    picture = Drawing(left + (len(words) - 1) * wide + EDGE, low + HIGH + EDGE)
    for name, y in zip(names, (TOP, low), strict=True):
        picture.text(EDGE, y + HIGH / 2, name, anchor="start", colour=MUTED)
    for j, (read, target) in enumerate(pairwise(words)):
        x, predicts, tells = left + j * wide, j == position, j == position + 1
        edge = QUERY if predicts else KEY if tells else GRID
        fill, opacity = (edge, 0.14) if predicts or tells else ("none", 1)
        picture.rect(x + 2, TOP, wide - 4, HIGH, fill=fill, opacity=opacity, edge=edge)
        picture.rect(x + 2, low, wide - 4, HIGH, fill=OUTPUT, opacity=0.2 if predicts else 0.08)
        picture.text(x + wide / 2, TOP + HIGH / 2, read, bold=predicts or tells)
        picture.text(x + wide / 2, low + HIGH / 2, target, colour=OUTPUT if predicts else INK, bold=predicts)
        picture.arrow(
            (x + wide / 2, TOP + HIGH + 4), (x + wide / 2, low - 4), colour=QUERY if predicts else GRID
        )
    at = left + (position + 0.5) * wide
    picture.text(at, TOP - 16, "predicts", colour=QUERY)
    picture.text(at + wide, TOP - 16, "tells", colour=KEY)
    picture.arrow((at + wide, TOP + HIGH + 4), (at + 14, low - 4), colour=KEY)
    return picture
