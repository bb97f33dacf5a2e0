"""The last word of a sentence attends twice: the value fetched first goes into the second query."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from attnlib.plotting.kit.drawing import Drawing, text_width
from attnlib.plotting.kit.style import GRID, KEY, MUTED, QUERY, VALUE, WEIGHT, WEIGHT_FILL, array

EDGE = 8  # margins
BOX = 28  # a cell
LINE = 34  # the line of a query
GAP = 30  # between the two rows
APART = 26  # between sentences

Weights = Tensor | Sequence[Sequence[float]]


def two_attention_rows(
    text: str | Sequence[str],
    fetched: str | Sequence[str],
    found: Sequence[str],
    labels: tuple[str, str],
    *,
    weights: Weights | Sequence[Weights] | None = None,
    roles: Sequence[str] = (),
) -> Drawing:
    """Draw a sentence and two rows of its attention table, both of the last word.

    The first row has its weight at the word that is fetched, whose value goes into the query of the
    second; that has still to choose between others, unless the weights are given. Then the cells are as full
    as their weights, and the largest of each row is written.

    Args:
        text: The sentence, or several as long as each other, to stand one below the other.
        fetched: The word that the first row attends to, for each sentence.
        found: Between which words the second row has to choose.
        labels: What the query of each row is to find.
        weights: For each sentence the weights of its words in both rows, (2, words).
        roles: What the key of each word in ``found`` has to tell, to stand below its cell.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If a word is not in its sentence, or the weights or roles do not fit the words.
    """
    if roles and len(roles) != len(found):
        raise ValueError(f"roles must be {len(found)}, one for each of {', '.join(found)}, got {len(roles)}")
    one = isinstance(text, str)
    texts, reasons = ([text], [fetched]) if one else (list(text), list(fetched))
    lines = [line.split() for line in texts]
    for line, said, reason in zip(lines, texts, reasons, strict=True):
        for word in (reason, *found):
            if word not in line:
                raise ValueError(f"{word!r} must be a word of {said!r}")
    given = [None] * len(lines) if weights is None else [weights] if one else list(weights)
    shares = [None if rows is None else array(rows) for rows in given]
    for line, rows in zip(lines, shares, strict=True):
        if rows is not None and rows.shape != (2, len(line)):
            raise ValueError(f"weights must be (2, {len(line)}) to fit the words, got {rows.shape}")
    widths = [max(0.93 * text_width(word) + 9 for word in words) for words in zip(*lines, strict=True)]
    high = BOX + 2 * (LINE + BOX) + GAP + (LINE if roles else 0)
    picture = Drawing(sum(widths) + 2 * EDGE, (high + APART) * len(lines) - APART + EDGE)
    for n, (line, reason, rows) in enumerate(zip(lines, reasons, shares, strict=True)):
        _draw(picture, (high + APART) * n, line, widths, reason, found, labels, rows)
        for word, role in zip(found, roles, strict=False):
            j = line.index(word)
            x, y = EDGE + sum(widths[:j]) + widths[j] / 2, (high + APART) * n + high - LINE / 2
            picture.text(max(x, EDGE + text_width(role) / 2), y, role, colour=KEY)
    return picture


def _draw(
    picture: Drawing,
    top: float,
    words: list[str],
    widths: list[float],
    fetched: str,
    found: Sequence[str],
    labels: tuple[str, str],
    shares: np.ndarray | None,
) -> None:
    """Draw one sentence, its words with their upper edge at ``top``, and its two rows."""
    left = [EDGE + sum(widths[:j]) for j in range(len(words))]
    for x, wide, word in zip(left, widths, words, strict=True):
        picture.text(x + wide / 2, top + BOX / 2, word, colour=KEY)
    step = LINE + BOX + GAP
    for n, ends in enumerate(([fetched], found)):
        y = top + BOX + step * n
        picture.text(EDGE, y + LINE / 2, labels[n], anchor="start", bold=True)
        _query(picture, y + 4, words[-1], fetched.strip(",") if n else "")
        for j, (x, wide, word) in enumerate(zip(left, widths, words, strict=True)):
            cell = (x + 1, y + LINE, wide - 2, BOX)
            picture.rect(*cell, fill=GRID, opacity=0.35)
            if shares is None:
                if word in ends:
                    picture.rect(*cell, fill=WEIGHT, opacity=0.45 if n == 0 else 0.22)
                    picture.text(x + wide / 2, y + LINE + BOX / 2, "all" if n == 0 else "?", bold=True)
                continue
            share = float(shares[n][j])
            picture.rect(*cell, fill=WEIGHT_FILL, opacity=round(0.98 * share, 3))
            if share == max(shares[n]):  # the one that counts
                picture.text(x + wide / 2, y + LINE + BOX / 2, f"{share:.2f}", bold=True)
    at = left[words.index(fetched)] + widths[words.index(fetched)] / 2
    start = top + BOX + LINE + BOX + 2
    picture.arrow((at, start), (at, top + BOX + step + 2), colour=VALUE, thick=2.4)
    picture.text(at - 8, start + GAP / 2, "its value", colour=VALUE, anchor="end")


def _query(picture: Drawing, y: float, word: str, carried: str) -> None:
    """Draw whose query it is, at the right end of a line, and what was added to it."""
    more = f"+ {carried}" if carried else ""
    own, added = text_width(word), text_width(more)
    wide = own + added + 16
    x = picture.width - EDGE - wide
    picture.text(x - 8, y + 13, "query:", colour=MUTED, anchor="end")
    picture.rect(x, y, wide, 26, edge=QUERY, thick=1.8)
    picture.text(x + 8 + own / 2, y + 13, word, bold=True, colour=QUERY)
    if more:
        picture.text(x + wide - 8, y + 13, more, bold=True, colour=VALUE, anchor="end")
