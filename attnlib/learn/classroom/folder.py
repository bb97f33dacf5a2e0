"""What lies in the folder of a class: notebooks, what only looks like one, and the files beside them."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from attnlib.learn.classroom.cells import code_cells
from attnlib.learn.classroom.limits import MIB

NOTEBOOK = 64 * MIB  # longer than any that people write
BESIDE = 256 * MIB  # for the other files of the class, together


@dataclass
class Notebook:
    """One line of the table.

    Attributes:
        name: Its path inside the folder, as it can be printed.
        cells: The sources of its code cells.
        trouble: Why it cannot be run, or nothing.
        beside: Files that it may need: where they lie, and their names in the run's folder.
        note: What else is to be said about it.
    """

    name: str
    cells: list[str] = field(default_factory=list)
    trouble: str = ""
    beside: list[tuple[str, str]] = field(default_factory=list)
    note: str = ""


class Folder:
    """The notebooks of a folder, all read before the first one runs.

    Files that a notebook changes or deletes are put back as they were.

    Args:
        path: The folder; links to folders inside are not followed.
        own: Files that grading itself writes, which are nobody's homework.

    Raises:
        ValueError: If there is no such folder, or no notebook in it.
    """

    def __init__(self, path: Path, own: Collection[Path] = ()) -> None:
        if not path.is_dir():
            raise ValueError(f"FOLDER must be a folder with notebooks, got {printable(str(path))!r}")
        self._top = path
        self._kept: dict[Path, tuple[tuple, bytes]] = {}
        self._room = BESIDE
        self._own = {file.absolute() for file in own}
        self.notebooks: list[Notebook] = []
        tree, closed = _walk(path)
        found = [
            folder / name
            for folder, (folders, files) in tree.items()
            for name in [*folders, *files]
            if is_notebook(name)
        ]
        holding = {above for one in found for above in one.parents}
        beside = {folder: self._beside(folder, tree, holding) for folder in {one.parent for one in found}}
        for one in sorted(found):
            notebook = Notebook(printable(one.relative_to(path).as_posix()))
            notebook.beside, notebook.note = beside[one.parent]
            try:
                notebook.cells = code_cells(self._keep(one, NOTEBOOK))
            except OSError as error:
                notebook.trouble = f"cannot be read: {error.strerror or error}"
            except ValueError as error:
                notebook.trouble = str(error)
            self.notebooks.append(notebook)
        for one, error in closed:
            name = printable(one.relative_to(path).as_posix())
            self.notebooks.append(Notebook(name, trouble=f"a folder that cannot be opened: {error}"))
        if not self.notebooks:
            raise ValueError(f"there is no notebook (*.ipynb) in {printable(str(path))!r}")

    def _keep(self, path: Path, most: int) -> bytes:
        """Read a file and remember it.

        Raises:
            OSError: If it cannot be read.
            ValueError: If it is no file, or longer than ``most``.
        """
        if path.is_symlink() and not path.exists():
            raise ValueError("a link that leads nowhere")
        about = path.stat()
        if stat.S_ISDIR(about.st_mode):
            raise ValueError("a folder, not a notebook")
        if not stat.S_ISREG(about.st_mode):
            raise ValueError("not a file")  # reading it might never end
        if about.st_size > most:
            raise ValueError(f"longer than {most // MIB} MiB")
        content = path.read_bytes()
        self._kept[path] = _mark(about), content
        return content

    def _beside(self, folder: Path, tree: dict, holding: set[Path]) -> tuple[list[tuple[str, str]], str]:
        """Return the files of a folder, and of folders in it that hold no notebook; and what was left out."""
        found, missed, queue = [], 0, [folder]
        while queue:
            here = queue.pop()
            folders, files = tree.get(here, ([], []))
            queue += [here / name for name in folders if here / name not in holding]
            for path in (here / name for name in files if not is_notebook(name)):
                if path.absolute() in self._own or path.name.startswith("."):
                    continue
                try:
                    if path not in self._kept:
                        self._room -= len(self._keep(path, self._room))
                except (OSError, ValueError):
                    missed += 1
                else:
                    found.append((str(path), str(path.relative_to(folder))))
        return found, f"{missed} files beside it could not be copied" if missed else ""

    def put_back(self) -> str:
        """Restore the files that were changed or deleted; return a sentence on that, or nothing."""
        changed, lost = 0, 0
        for path, (mark, content) in self._kept.items():
            try:
                if _mark(path.stat()) == mark:
                    continue
                same = path.read_bytes() == content
            except OSError:
                same = False
            try:
                if not same:
                    changed += 1
                    self._restore(path, content)
                self._kept[path] = _mark(path.stat()), content
            except OSError:
                lost += 1
        if not changed:
            return ""
        which = "1 file of the folder was" if changed == 1 else f"{changed} files of the folder were"
        end = f"{lost} of them could not be put back" if lost else "put back"
        return f"while it ran, {which} changed or deleted, and {end}"

    def _restore(self, path: Path, content: bytes) -> None:
        """Write a file anew, and through no link that was laid in its place."""
        inside = [folder for folder in reversed(path.parents) if self._top in folder.parents]
        for one in (self._top, *inside, path):
            if one.is_file() or (one.is_symlink() and one != self._top):
                one.unlink()
            elif one == path and one.is_dir():
                shutil.rmtree(one)
            elif one != path:
                one.mkdir(parents=True, exist_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def is_notebook(name: str) -> bool:
    """Tell whether a file calls itself a notebook."""
    return name.lower().endswith(".ipynb")


def printable(name: str) -> str:
    """Return a name that every file and terminal can hold: bytes that are no UTF-8 as numbers."""
    text = os.fsencode(name).decode("utf8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _walk(top: Path) -> tuple[dict[Path, tuple[list[str], list[str]]], list[tuple[Path, str]]]:
    """Return folders and files of every folder, and the folders that cannot be opened."""
    tree, closed = {}, []

    def note(error: OSError) -> None:
        closed.append((Path(error.filename), error.strerror))

    for here, folders, files in os.walk(top, onerror=note):
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and name != "__pycache__"
        )  # .git, .ipynb_checkpoints
        tree[Path(here)] = [*folders], sorted(files)
    return tree, closed


def _mark(about: os.stat_result) -> tuple:
    """Return what differs when a file was written to; nobody can set the time of the last change of all."""
    return about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino
