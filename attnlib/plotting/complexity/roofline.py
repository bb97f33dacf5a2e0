"""The roof of a machine, over many powers of ten."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from attnlib.plotting.kit.style import INK, MUTED, SERIES, axes_or_new
from attnlib.plotting.kit.ticks import plain_powers

if TYPE_CHECKING:
    from attnlib.instruments.roofline import Roofline

MARKS = ("o", "s", "^", "D")


def roofline(roof: Roofline, names: Mapping[str, str], *, ax: Axes | None = None) -> Axes:
    """Draw what a machine can do at most, and how near some kernels come, on double logarithmic paper.

    Args:
        roof: From `attnlib.instruments.roofline`.
        names: Which kernels to draw, a point for each at the greatest length that all of them have, and what
            to call it.
        ax: Where to draw.

    Returns:
        The axes.

    Raises:
        ValueError: If a name is unknown, or the kernels share no length.
    """
    ax = axes_or_new(ax, (5.6, 3.4))
    measured = {said: roof.named(name) for name, said in names.items()}
    shared = set.intersection(*map(set, measured.values()))
    if not shared:
        said = ", ".join(map(repr, names))
        raise ValueError(f"the kernels must share a length, got {said}; draw one by one")
    kernels = {said: lengths[max(shared)] for said, lengths in measured.items()}
    reach = [kernel.intensity for kernel in kernels.values()] + [roof.ridge]
    low, high = min(reach) / 3, max(reach) * 6
    x = np.array([low, roof.ridge, high])
    ax.plot(x, [roof.ceiling(i) for i in x], color=INK, lw=2.2)
    ax.axvline(roof.ridge, color=MUTED, lw=1.0, ls=(0, (1, 2)))
    ax.set(xscale="log", yscale="log", xlim=(low, high))
    plain_powers(ax)
    ax.set_ylim(min(kernel.speed for kernel in kernels.values()) / 8, 4 * roof.peak_flops)
    for (said, kernel), colour, shape in zip(kernels.items(), SERIES, MARKS, strict=False):
        at = kernel.intensity, kernel.speed
        ax.plot(*at, shape, color=colour, markersize=7)
        ax.annotate(said, at, (9, -5), textcoords="offset points", color=colour, va="top")
    ax.annotate(
        "peak of the processor", (high, roof.peak_flops), (-4, 5), textcoords="offset points",
        ha="right", va="bottom", color=INK,
    )  # fmt: skip
    ax.annotate(
        "limit of the memory", (roof.ridge, roof.peak_flops), (-16, 0), textcoords="offset points",
        ha="right", va="center", color=INK,
    )  # fmt: skip
    ax.text(
        1.1 * roof.ridge, 0.06, f"{roof.ridge:.0f} operations per byte", color=MUTED, va="center",
        transform=ax.get_xaxis_transform(),
    )  # fmt: skip
    ax.set(xlabel="operations for each byte moved (counted, at best)", ylabel="operations a second")
    return ax
