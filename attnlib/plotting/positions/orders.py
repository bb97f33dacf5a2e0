"""The same words in two orders, and the output of each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from attnlib.plotting.kit.drawing import Drawing, column
from attnlib.plotting.kit.style import INK, OUTPUT, array

EDGE = 8  # margins
BOX = 26  # a word
CELL = 24  # its output
GAP = 18  # between words
BETWEEN = 46  # between the two orders


def two_orders(
    first: Sequence[str],
    second: Sequence[str],
    vectors: tuple[Tensor | np.ndarray, Tensor | np.ndarray],
    *,
    digits: int = 1,
) -> Drawing:
    """Draw one sentence above, the same words in another order below, and lines between equal vectors.

    Args:
        first: The words.
        second: The same words, each once, in another order.
        vectors: The output of each word in either order, ``(T, C)`` with few features C.
        digits: Decimals of a number.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If the words are not the same, or a vector is missing.
    """
    if sorted(first) != sorted(second) or len(set(first)) != len(first):
        raise ValueError(f"both orders must have the same words, each once, got {first} and {second}")
    above, below = (array(x) for x in vectors)
    if not len(above) == len(below) == len(first):
        raise ValueError(f"each word must have a vector, got {len(above)} and {len(below)} of {len(first)}")
    said = [[_said(row, digits) for row in x] for x in (above, below)]
    wide = column([*first, *said[0], *said[1]], least=110)
    step, tall = wide + GAP, BOX + CELL
    picture = Drawing(2 * EDGE + len(first) * step - GAP, 2 * EDGE + 2 * tall + BETWEEN)
    low = EDGE + tall + BETWEEN
    for j, word in enumerate(first):
        x = EDGE + j * step + wide / 2
        at = EDGE + second.index(word) * step + wide / 2
        same = bool(np.allclose(above[j], below[second.index(word)], atol=1e-5))
        if same:
            picture.line((x, EDGE + tall + 3), (at, low - 3), colour=OUTPUT, thick=1.6)
    for words, texts, top, flip in ((first, said[0], EDGE, False), (second, said[1], low, True)):
        for j, (word, text) in enumerate(zip(words, texts, strict=True)):
            x = EDGE + j * step
            name, cell = (top + CELL, top) if flip else (top, top + BOX)
            picture.text(x + wide / 2, name + BOX / 2, word, colour=INK, bold=True)
            picture.rect(x, cell, wide, CELL, fill=OUTPUT, opacity=0.14, edge=OUTPUT)
            picture.text(x + wide / 2, cell + CELL / 2, text, colour=OUTPUT)
    return picture


def _said(row: np.ndarray, digits: int) -> str:
    return "(" + ", ".join(f"{x + 0.0:.{digits}f}".replace("-", "−") for x in row) + ")"
