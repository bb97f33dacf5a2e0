"""The attention table: queries down, keys across, weights inside, values under their keys, output right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from attnlib.plotting.kit.drawing import WIDEST, Drawing, column, text_width
from attnlib.plotting.kit.style import GRID, INK, KEY, MUTED, OUTPUT, QUERY, VALUE, WEIGHT, WEIGHT_FILL, array

Numbers = Tensor | np.ndarray | Sequence[Sequence[float]]

EDGE = 6  # margins
HEAD = 26  # a key above its column
TALL = 34  # a row
LOW = 26  # a number of a value
GAP = 4  # between rows
BETWEEN = 24  # between the table and its output
DARK = 0.6  # from this weight on a cell is too dark for muted digits


def attention_table(
    words: Sequence[str],
    *,
    keys: Sequence[str] | None = None,
    scores: Numbers | None = None,
    weights: Numbers | None = None,
    values: Numbers | None = None,
    output: Numbers | None = None,
    mask: Tensor | np.ndarray | Sequence[Sequence[bool]] | None = None,
    row: int | None = None,
    digits: int = 2,
    asking: str = "queries",
) -> Drawing:
    """Draw what attention computes as one table, which grows with what is given.

    Queries go down, keys across; where both meet stand scores, or weights as filled cells, or both. Each
    value stands under its key, each output at the right of its query. What is not given is not drawn;
    cells without numbers are empty.

    Args:
        words: The words that ask, one for each of the T queries; up to about 8.
        keys: The words that are asked, one for each of the S keys; the same words if not given.
        scores: ``(T, S)``, before the softmax.
        weights: ``(T, S)``, between 0 and 1.
        values: ``(S, Dv)``.
        output: ``(T, Dv)``.
        mask: ``(T, S)``, True = may attend; the other cells are hidden.
        row: The query to look at; the names and numbers of the others are pale.
        digits: Decimals of all numbers.
        asking: What stands over the words that ask.

    Returns:
        The drawing, as the last expression of a cell.

    Raises:
        ValueError: If a table does not fit the words, or the drawing would be too wide.
    """
    keys = words if keys is None else keys
    T, S = len(words), len(keys)
    scores = _table("scores", scores, (T, S))
    weights = _table("weights", weights, (T, S))
    values = _table("values", values, (S, None))
    output = _table("output", output, (T, None))
    mask = np.ones((T, S), bool) if mask is None else _table("mask", mask, (T, S)) > 0
    if row is not None and not 0 <= row < T:
        raise ValueError(f"row must be one of the {T} queries, from 0 to {T - 1}, got {row}")
    return _Table(words, keys, scores, weights, values, output, mask, row, digits, asking).draw()


class _Table:
    """The sizes and places of one attention table."""

    def __init__(self, words, keys, scores, weights, values, output, mask, row, digits, asking) -> None:
        self.words, self.keys, self.mask, self.row, self.digits = words, keys, mask, row, digits
        self.asking = asking
        self.scores, self.weights, self.values, self.output = scores, weights, values, output
        every = [self._say(x) for part in (scores, weights, values) if part is not None for x in part.flat]
        self.side = column([*words, asking], room=18)
        self.left = EDGE + self.side + 8
        wide = column([*keys, *every], least=44, room=10)
        out = [self._say(x) for x in output.flat] if output is not None else []
        self.out = column(out, least=40, room=8)
        right = 0 if output is None else BETWEEN + max(output.shape[1] * self.out, text_width("output")) + 2
        roomy = (WIDEST - self.left - right - EDGE) / len(keys)
        self.wide = max(wide, min(64.0, roomy)) if wide <= roomy else roomy
        if wide > roomy + 0.25 * wide:  # labels may use the slack of their estimate, no more
            fits = int((WIDEST - self.left - right - EDGE) / wide)
            raise ValueError(
                f"the table has room for {fits} keys as long as these, got {len(keys)}: use fewer"
            )
        self.tall = TALL + 16 if scores is not None and weights is not None else TALL
        self.top = EDGE + 20 + HEAD + 6
        self.under = self.top + len(words) * (self.tall + GAP) + 26  # where values begin
        self.right = self.left + len(keys) * self.wide
        below = 0 if values is None else values.shape[1] * (LOW + 2) + 6
        height = self.under + below + (EDGE if values is not None else -2)
        self.picture = Drawing(self.right + right + EDGE, height)

    def draw(self) -> Drawing:
        """Draw part by part: labels, cells, values, output."""
        self._draw_labels()
        for i, j in np.ndindex(self.mask.shape):
            self._draw_cell(i, j)
        if self.row is not None:
            self._frame_row()
        self._draw_caption()
        if self.values is not None:
            self._draw_values()
        if self.output is not None:
            self._draw_output()
        return self.picture

    def _say(self, x: float) -> str:
        if np.isinf(x):
            return "∞" if x > 0 else "−∞"
        said = f"{x:.{self.digits}f}"
        return (said[1:] if float(said) == 0 else said.replace("-", "−")) if said[0] == "-" else said

    def _pale(self, i: int) -> bool:
        return self.row is not None and i != self.row

    def _cell(self, i: int, j: int) -> tuple[float, float]:
        return self.left + j * self.wide, self.top + i * (self.tall + GAP)

    def _draw_labels(self) -> None:
        p, middle = self.picture, (self.left + self.right) / 2
        p.text(middle, EDGE + 8, "keys", colour=KEY, bold=True)
        p.text(EDGE + self.side / 2, EDGE + 20 + HEAD / 2, self.asking, colour=QUERY, bold=True)
        for j, word in enumerate(self.keys):
            x, _ = self._cell(0, j)
            p.rect(x + 2, EDGE + 20, self.wide - 4, HEAD, fill=KEY, opacity=0.14)
            p.text(x + self.wide / 2, EDGE + 20 + HEAD / 2, word, colour=KEY)
        for i, word in enumerate(self.words):
            _, y = self._cell(i, 0)
            chosen, high = i == self.row, (self.tall - HEAD) / 2
            p.rect(
                EDGE,
                y + high,
                self.side,
                HEAD,
                fill=QUERY,
                opacity=0.05 if self._pale(i) else 0.14,
                edge=QUERY if chosen else "none",
                thick=1.6,
            )
            p.text(EDGE + self.side / 2, y + self.tall / 2, word, colour=QUERY, bold=chosen)

    def _draw_cell(self, i: int, j: int) -> None:
        p, (x, y), pale = self.picture, self._cell(i, j), self._pale(i)
        box = (x + 2, y, self.wide - 4, self.tall)
        if not self.mask[i, j]:
            p.rect(*box, fill=GRID, opacity=0.45)
            p.line((x + 8, y + self.tall - 7), (x + self.wide - 8, y + 7), colour=GRID, thick=1.4)
            return
        fill = 0.0 if self.weights is None else float(np.clip(self.weights[i, j], 0, 1))
        p.rect(*box, fill=WEIGHT_FILL, opacity=round(fill, 3), round=4)
        p.rect(*box, edge=GRID, thick=1)
        said = [self._say(part[i, j]) for part in (self.scores, self.weights) if part is not None]
        for n, number in enumerate(said):
            lift = 0 if len(said) == 1 else (n - 0.5) * 17
            first_of_two = len(said) == 2 and n == 0
            p.text(
                x + self.wide / 2,
                y + self.tall / 2 + lift,
                number,
                colour=MUTED if (first_of_two or pale) and fill < DARK else INK,
                bold=i == self.row and not first_of_two,
            )

    def _frame_row(self) -> None:
        x, y = self._cell(self.row, 0)
        self.picture.rect(x - 1, y - 3, self.right - x + 2, self.tall + 6, edge=QUERY, thick=1.6, round=6)

    def _draw_caption(self) -> None:
        """Say under the cells what stands in them."""
        said = {
            (False, False): "",
            (True, False): "scores",
            (False, True): "weights: each row sums to 1" if self._sums_to_one() else "weights",
            (True, True): "scores, and under them weights",
        }[self.scores is not None, self.weights is not None]
        colour = MUTED if self.weights is None else WEIGHT
        self.picture.text((self.left + self.right) / 2, self.under - 16, said, colour=colour)

    def _sums_to_one(self) -> bool:
        return self.weights is not None and bool(np.allclose(self.weights.sum(-1), 1, atol=0.01))

    def _draw_values(self) -> None:
        p = self.picture
        tall = self.values.shape[1] * (LOW + 2)
        p.text(EDGE + self.side / 2, self.under + tall / 2 + 2, "values", colour=VALUE, bold=True)
        for (j, k), x in np.ndenumerate(self.values):
            at, y = self.left + j * self.wide, self.under + 2 + k * (LOW + 2)
            p.rect(at + 2, y, self.wide - 4, LOW, fill=VALUE, opacity=0.14)
            p.text(at + self.wide / 2, y + LOW / 2, self._say(x), colour=VALUE)

    def _draw_output(self) -> None:
        p, x0 = self.picture, self.right + BETWEEN
        wide = self.output.shape[1] * self.out
        p.text(x0 + wide / 2, EDGE + 20 + HEAD / 2, "output", colour=OUTPUT, bold=True)
        if self.values is not None:  # the values, too, go into the output
            start = self.right + 4, self.under + self.values.shape[1] * (LOW + 2) / 2
            _, end = self._cell(len(self.words) - 1, 0)
            tip = x0 + wide / 2, end + self.tall + 4
            p.arrow(start, (tip[0], start[1]), tip, colour=VALUE)
        for i, numbers in enumerate(self.output):
            _, y = self._cell(i, 0)
            pale, middle = self._pale(i), y + self.tall / 2
            p.arrow(
                (self.right + 4, middle), (x0 - 3, middle), colour=OUTPUT, opacity=0.35 if pale else 1, head=7
            )
            for k, x in enumerate(numbers):
                left = x0 + k * self.out
                p.rect(
                    left + 1,
                    middle - LOW / 2,
                    self.out - 2,
                    LOW,
                    fill=OUTPUT,
                    opacity=0.05 if pale else 0.14,
                    edge=OUTPUT if i == self.row else "none",
                )
                p.text(
                    left + self.out / 2,
                    middle,
                    self._say(x),
                    colour=MUTED if pale else OUTPUT,
                    bold=i == self.row,
                )


def _table(name: str, numbers, shape: tuple[int, int | None]) -> np.ndarray | None:
    """Read a table, and check that it fits the words."""
    if numbers is None:
        return None
    read = array(numbers)
    if read.ndim != 2 or any(want not in (None, got) for want, got in zip(shape, read.shape, strict=True)):
        wanted = f"({shape[0]}, {'any width' if shape[1] is None else shape[1]})"
        raise ValueError(f"{name} must be {wanted} to fit the words, got {read.shape}")
    return read
