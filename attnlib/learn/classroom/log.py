"""The file through which a run tells what happens: the driver its cells, the kernel the marks of `check`.

It can be read in full whenever a process is killed, and never makes anybody wait. Each line begins with a
word that only the run knows, and the file loses its name before the first cell is executed (on Windows it
keeps it): what a notebook writes into files that it finds, or has its programs write, is no mark.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import BinaryIO

LONGEST = 16 * 2**20  # bytes that are read


class Log:
    """One end that writes."""

    def __init__(self, path: str, word: str) -> None:
        """Open the file, which must be there."""
        self._word = word
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND)

    def write(self, **what: object) -> None:
        """Add one line, in one piece."""
        os.write(self._file, f"{self._word} {json.dumps(what)}\n".encode())


def read(file: BinaryIO, word: str) -> Iterator[dict]:
    """Yield what was written with the word; anything else is passed over."""
    for line in file.read(LONGEST).splitlines():
        first, _, rest = line.partition(b" ")
        if first == word.encode():
            try:
                what = json.loads(rest)
            except (ValueError, RecursionError):
                continue
            if isinstance(what, dict):
                yield what
