"""Claims: sentences of the book that the cell below them checks."""

from __future__ import annotations

import numpy as np
import torch

from attnlib.learn._show import inline, line, plain, show

_numbers: dict[str, int] = {}  # so that a cell run again keeps the number of its claim


class ClaimError(AssertionError):
    """A claim of the book that turned out false."""


def claim(text: str, ok: object, measured: object = None) -> None:
    """State a sentence and whether it holds; a false one stops the page.

    Args:
        text: The sentence, as the book says it. Code stands between backticks.
        ok: True or False: a bool, or an array or tensor holding one bool.
        measured: What was measured, to show beside it. A float is shown with three decimals.

    Raises:
        ClaimError: If the claim is false, with its text.
        TypeError: If ``ok`` is not a single bool: a number that happens to be true proves nothing.
    """
    holds = _one_bool(ok)
    number = _numbers.setdefault(text, len(_numbers) + 1)
    value = "" if measured is None else _number(measured)
    if not holds:
        got = f" (measured {value})" if value else ""
        raise ClaimError(f"claim {number} is false: {plain(text)}{got}")
    rest = f' <span class="pa-measured">measured {inline(value)}</span>' if value else ""
    show(
        line("good", "✓", f"Claim {number}.", inline(text), id=f"claim-{number}", rest=rest),
        f"✓ Claim {number}. {plain(text)}" + (f" [measured {plain(value)}]" if value else ""),
    )


def _one_bool(ok: object) -> bool:
    if isinstance(ok, torch.Tensor) and ok.dtype == torch.bool and ok.numel() == 1:
        return bool(ok.item())
    if isinstance(ok, np.ndarray) and ok.dtype == np.bool_ and ok.size == 1:
        return bool(ok.item())
    if isinstance(ok, (bool, np.bool_)):
        return bool(ok)
    raise TypeError(
        f"ok must be True or False, or a tensor holding one bool, got {type(ok).__name__} {ok!r}; "
        f"write the comparison out, with .all() if there are several"
    )


def _number(measured: object) -> str:
    if hasattr(measured, "tolist"):  # a tensor, an array or one of NumPy's numbers
        measured = measured.tolist()
    if isinstance(measured, (list, tuple)):
        return ", ".join(_number(m) for m in measured)
    return f"{measured:.3f}" if isinstance(measured, float) else str(measured)
