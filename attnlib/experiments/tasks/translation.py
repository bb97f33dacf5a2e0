"""Translating number words: pairs of sequences with a known alignment. Chapter 1 of the book learns it."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class NumberWords:
    """The numbers below a thousand in English and in French, word by word.

    Attributes:
        english: The English words of each number, ending in a full stop.
        french: The French words of each number, between ``<s>`` and a full stop.
        english_vocabulary: Every English word; a token is its place here.
        french_vocabulary: Every French word, likewise.
        source: English tokens ``(N, S)``, padded with zeros.
        source_mask: True where a token is real, ``(N, 1, 1, S)``: True = may attend.
        previous: The French token before each place ``(N, T)``.
        target: The French token at each place ``(N, T)``, and -100 behind the end.
    """

    english: list[list[str]]
    french: list[list[str]]
    english_vocabulary: list[str]
    french_vocabulary: list[str]
    source: Tensor
    source_mask: Tensor
    previous: Tensor
    target: Tensor


def number_words(count: int = 1000) -> NumberWords:
    """Spell the numbers from 0 in English and in French; neither length nor order is kept.

    Args:
        count: How many numbers, at most 1000.

    Returns:
        Words and tokens of every number.

    Raises:
        ImportError: If the package num2words is not installed.
        ValueError: If the count is not between 1 and 1000.

    Chapter 1 learns to translate them.
    """
    if not 1 <= count <= 1000:
        raise ValueError(f"count must lie between 1 and 1000, got {count}")
    try:
        from num2words import num2words
    except ImportError as error:
        raise ImportError("number words need num2words: pip install 'attnlib[book]'") from error

    def spell(n: int, language: str) -> list[str]:
        return num2words(n, lang=language).replace("-", " ").replace(" and ", " ").split()

    english = [[*spell(n, "en"), "."] for n in range(count)]
    french = [["<s>", *spell(n, "fr"), "."] for n in range(count)]
    english_vocabulary = sorted({word for words in english for word in words})
    french_vocabulary = sorted({word for words in french for word in words})
    source, source_real = _tokens(english, english_vocabulary)
    target, target_real = _tokens(french, french_vocabulary)
    return NumberWords(
        english,
        french,
        english_vocabulary,
        french_vocabulary,
        source,
        source_real[:, None, None, :],
        target[:, :-1],
        target.masked_fill(~target_real, -100)[:, 1:],
    )


def _tokens(sentences: list[list[str]], vocabulary: list[str]) -> tuple[Tensor, Tensor]:
    """Return tokens ``(N, S)``, padded with zeros, and where they are real."""
    token = {word: i for i, word in enumerate(vocabulary)}
    lengths = torch.tensor([len(words) for words in sentences])
    real = torch.arange(int(lengths.max())) < lengths[:, None]  # (N, S)
    tokens = torch.zeros(real.shape, dtype=torch.int64)
    tokens[real] = torch.tensor([token[word] for words in sentences for word in words])
    return tokens, real
