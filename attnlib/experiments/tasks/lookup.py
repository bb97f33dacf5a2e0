"""Looking things up in a sequence: what attention is for, and what a state of fixed size is bad at.

Each step of a sequence is a pair of a key and a value, written a3, b7, c1.
"""

from __future__ import annotations

from string import ascii_lowercase

import torch
from torch import Tensor

from attnlib._check import require_whole

MISSING = -100  # where there is nothing to predict; cross_entropy leaves it out


def _pairs(batch_size: int, pairs: int, keys: int, values: int, generator: torch.Generator | None) -> Tensor:
    """Draw pairs with distinct keys in each sequence, ``(B, pairs, 2)``."""
    for name, size in (("batch_size", batch_size), ("pairs", pairs), ("values", values)):
        require_whole(name, size, 1)
    require_whole("keys", keys, 1)
    if pairs > keys:
        raise ValueError(
            f"pairs must be at most the number of keys, which are distinct, got {pairs} and {keys}"
        )
    key = torch.rand(batch_size, keys, generator=generator).argsort(-1)[:, :pairs]
    value = torch.randint(values, (batch_size, pairs), generator=generator)
    return torch.stack([key, value], -1)


def recall(
    batch_size: int, pairs: int, *, keys: int = 26, values: int = 10, generator: torch.Generator | None = None
) -> tuple[Tensor, Tensor]:
    """Make sequences that end in a question: ``a3 b7 c1 b?``, and the answer 7.

    Args:
        batch_size: Sequences B.
        pairs: Pairs before the question, with distinct keys.
        keys: How many keys there are.
        values: How many values there are; chance is one in so many.
        generator: Of the random numbers.

    Returns:
        Steps ``(B, pairs + 1, 2)`` of a key and a value, where the value ``values`` is the question mark;
        and answers ``(B,)``.

    Raises:
        TypeError: If a size is not an int.
        ValueError: If a size is below 1, or there are more pairs than keys.

    Chapter 4 trains one head on it, chapter 7 models that keep a state instead of the pairs.
    """
    steps = _pairs(batch_size, pairs, keys, values, generator)
    position = torch.randint(pairs, (batch_size,), generator=generator)
    asked = steps[torch.arange(batch_size), position]  # (B, 2)
    question = torch.stack([asked[:, 0], torch.full((batch_size,), values)], -1)  # (B, 2)
    return torch.cat([steps, question[:, None]], 1), asked[:, 1]


def two_lookups(
    batch_size: int, pairs: int, *, keys: int = 26, values: int = 10, generator: torch.Generator | None = None
) -> tuple[Tensor, Tensor]:
    """Make sequences that end in two questions at once: ``a3 b7 c1 b?a``, and the answers 7 and 3.

    Args:
        batch_size: Sequences B.
        pairs: Pairs before the question, two or more, with distinct keys.
        keys: How many keys there are.
        values: How many values there are.
        generator: Of the random numbers.

    Returns:
        Steps ``(B, pairs + 1, 3)`` of a key, a value and a second key, where the value ``values`` is the
        question mark and the key ``keys`` stands for none; and answers ``(B, 2)``, in that order.

    Raises:
        TypeError: If a size is not an int.
        ValueError: If there are fewer than two pairs, or more than keys.

    Chapter 5 trains one head and two.
    """
    require_whole("pairs", pairs, 2)
    return several_lookups(batch_size, pairs, 2, keys=keys, values=values, generator=generator)


def several_lookups(
    batch_size: int,
    pairs: int,
    questions: int,
    *,
    keys: int = 26,
    values: int = 10,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """Make sequences that end in several questions at once: ``a3 b7 c1 b?ac``, and the answers 7, 3 and 1.

    Args:
        batch_size: Sequences B.
        pairs: Pairs before the question, with distinct keys.
        questions: How many of them are asked for.
        keys: How many keys there are.
        values: How many values there are.
        generator: Of the random numbers.

    Returns:
        Steps ``(B, pairs + 1, 1 + questions)`` of a key, a value and further keys, where the value ``values``
        is the question mark and the key ``keys`` stands for none; and answers ``(B, questions)``, in order.

    Raises:
        TypeError: If a size is not an int.
        ValueError: If a size is below 1, or there are more questions than pairs, or more pairs than keys.

    Chapter 5 trains one head, and one for each question.
    """
    require_whole("questions", questions, 1)
    if questions > pairs:
        raise ValueError(f"questions must be at most the number of pairs, got {questions} and {pairs}")
    steps = _pairs(batch_size, pairs, keys, values, generator)
    positions = torch.rand(batch_size, pairs, generator=generator).argsort(-1)[:, :questions]  # distinct
    asked = steps[torch.arange(batch_size)[:, None], positions]  # (B, questions, 2)
    mark = torch.full((batch_size, 1), values)
    question = torch.cat([asked[:, :1, 0], mark, asked[:, 1:, 0]], -1)  # (B, 1 + questions)
    none = torch.full((batch_size, pairs, questions - 1), keys)
    return torch.cat([torch.cat([steps, none], -1), question[:, None]], 1), asked[..., 1]


def relations(
    batch_size: int,
    length: int,
    *,
    keys: int = 6,
    values: int = 10,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """Make sequences in which each step must name three other values: the previous, the match, the first.

    The match is the latest earlier step with the same key.

    Args:
        batch_size: Sequences B.
        length: Steps T.
        keys: How many keys there are; they come again.
        values: How many values there are.
        generator: Of the random numbers.

    Returns:
        Steps ``(B, T, 2)`` of a key and a value, and targets ``(B, T, 3)``: the values of the previous
        step, the match and the first step, or `MISSING` where there is none before.

    Raises:
        TypeError: If a size is not an int.
        ValueError: If a size is below 1.

    Chapter 5 measures which head follows which.
    """
    for name, size in (("batch_size", batch_size), ("length", length), ("keys", keys), ("values", values)):
        require_whole(name, size, 1)
    key = torch.randint(keys, (batch_size, length), generator=generator)
    value = torch.randint(values, (batch_size, length), generator=generator)
    targets = []
    for mask in relation_masks(key).values():
        mask = mask[:, 0]  # (B, T, T), at most one True a row
        targets.append((mask * value[:, None, :]).sum(-1).masked_fill(~mask.any(-1), MISSING))
    return torch.stack([key, value], -1), torch.stack(targets, -1)


def relation_masks(keys: Tensor, *, apart: bool = False) -> dict[str, Tensor]:
    """Say where each relation of `relations` leads.

    Args:
        keys: ``(B, T)``.
        apart: Whether to keep only the tokens whose three relations lead to three different tokens, so that a
            head that follows one of them does not seem to follow another.

    Returns:
        For ``previous``, ``match`` and ``first``, a boolean ``(B, 1, T, T)`` with at most one True a row.
    """
    B, T = keys.shape
    i, j = torch.arange(T, device=keys.device)[:, None], torch.arange(T, device=keys.device)
    same = (keys[:, :, None] == keys[:, None, :]) & (j < i)  # (B, T, T)
    latest = torch.where(same, j + 1, 0).amax(-1, keepdim=True)  # (B, T, 1), one more than its position
    masks = {"previous": j == i - 1, "match": j == latest - 1, "first": (j == 0) & (i > 0)}
    masks = {name: mask.expand(B, T, T)[:, None] for name, mask in masks.items()}
    if apart:
        three = torch.stack(list(masks.values())).any(0).sum(-1, keepdim=True) == len(masks)  # (B, 1, T, 1)
        masks = {name: mask & three for name, mask in masks.items()}
    return masks


def spell(steps: Tensor, *, values: int = 10) -> str:
    """Write the steps of one sequence of look-ups as text, such as ``a3 b7 b?``.

    Args:
        steps: ``(T, 2)``, or more if there are further keys.
        values: How many values there are; a question mark comes next.

    Returns:
        The text. Keys beyond z are written as numbers.
    """

    def name(key: int) -> str:
        return ascii_lowercase[key] if key < len(ascii_lowercase) else f"({key})"

    rows = ((key, value, rest) for key, value, *rest in steps.tolist())
    return " ".join(
        name(key) + ("?" + "".join(map(name, rest)) if value == values else str(value))
        for key, value, rest in rows
    )
