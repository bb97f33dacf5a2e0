"""``python -m attnlib`` with ``progress``, ``doctor``, ``doctor --check`` or ``grade FOLDER``."""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
from importlib.metadata import PackageNotFoundError, version

# what a reader may want to do, the packages it takes, and what installs all of them
PARTS = {
    "figures": (("matplotlib",), "pip install matplotlib"),
    "widgets": (("anywidget", "ipywidgets"), "pip install anywidget ipywidgets"),
    "notebooks": (("jupyterlab", "ipykernel", "num2words", "tqdm"), "pip install jupyterlab num2words tqdm"),
    "book": (
        ("jupyter-book", "myst-nb", "sphinx-book-theme", "sphinx-design", "sphinx-mathjax-offline"),
        "pip install -r requirements.txt",
    ),
    "grading": (("ipykernel", "nbclient", "psutil"), "pip install 'attnlib[class]'"),
    "tests": (("pytest", "nbval", "hypothesis", "playwright"), "pip install -r requirements.txt"),
}
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge")


def installed(package: str) -> str | None:
    """Return the version of a package, or None."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def doctor() -> None:
    """Print versions, the device, and for each thing one may want to do whether all it takes is there."""
    import attnlib
    from attnlib.learn.record import RecordError, home

    print(f"attnlib      {attnlib.__version__}")
    print(f"python       {platform.python_version()} on {platform.machine()}")
    for package in ("torch", "numpy"):
        print(f"{package:<12} {installed(package) or 'not installed'}")
    try:
        device = str(attnlib.pick_device())
    except (ValueError, RuntimeError) as error:
        device = f"none: {error}"
    print(f"device       {device}")
    for part, (packages, remedy) in PARTS.items():
        missing = [package for package in packages if not installed(package)]
        lack = f"no {', '.join(missing)}: {remedy}"
        print(f"{part:<12} {lack if missing else 'will work'}")
    browser = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    print(f"browser      {browser or 'none found: set CHROMIUM to one (tests and first states need it)'}")
    try:
        folder = str(home())
    except RecordError as error:
        folder = f"no folder: {error}"
    print(f"progress in  {folder}")


def check_devices() -> int:
    """Hold every device of this machine against thirty cases of attention; return how many are wrong."""
    import time

    import torch

    from attnlib.instruments.conformance import CASES, find_faults

    present = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    wrong = 0
    for device in (name for name, there in present.items() if there):
        start = time.perf_counter()
        faults = find_faults(device)
        seconds = time.perf_counter() - start
        right = f"{len(CASES) - len(faults)} of {len(CASES)} cases right"
        print(f"attention    {right} on {device} ({seconds:.1f} s)")
        for fault in faults:
            print(f"             wrong on {device}: {fault}")
        wrong += bool(faults)
    return wrong


def show_progress(read: str | None, write: str | None) -> int:
    """Take in a file of progress, write one, or show the table; return the exit code."""
    from attnlib.learn import progress, record

    trouble = " ".join(filter(None, [read and record.merge(read), write and record.export(write)]))
    if trouble:
        print(trouble, file=sys.stderr)
        return 1
    if not write:
        progress()
    return 0


def main(argv: list[str] | None = None) -> int:
    """Run one of the commands, and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m attnlib", description="The book's helper.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    shown = commands.add_parser("progress", help="show which exercises are solved")
    shown.add_argument(
        "--import", dest="read", metavar="FILE", help="add what was exported from the book's pages"
    )
    shown.add_argument(
        "--export", dest="write", metavar="FILE", help="write a file that the book's pages import"
    )
    looked = commands.add_parser("doctor", help="show versions, the device, and what is missing")
    looked.add_argument(
        "--check", action="store_true", help="compute thirty cases of attention on each device"
    )
    grade = commands.add_parser("grade", help="grade a folder of notebooks, each in a process of its own")
    grade.add_argument("folder", metavar="FOLDER")
    grade.add_argument("--out", default=".", metavar="FOLDER", help="where grades.csv and grades.md go")
    grade.add_argument("--seconds", type=float, default=300, help="of computing for each notebook (300)")
    grade.add_argument("--memory", type=float, default=8, help="GiB for each notebook (8)")
    grade.add_argument("--jobs", type=int, default=2, help="notebooks at a time (2)")
    grade.add_argument(
        "--need", nargs="+", default=[], metavar="ID", help="fail unless each of these is solved somewhere"
    )
    asked = parser.parse_args(argv)
    if asked.command == "doctor":
        doctor()
        return min(1, check_devices()) if asked.check else 0
    if asked.command == "progress":
        return show_progress(asked.read, asked.write)
    from attnlib.learn.classroom.grade import main as grade_folder

    return grade_folder(asked.folder, asked.out, asked.seconds, asked.memory, asked.jobs, asked.need)


if __name__ == "__main__":
    sys.exit(main())
