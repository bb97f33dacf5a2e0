"""Measure again what ``attnlib/data/block-parts.json`` holds: blocks with norms elsewhere, or without a part.

On one GPU, with a dozen processes, it takes some minutes; the most wanted runs come first.
"""

import argparse
import datetime
import hashlib
import itertools
import json
import platform
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import torch

from attnlib.experiments import letters
from attnlib.experiments.transformer.block_parts import USUAL, measure

WHAT = (
    "loss per letter, in nats, of models of letters of Python's manual: 64 wide, 4 heads, "
    "batches of 32 lines of 32 letters; "
    "norm: where each half is normalised; kind: layer norms, GELU, biases, learned positions and an "
    "untied head if plain, else RMS norms, SwiGLU, rotary positions and a tied one; "
    "without: what was taken out; held: on held-out lines; "
    "course: means of each twentieth of the steps; what a run does not name is as in usual"
)
TEXT = None  # each process reads it once


def grid(**axes) -> list[dict]:
    """Return all combinations of lists of choices."""
    return [dict(zip(axes, choice, strict=True)) for choice in itertools.product(*axes.values())]


def wanted() -> list[dict]:
    """Return the runs, the most wanted first."""
    five, three, two = range(5), range(3), range(2)
    places, climbs, rates = ["before", "after"], [0, 200], [3e-4, 3e-3]
    lacks = [
        {},
        {"norm": "none"},
        {"without": "residual"},
        {"without": "attention"},
        {"without": "network"},
    ]
    small = [{**lack, "layers": 4} for lack in lacks]
    runs = grid(seed=five, norm=places, warmup=climbs)
    runs += grid(seed=five, layers=[2], norm=places, warmup=climbs)
    runs += [{**lack, "seed": seed} for seed in five for lack in small]
    runs += grid(seed=three, lr=rates, norm=places, warmup=climbs)
    runs += [{**lack, "seed": seed} for seed in three for lack in lacks[1:]]
    runs += [
        {**lack, "layers": 4, "lr": lr, "seed": seed} for seed in three for lr in rates for lack in lacks
    ]
    runs += grid(seed=three, layers=[2], lr=rates, norm=places, warmup=climbs)
    runs += grid(seed=three, norm=["after"], warmup=[800, 1600], steps=[2400])
    runs += grid(seed=three, norm=places, steps=[2400])
    runs += grid(seed=three, layers=[6], norm=places, warmup=climbs)
    runs += [{**lack, "steps": 2400, "seed": seed} for seed in two for lack in small]
    return runs + wanted_today(lacks)


def wanted_today(lacks: list[dict]) -> list[dict]:
    """Return the runs with blocks of today: whole ones, then those that lack something."""
    five, three, two, after = range(5), range(3), range(2), {"norm": "after"}
    runs = [{**kind, "steps": 2400, "seed": seed} for seed in three for kind in ({}, after)]
    runs += [{**after, "warmup": 800, "steps": 2400, "seed": seed} for seed in three]
    runs += [{**lack, "layers": 4, "steps": 2400, "seed": seed} for seed in two for lack in lacks]
    runs += [{**lack, "seed": seed} for seed in three for lack in lacks[3:]]
    runs += [{**lack, "layers": 4, "seed": seed} for seed in five for lack in lacks]
    small = grid(seed=three, lr=[3e-4, 3e-3])
    runs += [{**lack, "layers": 4, **run} for run in small for lack in lacks]
    runs += grid(seed=three, norm=["before"], lr=[3e-4, 1e-3, 3e-3])
    runs += grid(seed=three, norm=["after"], lr=[3e-4, 1e-3, 3e-3])
    runs += grid(seed=three, norm=["after"], lr=[1e-3, 3e-3], warmup=[200])
    runs += grid(seed=three, norm=["after"], layers=[2, 6])
    return [{"kind": "today", **run} for run in runs]


def run_one(run: dict, device: str, end: float) -> dict | None:
    """Measure one run in a process of its own, unless the time is over."""
    global TEXT
    if time.time() > end:
        return None
    if TEXT is None:
        torch.set_num_threads(1)
        TEXT = letters.manual_letters()
    found = measure(TEXT, device, **(USUAL | run))
    return {**run, "held": found["held"], "course": found["course"]}


def write(target: Path, runs: list[dict], device: str) -> None:
    """Write what is there, with what made it, where and when."""
    text = letters.manual_letters()
    unigram, bigram = letters.frequency_losses(text)
    name = torch.cuda.get_device_name() if device.startswith("cuda") else platform.machine()
    lines = [f"  {json.dumps(run)}" for run in runs]
    head = {
        "what": WHAT,
        "code": "attnlib.experiments.transformer.block_parts.measure(text, **run), "
        "by tools/measure_block_parts.py",
        "text": f"manual_letters() of Python {platform.python_version()}, sha256 of the training part "
        + hashlib.sha256(text.spell(text.train).encode()).hexdigest(),
        "device": f"{name}, float32",
        "torch": torch.__version__,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "usual": USUAL,
        "unigram": round(unigram, 4),
        "bigram": round(bigram, 4),
    }
    body = ",\n".join(f" {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items())
    target.write_text("{\n" + body + ',\n "runs": [\n' + ",\n".join(lines) + "\n ]\n}\n", "utf8")


def main() -> None:
    """Measure all runs, or as many as fit into the time given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", type=Path)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--processes", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--skip", type=int, default=0, help="leave out the first so many runs")
    given = parser.parse_args()
    end, runs, done = time.time() + given.seconds, wanted()[given.skip :], []
    with ProcessPoolExecutor(given.processes, get_context("spawn")) as pool:
        waiting = [pool.submit(run_one, run, given.device, end) for run in runs]
        for future in waiting:
            if (found := future.result()) is not None:
                done.append(found)
                print(len(done), "of", len(runs), json.dumps(found), flush=True)
    write(given.target, done, given.device)


if __name__ == "__main__":
    main()
