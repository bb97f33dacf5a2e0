"""A sentence and numbers under its words: how a row of weights comes about, or how far each word moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from torch import Tensor

from attnlib.plotting.kit.drawing import Drawing, text_width
from attnlib.plotting.kit.style import GRID, MUTED, QUERY, array

BOX = 26  # a word or a cell
LABEL = 20  # the name of a row
GAP = 12  # between rows


def under_words(
    words: Sequence[str],
    rows: Mapping[str, tuple[Tensor | np.ndarray | Sequence[float], str]],
    *,
    query: str | None = None,
    digits: Sequence[int | None] | None = None,
) -> Drawing:
    """Draw a sentence, and under it rows of numbers, one number a word; the larger, the darker.

    Args:
        words: The words.
        rows: For what is written above each row, its numbers and their colour. Fewer numbers than words
            leave the last words without: they are hidden from this row.
        query: The word to frame, the first such word.
        digits: For each row, how many decimals; two if not given, and with None no number is written. A
            number that is 0 is written as 0.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If the word is not in the sentence, or there are more numbers than words.
    """
    if query is not None and query not in words:
        raise ValueError(f"query must be one of the words, got {query!r}")
    numbers = [array(values) for values, _ in rows.values()]
    for name, x in zip(rows, numbers, strict=True):
        if len(x) > len(words):
            raise ValueError(f"{name!r} must have at most {len(words)} numbers, got {len(x)}")
    digits = [2] * len(numbers) if digits is None else digits
    said = [[_said(v, n) for v in x] for x, n in zip(numbers, digits, strict=True)]
    widths = [
        max(0.9 * text_width(text) + 6 for text in (word, *(line[j] for line in said if j < len(line))))
        for j, word in enumerate(words)
    ]
    step = LABEL + BOX + GAP
    picture = Drawing(sum(widths) + 16, BOX + GAP + step * len(rows))
    left = [8 + sum(widths[:j]) for j in range(len(words))]
    for x, wide, word, framed in zip(left, widths, words, _first(words, query), strict=True):
        if framed:
            picture.rect(x, 2, wide, BOX - 2, edge=QUERY, thick=1.8)
        picture.text(x + wide / 2, BOX / 2 + 1, word, bold=framed)
    for n, (name, (_, colour)) in enumerate(rows.items()):
        top = BOX + GAP + step * n
        picture.text(8, top + LABEL / 2 - 1, name, anchor="start", colour=MUTED)
        most = max(float(np.abs(numbers[n]).max()), 1e-9)
        for j, (x, wide) in enumerate(zip(left, widths, strict=True)):
            cell = (x + 1, top + LABEL, wide - 2, BOX)
            if j >= len(said[n]):
                picture.rect(*cell, edge=GRID, dashed=True)
                continue
            share = max(0.0, float(numbers[n][j]) / most)
            picture.rect(*cell, fill=GRID, opacity=0.3)
            picture.rect(*cell, fill=colour, opacity=round(0.5 * share, 3))
            picture.text(x + wide / 2, top + LABEL + BOX / 2, said[n][j], bold=share > 0.5)
    return picture


def _said(number: float, digits: int | None) -> str:
    """Return a number as text, with a minus as it is set."""
    if digits is None:
        return ""
    return "0" if number == 0 else f"{number:.{digits}f}".replace("-", "\N{MINUS SIGN}")


def _first(words: Sequence[str], query: str | None) -> list[bool]:
    """Tell for each word whether it is the first of that name."""
    return [word == query and j == list(words).index(word) for j, word in enumerate(words)]
