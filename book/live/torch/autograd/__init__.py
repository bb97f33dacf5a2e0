"""Gradients do not run on the page; what is computed forwards does."""

from __future__ import annotations

from typing import Any

from torch import missing
from torch.autograd import forward_ad


class Function:
    """An operation with a derivative of its own, of which only the forward half is used."""

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Compute forwards."""
        return cls.forward(*args)

    @staticmethod
    def forward(*args: Any) -> Any:
        """Compute; each says how."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")


def grad(*args: Any, **kwargs: Any) -> None:
    """Say that there are no gradients."""
    missing.refuse("torch.autograd.grad")


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    missing.refuse(f"torch.autograd.{name}")


__all__ = ["Function", "forward_ad", "grad"]
