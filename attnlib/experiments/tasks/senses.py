"""Sentences with *apple* and *bank*, each in one of two senses: *we ate the apple and robbed the bank*."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from attnlib.experiments.glove import WordVectors

SENSES = "fruit", "company", "river", "money"
LIKE = ("pear", "banana"), ("microsoft", "google"), ("river", "lake"), ("credit", "money")
_WORD = {"fruit": "apple", "company": "apple", "river": "bank", "money": "bank"}
# to train with, to test with
_CLUES = {
    "fruit": (
        "ate the, cooked the, picked the, planted the, mixed the, cut the, dried the",
        "chopped the, served the, grew the, fried the, washed the",
    ),
    "company": (
        "sued, joined, hired, founded, advised, promoted, designed for",
        "managed, launched, criticized, acquired, owned",
    ),
    "river": (
        "swam to the, sailed along the, climbed the, crossed to the, walked along the, jumped from the, "
        "ran along the",
        "landed on the, slept on the, sat on the, reached the, fell from the",
    ),
    "money": (
        "robbed the, owed the, borrowed from the, paid the, saved at the, charged the, financed the",
        "deposited at the, regulated the, invested in the, credited the, sold the",
    ),
}


class SenseSentence(NamedTuple):
    """A sentence with both words, and one of them that asks what it means.

    Attributes:
        words: The sentence.
        asks: *apple* or *bank*.
        sense: The place in `SENSES` of what it means here.
    """

    words: list[str]
    asks: str
    sense: int


def sense_sentences(*, unseen: bool = False) -> list[SenseSentence]:
    """Join every clue for *apple* with every clue for *bank*, in both orders; each time both words ask.

    Args:
        unseen: Whether to take other clues than those to train with.

    Returns:
        The sentences, two in a row that differ only in who asks.

    Chapter 3 trains one head on them.
    """

    def clues(word: str) -> list[tuple[str, str]]:
        of_word = [sense for sense in SENSES if _WORD[sense] == word]
        return [(sense, clue) for sense in of_word for clue in _CLUES[sense][int(unseen)].split(", ")]

    sentences = []
    for halves in product(clues("apple"), clues("bank")):
        for order in (halves, halves[::-1]):
            said = [f"{clue} {_WORD[sense]}" for sense, clue in order]
            words = f"we {said[0]} and {said[1]}".split()
            sentences += [SenseSentence(words, _WORD[sense], SENSES.index(sense)) for sense, _ in halves]
    return sentences


def sense_anchors(vectors: WordVectors) -> Tensor:
    """Return what the four senses look like: for each, the mean direction of two words of its kind.

    Args:
        vectors: Where the words are.

    Returns:
        ``(4, D)``, each of length 1.
    """
    pairs = torch.stack([F.normalize(vectors[pair], dim=-1) for pair in LIKE])  # (4, 2, D)
    return F.normalize(pairs.mean(1), dim=-1)
