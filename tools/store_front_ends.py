"""Put the present front ends into the stored notebooks, without running them again.

A notebook carries a copy of the script and the style of each widget it shows. No output depends on them, so
after a change in ``attnlib/widgets/static`` this does what running all notebooks would do, in a second. What
is new in the state of a class is stored with its default, and what is gone is dropped.

python tools/store_front_ends.py book/*.ipynb
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import nbformat

STATE = "application/vnd.jupyter.widget-state+json"


def present(state: dict) -> dict:
    """Return the state of a widget with the front end and the traits that its class has now."""
    module, _, name = state.get("_anywidget_id", "").rpartition(".")
    if not module.startswith("attnlib."):
        return state
    kind = getattr(importlib.import_module(module), name)
    synced = {key: trait for key, trait in kind.class_traits().items() if trait.metadata.get("sync")}
    known = {key: value for key, value in state.items() if key in synced or key.startswith("_")}
    missing = {key: trait.default() for key, trait in synced.items() if key not in known}
    return {**known, **missing, "_esm": kind._esm, "_css": kind._css}


def refresh(path: Path) -> bool:
    """Bring a notebook up to the present front ends; return whether that changed it."""
    nb = nbformat.read(path, as_version=4)
    models = nb.metadata.get("widgets", {}).get(STATE, {}).get("state", {})
    for model in models.values():
        model["state"] = dict(sorted(present(model["state"]).items()))
    old = path.read_text("utf8")
    text = nbformat.writes(nb).rstrip("\n") + "\n"
    if text != old:
        path.write_text(text, "utf8")
    return text != old


def main() -> int:
    """Refresh the notebooks named on the command line."""
    for name in sys.argv[1:]:
        if refresh(Path(name)):
            print(f"{name}: front ends stored anew")
    return 0


if __name__ == "__main__":
    sys.exit(main())
