"""A model that learns to write from a manual, letter by letter, and twins that can attend to the answers.

Chapter 6 of the book trains them and asks why the twins' loss is so low.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attnlib._check import require_whole
from attnlib.experiments.tasks.manual import python_manual
from attnlib.experiments.training import Batch, cross_entropy, fit
from attnlib.instruments.counters import count_parameters
from attnlib.instruments.settings import Values, note
from attnlib.model import Decoder
from attnlib.multihead import Attend

LENGTH = 32  # letters that a model reads at a time


class Letters(NamedTuple):
    """A text as numbers.

    Attributes:
        letters: What each number stands for.
        train: The first nine tenths.
        held: The last tenth, on which nothing trains.
    """

    letters: str
    train: Tensor
    held: Tensor

    def spell(self, tokens: Tensor) -> str:
        """Return numbers ``(T,)`` as text."""
        return "".join(self.letters[i] for i in tokens.tolist())

    def number(self, text: str) -> Tensor:
        """Return a text as numbers ``(T,)``; a sign that the whole text never uses raises ValueError."""
        unknown = sorted(set(text) - set(self.letters))
        if unknown:
            raise ValueError(f"text must be made of signs of the manual, in lower case; got {unknown}")
        return torch.tensor([self.letters.index(letter) for letter in text])

    def lines(self, length: int = LENGTH + 1) -> Tensor:
        """Return the held-out part cut into lines, ``(lines, length)``."""
        return self.held[: len(self.held) // length * length].view(-1, length)


def manual_letters() -> Letters:
    """Return the manual that comes with Python, in lower case and with single spaces.

    Returns:
        Over 400,000 letters; spaces, digits and signs are counted as letters too.
    """
    return as_letters(python_manual(docstrings=False).encode("ascii", "ignore").decode())


def as_letters(text: str) -> Letters:
    """Return any text in lower case and with single spaces, as numbers; its last tenth is held out.

    Args:
        text: At least ten signs.

    Returns:
        The letters; spaces, digits and signs are counted as letters too.
    """
    text = " ".join(text.lower().split())
    letters = "".join(sorted(set(text)))
    index = {letter: i for i, letter in enumerate(letters)}
    data = torch.tensor([index[letter] for letter in text])
    cut = len(data) * 9 // 10
    return Letters(letters, data[:cut], data[cut:])


def frequency_losses(text: Letters) -> tuple[float, float]:
    """Return what guessing by frequency costs per held-out letter: of each letter, and of each pair.

    Counts are those of the training part, with one added to each, so that no probability is zero.

    Args:
        text: What `manual_letters` gives.

    Returns:
        The loss of the unigram and of the bigram.
    """
    V = len(text.letters)
    single = torch.bincount(text.train, minlength=V) + 1.0
    pairs = torch.bincount(text.train[:-1] * V + text.train[1:], minlength=V * V).view(V, V) + 1.0
    unigram = -(single / single.sum())[text.held].log().mean()
    bigram = -(pairs / pairs.sum(1, keepdim=True))[text.held[:-1], text.held[1:]].log().mean()
    return unigram.item(), bigram.item()


class Unmasked(Attend):
    """Attend as if nobody had asked for a causal mask."""

    def forward(self, q: Tensor, k: Tensor, v: Tensor, dropout: float, need_weights: bool, **options):
        """Take the arguments of `Attend`; ``causal`` is ignored."""
        return super().forward(q, k, v, dropout, need_weights, **(options | {"causal": False}))


def letter_model(
    text: Letters,
    *,
    causal: bool = True,
    attend: Callable[[], nn.Module] | None = None,
    width: int = 64,
    heads: int = 4,
    layers: int = 1,
    length: int = LENGTH,
    seed: int = 0,
) -> Decoder:
    """Make a model for the letters of a text, or a twin of it that can attend to the answers.

    Args:
        text: What `manual_letters` gives.
        causal: Whether its layers use the causal mask.
        attend: Makes what its layers attend with instead, a module that is called as `Attend` is.
        width: Model width C.
        heads: Heads of each layer.
        layers: Blocks.
        length: Letters that it reads at a time.
        seed: Of the first weights: twins start from the same.

    Returns:
        The model, in evaluation mode.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Decoder(len(text.letters), length, width, heads, layers)
    attend = (Attend if causal else Unmasked) if attend is None else attend
    model.facts = {
        "model": "model of letters (layer norms, GELU, learned positions)",
        "task": f"the next letter, {length} at a time",
        "layers": layers,
        "width": width,
        "heads": heads,
        "norm": "before",
        # the manual of another Python has a letter more or less
        "weights": f"about {round(count_parameters(model), -3):,} weights",
        "attends by": attend.__name__ if isinstance(attend, type) else getattr(attend, "__qualname__", None),
    }
    for block in model.blocks:
        block.attention.attend = attend()
    return model.eval()


def train_letters(
    model: Decoder, text: Letters, *, steps: int, B: int = 16, lr: float = 4e-3, seed: int = 0
) -> list[float]:
    """Train a model, in place, to predict the next letter at all positions of a line at once.

    The last third of the steps is taken at a fifth of the rate.

    Args:
        model: From `letter_model`.
        text: The same.
        steps: How many batches.
        B: Lines in a batch.
        lr: Learning rate.
        seed: Of the batches.

    Returns:
        The loss of each step.
    """
    require_whole("B", B, 1)
    length = model.max_length

    def batch(generator: torch.Generator) -> Batch:
        start = torch.randint(len(text.train) - length, (B, 1), generator=generator)
        here = start + torch.arange(length)  # (B, T)
        return text.train[here], text.train[here + 1]

    last = steps // 3
    before = vars(model).pop("setting", None)
    losses = fit(model, batch, steps=steps - last, lr=lr, seed=seed)
    losses += fit(model, batch, steps=last, lr=lr / 5, seed=seed + 1000)
    model.setting = before  # the two parts are one training
    fall = "the last third of the steps at a fifth of it"
    setting = note(
        model, optimizer="Adam", rate=lr, schedule=fall, clip=1.0, batch=B, steps=steps, seeds=(seed,)
    )
    return Values(losses, setting)


@torch.no_grad()
def losses_by_position(model: Decoder, lines: Tensor, given: int) -> tuple[Tensor, float]:
    """Return the losses of a model on whole lines, and on one letter that is not in its input.

    Args:
        model: From `letter_model`.
        lines: ``(B, T + 1)``, on its device.
        given: How many letters it gets when it has to predict the next one.

    Returns:
        The loss at each of the T positions of the whole line, and at the last of ``given`` letters.
    """
    logits = model(lines[:, :-1])  # (B, T, V)
    each = [cross_entropy(logits[:, i], lines[:, i + 1]) for i in range(lines.shape[1] - 1)]
    alone = cross_entropy(model(lines[:, :given])[:, -1], lines[:, given])
    return torch.stack(each).cpu(), alone.item()


@torch.no_grad()
def names_what_was_put(model: Decoder, lines: Tensor, position: int) -> float:
    """Put a letter of another line in place of an answer; how often is that one predicted?

    Args:
        model: From `letter_model`.
        lines: ``(B, T + 1)``, on its device.
        position: That of the prediction; the letter is put right after it.

    Returns:
        The share of the lines.
    """
    swapped = lines[:, :-1].clone()
    swapped[:, position + 1] = lines[:, position + 1].roll(1)
    named = model(swapped)[:, position].argmax(-1)
    return (named == swapped[:, position + 1]).double().mean().item()
