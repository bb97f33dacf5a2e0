"""Operations number by number: arithmetic, comparisons, functions, choices."""

from __future__ import annotations

import cmath
import math
import operator
from collections.abc import Callable
from typing import Any

from torch import dtypes, missing, storage
from torch.dispatch import operation
from torch.dtypes import bool_, cast, dtype, float32, float64, int64
from torch.tensor import Tensor, flat, new, spread, write

Scalar = int | float | complex | bool


def number(x: Any) -> bool:
    """Tell whether something is a single number that no tensor holds."""
    return isinstance(x, (int, float, complex)) or (hasattr(x, "dtype") and getattr(x, "shape", None) == ())


def plain(x: Any) -> Any:
    """Return a number of NumPy's as one of Python's."""
    return x if type(x) in (int, float, bool, complex) or isinstance(x, Tensor) else _plain(x)


def _plain(x: Any) -> Any:
    if hasattr(x, "dtype") and hasattr(x, "item"):
        return x.item()
    for kind in (bool, int, float, complex):
        if isinstance(x, kind):
            return kind(x)
    return x


def result_type(*operands: Any) -> dtype:
    """Return the dtype of what comes out: tensors with axes go before those without, those before numbers."""
    groups: list[dtype | None] = [None, None, None]
    for x in operands:
        if isinstance(x, Tensor):
            place, found = (0 if x._shape else 1), x.dtype
        else:
            place, found = 2, dtypes.of_scalar(x)
        known = groups[place]
        groups[place] = found if known is None else dtypes.promote_types(known, found)
    best = None
    for found in groups:
        if found is None:
            continue
        if best is None:
            best = found
        elif dtypes.KINDS.index(found.kind) > dtypes.KINDS.index(best.kind):
            if found.kind == "c" and best.kind == "f":
                found = dtypes.complex128 if best is float64 else dtypes.complex64
            best = found
    return best or dtypes.DEFAULT


def operands(a: Any, b: Any, kind: dtype | None = None) -> tuple[list, list, tuple, dtype]:
    """Return two lists of equal length and dtype, and the shape."""
    a, b = plain(a), plain(b)
    common = kind or (
        a.dtype
        if isinstance(a, Tensor) and isinstance(b, Tensor) and a.dtype is b.dtype
        else result_type(a, b)
    )
    if isinstance(a, Tensor):
        if isinstance(b, Tensor):
            shape = a._shape if a._shape == b._shape else storage.broadcast_two(a._shape, b._shape)
            xs = cast(spread(a, shape), a.dtype, common)
            return xs, cast(spread(b, shape), b.dtype, common), shape, common
        xs = cast(flat(a), a.dtype, common)
        return xs, [_scalar(b, common)] * len(xs), a._shape, common
    ys = cast(flat(b), b.dtype, common)
    return [_scalar(a, common)] * len(ys), ys, b._shape, common


def _scalar(x: Scalar, kind: dtype) -> Scalar:
    if kind.kind == "f":
        return kind.settle([float(x)])[0]
    return cast([x], dtypes.of_scalar(x), kind)[0] if not isinstance(x, complex) else kind.settle([x])[0]


def _refuses(x: Any) -> bool:
    return not isinstance(x, Tensor) and not number(x)


# dividing, powers and remainders where Python would stop


def _divide(x: Any, y: Any) -> Any:
    try:
        return x / y
    except ZeroDivisionError:
        if isinstance(x, complex):
            return complex(math.nan, math.nan)
        return math.nan if x == 0 or x != x else math.copysign(math.inf, x) * math.copysign(1, y)
    except OverflowError:
        return math.inf if (x < 0) == (y < 0) else -math.inf


def divided(xs: list, ys: list) -> list:
    """Divide two lists as IEEE 754 does."""
    try:
        return list(map(operator.truediv, xs, ys))
    except (ZeroDivisionError, OverflowError):
        return list(map(_divide, xs, ys))


def _power(x: Any, y: Any) -> Any:
    try:
        found = x**y
    except ZeroDivisionError:
        odd = y == int(y) and int(y) % 2 if math.isfinite(y) else False
        return math.copysign(math.inf, x) if odd else math.inf
    except OverflowError:
        return -math.inf if x < 0 and y == int(y) and int(y) % 2 else math.inf
    return math.nan if isinstance(found, complex) and not isinstance(x, complex) else found


def _float_floor_divide(x: float, y: float) -> float:
    if y == 0:
        return _divide(x, y)
    if math.isinf(x):
        return math.nan
    return x // y


def _float_remainder(x: float, y: float) -> float:
    if y == 0 or math.isinf(x):
        return math.nan
    return x % y


def _whole_power(x: int, y: int) -> int:
    if y < 0:  # rounded towards zero
        return x if x == 1 or (x == -1 and y % 2) else int(x == -1)
    return pow(x, y) if abs(x) < 2 or y < 64 else _wrapped_power(x, y)


def _wrapped_power(x: int, y: int) -> int:
    found = pow(x, y, 1 << 64)
    return found - (1 << 64) if found >= 1 << 63 else found


def _by_zero(function: Callable) -> Callable:
    def safe(x: int, y: int) -> int:
        if y == 0:
            raise RuntimeError("ZeroDivisionError")
        return function(x, y)

    return safe


def _larger(x: Any, y: Any) -> Any:
    return x if x > y or x != x else y


def _smaller(x: Any, y: Any) -> Any:
    return x if x < y or x != x else y


def arithmetic(
    a: Any, b: Any, title: str, reals: Callable, wholes: Callable | None, truths: Callable | None
) -> Tensor:
    """Take an operation of two lists, by the kind of the common dtype."""
    if _refuses(b) or _refuses(a):
        wrong = b if _refuses(b) else a
        raise TypeError(f"{title}(): argument 'other' must be Tensor, not {_kind_of(wrong)}")
    xs, ys, shape, common = operands(a, b)
    if common.kind == "b":
        if truths is None:
            raise NotImplementedError(f"\"{title}_cpu\" not implemented for 'Bool'")
        return new(truths(xs, ys), shape, bool_)
    function = wholes if common.kind == "i" and wholes else reals
    return new(common.settle(function(xs, ys)), shape, common)


def _kind_of(x: object) -> str:
    return type(x).__name__


def _listed(function: Callable) -> Callable:
    return lambda xs, ys: list(map(function, xs, ys))


_ADD, _SUB, _MUL = _listed(operator.add), _listed(operator.sub), _listed(operator.mul)


@operation("add", "__add__", "__radd__")
def add(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """Add."""
    if alpha != 1:
        other = mul(other, bool(alpha) if result_type(plain(input), plain(other)) is bool_ else alpha)
    return arithmetic(input, other, "add", _ADD, None, _listed(operator.or_))


@operation("sub", "subtract", "__sub__")
def sub(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """Subtract."""
    one, two = (x.dtype if isinstance(x, Tensor) else type(x) for x in (input, other))
    if one is two is bool_:
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. "
            "Use the `^` or `logical_xor()` operator instead."
        )
    if bool_ in (one, two) or bool in (one, two):
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. "
            "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."
        )
    other = other if alpha == 1 else mul(other, alpha)
    return arithmetic(input, other, "sub", _SUB, None, None)


@operation("rsub", "__rsub__")
def rsub(input: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """Subtract from something."""
    if input.dtype is bool_:
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. "
            "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."
        )
    return sub(other, input if alpha == 1 else mul(input, alpha))


@operation("mul", "multiply", "__mul__", "__rmul__")
def mul(input: Any, other: Any) -> Tensor:
    """Multiply."""
    return arithmetic(input, other, "mul", _MUL, None, _listed(operator.and_))


def _true_kind(a: Any, b: Any) -> dtype:
    common = result_type(plain(a), plain(b))
    return dtypes.DEFAULT if common.kind in "bi" else common


@operation("div", "divide", "true_divide", "__truediv__")
def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """Divide."""
    if rounding_mode == "floor":
        return floor_divide(input, other)
    if _refuses(other) or _refuses(input):
        raise TypeError(f"div(): argument 'other' must be Tensor, not {_kind_of(other)}")
    xs, ys, shape, common = operands(input, other, _true_kind(input, other))
    found = new(common.settle(divided(xs, ys)), shape, common)
    if rounding_mode == "trunc":
        found = trunc(found)
        kind = result_type(plain(input), plain(other))
        return found if kind.kind == "f" else new(cast(flat(found), common, kind), shape, kind)
    return found


@operation("__rtruediv__", "__rdiv__", function=False)
def rdiv(input: Tensor, other: Any) -> Tensor:
    """Divide something by it."""
    return div(other, input)


@operation("floor_divide", "__floordiv__")
def floor_divide(input: Any, other: Any) -> Tensor:
    """Divide and round down."""
    return arithmetic(
        input, other, "floor_divide", _listed(_float_floor_divide), _listed(_by_zero(operator.floordiv)), None
    )


@operation("__rfloordiv__", function=False)
def rfloor(input: Tensor, other: Any) -> Tensor:
    """Divide something by it and round down."""
    return floor_divide(other, input)


@operation("remainder", "__mod__")
def remainder(input: Any, other: Any) -> Tensor:
    """Return what is left, with the sign of the divisor."""
    return arithmetic(
        input, other, "remainder", _listed(_float_remainder), _listed(_by_zero(operator.mod)), None
    )


@operation("__rmod__", function=False)
def rmod(input: Tensor, other: Any) -> Tensor:
    """Return what is left of something."""
    return remainder(other, input)


@operation()
def fmod(input: Any, other: Any) -> Tensor:
    """Return what is left, with the sign of the dividend."""

    def one(x: float, y: float) -> float:
        return math.nan if y == 0 or math.isinf(x) else math.fmod(x, y)

    return arithmetic(
        input, other, "fmod", _listed(one), _listed(_by_zero(lambda x, y: int(math.fmod(x, y)))), None
    )


@operation("pow", "__pow__")
def pow_(input: Any, exponent: Any) -> Tensor:
    """Take powers."""
    if _refuses(exponent) or _refuses(input):
        raise TypeError(f"pow(): argument 'exponent' must be Tensor, not {_kind_of(exponent)}")
    exponent = plain(exponent)
    if isinstance(exponent, int) and exponent < 0 and isinstance(input, Tensor) and input.dtype.kind in "bi":
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    if isinstance(input, Tensor) and input.dtype.kind == "f" and not isinstance(exponent, Tensor):
        xs = flat(input)
        if exponent == 2:
            return new(input.dtype.settle(list(map(operator.mul, xs, xs))), input._shape, input.dtype)
        if exponent == 0.5:
            return sqrt(input)
    return arithmetic(input, exponent, "pow", _listed(_power), _listed(_whole_power), None)


@operation("__rpow__", function=False)
def rpow(input: Tensor, other: Any) -> Tensor:
    """Take something to its power."""
    return pow_(other, input)


@operation()
def maximum(input: Tensor, other: Tensor) -> Tensor:
    """Return the larger of two."""
    _two_tensors("maximum", input, other)
    return arithmetic(input, other, "maximum", _listed(_larger), None, _listed(operator.or_))


@operation()
def minimum(input: Tensor, other: Tensor) -> Tensor:
    """Return the smaller of two."""
    _two_tensors("minimum", input, other)
    return arithmetic(input, other, "minimum", _listed(_smaller), None, _listed(operator.and_))


def _two_tensors(name: str, input: object, other: object) -> None:
    for place, x in (("input", input), ("other", other)):
        if not isinstance(x, Tensor):
            where = 1 if place == "input" else 2
            raise TypeError(
                f"{name}(): argument '{place}' (position {where}) must be Tensor, not {_kind_of(x)}"
            )


@operation()
def atan2(input: Tensor, other: Tensor) -> Tensor:
    """Return the angle of a point."""
    xs, ys, shape, common = operands(input, other, _true_kind(input, other))
    return new(common.settle(list(map(math.atan2, xs, ys))), shape, common)


@operation()
def hypot(input: Tensor, other: Tensor) -> Tensor:
    """Return the length of the longest side."""
    if result_type(input, other).kind != "f":
        raise NotImplementedError(f"\"hypot_cpu\" not implemented for '{result_type(input, other).title}'")
    xs, ys, shape, common = operands(input, other)
    return new(common.settle(list(map(math.hypot, xs, ys))), shape, common)


@operation()
def logaddexp(input: Tensor, other: Tensor) -> Tensor:
    """Return the logarithm of the sum of two exponentials."""
    _two_tensors("logaddexp", input, other)

    def one(x: float, y: float) -> float:
        if x == y and math.isinf(x):
            return x
        top = max(x, y) if x == x and y == y else math.nan
        return top + math.log1p(math.exp(-abs(x - y))) if top == top else top

    if result_type(input, other).kind != "f":
        raise NotImplementedError(
            f"\"logaddexp_cpu\" not implemented for '{result_type(input, other).title}'"
        )
    return arithmetic(input, other, "logaddexp", _listed(one), None, None)


@operation("lerp")
def lerp(input: Tensor, end: Tensor, weight: Any) -> Tensor:
    """Go part of the way from one to the other."""
    if input.dtype.kind not in "fc":
        raise NotImplementedError(f"\"lerp_kernel_scalar\" not implemented for '{input.dtype.title}'")
    if input.dtype is not end.dtype:
        names = (_long_name(input), _long_name(end))
        raise RuntimeError("expected dtype {} for `end` but got dtype {}".format(*names))
    step = sub(end, input)
    if isinstance(weight, Tensor):
        near = lt(abs_(weight), 0.5)
        return where(near, add(input, mul(weight, step)), sub(end, mul(step, rsub(weight, 1))))
    return add(input, mul(step, weight)) if abs(weight) < 0.5 else sub(end, mul(step, 1 - weight))


@operation()
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """Add a product."""
    return add(input, mul(mul(tensor1, tensor2), value))


# comparisons


def _comparison(names: tuple[str, ...], function: Callable, doc: str) -> Callable:
    def compared(input: Any, other: Any) -> Tensor:
        if _refuses(other) or _refuses(input):
            raise TypeError(f"{names[0]}(): argument 'other' must be Tensor, not {_kind_of(other)}")
        xs, ys, shape, _ = operands(input, other)
        return new(list(map(function, xs, ys)), shape, bool_)

    compared.__doc__ = doc
    return operation(*names)(compared)


eq = _comparison(("eq",), operator.eq, "Tell where two are equal.")
ne = _comparison(("ne", "not_equal"), operator.ne, "Tell where two differ.")
lt = _comparison(("lt", "less", "__lt__"), operator.lt, "Tell where the first is smaller.")
le = _comparison(("le", "less_equal", "__le__"), operator.le, "Tell where the first is not larger.")
gt = _comparison(("gt", "greater", "__gt__"), operator.gt, "Tell where the first is larger.")
ge = _comparison(("ge", "greater_equal", "__ge__"), operator.ge, "Tell where the first is not smaller.")


@operation("__eq__", function=False)
def equal_to(input: Tensor, other: Any) -> Any:
    """Compare; what is no number is simply not equal."""
    return False if _refuses(other) else eq(input, other)


@operation("__ne__", function=False)
def different_from(input: Tensor, other: Any) -> Any:
    """Compare; what is no number is simply different."""
    return True if _refuses(other) else ne(input, other)


@operation()
def isclose(
    input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Tensor:
    """Tell where two are close: off by at most ``atol + rtol * |other|``."""
    if input.dtype is not other.dtype:
        raise RuntimeError(f"{input.dtype.title} did not match {other.dtype.title}")
    xs, ys, shape, _ = operands(input, other)

    def one(x: Any, y: Any) -> bool:
        if x == y:
            return True
        if x != x or y != y:
            return equal_nan and x != x and y != y
        off = abs(x - y)
        return math.isfinite(off) and off <= atol + abs(rtol * y)

    return new(list(map(one, xs, ys)), shape, bool_)


@operation()
def allclose(
    input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> bool:
    """Tell whether all are close."""
    for place, x in ((1, input), (2, other)):
        if not isinstance(x, Tensor):
            name = ("input", "other")[place - 1]
            raise TypeError(
                f"allclose(): argument '{name}' (position {place}) must be Tensor, not {_kind_of(x)}"
            )
    return all(flat(isclose(input, other, rtol, atol, equal_nan)))


@operation()
def equal(input: Tensor, other: Tensor) -> bool:
    """Tell whether two have one shape and the same numbers."""
    if not isinstance(other, Tensor):
        raise TypeError(f"equal(): argument 'other' (position 2) must be Tensor, not {_kind_of(other)}")
    return input._shape == other._shape and all(map(operator.eq, flat(input), flat(other)))


# logic


def _bitwise(names: tuple[str, ...], function: Callable, doc: str) -> None:
    def made(input: Any, other: Any) -> Tensor:
        if _refuses(other) or _refuses(input):
            raise TypeError(f"{names[0]}(): argument 'other' must be Tensor, not {_kind_of(other)}")
        xs, ys, shape, common = operands(input, other)
        if common.kind in "fc":
            raise NotImplementedError(f"\"{names[0]}_cpu\" not implemented for '{common.title}'")
        return new(list(map(function, xs, ys)), shape, common)

    made.__doc__ = doc
    operation(*names)(made)


_bitwise(("bitwise_and", "__and__", "__rand__"), operator.and_, "Tell where both hold.")
_bitwise(("bitwise_or", "__or__", "__ror__"), operator.or_, "Tell where one holds.")
_bitwise(("bitwise_xor", "__xor__", "__rxor__"), operator.xor, "Tell where just one holds.")
_bitwise(("bitwise_left_shift", "__lshift__"), operator.lshift, "Double as often as told.")
_bitwise(("bitwise_right_shift", "__rshift__"), operator.rshift, "Halve as often as told.")


@operation("bitwise_not", "__invert__")
def invert(input: Tensor) -> Tensor:
    """Turn truth round."""
    if input.dtype.kind in "fc":
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    function = operator.not_ if input.dtype is bool_ else operator.invert
    return new(list(map(function, flat(input))), input._shape, input.dtype)


def _logical(name: str, function: Callable) -> None:
    def made(input: Tensor, other: Tensor) -> Tensor:
        xs, ys, shape, _ = operands(input, other)
        return new([function(x != 0, y != 0) for x, y in zip(xs, ys, strict=True)], shape, bool_)

    made.__doc__ = "Combine truths, where numbers other than zero are true."
    operation(name)(made)


_logical("logical_and", operator.and_)
_logical("logical_or", operator.or_)
_logical("logical_xor", operator.xor)


@operation()
def logical_not(input: Tensor) -> Tensor:
    """Tell where there is zero."""
    return new([x == 0 for x in flat(input)], input._shape, bool_)


# functions of one number


def _real_kind(x: Tensor) -> dtype:
    return x.dtype if x.dtype.kind in "fc" else dtypes.DEFAULT


def _needs_tensor(name: str, x: object) -> None:
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {_kind_of(x)}")


def _function(
    names: tuple[str, ...], fast: Callable, safe: Callable, doc: str, turned: Callable | None = None
) -> Callable:
    """Register a function of one number: ``safe`` where ``fast`` stops, ``turned`` for complex ones."""

    def made(input: Tensor) -> Tensor:
        _needs_tensor(names[0], input)
        kind = _real_kind(input)
        xs = cast(flat(input), input.dtype, kind)
        if kind.kind == "c":
            if turned is None:
                missing.refuse(f"torch.{names[0]}", " for complex numbers")
            return new(kind.settle(list(map(turned, xs))), input._shape, kind)
        try:
            found = list(map(fast, xs))
        except (ValueError, OverflowError, ZeroDivisionError):
            found = list(map(safe, xs))
        return new(kind.settle(found), input._shape, kind)

    made.__doc__ = doc
    return operation(*names)(made)


def _guarded(function: Callable, low: float, high: float) -> Callable:
    """Return a function that gives ``low`` or ``high`` where Python's stops or overflows, else NaN."""

    def safe(x: float) -> float:
        try:
            return function(x)
        except OverflowError:
            return low if x < 0 else high
        except (ValueError, ZeroDivisionError):
            return math.nan

    return safe


def _logarithm(function: Callable, pole: float = 0.0) -> Callable:
    def safe(x: float) -> float:
        return -math.inf if x == pole else math.nan if x < pole or x != x else function(x)

    return safe


def _sigmoid(x: float) -> float:
    if x >= 0:
        return 1 / (1 + math.exp(-x))
    small = math.exp(x)
    return small / (1 + small)


def _reciprocal(x: float) -> float:
    return _divide(1.0, x)


def _rsqrt(x: float) -> float:
    return _divide(1.0, math.sqrt(x)) if x >= 0 else math.nan


def _inverse_tanh(x: float) -> float:
    return math.copysign(math.inf, x) if abs(x) == 1 else math.nan


inf = math.inf
exp = _function(("exp",), math.exp, _guarded(math.exp, 0.0, inf), "Take e to its power.", cmath.exp)
exp2 = _function(("exp2",), lambda x: 2.0**x, _guarded(lambda x: 2.0**x, 0.0, inf), "Take 2 to its power.")
expm1 = _function(("expm1",), math.expm1, _guarded(math.expm1, -1.0, inf), "Take e to its power, less 1.")
log = _function(
    ("log",),
    math.log,
    _logarithm(math.log),
    "Take the logarithm.",
    lambda x: cmath.log(x) if x else complex(-inf),
)
log2 = _function(("log2",), math.log2, _logarithm(math.log2), "Take the logarithm to the base 2.")
log10 = _function(("log10",), math.log10, _logarithm(math.log10), "Take the logarithm to the base 10.")
log1p = _function(("log1p",), math.log1p, _logarithm(math.log1p, -1.0), "Take the logarithm of 1 more.")
sqrt = _function(
    ("sqrt",), math.sqrt, _guarded(math.sqrt, math.nan, inf), "Take the square root.", cmath.sqrt
)
rsqrt = _function(("rsqrt",), _rsqrt, _rsqrt, "Take one divided by the square root.")
sin = _function(("sin",), math.sin, _guarded(math.sin, inf, inf), "Take the sine.", cmath.sin)
cos = _function(("cos",), math.cos, _guarded(math.cos, inf, inf), "Take the cosine.", cmath.cos)
tan = _function(("tan",), math.tan, _guarded(math.tan, inf, inf), "Take the tangent.", cmath.tan)
asin = _function(("asin", "arcsin"), math.asin, _guarded(math.asin, inf, inf), "Take the inverse sine.")
acos = _function(("acos", "arccos"), math.acos, _guarded(math.acos, inf, inf), "Take the inverse cosine.")
atan = _function(("atan", "arctan"), math.atan, math.atan, "Take the inverse tangent.")
sinh = _function(("sinh",), math.sinh, _guarded(math.sinh, -inf, inf), "Take the hyperbolic sine.")
cosh = _function(("cosh",), math.cosh, _guarded(math.cosh, inf, inf), "Take the hyperbolic cosine.")
tanh = _function(("tanh",), math.tanh, math.tanh, "Take the hyperbolic tangent.", cmath.tanh)
atanh = _function(
    ("atanh", "arctanh"),
    math.atanh,
    lambda x: math.atanh(x) if abs(x) < 1 else _inverse_tanh(x),
    "Take the inverse of tanh.",
)
asinh = _function(("asinh",), math.asinh, math.asinh, "Take the inverse of sinh.")
sigmoid = _function(("sigmoid",), _sigmoid, _sigmoid, "Squeeze between 0 and 1.")
erf = _function(("erf",), math.erf, math.erf, "Take the error function.")
erfc = _function(("erfc",), math.erfc, math.erfc, "Take one less the error function.")
reciprocal = _function(
    ("reciprocal",), lambda x: 1.0 / x, _reciprocal, "Divide one by it.", lambda x: _divide(1 + 0j, x)
)
deg2rad = _function(
    ("deg2rad",), lambda x: x * (math.pi / 180), lambda x: x * (math.pi / 180), "Turn degrees to radians."
)
rad2deg = _function(
    ("rad2deg",), lambda x: x * (180 / math.pi), lambda x: x * (180 / math.pi), "Turn radians to degrees."
)


def _kept(
    names: tuple[str, ...], function: Callable, doc: str, *, wholes: bool = True, truths: bool = True
) -> Callable:
    """Register a function that keeps the dtype."""

    def made(input: Tensor) -> Tensor:
        _needs_tensor(names[0], input)
        if input.dtype.kind == "b" and not truths:
            raise (RuntimeError if names[0] in BOOLEAN else NotImplementedError)(
                BOOLEAN.get(names[0], f"\"{names[0]}_vml_cpu\" not implemented for 'Bool'")
            )
        if input.dtype.kind == "b" and names[0] == "square":
            return to_dtype(input, int64)
        if input.dtype.kind in "bi" and not wholes:
            return new(list(flat(input)), input._shape, input.dtype)
        return new(input.dtype.settle(list(map(function, flat(input)))), input._shape, input.dtype)

    made.__doc__ = doc
    return operation(*names)(made)


BOOLEAN = {
    "relu": "Boolean inputs not supported for relu",
    "neg": "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use "
    "the `~` or `logical_not()` operator instead.",
}


def _rounding(function: Callable) -> Callable:
    return lambda x: math.copysign(float(function(x)), x) if math.isfinite(x) else x


neg_kept = _kept(("neg", "negative", "__neg__"), operator.neg, "Turn the sign.", truths=False)
floor = _kept(("floor",), _rounding(math.floor), "Round down.", wholes=False, truths=False)
ceil = _kept(("ceil",), _rounding(math.ceil), "Round up.", wholes=False, truths=False)
trunc = _kept(("trunc", "fix"), _rounding(math.trunc), "Round towards zero.", wholes=False, truths=False)
sign = _kept(("sign", "sgn"), lambda x: type(x)((x > 0) - (x < 0)), "Return the sign.")
square = _kept(("square",), lambda x: x * x, "Multiply with itself.")
relu = _kept(
    ("relu",),
    lambda x: x if x > 0 or x != x else type(x)(0),
    "Return it above zero, else zero.",
    truths=False,
)
positive = _kept(("positive", "__pos__"), lambda x: x, "Return it.")
frac = _kept(("frac",), lambda x: math.fmod(x, 1.0), "Return what is behind the point.")


@operation("abs", "absolute", "__abs__")
def abs_(input: Tensor) -> Tensor:
    """Take the absolute value."""
    _needs_tensor("abs", input)
    if input.dtype.kind == "c":
        kind = float32 if input.dtype is dtypes.complex64 else float64
        return new(kind.settle(list(map(abs, flat(input)))), input._shape, kind)
    if input.dtype.kind == "b":
        raise NotImplementedError("\"abs_cpu\" not implemented for 'Bool'")
    return new(input.dtype.settle(list(map(abs, flat(input)))), input._shape, input.dtype)


@operation("round")
def round_(input: Tensor, *, decimals: int = 0) -> Tensor:
    """Round to the nearest, halves to even."""
    if input.dtype.kind == "b":
        raise NotImplementedError("\"round_vml_cpu\" not implemented for 'Bool'")
    if input.dtype.kind != "f":
        return new(list(flat(input)), input._shape, input.dtype)
    if not decimals:
        xs = [math.copysign(float(round(x)), x) if math.isfinite(x) else x for x in flat(input)]
        return new(xs, input._shape, input.dtype)
    settle, ten = input.dtype.settle, 10.0 ** abs(decimals)
    scaled = flat(mul(input, ten) if decimals > 0 else div(input, ten))
    xs = [float(round(x)) if math.isfinite(x) else x for x in scaled]
    return new(settle([x / ten if decimals > 0 else x * ten for x in xs]), input._shape, input.dtype)


def _test(name: str, function: Callable, whole: bool, doc: str) -> Callable:
    def made(input: Tensor) -> Tensor:
        _needs_tensor(name, input)
        if input.dtype.kind in "bi":
            return new([whole] * input.numel(), input._shape, bool_)
        return new(list(map(function, flat(input))), input._shape, bool_)

    made.__doc__ = doc
    return operation(name)(made)


isnan = _test("isnan", lambda x: x != x, False, "Tell where there is no number.")
isinf = _test("isinf", lambda x: abs(x) == inf, False, "Tell where there is an infinity.")
isfinite = _test("isfinite", cmath.isfinite, True, "Tell where there is a finite number.")
_test("isposinf", lambda x: x == inf, False, "Tell where there is plus infinity.")
_test("isneginf", lambda x: x == -inf, False, "Tell where there is minus infinity.")


@operation()
def nan_to_num(
    input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """Put numbers in place of NaN and the infinities."""
    if input.dtype.kind != "f":
        return new(list(flat(input)), input._shape, input.dtype)
    limits = dtypes.finfo(input.dtype)
    nan = 0.0 if nan is None else nan
    high = limits.max if posinf is None else posinf
    low = limits.min if neginf is None else neginf
    xs = [nan if x != x else high if x == inf else low if x == -inf else x for x in flat(input)]
    return new(input.dtype.settle([float(x) for x in xs]), input._shape, input.dtype)


@operation("clamp", "clip")
def clamp(input: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Keep between two bounds."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    found = input
    if min is not None:
        found = arithmetic(found, min, "clamp", _listed(_larger), None, None)
    if max is not None:
        found = arithmetic(found, max, "clamp", _listed(_smaller), None, None)
    return found


@operation("clamp_min")
def clamp_min(input: Tensor, min: Any) -> Tensor:
    """Keep above a bound."""
    return clamp(input, min, None)


@operation("clamp_max")
def clamp_max(input: Tensor, max: Any) -> Tensor:
    """Keep below a bound."""
    return clamp(input, None, max)


@operation("where")
def where(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    """Take from one where the condition holds, else from the other."""
    if input is None and other is None:
        from torch import indexing

        return indexing.nonzero(condition, as_tuple=True)
    if not isinstance(condition, Tensor):
        raise TypeError(
            f"where(): argument 'condition' (position 1) must be Tensor, not {_kind_of(condition)}"
        )
    if condition.dtype is not bool_:
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype {condition.dtype.title}"
        )
    input, other = plain(input), plain(other)
    common = result_type(input, other)
    shapes = [x._shape for x in (input, other) if isinstance(x, Tensor)]
    shape = condition._shape
    for one in shapes:
        shape = storage.broadcast_two(shape, one)
    xs, ys = (
        cast(spread(x, shape), x.dtype, common)
        if isinstance(x, Tensor)
        else [_scalar(x, common)] * math.prod(shape)
        for x in (input, other)
    )
    found = [x if yes else y for yes, x, y in zip(spread(condition, shape), xs, ys, strict=True)]
    return new(found, shape, common)


@operation(function=False)
def where_method(input: Tensor, condition: Tensor, other: Any) -> Tensor:
    """Take from this tensor where the condition holds."""
    return where(condition, input, other)


@operation()
def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """Put a number where the mask is true."""
    if not isinstance(mask, Tensor):
        raise TypeError(f"masked_fill(): argument 'mask' (position 1) must be Tensor, not {_kind_of(mask)}")
    if mask.dtype is not bool_:
        raise RuntimeError(
            f"masked_fill_ only supports boolean masks, but got mask with dtype {_long_name(mask)}"
        )
    if isinstance(value, Tensor):
        if value.ndim:
            raise RuntimeError(
                f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.ndim} dimension(s)."
            )
        value = value.item()
    value = plain(value)
    if not number(value):
        raise TypeError(f"masked_fill(): argument 'value' (position 2) must be Tensor, not {_kind_of(value)}")
    if input.dtype.kind in "bi" and isinstance(value, float):
        if input.dtype.kind == "i" and not math.isfinite(value):
            raise RuntimeError("value cannot be converted to type int64_t without overflow")
        value = bool(value) if input.dtype.kind == "b" else int(value)
    shape = storage.broadcast_two(mask._shape, input._shape)
    value = _scalar(value, input.dtype)
    found = [value if yes else x for yes, x in zip(spread(mask, shape), spread(input, shape), strict=True)]
    return new(found, shape, input.dtype)


def _long_name(x: Tensor) -> str:
    return {"int64": "long int", "int32": "int", "uint8": "unsigned char"}.get(
        x.dtype.name, x.dtype.title.lower()
    )


# complex numbers


@operation("real")
def real(input: Tensor) -> Tensor:
    """Return the real parts."""
    if input.dtype.kind != "c":
        return input
    kind = float32 if input.dtype is dtypes.complex64 else float64
    return new([x.real for x in flat(input)], input._shape, kind)


@operation("imag")
def imag(input: Tensor) -> Tensor:
    """Return the imaginary parts."""
    if input.dtype.kind != "c":
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    kind = float32 if input.dtype is dtypes.complex64 else float64
    return new([x.imag for x in flat(input)], input._shape, kind)


@operation("conj")
def conj(input: Tensor) -> Tensor:
    """Turn the imaginary parts round."""
    return (
        new([x.conjugate() for x in flat(input)], input._shape, input.dtype)
        if input.dtype.kind == "c"
        else input
    )


@operation("resolve_conj", "resolve_neg")
def resolve_conj(input: Tensor) -> Tensor:
    """Return it as it is."""
    return input


@operation("angle")
def angle(input: Tensor) -> Tensor:
    """Return the angles of complex numbers."""
    kind = float64 if input.dtype in (float64, dtypes.complex128) else float32
    return new(kind.settle([cmath.phase(x) for x in flat(input)]), input._shape, kind)


def _complex_of(kind: dtype) -> dtype:
    return dtypes.complex128 if kind is float64 else dtypes.complex64


@operation("polar", method=False)
def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """Make complex numbers of lengths and angles."""
    xs, ys, shape, common = operands(abs, angle)
    kind = _complex_of(common)
    return new(kind.settle(list(map(cmath.rect, xs, ys))), shape, kind)


@operation("complex", method=False)
def complex_(real: Tensor, imag: Tensor) -> Tensor:
    """Make complex numbers of their parts."""
    xs, ys, shape, common = operands(real, imag)
    return new(list(map(complex, xs, ys)), shape, _complex_of(common))


@operation("view_as_complex", method=False)
def view_as_complex(input: Tensor) -> Tensor:
    """Make a complex number of each two."""
    if not input.ndim or input.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    xs = flat(input)
    return new(list(map(complex, xs[::2], xs[1::2])), input._shape[:-1], _complex_of(input.dtype))


@operation("view_as_real", method=False)
def view_as_real(input: Tensor) -> Tensor:
    """Make two numbers of each complex one."""
    kind = float32 if input.dtype is dtypes.complex64 else float64
    xs = [part for x in flat(input) for part in (x.real, x.imag)]
    return new(xs, (*input._shape, 2), kind)


# in place


def put(input: Tensor, found: Tensor) -> Tensor:
    """Write a result into a tensor, as operations that end in ``_`` do."""
    if found._shape != input._shape:
        raise RuntimeError(
            f"output with shape {list(input._shape)} doesn't match the broadcast shape {list(found._shape)}"
        )
    if dtypes.KINDS.index(found.dtype.kind) > dtypes.KINDS.index(input.dtype.kind):
        raise RuntimeError(
            f"result type {found.dtype.title} can't be cast to the desired output type {input.dtype.title}"
        )
    if input._storage.dtype is bool_ and found.dtype.kind == "i":
        raise RuntimeError(f"result type {found.dtype.title} can't be cast to the desired output type Bool")
    if any(n > 1 and not stride for n, stride in zip(input._shape, input._strides, strict=True)):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory "
            "location. Please clone() the tensor before performing the operation."
        )
    write(input, list(cast(flat(found), found.dtype, input.dtype)))
    return input


IN_PLACE = {
    "add": ("add_", "__iadd__"), "sub": ("sub_", "__isub__"), "mul": ("mul_", "__imul__"),
    "div": ("div_", "__itruediv__"), "floor_divide": ("floor_divide_", "__ifloordiv__"),
    "remainder": ("remainder_", "__imod__"), "pow": ("pow_", "__ipow__"),
    "bitwise_and": ("bitwise_and_", "__iand__"), "bitwise_or": ("bitwise_or_", "__ior__"),
    "bitwise_xor": ("bitwise_xor_", "__ixor__"), "exp": ("exp_",), "log": ("log_",), "sqrt": ("sqrt_",),
    "sin": ("sin_",), "cos": ("cos_",), "tanh": ("tanh_",), "sigmoid": ("sigmoid_",), "relu": ("relu_",),
    "abs": ("abs_",), "neg": ("neg_",), "round": ("round_",), "floor": ("floor_",), "ceil": ("ceil_",),
    "square": ("square_",), "clamp": ("clamp_", "clip_"), "clamp_min": ("clamp_min_",),
    "clamp_max": ("clamp_max_",), "masked_fill": ("masked_fill_",), "nan_to_num": ("nan_to_num_",),
    "lerp": ("lerp_",), "reciprocal": ("reciprocal_",), "rsqrt": ("rsqrt_",), "log1p": ("log1p_",),
    "logical_not": ("logical_not_",), "addcmul": ("addcmul_",),
}  # fmt: skip


def register_in_place(methods: dict[str, Callable]) -> None:
    """Make the methods that end in ``_`` of those that do not."""
    for name, made in IN_PLACE.items():
        pure = methods[name].__wrapped__

        def changed(input: Tensor, *args: Any, _pure: Callable = pure, **kwargs: Any) -> Tensor:
            return put(input, _pure(input, *args, **kwargs))

        changed.__doc__ = f"Do what `{name}` does, in place."
        operation(*made, function=False)(changed)


@operation("copy_", function=False)
def copy_(input: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Write other numbers into a tensor."""
    if not isinstance(src, Tensor):
        raise TypeError(f"copy_(): argument 'other' (position 1) must be Tensor, not {_kind_of(src)}")
    assign(input, src)
    return input


def assign(target: Tensor, src: Tensor) -> None:
    """Write numbers that broadcast into a view."""
    shape = src._shape
    while len(shape) > target.ndim and shape[0] == 1:  # PyTorch drops axes of one in front
        shape = shape[1:]
    more = target.ndim - len(shape)
    if more < 0 or any(n not in (1, m) for n, m in zip(shape, target._shape[more:], strict=True)):
        axis = next(
            (
                a
                for a in range(-1, -min(len(shape), target.ndim) - 1, -1)
                if shape[a] not in (1, target._shape[a])
            ),
            0,
        )
        if more < 0:
            raise RuntimeError(
                f"expand({'CPUBoolType' if src.dtype is bool_ else f'torch.{src.dtype.title}Tensor'}{{{list(src._shape)}}}, size={list(target._shape)}): the number "
                f"of sizes provided ({target.ndim}) must be greater or equal to the number of dimensions in the "
                f"tensor ({src.ndim})"
            )
        raise RuntimeError(
            f"The expanded size of the tensor ({target._shape[axis]}) must match the existing size ({shape[axis]}) "
            f"at non-singleton dimension {target.ndim + axis}.  Target sizes: {list(target._shape)}.  "
            f"Tensor sizes: {list(shape)}"
        )
    flat_src = new(flat(src), shape, src.dtype) if shape != src._shape else src
    write(target, list(cast(spread(flat_src, target._shape), src.dtype, target.dtype)))


@operation("fill_", function=False)
def fill_(input: Tensor, value: Any) -> Tensor:
    """Write one number everywhere."""
    value = value.item() if isinstance(value, Tensor) else plain(value)
    write(input, [_scalar(value, input.dtype)] * input.numel())
    return input


@operation("zero_", function=False)
def zero_(input: Tensor) -> Tensor:
    """Write zeros everywhere."""
    return fill_(input, 0)


# dtypes


def to_dtype(input: Tensor, dtype: dtype) -> Tensor:
    """Return the numbers in another dtype; the tensor itself if it has that."""
    if input.dtype is dtype:
        return input
    return new(list(cast(flat(input), input.dtype, dtype)), input._shape, dtype)


@operation("to", function=False)
def to(input: Tensor, *args: Any, copy: bool = False, non_blocking: bool = False, **kwargs: Any) -> Tensor:
    """Return it in another dtype."""
    from torch.tensor import device as Device

    kind = kwargs.get("dtype")
    place = kwargs.get("device")
    for one in args:
        if isinstance(one, dtypes.dtype):
            kind = one
        elif isinstance(one, Tensor):
            kind = one.dtype
        elif isinstance(one, (str, Device)):
            place = one
    if place is not None:
        Device(place)
    found = input if kind is None else to_dtype(input, kind)
    return new(list(flat(input)), input._shape, input.dtype) if copy and found is input else found


for _name, _kind in {
    "double": float64, "float": float32, "half": dtypes.float16, "bfloat16": dtypes.bfloat16, "long": int64,
    "int": dtypes.int32, "bool": bool_, "short": dtypes.int16, "char": dtypes.int8, "byte": dtypes.uint8,
    "cfloat": dtypes.complex64, "cdouble": dtypes.complex128,
}.items():  # fmt: skip

    def _converted(input: Tensor, _kind: dtype = _kind) -> Tensor:
        return to_dtype(input, _kind)

    _converted.__doc__ = f"Return it as {_kind}."
    operation(_name, function=False)(_converted)


@operation("type_as", function=False)
def type_as(input: Tensor, other: Tensor) -> Tensor:
    """Return it in the dtype of another."""
    return to_dtype(input, other.dtype)


@operation("type", function=False)
def type_(input: Tensor, dtype: Any = None) -> Any:
    """Return the name of the tensor's type, or the tensor in another dtype."""
    if dtype is None:
        return f"torch.{input.dtype.title}Tensor"
    return to_dtype(input, dtype)


@operation("is_floating_point", method=False)
def is_floating_point(input: Tensor) -> bool:
    """Tell whether the numbers are real ones."""
    return input.dtype.kind == "f"


@operation("is_complex", method=False)
def is_complex(input: Tensor) -> bool:
    """Tell whether the numbers are complex ones."""
    return input.dtype.kind == "c"


@operation("numel", method=False)
def numel(input: Tensor) -> int:
    """Return how many numbers there are."""
    return input.numel()
