"""Gates: one alone, and the whole cells of an LSTM and a GRU."""

from __future__ import annotations

from attnlib.plotting.kit.drawing import Drawing
from attnlib.plotting.kit.style import GRID, INK, MUTED, PAPER, SERIES

OLD = SERIES[0]  # the state
GATE = SERIES[1]  # the gates
NEW = SERIES[3]  # the candidate
LINE = 46  # the height of the state
MIDDLE = 100  # the height of the products
BOXES = 150  # the height of the boxes
BUS = 232  # the height of the inputs


def gate(share: float = 0.8, old: float = 1.0, candidate: float = 0.5) -> Drawing:
    """Draw one gate as an opening in a wall: a part of the old passes, and the rest is the candidate.

    Args:
        share: How much of the old is kept, between 0 and 1.
        old: The old state.
        candidate: What might replace it.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If the share is not between 0 and 1.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share must be between 0 and 1, got {share}")
    picture, full = Drawing(480, 216), 70
    new, keep = share * old + (1 - share) * candidate, full * share
    top, bottom, door, end = 24, 116, 226, 372
    middle = (top + bottom + full) / 2 - full / 2
    for y, name, x, colour in ((top, "old", old, OLD), (bottom, "candidate", candidate, NEW)):
        picture.rect(8, y, 92, full, fill=colour, opacity=0.16, edge=colour)
        picture.text(54, y + full / 2 - 10, name, bold=True)
        picture.text(54, y + full / 2 + 10, _said(x))
        picture.path(_band(100, y, door, y, full), colour="none", fill=colour, opacity=0.4)
    picture.path(_band(door, top, end, middle, keep), colour="none", fill=OLD, opacity=0.4)
    picture.path(_band(door, bottom, end, middle + keep, full - keep), colour="none", fill=NEW, opacity=0.4)
    for y, passes in ((top, keep), (bottom, full - keep)):  # the door shuts from below
        picture.rect(door - 5, y + passes, 10, full - passes, fill=INK, round=2)
        picture.rect(door - 5, y, 10, passes, edge=GATE, thick=1.6, round=3)
    picture.text(door, 9, "gate", colour=GATE, bold=True)
    picture.text(door + 14, top + full / 2 - 4, f"keep {_said(share)}", anchor="start")
    picture.text(door + 14, bottom + full - keep + 12, f"write {_said(1 - share)}", anchor="start")
    picture.rect(end, middle, 96, full, fill=PAPER, edge=INK)
    picture.text(end + 48, middle + full / 2 - 10, "new", bold=True)
    picture.text(end + 48, middle + full / 2 + 10, _said(new))
    last = f"({_said(candidate)})" if candidate < 0 else _said(candidate)
    sum_of = f"{_said(new)} = {_said(share)} · {_said(old)} + {_said(1 - share)} · {last}"
    picture.text(240, 203, sum_of, colour=MUTED)
    return picture


def lstm_cell() -> Drawing:
    """Draw an LSTM: its cell above, and the four boxes that read the old state and the word.

    Returns:
        The drawing, as the last expression of a cell.
    """
    picture = Drawing(480, 252)
    _box(picture, 80, "forget", "what to keep", GATE)
    _box(picture, 190, "input", "what to write", GATE)
    _box(picture, 300, "candidate", "what it would be", NEW)
    _box(picture, 410, "output", "what to show", GATE)
    _inputs(picture, (80, 190, 300, 410))
    picture.arrow((34, LINE), (452, LINE), colour=OLD, thick=3, head=10)
    picture.text(18, LINE, "c_{t−1}", maths=True)
    picture.text(466, LINE, "c_t", maths=True)
    picture.text(150, LINE - 14, "cell", colour=OLD, bold=True)
    picture.arrow((80, BOXES), (80, LINE + 13))
    picture.text(94, MIDDLE + 12, "f_t", maths=True)
    for x, tip, name in ((190, 232, "i_t"), (300, 258, "g_t")):
        picture.arrow((x, BOXES), (x, MIDDLE), (tip, MIDDLE))
        picture.text(x + (14 if x > 245 else -14), MIDDLE + 24, name, maths=True)
    picture.arrow((245, MIDDLE), (245, LINE + 13))
    picture.arrow((410, LINE), (410, MIDDLE - 13))
    picture.rect(389, 60, 42, 20, fill=PAPER, edge=GRID)
    picture.text(410, 70, "tanh")
    picture.arrow((410, BOXES), (410, MIDDLE + 13))
    picture.text(424, MIDDLE + 26, "o_t", maths=True)
    picture.arrow((410, MIDDLE), (452, MIDDLE), colour=OLD, thick=2)
    picture.text(466, MIDDLE, "h_t", maths=True)
    for x, y, sign in ((80, LINE, "×"), (245, LINE, "+"), (245, MIDDLE, "×"), (410, MIDDLE, "×")):
        _node(picture, x, y, sign)
    return picture


def _box(picture: Drawing, x: float, name: str, word: str, colour: str) -> None:
    """Draw a box with its name and, in a word, what it decides."""
    picture.rect(x - 53, BOXES, 106, 52, fill=colour, opacity=0.16, edge=colour, round=6)
    picture.text(x, BOXES + 17, name, bold=True)
    picture.text(x, BOXES + 36, word)


def _inputs(picture: Drawing, places: tuple[float, ...]) -> None:
    """Draw the old state and the word, which every box reads."""
    picture.text(8, BUS + 8, "h_{t−1}, x_t", maths=True, anchor="start")
    picture.line((66, BUS + 8), (places[-2], BUS + 8))
    for x in places[:-1]:
        picture.arrow((x, BUS + 8), (x, BOXES + 55))
    picture.arrow((places[-2], BUS + 8), (places[-1], BUS + 8), (places[-1], BOXES + 55))


def _node(picture: Drawing, x: float, y: float, sign: str) -> None:
    """Draw where two lines are multiplied or added."""
    picture.circle(x, y, 11, fill=PAPER, edge=INK, thick=1.4)
    picture.text(x, y, sign, bold=True)


def _band(x0: float, y0: float, x1: float, y1: float, tall: float) -> str:
    """Return the path of a band of one height that swings from one place to another."""
    half = (x0 + x1) / 2
    return (
        f"M{x0:g} {y0:g} C{half:g} {y0:g} {half:g} {y1:g} {x1:g} {y1:g} v{tall:g} "
        f"C{half:g} {y1 + tall:g} {half:g} {y0 + tall:g} {x0:g} {y0 + tall:g} Z"
    )


def _said(x: float) -> str:
    return f"{x:.1f}".replace("-", "−") if round(x, 1) == round(x, 6) else f"{x:.2f}".replace("-", "−")
