"""Sentences with a column over each word: how much of the weight it gets."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from attnlib.plotting._style import MUTED, QUERY, WEIGHT, WEIGHT_FILL, array
from attnlib.plotting.drawing import WIDEST, Drawing, text_width

HIGH, COLUMN, BOX = 52, 26, 26  # of a weight of 1; the width of a column; of a word
GAP, NAME = 26, 20  # between sentences; of what is written above one
LEAST = 0.02  # weights below it are drawn without their number


def hearing(
    texts: Sequence[str],
    asks: Sequence[str],
    weights: Sequence[Tensor | Sequence[float]] | None = None,
    *,
    across: int = 1,
    names: Sequence[str] | None = None,
) -> Drawing:
    """Draw sentences, the word that asks in a frame, and over each word a column as high as its weight.

    Args:
        texts: The sentences.
        asks: For each, the word that asks; the first such word of the sentence.
        weights: For each, a weight for every word; without them the words stand alone.
        across: How many sentences stand side by side.
        names: For each, what its columns are, written above them.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If a word is not in its sentence, or the weights do not fit the words.
    """
    lines = [text.split() for text in texts]
    shares = [None] * len(lines) if weights is None else [array(w).tolist() for w in weights]
    for line, word, share in zip(lines, asks, shares, strict=True):
        if word not in line:
            raise ValueError(f"asks must be a word of its sentence, got {word!r} for {' '.join(line)!r}")
        if share is not None and len(share) != len(line):
            raise ValueError(f"each of {len(line)} words needs a weight, got {len(share)}")
    for room in (9, 6):  # around a word; less where a long sentence has no more
        least = 0 if weights is None else COLUMN + room - 1
        widths = [[max(least, 0.93 * text_width(word) + room) for word in line] for line in lines]
        wide = max(map(sum, widths)) + 16
        if wide * across + GAP * (across - 1) <= WIDEST:
            break
    above = 0 if weights is None else HIGH + 18 + (0 if names is None else NAME)
    row = above + BOX + (10 if weights is None else GAP)
    rows = -(-len(lines) // across)
    picture = Drawing(wide * across + GAP * (across - 1), row * rows + 4)
    for n, (line, word, share) in enumerate(zip(lines, asks, shares, strict=True)):
        left = 8 + n % across * (wide + GAP)
        top = n // across * row + above + 4
        _draw(picture, left, top, line, widths[n], line.index(word), share)
        if names is not None:
            picture.text(left, top - above + 9, names[n], anchor="start", bold=True)
    return picture


def _draw(
    picture: Drawing,
    left: float,
    top: float,
    line: list[str],
    widths: list[float],
    at: int,
    share: list[float] | None,
) -> None:
    """Draw one sentence whose words have their upper edge at ``top``."""
    for j, (word, wide) in enumerate(zip(line, widths, strict=True)):
        middle = left + wide / 2
        if j == at:
            picture.rect(left + 1, top, wide - 2, BOX, edge=QUERY, thick=1.8)
        picture.text(middle, top + BOX / 2, word, bold=j == at)
        if share is not None:
            high = HIGH * share[j]
            picture.rect(middle - COLUMN / 2, top - 4 - high, COLUMN, high, fill=WEIGHT_FILL, round=0)
            if share[j] >= LEAST:
                picture.text(middle, top - 13 - high, f"{share[j]:.2f}", colour=WEIGHT)
        left += wide
    if share is not None:
        start = left - sum(widths)
        picture.line((start, top - 4), (left, top - 4), colour=MUTED, thick=1)
