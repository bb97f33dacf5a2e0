"""Switches of PyTorch's that change nothing here: there are no gradients."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from torch import missing


class _Quiet:
    """A context that is a decorator too, and changes nothing."""

    def __init__(self, mode: Any = True) -> None:
        self.function = mode if callable(mode) else None

    def __new__(cls, mode: Any = True) -> Any:
        """Decorate at once where it is used without brackets."""
        made = super().__new__(cls)
        return made(mode) if callable(mode) else made

    def __enter__(self) -> None:
        _ON.append(self._grad)

    def __exit__(self, *error: object) -> None:
        _ON.pop()

    def __call__(self, function: Callable) -> Callable:
        @functools.wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return called

    _grad = False


class no_grad(_Quiet):  # noqa: N801
    """There are no gradients anyway."""


class inference_mode(_Quiet):  # noqa: N801
    """There are no gradients anyway."""


class enable_grad(_Quiet):  # noqa: N801
    """There are no gradients all the same."""

    _grad = True


class set_grad_enabled(_Quiet):  # noqa: N801
    """There are no gradients all the same."""


_ON: list[bool] = []


def is_grad_enabled() -> bool:
    """Tell whether gradients would be kept."""
    return _ON[-1] if _ON else True


def is_inference_mode_enabled() -> bool:
    """Say no."""
    return False


def is_autocast_enabled(device_type: str = "cpu") -> bool:
    """Say no."""
    return False


def autocast(*args: Any, **kwargs: Any) -> None:
    """Refuse."""
    missing.refuse("torch.autocast")


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Do nothing: all is."""


def set_num_threads(n: int) -> None:
    """Do nothing: there is one."""


def get_num_threads() -> int:
    """Return one."""
    return 1
