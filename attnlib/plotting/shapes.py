"""Tensors as boxes: what becomes of a sequence in multi-head attention."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from attnlib.plotting._style import COLOURS, INK, MUTED, PAPER, plt

GAP = 2.6  # between one stage and the next, in such units


def split_and_merge(T: int, H: int, D: int, *, ax: Axes | None = None) -> Axes:
    """Draw how a sequence is projected, split into heads, mixed by each, and merged.

    Args:
        T: Tokens.
        H: Heads.
        D: Width of a head.
        ax: Where to draw.

    Returns:
        The axes.
    """
    if ax is None:
        _, ax = plt.subplots(figsize=(7.2, 3.0))
    C, step = H * D, T + 1.2  # each head has a lane of its own
    middle = (H * step - 1.2) / 2
    place = 0.0

    def stage(width: int, name: str, shape: str, lanes: int = 1, *, coloured: bool = True) -> None:
        nonlocal place
        parts = H if coloured else 1
        for h in range(parts):
            at = place if lanes == H else place + h * width / parts
            low = h * step if lanes == H else middle - T / 2
            wide = width if lanes == H else width / parts
            colour = COLOURS[h % len(COLOURS)] if coloured else MUTED
            edge = {"facecolor": colour, "edgecolor": PAPER, "alpha": 0.75 if coloured else 0.4}
            ax.add_patch(Rectangle((at, low), wide, T, **edge))
        ax.text(place + width / 2, -1.2, name, ha="center", va="bottom", color=INK, fontsize=9)
        ax.text(place + width / 2, H * step, shape, ha="center", va="top", color=MUTED, fontsize=8)
        place += width + GAP

    stage(C, "x", f"({T}, {C})", coloured=False)
    stage(C, "project", f"({T}, {C})")
    stage(D, "split", f"({H}, {T}, {D})", H)
    stage(T, "weights", f"({H}, {T}, {T})", H)
    stage(D, "attend", f"({H}, {T}, {D})", H)
    stage(C, "merge", f"({T}, {C})")
    stage(C, "out", f"({T}, {C})", coloured=False)
    ax.set(xlim=(-0.5, place - GAP + 0.5), ylim=(H * step + 1.5, -2.8), xticks=[], yticks=[], aspect="equal")
    ax.grid(False)
    ax.spines[:].set_visible(False)
    return ax
