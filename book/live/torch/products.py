"""Matrix products, and sums of products as ``einsum`` writes them."""

from __future__ import annotations

import math
import operator
from typing import Any

from torch import elementwise, missing, reductions, shaping, storage
from torch.dispatch import operation
from torch.dtypes import dtype, float64
from torch.storage import Size
from torch.tensor import Tensor, flat, new, view

try:
    from math import sumprod as _dot
except ImportError:  # Python 3.11

    def _dot(xs: list, ys: list) -> Any:
        return sum(map(operator.mul, xs, ys))


def _same_dtype(a: Tensor, b: Tensor, batched: bool) -> None:
    if a.dtype is b.dtype:
        return
    names = {"Float": "float", "Double": "double", "Long": "long int", "Int": "int", "Bool": "bool",
             "Half": "c10::Half", "BFloat16": "c10::BFloat16"}  # fmt: skip
    if batched:
        raise RuntimeError(f"expected scalar type {a.dtype.title} but found {b.dtype.title}")
    one, two = (names.get(x.dtype.title, x.dtype.title) for x in (a, b))
    raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {one} != {two}")


STEPS = 1 << 14  # up to so many, products of float32 are rounded at each step
SPLIT = 2.0**29 + 1  # times which a number shows the first 24 bits of it


def _matrix(xs: list, ys: list, n: int, k: int, m: int, kind: dtype) -> list:
    """Multiply an (n, k) by a (k, m) matrix; ``ys`` is the second one turned, (m, k).

    Small ones are rounded at each step as PyTorch's are, so that sums in another order differ in
    their last digits there as here. Large ones are rounded once, which is closer and quicker.
    """
    if not k:
        return [0.0] * (n * m)
    left = [xs[i : i + k] for i in range(0, n * k, k)]
    if kind.kind == "f" and n * k * m <= STEPS:
        found = []
        across = [ys[i::k] for i in range(k)]
        for row in left:
            sums = [0.0] * m
            for x, others in zip(row, across, strict=True):
                if kind is float64:
                    sums = [total + x * y for total, y in zip(sums, others, strict=True)]
                    continue
                sums = [
                    (far := (one := total + x * y) * SPLIT) - (far - one)
                    for total, y in zip(sums, others, strict=True)
                ]
            found += sums
        if not any(map(operator.ne, found, found)):  # an infinity does not survive the rounding
            return found
    right = [ys[i : i + k] for i in range(0, m * k, k)]
    return [_dot(row, column) for row in left for column in right]


def _settled(xs: list, kind: dtype) -> list:
    if kind.kind == "i":
        return kind.settle([int(x) for x in xs])
    if kind.kind == "b":
        return [x != 0 for x in xs]
    return kind.settle(xs)


def _flat_mm(a: Tensor, b: Tensor) -> Tensor:
    """Multiply matrices that fit."""
    n, k = a._shape
    m = b._shape[1]
    xs = _matrix(flat(a), flat(shaping.transpose(b, 0, 1)), n, k, m, a.dtype)
    return new(_settled(xs, a.dtype), (n, m), a.dtype)


@operation("mm")
def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """Multiply two matrices."""
    elementwise._two_tensors("mm", input, mat2)
    if input.ndim != 2:
        raise RuntimeError("self must be a matrix")
    if mat2.ndim != 2:
        raise RuntimeError("mat2 must be a matrix")
    (n, k), (rows, m) = input._shape, mat2._shape
    if k != rows:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({n}x{k} and {rows}x{m})")
    _same_dtype(input, mat2, False)
    if input.dtype.kind == "b":
        raise NotImplementedError("\"addmm_impl_cpu_\" not implemented for 'Bool'")
    return _flat_mm(input, mat2)


@operation("bmm")
def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """Multiply pairs of matrices."""
    elementwise._two_tensors("bmm", input, mat2)
    if input.ndim != 3:
        raise RuntimeError("batch1 must be a 3D tensor")
    if mat2.ndim != 3:
        raise RuntimeError("batch2 must be a 3D tensor")
    (b, n, k), (c, rows, m) = input._shape, mat2._shape
    if (b, k) != (c, rows):
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{b}, {k}] but got: [{c}, {rows}]."
        )
    if input.dtype.kind == "b":
        raise NotImplementedError("\"bmm\" not implemented for 'Bool'")
    _same_dtype(input, mat2, True)
    xs, ys = flat(input), flat(shaping.transpose(mat2, 1, 2))
    found: list = []
    for i in range(b):
        found += _matrix(
            xs[i * n * k : (i + 1) * n * k], ys[i * k * m : (i + 1) * k * m], n, k, m, input.dtype
        )
    return new(_settled(found, input.dtype), (b, n, m), input.dtype)


@operation("mv")
def mv(input: Tensor, vec: Tensor) -> Tensor:
    """Multiply a matrix by a vector."""
    if input.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {vec.ndim}, {input.ndim}, {vec.ndim}")
    n, k = input._shape
    if k != vec._shape[0]:
        raise RuntimeError(f"size mismatch, got input ({n}), mat ({n}x{k}), vec ({vec._shape[0]})")
    if input.dtype is not vec.dtype:
        raise RuntimeError(f"expected scalar type {input.dtype.title} but found {vec.dtype.title}")
    return new(
        _settled(_matrix(flat(input), flat(vec), n, k, 1, input.dtype), input.dtype), (n,), input.dtype
    )


@operation("dot", "inner", "vdot")
def dot(input: Tensor, tensor: Tensor, **rest: Any) -> Tensor:
    """Multiply two vectors."""
    if input.ndim != 1 or tensor.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {input.ndim}D and {tensor.ndim}D tensors")
    if input.dtype is not tensor.dtype:
        raise RuntimeError(
            f"dot : expected both vectors to have same dtype, but found {input.dtype.title} and {tensor.dtype.title}"
        )
    if input.dtype.kind == "b":
        raise NotImplementedError("\"dot\" not implemented for 'Bool'")
    n, m = input.numel(), tensor.numel()
    if n != m:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{n}] and src [{m}] to have the same number of elements, "
            f"but got {n} and {m} elements respectively"
        )
    return new(_settled([_dot(flat(input), flat(tensor))], input.dtype), (), input.dtype)


@operation("outer", "ger")
def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Multiply each number of one vector by each of another."""
    for name, x in (("input", input), ("vec2", vec2)):
        if x.ndim != 1:
            raise RuntimeError(
                f"outer: Expected 1-D argument {'self' if name == 'input' else name}, but got {x.ndim}-D"
            )
    return elementwise.mul(shaping.unsqueeze(input, 1), vec2)


def _folds(a: Tensor, b: Tensor) -> bool:
    """Tell whether PyTorch would make one large matrix of the larger one: its errors then say so."""
    larger = a if a.ndim >= b.ndim else shaping.turned_last(b)
    other = b if a.ndim >= b.ndim else a
    if not (larger.ndim >= 3 and other.ndim <= 2):
        return False
    if a.ndim == 2:
        return False
    if not larger.numel():
        return True
    return all(
        larger._strides[i] == larger._strides[i + 1] * larger._shape[i + 1] for i in range(larger.ndim - 2)
    )


@operation("matmul", "__matmul__")
def matmul(input: Any, other: Any) -> Tensor:
    """Multiply matrices, vectors and stacks of matrices."""
    for place, x in ((1, input), (2, other)):
        if not isinstance(x, Tensor):
            name = ("input", "other")[place - 1]
            raise TypeError(
                f"matmul(): argument '{name}' (position {place}) must be Tensor, not {type(x).__name__}"
            )
    a, b = input, other
    if not a.ndim or not b.ndim:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {a.ndim}D and {b.ndim}D"
        )
    if a.ndim == 1 and b.ndim == 1:
        return dot(a, b)
    if a.ndim == 2 and b.ndim == 1:
        return mv(a, b)
    if a.ndim == 1 and b.ndim == 2:
        return shaping.squeeze(mm(shaping.unsqueeze(a, 0), b), 0)
    if a.ndim == 2 and b.ndim == 2:
        return mm(a, b)
    if _folds(a, b):
        if a.ndim >= b.ndim:
            large = shaping.reshape(a, math.prod(a._shape[:-1]), a._shape[-1])
            found = mv(large, b) if b.ndim == 1 else mm(large, b)
            return shaping.reshape(found, (*a._shape[:-1], *b._shape[1:]))
        turned = shaping.turned_last(b)
        large = shaping.reshape(turned, math.prod(turned._shape[:-1]), turned._shape[-1])
        if a.ndim == 1:
            return shaping.reshape(mv(large, a), turned._shape[:-1])
    one = shaping.unsqueeze(a, 0) if a.ndim == 1 else a
    two = shaping.unsqueeze(b, 1) if b.ndim == 1 else b
    lead = storage.broadcast_two(one._shape[:-2], two._shape[:-2])
    batch = math.prod(lead)
    left = shaping.reshape(shaping.expand(one, (*lead, *one._shape[-2:])), batch, *one._shape[-2:])
    right = shaping.reshape(shaping.expand(two, (*lead, *two._shape[-2:])), batch, *two._shape[-2:])
    found = bmm(left, right)
    shape = (*lead, *([] if a.ndim == 1 else [one._shape[-2]]), *([] if b.ndim == 1 else [two._shape[-1]]))
    return view(found, shape, storage.row_major(shape), 0)


@operation("__rmatmul__", function=False)
def rmatmul(input: Tensor, other: Any) -> Tensor:
    """Multiply from the left."""
    return matmul(other, input)


@operation("addmm")
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Add a product of matrices."""
    return elementwise.add(elementwise.mul(input, beta), elementwise.mul(mm(mat1, mat2), alpha))


@operation("baddbmm")
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Add products of matrices."""
    return elementwise.add(elementwise.mul(input, beta), elementwise.mul(bmm(batch1, batch2), alpha))


@operation("tensordot", method=False)
def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    """Sum products over pairs of axes."""
    if isinstance(dims, int):
        if dims > min(a.ndim, b.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        one, two = list(range(a.ndim - dims, a.ndim)), list(range(dims))
    else:
        one, two = ([x] if isinstance(x, int) else list(x) for x in dims)
        one, two = [x % a.ndim for x in one], [x % b.ndim for x in two]
    if a.dtype is not b.dtype:
        raise RuntimeError("both inputs should have same dtype")
    for x, y in zip(one, two, strict=True):
        if a._shape[x] != b._shape[y]:
            if 1 in (a._shape[x], b._shape[y]):
                missing.refuse("torch.tensordot", " where an axis of one is spread")
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {a._shape[x]} in dim {x - a.ndim} and second "
                f"has size {b._shape[y]} in dim {y}"
            )
    free_a = [x for x in range(a.ndim) if x not in one]
    free_b = [x for x in range(b.ndim) if x not in two]
    k = math.prod(a._shape[x] for x in one)
    left = shaping.reshape(shaping.permute(a, [*free_a, *one]), -1, k)
    right = shaping.reshape(shaping.permute(b, [*two, *free_b]), k, -1)
    return shaping.reshape(mm(left, right), (*(a._shape[x] for x in free_a), *(b._shape[x] for x in free_b)))


@operation("kron")
def kron(input: Tensor, other: Tensor) -> Tensor:
    """Multiply each number of one by the whole other."""
    a, b = (
        shaping.reshape(x, (1,) * (max(input.ndim, other.ndim) - x.ndim) + tuple(x._shape))
        for x in (input, other)
    )
    n = a.ndim
    left = shaping.reshape(a, [m for s in a._shape for m in (s, 1)])
    right = shaping.reshape(b, [m for s in b._shape for m in (1, s)])
    return shaping.reshape(elementwise.mul(left, right), [a._shape[i] * b._shape[i] for i in range(n)])


# einsum


def _letters(part: str, x: Tensor | None, equation: str, number: int) -> list[str]:
    """Return the letters of one operand, with those of its ellipsis written out."""
    if "..." not in part:
        return list(part)
    before, after = part.split("...")
    more = 0 if x is None else x.ndim - len(before) - len(after)
    return [*before, *(f"{n}" for n in range(-more, 0)), *after]


@operation("einsum", method=False)
def einsum(equation: str, *operands: Any) -> Tensor:
    """Sum products over letters."""
    tensors = (
        list(operands[0]) if len(operands) == 1 and isinstance(operands[0], (list, tuple)) else list(operands)
    )
    equation = equation.replace(" ", "")
    left, arrow, right = equation.partition("->")
    parts = left.split(",")
    if len(parts) != len(tensors):
        less = "fewer" if len(parts) > len(tensors) else "more"
        raise RuntimeError(
            "einsum(): "
            + (
                "more operands were provided than specified in the equation"
                if less == "more"
                else "fewer operands were provided than specified in the equation"
            )
        )
    terms = []
    sizes: dict[str, int] = {}
    for number, (part, x) in enumerate(zip(parts, tensors, strict=True)):
        letters = _letters(part, x, equation, number)
        if len(letters) != x.ndim:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(letters)}) "
                + (
                    f"does not match the number of dimensions ({x.ndim}) for operand {number} and no ellipsis was given"
                    if "..." not in part
                    else f"is more than the number of dimensions ({x.ndim}) for operand {number}"
                )
            )
        for letter, n in zip(letters, x._shape, strict=True):
            old = sizes.get(letter, 1)
            if old != n and 1 not in (old, n):
                raise RuntimeError(
                    f"einsum(): subscript {letter} has size {n} for operand {number} which does not broadcast with "
                    f"previously seen size {old}"
                )
            sizes[letter] = max(old, n) if old != n and 1 in (old, n) and n else n if old == 1 else old
        terms.append(_once(x, letters))
    dots = sorted((one for one in sizes if one.lstrip("-").isdigit()), key=int)
    if arrow:
        out = []
        for n, piece in enumerate(right.split("...")):
            out += dots if n else []
            out += list(piece)
        for letter in out:
            if letter not in sizes:
                raise RuntimeError(
                    f"einsum(): output subscript {letter} does not appear in the equation for any input operand"
                )
    else:
        once = sorted(one for one in sizes if one not in dots and left.count(one) == 1)
        out = [*dots, *once]
    x, letters = terms[0]
    for n, (y, more) in enumerate(terms[1:], 1):
        later = set(out).union(*(one for _, one in terms[n + 1 :]))
        x, letters = _contract(x, letters, y, more, later)
    gone = [axis for axis, letter in enumerate(letters) if letter not in out]
    if gone:
        x = reductions.sum_(x, gone)
        letters = [letter for letter in letters if letter in out]
    return shaping.permute(x, [letters.index(letter) for letter in out])


def _once(x: Tensor, letters: list[str]) -> tuple[Tensor, list[str]]:
    """Take the diagonal where a letter stands twice in one operand."""
    for letter in dict.fromkeys(letters):
        while letters.count(letter) > 1:
            one = letters.index(letter)
            two = letters.index(letter, one + 1)
            x = shaping.diagonal(x, 0, one, two)
            letters = [*(a for n, a in enumerate(letters) if n not in (one, two)), letter]
    return x, letters


def _contract(
    x: Tensor, one: list[str], y: Tensor, two: list[str], later: set[str]
) -> tuple[Tensor, list[str]]:
    """Multiply two operands and sum over the letters that nothing later needs."""
    for letters, other in ((one, two), (two, one)):
        gone = [a for a, letter in enumerate(letters) if letter not in later and letter not in other]
        if gone:
            kept = [letter for letter in letters if letter in later or letter in other]
            if letters is one:
                x, one = reductions.sum_(x, gone), kept
            else:
                y, two = reductions.sum_(y, gone), kept
    both = [letter for letter in one if letter in two]
    batch = [letter for letter in both if letter in later]
    summed = [letter for letter in both if letter not in later]
    free_x, free_y = [a for a in one if a not in both], [a for a in two if a not in both]
    sizes = {}
    for letters, z in ((one, x), (two, y)):
        for letter, n in zip(letters, z._shape, strict=True):
            sizes[letter] = n if sizes.get(letter, 1) == 1 else sizes[letter]
    x = shaping.permute(x, [one.index(a) for a in batch + free_x + summed])
    y = shaping.permute(y, [two.index(a) for a in batch + summed + free_y])
    x = shaping.expand(x, [sizes[a] for a in batch + free_x + summed])
    y = shaping.expand(y, [sizes[a] for a in batch + summed + free_y])

    if not summed:  # as PyTorch, which multiplies them number by number
        wide_x = shaping.reshape(x, [sizes[a] for a in batch + free_x] + [1] * len(free_y))
        wide_y = shaping.reshape(
            y, [sizes[a] for a in batch] + [1] * len(free_x) + [sizes[a] for a in free_y]
        )
        return elementwise.mul(wide_x, wide_y), batch + free_x + free_y

    def count(letters: list[str]) -> int:
        return math.prod(sizes[a] for a in letters)

    left = shaping.reshape(x, count(batch), count(free_x), count(summed))
    right = shaping.reshape(y, count(batch), count(summed), count(free_y))
    letters = batch + free_x + free_y
    return shaping.reshape(bmm(left, right), Size(sizes[a] for a in letters)), letters
