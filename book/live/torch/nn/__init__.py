"""Layers, forwards only: what attention is built of."""

from __future__ import annotations

from typing import Any

from torch import missing
from torch.nn import functional, init, modules, parameter
from torch.nn.modules import (
    ELU,
    GELU,
    GRU,
    LSTM,
    RNN,
    Dropout,
    Embedding,
    Flatten,
    Identity,
    LayerNorm,
    Linear,
    Module,
    ModuleDict,
    ModuleList,
    ReLU,
    RMSNorm,
    RNNCell,
    Sequential,
    Sigmoid,
    SiLU,
    Softmax,
    Softmin,
    Softplus,
    Tanh,
)
from torch.nn.parameter import Buffer, Parameter

KNOWN: set[str] = set()  # what PyTorch's has
_absent: dict[str, type] = {}


def __getattr__(name: str) -> Any:
    if name in KNOWN and name[:1].isupper():  # a class, which isinstance may ask for
        return _absent.setdefault(name, modules.absent(name))
    if name in KNOWN:
        missing.refuse(f"torch.nn.{name}")
    raise AttributeError(f"module 'torch.nn' has no attribute '{name}'")


__all__ = [
    "ELU", "GELU", "GRU", "LSTM", "RNN", "Buffer", "Dropout", "Embedding", "Flatten", "Identity", "LayerNorm", "Linear", "Module",
    "ModuleDict", "ModuleList", "Parameter", "RMSNorm", "RNNCell", "ReLU", "Sequential", "SiLU", "Sigmoid", "Softmax",
    "Softplus", "Tanh", "functional", "init", "modules", "parameter",
]  # fmt: skip
