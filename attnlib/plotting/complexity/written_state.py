"""A state of fixed size while pairs are written into it: by adding, or by correcting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attnlib.plotting.kit.drawing import Drawing
from attnlib.plotting.kit.style import GRID, KEY, MUTED, OUTPUT, QUERY, VALUE

EDGE = 8  # margins
HEAD = 42  # above the first row
CELL = 50  # a cell of the state
COUNT = 40  # the column of counts
STEP = 38  # the column of the pair that is written
TIGHT = 12  # how much less wide a state is where two rules stand beside their names
TALL = 38  # a row
NUMBER = 14  # the number in a row
RULES = {"add": "adding", "correct": "correcting"}


def written_state(
    writes: Sequence[tuple[str, float]],
    ask: str,
    *,
    rules: Sequence[str] = ("add",),
    shared: Mapping[str, Sequence[float]] | None = None,
) -> Drawing:
    """Draw a state after each pair that is written, and what is read from it for one key.

    Args:
        writes: Keys and values in order, up to 3 pairs.
        ask: The key that is asked for at the end.
        rules: A strip for each: ``add`` sums the values of a key and counts them, ``correct`` is the delta
            rule at a rate of 1.
        shared: Keys that have no row of their own, and their share in each row there is. All other keys, at
            most 2, have one.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If there are too many pairs or keys, an unknown rule, or a key that was never written.
    """
    shared = shared or {}
    keys = list(dict.fromkeys(key for key, _ in writes if key not in shared))
    if len(writes) > 3 or len(keys) > 2:
        raise ValueError(f"writes must be up to 3 pairs of at most 2 keys, got {list(writes)}")
    if ask not in keys:
        raise ValueError(f"ask must be one of the keys {keys}, got {ask!r}")
    if not set(rules) <= set(RULES):
        raise ValueError(f"rules must be from {list(RULES)}, got {list(rules)}")
    share = {key: [float(key == row) for row in keys] for key in keys} | dict(shared)
    left = EDGE + (80 if len(rules) > 1 else 0)
    cell = CELL - (TIGHT if len(rules) > 1 else 0)
    panel, strip = STEP + cell + COUNT + 4, len(keys) * TALL + 42
    right = left + 20 + len(writes) * panel
    picture = Drawing(right + 108, HEAD + strip * len(rules))
    for i, (key, value) in enumerate(writes):
        x = left + 20 + i * panel + STEP + cell / 2
        picture.text(x - 2, 12, f"{key} is", colour=KEY, bold=True, anchor="end")
        picture.text(x + 4, 12, f"{value:g}", colour=VALUE, bold=True, anchor="start")
        picture.text(x, 29, f"key ({', '.join(f'{part:g}' for part in share[key])})", colour=KEY)
    picture.text(right + 12, 12, f"what is {ask}?", colour=QUERY, bold=True, anchor="start")
    for r, rule in enumerate(rules):
        top = HEAD + r * strip + 24
        if len(rules) > 1:
            picture.text(EDGE, top + len(keys) * TALL / 2, RULES[rule], bold=True, anchor="start")
        for j, key in enumerate(keys):
            picture.text(left + 8, top + (j + 0.5) * TALL, key, colour=KEY, bold=True)
        held, count = [0.0] * len(keys), [0.0] * len(keys)
        for i, (key, value) in enumerate(writes):
            found = sum(part * have for part, have in zip(share[key], held, strict=True))
            more = value - found if rule == "correct" else value
            x = left + 20 + i * panel + STEP
            for j, part in enumerate(share[key]):
                held[j], count[j] = held[j] + part * more, count[j] + part
                if part:
                    y = top + (j + 0.5) * TALL
                    picture.text(x - STEP / 2, y - 10, f"{part * more:+g}", colour=VALUE)
                    picture.arrow((x - STEP + 6, y), (x - 4, y))
            _panel(picture, x, top, cell, share[key], held, count if rule == "add" else None)
        row = keys.index(ask)
        said = f"{held[row]:g}"
        if rule == "add":
            said = f"{held[row]:g} / {count[row]:g} = {held[row] / count[row]:g}"
        picture.text(
            right + 12, top + (row + 0.5) * TALL, said, colour=OUTPUT, bold=True, anchor="start", size=NUMBER
        )
    return picture


def _panel(picture, x, top, cell, written, held, count) -> None:
    """Draw the rows of a state, those just written stronger, and their counts where there are any."""
    picture.text(x + cell / 2, top - 9, "sum" if count else "state", colour=MUTED)
    if count:
        picture.text(x + cell + COUNT / 2, top - 9, "count", colour=MUTED)
    for j, have in enumerate(held):
        y = top + j * TALL
        picture.rect(x + 1, y + 1, cell - 2, TALL - 2, fill=VALUE, opacity=0.4 if written[j] else 0.12)
        picture.text(x + cell / 2, y + TALL / 2, f"{have:g}", bold=True, size=NUMBER)
        if count:
            picture.rect(x + cell + 1, y + 1, COUNT - 2, TALL - 2, edge=GRID)
            picture.text(x + cell + COUNT / 2, y + TALL / 2, f"{count[j]:g}", colour=MUTED, size=NUMBER)
