"""The last word of a sentence looks twice: what the first look fetches goes into the second question."""

from __future__ import annotations

from collections.abc import Sequence

from attnlib.plotting._style import GRID, KEY, MUTED, QUERY, VALUE, WEIGHT
from attnlib.plotting.drawing import Drawing, text_width

EDGE, BOX, LINE, GAP = 8, 28, 34, 30  # at the sides; of a cell; of a question; between the looks


def two_looks(text: str, fetched: str, found: Sequence[str], labels: tuple[str, str]) -> Drawing:
    """Draw a sentence and two rows of its attention table, both of the last word.

    The first row has its weight at the word that is fetched, whose value goes into the question of the
    second; that has still to choose between others.

    Args:
        text: The sentence.
        fetched: The word of the first look.
        found: Between which words the second look has to choose.
        labels: What each look asks.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If a word is not in the sentence.
    """
    words = text.split()
    for word in (fetched, *found):
        if word not in words:
            raise ValueError(f"{word!r} must be a word of {text!r}")
    widths = [0.93 * text_width(word) + 9 for word in words]
    left = [EDGE + sum(widths[:j]) for j in range(len(words))]
    step = LINE + BOX + GAP
    picture = Drawing(sum(widths) + 2 * EDGE, BOX + 2 * step - GAP + EDGE)
    for x, wide, word in zip(left, widths, words, strict=True):
        picture.text(x + wide / 2, BOX / 2, word, colour=KEY)
    carried = fetched.strip(",")
    for n, ends in enumerate(([fetched], found)):
        top = BOX + step * n
        picture.text(EDGE, top + LINE / 2, labels[n], anchor="start", bold=True)
        _question(picture, top + 4, words[-1], carried if n else "")
        for x, wide, word in zip(left, widths, words, strict=True):
            cell = (x + 1, top + LINE, wide - 2, BOX)
            picture.rect(*cell, fill=GRID, opacity=0.35)
            if word in ends:
                picture.rect(*cell, fill=WEIGHT, opacity=0.45 if n == 0 else 0.22)
                picture.text(x + wide / 2, top + LINE + BOX / 2, "all" if n == 0 else "?", bold=True)
    at = left[words.index(fetched)] + widths[words.index(fetched)] / 2
    start = BOX + LINE + BOX + 2
    picture.arrow((at, start), (at, BOX + step + 2), colour=VALUE, thick=2.4)
    picture.text(at - 8, start + GAP / 2, "its value", colour=VALUE, anchor="end")
    return picture


def _question(picture: Drawing, y: float, word: str, carried: str) -> None:
    """Draw who asks, at the right end of a line, and what it carries."""
    more = f"+ {carried}" if carried else ""
    asker, added = text_width(word), text_width(more)
    wide = asker + added + 16
    x = picture.width - EDGE - wide
    picture.text(x - 8, y + 13, "asks:", colour=MUTED, anchor="end")
    picture.rect(x, y, wide, 26, edge=QUERY, thick=1.8)
    picture.text(x + 8 + asker / 2, y + 13, word, bold=True, colour=QUERY)
    if more:
        picture.text(x + wide - 8, y + 13, more, bold=True, colour=VALUE, anchor="end")
