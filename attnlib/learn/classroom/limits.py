"""How much a run may take, and how much of that the system itself enforces."""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import signal
import sys
from dataclasses import dataclass

GIB = 2**30
MIB = 2**20
KILL_WITH_PARENT, ADOPT_ORPHANS = 1, 36  # PR_SET_PDEATHSIG and PR_SET_CHILD_SUBREAPER of Linux


@dataclass(frozen=True)
class Limits:
    """What one run may take, with all processes that it starts.

    Attributes:
        seconds: Of computing.
        memory: In GiB.
        output: In bytes that cells print or show.
        files: In bytes of files in the run's own folder.
        processes: At the same time.
    """

    seconds: float = 300
    memory: float = 8
    output: int = 64 * MIB
    files: int = GIB
    processes: int = 64


def limit_this_process(limits: Limits) -> None:
    """Let the system hold this process, and each that it starts, to the limits, as far as it can.

    Memory asked for in vain is then an error in one cell, and a file that grows too long another. Sums over
    all processes are for `watch`, which also ends what these limits are too coarse for.
    """
    with contextlib.suppress(ImportError):  # on Windows
        import resource

        for what, most in (
            (resource.RLIMIT_AS, int(limits.memory * GIB)),
            (resource.RLIMIT_CPU, math.ceil(limits.seconds) + 10),
            (resource.RLIMIT_FSIZE, limits.files),
            (resource.RLIMIT_CORE, 0),
        ):
            hard = resource.getrlimit(what)[1]
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            with contextlib.suppress(ValueError, OSError):  # macOS does not know all of them
                resource.setrlimit(what, (most, most))


def own_session() -> None:
    """Leave the session of the terminal: what is started from here on can be ended as one group."""
    with contextlib.suppress(AttributeError, PermissionError):  # Windows has no sessions
        os.setsid()


def adopt_orphans() -> None:
    """Stay the ancestor of whatever is started from here on, even if it hides behind a parent that ends."""
    _prctl(ADOPT_ORPHANS, 1)


def end_with_parent(parent: int) -> None:
    """Let Linux kill this process when its parent ends, also if that is killed."""
    _prctl(KILL_WITH_PARENT, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
    if sys.platform == "linux" and os.getppid() != parent:  # it ended before
        os._exit(1)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def gaps(system: str = sys.platform) -> str:
    """Say which limits this system does not enforce; nothing on Linux, which enforces all."""
    watched = "Memory is not limited by the system here but watched four times a second"
    if system == "win32":
        return (
            f"{watched}; the length of a file is not limited, only that of all together, "
            "and a process that outlives the one that started it may stay."
        )
    if system == "darwin":
        return f"{watched}, and a process that leaves its group and its parent may stay."
    return "" if system == "linux" else f"{watched}, and a process that leaves its group may stay."
