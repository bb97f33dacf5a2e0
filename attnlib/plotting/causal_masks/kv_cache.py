"""The cache of keys and values while a model writes."""

from __future__ import annotations

from collections.abc import Sequence

from attnlib.plotting.kit.drawing import WIDEST, Drawing, column
from attnlib.plotting.kit.style import GRID, KEY, MUTED, OUTPUT, PAPER, QUERY, VALUE, WEIGHT, WEIGHT_FILL

EDGE = 8  # margins
SIDE = 66  # for the names of rows
TALL = 30  # a row


def kv_cache(words: Sequence[str], step: int) -> Drawing:
    """Draw which keys and values are stored when one more word is read, and which are new.

    Args:
        words: All words of the text; those after ``step`` are still empty. Up to about 8.
        step: The word that is read now, counted from 0.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If there is no such word, or the drawing would be too wide.
    """
    if not 0 <= step < len(words):
        raise ValueError(f"step must be from 0 to {len(words) - 1}, a position of the words, got {step}")
    wide = column(words, least=48, room=10)
    left = EDGE + SIDE
    wide = min(wide, max(0.8 * wide, (WIDEST - left - 84) / len(words)))
    picture = Drawing(left + len(words) * wide + 84, 222)
    rows = {"keys": (56, KEY), "values": (92, VALUE)}
    for j, word in enumerate(words):
        x, middle = left + j * wide, left + (j + 0.5) * wide
        picture.text(middle, 34, word, bold=j == step, colour=QUERY if j == step else MUTED)
        for y, colour in rows.values():
            box = (x + 2, y, wide - 4, TALL)
            if j > step:
                picture.rect(*box, edge=GRID, dashed=True)
            else:
                new = j == step
                picture.rect(
                    *box, fill=colour, opacity=0.5 if new else 0.16, edge=colour if new else "none", thick=1.8
                )
        if j <= step:
            picture.rect(
                x + 2, 156, wide - 4, TALL, fill=WEIGHT_FILL, opacity=0.35 + 0.65 * ((3 * j + step) % 4) / 4
            )
    for name, (y, colour) in rows.items():
        picture.text(EDGE, y + TALL / 2, name, colour=colour, bold=True, anchor="start")
    picture.rect(EDGE - 4, 158, SIDE - 4, TALL - 4, fill=QUERY, opacity=0.14, edge=QUERY, thick=1.6)
    picture.text(EDGE - 6 + SIDE / 2, 156 + TALL / 2, words[step], colour=QUERY, bold=True)
    picture.text(EDGE - 6 + SIDE / 2, 142, "query", colour=QUERY, bold=True)
    now = left + step * wide
    if step:
        picture.line((left + 3, 18), (left + 3, 14), (now - 3, 14), (now - 3, 18), colour=MUTED)
        picture.rect((left + now) / 2 - 30, 4, 60, 18, fill=PAPER)
        picture.text((left + now) / 2, 12, "stored")
    picture.text(now + wide / 2, 12, "new", colour=QUERY, bold=True)
    end = now + wide
    picture.arrow((end + 4, 156 + TALL / 2), (end + 28, 156 + TALL / 2), colour=OUTPUT)
    picture.text(end + 34, 156 + TALL / 2, "output", colour=OUTPUT, bold=True, anchor="start")
    picture.text(left + 3, 206, "weights: one row, for the new word alone", colour=WEIGHT, anchor="start")
    return picture
