"""Two translation models, by what the decoder may attend to. Chapter 1 of the book compares them."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from attnlib.experiments.runs import load
from attnlib.experiments.tasks import NumberWords
from attnlib.functional import attention


class OneVector(nn.Module):
    """Read the source into one vector, and write the translation from that vector alone.

    Args:
        source_words: Size of the vocabulary that is read.
        target_words: Size of the vocabulary that is written.
        width: Of embeddings and states, and so of the vector.
    """

    inputs = 1  # how many vectors of the given width the next word is chosen from

    def __init__(self, source_words: int, target_words: int, width: int) -> None:
        super().__init__()
        self.read_word = nn.Embedding(source_words, width)
        self.encoder = nn.GRU(width, width, batch_first=True)
        self.written_word = nn.Embedding(target_words, width)
        self.decoder = nn.GRU(width, width, batch_first=True)
        self.next_word = nn.Linear(self.inputs * width, target_words)

    def forward(self, source: Tensor, real: Tensor, previous: Tensor) -> Tensor:
        """Score every word for every position of the translation.

        Args:
            source: Tokens ``(B, S)``.
            real: True where they are real, ``(B, S)``.
            previous: The target token before each position ``(B, T)``.

        Returns:
            Logits ``(B, T, V)``.
        """
        states = self.encoder(self.read_word(source))[0]  # (B, S, C)
        last = real.sum(1)[:, None, None].expand(-1, 1, states.shape[2]) - 1
        vector = states.gather(1, last).transpose(0, 1).contiguous()  # (1, B, C): all that is handed over
        writing = self.decoder(self.written_word(previous), vector)[0]  # (B, T, C)
        return self.next_word(self.context(writing, states, real))

    def context(self, writing: Tensor, states: Tensor, real: Tensor) -> Tensor:
        """Return what the next word is chosen from: here, the decoder's own state ``(B, T, C)``."""
        return writing


class WithAttention(OneVector):
    """The same, and before each word the decoder attends to every state of the encoder."""

    inputs = 2

    def context(self, writing: Tensor, states: Tensor, real: Tensor) -> Tensor:
        """Return the decoder's state beside its weighted average of the encoder's states ``(B, T, 2 C)``."""
        return torch.cat([writing, attention(writing, states, states, mask=real[:, None])], -1)


def number_lists(numbers: NumberWords, which: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Put several numbers one behind the other, as one text to translate.

    Args:
        numbers: The numbers in both languages.
        which: The numbers of each text ``(B, k)``; -1 for none, so that texts may differ in length.

    Returns:
        Source tokens ``(B, S)``, True where they are real ``(B, S)``, and the target token before and at each
        position ``(B, T)``, the latter -100 behind the end.
    """
    given = which[..., None] >= 0
    source, real = _close_up(numbers.source[which], numbers.source_mask[:, 0, 0][which] & given)
    target, written = _close_up(numbers.target[which], (numbers.target >= 0)[which] & given)
    start = numbers.previous[0, 0].expand(len(which), 1)  # <s>
    previous = torch.cat([start, target[:, :-1]], 1)
    return source, real, previous, target.masked_fill(~written, -100)


def _close_up(tokens: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
    """Move the real tokens of each row ``(B, k, S)`` to its front, in order, and cut what no row needs."""
    tokens, real = tokens.flatten(1), real.flatten(1)
    order = (~real).long().argsort(dim=1, stable=True)[:, : int(real.sum(1).max())]
    tokens, real = tokens.gather(1, order), real.gather(1, order)
    return tokens.masked_fill(~real, 0), real


@torch.no_grad()
def share_translated(translator: OneVector, numbers: NumberWords, which: Tensor) -> float:
    """Return the fraction of texts translated without a single wrong word.

    To feed the right word before each position is enough: if every word is chosen rightly then, each is what
    a model that reads its own words would have read.
    """
    device = translator.next_word.weight.device
    source, real, previous, target = (part.to(device) for part in number_lists(numbers, which))
    wrong = (translator(source, real, previous).argmax(-1) != target) & (target >= 0)
    return 1 - wrong.any(1).double().mean().item()


def stored() -> list[dict]:
    """Return what was measured on a GPU: for each model, width and number of steps the fraction by length."""
    return _measured()["runs"]


def stored_alignment() -> tuple[list[str], list[str], Tensor]:
    """Return the attention weights of a trained `WithAttention` over one text.

    Returns:
        The words it read, the words it wrote, and for each of these the weights of those ``(T, S)``.
    """
    found = _measured()["alignment"]
    return found["source"].split(), found["target"].split(), torch.tensor(found["weights"])


def _measured() -> dict:
    def facts(run: dict) -> dict:
        said = {"OneVector": "one vector", "WithAttention": "attention to every state"}
        return {
            "model": f"GRU encoder and decoder, {said[run['model']]}",
            "rate": 0.002 if run["width"] == 256 else 0.005,
        }

    same = {"task": "numbers from English to French", "optimizer": "Adam", "batch": 128, "clip": 1.0}
    same["schedule"] = "one cycle up to that rate"
    return load("one-vector", results=("whole", "words"), facts=facts, **same)
