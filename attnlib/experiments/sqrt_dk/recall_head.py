"""One head that recalls: pairs of a letter and a digit, then a letter. Chapter 4 scales its scores."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attnlib.experiments.runs import load
from attnlib.experiments.tasks import recall
from attnlib.experiments.training import fit
from attnlib.instruments.counters import count_parameters
from attnlib.instruments.settings import Setting, Values
from attnlib.multihead import MultiHeadAttention

LETTERS = 16  # to choose the keys from
DIGITS = 8  # to choose the values from
PAIRS = 8  # of a question


class RecallModel(nn.Module):
    """Name the digit of a letter: one head of attention, whose query attends to all pairs.

    At the start queries and keys have numbers of about unit variance, so that the scale alone decides how far
    apart the scores lie.

    Args:
        width: Of queries, keys and values.
        scale: Factor on the scores, ``1 / sqrt(width)`` if not given.
        letters: How many letters there are.
    """

    def __init__(self, width: int = 128, *, scale: float | None = None, letters: int = LETTERS) -> None:
        super().__init__()
        self.letter = nn.Embedding(letters, width)
        self.digit = nn.Embedding(DIGITS + 1, width)  # the last one is the question mark
        self.attend = MultiHeadAttention(width, 1, scale=scale)
        self.answer = nn.Linear(width, DIGITS)

    @property
    def facts(self) -> dict:
        """What there is to say of the model as it is now."""
        normed = isinstance(self.attend.q_proj, nn.Sequential)
        return model_facts(self.attend.embed_dim, self.attend.scale, self.letter.num_embeddings, normed)

    def embed(self, steps: Tensor) -> Tensor:
        """Return a vector of about unit variance ``(B, S, C)`` for each pair ``(B, S, 2)``."""
        return (self.letter(steps[..., 0]) + self.digit(steps[..., 1])) / 2**0.5

    def forward(self, steps: Tensor) -> Tensor:
        """Return the logits ``(B, 8)`` of the digits for pairs and a question ``(B, S, 2)``."""
        x = self.embed(steps)
        return self.answer(self.attend(x[:, -1:], x)[:, 0])  # the query is the question


def model_facts(width: int, scale: float | None, letters: int = LETTERS, normed: bool = False) -> dict:
    """Return what there is to say of a `RecallModel`.

    Args:
        width: Of queries, keys and values.
        scale: Factor on the scores; None for ``1 / sqrt(width)``.
        letters: How many letters there are.
        normed: Whether queries and keys are normalised.
    """
    scale = width**-0.5 if scale is None else scale
    known = {1.0: "undivided", width**-0.5: "divided by √d", 1 / width: "divided by d"}
    said = (words for factor, words in known.items() if math.isclose(scale, factor, rel_tol=1e-3))
    return {
        "model": f"one head of attention, {'QK-norm' if normed else 'no norm'}",
        "width": width,
        "task": f"recall of {PAIRS} pairs, {letters} letters",
        "scores": next(said, f"times {scale:.3g}"),
    }


def normalise_queries_and_keys(layer: MultiHeadAttention) -> None:
    """Put a norm behind the projections of queries and keys, in place: QK-norm.

    Every query and key is then as long as the root of its width, times a gain for each number, which is
    learned and starts at 1.

    Args:
        layer: With one head.

    Raises:
        ValueError: If it has more heads, each of which would need a norm of its own.
    """
    if layer.num_heads != 1:
        raise ValueError(f"layer must have one head, got {layer.num_heads}")
    layer.q_proj = nn.Sequential(layer.q_proj, nn.RMSNorm(layer.head_dim).to(layer.q_proj.weight))
    layer.k_proj = nn.Sequential(layer.k_proj, nn.RMSNorm(layer.head_dim).to(layer.k_proj.weight))


def questions(count: int, *, pairs: int = PAIRS, letters: int = LETTERS, seed: int = 999) -> Tensor:
    """Return pairs and a question each, ``(count, pairs + 1, 2)``, always the same."""
    generator = torch.Generator().manual_seed(seed)
    return recall(count, pairs, keys=letters, values=DIGITS, generator=generator)[0]


@torch.no_grad()
def weight_on_pair(model: RecallModel, steps: Tensor) -> Tensor:
    """Return the weight that each question gives to the right pair.

    Args:
        model: Trained or not.
        steps: Pairs and a question ``(B, S, 2)``, from `questions`.

    Returns:
        ``(B,)``.
    """
    x = model.embed(steps)
    _, weights = model.attend(x[:, -1:], x, need_weights=True)  # (B, 1, 1, S)
    asked = steps[:, :-1, 0] == steps[:, -1:, 0]  # (B, S - 1), the question itself left out
    return (weights[:, 0, 0, :-1] * asked).sum(-1)


class RecallRun(NamedTuple):
    """What a training left.

    Attributes:
        losses: The loss of each batch.
        seen: What ``watch`` returned, from before the first batch on.
    """

    losses: Values
    seen: list

    @property
    def setting(self) -> Setting:
        """What it was measured on."""
        return self.losses.setting


def train_recall(
    model: RecallModel,
    *,
    steps: int = 120,
    lr: float = 1e-3,
    seed: int = 0,
    optimizer: type[torch.optim.Optimizer] = torch.optim.Adam,
    watch: Callable[[RecallModel], object] | None = None,
    every: int = 5,
) -> RecallRun:
    """Train a model, in place, on batches of 32 questions after eight pairs.

    Args:
        model: What to train.
        steps: How many batches.
        lr: Learning rate.
        seed: Of the batches.
        optimizer: How to take a step. Gradients are not shortened.
        watch: A function of the model, called again and again during the training.
        every: Batches between two calls.

    Returns:
        The losses, and what was seen.
    """
    letters = model.letter.num_embeddings
    done, seen = 0, []

    def batch(generator: torch.Generator) -> tuple[Tensor, Tensor]:
        nonlocal done
        if watch is not None and done % every == 0:
            seen.append(watch(model))
        done += 1
        return recall(32, PAIRS, keys=letters, values=DIGITS, generator=generator)

    losses = fit(model, batch, steps=steps, lr=lr, seed=seed, max_norm=None, optimizer=optimizer)
    return RecallRun(losses, seen)


def batches_needed(losses: list[float], level: float = 0.1, over: int = 10) -> int | None:
    """Return after how many batches the last ``over`` losses were first below a level on average, or None."""
    means = torch.tensor(losses).unfold(0, over, 1).mean(1)
    below = (means < level).nonzero()
    return over + int(below[0]) if len(below) else None


def stored() -> dict:
    """Return what was measured, where and how: batches needed, by rate, size and starting spread."""

    def facts(run: dict) -> dict:
        width, spread, size = run.get("width", 128), run.get("spread", 1), run.get("size", 1)
        normed = run.get("reader") == "QK-norm"
        start = run.get("start", "scaled")
        scale = spread / width**0.5 if start == "scaled" else 1.0
        usual = "at variance 1" if size == 1 else f"{size} times too large"
        starts = {"scaled": usual, "smaller": "smaller", "PyTorch": "as nn.Linear comes"}
        return {
            **model_facts(width, scale, normed=normed),
            "weights": _weights(width, normed),
            "queries and keys start": starts[start],
            **dict.fromkeys(("reader", "size", "start", "spread")),
        }

    same = {"optimizer": "Adam", "batch": 32, "results": ("batches",)}
    return {
        **load("recall-rates", facts=facts, **same),
        "starts": load("recall-rates", part="starts", facts=facts, **same),
        "readers": load("recall-rates", part="readers", facts=facts, **same),
    }


@cache
def _weights(width: int, normed: bool) -> int:
    with torch.random.fork_rng(devices=[]), torch.device("meta"):  # shapes alone
        model = RecallModel(width)
        if normed:
            normalise_queries_and_keys(model.attend)
    return count_parameters(model)
