"""One small model with six positional encodings: which of them work beyond the length of training?

The model is the same but for its encoding, and is trained on texts of at most 64 tokens. Chapter 8 of the
book tests it on longer ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial

import torch
from torch import Tensor, nn

from attnlib._check import require_whole
from attnlib.blocks import TransformerBlock
from attnlib.experiments.runs import load
from attnlib.experiments.tasks.order import copies, own_position, tokens_back
from attnlib.experiments.training import fit
from attnlib.instruments.counters import count_parameters
from attnlib.instruments.settings import Values
from attnlib.model import in_mode
from attnlib.positions import alibi_bias, rotary, rotate, sinusoidal

KINDS = ("none", "learned", "sinusoidal", "relative", "alibi", "rotary")
LENGTH = 64  # of the longest text in training
ASKED = (64, 80, 96, 128, 192, 256, 384, 512)  # lengths of the texts afterwards
LONGEST = max(ASKED)
NEAR = 16  # distances that have a number of their own; those beyond share
BUCKETS = 32


def distance_buckets(T: int, *, device: torch.device | str | None = None) -> Tensor:
    """Return which of the 32 numbers of a relative bias each pair of positions takes.

    Distances below 16 have one each; from there to 64 they share, more and more of them; all beyond 64 take
    the last. That is how T5 does it, with 64 for its 128.

    Args:
        T: Number of positions.
        device: Where to put them.

    Returns:
        ``(T, T)``, queries down, keys across; keys ahead of their query count as distance 0.
    """
    position = torch.arange(T, device=device)
    distance = (position[:, None] - position).clamp_min(0)  # (T, T)
    share = (distance.clamp_min(1) / NEAR).log() / torch.tensor(LENGTH / NEAR).log()
    far = NEAR + (share * (BUCKETS - NEAR)).long().clamp_max(BUCKETS - NEAR - 1)
    return torch.where(distance < NEAR, distance, far)


class OrderedModel(nn.Module):
    """Answer at every position of a text, with one of several positional encodings.

    Args:
        kind: ``"none"``; a table of vectors that is ``"learned"`` or ``"sinusoidal"`` and added to the
            tokens; a ``"relative"`` or an ``"alibi"`` bias on the scores; or ``"rotary"`` queries and keys.
        tokens: How many different tokens there are.
        answers: How many different answers; as many as tokens if not given.
        width: Model width C.
        heads: Heads of each block.
        layers: Blocks.

    Raises:
        TypeError: If a size is not an int.
        ValueError: If there is no such kind, or a size is below 1.
    """

    def __init__(
        self,
        kind: str,
        tokens: int,
        answers: int | None = None,
        *,
        width: int = 64,
        heads: int = 4,
        layers: int = 2,
    ) -> None:
        super().__init__()
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
        for name, size in (("tokens", tokens), ("width", width), ("heads", heads), ("layers", layers)):
            require_whole(name, size, 1)
        self.kind, self.heads = kind, heads
        self.facts = {
            "model": "causal model (layer norms before each part)",
            "layers": layers,
            "width": width,
            "heads": heads,
            "positions": "no" if kind == "none" else kind,
        }
        self.token = nn.Embedding(tokens, width)
        self.blocks = nn.ModuleList(TransformerBlock(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.answer = nn.Linear(width, tokens if answers is None else answers)
        self.turn: Callable[[Tensor, Tensor], Tensor] | None = rotary if kind == "rotary" else None
        if kind == "learned":
            self.place = nn.Embedding(LONGEST, width)
        if kind == "relative":
            self.by_distance = nn.Parameter(torch.zeros(heads, BUCKETS))

    def forward(self, text: Tensor, *, causal: bool = True) -> Tensor:
        """Return a number for each answer ``(B, T, answers)``, of texts ``(B, T)``."""
        T = text.shape[1]
        x = self.token(text)  # (B, T, C)
        if self.kind == "learned":
            x = x + self.place.weight[:T]
        if self.kind == "sinusoidal":
            x = x + sinusoidal(T, x.shape[-1], device=x.device)
        bias = self._bias(T, x.device)
        for block in self.blocks:
            x = block(x, causal=causal, bias=bias, rotary=self.turn)
        return self.answer(self.norm(x))

    def _bias(self, T: int, device: torch.device) -> Tensor | None:
        if self.kind == "alibi":
            return alibi_bias(self.heads, T, device=device)  # (H, T, T)
        if self.kind == "relative":
            return self.by_distance[:, distance_buckets(T, device=device)]
        return None


def interpolated(heads: Tensor, positions: Tensor, *, factor: float) -> Tensor:
    """Turn queries and keys as `rotary` does, with all positions pressed together by a factor."""
    D = heads.shape[-1]
    frequencies = 10000.0 ** (-torch.arange(0, D, 2, device=heads.device) / D)
    angles = positions[:, None] / factor * frequencies  # (T, D / 2)
    return rotate(heads, angles.cos(), angles.sin())


def stretched_base(factor: float, D: int, *, base: float = 10000.0) -> float:
    """Return the base with which the slowest hand turns slower by a factor, and the fastest as before.

    Args:
        factor: How many times slower.
        D: Width of a head, at least 4: with one hand alone, the slowest is the fastest.
        base: What the base was.

    Returns:
        The larger base.

    Raises:
        TypeError: If the width is not an int.
        ValueError: If it is below 4.
    """
    require_whole("D", D, 4)
    return base * factor ** (D / (D - 2))


def stretch(model: OrderedModel, factor: float, *, by: str) -> None:
    """Slow the clock of a rotary model, in place, so that texts longer by a factor look as long as before.

    Args:
        model: Of the kind ``"rotary"``.
        factor: How many times longer the texts are; 1 undoes it.
        by: ``"base"``, which slows the slow hands alone, or ``"positions"``, which slows all.

    Raises:
        ValueError: If the model is of another kind, or there is no such way.
    """
    if model.kind != "rotary":
        raise ValueError(f"model must be rotary to be stretched, got {model.kind!r}")
    if by not in ("base", "positions"):
        raise ValueError(f"by must be 'base' or 'positions', got {by!r}")
    D = model.blocks[0].attention.head_dim
    if by == "base":
        model.turn = partial(rotary, base=stretched_base(factor, D))
    else:
        model.turn = partial(interpolated, factor=factor)


def make_batch(task: str, length: int, *, batch: int, distance: int = 8) -> Callable:
    """Return a function that draws texts of a task: of this length, or for copies of any length up to it."""
    if task == "back":
        return lambda generator: tokens_back(batch, length, distance=distance, generator=generator)
    if task == "where":
        return lambda generator: own_position(batch, length, generator=generator)

    def some_length(generator: torch.Generator) -> tuple[Tensor, Tensor]:
        half = int(torch.randint(length // 8, length // 2 + 1, (1,), generator=generator))
        return copies(batch, 2 * half, generator=generator)

    return some_length


SIZES = {"back": (16, 16), "copy": (257, 257), "where": (17, LENGTH)}  # tokens and answers


def train_model(
    kind: str,
    task: str,
    *,
    steps: int,
    seed: int = 0,
    lr: float = 1e-3,
    layers: int = 2,
    width: int = 64,
    distance: int = 8,
    batch: int = 64,
    device: torch.device | str = "cpu",
) -> OrderedModel:
    """Train a model on texts of at most 64 tokens.

    Args:
        kind: As in `OrderedModel`.
        task: ``"back"``: the token some positions back, in texts of 64; ``"copy"``: copy tokens, in texts
            of 16 to 64; ``"where"``: the own position.
        steps: How many batches.
        seed: Of the start, and of the batches.
        lr: Learning rate of Adam.
        layers: Blocks.
        width: Model width.
        distance: How far back the answer stands, for ``"back"``.
        batch: Texts in a batch.
        device: Where to train.

    Returns:
        The trained model.

    Raises:
        ValueError: If there is no such kind or task.
    """
    if task not in SIZES:
        raise ValueError(f"task must be one of {', '.join(SIZES)}, got {task!r}")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)  # drawn on the CPU: the same start on every device
        model = OrderedModel(kind, *SIZES[task], layers=layers, width=width).to(device)
    draw = make_batch(task, LENGTH, batch=batch, distance=distance)
    fit(model, draw, steps=steps, lr=lr, seed=seed, label=f"{kind}, {task}")
    model.setting |= _task(task, distance)
    return model


@torch.no_grad()
def right_at(
    model: OrderedModel,
    task: str,
    lengths: Sequence[int] = ASKED,
    *,
    distance: int = 8,
    count: int = 256,
    seed: int = 999,
) -> list[float]:
    """Measure the share of right answers in texts of several lengths.

    Args:
        model: A trained model.
        task: ``"back"``, which counts the last 16 positions of each text, or ``"copy"``, which counts all
            copied tokens.
        lengths: Of the texts.
        distance: How far back the answer stands, for ``"back"``.
        count: How many texts of each length.
        seed: Of the texts.

    Returns:
        A share for each length.
    """
    device, shares = model.token.weight.device, []
    for length in lengths:
        generator = torch.Generator().manual_seed(seed)
        if task == "back":
            text, answers = tokens_back(count, length, distance=distance, generator=generator)
            answers[:, :-16] = -100
        else:
            text, answers = copies(count, length, generator=generator)
        with in_mode(model, training=False):
            said = torch.cat([model(part.to(device)).argmax(-1).cpu() for part in text.split(64)])
        shares.append((said == answers)[answers >= 0].float().mean().item())
    return shares


def stored() -> dict:
    """Return what trained models got right, and how it was measured: ``runs`` of all kinds and tasks."""
    return load(
        "positions",
        results=("right", "stretched", "trained on", "kind", "distance"),
        facts=lambda run: {
            **OrderedModel(run["kind"], 1).facts,
            "layers": run["layers"],
            "width": run["width"],
            "weights": _weights(run["kind"], run["task"], run["layers"], run["width"]),
            **_task(run["task"], run["distance"]),
        },
        optimizer="Adam",
        clip=1.0,
        batch=64,
    )


def _task(task: str, distance: int) -> dict:
    """Return how a setting says what a model is trained for."""
    said = {"back": f"the token {distance} positions back", "copy": "copying", "where": "its own position"}
    return {"task": said[task] + f", texts of at most {LENGTH} tokens"}


@cache
def _weights(kind: str, task: str, layers: int, width: int) -> int:
    with torch.random.fork_rng(devices=[]), torch.device("meta"):  # shapes alone
        return count_parameters(OrderedModel(kind, *SIZES[task], layers=layers, width=width))


def stored_runs(kind: str, task: str, **settings) -> list[list[float]]:
    """Return the stored shares of right answers of every seed, over `ASKED`.

    Args:
        kind: As in `OrderedModel`.
        task: ``"back"`` or ``"copy"``.
        settings: What else a run has to have, as ``steps=8000``; what is not said is as in most runs.

    Returns:
        A list for each seed.

    Raises:
        ValueError: If there is no such run.
    """
    data = stored()
    asked = {**data["usual"], **settings, "kind": kind, "task": task}
    runs = [
        Values(run["right"], run.setting)
        for run in data["runs"]
        if all(run[name] == asked[name] for name in asked)
    ]
    if not runs:
        raise ValueError(f"no run is stored with {asked}; attnlib/data/positions.json has those that are")
    return runs


def stored_stretched(task: str, by: str, *, trained_on: bool = False) -> list[list[float]]:
    """Return what rotary models got right with a slower clock, for every seed, over `ASKED`.

    Args:
        task: ``"back"`` or ``"copy"``.
        by: ``"base"`` or ``"positions"``; with ``trained_on`` also ``"nothing"``, the clock as it was.
        trained_on: Whether after a little training on texts of 256, with a clock four times slower; else
            without any, with a clock slowed to fit each length.

    Returns:
        A list for each seed.

    Raises:
        ValueError: If nothing of the kind is stored.
    """
    part = "trained on" if trained_on else "stretched"
    runs = [run for run in stored()["runs"] if part in run and run["task"] == task]
    if not runs or by not in runs[0][part]:
        raise ValueError(f"no run of task {task!r} is stored that is {part} by {by!r}")
    how = "as it was" if by == "nothing" else f"slowed by its {by}"
    how += ", then 200 steps on texts of 256 tokens" if trained_on else ", no further training"
    return [Values(run[part][by], run.setting | {"clock": how}) for run in runs]
