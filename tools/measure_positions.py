"""Measure which positions go on where training stopped, and write ``attnlib/data/positions.json``.

    python tools/measure_positions.py attnlib/data/positions.json --processes 6 --minutes 8

It takes minutes on a GPU. What matters most is measured first, and after the given minutes it ends. Called
again, it goes on: runs that the file has are kept.
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import json
import multiprocessing
import time
from pathlib import Path

import torch

from attnlib.device import pick_device
from attnlib.experiments.positions import encodings as positions
from attnlib.experiments.training import fit

USUAL = {"steps": 2000, "lr": 1e-3, "layers": 2, "width": 64, "distance": 8}
STRETCHED = 256  # length of the texts that a stretched model is trained on a little more
MORE = 200  # batches of them
WAYS = ("nothing", "base", "positions")  # what is changed to slow the clock


def plan() -> list[dict]:
    """Return the settings of all runs, the most important first."""
    runs = []

    def add(kinds=positions.KINDS, tasks=("back", "copy"), seeds=3, **other):
        for seed, task, kind in itertools.product(range(seeds), tasks, kinds):
            runs.append({"kind": kind, "task": task, **USUAL, **other, "seed": seed})

    add()
    add(tasks=("copy",), lr=3e-3)
    add(("alibi", "relative", "rotary"), ("back",), lr=3e-3)
    add(("relative", "none", "rotary"), ("copy",), seeds=1, steps=8000)
    add(("alibi", "rotary", "relative"), ("back",), seeds=1, steps=8000)
    add(seeds=5)
    add(layers=4)
    add(tasks=("back",), distance=24)
    add(steps=8000)
    unique = {json.dumps(run): run for run in runs}
    runs = list(unique.values())
    return runs


def measure(run: dict) -> dict:
    """Train one model, and return its settings with what it got right."""
    torch.set_num_threads(1)
    device = pick_device()
    settings = {name: run[name] for name in ("seed", *USUAL)}
    model = positions.train_model(run["kind"], run["task"], device=device, **settings)
    ask = {"task": run["task"], "distance": run["distance"]}
    result = {**run, "right": _round(positions.right_at(model, **ask))}
    if run["kind"] == "rotary" and all(run[name] == USUAL[name] for name in USUAL):
        result["stretched"] = {by: _stretched(model, by, **ask) for by in WAYS[1:]}
        result["trained on"] = {by: _trained_on(model, by, run, ask) for by in WAYS}
    return result


def _stretched(model: positions.OrderedModel, by: str, **ask) -> list[float]:
    """Return what a model gets right if its clock is slowed to fit each length, without more training."""
    shares = []
    for length in positions.ASKED:
        positions.stretch(model, length / positions.LENGTH, by=by)
        shares += positions.right_at(model, lengths=[length], **ask)
    positions.stretch(model, 1, by="base")
    return _round(shares)


def _trained_on(model: positions.OrderedModel, by: str, run: dict, ask: dict) -> list[float]:
    """Return what it gets right after a little more training on texts four times as long."""
    before = {name: value.clone() for name, value in model.state_dict().items()}
    if by != "nothing":
        positions.stretch(model, STRETCHED / positions.LENGTH, by=by)
    draw = positions.make_batch(run["task"], STRETCHED, batch=16, distance=run["distance"])
    fit(model, draw, steps=MORE, lr=run["lr"], seed=run["seed"])
    shares = positions.right_at(model, **ask)
    positions.stretch(model, 1, by="base")
    model.load_state_dict(before)
    return _round(shares)


def _round(shares: list[float]) -> list[float]:
    return [round(share, 3) for share in shares]


def write(path: Path, runs: list[dict], device: str) -> None:
    """Write the runs, one a line, below what they are."""
    head = {
        "what": "share of right answers in texts of each length in asked, of models trained on texts of at "
        "most 64 tokens; task back: the token so many places back (distance), counted in the last 16 places; "
        "task copy: all tokens that are said again; stretched: the same model with its clock slowed to fit "
        f"each length, by its base or by its positions; trained on: after {MORE} more batches of 16 texts of "
        f"{STRETCHED} tokens, with the clock as it was (nothing) or slowed 4 times",
        "code": "tools/measure_positions.py",
        "device": device,
        "torch": torch.__version__.split("+")[0],
        "date": datetime.date.today().isoformat(),
        "asked": list(positions.ASKED),
        "usual": USUAL,
    }
    lines = ",\n".join("  " + json.dumps(run) for run in runs)
    body = json.dumps(head, indent=1)[:-2]
    path.write_text(f'{body},\n "runs": [\n{lines}\n ]\n}}\n', "utf8")


def main() -> None:
    """Measure all runs in several processes, and write after each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--processes", type=int, default=6)
    parser.add_argument("--minutes", type=float, default=60.0)
    options = parser.parse_args()
    device = pick_device()
    name = torch.cuda.get_device_name() if device.type == "cuda" else str(device)
    done = json.loads(options.file.read_text("utf8"))["runs"] if options.file.exists() else []
    known = [_settings(run) for run in done]
    begun, todo = time.monotonic(), [run for run in plan() if run not in known]
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
        for result in pool.imap_unordered(measure, todo):
            done.append(result)
            write(options.file, sorted(done, key=_rank), f"{name}, float32")
            if time.monotonic() - begun > 60 * options.minutes:
                pool.terminate()
                break
    print(f"{len(done)} of {len(plan())} runs, the last {time.monotonic() - begun:.0f} s")


def _settings(run: dict) -> dict:
    return {name: run[name] for name in ("kind", "task", *USUAL, "seed")}


def _rank(run: dict) -> int:
    """Return where a run stands in the plan."""
    return [_settings(each) for each in plan()].index(_settings(run))


if __name__ == "__main__":
    main()
