"""Run notebooks and store their outputs so that running twice gives the same file.

python tools/execute_notebooks.py [--check] book/*.ipynb
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import time
import uuid
from pathlib import Path

import nbformat
from nbclient import NotebookClient

sys.path.append(str(Path(__file__).parents[1]))  # when run as a script
sys.path.append(str(Path(__file__).parents[1] / "book" / "_ext"))

from paying_attention.site.settings_said import figure_words, page_words, unsaid
from paying_attention.site.stored_run import RUN, code_cells, fingerprint
from tools.arithmetic import kernel_arithmetic

VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"


def prune_widgets(nb: nbformat.NotebookNode) -> list[str]:
    """Keep the models that some view shows, and what they refer to; return their ids in reading order."""
    state = nb.metadata.get("widgets", {}).get(STATE, {}).get("state", {})
    queue = [
        output.data[VIEW]["model_id"]
        for cell in nb.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if VIEW in output.get("data", {})
    ]
    ids: list[str] = []
    while queue:
        model = queue.pop(0)
        if model in state and model not in ids:
            ids.append(model)
            queue += re.findall(r"IPY_MODEL_(\w+)", json.dumps(state[model], sort_keys=True))
    for model in set(state) - set(ids):
        del state[model]
    return ids


def execute(path: Path, timeout: int = 300) -> str:
    """Run a notebook and return its text: no times, no versions, no random ids."""
    nb = nbformat.read(path, as_version=4)
    silent = unsaid(code_cells(nb))
    if silent:
        raise SystemExit("\n".join([f"{path}: {said}" for said in silent]))
    NotebookClient(
        nb,
        timeout=timeout,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,  # what is printed in one cell is one output, however it arrives
        resources={"metadata": {"path": str(path.parent)}},
    ).execute()
    nb.metadata["language_info"] = {"name": "python"}
    for cell in code_cells(nb):  # the page reads a figure's words from the metadata of its cell
        if words := figure_words(cell):
            cell.metadata["mystnb"] = page_words(words)
    ids = prune_widgets(nb)
    text = nbformat.writes(nb)
    for i, old in enumerate(ids):
        text = text.replace(old, uuid.uuid5(uuid.NAMESPACE_URL, f"{path.name}#{i}").hex)
    nb = nbformat.reads(text, as_version=4)
    # without the one the book does not build; the other tells whether figures of training must be the same
    nb.metadata[RUN] = {"arithmetic": kernel_arithmetic(), "fingerprint": fingerprint(nb)}
    return nbformat.writes(nb).rstrip("\n") + "\n"


def main() -> int:
    """Execute the notebooks named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument(
        "--check", action="store_true", help="compare with the stored files instead of writing"
    )
    arguments = parser.parse_args()
    # what is stored must not depend on whose machine this is
    os.environ["ATTNLIB_PROGRESS"] = "0"
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # as in the tests: more threads sum in another order
    differ = 0
    for path in arguments.paths:
        start = time.perf_counter()
        with tempfile.TemporaryDirectory() as empty:
            os.environ["ATTNLIB_HOME"] = empty
            text = execute(path)
        took = f"{path} ({time.perf_counter() - start:.0f} s)"
        if arguments.check:
            same = text == path.read_text("utf8")
            differ += not same
            print("same" if same else "DIFFERS", took)
        else:
            path.write_text(text, "utf8")
            print("wrote", took)
    return bool(differ)


if __name__ == "__main__":
    sys.exit(main())
