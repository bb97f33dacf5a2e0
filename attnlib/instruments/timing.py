"""How long work takes. Times go into figures and benchmarks, never into a test."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import torch

from attnlib._check import require_whole

ENOUGH = 2e-2  # seconds: the clock and the start of a kernel are then small beside the work


def timed(work: Callable[[], object], device: torch.device, calls: int = 1) -> float:
    """Run ``work`` some times in a row and return the seconds of one call.

    On a GPU or another accelerator the calls are queued, as a model would queue them, and waited for at the
    end; what was queued before is waited for before the clock starts.

    Args:
        work: A function without arguments.
        device: Where it runs.
        calls: How often.

    Returns:
        Seconds a call.
    """
    _wait(device)
    start = time.perf_counter()
    for _ in range(calls):
        work()
    _wait(device)
    return (time.perf_counter() - start) / calls


def _wait(device: torch.device) -> None:
    """Wait for what is queued: on CUDA, MPS and whatever else PyTorch calls an accelerator."""
    if device.type not in ("cpu", "meta"):
        torch.accelerator.synchronize(device)


def seconds(work: Callable[[], object], device: torch.device, *, runs: int = 5) -> float:
    """Measure how long ``work`` takes: the median of several runs, after one that is not counted.

    Args:
        work: A function without arguments.
        device: Where it runs.
        runs: How many runs. Short work is repeated within a run until it takes twenty milliseconds.

    Returns:
        Seconds a call.

    Raises:
        TypeError: If the runs are not a whole number.
        ValueError: If there are none.
    """
    require_whole("runs", runs, 1)
    timed(work, device)
    calls = min(1000, 1 + int(ENOUGH / timed(work, device)))
    return median(timed(work, device, calls) for _ in range(runs))
