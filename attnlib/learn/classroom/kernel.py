"""The process in which the cells of one notebook are executed: apart, limited, and its checks listened to."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from pathlib import Path

import torch

import attnlib.learn  # noqa: F401  (its exercises are there before a file of the notebook can take its name)
from attnlib.learn.classroom.limits import Limits, end_with_parent, limit_this_process, own_session
from attnlib.learn.classroom.log import Log


def serve(connection: str, base: str, log: str, word: str, limits: Limits, parent: int) -> None:
    """Be a kernel until somebody ends this process.

    Args:
        connection: The file that says how it is spoken to.
        base: The run's folder; ``base/work`` is where the cells are executed.
        log: The file for marks.
        word: What its lines begin with.
        limits: What the notebook may take.
        parent: The process that drives this one, with which it ends.
    """
    own_session()
    end_with_parent(parent)
    marks = Log(log, word)
    with contextlib.suppress(OSError):  # Windows keeps names of open files
        os.unlink(log)
    os.chdir(Path(base, "work"))
    os.environ.update(environment(Path(base)))
    with open(os.devnull, "r+b", 0) as nowhere:
        for n in range(3):  # what does not go through Jupyter is nobody's
            os.dup2(nowhere.fileno(), n)
    torch.set_num_threads(1)  # the computing of all threads is counted, and notebooks run side by side anyway

    from ipykernel.kernelapp import IPKernelApp  # not everybody who imports the library has it

    limit_this_process(limits)
    app = IPKernelApp.instance(connection_file=connection)
    if sys.platform != "win32":
        app.parent_handle = parent  # elsewhere than on Linux it looks itself whether the driver is there
    app.initialize(["--HistoryManager.enabled=False", "--log-level=CRITICAL"])
    app.shell.ask_exit = lambda: None  # `exit` in a cell ends the cell: the rest is homework too
    app.shell.events.register("post_run_cell", keeper_of_streams())
    sys.addaudithook(listener(marks))
    app.start()


def keeper_of_streams() -> Callable[[object], None]:
    """Return what gives the kernel back the output that a cell took away: without, it answers no more."""
    out, err = sys.stdout, sys.stderr
    for stream in (out, err):
        stream.close = lambda: None

    def give_back(result: object) -> None:
        sys.stdout, sys.stderr = sys.stdout or out, sys.stderr or err

    return give_back


def environment(base: Path) -> dict[str, str]:
    """Return what the notebook finds set: a home of its own, so that nobody's progress or settings change."""
    home = Path.home() if "HOME" in os.environ or sys.platform == "win32" else base
    kept = {
        "MPLCONFIGDIR": str(home / ".matplotlib"),  # holds the list of fonts, which takes seconds to make
        "XDG_CACHE_HOME": str(home / ".cache"),
    }
    if sys.platform == "linux":
        del kept["MPLCONFIGDIR"]
    kept = {name: os.environ.get(name, path) for name, path in kept.items()}
    names = ("ATTNLIB_HOME", "HOME", "USERPROFILE", "LOCALAPPDATA", "XDG_DATA_HOME", "XDG_CONFIG_HOME")
    own = {name: str(base / "home") for name in (*names, "IPYTHONDIR", "JUPYTER_CONFIG_DIR")}
    return kept | own | {"ATTNLIB_PROGRESS": "0", "OMP_NUM_THREADS": "1", "PIP_NO_INDEX": "1"}


def listener(marks: Log) -> Callable[[str, tuple], None]:
    """Return what hears every audit event of this process, and writes down those of `check`.

    A hook of Python's cannot be taken away, and hears `check` however it was imported and wherever its words
    go. What it has heard before it does not write again: a loop of checks fills no disk.
    """
    told: dict[object, tuple] = {}

    def hear(event: str, arguments: tuple) -> None:
        if event != "attnlib.check" or told.get(arguments[0]) == arguments:
            return
        told[arguments[0]] = arguments
        id, passed, said = arguments
        with contextlib.suppress(OSError):
            marks.write(check=id, passed=passed, said=said)

    return hear
