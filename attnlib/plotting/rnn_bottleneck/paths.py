"""Path lengths: the steps from the first word to the last."""

from __future__ import annotations

from itertools import accumulate, pairwise

from attnlib.plotting.kit.drawing import Drawing
from attnlib.plotting.kit.style import INK, MUTED, PAPER, SERIES

EDGE = 8  # margins
NAMES = 118  # the column of names
ROW = 420  # a row of words
DISC = 11.5  # the radius of a word
LAYER = 44  # from layer to layer of a convolution
WINDOW = 3  # the words that a convolution mixes
LABEL = 24  # room for a word under its number
PALE = 0.28
RECURRENCE = SERIES[0]
CONVOLUTION = SERIES[1]
ATTENTION = SERIES[3]


def paths(words: int = 8, *, ends: tuple[str, str] | None = None) -> Drawing:
    """Draw the path from the first word to the last: by recurrence, convolution and attention.

    The convolution is three wide and dilated: its layers reach back by 1, 3, 9 and so on, once or twice. Its
    path jumps where it must and goes straight up where the jump is not needed.

    Args:
        words: How many words stand in the row, from 2 to 16.
        ends: The first word and the last, written under their numbers.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If there are too few words or too many.
    """
    if not 2 <= words <= 16:
        raise ValueError(f"words must be between 2 and 16, got {words}")
    step = ROW / words
    places = [EDGE + NAMES + step * (i + 0.5) for i in range(words)]
    layers = next(count for count in range(1, words) if WINDOW**count >= words)
    hop, swing = min(26.0, 0.55 * step), 74
    first = EDGE + hop + DISC + 8
    second = first + DISC + 40 + layers * LAYER
    third = second + DISC + 34 + swing + DISC
    picture = Drawing(EDGE + NAMES + ROW + EDGE, third + DISC + EDGE + (LABEL if ends else 0))
    _recurrence(picture, places, first, hop)
    _convolution(picture, places, second, layers)
    _attention(picture, places, third, swing)
    for y in (first, second, third) if ends else ():
        for x, word in zip((places[0], places[-1]), ends, strict=True):
            picture.text(x, y + DISC + LABEL / 2, word, bold=True)
    return picture


def _recurrence(picture: Drawing, places: list[float], y: float, hop: float) -> None:
    """Draw an arrow from each word to the next."""
    for here, there in pairwise(places):
        start, end = (here + 4, y - DISC - 1), (there - 4, y - DISC - 2)
        picture.arc(start, end, height=hop, colour=RECURRENCE, thick=2.6, head=8)
    _words(picture, places, y, RECURRENCE, reached=range(len(places)))
    _name(picture, y, "recurrence", len(places) - 1, "step", RECURRENCE)


def _convolution(picture: Drawing, places: list[float], y: float, layers: int) -> None:
    """Draw layers of dots over the words, each joined to the one below it and to two further back."""
    spreads = [WINDOW**layer for layer in range(layers)]
    jumps = [(len(places) - 1) // spread % WINDOW * spread for spread in spreads]
    way = list(accumulate(jumps, initial=0))
    heights = [y - layer * LAYER for layer in range(layers + 1)]
    for layer, spread in enumerate(spreads):
        for i, x in enumerate(places):
            for back in (i, i - spread, i - 2 * spread):
                if back >= 0:
                    ends = (places[back], heights[layer]), (x, heights[layer + 1])
                    picture.line(*ends, colour=MUTED, thick=1, opacity=PALE)
    for height in heights[1:]:
        for x in places:
            picture.circle(x, height, 4.5, fill=PAPER)
            picture.circle(x, height, 4.5, fill=MUTED, opacity=PALE)
    for layer in range(layers):
        start, end = ((places[way[at]], heights[at]) for at in (layer, layer + 1))
        picture.line(start, end, colour=CONVOLUTION, thick=3.2)
        picture.circle(*end, 7, fill=CONVOLUTION)
    _words(picture, places, y, CONVOLUTION, reached=[0])
    middle = y - layers * LAYER / 2
    _name(picture, middle, "convolution", layers, "layer", CONVOLUTION)
    needed = [str(jump) for jump in jumps if jump]
    if len(needed) > 1:
        picture.text(
            EDGE, middle + 27, f"{len(places) - 1} = {' + '.join(needed)}", anchor="start", colour=MUTED
        )


def _attention(picture: Drawing, places: list[float], y: float, swing: float) -> None:
    """Draw how the last word attends to every word, and at the first of them in one step."""
    far = places[-1] - places[0]
    for here in places[1:-1]:
        height = swing * (places[-1] - here) / far
        picture.arc((here, y - DISC), (places[-1], y - DISC), height=height, colour=MUTED, thick=1,
                    head=0, opacity=PALE)  # fmt: skip
    picture.arc((places[0], y - DISC - 1), (places[-1], y - DISC - 2), height=swing, colour=ATTENTION,
                thick=3.2, head=11)  # fmt: skip
    _words(picture, places, y, ATTENTION, reached=[0, len(places) - 1])
    _name(picture, y - swing / 2 - DISC, "attention", 1, "step", ATTENTION)


def _words(picture: Drawing, places: list[float], y: float, colour: str, *, reached) -> None:
    """Draw the row of words by their numbers; those on the path are filled."""
    for i, x in enumerate(places):
        holds = i in reached
        edge = colour if holds else MUTED
        picture.circle(x, y, DISC, fill=PAPER)
        picture.circle(x, y, DISC, fill=edge, opacity=0.22 if holds else 0.08, edge=edge,
                       thick=1.8 if holds else 1)  # fmt: skip
        picture.text(x, y, str(i + 1), colour=INK if holds else MUTED, bold=holds)


def _name(picture: Drawing, y: float, name: str, count: int, unit: str, colour: str) -> None:
    """Write a way's name at the left, and how long it is."""
    picture.text(EDGE, y - 9, name, anchor="start", bold=True, colour=colour)
    picture.text(EDGE, y + 9, f"{count} {unit}{'s' if count > 1 else ''}", anchor="start")
