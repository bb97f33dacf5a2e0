"""How two layers can copy: keep the token before, then attend to the token that has kept one's own."""

from __future__ import annotations

from collections.abc import Sequence

from attnlib.plotting.kit.drawing import WIDEST, Drawing, column
from attnlib.plotting.kit.style import KEY, MUTED, OUTPUT, QUERY, VALUE, WEIGHT

EDGE = 8  # margins
HIGH = 32  # a token
TOP = 84  # where the tokens stand
KEEP = "keep the token before"  # the job of the first layer
FIND = "find it among those kept"  # the job of the second


def copy_steps(
    tokens: Sequence[str], said: int, *, sign: str = "|", heads: tuple[str, str] | None = None
) -> Drawing:
    """Draw how a text is said again: each token keeps the one before, the last finds the one that kept it.

    Args:
        tokens: The tokens that are read, all different.
        said: How many of them have been said again; at least one, and not yet all.
        sign: What stands between reading and saying; nothing if empty.
        heads: Which head takes each of the two steps, written instead of the distance at which it attends.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If a token occurs twice, or nothing or everything has been said.
    """
    if len(set(tokens)) != len(tokens):
        raise ValueError(f"tokens must all be different, got {list(tokens)}")
    if not 0 < said < len(tokens):
        raise ValueError(f"said must be at least 1 and below {len(tokens)}, got {said}")
    text = [*tokens, *([sign] if sign else []), *tokens[:said]]
    notes = [f"after {token}" for token in tokens[:-1]] + [f"after {tokens[said - 1]}?"]
    note = column(notes, least=56, room=8)
    step = min(note + 6, (WIDEST - 2 * EDGE) / (len(text) + 1))
    picture = Drawing(2 * EDGE + step * (len(text) + 1), TOP + HIGH + 92)
    middle = [EDGE + step * (i + 0.5) for i in range(len(text) + 1)]
    for x, token in zip(middle, text, strict=False):
        _token(picture, x, token, min(46, step - 10))
    _first_step(picture, middle, tokens, said, note, heads)
    _second_step(picture, middle, tokens, said, (note, min(46, step - 10)), heads)
    return picture


def _token(picture: Drawing, x: float, token: str, wide: float, *, colour: str = MUTED) -> None:
    picture.rect(x - wide / 2, TOP, wide, HIGH, fill=colour, opacity=0.12, edge=colour)
    picture.text(x, TOP + HIGH / 2, token, bold=True)


def _note(picture: Drawing, x: float, text: str, colour: str, wide: float, *, marked: bool) -> None:
    if marked:
        picture.rect(x - wide / 2, TOP + HIGH + 25, wide, 23, fill=colour, opacity=0.14, edge=colour)
    picture.text(x, TOP + HIGH + 36.5, text, colour=colour, bold=True)


def _first_step(
    picture: Drawing,
    middle: Sequence[float],
    tokens: Sequence[str],
    said: int,
    note: float,
    heads: tuple[str, str] | None,
) -> None:
    """Draw what each token keeps: the one before it; the note that will be found has a frame."""
    low = TOP + HIGH
    for i in range(1, len(tokens)):
        picture.arrow((middle[i - 1], low + 3), (middle[i] - 12, low + 24), colour=KEY)
        _note(picture, middle[i], f"after {tokens[i - 1]}", KEY, note, marked=i == said)
    x = (middle[1] + middle[len(tokens) - 1]) / 2
    who, what = (KEEP, "distance 1, always") if heads is None else (heads[0], KEEP)
    picture.text(x, low + 64, f"1. {who}:", colour=KEY)
    picture.text(x, low + 81, what, colour=KEY)


def _second_step(
    picture: Drawing,
    middle: Sequence[float],
    tokens: Sequence[str],
    said: int,
    widths: tuple[float, float],
    heads: tuple[str, str] | None,
) -> None:
    """Draw where the last token said attends, and what its value gives."""
    last, found = len(middle) - 2, said
    low = TOP + HIGH
    note, wide = widths
    _note(picture, middle[last], f"after {tokens[said - 1]}?", QUERY, note, marked=True)
    x = (middle[len(tokens)] + middle[-1]) / 2
    who, what = (FIND, "any distance") if heads is None else (heads[1], FIND)
    picture.text(x, low + 64, f"2. {who}:", colour=QUERY)
    picture.text(x, low + 81, what, colour=QUERY)
    picture.arc(
        (middle[last], TOP - 3), (middle[found], TOP - 3), height=TOP - 30, colour=WEIGHT, thick=3, head=10
    )
    told = f"{last - found} back" if heads is None else "attends to"
    picture.text((middle[last] + middle[found]) / 2, 14, told, colour=WEIGHT, bold=True)
    picture.rect(middle[found] - wide / 2, TOP, wide, HIGH, fill=VALUE, opacity=0.2, edge=VALUE, thick=2)
    picture.rect(middle[last] - wide / 2, TOP, wide, HIGH, edge=QUERY, thick=2)
    _token(picture, middle[-1], tokens[said], wide, colour=OUTPUT)
    picture.text(middle[-1], TOP - 14, "says", colour=OUTPUT)
