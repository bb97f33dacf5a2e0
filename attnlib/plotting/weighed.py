"""How one word comes to its weights: keys, scores and shares, as bars under the words."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from attnlib.plotting._style import GRID, INK, KEY, MUTED, QUERY, WEIGHT, WEIGHT_FILL, array
from attnlib.plotting.drawing import Drawing, text_width

EDGE, BOX, LABEL, HIGH = 8, 26, 22, 46  # at the sides; of a word; of what is said; of the highest bar
NUMBER = 16  # of a number at the end of its bar
LEAST = 0.005  # weights below it have no number


def weighed(
    words: Sequence[str],
    asks: int,
    numbers: tuple[Tensor | Sequence[float], Tensor | Sequence[float], Tensor | Sequence[float]],
    labels: tuple[str, str, str],
) -> Drawing:
    """Draw a sentence, and for the words that one of them may see its keys, scores and weights.

    Args:
        words: The words.
        asks: The place of the word that asks, from 0; those after it are hidden from it.
        numbers: For each word it sees the key, the score and the weight, a number each.
        labels: What each of the three is.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If there is not a number for each word up to the one that asks.
    """
    keys, scores, weights = (array(x).tolist() for x in numbers)
    if not len(keys) == len(scores) == len(weights) == asks + 1:
        raise ValueError(
            f"each of the first {asks + 1} words needs a key, a score and a weight, "
            f"got {len(keys)}, {len(scores)} and {len(weights)}"
        )
    widths = [max(0.9 * text_width(word) + 6, 36 if j <= asks else 0) for j, word in enumerate(words)]
    left = [EDGE + sum(widths[:j]) for j in range(len(words))]
    middles = [x + wide / 2 for x, wide in zip(left, widths, strict=True)]
    most = max(max(map(abs, keys)), 1e-9)
    below = HIGH * max(0.0, -min(keys)) / most + NUMBER
    base = BOX + LABEL + NUMBER + HIGH + 6  # of the keys
    line = base + below + 10  # of the scores
    floor = line + 2 * LABEL + 10 + NUMBER + HIGH + LABEL  # of the weights
    picture = Drawing(sum(widths) + 2 * EDGE, floor + 8)
    for j, word in enumerate(words):
        if j == asks:
            picture.rect(left[j], 2, widths[j], BOX - 2, edge=QUERY, thick=1.8)
        picture.text(middles[j], BOX / 2 + 1, word, bold=j == asks, colour=MUTED if j > asks else INK)
    _hidden(picture, left[asks + 1 :], widths[asks + 1 :], floor)
    end = left[asks] + widths[asks]
    for y, label, colour in (
        (BOX + LABEL / 2 + 2, labels[0], KEY),
        (line + LABEL / 2, labels[1], QUERY),
        (line + 2 * LABEL + 10 + LABEL / 2, labels[2], WEIGHT),
    ):
        picture.text(EDGE, y, label, anchor="start", colour=colour, bold=True)
    for y in (base, floor):
        picture.line((EDGE, y), (end, y), colour=GRID)
    for j, x in enumerate(middles[: asks + 1]):
        _bar(picture, x, base, HIGH * keys[j] / most, KEY, _said(keys[j], 2))
        picture.text(x, line + LABEL + LABEL / 2, _said(scores[j], 1), bold=weights[j] > 0.1)
        said = _said(weights[j], 2) if weights[j] >= LEAST else ""
        _bar(picture, x, floor, HIGH * weights[j] / max(weights), WEIGHT_FILL, said)
    return picture


def _bar(picture: Drawing, x: float, base: float, high: float, colour: str, said: str) -> None:
    """Draw a bar up or down from its base, and its number at the end."""
    top = min(base, base - high)
    picture.rect(x - 11, top, 22, abs(high), fill=colour, opacity=0.85 if high > 0 else 0.3, round=0)
    picture.text(x, top - NUMBER / 2 if high >= 0 else base - high + NUMBER / 2, said)


def _hidden(picture: Drawing, left: Sequence[float], widths: Sequence[float], bottom: float) -> None:
    """Draw a frame around what the mask hides."""
    if left:
        wide = left[-1] + widths[-1] - left[0] - 6
        picture.rect(left[0] + 5, BOX + 6, wide, bottom - BOX - 6, edge=MUTED, dashed=True)
        picture.text(left[0] + 5 + wide / 2, (BOX + bottom) / 2 - 8, "hidden", colour=MUTED)
        picture.text(left[0] + 5 + wide / 2, (BOX + bottom) / 2 + 9, "by the mask", colour=MUTED)


def _said(number: float, digits: int) -> str:
    """Return a number as text, with a minus as it is set."""
    return f"{number:.{digits}f}".replace("-", "\N{MINUS SIGN}")
