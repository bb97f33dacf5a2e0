"""A weight of one, shared out among words, with the part that a mask throws away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attnlib.plotting._style import GRID, INK, MUTED, WEIGHT_FILL
from attnlib.plotting.drawing import WIDEST, Drawing, column, text_width

EDGE, BAR, HIGH, LABEL, BETWEEN = 8, 350, 30, 20, 14  # margins, a weight of 1, its height, names, rows


def shared_weights(words: Sequence[str], rows: Mapping[str, tuple[Sequence[float], float]]) -> Drawing:
    """Draw each row of weights as a bar of length one, in parts as large as the exponentials of its scores.

    Args:
        words: Those that the row may see.
        rows: By name, the exponential of each of these words, and what the hidden words add to the sum;
            0 if they were hidden before the softmax.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If a row has not one exponential for each word, or its name is too long.
    """
    left = EDGE + column(rows, room=14)
    if left + BAR + EDGE > WIDEST:
        raise ValueError(f"names of rows must leave {BAR} px of {WIDEST} to the bars: shorten {list(rows)}")
    tall = LABEL + HIGH + BETWEEN
    picture = Drawing(left + BAR + EDGE, EDGE + len(rows) * tall)
    for n, (name, (seen, hidden)) in enumerate(rows.items()):
        if len(seen) != len(words):
            raise ValueError(f"{name} must have one exponential for each of {words}, got {len(seen)}")
        y, total, x = EDGE + LABEL + n * tall, sum(seen) + hidden, left
        picture.text(EDGE, y + HIGH / 2, name, anchor="start", colour=INK, bold=True)
        for word, part in zip(words, seen, strict=True):
            wide = part / total * BAR
            picture.rect(x + 1, y, wide - 2, HIGH, fill=WEIGHT_FILL, opacity=0.3 + 0.7 * part / total)
            _inside(picture, x, wide, y - LABEL / 2, word, MUTED)
            _inside(picture, x, wide, y + HIGH / 2, f"{part / total:.2f}", INK)
            x += wide
        if hidden:
            wide = hidden / total * BAR
            picture.rect(x + 1, y, wide - 2, HIGH, edge=GRID, dashed=True)
            _inside(picture, x, wide, y + HIGH / 2, f"{hidden / total:.2f}, set to zero", MUTED)
    return picture


def _inside(picture: Drawing, x: float, wide: float, y: float, text: str, colour: str) -> None:
    """Write a text in the middle of a part, if there is room for it."""
    if text_width(text) <= wide - 2:
        picture.text(x + wide / 2, y, text, colour=colour)
