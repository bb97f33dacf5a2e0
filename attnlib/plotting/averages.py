"""What heads are for, by hand: averages on a line that is cut in two, jobs in a list, columns shared out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from attnlib.plotting._style import INK, KEY, MUTED, OUTPUT, PAPER, QUERY, WEIGHT, WEIGHT_FILL
from attnlib.plotting.drawing import Drawing, column

EDGE, LINE, ROW = 8, 292, 138  # margins, the length of a line, and the height of its row
BOX, ARC = 28, 26  # a token, and how much higher each arrow is than the one inside it
SQUARE, CELL = 112, 12  # a matrix, and a table of weights


def cut_averages(
    shares: Sequence[float], names: Sequence[str], ages: tuple[int, int], told: int | None = None
) -> Drawing:
    """Draw the average age of two children who may each have either age, and the cuts that tell one child's.

    A disc is full where that child has the higher age, half full where it has either.

    Args:
        shares: For each row, the weight of the first child; the second has the rest.
        names: Of the two children.
        ages: The lower and the higher.
        told: Whose age is told, 0 or 1; in each row that of the child with more weight, if not given.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If a share is one half and ``told`` is not given.
    """
    if told is None and 0.5 in shares:
        raise ValueError("told must say whose age is told where a share is one half, got None")
    side = 86
    p = Drawing(EDGE + side + LINE + 46, len(shares) * ROW - 6)
    for n, share in enumerate(shares):
        y = n * ROW + 66
        p.text(EDGE, y - 38, "weights", colour=WEIGHT, anchor="start", bold=True)
        for name, weight, above in zip(names, (share, 1 - share), (-20, -3), strict=True):
            p.text(EDGE, y + above, f"{name} {weight:.1f}", colour=WEIGHT, anchor="start")
        p.text(EDGE, y + 18, "average", colour=INK, anchor="start", bold=True)
        row = told if told is not None else int(share < 0.5)
        _draw_cuts(p, (EDGE + side, y), share, names, ages, row)
    return p


def _draw_cuts(
    p: Drawing, corner: tuple[int, int], share: float, names: Sequence[str], ages: tuple[int, int], told: int
) -> None:
    """Draw the line of the averages of one row of weights, from a corner on."""
    (left, y), (low, high) = corner, ages

    def place(average: float) -> float:
        return left + (average - low) / (high - low) * LINE

    families: dict[float, list[tuple[int, int]]] = {}  # by their average
    for family in product(ages, repeat=2):
        average = round(share * family[0] + (1 - share) * family[1], 9)
        families.setdefault(average, []).append(family)
    p.line((left - 14, y), (left + LINE + 14, y), thick=1.4)
    regions: list[tuple[str, list[float]]] = []  # what the cuts tell, and the averages it holds for
    for average, here in sorted(families.items()):
        said = " or ".join(map(str, sorted({family[told] for family in here})))
        if not regions or regions[-1][0] != said:
            regions.append((said, []))
        regions[-1][1].append(average)
        x = place(average)
        p.circle(x, y, 6, fill=INK if all(f[told] == high for f in here) else PAPER, edge=INK, thick=1.8)
        if len(here) > 1:
            p.path(f"M {x:g} {y - 6} A 6 6 0 0 1 {x:g} {y + 6} Z", colour=INK, fill=INK)
        for k, family in enumerate(here):
            apart = 31 * (2 * k - len(here) + 1)
            for i, (name, age) in enumerate(zip(names, family, strict=True)):
                colour = INK if i == told else MUTED
                p.text(x + apart, y - 38 + 17 * i, f"{name} {age}", colour=colour, bold=i == told)
        p.text(x, y + 18, f"{average:g}", colour=INK)
    ends = [place(averages[-1]) for _, averages in regions[:-1]]
    starts = [place(averages[0]) for _, averages in regions[1:]]
    cuts = [(end + start) / 2 for end, start in zip(ends, starts, strict=True)]
    for cut in cuts:
        p.line((cut, y - 52), (cut, y + 46), colour=OUTPUT, thick=1.8, dashed=True)
    look = {"colour": OUTPUT, "bold": True}
    if len(cuts) == 1:
        for (said, _), anchor, shift in zip(regions, ("end", "start"), (-10, 10), strict=True):
            p.text(cuts[0] + shift, y + 40, f"{names[told]} is {said}", anchor=anchor, **look)
    else:
        for said, averages in regions:
            p.text(place(sum(averages) / len(averages)), y + 40, f"{names[told]} {said}", **look)


def pointing(tokens: Sequence[str], place: int, jobs: Mapping[str, int]) -> Drawing:
    """Draw a list and what one of its tokens has to name: for each job, an arrow to where the answer stands.

    Args:
        tokens: A letter and a digit each; the digit is what is named.
        place: The token that has to name them.
        jobs: For each name, the place it points to, nearest first.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If a job does not point back.
    """
    if not all(0 <= at < place for at in jobs.values()):
        raise ValueError(
            f"jobs must point to places before {place}, got {', '.join(map(str, jobs.values()))}"
        )
    wide = column(tokens, least=74)
    top = 16 + ARC * len(jobs) + 12
    p = Drawing(2 * EDGE + len(tokens) * wide + 176, top + BOX + EDGE)
    middles = [EDGE + (i + 0.5) * wide for i in range(len(tokens))]
    asked = middles[place]
    for i, (token, x) in enumerate(zip(tokens, middles, strict=True)):
        colour = QUERY if i == place else KEY if i in jobs.values() else INK
        p.rect(x - 24, top, 48, BOX, fill=colour, opacity=0.14, edge=QUERY if i == place else "none")
        p.text(x, top + BOX / 2, token, colour=colour, bold=i == place)
    right = asked + 40
    for n, (name, at) in enumerate(jobs.items()):
        height = top - 14 - n * ARC
        x = asked - 9 + 9 * n
        p.arrow((x, top - 2), (x, height), (middles[at], height), (middles[at], top - 2), colour=MUTED)
        p.line((x, height), (right + 2, height), colour=MUTED, dashed=True, opacity=0.6)
        p.text(right + 8, height, name, anchor="start", bold=True)
        p.text(right + 78, height, f"says {tokens[at][1:]}", anchor="start", colour=OUTPUT)
    return p


def head_cuts(width: int, heads: Sequence[int]) -> Drawing:
    """Draw the queries' matrix as it is shared out among heads, their tables of weights and what these cost.

    Args:
        width: Of the model.
        heads: How many there are, for each drawing; at most 64, divisors of the width.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If the heads do not divide the width, or are too many to draw.
    """
    if any(H < 1 or width % H or H > 64 for H in heads):
        raise ValueError(f"heads must be divisors of {width}, up to 64, got {', '.join(map(str, heads))}")
    side, gap, step, top = 118, 16, CELL + 2, 62
    below, rows = top + SQUARE + 30, -(-max(heads) // 8)
    last = below + rows * step + 30
    p = Drawing(2 * EDGE + side + len(heads) * SQUARE + (len(heads) - 1) * gap, last + 26)
    for y, lines in (
        (top + SQUARE / 2, ("queries’ matrix,", f"{width} × {width}")),
        (below + CELL / 2, ("tables of weights",)),
        (last, ("multiplications", "for one pair")),
    ):
        for i, line in enumerate(lines):
            p.text(EDGE, y + 18 * i - 9 * (len(lines) - 1), line, anchor="start", bold=True)
    for n, H in enumerate(heads):
        x, strip, each = EDGE + side + n * (SQUARE + gap), SQUARE / H, width // H
        deep = -(-H // 8)  # the tables of so many neighbouring heads are below one another
        p.text(x + SQUARE / 2, 16, "1 head" if H == 1 else f"{H} heads", bold=True)
        p.text(x + SQUARE / 2, 33, f"{each} wide" if H == 1 else f"each {each} wide", colour=MUTED)
        for h in range(H):  # two shades in turn, as two heads are drawn elsewhere
            opacity = 0.3 if h % 2 else 0.75
            p.rect(x + h * strip, top, strip, SQUARE, fill=QUERY, opacity=opacity, round=0)
            middle, y = x + (h // deep + 0.5) * deep * strip, below + h % deep * step
            p.rect(middle - CELL / 2, y, CELL, CELL, fill=WEIGHT_FILL, opacity=0.45 if h % 2 else 1, round=2)
            if h % deep == 0:
                p.arrow((middle, top + SQUARE + 3), (middle, below - 3), colour=WEIGHT, head=6)
            if deep == 1:
                p.text(middle, top - 9, str(h + 1), colour=QUERY, size=11)
                p.text(middle, y + CELL / 2, str(h + 1), size=10)
        p.text(x + SQUARE / 2, last, f"{H} × {each} = {width}", bold=True)
    return p
