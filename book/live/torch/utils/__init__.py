"""What `attnlib` imports from ``torch.utils``."""

from torch.utils import _pytree, hooks

__all__ = ["_pytree", "hooks"]
