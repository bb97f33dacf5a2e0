"""Words on a map, with labels that keep out of each other's way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.transforms import Bbox
from torch import Tensor

from attnlib.plotting.kit.style import INK, KEY, MUTED, QUERY, SERIES, array, axes_or_new

# as in the explorable of the same words
WARM = KEY  # the sum
ACCENT = QUERY  # the answer
MARKERS = ("o", "s", "^", "D")
GROUPS = SERIES[0], SERIES[1], SERIES[3], SERIES[2]  # the dark one last: a word of no group is as dark
# where a label may stand, seen from its point: right, left, above, below, the corners, then further out
_SIDES = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)]
_OFFSETS = [(x * far, y * far) for far in (6, 13, 21) for x, y in _SIDES]


def word_map(
    points: Mapping[str, Sequence[float]],
    groups: Mapping[str, Sequence[str]] | None = None,
    *,
    beside: Mapping[str, tuple[float, float]] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw words as labelled points; the labels do not cover each other or the points.

    Args:
        points: Where each word lies.
        groups: Words that belong together, by the name of the group; each gets a colour and a marker, and its
            name stands at the outer side of its words. A word of none is drawn as a ring, its name in bold.
        beside: For a word whose label would be taken for that of another point, where it stands instead, seen
            from its own: to the right and up, in points.
        ax: Where to draw.

    Returns:
        The axes.
    """
    ax = axes_or_new(ax, (5.6, 4.0))
    look = dict.fromkeys(points, (INK, "o"))
    for i, words in enumerate((groups or {}).values()):
        colour, marker = GROUPS[i % len(GROUPS)], MARKERS[i % len(MARKERS)]
        look |= dict.fromkeys(words, (colour, marker))
    grouped = {word for words in (groups or {}).values() for word in words}
    alone = [word for word in points if groups and word not in grouped]
    for word, (x, y) in points.items():
        ring = {"markersize": 7.5, "markerfacecolor": "none", "markeredgewidth": 2}
        ax.plot(x, y, look[word][1], color=look[word][0], **(ring if word in alone else {"markersize": 5}))
    ax.margins(0.14)
    ax.set(xticks=[], yticks=[], aspect="equal")
    ax.set_adjustable("datalim")
    ax.spines[:].set_visible(False)
    _label(ax, points, {word: colour for word, (colour, _) in look.items()}, bold=alone, beside=beside)
    for i, (name, words) in enumerate((groups or {}).items()):
        own, colour = [points[word] for word in words], GROUPS[i % len(GROUPS)]
        _name_group(ax, name, own, list(points.values()), colour)
    return ax


def _name_group(
    ax: Axes, name: str, own: Sequence[Sequence[float]], every: Sequence[Sequence[float]], colour: str
) -> None:
    """Write the name of a group above its words, or below them if they lie in the lower half of the map."""
    x, y = np.mean(own, axis=0)
    above = y > np.mean(every, axis=0)[1]
    edge = max(own, key=lambda point: point[1] if above else -point[1])[1]
    at = {"textcoords": "offset points", "ha": "center", "va": "bottom" if above else "top"}
    look = {"color": colour, "weight": "bold"}
    ax.annotate(name, (x, edge), (0, 15 if above else -15), annotation_clip=False, **at, **look)


def two_steps(
    taken: Tensor | np.ndarray | Sequence[float],
    wanted: Tensor | np.ndarray | Sequence[float],
    *,
    start: str,
    end: str,
    answer: str,
    sides: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw two steps from one word in the plane of both: their lengths and their angle are true.

    Args:
        taken: ``(D,)``, the step that is taken; it points to the right.
        wanted: ``(D,)``, the step that would lead to the answer.
        start: The word where both begin.
        end: What the end of the first is called.
        answer: The word at the end of the second. A dotted line shows how far the first has missed it.
        sides: What is written at the two steps and at the dotted line; without it, how long they are.
        ax: Where to draw.

    Returns:
        The axes.
    """
    ax = axes_or_new(ax, (5.6, 3.4))
    first, second = array(taken), array(wanted)
    length = np.linalg.norm(first)
    along = first @ second / length
    across = np.sqrt(max(0.0, second @ second - along**2))
    points = {start: np.zeros(2), end: np.array([length, 0.0]), answer: np.array([along, -across])}
    edges = [
        (start, end, WARM, {"arrowstyle": "-|>"}),
        (start, answer, ACCENT, {"arrowstyle": "-|>"}),
        (end, answer, MUTED, {"arrowstyle": "-", "linestyle": ":"}),
    ]
    centre = np.mean(list(points.values()), axis=0)
    written = [None] * 3 if sides is None else sides
    for (one, other, colour, look), said in zip(edges, written, strict=True):
        a, b = points[one], points[other]
        arrow = {"color": colour, "lw": 1.5, "shrinkA": 4, "shrinkB": 4, **look}
        ax.annotate("", tuple(b), tuple(a), arrowprops=arrow)
        out = (a + b) / 2 - centre
        out *= 13 / np.linalg.norm(out)
        level = abs(out[0]) < abs(out[1])  # beside a steep side, longer words need to start at it
        beside = "center" if said is None or level else "left" if out[0] > 0 else "right"
        name = {"textcoords": "offset points", "ha": beside, "va": "center", "color": colour}
        said = f"{np.linalg.norm(b - a):.1f}" if said is None else said
        ax.annotate(said, tuple((a + b) / 2), tuple(out), **name)
    lines = [(points[one], points[other]) for one, other, *_ in edges]
    _angle(ax, points[start], points[end], points[answer])
    colours = {start: INK, end: WARM, answer: ACCENT}
    for word, (x, y) in points.items():
        ax.plot(x, y, "D" if word == end else "o", color=colours[word], markersize=6)
    ax.margins(0.14)
    ax.set(xticks=[], yticks=[], aspect="equal")
    ax.set_adjustable("datalim")
    ax.spines[:].set_visible(False)
    _label(ax, points, colours, lines)
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
    *,
    bold: Sequence[str] = (),
    beside: Mapping[str, tuple[float, float]] | None = None,
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
        for dx, dy in [beside[word]] if beside and word in beside else _OFFSETS:
            text = ax.annotate(
                word,
                (x, y),
                (dx, dy),
                textcoords="offset points",
                ha={1: "left", -1: "right"}.get(np.sign(dx), "center"),
                va={1: "bottom", -1: "top"}.get(np.sign(dy), "center"),
                color=colours[word],
                weight="bold" if word in bold else "normal",
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
