"""Tests of attnlib and of the book. Tensors live on ``DEVICE``, so that a GPU machine tests its own kernels."""

import torch

from attnlib import pick_device

DEVICE = pick_device()
# the tests compare digits: no product of a GPU rounds its factors to ten bits
torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False


def assert_close(got, expected, **options):
    """Compare tensors wherever they live."""
    torch.testing.assert_close(got.cpu(), expected.cpu(), **options)


def randn(*sizes, seed=0):
    """Draw float64 numbers on the CPU, so that every machine draws the same, and move them to ``DEVICE``."""
    g = torch.Generator().manual_seed(seed)
    return torch.randn(sizes, generator=g, dtype=torch.float64).to(DEVICE)
