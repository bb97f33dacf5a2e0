"""Train the model of *Putting it together* and store it: ``two-layers.npz`` and ``two-layers.json``.

    python -m tools.train_two_layers attnlib/data

It takes half a minute on one core. Stored are the weights in float16, and what `snapshot` tells of every
second step.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
from pathlib import Path

import numpy as np
import torch

from attnlib.experiments.glove import WordVectors
from attnlib.experiments.putting_it_together import two_layers

EVERY = 2


def write(folder: Path, steps: int = two_layers.STEPS) -> None:
    """Train the model and write both files into a folder."""
    glove = WordVectors.glove()
    lesson, snapshots = two_layers.Lesson(glove), {}

    def watch(step: int, model: two_layers.TwoLayers) -> None:
        if step % EVERY == 0:
            snapshots[step] = two_layers.snapshot(model, lesson, glove)

    model = two_layers.train_two_layers(lesson, steps, watch=watch)
    weights = {name: w.detach().numpy().astype(np.float16) for name, w in model.named_parameters()}
    np.savez(folder / "two-layers.npz", **weights)
    head = {
        "what": "the model m of Putting it together; by step: the loss on 600 lines of the training, "
        "and for each line the attention weights of its last word in both layers, and the probabilities of "
        "both names among the 66 words of the training; all in thousandths",
        "code": "tools/train_two_layers.py",
        "training": {"sentences": 1500, "optimizer": "Adam", "lr": 0.005, "batch": 64, "steps": steps}
        | {"seed": two_layers.SEED},
        "machine": f"one core, {platform.machine()}, float32",
        "torch": torch.__version__.split("+")[0],
        "date": datetime.date.today().isoformat(),
        "lines": two_layers.WATCHED,
        "names": two_layers.NAMES,
        "used": lesson.used,
    }
    lines = ",\n".join(f'  "{step}": {json.dumps(s, separators=(",", ":"))}' for step, s in snapshots.items())
    body = json.dumps(head, indent=1)[:-2]
    (folder / "two-layers.json").write_text(f'{body},\n "snapshots": {{\n{lines}\n }}\n}}\n', "utf8")


def main() -> None:
    """Train and store."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    torch.set_num_threads(1)
    write(parser.parse_args().folder)


if __name__ == "__main__":
    main()
