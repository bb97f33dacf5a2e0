"""Where to compute."""

from __future__ import annotations

import os

import torch


def pick_device() -> torch.device:
    """Choose the device: ``ATTNLIB_DEVICE`` if set, else CUDA, else Apple's MPS, else the CPU.

    It chooses and changes nothing: how a GPU rounds (TF32) is set by whoever compares digits.

    Returns:
        The device.

    Raises:
        ValueError: If ``ATTNLIB_DEVICE`` names no device.
        RuntimeError: If it names one that is not there.
    """
    wanted = os.environ.get("ATTNLIB_DEVICE", "").strip()
    if not wanted:
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        device = torch.device(wanted)
    except RuntimeError:
        raise ValueError(f"ATTNLIB_DEVICE must be cpu, cuda, cuda:N or mps, got {wanted!r}") from None
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).splitlines()[0]
        raise RuntimeError(
            f"ATTNLIB_DEVICE is {wanted!r}, but that device is not here ({reason}); "
            f"unset it, or set it to cpu"
        ) from None
    return device
