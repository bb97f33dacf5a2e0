"""Clocks: positions as hands that turn, the angles they pass, and a query and a key that turn with them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attnlib.plotting.kit.drawing import WIDEST, Drawing, text_width
from attnlib.plotting.kit.style import GRID, INK, KEY, MUTED, PAPER, QUERY, SERIES, WEIGHT

EDGE = 8  # margins
DIAL = 52  # a dial
HEAD = 22  # a line above the dials


def clock_rows(
    positions: Sequence[int], turns: Sequence[float], *, names: Sequence[str] | None = None
) -> Drawing:
    """Draw each position as a clock with many hands: a row of dials, one for each speed.

    A hand at 0 points up, as on a clock, and turns clockwise.

    Args:
        positions: Which positions, from the top.
        turns: By what angle each hand turns from one position to the next, in radians.
        names: What to write above each hand; how many positions make a whole turn if not given.

    Returns:
        The drawing, as the last expression of a cell.
    """
    names = [f"{2 * math.pi / turn:,.0f}" for turn in turns] if names is None else names
    left = EDGE + text_width(f"position {max(positions, default=0)}") + 6
    step = min(DIAL + 26, (WIDEST - left - EDGE) / max(1, len(turns)))
    picture = Drawing(left + step * len(turns) + EDGE, 2 * EDGE + 2 * HEAD + (DIAL + 8) * len(positions))
    picture.text(left + step * len(turns) / 2, EDGE + HEAD / 2, "positions for a whole turn", colour=MUTED)
    for i, name in enumerate(names):
        picture.text(left + step * (i + 0.5), EDGE + 1.5 * HEAD, name, colour=MUTED)
    for row, position in enumerate(positions):
        y = EDGE + 2 * HEAD + (DIAL + 8) * row + DIAL / 2
        picture.text(left - 6, y, f"position {position}", anchor="end", bold=True)
        for i, turn in enumerate(turns):
            _dial(picture, left + step * (i + 0.5), y, position * turn)
    return picture


def _dial(picture: Drawing, x: float, y: float, angle: float, *, face: str = PAPER) -> None:
    radius = DIAL / 2 - 1
    picture.circle(x, y, radius, fill=face, edge=GRID, thick=1.4)
    picture.line((x, y - radius), (x, y - radius + 4), colour=MUTED)
    tip = x + 0.86 * radius * math.sin(angle), y - 0.86 * radius * math.cos(angle)
    picture.arrow((x, y), tip, colour=INK, thick=1.8)


def swept_dials(turns: Sequence[float], trained: int, longer: int) -> Drawing:
    """Draw the angle of each hand between two positions of a text, and which angles a longer text adds.

    Args:
        turns: By what angle each hand turns from one position to the next, in radians; fastest first.
        trained: The largest distance in the shorter text.
        longer: The largest distance in the longer one.

    Returns:
        The drawing, as the last expression of a cell.
    """
    step = min(DIAL + 6, (WIDEST - 2 * EDGE) / max(1, len(turns)))
    picture = Drawing(2 * EDGE + step * len(turns), EDGE + 3.5 * HEAD + DIAL + 8)
    middle, y = EDGE + 2 * HEAD + DIAL / 2, EDGE + 2 * HEAD + DIAL
    known = sum(trained * turn >= 2 * math.pi for turn in turns)
    for i, turn in enumerate(turns):
        x = EDGE + step * (i + 0.5)
        _sector(picture, (x, middle), 0, trained * turn, SERIES[0])
        _sector(picture, (x, middle), trained * turn, longer * turn, SERIES[1])
        _dial(picture, x, middle, trained * turn, face="none")
        rounds = _few(trained * turn / (2 * math.pi))
        picture.text(x, EDGE + 1.5 * HEAD, rounds, bold=True, colour=SERIES[i >= known])
    picture.text(EDGE + step * len(turns) / 2, EDGE + HEAD / 2, f"turns at distance {trained}", colour=MUTED)
    for first, last, said, colour in (
        (0, known, "every angle seen", SERIES[0]),
        (known, len(turns), f"distances {trained + 1} to {longer}: new angles", SERIES[1]),
    ):
        if last > first:
            left, right = EDGE + step * first + 4, EDGE + step * last - 4
            picture.line((left, y + 8), (right, y + 8), colour=colour)
            picture.text((left + right) / 2, y + HEAD + 1, said, colour=colour)
    return picture


def _few(number: float) -> str:
    """Write a number in two digits that count; in one if it is below a tenth."""
    if number >= 9.95 or number <= 0:
        return f"{number:.0f}"
    return f"{number:.{(number >= 0.095) - math.floor(math.log10(number))}f}"


def _sector(picture: Drawing, centre: tuple[float, float], start: float, end: float, colour: str) -> None:
    """Fill what a hand passes between two angles, clockwise from the top, up to a whole turn."""
    end, radius = min(end, 2 * math.pi), DIAL / 2 - 1
    if start >= end:
        return
    if end - start > 2 * math.pi - 1e-9:
        picture.circle(*centre, radius, fill=colour, opacity=0.35)
        return
    (x0, y0), (x1, y1) = (
        (centre[0] + radius * math.sin(angle), centre[1] - radius * math.cos(angle)) for angle in (start, end)
    )
    large = int(end - start > math.pi)
    arc = f"L{x0:.2f} {y0:.2f} A{radius:.2f} {radius:.2f} 0 {large} 1 {x1:.2f} {y1:.2f} Z"
    picture.path(f"M{centre[0]:.2f} {centre[1]:.2f} {arc}", colour="none", fill=colour, opacity=0.5)


def turned_arrows(
    q: tuple[float, float], k: tuple[float, float], turn: float, positions: Sequence[tuple[int, int]]
) -> Drawing:
    """Draw a query and a key as hands that are turned by their positions, once for each pair of positions.

    The first number of an arrow goes up and the second to the right, so that they turn clockwise, as the
    hands of `clock_rows` do. Where a whole number of positions makes a turn, they stand around the dial.

    Args:
        q: The query, before it is turned.
        k: The key, before it is turned.
        turn: By what angle an arrow turns from one position to the next, in radians.
        positions: The position of the query and that of the key, for each panel; up to three.

    Returns:
        The drawing, as the last expression of a cell.
    """
    wide, tall = min(168, (WIDEST - 2 * EDGE) / max(1, len(positions))), 166
    unit = (tall / 2 - 22) / max(math.hypot(*q), math.hypot(*k), 1e-9)
    picture = Drawing(2 * EDGE + wide * len(positions), 2 * EDGE + 2 * HEAD + tall)
    for n, (m, at) in enumerate(positions):
        x, y = EDGE + wide * (n + 0.5), EDGE + HEAD + tall / 2
        picture.text(x - 4, EDGE + HEAD / 2, f"query at {m}", colour=QUERY, anchor="end", bold=True)
        picture.text(x + 4, EDGE + HEAD / 2, f"key at {at}", colour=KEY, anchor="start", bold=True)
        _face(picture, (x, y), unit * max(math.hypot(*q), math.hypot(*k)), turn)
        ends = []
        for arrow, position, colour in ((q, m, QUERY), (k, at, KEY)):
            ends.append(_turned(arrow, position * turn))
            tip = x + unit * ends[-1][1], y - unit * ends[-1][0]
            picture.arrow((x, y), tip, colour=colour, thick=2.6, head=10)
        _angle(picture, (x, y), 0.3 * unit * math.hypot(*k) + 8, *ends)
        score = sum(a * b for a, b in zip(*ends, strict=True))
        said = f"score {score + 0.0:.2f}".replace("-", "−")
        picture.text(x, EDGE + 1.5 * HEAD + tall, said, colour=WEIGHT, bold=True)
    return picture


def _face(picture: Drawing, centre: tuple[float, float], radius: float, turn: float) -> None:
    """Draw a dial, with the positions around it if they fill one turn."""
    picture.circle(*centre, radius, fill="none", edge=GRID, thick=1.4)
    count = round(2 * math.pi / abs(turn)) if turn else 0
    if not 2 <= count <= 12 or abs(count * abs(turn) - 2 * math.pi) > 1e-6:
        return
    for position in range(count):
        right, up = math.sin(position * turn), math.cos(position * turn)
        inner, rim, outer = (
            (centre[0] + r * right, centre[1] - r * up) for r in (radius - 5, radius, radius + 12)
        )
        picture.line(inner, rim, colour=MUTED)
        picture.text(*outer, str(position), colour=MUTED)


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
    """Draw the angle between two arrows, the shorter way, and write how large it is."""
    a, b = (math.atan2(right, up) for up, right in (start, end))  # clockwise from the top
    way = (b - a + math.pi) % (2 * math.pi) - math.pi
    if abs(way) < 0.02:
        return

    def at(angle: float, far: float) -> tuple[float, float]:
        return centre[0] + far * math.sin(angle), centre[1] - far * math.cos(angle)

    (x0, y0), (x1, y1) = at(a, radius), at(a + way, radius)
    bow = f"A{radius:.2f} {radius:.2f} 0 0 {int(way > 0)} {x1:.2f} {y1:.2f}"
    picture.path(f"M{x0:.2f} {y0:.2f} {bow}", colour=WEIGHT, thick=2)
    if abs(way) > 0.6:
        picture.text(
            *at(a + way / 2, radius + 19), f"{abs(math.degrees(way)):.0f}°", colour=WEIGHT, bold=True
        )
