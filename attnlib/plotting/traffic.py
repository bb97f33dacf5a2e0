"""What goes to and fro between the processor and its slow memory, and how long that takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attnlib.plotting._style import GRID, INK, KEY, MUTED, OUTPUT, QUERY, SERIES, VALUE, WEIGHT, WEIGHT_FILL
from attnlib.plotting.drawing import WIDEST, Drawing

EDGE, LEFT, BOX, FALL, SHELF, BAR = 8, 84, 30, 52, 24, 18
COLOURS = {"q": QUERY, "k": KEY, "v": VALUE, "o": OUTPUT}
TABLE, SLOT, WIDE = "t", 30, 70  # the letter of the table; room for a thin arrow, and for one of the table
Way = tuple[Sequence[tuple[str, str, str]], str, tuple[float, str], tuple[float, str]]


def traffic(
    ways: Mapping[str, Way], table: str, *, parts: Mapping[str, Sequence[tuple[float, float]]] | None = None
) -> Drawing:
    """Draw kernels over slow memory, with an arrow for all that they read and write; below, their time.

    Args:
        ways: By name, for each way its kernels, each a name, what it reads and what it writes, in letters of
            ``q``, ``k``, ``v``, ``o``, and ``t`` for the table of scores; how much that is in
            all; the seconds it needs at least, and the seconds it took, either with the words for it.
        table: How much the table is, written at its arrows.
        parts: By name of a way, for each of its kernels the seconds it needs at least, and those it took
            alone. The times stand in the boxes, and the bar of the way is cut into them.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If a letter is unknown, or the arrows of a kernel have no room.
    """
    unknown = {x for kernels, *_ in ways.values() for _, *ends in kernels for x in "".join(ends)}
    unknown -= {*COLOURS, TABLE}
    if unknown:
        raise ValueError(f"what is moved must be of q, k, v, o and t, got {', '.join(sorted(unknown))}")
    tall = 8 + BOX + FALL + SHELF + 10 + BAR
    picture = Drawing(WIDEST, EDGE + len(ways) * (tall + 34) - 34 + EDGE)
    longest = max(took for *_, (took, _) in ways.values())
    for row, (name, (kernels, moved, least, took)) in enumerate(ways.items()):
        top = EDGE + row * (tall + 34) + 8
        shelf, cut = top + BOX + FALL, (parts or {}).get(name, ())
        picture.text(EDGE, top + BOX / 2, name, anchor="start", bold=True)
        picture.text(EDGE, shelf - FALL / 2 - 8, moved, anchor="start", colour=MUTED)
        picture.text(EDGE, shelf - FALL / 2 + 9, "moved", anchor="start", colour=MUTED)
        picture.rect(EDGE, shelf, WIDEST - 2 * EDGE, SHELF, fill=GRID, opacity=0.7)
        picture.text(EDGE + 8, shelf + SHELF / 2, "slow memory", anchor="start", colour=MUTED)
        wide = (WIDEST - EDGE - LEFT - 14 * (len(kernels) - 1)) / len(kernels)
        for n, kernel in enumerate(kernels):
            alone = f"  {1e3 * cut[n][1]:.1f} ms" if cut else ""
            _kernel(picture, LEFT + n * (wide + 14), top, wide, kernel, table, alone)
        _time(picture, shelf + SHELF + 10, least, took, longest, cut)
    return picture


def _kernel(
    picture: Drawing, x: float, top: float, wide: float, kernel: tuple, table: str, alone: str
) -> None:
    """Draw one kernel and how long it took alone, arrows up for what it reads and down for what it writes."""
    name, reads, writes = kernel
    moves = [(letter, True) for letter in reads] + [(letter, False) for letter in writes]
    slots = [WIDE if letter == TABLE else SLOT for letter, _ in moves]
    if sum(slots) > wide:
        raise ValueError(f"the arrows of {name} have no room: draw fewer kernels")
    picture.rect(x, top, wide, BOX, edge=INK, thick=1.6, round=6)
    picture.text(x + wide / 2, top + BOX / 2, name + alone)
    at = x + (wide - sum(slots)) / 2
    for (letter, up), slot in zip(moves, slots, strict=True):
        high, low = (at + 9, top + BOX + 3), (at + 9, top + BOX + FALL - 1)
        ends = (low, high) if up else (high, low)
        middle = top + BOX + FALL / 2
        if letter == TABLE:
            picture.arrow(*ends, colour=WEIGHT_FILL, thick=9, head=17)
            picture.text(at + 20, middle, table, anchor="start", colour=WEIGHT)
        else:
            picture.arrow(*ends, colour=COLOURS[letter], thick=1.4)
            picture.text(at + 18, middle, letter, maths=True, colour=COLOURS[letter])
        at += slot


def _time(picture: Drawing, y: float, least: tuple, took: tuple, longest: float, parts: Sequence) -> None:
    """Draw how long it took to scale, kernel by kernel, and how much of that it needs at least."""
    unit, x, gap = 250 / longest, LEFT, 1 if parts else 0
    picture.text(LEFT - 8, y + BAR / 2, "time", anchor="end", colour=MUTED)
    for needs, took_alone in parts or [(least[0], took[0])]:
        picture.rect(x, y, took_alone * unit - gap, BAR, fill=SERIES[0], opacity=0.3, round=0)
        picture.rect(x, y, needs * unit - gap, BAR, fill=SERIES[0], opacity=0.85, round=0)
        x += took_alone * unit
    picture.text(x + 8, y + BAR / 2, f"{took[1]}; {least[1]}", anchor="start")
