"""The tensor: a view of a storage. Its operations are added by the modules that hold them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from torch import dispatch, dtypes, missing, storage
from torch.dtypes import dtype
from torch.storage import Size, Storage


class device:  # noqa: N801 - PyTorch's name
    """Where a tensor lies: the CPU."""

    __slots__ = ("index", "type")

    def __init__(self, type: object = "cpu", index: int | None = None) -> None:
        name = type.type if isinstance(type, device) else str(type)
        if name.split(":")[0] != "cpu":
            missing.refuse(f"torch.device('{name}')")
        self.type, self.index = "cpu", index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device)

    def __hash__(self) -> int:
        return hash("cpu")

    def __str__(self) -> str:
        return self.type

    def __repr__(self) -> str:
        return f"device(type='{self.type}')"


CPU = device()


class Tensor:
    """Numbers of one dtype in a box of some shape."""

    __slots__ = (
        "__dict__", "__weakref__", "_contiguous", "_offset", "_shape", "_storage", "_strides", "dtype",
    )  # fmt: skip
    _says: ClassVar[set[str]] = set()  # what PyTorch's has and this one lacks
    requires_grad = False
    grad = None
    grad_fn = None
    is_leaf = True
    is_meta = is_cuda = is_nested = is_sparse = is_quantized = is_mps = False
    names_ = None
    device = CPU
    layout = "torch.strided"
    _version = 0
    __array_priority__ = 1000

    def __new__(cls, *data: Any) -> Tensor:
        """Make a float32 tensor as ``torch.Tensor(...)`` does."""
        from torch import creation

        if not data:
            data = ([],)
        if all(isinstance(n, int) for n in data) or isinstance(data[0], Size):
            missing.refuse("torch.Tensor(sizes)", ", since what it holds is left to chance")
        return creation.tensor(data[0], dtype=dtypes.float32)

    @property
    def shape(self) -> Size:
        """The sizes of the axes."""
        return self._shape

    @property
    def ndim(self) -> int:
        """How many axes there are."""
        return len(self._shape)

    @property
    def itemsize(self) -> int:
        """Bytes of one number in PyTorch."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all numbers in PyTorch."""
        return self.dtype.itemsize * math.prod(self._shape)

    @property
    def data(self) -> Tensor:
        """The tensor itself: there is no graph here."""
        return view(self, self._shape, self._strides, self._offset)

    @data.setter
    def data(self, other: Tensor) -> None:
        for name in ("_contiguous", "_offset", "_shape", "_storage", "_strides", "dtype"):
            setattr(self, name, getattr(other, name))

    def size(self, dim: int | None = None) -> Size | int:
        """Return the shape, or the size of one axis."""
        return self._shape if dim is None else self._shape[one_axis(dim, self.ndim)]

    def dim(self) -> int:
        """Return how many axes there are."""
        return len(self._shape)

    ndimension = dim

    def numel(self) -> int:
        """Return how many numbers there are."""
        return math.prod(self._shape)

    nelement = numel

    def stride(self, dim: int | None = None) -> tuple[int, ...] | int:
        """Return how far the elements of each axis lie apart."""
        return self._strides if dim is None else self._strides[one_axis(dim, self.ndim)]

    def storage_offset(self) -> int:
        """Return where the first element lies."""
        return self._offset

    def untyped_storage(self) -> Storage:
        """Return the memory."""
        return self._storage

    def data_ptr(self) -> int:
        """Return what no tensor of other memory has."""
        return self._storage.address * 2**32 + self._offset * self.dtype.itemsize

    def element_size(self) -> int:
        """Return the bytes of one number in PyTorch."""
        return self.dtype.itemsize

    def is_contiguous(self) -> bool:
        """Tell whether the elements lie one after the other."""
        return self._contiguous

    def is_floating_point(self) -> bool:
        """Tell whether the numbers are real ones."""
        return self.dtype.kind == "f"

    def is_complex(self) -> bool:
        """Tell whether the numbers are complex ones."""
        return self.dtype.kind == "c"

    def is_inference(self) -> bool:
        """Tell that it can be changed."""
        return False

    def get_device(self) -> int:
        """Return -1, as PyTorch does for the CPU."""
        return -1

    def item(self) -> Any:
        """Return the one number."""
        if self.numel() != 1:
            raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
        return self._storage.data[self._offset]

    def tolist(self) -> Any:
        """Return nested lists of Python's own numbers."""
        xs = flat(self)
        if not self._shape:
            return xs[0]
        for n in reversed(self._shape[1:]):
            if n == 0:
                return _empty_lists(self._shape)
            xs = [xs[i : i + n] for i in range(0, len(xs), n)]
        return list(xs)

    def __bool__(self) -> bool:
        if self.numel() != 1:
            raise RuntimeError(
                "Boolean value of Tensor with no values is ambiguous"
                if not self.numel()
                else "Boolean value of Tensor with more than one value is ambiguous"
            )
        return bool(self._storage.data[self._offset])

    def _one(self) -> Any:
        if self.numel() != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return self.item()

    def __float__(self) -> float:
        return float(self._one())

    def __int__(self) -> int:
        return int(self._one())

    def __complex__(self) -> complex:
        return complex(self._one())

    def __index__(self) -> int:
        if self.dtype.kind not in "bi" or self.numel() != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.item())

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("len() of a 0-d tensor")
        return self._shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        if not self._shape:
            raise TypeError("iteration over a 0-d tensor")
        return iter(dispatch.METHODS["unbind"](self, 0))

    def __hash__(self) -> int:
        return id(self)

    def __contains__(self, one: object) -> bool:
        from torch import elementwise

        return any(flat(elementwise.eq(self, one)))

    def __format__(self, spec: str) -> str:
        return (
            self.item().__format__(spec)
            if not self._shape and type(self) is Tensor
            else object.__format__(self, spec)
        )

    def __repr__(self) -> str:
        from torch import printing

        return printing.text_of(self)

    def __round__(self, digits: int | None = None) -> Tensor:
        return dispatch.METHODS["round"](self, decimals=digits or 0)

    def __deepcopy__(self, memo: dict) -> Tensor:
        copy = new(list(flat(self)), self._shape, self.dtype, type(self))
        copy.__dict__.update(self.__dict__)
        return copy

    def __reduce_ex__(self, protocol: object) -> object:
        return _again, (flat(self), tuple(self._shape), self.dtype.name)

    def __array__(self, *args: object, **kwargs: object) -> object:
        import numpy

        return numpy.array(self.tolist(), dtype=self.dtype.name).reshape(tuple(self._shape))

    def numpy(self, *, force: bool = False) -> object:
        """Return NumPy's array where there is NumPy: a copy that cannot be changed, as it shares no memory."""
        try:
            made = self.__array__()
        except ImportError:
            missing.refuse("Tensor.numpy")
        made.flags.writeable = False
        return made

    def __getattr__(self, name: str) -> Any:
        if name in Tensor._says:
            missing.refuse(f"Tensor.{name}")
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


def _again(xs: list, shape: tuple, name: str) -> Tensor:
    return new(list(xs), shape, next(one for one in dtypes.ALL if one.name == name))


def _empty_lists(shape: Sequence[int]) -> list:
    return [_empty_lists(shape[1:]) for _ in range(shape[0])] if len(shape) > 1 else []


def new(data: list, shape: Sequence[int], dtype: dtype, kind: type = Tensor) -> Tensor:
    """Return a tensor with memory of its own; the list is kept, and must hold what the dtype holds."""
    made = object.__new__(kind)
    shape = tuple(shape)
    made._storage, made._shape, made.dtype = Storage(data, dtype), Size(shape), dtype
    made._strides, made._offset, made._contiguous = storage.row_major(shape), 0, True
    return made


def view(x: Tensor, shape: Sequence[int], strides: Sequence[int], offset: int) -> Tensor:
    """Return a tensor that shows memory of another."""
    made = object.__new__(Tensor)
    shape, strides = tuple(shape), tuple(strides)
    made._storage, made._shape, made.dtype = x._storage, Size(shape), x.dtype
    made._strides, made._offset, made._contiguous = strides, offset, storage.in_order(shape, strides)
    return made


def flat(x: Tensor) -> list:
    """Return the numbers in order. It may be the memory itself: do not change it."""
    data = x._storage.data
    if x._contiguous:
        n = math.prod(x._shape)
        return data if n == len(data) else data[x._offset : x._offset + n]
    return list(map(data.__getitem__, storage.offsets(x._shape, x._strides, x._offset)))


def spread(x: Tensor, shape: Size) -> list:
    """Return the numbers in order as a larger shape has them."""
    if x._shape == shape:
        return flat(x)
    n = math.prod(shape)
    if x.numel() == 1:
        return [x._storage.data[x._offset]] * n
    if x._contiguous and x._shape == shape[len(shape) - len(x._shape) :]:
        xs = flat(x)
        return xs * (n // len(xs)) if xs else []
    return storage.gather(
        x._storage.data, shape, storage.broadcast_strides(x._shape, x._strides, shape), x._offset
    )


def write(x: Tensor, xs: list) -> None:
    """Put numbers into a tensor's memory, in order."""
    data = x._storage.data
    if x._contiguous:
        data[x._offset : x._offset + len(xs)] = xs
        return
    for place, one in zip(storage.offsets(x._shape, x._strides, x._offset), xs, strict=True):
        data[place] = one


def one_axis(dim: Any, axes: int) -> int:
    """Return an axis counted from the front.

    Raises:
        IndexError: If there is none such, in PyTorch's words.
    """
    least = max(axes, 1)
    dim = dim if type(dim) is int else dim.__index__()
    if not -least <= dim < least:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-least}, {least - 1}], but got {dim})"
        )
    return dim % least


def some_axes(dim: Any, axes: int) -> list[int]:
    """Return axes counted from the front; all for None and for none at all."""
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        return list(range(axes))
    if not isinstance(dim, (tuple, list)):
        axis = one_axis(dim, axes)
        return [axis] if axes else []
    found = [one_axis(one, axes) for one in dim]
    for one in found:
        if found.count(one) > 1:
            raise RuntimeError(f"dim {one} appears multiple times in the list of dims")
    return found if axes else []


def same_numbers(x: Tensor, function: Callable[[list], list], dtype: dtype | None = None) -> Tensor:
    """Return a tensor of the same shape whose numbers a function of the list makes."""
    return new(function(flat(x)), x._shape, dtype or x.dtype)
