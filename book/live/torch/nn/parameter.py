"""Tensors that belong to a module."""

from __future__ import annotations

from torch.tensor import Tensor, flat, new


class Parameter(Tensor):
    """A tensor that training would adjust."""

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        """Take over the memory of a tensor."""
        if data is None:
            data = new([], (0,), __import__("torch").float32)
        made = object.__new__(cls)
        made.data = data
        made.requires_grad = requires_grad
        return made

    def __init__(self, *args: object, **kwargs: object) -> None:
        pass

    def __deepcopy__(self, memo: dict) -> Parameter:
        return Parameter(new(list(flat(self)), self.shape, self.dtype), self.requires_grad)

    def requires_grad_(self, requires_grad: bool = True) -> Parameter:
        """Note whether training would adjust it."""
        self.requires_grad = requires_grad
        return self


class Buffer(Tensor):
    """Not used here."""
