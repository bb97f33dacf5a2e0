"""Sentences with the attention of one word: a band to each word, as broad as its attention weight."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from attnlib.plotting.kit.drawing import WIDEST, Drawing, text_width
from attnlib.plotting.kit.style import KEY, MUTED, QUERY, WEIGHT, WEIGHT_FILL, array

BAND = 44  # the width of a weight of 1
FALL = 60  # how far it falls
BOX = 26  # a word
NUMBER = 18  # the height of a weight below its word
NUMBERED = 27  # its width
GAP = 26  # between sentences
NAME = 24  # what is written above a sentence
LEAST = 0.02  # weights below it are drawn without their number


def attention_bands(
    texts: Sequence[str],
    queries: Sequence[str],
    weights: Sequence[Tensor | Sequence[float]] | None = None,
    *,
    across: int = 1,
    names: Sequence[str] | None = None,
    heads: Sequence[str] | None = None,
    clues: Sequence[str] | None = None,
) -> Drawing:
    """Draw sentences, the query in a frame; it stands above its sentence if its attention weights are given.

    From there a band goes to each word, as broad as its weight. The words below are keys, and have their
    colour; one of no weight is grey.

    Args:
        texts: The sentences.
        queries: For each, the word that attends; the first such word of the sentence.
        weights: For each, a weight for every word; without them the words stand alone.
        across: How many sentences stand side by side.
        names: For each, what its weights are, written above them.
        heads: What is written once above each of the columns that stand side by side.
        clues: For each, the word to attend to: it is underlined, and called *clue* below its weight.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If a word or clue is not in its sentence, or the weights or heads do not fit the words or
            columns.
    """
    lines = [text.split() for text in texts]
    given = [None] * len(lines) if weights is None else [array(w).tolist() for w in weights]
    for line, word, row in zip(lines, queries, given, strict=True):
        if word not in line:
            raise ValueError(f"queries must be words of their sentences, got {word!r} for {' '.join(line)!r}")
        if row is not None and len(row) != len(line):
            raise ValueError(f"each of {len(line)} words needs a weight, got {len(row)}")
    if heads is not None and len(heads) != across:
        raise ValueError(f"each of {across} columns needs a head, got {len(heads)}")
    for line, clue in zip(lines, clues or (), strict=clues is not None):
        if clue not in line:
            raise ValueError(f"clues must be words of their sentences, got {clue!r} for {' '.join(line)!r}")
    for room in (20, 9, 6)[weights is None :]:  # around a word; less where a long sentence has no more
        least = 0 if weights is None else NUMBERED + room
        widths = [[max(least, 0.93 * text_width(word) + room) for word in line] for line in lines]
        wide = max(map(sum, widths)) + 16
        if wide * across + GAP * (across - 1) <= WIDEST:
            break
    above = 0 if weights is None else BOX + FALL + (0 if names is None else NAME)
    height = above + BOX + (10 if weights is None else NUMBER + GAP)
    rows = -(-len(lines) // across)
    head = 0 if heads is None else NAME
    picture = Drawing(wide * across + GAP * (across - 1), head + height * rows + 4)
    for n, said in enumerate(heads or ()):
        picture.text(8 + n * (wide + GAP), 13, said, anchor="start", colour=MUTED)
    for n, (line, word, row) in enumerate(zip(lines, queries, given, strict=True)):
        left = 8 + n % across * (wide + GAP)
        top = head + n // across * height + above + 4
        _draw(picture, left, top, line, widths[n], line.index(word), row)
        if clues is not None and row is not None:
            j = line.index(clues[n])
            _mark(picture, left + sum(widths[n][:j]) + widths[n][j] / 2, top, line[j])
        if names is not None and names[n]:
            picture.text(left, top - above + 9, names[n], anchor="start", bold=True)
    return picture


def _draw(
    picture: Drawing,
    left: float,
    top: float,
    line: list[str],
    widths: list[float],
    at: int,
    weights: list[float] | None,
) -> None:
    """Draw one sentence whose words have their upper edge at ``top``."""
    middles = [left + sum(widths[:j]) + wide / 2 for j, wide in enumerate(widths)]
    upper = top if weights is None else top - FALL - BOX
    picture.rect(middles[at] - widths[at] / 2 + 1, upper, widths[at] - 2, BOX, edge=QUERY, thick=1.8)
    picture.text(middles[at], upper + BOX / 2, line[at], bold=True)
    if weights is None:
        for j, word in enumerate(line):
            if j != at:
                picture.text(middles[j], top + BOX / 2, word)
        return
    start = middles[at] - BAND * sum(weights) / 2
    for word, middle, weight in zip(line, middles, weights, strict=True):
        _band(picture, (start, upper + BOX + 2), (middle - BAND * weight / 2, top - 1), BAND * weight)
        start += BAND * weight
        picture.text(middle, top + BOX / 2, word, colour=KEY if weight else MUTED)
        if weight >= LEAST:
            picture.text(middle, top + BOX + NUMBER / 2 - 2, f"{weight:.2f}", colour=WEIGHT)


def _mark(picture: Drawing, middle: float, top: float, word: str) -> None:
    """Underline a word, and say below its weight that it is the clue."""
    half, low = 0.45 * text_width(word), top + BOX - 3.5
    picture.line((middle - half, low), (middle + half, low), colour=KEY, thick=1.8)
    picture.text(middle, top + BOX + 1.5 * NUMBER - 3, "clue", colour=MUTED)


def _band(picture: Drawing, start: tuple[float, float], end: tuple[float, float], wide: float) -> None:
    """Draw a band that leaves downwards at ``start`` and arrives so at ``end``, both its left edge."""
    (x0, y0), (x1, y1) = start, end
    half = (y0 + y1) / 2
    there = f"M{x0:.2f} {y0:.2f} C{x0:.2f} {half:.2f} {x1:.2f} {half:.2f} {x1:.2f} {y1:.2f} h{wide:.2f}"
    back = f"C{x1 + wide:.2f} {half:.2f} {x0 + wide:.2f} {half:.2f} {x0 + wide:.2f} {y0:.2f} Z"
    picture.path(f"{there} {back}", colour="none", fill=WEIGHT_FILL)
