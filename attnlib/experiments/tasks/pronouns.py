"""Sentences in which *he* is one of two: *Goku throws the spirit bomb at Frieza because he is desperate*."""

from __future__ import annotations

from typing import NamedTuple

import torch

from attnlib._check import require_whole


class PronounSentence(NamedTuple):
    """A sentence with two names and a *he*.

    Attributes:
        words: Its words.
        answer: The position of the name that *he* stands for.
        other: The position of the other name.
    """

    words: list[str]
    answer: int
    other: int


# to train with, to test with
_NAMES = (
    "john peter paul david james robert michael thomas vegeta naruto homer hamlet arthur potter luke bond "
    "mark kevin",
    "goku freeza jack harry george william adam simon",
)
_THINGS = "stone, ball, gun, rock, bottle, knife, hammer, rifle", "spirit bomb, missile, sword"
_THROWER = (
    "angry tired afraid nervous brave hungry bored crazy frustrated scared ill proud weak",
    "desperate furious worried confident excited",
)
_TARGET = (
    "cruel ugly hostile violent armed unfair responsible bad wrong criminal notorious",
    "evil dangerous corrupt brutal guilty",
)
_VERBS = "throws fires kicks aims drops points"
_BEFORE = ", today, in the end, then"


def pronoun_sentences(
    count: int, *, twist: bool, twins: bool = False, unseen: bool = False, seed: int = 0
) -> list[PronounSentence]:
    """Draw sentences: *in the end john kicks the ball at peter because he is tired*.

    Args:
        count: How many.
        twist: Whether half of them end in an adjective, such as *cruel*, by which *he* is the second name.
            Without it *he* is always the first.
        twins: Whether each sentence comes twice in a row, with an adjective of either kind: two that differ
            in their last word alone.
        unseen: Whether to take other names, things and adjectives than those to train with.
        seed: Of the draw.

    Returns:
        The sentences.

    Raises:
        ValueError: If twins are asked for without a twist, or their count is odd.

    Chapter 3 trains heads on them.
    """
    require_whole("count", count, 1)
    if twins and (count % 2 or not twist):
        raise ValueError(f"twins need twist=True and an even count, got twist={twist} and {count}")
    generator = torch.Generator().manual_seed(seed)
    at = int(unseen)

    def pick(items: list[str]) -> str:
        return items[int(torch.randint(len(items), (1,), generator=generator))]

    sentences = []
    for _ in range(count // 2 if twins else count):
        first = pick(_NAMES[at].split())
        second = pick([name for name in _NAMES[at].split() if name != first])
        kinds = [False, True] if twins else [twist and bool(torch.rand(1, generator=generator) < 0.5)]
        adjectives = [pick((_TARGET if of_second else _THROWER)[at].split()) for of_second in kinds]
        does = f"{pick(_VERBS.split())} the {pick(_THINGS[at].split(', '))}"
        words = f"{pick(_BEFORE.split(', '))} {first} {does} at {second} because he is".split()
        places = [words.index(name) for name in (first, second)]
        for of_second, adjective in zip(kinds, adjectives, strict=True):
            sentences.append(PronounSentence([*words, adjective], *(places[::-1] if of_second else places)))
    return sentences
