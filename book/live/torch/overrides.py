"""Where PyTorch has the mode that is told of function calls."""

from torch.dispatch import TorchFunctionMode

__all__ = ["TorchFunctionMode"]
