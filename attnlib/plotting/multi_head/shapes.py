"""Tensors as boxes: what becomes of a sequence in multi-head attention."""

from __future__ import annotations

from attnlib.plotting.kit.drawing import WIDEST, Drawing
from attnlib.plotting.kit.style import INK, KEY, MUTED, OUTPUT, PAPER, QUERY, VALUE, WEIGHT, WEIGHT_FILL

GAP = 32  # between stages
EDGE = 10  # margins
HEAD = 34  # above the shapes, for their names
NARROW = 24  # with frames, between stages
WAY = 42  # with frames, before the heads
TITLE = 18  # with frames, above for a head's name


def split_and_merge(T: int, H: int, D: int, *, last: str | None = None, framed: bool = False) -> Drawing:
    """Draw how a sequence becomes Q, K and V, is split into heads, averaged by each, and merged.

    Attention weights need q and k; the weighted average needs v.

    Args:
        T: Tokens.
        H: Heads.
        D: Width of a head.
        last: Name of the matrix behind the merge, as in ``W_O``.
        framed: Whether q, k and v of a head stand in a frame with one way to it, in place of a way to each;
            its number then stands on every part that is the head's, its weights have a pattern of their own,
            and the last matrix is drawn in bands of rows, one for each head.

    Returns:
        The drawing, as the last expression of a cell.
    """
    return _Stages(T, H, D, framed).draw(last)


class _Stages:
    """The sizes and positions of the stages, left to right."""

    def __init__(self, T: int, H: int, D: int, framed: bool) -> None:
        self.T, self.H, self.D, self.C, self.framed = T, H, D, H * D, framed
        wide = 4 * self.C + 2 * D + max(T, D)
        self.gap, self.way = (NARROW, WAY) if framed else (GAP, GAP)
        self.title = TITLE if framed else 0
        around = 2 * EDGE + 5 * self.gap + self.way
        self.unit = min(8.0 if framed else 9.0, (WIDEST - around) / wide)
        self.tall = T * self.unit
        self.lane, self.between = 3 * self.tall + 12, 16 + self.title
        inner = H * (self.lane + self.between) - self.between
        self.middle = HEAD + self.title + inner / 2
        self.foot = HEAD + self.title + inner + 20
        self.picture = Drawing(around + wide * self.unit, self.foot + 14)

    def draw(self, last: str | None) -> Drawing:
        """Draw stage after stage."""
        T, H, D, C = self.T, self.H, self.D, self.C
        x = EDGE
        self._name(x, C, "x", f"({T}, {C})")
        self._block(x, self.middle - self.tall / 2, C, INK, heads=False)
        x = self._project(x + C * self.unit)
        x = self._attend(x)
        self._name(x, C, "merge", f"({T}, {C})")
        self._block(x, self.middle - self.tall / 2, C, OUTPUT)
        self._number_heads(x, self.middle, OUTPUT)
        end = x + C * self.unit
        self._arrow((end, self.middle), (end + self.gap, self.middle))
        if last is not None:
            above = self._bands(end + self.gap / 2) if self.framed else self.middle - 16
            for n, letter in enumerate(last.split("_")):  # the lowered one as large, to be read on a phone
                self.picture.text(end + self.gap / 2 + 10 * n - 5, above + 4 * n, letter, maths=True)
        self._name(end + self.gap, C, "out", f"({T}, {C})")
        self._block(end + self.gap, self.middle - self.tall / 2, C, INK, heads=False)
        self._name(self.heads, D, "split", f"3 × ({H}, {T}, {D})")
        return self.picture

    def _bands(self, x: float) -> float:
        """Draw the last matrix over its arrow, a band of rows for each head; return where its name stands."""
        wide, tall, foot = self.C * self.unit, self.D * self.unit, self.middle - self.tall / 2 - 22
        for h in range(self.H):
            y = foot - (self.H - h) * tall
            self.picture.rect(
                x - wide / 2, y, wide, tall - 1, fill=INK, opacity=self._opacity(h) - 0.1, edge=INK, round=2
            )
            self._letter(x, y + tall / 2, str(h + 1), INK)
        self._arrow((x - 3, foot + 3), (x + 3, self.middle - 5))
        return foot - self.H * tall - 13

    def _project(self, end: float) -> float:
        """Draw Q, K and V one below the other, and return where the heads begin."""
        x = end + self.gap
        after = x + self.C * self.unit + self.way
        self._name(x, self.C, "project", f"3 × ({self.T}, {self.C})")
        for n, (letter, colour) in enumerate((("Q", QUERY), ("K", KEY), ("V", VALUE))):
            y = self.middle + (n - 1) * (self.tall + (24 if self.framed else 18))
            self._arrow((end, self.middle + (n - 1) * 6), (x, y), colour)
            self._block(x, y - self.tall / 2, self.C, colour)
            if self.framed:
                above = y - self.tall / 2 - 9
                self.picture.text(x + self.C * self.unit / 2, above, letter, maths=True, colour=colour)
                self._number_heads(x, y, colour)
                continue
            self._letter(x + self.C * self.unit / 2, y, letter, colour)
            for h in range(self.H):
                self._arrow((after - GAP, y + (h - (self.H - 1) / 2) * 8), (after, self._row(h, n)), colour)
        if self.framed:
            self._frame_heads(after)
        return after

    def _frame_heads(self, x: float) -> None:
        """Frame what each head gets, and lead there from the three projections together."""
        p, left, high = self.picture, x - self.way + 8, 1.5 * self.tall + 24
        corners = [(left - dx, self.middle + dy) for dx, dy in ((5, -high), (0, -high), (0, high), (5, high))]
        p.line(*corners, colour=MUTED, thick=1)
        for h in range(self.H):
            y, tall = self._lane(h), self.lane + 10
            p.rect(x - 5, y - tall / 2, self.D * self.unit + 10, tall, edge=MUTED, thick=1, round=5)
            p.arrow((left, (self.middle + y) / 2), (x - 7, y), thick=2)
            p.text(x + self.D * self.unit / 2, y - tall / 2 - 10, f"head {h + 1}", bold=True)

    def _attend(self, x: float) -> float:
        """Draw in each lane q, k and v, the weights, and the average; return where the merge begins."""
        u, T, D = self.unit, self.T, self.D
        self.heads, weights = x, x + D * u + self.gap
        averages = weights + max(T, D) * u + self.gap
        self._name(weights, max(T, D), "weights", f"({self.H}, {T}, {T})")
        self._name(averages, D, "average", f"({self.H}, {T}, {D})")
        p = self.picture
        for h in range(self.H):
            middle, opacity = self._lane(h), self._opacity(h)
            rows = [self._row(h, n) for n in range(3)]
            for name, y, colour in zip("qkv", rows, (QUERY, KEY, VALUE), strict=True):
                self._box(x, y - self.tall / 2, D * u, colour, opacity)
                self._letter(x + D * u / 2, y, name, colour)
            between = (rows[0] + rows[1]) / 2
            self._table(weights, between - self.tall / 2, h)
            self._arrow((x + D * u, rows[0]), (weights, between - 8), QUERY)
            self._arrow((x + D * u, rows[1]), (weights, between + 8), KEY)
            self._arrow((weights + T * u, between), (averages, middle - 8), WEIGHT)
            self._arrow((x + D * u, rows[2]), (averages, middle + 8), VALUE)
            self._box(averages, middle - self.tall / 2, D * u, OUTPUT, opacity)
            if self.framed:
                self._letter(averages + D * u / 2, middle, str(h + 1), OUTPUT)
            else:
                p.text(averages + D * u / 2, middle - self.tall / 2 - 10, f"head {h + 1}", bold=True)
            end = averages + D * u
            self._arrow((end, middle), (end + self.gap, self.middle + (h - (self.H - 1) / 2) * 10), OUTPUT)
        return averages + D * u + self.gap

    def _table(self, x: float, y: float, h: int) -> None:
        """Draw the weights of a head; with frames they have a name, and each head a pattern of its own."""
        T, u = self.T, self.unit
        pale = 0.25 if self.framed else 1
        self.picture.rect(x, y, T * u, self.tall, fill=WEIGHT_FILL, opacity=pale, round=2)
        for i in range(T if self.framed else 0):
            self.picture.rect(x + ((h + 1) * i % T) * u, y + i * u, u, u, fill=WEIGHT_FILL, round=1)
        if self.framed:
            self.picture.text(x + T * u / 2, y - 10, f"A_{h + 1}", maths=True, colour=WEIGHT)

    def _lane(self, h: int) -> float:
        return self.middle + (h - (self.H - 1) / 2) * (self.lane + self.between)

    def _row(self, h: int, n: int) -> float:
        """Return where q, k or v of a head stands."""
        return self._lane(h) + (n - 1) * (self.tall + 6)

    def _opacity(self, h: int) -> float:
        return 0.75 - 0.4 * h / max(1, self.H - 1)

    def _block(self, x: float, y: float, width: int, colour: str, *, heads: bool = True) -> None:
        """Draw a matrix as wide as the model, a shade for each head."""
        for h in range(self.H if heads else 1):
            wide = (self.D if heads else width) * self.unit
            shade = self._opacity(h) if heads else 0.3
            self._box(x + h * wide, y, wide - 1, colour, shade)

    def _box(self, x: float, y: float, wide: float, colour: str, opacity: float) -> None:
        """Draw a part as high as the tokens are many; its edge is seen where its fill is pale."""
        self.picture.rect(x, y, wide, self.tall, fill=colour, opacity=opacity, edge=colour, thick=1, round=2)

    def _number_heads(self, x: float, y: float, colour: str) -> None:
        """Say on a matrix as wide as the model which columns are which head's, where heads have frames."""
        for h in range(self.H if self.framed else 0):
            self._letter(x + (h + 0.5) * self.D * self.unit, y, str(h + 1), colour)

    def _letter(self, x: float, y: float, letter: str, colour: str) -> None:
        self.picture.rect(x - 8, y - 9, 16, 18, fill=PAPER, opacity=0.88, round=3)
        self.picture.text(x, y, letter, maths=letter.isalpha(), colour=colour)

    def _arrow(self, start: tuple[float, float], end: tuple[float, float], colour: str = MUTED) -> None:
        self.picture.arrow((start[0] + 3, start[1]), (end[0] - 3, end[1]), colour=colour, head=6, thick=1.2)

    def _name(self, x: float, width: int, name: str, shape: str) -> None:
        middle = x + width * self.unit / 2
        self.picture.text(middle, 14, name, bold=True)
        self.picture.text(middle, self.foot, shape)
