"""What was found in each notebook, as CSV for a spreadsheet and as a report for people.

Both grow by each notebook as soon as it is through; `finish` puts them in the order of the names.
"""

from __future__ import annotations

import contextlib
import csv
import io
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from attnlib.learn import bank

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet would compute, or pass on

NEW = ".new"  # the ending of a file that takes the place of another


@dataclass
class Grades:
    """What was found in one notebook.

    Attributes:
        name: Its path inside the folder.
        status: How the run ended, in words.
        passed: For each exercise that was attempted, whether it was solved.
        said: For each of them what the last check said.
        stopped: For each cell that stopped, its number, its first line, and why.
    """

    name: str
    status: str = "ok"
    passed: dict[str, bool] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)
    stopped: list[tuple[int, str, str]] = field(default_factory=list)

    def summary(self) -> str:
        """Say how many of the attempted exercises are solved."""
        return f"{sum(self.passed.values())} of {len(self.passed)} attempted"


class Tables:
    """``grades.csv`` and ``grades.md`` in a folder."""

    def __init__(self, folder: Path) -> None:
        self.csv, self.report = folder / "grades.csv", folder / "grades.md"

    def files(self) -> list[Path]:
        """Return what is written, also on the way."""
        return [one.with_name(one.name + new) for one in (self.csv, self.report) for new in ("", NEW)]

    def begin(self) -> None:
        """Write the heads, into a folder that is made if it is missing.

        Raises:
            ValueError: If the files cannot be written; none of them is changed then.
        """
        folder = self.csv.parent
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for path in (self.csv, self.report):
                with open(path, "a"):
                    pass
        except OSError as error:
            raise ValueError(
                f"--out must be a folder that can be written, got {str(folder)!r}: {error.strerror or error}"
            ) from None
        self.csv.write_text(_head(), "utf8", newline="")
        self.report.write_text("# Grades\n\n", "utf8")

    def add(self, one: Grades) -> None:
        """Write what was found in one notebook, now."""
        for path, text in ((self.csv, csv_line(one)), (self.report, section(one))):
            with open(path, "a", encoding="utf8", newline="" if path == self.csv else None) as file:
                file.write(text)
                file.flush()
                with contextlib.suppress(OSError):  # what is no file on a disk
                    os.fsync(file.fileno())

    def finish(self, found: Iterable[Grades]) -> None:
        """Write everything again, in this order, also if a notebook has written to these files."""
        found = list(found)
        new = {self.csv: _head() + "".join(map(csv_line, found))}
        new[self.report] = "# Grades\n\n" + "".join(map(section, found))
        for path, text in new.items():
            beside = path.with_name(path.name + NEW)
            beside.write_text(text, "utf8", newline="" if path == self.csv else None)
            os.replace(beside, path)


def csv_line(one: Grades) -> str:
    """Return a notebook's line: 1 for an exercise that was solved, 0 for one that was tried."""
    marks = ["" if (mark := one.passed.get(id)) is None else int(mark) for id in bank.exercises()]
    return _line([one.name, one.status, sum(one.passed.values()), len(one.passed), *marks])


def section(one: Grades) -> str:
    """Return what a report says of a notebook: how it went, and what its unsolved exercises were told."""
    solved = f"{sum(one.passed.values())} of {len(one.passed)} attempted exercises solved"
    lines = [f"## {one.name}", "", f"{solved}. Run: {one.status}.", ""]
    lines += [f"- cell {n}, {_code(first)}: {_plain(why)}" for n, first, why in sorted(one.stopped)]
    lines += [f"- {id}: {_plain(one.said[id])}" for id, passed in one.passed.items() if not passed]
    return "\n".join([*lines, "", ""])


def _head() -> str:
    return _line(["notebook", "status", "passed", "attempted", *bank.exercises()])


def _line(cells: list[object]) -> str:
    text = io.StringIO()
    csv.writer(text).writerow([harmless(cell) for cell in cells])
    return text.getvalue()


def harmless(cell: object) -> object:
    """Return a cell that no spreadsheet takes for a formula: with an apostrophe if it begins like one."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell


def _plain(text: str) -> str:
    """Return one line of text that stays text in Markdown."""
    text = " ".join(text.split())
    return text.encode("utf8", "backslashreplace").decode().replace("<", "\\<")


def _code(text: str) -> str:
    text = " ".join(text.split())[:60].encode("utf8", "backslashreplace").decode()
    return f"`{text.replace('`', chr(39))}`"
