"""Text cut into tokens: a box for each, and rows that show how cuts change."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from attnlib.plotting.kit.drawing import Drawing, column, text_width
from attnlib.plotting.kit.style import GRID, MUTED, SERIES

EDGE = 8  # margins
HIGH = 26  # a box
ROW = 36  # from row to row
BETWEEN = 3  # between boxes
SPACE = "␣"


def pieces(rows: Mapping[str, Sequence[str]], *, new: Mapping[str, Collection[str]] | None = None) -> Drawing:
    """Draw texts as rows of boxes, a token in each; a space in a token shows as a sign.

    Args:
        rows: For each name, the tokens of a row.
        new: For some of the names, tokens that stand out.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If there is no row, or one would be too wide.
    """
    if not rows:
        raise ValueError("rows must hold at least one row of tokens, got none")
    left = EDGE + column(list(rows), room=12)
    wide = [sum(_wide(token) + BETWEEN for token in tokens) for tokens in rows.values()]
    picture = Drawing(left + max(wide) + EDGE, 2 * EDGE + ROW * len(rows) - (ROW - HIGH))
    for n, (name, tokens) in enumerate(rows.items()):
        x, y = left, EDGE + ROW * n
        picture.text(EDGE, y + HIGH / 2, name, anchor="start", colour=MUTED)
        for token in tokens:
            stands_out = token in (new or {}).get(name, ())
            colour = SERIES[0] if stands_out else GRID
            opacity = 0.2 if stands_out else 0.35
            picture.rect(x, y, _wide(token), HIGH, fill=colour, opacity=opacity, edge=colour)
            picture.text(x + _wide(token) / 2, y + HIGH / 2, _shown(token), bold=stands_out)
            x += _wide(token) + BETWEEN
    return picture


def _shown(token: str) -> str:
    return token.replace(" ", SPACE).replace("\n", "⏎")


def _wide(token: str) -> float:
    return max(17.0, text_width(_shown(token)) + 7)
