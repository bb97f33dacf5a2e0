"""Words on a map, with labels that keep out of each other's way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.transforms import Bbox

from attnlib.plotting._style import INK, KEY, MUTED, QUERY, SERIES, plt

WARM, ACCENT = KEY, QUERY  # of the sum and of the answer, as in the explorable of the same words
MARKERS = ("o", "s", "^", "D")
# where a label may stand, seen from its point: right, left, above, below, the corners, then further out
_SIDES = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)]
_OFFSETS = [(x * far, y * far) for far in (6, 13, 21) for x, y in _SIDES]


def word_map(
    points: Mapping[str, Sequence[float]],
    groups: Mapping[str, Sequence[str]] | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw words as labelled points; the labels do not cover each other or the points.

    Args:
        points: Where each word lies.
        groups: Words that belong together, by the name of the group; each gets a colour and a marker.
        ax: Where to draw.

    Returns:
        The axes.
    """
    if ax is None:
        _, ax = plt.subplots(figsize=(5.6, 4.0))
    look = dict.fromkeys(points, (MUTED, "o"))
    for i, (name, words) in enumerate((groups or {}).items()):
        colour, marker = SERIES[i % len(SERIES)], MARKERS[i % len(MARKERS)]
        look |= dict.fromkeys(words, (colour, marker))
        ax.plot([], [], marker, color=colour, label=name)
    for word, (x, y) in points.items():
        ax.plot(x, y, look[word][1], color=look[word][0], markersize=5)
    ax.margins(0.14)
    ax.set(xticks=[], yticks=[], aspect="equal")
    ax.set_adjustable("datalim")
    ax.spines[:].set_visible(False)
    if groups:
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(groups))
    _label(ax, points, {word: colour for word, (colour, _) in look.items()})
    return ax


def parallelogram(
    points: Mapping[str, Sequence[float]],
    corners: Sequence[str],
    *,
    answer: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw ``a - b + c`` as the fourth corner of a parallelogram, and where the words lie.

    Args:
        points: Where each word lies.
        corners: The words a, b and c; the other points have another colour.
        answer: A word that one hopes to find at the fourth corner: an arrow leads to it from a, and the
            angle between the two steps is written in degrees.
        ax: Where to draw.

    Returns:
        The axes.
    """
    if ax is None:
        _, ax = plt.subplots(figsize=(5.6, 3.8))
    a, b, c = (np.asarray(points[word], dtype=float) for word in corners)
    target = a - b + c
    drawn = [
        (b, c, WARM, "-|>"),
        (a, target, WARM, "-|>"),
        (b, a, MUTED, "-"),
        (c, target, MUTED, "-"),
    ]
    if answer is not None:
        end = np.asarray(points[answer], dtype=float)
        drawn.append((a, end, ACCENT, "-|>"))
        _angle(ax, a, target - a, end - a)
    for start, end, colour, style in drawn:
        arrow = {"arrowstyle": style, "color": colour, "lw": 1.5, "shrinkA": 4, "shrinkB": 4}
        ax.annotate("", tuple(end), tuple(start), arrowprops=arrow)
    colours = {word: INK if word in corners else ACCENT for word in points}
    for word, (x, y) in points.items():
        ax.plot(x, y, "o", color=colours[word], markersize=6)
    name = "{} − {} + {}".format(*corners)
    ax.plot(*target, "D", color=WARM, markersize=7)
    ax.margins(0.18)
    ax.set(xticks=[], yticks=[], aspect="equal")
    ax.set_adjustable("datalim")
    ax.spines[:].set_visible(False)
    sides = [(start, end) for start, end, *_ in drawn]
    _label(ax, {**points, name: target}, colours | {name: WARM}, sides)
    return ax


def _angle(ax: Axes, corner: np.ndarray, first: np.ndarray, second: np.ndarray) -> None:
    """Draw the angle at a corner between two directions, with its degrees."""
    start, end = (np.arctan2(step[1], step[0]) for step in (first, second))
    turn = (end - start + np.pi) % (2 * np.pi) - np.pi
    along = start + np.linspace(0, turn, 30)
    far = 0.22 * min(np.linalg.norm(first), np.linalg.norm(second))
    arc = corner[:, None] + far * np.stack([np.cos(along), np.sin(along)])
    ax.plot(*arc, color=INK, lw=1.2)
    middle = start + turn / 2
    at = corner + 1.75 * far * np.array([np.cos(middle), np.sin(middle)])
    ax.text(*at, f"{abs(np.degrees(turn)):.0f}°", ha="center", va="center", color=INK)


def _label(
    ax: Axes,
    points: Mapping[str, Sequence[float]],
    colours: Mapping[str, str],
    lines: Sequence[tuple[np.ndarray, np.ndarray]] = (),
) -> None:
    """Write each word beside its point, where it covers least of what is there already."""
    figure = ax.figure
    figure.canvas.draw()  # the places are known only after the layout is
    renderer, pixel = figure.canvas.get_renderer(), figure.dpi / 72
    at = {word: ax.transData.transform(tuple(point)) for word, point in points.items()}
    drawn = [(*point, 4 * pixel) for point in at.values()]
    for start, end in lines:  # a line is a row of small dots
        along = np.linspace(start, end, 60)[1:-1]
        drawn += [(*point, pixel) for point in ax.transData.transform(along)]
    taken = [Bbox.from_bounds(x - r, y - r, 2 * r, 2 * r) for x, y, r in drawn]
    frame = ax.get_window_extent(renderer)
    for word, (x, y) in points.items():
        best = None
        for dx, dy in _OFFSETS:
            text = ax.annotate(
                word,
                (x, y),
                (dx, dy),
                textcoords="offset points",
                ha={1: "left", -1: "right"}.get(np.sign(dx), "center"),
                va={1: "bottom", -1: "top"}.get(np.sign(dy), "center"),
                color=colours[word],
            )
            box = text.get_window_extent(renderer)
            cost = sum(_overlap(box, other) for other in taken)
            cost += box.width * box.height - _overlap(box, frame)  # what sticks out of the frame
            if best is None or cost < best[0] - 1e-6:
                if best:
                    best[1].remove()
                best = cost, text, box
            else:
                text.remove()
        taken.append(best[2])


def _overlap(a: Bbox, b: Bbox) -> float:
    """Return the area that two boxes share."""
    across = min(a.x1, b.x1) - max(a.x0, b.x0)
    up = min(a.y1, b.y1) - max(a.y0, b.y0)
    return max(0.0, across) * max(0.0, up)
