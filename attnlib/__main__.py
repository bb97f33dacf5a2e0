"""``python -m attnlib progress`` and ``python -m attnlib doctor``."""

from __future__ import annotations

import argparse
import platform
from importlib.metadata import PackageNotFoundError, version


def doctor() -> None:
    """Print versions, the device and whether widgets will work."""
    import attnlib
    from attnlib.learn.record import RecordError, home

    def have(name: str) -> str:
        try:
            return version(name)
        except PackageNotFoundError:
            return "not installed"

    print(f"attnlib      {attnlib.__version__}")
    print(f"python       {platform.python_version()} on {platform.machine()}")
    for name in ("torch", "numpy", "matplotlib", "anywidget", "ipywidgets", "jupyterlab"):
        print(f"{name:<12} {have(name)}")
    try:
        device = str(attnlib.pick_device())
    except (ValueError, RuntimeError) as error:
        device = f"none: {error}"
    print(f"device       {device}")
    missing = [n for n in ("anywidget", "ipywidgets") if have(n) == "not installed"]
    fix = f"no: pip install {' '.join(missing)}"
    print(f"widgets      {fix if missing else 'will work'}")
    no_figures = have("matplotlib") == "not installed"
    print(f"figures      {'no: pip install matplotlib' if no_figures else 'will work'}")
    try:
        folder = str(home())
    except RecordError as error:
        folder = f"no folder: {error}"
    print(f"progress in  {folder}")


def main(argv: list[str] | None = None) -> None:
    """Run one of the commands."""
    parser = argparse.ArgumentParser(prog="python -m attnlib", description="The book's helper.")
    parser.add_argument("command", choices=["progress", "doctor"], help="what to show")
    command = parser.parse_args(argv).command
    if command == "doctor":
        doctor()
    else:
        from attnlib.learn import progress

        progress()


if __name__ == "__main__":
    main()
