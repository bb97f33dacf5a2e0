"""A sentence that breaks off before a name: a small causal model writes the next word.

The sentences are those of chapter 3, *goku throws the spirit bomb at freeza because he is desperate*, and end
in *meaning*. The page *Putting it together* trains the model on what comes next, and on nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnlib._validate import require_whole
from attnlib.experiments.listeners import LONGEST, encode
from attnlib.experiments.tasks.pronouns import PronounSentence
from attnlib.experiments.wordvectors import WordVectors
from attnlib.functional import attention, attention_weights

CUE = "meaning"  # the word before the name


class Finisher(nn.Module):
    """Read the beginning of a sentence and say what comes next, after one look or after several.

    No word looks at a later one. In each look but the last, every word adds to itself what it heard. In the
    last look the last word takes a mixture of the words themselves, and what comes next is the word of the
    vocabulary that is most like the mixture. So it can only write what it has read, or something near it,
    but it can write a name that was in no sentence it was trained on.

    Args:
        vectors: What the words are made of; they stay as they are.
        looks: How many times the words look back.
        head: How many numbers a query and a key have.

    Raises:
        TypeError: If the looks are not a whole number.
        ValueError: If there are none.
    """

    def __init__(self, vectors: WordVectors, *, looks: int, head: int = 16) -> None:
        super().__init__()
        require_whole("looks", looks, 1)
        width = vectors.vectors.shape[1]
        centred = vectors.vectors - vectors.vectors.mean(0)
        self.register_buffer("vectors", vectors.vectors)
        self.register_buffer("directions", F.normalize(centred, dim=-1))
        self.place = nn.Parameter(0.3 * torch.randn(LONGEST, width))
        self.w_qk = nn.ParameterList(torch.randn(2, width, head) / width**0.5 for _ in range(looks))
        self.w_v = nn.ParameterList(torch.randn(width, width) / (3 * width**0.5) for _ in range(looks - 1))

    def read(self, ids: Tensor) -> Tensor:
        """Return what every word has become before the last look.

        Args:
            ids: From `encode_beginnings`, ``(B, S)``, filled up with -1.

        Returns:
            ``(B, S, C)``; what stands behind the end of a sentence means nothing.
        """
        x = self.vectors[ids] + self.place[: ids.shape[1]]  # (B, S, C)
        for (w_q, w_k), w_v in zip(self.w_qk, self.w_v, strict=False):
            x = x + attention(x @ w_q, x @ w_k, x @ w_v, causal=True)
        return x

    def weights(self, ids: Tensor) -> Tensor:
        """Return how much the last word of each sentence gives to every word, ``(B, S)``."""
        x, (w_q, w_k) = self.read(ids), self.w_qk[-1]
        last = x[torch.arange(len(ids), device=ids.device), (ids >= 0).sum(-1) - 1]  # (B, C)
        return attention_weights((last @ w_q)[:, None], x @ w_k, (ids >= 0)[:, None])[:, 0]

    def forward(self, ids: Tensor) -> Tensor:
        """Return what the last word of each sentence takes, a mixture of directions, ``(B, C)``."""
        return (self.weights(ids)[:, None] @ self.directions[ids])[:, 0]

    def likeness(self, told: Tensor) -> Tensor:
        """Return how much every word of the vocabulary is like what was told ``(B, C)``: ``(B, V)``."""
        return told @ self.directions.T


def encode_beginnings(vectors: WordVectors, sentences: Sequence[PronounSentence]) -> Tensor:
    """Return the places of each sentence's words and of the cue, ``(B, S)``, as `encode` does."""
    return encode(vectors, [[*s.words, CUE] for s in sentences])


@torch.no_grad()
def finished_rightly(
    model: Finisher, vectors: WordVectors, sentences: Sequence[PronounSentence]
) -> list[bool]:
    """Tell for each sentence whether the likeliest next word, of the whole vocabulary, is the right name.

    Args:
        model: What writes.
        vectors: Word vectors.
        sentences: What to finish.

    Returns:
        As many answers as sentences.
    """
    ids = encode_beginnings(vectors, sentences).to(model.vectors.device)
    said = model.likeness(model(ids)).argmax(-1).tolist()
    return [vectors.words[word] == s.words[s.answer] for word, s in zip(said, sentences, strict=True)]
