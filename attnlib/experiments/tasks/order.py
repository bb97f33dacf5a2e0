"""Tasks that need the order of the tokens: name an earlier one, copy them all, name a position."""

from __future__ import annotations

import torch
from torch import Tensor

from attnlib._check import require_whole
from attnlib.experiments.tasks.lookup import MISSING


def tokens_back(
    batch_size: int,
    length: int,
    *,
    distance: int = 8,
    tokens: int = 16,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """Make texts in which the answer at every position is the token so many positions before it.

    Args:
        batch_size: Texts B.
        length: Positions T of each, more than the distance.
        distance: How many positions back the answer is.
        tokens: How many different tokens there are.
        generator: Of the random numbers.

    Returns:
        Texts and answers, both ``(B, T)``; the first positions have no answer: -100.

    Raises:
        TypeError: If a size is not an int.
        ValueError: If a size is below 1, or the text is not longer than the distance.
    """
    for name, size in (("batch_size", batch_size), ("distance", distance), ("tokens", tokens)):
        require_whole(name, size, 1)
    require_whole("length", length, 1)
    if length <= distance:
        raise ValueError(f"length must be more than the distance, got {length} and {distance}")
    text = torch.randint(tokens, (batch_size, length), generator=generator)
    nothing = torch.full((batch_size, distance), MISSING)
    return text, torch.cat([nothing, text[:, :-distance]], 1)


def copies(
    batch_size: int, length: int, *, tokens: int = 256, generator: torch.Generator | None = None
) -> tuple[Tensor, Tensor]:
    """Make texts of some tokens and then the same again: ``c a f | c a``, to go on with ``f``.

    Args:
        batch_size: Texts B.
        length: Positions T of each, even: T / 2 different tokens, a separator, and all but the last again.
        tokens: How many different tokens there are; the separator has the next number.
        generator: Of the random numbers.

    Returns:
        Texts and next tokens, both ``(B, T)``; up to the separator there is no answer: -100.

    Raises:
        TypeError: If a size is not an int.
        ValueError: If the length is odd, or needs more different tokens than there are.
    """
    require_whole("batch_size", batch_size, 1)
    require_whole("length", length, 2)
    require_whole("tokens", tokens, 1)
    if length % 2 or length // 2 > tokens:
        raise ValueError(f"length must be even and at most twice the {tokens} tokens, got {length}")
    said = torch.rand(batch_size, tokens, generator=generator).argsort(-1)[:, : length // 2]
    sign = torch.full((batch_size, 1), tokens)
    nothing = torch.full_like(said, MISSING)
    return torch.cat([said, sign, said[:, :-1]], 1), torch.cat([nothing, said], 1)


def own_position(
    batch_size: int, length: int, *, tokens: int = 16, generator: torch.Generator | None = None
) -> tuple[Tensor, Tensor]:
    """Make texts in which the answer at every token is its own position.

    The first token occurs nowhere else; it has the number after the last token's.

    Args:
        batch_size: Texts B.
        length: Positions T of each.
        tokens: How many different tokens there are.
        generator: Of the random numbers.

    Returns:
        Texts and positions from 0 on, both ``(B, T)``.

    Raises:
        TypeError: If a size is not an int.
        ValueError: If a size is below 1.
    """
    for name, size in (("batch_size", batch_size), ("length", length), ("tokens", tokens)):
        require_whole(name, size, 1)
    text = torch.randint(tokens, (batch_size, length), generator=generator)
    text[:, 0] = tokens
    return text, torch.arange(length).expand(batch_size, length)
