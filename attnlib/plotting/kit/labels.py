"""Names at the ends of lines, found when the figure is drawn: limits may be set after the names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.transforms import Affine2D

from attnlib.plotting.kit.style import INK, MUTED

LEADING = 1.35  # from line to line of text, in its size


class End(NamedTuple):
    """Where a line ends, in its data, and what it is called; without x it ends at the right of the axes."""

    x: float | None
    y: float
    name: str
    colour: str


def name_ends(ax: Axes, ends: Sequence[End]) -> None:
    """Write each name to the right of the end of its line; names that would overlap move apart.

    Args:
        ax: Where the lines are.
        ends: The ends, in any order. Names written before on the same axes are kept clear of.
    """
    known = getattr(ax, "_named_ends", [])
    ax._named_ends = known + list(ends)
    for i, end in enumerate(ends, len(known)):
        ax.annotate(
            end.name,
            (0, 0),
            (6, 0),
            xycoords=lambda renderer, i=i: Affine2D().translate(*_places(ax, renderer)[i]),
            textcoords="offset points",
            color=end.colour,
            va="center",
            annotation_clip=False,
        )


def _places(ax: Axes, renderer: RendererBase) -> np.ndarray:
    """Return where the names begin, in pixels: at the ends of the lines as far as these can be seen."""
    frame = ax.get_window_extent(renderer)
    ends = ax._named_ends
    at = np.array([ax.transData.transform((ax.get_xlim()[1] if e.x is None else e.x, e.y)) for e in ends])
    at[:, 0] = np.where([e.x is None for e in ends], frame.x1, np.clip(at[:, 0], frame.x0, frame.x1))
    at[:, 1] = np.clip(np.nan_to_num(at[:, 1], nan=frame.y0), frame.y0, frame.y1)
    size = renderer.points_to_pixels(ax.texts[0].get_fontsize()) if ax.texts else 10
    at[:, 1] = spread(at[:, 1], LEADING * size)
    lowest = frame.y0 + size / 2  # below stand the numbers of the axis
    for i in np.argsort(at[:, 1], kind="stable"):
        at[i, 1] = max(at[i, 1], lowest)
        lowest = at[i, 1] + LEADING * size
    return at


def spread(places: np.ndarray, distance: float) -> np.ndarray:
    """Move numbers apart until no two are nearer than ``distance``, each group about its own middle."""
    order = np.argsort(places, kind="stable")
    groups: list[list[int]] = []
    for i in order:
        groups.append([i])
        while len(groups) > 1 and _touch(groups[-2], groups[-1], places, distance):
            last = groups.pop()
            groups[-1].extend(last)
    moved = np.empty_like(places, dtype=float)
    for group in groups:
        moved[group] = _spaced(group, places, distance)
    return moved


def _spaced(group: list[int], places: np.ndarray, distance: float) -> np.ndarray:
    """Return places for a group at equal distances about their middle."""
    return np.mean(places[group]) + distance * (np.arange(len(group)) - (len(group) - 1) / 2)


def _touch(lower: list[int], upper: list[int], places: np.ndarray, distance: float) -> bool:
    return _spaced(upper, places, distance)[0] - _spaced(lower, places, distance)[-1] < distance


def draw_level(ax: Axes, level: tuple[float, str]) -> None:
    """Draw a height across, such as chance, and name it at its right end."""
    ax.axhline(level[0], color=MUTED, lw=1.2, ls=(0, (1, 2)))
    name_ends(ax, [End(None, float(level[0]), level[1], MUTED)])


def draw_region(ax: Axes, region: tuple[Sequence[float], Sequence[float], str]) -> None:
    """Shade all that lies below some heights, and write its name where it is highest."""
    x, y = (np.asarray(part, dtype=float) for part in region[:2])
    if x.shape != y.shape or x.ndim != 1:
        raise ValueError(
            f"region must be (x, heights, name) with as many heights as x, got {y.shape} and {x.shape}"
        )
    floor = 0.0 if ax.get_yscale() == "linear" else y.min() / 10
    shade = ax.fill_between(x, y, floor, color=MUTED, alpha=0.22, linewidth=0, zorder=0.5)
    shade.sticky_edges.y.append(floor)
    ax.plot(x, y, color=MUTED, lw=1.2, zorder=0.6)
    peak = int(np.argmax(y))
    side = "right" if peak > 0.66 * len(x) else "left" if peak < 0.33 * len(x) else "center"
    away = {"right": -8, "left": 8, "center": 0}[side]
    ax.annotate(
        region[2],
        (x[peak], (floor + y[peak]) / 2 if ax.get_yscale() == "linear" else (floor * y[peak]) ** 0.5),
        (away, 0),
        textcoords="offset points",
        ha=side,
        va="center",
        color=INK,
    )
