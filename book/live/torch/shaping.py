"""Other views of the same numbers, and tensors put together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from torch import dtypes, elementwise, storage
from torch.creation import same_memory, sizes
from torch.dispatch import operation
from torch.dtypes import cast
from torch.storage import Size
from torch.tensor import Tensor, flat, new, one_axis, some_axes, spread, view, write


def inferred(wanted: tuple, count: int) -> Size:
    """Return a shape in which a -1 is filled in.

    Raises:
        RuntimeError: If the numbers do not fit into it.
    """
    wanted = tuple(wanted[0]) if len(wanted) == 1 and isinstance(wanted[0], (tuple, list)) else wanted
    for n in wanted:
        if isinstance(n, float) or not hasattr(n, "__index__"):
            raise TypeError(
                f"reshape(): argument 'shape' must be tuple of ints, but found element of type {type(n).__name__}"
            )
    shape = [int(n) for n in wanted]
    if shape.count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    for n in shape:
        if n < -1:
            raise RuntimeError(f"invalid shape dimension {n} at index {shape.index(n)} of shape {shape}")
    known = math.prod(n for n in shape if n != -1)
    wrong = f"shape '{shape}' is invalid for input of size {count}"
    if -1 in shape:
        if known == 0:
            raise RuntimeError(
                f"cannot reshape tensor of 0 elements into shape {shape} because the unspecified dimension "
                "size -1 can be any value and is ambiguous"
            )
        if count % known:
            raise RuntimeError(wrong)
        shape[shape.index(-1)] = count // known
    elif known != count:
        raise RuntimeError(wrong)
    return Size(shape)


def _viewed(x: Tensor, shape: Size) -> tuple[int, ...] | None:
    """Return the strides of a view of another shape; None if the memory lies otherwise."""
    if x._contiguous:
        return storage.row_major(shape)
    if not x.numel():
        return storage.row_major(shape)
    strides: list[int] = []
    at = len(shape) - 1
    step, seen, taken = x._strides[-1], 1, 1
    for axis in range(x.ndim - 1, -1, -1):
        seen *= x._shape[axis]
        if axis == 0 or (x._shape[axis - 1] != 1 and x._strides[axis - 1] != seen * step):
            while at >= 0 and (taken < seen or shape[at] == 1):
                strides.insert(0, taken * step)
                taken *= shape[at]
                at -= 1
            if taken != seen:
                return None
            if axis > 0:
                step, seen, taken = x._strides[axis - 1], 1, 1
    return tuple(strides) if at == -1 else None


@operation("reshape")
def reshape(input: Tensor, *shape: Any) -> Tensor:
    """Return the numbers in another shape."""
    new_shape = inferred(shape, input.numel())
    strides = _viewed(input, new_shape)
    if strides is None:
        return new(list(flat(input)), new_shape, input.dtype)
    return view(input, new_shape, strides, input._offset)


@operation("view", function=False)
def view_(input: Tensor, *shape: Any) -> Tensor:
    """Return a view of another shape."""
    if len(shape) == 1 and isinstance(shape[0], dtypes.dtype):
        from torch import missing

        missing.refuse("Tensor.view(dtype)")
    new_shape = inferred(shape, input.numel())
    strides = _viewed(input, new_shape)
    if strides is None:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans "
            "across two contiguous subspaces). Use .reshape(...) instead."
        )
    return view(input, new_shape, strides, input._offset)


@operation("reshape_as", function=False)
def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    """Return the numbers in the shape of another."""
    return reshape(input, other._shape)


@operation("view_as", function=False)
def view_as(input: Tensor, other: Tensor) -> Tensor:
    """Return a view in the shape of another."""
    return view_(input, other._shape)


@operation("flatten")
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Make one axis of several."""
    first, last = one_axis(start_dim, input.ndim), one_axis(end_dim, input.ndim)
    if not input.ndim:
        return reshape(input, 1)
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    shape = input._shape
    return reshape(input, (*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :]))


@operation("ravel")
def ravel(input: Tensor) -> Tensor:
    """Make one axis of all."""
    return reshape(input, -1) if input.numel() else reshape(input, 0)


@operation("unflatten")
def unflatten(input: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """Make several axes of one."""
    axis, given = one_axis(dim, input.ndim), [int(n) for n in sizes]
    n = input._shape[axis]
    known = math.prod(m for m in given if m != -1)
    if (-1 in given and (known == 0 or n % known)) or (-1 not in given and known != n):
        raise RuntimeError(
            f"unflatten: Provided sizes {given} don't multiply up to the size of dim {axis} ({n}) in the input tensor"
        )
    full = [n // known if m == -1 else m for m in given]
    return reshape(input, (*input._shape[:axis], *full, *input._shape[axis + 1 :]))


@operation("contiguous", function=False)
def contiguous(input: Tensor) -> Tensor:
    """Return the numbers one after the other."""
    return input if input._contiguous else new(flat(input), input._shape, input.dtype)


@operation("clone")
def clone(input: Tensor, *, memory_format: Any = None) -> Tensor:
    """Return a copy."""
    return new(list(flat(input)), input._shape, input.dtype)


@operation("detach", "detach_")
def detach(input: Tensor) -> Tensor:
    """Return the same memory."""
    return same_memory(input)


@operation("cpu", function=False)
def cpu(input: Tensor) -> Tensor:
    """Return it."""
    return input


def _axes_error(dims: Sequence[int], axes: int) -> RuntimeError:
    return RuntimeError(
        f"permute(sparse_coo): number of dimensions in the tensor input does not match the length of the "
        f"desired ordering of dimensions i.e. input.dim() = {axes} is not equal to len(dims) = {len(dims)}"
    )


@operation("permute")
def permute(input: Tensor, *dims: Any) -> Tensor:
    """Return the axes in another order."""
    dims = tuple(dims[0]) if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else dims
    if len(dims) != input.ndim:
        raise _axes_error(dims, input.ndim)
    order = [one_axis(dim, input.ndim) for dim in dims]
    if len(set(order)) != len(order):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return view(input, [input._shape[a] for a in order], [input._strides[a] for a in order], input._offset)


@operation("transpose", "swapaxes", "swapdims")
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Exchange two axes."""
    one, two = one_axis(dim0, input.ndim), one_axis(dim1, input.ndim)
    shape, strides = list(input._shape), list(input._strides)
    if shape:
        shape[one], shape[two] = shape[two], shape[one]
        strides[one], strides[two] = strides[two], strides[one]
    return view(input, shape, strides, input._offset)


@operation("t")
def t(input: Tensor) -> Tensor:
    """Exchange the two axes of a matrix."""
    if input.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D")
    return transpose(input, 0, 1) if input.ndim == 2 else same_memory(input)


def turned_all(input: Tensor) -> Tensor:
    """Return the axes from the last to the first."""
    return view(input, input._shape[::-1], input._strides[::-1], input._offset)


def turned_last(input: Tensor) -> Tensor:
    """Exchange the last two axes."""
    if not input.ndim:
        return same_memory(input)
    if input.ndim < 2:
        raise RuntimeError(
            f"tensor.mT is only supported on matrices or batches of matrices. Got {input.ndim}-D tensor."
        )
    return transpose(input, -2, -1)


@operation("adjoint")
def adjoint(input: Tensor) -> Tensor:
    """Exchange the last two axes."""
    return elementwise.conj(turned_last(input))


@operation("movedim", "moveaxis")
def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Put axes elsewhere."""
    if not input.ndim:
        one_axis(source, 0)
        return same_memory(input)
    source = [one_axis(a, input.ndim) for a in (source if isinstance(source, (tuple, list)) else [source])]
    target = [
        one_axis(a, input.ndim)
        for a in (destination if isinstance(destination, (tuple, list)) else [destination])
    ]
    order: list[int | None] = [None] * input.ndim
    for one, two in zip(source, target, strict=True):
        order[two] = one
    left = iter(axis for axis in range(input.ndim) if axis not in source)
    return permute(input, [next(left) if one is None else one for one in order])


@operation("unsqueeze")
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """Add an axis of one."""
    axis = one_axis(dim, input.ndim + 1)
    shape, strides = list(input._shape), list(input._strides)
    step = strides[axis] * shape[axis] if axis < len(shape) else 1
    return view(
        input, [*shape[:axis], 1, *shape[axis:]], [*strides[:axis], step, *strides[axis:]], input._offset
    )


@operation("squeeze")
def squeeze(input: Tensor, dim: Any = None) -> Tensor:
    """Drop axes of one."""
    axes = some_axes(dim, input.ndim)
    kept = [a for a in range(input.ndim) if a not in axes or input._shape[a] != 1]
    return view(input, [input._shape[a] for a in kept], [input._strides[a] for a in kept], input._offset)


@operation("expand", function=False)
def expand(input: Tensor, *size: Any) -> Tensor:
    """Repeat axes of one without copying."""
    wanted = tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    wanted = [int(n) for n in wanted]
    more = len(wanted) - input.ndim
    kind = "CPUBoolType" if input.dtype is dtypes.bool_ else f"torch.{input.dtype.title}Tensor"
    worst = next(
        (
            a
            for a in range(len(wanted) - 1, max(more, 0) - 1, -1)
            if input._shape[a - more] not in (1, wanted[a]) and wanted[a] != -1
        ),
        None,
    )
    if more < 0:
        raise RuntimeError(
            f"expand({kind}{{{list(input._shape)}}}, size={wanted}): the number of sizes "
            f"provided ({len(wanted)}) must be greater or equal to the number of dimensions in the tensor ({input.ndim})"
        )
    shape, strides = [], []
    for axis, n in enumerate(wanted):
        if axis < more:
            if n < 0:
                raise RuntimeError(
                    f"The expanded size of the tensor ({n}) isn't allowed in a leading, non-existing dimension {axis}"
                )
            shape.append(n)
            strides.append(0)
            continue
        old, stride = input._shape[axis - more], input._strides[axis - more]
        n = old if n == -1 else n
        if worst is not None:
            raise RuntimeError(
                f"The expanded size of the tensor ({wanted[worst]}) must match the existing size "
                f"({input._shape[worst - more]}) at non-singleton dimension {worst}.  Target sizes: {wanted}.  Tensor sizes: {list(input._shape)}"
            )
        shape.append(n)
        strides.append(stride if old == n else 0)
    return view(input, shape, strides, input._offset)


@operation("expand_as", function=False)
def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """Repeat axes of one to the shape of another."""
    return expand(input, other._shape)


@operation("broadcast_to")
def broadcast_to(input: Tensor, size: Sequence[int]) -> Tensor:
    """Repeat axes of one without copying."""
    return expand(input, size)


@operation("broadcast_tensors", method=False)
def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Bring tensors to one shape."""
    shape = storage.broadcast_shapes(*(x._shape for x in tensors))
    return tuple(expand(x, shape) for x in tensors)


@operation("repeat", function=False)
def repeat(input: Tensor, *repeats: Any) -> Tensor:
    """Put copies beside each other."""
    times = sizes(repeats)
    if len(times) < input.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor"
        )
    old = (1,) * (len(times) - input.ndim) + tuple(input._shape)
    wide = reshape(input, [m for n in old for m in (1, n)])
    both = [m for k, n in zip(times, old, strict=True) for m in (k, n)]
    shape = [k * n for k, n in zip(times, old, strict=True)]
    return new(list(flat(expand(wide, both))), shape, input.dtype)


@operation("tile")
def tile(input: Tensor, *dims: Any) -> Tensor:
    """Put copies beside each other."""
    times = tuple(sizes(dims))
    return repeat(input, (1,) * (input.ndim - len(times)) + times)


@operation("repeat_interleave")
def repeat_interleave(
    input: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Repeat each element."""
    if repeats is None:
        counts = flat(input)
        return new([n for n, count in enumerate(counts) for _ in range(count)], (sum(counts),), dtypes.int64)
    x = flatten(input) if dim is None or not input.ndim else input
    if dim is not None and not input.ndim:
        one_axis(1, 0)  # PyTorch says so for any axis
    axis = 0 if dim is None else one_axis(dim, x.ndim)
    n = x._shape[axis]
    counts = flat(repeats) if isinstance(repeats, Tensor) else [int(repeats)]
    counts = list(counts) * n if len(counts) == 1 else counts
    if len(counts) != n:
        raise RuntimeError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = {len(counts)} and "
            f"input.size({axis}) = {n}"
        )
    places = [i for i, count in enumerate(counts) for _ in range(count)]
    return taken(x, axis, places)


def taken(x: Tensor, axis: int, places: list[int]) -> Tensor:
    """Return the slices at some places along an axis."""
    shape = [*x._shape[:axis], len(places), *x._shape[axis + 1 :]]
    inner = math.prod(x._shape[axis + 1 :])
    outer, n, xs = math.prod(x._shape[:axis]), x._shape[axis], flat(x)
    found: list = []
    for i in range(outer):
        for place in places:
            at = (i * n + place) * inner
            found += xs[at : at + inner]
    return new(found, shape, x.dtype)


@operation("flip")
def flip(input: Tensor, *dims: Any) -> Tensor:
    """Turn axes round."""
    dims = tuple(dims[0]) if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else dims
    axes = [one_axis(dim, input.ndim) for dim in dims]
    if not input.ndim:
        return clone(input)
    strides = [-s if a in axes else s for a, s in enumerate(input._strides)]
    offset = input._offset + sum((input._shape[a] - 1) * input._strides[a] for a in axes if input.numel())
    data = input._storage.data
    if not input.numel():
        return clone(input)
    return new([data[i] for i in storage.offsets(input._shape, strides, offset)], input._shape, input.dtype)


@operation("fliplr")
def fliplr(input: Tensor) -> Tensor:
    """Turn the second axis round."""
    if input.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return flip(input, 1)


@operation("flipud")
def flipud(input: Tensor) -> Tensor:
    """Turn the first axis round."""
    return flip(input, 0)


@operation("rot90")
def rot90(input: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """Turn by right angles."""
    x = input
    for _ in range(k % 4):
        x = flip(transpose(x, *dims), dims[0])
    return clone(x)


@operation("roll")
def roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """Move round along axes."""
    if dims is None or (isinstance(dims, (tuple, list)) and not dims):
        return reshape(roll(flatten(input), shifts, 0), input._shape)
    moves = shifts if isinstance(shifts, (tuple, list)) else [shifts]
    axes = dims if isinstance(dims, (tuple, list)) else [dims]
    if len(moves) != len(axes):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(moves)}, dims:{len(axes)}")
    for move, dim in zip(moves, axes, strict=True):
        if not input.ndim:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        axis = one_axis(dim, input.ndim)
        n = input._shape[axis]
        input = taken(input, axis, [(i - move) % n for i in range(n)])
    return input


@operation("narrow")
def narrow(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """Return a piece along an axis."""
    if not input.ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    axis = one_axis(dim, input.ndim)
    n = input._shape[axis]
    if not -n <= start <= n:
        raise IndexError(f"start out of range (expected to be in range of [-{n}, {n}], but got {start})")
    start = start % n if n and start < 0 else start
    if start + length > n:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    shape = [*input._shape[:axis], length, *input._shape[axis + 1 :]]
    return view(input, shape, input._strides, input._offset + start * input._strides[axis])


@operation("select")
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """Return one slice along an axis."""
    if not input.ndim:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    axis = one_axis(dim, input.ndim)
    n = input._shape[axis]
    if not -n <= index < n:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(input._shape)} at dimension {axis}"
        )
    shape, strides = list(input._shape), list(input._strides)
    del shape[axis], strides[axis]
    return view(input, shape, strides, input._offset + index % n * input._strides[axis])


@operation("unbind")
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Return the slices along an axis."""
    axis = one_axis(dim, input.ndim)
    if not input.ndim:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    return tuple(select(input, axis, i) for i in range(input._shape[axis]))


@operation("split")
def split(tensor: Tensor, split_size: Any = None, dim: int = 0, **rest: Any) -> tuple[Tensor, ...]:
    """Cut along an axis into pieces of some size, or of given sizes."""
    split_size = rest.get("split_size_or_sections", split_size)
    if not tensor.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    axis = one_axis(dim, tensor.ndim)
    n = tensor._shape[axis]
    if isinstance(split_size, (list, tuple)):
        if sum(split_size) != n:
            raise RuntimeError(
                f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size at dimension "
                f"{axis}), but got split_sizes={list(split_size)}"
            )
        parts = list(split_size)
    else:
        if split_size < 0:
            raise RuntimeError(f"split expects split_size be non-negative, but got split_size={split_size}")
        if not split_size:
            if n:
                raise RuntimeError(
                    f"split_size can only be 0 if dimension size is 0, but got dimension size of {n}"
                )
            parts = [0]
        else:
            parts = [min(split_size, n - i) for i in range(0, n, split_size)] or [0]
    found, start = [], 0
    for length in parts:
        found.append(narrow(tensor, axis, start, length))
        start += length
    return tuple(found)


@operation("chunk")
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Cut along an axis into so many pieces."""
    if not input.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks < 1:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    axis = one_axis(dim, input.ndim)
    n = input._shape[axis]
    return split(input, -(-n // chunks), axis) if n else split(input, [0] * chunks, axis)


@operation("tensor_split")
def tensor_split(input: Tensor, indices_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Cut along an axis into so many pieces, or at some places."""
    axis = one_axis(dim, input.ndim)
    n = input._shape[axis]
    if isinstance(indices_or_sections, int):
        small, more = divmod(n, indices_or_sections)
        return split(input, [small + (i < more) for i in range(indices_or_sections)], axis)
    edges = [0, *indices_or_sections, n]
    return split(input, [b - a for a, b in itertools.pairwise(edges)], axis)


def _tensors(name: str, tensors: Any) -> list[Tensor]:
    if not isinstance(tensors, (list, tuple)):
        raise TypeError(
            f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not {type(tensors).__name__}"
        )
    for n, x in enumerate(tensors):
        if not isinstance(x, Tensor):
            raise TypeError(f"expected Tensor as element {n} in argument 0, but got {type(x).__name__}")
    return list(tensors)


@operation("cat", "concat", "concatenate", method=False)
def cat(tensors: Any, dim: int = 0, *, out: None = None) -> Tensor:
    """Put tensors one behind the other along an axis."""
    parts = _tensors("cat", tensors)
    if not parts:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    kind = elementwise.result_type(*parts)
    for n, x in enumerate(parts):
        if not x.ndim:
            raise RuntimeError(f"zero-dimensional tensor (at position {n}) cannot be concatenated")
    full = [x for x in parts if x._shape != (0,)]
    if not full:
        return new([], (0,), kind)
    first = full[0]
    axis = one_axis(dim, first.ndim)
    for n, x in enumerate(parts):
        if x._shape == (0,):
            continue
        if x.ndim != first.ndim:
            raise RuntimeError(f"Tensors must have same number of dimensions: got {first.ndim} and {x.ndim}")
        for a in range(first.ndim):
            if a != axis and x._shape[a] != first._shape[a]:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {axis}. Expected size {first._shape[a]} but "
                    f"got size {x._shape[a]} for tensor number {n} in the list."
                )
    shape = list(first._shape)
    shape[axis] = sum(x._shape[axis] for x in full)
    outer, inner = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
    lists = [(cast(flat(x), x.dtype, kind), x._shape[axis] * inner) for x in full]
    if outer == 1:
        return new([x for xs, _ in lists for x in xs], shape, kind)
    found: list = []
    for i in range(outer):
        for xs, n in lists:
            found += xs[i * n : i * n + n]
    return new(found, shape, kind)


@operation("stack", method=False)
def stack(tensors: Any, dim: int = 0, *, out: None = None) -> Tensor:
    """Put tensors beside each other along a new axis."""
    parts = _tensors("stack", tensors)
    if not parts:
        raise RuntimeError("stack expects a non-empty TensorList")
    for n, x in enumerate(parts):
        if x._shape != parts[0]._shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(parts[0]._shape)} at entry 0 and "
                f"{list(x._shape)} at entry {n}"
            )
    axis = one_axis(dim, parts[0].ndim + 1)
    return cat([unsqueeze(x, axis) for x in parts], axis)


def _at_least(x: Tensor, axes: int) -> Tensor:
    while x.ndim < axes:
        x = unsqueeze(x, 0)
    return x


@operation("vstack", "row_stack", method=False)
def vstack(tensors: Any) -> Tensor:
    """Put rows below each other."""
    return cat([_at_least(x, 2) for x in tensors], 0)


@operation("hstack", method=False)
def hstack(tensors: Any) -> Tensor:
    """Put columns beside each other."""
    parts = [_at_least(x, 1) for x in tensors]
    return cat(parts, 0 if parts[0].ndim == 1 else 1)


@operation("column_stack", method=False)
def column_stack(tensors: Any) -> Tensor:
    """Put columns beside each other."""
    return cat([x if x.ndim > 1 else reshape(x, -1, 1) for x in tensors], 1)


@operation("atleast_1d", "atleast_2d", method=False)
def atleast_2d(input: Tensor) -> Tensor:
    """Add axes up to two."""
    return _at_least(input, 2)


@operation("block_diag", method=False)
def block_diag(*tensors: Tensor) -> Tensor:
    """Put matrices along the diagonal."""
    for n, x in enumerate(tensors):
        if x.ndim > 2:
            raise RuntimeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {n} has {x.ndim} dimensions"
            )
    parts = [_at_least(x, 2) for x in tensors]
    height, width = sum(x._shape[0] for x in parts), sum(x._shape[1] for x in parts)
    kind = elementwise.result_type(*parts)
    found = new(cast([0] * (height * width), dtypes.int64, kind), (height, width), kind)
    i = j = 0
    for x in parts:
        write(view(found, x._shape, found._strides, i * width + j), cast(flat(x), x.dtype, kind))
        i, j = i + x._shape[0], j + x._shape[1]
    return found


@operation("meshgrid", method=False)
def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Return all combinations as tables."""
    parts = list(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else list(tensors)
    if indexing == "xy":
        parts[:2] = parts[1::-1]
    shape = [x.numel() for x in parts]
    found = []
    for axis, x in enumerate(parts):
        one = reshape(x, [-1 if a == axis else 1 for a in range(len(parts))])
        found.append(expand(one, shape))
    if indexing == "xy":
        found = [transpose(x, 0, 1) for x in found]
        found[:2] = found[1::-1]
    return tuple(found)


# triangles and diagonals


def _triangle(name: str, keep: Any) -> Any:
    def made(input: Tensor, diagonal: int = 0) -> Tensor:
        if input.ndim < 2:
            raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
        n, m = input._shape[-2:]
        zero = cast([0], dtypes.int64, input.dtype)[0]
        kept = [keep(i, j, diagonal) for i in range(n) for j in range(m)]
        xs = flat(input)
        times = len(xs) // len(kept) if kept else 0
        return new(
            [x if yes else zero for x, yes in zip(xs, kept * times, strict=True)], input._shape, input.dtype
        )

    made.__doc__ = "Return a triangle, and zeros beside it."
    return operation(name)(made)


tril = _triangle("tril", lambda i, j, k: j - i <= k)
triu = _triangle("triu", lambda i, j, k: j - i >= k)


@operation("tril_", function=False)
def tril_(input: Tensor, diagonal: int = 0) -> Tensor:
    """Write zeros above a diagonal."""
    return elementwise.put(input, tril(input, diagonal))


@operation("triu_", function=False)
def triu_(input: Tensor, diagonal: int = 0) -> Tensor:
    """Write zeros below a diagonal."""
    return elementwise.put(input, triu(input, diagonal))


@operation("diagonal")
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Return a diagonal, as the last axis."""
    one, two = one_axis(dim1, input.ndim), one_axis(dim2, input.ndim)
    if one == two:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    n, m = input._shape[one], input._shape[two]
    start = input._offset + (offset * input._strides[two] if offset > 0 else -offset * input._strides[one])
    length = max(min(n, m - offset) if offset > 0 else min(n + offset, m), 0)
    kept = [a for a in range(input.ndim) if a not in (one, two)]
    shape = [*(input._shape[a] for a in kept), length]
    strides = [*(input._strides[a] for a in kept), input._strides[one] + input._strides[two]]
    return view(input, shape, strides, start if length else input._offset)


@operation("diag")
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """Return the diagonal of a matrix, or a matrix with this diagonal."""
    if input.ndim == 1:
        return diag_embed(input, diagonal)
    if input.ndim != 2:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D")
    return clone(globals()["diagonal"](input, diagonal))


@operation("diag_embed")
def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Return matrices with these diagonals."""
    n = input._shape[-1] + abs(offset)
    zero = cast([0], dtypes.int64, input.dtype)[0]
    found = new([zero] * (math.prod(input._shape[:-1]) * n * n), (*input._shape[:-1], n, n), input.dtype)
    write(globals()["diagonal"](found, offset, -2, -1), flat(input))
    return found if (dim1, dim2) == (-2, -1) else movedim(found, (-2, -1), (dim1, dim2))


@operation("trace")
def trace(input: Tensor) -> Tensor:
    """Add up the diagonal."""
    from torch import reductions

    if input.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input.ndim}")
    if input.dtype is dtypes.bool_:
        raise NotImplementedError("\"trace\" not implemented for 'Bool'")
    return reductions.sum_(diagonal(input))


@operation("fill_diagonal_", function=False)
def fill_diagonal_(input: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Write a number on the diagonal."""
    elementwise.fill_(diagonal(input), fill_value)
    return input


@operation("unfold", function=False)
def unfold(input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Return windows along an axis, as views."""
    axis = one_axis(dimension, input.ndim)
    n = input._shape[axis] if input.ndim else 1
    if size > n:
        raise RuntimeError(f"maximum size for tensor at dimension {axis} is {n} but size is {size}")
    shape, strides = list(input._shape), list(input._strides)
    shape[axis] = (n - size) // step + 1
    strides[axis] *= step
    return view(input, [*shape, size], [*strides, input._strides[axis]], input._offset)


@operation("as_strided")
def as_strided(
    input: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """Return any view of the memory."""
    start = input._offset if storage_offset is None else storage_offset
    last = start + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    if last >= len(input._storage.data):
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {start}, and itemsize "
            f"{input.dtype.itemsize} requiring a storage size of {(last + 1) * input.dtype.itemsize} are out of "
            f"bounds for storage of size {input._storage.nbytes()}"
        )
    return view(input, size, stride, start)


@operation("sum_to_size", function=False)
def sum_to_size(input: Tensor, *size: Any) -> Tensor:
    """Add up what was broadcast."""
    from torch import reductions

    wanted = sizes(size)
    more = input.ndim - len(wanted)
    axes = [*range(more), *(a + more for a, n in enumerate(wanted) if n == 1 and input._shape[a + more] != 1)]
    return reshape(reductions.sum_(input, axes, True), wanted) if axes else input


def numbers_of(x: Tensor, shape: Size) -> list:
    """Return the numbers as a larger shape has them."""
    return spread(x, shape)
