"""Progress: which exercises were solved, kept in one small file of the user's.

It knows an exercise by its name: numbers change when exercises come or go. The first format of the file had
numbers; whatever is read, numbers of then become names (``former.toml``), and the next write keeps them.
"""

from __future__ import annotations

import functools
import glob
import json
import os
import sys
import time
import tomllib
import uuid
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock, Timeout  # torch requires it

FORMAT = 2  # of the file; a file that says nothing is of the first
PATIENCE = 10.0  # seconds to wait while others write; a write takes milliseconds


class RecordError(Exception):
    """Progress cannot be read or kept; says why, and what to do."""


def home() -> Path:
    """Return the folder for progress: ``ATTNLIB_HOME``, where ``~`` counts, else the user's data folder.

    Raises:
        RecordError: If that needs a home folder and there is none.
    """
    try:
        return _home()
    except RuntimeError:
        raise RecordError("no home folder was found; set ATTNLIB_HOME to a folder to keep it in") from None


def _home() -> Path:
    if os.environ.get("ATTNLIB_HOME"):
        return Path(os.environ["ATTNLIB_HOME"]).expanduser()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "attnlib"


def load() -> dict:
    """Read what is known.

    Returns:
        ``{"format": 2, "exercises": {name: {"attempts": n, "passed": bool}}, "quizzes": {chapter: best}}``.

    Raises:
        RecordError: If the file is there but is not what this module writes, or has no place to be.
    """
    return _read(home() / "progress.json")


@functools.cache
def former_names() -> dict[str, str]:
    """Return the names of exercises by the numbers that they had in files of the first format."""
    return tomllib.loads(Path(__file__).with_name("former.toml").read_text("utf8"))


def save_attempt(name: str, *, passed: bool) -> str:
    """Count an attempt at an exercise.

    Returns:
        Nothing, or a sentence on why it could not be kept. The page goes on either way.
    """

    def change(data: dict) -> None:
        entry = data["exercises"].setdefault(name, {"attempts": 0, "passed": False})
        entry["attempts"] += 1
        entry["passed"] = entry["passed"] or passed

    return _update(change)


def save_quiz(chapter: str, score: int) -> str:
    """Keep the best score of a quiz; returns as `save_attempt` does."""

    def change(data: dict) -> None:
        data["quizzes"][chapter] = max(score, data["quizzes"].get(chapter, 0))

    return _update(change)


def merge(path: str | os.PathLike) -> str:
    """Add what another progress file knows, such as one that the book's pages have exported.

    Of attempts and scores the larger count, and what was solved in either is solved.

    Returns:
        Nothing, or a sentence on why it could not be done.
    """
    path = Path(path)
    try:
        other = _read(path) if path.exists() else None
    except RecordError as error:
        return left_alone(error)
    if other is None:
        return left_alone(f"there is no file {path}")

    def change(data: dict) -> None:
        for name, more in other["exercises"].items():
            _add(data["exercises"], name, more)
        for chapter, score in other["quizzes"].items():
            data["quizzes"][chapter] = max(score, data["quizzes"].get(chapter, 0))

    return _update(change)


def _add(exercises: dict, name: str, more: dict) -> None:
    """Add what else is known of an exercise."""
    entry = exercises.setdefault(name, dict(more))
    entry["attempts"] = max(entry["attempts"], more["attempts"])
    entry["passed"] = entry["passed"] or more["passed"]


def export(path: str | os.PathLike) -> str:
    """Write what is known to a file that `merge` and the book's pages read.

    Returns:
        Nothing, or a sentence on why it could not be done.
    """
    try:
        _write(Path(path), load())
    except (RecordError, OSError) as error:
        return f"(Nothing was written: {error}.)"
    return ""


def left_alone(why: object) -> str:
    """Return the sentence that tells a learner why the file is as it was."""
    return f"(Progress was left alone: {why}.)"


def _update(change: Callable[[dict], None]) -> str:
    """Read, change and write the file while nobody else does; what cannot be used is left as it is."""
    try:
        folder = home()
        path = Path(os.path.realpath(folder / "progress.json"))  # a link stays a link
        folder.mkdir(parents=True, exist_ok=True)
        path.parent.stat()  # the lock would make a folder that a link names
        with FileLock(f"{path}.lock", timeout=PATIENCE):
            data = _read(path)
            change(data)
            _write(path, data)
    except RecordError as error:
        return left_alone(error)
    except Timeout as error:
        who = f"another program has held {error.lock_file} for {PATIENCE:g} seconds"
        return left_alone(f"{who}. Run the cell again")
    except OSError as error:
        return left_alone(f"{error}. Set ATTNLIB_HOME to a folder that can be written")
    except KeyboardInterrupt:
        return left_alone("you interrupted it. Run the cell again")
    return ""


def _read(path: Path) -> dict:
    try:
        data = json.loads(path.read_text("utf8"))
    except FileNotFoundError:
        return {"format": FORMAT, "exercises": {}, "quizzes": {}}
    except (OSError, ValueError, RecursionError) as error:
        raise RecordError(f"{path} cannot be read ({error}). Move it away to start afresh") from None
    if not _well_formed(data):
        raise RecordError(f"{path} is not a progress file. Move it away to start afresh")
    if data.get("format", 1) > FORMAT:
        raise RecordError(f"{path} was written by a newer attnlib (format {data['format']}). Update yours")
    return _named(data)


def _named(data: dict) -> dict:
    """Put names in the place of former numbers.

    In any format, since an older program may write beside this one. No name is a number, so nothing is moved
    twice; what the table does not know stays as it is.
    """
    exercises: dict = {}
    for key, entry in data["exercises"].items():
        _add(exercises, former_names().get(key, key), entry)
    return data | {"format": FORMAT, "exercises": exercises}


def _write(path: Path, data: dict) -> None:
    """Replace the file in one step, so that nobody ever sees half of it."""
    try:
        text = json.dumps(data, indent=1, sort_keys=True) + "\n"
    except (ValueError, RecursionError) as error:  # what others have put into it
        raise RecordError(f"{path} cannot be written back ({error}). Move it away to start afresh") from None
    new = path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with open(new, "x", encoding="utf8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        _replace(new, path)
    finally:  # also what a process left that was killed here
        for left in path.parent.glob(f"{glob.escape(path.name)}.*.tmp"):
            left.unlink(missing_ok=True)


def _replace(new: Path, path: Path) -> None:
    """Put a file in another's place; Windows refuses while somebody reads that, so try for a while."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return os.replace(new, path)
        except PermissionError:
            if sys.platform != "win32" or time.monotonic() >= end:
                raise
        time.sleep(0.002)


def _well_formed(data: object) -> bool:
    return (
        isinstance(data, dict)
        and type(data.get("format", 1)) is int
        and isinstance(data.get("exercises"), dict)
        and isinstance(data.get("quizzes"), dict)
        and all(
            isinstance(e, dict) and isinstance(e.get("attempts"), int) and isinstance(e.get("passed"), bool)
            for e in data["exercises"].values()
        )
        and all(isinstance(s, int) for s in data["quizzes"].values())
    )
