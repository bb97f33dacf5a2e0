"""A text as questions and answers: at each place, the word that comes next."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from attnlib.plotting.kit.drawing import Drawing, column
from attnlib.plotting.kit.style import GRID, INK, KEY, MUTED, OUTPUT, QUERY

EDGE = 8  # margins
HIGH = 28  # boxes
BETWEEN = 34  # between the two rows
TOP = 34  # where the rows begin


def questions(words: Sequence[str], place: int, *, names: tuple[str, str] = ("input", "answer")) -> Drawing:
    """Draw the words that are read above those that should be said, each answer under its question.

    Args:
        words: A text. All but the last are read; all but the first should be said.
        place: A question to look at: an arrow shows that its answer is also the next word that is read.
        names: What to call the two rows.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If the place has no next word that is read.
    """
    if not 0 <= place < len(words) - 2:
        raise ValueError(f"place must have a word after it that is read, got {place} of {len(words)} words")
    left = EDGE + column(names, room=12)
    wide = column(words, least=52, room=20)
    low = TOP + HIGH + BETWEEN
    picture = Drawing(left + (len(words) - 1) * wide + EDGE, low + HIGH + EDGE)
    for name, y in zip(names, (TOP, low), strict=True):
        picture.text(EDGE, y + HIGH / 2, name, anchor="start", colour=MUTED)
    for j, (read, said) in enumerate(pairwise(words)):
        x, asks, tells = left + j * wide, j == place, j == place + 1
        edge = QUERY if asks else KEY if tells else GRID
        fill, opacity = (edge, 0.14) if asks or tells else ("none", 1)
        picture.rect(x + 2, TOP, wide - 4, HIGH, fill=fill, opacity=opacity, edge=edge)
        picture.rect(x + 2, low, wide - 4, HIGH, fill=OUTPUT, opacity=0.2 if asks else 0.08)
        picture.text(x + wide / 2, TOP + HIGH / 2, read, bold=asks or tells)
        picture.text(x + wide / 2, low + HIGH / 2, said, colour=OUTPUT if asks else INK, bold=asks)
        picture.arrow((x + wide / 2, TOP + HIGH + 4), (x + wide / 2, low - 4), colour=QUERY if asks else GRID)
    asked = left + (place + 0.5) * wide
    picture.text(asked, TOP - 16, "asks", colour=QUERY)
    picture.text(asked + wide, TOP - 16, "tells", colour=KEY)
    picture.arrow((asked + wide, TOP + HIGH + 4), (asked + 14, low - 4), colour=KEY)
    return picture
