"""Make book/_static/editor.js, the editor of the pages, of the sources in book/live/editor.

CodeMirror comes from npm, as ``package-lock.json`` has it by version and hash, into a folder that goes again;
esbuild, of the same list, joins and shrinks. The result is committed, since it changes when the editor does
and not when the book does: run this after a change there, with npm and a network. After a change of
``package.json`` run it with ``--lock``: the lock file is then written anew, without names of hosts.
"""

import argparse
import gzip
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "book" / "live" / "editor"
MADE = ROOT / "book" / "_static" / "editor.js"
MOST = 150_000  # bytes, compressed
BEGINS = "/*! The editor of the pages, made by tools/bundle_editor.py of "


def parts(lock: dict) -> list[str]:
    """Return name and version of all that a lock file brings into the bundle."""
    packages = {name.removeprefix("node_modules/"): about for name, about in lock["packages"].items() if name}
    return [f"{name} {about['version']}" for name, about in packages.items() if not about.get("dev")]


def header(lock: dict) -> str:
    """Return the first line of the bundle: what is in it, and under which licence."""
    return f"{BEGINS}{', '.join(parts(lock))} (MIT; their licence is in NOTICE) */"


def bundle(folder: Path) -> str:
    """Return the bundle of a copy of the sources, into which npm may install."""
    run = {"cwd": folder, "check": True, "capture_output": True, "text": True}
    subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], **run)
    lock = json.loads((folder / "package-lock.json").read_text("utf8"))
    options = ["--bundle", "--minify", "--format=iife", "--target=es2020", "--legal-comments=none"]
    made = subprocess.run(["npx", "--no-install", "esbuild", "editor.js", *options], **run)
    return f"{header(lock)}\n{made.stdout}"


def lock(folder: Path) -> None:
    """Write the lock file of a copy of the sources anew."""
    options = ["--package-lock-only", "--omit-lockfile-registry-resolved", "--no-audit", "--no-fund"]
    subprocess.run(["npm", "install", *options], cwd=folder, check=True, capture_output=True)
    shutil.copy(folder / "package-lock.json", SOURCES)


def main() -> None:
    """Make it, and refuse what is too large."""
    asked = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    asked.add_argument("--lock", action="store_true", help="write package-lock.json anew first")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "editor"
        shutil.copytree(SOURCES, folder)
        if asked.parse_args().lock:
            lock(folder)
        made = bundle(folder)
    size = len(gzip.compress(made.encode(), 9))
    if size > MOST:
        raise SystemExit(f"the editor must stay under {MOST} bytes compressed, got {size}")
    MADE.write_text(made, "utf8")
    print(f"{MADE.relative_to(ROOT)}: {size} bytes compressed")


if __name__ == "__main__":
    main()
