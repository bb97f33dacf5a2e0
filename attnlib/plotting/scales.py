"""Numbers over many powers of ten: how something grows, and the roof of a machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator
from torch import Tensor

from attnlib.instruments.statistics import exponent
from attnlib.plotting._style import INK, MUTED, SERIES, array, plt
from attnlib.plotting.ends import End, name_ends
from attnlib.plotting.powers import plain_powers, raised

if TYPE_CHECKING:
    from attnlib.instruments.roofline import Roofline

MARKS = ("o", "s", "^", "D")


def growth(
    x: Sequence[float],
    series: Mapping[str, Tensor | np.ndarray | Sequence[float]],
    *,
    last: int | None = None,
    mark: tuple[float, str] | None = None,
    xlabel: str = "",
    ylabel: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw lines on double logarithmic paper, where a power is straight and its exponent the slope.

    Args:
        x: Where the lines are known, above zero.
        series: Each line by its name, above zero.
        last: Fit an exponent to so many points at the end, and write it beside the name where it is whole;
            None writes none.
        mark: A place on the horizontal axis to draw a line at, and its name.
        xlabel: Label of x.
        ylabel: Label of the lines.
        ax: Where to draw.

    Returns:
        The axes.
    """
    if ax is None:
        _, ax = plt.subplots()
    ax.set(xscale="log", yscale="log", xlabel=xlabel, ylabel=ylabel)
    plain_powers(ax)
    if mark is not None:
        ax.axvline(mark[0], color=MUTED, lw=1.2, ls=(0, (1, 2)))
        ax.annotate(
            mark[1], (mark[0], 0.97), (5, 0), xycoords=("data", "axes fraction"),
            textcoords="offset points", color=MUTED, va="top",
        )  # fmt: skip
    place, ends = array(x), []
    for (label, values), colour, shape in zip(series.items(), SERIES, MARKS, strict=False):
        y = array(values)
        ax.plot(place, y, color=colour, marker=shape, markersize=4)
        power = "" if last is None else _power(exponent(place[-last:], y[-last:]))
        ends.append(End(float(place[-1]), float(y[-1]), label + power, colour))
    ax.set_xticks(place, [f"{n:,.0f}" for n in place], rotation=30 if len(place) > 6 else 0)
    ax.xaxis.set_minor_locator(NullLocator())
    name_ends(ax, ends)
    return ax


def _power(rate: float) -> str:
    """Return how a line grows, for its name, or nothing where that is no whole power."""
    whole = round(rate)
    if whole < 1 or abs(rate - whole) > 0.05:
        return ""
    return f", n{raised(whole) if whole > 1 else ''}"


def roofline(roof: Roofline, names: Sequence[str], *, ax: Axes | None = None) -> Axes:
    """Draw what a machine can do at most, and how near some kernels come, on double logarithmic paper.

    Args:
        roof: From `attnlib.instruments.roofline`.
        names: Which kernels to draw, a point for each length; the longest is named.
        ax: Where to draw.

    Returns:
        The axes.
    """
    if ax is None:
        _, ax = plt.subplots(figsize=(5.6, 3.6))
    kernels = {name: [found for _, found in sorted(roof.named(name).items())] for name in names}
    every = [kernel for found in kernels.values() for kernel in found]
    reach = [kernel.intensity for kernel in every] + [roof.ridge]
    low, high = min(reach) / 3, max(reach) * 6
    x = np.array([low, roof.ridge, high])
    ax.plot(x, [roof.ceiling(i) for i in x], color=INK, lw=2.2)
    ax.axvline(roof.ridge, color=MUTED, lw=1.0, ls=(0, (1, 2)))
    for (_, found), colour, shape in zip(kernels.items(), SERIES, MARKS, strict=False):
        ax.plot(
            [k.intensity for k in found],
            [k.speed for k in found],
            shape,
            color=colour,
            markersize=5,
            alpha=0.8,
        )
    ax.set(xscale="log", yscale="log", xlim=(low, high))
    plain_powers(ax)
    ax.set_ylim(min(k.speed for k in every) / 4, 4 * roof.peak_flops)
    for (name, found), colour in zip(kernels.items(), SERIES, strict=False):
        right = found[-1].intensity > roof.ridge
        ax.annotate(
            name, (found[-1].intensity, found[-1].speed), (0 if right else 9, -14 if right else -3),
            textcoords="offset points", color=colour, ha="center" if right else "left", va="center",
        )  # fmt: skip
    ax.annotate(
        "peak of the processor", (high, roof.peak_flops), (-4, 4), textcoords="offset points",
        ha="right", va="bottom", color=INK,
    )  # fmt: skip
    ax.annotate(
        "limit of the memory", (roof.ridge, roof.peak_flops), (-14, 0), textcoords="offset points",
        ha="right", va="center", color=INK,
    )  # fmt: skip
    ax.set(xlabel="operations for each byte moved (counted, at best)", ylabel="operations a second")
    return ax
