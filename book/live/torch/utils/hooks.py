"""Where PyTorch has what takes a hook away."""

from torch.nn.modules import RemovableHandle

__all__ = ["RemovableHandle"]
