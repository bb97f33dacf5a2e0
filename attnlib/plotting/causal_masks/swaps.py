"""A letter put in place of the answer, and what models then predict."""

from __future__ import annotations

from collections.abc import Mapping

from attnlib.plotting.kit.drawing import WIDEST, Drawing, text_width
from attnlib.plotting.kit.style import GRID, INK, KEY, MUTED, OUTPUT, QUERY

EDGE = 8  # margins
BOX = 26  # a letter at least
WIDE = 36  # a letter at most
TOP = 52  # where the letters begin


def swapped_answer(line: str, position: int, put: str, says: Mapping[str, str]) -> Drawing:
    """Draw a line in which the next letter was exchanged, and what each model predicts.

    Args:
        line: Some letters of a text, as they were.
        position: That of the letter from which models predict the next one.
        put: What stands after it instead of the right letter.
        says: What each model predicts, by its name.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If nothing follows the position, or the line is too long.
    """
    if not 0 <= position < len(line) - 1:
        raise ValueError(f"position must be followed by a letter of the line, got {position} of {len(line)}")
    fits = int((WIDEST - 2 * EDGE) / BOX)
    if len(line) > fits:
        raise ValueError(f"line must have at most {fits} letters, got {len(line)}: cut it")
    wide = max(BOX, min(WIDE, 440 / len(line)))  # a short line is as wide as a phone shows well
    picture = Drawing(max(2 * EDGE + len(line) * wide, 360), TOP + 82 + 28 * len(says))
    for j, letter in enumerate(line):
        x, chosen = EDGE + j * wide, j == position + 1
        shown = put if chosen else letter
        edge = QUERY if j == position else KEY if chosen else GRID
        fill, opacity = (KEY, 0.3) if chosen else (QUERY, 0.22) if j == position else ("none", 1)
        picture.rect(x + 1, TOP, wide - 2, BOX + 4, fill=fill, opacity=opacity, edge=edge)
        colour = KEY if chosen else INK if j <= position else MUTED
        picture.text(
            x + wide / 2, TOP + BOX / 2 + 2, _seen(shown), colour=colour, bold=chosen or j == position
        )
    asked = EDGE + (position + 0.5) * wide
    swapped = asked + wide
    _label(picture, swapped, TOP - 32, f"was {_seen(line[position + 1])}, now {_seen(put)}", KEY)
    picture.arrow((swapped, TOP - 22), (swapped, TOP - 4), colour=KEY)
    picture.arrow((asked, TOP + BOX + 26), (asked, TOP + BOX + 8), colour=QUERY)
    _label(picture, asked, TOP + BOX + 36, "what comes next?", QUERY)
    for n, (name, said) in enumerate(says.items()):
        y = TOP + BOX + 66 + 28 * n
        picture.rect(asked - BOX / 2 + 1, y - 12, BOX - 2, BOX - 2, fill=OUTPUT, opacity=0.22, edge=OUTPUT)
        picture.text(asked, y, _seen(said), colour=OUTPUT, bold=True)
        picture.text(asked + BOX / 2 + 6, y, f"predicted by {name}", anchor="start")
    return picture


def _label(picture: Drawing, x: float, y: float, text: str, colour: str) -> None:
    """Write a text about ``x``, moved aside where it would leave the frame."""
    half = text_width(text) / 2
    picture.text(min(max(x, half), picture.width - half), y, text, colour=colour)


def _seen(letter: str) -> str:
    """Return a letter so that a space can be seen."""
    return "␣" if letter == " " else letter
