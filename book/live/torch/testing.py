"""Comparing with a sentence."""

from __future__ import annotations

import math
from typing import Any

from torch import creation, dtypes, elementwise
from torch.tensor import Tensor, flat

LIMITS = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
}


def assert_close(
    actual: Any, expected: Any, *, rtol: float | None = None, atol: float | None = None, equal_nan: bool = False,
    check_dtype: bool = True, msg: Any = None, **rest: Any,
) -> None:  # fmt: skip
    """Raise unless two are close.

    Raises:
        AssertionError: If they are not.
    """
    one, two = (x if isinstance(x, Tensor) else creation.tensor(x) for x in (actual, expected))
    if one.shape != two.shape:
        raise AssertionError(f"The values for attribute 'shape' do not match: {one.shape} != {two.shape}.")
    if check_dtype and one.dtype is not two.dtype:
        raise AssertionError(f"The values for attribute 'dtype' do not match: {one.dtype} != {two.dtype}.")
    kind = dtypes.promote_types(one.dtype, two.dtype)
    relative, absolute = LIMITS.get(kind.name, (0.0, 0.0))
    rtol, atol = relative if rtol is None else rtol, absolute if atol is None else atol
    one, two = (elementwise.to_dtype(x, kind) for x in (one, two))
    near = flat(elementwise.isclose(one, two, rtol, atol, equal_nan))
    if all(near):
        return
    if msg is not None:
        raise AssertionError(msg(None) if callable(msg) else msg)
    total, wrong = len(near), near.count(False)
    off = flat(
        elementwise.abs_(
            elementwise.sub(
                elementwise.to_dtype(one, dtypes.float64), elementwise.to_dtype(two, dtypes.float64)
            )
        )
    )
    largest = max((x for x in off if x == x), default=math.nan)
    raise AssertionError(
        f"Tensor-likes are not close!\n\nMismatched elements: {wrong} / {total} ({100 * wrong / total:.1f}%)\n"
        f"Greatest absolute difference: {largest} (up to {atol} allowed)"
    )
