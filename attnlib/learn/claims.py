"""Claims: sentences of the book that the cell below them checks."""

from __future__ import annotations

import numpy as np
import torch

from attnlib.instruments.settings import setting_of
from attnlib.learn._show import inline, line, plain, show

_numbers: dict[str, int] = {}  # so that a cell run again keeps the number of its claim


class ClaimError(AssertionError):
    """A claim of the book that turned out false."""


def claim(
    text: str,
    ok: object,
    measured: object = None,
    asked: str | None = None,
    setting: object = None,
) -> None:
    """State a sentence and whether it holds; a false one stops the page.

    Args:
        text: The sentence, as the book says it. Code stands between backticks.
        ok: True or False: a bool, or an array or tensor holding one bool.
        measured: What was measured, to show beside it. A float is shown with three decimals.
        asked: What ``ok`` asked of it, in a few words, shown as "required": ``"under 0.4"``.
        setting: What was trained, or what an experiment returned: it carries the setting, which is shown. A
            claim about a training has one. If that was not trained just now, it says where it was, and
            whether a stored model was measured just now or a stored run was read.

    Raises:
        ClaimError: If the claim is false, with its text.
        TypeError: If ``ok`` is not a single bool: a number that happens to be true proves nothing; or if
            what should carry a setting carries none.
        ValueError: If ``asked`` is given without ``measured``.
    """
    if asked is not None and measured is None:
        raise ValueError(f"asked needs a number beside it, got asked={asked!r} without measured; pass both")
    holds = _one_bool(ok)
    number = _numbers.setdefault(text, len(_numbers) + 1)
    numbers = _measured_and_asked(measured, asked)
    made = None if setting is None else setting_of(setting)
    if not holds:
        raise ClaimError(f"claim {number} is false: {plain(text)}" + (f" ({numbers})" if numbers else ""))
    shown = [("measured", numbers)] if numbers else []
    shown += [("stored", _stored(setting))] if made is not None and made.stored else []
    shown += [("setting", f"setting: {made}")] if made is not None else []
    rest = "".join(f' <span class="pa-{kind}">{inline(words)}</span>' for kind, words in shown)
    said = "".join(f"  {plain(words)}" for _, words in shown)
    show(
        line("good", "✓", f"Claim {number}.", inline(text), id=f"claim-{number}", rest=rest),
        f"✓ Claim {number}. {plain(text)}{said}",
    )


def _stored(setting: object) -> str:
    """Say what was not made just now: a model, which is measured here, or the measurement too."""
    results = setting if isinstance(setting, (list, tuple)) else [setting]
    models = all(isinstance(result, torch.nn.Module) for result in results)
    return "with a stored model" if models else "in a stored run"


def _measured_and_asked(measured: object, asked: str | None) -> str:
    """Return "measured: 0.278; required: under 0.4", or as much of it as is known."""
    value = [] if measured is None else [f"measured: {_number(measured)}"]
    return "; ".join(value + ([f"required: {asked}"] if asked else []))


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
