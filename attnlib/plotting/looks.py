"""The last word of a sentence looks twice: what the first look fetches goes into the second question."""

from __future__ import annotations

from collections.abc import Sequence

from attnlib.plotting._style import INK, QUERY, VALUE, WEIGHT
from attnlib.plotting.drawing import Drawing, text_width

HIGH, BOX, LABEL, BELOW = 44, 26, 24, 24  # of the bows, of a word, of a line above, of what is carried below


def two_looks(text: str, fetched: str, found: Sequence[str], labels: tuple[str, str]) -> Drawing:
    """Draw a sentence twice: its last word fetches a word, and carrying it asks for others.

    Args:
        text: The sentence.
        fetched: The word of the first look.
        found: Between which words the second look has to choose.
        labels: What to say above each look.

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
    left = [8 + sum(widths[:j]) for j in range(len(words))]
    step = LABEL + HIGH + BOX + BELOW
    picture = Drawing(sum(widths) + 16, 2 * step - BELOW + 8)
    for n, ends in enumerate(([fetched], found)):
        top = step * n + LABEL + HIGH
        picture.text(8, step * n + LABEL / 2, labels[n], anchor="start", colour=INK, bold=True)
        for x, wide, word in zip(left, widths, words, strict=True):
            if word in ends:
                picture.rect(x + 1, top, wide - 2, BOX, fill=VALUE if n == 0 else WEIGHT, opacity=0.3)
            picture.text(x + wide / 2, top + BOX / 2, word, bold=word in (words[-1], *ends))
        start = left[-1] + widths[-1] / 2
        picture.rect(left[-1] + 1, top, widths[-1] - 2, BOX, edge=QUERY, thick=1.8)
        for word in ends:
            j = words.index(word)
            end = left[j] + widths[j] / 2
            high = min(HIGH - 12, 12 + 0.12 * abs(start - end))
            picture.arc((start - 8, top - 2), (end, top - 2), height=high, colour=QUERY, thick=2)
        if n == 0:  # what was fetched goes along into the second look
            x = start + 12
            picture.arrow((x, top + BOX + 2), (x, top + step - 3), colour=VALUE, thick=2.4)
            said = f"+ {fetched.strip(',')}"
            picture.text(x - 10, top + BOX + 16, said, colour=VALUE, anchor="end", bold=True)
    return picture
