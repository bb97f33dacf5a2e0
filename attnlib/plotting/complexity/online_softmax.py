"""The online softmax as it runs: what each block of keys does to what was summed before."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attnlib.plotting.kit.drawing import Drawing, text_width
from attnlib.plotting.kit.style import GRID, INK, KEY, MUTED, OUTPUT, VALUE, WEIGHT, WEIGHT_FILL

EDGE = 8  # margins
SLOT = 60  # a key
TALL = 74  # the highest bar
HEAD = 44  # above the first row
LINE = 21  # a line of text


def online_softmax(scores: Sequence[float], values: Sequence[float], size: int) -> Drawing:
    """Draw the exponentials of one query after each block of keys, and the three numbers that are carried on.

    Bars are ``e^(s - m)``, relative to the largest score so far. When a larger one comes, the bars before it
    shrink by one common factor; how high they were stays as a dashed frame.

    Args:
        scores: Of one query, up to 4.
        values: Of as many keys, a number each.
        size: How many keys a block has.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If there are not as many values as scores, or too many, or blocks of another size.
    """
    S = len(scores)
    if not 1 <= S <= 4 or len(values) != S or S % size:
        raise ValueError(
            f"scores and values must be as many, at most 4, and whole blocks of {size}, "
            f"got {S} and {len(values)}"
        )
    left, rows = EDGE + 58, _rows(scores, values, size)
    under = max(text_width(f"= {said}") for *_, lines in rows for _, said, _ in lines)  # the widest line
    tall = TALL + 40 + 3 * LINE + 16
    picture = Drawing(left + max(S * SLOT + 50, 23 + under + EDGE), HEAD + tall * len(rows) - 8)
    for j in range(S):
        x = left + j * SLOT + SLOT / 2
        picture.text(x, 12, f"s = {_short(scores[j])}", colour=KEY)
        picture.text(x, 30, f"v = {_short(values[j])}", colour=VALUE)
    for b, (m, new, lines) in enumerate(rows):
        base = HEAD + tall * b + TALL + 14
        picture.text(EDGE, base - TALL / 2, f"block {b + 1}", anchor="start", bold=True)
        _bars(picture, left, base, scores, m, new, b, size)
        for i, (name, said, colour) in enumerate(lines):
            y = base + 38 + LINE * i
            picture.text(left + 9, y, name, maths=True, colour=colour, anchor="start")
            picture.text(left + 23, y, f"= {said}", colour=colour, anchor="start")
    return picture


def _rows(scores, values, size) -> list[tuple[float, float, tuple]]:
    """Return for each block the largest score before and after it, and what is written under its bars."""
    rows, m, total, o = [], -math.inf, 0.0, 0.0
    for start in range(0, len(scores), size):
        some, v = scores[start : start + size], values[start : start + size]
        new = max(m, *some)
        shrink, e = math.exp(m - new), [math.exp(s - new) for s in some]
        before = total, o
        total = total * shrink + sum(e)
        o = o * shrink + sum(a * x for a, x in zip(e, v, strict=True))
        rows.append((m, new, _carried(new, shrink, before, e, v, total, o)))
        m = new
    return rows


def _bars(picture, left, base, scores, m, new, b, size) -> None:
    """Draw the bars of all keys read so far, and empty cells for the rest."""
    S = len(scores)
    picture.line((left, base), (left + S * SLOT, base), colour=GRID)
    for j, s in enumerate(scores):
        x, wide = left + j * SLOT + 9, SLOT - 18
        if j >= (b + 1) * size:
            picture.text(x + wide / 2, base - 10, "?", colour=MUTED)
            continue
        high = math.exp(s - new) * TALL
        if j < b * size and m < new:
            before = math.exp(s - m) * TALL
            picture.rect(x, base - before, wide, before, edge=MUTED, thick=1, round=0, dashed=True)
        now = j >= b * size
        picture.rect(
            x, base - high, wide, high, fill=WEIGHT_FILL, opacity=1 if now else 0.5, edge=WEIGHT, round=0
        )
        picture.text(x + wide / 2, base + 13, _short(math.exp(s - new)), colour=WEIGHT)


def _carried(m, shrink, before, e, v, total, o) -> tuple[tuple[str, str, str], ...]:
    """Return the largest score and the two sums, each with how it comes about and its colour."""
    total_before, o_before = before
    sums = [_short(a) for a in e]
    products = [f"{_short(a)}×{_short(b)}" for a, b in zip(e, v, strict=True)]
    if total_before:
        by = f"×{_short(shrink)}" if shrink < 1 else ""
        sums.insert(0, f"{_short(total_before)}{by}")
        products.insert(0, f"{_short(o_before)}{by}")
    return (
        ("m", _short(m), INK),
        ("ℓ", f"{' + '.join(sums)} = {_short(total)}", INK),
        ("o", f"{' + '.join(products)} = {_short(o)}", OUTPUT),
    )


def _short(x: float) -> str:
    """Write a number with at most two decimals, and no zeros behind."""
    return f"{x:.2f}".rstrip("0").rstrip(".").replace("-", "−")
