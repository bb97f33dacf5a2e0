"""What a Transformer repeats: attention between the tokens, then an MLP on each; and heads that share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attnlib.plotting.kit.drawing import Drawing, column, text_width
from attnlib.plotting.kit.style import INK, KEY, MUTED, OUTPUT, QUERY, SERIES, VALUE, WEIGHT

EDGE = 8  # margins
TALL = 28  # the box of a token
SIDE = 186  # at the right, for what is done at each level
HEAD = 12  # the box of a head
GAP = 2  # beside a head
NAMES = 62  # for the names of rows


def block(words: Sequence[str]) -> Drawing:
    """Draw one block, from the bottom up: attention between the tokens, an MLP on each alone.

    Args:
        words: The tokens; up to about 5.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If there is no word, or the drawing would be too wide.
    """
    if not words:
        raise ValueError("words must hold at least one word, got none")
    wide = column(words, least=78, room=22)
    right = EDGE + len(words) * wide
    p = Drawing(right + SIDE, 304)
    middles = [EDGE + (i + 0.5) * wide for i in range(len(words))]
    p.rect(EDGE, 176, right - EDGE, 50, fill=WEIGHT, opacity=0.12, edge=WEIGHT)
    for i, start in enumerate(middles):
        for j, end in enumerate(middles):
            p.line((start, 222), (end, 182), colour=WEIGHT, thick=1.2, opacity=1.0 if i == j else 0.45)
    for middle, word in zip(middles, words, strict=True):
        _stream(p, middle, word, wide)
    for y, name, said in (
        (201, "attention", "between the tokens"),
        (85, "MLP", "on each token alone"),
    ):
        p.text(right + 14, y - 9, name, anchor="start", bold=True)
        p.text(right + 14, y + 9, said, anchor="start", colour=MUTED)
    for y in (148, 44):
        p.text(right + 14, y, "added to its vector", anchor="start", colour=MUTED)
    return p


def _stream(p: Drawing, x: float, word: str, wide: float) -> None:
    """Draw the residual stream of one token: it goes past both parts, and each adds its update."""
    side = x - wide / 2 + 9
    box = wide - 34
    p.rect(x - box / 2, 268, box, TALL, fill=INK, opacity=0.1)
    p.text(x, 268 + TALL / 2, word)
    p.arrow((x, 266), (x, 227))
    p.rect(x - 21, 70, 42, 30, fill=SERIES[0], opacity=0.18, edge=SERIES[0])
    p.line((x, 258), (side, 258), (side, 226))
    p.line((side, 226), (side, 176), dashed=True, opacity=0.6)  # behind attention
    p.arrow((side, 176), (side, 148), (x - 9, 148), head=6)
    p.arrow((x, 132), (side, 132), (side, 44), (x - 9, 44), head=6)
    for y, below, above in ((148, 176, 101), (44, 70, 14)):  # where a part is added
        p.arrow((x, below - 1), (x, y + 9), colour=OUTPUT if below == 176 else SERIES[0], head=6)
        p.circle(x, y, 8, edge=MUTED)
        p.text(x, y, "+", colour=INK)
        p.arrow((x, y - 9), (x, above), head=6)


def shared_heads(heads: int, kinds: Mapping[str, int]) -> Drawing:
    """Draw query heads over the heads of keys and values that they attend to.

    Args:
        heads: Query heads H; up to 8.
        kinds: For each name, how many heads of keys and values there are; each must divide H.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If the heads do not divide, or the drawing would be too wide.
    """
    if any(kept < 1 or heads % kept for kept in kinds.values()):
        raise ValueError(f"kinds must divide {heads} heads, got {', '.join(map(str, kinds.values()))}")
    row = heads * (HEAD + GAP) - GAP
    panel = max([row, *(text_width(name) for name in kinds)])
    p = Drawing(2 * EDGE + NAMES + len(kinds) * panel + (len(kinds) - 1) * 20, 152)
    for y, name, colour in ((48, "queries", QUERY), (96, "keys", KEY), (116, "values", VALUE)):
        p.text(EDGE, y + HEAD / 2, name, colour=colour, bold=True, anchor="start")
    for n, (name, kept) in enumerate(kinds.items()):
        left = EDGE + NAMES + n * (panel + 20) + (panel - row) / 2
        p.text(left + row / 2, 20, name, bold=True)
        for h in range(heads):
            x = left + h * (HEAD + GAP)
            group = h // (heads // kept)
            p.line((x + HEAD / 2, 48 + HEAD), (_middle(left, row, group, kept), 96), colour=MUTED, thick=1.1)
            p.rect(x, 48, HEAD, HEAD, fill=QUERY, opacity=0.55, round=3)
        for group in range(kept):
            x = _middle(left, row, group, kept) - HEAD / 2
            p.rect(x, 96, HEAD, HEAD, fill=KEY, opacity=0.6, round=3)
            p.rect(x, 116, HEAD, HEAD, fill=VALUE, opacity=0.6, round=3)
    return p


def _middle(left: float, row: float, group: int, groups: int) -> float:
    """Return where the middle of a head of keys and values stands, under its group of queries."""
    return left + (group + 0.5) * (row + GAP) / groups - GAP / 2
