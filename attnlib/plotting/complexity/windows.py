"""A sliding window: what is left of the attention table, and the receptive field of a stack of layers."""

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


def receptive_field(n: int, window: int, layers: int) -> Drawing:
    """Draw the table of a sliding window, and beside it the receptive field of the last output.

    That is, in each layer, the tokens that can change it.

    Args:
        n: Tokens, up to 10.
        window: Keys that a query attends to, its own among them.
        layers: How many are stacked, up to 3; their receptive field must not be larger than n.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If there are too many tokens or layers, or the receptive field is larger than n.
    """
    if not (1 <= n <= 10 and 1 <= layers <= 3):
        raise ValueError(f"n must be 1 to 10 and layers 1 to 3, got {n} and {layers}")
    if not window >= 1 or layers * (window - 1) + 1 > n:
        field = layers * (window - 1) + 1
        raise ValueError(
            f"window must be at least 1 and the receptive field at most n = {n}, "
            f"got window {window}, and {field} tokens in {layers} layers"
        )
    left, top = EDGE + 22, TOP
    first = left + n * CELL + APART
    picture = Drawing(first + (n - 1) * STEP + SAID, top + max(n * CELL, layers * FLOOR + 30) + EDGE)
    picture.text(left + n * CELL / 2, 12, f"one layer, a window of {window}", bold=True)
    picture.text(left + n * CELL / 2, 32, "k", maths=True, colour=KEY)
    picture.text(EDGE, top + n * CELL / 2, "q", maths=True, colour=QUERY, anchor="start")
    for i in range(n):
        for j in range(n):
            attended = i - window < j <= i
            box = (left + j * CELL + 1, top + i * CELL + 1, CELL - 2, CELL - 2)
            fill, opacity = (WEIGHT_FILL, 1) if attended else (GRID, 0.45)
            picture.rect(*box, fill=fill, opacity=opacity, round=3)
    picture.text(first + (n - 1) * STEP / 2, 12, f"{layers} layers, stacked", bold=True)
    floors = [top + layers * FLOOR + 8 - floor * FLOOR for floor in range(layers + 1)]
    field = [(layers - floor) * (window - 1) + 1 for floor in range(layers + 1)]
    for floor in range(1, layers + 1):
        for token in range(n - field[floor], n):
            for below in range(token - window + 1, token + 1):
                picture.line(
                    (first + token * STEP, floors[floor]),
                    (first + below * STEP, floors[floor - 1]),
                    colour=WEIGHT,
                    opacity=0.6,
                )
    for floor, y in enumerate(floors):
        for token in range(n):
            inside = token >= n - field[floor]
            colour = OUTPUT if floor == layers else KEY
            picture.circle(first + token * STEP, y, 5.5, fill=colour if inside else GRID)
        said = "last token" if floor == layers else f"{field[floor]} tokens"
        picture.text(first + (n - 1) * STEP + 14, y, said, anchor="start", colour=MUTED)
    return picture
