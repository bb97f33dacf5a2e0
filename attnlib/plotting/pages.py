"""Texts as pictures: what a model wrote is not the same on every machine, and is not compared."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from attnlib.plotting._style import INK, plt

WIDEST = 72


def pages(texts: Mapping[str, Sequence[str]], *, width: int = 70, ax: Axes | None = None) -> Axes:
    """Draw texts one below the other, those of one writer under its name.

    Args:
        texts: By name, some for each.
        width: How many characters a line has; 72 at most, which a phone can show.
        ax: Where to draw.

    Returns:
        The axes.
    """
    lines = []
    for name, some in texts.items():
        wrapped = (line for text in some for line in textwrap.wrap(text, min(width, WIDEST)) or [""])
        lines += [(name, True), *((line, False) for line in wrapped), ("", False)]
    lines = lines[:-1]
    if ax is None:
        _, ax = plt.subplots(figsize=(6.2, 0.3 + 0.22 * len(lines)))
    ax.set_axis_off()
    ax.set(xlim=(0, 1), ylim=(len(lines), 0))
    for i, (line, is_name) in enumerate(lines):
        shown = line.replace("$", r"\$")  # or matplotlib reads a formula
        family = "sans-serif" if is_name else "monospace"
        weight = "bold" if is_name else "normal"
        ax.text(0, i + 0.5, shown, color=INK, weight=weight, family=family, va="center")
    return ax
