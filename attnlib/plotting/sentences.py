"""Sentences in which one word looks at the others, drawn with an arc for every weight."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from attnlib.plotting._style import MUTED, QUERY, WEIGHT, array
from attnlib.plotting.drawing import WIDEST, Drawing, text_width

HIGH, BOX, ROW, GAP = 40, 26, 94, 10  # of the arcs, of a word, of a sentence, between two
LABEL = 22  # of what is said above a sentence
LEAST = 0.02  # weights below it are not drawn


def sentences(
    texts: Sequence[str],
    asks: Sequence[str],
    weights: Sequence[Tensor | Sequence[float]] | None = None,
    *,
    labels: Sequence[str] | None = None,
) -> Drawing:
    """Draw sentences one below the other, and how much one word of each gives to the others.

    Args:
        texts: The sentences.
        asks: For each, the word that looks; the first such word of the sentence.
        weights: For each, a weight for every word; without them, thin arcs lead to all words and to itself.
        labels: What to say above each.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If a word is not in its sentence, or the weights do not fit the words.
    """
    lines = [text.split() for text in texts]
    for line, word in zip(lines, asks, strict=True):
        if word not in line:
            raise ValueError(f"asks must be a word of its sentence, got {word!r} for {' '.join(line)!r}")
    shares = [None] * len(lines) if weights is None else [array(w).tolist() for w in weights]
    for line, share in zip(lines, shares, strict=True):
        if share is not None and len(share) != len(line):
            raise ValueError(f"each of {len(line)} words needs a weight, got {len(share)}")
    widths = [[0.93 * text_width(word) + 9 for word in line] for line in lines]
    above = 0 if labels is None else LABEL
    step = above + ROW + GAP
    picture = Drawing(min(WIDEST, max(map(sum, widths)) + 16), step * len(lines) - GAP + 4)
    for n, (line, word, share) in enumerate(zip(lines, asks, shares, strict=True)):
        _draw(picture, step * n + above + HIGH + 8, line, widths[n], line.index(word), share)
    for n, label in enumerate(labels or []):
        picture.text(8, step * n + 12, label, colour=MUTED, anchor="start")
    return picture


def _draw(
    picture: Drawing, top: float, line: list[str], widths: list[float], at: int, share: list[float] | None
) -> None:
    """Draw one sentence whose words have their upper edge at ``top``."""
    left = [8 + sum(widths[:j]) for j in range(len(line))]
    middle = [x + wide / 2 for x, wide in zip(left, widths, strict=True)]
    for j, word in enumerate(line):
        weight = 0.0 if share is None else share[j]
        box = (left[j] + 1, top, widths[j] - 2, BOX)
        picture.rect(*box, fill=WEIGHT, opacity=round(0.3 * weight, 3))
        if j == at:
            picture.rect(*box, edge=QUERY, thick=1.8)
        picture.text(middle[j], top + BOX / 2, word, bold=j == at)
        if weight >= LEAST:
            picture.text(middle[j], top + BOX + 12, f"{weight:.2f}", colour=WEIGHT)
        if j != at and (share is None or weight >= LEAST):
            _arc(picture, middle[at], middle[j], top, weight if share is not None else None)
    if share is None:
        x, low = middle[at], top + BOX + 2
        loop = f"M{x - 6:.1f} {low} C{x - 16:.1f} {low + 20} {x + 16:.1f} {low + 20} {x + 6:.1f} {low}"
        picture.path(loop, colour=MUTED, thick=1.1, dashed=True)


def _arc(picture: Drawing, start: float, end: float, top: float, weight: float | None) -> None:
    """Draw an arc over the words, as thick as the weight is large."""
    high = top - 4 - min(HIGH, 12 + 0.16 * abs(end - start)) * 4 / 3
    path = f"M{start:.1f} {top - 2:g} C{start:.1f} {high:.1f} {end:.1f} {high:.1f} {end:.1f} {top - 2:g}"
    if weight is None:
        picture.path(path, colour=MUTED, thick=1.1, dashed=True)
    else:
        picture.path(path, colour=WEIGHT, thick=1 + 4 * weight, opacity=0.8)
