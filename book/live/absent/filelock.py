"""In filelock's place where there is none: on a page nobody else writes to the files."""

from __future__ import annotations


class Timeout(TimeoutError):  # noqa: N818 - filelock's name
    """Never raised here."""

    lock_file = ""


class FileLock:
    """A lock that nobody else asks for."""

    def __init__(self, lock_file: str, timeout: float = -1) -> None:
        self.lock_file, self.timeout = lock_file, timeout

    def __enter__(self) -> FileLock:
        return self

    def __exit__(self, *error: object) -> None:
        pass
