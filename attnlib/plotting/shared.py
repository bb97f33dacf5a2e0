"""A weight of one, shared out among words, with the part that a mask throws away."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from attnlib.plotting._style import GRID, INK, KEY, MUTED, WEIGHT, WEIGHT_FILL
from attnlib.plotting.drawing import WIDEST, Drawing, column, text_width

EDGE, BAR, HIGH, LABEL, BETWEEN = 8, 340, 30, 20, 18  # margins, a weight of 1, its height, names, rows


def shared_weights(
    words: Sequence[str], rows: Mapping[str, Sequence[float]], *, seen: int, watch: int
) -> Drawing:
    """Draw each row of weights as a bar of length one, in parts as large as the exponentials in them.

    Parts of words that were hidden are dashed, and at the end of a bar stands the weight of one word.
    Between two bars of the same words, lines lead from each part to what becomes of it.

    Args:
        words: Those of the text.
        rows: By name, the exponentials of the first words, as many as stand in the sum.
        seen: How many words the row may see.
        watch: The word whose weight is told.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If a row has too few or too many exponentials, or its name is too long.
    """
    told = {}
    for name, parts in rows.items():
        if not seen <= len(parts) <= len(words):
            raise ValueError(f"{name} must have {seen} to {len(words)} exponentials, got {len(parts)}")
        told[name] = f"{parts[watch]:g}/{sum(parts):g} = {parts[watch] / sum(parts):.2f}"
    head = f"weight of {words[watch]}"
    left, right = EDGE + column(rows, room=14), column([head, *told.values()], room=0)
    if left + BAR + 14 + right + EDGE > WIDEST:
        raise ValueError(f"names of rows must leave {BAR} px of {WIDEST} to the bars: shorten {list(rows)}")
    sizes = [0, *map(len, rows.values())]
    above = [BETWEEN if old == new else LABEL for old, new in itertools.pairwise(sizes)]
    tall = EDGE + len(rows) * HIGH + sum(above) + EDGE
    picture = Drawing(left + BAR + 14 + right + EDGE, tall)
    end = left + BAR + 14 + right / 2
    picture.text(end, EDGE + LABEL / 2 - 2, head, colour=WEIGHT, bold=True)
    y, before = EDGE, []
    for (name, parts), gap in zip(rows.items(), above, strict=True):
        edges = [left + BAR * sum(parts[:n]) / sum(parts) for n in range(len(parts) + 1)]
        same = len(edges) == len(before)
        y += gap
        picture.text(EDGE, y + HIGH / 2, name, anchor="start", colour=INK, bold=True)
        picture.text(end, y + HIGH / 2, told[name], colour=WEIGHT, bold=True)
        for n, part in enumerate(parts):
            x, wide = edges[n], edges[n + 1] - edges[n]
            if n < seen:
                shade = 0.3 + 0.7 * part / sum(parts)
                picture.rect(x + 1, y, wide - 2, HIGH, fill=WEIGHT_FILL, opacity=shade)
            else:
                picture.rect(x + 1, y, wide - 2, HIGH, edge=GRID, dashed=True)
            _inside(picture, x, wide, y + HIGH / 2, f"{part:g}", INK if n < seen else KEY)
            if not same:
                _inside(picture, x, wide, y - LABEL / 2, words[n], MUTED)
        if same:
            for old, new in zip(before, edges, strict=True):
                picture.line((old, y - BETWEEN + 2), (new, y - 2), colour=MUTED, thick=1, opacity=0.5)
        y, before = y + HIGH, edges
    return picture


def _inside(picture: Drawing, x: float, wide: float, y: float, text: str, colour: str) -> None:
    """Write a text in the middle of a part, if there is room for it."""
    if text_width(text) <= wide - 2:
        picture.text(x + wide / 2, y, text, colour=colour)
