"""Cases and what they are drawn from."""

import dataclasses
import random
from collections.abc import Callable

import torch
from torch import Tensor

from tests import DEVICE
from tests.fuzz.bounded import bounded

DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
SIZES = (1, 2, 3, 5, 7)


@dataclasses.dataclass
class Case:
    """One call, what it must return, and what may differ.

    Attributes:
        name: The function, a key of `FUNCTIONS`.
        dtype: Of the tensors that come out.
        text: The call in words.
        call: Calls the function given with the tensors given; returns a tensor or a tuple of them.
        expected: The same in an `Arithmetic`, from bounded tensors to bounded tensors.
        inputs: Tensors that a gradient may be asked of.
        needs: The names of those it is asked of.
        others: More tensors, which must not be changed either.
        clean: What stands for an input with hidden NaNs when the expected result is computed.
        ignored: Entries that are not compared, of ``output 0`` or of the gradient of an input.
        wide: The outputs that are float32 where the others are in half precision.
    """

    name: str
    dtype: torch.dtype
    text: str
    call: Callable
    expected: Callable
    inputs: dict[str, Tensor] = dataclasses.field(default_factory=dict)
    needs: tuple[str, ...] = ()
    others: dict[str, Tensor] = dataclasses.field(default_factory=dict)
    clean: dict[str, Tensor] = dataclasses.field(default_factory=dict)
    ignored: dict[str, Tensor] = dataclasses.field(default_factory=dict)
    wide: tuple[int, ...] = ()


class Draw:
    """Random numbers, sizes, tensors and their places in memory, all from one seed."""

    def __init__(self, seed, number):
        self.random = random.Random(f"{seed}, {number}")
        self.generator = torch.Generator().manual_seed(self.random.getrandbits(40))

    def chance(self, share):
        return self.random.random() < share

    def pick(self, *options):
        return self.random.choice(options)

    def size(self, none=0.0):
        return 0 if self.chance(none) else self.pick(*SIZES)

    def whole(self, least, most):
        return self.random.randint(least, most)

    def dtype(self):
        return self.random.choices(DTYPES, (4, 3, 2, 2))[0]

    def normal(self, shape, dtype, spread=1.0):
        x = torch.randn(shape, generator=self.generator, dtype=torch.float64) * spread
        return self.placed(x.to(DEVICE, dtype))

    def boolean(self, shape, share):
        return self.placed((torch.rand(shape, generator=self.generator) < share).to(DEVICE))

    def placed(self, x):
        """Put the numbers into memory in another order, with gaps, or once for a whole axis."""
        how = self.random.choices(("dense", "turned", "gaps", "expanded"), (6, 2, 2, 1))[0]
        if how == "turned" and x.ndim > 1:
            axis = self.whole(0, x.ndim - 2)
            return x.transpose(axis, -1).contiguous().transpose(axis, -1)
        if how == "gaps" and x.ndim:
            wide = x.new_zeros(*x.shape[:-1], 2 * x.shape[-1] + 1)
            wide[..., 1::2] = x
            return wide[..., 1::2]
        if how == "expanded" and x.ndim and x.numel():
            axis = self.whole(0, x.ndim - 1)
            return x.narrow(axis, 0, 1).expand(x.shape)
        return x

    def fitting(self, target):
        """Draw a shape that broadcasts to the target: some axes 1, some in front missing."""
        shape = [size if self.chance(0.7) else 1 for size in target]
        return tuple(shape[self.whole(0, len(shape)) :]) if self.chance(0.6) else tuple(shape)

    def some(self, names):
        """Draw which of the names need a gradient: all, none or any."""
        names = tuple(names)
        if self.chance(0.5):
            return names
        return tuple(name for name in names if self.chance(0.5))


def words(**things):
    """Write arguments in one line: tensors as their shape and dtype."""

    def word(x):
        if isinstance(x, Tensor):
            layout = "" if x.is_contiguous() else f" strides {x.stride()}"
            return f"{tuple(x.shape)} {str(x.dtype).removeprefix('torch.')}{layout}"
        return getattr(x, "__name__", None) or repr(x)

    return ", ".join(f"{name}={word(x)}" for name, x in things.items() if x is not None)


def constant_case(name, dtype, text, call, expected):
    """Make a case without inputs: what it must return, in float64, and how far it may be off."""
    value, error = expected
    value = value.double()
    error = torch.as_tensor(error, dtype=torch.float64).expand(value.shape)
    return Case(name, dtype, text, lambda function, t: call(function), lambda a, t: bounded(value, error))


def as_tuple(x):
    return x if isinstance(x, tuple) else (x,)
