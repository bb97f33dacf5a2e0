"""Words that want nothing: where does their weight go, and how can a layer let them keep it?

Each word has a letter and some numbers. Half of them wish for the numbers of an earlier word, named by its
letter; the others wish for nothing, and should get zeros. Chapter 6 of the book trains one head on it.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from attnlib.experiments.training import fit
from attnlib.functional import masked_softmax
from attnlib.masks import causal_mask

LETTERS = 16  # to be named by
NUMBERS = 4  # that a word tells
WORDS = 16  # of a text
WIDTH = 2 * LETTERS + NUMBERS  # letter, wish, numbers
CURES = "none", "register", "one more", "gate"


def spell_wishes(letters: Tensor, wishes: Tensor, numbers: Tensor) -> tuple[Tensor, Tensor]:
    """Write words as vectors, and what each should get.

    Args:
        letters: Whole numbers below `LETTERS`, ``(B, T)``, all different in a row.
        wishes: The place of the word that each wishes for, ``(B, T)``; -1 for nothing.
        numbers: What each word tells, ``(B, T, NUMBERS)``.

    Returns:
        The words ``(B, T, WIDTH)`` and the targets ``(B, T, NUMBERS)``.
    """
    at = wishes.clamp(min=0)
    wanting = (wishes >= 0)[..., None]
    named = nn.functional.one_hot(letters.gather(1, at), LETTERS) * wanting
    own = nn.functional.one_hot(letters, LETTERS)
    target = numbers.gather(1, at[..., None].expand_as(numbers)) * wanting
    return torch.cat([own, named, numbers], -1), target


def wishes(B: int, T: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Draw texts.

    Args:
        B: How many.
        T: Words of each, at most `LETTERS`.
        generator: Of the draws.

    Returns:
        Words ``(B, T, WIDTH)``, targets ``(B, T, NUMBERS)``, and which words wish for something, ``(B, T)``.
    """
    letters = torch.rand(B, LETTERS, generator=generator).argsort(-1)[:, :T]
    earlier = (torch.rand(B, T, generator=generator) * torch.arange(T)).long()  # a place before one's own
    wants = torch.rand(B, T, generator=generator) < 0.5
    wants[:, 0] = False  # there is nothing before it
    numbers = torch.randn(B, T, NUMBERS, generator=generator)
    x, target = spell_wishes(letters, torch.where(wants, earlier, -1), numbers)
    return x, target, wants


class Listener(nn.Module):
    """One head with a causal mask, and a way to say "nothing" or none.

    Args:
        cure: ``"none"``; ``"register"``, a learned word in front that all may see; ``"one more"``, a 1 in the
            denominator of the softmax; ``"gate"``, a share between 0 and 1 on what the head found.

    Raises:
        ValueError: If there is no such cure.
    """

    def __init__(self, cure: str = "none") -> None:
        super().__init__()
        if cure not in CURES:
            raise ValueError(f"cure must be one of {', '.join(CURES)}, got {cure!r}")
        self.cure = cure
        self.facts = {
            "model": "one causal head, no norm",
            "task": f"wishes of half of {WORDS} words, mean squared error",
            "width": WIDTH,
            "cure": cure,
        }
        self.q, self.k = nn.Linear(WIDTH, 32), nn.Linear(WIDTH, 32)
        self.v = nn.Linear(WIDTH, NUMBERS, bias=False)
        self.register = nn.Parameter(0.1 * torch.randn(1, 1, WIDTH)) if cure == "register" else None
        self.gate = nn.Linear(WIDTH, 1) if cure == "gate" else None

    def weights(self, x: Tensor, *, without_register: bool = False) -> Tensor:
        """Return the weights ``(B, T, S)`` of words ``(B, T, WIDTH)``; a register is the first of the S keys.

        Args:
            x: The words.
            without_register: Leave the register out again, as a cache does that drops what is oldest.
        """
        T = x.shape[1]
        q, k = self.q(x), self.k(self._memory(x))
        scores = q @ k.mT / k.shape[-1] ** 0.5  # (B, T, S)
        extra = scores.shape[-1] - T
        mask = causal_mask(T, T + extra, offset=extra, device=x.device)
        if without_register:
            mask = mask & (torch.arange(T + extra, device=x.device) >= extra)
        if self.cure != "one more":
            return masked_softmax(scores, mask)
        nothing = torch.zeros_like(scores[..., :1])
        seen = nn.functional.pad(mask, (1, 0), value=True)
        return masked_softmax(torch.cat([nothing, scores], -1), seen)[..., 1:]

    def forward(self, x: Tensor, *, without_register: bool = False) -> Tensor:
        """Return what each word gets, ``(B, T, NUMBERS)``."""
        found = self.weights(x, without_register=without_register) @ self.v(self._memory(x))
        return found if self.gate is None else self.gate(x).sigmoid() * found

    def _memory(self, x: Tensor) -> Tensor:
        return x if self.register is None else torch.cat([self.register.expand(len(x), -1, -1), x], 1)


def train_listener(
    cure: str = "none", *, steps: int = 250, B: int = 32, lr: float = 2e-2, seed: int = 0
) -> Listener:
    """Train one head to fulfil wishes, and to give nothing to those who have none.

    Args:
        cure: As in `Listener`.
        steps: How many batches.
        B: Texts in a batch.
        lr: Learning rate.
        seed: Of the first weights and the batches.

    Returns:
        The head.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        listener = Listener(cure)
    fit(
        listener,
        lambda generator: wishes(B, WORDS, generator)[:2],
        steps=steps,
        lr=lr,
        seed=seed,
        loss=nn.functional.mse_loss,
    )
    return listener


class Errors(NamedTuple):
    """Mean squared errors of what words get; the numbers told have variance 1.

    Attributes:
        all: Over all words.
        wanting: Of words that wish for something.
        idle: Of words that wish for nothing.
    """

    all: float
    wanting: float
    idle: float


@torch.no_grad()
def wish_errors(
    listener: Listener, *, without_register: bool = False, count: int = 1000, seed: int = 1
) -> Errors:
    """Measure how wrong a head is where something is wanted, and where nothing is.

    Args:
        listener: A trained head.
        without_register: As in `Listener.weights`.
        count: Texts to test on.
        seed: Of these texts.

    Returns:
        The errors.
    """
    x, target, wants = wishes(count, WORDS, torch.Generator().manual_seed(seed))
    error = (listener(x, without_register=without_register) - target).square().mean(-1)  # (B, T)
    return Errors(error.mean().item(), error[wants].mean().item(), error[~wants].mean().item())


def least_error(count: int = 1000, seed: int = 1) -> float:
    """Return the least error over all words that a head can have whose weights sum to one over the words.

    Weights that sum to one over n independent numbers of variance 1 leave a variance of 1/n at least. All
    that is left to a head is to make its values smaller, by one factor for those who want them and those who
    do not; this is the error at the best factor.

    Args:
        count: Texts, as in `wish_errors`.
        seed: Of these texts.
    """
    wants = wishes(count, WORDS, torch.Generator().manual_seed(seed))[2]
    places = torch.arange(1, WORDS + 1).expand_as(wants)
    wanting = wants.double().mean().item()
    noise = torch.where(wants, 0, 1 / places).double().mean().item()  # of all words, at full size
    return wanting * noise / (wanting + noise)
