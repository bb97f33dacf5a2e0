"""The browser that draws for the build: a headless Chromium, or none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from runpy import run_path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FINDER = Path(__file__).parents[3] / "tools" / "find_chromium.py"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]


def find() -> str | None:
    """Return the path of a Chromium, or None where there is none, or nothing to drive it with."""
    try:
        return run_path(str(FINDER))["installed"]()
    except ImportError:
        return None


@contextmanager
def opened(path: str) -> Iterator[Browser]:
    """Open the Chromium at this path, and close it in the end."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield chromium
        chromium.close()
