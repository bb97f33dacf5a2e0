"""Tasks that cannot be solved without knowing the order: which token stood there, and say it again."""

from __future__ import annotations

import torch
from torch import Tensor

from attnlib._check import require_whole
from attnlib.experiments.tasks.lookup import MISSING


def places_back(
    batch_size: int,
    length: int,
    *,
    distance: int = 8,
    tokens: int = 16,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """Make texts in which every place asks for the token that stood so many places before it.

    Args:
        batch_size: Texts B.
        length: Places T of each, more than the distance.
        distance: How far back the answer stands.
        tokens: How many different tokens there are.
        generator: Of the random numbers.

    Returns:
        Texts and answers, both ``(B, T)``; the first places have no answer: -100.

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
    """Make texts that say something once and then again: ``c a f | c a``, to go on with ``f``.

    Args:
        batch_size: Texts B.
        length: Places T of each, even: T / 2 different tokens, the sign between, and all but the last again.
        tokens: How many different tokens there are; the sign has the next number.
        generator: Of the random numbers.

    Returns:
        Texts and what comes next, both ``(B, T)``; up to the sign nothing is asked: -100.

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


def own_place(
    batch_size: int, length: int, *, tokens: int = 16, generator: torch.Generator | None = None
) -> tuple[Tensor, Tensor]:
    """Make texts in which every token asks for the number of its own place.

    The first token is a sign that stands nowhere else; it has the number after the last token's.

    Args:
        batch_size: Texts B.
        length: Places T of each.
        tokens: How many different tokens there are.
        generator: Of the random numbers.

    Returns:
        Texts and places from 0 on, both ``(B, T)``.

    Raises:
        TypeError: If a size is not an int.
        ValueError: If a size is below 1.
    """
    for name, size in (("batch_size", batch_size), ("length", length), ("tokens", tokens)):
        require_whole(name, size, 1)
    text = torch.randint(tokens, (batch_size, length), generator=generator)
    text[:, 0] = tokens
    return text, torch.arange(length).expand(batch_size, length)
