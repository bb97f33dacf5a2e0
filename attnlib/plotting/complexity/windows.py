"""A sliding window: what is left of the attention table, and how far a stack of layers reaches."""

from __future__ import annotations

from attnlib.plotting.kit.drawing import Drawing
from attnlib.plotting.kit.style import GRID, KEY, MUTED, OUTPUT, QUERY, WEIGHT, WEIGHT_FILL

EDGE = 8  # margins
CELL = 17  # a cell of the table
STEP = 22  # from token to token in the stack
TOP = 44  # where table and stack begin
FLOOR = 54  # from layer to layer
APART = 34  # between the table and the stack
SAID = 80  # for the words at the right


def window_reach(n: int, window: int, layers: int) -> Drawing:
    """Draw the table of a sliding window, and beside it what the last token of each layer above can know of.

    Args:
        n: Tokens, up to 10.
        window: Keys that a query sees, its own among them.
        layers: How many are stacked, up to 3; together they must not reach beyond the first token.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If there are too many tokens or layers, or they reach too far.
    """
    if not (1 <= n <= 10 and 1 <= layers <= 3):
        raise ValueError(f"n must be 1 to 10 and layers 1 to 3, got {n} and {layers}")
    if not window >= 1 or layers * (window - 1) + 1 > n:
        raise ValueError(f"{layers} layers with a window of {window} must not reach beyond {n} tokens")
    left, top = EDGE + 22, TOP
    first = left + n * CELL + APART
    picture = Drawing(first + (n - 1) * STEP + SAID, top + max(n * CELL, layers * FLOOR + 30) + EDGE)
    picture.text(left + n * CELL / 2, 12, f"one layer, a window of {window}", bold=True)
    picture.text(left + n * CELL / 2, 32, "k", maths=True, colour=KEY)
    picture.text(EDGE, top + n * CELL / 2, "q", maths=True, colour=QUERY, anchor="start")
    for i in range(n):
        for j in range(n):
            seen = i - window < j <= i
            box = (left + j * CELL + 1, top + i * CELL + 1, CELL - 2, CELL - 2)
            picture.rect(*box, fill=WEIGHT_FILL if seen else GRID, opacity=1 if seen else 0.45, round=3)
    picture.text(first + (n - 1) * STEP / 2, 12, f"{layers} layers, stacked", bold=True)
    floors = [top + layers * FLOOR + 8 - floor * FLOOR for floor in range(layers + 1)]
    reach = [(layers - floor) * (window - 1) + 1 for floor in range(layers + 1)]
    for floor in range(1, layers + 1):
        for token in range(n - reach[floor], n):
            for below in range(token - window + 1, token + 1):
                picture.line(
                    (first + token * STEP, floors[floor]),
                    (first + below * STEP, floors[floor - 1]),
                    colour=WEIGHT,
                    opacity=0.6,
                )
    for floor, y in enumerate(floors):
        for token in range(n):
            known = token >= n - reach[floor]
            colour = OUTPUT if floor == layers else KEY
            picture.circle(first + token * STEP, y, 5.5, fill=colour if known else GRID)
        said = "last token" if floor == layers else f"{reach[floor]} tokens"
        picture.text(first + (n - 1) * STEP + 14, y, said, anchor="start", colour=MUTED)
    return picture
