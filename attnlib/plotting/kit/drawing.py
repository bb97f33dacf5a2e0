"""Schematic drawings as SVG: boxes, arrows and text, in the colours of the book.

A `Drawing` shows itself in a notebook, with text as text. Lengths are pixels: 13 px is the size of
nearly all text, and a drawing up to 580 px wide can still be read on a phone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from html import escape

from attnlib.plotting.kit.style import INK, MUTED, PAPER

SIZE = 13  # of text
WIDEST = 580  # on a screen of 390 px, text of such a drawing is 8 px high
SANS = "'Source Sans 3', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
MONO = "'DejaVu Sans Mono', monospace"
SERIF = "'Source Serif 4', Georgia, 'Times New Roman', serif"
_LOWERED = re.compile(r"_(\{[^}]*\}|\w)")


class Drawing:
    """An SVG picture under construction; ``_repr_svg_`` shows it in a notebook.

    Args:
        width: In pixels, at most `WIDEST`.
        height: In pixels.

    Raises:
        ValueError: If it is too wide for a phone.
    """

    def __init__(self, width: float, height: float) -> None:
        if width > WIDEST:
            raise ValueError(f"a drawing must be at most {WIDEST} px wide, got {width:.0f}: draw fewer words")
        self.width, self.height = width, height
        self.parts: list[str] = []

    def rect(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        fill: str = "none",
        opacity: float = 1.0,
        edge: str = "none",
        thick: float = 1.2,
        round: float = 4,
        dashed: bool = False,
    ) -> None:
        """Draw a box, filled with ``fill`` at that opacity, with rounded corners."""
        inside = f' fill-opacity="{_number(opacity)}"' if fill != "none" and opacity < 1 else ""
        self._add(
            f'<rect x="{_number(x)}" y="{_number(y)}" width="{_number(width)}" height="{_number(height)}" '
            f'rx="{_number(round)}" fill="{fill}"{inside}{_stroke(edge, thick, dashed)}/>'
        )

    def circle(
        self,
        x: float,
        y: float,
        radius: float,
        *,
        fill: str = PAPER,
        opacity: float = 1.0,
        edge: str = "none",
        thick: float = 1.2,
    ) -> None:
        """Draw a disc around a point."""
        inside = f' fill-opacity="{_number(opacity)}"' if fill != "none" and opacity < 1 else ""
        self._add(
            f'<circle cx="{_number(x)}" cy="{_number(y)}" r="{_number(radius)}" fill="{fill}"{inside}'
            f"{_stroke(edge, thick, False)}/>"
        )

    def line(
        self,
        *points: tuple[float, float],
        colour: str = MUTED,
        thick: float = 1.4,
        dashed: bool = False,
        opacity: float = 1.0,
    ) -> None:
        """Draw straight lines from point to point."""
        path = "M" + " L".join(f"{_number(x)} {_number(y)}" for x, y in points)
        self.path(path, colour=colour, thick=thick, dashed=dashed, opacity=opacity)

    def path(
        self,
        path: str,
        *,
        colour: str = MUTED,
        thick: float = 1.4,
        dashed: bool = False,
        opacity: float = 1.0,
        fill: str = "none",
    ) -> None:
        """Draw along a path, written as SVG writes it."""
        pale = f' opacity="{_number(opacity)}"' if opacity < 1 else ""
        self._add(f'<path d="{path}" fill="{fill}"{_stroke(colour, thick, dashed)}{pale}/>')

    def arrow(
        self,
        *points: tuple[float, float],
        colour: str = MUTED,
        thick: float = 1.4,
        head: float = 7,
        dashed: bool = False,
        opacity: float = 1.0,
    ) -> None:
        """Draw an arrow through points, whose tip is on the last of them."""
        self.line(
            *points[:-1],
            _before(points[-2], points[-1], head - 1),
            colour=colour,
            thick=thick,
            dashed=dashed,
            opacity=opacity,
        )
        self._head(points[-2], points[-1], colour, head, opacity)

    def curve(
        self,
        start: tuple[float, float],
        end: tuple[float, float],
        *,
        lift: float,
        colour: str = MUTED,
        thick: float = 1.4,
        opacity: float = 1.0,
    ) -> None:
        """Draw a line that leaves and arrives vertically; ``lift`` says how far it swings."""
        (x0, y0), (x1, y1) = start, end
        bend = f"C{_number(x0)} {_number(y0 - lift)} {_number(x1)} {_number(y1 + lift)}"
        self.path(
            f"M{_number(x0)} {_number(y0)} {bend} {_number(x1)} {_number(y1)}",
            colour=colour,
            thick=thick,
            opacity=opacity,
        )

    def arc(
        self,
        start: tuple[float, float],
        end: tuple[float, float],
        *,
        height: float,
        colour: str = MUTED,
        thick: float = 1.4,
        head: float = 7,
        opacity: float = 1.0,
    ) -> None:
        """Draw an arrow that leaves upwards and comes down on its end; without a head it is a mere bow."""
        (x0, y0), (x1, y1) = start, end
        lift = 4 / 3 * height  # a bow whose handles are so long is so high
        bend = f"C{_number(x0)} {_number(y0 - lift)} {_number(x1)} {_number(y1 - lift)}"
        tip = y1 - max(0, head - 1)
        self.path(
            f"M{_number(x0)} {_number(y0)} {bend} {_number(x1)} {_number(tip)}",
            colour=colour,
            thick=thick,
            opacity=opacity,
        )
        if head:
            self._head((x1, y1 - lift), end, colour, head, opacity)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        colour: str = INK,
        anchor: str = "middle",
        bold: bool = False,
        maths: bool = False,
        turn: float = 0,
        size: float = SIZE,
        code: bool = False,
    ) -> None:
        """Write a line of text, its middle at the height ``y``; in maths, ``h_{t-1}`` is lowered."""
        style = f' font-family="{SERIF}" font-style="italic"' if maths else ""
        style += f' font-family="{MONO}" xml:space="preserve"' if code else ""
        style += ' font-weight="600"' if bold else ""
        style += f' font-size="{_number(size)}px"' if size != SIZE else ""
        style += f' transform="rotate({_number(turn)} {_number(x)} {_number(y)})"' if turn else ""
        said = _lowered(text) if maths else escape(text)
        at = f'x="{_number(x)}" y="{_number(y + 0.35 * size)}"'
        self._add(f'<text {at} fill="{colour}" text-anchor="{anchor}"{style}>{said}</text>')

    def _head(
        self,
        before: tuple[float, float],
        tip: tuple[float, float],
        colour: str,
        length: float,
        opacity: float,
    ) -> None:
        """Draw a filled arrow head at ``tip``."""
        back = _before(before, tip, length)
        across = (tip[1] - back[1]) / length, (back[0] - tip[0]) / length
        half = 0.42 * length
        corners = [tip] + [(back[0] + s * half * across[0], back[1] + s * half * across[1]) for s in (1, -1)]
        path = "M" + " L".join(f"{_number(x)} {_number(y)}" for x, y in corners) + " Z"
        pale = f' fill-opacity="{_number(opacity)}"' if opacity < 1 else ""
        self._add(f'<path d="{path}" fill="{colour}"{pale}/>')

    def _add(self, part: str) -> None:
        self.parts.append(part)

    def __repr__(self) -> str:
        """Say what it is; no address, which would differ each time a notebook runs."""
        return f"Drawing({_number(self.width)}, {_number(self.height)})"

    def _repr_svg_(self) -> str:
        """Return the picture as SVG."""
        w, h = _number(self.width), _number(self.height)
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}px" height="{h}px" viewBox="0 0 {w} {h}" '
                f'font-family="{SANS}" font-size="{SIZE}px" style="font-variant-numeric: tabular-nums">',
                f'<rect width="{w}" height="{h}" fill="{PAPER}"/>',
                *self.parts,
                "</svg>",
            ]
        )


def text_width(text: str) -> float:
    """Return how wide a text is at most, in any of the fonts that may show it."""
    narrow = sum(c in "iljtfrI.,:;'|() " for c in text)
    wide = sum(c in "mwMW" for c in text)
    return SIZE * (0.62 * (len(text) - narrow - wide) + 0.36 * narrow + 0.92 * wide)


def column(texts: Sequence[str], *, least: float = 0, room: float = 16) -> float:
    """Return how wide boxes must be that hold these texts."""
    return max([least, *(text_width(text) + room for text in texts)])


def _lowered(text: str) -> str:
    """Return maths as SVG: what follows an underscore smaller and lower."""
    parts = []
    for i, part in enumerate(_LOWERED.split(text)):
        if part and i % 2:
            parts.append(f'<tspan dy="3.5" font-size="85%">{escape(part.strip("{}"))}</tspan>')
        elif part:
            parts.append(f'<tspan dy="-3.5">{escape(part)}</tspan>' if i else escape(part))
    return "".join(parts)


def _stroke(colour: str, thick: float, dashed: bool) -> str:
    if colour == "none":
        return ""
    return f' stroke="{colour}" stroke-width="{_number(thick)}"' + (
        ' stroke-dasharray="4 3"' if dashed else ""
    )


def _before(start: tuple[float, float], end: tuple[float, float], length: float) -> tuple[float, float]:
    """Return the point that lies so far before the end of a line."""
    far = math.dist(start, end) or 1.0
    return tuple(e + (s - e) * length / far for s, e in zip(start, end, strict=True))


def _number(x: float) -> str:
    """Write a length with at most two decimals."""
    return f"{x:.2f}".rstrip("0").rstrip(".") if x % 1 else f"{x:.0f}"
