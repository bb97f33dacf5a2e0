"""PyTorch's counter of operations, which does not run on the page."""

from __future__ import annotations

from typing import Any

from torch import missing


class FlopCounterMode:
    """Says so when one is made."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        missing.refuse("torch.utils.flop_counter.FlopCounterMode")
