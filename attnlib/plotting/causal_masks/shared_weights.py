"""What a weight is divided by: exponentials as long as they are, those included that a mask hides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attnlib.plotting.kit.drawing import Drawing, column, text_width
from attnlib.plotting.kit.style import INK, KEY, MUTED, WEIGHT, WEIGHT_FILL

EDGE = 8  # margins
BAR = 340  # the longest bar
HIGH = 30  # the height of a bar
LABEL = 19  # a line of text
BETWEEN = 12  # between rows
THROWN = "set to zero afterwards"


def shared_weights(
    words: Sequence[str], rows: Mapping[str, Sequence[float]], *, seen: int, watch: int | None = None
) -> Drawing:
    """Draw the sum of a softmax as a bar, its parts as long as the exponentials, and what is left visible.

    All bars have one scale, so that the exponential of the word stays as long as it is while the sum by
    which it is divided grows. Parts of words that were hidden are dashed.

    Args:
        words: Those of the text.
        rows: By name, the exponentials of the first words, as many as stand in the sum.
        seen: How many words the row may attend to.
        watch: The word whose weight is given; without it, the share of all that the row may attend to.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If a row has too few or too many exponentials, or its name is too long.
    """
    given = {}
    for name, parts in rows.items():
        if not seen <= len(parts) <= len(words):
            raise ValueError(f"{name} must have {seen} to {len(words)} exponentials, got {len(parts)}")
        if text_width(name) > BAR:
            raise ValueError(f"names of rows must fit over bars of {BAR} px: shorten {name}")
        part = sum(parts[:seen]) if watch is None else parts[watch]
        given[name] = f"{part:g}/{sum(parts):g} = {part / sum(parts):.2f}"
    head = "visible" if watch is None else f"weight of {words[watch]}"
    right = column([head, *given.values()], room=0)
    heights = [2 * LABEL + HIGH + (LABEL if len(parts) > seen else 0) + BETWEEN for parts in rows.values()]
    picture = Drawing(2 * EDGE + BAR + 14 + right, EDGE + sum(heights))
    end, unit = EDGE + BAR + 14 + right / 2, BAR / max(map(sum, rows.values()))
    picture.text(end, EDGE + LABEL / 2, head, colour=WEIGHT, bold=True)
    for n, (name, parts) in enumerate(rows.items()):
        y = EDGE + sum(heights[:n])
        picture.text(EDGE, y + LABEL / 2, name, anchor="start", bold=True)
        _sum(picture, y + 2 * LABEL, [unit * part for part in parts], words, seen, watch)
        for x, wide, part in _places([unit * part for part in parts], parts):
            _inside(picture, x, wide, y + 2 * LABEL + HIGH / 2, f"{part:g}", INK)
        picture.text(end, y + 2 * LABEL + HIGH / 2, given[name], colour=WEIGHT, bold=True)
    return picture


def _sum(
    picture: Drawing, y: float, widths: Sequence[float], words: Sequence[str], seen: int, watch: int | None
) -> None:
    """Draw the parts of one sum, each under its word, and label those that were hidden."""
    for n, (x, wide, word) in enumerate(_places(widths, words)):
        if n < seen:
            picture.rect(
                x + 1, y, wide - 2, HIGH, fill=WEIGHT_FILL, opacity=1 if watch in (None, n) else 0.35
            )
        else:
            picture.rect(x + 1, y, wide - 2, HIGH, edge=KEY, dashed=True)
        _inside(
            picture,
            x,
            wide,
            y - LABEL / 2 + 1,
            word,
            WEIGHT if n == watch or (watch is None and n < seen) else MUTED,
        )
    if len(widths) > seen:
        left = EDGE + sum(widths[:seen])
        picture.text(left + 3, y + HIGH + LABEL / 2 + 2, THROWN, colour=KEY, anchor="start")


def _places(widths: Sequence[float], what: Sequence) -> list[tuple]:
    """Return where each part begins, how wide it is, and what belongs to it."""
    return [(EDGE + sum(widths[:n]), wide, what[n]) for n, wide in enumerate(widths)]


def _inside(picture: Drawing, x: float, wide: float, y: float, text: str, colour: str) -> None:
    """Write a text in the middle of a part, if there is room for it."""
    if text_width(text) <= wide - 2:
        picture.text(x + wide / 2, y, text, colour=colour)
