"""Where the numbers lie: flat lists, and how shape, strides and offset find an element in one.

NumPy could take the place of the lists here; everything else asks this module.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Sequence

from torch.dtypes import dtype

_addresses = itertools.count(1)


class Storage:
    """One piece of memory, which several tensors may show; its address is never used again."""

    __slots__ = ("__weakref__", "address", "data", "dtype")

    def __init__(self, data: list, dtype: dtype) -> None:
        self.data, self.dtype, self.address = data, dtype, next(_addresses)

    @property
    def _cdata(self) -> int:
        return self.address

    def data_ptr(self) -> int:
        """Return what no other piece of memory has."""
        return self.address

    def nbytes(self) -> int:
        """Return the bytes that PyTorch would take."""
        return len(self.data) * self.dtype.itemsize

    def size(self) -> int:
        """Return the bytes that PyTorch would take."""
        return self.nbytes()


class Size(tuple):
    """A shape."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    def __getitem__(self, index):
        found = tuple.__getitem__(self, index)
        return Size(found) if type(index) is slice else found

    def __add__(self, other):
        return Size(tuple.__add__(self, tuple(other))) if isinstance(other, tuple) else NotImplemented

    def numel(self) -> int:
        """Return how many numbers a tensor of this shape holds."""
        return math.prod(self)


@functools.lru_cache(4096)
def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides of a contiguous tensor."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


@functools.lru_cache(4096)
def in_order(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Tell whether the elements lie one after the other."""
    step = 1
    for n, stride in zip(reversed(shape), reversed(strides), strict=True):
        if n == 0:
            return True
        if n != 1:
            if stride != step:
                return False
            step *= n
    return True


def offsets(shape: Sequence[int], strides: Sequence[int], offset: int = 0) -> list[int]:
    """Return where each element lies, in the order of the elements."""
    if math.prod(shape) <= 4096:
        return _few_offsets(tuple(shape), tuple(strides), offset)
    return _offsets(shape, strides, offset)


def _offsets(shape: Sequence[int], strides: Sequence[int], offset: int) -> list[int]:
    places = [offset]
    for n, stride in zip(shape, strides, strict=True):
        if n != 1:
            steps = [i * stride for i in range(n)]
            places = [i + j for i in places for j in steps]
    return places


_few_offsets = functools.lru_cache(1024)(_offsets)


def gather(data: list, shape: Sequence[int], strides: Sequence[int], offset: int) -> list:
    """Return the elements that a view shows, as a list of their own or the data itself."""
    shape, strides = tuple(shape), tuple(strides)
    if in_order(shape, strides):
        n = math.prod(shape)
        return data if n == len(data) and not offset else data[offset : offset + n]
    return list(map(data.__getitem__, offsets(shape, strides, offset)))


def broadcast_strides(shape: Sequence[int], strides: Sequence[int], target: Sequence[int]) -> tuple[int, ...]:
    """Return strides with which a tensor is read as the larger shape to which it broadcasts."""
    more = len(target) - len(shape)
    return (0,) * more + tuple(0 if n == 1 else stride for n, stride in zip(shape, strides, strict=True))


def broadcast_two(a: tuple[int, ...], b: tuple[int, ...]) -> Size:
    """Return the shape of two tensors that meet.

    Raises:
        RuntimeError: If they do not fit, in PyTorch's words.
    """
    if a == b:
        return Size(a)
    axes = max(len(a), len(b))
    left, right = (1,) * (axes - len(a)) + tuple(a), (1,) * (axes - len(b)) + tuple(b)
    shape = []
    for axis in range(axes - 1, -1, -1):
        n, m = left[axis], right[axis]
        if n != m and n != 1 and m != 1:
            raise RuntimeError(
                f"The size of tensor a ({n}) must match the size of tensor b ({m}) "
                f"at non-singleton dimension {axis}"
            )
        shape.append(m if n == 1 else n)
    return Size(reversed(shape))


def broadcast_shapes(*shapes: Iterable[int]) -> Size:
    """Return the shape of tensors that meet.

    Raises:
        RuntimeError: If they do not fit.
    """
    whole: list[int] = []
    for shape in shapes:
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        whole = [1] * (len(shape) - len(whole)) + whole
        for axis in range(-1, -len(shape) - 1, -1):
            n = shape[axis]
            if n < 0:
                raise RuntimeError(f"Trying to create tensor with negative dimension ({n}): ({n})")
            if n == 1 or n == whole[axis]:
                continue
            if whole[axis] != 1:
                raise RuntimeError(
                    "Shape mismatch: objects cannot be broadcast to a single shape"
                    if len(shapes) < 2
                    else f"The size of tensor a ({whole[axis]}) must match the size of tensor b ({n}) "
                    f"at non-singleton dimension {len(whole) + axis}"
                )
            whole[axis] = n
    return Size(whole)
