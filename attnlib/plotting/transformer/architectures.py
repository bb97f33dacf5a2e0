"""Encoder, decoder, and both: one block, and the masks that make an encoder or a decoder of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attnlib.plotting.kit.drawing import Drawing
from attnlib.plotting.kit.style import GRID, INK, KEY, MUTED, QUERY, SERIES, WEIGHT, WEIGHT_FILL

EDGE = 8  # margins
CELL = 15  # a cell of a mask
SIDE = 104  # a block
BETWEEN = 24  # between blocks


def encoders_and_decoders(tokens: int = 4) -> Drawing:
    """Draw an encoder, a decoder and the pair of them, each block with the masks of its attentions.

    Args:
        tokens: How many tokens each mask has, from 2 to 5.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If there are too few tokens or too many.
    """
    if not 2 <= tokens <= 5:
        raise ValueError(f"tokens must be between 2 and 5, got {tokens}")
    full = np.ones((tokens, tokens), dtype=bool)
    causal = np.tril(full)
    own, cross = ("own tokens", QUERY), ("what was read", KEY)
    high = tokens * CELL + 32  # an attention
    bottom = EDGE + 2 * high + 56
    lefts = [EDGE, EDGE + SIDE + BETWEEN, EDGE + 2 * (SIDE + BETWEEN), EDGE + 3 * SIDE + 3 * BETWEEN + 18]
    picture = Drawing(lefts[3] + SIDE + EDGE, bottom + 66)
    _stack(picture, lefts[0], bottom, "encoder", "reads", [(full, *own)])
    _stack(picture, lefts[1], bottom, "decoder", "writes", [(causal, *own)])
    top = _stack(picture, lefts[2], bottom, "encoder", "reads", [(full, *own)], leads=False)
    _stack(picture, lefts[3], bottom, "decoder", "answers", [(causal, *own), (full, *cross)])
    middle, to = lefts[2] + SIDE / 2, bottom - 1.5 * high
    picture.arrow((middle, top), (middle, to), (lefts[3] - 2, to), colour=KEY, thick=1.8)
    return picture


def _stack(
    picture: Drawing,
    x: float,
    bottom: float,
    name: str,
    does: str,
    attentions: Sequence[tuple[np.ndarray, str, str]],
    *,
    leads: bool = True,
) -> float:
    """Draw a block from the bottom up, its attentions with their masks, then its MLP; return its top."""
    middle, y = x + SIDE / 2, bottom
    picture.text(middle, bottom + 34, name, bold=True)
    picture.text(middle, bottom + 52, does, colour=MUTED)
    picture.arrow((middle, bottom + 22), (middle, bottom + 2), head=6)
    for mask, said, colour in attentions:
        high = len(mask) * CELL + 32
        y -= high
        picture.rect(x, y, SIDE, high - 5, fill=WEIGHT, opacity=0.1, edge=WEIGHT)
        picture.text(middle, y + 11, said, colour=colour)
        _mask(picture, middle - len(mask) * CELL / 2, y + 22, mask)
    y -= 30
    picture.rect(x, y, SIDE, 25, fill=SERIES[0], opacity=0.16, edge=SERIES[0])
    picture.text(middle, y + 12.5, "MLP", colour=INK)
    if leads:
        picture.arrow((middle, y), (middle, y - 18), head=6)
    return y


def _mask(picture: Drawing, x: float, y: float, mask: np.ndarray) -> None:
    for (i, j), may in np.ndenumerate(mask):
        fill, opacity = (WEIGHT_FILL, 1) if may else (GRID, 0.6)
        picture.rect(
            x + j * CELL + 1, y + i * CELL + 1, CELL - 2, CELL - 2, fill=fill, opacity=opacity, round=2
        )
