"""Progress: which exercises were solved, kept in one small file of the user's."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path


def home() -> Path:
    """Return the folder for progress: ``ATTNLIB_HOME``, else the user's data folder."""
    if os.environ.get("ATTNLIB_HOME"):
        return Path(os.environ["ATTNLIB_HOME"])
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "attnlib"


class UnreadableError(Exception):
    """The progress file is there but cannot be read or written."""


def load() -> dict:
    """Read what is known.

    Returns:
        ``{"exercises": {id: {"attempts": n, "passed": bool}}, "quizzes": {chapter: best}}``.

    Raises:
        UnreadableError: If the file is there but is not what this module writes.
    """
    path = home() / "progress.json"
    try:
        data = json.loads(path.read_text("utf8"))
    except FileNotFoundError:
        return {"exercises": {}, "quizzes": {}}
    except (OSError, ValueError) as error:
        raise UnreadableError(f"{path}: {error}") from None
    if not _well_formed(data):
        raise UnreadableError(f"{path}: not a progress file")
    return data


def save_attempt(id: str, *, passed: bool) -> str:
    """Count an attempt at an exercise.

    Returns:
        Nothing, or a sentence on why it could not be kept. The page goes on either way.
    """

    def change(data: dict) -> None:
        entry = data["exercises"].setdefault(id, {"attempts": 0, "passed": False})
        entry["attempts"] += 1
        entry["passed"] = entry["passed"] or passed

    return _update(change)


def save_quiz(chapter: str, score: int) -> str:
    """Keep the best score of a quiz; returns as `save_attempt` does."""

    def change(data: dict) -> None:
        data["quizzes"][chapter] = max(score, data["quizzes"].get(chapter, 0))

    return _update(change)


def _update(change) -> str:
    """Read, change and write the file in one go; whatever is unreadable is left as it is."""
    path = home() / "progress.json"
    try:
        data = load()
        change(data)
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(f".{os.getpid()}.tmp")
        new.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n", "utf8")
        os.replace(new, path)  # never half a file
    except (OSError, UnreadableError) as error:
        return _trouble(error)
    return ""


def _trouble(error: Exception) -> str:
    return f"(Progress was left alone, its file cannot be used: {error}. Move it away to start afresh.)"


def _well_formed(data: object) -> bool:
    return (
        isinstance(data, dict)
        and isinstance(data.get("exercises"), dict)
        and isinstance(data.get("quizzes"), dict)
        and all(
            isinstance(e, dict) and isinstance(e.get("attempts"), int) and isinstance(e.get("passed"), bool)
            for e in data["exercises"].values()
        )
        and all(isinstance(s, int) for s in data["quizzes"].values())
    )
