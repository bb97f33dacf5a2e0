"""Find Pyodide, the Python that runs on the page, or get it; prints its path.

It is the npm package ``pyodide`` in one version, known by its hash: no other archive of that name is taken.
In order: PYODIDE if set, the user's cache, the registry itself, npm, which may know another way out.
"""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

# both move together: npm view pyodide@VERSION dist.integrity
VERSION = "314.0.7"
INTEGRITY = "sha512-0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A=="

NAME = f"pyodide-{VERSION}.tgz"
ADDRESS = f"https://registry.npmjs.org/pyodide/-/{NAME}"
PATIENCE = 60  # seconds without a byte
ADVICE = f"""Pyodide was not found and could not be fetched. The book is built, but no cell of it will run.
One of these helps:
  - build it with a network (6.5 MB from registry.npmjs.org, once)
  - download {ADDRESS}
    and set PYODIDE to the path of that file"""


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
    cache().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache()) as folder:
        for fetch in (from_registry, by_npm):
            try:
                fetch(Path(folder))
            except (OSError, subprocess.SubprocessError) as error:
                print(f"Pyodide, {fetch.__name__}: {error}", file=sys.stderr)
            if genuine(Path(folder) / NAME):
                os.replace(Path(folder) / NAME, cache() / NAME)
                return


def from_registry(folder: Path) -> None:
    """Download the archive."""
    with urllib.request.urlopen(ADDRESS, timeout=PATIENCE) as answer, open(folder / NAME, "wb") as file:
        shutil.copyfileobj(answer, file)


def by_npm(folder: Path) -> None:
    """Let npm download it, which knows of mirrors and certificates; nothing happens without an npm."""
    npm = shutil.which("npm")
    if npm:
        command = [npm, "pack", f"pyodide@{VERSION}", "--pack-destination", str(folder)]
        subprocess.run(command, check=False, capture_output=True, timeout=5 * PATIENCE)


def main() -> int:
    """Print the path, or what to do."""
    try:
        if installed() is None and not os.environ.get("PYODIDE"):
            install()
        path = installed()
    except (OSError, RuntimeError) as error:  # no home folder, or none that can be written
        print(error, file=sys.stderr)
        path = None
    print(f"Python for the pages: {path}" if path else ADVICE)
    return 0 if path else 1


if __name__ == "__main__":
    sys.exit(main())
