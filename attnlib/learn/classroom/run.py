"""The process that drives one kernel through one notebook, and ends all that came of it.

It is apart from the tool, so that no notebook can flood or stop that; and it outlives the kernel, so that
somebody is there to say what happened.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import shutil
import sys
from pathlib import Path

import nbformat
from jupyter_client.asynchronous import AsyncKernelClient
from jupyter_client.connect import write_connection_file
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError

from attnlib.learn.calling import LONGEST
from attnlib.learn.classroom.cells import without_installs
from attnlib.learn.classroom.kernel import serve
from attnlib.learn.classroom.limits import Limits, adopt_orphans, own_session
from attnlib.learn.classroom.log import Log
from attnlib.learn.classroom.watch import Watch

START = 120  # seconds in which a kernel must answer, also on a busy machine
SOCKET = 90  # letters that the path of a socket may have everywhere


def run(
    cells: list[str],
    left_out: list[int],
    beside: list[tuple[str, str]],
    base: str,
    log: str,
    word: str,
    limits: Limits,
) -> None:
    """Execute the cells of a notebook one after the other, in a kernel that this process starts.

    The log gets ``cell`` before each, ``error`` and ``text`` after one that has stopped, and at the end
    ``end``: nothing if all were executed, else why the kernel ended.

    Args:
        cells: Their sources.
        left_out: The numbers of those that are not executed, from 1.
        beside: Files to copy into the folder of the run: where they lie, and their names there.
        base: An empty folder for everything that the run needs; who made it removes it.
        log: The file for all that.
        word: What its lines begin with.
        limits: What the notebook may take.
    """
    own_session()
    adopt_orphans()
    told = Log(log, word)
    for part in ("work", "home"):
        Path(base, part).mkdir()
    _copy(beside, Path(base, "work"))
    connection = _connection(Path(base))
    way = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
    kernel = multiprocessing.get_context(way).Process(
        target=serve, args=(connection, base, log, word, limits, os.getpid())
    )
    kernel.start()
    told.write(kernel=kernel.pid)
    watch = Watch(limits, Path(base), kernel.pid)
    watch.start()
    try:
        end = asyncio.run(_drive(cells, left_out, connection, kernel, watch, told))
    finally:
        watch.end()
    told.write(end=watch.why or end)


def _copy(beside: list[tuple[str, str]], work: Path) -> None:
    for path, name in beside:
        with contextlib.suppress(OSError):
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, work / name)


def _connection(base: Path) -> str:
    """Write down how kernel and driver speak to each other: by sockets in the folder where there are such."""
    sockets = sys.platform != "win32" and len(str(base)) < SOCKET
    ways = {"transport": "ipc", "ip": str(base / "kernel")} if sockets else {}
    return write_connection_file(str(base / "connection.json"), **ways)[0]


class Client(AsyncKernelClient):
    """The side of the driver; it asks the process itself whether it is alive."""

    kernel: multiprocessing.Process

    async def is_alive(self) -> bool:
        """Tell whether the kernel's process is there."""
        return self.kernel.is_alive()

    _async_is_alive = is_alive


class Executor(NotebookClient):
    """nbclient's, which keeps no output: it is counted and forgotten."""

    watch: Watch

    def process_message(self, msg: dict, cell: nbformat.NotebookNode, cell_index: int) -> None:
        """Note how long a message is, and whether it is the last of its cell."""
        self.watch.count_output(len(str(msg["content"])) + sum(map(len, msg.get("buffers") or ())))
        if msg["msg_type"] == "status":
            super().process_message(msg, cell, cell_index)


async def _drive(
    cells: list[str],
    left_out: list[int],
    connection: str,
    kernel: multiprocessing.Process,
    watch: Watch,
    told: Log,
) -> str:
    """Execute the cells; return nothing, or how the kernel ended."""
    client = Client(connection_file=connection)
    client.kernel = kernel
    client.load_connection_file()
    client.start_channels()
    client.allow_stdin = False
    errors: list[dict] = []
    notebook = nbformat.from_dict({"cells": [_cell(source) for source in cells], "metadata": {}})
    executor = Executor(
        notebook, allow_errors=True, on_cell_error=lambda execute_reply, **_: errors.append(execute_reply)
    )
    executor.watch, executor.kc = watch, client
    try:
        await client.wait_for_ready(timeout=START)
        watch.begin()
        for n, cell in enumerate(notebook.cells, 1):
            if n in left_out:
                continue
            told.write(cell=n)
            errors.clear()
            try:
                await executor.async_execute_cell(cell, n - 1)
            except DeadKernelError:
                raise
            except Exception as error:  # such as text that cannot be sent
                errors.append({"content": {"ename": type(error).__name__, "evalue": str(error)}})
            if not kernel.is_alive():
                raise DeadKernelError
            for error in errors:
                told.write(error=n, text=_words(error["content"]))
    except (DeadKernelError, RuntimeError) as error:
        kernel.join(1)
        if isinstance(error, DeadKernelError):
            return f"the kernel ended{_code(kernel.exitcode)}"
        return f"the kernel did not start ({error})"
    finally:
        client.stop_channels()
    return ""


def _cell(source: str) -> dict:
    source = without_installs(source)
    return {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None}


def _words(reply: dict) -> str:
    text = " ".join(f"{reply.get('ename', 'Error')}: {reply.get('evalue', '')}".split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."


def _code(code: int | None) -> str:
    if code is None:
        return ""
    return f" (signal {-code})" if code < 0 else f" (code {code})"
