"""A state of fixed size while pairs are written into it: by adding, or by correcting."""

from __future__ import annotations

from collections.abc import Sequence

from attnlib.plotting._style import GRID, KEY, MUTED, OUTPUT, QUERY, VALUE
from attnlib.plotting.drawing import Drawing

EDGE, CELL, COUNT, TALL, STEP = 8, 44, 36, 30, 36
RULES = {"add": "adding", "correct": "correcting"}


def written_state(
    writes: Sequence[tuple[str, float]], ask: str, *, rules: Sequence[str] = ("add",)
) -> Drawing:
    """Draw a state after each pair that is written, and what it answers; every key has a row of its own.

    Args:
        writes: Keys and values in order, up to 3 pairs of at most 2 keys.
        ask: The key that is asked for at the end.
        rules: A strip for each: ``add`` sums the values of a key and counts them, ``correct`` is the delta
            rule at a rate of 1.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If there are too many pairs or keys, an unknown rule, or a key that was never written.
    """
    keys = list(dict.fromkeys(key for key, _ in writes))
    if len(writes) > 3 or len(keys) > 2:
        raise ValueError(f"writes must be up to 3 pairs of at most 2 keys, got {list(writes)}")
    if ask not in keys:
        raise ValueError(f"ask must be one of the keys {keys}, got {ask!r}")
    if not set(rules) <= set(RULES):
        raise ValueError(f"rules must be from {list(RULES)}, got {list(rules)}")
    left = EDGE + (80 if len(rules) > 1 else 0)
    panel, strip = STEP + CELL + COUNT + 4, len(keys) * TALL + 42
    right = left + 20 + len(writes) * panel
    picture = Drawing(right + 108, 24 + strip * len(rules))
    for i, (key, value) in enumerate(writes):
        x = left + 20 + i * panel + STEP + CELL / 2
        picture.text(x - 2, 12, f"{key} is", colour=KEY, bold=True, anchor="end")
        picture.text(x + 4, 12, f"{value:g}", colour=VALUE, bold=True, anchor="start")
    picture.text(right + 12, 12, f"what is {ask}?", colour=QUERY, bold=True, anchor="start")
    for r, rule in enumerate(rules):
        top = 24 + r * strip + 24
        if len(rules) > 1:
            picture.text(EDGE, top + len(keys) * TALL / 2, RULES[rule], bold=True, anchor="start")
        for j, key in enumerate(keys):
            picture.text(left + 8, top + (j + 0.5) * TALL, key, colour=KEY, bold=True)
        held, count = dict.fromkeys(keys, 0.0), dict.fromkeys(keys, 0)
        for i, (key, value) in enumerate(writes):
            more = value - held[key] if rule == "correct" else value
            held[key], count[key] = held[key] + more, count[key] + 1
            x = left + 20 + i * panel + STEP
            y = top + (keys.index(key) + 0.5) * TALL
            picture.text(x - STEP / 2, y - 10, f"{more:+g}", colour=VALUE)
            picture.arrow((x - STEP + 6, y), (x - 4, y))
            _panel(picture, x, top, keys, key, held, count if rule == "add" else None)
        y = top + (keys.index(ask) + 0.5) * TALL
        said = f"{held[ask]:g}"
        if rule == "add":
            said = f"{held[ask]:g} / {count[ask]} = {held[ask] / count[ask]:g}"
        picture.text(right + 12, y, said, colour=OUTPUT, bold=True, anchor="start")
    return picture


def _panel(picture, x, top, keys, written, held, count) -> None:
    """Draw the rows of a state, the one just written stronger, and their counts where there are any."""
    picture.text(x + CELL / 2, top - 9, "sum" if count else "state", colour=MUTED)
    if count:
        picture.text(x + CELL + COUNT / 2, top - 9, "count", colour=MUTED)
    for j, key in enumerate(keys):
        y, now = top + j * TALL, key == written
        picture.rect(x + 1, y + 1, CELL - 2, TALL - 2, fill=VALUE, opacity=0.4 if now else 0.12)
        picture.text(x + CELL / 2, y + TALL / 2, f"{held[key]:g}")
        if count:
            picture.rect(x + CELL + 1, y + 1, COUNT - 2, TALL - 2, edge=GRID)
            picture.text(x + CELL + COUNT / 2, y + TALL / 2, str(count[key]), colour=MUTED)
