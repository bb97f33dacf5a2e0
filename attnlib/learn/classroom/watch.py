"""Watch a kernel and all that it starts, and end them when they take more than they may.

One thread, four looks a second. It also ends everything when the tool itself is gone, however that ended.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

from attnlib.learn.calling import PATIENCE
from attnlib.learn.classroom.limits import GIB, MIB, Limits

PAUSE = 0.25
MANY = 20_000  # files in a run's folder: no notebook needs so many, and counting them takes time


class Watch(threading.Thread):
    """Ends the kernel when it takes too much, and says why.

    Args:
        limits: What it may take.
        folder: The run's own, which is emptied when the tool is gone.
        kernel: The number of its process.

    Attributes:
        why: Which limit was passed, or nothing.
    """

    def __init__(self, limits: Limits, folder: Path, kernel: int) -> None:
        super().__init__(daemon=True)
        self.why = ""
        self._limits, self._folder, self._kernel = limits, folder, kernel
        self._seen: dict[int, psutil.Process] = {kernel: psutil.Process(kernel)}
        self._computed: dict[int, float] = {}
        self._free, self._begun = 0.0, time.monotonic()
        self._said = 0
        self._over = threading.Event()

    def begin(self) -> None:
        """Let the time run from now on: the start of the kernel is not the notebook's."""
        self._look()
        self._free, self._begun = sum(self._computed.values()), time.monotonic()

    def count_output(self, length: int) -> None:
        """Note how many bytes a cell has printed or shown."""
        self._said += length

    def run(self) -> None:
        """Look, until it is over."""
        looks = 0
        while not self._over.wait(PAUSE):
            tool = multiprocessing.parent_process()
            if tool is not None and not tool.is_alive():
                self.end_all()
                shutil.rmtree(self._folder, ignore_errors=True)
                os._exit(1)
            looks += 1
            self.why = self.why or self._passed(files=looks % 4 == 0)
            if self.why:
                self.end_all()

    def _passed(self, *, files: bool) -> str:
        """Return which limit is passed, or nothing."""
        may, (count, memory) = self._limits, self._look()
        computed = sum(self._computed.values()) - self._free
        if computed > may.seconds or time.monotonic() - self._begun > may.seconds * PATIENCE:
            return f"out of time after {may.seconds:g} s"
        if count > may.processes:
            return f"more than {may.processes} processes"
        if memory > may.memory * GIB and self._own_memory() > may.memory * GIB:
            return f"more than {may.memory:g} GiB of memory"
        if self._said > may.output:
            return f"more than {may.output // MIB} MiB of output"
        if files and not fits(self._folder, may.files):
            return f"more than {may.files // MIB} MiB or {MANY} files"
        return ""

    def _look(self) -> tuple[int, int]:
        """Return how many processes there are and what memory they hold; note how much each has computed."""
        count = memory = 0
        for process in list(self._alive()):
            with contextlib.suppress(psutil.Error), process.oneshot():
                times = process.cpu_times()
                self._computed[process.pid] = times.user + times.system
                memory += process.memory_info().rss
                count += 1
        return count, memory

    def _own_memory(self) -> float:
        """Return the memory of all processes, counting once what several share; takes longer to find out."""
        total = 0
        for process in list(self._alive()):
            with contextlib.suppress(psutil.NoSuchProcess):
                try:
                    known = process.memory_full_info()
                    total += getattr(known, "pss", known.uss)
                except psutil.AccessDenied:  # macOS tells it to administrators only
                    total += process.memory_info().rss
        return total

    def _alive(self) -> Iterator[psutil.Process]:
        """Yield the kernel and its descendants, also those that have lost their parents; no zombies."""
        with contextlib.suppress(psutil.Error):
            for process in psutil.Process().children(recursive=True):
                self._seen.setdefault(process.pid, process)
        for pid, process in list(self._seen.items()):
            try:
                alive = process.is_running() and process.status() != psutil.STATUS_ZOMBIE
            except psutil.Error:
                alive = False
            if alive:
                yield process
            elif pid != self._kernel:
                del self._seen[pid]

    def end_all(self) -> None:
        """Kill the kernel, its group and all descendants, until none is left."""
        end_all(self._kernel, lambda: list(self._alive()))

    def end(self) -> None:
        """Look no more, and leave nothing running."""
        self._over.set()
        self.join()
        self.end_all()


def end_all(group: int | None, alive: Callable[[], list[psutil.Process]]) -> None:
    """Kill a group and some processes, again and again, until none is alive."""
    for _ in range(100):
        with contextlib.suppress(AttributeError, TypeError, ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
        left = alive()
        for process in left:
            with contextlib.suppress(psutil.Error):
                process.kill()
        if not left:
            return
        time.sleep(0.02)


def end_descendants(process: int, group: int | None) -> None:
    """Kill all that a process has started, and a group."""

    def alive() -> list[psutil.Process]:
        try:
            below = psutil.Process(process).children(recursive=True)
            return [one for one in below if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]
        except psutil.Error:
            return []

    end_all(group, alive)


def fits(folder: Path, most: int) -> bool:
    """Tell whether the files of a folder are not too many, and not too long together."""
    count = size = 0
    queue = [str(folder)]
    while queue:
        with contextlib.suppress(OSError), os.scandir(queue.pop()) as entries:
            for entry in entries:
                count += 1
                with contextlib.suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        queue.append(entry.path)
                    else:
                        size += entry.stat(follow_symlinks=False).st_size
                if count > MANY or size > most:
                    return False
    return True
