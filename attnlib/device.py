"""Where to compute."""

from __future__ import annotations

import functools
import os
import warnings

import torch


def pick_device() -> torch.device:
    """Choose the device: ``ATTNLIB_DEVICE`` if set, else CUDA, else Apple's MPS, else the CPU.

    MPS first computes a few small cases of attention, once in a process, since PyTorch's backend for it has
    computed some wrongly without an error. If one comes out wrong, a warning names it, and the CPU is chosen
    instead, unless ``ATTNLIB_DEVICE`` asked for MPS. ``python -m attnlib doctor --check`` tries more, on CUDA
    too. It changes nothing: how a GPU rounds (TF32) is set by whoever compares digits.

    Returns:
        The device.

    Raises:
        ValueError: If ``ATTNLIB_DEVICE`` names no device.
        RuntimeError: If it names one that is not there.
    """
    wanted = os.environ.get("ATTNLIB_DEVICE", "").strip()
    device = _named(wanted) if wanted else _best()
    if device.type != "mps":
        return device
    wrong = _wrong(str(device))
    if not wrong:
        return device
    then = (
        "ATTNLIB_DEVICE asked for it"
        if wanted
        else "the CPU is chosen instead; ATTNLIB_DEVICE decides otherwise"
    )
    warnings.warn(
        f"{device} computes attention wrongly with torch {torch.__version__} ({wrong[0]}"
        f"{f', and {len(wrong) - 1} more' if len(wrong) > 1 else ''}); {then}",
        RuntimeWarning,
        stacklevel=2,
    )
    return device if wanted else torch.device("cpu")


def _best() -> torch.device:
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


def _named(wanted: str) -> torch.device:
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


@functools.lru_cache
def _wrong(device: str) -> tuple[str, ...]:
    """Return what a device computes wrongly, in words."""
    from attnlib.instruments.conformance import QUICK, find_faults

    return tuple(map(str, find_faults(device, QUICK)))
