"""Networks that read word by word: unrolled, and as encoder and decoder."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from attnlib.plotting.kit.drawing import Drawing, column, text_width
from attnlib.plotting.kit.style import INK, MUTED, QUERY, SERIES, WEIGHT

STATE = SERIES[0]
BOX = 36  # the width of a state
TALL = 34  # its height
EDGE = 8  # margins
SMALL = 28  # in a full row, the width of a state
GAP = 12  # in a full row, between two states
TURN = -38  # in a full row, how words are turned
ROW = 500  # lowered letters can be read on a phone up to this width
BRACKET = 34  # for the bracket over two states
FULL = 0.8  # the opacity of a full state
MARK = 16  # room for what is written under a state


def state_box(
    picture: Drawing, x: float, y: float, name: str, *, box: float = BOX, full: float = 0.16
) -> None:
    """Draw a state around a point, with its name in mathematics."""
    picture.rect(x - box / 2, y - TALL / 2, box, TALL, fill=STATE, opacity=full, edge=STATE, round=6)
    picture.text(x, y, name, maths=True)


def unrolled_network(
    words: Sequence[str],
    *,
    state: str = "h",
    connect: tuple[str, str] | None = None,
    full: Sequence[float] | None = None,
    marks: Sequence[str] | None = None,
) -> Drawing:
    """Draw a recurrent network once for each word: the old state and the word make the new state.

    Args:
        words: What it reads. If they do not fit across, boxes are narrower and words are turned; more than
            fit even so go on in a second row.
        state: The letter of the state.
        connect: Two of the words, the earlier first, that belong together. A bracket over their states says
            how many steps they are apart, and the words are marked.
        full: How full each state is, from 0 to 1: the fuller, the darker. All are alike without it.
        marks: What to write under the states, the first first; those without one stay bare.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If there is no word, or the two to connect are not among them, in this order and one row,
            or there is not a share for each word, or there are more marks than words.
    """
    if not words:
        raise ValueError("words must hold at least one word, got none")
    if full is not None and (len(full) != len(words) or not all(0 <= share <= 1 for share in full)):
        raise ValueError(f"full must hold a share from 0 to 1 for each of {len(words)} words, got {full}")
    if marks is not None and len(marks) > len(words):
        raise ValueError(f"marks must be at most one for each of {len(words)} words, got {len(marks)}")
    said = None if marks is None else [*marks, *[""] * (len(words) - len(marks))]
    more = MARK if marks else 0
    dark = [0.16] * len(words) if full is None else [round(FULL * share, 2) for share in full]
    ends = _ends(words, connect)
    above = EDGE + (BRACKET if ends else 0)
    wide = [text_width(word) for word in words]
    step = max([BOX + 18.0, *((one + next_one) / 2 + 8 for one, next_one in pairwise(wide))])
    over = max(0.0, (max(wide) - BOX) / 2 - EDGE)  # what a long word at the end needs
    most = max(1, int((ROW - 2 * EDGE - BOX - over) / step))
    apart = (ROW - 2 * EDGE - SMALL) / len(words)  # from state to state, if all stand in one row
    if len(words) > most and apart >= SMALL + GAP and wide[0] <= apart + SMALL / 2 + EDGE:
        picture = Drawing(ROW, above + EDGE + TALL + 40 + more + math.sin(math.radians(-TURN)) * max(wide))
        _row(picture, above + TALL / 2, (SMALL, apart), state, 0, words, dark, said, turned=True, ends=ends)
        return picture
    rows = -(-len(words) // most)
    if ends and rows > 1:
        raise ValueError(f"words to connect must stand in one row, got {len(words)} words in {rows} rows")
    across = -(-len(words) // rows)  # rows of equal length
    picture = Drawing(2 * EDGE + BOX + across * step + over, above - EDGE + rows * (104 + more) - 10)
    for row in range(rows):
        first = row * across
        read = words[first : first + across]
        y = above + TALL / 2 + row * (104 + more)
        marked = said and said[first:]
        _row(picture, y, (BOX, step), state, first, read, dark[first:], marked, ends=ends)
    return picture


def _ends(words: Sequence[str], connect: tuple[str, str] | None) -> tuple[int, int] | None:
    """Return the numbers of the two states to connect, counted from 1."""
    if connect is None:
        return None
    one, other = connect
    if one not in words or other not in words or words.index(one) >= words.index(other):
        raise ValueError(f"connect must be two of the words, the earlier first, got {one!r} and {other!r}")
    return words.index(one) + 1, words.index(other) + 1


def _row(picture, y, sizes, state, first, words, dark, marks, *, turned=False, ends=None) -> None:
    """Draw a row of states after the one of number ``first``; sizes are of a box, and from box to box."""
    below = y + TALL / 2 + (MARK if marks else 0)
    box, step = sizes
    x = EDGE + box / 2
    if ends:
        _bracket(picture, [x + end * step for end in ends], y - TALL / 2 - 4, ends[1] - ends[0])
    picture.text(x - 4, y, f"{state}_{{{first}}}", maths=True, colour=MUTED)
    for i, word in enumerate(words, first + 1):
        picture.arrow((x + (box / 2 if i > first + 1 else 8) + 2, y), (x + step - box / 2 - 2, y))
        x += step
        state_box(picture, x, y, f"{state}_{{{i}}}", box=box, full=dark[i - first - 1])
        if marks and marks[i - first - 1]:
            picture.text(x, y + TALL / 2 + 11, marks[i - first - 1])
        picture.arrow((x, below + 28), (x, below + 3))
        look = {} if ends is None else {"colour": MUTED}
        if ends and i in ends:
            look = {"colour": STATE if i == ends[0] else QUERY, "bold": True}
        if turned:
            picture.text(x + 5, below + 36, word, anchor="end", turn=TURN, **look)
        else:
            picture.text(x, below + 40, word, **look)


def _bracket(picture: Drawing, across: Sequence[float], y: float, steps: int) -> None:
    """Draw a bracket over two states, and say how far they are apart: a measure, not a path."""
    first, last = across
    picture.line((first, y), (first, y - 9), (last, y - 9), (last, y), thick=1.2)
    picture.text((first + last) / 2, y - 20, f"{steps} steps apart", bold=True)


def encoder_decoder(source: Sequence[str], target: Sequence[str], *, attention: bool = False) -> Drawing:
    """Draw a translator: an encoder that reads below, a decoder that writes above, and what passes between.

    Args:
        source: The words that are read.
        target: The words that are written.
        attention: Whether the decoder attends to every state of the encoder, drawn for its second word; if
            not, one vector is all it gets.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If there is no word, or so many that the drawing would be too wide.
    """
    if not source or not target:
        raise ValueError(f"source and target must hold words, got {len(source)} and {len(target)}")
    step = column([*source, *target], least=BOX + 22, room=10)
    label = 74
    width = 2 * EDGE + label + max(len(source), len(target)) * step
    low, high = 208, 60
    middle = label + EDGE + (width - label - 2 * EDGE) / 2
    begins = [middle - len(words) * step / 2 + step / 2 for words in (source, target)]
    below = [begins[0] + i * step for i in range(len(source))]
    above = [begins[1] + i * step for i in range(len(target))]
    query_x = above[min(1, len(above) - 1)]
    beside = max(query_x + 40, query_x + 0.6 * (below[-1] - query_x))  # where the weights are named
    picture = Drawing(max(width, beside + text_width("weights") / 2 + EDGE if attention else 0), 272)
    if attention:
        y = (low + high) / 2
        handed = (
            (below[-1], low - TALL / 2 - 3),
            (below[-1], y),
            (above[0], y),
            (above[0], high + TALL / 2 + 3),
        )
        picture.arrow(*handed, dashed=True)
        picture.text(above[0] - 8, y, "as before", anchor="end", colour=MUTED)
        _attention(picture, below, above, low, high)
        picture.text(beside, high + TALL / 2 + 16, "weights", colour=WEIGHT, bold=True)
    else:
        _one_vector(picture, below, above, low, high, middle)
    for name, places, y in (("encoder", below, low), ("decoder", above, high)):
        picture.text(EDGE, y, name, anchor="start", bold=True)
        for x, after in pairwise(places):
            picture.arrow((x + BOX / 2 + 2, y), (after - BOX / 2 - 2, y))
        for i, x in enumerate(places, 1):
            state_box(picture, x, y, f"{'h' if y == low else 's'}_{{{i}}}")
    for x, word in zip(below, source, strict=True):
        picture.arrow((x, low + TALL / 2 + 20), (x, low + TALL / 2 + 3))
        picture.text(x, low + TALL / 2 + 30, word)
    for x, word in zip(above, target, strict=True):
        picture.arrow((x, high - TALL / 2 - 3), (x, high - TALL / 2 - 20))
        picture.text(x, high - TALL / 2 - 30, word)
    return picture


def _one_vector(picture, below, above, low, high, middle) -> None:
    """Draw the vector that is all the decoder gets, between the last state and the first."""
    y, cell, cells = (low + high) / 2, 16, 6
    left, right = middle - cells * cell / 2, middle + cells * cell / 2
    picture.arrow((below[-1], low - TALL / 2 - 3), (below[-1], y), (right + 4, y))
    picture.arrow((left - 4, y), (above[0], y), (above[0], high + TALL / 2 + 3))
    for i in range(cells):
        picture.rect(
            left + i * cell, y - 11, cell, 22, fill=STATE, opacity=0.16 + 0.5 * ((i * 5) % 7) / 7, round=2
        )
    picture.rect(left, y - 11, right - left, 22, edge=INK, thick=1.6, round=3)
    picture.text(middle, y + 24, "one vector", bold=True)


def _attention(picture, below, above, low, high) -> None:
    """Draw how the second word attends to every state, most at the one it translates."""
    query = min(1, len(above) - 1)
    most = round(query * (len(below) - 1) / max(1, len(above) - 1))
    for j, x in enumerate(below):
        share = 1.0 if j == most else 0.45 / (1 + abs(j - most))
        start, end = (x, low - TALL / 2 - 2), (above[query], high + TALL / 2 + 4)
        picture.curve(start, end, lift=42, colour=WEIGHT, thick=1 + 4 * share, opacity=0.35 + 0.65 * share)
