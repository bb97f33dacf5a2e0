"""Clocks: positions as hands that turn, and two arrows that turn with them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attnlib.plotting._style import GRID, INK, KEY, MUTED, QUERY, WEIGHT
from attnlib.plotting.drawing import WIDEST, Drawing, text_width

EDGE, DIAL, HEAD = 8, 52, 22  # margins, dials and what is written above them, in pixels


def clock_rows(
    positions: Sequence[int], turns: Sequence[float], *, names: Sequence[str] | None = None
) -> Drawing:
    """Draw each position as a clock with many hands: a row of dials, one for each speed.

    A hand at 0 points up, as on a clock, and turns clockwise.

    Args:
        positions: Which positions, from the top.
        turns: By what angle each hand turns from one position to the next, in radians.
        names: What to write above each hand; how many positions make a round if not given.

    Returns:
        The drawing, as the last expression of a cell.
    """
    names = [f"{2 * math.pi / turn:,.0f}" for turn in turns] if names is None else names
    left = EDGE + text_width(f"place {max(positions, default=0)}") + 6
    step = min(DIAL + 26, (WIDEST - left - EDGE) / max(1, len(turns)))
    picture = Drawing(left + step * len(turns) + EDGE, 2 * EDGE + 2 * HEAD + (DIAL + 8) * len(positions))
    picture.text(left + step * len(turns) / 2, EDGE + HEAD / 2, "places for one round", colour=MUTED)
    for i, name in enumerate(names):
        picture.text(left + step * (i + 0.5), EDGE + 1.5 * HEAD, name, colour=MUTED)
    for row, position in enumerate(positions):
        y = EDGE + 2 * HEAD + (DIAL + 8) * row + DIAL / 2
        picture.text(left - 6, y, f"place {position}", anchor="end", bold=True)
        for i, turn in enumerate(turns):
            _dial(picture, left + step * (i + 0.5), y, position * turn)
    return picture


def _dial(picture: Drawing, x: float, y: float, angle: float) -> None:
    radius = DIAL / 2 - 1
    picture.circle(x, y, radius, edge=GRID, thick=1.4)
    picture.line((x, y - radius), (x, y - radius + 4), colour=MUTED)
    tip = x + 0.86 * radius * math.sin(angle), y - 0.86 * radius * math.cos(angle)
    picture.arrow((x, y), tip, colour=INK, thick=1.8)


def turned_arrows(
    q: tuple[float, float], k: tuple[float, float], turn: float, places: Sequence[tuple[int, int]]
) -> Drawing:
    """Draw a query and a key as arrows that are turned by their positions, once for each pair of places.

    Args:
        q: The query, before it is turned; shown dashed if it moved, like the key.
        k: The key, before it is turned.
        turn: By what angle an arrow turns from one position to the next, counter-clockwise, in radians.
        places: The position of the query and that of the key, for each panel; up to three.

    Returns:
        The drawing, as the last expression of a cell.
    """
    wide, tall = (WIDEST - 2 * EDGE) / max(3, len(places)), 150
    unit = (tall / 2 - 12) / max(math.hypot(*q), math.hypot(*k), 1e-9)
    picture = Drawing(2 * EDGE + wide * len(places), 2 * EDGE + 2 * HEAD + tall)
    for n, (m, at) in enumerate(places):
        x, y = EDGE + wide * (n + 0.5), EDGE + HEAD + tall / 2
        picture.text(x, EDGE + HEAD / 2, f"query at {m}, key at {at}", colour=INK)
        picture.circle(x, y, unit * math.hypot(*q), fill="none", edge=GRID, thick=1.2)
        ends = []
        for arrow, place, colour in ((q, m, QUERY), (k, at, KEY)):
            if place:
                picture.line((x, y), (x + unit * arrow[0], y - unit * arrow[1]), colour=colour, dashed=True)
            ends.append(_turned(arrow, place * turn))
            tip = x + unit * ends[-1][0], y - unit * ends[-1][1]
            picture.arrow((x, y), tip, colour=colour, thick=2.2, head=9)
        _angle(picture, (x, y), 0.36 * unit * math.hypot(*k) + 8, ends[1], ends[0])
        score = sum(a * b for a, b in zip(*ends, strict=True))
        said = f"score {score + 0.0:.2f}".replace("-", "−")
        picture.text(x, EDGE + 1.5 * HEAD + tall, said, colour=WEIGHT, bold=True)
    return picture


def _turned(arrow: tuple[float, float], angle: float) -> tuple[float, float]:
    c, s = math.cos(angle), math.sin(angle)
    return arrow[0] * c - arrow[1] * s, arrow[0] * s + arrow[1] * c


def _angle(
    picture: Drawing,
    centre: tuple[float, float],
    radius: float,
    start: tuple[float, float],
    end: tuple[float, float],
) -> None:
    """Draw the angle between two arrows, the shorter way."""
    a, b = (math.atan2(y, x) for x, y in (start, end))
    way = (b - a + math.pi) % (2 * math.pi) - math.pi
    if abs(way) < 0.02:
        return
    x0, y0 = centre[0] + radius * math.cos(a), centre[1] - radius * math.sin(a)
    x1, y1 = centre[0] + radius * math.cos(a + way), centre[1] - radius * math.sin(a + way)
    sweep = 0 if way > 0 else 1
    picture.path(
        f"M{x0:.2f} {y0:.2f} A{radius:.2f} {radius:.2f} 0 0 {sweep} {x1:.2f} {y1:.2f}", colour=WEIGHT, thick=2
    )
