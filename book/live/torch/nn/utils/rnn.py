"""Sequences of different lengths: padding them; packing does not run on the page."""

from __future__ import annotations

from typing import Any

from torch import creation, elementwise, missing, shaping
from torch.tensor import Tensor


def pad_sequence(
    sequences: list[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Put sequences into one tensor."""
    longest = max(len(x) for x in sequences)
    first = sequences[0]
    found = creation.full((len(sequences), longest, *first.shape[1:]), padding_value, dtype=first.dtype)
    for n, x in enumerate(sequences):
        start = longest - len(x) if padding_side == "left" else 0
        elementwise.assign(shaping.narrow(shaping.select(found, 0, n), 0, start, len(x)), x)
    return found if batch_first else shaping.contiguous(shaping.transpose(found, 0, 1))


def _absent(name: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> None:
        missing.refuse(f"torch.nn.utils.rnn.{name}")

    return refuse


pack_padded_sequence, pad_packed_sequence = _absent("pack_padded_sequence"), _absent("pad_packed_sequence")
pack_sequence = _absent("pack_sequence")
