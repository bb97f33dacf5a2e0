"""Reading and writing parts: ``x[...]``, and the operations that pick by numbers."""

from __future__ import annotations

import math
from typing import Any

from torch import creation, dtypes, elementwise, missing, shaping, storage
from torch.dispatch import operation
from torch.dtypes import bool_, cast, int64
from torch.storage import Size
from torch.tensor import Tensor, flat, new, one_axis, spread, view

WRONG_INDEX = "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got {})"


def _index_tensor(one: Any) -> Tensor:
    """Return a list or an array of indices as a tensor."""
    if isinstance(one, Tensor):
        return one
    made = creation.tensor(one)
    return elementwise.to_dtype(made, int64) if not made.numel() and made.dtype.kind == "f" else made


def _is_array(one: Any) -> bool:
    return isinstance(one, (list, tuple, range)) or (
        hasattr(one, "dtype") and hasattr(one, "tolist") and not isinstance(one, Tensor)
    )


def parts_of(index: Any) -> list:
    """Return an index as a list of its parts; a list of slices and the like counts as a tuple."""
    if isinstance(index, tuple):
        return list(index)
    if (
        isinstance(index, list)
        and len(index) < 32
        and any(
            one is None or one is Ellipsis or isinstance(one, (slice, list, tuple, Tensor)) for one in index
        )
    ):
        return list(index)
    return [index]


def resolve(x: Tensor, index: Any) -> tuple[Tensor, list[Tensor | None]]:
    """Return a view after the plain parts of an index, and a tensor of indices for each axis or None."""
    parts = parts_of(index)
    used = 0
    for one in parts:
        if one is None or one is Ellipsis or isinstance(one, bool):
            continue
        if isinstance(one, Tensor) and one.dtype in (bool_, dtypes.uint8):
            used += one.ndim
        elif _is_array(one):
            made = _index_tensor(one)
            used += made.ndim if made.dtype is bool_ else 1
        else:
            used += 1
    if used > x.ndim:
        if not x.ndim and isinstance(index, slice):
            _step(index)
            raise IndexError("slice() cannot be applied to a 0-dim tensor.")
        raise IndexError(f"too many indices for tensor of dimension {x.ndim}")
    shape, strides, offset = [], [], x._offset
    arrays: list[Tensor | None] = []
    axis = 0
    seen_rest = False
    for one in parts:
        if one is Ellipsis:
            if seen_rest:
                one = slice(None)
            else:
                seen_rest = True
                for _ in range(x.ndim - used):
                    shape.append(x._shape[axis])
                    strides.append(x._strides[axis])
                    arrays.append(None)
                    axis += 1
                continue
        if one is None:
            shape.append(1)
            strides.append(0)
            arrays.append(None)
        elif isinstance(one, bool):
            shape.append(1)
            strides.append(0)
            arrays.append(new([0] if one else [], (int(one),), int64))
        elif isinstance(one, slice):
            step = _step(one)
            n = x._shape[axis]
            start, stop, _ = slice(_bound(one.start), _bound(one.stop), step).indices(n)
            shape.append(max(-((start - stop) // step), 0))
            strides.append(x._strides[axis] * step)
            offset += start * x._strides[axis] if shape[-1] else 0
            arrays.append(None)
            axis += 1
        elif (isinstance(one, Tensor) and (one.ndim or one.dtype is bool_)) or _is_array(one):
            made = _index_tensor(one)
            if made.dtype is bool_:
                for m in range(made.ndim):
                    if made._shape[m] != x._shape[axis + m]:
                        raise IndexError(
                            f"The shape of the mask {list(made._shape)} at index {m} does not match the shape of "
                            f"the indexed tensor {list(x._shape)} at index {axis + m}"
                        )
                if not made.ndim:
                    shape.append(1)
                    strides.append(0)
                    arrays.append(new([0] if made.item() else [], (int(made.item()),), int64))
                    continue
                found = nonzero(made, as_tuple=True)
            elif made.dtype.kind != "i":
                raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
            else:
                found = (made,)
            for each in found:
                shape.append(x._shape[axis])
                strides.append(x._strides[axis])
                arrays.append(each)
                axis += 1
        else:
            if isinstance(one, str):
                raise TypeError("new(): invalid data type 'str'")
            if not hasattr(one, "__index__"):
                raise IndexError(WRONG_INDEX.format(type(one).__name__))
            i, n = one.__index__(), x._shape[axis]
            if not -n <= i < n:
                raise IndexError(f"index {i} is out of bounds for dimension {axis} with size {n}")
            offset += i % n * x._strides[axis]
            axis += 1
    shape += x._shape[axis:]
    strides += x._strides[axis:]
    arrays += [None] * (x.ndim - axis)
    return view(x, shape, strides, offset), arrays


def _step(one: slice) -> int:
    step = 1 if one.step is None else int(one.step)
    if step <= 0:
        raise ValueError("step must be greater than zero")
    return step


def _bound(x: Any) -> int | None:
    if x is None:
        return None
    if not hasattr(x, "__index__"):
        raise TypeError("slice indices must be integers or None or have an __index__ method")
    return x.__index__()


def _places(x: Tensor, arrays: list[Tensor | None]) -> tuple[list[int], Size]:
    """Return where the elements lie that tensors of indices ask for, and their shape."""
    axes = [axis for axis, one in enumerate(arrays) if one is not None]
    indices = [arrays[axis] for axis in axes]
    try:
        shape = storage.broadcast_shapes(*(one._shape for one in indices))
    except RuntimeError:
        shapes = ", ".join(str(list(one._shape)) for one in indices)
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"
        ) from None
    starts = [0] * math.prod(shape)
    for axis, one in zip(axes, indices, strict=True):
        n, stride, found = x._shape[axis], x._strides[axis], []
        for start, i in zip(starts, spread(one, shape), strict=True):
            if not -n <= i < n:
                raise IndexError(f"index {i} is out of bounds for dimension {axis} with size {n}")
            found.append(start + i % n * stride)
        starts = found
    together = axes == list(range(axes[0], axes[-1] + 1))
    before = [a for a in range(x.ndim) if a not in axes and together and a < axes[0]]
    after = [a for a in range(x.ndim) if a not in axes and a not in before]
    outer = storage.offsets([x._shape[a] for a in before], [x._strides[a] for a in before], x._offset)
    inner = storage.offsets([x._shape[a] for a in after], [x._strides[a] for a in after])
    places = [i + j + k for i in outer for j in starts for k in inner]
    return places, Size((*(x._shape[a] for a in before), *shape, *(x._shape[a] for a in after)))


def _rows_asked(index: Any) -> list[int] | None:
    """Return which slices a plain list, or a tensor with one axis, asks for: the ordinary case, quickly."""
    if type(index) is list and index and all(type(i) is int for i in index):
        return index
    if isinstance(index, Tensor) and index.dtype is int64 and len(index._shape) == 1:
        return flat(index)
    return None


@operation("__getitem__", function=False)
def getitem(input: Tensor, index: Any) -> Tensor:
    """Return a part: a view, or a copy where tensors of indices choose."""
    if type(index) is int:
        if not input._shape:
            raise IndexError(f"index {index} is out of bounds for dimension 0 with size 0")
        n = input._shape[0]
        if not -n <= index < n:
            raise IndexError(f"index {index} is out of bounds for dimension 0 with size {n}")
        return view(
            input, input._shape[1:], input._strides[1:], input._offset + index % n * input._strides[0]
        )
    places = _rows_asked(index)
    if places is not None and input._shape:
        n = input._shape[0]
        for i in places:
            if not -n <= i < n:
                raise IndexError(f"index {i} is out of bounds for dimension 0 with size {n}")
        return shaping.taken(input, 0, [i % n for i in places])
    shown, arrays = resolve(input, index)
    if all(one is None for one in arrays):
        return shown
    places, shape = _places(shown, arrays)
    return new(list(map(shown._storage.data.__getitem__, places)), shape, input.dtype)


@operation("__setitem__", function=False)
def setitem(input: Tensor, index: Any, value: Any) -> None:
    """Write into a part."""
    if type(index) is int and not input._shape:
        raise IndexError(f"index {index} is out of bounds for dimension 0 with size 0")
    shown, arrays = resolve(input, index)
    if not isinstance(value, Tensor):
        if isinstance(value, (list, tuple)):
            raise TypeError(f"can't assign a {type(value).__name__} to a torch.{input.dtype.title}Tensor")
        value = elementwise.plain(value)
        if not isinstance(value, Tensor) and not elementwise.number(value):
            if hasattr(value, "tolist"):
                value = creation.tensor(value)
            else:
                raise TypeError(f"can't assign a {type(value).__name__} to a torch.{input.dtype.title}Tensor")
        else:
            value = new([elementwise._scalar(value, input.dtype)], (), input.dtype)
    if all(one is None for one in arrays):
        elementwise.assign(shown, value)
        return
    places, shape = _places(shown, arrays)
    _put(shown, places, shape, value)


def _put(x: Tensor, places: list[int], shape: Size, value: Tensor, add: bool = False) -> None:
    while value.ndim > len(shape) and value._shape[0] == 1:
        value = shaping.squeeze(value, 0)
    try:
        fits = storage.broadcast_two(value._shape, shape) == shape
    except RuntimeError:
        fits = False
    if not fits:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(value._shape)} cannot be broadcast to indexing result of "
            f"shape {list(shape)}"
        )
    if x.dtype is not value.dtype and value.ndim:
        raise RuntimeError(
            f"Index put requires the source and destination dtypes match, got {x.dtype.title} for the destination "
            f"and {value.dtype.title} for the source."
        )
    data, xs = x._storage.data, cast(spread(value, shape), value.dtype, x.dtype)
    for place, one in zip(places, xs, strict=True):
        data[place] = x.dtype.settle([data[place] + one])[0] if add else one


@operation("index_put_", function=False)
def index_put_(input: Tensor, indices: tuple, values: Tensor, accumulate: bool = False) -> Tensor:
    """Write where indices say, or add."""
    shown, arrays = resolve(input, tuple(indices))
    places, shape = _places(shown, arrays)
    _put(shown, places, shape, values, accumulate)
    return input


@operation("index_put")
def index_put(input: Tensor, indices: tuple, values: Tensor, accumulate: bool = False) -> Tensor:
    """Return a copy with numbers where indices say."""
    return index_put_(shaping.clone(input), indices, values, accumulate)


@operation("nonzero")
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """Return where there is something else than zero."""
    found: list[list[int]] = [[] for _ in input._shape]
    strides = storage.row_major(tuple(input._shape))
    places = [n for n, x in enumerate(flat(input)) if x]
    for axis, (n, stride) in enumerate(zip(input._shape, strides, strict=True)):
        found[axis] = [place // stride % n for place in places]
    if as_tuple:
        if not input.ndim:
            return (new([0] * len(places), (len(places),), int64),)
        return tuple(new(xs, (len(xs),), int64) for xs in found)
    xs = [found[axis][n] for n in range(len(places)) for axis in range(input.ndim)]
    return new(xs, (len(places), input.ndim), int64)


@operation("argwhere")
def argwhere(input: Tensor) -> Tensor:
    """Return where there is something else than zero."""
    return nonzero(input)


@operation("masked_select")
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """Return the numbers where the mask is true."""
    if mask.dtype is not bool_:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = storage.broadcast_two(input._shape, mask._shape)
    xs = [x for x, yes in zip(spread(input, shape), spread(mask, shape), strict=True) if yes]
    return new(xs, (len(xs),), input.dtype)


@operation("masked_scatter")
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Write numbers in order where the mask is true."""
    shape = storage.broadcast_two(input._shape, mask._shape)
    more = iter(flat(source))
    xs = [next(more) if yes else x for x, yes in zip(spread(input, shape), spread(mask, shape), strict=True)]
    return new(xs, shape, input.dtype)


def _indices(name: str, index: Any) -> list[int]:
    if not isinstance(index, Tensor):
        raise TypeError(f"{name}(): argument 'index' (position 2) must be Tensor, not {type(index).__name__}")
    if index.dtype not in (int64, dtypes.int32):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    return flat(index)


@operation("index_select")
def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return the slices at some places."""
    axis = one_axis(dim, input.ndim)
    n, places = input._shape[axis], _indices("index_select", index)
    for i in places:
        if not 0 <= i < n:
            raise IndexError("index out of range in self")
    return shaping.taken(input, axis, places)


@operation("index_fill")
def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """Return a copy with one number at some places along an axis."""
    found = shaping.clone(input)
    for i in _indices("index_fill", index):
        elementwise.fill_(shaping.select(found, dim, i), value)
    return found


@operation("index_fill_", function=False)
def index_fill_(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """Write one number at some places along an axis."""
    for i in _indices("index_fill", index):
        elementwise.fill_(shaping.select(input, dim, i), value)
    return input


@operation("index_copy_", function=False)
def index_copy_(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """Write slices at some places along an axis."""
    for n, i in enumerate(_indices("index_copy", index)):
        elementwise.assign(shaping.select(input, dim, i), shaping.select(source, dim, n))
    return input


@operation("index_copy")
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """Return a copy with slices at some places along an axis."""
    return index_copy_(shaping.clone(input), dim, index, source)


@operation("index_add_", function=False)
def index_add_(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """Add slices at some places along an axis."""
    for n, i in enumerate(_indices("index_add", index)):
        part = shaping.select(input, dim, i)
        elementwise.put(part, elementwise.add(part, shaping.select(source, dim, n), alpha=alpha))
    return input


@operation("index_add")
def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """Return a copy with slices added at some places along an axis."""
    return index_add_(shaping.clone(input), dim, index, source, alpha=alpha)


def _along(name: str, x: Tensor, axis: int, index: Tensor) -> list[int]:
    """Return where in ``x``, laid out in order, the elements lie that indices along an axis ask for."""
    if index.ndim != x.ndim and index.ndim and x.ndim:
        raise RuntimeError(
            f"{'Index tensor must have the same number of dimensions as ' + ('input' if name == 'gather' else 'self') + ' tensor'}"
        )
    strides, n = storage.row_major(tuple(x._shape)), x._shape[axis] if x.ndim else 1
    other = [0 if a == axis else s for a, s in enumerate(strides)]
    bases = storage.offsets(index._shape, other)
    step = strides[axis] if x.ndim else 1
    found = []
    for base, i in zip(bases, _indices(name, index), strict=True):
        if not 0 <= i < n:
            raise RuntimeError(f"index {i} is out of bounds for dimension {axis} with size {n}")
        found.append(base + i * step)
    return found


@operation("gather")
def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """Return along an axis the elements that the indices name."""
    axis = one_axis(dim, input.ndim)
    if isinstance(index, Tensor) and index.ndim == input.ndim:
        for a in range(input.ndim):
            if a != axis and index._shape[a] > input._shape[a]:
                raise RuntimeError(
                    f"Size does not match at dimension {a} expected index {list(index._shape)} to be no larger than "
                    f"self {list(input._shape)} apart from dimension {axis}"
                )
    if isinstance(index, Tensor) and index.dtype not in (int64, dtypes.int32):
        raise RuntimeError("gather(): Expected dtype int32/int64 for index")
    xs = flat(input)
    return new([xs[i] for i in _along("gather", input, axis, index)], index._shape, input.dtype)


@operation("take_along_dim")
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """Return along an axis the elements that the indices name."""
    if dim is None:
        return gather(shaping.flatten(input), 0, shaping.flatten(indices))
    axis = one_axis(dim, input.ndim)
    shape = list(
        storage.broadcast_two(
            tuple(1 if a == axis else n for a, n in enumerate(input._shape)),
            tuple(1 if a == axis else n for a, n in enumerate(indices._shape)),
        )
    )
    wide, asked = list(shape), list(shape)
    wide[axis], asked[axis] = input._shape[axis], indices._shape[axis]
    return gather(shaping.expand(input, wide), axis, shaping.expand(indices, asked))


@operation("take")
def take(input: Tensor, index: Tensor) -> Tensor:
    """Return the elements at places in the flattened tensor."""
    xs = flat(input)
    return new([xs[i] for i in flat(index)], index._shape, input.dtype)


def _scatter(name: str, input: Tensor, dim: int, index: Tensor, src: Any, add: bool) -> list:
    axis = one_axis(dim, input.ndim)
    found = list(flat(input))
    places = _along(name, input, axis, index)
    if isinstance(src, Tensor):
        if src.dtype is not input.dtype:
            raise RuntimeError(f"{name}(): Expected self.dtype to be equal to src.dtype")
        for a in range(index.ndim):
            if index._shape[a] > src._shape[a]:
                raise RuntimeError(
                    f"Expected index {list(index._shape)} to be no larger than self {list(input._shape)} apart from "
                    f"dimension {axis} and to be no larger size than src {list(src._shape)}"
                )
        xs = flat(view(src, index._shape, src._strides, src._offset))
    else:
        xs = [elementwise._scalar(elementwise.plain(src), input.dtype)] * len(places)
    for place, one in zip(places, xs, strict=True):
        found[place] = input.dtype.settle([found[place] + one])[0] if add else one
    return found


@operation("scatter")
def scatter(input: Tensor, dim: int, index: Tensor, src: Any = None, **rest: Any) -> Tensor:
    """Return a copy with numbers along an axis where the indices say."""
    if rest.get("reduce"):
        missing.refuse("torch.scatter(reduce=...)")
    src = rest.get("value", src)
    return new(_scatter("scatter", input, dim, index, src, False), input._shape, input.dtype)


@operation("scatter_", function=False)
def scatter_(input: Tensor, dim: int, index: Tensor, src: Any = None, **rest: Any) -> Tensor:
    """Write numbers along an axis where the indices say."""
    return elementwise.put(input, scatter(input, dim, index, src, **rest))


@operation("scatter_add")
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """Return a copy with numbers added along an axis where the indices say."""
    return new(_scatter("scatter_add", input, dim, index, src, True), input._shape, input.dtype)


@operation("scatter_add_", function=False)
def scatter_add_(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """Add numbers along an axis where the indices say."""
    return elementwise.put(input, scatter_add(input, dim, index, src))


@operation("unravel_index", method=False)
def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """Return for places in a flattened tensor the index along each axis."""
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    strides = storage.row_major(shape)
    return tuple(
        new([i // s % n for i in flat(indices)], indices._shape, int64)
        for n, s in zip(shape, strides, strict=True)
    )
