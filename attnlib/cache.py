"""Keys and values kept from one decoding step to the next. Chapter 6 of the book explains why."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor

from attnlib._check import require_tensor, require_whole, shape


class KVCache:
    """Room for the keys and values of a sequence that grows; filled in place by `append`.

    No gradient flows through what was kept: a cache is for generating, not for training.

    Args:
        batch_size: Sequences B; none are fine, too.
        num_kv_heads: Key and value heads Hkv.
        max_length: How many positions there is room for.
        head_dim: Width D of a head.
        dtype: Of the keys and values.
        device: Where to keep them.

    Raises:
        TypeError: If a size is not an int.
        ValueError: If a size is too small.
    """

    def __init__(
        self,
        batch_size: int,
        num_kv_heads: int,
        max_length: int,
        head_dim: int,
        *,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        sizes = {
            "batch_size": batch_size,
            "num_kv_heads": num_kv_heads,
            "max_length": max_length,
            "head_dim": head_dim,
        }
        for name, size in sizes.items():
            require_whole(name, size, 0 if name == "batch_size" else 1)
        with _ordinary_tensors():
            self._k = torch.zeros(*sizes.values(), dtype=dtype, device=device)  # (B, Hkv, max_length, D)
            self._v = torch.zeros_like(self._k)
        self._length = 0

    @property
    def length(self) -> int:
        """How many positions are kept."""
        return self._length

    @property
    def max_length(self) -> int:
        """How many positions there is room for."""
        return self._k.shape[2]

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the room for keys, which is that for values: ``(B, Hkv, max_length, D)``."""
        return shape(self._k)

    @property
    def dtype(self) -> torch.dtype:
        """Of the keys and values."""
        return self._k.dtype

    @property
    def device(self) -> torch.device:
        """Where they are kept."""
        return self._k.device

    @property
    def nbytes(self) -> int:
        """How many bytes the room for keys and values takes, filled or not."""
        return self._k.nbytes + self._v.nbytes

    def append(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Keep the keys and values of new positions and return all that are kept.

        Args:
            k: ``(B, Hkv, T, D)``.
            v: ``(B, Hkv, T, D)``.

        Returns:
            Keys and values ``(B, Hkv, length, D)``, as views of what is kept.

        Raises:
            TypeError: If the dtype is not the cache's.
            ValueError: If the shape does not fit, the device is another, or there is no room for T more.
        """
        B, Hkv, room, D = self._k.shape
        for name, x in (("k", k), ("v", v)):
            require_tensor(name, x)
            if x.ndim != 4 or (x.shape[0], x.shape[1], x.shape[3]) != (B, Hkv, D):
                raise ValueError(f"{name} must be (B, Hkv, T, D) = ({B}, {Hkv}, T, {D}), got {shape(x)}")
            if x.dtype != self.dtype:
                raise TypeError(
                    f"{name} must have the cache's dtype {self.dtype}, got {x.dtype}; "
                    f"make the cache where it is used, with the same dtype and the same autocast"
                )
            if x.device != self.device:
                raise ValueError(
                    f"{name} must be on the cache's device {self.device}, got {x.device}; "
                    f"make the cache after the layer was moved"
                )
        if shape(k) != shape(v):
            raise ValueError(f"k and v must have the same shape, got k {shape(k)} and v {shape(v)}")
        end = self._length + k.shape[2]
        if end > room:
            raise ValueError(
                f"the cache has room for {room} positions, got {k.shape[2]} more after {self._length}; "
                f"make it with a larger max_length, or reset it"
            )
        self._k[:, :, self._length : end] = k.detach()
        self._v[:, :, self._length : end] = v.detach()
        self._length = end
        return self._k[:, :, :end], self._v[:, :, :end]

    def reset(self) -> None:
        """Forget everything, and keep the room."""
        self._length = 0

    def __repr__(self) -> str:
        return f"KVCache({shape(self._k)}, length={self._length})"


def _ordinary_tensors() -> AbstractContextManager[object]:
    """Leave inference mode, whose tensors nobody may write to once it has ended."""
    return torch.inference_mode(False) if torch.is_inference_mode_enabled() else nullcontext()
