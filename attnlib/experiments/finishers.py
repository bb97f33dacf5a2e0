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
from attnlib.experiments.training import fit
from attnlib.experiments.wordvectors import WordVectors
from attnlib.functional import attention, attention_weights

CUE = "meaning"  # the word before the name
SHARPNESS = 20.0  # a logit is so many times a cosine


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

    def logits(self, told: Tensor, words: Tensor | None = None) -> Tensor:
        """Score words as the next one: how much they are like what was told.

        Args:
            told: From `forward`, ``(B, C)``.
            words: The places of V words in the vocabulary; all of them if not given.

        Returns:
            ``(B, V)``.
        """
        return SHARPNESS * told @ (self.directions if words is None else self.directions[words]).T


def encode_beginnings(vectors: WordVectors, sentences: Sequence[PronounSentence]) -> Tensor:
    """Return the places of each sentence's words and of the cue, ``(B, S)``, as `encode` does."""
    return encode(vectors, [[*s.words, CUE] for s in sentences])


def train_finisher(
    vectors: WordVectors, sentences: Sequence[PronounSentence], *, looks: int, seed: int, steps: int = 150
) -> Finisher:
    """Train a model on the word that comes next: nobody tells it where to look.

    It is scored against the words of the sentences it is trained on, which is quick; it writes any word.

    Args:
        vectors: Word vectors.
        sentences: What to train on.
        looks: How many times the words look back.
        seed: Of the start and of the batches.
        steps: How many batches of 64 sentences.

    Returns:
        The model.
    """
    ids = encode_beginnings(vectors, sentences)
    words = ids.unique()[1:]  # without the filling
    nexts = torch.searchsorted(words, ids[torch.arange(len(ids)), [s.answer for s in sentences]])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Finisher(vectors, looks=looks).to(vectors.vectors.device)

    def batch(generator: torch.Generator) -> tuple[Tensor, Tensor]:
        chosen = torch.randint(len(ids), (64,), generator=generator)
        return ids[chosen], nexts[chosen]

    words = words.to(vectors.vectors.device)

    def loss(told: Tensor, targets: Tensor) -> Tensor:
        return F.cross_entropy(model.logits(told, words), targets)

    fit(model, batch, steps=steps, lr=0.005, seed=seed, loss=loss, max_norm=None)
    return model.eval()


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
    said = model.logits(model(ids)).argmax(-1).tolist()
    return [vectors.words[word] == s.words[s.answer] for word, s in zip(said, sentences, strict=True)]


@torch.no_grad()
def next_words(model: Finisher, vectors: WordVectors, text: str) -> tuple[dict[str, float], Tensor]:
    """Finish one text.

    Args:
        model: What writes.
        vectors: Word vectors.
        text: Words between blanks; its last word asks.

    Returns:
        The probability of every word of the vocabulary, the likeliest first, and how much the last word
        gives to each word of the text, ``(S,)``.
    """
    ids = encode(vectors, [text.split()]).to(model.vectors.device)
    chances = model.logits(model(ids))[0].softmax(-1).cpu()
    order = chances.argsort(descending=True).tolist()
    return {vectors.words[i]: chances[i].item() for i in order}, model.weights(ids)[0]
