"""What a state of fixed size lets through."""

from __future__ import annotations

from attnlib.plotting._style import INK, SERIES
from attnlib.plotting.drawing import Drawing

STATE = SERIES[0]


def narrow_door(n: int, d: int) -> Drawing:
    """Draw n numbers that enter a state of d slots, and the n faded ones that come out.

    Args:
        n: How many numbers are read, up to 24.
        d: How many the state has room for, up to 24.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If n or d is below 1 or above 24.
    """
    for name, count in (("n", n), ("d", d)):
        if not 1 <= count <= 24:
            raise ValueError(f"{name} must be between 1 and 24, got {count}")
    step, slot = 14 if n > 12 else 18, 16
    tall = max(n * step, d * slot + 40, 120)
    picture = Drawing(460, tall + 40)
    left, door, right, centre = 60, 230, 400, tall / 2 + 6
    kept = min(1.0, d / n)
    dots = [centre + (i - (n - 1) / 2) * step for i in range(n)]
    slots = [centre + (i - (d - 1) / 2) * slot for i in range(d)]
    for i, y in enumerate(dots):
        through = slots[min(d - 1, i * d // n)]
        for start, end, shown in (
            ((left + 6, y), (door - 9, through), 1.0),
            ((right - 6, y), (door + 9, through), kept),
        ):
            bend = (start[0] + end[0]) / 2
            swing = f"C{bend:g} {start[1]:g} {bend:g} {end[1]:g}"
            picture.path(
                f"M{start[0]:g} {start[1]:g} {swing} {end[0]:g} {end[1]:g}",
                colour=STATE, thick=1.2, opacity=0.1 + 0.4 * shown,
            )  # fmt: skip
        picture.circle(left, y, 5, fill=INK)
        picture.circle(right, y, 5, fill=INK, opacity=max(0.12, kept))
    half = d * slot / 2 + 4
    for start, end in ((4, centre - half), (centre + half, tall + 8)):
        picture.rect(door - 4, start, 8, end - start, fill=INK, round=2)
    for y in slots:
        picture.rect(door - 7, y - 6, 14, 12, fill=STATE, edge=INK, thick=1, round=2)
    picture.text(left, tall + 26, f"{n} numbers")
    picture.text(door, tall + 26, f"a state of {d}", colour=STATE, bold=True)
    picture.text(right - 4, tall + 26, f"{n} again, faded" if kept < 1 else f"{n} again")
    return picture
