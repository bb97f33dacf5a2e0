"""Train the language model of chapter 9 on the manuals, and store it with how it was made.

    python -m tools.train_writer runs/first --steps 15000 --dropout 0.05   # on a GPU if there is one
    python -m tools.train_writer runs/first --store                        # into the package

A run that was stopped goes on from its last checkpoint when the same command is given again, and comes to
the same weights. In its folder come to lie ``checkpoint.pt``, ``writer.npz`` (weights in float16, and the
merges of the tokens) and ``writer.json``.
"""

import argparse
import json
import math
import os
import platform
import shutil
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from attnlib.device import pick_device
from attnlib.experiments.bytepairs import BytePairs, learn_merges
from attnlib.experiments.manuals import Manuals, as_one_text, read_manuals
from attnlib.experiments.ngrams import NGrams
from attnlib.experiments.training import cross_entropy, track
from attnlib.experiments.writer import SIZES, bits_a_character, make_writer, next_token_losses
from attnlib.model import Decoder

DATA = Path(__file__).parents[1] / "attnlib/data"
LICENCES = {
    "Python's manual and standard library": "PSF-2.0",
    "NumPy": "BSD-3-Clause",
    "Matplotlib": "Matplotlib's licence, based on PSF-2.0",
    "PyTorch": "BSD-3-Clause",
}


class Text:
    """The manuals as tokens.

    Args:
        manuals: What to read and what to hold out.
        vocab_size: How many tokens there are to be; the pairs are learned from what is read.
        folder: Where the merges are kept, so that a run that goes on need not learn them again.
    """

    def __init__(self, manuals: Manuals, vocab_size: int, folder: Path) -> None:
        self.manuals = manuals
        kept = folder / "merges.json"
        if not kept.exists():
            write_whole(kept, json.dumps(learn_merges(as_one_text(manuals.train), vocab_size - 256)).encode())
        self.pairs = BytePairs(json.loads(kept.read_text("utf8")))
        self.train = torch.tensor(self.pairs.encode(as_one_text(manuals.train)))
        self.held = torch.tensor(self.pairs.encode(as_one_text(manuals.held)))

    def facts(self) -> dict:
        """Return what is worth knowing of the text, for the file that tells how the model was made."""
        return {
            "file": "attnlib/data/manuals.txt.xz",
            "sha256": self.manuals.sha256,
            "licences": LICENCES,
            "documents": len(self.manuals.train),
            "characters": len(as_one_text(self.manuals.train)),
            "tokens": len(self.train),
        }

    def held_out(self, loss: float) -> dict:
        """Return a loss on the held-out text in both units, with what it was measured on."""
        predicted, characters = len(self.held) - 1, len(as_one_text(self.manuals.held)) - 1
        return {
            "nats_a_token": round(loss, 5),
            "bits_a_character": round(bits_a_character(loss, predicted, characters), 5),
            "documents": len(self.manuals.held),
            "characters": characters,
            "tokens": predicted,
        }


def main(arguments: list[str] | None = None) -> int:
    """Train, or store what was trained."""
    options = parser().parse_args(arguments)
    folder = options.folder
    if options.store:
        for name in ("writer.npz", "writer.json"):
            shutil.copyfile(folder / name, DATA / name)
        print(f"stored {folder} in {DATA}")
        return 0
    folder.mkdir(parents=True, exist_ok=True)
    device = pick_device()
    settings = {
        name: value for name, value in vars(options).items() if name not in ("folder", "store", "orders")
    }
    sizes = SIZES | {name: settings.pop(name) for name in SIZES if name in settings}
    text = Text(read_manuals(), sizes["vocab_size"], folder)
    model, history = train(text, sizes, settings, folder, device)
    store(folder, text, model, sizes, settings, history, device, options.orders)
    return 0


def parser() -> argparse.ArgumentParser:
    """Return what reads the command line."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("folder", type=Path, help="where checkpoints and results go")
    made.add_argument("--store", action="store_true", help="copy what was trained there into the package")
    made.add_argument("--steps", type=int, default=15_000)
    made.add_argument("--batch", type=int, default=128, help="windows a step")
    made.add_argument("--lr", type=float, default=3e-3, help="the highest learning rate")
    made.add_argument("--warmup", type=int, default=300, help="steps over which it rises")
    made.add_argument("--dropout", type=float, default=0.05)
    made.add_argument("--weight-decay", type=float, default=0.1)
    made.add_argument("--optimizer", choices=("adamw", "muon"), default="adamw", help="muon: of matrices")
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--every", type=int, default=1000, help="steps from one checkpoint to the next")
    made.add_argument("--orders", type=int, default=5, help="longest runs of tokens to count")
    for name, size in SIZES.items():
        made.add_argument("--" + name.replace("_", "-"), type=int, default=size)
    return made


def train(
    text: Text, sizes: dict[str, int], settings: dict, folder: Path, device: torch.device
) -> tuple[Decoder, list[dict]]:
    """Train a model from its start or its last checkpoint; return it and its losses on the way."""
    torch.manual_seed(settings["seed"])
    model = make_writer(sizes, dropout=settings["dropout"]).to(device)
    optimizers = make_optimizers(model, settings)
    kept, first, history = folder / "checkpoint.pt", 0, []
    if kept.exists():
        checkpoint = torch.load(kept, map_location=device)
        if checkpoint["settings"] != settings | sizes:
            raise SystemExit(
                f"{kept} must be of a run with the same settings to go on, got {checkpoint['settings']} "
                f"and {settings | sizes}; give another folder, or delete it"
            )
        model.load_state_dict(checkpoint["model"])
        for optimizer, state in zip(optimizers, checkpoint["optimizers"], strict=True):
            optimizer.load_state_dict(state)
        first, history = checkpoint["step"], checkpoint["history"]
    tokens, losses = text.train.to(device), []
    for step in track(range(first, settings["steps"]), f"step {first} to {settings['steps']}"):
        losses.append(take_step(model, optimizers, tokens, step, settings))
        done = step + 1
        if done % settings["every"] == 0 or done == settings["steps"]:
            held = next_token_losses(model, text.held, batch=64).mean().item()
            history.append(
                {"step": done, "train": round(torch.stack(losses).mean().item(), 4), "held": round(held, 4)}
            )
            print(f"{folder.name}: {history[-1]}", flush=True)
            losses = []
            save_checkpoint(kept, model, optimizers, settings | sizes, done, history)
    return model, history


def make_optimizers(model: nn.Module, settings: dict) -> list[torch.optim.Optimizer]:
    """Return AdamW for all weights, or Muon for the matrices of the blocks and AdamW for the rest.

    Norms are not pulled towards zero.
    """
    lr, decay = settings["lr"], settings["weight_decay"]
    matrices = [p for p in model.blocks.parameters() if p.ndim == 2]
    embedding, norms = [model.token_embedding.weight], [p for p in model.parameters() if p.ndim == 1]
    made = []
    if settings["optimizer"] == "muon":
        made.append(torch.optim.Muon(matrices, lr=lr, weight_decay=decay, adjust_lr_fn="match_rms_adamw"))
        matrices = []
    groups = [
        {"params": matrices + embedding, "weight_decay": decay},
        {"params": norms, "weight_decay": 0.0},
    ]
    made.append(torch.optim.AdamW(groups, lr=lr, betas=(0.9, 0.95), fused=True))
    return made


def take_step(
    model: Decoder, optimizers: list[torch.optim.Optimizer], tokens: Tensor, step: int, settings: dict
) -> Tensor:
    """Take one step on random windows and return its loss.

    Each step has random numbers of its own, so that a run that goes on draws what it would have drawn.
    """
    seed = settings["seed"] * 1_000_003 + step
    generator = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)  # of dropout
    length = model.max_length
    starts = torch.randint(len(tokens) - length, (settings["batch"], 1), generator=generator)
    places = (starts + torch.arange(length + 1)).to(tokens.device)  # (B, L + 1)
    windows = tokens[places]
    for optimizer in optimizers:
        optimizer.zero_grad()
        for group in optimizer.param_groups:
            group["lr"] = rate(step, settings)
    on_gpu = tokens.device.type == "cuda"
    with torch.autocast("cuda", torch.bfloat16) if on_gpu else nullcontext():
        logits = model(windows[:, :-1])  # (B, L, V)
    loss = cross_entropy(logits.float(), windows[:, 1:])
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    for optimizer in optimizers:
        optimizer.step()
    return loss.detach()


def rate(step: int, settings: dict) -> float:
    """Return the learning rate of a step: a rise in a line, then half a cosine down to nothing."""
    warmup, steps = settings["warmup"], settings["steps"]
    if step < warmup:
        return settings["lr"] * (step + 1) / warmup
    return settings["lr"] * 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(1, steps - warmup)))


def save_checkpoint(
    path: Path,
    model: nn.Module,
    optimizers: list[torch.optim.Optimizer],
    settings: dict,
    step: int,
    history: list[dict],
) -> None:
    """Write all that a run needs to go on."""
    state = {
        "model": model.state_dict(),
        "optimizers": [optimizer.state_dict() for optimizer in optimizers],
        "settings": settings,
        "step": step,
        "history": history,
    }
    replace(path, lambda new: torch.save(state, new))


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is there whole or not at all."""
    replace(path, lambda new: new.write_bytes(content))


def replace(path: Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` make a file beside ``path``, and put it in its place when it is done."""
    new = path.with_name(f"{path.name}.new")
    write(new)
    os.replace(new, path)


def store(
    folder: Path,
    text: Text,
    model: Decoder,
    sizes: dict[str, int],
    settings: dict,
    history: list[dict],
    device: torch.device,
    orders: int,
) -> None:
    """Write the weights in float16 and measure these, not those that were trained."""
    stored = {name: w.cpu().numpy().astype(np.float16) for name, w in model.state_dict().items()}
    model.load_state_dict({name: torch.from_numpy(w.astype(np.float32)) for name, w in stored.items()})
    held = next_token_losses(model, text.held, batch=64).double().mean().item()
    merges = np.array(text.pairs.merges, np.int16)
    with (folder / "writer.npz").open("wb") as file:
        np.savez(file, **stored, merges=merges)
    counted, kept = text.train.numpy(), text.held.numpy()
    rivals = {n: NGrams(counted, n, sizes["vocab_size"]).loss(kept) for n in range(1, orders + 1)}
    made = {
        "what": "the language model of chapter 9, in writer.npz: weights and merges; tools/train_writer.py",
        "model": sizes
        | {"parameters": sum(w.size for w in stored.values()), "eps": model.norm.eps, "rotary_base": 10000.0},
        "text": text.facts(),
        "training": settings | {"precision": "bfloat16" if device.type == "cuda" else "float32"},
        "history": history,
        "held_out": text.held_out(held),
        "ngrams": {str(n): round(loss, 5) for n, loss in rivals.items()},
        "machine": torch.cuda.get_device_name() if device.type == "cuda" else platform.machine(),
        "torch": torch.__version__.partition("+")[0],
        "python": platform.python_version(),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
    }
    write_whole(folder / "writer.json", (json.dumps(made, indent=1) + "\n").encode())
    print(f"{folder}: held-out {made['held_out']}, counting {made['ngrams']}")


if __name__ == "__main__":
    began = time.time()
    code = main()
    print(f"{time.time() - began:.0f} s")
    sys.exit(code)
