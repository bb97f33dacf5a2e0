"""A small PyTorch in plain Python, for the cells and exercises that run on the book's pages.

It computes forwards what the book's attention needs, rounds as PyTorch's dtypes do, prints as PyTorch prints
and says in a sentence what it lacks (`torch.missing`). The real one is in the notebooks.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

from torch import missing, dtypes, storage, dispatch, tensor as _tensor, random
from torch import creation, elementwise, reductions, shaping, indexing, sorting, products, linalg
from torch import printing, absent, modes
from torch.dtypes import (
    bfloat16,
    bool_,
    complex64,
    complex128,
    dtype,
    finfo,
    float16,
    float32,
    float64,
    iinfo,
    int8,
    int16,
    int32,
    int64,
    promote_types,
    uint8,
)
from torch.modes import (
    autocast,
    enable_grad,
    get_num_threads,
    inference_mode,
    is_autocast_enabled,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
    set_num_threads,
    use_deterministic_algorithms,
)
from torch.printing import get_printoptions, set_printoptions
from torch.random import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from torch.storage import Size, broadcast_shapes
from torch.tensor import Tensor, device

__version__ = "2.13.0+page"
bool, float, double, half, long, int, short = bool_, float32, float64, float16, int64, int32, int16
cfloat, cdouble = complex64, complex128
inf, nan, pi, e, newaxis = math.inf, math.nan, math.pi, math.e, None
strided = "torch.strided"
contiguous_format, preserve_format = "torch.contiguous_format", "torch.preserve_format"


class SymInt:
    """A size of an exported program, of which there are none here."""


class SymFloat:
    """A number of an exported program, of which there are none here."""


class SymBool:
    """A truth of an exported program, of which there are none here."""


def is_tensor(obj: Any) -> bool:
    """Tell whether something is a tensor."""
    return isinstance(obj, Tensor)


def get_default_dtype() -> dtype:
    """Return float32."""
    return dtypes.DEFAULT


def set_default_dtype(d: dtype) -> None:
    """Refuse any but float32."""
    if d is not float32:
        missing.refuse(f"torch.set_default_dtype({d})")


def result_type(tensor1: Any, tensor2: Any) -> dtype:
    """Return the dtype of what comes out of two."""
    return elementwise.result_type(tensor1, tensor2)


def can_cast(from_: dtype, to: dtype) -> bool:
    """Tell whether an operation in place may write one dtype into another."""
    return dtypes.KINDS.index(from_.kind) <= dtypes.KINDS.index(to.kind)


def _assemble() -> None:
    """Give the tensor its methods, and this module its functions."""
    methods = dispatch.METHODS
    elementwise.register_in_place(methods)
    methods["where"] = dispatch.watched(elementwise.where_method, "where")
    methods["logical_and_"] = methods.get("logical_and_", None) or dispatch.watched(
        lambda input, other: elementwise.put(input, methods["logical_and"](input, other)), "logical_and_"
    )
    for name, function in methods.items():
        setattr(Tensor, name, function)
    for name, function in dispatch.FUNCTIONS.items():
        if not name.startswith("__"):
            globals()[name] = function
    Tensor.T = property(shaping.turned_all)
    Tensor.mT = property(shaping.turned_last)
    Tensor.H = property(shaping.adjoint)
    Tensor.mH = property(shaping.adjoint)
    Tensor.real = property(elementwise.real)
    Tensor.imag = property(elementwise.imag)
    names = {}  # what `dir` lists of PyTorch: a name that is there and not here is refused, others are mistakes
    for line in Path(__file__).with_name("names.txt").read_text("utf8").splitlines():
        where, _, rest = line.partition(":")
        names[where] = set(rest.split())
    Tensor._says = names["Tensor"] - set(dir(Tensor)) | {
        "backward",
        "requires_grad_",
        "retain_grad",
        "register_hook",
    }
    _KNOWN.update(names["torch"])
    from torch import nn
    from torch.nn import functional

    nn.KNOWN |= names["nn"]
    functional.KNOWN |= names["functional"]


_KNOWN: set[str] = set()


def __getattr__(name: str) -> Any:
    if name in absent.PARTS:
        part = absent.PARTS[name]
        sys.modules.setdefault(f"torch.{name}", part)
        return part
    if name in ("testing", "overrides", "utils", "autograd", "nn"):
        import importlib

        return importlib.import_module(f"torch.{name}")
    if name in _KNOWN:
        missing.refuse(f"torch.{name}")
    raise AttributeError(f"module 'torch' has no attribute '{name}'")


_assemble()
from torch import special  # noqa: E402
from torch import nn, autograd, overrides, testing, utils  # noqa: E402

del _assemble
