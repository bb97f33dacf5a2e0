"""Word vectors: look up, compare, and do arithmetic with words. Chapter 2 of the book is about them."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from importlib.resources import files

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from attnlib._check import require_tensor, require_whole, shape


class UnknownWordError(ValueError):
    """A word has no vector; the message gives the closest spellings that have one."""


class WordVectors:
    """A vocabulary with one vector for each word.

    Args:
        words: The words, each once.
        vectors: ``(len(words), D)``.

    Raises:
        TypeError: If the vectors are not a floating-point tensor.
        ValueError: If there is not exactly one vector for each word.
    """

    def __init__(self, words: Sequence[str], vectors: Tensor) -> None:
        require_tensor("vectors", vectors)
        if not vectors.is_floating_point():
            raise TypeError(f"vectors must be a floating-point tensor, got {vectors.dtype}; use .float()")
        if vectors.ndim != 2 or len(vectors) != len(words):
            raise ValueError(f"vectors must be (words, D) = ({len(words)}, D), got {shape(vectors)}")
        self.words = list(words)
        self.vectors = vectors
        self._place = {word: i for i, word in enumerate(self.words)}
        if len(self._place) < len(self.words):
            raise ValueError(f"each word must come once, got {len(self.words) - len(self._place)} again")
        self._directions = F.normalize(vectors, dim=-1)

    @classmethod
    def glove(cls, device: torch.device | str | None = None) -> WordVectors:
        """Load the 10,000 GloVe vectors of width 100 that come with the package.

        ``attnlib/data/README.md`` says where they come from and how to rebuild them.

        Args:
            device: Where to put them.

        Returns:
            The vectors in float32, the most frequent word first.
        """
        with (files("attnlib") / "data/glove-10k-f16.npz").open("rb") as file:
            stored = np.load(file)
            words, vectors = str(stored["words"]).split("\n"), stored["vectors"].astype(np.float32)
        return cls(words, torch.from_numpy(vectors).to(device))

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._place

    def __getitem__(self, words: str | Sequence[str]) -> Tensor:
        return self.vectors[self.place(words)]

    def __repr__(self) -> str:
        return f"WordVectors({len(self)} words, {self.vectors.shape[1]} dimensions)"

    def place(self, words: str | Sequence[str]) -> int | list[int]:
        """Return the row of a word, or the rows of several.

        Args:
            words: A word or several.

        Returns:
            Its place in the vocabulary, or theirs.

        Raises:
            UnknownWordError: If there is no vector for a word; with the closest spellings.
        """
        if not isinstance(words, str):
            return [self.place(word) for word in words]
        if words not in self._place:
            close = get_close_matches(words.lower(), self.words, n=3, cutoff=0.6)
            hint = f"closest spellings: {', '.join(close)}" if close else "no spelling comes close"
            raise UnknownWordError(f"there is no vector for {words!r} among {len(self)} words; {hint}")
        return self._place[words]

    def similarity(self, a: str, b: str) -> float:
        """Return the cosine between two words' vectors.

        Args:
            a: A word.
            b: Another.

        Returns:
            A number from -1 to 1.

        Raises:
            UnknownWordError: If there is no vector for a word.
        """
        return float(self._directions[self.place(a)] @ self._directions[self.place(b)])

    def nearest(
        self, target: str | Tensor, n: int = 10, *, exclude: Sequence[str] = ()
    ) -> list[tuple[str, float]]:
        """List the words whose vectors point most nearly the same way.

        Args:
            target: A word, which is then left out itself, or a vector ``(D,)``.
            n: How many words.
            exclude: Words to leave out.

        Returns:
            Pairs of a word and its cosine with the target, the nearest first.

        Raises:
            UnknownWordError: If there is no vector for a word.
            ValueError: If the vector has another width.
        """
        require_whole("n", n, 1)
        if isinstance(target, str):
            target, exclude = self[target], [target, *exclude]
        if shape(target) != (self.vectors.shape[1],):
            raise ValueError(
                f"target must be a word or a vector ({self.vectors.shape[1]},), got {shape(target)}"
            )
        cosines = self._directions @ F.normalize(target.to(self._directions), dim=0)
        cosines[self.place(exclude)] = -torch.inf
        top = cosines.topk(min(n, len(self) - len({*exclude})))
        return [(self.words[i], c) for c, i in zip(top.values.tolist(), top.indices.tolist(), strict=True)]

    def analogy(
        self, a: str, b: str, c: str, n: int = 5, *, exclude_inputs: bool = True
    ) -> list[tuple[str, float]]:
        """List the words nearest to ``a - b + c``: for king, man and woman, one hopes for queen.

        Args:
            a: The word that is asked about: as b is to c, so is a to what?
            b: What to take away, the start of the step from b to c.
            c: What to add, the end of that step.
            n: How many words.
            exclude_inputs: Leave out a, b and c themselves, as nearly everyone does without saying so.

        Returns:
            Pairs of a word and its cosine with ``a - b + c``, the nearest first.

        Raises:
            UnknownWordError: If there is no vector for a word.
        """
        return self.nearest(self[a] - self[b] + self[c], n, exclude=[a, b, c] if exclude_inputs else [])
