"""A block with its norms elsewhere, or without one of its parts: what does each of them do?

Models of letters that are alike but for their blocks learn from Python's manual. Chapter 9 of the book
compares them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor, nn

from attnlib._check import require_whole
from attnlib.blocks import TransformerBlock
from attnlib.experiments.letters import Letters
from attnlib.experiments.runs import Run, load
from attnlib.experiments.training import cross_entropy, small_products, track
from attnlib.instruments.counters import count_parameters
from attnlib.instruments.settings import Values, note
from attnlib.model import Decoder
from attnlib.positions import rotary

NORMS = "before", "after", "none"
PARTS = "attention", "network", "residual"
KINDS = {  # of blocks: what the decoder is made with, and what a setting says of it
    "plain": ({}, "layer norms, GELU, biases, learned positions, untied"),
    "today": (
        {
            "norm": "rms",
            "gated": True,
            "activation": nn.functional.silu,
            "bias": False,
            "hidden_dim": 172,
            "rotary": rotary,
            "tied": True,
        },
        "RMS norms, SwiGLU, no biases, rotary positions, tied",
    ),
}
LENGTH = 32
WIDTH = 64
HEADS = 4
LETTERS = 67  # different signs in the text of the stored runs
USUAL = {
    "layers": 12,
    "norm": "before",
    "without": None,
    "lr": 1e-3,
    "warmup": 0,
    "steps": 800,
    "kind": "plain",
}


OF_THE_MODEL = "rotary", "tied"  # not of a block


class PartialBlock(TransformerBlock):
    """A Transformer's block whose norms can stand elsewhere, and from which parts can be taken.

    Args:
        embed_dim: Model width C.
        num_heads: Heads H.
        norm: Each half is normalised ``"before"`` it (as `TransformerBlock` does), ``"after"`` it was added
            (as in 2017), or not at all: ``"none"``.
        without: What to take out: ``"attention"``, ``"network"``, or the ``"residual"``, so that a
            half's update replaces what it was computed from; several as a tuple; None for nothing.
        kind: ``"plain"``, as in 2018, or ``"today"``, one of `KINDS`.

    Raises:
        ValueError: If there is no such norm or part.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        *,
        norm: str = "before",
        without: str | tuple[str, ...] | None = None,
        kind: str = "plain",
    ) -> None:
        made = {name: given for name, given in _made(kind).items() if name not in OF_THE_MODEL}
        super().__init__(embed_dim, num_heads, **made)
        if norm not in NORMS:
            raise ValueError(f"norm must be one of {', '.join(NORMS)}, got {norm!r}")
        parts = (without,) if isinstance(without, str) else without or ()
        if not set(parts) <= set(PARTS):
            raise ValueError(f"without must be None or of {', '.join(PARTS)}, got {without!r}")
        self.norm, self.without = norm, parts

    def forward(self, x: Tensor, **options) -> Tensor:
        """Run the block as `TransformerBlock.forward` does, with the same options."""
        if "attention" not in self.without:
            x = self._half(x, self.attention_norm, lambda h: self.attention(h, **options))
        if "network" not in self.without:
            x = self._half(x, self.network_norm, self._network)
        return x  # (B, T, C)

    def _half(self, x: Tensor, norm: nn.Module, part: Callable[[Tensor], Tensor]) -> Tensor:
        found = part(norm(x) if self.norm == "before" else x)
        x = found if "residual" in self.without else x + found
        return norm(x) if self.norm == "after" else x


def partial_model(
    text: Letters,
    layers: int,
    *,
    norm: str = "before",
    without: str | tuple[str, ...] | None = None,
    seed: int = 0,
    kind: str = "plain",
) -> Decoder:
    """Make a model of letters from such blocks, 64 wide with 4 heads, that reads 32 letters.

    Only with norms before the halves is there a last one behind all blocks.

    Args:
        text: What `letters.manual_letters` gives.
        layers: Blocks.
        norm: As in `PartialBlock`.
        without: As in `PartialBlock`.
        seed: Of the first weights: models of as many blocks start from the same.
        kind: As in `PartialBlock`.

    Returns:
        The model, in training mode.
    """
    require_whole("layers", layers, 1)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Decoder(len(text.letters), LENGTH, WIDTH, HEADS, layers, **_made(kind))
        model.blocks = nn.ModuleList(
            PartialBlock(WIDTH, HEADS, norm=norm, without=without, kind=kind) for _ in range(layers)
        )
    if norm != "before":
        model.norm = nn.Identity()
    model.facts = facts(layers, norm, without, letters=len(text.letters), kind=kind)
    return model


def _made(kind: str) -> dict:
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    return KINDS[kind][0]


def facts(
    layers: int,
    norm: str,
    without: str | tuple[str, ...] | None,
    *,
    letters: int = LETTERS,
    kind: str = "plain",
) -> dict:
    """Return what there is to say of a model of such blocks, with the number of weights that it uses.

    Args:
        layers: Blocks.
        norm: As in `PartialBlock`.
        without: As in `PartialBlock`.
        letters: How many different letters it reads.
        kind: As in `PartialBlock`.
    """
    parts = (without,) if isinstance(without, str) else tuple(without or ())
    return {
        "model": f"model of letters ({KINDS[kind][1]})",
        "layers": layers,
        "width": WIDTH,
        "heads": HEADS,
        "hidden": None if "network" in parts else KINDS[kind][0].get("hidden_dim", 4 * WIDTH),
        "norm": norm,
        "without": ", ".join(parts) or None,
        "weights": _weights(layers, norm, parts, letters, kind),
    }


@cache
def _weights(layers: int, norm: str, without: tuple[str, ...], letters: int, kind: str) -> int:
    with torch.random.fork_rng(devices=[]), torch.device("meta"):  # shapes alone
        whole = Decoder(letters, LENGTH, WIDTH, HEADS, 1, **_made(kind))
    (block,) = whole.blocks
    norm_size = count_parameters(block.attention_norm)
    attention = count_parameters(block.attention)
    parts = {"attention": attention, "network": count_parameters(block) - attention - 2 * norm_size}
    each = norm_size if norm != "none" else 0  # every part has a norm of its own
    used = sum(size + each for part, size in parts.items() if part not in without)
    outside = count_parameters(whole) - count_parameters(block)
    return layers * used + outside - (count_parameters(whole.norm) if norm != "before" else 0)


def train_parts(
    model: Decoder,
    text: Letters,
    *,
    steps: int,
    lr: float = 1e-3,
    warmup: int = 0,
    batch: int = 32,
    seed: int = 0,
) -> list[float]:
    """Train a model with Adam, in place; the rate climbs from zero over the first steps, then stays.

    Args:
        model: From `partial_model`.
        text: The same.
        steps: How many batches.
        lr: The rate that stays.
        warmup: Over how many steps the rate climbs; 0 begins with the whole rate.
        batch: Lines in a batch.
        seed: Of the batches.

    Returns:
        The loss of each step, with the ``setting`` that the model has from now on.
    """
    require_whole("warmup", warmup, 0)
    learned = list(model.parameters())
    device, length = learned[0].device, model.max_length
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(learned, lr=lr, fused=device.type in ("cpu", "cuda"))
    climb = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / (warmup + 1)))
    losses = []
    with small_products():
        for _ in track(range(steps), "blocks"):
            start = torch.randint(len(text.train) - length, (batch, 1), generator=generator)
            lines = text.train[start + torch.arange(length + 1)].to(device)  # (B, T + 1)
            loss = cross_entropy(model(lines[:, :-1]), lines[:, 1:])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            climb.step()
            losses.append(loss.detach())
    setting = note(
        model,
        optimizer="Adam",
        rate=lr,
        warmup=warmup or None,
        batch=batch,
        steps=steps,
        seeds=(seed,),
    )
    return Values(torch.stack(losses).tolist() if losses else [], setting)


@torch.no_grad()
def held_out_loss(model: Decoder, text: Letters) -> float:
    """Return the loss per letter on the lines that were kept aside."""
    lines = text.lines(model.max_length + 1).to(next(model.parameters()).device)
    return cross_entropy(model(lines[:, :-1]), lines[:, 1:]).item()


@torch.no_grad()
def differences(
    model: Decoder, lines: Tensor, through: Callable[[nn.Module, Tensor], Tensor] | None = None
) -> list[float]:
    """Measure how different the letters of a line still are after each block: 1 minus the cosine of two.

    Args:
        model: From `partial_model`.
        lines: Letters ``(B, T)``, on its device.
        through: What comes behind a block, ``through(block, x)``; what the block gives under a causal mask
            if not given.

    Returns:
        The mean over all pairs of different positions, before the first block and after each.
    """
    T = lines.shape[1]
    x = model.token_embedding(lines)  # (B, T, C)
    if model.position_embedding is not None:
        x = x + model.position_embedding.weight[:T]
    found = []
    for block in [None, *model.blocks]:
        if block is not None:
            x = block(x, causal=True, rotary=model.rotary) if through is None else through(block, x)
        unit = nn.functional.normalize(x.double(), dim=-1)
        cosines = unit @ unit.mT  # (B, T, T)
        found.append(1 - (cosines.sum((1, 2)).mean().item() - T) / (T * (T - 1)))
    return found


def measure(text: Letters, device: torch.device | str = "cpu", **run) -> dict:
    """Make a model, train it, and note its loss on the way and at the end.

    Args:
        text: What `letters.manual_letters` gives.
        device: Where to train.
        **run: ``layers`` and what else `partial_model` takes; ``steps``, ``lr`` and ``warmup`` as in
            `train_parts`; ``seed`` for both.

    Returns:
        The run, with ``held``, the loss on held-out lines, and ``course``, the mean loss of every twentieth
        of the steps.
    """
    made = {name: run[name] for name in ("layers", "norm", "without", "seed", "kind") if name in run}
    trained = {name: run[name] for name in ("steps", "lr", "warmup", "seed") if name in run}
    model = partial_model(text, **made).to(device)
    losses = torch.tensor(train_parts(model, text, **trained))
    course = losses[: len(losses) // 20 * 20].view(20, -1).mean(1)
    rounded = [round(loss, 3) for loss in course.tolist()]
    return {**run, "held": round(held_out_loss(model, text), 4), "course": rounded}


def stored() -> dict:
    """Return the losses of trained models, and how they were measured: ``runs`` of all kinds of blocks."""
    return load(
        "block-parts",
        results=("held", "course"),
        facts=lambda run: {
            **facts(run["layers"], run["norm"], run["without"], kind=run.get("kind", "plain")),
            "kind": None,  # the model's name says it
            "warmup": run["warmup"] or None,
        },
        optimizer="Adam",
        batch=32,
    )


def stored_runs(**asked) -> list[Run]:
    """Return the stored runs of all seeds that were made so.

    Args:
        **asked: As in `measure`. What is not named is as usual: 12 layers, norms before, nothing taken out,
            a rate of 0.001 without warm-up, 800 steps, plain blocks.

    Returns:
        The runs, in order of their seeds, each with its setting.

    Raises:
        ValueError: If there is no such run.
    """
    asked = USUAL | asked
    runs = [run for run in stored()["runs"] if asked.items() <= (USUAL | run).items()]
    if not runs:
        raise ValueError(f"no run is stored with {asked}; attnlib/data/block-parts.json has those that are")
    return sorted(runs, key=lambda run: run["seed"])
