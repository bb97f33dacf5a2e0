"""Order: sorting, the largest few, what is there at all."""

from __future__ import annotations

import bisect
import math
from typing import Any

from torch import missing, selection, shaping
from torch.dispatch import operation
from torch.dtypes import bool_, int64
from torch.indexing import take_along_dim
from torch.reductions import along, found_by, rows
from torch.tensor import Tensor, flat, new, one_axis

Sorted, Top, Kth = found_by("sort"), found_by("topk"), found_by("kthvalue")


def _order(xs: list, descending: bool) -> list[int]:
    """Return the places of the numbers in order; NaN counts as the largest, equals stay as they were."""
    keys = [math.inf if x != x else x for x in xs]
    odd = [x != x for x in xs]
    if descending:
        return sorted(range(len(xs)), key=lambda i: (not odd[i], -keys[i]))
    return sorted(range(len(xs)), key=lambda i: (odd[i], keys[i]))


@operation("argsort")
def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """Return the places of the numbers in order."""
    return along(input, dim, lambda xs: _order(xs, descending), int64)


@operation("sort")
def sort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Sorted:
    """Return the numbers in order, and their places."""
    values = along(input, dim, lambda xs: [xs[i] for i in _order(xs, descending)], input.dtype)
    return Sorted(values, argsort(input, dim, descending))


@operation("msort")
def msort(input: Tensor) -> Tensor:
    """Return the numbers in order along the first axis."""
    return sort(input, 0).values


@operation("topk")
def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Top:
    """Return the largest few, and their places."""
    if input.dtype is bool_:
        raise RuntimeError("topk does not support bool dtypes on CPU")
    axis = one_axis(dim, input.ndim)
    k = int(k)
    if k < 0 or k > (input._shape[axis] if input.ndim else 1):
        raise RuntimeError("selected index k out of range")
    if not input.ndim:
        return Top(*sort(input, dim, largest))
    best = along_shorter(input, axis, k, lambda xs: _top(xs, k, largest))
    return Top(take_along_dim(input, best, axis), best)


def _top(xs: list, k: int, largest: bool) -> list[int]:
    def larger(i: int, j: int) -> bool:
        x, y = xs[i], xs[j]
        return (x != x and y == y) or x > y

    def smaller(i: int, j: int) -> bool:
        x, y = xs[i], xs[j]
        return (x == x and y != y) or x < y

    return selection.largest(list(range(len(xs))), k, larger if largest else smaller)


def along_shorter(input: Tensor, axis: int, k: int, function: Any) -> Tensor:
    """Return k whole numbers for what lies along an axis."""
    lists, shape = rows(input, [axis])
    found = new([i for xs in lists for i in function(xs)], (*shape, k), int64)
    return shaping.clone(shaping.movedim(found, -1, axis))


@operation("kthvalue")
def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Kth:
    """Return the number that is k-th in order."""
    values, places = sort(input, dim)
    one, two = (shaping.narrow(x, dim, k - 1, 1) for x in (values, places))
    return Kth(one, two) if keepdim else Kth(shaping.squeeze(one, dim), shaping.squeeze(two, dim))


@operation("unique")
def unique(
    input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
    dim: int | None = None,
) -> Any:  # fmt: skip
    """Return what is there, each once, in order."""
    if dim is not None:
        return _unique_slices(input, dim, return_inverse, return_counts)
    xs = flat(input)
    seen = list(dict.fromkeys(xs))
    found = [seen[i] for i in _order(seen, False)]
    place = {x: n for n, x in enumerate(found)}
    parts = [new(found, (len(found),), input.dtype)]
    if return_inverse:
        parts.append(new([place[x] for x in xs], input._shape, int64))
    if return_counts:
        parts.append(new([xs.count(x) for x in found], (len(found),), int64))
    return parts[0] if len(parts) == 1 else tuple(parts)


def _unique_slices(input: Tensor, dim: int, inverse: bool, counts: bool) -> Any:
    axis = one_axis(dim, input.ndim)
    slices = [tuple(flat(one)) for one in shaping.unbind(input, axis)]
    if any(x != x for one in slices for x in one):
        missing.refuse("torch.unique(dim=...)", " where there is a NaN")
    found = sorted(set(slices))
    parts = [shaping.taken(input, axis, [slices.index(one) for one in found])]
    if inverse:
        parts.append(new([found.index(one) for one in slices], (len(slices),), int64))
    if counts:
        parts.append(new([slices.count(one) for one in found], (len(found),), int64))
    return parts[0] if len(parts) == 1 else tuple(parts)


@operation("unique_consecutive")
def unique_consecutive(input: Tensor) -> Tensor:
    """Return the numbers without repetitions of the one before."""
    xs = flat(input)
    found = [x for n, x in enumerate(xs) if not n or x != xs[n - 1]]
    return new(found, (len(found),), input.dtype)


@operation("isin", method=False)
def isin(elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False) -> Tensor:
    """Tell which of some numbers are among others."""
    for x in (elements, test_elements):
        if isinstance(x, Tensor) and x.dtype is bool_:
            raise RuntimeError("Unsupported input type encountered for isin(): Bool")
    known = set(flat(test_elements)) if isinstance(test_elements, Tensor) else {test_elements}
    if not isinstance(elements, Tensor):
        return new([(elements in known) != invert], (), bool_)
    return new([(x in known) != invert for x in flat(elements)], elements._shape, bool_)


@operation("searchsorted", method=False)
def searchsorted(sorted_sequence: Tensor, input: Any, *, right: bool = False, side: str | None = None) -> Any:
    """Return where numbers would have to be put into an ordered list."""
    if sorted_sequence.ndim != 1:
        missing.refuse("torch.searchsorted", " with more than one axis")
    find = bisect.bisect_right if right or side == "right" else bisect.bisect_left
    xs = flat(sorted_sequence)
    if not isinstance(input, Tensor):
        return new([find(xs, input)], (), int64)
    return new([find(xs, x) for x in flat(input)], input._shape, int64)


@operation("bucketize", method=False)
def bucketize(input: Any, boundaries: Tensor, *, right: bool = False) -> Any:
    """Return between which bounds numbers lie."""
    return searchsorted(boundaries, input, right=right)
