"""Keys and values kept from one decoding step to the next. Chapter 6 of the book explains why."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor

from attnlib._check import plain, require_tensor, require_whole, shape


class KVCache:
    """Room for the keys and values of a sequence that grows; filled in place by `append`.

    No gradient flows through what was kept: a cache is for generating, not for training. ``len(cache)`` is
    how many positions are kept, so that an empty one is false, as a list is.

    With ``keep_first`` it is a rolling window: what does not fit pushes out the oldest positions but those
    first ones, to which models attend whatever the text is (attention sinks, Xiao et al., 2024). A step then
    attends to ``keep_first`` positions and the last ``max_length - keep_first``, its own included, and copies
    the window once. Keys keep the positions they were turned by.

    Args:
        batch_size: Sequences B; none are fine, too.
        num_kv_heads: Key and value heads Hkv.
        max_length: How many positions there is room for.
        head_dim: Width D of a head.
        keep_first: How many of the first positions stay when there is no room for more, fewer than
            ``max_length``; if not given, an error says that the cache is full.
        dtype: Of the keys and values.
        device: Where to keep them.

    Raises:
        TypeError: If a size is not an int, or the dtype not floating.
        ValueError: If a size is too small, or ``keep_first`` too large.
    """

    def __init__(
        self,
        batch_size: int,
        num_kv_heads: int,
        max_length: int,
        head_dim: int,
        *,
        keep_first: int | None = None,
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
        if keep_first is not None:
            require_whole("keep_first", keep_first, 0)
            if keep_first >= max_length:
                raise ValueError(
                    f"keep_first must be below max_length = {max_length}, got {keep_first}: "
                    f"there is no room for what is new"
                )
        _require_floating(dtype)
        with _ordinary_tensors():
            self._k = torch.zeros(*sizes.values(), dtype=dtype, device=device)  # (B, Hkv, max_length, D)
            self._v = torch.zeros_like(self._k)
        self._length = 0
        self._next_position = 0
        self._keep_first = None if keep_first is None else plain(keep_first)

    def __len__(self) -> int:
        return self._length

    @property
    def length(self) -> int:
        """How many positions are kept."""
        return self._length

    @property
    def next_position(self) -> int:
        """Of what is appended next: how many came before, kept or rolled out."""
        return self._next_position

    @property
    def keep_first(self) -> int | None:
        """How many of the first positions stay when the window rolls; None if it does not."""
        return self._keep_first

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
            Keys and values ``(B, Hkv, length, D)``, as views of what is kept. Several positions that make a
            window roll get all that any of them attends to, ``(B, Hkv, length_with(T), D)``, and
            `window_mask` says which.

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
        if end > room and self._keep_first is not None:
            return self._roll(k, v, self._keep_first)
        if end > room:
            raise ValueError(
                f"the cache has room for {room} positions, got {k.shape[2]} more after {self._length}; "
                f"make it with a larger max_length, or with keep_first to let it roll, or reset it"
            )
        self._k[:, :, self._length : end] = k.detach()
        self._v[:, :, self._length : end] = v.detach()
        self._length = end
        self._next_position += k.shape[2]
        return self._k[:, :, :end], self._v[:, :, :end]

    @property
    def has_gap(self) -> bool:
        """Whether positions between the first and the last that are kept have rolled out."""
        return self._next_position > self._length

    def length_with(self, T: int) -> int:
        """Return how many keys `append` returns for ``T`` new positions, the S of their scores."""
        end, room = self._length + T, self.max_length
        if self._keep_first is None or end <= room:
            return end
        return end - 1 if self._length == room else end  # the first of them pushes one out

    def positions_with(self, T: int) -> Tensor:
        """Return the positions ``(length_with(T),)`` of the keys that `append` returns for ``T`` new ones."""
        S, end = self.length_with(T), self._next_position + T
        positions = torch.arange(end - S, end, device=self.device)
        if self._keep_first and end > S:
            positions = torch.cat(
                [torch.arange(self._keep_first, device=self.device), positions[self._keep_first :]]
            )
        return positions

    def window_mask(self, T: int) -> Tensor | None:
        """Return which keys each of ``T`` new positions attends to when they make the window roll.

        Args:
            T: How many positions are appended next.

        Returns:
            Boolean ``(T, length_with(T))``, True = inside the window of this position or among the first, or
            None where that is all that came before.
        """
        if self._keep_first is None or T == 1 or self._length + T <= self.max_length:
            return None
        keys = self.positions_with(T)
        queries = torch.arange(self._next_position, self._next_position + T, device=self.device)[:, None]
        return (keys < self._keep_first) | (queries - keys < self.max_length - self._keep_first)  # (T, S)

    def crop(self, length: int) -> None:
        """Forget all but the first positions that are kept: drafted tokens that were not taken, say.

        What a window has rolled out does not come back.

        Args:
            length: How many stay.

        Raises:
            TypeError: If it is not an int.
            ValueError: If it is negative, or more than there are.
        """
        require_whole("length", length, 0)
        if length > self._length:
            raise ValueError(f"length must be at most what is kept, {self._length}, got {length}")
        length = plain(length)
        if self._keep_first is not None and length <= self._keep_first:
            self._next_position = length
        else:
            self._next_position -= self._length - length
        self._length = length

    def reorder(self, index: Tensor) -> None:
        """Take other sequences of the batch, as a beam search does; one may be taken several times or never.

        Args:
            index: Which, whole numbers ``(B',)``; the batch is as large as there are.

        Raises:
            TypeError: If they are not whole numbers.
            ValueError: If they are not ``(B',)``, on another device, or not in the batch.
        """
        require_tensor("index", index)
        if index.is_floating_point() or index.is_complex() or index.dtype == torch.bool:
            raise TypeError(f"index must be whole numbers, got {index.dtype}")
        if index.ndim != 1:
            raise ValueError(
                f"index must be (B',), one sequence for each of the new batch, got {shape(index)}"
            )
        if index.device != self.device:
            raise ValueError(f"index must be on the cache's device {self.device}, got {index.device}")
        with _ordinary_tensors():
            try:
                self._k, self._v = (x.index_select(0, index.long()) for x in (self._k, self._v))
            except (IndexError, RuntimeError):  # the kernel for CPUs looks at each; a GPU stops by itself
                low, high = (int(i) for i in index.aminmax())
                last = self.shape[0] - 1
                raise ValueError(f"index must lie between 0 and {last}, got {low} to {high}") from None

    def to(
        self, device: torch.device | torch.dtype | str | None = None, dtype: torch.dtype | None = None
    ) -> KVCache:
        """Move what is kept to another device, or round it to another dtype, in place, as a module does.

        Args:
            device: Where to keep it; where it is if not given. A dtype alone may stand here.
            dtype: Of the keys and values; the same if not given.

        Returns:
            The cache itself.

        Raises:
            TypeError: If the dtype is not floating, or given twice.
        """
        if isinstance(device, torch.dtype):
            if dtype is not None:
                raise TypeError(f"to takes a device and a dtype, got the dtypes {device} and {dtype}")
            device, dtype = None, device
        _require_floating(dtype)
        with _ordinary_tensors():
            self._k, self._v = (x.to(device=device, dtype=dtype) for x in (self._k, self._v))
        return self

    def reset(self) -> None:
        """Forget everything, and keep the room."""
        self._length = self._next_position = 0

    def _roll(self, k: Tensor, v: Tensor, first: int) -> tuple[Tensor, Tensor]:
        """Append more than there is room for: the oldest go, but for the first."""
        n, T, room = self._length, k.shape[2], self.max_length
        S = self.length_with(T)
        both = []
        for kept, new in ((self._k, k.detach()), (self._v, v.detach())):
            if T == 1:  # the window moves by one, and is all that is seen
                kept[:, :, first:-1] = kept[:, :, first + 1 :].clone()
                kept[:, :, -1:] = new
                both.append(kept)
                continue
            everything = torch.cat([kept[:, :, :n], new], 2)  # (B, Hkv, n + T, D)
            head, tail = everything[:, :, :first], everything[:, :, first + n + T - S :]
            seen = torch.cat([head, tail], 2) if n + T > S else everything  # (B, Hkv, S, D)
            kept[:, :, :first] = head
            kept[:, :, first:] = seen[:, :, S - (room - first) :]
            both.append(seen)
        self._length = room
        self._next_position += T
        return both[0], both[1]

    def __repr__(self) -> str:
        rolls = "" if self._keep_first is None else f", keep_first={self._keep_first}"
        return f"KVCache({shape(self._k)}, length={self._length}{rolls})"


def _require_floating(dtype: torch.dtype | None) -> None:
    if dtype is not None and not dtype.is_floating_point:
        raise TypeError(f"dtype must be floating, as keys and values are, got {dtype}")


def _ordinary_tensors() -> AbstractContextManager[object]:
    """Leave inference mode, whose tensors nobody may write to once it has ended."""
    return torch.inference_mode(False) if torch.is_inference_mode_enabled() else nullcontext()
