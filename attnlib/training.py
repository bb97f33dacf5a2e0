"""What training loops share."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")


def track(items: Iterable[T], label: str = "training") -> Iterable[T]:
    """Go through ``items`` with a progress bar that is gone when it is done.

    There is no bar if tqdm is not installed, or if ``ATTNLIB_PROGRESS`` is 0, as it is whenever outputs
    are stored or compared.

    Args:
        items: What to go through.
        label: What to write beside the bar.

    Returns:
        The same items.
    """
    if os.environ.get("ATTNLIB_PROGRESS") == "0":
        return items
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return items
    return tqdm(items, desc=label, leave=False)
