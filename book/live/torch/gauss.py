"""Normal numbers of float32 in groups of sixteen, digit for digit as PyTorch's kernel computes them.

It takes logarithm, sine and cosine by polynomials of float32 (those of Cephes), rounded at each step; a
product that is added to something is not rounded in between.
"""

from __future__ import annotations

import math

from torch.dtypes import float32

LOGARITHM = (
    7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
    2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
)  # fmt: skip
COSINE = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
SINE = (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
EIGHTH_TURN = (
    -0.78515625,
    -2.4187564849853515625e-4,
    -3.77489497744594108e-8,
)  # minus pi / 4, in three parts

single = float32.settle
ROOT_HALF, FOUR_BY_PI, TWO_PI, LOW, HIGH = single(
    [0.707106781186547524, 1.27323954473516, 2 * math.pi, -2.12194440e-4, 0.693359375]
)
LOGARITHM, COSINE, SINE, EIGHTH_TURN = map(single, (LOGARITHM, COSINE, SINE, EIGHTH_TURN))


def _polynomial(coefficients: list[float], xs: list[float]) -> list[float]:
    ys = [coefficients[0]] * len(xs)
    for c in coefficients[1:]:
        ys = single([y * x + c for x, y in zip(xs, ys, strict=True)])
    return ys


def _times(xs: list[float], ys: list[float]) -> list[float]:
    return single([x * y for x, y in zip(xs, ys, strict=True)])


def logarithms(numbers: list[float]) -> list[float]:
    """Take the logarithms of numbers above zero."""
    xs, powers = [], []
    for number in numbers:
        x, power = math.frexp(number)
        small = x < ROOT_HALF
        powers.append(power - small)
        xs.append(x - 1 + x if small else x - 1)
    xs = single(xs)
    squares = _times(xs, xs)
    ys = _times(_polynomial(LOGARITHM, xs), xs)
    lows = single([power * LOW for power in powers])
    ys = single([y * z + low for y, z, low in zip(ys, squares, lows, strict=True)])
    ys = single([y - 0.5 * z for y, z in zip(ys, squares, strict=True)])
    xs = single([x + y for x, y in zip(xs, ys, strict=True)])
    return single([power * HIGH + x for power, x in zip(powers, xs, strict=True)])


def sines_and_cosines(angles: list[float]) -> tuple[list[float], list[float]]:
    """Take the sines and cosines of angles that are not below zero."""
    eighths = [int(y) + 1 & ~1 for y in single([x * FOUR_BY_PI for x in angles])]
    xs = angles
    for part in EIGHTH_TURN:
        xs = single([n * part + x for n, x in zip(eighths, xs, strict=True)])
    squares = _times(xs, xs)
    far = _times(_polynomial(COSINE, squares), squares)
    far = single([y * z - 0.5 * z for y, z in zip(far, squares, strict=True)])
    far = single([y + 1 for y in far])
    near = _times(_polynomial(SINE, squares), squares)
    near = single([y * x + x for x, y in zip(xs, near, strict=True)])
    sines, cosines = [], []
    for n, one, two in zip(eighths, near, far, strict=True):
        one, two = (two, one) if n & 2 else (one, two)
        sines.append(-one if n & 4 else one)
        cosines.append(-two if n + 2 & 4 else two)
    return sines, cosines


def sixteens(numbers: list[float]) -> list[float]:
    """Make normal numbers of numbers from 0 to 1: of each sixteen, eight give lengths and eight angles."""
    groups = [numbers[i : i + 16] for i in range(0, len(numbers), 16)]
    logs = logarithms([1 - x for group in groups for x in group[:8]])
    lengths = single([math.sqrt(x) for x in single([-2 * x for x in logs])])
    sines, cosines = sines_and_cosines(single([TWO_PI * x for group in groups for x in group[8:]]))
    found: list[float] = []
    across, along = _times(lengths, cosines), _times(lengths, sines)
    for i in range(0, len(across), 8):
        found += across[i : i + 8] + along[i : i + 8]
    return found
