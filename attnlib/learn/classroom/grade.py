"""Run every notebook of a folder, several at a time, and write what was found."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import secrets
import sys
import tempfile
import time
from collections import deque
from collections.abc import Collection, Iterator
from importlib.util import find_spec
from multiprocessing import connection
from pathlib import Path

from attnlib.learn import bank
from attnlib.learn.calling import PATIENCE
from attnlib.learn.classroom import log
from attnlib.learn.classroom.cells import first_line
from attnlib.learn.classroom.folder import Folder, Notebook, printable
from attnlib.learn.classroom.limits import Limits, gaps
from attnlib.learn.classroom.tables import Grades, Tables

NEEDED = ("nbclient", "ipykernel", "psutil")
RUNS = 3  # a cell that ends its kernel is left out of the next run: two such cells at most
GRACE = 180  # seconds to start and to clean up, before a run that says nothing is killed


def main(folder: str, out: str, seconds: float, memory: float, jobs: int, need: Collection[str] = ()) -> int:
    """Grade a folder, write ``grades.csv`` and ``grades.md``, and print a line for each notebook.

    Returns:
        0, or 1 if something needed is solved in no notebook, 2 if nothing could be done, 130 if
        interrupted.
    """
    found: list[Grades] = []
    tables = Tables(Path(out))
    try:
        _check(need, seconds, memory)
        homework = Folder(Path(folder), tables.files())
        tables.begin()
        if lack := gaps():
            _tell(lack, sys.stderr)
        with contextlib.closing(grade(homework, Limits(seconds, memory), jobs)) as grading:
            for one in grading:
                tables.add(one)
                found.append(one)
                _tell(f"{one.name}: {one.summary()}; {one.status}")
        order = {notebook.name: n for n, notebook in enumerate(homework.notebooks)}
        found.sort(key=lambda one: order[one.name])
        tables.finish(found)
    except ValueError as error:
        _tell(str(error), sys.stderr)
        return 2
    except OSError as error:
        _tell(f"the grades can no longer be written: {error}", sys.stderr)
        return 2
    except KeyboardInterrupt:
        _tell(f"Interrupted. What was graded until then: {tables.csv} and {tables.report}", sys.stderr)
        return 130
    _tell(f"Written: {tables.csv} and {tables.report}")
    lacking = [id for id in need if not any(one.passed.get(id) for one in found)]
    if lacking:
        _tell(f"Not solved: {', '.join(lacking)}", sys.stderr)
    return int(bool(lacking))


def _check(need: Collection[str], seconds: float, memory: float) -> None:
    """Refuse what cannot be done before anything is done."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise ValueError(f"grading needs {', '.join(missing)}: pip install 'attnlib[class]'")
    unknown = [id for id in need if id not in bank.exercises()]
    if unknown:
        raise ValueError(f"--need must name exercises, got {', '.join(map(repr, unknown))}")
    if not (seconds > 0 and memory > 0):
        raise ValueError(f"--seconds and --memory must be above 0, got {seconds:g} and {memory:g}")


def _tell(text: str, file: object = None) -> None:
    """Print a line now, whatever letters the terminal has."""
    file = file or sys.stdout
    code = getattr(file, "encoding", None) or "utf8"
    print(text.encode(code, "backslashreplace").decode(code), file=file, flush=True)


def grade(homework: Folder, limits: Limits, jobs: int = 2) -> Iterator[Grades]:
    """Yield what was found in each notebook, as soon as it is through.

    Args:
        homework: The notebooks.
        limits: For each run.
        jobs: Runs at the same time.
    """
    waiting, running = deque(homework.notebooks), {}
    try:
        while waiting or running:
            while waiting and len(running) < max(1, jobs):
                notebook = waiting.popleft()
                if notebook.trouble:
                    yield Grades(notebook.name, notebook.trouble)
                    continue
                attempt = Attempt(notebook, limits)
                running[attempt.start()] = attempt
            for sentinel in connection.wait(running, timeout=1) if running else ():
                attempt = running.pop(sentinel)
                changed = homework.put_back()
                for one in (attempt, *running.values()) if changed else ():  # one of these did it
                    one.notes.append(changed)
                if attempt.through():
                    yield attempt.grades()
                else:
                    running[attempt.start()] = attempt
            for attempt in running.values():
                attempt.end_if_overdue()
    finally:  # also if the reader of this stops reading, or is interrupted
        for attempt in running.values():
            attempt.end()
            attempt.clean()


class Attempt:
    """One notebook on its way: a run, and another without the cell that has ended the first, and a third."""

    def __init__(self, notebook: Notebook, limits: Limits) -> None:
        self.notes = [notebook.note] if notebook.note else []
        self._notebook, self._limits = notebook, limits
        self._left_out: dict[int, str] = {}  # for each of these cells, why
        self._errors: dict[int, str] = {}  # for each cell that stopped in the last run, why
        self._passed: dict[str, bool] = {}
        self._said: dict[str, str] = {}
        self._runs = 0

    def start(self) -> int:
        """Start a run; return what becomes ready when it ends."""
        self._runs += 1
        self._word = secrets.token_hex(16)
        self._base = tempfile.TemporaryDirectory(prefix="attnlib-grade-", ignore_cleanup_errors=True)
        number, self._path = tempfile.mkstemp(prefix="attnlib-marks-")
        self._file = open(number, "rb")  # noqa: SIM115, read when the run is over
        self._deadline = time.monotonic() + self._limits.seconds * PATIENCE + GRACE
        self._process = _context().Process(
            target=_run,
            args=(
                self._notebook.cells, list(self._left_out), self._notebook.beside,
                self._base.name, self._path, self._word, self._limits,
            ),
        )  # fmt: skip
        self._process.start()
        return self._process.sentinel

    def end_if_overdue(self) -> None:
        """Kill a run that has not kept its own limits, because something has stopped it."""
        if time.monotonic() > self._deadline:
            self.end()

    def end(self) -> None:
        """Kill the run and all that it has started."""
        from attnlib.learn.classroom.watch import end_descendants

        kernels = [event["kernel"] for event in self._events() if isinstance(event.get("kernel"), int)]
        end_descendants(self._process.pid, kernels[0] if kernels else None)
        self._process.kill()
        self._process.join()

    def clean(self) -> None:
        """Remove what the run had for itself."""
        self._file.close()
        self._base.cleanup()
        with contextlib.suppress(OSError):  # the kernel has removed it, where the system lets it
            os.unlink(self._path)

    def through(self) -> bool:
        """Read what the run has told; return whether nothing is left to be tried."""
        cell, end = 0, "the process that ran it was killed"
        self._errors = {}
        events = self._events()
        if not any("end" in event for event in events):
            self.end()
            events = self._events()
        for event in events:
            match event:
                case {"check": str(id), "passed": bool(passed), "said": str(said)}:
                    if id in bank.exercises():
                        self._passed[id] = self._passed.get(id, False) or passed
                        self._said[id] = said
                case {"cell": int(cell)}:
                    pass
                case {"error": int(n), "text": str(text)}:
                    self._errors[n] = text
                case {"end": str(end)}:
                    pass
        self.clean()
        if not end:
            return True
        self._left_out[cell] = end
        rest = self._notebook.cells[cell:]
        return not cell or self._runs == RUNS or not any(map(str.strip, rest))

    def _events(self) -> list[dict]:
        self._file.seek(0)
        return list(log.read(self._file, self._word))

    def grades(self) -> Grades:
        """Return what all runs together have found."""
        words = [f"{why} in cell {n}" if n else why for n, why in self._left_out.items()]
        if without := [str(n) for n in self._left_out][: self._runs - 1]:
            words.append(f"run again without cell{'s' * (len(without) > 1)} {' and '.join(without)}")
        if self._errors:
            count = len(self._errors)
            words.append(f"{count} cell{'s' if count > 1 else ''} stopped with an error")
        cells = self._notebook.cells
        stopped = [
            (n, first_line(cells[n - 1]), why)
            for n, why in (self._left_out | self._errors).items()
            if 0 < n <= len(cells)
        ]
        status = "; ".join([*words, *dict.fromkeys(self.notes)]) or "ok"
        return Grades(self._notebook.name, printable(status), self._passed, self._said, stopped)


def _context() -> multiprocessing.context.BaseContext:
    ways = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in ways else "spawn")
    if "forkserver" in ways:
        # loaded once for all runs: PyTorch, with what it would load at its first use, and Jupyter
        context.set_forkserver_preload(
            [
                "attnlib.learn.classroom.run",
                "attnlib.learn.exercises",
                "ipykernel.kernelapp",
                "ipykernel.ipkernel",
                "torch.fx.experimental.symbolic_shapes",
            ]
        )
    return context


def _run(*arguments: object) -> None:
    """Be the run's process; only there is its module loaded, which needs what not everybody has."""
    from attnlib.learn.classroom.run import run

    run(*arguments)
