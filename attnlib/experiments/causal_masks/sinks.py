"""Tokens that request nothing: where does their attention weight go, and how can a layer do without it?

Each token has a letter and some numbers. Half of them request the numbers of an earlier token, named by its
letter; the others request nothing, and should return zeros. Chapter 6 of the book trains one head on it.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from attnlib.experiments.training import fit
from attnlib.functional import masked_softmax
from attnlib.masks import causal_mask

LETTERS = 16  # to be named by
NUMBERS = 4  # that a token holds
TOKENS = 16  # of a text
WIDTH = 2 * LETTERS + NUMBERS  # letter, request, numbers
CURES = "none", "register", "one more", "gate"


def spell_requests(letters: Tensor, requests: Tensor, numbers: Tensor) -> tuple[Tensor, Tensor]:
    """Write tokens as vectors, and what each should return.

    Args:
        letters: Whole numbers below `LETTERS`, ``(B, T)``, all different in a row.
        requests: The position of the token that each requests, ``(B, T)``; -1 for nothing.
        numbers: What each token holds, ``(B, T, NUMBERS)``.

    Returns:
        The tokens ``(B, T, WIDTH)`` and the targets ``(B, T, NUMBERS)``.
    """
    at = requests.clamp(min=0)
    requesting = (requests >= 0)[..., None]
    named = nn.functional.one_hot(letters.gather(1, at), LETTERS) * requesting
    own = nn.functional.one_hot(letters, LETTERS)
    target = numbers.gather(1, at[..., None].expand_as(numbers)) * requesting
    return torch.cat([own, named, numbers], -1), target


def draw_requests(B: int, T: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Draw texts.

    Args:
        B: How many.
        T: Tokens of each, at most `LETTERS`.
        generator: Of the draws.

    Returns:
        Tokens ``(B, T, WIDTH)``, targets ``(B, T, NUMBERS)``, and which tokens request something, ``(B, T)``.
    """
    letters = torch.rand(B, LETTERS, generator=generator).argsort(-1)[:, :T]
    earlier = (torch.rand(B, T, generator=generator) * torch.arange(T)).long()  # a position before its own
    requesting = torch.rand(B, T, generator=generator) < 0.5
    requesting[:, 0] = False  # there is nothing before it
    numbers = torch.randn(B, T, NUMBERS, generator=generator)
    x, target = spell_requests(letters, torch.where(requesting, earlier, -1), numbers)
    return x, target, requesting


class RequestHead(nn.Module):
    """One head with a causal mask, and a way to return nothing or none.

    Args:
        cure: ``"none"``; ``"register"``, a learned token in front, open to all; ``"one more"``, a 1 in
            the denominator of the softmax; ``"gate"``, a factor between 0 and 1 on the weighted average.

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
            "task": f"requests of half of {TOKENS} tokens, mean squared error",
            "width": WIDTH,
            "cure": cure,
        }
        self.q, self.k = nn.Linear(WIDTH, 32), nn.Linear(WIDTH, 32)
        self.v = nn.Linear(WIDTH, NUMBERS, bias=False)
        self.register = nn.Parameter(0.1 * torch.randn(1, 1, WIDTH)) if cure == "register" else None
        self.gate = nn.Linear(WIDTH, 1) if cure == "gate" else None

    def weights(self, x: Tensor, *, without_register: bool = False) -> Tensor:
        """Return the weights ``(B, T, S)`` of tokens ``(B, T, WIDTH)``; a register is the first key.

        Args:
            x: The tokens.
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
        visible = nn.functional.pad(mask, (1, 0), value=True)
        return masked_softmax(torch.cat([nothing, scores], -1), visible)[..., 1:]

    def forward(self, x: Tensor, *, without_register: bool = False) -> Tensor:
        """Return the output of each token, ``(B, T, NUMBERS)``."""
        average = self.weights(x, without_register=without_register) @ self.v(self._memory(x))
        return average if self.gate is None else self.gate(x).sigmoid() * average

    def _memory(self, x: Tensor) -> Tensor:
        return x if self.register is None else torch.cat([self.register.expand(len(x), -1, -1), x], 1)


def train_head(
    cure: str = "none", *, steps: int = 250, B: int = 32, lr: float = 2e-2, seed: int = 0
) -> RequestHead:
    """Train one head to return what a token requests, and zeros where it requests nothing.

    Args:
        cure: As in `RequestHead`.
        steps: How many batches.
        B: Texts in a batch.
        lr: Learning rate.
        seed: Of the first weights and the batches.

    Returns:
        The head.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        head = RequestHead(cure)
    fit(
        head,
        lambda generator: draw_requests(B, TOKENS, generator)[:2],
        steps=steps,
        lr=lr,
        seed=seed,
        loss=nn.functional.mse_loss,
    )
    return head


class Errors(NamedTuple):
    """Mean squared errors of the outputs; the numbers of a token have variance 1.

    Attributes:
        all: Over all tokens.
        requesting: Of tokens that request something.
        idle: Of tokens that request nothing.
    """

    all: float
    requesting: float
    idle: float


@torch.no_grad()
def request_errors(
    head: RequestHead, *, without_register: bool = False, count: int = 1000, seed: int = 1
) -> Errors:
    """Measure how wrong a head is where something is requested, and where nothing is.

    Args:
        head: A trained head.
        without_register: As in `RequestHead.weights`.
        count: Texts to test on.
        seed: Of these texts.

    Returns:
        The errors.
    """
    x, target, requesting = draw_requests(count, TOKENS, torch.Generator().manual_seed(seed))
    error = (head(x, without_register=without_register) - target).square().mean(-1)  # (B, T)
    return Errors(error.mean().item(), error[requesting].mean().item(), error[~requesting].mean().item())


def least_error(count: int = 1000, seed: int = 1) -> float:
    """Return the least error over all tokens of a head whose weights sum to one over the tokens.

    Weights that sum to one over n independent numbers of variance 1 leave a variance of 1/n at least. All
    that is left to a head is to make its values smaller, by one factor for those that request them and those
    that do not; this is the error at the best factor.

    Args:
        count: Texts, as in `request_errors`.
        seed: Of these texts.
    """
    requesting = draw_requests(count, TOKENS, torch.Generator().manual_seed(seed))[2]
    visible = torch.arange(1, TOKENS + 1).expand_as(requesting)
    share = requesting.double().mean().item()
    noise = torch.where(requesting, 0, 1 / visible).double().mean().item()  # of all tokens, at full size
    return share * noise / (share + noise)
