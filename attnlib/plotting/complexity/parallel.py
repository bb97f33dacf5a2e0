"""Which work has to wait: steps one after another, or all tokens at once."""

from __future__ import annotations

from attnlib.plotting.kit.drawing import Drawing
from attnlib.plotting.kit.style import GRID, INK, MUTED, SERIES

EDGE = 8  # margins
LEFT = 84  # where the tokens begin
WIDE = 52  # the width of a token
TALL = 26  # its height
GAP = 20  # between two tokens
DRAWN = 4  # tokens that are drawn before the dots


def sequential_steps(tokens: int, chain: str, together: str) -> Drawing:
    """Draw tokens over time: one after another in a chain, and all at once.

    Args:
        tokens: How many there are, more than are drawn one by one.
        chain: The name of the layer whose steps wait for each other.
        together: The name of the layer in which none waits.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If there are too few tokens to leave some out.
    """
    if tokens <= DRAWN + 1:
        raise ValueError(f"tokens must be more than {DRAWN + 1}, got {tokens}")
    numbers = [f"{n}" for n in range(1, DRAWN + 1)] + ["", f"{tokens:,}"]
    step, down = WIDE + GAP, TALL + 5
    right, axis = LEFT + step * len(numbers) - GAP, EDGE + 70 + down * len(numbers)
    picture = Drawing(right + EDGE, axis + 24)
    picture.text(EDGE, EDGE + TALL / 2, chain, anchor="start", bold=True)
    picture.text(EDGE, EDGE + 66 + TALL / 2, together, anchor="start", bold=True)
    for n, number in enumerate(numbers):
        _token(picture, LEFT + n * step, EDGE, number, SERIES[2])
        if n:
            x = LEFT + n * step
            picture.arrow((x - GAP + 2, EDGE + TALL / 2), (x - 2, EDGE + TALL / 2), colour=INK)
        _token(picture, LEFT, EDGE + 66 + n * down, number, SERIES[1])
    picture.text(LEFT, EDGE + TALL + 13, f"{tokens:,} steps, each after the one before", anchor="start")
    picture.text(LEFT + step, EDGE + 66 + 2.5 * down, f"all {tokens:,} at once", anchor="start")
    picture.arrow((LEFT, axis), (right, axis), colour=GRID, thick=2)
    picture.text(right, axis + 13, "time, not to scale", anchor="end", colour=MUTED)
    return picture


def _token(picture: Drawing, x: float, y: float, number: str, colour: str) -> None:
    """Draw the work of one token, or dots for those that are left out."""
    if number:
        picture.rect(x, y, WIDE, TALL, fill=colour, opacity=0.35, edge=colour)
        picture.text(x + WIDE / 2, y + TALL / 2, number)
    else:
        picture.text(x + WIDE / 2, y + TALL / 2, "\N{HORIZONTAL ELLIPSIS}", colour=MUTED)
