"""Making tensors: of given numbers, of one number, in a row."""

from __future__ import annotations

import itertools
import math
from typing import Any

from torch import dtypes, missing, random
from torch.dispatch import operation
from torch.dtypes import dtype as Dtype
from torch.storage import Size
from torch.tensor import Tensor, device, flat, new, view


def sizes(given: tuple) -> Size:
    """Read sizes that came one by one or as one tuple."""
    if len(given) == 1 and isinstance(given[0], (tuple, list)):
        given = tuple(given[0])
    for n in given:
        if isinstance(n, float) or not hasattr(n, "__index__"):
            raise TypeError(f"expected a size of type int, got {type(n).__name__}")
    found = Size(int(n) for n in given)
    for n in found:
        if n < 0:
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {n}: [{', '.join(map(str, found))}]"
            )
    return found


def options(
    *, device: Any = None, requires_grad: bool = False, layout: Any = None, pin_memory: bool = False,
    memory_format: Any = None,
) -> None:  # fmt: skip
    """Refuse what a tensor on the page cannot have."""
    if device is not None:
        _device(device)
    if requires_grad:
        missing.refuse("requires_grad=True", " (there are no gradients here)")


def _device(name: Any) -> None:
    device(name)


@operation(method=False)
def tensor(data: Any, *, dtype: Dtype | None = None, **rest: Any) -> Tensor:
    """Make a tensor of numbers, or of any nesting of lists of them."""
    options(**rest)
    if isinstance(data, Tensor):
        dtype = dtype or data.dtype
        return new(list(dtypes.cast(flat(data), data.dtype, dtype)), data.shape, dtype)
    data = _array_as_lists(data)
    if isinstance(data, tuple) and len(data) == 3 and data[0] is _array_as_lists:
        _, data, found = data
        dtype = dtype or found
    shape, xs = _shape_of(data), []
    _collect(data, shape, 0, xs)
    if dtype is None:
        dtype = _dtype_of(xs)
    return new(_settled(xs, dtype), shape, dtype)


def _array_as_lists(data: Any) -> Any:
    """Return what NumPy's arrays hold, with their dtype; anything else as it is."""
    name = str(getattr(data, "dtype", ""))
    if name and hasattr(data, "tolist"):
        found = next((one for one in dtypes.ALL if one.name == name), None)
        if found is None:
            raise TypeError(
                f"can't convert np.ndarray of type numpy.{type(data).__name__}. The only supported types are: "
                "float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, "
                "uint16, uint8, and bool."
            )
        return (_array_as_lists, data.tolist(), found)
    return data


def _shape_of(data: Any) -> list[int]:
    shape = []
    while True:
        if isinstance(data, Tensor):
            return shape + list(data.shape)
        if isinstance(data, str):
            if shape:
                raise ValueError("too many dimensions 'str'")
            raise TypeError("new(): invalid data type 'str'")
        if isinstance(data, (list, tuple, range)) or _is_array(data):
            shape.append(len(data))
            if len(shape) > 128:
                raise ValueError("too many dimensions 'list'")
            if not len(data):
                return shape
            data = data[0]
        else:
            return shape


def _is_array(data: Any) -> bool:
    return bool(getattr(data, "shape", ())) and hasattr(data, "__len__")


def _collect(data: Any, shape: list[int], axis: int, xs: list) -> None:
    if axis == len(shape):
        if isinstance(data, Tensor):
            if data.ndim or data.numel() != 1:
                raise ValueError("only one element tensors can be converted to Python scalars")
            xs.append(data.item())
        elif hasattr(data, "dtype") and hasattr(data, "item"):
            xs.append(data.item())
        elif isinstance(data, (list, tuple)):
            raise TypeError(f"must be real number, not {type(data).__name__}")
        else:
            xs.append(data)
        return
    if isinstance(data, Tensor) and data.ndim:
        if data.shape[0] != shape[axis]:
            raise ValueError(f"expected sequence of length {shape[axis]} at dim {axis} (got {len(data)})")
        if axis + data.ndim > 1 and data.ndim > 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        xs += flat(data)
        return
    if not (isinstance(data, (list, tuple, range)) or _is_array(data)):
        kind = type(data).__name__
        raise TypeError(
            f"expected sequence of length {shape[axis]} at dim {axis} (got {kind})"
            if isinstance(data, str)
            else "not a sequence"
        )
    if len(data) != shape[axis]:
        raise ValueError(f"expected sequence of length {shape[axis]} at dim {axis} (got {len(data)})")
    for one in data:
        _collect(one, shape, axis + 1, xs)


def _dtype_of(xs: list) -> Dtype:
    if not xs:
        return dtypes.DEFAULT
    kinds = {type(x) for x in xs}
    if kinds <= {bool}:
        return dtypes.bool_
    if kinds <= {bool, int}:
        return dtypes.int64
    for x in xs:
        if not isinstance(x, (bool, int, float, complex)):
            raise RuntimeError(f"Could not infer dtype of {type(x).__name__}")
    return dtypes.complex64 if any(isinstance(x, complex) for x in xs) else dtypes.DEFAULT


def _settled(xs: list, dtype: Dtype) -> list:
    """Return Python's numbers as a dtype holds them."""
    if dtype.kind == "f":
        for x in xs:
            odd = isinstance(x, complex) or not hasattr(x, "__float__") or isinstance(x, str)
            if odd and not isinstance(x, (int, float)):
                raise TypeError(f"must be real number, not {type(x).__name__}")
        return dtype.settle(list(map(float, xs)))
    if dtype.kind == "b":
        return [bool(x) for x in xs]
    if dtype.kind == "c":
        return dtype.settle(list(map(complex, xs)))
    for x in xs:
        if isinstance(x, complex) or not hasattr(x, "__int__"):
            raise TypeError(f"'{type(x).__name__}' object cannot be interpreted as an integer")
        if not -(2**63) <= int(x) < 2**64:
            raise ValueError("Overflow when unpacking long long")
    return dtype.settle(list(map(int, xs)))


@operation("as_tensor", "asarray", method=False)
def as_tensor(data: Any, dtype: Dtype | None = None, device: Any = None) -> Tensor:
    """Return a tensor as it is, anything else as a new one."""
    if isinstance(data, Tensor) and dtype in (None, data.dtype):
        return data
    return tensor(data, dtype=dtype, device=device)


@operation(method=False)
def from_numpy(array: Any) -> Tensor:
    """Refuse NumPy's arrays, which would share their memory."""
    missing.refuse("torch.from_numpy")


def _filled(shape: Size, value: Any, dtype: Dtype) -> Tensor:
    one = _settled([value.item() if isinstance(value, Tensor) else value], dtype)[0]
    return new([one] * math.prod(shape), shape, dtype)


@operation(method=False)
def zeros(*size: Any, dtype: Dtype | None = None, out: None = None, **rest: Any) -> Tensor:
    """Make zeros."""
    shape = rest.pop("size", None)
    options(**rest)
    return _filled(sizes(size if shape is None else (shape,)), 0, dtype or dtypes.DEFAULT)


@operation(method=False)
def ones(*size: Any, dtype: Dtype | None = None, out: None = None, **rest: Any) -> Tensor:
    """Make ones."""
    shape = rest.pop("size", None)
    options(**rest)
    return _filled(sizes(size if shape is None else (shape,)), 1, dtype or dtypes.DEFAULT)


@operation(method=False)
def empty(*size: Any, dtype: Dtype | None = None, **rest: Any) -> Tensor:
    """Make a tensor to be filled. In PyTorch what it holds is left to chance; here it is NaN."""
    shape = rest.pop("size", None)
    options(**rest)
    dtype = dtype or dtypes.DEFAULT
    value = math.nan if dtype.kind in "fc" else 0
    return _filled(sizes(size if shape is None else (shape,)), value, dtype)


@operation(method=False)
def full(size: Any, fill_value: Any, *, dtype: Dtype | None = None, **rest: Any) -> Tensor:
    """Make a tensor of one number."""
    options(**rest)
    if dtype is None:
        dtype = fill_value.dtype if isinstance(fill_value, Tensor) else dtypes.of_scalar(fill_value)
    return _filled(sizes((size,)), fill_value, dtype)


def _like(name: str, value: Any) -> None:
    def made(input: Tensor, *, dtype: Dtype | None = None, **rest: Any) -> Tensor:
        options(**rest)
        return _filled(input.shape, value, dtype or input.dtype)

    made.__doc__ = f"Make a tensor of the shape of another, filled with {value}."
    operation(f"{name}_like", method=False)(made)

    def fresh(input: Tensor, *size: Any, dtype: Dtype | None = None, **rest: Any) -> Tensor:
        options(**rest)
        return _filled(sizes(size), value, dtype or input.dtype)

    fresh.__doc__ = f"Make a tensor of the dtype of another, filled with {value}."
    operation(f"new_{name}", function=False)(fresh)


_like("zeros", 0)
_like("ones", 1)


@operation(method=False)
def empty_like(input: Tensor, *, dtype: Dtype | None = None, **rest: Any) -> Tensor:
    """Make a tensor of the shape of another, to be filled."""
    return empty(input.shape, dtype=dtype or input.dtype, **rest)


@operation(function=False)
def new_empty(input: Tensor, *size: Any, dtype: Dtype | None = None, **rest: Any) -> Tensor:
    """Make a tensor of the dtype of another, to be filled."""
    return empty(*size, dtype=dtype or input.dtype, **rest)


@operation(method=False)
def full_like(input: Tensor, fill_value: Any, *, dtype: Dtype | None = None, **rest: Any) -> Tensor:
    """Make a tensor of the shape of another, of one number."""
    options(**rest)
    return _filled(input.shape, fill_value, dtype or input.dtype)


@operation(function=False)
def new_full(input: Tensor, size: Any, fill_value: Any, *, dtype: Dtype | None = None, **rest: Any) -> Tensor:
    """Make a tensor of the dtype of another, of one number."""
    options(**rest)
    return _filled(sizes((size,)), fill_value, dtype or input.dtype)


@operation(function=False)
def new_tensor(input: Tensor, data: Any, *, dtype: Dtype | None = None, **rest: Any) -> Tensor:
    """Make a tensor of the dtype of another, of given numbers."""
    return tensor(data, dtype=dtype or input.dtype, **rest)


@operation(method=False)
def arange(*bounds: Any, dtype: Dtype | None = None, **rest: Any) -> Tensor:
    """Count from a start up to an end that is left out."""
    start, end, step = rest.pop("start", 0), rest.pop("end", None), rest.pop("step", 1)
    options(**rest)
    if len(bounds) == 1 and end is None:
        (end,) = bounds
    elif bounds:
        start, end, *more = (*bounds, end) if len(bounds) == 1 else bounds
        step = more[0] if more else step
    if end is None:
        raise TypeError("arange() received an invalid combination of arguments")
    start, end, step = (x.item() if isinstance(x, Tensor) else x for x in (start, end, step))
    whole = all(not isinstance(x, float) for x in (start, end, step))
    dtype = dtype or (dtypes.int64 if whole else dtypes.DEFAULT)
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    n = -((start - end) // step) if whole else math.ceil((end - start) / step)
    xs = [start + i * step for i in range(int(n))]
    return new(_settled(xs, dtype), (int(n),), dtype)


@operation(method=False)
def linspace(start: Any, end: Any, steps: int, *, dtype: Dtype | None = None, **rest: Any) -> Tensor:
    """Return numbers at equal distances, both ends among them."""
    options(**rest)
    dtype = dtype or dtypes.DEFAULT
    start, end = (float(x) for x in (start, end))
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    start, end = dtype.settle([start, end]) if dtype.kind == "f" else (start, end)
    step = (end - start) / max(steps - 1, 1)
    step = dtype.settle([step])[0] if dtype.kind == "f" else step
    half = steps // 2
    xs = [start + i * step if i < half else end - (steps - 1 - i) * step for i in range(steps)]
    if steps == 1:
        xs = [start]
    return new(_settled(xs, dtype), (steps,), dtype)


@operation(method=False)
def logspace(
    start: float, end: float, steps: int, base: float = 10.0, *, dtype: Dtype | None = None, **rest: Any
) -> Tensor:
    """Return numbers whose logarithms are at equal distances."""
    options(**rest)
    dtype = dtype or dtypes.DEFAULT
    xs = flat(linspace(start, end, steps, dtype=dtypes.float64))
    return new(_settled([base**x for x in xs], dtype), (steps,), dtype)


@operation(method=False)
def eye(n: int, m: int | None = None, *, dtype: Dtype | None = None, **rest: Any) -> Tensor:
    """Make ones on the diagonal."""
    options(**rest)
    m = n if m is None else m
    sizes((n, m))
    dtype = dtype or dtypes.DEFAULT
    zero, one = _settled([0, 1], dtype)
    xs = [zero] * (n * m)
    xs[: m * min(n, m) : m + 1] = [one] * min(n, m)
    return new(xs, (n, m), dtype)


def _triangle(row: int, col: int, keep: Any, dtype: Dtype) -> Tensor:
    pairs = [(i, j) for i in range(row) for j in range(col) if keep(i, j)]
    return new([i for i, _ in pairs] + [j for _, j in pairs], (2, len(pairs)), dtype)


@operation(method=False)
def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Dtype = dtypes.int64, **rest: Any) -> Tensor:
    """Return rows and columns of the upper triangle."""
    options(**rest)
    return _triangle(row, col, lambda i, j: j - i >= offset, dtype)


@operation(method=False)
def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Dtype = dtypes.int64, **rest: Any) -> Tensor:
    """Return rows and columns of the lower triangle."""
    options(**rest)
    return _triangle(row, col, lambda i, j: j - i <= offset, dtype)


@operation(method=False)
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """Return all combinations of one number of each, a row each."""
    rows = list(itertools.product(*map(flat, tensors)))
    if len(tensors) == 1:
        return tensors[0]
    return new([x for row in rows for x in row], (len(rows), len(tensors)), tensors[0].dtype)


@operation()
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Return all ways to take some of the numbers, a row each."""
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = list(choose(flat(input), r))
    return new([x for row in rows for x in row], (len(rows), r), input.dtype)


def _drawn(
    shape: Size, dtype: Dtype | None, generator: random.Generator | None, rest: dict, draw: Any
) -> Tensor:
    options(**rest)
    dtype = dtype or dtypes.DEFAULT
    if dtype.kind != "f":
        raise NotImplementedError(f"\"normal_kernel_cpu\" not implemented for '{dtype.title}'")
    return new(draw(generator or random.default_generator, math.prod(shape), dtype), shape, dtype)


@operation(method=False)
def randn(
    *size: Any, generator: random.Generator | None = None, dtype: Dtype | None = None, **rest: Any
) -> Tensor:
    """Draw normal numbers, the same as PyTorch's."""
    shape = rest.pop("size", None)
    shape = sizes(size if shape is None else (shape,))
    return _drawn(shape, dtype, generator, rest, random.normal_numbers)


@operation(method=False)
def rand(
    *size: Any, generator: random.Generator | None = None, dtype: Dtype | None = None, **rest: Any
) -> Tensor:
    """Draw numbers from 0 to 1, the same as PyTorch's."""
    shape = rest.pop("size", None)
    shape = sizes(size if shape is None else (shape,))
    return _drawn(shape, dtype, generator, rest, random.uniform_numbers)


@operation(method=False)
def randn_like(input: Tensor, *, dtype: Dtype | None = None, **rest: Any) -> Tensor:
    """Draw normal numbers in the shape of another tensor."""
    return (
        randn(*input.shape, dtype=dtype or input.dtype, **rest)
        if input.ndim
        else randn((), dtype=dtype or input.dtype, **rest)
    )


@operation(method=False)
def rand_like(input: Tensor, *, dtype: Dtype | None = None, **rest: Any) -> Tensor:
    """Draw numbers from 0 to 1 in the shape of another tensor."""
    return rand(tuple(input.shape), dtype=dtype or input.dtype, **rest)


@operation(method=False)
def randint(
    *given: Any, generator: random.Generator | None = None, dtype: Dtype | None = None, **rest: Any
) -> Tensor:
    """Draw whole numbers, the same as PyTorch's."""
    names = ["low", "high", "size"]
    known = {name: rest.pop(name) for name in names if name in rest}
    options(**rest)
    given = list(given)
    if "size" not in known:
        known["size"] = given.pop()
    if "high" not in known:
        known["high"] = given.pop()
    low = known.get("low", given.pop() if given else 0)
    low, high, shape = int(low), int(known["high"]), sizes((known["size"],))
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    dtype = dtype or dtypes.int64
    xs = random.whole_numbers(generator or random.default_generator, math.prod(shape), low, high)
    return new(dtypes.cast(xs, dtypes.int64, dtype), shape, dtype)


@operation(method=False)
def randperm(
    n: int, *, generator: random.Generator | None = None, dtype: Dtype = dtypes.int64, **rest: Any
) -> Tensor:
    """Draw an order of the numbers below n, the same as PyTorch's."""
    options(**rest)
    if n < 0:
        raise RuntimeError(f"n must be non-negative, got{n}")
    return new(random.permutation(generator or random.default_generator, int(n)), (int(n),), dtype)


def scalar_of(x: Any, dtype: Dtype) -> Any:
    """Return a number of Python's own as a dtype holds it."""
    return dtypes.cast([x], dtypes.of_scalar(x) if not isinstance(x, float) else dtypes.float64, dtype)[0]


def same_memory(x: Tensor) -> Tensor:
    """Return another tensor on the same memory."""
    return view(x, x._shape, x._strides, x._offset)
