"""Recall with a memory that grows, and with one that does not: which letters can be told apart?

A model reads pairs of a letter and a digit, then a letter, and has to give its digit. All models are alike
but for what they keep of the pairs: all of them, the last 8, or a state of fixed size. Chapter 7 of the book
compares them.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnlib._check import require_whole
from attnlib.experiments.runs import load
from attnlib.experiments.tasks import recall
from attnlib.experiments.training import cross_entropy, small_products, track
from attnlib.functional import attention, attention_weights
from attnlib.instruments.counters import count_parameters
from attnlib.instruments.settings import Values, note
from attnlib.linear import elu_plus_one, linear_attention

DIGITS = 8
MOST = 16  # pairs
WINDOW = 8  # pairs that a query of the window attends to


def written_anew(
    batch_size: int, writes: int, *, letters: int, generator: torch.Generator | None = None
) -> tuple[Tensor, Tensor]:
    """Make sequences as `recall` does, in which a letter may come again: its last digit counts.

    Args:
        batch_size: Sequences B.
        writes: Pairs before the question, of any letters.
        letters: How many letters there are.
        generator: Of the random numbers.

    Returns:
        Steps ``(B, writes + 1, 2)``, where the digit 8 is the question mark; and answers ``(B,)``.
    """
    letter = torch.randint(letters, (batch_size, writes), generator=generator)
    digit = torch.randint(DIGITS, (batch_size, writes), generator=generator)
    position = torch.randint(writes, (batch_size, 1), generator=generator)
    asked = letter.gather(1, position)  # (B, 1)
    last = (letter == asked).int().mul(torch.arange(1, writes + 1)).argmax(1, keepdim=True)
    question = torch.stack([asked, torch.full_like(asked, DIGITS)], -1)  # (B, 1, 2)
    return torch.cat([torch.stack([letter, digit], -1), question], 1), digit.gather(1, last)[:, 0]


def _draw(
    batch_size: int, pairs: int, letters: int, anew: bool, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    if anew:
        return written_anew(batch_size, pairs, letters=letters, generator=generator)
    return recall(batch_size, pairs, keys=letters, values=DIGITS, generator=generator)


def added(k: Tensor, v: Tensor) -> Tensor:
    """Write pairs into a state by adding: each key times its value.

    Args:
        k: Keys ``(..., S, K)``.
        v: Values ``(..., S, V)``.

    Returns:
        The state ``(..., K, V)``; a key finds ``k @ state`` in it.
    """
    return k.mT @ v


def corrected(k: Tensor, v: Tensor, rate: Tensor) -> Tensor:
    """Write pairs into a state by the delta rule: one after the other, each adds what is missing.

    A pair changes the state by ``rate * outer(k, v - k @ state)``. So what each adds depends on what those
    before it added, through the products of their keys: a triangular system, solved here at once.

    Args:
        k: Keys ``(..., S, K)``, of length 1.
        v: Values ``(..., S, V)``.
        rate: Which share of what is missing is added ``(..., S, 1)``, between 0 and 1.

    Returns:
        The state ``(..., K, V)``.
    """
    before = (rate * (k @ k.mT)).tril(-1)  # (..., S, S)
    system = before + torch.eye(k.shape[-2], dtype=k.dtype, device=k.device)
    missing = torch.linalg.solve_triangular(system, rate * v, upper=False, unitriangular=True)
    return k.mT @ missing


def _unit(x: Tensor) -> Tensor:
    return F.normalize(x, dim=-1)


def _full(q: Tensor, k: Tensor, v: Tensor, rate: Tensor) -> Tensor:
    return attention(q, k, v)


def _window(q: Tensor, k: Tensor, v: Tensor, rate: Tensor) -> Tensor:
    return attention(q, k[..., -WINDOW:, :], v[..., -WINDOW:, :])


def _linear(q: Tensor, k: Tensor, v: Tensor, rate: Tensor) -> Tensor:
    return linear_attention(q, k, v)


def _added(q: Tensor, k: Tensor, v: Tensor, rate: Tensor) -> Tensor:
    return _unit(q) @ added(_unit(k), rate * v)


def _corrected(q: Tensor, k: Tensor, v: Tensor, rate: Tensor) -> Tensor:
    return _unit(q) @ corrected(_unit(k), v, rate)


WAYS = {"full": _full, "window": _window, "linear": _linear, "added": _added, "delta": _corrected}


class RecallModel(nn.Module):
    """Read pairs, keep them in one of several ways, and answer one question.

    Args:
        way: ``"full"`` attention; ``"window"``, over the last 8 pairs; ``"linear"`` attention; a state to
            which keys of length 1 times values are ``"added"``; or the same by the ``"delta"`` rule.
        letters: How many letters there are.
        K: Width of queries and keys.
        V: Width of values.
        width: Of the embeddings of letters and digits.

    Raises:
        TypeError: If a size is not an int.
        ValueError: If there is no such way, or a size is below 1.
    """

    def __init__(self, way: str, letters: int, K: int, V: int, *, width: int = 32) -> None:
        super().__init__()
        if way not in WAYS:
            raise ValueError(f"way must be one of {', '.join(WAYS)}, got {way!r}")
        for name, size in (("letters", letters), ("K", K), ("V", V), ("width", width)):
            require_whole(name, size, 1)
        self.way, self.letters, self.widths = way, letters, (K, K, V, 1)
        self.letter = nn.Embedding(letters, width)
        self.digit = nn.Embedding(DIGITS + 1, width)  # and the question mark
        self.project = nn.Linear(width, 2 * K + V + 1)
        self.answer = nn.Linear(V, DIGITS)
        self.facts = {
            "model": f"one layer, {way}, no norm",
            "K": K,
            "V": V,
            "width": width,
            "letters": letters,
        }

    def forward(self, steps: Tensor) -> Tensor:
        """Return a logit for each digit ``(B, 8)``, of pairs and a question ``(B, pairs + 1, 2)``."""
        x = self.letter(steps[..., 0]) + self.digit(steps[..., 1])  # (B, pairs + 1, width)
        q, k, v, rate = self.project(x)[:, None].split(self.widths, -1)  # (B, 1, pairs + 1, ...)
        pairs = (k[..., :-1, :], v[..., :-1, :], rate[..., :-1, :].sigmoid())
        return self.answer(WAYS[self.way](q[..., -1:, :], *pairs)[:, 0, 0])


def train_recall(
    model: RecallModel,
    *,
    steps: int,
    peak: float = 1e-2,
    batch: int = 64,
    seed: int = 0,
    anew: bool = False,
) -> RecallModel:
    """Train a model with Adam, on 1 to 16 pairs in turn, at a rate that falls to zero as a cosine does.

    Args:
        model: What to train.
        steps: How many batches.
        peak: The rate at the start.
        batch: Sequences in a batch, all of as many pairs.
        seed: Of the batches.
        anew: Whether a letter may come again with another digit.

    Returns:
        The same model.
    """
    learned = list(model.parameters())
    device = learned[0].device
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(learned, lr=peak, fused=device.type in ("cpu", "cuda"))
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    most = MOST if anew else min(MOST, model.letters)
    with small_products():
        for step in track(range(steps), f"{model.way}, {model.letters} letters"):
            pairs = 1 + step % most
            x, y = _draw(batch, pairs, model.letters, anew, generator)
            optimizer.zero_grad()
            cross_entropy(model(x.to(device)), y.to(device)).backward()
            nn.utils.clip_grad_norm_(learned, 1.0)
            optimizer.step()
            schedule.step()
    note(
        model,
        pairs=_pairs(model.letters, anew),
        optimizer="Adam",
        rate=peak,
        schedule="falling to zero as a cosine",
        clip=1.0,
        batch=batch,
        steps=steps,
        seeds=(seed,),
    )
    return model


def _pairs(letters: int, anew: bool) -> str:
    """Say on how many pairs a model is trained."""
    most = MOST if anew else min(MOST, letters)
    return f"1 to {most} in turn" + (", a letter may come again" if anew else "")


@torch.no_grad()
def right_answers(
    model: RecallModel, pairs: Sequence[int], *, count: int = 4000, seed: int = 999, anew: bool = False
) -> list[float]:
    """Measure the share of right answers after so many pairs.

    Args:
        model: A trained model.
        pairs: How many pairs, each at most as many as there are letters.
        count: How many questions of each.
        seed: Of the questions.
        anew: Whether a letter may come again with another digit.

    Returns:
        A share for each number of pairs.
    """
    device, shares = next(model.parameters()).device, []
    for n in pairs:
        generator = torch.Generator().manual_seed(seed)
        x, y = _draw(count, n, model.letters, anew, generator)
        shares.append((model(x.to(device)).argmax(-1).cpu() == y).float().mean().item())
    return shares


@torch.no_grad()
def weights_by_letter(model: RecallModel, *, count: int = 4000, seed: int = 999) -> Tensor:
    """Return the attention weight of each letter when one is asked for, after pairs of all letters.

    Args:
        model: Of the way ``"linear"`` or ``"full"``.
        count: Over how many questions to average.
        seed: Of the questions.

    Returns:
        Weights ``(letters, letters)``: the letter asked for down, the letter attended to across.

    Raises:
        ValueError: If it is another model.
    """
    if model.way not in ("linear", "full"):
        raise ValueError(f"only full and linear attention have these weights, got {model.way!r}")
    n = model.letters
    steps, _ = recall(count, n, keys=n, values=DIGITS, generator=torch.Generator().manual_seed(seed))
    x = model.letter(steps[..., 0]) + model.digit(steps[..., 1])
    q, k, *_ = model.project(x).split(model.widths, -1)
    asks, keys = q[:, -1:], k[:, :-1]
    if model.way == "full":
        weights = attention_weights(asks, keys)[:, 0]  # (B, n)
    else:
        weights = (elu_plus_one(asks) @ elu_plus_one(keys).mT)[:, 0]
        weights = weights / weights.sum(-1, keepdim=True)
    by_letter = torch.zeros_like(weights).scatter(1, steps[:, :-1, 0], weights)  # (B, n)
    asked = steps[:, -1, 0]
    total = torch.zeros(n, n).index_add(0, asked, by_letter)
    return total / asked.bincount(minlength=n)[:, None].clamp_min(1)


def stored() -> dict:
    """Return what trained models got right, and how it was measured: ``runs`` of all ways and sizes."""

    def facts(run: dict) -> dict:
        model = RecallModel(run["way"], run["letters"], run["K"], run["V"])
        return {
            **model.facts,
            "weights": count_parameters(model),
            "pairs": _pairs(run["letters"], run["anew"]),
        }

    same = {"optimizer": "Adam", "rate": 1e-2, "schedule": "falling to zero as a cosine", "clip": 1.0}
    return load("recall", results=("right", "way", "anew"), facts=facts, batch=64, **same)


def stored_runs(
    way: str, *, letters: int = 16, K: int = 8, steps: int = 8000, anew: bool = False
) -> list[list[float]]:
    """Return the stored shares of right answers of every seed, by the number of pairs.

    Args:
        way: As in `RecallModel`.
        letters: How many letters there were.
        K: Width of queries and keys.
        steps: How many batches.
        anew: Whether a letter could come again with another digit.

    Returns:
        A list for each seed, over `stored_pairs`.

    Raises:
        ValueError: If there is no such run.
    """
    asked = {"way": way, "letters": letters, "K": K, "steps": steps, "anew": anew}
    runs = [
        Values(run["right"], run.setting)
        for run in stored()["runs"]
        if all(run[name] == asked[name] for name in asked)
    ]
    if not runs:
        raise ValueError(f"no run is stored with {asked}; attnlib/data/recall.json has those that are")
    return runs


def stored_pairs(most: int = 16) -> list[int]:
    """Return after how many pairs the stored runs were asked, where there could be so many."""
    return [n for n in (1, 2, 4, 6, 8, 12, 16) if n <= most]
