"""Where PyTorch has the mode that is told of operations."""

from torch.dispatch import TorchDispatchMode

__all__ = ["TorchDispatchMode"]
