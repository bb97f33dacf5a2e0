"""Printing tensors as PyTorch prints them."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any

from torch import dtypes, shaping
from torch.tensor import Tensor, flat, new

DEFAULTS = {"precision": 4, "threshold": 1000.0, "edgeitems": 3, "linewidth": 80, "sci_mode": None}
OPTIONS = dict(DEFAULTS)
PROFILES = {
    "default": DEFAULTS,
    "short": {**DEFAULTS, "precision": 2, "edgeitems": 2},
    "full": {**DEFAULTS, "threshold": math.inf},
}


def set_printoptions(
    precision: int | None = None, threshold: float | None = None, edgeitems: int | None = None,
    linewidth: int | None = None, profile: str | None = None, sci_mode: bool | None = None,
) -> None:  # fmt: skip
    """Set how tensors are printed."""
    if profile is not None:
        OPTIONS.update(PROFILES[profile])
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    OPTIONS.update({key: value for key, value in given.items() if value is not None})
    OPTIONS["sci_mode"] = sci_mode


def get_printoptions() -> dict[str, Any]:
    """Return how tensors are printed."""
    return dict(OPTIONS)


@contextlib.contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """Print tensors otherwise for a while."""
    before = get_printoptions()
    set_printoptions(**options)
    try:
        yield
    finally:
        OPTIONS.update(before)


class _Format:
    """How the numbers of one tensor are written."""

    def __init__(self, xs: list, floating: bool) -> None:
        self.floating, self.whole, self.scientific, self.width = floating, True, False, 1
        if not floating:
            self.width = max((len(str(x)) for x in xs), default=1)
            return
        seen = [x for x in xs if math.isfinite(x) and x]
        if not seen:
            return
        low, high = min(map(abs, seen)), max(map(abs, seen))
        self.whole = all(x == math.ceil(x) for x in seen)
        asked = OPTIONS["sci_mode"]
        self.scientific = high / low > 1000.0 or high > 1.0e8 or low < 1.0e-4 if asked is None else asked
        precision = OPTIONS["precision"]
        if self.scientific:
            self.width = max(1, *(len(f"{x:.{precision}e}") for x in seen))
        elif self.whole:
            self.width = max(1, *(len(f"{x:.0f}") + 1 for x in seen))
        else:
            self.width = max(1, *(len(f"{x:.{precision}f}") for x in seen))

    def __call__(self, x: Any) -> str:
        if not self.floating:
            text = str(x)
        elif self.scientific:
            text = f"{x:{self.width}.{OPTIONS['precision']}e}"
        elif self.whole:
            text = f"{x:.0f}" + ("." if math.isfinite(x) else "")
        else:
            text = f"{x:.{OPTIONS['precision']}f}"
        return " " * (self.width - len(text)) + text


class _ComplexFormat:
    """How complex numbers are written: two formats."""

    def __init__(self, xs: list) -> None:
        self.real, self.imag = _Format([x.real for x in xs], True), _Format([x.imag for x in xs], True)
        self.width = self.real.width + self.imag.width + 1

    def __call__(self, x: complex) -> str:
        imag = (self.imag(x.imag) + "j").lstrip()
        return self.real(x.real) + ("" if imag[0] in "+-" else "+") + imag


def _edges(x: Tensor) -> list:
    """Return the numbers that a summary shows."""
    edge = OPTIONS["edgeitems"]
    if not x.ndim:
        return list(flat(x))
    n = len(x)
    places = [*range(edge), *range(n - edge, n)] if n > 2 * edge else range(n)
    if x.ndim == 1:
        xs = flat(x)
        return [xs[i] for i in places]
    return [one for i in places for one in _edges(shaping.select(x, 0, i))]


def _row(x: Tensor, indent: int, summarize: bool, form: Any) -> str:
    per_line = max(1, math.floor((OPTIONS["linewidth"] - indent) / (form.width + 2)))
    edge, xs = OPTIONS["edgeitems"], flat(x)
    if summarize and not edge:
        texts = ["..."]
    elif summarize and len(xs) > 2 * edge:
        texts = [*map(form, xs[:edge]), " ...", *map(form, xs[-edge:])]
    else:
        texts = list(map(form, xs))
    lines = [", ".join(texts[i : i + per_line]) for i in range(0, len(texts), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _box(x: Tensor, indent: int, summarize: bool, form: Any) -> str:
    if not x.ndim:
        return form(x.item())
    if x.ndim == 1:
        return _row(x, indent, summarize, form)
    edge, n = OPTIONS["edgeitems"], len(x)

    def inside(i: int) -> str:
        return _box(shaping.select(x, 0, i), indent + 1, summarize, form)

    if summarize and n > 2 * edge:
        parts = [*map(inside, range(edge)), "...", *map(inside, range(n - edge, n))]
    else:
        parts = list(map(inside, range(n)))
    return "[" + ("," + "\n" * (x.ndim - 1) + " " * (indent + 1)).join(parts) + "]"


def text_of(x: Tensor) -> str:
    """Return what ``print`` shows."""
    from torch.nn.parameter import Parameter

    if isinstance(x, Parameter):
        return "Parameter containing:\n" + text_of(new(flat(x), x.shape, x.dtype))[:-1] + (
            ", requires_grad=True)" if x.requires_grad else ")"
        )  # fmt: skip
    prefix, suffixes = "tensor(", []
    indent = len(prefix)
    usual = x.dtype in (dtypes.DEFAULT, dtypes.complex64, dtypes.int64, dtypes.bool_)
    if not x.numel():
        if x.ndim != 1:
            suffixes.append(f"size={tuple(x.shape)}")
        if x.dtype is not dtypes.DEFAULT:
            suffixes.append(f"dtype={x.dtype}")
        body = "[]"
    else:
        if not usual:
            suffixes.append(f"dtype={x.dtype}")
        summarize = x.numel() > OPTIONS["threshold"]
        seen = _edges(x) if summarize else flat(x)
        form = _ComplexFormat(seen) if x.dtype.kind == "c" else _Format(seen, x.dtype.kind == "f")
        body = _box(x, indent, summarize, form)
    text = prefix + body
    last = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if last + len(suffix) + 2 > OPTIONS["linewidth"]:
            text += ",\n" + " " * indent + suffix
            last = indent + len(suffix)
        else:
            text += ", " + suffix
            last += len(suffix) + 2
    return text + ")"
