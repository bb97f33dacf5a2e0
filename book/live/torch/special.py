"""A few functions of ``torch.special``."""

from __future__ import annotations

import math
from typing import Any

from torch import elementwise, missing, reductions
from torch.dispatch import FUNCTIONS, watched
from torch.tensor import Tensor, flat, new


def _entr(input: Tensor) -> Tensor:
    def one(x: float) -> float:
        return -x * math.log(x) if x > 0 else 0.0 if x == 0 else -math.inf if x < 0 else x

    return new(input.dtype.settle(list(map(one, flat(input)))), input.shape, input.dtype)


entr = watched(_entr, "special_entr")
softmax = watched(lambda input, dim, dtype=None: reductions.softmax(input, dim, dtype), "special_softmax")
log_softmax = watched(
    lambda input, dim, dtype=None: reductions.log_softmax(input, dim, dtype), "special_log_softmax"
)
expit = FUNCTIONS["sigmoid"]
logsumexp, exp2, expm1, log1p, erf, erfc = (
    FUNCTIONS[name] for name in ("logsumexp", "exp2", "expm1", "log1p", "erf", "erfc")
)
round = watched(elementwise.round_, "special_round")


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    missing.refuse(f"torch.special.{name}")
