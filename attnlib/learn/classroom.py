"""Grade a folder of notebooks, each in a process of its own with limits on time and memory.

``python -m attnlib grade FOLDER`` runs every notebook from its copy in an empty folder, with an empty
progress file, and writes what its checks said as CSV and as a report. What a notebook does to itself is its
own affair: one that never ends, crashes or takes all memory is stopped and told so, and the others are
graded as if it were not there. It is no prison: whoever wants to cheat can. A learner's own progress file
is for the learner, and no certificate.
"""

from __future__ import annotations

import contextlib
import csv
import json
import linecache
import math
import multiprocessing
import os
import re
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import torch

from attnlib.learn import bank
from attnlib.learn.calling import PATIENCE, explain

GIB = 2**30
OUT_OF_TIME = getattr(signal, "SIGXCPU", None)  # the end of what computed too long; not on Windows
SAID = re.compile(r"^(?:✓|\[ok\]|✗|\[no\]) Exercise (\S+) (?:passed\.|not yet:) (.*)$", re.MULTILINE)


@dataclass
class Grades:
    """What was found in one notebook.

    Attributes:
        name: Its path inside the folder.
        status: How the run ended, in words.
        passed: For each exercise that was attempted, whether it was solved.
        said: For each of them what the last check said.
    """

    name: str
    status: str = "ok"
    passed: dict[str, bool] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)


def grade_folder(folder: Path, *, seconds: float = 300, memory: float = 8, jobs: int = 2) -> list[Grades]:
    """Run every notebook of a folder and return what its checks found, in the order of their names.

    All notebooks are read before the first one runs. Those that were changed meanwhile are put back.

    Args:
        folder: With notebooks, in subfolders too.
        seconds: Of computing for each notebook (by the clock `PATIENCE` times as many, so that a busy machine
            stops nobody; on Windows all of it by the clock).
        memory: In GiB of address space for each notebook; not limited on Windows.
        jobs: Notebooks at a time.

    Raises:
        ValueError: If there is no such folder, or no notebook in it.
    """
    if not folder.is_dir():
        raise ValueError(f"FOLDER must be a folder with notebooks, got {str(folder)!r}")
    paths = sorted(p for p in folder.rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts)
    if not paths:
        raise ValueError(f"there is no notebook (*.ipynb) in {str(folder)!r}")
    texts = {path: path.read_bytes() for path in paths}
    with ThreadPoolExecutor(max(1, jobs)) as pool:
        found = list(
            pool.map(
                lambda path: _grade_one(path.relative_to(folder).as_posix(), texts[path], seconds, memory),
                paths,
            )
        )
    for path, grades in zip(paths, found, strict=True):
        if not path.is_file() or path.read_bytes() != texts[path]:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(texts[path])
            grades.status += "; the file was changed while notebooks ran, and was put back"
    return found


def write_csv(found: Iterable[Grades], path: Path) -> None:
    """Write a line for each notebook: 1 for an exercise that was solved, 0 for one that was tried."""
    with open(path, "w", newline="", encoding="utf8") as file:
        writer = csv.writer(file)
        writer.writerow(["notebook", "status", "passed", "attempted", *bank.exercises()])
        for one in found:
            marks = ["" if (mark := one.passed.get(id)) is None else int(mark) for id in bank.exercises()]
            writer.writerow([one.name, one.status, sum(one.passed.values()), len(one.passed), *marks])


def write_report(found: Iterable[Grades], path: Path) -> None:
    """Write for each notebook how it went, and what its unsolved exercises were told."""
    lines = ["# Grades", ""]
    for one in found:
        lines += [f"## {one.name}", ""]
        lines += [
            f"{sum(one.passed.values())} of {len(one.passed)} attempted exercises solved. Run: {one.status}.",
            "",
        ]
        lines += [f"- {id}: {one.said.get(id, 'not yet')}" for id, passed in one.passed.items() if not passed]
        lines += [""]
    path.write_text("\n".join(lines), "utf8")


def _grade_one(name: str, text: bytes, seconds: float, memory: float) -> Grades:
    """Run one notebook in a process of its own and read what it left behind."""
    grades = Grades(name)
    try:
        cells = code_cells(text)
    except ValueError as error:
        grades.status = f"not a notebook: {error}"
        return grades
    with tempfile.TemporaryDirectory(prefix="attnlib-grade-", ignore_cleanup_errors=True) as base:
        code = _run_apart(cells, base, seconds, memory)
        grades.status = _status(code, Path(base), seconds)
        _read_marks(grades, Path(base))
    return grades


def code_cells(text: bytes) -> list[str]:
    """Return the sources of a notebook's code cells.

    Raises:
        ValueError: If it is not a notebook.
    """
    try:
        cells = json.loads(text)["cells"]
        sources = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
        return [source if isinstance(source, str) else "".join(source) for source in sources]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ValueError(explain(error)) from None


def _run_apart(cells: list[str], base: str, seconds: float, memory: float) -> int | None:
    """Run cells in a process, end it and what it started; return its exit code, None if time was up.

    The process counts its own computing; here only the clock is watched.
    """
    ways = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in ways else "spawn")
    if "forkserver" in ways:
        # PyTorch is loaded once for all, with what it would load at its first use
        context.set_forkserver_preload([__name__, "torch.fx.experimental.symbolic_shapes"])
    process = context.Process(target=run_cells, args=(cells, base, seconds, memory), daemon=False)
    process.start()
    process.join(seconds * PATIENCE if OUT_OF_TIME else seconds)
    ended = not process.is_alive()
    with contextlib.suppress(ProcessLookupError, PermissionError, AttributeError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.join()
    in_time = ended and not (OUT_OF_TIME and process.exitcode == -OUT_OF_TIME)
    return process.exitcode if in_time else None


def _status(code: int | None, base: Path, seconds: float) -> str:
    stopped = (base / "stopped.txt").read_text("utf8", "replace") if (base / "stopped.txt").exists() else ""
    count = stopped.count("\n")
    if code is None:
        return f"out of time after {seconds:g} s"
    if code != 0:
        return f"the process ended with code {code}"
    return f"{count} cell{'s' if count > 1 else ''} stopped with an error" if count else "ok"


def _read_marks(grades: Grades, base: Path) -> None:
    said = (base / "said.txt").read_text("utf8", "replace") if (base / "said.txt").exists() else ""
    for mark in SAID.finditer(said):
        id = mark[1]
        if id in bank.exercises():
            grades.passed[id] = grades.passed.get(id, False) or " passed. " in mark[0]
            grades.said[id] = mark[2].replace(f' Stuck? hint("{id}")', "")


def run_cells(cells: list[str], base: str, seconds: float, memory: float) -> None:
    """Run cells one after the other in this process, which is given away; what they say goes into a file.

    Args:
        cells: Their sources.
        base: An empty folder, where everything is left.
        seconds: Of computing, after which the system ends the process.
        memory: In GiB.
    """
    with contextlib.suppress(AttributeError, PermissionError):
        os.setsid()  # whatever the notebook starts can be ended with it
    with contextlib.suppress(ImportError):
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), math.ceil(seconds) + 5))
        resource.setrlimit(resource.RLIMIT_AS, (int(memory * GIB),) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    torch.set_num_threads(1)  # the computing of all threads is counted, and notebooks run side by side anyway
    work = Path(base, "work")
    work.mkdir()
    os.chdir(work)
    os.environ |= {"ATTNLIB_HOME": str(Path(base, "home")), "MPLBACKEND": "Agg", "ATTNLIB_PROGRESS": "0"}
    namespace = {"__name__": "__main__"}
    with (
        open(Path(base, "said.txt"), "w", encoding="utf8", buffering=1) as said,
        open(Path(base, "stopped.txt"), "w", encoding="utf8", buffering=1) as stopped,
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(said),
    ):
        for n, source in enumerate(map(without_magics, cells), 1):
            file = f"<cell {n}>"
            linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
            try:
                exec(compile(source, file, "exec"), namespace)
            except BaseException as error:
                stopped.write(f"cell {n}: {explain(error)}\n")
                with contextlib.suppress(BaseException):
                    traceback.print_exception(error, file=said)


def without_magics(source: str) -> str:
    """Leave out what only a notebook understands: lines that begin with ``%`` or ``!``."""
    return re.sub(r"^(\s*)[%!].*$", r"\1pass", source, flags=re.MULTILINE)


def main(folder: str, out: str, seconds: float, memory: float, jobs: int) -> int:
    """Grade a folder, write ``grades.csv`` and ``grades.md``, and print a line for each notebook."""
    try:
        found = grade_folder(Path(folder), seconds=seconds, memory=memory, jobs=jobs)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    into = Path(out)
    into.mkdir(parents=True, exist_ok=True)
    write_csv(found, into / "grades.csv")
    write_report(found, into / "grades.md")
    for one in found:
        print(f"{one.name}: {sum(one.passed.values())} of {len(one.passed)} attempted; {one.status}")
    print(f"Written: {into / 'grades.csv'} and {into / 'grades.md'}")
    return 0
