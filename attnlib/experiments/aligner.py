"""One head between two languages: French words look at English ones. Chapter 3 of the book trains it."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from attnlib.experiments.tasks.translation import NumberWords
from attnlib.experiments.training import fit
from attnlib.functional import attention_weights

PLACES = 16


class Aligner(nn.Module):
    """Predict each French word from the one before, which asks, and the English words, which answer.

    Args:
        numbers: What to translate.
        width: How many numbers a word, a query, a key and a value have.
        average: Whether all English words weigh the same, whoever asks.
    """

    def __init__(self, numbers: NumberWords, width: int = 32, *, average: bool = False) -> None:
        super().__init__()
        self.average = average
        self.english = nn.Embedding(len(numbers.english_vocabulary), width)
        self.french = nn.Embedding(len(numbers.french_vocabulary), width)
        self.place = nn.Embedding(PLACES, width)
        self.w_q, self.w_k, self.w_v = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.read = nn.Linear(width, len(numbers.french_vocabulary))
        for name in ("previous", "source", "source_mask"):
            self.register_buffer(name, getattr(numbers, name))

    def look(self, n: Tensor) -> tuple[Tensor, Tensor]:
        """Return, for numbers ``(B,)``, what was mixed ``(B, T, C)`` and the weights ``(B, T, S)``."""
        previous, source = self.previous[n], self.source[n]
        x = self.french(previous) + self.place.weight[: previous.shape[1]]  # (B, T, C)
        y = self.english(source) + self.place.weight[: source.shape[1]]  # (B, S, C)
        q = torch.zeros_like(x) if self.average else self.w_q(x)
        weights = attention_weights(q, self.w_k(y), self.source_mask[n, 0])
        return x + weights @ self.w_v(y), weights

    def forward(self, n: Tensor) -> Tensor:
        """Return a score for each French word at each place, ``(B, T, V)``."""
        return self.read(self.look(n)[0])


def train_aligner(
    numbers: NumberWords, *, seed: int, steps: int = 500, average: bool = False
) -> tuple[Aligner, Tensor]:
    """Train on four fifths of the numbers, drawn at random.

    Args:
        numbers: What to translate.
        seed: Of the draw, the start and the batches.
        steps: How many batches of 128 numbers.
        average: Whether all English words weigh the same, whoever asks.

    Returns:
        The aligner, on the CPU, and the numbers it has not seen.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        order, aligner = torch.randperm(len(numbers.source)), Aligner(numbers, average=average)
    seen = len(order) * 4 // 5

    def batch(generator: torch.Generator) -> tuple[Tensor, Tensor]:
        n = order[torch.randint(seen, (128,), generator=generator)]
        return n, numbers.target[n]

    fit(aligner, batch, steps=steps, lr=0.01, seed=seed, max_norm=None)
    return aligner.eval(), order[seen:]


@torch.no_grad()
def words_right(aligner: Aligner, numbers: NumberWords, n: Tensor) -> float:
    """Return the share of French words of these numbers that are predicted, the word before being given."""
    target = numbers.target[n]
    return (aligner(n).argmax(-1) == target)[target >= 0].double().mean().item()


@torch.no_grad()
def aligned(aligner: Aligner, numbers: NumberWords, n: Tensor, pairs: dict[str, str]) -> float:
    """Return how often a French word looks most at its translation.

    Args:
        aligner: What gives the weights.
        numbers: What was translated.
        n: The numbers to count over.
        pairs: French words with the English one that each comes from; counted where both stand once.

    Returns:
        A share between 0 and 1.
    """
    best = aligner.look(n)[1].argmax(-1).tolist()
    found = []
    for row, number in zip(best, n.tolist(), strict=True):
        english, french = numbers.english[number], numbers.french[number][1:]
        for at, word in enumerate(french):
            if english.count(pairs.get(word, "")) == french.count(word) == 1:
                found.append(english[row[at]] == pairs[word])
    return sum(found) / len(found)
