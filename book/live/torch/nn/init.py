"""First numbers of parameters."""

from __future__ import annotations

import math

from torch import elementwise, missing, random
from torch.tensor import Tensor, write


def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: random.Generator | None = None
) -> Tensor:
    """Draw normal numbers."""
    xs = random.normal_numbers(generator or random.default_generator, tensor.numel(), tensor.dtype)
    write(tensor, tensor.dtype.settle([x * std + mean for x in xs]))
    return tensor


def uniform_(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: random.Generator | None = None
) -> Tensor:
    """Draw numbers between two bounds."""
    a, b = tensor.dtype.settle([float(a), float(b)])
    width = tensor.dtype.settle([b - a])[0]
    xs = random.uniform_numbers(generator or random.default_generator, tensor.numel(), tensor.dtype)
    write(tensor, tensor.dtype.settle([x * width + a for x in xs]))
    return tensor


def _fans(tensor: Tensor) -> tuple[int, int]:
    return tensor.shape[1], tensor.shape[0]


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: random.Generator | None = None) -> Tensor:
    """Draw numbers between bounds that suit the sizes."""
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / sum(_fans(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: random.Generator | None = None,
) -> Tensor:
    """Draw numbers between bounds that suit the inputs."""
    bound = math.sqrt(3.0) * math.sqrt(2.0 / (1 + a**2)) / math.sqrt(_fans(tensor)[0])
    return uniform_(tensor, -bound, bound, generator)


def zeros_(tensor: Tensor) -> Tensor:
    """Write zeros."""
    return elementwise.fill_(tensor, 0.0)


def ones_(tensor: Tensor) -> Tensor:
    """Write ones."""
    return elementwise.fill_(tensor, 1.0)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Write one number."""
    return elementwise.fill_(tensor, val)


def __getattr__(name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(name)
    missing.refuse(f"torch.nn.init.{name}")
