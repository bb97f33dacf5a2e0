"""What else modules need."""

from torch.nn.modules import _skip as skip_init
from torch.nn.utils import rnn

__all__ = ["rnn", "skip_init"]
