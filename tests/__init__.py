"""Tests of attnlib and of the book. Tensors live on ``DEVICE``, so that a GPU machine tests its own kernels."""

import torch

from attnlib import pick_device

DEVICE = pick_device()


def assert_close(got, expected, **options):
    """Compare tensors wherever they live."""
    torch.testing.assert_close(got.cpu(), expected.cpu(), **options)
