"""The Transformer block as a road: what each half reads, and where it is added."""

from __future__ import annotations

from attnlib.plotting._style import INK, MUTED, SERIES, WEIGHT
from attnlib.plotting.drawing import Drawing

# in pixels: room at both ends and between parts, radius of a sum, height of a part and of the whole
EDGE, GAP, PLUS, HIGH, HEIGHT = 26, 21, 10, 44, 114
# the network has twice the weights of attention; a norm has so few that it could not be seen, and is a line
WIDE = {"norm": 4, "attention": 80, "+": 2 * PLUS, "network": 160}
PARTS = "norm", "attention", "+", "norm", "network", "+"
LOOKS = {"norm": (SERIES[1], "norm"), "attention": (WEIGHT, "4 C²"), "network": (SERIES[0], "8 C²")}


def block_road() -> Drawing:
    """Draw a block from left to right: each half reads a normalised copy, and is added to what goes past it.

    The area of a half is its share of the weights: the network has twice as many as attention. Norms have
    next to none, and are lines.

    Returns:
        The drawing, as the last expression of a cell.
    """
    width = 2 * EDGE + sum(WIDE[part] for part in PARTS) + GAP * (len(PARTS) + 1)
    picture, y = Drawing(width, HEIGHT), 58
    x = leaves = EDGE
    picture.text(EDGE / 2, y, "x", maths=True)
    for part in PARTS:
        start, x = x, x + GAP
        picture.arrow((start + 2, y), (x - 1, y), head=6)
        if part == "+":
            _sum(picture, x + PLUS, y, leaves)
            leaves = x + WIDE[part]
        else:
            _part(picture, x, y, part)
        x += WIDE[part]
    picture.arrow((x + 2, y), (x + GAP - 1, y), head=6)
    picture.text(x + GAP + EDGE / 2, y, "out", colour=INK)
    return picture


def _part(picture: Drawing, x: float, y: float, part: str) -> None:
    """Draw a half with its count of weights, or a normalisation with its name."""
    colour, said = LOOKS[part]
    wide, middle, below = WIDE[part], x + WIDE[part] / 2, y + HIGH / 2 + 14
    if part == "norm":
        picture.rect(x, y - HIGH / 2, wide, HIGH, fill=colour, round=2)
        picture.text(middle, below, said, colour=colour)
        return
    picture.rect(x, y - HIGH / 2, wide, HIGH, fill=colour, opacity=0.14, edge=colour, round=6)
    picture.text(middle, y, part, colour=colour)
    picture.text(middle, below, said, colour=MUTED)


def _sum(picture: Drawing, x: float, y: float, leaves: float) -> None:
    """Draw a sum, and the road on which what was read goes past the half before it."""
    over, start = y - HIGH / 2 - 14, leaves + GAP / 2 - 1
    picture.line((start, y), (start, over), (x, over), thick=1.8, colour=INK)
    picture.arrow((x, over), (x, y - PLUS), thick=1.8, colour=INK)
    picture.circle(x, y, PLUS, edge=INK, thick=1.6)
    picture.text(x, y - 0.5, "+", bold=True)
