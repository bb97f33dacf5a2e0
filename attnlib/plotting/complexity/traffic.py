"""What goes to and fro between the processor and its slow memory, and how long that takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attnlib.plotting.kit.drawing import Drawing, text_width
from attnlib.plotting.kit.style import (
    GRID,
    INK,
    KEY,
    MUTED,
    OUTPUT,
    QUERY,
    SERIES,
    VALUE,
    WEIGHT,
    WEIGHT_FILL,
)

WIDTH = 470  # the drawing
EDGE = 8  # margins
TITLE = 24  # for the name of a way
BOX = 58  # a kernel
STRIP = 17  # its bar of time
FALL = 40  # the arrows to slow memory
SHELF = 24  # slow memory
GAP = 2  # between two kernels
COLOURS = {"q": QUERY, "k": KEY, "v": VALUE, "o": OUTPUT}
TABLE = "t"  # the letter of the table
SLOT = 12  # room for a thin arrow
WIDE = 18  # room for an arrow of the table
Way = tuple[Sequence[tuple[str, str, str]], str, float, tuple[float, str]]


def traffic(
    ways: Mapping[str, Way],
    table: str,
    *,
    parts: Mapping[str, Sequence[tuple[float, float]]] | None = None,
    needs: Mapping[str, str] | None = None,
) -> Drawing:
    """Draw kernels as wide as their time over slow memory, with an arrow for all that they read and write.

    Args:
        ways: By name, for each way its kernels, each a name, what it reads and what it writes, in letters of
            ``q``, ``k``, ``v``, ``o``, and ``t`` for the table of scores; how much that is in
            all; the seconds it needs at least; and the seconds it took, with the words for it.
        table: How much the table is, written at its arrows where there is room.
        parts: By name of a way, for each of its kernels the seconds it needs at least, and those it took
            alone; they stand in the boxes. Without, the kernels of a way share its time alike.
        needs: By name of a way, words for what it needs at least; they stand beside the colour that shows
            it, in the first kernel with room, or behind the last.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If a letter is unknown, or the arrows or the name of a kernel have no room.
    """
    unknown = {x for kernels, *_ in ways.values() for _, *ends in kernels for x in "".join(ends)}
    unknown -= {*COLOURS, TABLE}
    if unknown:
        raise ValueError(f"what is moved must be of q, k, v, o and t, got {', '.join(sorted(unknown))}")
    shares = {name: _shares(way, (parts or {}).get(name)) for name, way in ways.items()}
    unit = (WIDTH - 2 * EDGE) / max(sum(took for _, took, _ in share) for share in shares.values())
    tall, left = TITLE + BOX + FALL + SHELF, EDGE + max(text_width(name) for name in ways) + 8
    picture = Drawing(WIDTH, EDGE + len(ways) * (tall + 24) - 24 + EDGE)
    for row, (name, (kernels, moved, _, (_, took))) in enumerate(ways.items()):
        top, x = EDGE + row * (tall + 24) + TITLE, EDGE
        shelf = top + BOX + FALL
        picture.text(EDGE, top - TITLE / 2 - 2, name, anchor="start", bold=True)
        picture.text(left, top - TITLE / 2 - 2, f"{took}; {moved} moved", anchor="start")
        picture.rect(EDGE, shelf, WIDTH - 2 * EDGE, SHELF, fill=GRID, opacity=0.7)
        picture.text(WIDTH / 2, shelf + SHELF / 2, "slow memory", colour=MUTED)
        for n, (kernel, share) in enumerate(zip(kernels, shares[name], strict=True), 1):
            wide = share[1] * unit
            _kernel(picture, x, top, wide - GAP, kernel, share, n == len(kernels))
            _moves(picture, x, top + BOX, wide - GAP, kernel, table)
            x += wide
        if name in (needs or {}):
            _name_needs(picture, needs[name], top, shares[name], unit)
    return picture


def _shares(way: Way, parts: Sequence[tuple[float, float]] | None) -> list[tuple[float, float, str]]:
    """Return for each kernel of a way the seconds it needs at least, those it took, and these in words."""
    kernels, _, least, (took, said) = way
    if parts:
        return [(needs, alone, f"{1e3 * alone:.1f} ms") for needs, alone in parts]
    words = said if len(kernels) == 1 else ""
    return [(least / len(kernels), took / len(kernels), words) for _ in kernels]


def _kernel(
    picture: Drawing, x: float, top: float, wide: float, kernel: tuple, share: tuple, last: bool
) -> None:
    """Draw one kernel, its time and, along its foot, how much of that it needs at least."""
    (name, *_), (needs, took, words), line = kernel, share, (BOX - STRIP) / 4
    picture.rect(x, top + BOX - STRIP, wide, STRIP, fill=SERIES[0], opacity=0.3, round=0)
    picture.rect(x, top + BOX - STRIP, wide * needs / took, STRIP, fill=SERIES[0], opacity=0.85, round=0)
    picture.rect(x, top, wide, BOX, edge=INK, thick=1.6, round=2)
    inside = text_width(name) <= wide + 6
    if inside:
        picture.text(x + wide / 2, top + line + 2, name)
    elif last:
        picture.text(x + wide + 10, top + 2 * line + 1, name, anchor="start")
    else:
        raise ValueError(f"the name of {name} has no room: draw fewer kernels")
    picture.text(x + wide / 2, top + (3 * line if inside else 2 * line + 1), words)


def _name_needs(picture: Drawing, words: str, top: float, shares: Sequence, unit: float) -> None:
    """Write what a way needs at least behind its colour, in the first kernel with room or after the last."""
    x, y, words = EDGE, top + BOX - STRIP / 2, f"← {words}"
    for least, took, _ in shares:
        if (took - least) * unit > text_width(words) + 2 * GAP + 8:
            picture.text(x + least * unit + 6, y, words, anchor="start")
            return
        x += took * unit
    picture.text(x + 8, y, words, anchor="start")


def _moves(picture: Drawing, x: float, top: float, wide: float, kernel: tuple, table: str) -> None:
    """Draw arrows up for what a kernel reads, at its left, and down for what it writes, at its right."""
    name, reads, writes = kernel
    moves = [(letter, True) for letter in reads] + [(letter, False) for letter in writes]
    slots = [WIDE if letter == TABLE else SLOT for letter, _ in moves]
    free = wide - sum(slots)
    if free < 0:
        raise ValueError(f"the arrows of {name} have no room: draw fewer kernels")
    room = free > (reads + writes).count(TABLE) * (text_width(table) + 8)
    at, shelf = x, top + FALL
    for n, ((letter, up), slot) in enumerate(zip(moves, slots, strict=True)):
        at += free if n == len(reads) else 0
        middle = at + slot / 2
        ends = ((middle, shelf - 1), (middle, top + 3))
        ends = ends if up else ends[::-1]
        if letter == TABLE:
            picture.rect(at, shelf, slot, SHELF, fill=WEIGHT_FILL, round=0)
            picture.arrow(*ends, colour=WEIGHT_FILL, thick=9, head=17)
            if room:
                beside = at + slot + 4 if up else at - 4
                picture.text(beside, top + FALL / 2, table, anchor="start" if up else "end", colour=WEIGHT)
        else:
            picture.arrow(*ends, colour=COLOURS[letter], thick=1.4)
            picture.text(middle, shelf + SHELF / 2, letter, maths=True, colour=COLOURS[letter])
        at += slot
