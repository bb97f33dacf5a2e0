"""Counting as a rival: predict the next token by what followed the last few, in all that was read.

What was never seen after so many tokens is asked after fewer, by interpolated Kneser-Ney smoothing (Kneser
and Ney 1995, doi:10.1109/ICASSP.1995.479394), of the ways to count that Chen and Goodman (1999,
doi:10.1006/csla.1999.0128) compared the best but for its own refinement. Chapter 9 holds it against a model.
"""

from __future__ import annotations

import math

import numpy as np

from attnlib._check import require_whole


class NGrams:
    """Probabilities of the next token after the ``order - 1`` tokens before it.

    Args:
        tokens: What to count, one whole number a token.
        order: How many tokens are counted together: 1 uses nothing before, 2 one token.
        vocab_size: How many tokens V there are.

    Raises:
        TypeError: If a size is not an int, or the tokens are not whole numbers.
        ValueError: If there are fewer tokens than the order, one is out of range, or runs of so many tokens
            of so many kinds cannot be numbered.
    """

    def __init__(self, tokens: np.ndarray, order: int, vocab_size: int) -> None:
        require_whole("order", order, 1)
        require_whole("vocab_size", vocab_size, 2)
        if order * math.log2(vocab_size) > 62:
            raise ValueError(f"vocab_size ** order must stay below 2 ** 62, got {vocab_size} ** {order}")
        self.order, self.vocab_size = order, vocab_size
        runs, counts = np.unique(self._numbered(tokens, order), return_counts=True)
        self._levels = []
        for length in range(order, 0, -1):
            self._levels.append(_Level(runs, counts, vocab_size))
            # below the top, a run counts once for every different token that stands before it
            runs, counts = np.unique(runs % vocab_size ** (length - 1), return_counts=True)

    def probabilities(self, tokens: np.ndarray) -> np.ndarray:
        """Return the probability of each token after those before it.

        Args:
            tokens: A text, not necessarily the one counted, longer than ``order - 1``.

        Returns:
            ``(len(tokens) - order + 1,)``: the first tokens have too few before them.
        """
        runs = self._numbered(tokens, self.order)
        likely = np.full(len(runs), 1 / self.vocab_size)
        for length, level in zip(range(1, self.order + 1), reversed(self._levels), strict=True):
            likely = level.mix(runs % self.vocab_size**length, likely)
        return likely

    def loss(self, tokens: np.ndarray) -> float:
        """Return the mean surprise in nats a token; the arguments are those of `probabilities`."""
        return float(-np.log(self.probabilities(tokens)).mean())

    def _numbered(self, tokens: np.ndarray, order: int) -> np.ndarray:
        """Give every run of ``order`` tokens one number, in which the last token counts singly."""
        tokens = np.asarray(tokens)
        if tokens.dtype.kind not in "iu":
            raise TypeError(f"tokens must be whole numbers, got {tokens.dtype}")
        if tokens.ndim != 1 or len(tokens) < order:
            raise ValueError(f"tokens must be one row of at least {order}, got shape {tokens.shape}")
        if tokens.min() < 0 or tokens.max() >= self.vocab_size:
            raise ValueError(
                f"tokens must lie between 0 and {self.vocab_size - 1}, got {tokens.min()} to {tokens.max()}"
            )
        tokens = tokens.astype(np.int64)
        runs = np.zeros(len(tokens) - order + 1, np.int64)
        for i in range(order):
            runs = runs * self.vocab_size + tokens[i : i + len(runs)]
        return runs


class _Level:
    """Counts of runs of one length, and what is known of the tokens that begin them."""

    def __init__(self, runs: np.ndarray, counts: np.ndarray, vocab_size: int) -> None:
        self.runs, self.counts, self.vocab_size = runs, counts, vocab_size
        once, twice = (counts == 1).sum(), (counts == 2).sum()
        self.discount = once / (once + 2 * twice) if once else 0.5
        self.before, first, self.kinds = np.unique(runs // vocab_size, return_index=True, return_counts=True)
        self.totals = np.add.reduceat(counts, first)

    def mix(self, runs: np.ndarray, shorter: np.ndarray) -> np.ndarray:
        """Return the probabilities of the last tokens, given those that shorter runs give them."""
        count = _found(self.runs, self.counts, runs)
        total = _found(self.before, self.totals, runs // self.vocab_size)
        kinds = _found(self.before, self.kinds, runs // self.vocab_size)
        seen = np.maximum(count - self.discount, 0) + self.discount * kinds * shorter
        return np.where(total > 0, seen / np.maximum(total, 1), shorter)


def _found(keys: np.ndarray, values: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Look numbers up in a sorted table; 0 for those that are not in it."""
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, values[at], 0)
