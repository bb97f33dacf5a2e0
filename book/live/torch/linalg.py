"""Linear algebra of small matrices: what the exercises ask."""

from __future__ import annotations

import cmath
import math
from typing import Any, NamedTuple

from torch import dtypes, elementwise, missing, products, reductions, shaping
from torch.dispatch import FUNCTIONS, METHODS, watched
from torch.dtypes import dtype
from torch.storage import Size
from torch.tensor import Tensor, flat, new

LinAlgError = type("LinAlgError", (RuntimeError,), {"__doc__": "A matrix for which there is no answer."})
_NAMES: dict[str, Any] = {}


def _named(function: Any) -> Any:
    """Register under the name it has in ``torch.linalg``; PyTorch calls it ``linalg_...``."""
    _NAMES[function.__name__.rstrip("_")] = watched(function, f"linalg_{function.__name__.rstrip('_')}")
    return function


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    missing.refuse(f"torch.linalg.{name}")


def _matrices(name: str, A: Tensor, square: bool = True) -> tuple[list[list[list]], Size]:
    """Return matrices as lists of rows."""
    if A.dtype.kind not in "fc":
        raise RuntimeError(
            f"linalg.{name}: Expected a floating point or complex tensor as input. Got {A.dtype.title}"
        )
    if A.ndim < 2:
        raise RuntimeError(f"linalg.{name}: The input tensor A must have at least 2 dimensions.")
    n, m = A.shape[-2:]
    if square and n != m:
        raise RuntimeError(
            f"linalg.{name}: A must be batches of square matrices, but they are {n} by {m} matrices"
        )
    xs = flat(A)
    rows = [xs[i : i + m] for i in range(0, len(xs), m)] if m else []
    return [rows[i : i + n] for i in range(0, len(rows), n)] if n else [], A.shape[:-2]


def _real(A: Tensor) -> dtype:
    return {dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}.get(A.dtype, A.dtype)


@_named
def vector_norm(
    x: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: dtype | None = None
) -> Tensor:
    """Return the length along axes."""
    return reductions.norm(x, ord, dim, keepdim, dtype)


@_named
def norm(
    A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: dtype | None = None
) -> Tensor:
    """Return the length of vectors or matrices."""
    if ord is None or isinstance(dim, int) or (dim is None and A.ndim == 1):
        return reductions.norm(A, 2 if ord is None else ord, dim, keepdim, dtype)
    return matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim)


@_named
def matrix_norm(A: Tensor, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False) -> Tensor:
    """Return the size of matrices: Frobenius, the largest factor by which they stretch, sums."""
    if ord == "fro":
        return reductions.norm(A, 2, dim, keepdim)
    x = shaping.movedim(A, tuple(dim), (-2, -1))
    if ord in (1, -1, math.inf, -math.inf):
        sums = reductions.sum_(elementwise.abs_(x), -2 if abs(ord) == 1 else -1)
        found = (reductions.amax if ord > 0 else reductions.amin)(sums, -1)
    elif ord in (2, -2, "nuc"):
        values = svdvals(x)
        found = (
            reductions.sum_(values, -1) if ord == "nuc" else shaping.select(values, -1, 0 if ord == 2 else -1)
        )
    else:
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    return shaping.unsqueeze(shaping.unsqueeze(found, -1), -1) if keepdim else found


@_named
def svdvals(A: Tensor) -> Tensor:
    """Return the singular values, the largest first."""
    matrices, lead = _matrices("svdvals", A, square=False)
    found = []
    for rows in matrices:
        columns = [list(c) for c in zip(*rows, strict=True)]
        columns = columns if len(columns) <= len(rows) else rows
        found += _jacobi_singular([list(c) for c in columns])
    kind = _real(A)
    return new(kind.settle(found), (*lead, min(A.shape[-2:])), kind)


def _jacobi_singular(columns: list[list[float]]) -> list[float]:
    """Turn columns in pairs until all are at right angles; their lengths are the singular values."""
    if any(isinstance(x, complex) for c in columns for x in c):
        missing.refuse("torch.linalg.svdvals", " for complex numbers")
    for _ in range(60):
        worst = 0.0
        for i in range(len(columns)):
            for j in range(i + 1, len(columns)):
                one, two = columns[i], columns[j]
                a, b = sum(x * x for x in one), sum(y * y for y in two)
                c = sum(x * y for x, y in zip(one, two, strict=True))
                if c == 0 or abs(c) <= 1e-16 * math.sqrt(a * b):
                    continue
                worst = max(worst, abs(c) / math.sqrt(a * b))
                zeta = (b - a) / (2 * c)
                t = math.copysign(1, zeta) / (abs(zeta) + math.hypot(1, zeta))
                cos = 1 / math.hypot(1, t)
                sin = cos * t
                columns[i] = [cos * x - sin * y for x, y in zip(one, two, strict=True)]
                columns[j] = [sin * x + cos * y for x, y in zip(one, two, strict=True)]
        if worst < 1e-15:
            break
    return sorted((math.sqrt(sum(x * x for x in c)) for c in columns), reverse=True)


@_named
def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """Return the eigenvalues of symmetric matrices, the smallest first; it reads the lower half."""
    matrices, lead = _matrices("eigvalsh", A)
    if A.dtype.kind == "c":
        missing.refuse("torch.linalg.eigvalsh", " for complex numbers")
    found = []
    for rows in matrices:
        n = len(rows)
        lower = UPLO.upper() == "L"
        m = [
            [rows[max(i, j)][min(i, j)] if lower else rows[min(i, j)][max(i, j)] for j in range(n)]
            for i in range(n)
        ]
        found += sorted(_jacobi(m))
    return new(A.dtype.settle(found), (*lead, A.shape[-1]), A.dtype)


def _jacobi(m: list[list[float]]) -> list[float]:
    """Turn a symmetric matrix until it is diagonal."""
    n = len(m)
    for _ in range(100):
        off = max((abs(m[i][j]) for i in range(n) for j in range(i)), default=0.0)
        size = max((abs(m[i][i]) for i in range(n)), default=0.0)
        if off <= 1e-17 * max(size, off, 1e-300) or off == 0:
            break
        for p in range(n):
            for q in range(p + 1, n):
                if m[p][q] == 0:
                    continue
                theta = (m[q][q] - m[p][p]) / (2 * m[p][q])
                t = math.copysign(1, theta) / (abs(theta) + math.hypot(1, theta))
                c = 1 / math.hypot(1, t)
                s = t * c
                for k in range(n):
                    m[k][p], m[k][q] = c * m[k][p] - s * m[k][q], s * m[k][p] + c * m[k][q]
                for k in range(n):
                    m[p][k], m[q][k] = c * m[p][k] - s * m[q][k], s * m[p][k] + c * m[q][k]
    return [m[i][i] for i in range(n)]


@_named
def eigvals(A: Tensor) -> Tensor:
    """Return the eigenvalues as complex numbers, mostly in the order in which LAPACK finds them."""
    matrices, lead = _matrices("eigvals", A)
    found = []
    for rows in matrices:
        if not all(cmath.isfinite(x) for row in rows for x in row):
            raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
        values = _eigenvalues([list(map(complex, row)) for row in rows])
        values = _in_pairs(values) if A.dtype.kind == "f" else values
        size = sum(abs(x) for row in rows for x in row)
        if abs(sum(values) - sum(row[i] for i, row in enumerate(rows))) > 1e-9 * size:
            missing.refuse("torch.linalg.eigvals", " for this matrix")
        found += values
    kind = dtypes.complex128 if A.dtype in (dtypes.float64, dtypes.complex128) else dtypes.complex64
    return new(kind.settle(found), (*lead, A.shape[-1]), kind)


def _in_pairs(values: list[complex]) -> list[complex]:
    """Make what a real matrix has exact: real ones, and pairs that mirror each other."""
    size = max(map(abs, values), default=1.0) or 1.0
    found = []
    for z in values:
        if abs(z.imag) <= 1e-9 * size:
            found.append(complex(z.real))
        elif z.imag > 0:
            found += [z, z.conjugate()]
    return found if len(found) == len(values) else values


def _eigenvalues(m: list[list[complex]]) -> list[complex]:
    """Make the matrix triangular by shifted QR steps, and read its diagonal."""
    n, found, rounds = len(m), [], 0
    while n > 0:
        if n == 1:
            found.append(m[0][0])
            break
        size = sum(abs(x) for row in m[:n] for x in row[:n])
        if sum(abs(m[n - 1][j]) for j in range(n - 1)) <= 1e-15 * size:
            found.append(m[n - 1][n - 1])
            n, rounds = n - 1, 0
            m = [row[:n] for row in m[:n]]
            continue
        a, b, c, d = m[n - 2][n - 2], m[n - 2][n - 1], m[n - 1][n - 2], m[n - 1][n - 1]
        root = cmath.sqrt((a - d) ** 2 / 4 + b * c)
        shift = min(((a + d) / 2 + root, (a + d) / 2 - root), key=lambda z: abs(z - d))
        rounds += 1
        if rounds % 11 == 10:  # leave a circle
            shift += abs(c) + abs(m[n - 1][0])
        if rounds > 1000:
            raise LinAlgError("torch.linalg.eigvals: the algorithm failed to converge")
        for i in range(n):
            m[i][i] -= shift
        m = _qr_step(m)
        for i in range(n):
            m[i][i] += shift
    return found[::-1]  # they were split off from the end of the diagonal


def _qr_step(m: list[list[complex]]) -> list[list[complex]]:
    """Return R Q where the matrix is Q R, by Gram and Schmidt, twice."""
    n = len(m)
    columns, q = [[row[j] for row in m] for j in range(n)], []
    r = [[0j] * n for _ in range(n)]
    for j, v in enumerate(columns):
        for _ in range(2):
            for i, u in enumerate(q):
                along = sum(x.conjugate() * y for x, y in zip(u, v, strict=True))
                r[i][j] += along
                v = [y - along * x for x, y in zip(u, v, strict=True)]
        length = math.sqrt(sum(abs(x) ** 2 for x in v))
        size = math.sqrt(sum(abs(x) ** 2 for x in columns[j])) or 1.0
        if length <= 1e-14 * size:
            v, length = _another_direction(q, n), 0.0
        else:
            v = [x / length for x in v]
        r[j][j] = complex(length)
        q.append(v)
    return [[sum(r[i][k] * column[k] for k in range(i, n)) for column in q] for i in range(n)]


def _another_direction(q: list[list[complex]], n: int) -> list[complex]:
    """Return a vector of length one at right angles to all others."""
    for start in range(n):
        v = [complex(i == start) for i in range(n)]
        for _ in range(2):
            for u in q:
                along = sum(x.conjugate() * y for x, y in zip(u, v, strict=True))
                v = [y - along * x for x, y in zip(u, v, strict=True)]
        length = math.sqrt(sum(abs(x) ** 2 for x in v))
        if length > 1e-3:
            return [x / length for x in v]
    return [0j] * n


class QR(NamedTuple):
    """A matrix as a rotation times a triangle."""

    Q: Tensor
    R: Tensor


@_named
def qr(A: Tensor, mode: str = "reduced") -> QR:
    """Write matrices as Q R, with LAPACK's signs."""
    if mode != "reduced" or A.dtype.kind != "f":
        missing.refuse(f"torch.linalg.qr(mode='{mode}')")
    matrices, lead = _matrices("qr", A, square=False)
    n, m = A.shape[-2:]
    k, qs, rs = min(n, m), [], []
    for rows in matrices:
        q, r = _householder([list(row) for row in rows])
        qs += [x for row in q for x in row[:k]]
        rs += [x for row in r[:k] for x in row]
    settle = A.dtype.settle
    return QR(new(settle(qs), (*lead, n, k), A.dtype), new(settle(rs), (*lead, k, m), A.dtype))


def _householder(r: list[list[float]]) -> tuple[list[list[float]], list[list[float]]]:
    n, m = len(r), len(r[0])
    q = [[float(i == j) for j in range(n)] for i in range(n)]
    for j in range(min(n - 1, m)):
        x = [r[i][j] for i in range(j, n)]
        if not any(x[1:]):
            continue  # as LAPACK: nothing to turn
        beta = -math.copysign(math.sqrt(sum(y * y for y in x)), x[0])
        v = [x[0] - beta, *x[1:]]
        square = sum(y * y for y in v)
        for c in range(m):
            f = 2 * sum(v[i] * r[j + i][c] for i in range(n - j)) / square
            for i in range(n - j):
                r[j + i][c] -= f * v[i]
        for i in range(j + 1, n):
            r[i][j] = 0.0
        for row in q:
            f = 2 * sum(v[i] * row[j + i] for i in range(n - j)) / square
            for i in range(n - j):
                row[j + i] -= f * v[i]
    return q, r


@_named
def matrix_power(A: Tensor, n: int) -> Tensor:
    """Multiply matrices with themselves."""
    if n < 0:
        return matrix_power(inv(A), -n)
    from torch import creation

    size = A.shape[-1]
    found = shaping.expand(creation.eye(size, dtype=A.dtype), A.shape)
    power = A
    while n:
        if n & 1:
            found = products.matmul(found, power)
        power, n = products.matmul(power, power), n >> 1
    return shaping.clone(found)


def _solved(a: list[list], b: list[list]) -> list[list]:
    """Solve equations by elimination with the largest pivot."""
    n = len(a)
    a = [[*row, *more] for row, more in zip(a, b, strict=True)]
    for j in range(n):
        pivot = max(range(j, n), key=lambda i: abs(a[i][j]))
        if a[pivot][j] == 0:
            raise LinAlgError(
                f"linalg.inv: The diagonal element {j + 1} is zero, the inversion could not be completed because "
                "the input matrix is singular."
            )
        a[j], a[pivot] = a[pivot], a[j]
        for i in range(n):
            if i != j and a[i][j]:
                f = a[i][j] / a[j][j]
                a[i] = [x - f * y for x, y in zip(a[i], a[j], strict=True)]
    return [[x / a[i][i] for x in a[i][n:]] for i in range(n)]


@_named
def inv(A: Tensor) -> Tensor:
    """Return what undoes the matrices."""
    matrices, _ = _matrices("inv", A)
    n = A.shape[-1]
    one = [[float(i == j) for j in range(n)] for i in range(n)]
    xs = [x for rows in matrices for row in _solved(rows, one) for x in row]
    return new(A.dtype.settle(xs), A.shape, A.dtype)


@_named
def solve(A: Tensor, B: Tensor) -> Tensor:
    """Solve equations."""
    matrices, _ = _matrices("solve", A)
    if A.ndim != 2 or B.ndim > 2:
        missing.refuse("torch.linalg.solve", " with more than two axes")
    right = B if B.ndim == 2 else shaping.unsqueeze(B, 1)
    m = right.shape[1]
    ys = flat(right)
    rows = _solved(matrices[0], [ys[i : i + m] for i in range(0, len(ys), m)])
    return new(A.dtype.settle([x for row in rows for x in row]), B.shape, A.dtype)


@_named
def det(A: Tensor) -> Tensor:
    """Return the determinants."""
    matrices, lead = _matrices("det", A)
    found = []
    for rows in matrices:
        m, n, value = [list(row) for row in rows], len(rows), 1.0
        for j in range(n):
            pivot = max(range(j, n), key=lambda i: abs(m[i][j]))
            if m[pivot][j] == 0:
                value = 0.0
                break
            if pivot != j:
                m[j], m[pivot], value = m[pivot], m[j], -value
            value *= m[j][j]
            for i in range(j + 1, n):
                f = m[i][j] / m[j][j]
                m[i] = [x - f * y for x, y in zip(m[i], m[j], strict=True)]
        found.append(value)
    return new(A.dtype.settle(found), lead, A.dtype)


class LeastSquares(NamedTuple):
    """What fits best, and how well."""

    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor


@_named
def lstsq(A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None) -> LeastSquares:
    """Find what fits equations best, for matrices of full rank."""
    matrices, _ = _matrices("lstsq", A, square=False)
    n, m = A.shape[-2:]
    if A.ndim != 2 or B.ndim != 2 or n < m:
        missing.refuse("torch.linalg.lstsq", " for stacks of matrices or fewer rows than columns")
    q, r = _householder([list(row) for row in matrices[0]])
    ys = flat(B)
    k = B.shape[1]
    rows = [ys[i : i + k] for i in range(0, len(ys), k)]
    turned = [[sum(q[i][j] * rows[i][c] for i in range(n)) for c in range(k)] for j in range(m)]
    size = max(abs(r[i][i]) for i in range(m))
    if any(abs(r[i][i]) <= 1e-12 * size for i in range(m)):
        missing.refuse("torch.linalg.lstsq", " for equations that repeat each other")
    solution = [[0.0] * k for _ in range(m)]
    for c in range(k):
        for i in range(m - 1, -1, -1):
            rest = turned[i][c] - sum(r[i][j] * solution[j][c] for j in range(i + 1, m))
            solution[i][c] = rest / r[i][i]
    xs = A.dtype.settle([x for row in solution for x in row])
    nothing = new([], (0,), A.dtype)
    return LeastSquares(new(xs, (m, k), A.dtype), nothing, new([m], (), dtypes.int64), nothing)


@_named
def multi_dot(tensors: list[Tensor]) -> Tensor:
    """Multiply matrices."""
    found = tensors[0]
    for x in tensors[1:]:
        found = products.matmul(found, x)
    return found


@_named
def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Return the diagonal."""
    return shaping.diagonal(A, offset, dim1, dim2)


for _name, _function in (("inverse", inv), ("det", det), ("matrix_power", matrix_power)):
    FUNCTIONS[_name] = METHODS[_name] = watched(_function, _name)

globals().update(_NAMES)  # calls of them are watched
