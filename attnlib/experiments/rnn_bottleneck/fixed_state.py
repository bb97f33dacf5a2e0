"""How well can what was read be given back? A state of fixed size against one that grows.

Both read n random numbers, each with its position, and have to answer for every position. What is kept in
between is numbers between -1 and 1, each with the same noise added: that is their precision. `lost` is the
mean squared error of the answers. The numbers read have variance 1, so 0 means that all are exact, and 1 is
the error of answering 0 always. Chapter 1 of the book measures it.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from attnlib._check import require_whole, shape
from attnlib.experiments.rnn_bottleneck.recurrent import Recurrent
from attnlib.experiments.runs import load
from attnlib.experiments.training import small_products, track
from attnlib.functional import attention
from attnlib.instruments.settings import describe, note

KEY_DIM = 16  # numbers that a growing memory spends on finding an entry again


def with_positions(x: Tensor) -> Tensor:
    """Put beside each number a one-hot vector of its position.

    Args:
        x: Numbers ``(B, n)``.

    Returns:
        ``(B, n, 1 + n)``.
    """
    B, n = x.shape
    return torch.cat([x[..., None], torch.eye(n, device=x.device).expand(B, n, n)], -1)


def three_layers(inputs: int, width: int, outputs: int) -> nn.Sequential:
    """Return a network that can learn any smooth function: what answers is never the limit."""
    return nn.Sequential(
        nn.Linear(inputs, width), nn.GELU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, outputs)
    )


class FreeEncoder(nn.Module):
    """Take all n numbers at once and keep d: more than a network that reads one after the other can do.

    Args:
        d: How many to keep.
        n: How many to read.
        width: Of its two hidden layers.
    """

    def __init__(self, d: int, n: int, width: int = 64) -> None:
        super().__init__()
        self.layers = three_layers(n, width, d)

    def forward(self, steps: Tensor) -> Tensor:
        """Return the d numbers kept ``(B, 1, d)`` of ``steps`` ``(B, n, 1 + n)``."""
        return torch.tanh(self.layers(steps[..., 0]))[:, None]


class Summary(nn.Module):
    """Keep d numbers of n, whatever n is.

    Args:
        kind: ``"rnn"``, ``"gru"`` or ``"lstm"``, which read one number after the other, or ``"free"``.
        d: How many numbers to keep.
        n: How many to read.
        width: Of the hidden layers that answer, and of a free encoder's.

    Raises:
        TypeError: If a size is not an int.
        ValueError: If there is no such kind, or a size is below 1.
    """

    def __init__(self, kind: str, d: int, n: int, *, width: int = 64) -> None:
        super().__init__()
        require_whole("d", d, 1)
        require_whole("n", n, 1)
        self.n = n
        self.facts = {"model": kind.upper(), "keeps": d, "reads": n, "width": width}
        self.encoder = FreeEncoder(d, n, width) if kind == "free" else Recurrent(kind, 1 + n, d)
        self.answer = three_layers(d + n, width, 1)

    def keep(self, x: Tensor) -> Tensor:
        """Read ``(B, n)`` and return all that is kept, between -1 and 1: ``(B, 1, d)``."""
        _check_numbers(x, self.n)
        return self.encoder(with_positions(x))[:, -1:]

    def give_back(self, kept: Tensor) -> Tensor:
        """Answer for every position ``(B, n)`` from what was kept."""
        position = torch.eye(self.n, device=kept.device).expand(len(kept), -1, -1)
        return self.answer(torch.cat([kept.expand(-1, self.n, -1), position], -1))[..., 0]


class Store(nn.Module):
    """Keep a key and d numbers for each of the n numbers, and attend to the one that is needed.

    Args:
        d: How many numbers to keep of each.
        n: How many to read.
        width: Of the hidden layers that answer.

    Raises:
        TypeError: If a size is not an int.
        ValueError: If a size is below 1.
    """

    def __init__(self, d: int, n: int, *, width: int = 64) -> None:
        super().__init__()
        require_whole("d", d, 1)
        require_whole("n", n, 1)
        self.n = n
        self.facts = {"model": "attention", "keeps": f"{d} of each", "reads": n, "width": width}
        self.write = nn.Linear(1 + n, KEY_DIM + d)
        self.query = nn.Embedding(n, KEY_DIM)
        self.answer = three_layers(d + n, width, 1)

    def keep(self, x: Tensor) -> Tensor:
        """Read ``(B, n)`` and return all that is kept, between -1 and 1: ``(B, n, KEY_DIM + d)``."""
        _check_numbers(x, self.n)
        return torch.tanh(self.write(with_positions(x)))

    def give_back(self, kept: Tensor) -> Tensor:
        """Answer for every position ``(B, n)`` from what was kept."""
        keys, values = kept[..., :KEY_DIM], kept[..., KEY_DIM:]
        found = attention(self.query.weight.expand(len(kept), -1, -1), keys, values)  # (B, n, d)
        position = torch.eye(self.n, device=kept.device).expand(len(kept), -1, -1)
        return self.answer(torch.cat([found, position], -1))[..., 0]


def _check_numbers(x: Tensor, n: int) -> None:
    if x.ndim != 2 or x.shape[1] != n:
        raise ValueError(f"x must be (B, n) with n = {n}, got {shape(x)}")


def squared_error(memory: nn.Module, noise: float, B: int, generator: torch.Generator) -> Tensor:
    """Let a memory read B times, add noise to what it kept, and return the mean squared error of its answers.

    Args:
        memory: A `Summary` or a `Store`, on the generator's device.
        noise: Standard deviation of the noise on every number kept.
        B: How many sequences.
        generator: Of the numbers and the noise.

    Returns:
        A single number, with its gradient.
    """
    x = torch.randn(B, memory.n, generator=generator, device=generator.device)
    kept = memory.keep(x)
    kept = kept + noise * torch.randn(kept.shape, generator=generator, device=generator.device)
    return (memory.give_back(kept) - x).square().mean()


def train_memory(
    memory: nn.Module, noise: float, *, steps: int, peak: float = 1e-2, batch: int = 64, seed: int = 0
) -> nn.Module:
    """Train a memory to give back what it read, with Adam and a rate that rises to a peak and falls.

    Args:
        memory: A `Summary` or a `Store`.
        noise: Standard deviation of the noise on every number kept.
        steps: How many batches.
        peak: The highest learning rate.
        batch: Sequences in a batch.
        seed: Of the batches and the noise.

    Returns:
        The same memory.

    Raises:
        ValueError: If the noise is below 0.
    """
    if not noise >= 0:
        raise ValueError(f"noise must be 0 or more, got {noise}")
    learned = list(memory.parameters())
    generator = torch.Generator(learned[0].device).manual_seed(seed)
    optimizer = torch.optim.Adam(learned, lr=peak, fused=learned[0].device.type in ("cpu", "cuda"))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, peak, steps)
    with small_products():
        for _ in track(range(steps), f"{memory.n} numbers"):
            optimizer.zero_grad()
            squared_error(memory, noise, batch, generator).backward()
            nn.utils.clip_grad_norm_(learned, 1.0)
            optimizer.step()
            schedule.step()
    note(
        memory,
        optimizer="Adam",
        rate=peak,
        schedule="one cycle up to that rate",
        clip=1.0,
        noise=noise,
        batch=batch,
        steps=steps,
        seeds=(seed,),
    )
    return memory


@torch.no_grad()
def lost(memory: nn.Module, noise: float, *, count: int = 4000, seed: int = 999) -> float:
    """Measure the mean squared error of a trained memory: 0 is exact, 1 is answering 0 always.

    Args:
        memory: A trained `Summary` or `Store`.
        noise: Standard deviation of the noise on every number kept.
        count: How many sequences to measure.
        seed: Of the sequences and the noise.

    Returns:
        The mean squared error over all positions.
    """
    device = next(memory.parameters()).device
    return squared_error(memory, noise, count, torch.Generator(device).manual_seed(seed)).item()


def linear_line(d: int, n: int) -> float:
    """Return the least error if the answers are linear in the d numbers kept, whatever wrote them."""
    return max(0.0, 1 - d / n)


def lower_bound(d: int, n: int, noise: float) -> float:
    """Return the error that no model gets below, if d numbers between -1 and 1 are kept with noise.

    A number whose square is at most 1 on average, under Gaussian noise, carries at most half of
    ``log2(1 + 1 / noise²)`` bits; giving back n Gaussian numbers of variance 1 with a mean squared error D
    takes at least half of ``log2(1 / D)`` bits each. What comes out is no more than what went in.

    Args:
        d: How many numbers are kept.
        n: How many are read.
        noise: Standard deviation of the noise on each number kept; without any, the bound is 0.

    Returns:
        The least mean squared error, averaged over the positions.
    """
    return (1 + noise**-2) ** (-d / n) if noise else 0.0


def stored() -> dict:
    """Return what was measured, where and how: ``runs`` of many sizes, and the weights of one ``fold``."""

    def facts(run: dict) -> dict:
        return {
            "model": run["kind"],
            "keeps": run["d"],
            "reads": run["n"],
            "rate": 0.003 if run["width"] > 64 else 0.01,
            "machine": "NVIDIA H200" if run["steps"] == 20_000 else "Intel Xeon",
        }

    results = "lost", "kind", "d", "n"
    same = {"optimizer": "Adam", "schedule": "one cycle up to that rate", "clip": 1.0}
    return load("fixed-state", results=results, facts=facts, **same)


def stored_fold() -> Summary:
    """Return a trained GRU that reads two numbers and keeps one, without what answers.

    Returns:
        A summary whose ``keep`` is trained and whose ``give_back`` is not.
    """
    memory, data = Summary("gru", 1, 2), stored()
    weights = {name: torch.tensor(rows) for name, rows in data["fold"]["weights"].items()}
    memory.encoder.load_state_dict(weights)
    memory.setting = describe(
        memory, noise=0, steps=24_000, seeds=(5,), machine="Intel Xeon", date=data["date"], width=64
    )
    return memory


def best_answers(x: Tensor, kept: Tensor, weight: Tensor, levels: int) -> Tensor:
    """Answer as well as anyone can who is told in which of some levels a kept number lies, and no more.

    The levels are equally likely. The best answer, in squared error, is the mean of all that shares a level.

    Args:
        x: What was read ``(N, n)``.
        kept: The one number kept of each ``(N,)``.
        weight: How likely each is ``(N,)``, summing to one.
        levels: How many.

    Returns:
        The answers ``(N, n)``.
    """
    values, at = kept.unique(return_inverse=True)  # in order
    share = torch.zeros(len(values), dtype=weight.dtype).index_add(0, at, weight)
    level = ((share.cumsum(0) - share / 2) * levels).long().clamp(max=levels - 1)[at]
    total = torch.zeros(levels, dtype=weight.dtype).index_add(0, level, weight)
    mean = torch.zeros(levels, x.shape[1], dtype=weight.dtype).index_add(0, level, weight[:, None] * x)
    return (mean / total.clamp_min(1e-300)[:, None])[level]
