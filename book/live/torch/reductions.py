"""Operations along axes: sums, means, largest, softmax, running sums."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

from torch import dtypes, elementwise, missing
from torch.dispatch import operation
from torch.dtypes import bool_, cast, dtype, float64, int64
from torch.storage import Size
from torch.tensor import Tensor, flat, new, one_axis, some_axes, view


class Found(NamedTuple):
    """Values, and where they were."""

    values: Tensor
    indices: Tensor
    _of = "max"

    def __repr__(self) -> str:
        return f"torch.return_types.{self._of}(\nvalues={self.values!r},\nindices={self.indices!r})"


def found_by(name: str) -> type[Found]:
    """Return a pair that is printed as what an operation returns."""
    return type(name, (Found,), {"_of": name, "__slots__": (), "__doc__": Found.__doc__})


def rows(x: Tensor, axes: list[int]) -> tuple[list[list], Size]:
    """Return what lies along the axes, a list for each place in the others, and the shape of those."""
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    order = kept + axes
    turned = x if order == list(range(x.ndim)) else view(
        x, [x._shape[a] for a in order], [x._strides[a] for a in order], x._offset
    )  # fmt: skip
    xs, n = flat(turned), math.prod(x._shape[a] for a in axes)
    shape = Size(x._shape[a] for a in kept)
    if n == 0:
        return [[] for _ in range(math.prod(shape))], shape
    return [xs[i : i + n] for i in range(0, len(xs), n)], shape


def shaped(x: Tensor, axes: list[int], shape: Size, keepdim: bool) -> Size:
    """Return the shape after a reduction."""
    return Size(1 if axis in axes else n for axis, n in enumerate(x._shape)) if keepdim else shape


def reduced(
    x: Tensor, dim: Any, keepdim: bool, function: Callable[[list], Any], kind: dtype, name: str = ""
) -> Tensor:
    """Return one number for what lies along some axes."""
    axes = some_axes(dim, x.ndim)
    lists, shape = rows(x, axes)
    if x.ndim == 0:
        lists = [list(flat(x))]
    return new(kind.settle(list(map(function, lists))), shaped(x, axes, shape, keepdim), kind)


def _add_up(xs: list) -> float:
    return float(sum(xs))


@operation("sum")
def sum_(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: dtype | None = None) -> Tensor:
    """Add up along axes."""
    elementwise._needs_tensor("sum", input)
    kind = dtype or (int64 if input.dtype.kind in "bi" else input.dtype)
    if kind is not input.dtype:
        input = elementwise.to_dtype(input, kind)
    return reduced(input, dim, keepdim, _add_up if kind.kind == "f" else sum, kind)


@operation("nansum")
def nansum(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Add up along axes what is a number."""
    return sum_(elementwise.masked_fill(input, elementwise.isnan(input), 0.0), dim, keepdim)


@operation("mean")
def mean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: dtype | None = None) -> Tensor:
    """Take the mean along axes."""
    elementwise._needs_tensor("mean", input)
    kind = dtype or input.dtype
    if kind.kind not in "fc":
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex "
            f"dtype. Got: {input.dtype.title}"
        )
    input = elementwise.to_dtype(input, kind)
    wide = kind if kind.itemsize > 2 else dtypes.float32  # a sum that overflows is an infinity
    sums = reduced(input, dim, keepdim, _add_up if kind.kind == "f" else sum, wide)
    n = input.numel() / sums.numel() if sums.numel() else 1
    return new(kind.settle([elementwise._divide(x, n) for x in flat(sums)]), sums.shape, kind)


@operation("prod")
def prod(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: dtype | None = None) -> Tensor:
    """Multiply along an axis."""
    kind = dtype or (int64 if input.dtype.kind in "bi" else input.dtype)
    input = elementwise.to_dtype(input, kind)
    return reduced(input, dim, keepdim, lambda xs: math.prod(xs, start=1.0 if kind.kind == "f" else 1), kind)


def _correction(unbiased: Any, correction: Any) -> float:
    return correction if correction is not None else 1 if unbiased is None or unbiased else 0


def _spread_of(input: Tensor, args: tuple, kwargs: dict, root: bool) -> Tensor:
    dim, unbiased, keepdim = kwargs.get("dim"), kwargs.get("unbiased"), kwargs.get("keepdim", False)
    given = list(args)
    if given and isinstance(given[0], bool):
        unbiased = given.pop(0)
    elif given:
        dim = given.pop(0)
        if given and isinstance(given[0], bool):
            unbiased = given.pop(0)
    if given:
        keepdim = given.pop(0)
    less = _correction(unbiased, kwargs.get("correction"))
    if input.dtype.kind != "f":
        name = "std and var"
        raise RuntimeError(f"{name} only support floating point and complex dtypes")

    def one(xs: list) -> float:
        n = len(xs)
        if not n:
            return math.nan
        middle = sum(xs) / n
        if not math.isfinite(middle):
            return math.nan
        found = elementwise._divide(sum((x - middle) ** 2 for x in xs), max(n - less, 0))
        return math.sqrt(found) if root and found == found and found >= 0 else found

    return reduced(input, dim, keepdim, one, input.dtype)


@operation("std")
def std(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Take the standard deviation along axes."""
    return _spread_of(input, args, kwargs, True)


@operation("var")
def var(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Take the variance along axes."""
    return _spread_of(input, args, kwargs, False)


@operation("var_mean", method=False)
def var_mean(input: Tensor, dim: Any = None, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """Take variance and mean along axes."""
    return _spread_of(input, (), {"dim": dim, **kwargs}, False), mean(
        input, dim, kwargs.get("keepdim", False)
    )


def _truth(name: str, function: Callable, doc: str) -> Callable:
    def made(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
        elementwise._needs_tensor(name, input)
        if isinstance(dim, (tuple, list)) and not dim:
            dim = None
        return reduced(input, dim, keepdim, function, bool_)

    made.__doc__ = doc
    return operation(name)(made)


all_ = _truth("all", all, "Tell whether all hold.")
any_ = _truth("any", any, "Tell whether one holds.")


@operation("count_nonzero")
def count_nonzero(input: Tensor, dim: Any = None) -> Tensor:
    """Count what is not zero."""
    return reduced(input, dim, False, lambda xs: sum(x != 0 for x in xs), int64)


def _no_nan(function: Callable) -> Callable:
    """Return a largest or smallest that is NaN where there is one."""

    def one(xs: list) -> Any:
        found = function(xs)
        if found != found or (isinstance(found, float) and any(map(operator.ne, xs, xs))):
            return math.nan
        return found

    return one


_MAX, _MIN = _no_nan(max), _no_nan(min)


def _nonempty(name: str, input: Tensor, dim: Any) -> None:
    if input.numel():
        return
    if dim is None or dim == ():
        raise RuntimeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
            "Specify the reduction dim with the 'dim' argument."
        )
    for axis in some_axes(dim, input.ndim):
        if not input._shape[axis]:
            raise IndexError(f"{name}(): Expected reduction dim {axis} to have non-zero size.")


def _extreme(name: str, function: Callable, doc: str) -> Callable:
    def made(input: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
        elementwise._needs_tensor(name, input)
        _nonempty(name, input, dim)
        return reduced(input, dim, keepdim, function, input.dtype)

    made.__doc__ = doc
    return operation(name)(made)


amax = _extreme("amax", _MAX, "Return the largest along axes.")
amin = _extreme("amin", _MIN, "Return the smallest along axes.")


def _place(xs: list, found: Any) -> int:
    if found == found:
        return xs.index(found)
    return next(n for n, x in enumerate(xs) if x != x)


def _best(name: str, function: Callable, pick: Callable, doc: str) -> None:
    pair = found_by(name)

    def found(input: Tensor, *args: Any, **kwargs: Any) -> Any:
        elementwise._needs_tensor(name, input)
        if args and isinstance(args[0], Tensor):
            return pick(input, args[0])
        if isinstance(kwargs.get("other"), Tensor):
            return pick(input, kwargs["other"])
        dim = kwargs.get("dim", args[0] if args else None)
        keepdim = kwargs.get("keepdim", args[1] if len(args) > 1 else False)
        if dim is None:
            if not input.numel():
                _nonempty(name, input, None)
            return reduced(input, None, False, function, input.dtype)
        if isinstance(dim, (tuple, list)):
            raise TypeError(f"{name}() received an invalid combination of arguments - got (tuple)")
        _nonempty(name, input, dim)
        values = reduced(input, dim, keepdim, function, input.dtype)
        return pair(values, reduced(input, dim, keepdim, lambda xs: _place(xs, function(xs)), int64))

    found.__doc__ = doc
    operation(name)(found)


_best("max", _MAX, elementwise.maximum, "Return the largest, along an axis with its place.")
_best("min", _MIN, elementwise.minimum, "Return the smallest, along an axis with its place.")


class Bounds(NamedTuple):
    """The smallest and the largest."""

    min: Tensor
    max: Tensor


@operation("aminmax")
def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> Bounds:
    """Return the smallest and the largest."""
    _nonempty("aminmax", input, dim)
    lows, highs = (reduced(input, dim, keepdim, one, input.dtype) for one in (_MIN, _MAX))
    return Bounds(lows, highs)


def _where_best(name: str, function: Callable, doc: str) -> Callable:
    def made(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
        elementwise._needs_tensor(name, input)
        if input.dtype is bool_:
            raise RuntimeError(f"{name}(): does not support bool input")
        _nonempty(name, input, dim)
        return reduced(input, dim, keepdim, lambda xs: _place(xs, function(xs)), int64)

    made.__doc__ = doc
    return operation(name)(made)


argmax = _where_best("argmax", _MAX, "Return where the largest is.")
argmin = _where_best("argmin", _MIN, "Return where the smallest is.")


@operation("median")
def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """Return the lower of the middle numbers."""
    some_axes(dim, input.ndim)
    if input.dtype is bool_:
        raise NotImplementedError("\"median_out\" not implemented for 'Bool'")

    def middle(xs: list) -> Any:
        return math.nan if any(x != x for x in xs) else sorted(xs)[(len(xs) - 1) // 2]

    values = reduced(input, dim, keepdim, middle, input.dtype)
    if dim is None:
        return values
    return Found(values, reduced(input, dim, keepdim, lambda xs: xs.index(middle(xs)), int64))


@operation("quantile")
def quantile(input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Return the number below which a share of the numbers lies."""
    if isinstance(q, Tensor) and q.ndim:
        from torch import shaping

        return shaping.stack([quantile(input, one, dim, keepdim) for one in q])
    if input.dtype not in (dtypes.float32, float64):
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    q = float(q)

    def one(xs: list) -> float:
        xs = sorted(xs)
        at = q * (len(xs) - 1)
        low = math.floor(at)
        return xs[low] + (xs[min(low + 1, len(xs) - 1)] - xs[low]) * (at - low)

    return reduced(input, dim, keepdim, one, input.dtype)


# softmax and what belongs to it


def along(input: Tensor, dim: int, function: Callable[[list], list], kind: dtype) -> Tensor:
    """Return a tensor of the same shape, made of lists along one axis."""
    axis = one_axis(dim, input.ndim)
    if not input.ndim:
        return new(kind.settle(function(list(flat(input)))), (), kind)
    lists, shape = rows(input, [axis])
    xs = [x for one in lists for x in function(one)]
    found = new(kind.settle(xs), (*shape, input._shape[axis]), kind)
    if axis == input.ndim - 1:
        return found
    order = [*range(axis), input.ndim - 1, *range(axis, input.ndim - 1)]
    turned = view(found, [found._shape[a] for a in order], [found._strides[a] for a in order], 0)
    return new(flat(turned), turned._shape, kind)


def _softmax(xs: list) -> list:
    top = max(xs, default=0.0)
    if not math.isfinite(top) or any(map(operator.ne, xs, xs)):
        return [math.nan] * len(xs)
    exp = math.exp
    powers = [exp(x - top) for x in xs]
    total = 0.0
    for x in powers:  # rounded at each step, as `sum` no longer is
        total += x
    return [x / total for x in powers]


def _softmax_single(xs: list) -> list:
    """Round at each step, as PyTorch does: a sum in another order then is another one in its last digit."""
    top = max(xs, default=0.0)
    if not math.isfinite(top) or any(map(operator.ne, xs, xs)):
        return [math.nan] * len(xs)
    exp, settle = math.exp, dtypes.float32.settle
    powers = settle([exp(x - top) for x in xs])
    total = 0.0
    for x in powers:
        total += x
        far = total * 536870913.0  # 2**29 + 1, which leaves the first 24 bits
        total = far - (far - total)
    return [x / total for x in powers]


def _log_softmax(xs: list) -> list:
    top = max(xs, default=0.0)
    if not math.isfinite(top) or any(map(operator.ne, xs, xs)):
        return [math.nan] * len(xs)
    exp = math.exp
    less = top + math.log(sum([exp(x - top) for x in xs])) if xs else 0.0
    return [x - less for x in xs]


def _needs_real(name: str, input: Tensor, kind: dtype) -> None:
    if kind.kind != "f":
        raise NotImplementedError(f"\"{name}\" not implemented for '{kind.title}'")


def _soft(names: tuple[str, ...], kernel: str, function: Callable, doc: str) -> Callable:
    def made(input: Tensor, dim: Any = None, dtype: dtype | None = None, **rest: Any) -> Tensor:
        elementwise._needs_tensor(names[0], input)
        if dim is None:
            raise TypeError(f"{names[0]}() received an invalid combination of arguments - got (Tensor)")
        if dtype is not None:
            input = elementwise.to_dtype(input, dtype)
        last = not input.ndim or one_axis(dim, input.ndim) == input.ndim - 1
        one_axis(dim, input.ndim)
        _needs_real(
            kernel.format("lastdim_" if last else "") if "{" in kernel else kernel, input, input.dtype
        )
        one = _softmax_single if function is _softmax and input.dtype is dtypes.float32 else function
        return along(input, dim, one, input.dtype)

    made.__doc__ = doc
    return operation(*names)(made)


softmax = _soft(("softmax",), "softmax_{}kernel_impl", _softmax, "Make weights that add up to one.")
log_softmax = _soft(("log_softmax",), "log_softmax_{}kernel_impl", _log_softmax, "Take their logarithms.")


@operation("logsumexp")
def logsumexp(input: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """Take the logarithm of a sum of exponentials."""
    if input.dtype.kind in "bi":
        input = elementwise.to_dtype(input, dtypes.DEFAULT)

    def one(xs: list) -> float:
        if any(map(operator.ne, xs, xs)):
            return math.nan
        top = max(xs, default=-math.inf)
        if math.isinf(top):
            return top
        return top + math.log(sum([math.exp(x - top) for x in xs]))

    return reduced(input, dim, keepdim, one, input.dtype)


# running ones


def _running(name: str, step: Callable, doc: str) -> Callable:
    def made(input: Tensor, dim: int, *, dtype: dtype | None = None) -> Tensor:
        kind = dtype or (int64 if input.dtype.kind in "bi" else input.dtype)
        input = elementwise.to_dtype(input, kind)
        return along(input, dim, lambda xs: list(itertools.accumulate(xs, step)), kind)

    made.__doc__ = doc
    return operation(name)(made)


cumsum = _running("cumsum", operator.add, "Add up along an axis, step by step.")
cumprod = _running("cumprod", operator.mul, "Multiply along an axis, step by step.")


@operation("logcumsumexp")
def logcumsumexp(input: Tensor, dim: int) -> Tensor:
    """Take the logarithms of sums of exponentials, step by step."""
    one_axis(dim, input.ndim)
    if input.dtype.kind != "f":
        raise NotImplementedError(f"\"logcumsumexp_out_cpu\" not implemented for '{input.dtype.title}'")

    def step(x: float, y: float) -> float:
        top = max(x, y)
        return top if math.isinf(top) else top + math.log1p(math.exp(-abs(x - y)))

    return along(input, dim, lambda xs: list(itertools.accumulate(xs, step)), input.dtype)


def _running_best(name: str, better: Callable) -> None:
    def made(input: Tensor, dim: int) -> Found:
        def values(xs: list) -> list:
            return list(itertools.accumulate(xs, lambda x, y: y if better(y, x) or y != y else x))

        def places(xs: list) -> list:
            return list(itertools.accumulate(range(len(xs)), lambda i, j: j if better(xs[j], xs[i]) else i))

        return Found(along(input, dim, values, input.dtype), along(input, dim, places, int64))

    made.__doc__ = "Return the best so far, and where it was."
    operation(name)(made)


_running_best("cummax", operator.ge)
_running_best("cummin", operator.le)


@operation("diff")
def diff(
    input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """Return how far neighbours lie apart."""
    from torch import shaping

    if not input.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    parts = [x for x in (prepend, input, append) if x is not None]
    x = shaping.cat(parts, dim) if len(parts) > 1 else input
    for _ in range(n):
        size = x._shape[one_axis(dim, x.ndim)]
        late, early = shaping.narrow(x, dim, 1, size - 1), shaping.narrow(x, dim, 0, size - 1)
        x = elementwise.ne(late, early) if x.dtype is bool_ else elementwise.sub(late, early)
    return x


# lengths


def _length(xs: list, p: float) -> float:
    if p == 2:
        return math.sqrt(sum([abs(x) ** 2 for x in xs])) if xs and isinstance(xs[0], complex) else _euclid(xs)
    sizes = [abs(x) for x in xs]
    if p == math.inf:
        return max(sizes, default=0.0) if not any(x != x for x in sizes) else math.nan
    if p == -math.inf:
        return min(sizes, default=0.0) if not any(x != x for x in sizes) else math.nan
    if p == 0:
        return float(sum(x != 0 for x in sizes))
    return elementwise._power(sum(elementwise._power(x, p) for x in sizes), 1 / p)


def abs2(x: Any) -> float:
    """Return the square of the size of a number."""
    return abs(x) ** 2


def _euclid(xs: list) -> float:
    total = sum(map(operator.mul, xs, xs))
    return math.sqrt(total) if total == total else math.nan


@operation("norm")
def norm(
    input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: dtype | None = None
) -> Tensor:
    """Return the length along axes."""
    if dtype is not None:
        input = elementwise.to_dtype(input, dtype)
    if input.dtype.kind in "bi":
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. "
            f"Got {input.dtype.title}"
        )
    if p == "nuc":
        missing.refuse('torch.norm(p="nuc")')
    power = 2 if p in ("fro", None) else float(p)
    kind = input.dtype if input.dtype.kind == "f" else elementwise.abs_(input).dtype
    if kind is dtypes.float32 and power == 2:  # squares that overflow are infinities
        squares = reduced(input, dim, keepdim, lambda xs: sum(map(abs2, xs)), kind)
        return elementwise.sqrt(squares)
    return reduced(input, dim, keepdim, lambda xs: _length(xs, power), kind)


@operation("dist")
def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """Return how far two lie apart."""
    return norm(elementwise.sub(input, other), p)


@operation("cdist", method=False)
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "") -> Tensor:
    """Return how far all lie apart."""
    from torch import shaping

    for n, x in enumerate((x1, x2), 1):
        if x.dtype.kind != "f":
            raise RuntimeError(f"cdist only supports floating-point dtypes, X{n} got: {x.dtype.title}")
    for n, x in enumerate((x1, x2), 1):
        if x.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, X{n} got: {x.ndim}D")
    apart = elementwise.sub(shaping.unsqueeze(x1, -2), shaping.unsqueeze(x2, -3))
    return norm(apart, p, -1)


@operation("bincount")
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """Count how often each number below the largest is there."""
    if input.ndim != 1 or input.dtype.kind != "i":
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    xs = flat(input)
    if any(x < 0 for x in xs):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    n = max([minlength, *(x + 1 for x in xs)])
    if weights is None:
        counts = [0] * n
        for x in xs:
            counts[x] += 1
        return new(counts, (n,), int64)
    kind = weights.dtype if weights.dtype is dtypes.float32 else float64
    sums = [0.0] * n
    for x, weight in zip(xs, flat(weights), strict=True):
        sums[x] += weight
    return new(kind.settle(sums), (n,), kind)


@operation("histc")
def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """Count how many lie between bounds."""
    xs = flat(input)
    low, high = (min, max) if min != max else (builtin_min(xs), builtin_max(xs))
    counts = [0.0] * bins
    for x in xs:
        if low <= x <= high:
            counts[builtin_min([int((x - low) / (high - low) * bins), bins - 1])] += 1
    return new(counts, (bins,), input.dtype)


builtin_min, builtin_max = min, max


def as_real(input: Tensor) -> Tensor:
    """Return it with real numbers."""
    return input if input.dtype.kind in "fc" else new(
        cast(flat(input), input.dtype, dtypes.DEFAULT), input._shape, dtypes.DEFAULT
    )  # fmt: skip
