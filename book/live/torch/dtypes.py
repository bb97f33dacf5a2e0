"""Kinds of numbers: how each rounds, and which one comes out where two meet."""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Callable


class dtype:  # noqa: N801 - PyTorch's name
    """A kind of number.

    Attributes:
        name: As it is printed, without ``torch.``.
        title: As PyTorch's errors call it, like ``Float``.
        kind: ``b`` truth, ``i`` whole, ``f`` real, ``c`` complex.
        itemsize: Bytes of one number in PyTorch.
        settle: Rounds a list of numbers of this kind to what the dtype holds.
    """

    __slots__ = ("is_complex", "is_floating_point", "itemsize", "kind", "name", "settle", "title")

    def __init__(self, name: str, title: str, kind: str, itemsize: int, settle: Callable[[list], list]):
        self.name, self.title, self.kind, self.itemsize, self.settle = name, title, kind, itemsize, settle
        self.is_floating_point, self.is_complex = kind == "f", kind == "c"

    @property
    def is_signed(self) -> bool:
        """Tell whether it holds numbers below zero."""
        return self.kind != "b" and self.name != "uint8"

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name

    def __copy__(self) -> dtype:
        return self

    def __deepcopy__(self, memo: object) -> dtype:
        return self


def _as_they_are(xs: list) -> list:
    return xs


def _single(xs: list) -> list:
    return array("f", xs).tolist()


def _half(xs: list) -> list:
    xs = _single(xs)  # PyTorch computes in float32 and rounds then
    try:
        return list(struct.unpack(f"{len(xs)}e", struct.pack(f"{len(xs)}e", *xs)))
    except OverflowError:
        return [_one_half(x) for x in xs]


def _one_half(x: float) -> float:
    try:
        return struct.unpack("e", struct.pack("e", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def _bfloat(xs: list) -> list:
    words = array("I", array("f", xs).tobytes())
    for n, (word, x) in enumerate(zip(words, xs, strict=True)):
        if x == x:  # to the nearest, ties to even
            words[n] = (word + 0x7FFF + (word >> 16 & 1)) & 0xFFFF0000
    return array("f", words.tobytes()).tolist()


def _whole(code: str, bits: int, signed: bool) -> Callable[[list], list]:
    full, half = 1 << bits, 1 << (bits - 1)

    def settle(xs: list) -> list:
        try:
            array(code, xs)
        except OverflowError:  # it goes round
            return [(x + half) % full - half if signed else x % full for x in xs]
        return xs

    return settle


def _complex_single(xs: list) -> list:
    real, imag = _single([x.real for x in xs]), _single([x.imag for x in xs])
    return list(map(complex, real, imag))


bool_ = dtype("bool", "Bool", "b", 1, _as_they_are)
uint8 = dtype("uint8", "Byte", "i", 1, _whole("B", 8, False))
int8 = dtype("int8", "Char", "i", 1, _whole("b", 8, True))
int16 = dtype("int16", "Short", "i", 2, _whole("h", 16, True))
int32 = dtype("int32", "Int", "i", 4, _whole("i", 32, True))
int64 = dtype("int64", "Long", "i", 8, _whole("q", 64, True))
float16 = dtype("float16", "Half", "f", 2, _half)
bfloat16 = dtype("bfloat16", "BFloat16", "f", 2, _bfloat)
float32 = dtype("float32", "Float", "f", 4, _single)
float64 = dtype("float64", "Double", "f", 8, _as_they_are)
complex64 = dtype("complex64", "ComplexFloat", "c", 8, _complex_single)
complex128 = dtype("complex128", "ComplexDouble", "c", 16, _as_they_are)

ALL = (
    bool_, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64, complex64, complex128
)  # fmt: skip
ORDER = {one: n for n, one in enumerate(ALL)}
KINDS = "bifc"
DEFAULT = float32


def cast(xs: list, old: dtype, new: dtype) -> list:
    """Return numbers of one dtype as another holds them; the list itself where nothing changes."""
    if old is new:
        return xs
    if new.kind == "b":
        return [x != 0 for x in xs]
    if new.kind == "c":
        return new.settle(xs if old.kind == "c" else list(map(complex, xs)))
    if old.kind == "c":
        xs = [x.real for x in xs]
    if new.kind == "f":
        return new.settle(list(map(float, xs)) if new is float64 and old.kind != "f" else xs)
    if old.kind in "fc":
        xs = [int(x) if math.isfinite(x) else -(2**63) for x in xs]
    elif old.kind == "b":
        return list(map(int, xs))
    return new.settle(xs)


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """Return the smallest dtype that holds what both hold, as PyTorch has it."""
    if type1 is type2:
        return type1
    low, high = sorted((type1, type2), key=ORDER.__getitem__)
    if low.kind == high.kind:
        if {low, high} == {float16, bfloat16}:
            return float32
        if low is uint8:
            return int16 if high is int8 else high
        return high
    if high is complex64 and low is float64:
        return complex128
    return high


def of_scalar(x: object) -> dtype:
    """Return the dtype of a number of Python's own."""
    if isinstance(x, bool):
        return bool_
    if isinstance(x, int):
        return int64
    if isinstance(x, complex):
        return complex64
    return DEFAULT


class finfo:  # noqa: N801 - PyTorch's name
    """The limits of a floating dtype."""

    def __init__(self, type: dtype = float32) -> None:
        if not type.is_floating_point:
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'"
            )
        digits, low, high = {
            "float16": (10, -14, 15), "bfloat16": (7, -126, 127), "float32": (23, -126, 127),
            "float64": (52, -1022, 1023),
        }[type.name]  # fmt: skip
        self.dtype, self.bits = type.name, type.itemsize * 8
        self.eps, self.tiny = 2.0**-digits, 2.0**low
        self.smallest_normal = self.tiny
        self.max = (2 - 2.0**-digits) * 2.0**high
        self.min = -self.max
        self.resolution = 10.0 ** math.floor(math.log10(self.eps) + 1)


class iinfo:  # noqa: N801 - PyTorch's name
    """The limits of a dtype of whole numbers."""

    def __init__(self, type: dtype) -> None:
        if type.kind != "i":
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle it")
        self.dtype, self.bits = type.name, type.itemsize * 8
        self.min = -(1 << (self.bits - 1)) if type.is_signed else 0
        self.max = (1 << (self.bits - 1)) - 1 if type.is_signed else 255
