"""One at a time: a lock that threads and processes share, and that a process cannot leave behind by dying.

The system holds it, on a file of its own: ``flock`` on Linux and macOS, ``msvcrt`` on Windows. Who is done
removes the file.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

if sys.platform == "win32":
    import msvcrt

    # a file that is open elsewhere, or just being removed, is refused like one that may not be touched
    BUSY: tuple[type[OSError], ...] = (BlockingIOError, PermissionError)

    def _lock(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

    def _release(file: int, path: Path) -> None:
        os.close(file)
        with suppress(OSError):  # somebody waits with the file open, and will remove it
            path.unlink()

else:
    import fcntl

    BUSY = (BlockingIOError,)

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _release(file: int, path: Path) -> None:
        try:
            path.unlink(missing_ok=True)  # before it is let go: afterwards it may be somebody else's
        finally:
            os.close(file)


_threads = threading.Lock()  # on a network disk, the threads of a process share its file lock


@contextmanager
def locked(path: Path, patience: float) -> Iterator[None]:
    """Run the body while no other thread or process does so with the same ``path``.

    Args:
        path: The lock's own file, made here and removed here. Its folder must be there.
        patience: How many seconds to wait for the others.

    Raises:
        TimeoutError: If the others take longer.
        OSError: If the file cannot be made, or the disk has no locks.
    """
    end = time.monotonic() + patience
    if not _threads.acquire(timeout=patience):
        raise TimeoutError(f"another thread has held {path} for {patience:g} seconds")
    try:
        try:
            file = patiently(lambda: _take(path), end)
        except BUSY:
            raise TimeoutError(f"another program has held {path} for {patience:g} seconds") from None
        try:
            yield
        finally:
            _release(file, path)
    finally:
        _threads.release()


def patiently(action: Callable[[], T], end: float) -> T:
    """Return what ``action`` does, tried until nobody stands in its way or the clock shows ``end``.

    Raises:
        OSError: One of BUSY, if somebody still does.
    """
    while True:
        try:
            return action()
        except BUSY:
            if time.monotonic() >= end:
                raise
        time.sleep(0.002)


def _take(path: Path) -> int:
    """Make and lock the file, or raise one of BUSY."""
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        _lock(file)
        if not _is(path, file):
            raise BlockingIOError(f"{path} was removed by its last owner")
    except BaseException:
        os.close(file)
        raise
    return file


def _is(path: Path, file: int) -> bool:
    """Tell whether the open file is the one that the path leads to."""
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))
    except FileNotFoundError:
        return False
