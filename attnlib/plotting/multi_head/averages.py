"""What heads are for, by hand: averages on a line that is cut in two, relations in a list, columns shared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attnlib.plotting.kit.drawing import Drawing, column
from attnlib.plotting.kit.style import INK, KEY, MUTED, OUTPUT, PAPER, QUERY, WEIGHT, WEIGHT_FILL

EDGE = 8  # margins
LINE = 292  # the length of a line
ROW = 138  # the height of its row
BOX = 28  # a token
ARC = 26  # how much higher each arrow is than the one inside it
SQUARE = 112  # a matrix
CELL = 12  # an attention pattern


def cut_averages(shares: Sequence[float], names: Sequence[str], ages: tuple[int, int]) -> Drawing:
    """Draw the average age of two children who may each have either age, and the cut that gives one age.

    A disc is full where the child whose age the cut gives has the higher one.

    Args:
        shares: For each row, the weight of the first child; the second has the rest. Not one half.
        names: Of the two children.
        ages: The lower and the higher.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If a share is one half, at which the middle two averages are the same.
    """
    if 0.5 in shares:
        raise ValueError("shares must not be one half: the middle two averages would be the same")
    low, high = ages
    side = 86
    p = Drawing(EDGE + side + LINE + 46, len(shares) * ROW - 6)
    for n, share in enumerate(shares):
        y, told = n * ROW + 66, 0 if share > 0.5 else 1
        left = EDGE + side

        def place(average: float, left: float = left) -> float:
            return left + (average - low) / (high - low) * LINE

        p.text(EDGE, y - 38, "weights", colour=WEIGHT, anchor="start", bold=True)
        for name, weight, above in zip(names, (share, 1 - share), (-20, -3), strict=True):
            p.text(EDGE, y + above, f"{name} {weight:.1f}", colour=WEIGHT, anchor="start")
        p.text(EDGE, y + 18, "average", colour=INK, anchor="start", bold=True)
        p.line((left - 14, y), (left + LINE + 14, y), thick=1.4)
        cut = place((low + high) / 2)
        p.line((cut, y - 52), (cut, y + 46), colour=OUTPUT, thick=1.8, dashed=True)
        for family in ((low, low), (low, high), (high, low), (high, high)):
            average = share * family[0] + (1 - share) * family[1]
            x, older = place(average), family[told] == high
            p.circle(x, y, 6, fill=INK if older else PAPER, edge=INK, thick=1.8)
            for i, (name, age) in enumerate(zip(names, family, strict=True)):
                colour = INK if i == told else MUTED
                p.text(x, y - 38 + 17 * i, f"{name} {age}", colour=colour, bold=i == told)
            p.text(x, y + 18, f"{average:g}", colour=INK)
        for age, anchor, shift in ((low, "end", -10), (high, "start", 10)):
            p.text(cut + shift, y + 40, f"{names[told]} is {age}", anchor=anchor, colour=OUTPUT, bold=True)
    return p


def pointing(tokens: Sequence[str], position: int, relations: Mapping[str, int]) -> Drawing:
    """Draw a list and what one of its tokens has to answer: for each relation, an arrow to where it leads.

    Args:
        tokens: A letter and a digit each; the digit is the answer.
        position: That of the token that answers.
        relations: For each name, the position it leads to, nearest first.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If a relation does not lead back.
    """
    if not all(0 <= at < position for at in relations.values()):
        got = ", ".join(map(str, relations.values()))
        raise ValueError(f"relations must lead to positions before {position}, got {got}")
    wide = column(tokens, least=74)
    top = 16 + ARC * len(relations) + 12
    p = Drawing(2 * EDGE + len(tokens) * wide + 176, top + BOX + EDGE)
    middles = [EDGE + (i + 0.5) * wide for i in range(len(tokens))]
    asked = middles[position]
    for i, (token, x) in enumerate(zip(tokens, middles, strict=True)):
        colour = QUERY if i == position else KEY if i in relations.values() else INK
        p.rect(x - 24, top, 48, BOX, fill=colour, opacity=0.14, edge=QUERY if i == position else "none")
        p.text(x, top + BOX / 2, token, colour=colour, bold=i == position)
    right = asked + 40
    for n, (name, at) in enumerate(relations.items()):
        height = top - 14 - n * ARC
        x = asked - 9 + 9 * n
        p.arrow((x, top - 2), (x, height), (middles[at], height), (middles[at], top - 2), colour=MUTED)
        p.line((x, height), (right + 2, height), colour=MUTED, dashed=True, opacity=0.6)
        p.text(right + 8, height, name, anchor="start", bold=True)
        p.text(right + 78, height, f"answer {tokens[at][1:]}", anchor="start", colour=OUTPUT)
    return p


def head_cuts(width: int, heads: Sequence[int]) -> Drawing:
    """Draw the query projection as heads share it, their attention patterns and what these cost.

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
        (top + SQUARE / 2, ("query projection,", f"{width} × {width}")),
        (below + CELL / 2, ("attention patterns",)),
        (last, ("multiplications", "for one pair")),
    ):
        for i, line in enumerate(lines):
            p.text(EDGE, y + 18 * i - 9 * (len(lines) - 1), line, anchor="start", bold=True)
    for n, H in enumerate(heads):
        x, strip, each = EDGE + side + n * (SQUARE + gap), SQUARE / H, width // H
        deep = -(-H // 8)  # the patterns of so many neighbouring heads are below one another
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
