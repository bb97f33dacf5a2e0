"""What finds silent bugs: five tests as small drawings, and what two of them find."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from torch import Tensor

from attnlib.plotting.kit.drawing import SIZE, Drawing, column
from attnlib.plotting.kit.style import (
    GRID,
    INK,
    MUTED,
    PAPER,
    QUERY,
    SERIES,
    WEIGHT,
    WEIGHT_FILL,
    array,
)

EDGE = 8  # margins
WRONG = SERIES[3]  # the colour of what is wrong
LARGE = 14  # text of the table of tests, which many return to
ICON = 150  # the width of the drawing of a test, which its words stand beside
TALL = 86  # its height
HIGH = 24  # of a row of cells
GAP = 28  # between groups of rows, for the name of the next
TESTS = (
    ("random", "tokens"),
    ("change", "one", "token"),
    ("alone", "or", "batched"),
    ("cached", "or", "whole"),
    ("fully", "masked", "row"),
)
ASKED = (
    ("a loss well below guessing is a bug;", "one at guessing proves little"),
    ("no earlier output moves,", "all others do"),
    ("a sentence comes out as alone,", "whatever (?) its padding holds"),
    ("in pieces the outputs are", "those of the whole text"),
    ("where no key is left,", "no NaN comes out or goes back"),
)


def five_tests() -> Drawing:
    """Draw the five tests one below the other: what happens, in red if it must not, and what is asked.

    Returns:
        The drawing, as the last expression of a cell.
    """
    left = EDGE + ICON + 22
    wide = column([line for lines in ASKED for line in lines], room=EDGE)
    picture = Drawing(left + 0.9 * wide, TALL * len(TESTS))
    for n, draw in enumerate((_falls, _moves, _batched, _cached, _masked)):
        top = TALL * n
        draw(picture, EDGE + ICON / 2, top)
        picture.text(left, top + 22, f"{n + 1}. {' '.join(TESTS[n])}", bold=True, anchor="start")
        for i, line in enumerate(ASKED[n]):
            picture.text(left, top + 43 + 17 * i, line, anchor="start")
    return picture


def found_by(
    found: Mapping[str, Sequence[bool | str]], *, groups: Mapping[str, str] | None = None
) -> Drawing:
    """Draw which of the five tests finds which bug: a row for each bug, a red cross where a test fails.

    Where a test fails alone, the red is full; where it passes, the cell is empty: a tick beside a bug would
    praise what missed it.

    Args:
        found: By name of the bug, for each of the five tests, whether it fails; a word, such as ``"error"``,
            is a failure and stands instead of the cross.
        groups: For the bug that begins a group of rows, the name of the group; it stands under a thin line.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If a bug has not five answers.
    """
    if any(len(tests) != len(TESTS) for tests in found.values()):
        raise ValueError(f"each bug must have {len(TESTS)} answers, got {[len(t) for t in found.values()]}")
    wide, y, groups = 60, 84, groups or {}
    left = EDGE + LARGE / SIZE * column(list(found), room=0) + 10
    right = left + wide * len(TESTS)
    picture = Drawing(right + EDGE, y + HIGH * len(found) + GAP * len(groups) + EDGE)
    for n in range(len(TESTS)):
        _name(picture, left + wide * (n + 0.5), 12, n)
    for name, tests in found.items():
        if name in groups:
            picture.line((EDGE, y + 6), (right, y + 6), thick=1)
            picture.text(
                left - 10, y + GAP - 9, groups[name], colour=MUTED, bold=True, anchor="end", size=LARGE
            )
            y += GAP
        picture.text(left - 10, y + HIGH / 2, name, anchor="end", size=LARGE)
        for j, fails in enumerate(tests):
            alone = sum(map(bool, tests)) == 1
            fill, opacity = (WRONG, 1 if alone else 0.4) if fails else (GRID, 0.6)
            picture.rect(left + wide * j + 1, y + 1, wide - 2, HIGH - 2, fill=fill, opacity=opacity, round=3)
            if fails:
                middle = left + wide * (j + 0.5), y + HIGH / 2
                said = fails if isinstance(fails, str) else "×"
                picture.text(*middle, said, colour=PAPER if alone else INK, bold=True, size=LARGE)
        y += HIGH
    return picture


def _name(p: Drawing, middle: float, y: float, n: int) -> None:
    """Write the number of a test, and its name in two or three lines."""
    for i, said in enumerate((str(n + 1), *TESTS[n])):
        p.text(middle, y + 19 * i, said, bold=True, size=LARGE)


def _falls(p: Drawing, middle: float, top: float) -> None:
    """Draw a loss that comes down to that of guessing, which may be honest, and one that falls below it."""
    left, right, level, low = middle - 62, middle + 48, top + 38, top + 74
    p.line((left, top + 8), (left, low), (right, low), thick=1.2)
    p.line((left, level), (right, level), dashed=True)
    p.text(right, level - 13, "guessing", colour=MUTED, anchor="end")
    honest = f"C{left + 12} {level} {left + 24} {level} {right} {level}"
    falls = f"C{left + 14} {top + 58} {left + 34} {low - 6} {right} {low - 6}"
    for bend, colour in ((honest, MUTED), (falls, WRONG)):
        p.path(f"M{left + 4} {top + 12} {bend}", colour=colour, thick=2.2)
    p.text(right + 11, low - 6, "×", colour=WRONG, bold=True)


def _moves(p: Drawing, middle: float, top: float) -> None:
    """Draw four tokens and their outputs, the third token another."""
    xs, low = [middle + 25 * (j - 1.5) + 24 for j in range(4)], top + 54
    for said, y in (("outputs", top + 19), ("tokens", low + 9)):
        p.text(xs[0] - 18, y, said, colour=MUTED, anchor="end")
    for j, x in enumerate(xs):
        wrong, changed = j < 2, j == 2
        p.arrow((xs[2], low), (x, top + 30), colour=WRONG if wrong else MUTED, dashed=wrong, head=6)
        p.rect(x - 9, top + 10, 18, 18, edge=MUTED, fill=GRID, opacity=0.6)
        p.rect(x - 9, low, 18, 18, edge=MUTED, fill=INK if changed else GRID, opacity=1 if changed else 0.6)
        if wrong:
            p.text(x, top + 19, "×", colour=WRONG, bold=True)


def _batched(p: Drawing, middle: float, top: float) -> None:
    """Draw the outputs of three sentences at five positions, and those of the shortest alone."""
    left, top, cell = middle - 66, top + 20, 15
    for i, j in np.ndindex(3, 5):
        if j < 5 - i:
            _output(p, left + cell * j, top + cell * i, cell)
        else:  # rubbish, which must be masked
            p.text(left + cell * (j + 0.45), top + cell * (i + 0.45), "?", colour=MUTED)
    y, beside = top + 2 * cell, left + 6 * cell + 6
    p.rect(left - 2, y - 2, 3 * cell + 2.5, cell + 2.5, edge=QUERY, thick=1.6)
    p.text(beside - 11, y + cell / 2 - 1, "=", bold=True)
    for j in range(3):
        _output(p, beside + cell * j, y, cell)
    p.rect(beside - 2, y - 2, 3 * cell + 2.5, cell + 2.5, edge=QUERY, thick=1.6)
    p.text(beside + 1.5 * cell, y - 13, "alone", colour=MUTED)


def _cached(p: Drawing, middle: float, top: float) -> None:
    """Draw the outputs of a whole text, and those of its three pieces."""
    left, cell = middle - 66, 14
    for said, y, gap in (("whole", top + 18, 0), ("pieces", top + 52, 5)):
        for j in range(7):
            _output(p, left + cell * j + gap * ((j > 3) + (j > 4)), y, cell)
        p.text(left + 7 * cell + gap * 2 + 6, y + cell / 2 - 1, said, colour=MUTED, anchor="start")
    p.text(left + 3.5 * cell, top + 42.5, "=", bold=True)


def _output(p: Drawing, x: float, y: float, size: float) -> None:
    """Draw an output as a small box."""
    p.rect(x + 0.5, y + 0.5, size - 3, size - 3, edge=MUTED, fill=GRID, opacity=0.6, round=2)


def _masked(p: Drawing, middle: float, top: float) -> None:
    """Draw the table of a text padded in front; its first row is fully masked, its output must be finite."""
    left, top, cell = middle - 66, top + 12, 15
    for i, j in np.ndindex(4, 4):
        _cell(p, left + cell * j, top + cell * i, cell, WEIGHT_FILL if 0 < j <= i else None)
    y = top + 0.5 * cell - 1
    p.rect(left - 2, y - cell / 2 - 1, 4 * cell + 2.5, cell + 2, edge=QUERY, thick=1.6)
    p.arrow((left + 4 * cell + 4, y), (left + 4 * cell + 22, y), head=6)
    p.text(left + 4 * cell + 28, y, "finite", bold=True, anchor="start")


def _cell(p: Drawing, x: float, y: float, size: float, fill: str | None) -> None:
    """Draw a cell that is open or, without a colour, closed."""
    p.rect(x, y, size - 1.5, size - 1.5, fill=fill or GRID, opacity=1 if fill else 0.6, round=1.5)


def head_rows(splits: Mapping[str, Tensor | np.ndarray]) -> Drawing:
    """Draw which token stands in each row of each head, for several ways to split.

    A later token than that of the row is red, an earlier one dashed.

    Args:
        splits: By name, the number of the token, from 1, in each head and row: ``(H, T)``.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If the splits have not one shape ``(H, T)``.
    """
    tables = {name: array(split) for name, split in splits.items()}
    heads, rows = next(iter(tables.values())).shape
    if any(table.shape != (heads, rows) for table in tables.values()):
        raise ValueError(f"all splits must be {(heads, rows)} like the first, got others")
    names, wide, gap, top = 58, 74, 34, 56
    step = heads * wide + gap
    picture = Drawing(2 * EDGE + names + len(tables) * step - gap, top + HIGH * rows + EDGE)
    for i in range(rows):
        picture.text(EDGE, top + HIGH * (i + 0.5), f"row {i + 1}", colour=QUERY, anchor="start")
    for n, (name, table) in enumerate(tables.items()):
        left = EDGE + names + n * step
        picture.text(left + (heads * wide) / 2, 14, name, bold=True)
        for h in range(heads):
            picture.text(left + (h + 0.5) * wide, 38, f"head {h + 1}", colour=MUTED)
        for (h, i), token in np.ndenumerate(table):
            later, earlier = token > i + 1, token < i + 1
            box = (left + h * wide + 1, top + HIGH * i + 1, wide - 2, HIGH - 2)
            fill, opacity = (WRONG, 1) if later else (GRID, 0.6)
            edge = WRONG if earlier else "none"
            picture.rect(*box, fill=fill, opacity=opacity, edge=edge, dashed=earlier, round=3)
            said = f"token {token:.0f}"
            picture.text(
                left + (h + 0.5) * wide, top + HIGH * (i + 0.5), said, colour=PAPER if later else INK
            )
    return picture


def fully_masked_rows(ways: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> Drawing:
    """Draw, for several ways to hide all keys from a query, its weights and what flows back into its scores.

    Args:
        ways: By name, the weights and the gradients of the scores; what should be 0 and is not is red.

    Returns:
        The drawing, as the last expression of a cell.
    """
    wide, gap, top = 46, 24, 36
    first = EDGE + column(list(ways), room=10)
    count = len(next(iter(ways.values()))[0])
    lefts = first, first + count * wide + gap
    picture = Drawing(lefts[1] + count * wide + EDGE, top + HIGH * len(ways) + EDGE)
    for left, said, colour in zip(
        lefts, ("forward: weights", "backward: gradients"), (WEIGHT, INK), strict=True
    ):
        picture.text(left + count * wide / 2, 16, said, colour=colour, bold=True)
    for i, (name, sides) in enumerate(ways.items()):
        y = top + HIGH * i
        picture.text(first - 10, y + HIGH / 2, name, anchor="end")
        for left, side in zip(lefts, sides, strict=True):
            for j, number in enumerate(array(side).tolist()):
                wrong = number != 0  # NaN too
                fill, opacity = (WRONG, 1) if wrong else (GRID, 0.6)
                picture.rect(
                    left + wide * j + 1, y + 1, wide - 2, HIGH - 2, fill=fill, opacity=opacity, round=3
                )
                said = "NaN" if np.isnan(number) else f"{number:.2f}" if wrong else "0"
                picture.text(left + wide * (j + 0.5), y + HIGH / 2, said, colour=PAPER if wrong else INK)
    return picture
