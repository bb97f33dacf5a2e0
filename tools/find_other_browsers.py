"""Find Firefox and WebKit for the tests of the pages, or get them; prints where they are.

In order: FIREFOX or MINIBROWSER if set, the system's, Debian's by apt-get when root. WebKit is the
MiniBrowser of WebKitGTK with its driver, and Xvfb, a screen in memory: Linux alone has them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

FIREFOX = "firefox"
WEBKIT = "webkit"
PACKAGES = {FIREFOX: ["firefox-esr"], WEBKIT: ["webkit2gtk-driver", "xvfb"]}
FIREFOX_ELSEWHERE = (
    "/Applications/Firefox.app/Contents/MacOS/firefox",
    "C:/Program Files/Mozilla Firefox/firefox.exe",
)
LIBRARIES = ("/usr/lib", "/usr/libexec")
ADVICE = {
    FIREFOX: "Firefox is missing: install it (Debian: apt-get install firefox-esr), or set FIREFOX to it.",
    WEBKIT: "WebKit is missing: on Debian or Ubuntu, apt-get install webkit2gtk-driver xvfb (as root).",
}


def installed(browser: str) -> str | None:
    """Return the path of a browser that is here with all that drives it, or None."""
    return _firefox() if browser == FIREFOX else _webkit()


def _firefox() -> str | None:
    names = (os.environ.get("FIREFOX"), shutil.which("firefox-esr"), shutil.which("firefox"))
    return next(filter(None, names), None) or next(filter(os.path.exists, FIREFOX_ELSEWHERE), None)


def _webkit() -> str | None:
    if not (shutil.which("WebKitWebDriver") and shutil.which("Xvfb")):
        return None
    if os.environ.get("MINIBROWSER"):
        return os.environ["MINIBROWSER"]
    found = (path for folder in LIBRARIES for path in Path(folder).glob("**/webkit2gtk-4.*/MiniBrowser"))
    return next((str(path) for path in sorted(found, reverse=True)), None)


def installable() -> bool:
    """Return whether this is a Debian whose packages we may install."""
    return bool(shutil.which("apt-get")) and hasattr(os, "geteuid") and os.geteuid() == 0


def install(packages: list[str]) -> None:
    """Try to install packages; what fails is told on standard error."""
    quiet = {"stdout": subprocess.DEVNULL, "env": os.environ | {"DEBIAN_FRONTEND": "noninteractive"}}
    subprocess.run(["apt-get", "update", "-q"], check=False, **quiet)
    subprocess.run(["apt-get", "install", "-qy", "--no-install-recommends", *packages], check=False, **quiet)


def main() -> int:
    """Print where each is, or what to do; to miss one where it could have been installed is a failure."""
    missing = [package for browser in PACKAGES if not installed(browser) for package in PACKAGES[browser]]
    if missing and installable():
        install(missing)
    for browser in PACKAGES:
        print(f"{browser.capitalize()}: {installed(browser) or ADVICE[browser] + ' Its tests are skipped.'}")
    return int(installable() and not all(map(installed, PACKAGES)))


if __name__ == "__main__":
    sys.exit(main())
