"""The register of operations, and the modes that may watch each call of one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar

FUNCTIONS: dict[str, Callable] = {}  # torch.<name>
METHODS: dict[str, Callable] = {}  # Tensor.<name>
FUNCTION_MODES: list[Any] = []
DISPATCH_MODES: list[Any] = []
OTHER_NAMES = {"axis": "dim", "keepdims": "keepdim", "dtypes": "dtype"}


def watched(function: Callable, name: str) -> Callable:
    """Return an operation that tells the modes of its calls, and knows NumPy's names of keywords."""

    @functools.wraps(function)
    def called(*args, **kwargs):
        if FUNCTION_MODES or DISPATCH_MODES:
            return _through(called, args, kwargs)
        if kwargs and ("axis" in kwargs or "keepdims" in kwargs):
            kwargs = {OTHER_NAMES.get(key, key): value for key, value in kwargs.items()}
        return function(*args, **kwargs)

    called.__name__ = name
    return called


def _through(called: Callable, args: tuple, kwargs: dict) -> Any:
    """Let the innermost mode make the call; inside its own code it is off."""
    stack, ask = (
        (FUNCTION_MODES, "__torch_function__") if FUNCTION_MODES else (DISPATCH_MODES, "__torch_dispatch__")
    )
    mode = stack.pop()
    try:
        return getattr(mode, ask)(called, (), args, kwargs)
    finally:
        stack.append(mode)


def operation(*names: str, function: bool = True, method: bool = True) -> Callable[[Callable], Callable]:
    """Register an operation under its own name or the names given, as a function, a method or both."""

    def register(made: Callable) -> Callable:
        for name in names or (made.__name__,):
            one = watched(made, name)
            if function:
                FUNCTIONS[name] = one
            if method:
                METHODS[name] = one
        return made  # inside the package it is called without anybody watching

    return register


class Mode:
    """What is told of each call while it is on."""

    _stack: ClassVar[list[Any]] = []

    def __enter__(self) -> Mode:
        self._stack.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.pop()


class TorchFunctionMode(Mode):
    """Told of the functions and methods of tensors that are called."""

    _stack = FUNCTION_MODES

    def __torch_function__(self, function, types, args=(), kwargs=None):
        """Make the call."""
        raise NotImplementedError


class TorchDispatchMode(Mode):
    """Told of the operations that run; here they are the functions and methods themselves."""

    _stack = DISPATCH_MODES

    def __init__(self, _dispatch_key: object = None) -> None:
        pass

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        """Make the call."""
        raise NotImplementedError
