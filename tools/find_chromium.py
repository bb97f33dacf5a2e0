"""Find a Chromium for the browser tests, or get one; prints its path.

In order: CHROMIUM if set, the system's, Playwright's, Debian's by apt-get when root, `playwright install`.
Where there is a choice it is the headless shell: the same engine without the window of a browser, which costs
as much computing for each page as the page itself.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

SHELL = "chromium-headless-shell"
NAMES = (SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
ADVICE = """No Chromium was found, and none could be installed. The browser tests need one. Do one of these:
  - Debian, Ubuntu:  apt-get install chromium-headless-shell, or chromium     (as root)
  - macOS, Windows:  .venv/bin/playwright install chromium, or install Chrome
  - anything else:   set CHROMIUM to the path of a Chromium or Chrome"""


def installed() -> str | None:
    """Return the path of a Chromium that is here, or None."""
    if os.environ.get("CHROMIUM"):
        return os.environ["CHROMIUM"]
    for name in NAMES:
        if shutil.which(name):
            return shutil.which(name)
    return str(MAC) if MAC.exists() else _playwrights()


def _playwrights() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def root_has_apt() -> bool:
    """Tell whether Debian's packages can be installed by who runs this."""
    return bool(shutil.which("apt-get")) and hasattr(os, "geteuid") and os.geteuid() == 0


def install() -> None:
    """Try to install one; what fails is told on standard error."""
    if root_has_apt():
        quiet = {"stdout": subprocess.DEVNULL, "env": os.environ | {"DEBIAN_FRONTEND": "noninteractive"}}
        subprocess.run(["apt-get", "update", "-q"], check=False, **quiet)
        for package in (SHELL, "chromium"):
            if not shutil.which(package) and (package == SHELL or installed() is None):
                subprocess.run(["apt-get", "install", "-qy", package], check=False, **quiet)
    if installed() is None:
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)


def main() -> int:
    """Print the path, or what to do."""
    path = installed()
    heavy = path and path != os.environ.get("CHROMIUM") and not shutil.which(SHELL)
    if path is None or (heavy and root_has_apt()):
        install()
        path = installed()
    print(f"Chromium for the browser tests: {path}" if path else ADVICE)
    return 0 if path else 1


if __name__ == "__main__":
    sys.exit(main())
