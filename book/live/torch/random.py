"""Chance, number for number as PyTorch's generator for CPUs draws it: a Mersenne Twister."""

from __future__ import annotations

import contextlib
import math
import random as twister
from collections.abc import Iterator
from typing import Any

from torch import gauss, missing
from torch.dtypes import dtype, float32, float64


class Generator:
    """A source of chance."""

    def __init__(self, device: Any = "cpu") -> None:
        self.device = device
        self._source = twister.Random()
        self.manual_seed(67280421310721)

    def manual_seed(self, seed: int) -> Generator:
        """Start anew from a seed."""
        seed = int(seed)
        self._seed, self._left_over = seed, None
        word = seed & 0xFFFFFFFF
        words = [word]
        for n in range(1, 624):
            word = (1812433253 * (word ^ word >> 30) + n) & 0xFFFFFFFF
            words.append(word)
        self._source.setstate((3, (*words, 624), None))
        return self

    def initial_seed(self) -> int:
        """Return the seed."""
        return self._seed

    def seed(self) -> int:
        """Start anew from a seed that nobody knows."""
        seed = twister.SystemRandom().getrandbits(63)
        self.manual_seed(seed)
        return seed

    def get_state(self) -> tuple:
        """Return what `set_state` takes; not the bytes that PyTorch returns."""
        return self._source.getstate(), self._left_over, self._seed

    def set_state(self, state: tuple) -> Generator:
        """Go back to a state."""
        source, self._left_over, self._seed = state
        self._source.setstate(source)
        return self

    def clone_state(self) -> Generator:
        """Return a generator that draws the same."""
        return Generator().set_state(self.get_state())

    def words(self, n: int) -> list[int]:
        """Draw 32 bits n times."""
        draw = self._source.getrandbits
        return [draw(32) for _ in range(n)]


default_generator = Generator()


def manual_seed(seed: int) -> Generator:
    """Start the generator that is used where none is given."""
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Start it from a seed that nobody knows."""
    return default_generator.seed()


def initial_seed() -> int:
    """Return its seed."""
    return default_generator.initial_seed()


def get_rng_state() -> tuple:
    """Return its state."""
    return default_generator.get_state()


def set_rng_state(state: tuple) -> None:
    """Bring it back to a state."""
    default_generator.set_state(state)


@contextlib.contextmanager
def fork_rng(devices: object = None, enabled: bool = True) -> Iterator[None]:
    """Leave it afterwards as it was."""
    state = default_generator.get_state()
    try:
        yield
    finally:
        default_generator.set_state(state)


def uniform_numbers(source: Generator, n: int, dtype: dtype) -> list[float]:
    """Draw numbers from 0 to 1 without it."""
    if dtype is float64:
        words = source.words(2 * n)
        return [
            ((high << 32 | low) & (1 << 53) - 1) * 2.0**-53
            for high, low in zip(words[::2], words[1::2], strict=True)
        ]
    if dtype is not float32:
        missing.refuse(f"drawing numbers of {dtype}")
    return [(word & (1 << 24) - 1) * 2.0**-24 for word in source.words(n)]


def normal_numbers(source: Generator, n: int, dtype: dtype) -> list[float]:
    """Draw normal numbers: one by one up to 15, by groups of sixteen from 16 on, as PyTorch does."""
    if dtype not in (float32, float64):
        missing.refuse(f"drawing numbers of {dtype}")
    if n < 16:
        return dtype.settle([_one_normal(source) for _ in range(n)])
    xs = uniform_numbers(source, n, dtype)
    made = gauss.sixteens if dtype is float32 else _sixteens
    whole = n // 16 * 16
    xs[:whole] = made(xs[:whole])
    if n % 16:
        xs[-16:] = made(uniform_numbers(source, 16, dtype))
    return xs


def _one_normal(source: Generator) -> float:
    if source._left_over is not None:
        left, source._left_over = source._left_over, None
        return left
    first, second = uniform_numbers(source, 2, float64)
    radius, angle = math.sqrt(-2 * math.log1p(-second)), 2 * math.pi * first
    source._left_over = radius * math.sin(angle)
    return radius * math.cos(angle)


def _sixteens(xs: list[float]) -> list[float]:
    found: list[float] = []
    for start in range(0, len(xs), 16):
        radii = [math.sqrt(-2 * math.log(1 - x)) for x in xs[start : start + 8]]
        angles = [2 * math.pi * x for x in xs[start + 8 : start + 16]]
        found += [r * math.cos(a) for r, a in zip(radii, angles, strict=True)]
        found += [r * math.sin(a) for r, a in zip(radii, angles, strict=True)]
    return found


def whole_numbers(source: Generator, n: int, low: int, high: int) -> list[int]:
    """Draw whole numbers from ``low`` up to ``high``, which is left out."""
    span = high - low
    if span >= 1 << 28:
        words = source.words(2 * n)
        pairs = zip(words[::2], words[1::2], strict=True)
        return [low + (first << 32 | second) % span for first, second in pairs]
    return [low + word % span for word in source.words(n)]


def permutation(source: Generator, n: int) -> list[int]:
    """Draw an order of the numbers below n."""
    xs = list(range(n))
    for i, word in enumerate(source.words(max(n - 1, 0))):
        j = i + word % (n - i)
        xs[i], xs[j] = xs[j], xs[i]
    return xs
