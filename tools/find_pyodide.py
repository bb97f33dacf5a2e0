"""Find Pyodide, the Python that runs on the page, or get it; prints its path.

It is the npm package ``pyodide`` in one version, known by its hash: no other archive of that name is taken.
In order: PYODIDE if set, the user's cache, npm; and npm itself from Debian's packages, where root lacks it.
"""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # when run as a script

from tools.find_chromium import root_has_apt

# both move together: npm view pyodide@VERSION dist.integrity
VERSION = "314.0.7"
INTEGRITY = "sha512-0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A=="

NAME = f"pyodide-{VERSION}.tgz"
PATIENCE = 300  # seconds for a command
ADVICE = f"""Pyodide was not found and could not be fetched. The book is built, but no cell of it will run.
One of these helps:
  - install npm and build again with a network (6.5 MB, once)
  - run "npm pack pyodide@{VERSION}" elsewhere, and set PYODIDE to the path of {NAME}"""


def cache() -> Path:
    """Return where the archive is kept between builds."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "paying-attention"


def genuine(archive: Path) -> bool:
    """Tell whether a file is the package that is meant."""
    if not archive.is_file():
        return False
    digest = hashlib.sha512(archive.read_bytes()).digest()
    return f"sha512-{base64.b64encode(digest).decode()}" == INTEGRITY


def installed() -> Path | None:
    """Return the path of the archive that is here, or None."""
    given = os.environ.get("PYODIDE")
    archive = Path(given) if given else cache() / NAME
    return archive if genuine(archive) else None


def install() -> None:
    """Try to get the archive into the cache; what fails is told on standard error."""
    if not shutil.which("npm") and root_has_apt():
        quiet = {"stdout": subprocess.DEVNULL, "env": os.environ | {"DEBIAN_FRONTEND": "noninteractive"}}
        subprocess.run(["apt-get", "update", "-q"], check=False, timeout=PATIENCE, **quiet)
        install_npm = ["apt-get", "install", "-qy", "--no-install-recommends", "npm"]
        subprocess.run(install_npm, check=False, timeout=2 * PATIENCE, **quiet)
    npm = shutil.which("npm")
    if not npm:
        return
    cache().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache()) as folder:
        command = [npm, "pack", "--silent", f"pyodide@{VERSION}", "--pack-destination", folder]
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL, timeout=PATIENCE)
        if genuine(Path(folder) / NAME):
            os.replace(Path(folder) / NAME, cache() / NAME)


def main() -> int:
    """Print the path, or what to do."""
    try:
        if installed() is None and not os.environ.get("PYODIDE"):
            install()
        path = installed()
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:  # no home folder, or npm hangs
        print(error, file=sys.stderr)
        path = None
    print(f"Python for the pages: {path}" if path else ADVICE)
    return 0 if path else 1


if __name__ == "__main__":
    sys.exit(main())
