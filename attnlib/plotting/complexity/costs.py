"""What attention costs, to scale: scores in a memory, the bill of a token, bytes fetched, time taken."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from attnlib.plotting.kit.drawing import Drawing, text_width
from attnlib.plotting.kit.style import GRID, INK, KEY, MUTED, SERIES, WEIGHT, WEIGHT_FILL

LINE = 20  # from line to line
EDGE = 8  # margins
WIDE = 480  # the drawing: at that width text is nearly 10 px high on a phone


def score_squares(lengths: Sequence[int], memory: tuple[float, str], *, width: int = 4) -> Drawing:
    """Draw tables of scores as squares inside a memory, all to one scale: an area is a number of bytes.

    The largest is named inside, the others from below.

    Args:
        lengths: Tokens, for each of which there is a table; the largest must fit the memory.
        memory: Its bytes, and its name.
        width: Bytes of a score.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If a table does not fit.
    """
    bytes_, name = memory
    if max(lengths) ** 2 * width > bytes_:
        raise ValueError(f"a table of {max(lengths):,} tokens must fit the memory of {bytes_:,.0f} bytes")
    side, left, top = 300, EDGE, EDGE
    picture = Drawing(side + 2 * EDGE, side + 2 * EDGE + 6 + LINE * (len(lengths) - 1))
    picture.rect(left, top, side, side, edge=INK, thick=1.6, round=2)
    bottom = top + side
    _two_lines(picture, left + 12, top + 24, name, _bytes(bytes_))
    for i, n in enumerate(sorted(lengths, reverse=True)):
        edge = side * n * math.sqrt(width / bytes_)
        picture.rect(
            left, bottom - edge, edge, edge, fill=WEIGHT_FILL, opacity=0.45 + 0.25 * i, edge=WEIGHT, round=0
        )
        tokens, said = f"{n:,} tokens", _bytes(n * n * width)
        if i == 0:
            _two_lines(picture, left + 8, bottom - edge + 24, tokens, said)
        else:
            x, y = left + min(edge / 2, 6), bottom + LINE * i
            picture.line((x, bottom + 3), (x, y), (left + 12, y))
            picture.text(left + 18, y, tokens, anchor="start", bold=True)
            picture.text(left + 26 + text_width(tokens), y, said, anchor="start", colour=MUTED)
    return picture


def _two_lines(picture: Drawing, x: float, y: float, name: str, said: str) -> None:
    picture.text(x, y - 8, name, anchor="start", bold=True)
    picture.text(x, y + 9, said, anchor="start", colour=MUTED)


def _bytes(number: float) -> str:
    """Write bytes as people say them, in powers of a thousand."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number:.3g} bytes"


def token_bill(d: int, lengths: Sequence[int]) -> Drawing:
    """Draw what each token costs in a layer of attention: 2d for its projections, n for the core.

    Both parts in units of ``4 d`` operations, to scale and with their numbers; then the share of the core.

    Args:
        d: Width of the layer.
        lengths: Tokens n, a row for each.

    Returns:
        The drawing, as the last expression of a cell.
    """
    left, high, top = EDGE + max(text_width(f"{n:,} tokens") for n in lengths) + 8, 30, 34
    unit = (WIDE - left - EDGE - 44) / (2 * d + max(lengths))
    picture = Drawing(WIDE, top + high * len(lengths) + EDGE)
    middle = left + 2 * d * unit
    picture.text(middle - 8, 14, "projections", anchor="end", colour=MUTED, bold=True)
    picture.text(middle + 8, 14, "core", anchor="start", colour=WEIGHT, bold=True)
    picture.line((middle, top - 8), (middle, top + high * len(lengths)), colour=GRID)
    for i, n in enumerate(lengths):
        y, end, said = top + high * i, middle + n * unit, f"{n:,}"
        at, room = y + high / 2 - 2, text_width(said) + 6
        picture.text(left - 8, at, f"{n:,} tokens", anchor="end")
        picture.rect(left, y + 2, 2 * d * unit, high - 8, fill=MUTED, opacity=0.3, round=0)
        picture.text((left + middle) / 2, at, f"{2 * d:,}")
        picture.rect(middle, y + 2, n * unit, high - 8, fill=WEIGHT_FILL, edge=WEIGHT, round=0)
        inside = room <= n * unit
        picture.text((middle + end) / 2 if inside else end + room / 2 + 2, at, said)
        end += 8 if inside else room + 10
        picture.text(end, at, f"{n / (2 * d + n):.0%}", anchor="start", colour=WEIGHT, bold=True)
    return picture


def fetch_bill(rows: Sequence[tuple[str, float, float]], speed: float) -> Drawing:
    """Draw how long a model fetches from memory for its next token: the weights, then the caches.

    Args:
        rows: For each bar its name, the bytes of the weights and those of all caches.
        speed: Bytes that the memory moves in a second.

    Returns:
        The drawing, as the last expression of a cell.
    """
    left, high, top = EDGE + max(text_width(name) for name, *_ in rows) + 8, 32, 34
    unit = (WIDE - left - EDGE - 64) / max(weights + caches for _, weights, caches in rows)
    picture = Drawing(WIDE, top + high * len(rows) + EDGE)
    first = rows[0][1] * unit
    picture.text(left, 14, "weights", anchor="start", colour=SERIES[0], bold=True)
    picture.text(left + max(first, 60) + 14, 14, "caches", anchor="start", colour=KEY, bold=True)
    for i, (name, weights, caches) in enumerate(rows):
        y = top + high * i
        picture.text(left - 8, y + high / 2 - 2, name, anchor="end")
        picture.rect(left, y + 2, weights * unit, high - 8, fill=SERIES[0], opacity=0.55, round=0)
        picture.rect(left + weights * unit, y + 2, caches * unit, high - 8, fill=KEY, opacity=0.55, round=0)
        end = left + (weights + caches) * unit + 8
        picture.text(end, y + high / 2 - 2, f"{1000 * (weights + caches) / speed:.1f} ms", anchor="start")
    return picture


def scaled_bars(
    groups: Mapping[str, Sequence[tuple[str, float, str]]],
    colours: Mapping[str, str],
    *,
    own: bool = False,
) -> Drawing:
    """Draw groups of bars to scale, each with its name before it and its number behind it.

    Args:
        groups: For the name of each group, its rows: a name, a number, and how to write the number.
        colours: Of every row by its name.
        own: Whether each group has a scale of its own, because it counts something else.

    Returns:
        The drawing, as the last expression of a cell.
    """
    rows = [row for group in groups.values() for row in group]
    first = EDGE + max(text_width(name) for name in groups) + 24
    left, high, gap = first + max(text_width(name) for name, *_ in rows) + 8, 28, 16
    room = WIDE - left - EDGE - max(text_width(said) for *_, said in rows) - 12
    picture = Drawing(WIDE, EDGE + high * len(rows) + gap * (len(groups) - 1) + EDGE)
    y = EDGE
    for title, group in groups.items():
        largest = max(size for _, size, _ in (group if own else rows))
        picture.text(EDGE, y + high / 2, title, anchor="start", bold=True)
        for name, size, said in group:
            colour, wide = colours[name], max(1.5, room * size / largest)
            picture.text(left - 8, y + high / 2, name, anchor="end", colour=colour)
            picture.rect(left, y + 3, wide, high - 6, fill=colour, opacity=0.6, round=0)
            picture.text(left + wide + 8, y + high / 2, said, anchor="start", colour=colour)
            y += high
        y += gap
    return picture
