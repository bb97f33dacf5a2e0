"""Sentences in which one word attends to the others, drawn with an arc for every weight."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from attnlib.plotting.kit.drawing import WIDEST, Drawing, text_width
from attnlib.plotting.kit.style import MUTED, QUERY, SERIES, WEIGHT, array

BOX = 26  # a word
UNDER = 24  # the numbers under it
GAP = 12  # between two sentences
LABEL = 22  # of what is said above a sentence
NUMBER = 26  # of a weight, from its middle to that of the next
LEAST = 0.02  # weights below it are not drawn

Weights = Sequence[Tensor | Sequence[float]]


def sentences(
    texts: Sequence[str],
    asks: Sequence[str],
    weights: Weights | None = None,
    *,
    labels: Sequence[str] | None = None,
    hidden: Sequence[str | None] | None = None,
) -> Drawing:
    """Draw sentences one below the other, and how much one word of each gives to the others.

    Args:
        texts: The sentences.
        asks: For each, the word that looks; the first such word of the sentence.
        weights: For each, a weight for every word; without them, thin arcs lead to all words and to itself.
        labels: What to say above each.
        hidden: For each, a word that is masked, or None; it is struck out.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If a word is not in its sentence, or the weights do not fit the words.
    """
    lines = [text.split() for text in texts]
    for line, word in zip(lines, asks, strict=True):
        if word not in line:
            raise ValueError(f"asks must be a word of its sentence, got {word!r} for {' '.join(line)!r}")
    shares = _shares(lines, weights)
    rows = [_Row(line, line.index(word)) for line, word in zip(lines, asks, strict=True)]
    said = labels or [""] * len(rows)
    over = max(row.highest(share) for row, share in zip(rows, shares, strict=True))
    over += LABEL if labels else 0
    step = over + BOX + UNDER + GAP
    picture = Drawing(min(WIDEST, max(row.width for row in rows)), step * len(rows) - GAP)
    struck = hidden or [None] * len(rows)
    for n, (row, share, label, word) in enumerate(zip(rows, shares, said, struck, strict=True)):
        row.draw(picture, step * n + over, share)
        if word is not None:
            row.strike(picture, step * n + over, word)
        if label:
            picture.text(8, step * n + 12, label, colour=MUTED, anchor="start")
    return picture


def _shares(lines: list[list[str]], given: Weights | None) -> list[list[float] | None]:
    if given is None:
        return [None] * len(lines)
    shares = [array(weights).tolist() for weights in given]
    for line, share in zip(lines, shares, strict=True):
        if len(share) != len(line):
            raise ValueError(f"each of {len(line)} words needs a weight, got {len(share)}")
    return shares


class _Row:
    """One sentence: where its words stand, and the arcs from the one that looks."""

    def __init__(self, words: list[str], at: int) -> None:
        wide = [0.93 * text_width(word) + 9 for word in words]
        left = [8 + sum(wide[:j]) for j in range(len(words))]
        self.words, self.at, self.wide, self.left = words, at, wide, left
        self.middle = [x + width / 2 for x, width in zip(left, wide, strict=True)]
        self.width = sum(wide) + 16

    def height(self, j: int) -> float:
        """Return how high the arc to a word is: the farther the higher, so that arcs do not clot."""
        return 19 + 0.13 * abs(self.middle[j] - self.middle[self.at])

    def highest(self, share: list[float] | None) -> float:
        """Return the room that the arcs need."""
        return 10 + max(self.height(j) for j in self._with_arc(share))

    def _with_arc(self, share: list[float] | None) -> list[int]:
        return [j for j in range(len(self.words)) if share is None or share[j] >= LEAST]

    def _has_room(self, j: int, share: list[float]) -> bool:
        """Return whether the number of a word is clear of those of its neighbours, or the larger one."""
        near = [n for n in self._with_arc(share) if n != j and abs(self.middle[n] - self.middle[j]) < NUMBER]
        return all((share[j], -j) > (share[n], -n) for n in near)

    def draw(self, picture: Drawing, top: float, share: list[float] | None) -> None:
        """Draw the sentence, its words with their upper edge at ``top``."""
        for j, word in enumerate(self.words):
            box = (self.left[j] + 1, top, self.wide[j] - 2, BOX)
            picture.rect(*box, fill=WEIGHT, opacity=round(0.3 * (share[j] if share else 0.0), 3))
            if j == self.at:
                picture.rect(*box, edge=QUERY, thick=1.8)
            picture.text(self.middle[j], top + BOX / 2, word, bold=j == self.at)
        for j in self._with_arc(share):
            self._arc(picture, j, top - 2, share)
            if share is not None and self._has_room(j, share):
                picture.text(self.middle[j], top + BOX + 12, f"{share[j]:.2f}", colour=WEIGHT)
        if share is None:
            x, low = self.middle[self.at], top + BOX + 2
            turn = f"C{x - 16:.1f} {low + 20:g} {x + 16:.1f} {low + 20:g}"
            picture.path(
                f"M{x - 6:.1f} {low:g} {turn} {x + 6:.1f} {low:g}", colour=MUTED, thick=1.1, dashed=True
            )

    def strike(self, picture: Drawing, top: float, word: str) -> None:
        """Draw a line through a word of the sentence."""
        if word not in self.words:
            raise ValueError(f"hidden must be a word of its sentence, got {word!r}")
        j = self.words.index(word)
        ends = self.left[j] + 2, self.left[j] + self.wide[j] - 2
        picture.line(*((x, top + BOX / 2 + 1) for x in ends), colour=SERIES[3], thick=2.2)

    def _arc(self, picture: Drawing, j: int, edge: float, share: list[float] | None) -> None:
        """Draw an arc over the words, as thick as the weight is large."""
        if j == self.at:
            return
        far = edge - self.height(j) * 4 / 3
        start, end = self.middle[self.at], self.middle[j]
        path = f"M{start:.1f} {edge:g} C{start:.1f} {far:.1f} {end:.1f} {far:.1f} {end:.1f} {edge:g}"
        if share is None:
            picture.path(path, colour=MUTED, thick=1.1, dashed=True)
        else:
            picture.path(path, colour=WEIGHT, thick=1 + 4 * share[j], opacity=0.8)
