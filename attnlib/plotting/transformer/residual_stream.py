"""The residual stream: what reads from it, what adds to it, and where it is normalised."""

from __future__ import annotations

from collections.abc import Mapping

from attnlib.plotting.kit.drawing import Drawing, text_width
from attnlib.plotting.kit.style import INK, MUTED, PAPER, SERIES, WEIGHT

# in pixels
EDGE = 8  # margins
LEFT = 66  # for the names of rows
HALF = 113  # half a block
ROW = 150  # a row
PART = 36  # attention or MLP
STREAM = 106  # where the residual stream runs
UP = 15  # in a half, where it reads
DOWN = 57  # in a half, where it adds
BOX = 72  # the width of a part
NORM = 40  # the width of a norm
LAST = DOWN + 9 + 7 + NORM / 2  # in a half: the middle of a norm on the residual stream
PLACES = "before", "after", "none"
LOOKS = {"attention": WEIGHT, "MLP": SERIES[0]}


def stream(rows: Mapping[str, str], *, word: str = "cat", blocks: int = 2) -> Drawing:
    """Draw the residual stream of one token, from left to right, in a row for each place of the norms.

    Args:
        rows: For each name, where the norms stand: ``"before"`` a part, on its way in, and once at the end of
            the stream; ``"after"`` it was added, on the stream itself; or ``"none"``.
        word: The token whose residual stream it is.
        blocks: How many blocks; up to 2.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If there is no row, no such place, or the drawing would be too wide.
    """
    if not rows:
        raise ValueError("rows must name at least one place, got none")
    for place in rows.values():
        if place not in PLACES:
            raise ValueError(f"rows must name one of {', '.join(PLACES)}, got {place!r}")
    end = EDGE + LEFT + 2 * blocks * HALF
    picture = Drawing(end + 40 + EDGE, ROW * len(rows) - 12)
    for n, (name, place) in enumerate(rows.items()):
        top = n * ROW
        y = top + STREAM
        half = text_width(word) / 2 + 7
        picture.text(EDGE, top + EDGE + PART / 2, name, anchor="start", bold=True)
        picture.arrow((EDGE + 2 * half, y), (end + 14, y), colour=INK, thick=3, head=10)
        picture.rect(EDGE, y - 13, 2 * half, 26, fill=INK, opacity=0.1)
        picture.text(EDGE + half, y, word)
        picture.text(end + 18, y, "next", anchor="start", colour=MUTED)
        for i in range(2 * blocks):
            part = ("attention", "MLP")[i % 2]
            _half(picture, EDGE + LEFT + i * HALF, top + EDGE, y, part, place)
        if place == "before":  # the last norm
            _norm(picture, end - HALF + LAST, y)
    return picture


def _half(picture: Drawing, x: float, top: float, y: float, part: str, place: str) -> None:
    """Draw a part above the residual stream: it reads a copy, and its output is added."""
    colour, low = LOOKS[part], top + PART
    picture.rect(x, top, BOX, PART, fill=colour, opacity=0.14, edge=colour, round=6)
    picture.text(x + BOX / 2, top + PART / 2, part, colour=colour)
    picture.circle(x + UP, y, 3.5, fill=INK)
    picture.arrow((x + UP, y), (x + UP, low + 1), head=6)
    picture.arrow((x + DOWN, low), (x + DOWN, y - 10), colour=colour, thick=1.8, head=6)
    picture.circle(x + DOWN, y, 9, edge=INK, thick=1.6)
    picture.text(x + DOWN, y - 0.5, "+", bold=True)
    if place == "before":
        _norm(picture, x + UP, (low + y) / 2 - 1)
    elif place == "after":
        _norm(picture, x + LAST, y)


def _norm(picture: Drawing, x: float, y: float) -> None:
    """Draw a norm around a point."""
    picture.rect(x - NORM / 2, y - 11, NORM, 22, fill=PAPER, edge=SERIES[1], thick=1.6)
    picture.rect(x - NORM / 2, y - 11, NORM, 22, fill=SERIES[1], opacity=0.2)
    picture.text(x, y, "norm")
