"""Powers of ten as plain text: an exponent as matplotlib draws it is too small for a phone."""

from __future__ import annotations

import math

from matplotlib.axes import Axes
from matplotlib.ticker import LogFormatter

_RAISED = str.maketrans("-0123456789.", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹·")


def raised(number: float | str) -> str:
    """Return a number as an exponent: ``⁻⁴`` for -4."""
    return str(number).translate(_RAISED)


def plain(value: float) -> str:
    """Return a number above zero as a reader would write it: 0.01, 1, 1,000, 10⁻⁴, 2 × 10⁶."""
    power = math.floor(math.log10(value) + 1e-9)
    if -3 < power < 4:
        return f"{value:,.0f}" if power > 2 else f"{value:.4g}"
    lead = f"{value / 10.0**power:.3g}"
    return f"10{raised(power)}" if lead == "1" else f"{lead} × 10{raised(power)}"


class _Plain(LogFormatter):
    """The ticks that matplotlib would name on a logarithmic axis, in plain text."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        return plain(x) if x > 0 and super().__call__(x, pos) else ""


def plain_powers(ax: Axes) -> None:
    """Write the ticks of those axes that are logarithmic as plain text, at full size."""
    for axis in (ax.xaxis, ax.yaxis):
        if axis.get_scale() == "log":
            base = axis.get_transform().base
            axis.set_major_formatter(_Plain(base))
            axis.set_minor_formatter(_Plain(base, labelOnlyBase=False))
